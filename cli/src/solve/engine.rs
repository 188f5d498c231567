//! Which engine searches.

use strata_space::catalogue::Space;
use strata_store::EngineKind;

use crate::args::SolveArgs;
use crate::exit::Failure;

/// Flags that only the explicit engine has a use for.
const EXPLICIT_ONLY: [&str; 8] =
    ["workers", "shards", "keep-layers", "disk-limit", "path", "path-file", "k", "locality"];

/// The engine that is asked for, or the one that suits.
pub(super) fn choose(args: &SolveArgs, space: &Space) -> Result<EngineKind, Failure> {
    let nested = space.nested();
    let Some(kind) = args.engine.kind() else {
        let explicit = EXPLICIT_ONLY.iter().any(|flag| args.line.given(flag)) || nested.is_err();
        return Ok(if explicit { EngineKind::Explicit } else { EngineKind::Symbolic });
    };
    if kind.is_explicit() {
        return Ok(kind);
    }
    let refused = |why: String| Failure::usage(format!("--engine {}: {why}", kind.name()));
    nested.map_err(|error| refused(error.to_string()))?;
    match EXPLICIT_ONLY.iter().find(|flag| args.line.typed(flag)) {
        Some(flag) => Err(refused(format!("it has no use for --{flag}"))),
        None => Ok(kind),
    }
}
