//! Choice of the engine by flags and puzzle.

use strata::catalogue::Space;
use strata_store::EngineKind;

use crate::cli::SolveArgs;
use crate::output::exit::Failure;

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
