//! Choice of the engine by flags, puzzle and memory.

use strata_run::catalogue::Space;
use strata_run::{EngineChoice, EngineNeeds, RunOptions, engine_of, spec_to_resume};
use strata_store::EngineKind;

use super::args::SolveArgs;
use crate::args::engine::{refused, settings};
use crate::output::exit::{Failure, with_flags};

/// The engine of the command line, or the one that `auto` selects, with the reason.
///
/// # Errors
/// If the named engine does not support the space or another flag.
pub(super) fn choose(
    args: &SolveArgs,
    space: &Space,
    options: &RunOptions,
) -> Result<EngineChoice, Failure> {
    let (line, named) = (&args.search.line, args.search.engine.kind());
    let earlier = args.resume.then(|| spec_to_resume(&args.data_dir, space)).flatten();
    let given = settings(line, named);
    let needs = EngineNeeds { path: args.path.wanted(), ..options.engine_needs(&given) };
    let choice = engine_of(space, named, earlier.map(|spec| spec.engine), &needs);
    let EngineChoice { engine, reason } = choice.map_err(|error| refused(named, error))?;
    let reason = with_flags(&reason);
    let engine = match engine {
        EngineKind::Dense | EngineKind::DenseLean if args.no_digest => EngineKind::DenseLean,
        other if line.typed("no-digest") => {
            let other = other.name();
            let message = format!("--no-digest needs the dense engine, not {other} ({reason})");
            return Err(Failure::usage(message));
        }
        // A variable may be meant for other searches.
        other => other,
    };
    Ok(EngineChoice { engine, reason })
}
