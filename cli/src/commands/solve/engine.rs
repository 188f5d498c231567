//! Choice of the engine by flags and puzzle.

use strata::catalogue::Space;
use strata_store::EngineKind;

use super::args::SolveArgs;
use crate::output::exit::Failure;

/// Flags that only the explicit engine supports.
const EXPLICIT_ONLY: [&str; 6] =
    ["workers", "shards", "keep-layers", "disk-limit", "k", "locality"];

/// Flags with which `auto` selects the explicit engine: for them the symbolic engine needs memory
/// for all layers at once.
const EXPLICIT_BETTER: [&str; 2] = ["path", "path-file"];

/// The engine of the command line, or the one that `auto` selects.
pub(super) fn choose(args: &SolveArgs, space: &Space) -> Result<EngineKind, Failure> {
    let nested = space.nested();
    let Some(kind) = args.search.engine.kind() else {
        let mut flags = EXPLICIT_ONLY.iter().chain(&EXPLICIT_BETTER);
        let explicit = flags.any(|flag| args.search.line.given(flag)) || nested.is_err();
        return Ok(if explicit { EngineKind::Explicit } else { EngineKind::Symbolic });
    };
    if kind.is_explicit() {
        return match args.search.line.typed("verify") {
            true => Err(Failure::usage("--engine explicit does not support --verify")),
            false => Ok(kind),
        };
    }
    let refused = |why: String| Failure::usage(format!("--engine {}: {why}", kind.name()));
    nested.map_err(|error| refused(error.to_string()))?;
    match EXPLICIT_ONLY.iter().find(|flag| args.search.line.typed(flag)) {
        Some(flag) => Err(refused(format!("it does not support --{flag}"))),
        None => Ok(kind),
    }
}
