//! Which engine searches; the way that the symbolic one has found.

use strata::catalogue::Space;
use strata_store::{EngineKind, JobSpec};
use strata_symbolic::{Options, StepError};

use super::signals::Signals;
use crate::cli::SolveArgs;
use crate::output::exit::{ExitCode, Failure};
use crate::spaces::puzzle;

/// Flags that only the explicit engine has a use for.
const EXPLICIT_ONLY: [&str; 6] =
    ["workers", "shards", "keep-layers", "disk-limit", "k", "locality"];

/// Flags for which it is taken unless another is asked for: it needs no more memory for them.
const EXPLICIT_BETTER: [&str; 2] = ["path", "path-file"];

/// The engine that is asked for, or the one that suits.
pub(super) fn choose(args: &SolveArgs, space: &Space) -> Result<EngineKind, Failure> {
    let nested = space.nested();
    let Some(kind) = args.engine.kind() else {
        let mut flags = EXPLICIT_ONLY.iter().chain(&EXPLICIT_BETTER);
        let explicit = flags.any(|flag| args.line.given(flag)) || nested.is_err();
        return Ok(if explicit { EngineKind::Explicit } else { EngineKind::Symbolic });
    };
    if kind.is_explicit() {
        return match args.line.typed("verify") {
            true => Err(Failure::usage("--engine explicit: it has no use for --verify")),
            false => Ok(kind),
        };
    }
    let refused = |why: String| Failure::usage(format!("--engine {}: {why}", kind.name()));
    nested.map_err(|error| refused(error.to_string()))?;
    match EXPLICIT_ONLY.iter().find(|flag| args.line.typed(flag)) {
        Some(flag) => Err(refused(format!("it has no use for --{flag}"))),
        None => Ok(kind),
    }
}

/// What a search for a way comes to.
pub(super) enum Way {
    /// The positions from start to goal.
    Found(Vec<String>),
    /// It was interrupted at this depth.
    Interrupted(u32),
}

/// Searches, remembering all layers, for a goal that can be reached, and traces the way back.
pub(super) fn way(spec: &JobSpec, options: Options, signals: &Signals) -> Result<Way, Failure> {
    let full = |error: StepError| match error {
        StepError::Mismatch { .. } => Failure::new(ExitCode::Unexpected, error.to_string()),
        _ => {
            let why = "for --path all layers are remembered; --engine explicit keeps them on disk";
            Failure::new(ExitCode::Limit, format!("{error}: {why}"))
        }
    };
    let form = puzzle::reopen(spec)?.nested().map_err(Failure::usage)?;
    let mut search = form.open(options).map_err(full)?;
    let mut layer = search.layer();
    while !layer.is_last() {
        if signals.stop() {
            return Ok(Way::Interrupted(layer.depth));
        }
        layer = search.advance().map_err(full)?;
    }
    let lost = || Failure::new(ExitCode::Unexpected, "no way leads back".to_owned());
    search.shortest_path().map(Way::Found).ok_or_else(lost)
}
