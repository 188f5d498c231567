//! Choice of the engine by flags, puzzle and memory.

use strata_run::catalogue::Space;
use strata_run::{EngineChoice, EngineNeeds, choose_engine, spec_to_resume};
use strata_store::EngineKind;

use super::args::SolveArgs;
use crate::args::engine::{explicit_flag, files_flag, first_given, named};
use crate::output::exit::Failure;

/// The engine of the command line, or the one that `auto` selects, with the reason.
pub(super) fn choose(args: &SolveArgs, space: &Space) -> Result<EngineChoice, Failure> {
    let choice = match args.search.engine.kind() {
        Some(kind) => named(&args.search.line, space, kind)?,
        None => automatic(args, space),
    };
    if !args.no_digest {
        return Ok(choice);
    }
    let engine = match choice.engine {
        EngineKind::Dense | EngineKind::DenseLean => EngineKind::DenseLean,
        other if args.search.line.typed("no-digest") => {
            let (other, why) = (other.name(), choice.reason);
            let message = format!("--no-digest needs the dense engine, not {other} ({why})");
            return Err(Failure::usage(message));
        }
        // A variable may be meant for other searches.
        other => other,
    };
    Ok(EngineChoice { engine, ..choice })
}

fn automatic(args: &SolveArgs, space: &Space) -> EngineChoice {
    let line = &args.search.line;
    let explicit = explicit_flag(line);
    // The symbolic engine has no antipodes with moves.
    let files = files_flag(line).or_else(|| first_given(line, &["antipodes"]));
    if let Some(spec) = spec_to_resume(&args.data_dir, space).filter(|_| args.resume) {
        let supports = spec.engine.is_explicit()
            || explicit.is_none() && (spec.engine.is_dense() || files.is_none());
        if supports {
            return EngineChoice { engine: spec.engine, reason: "the job has it".to_owned() };
        }
    }
    choose_engine(
        space,
        &EngineNeeds {
            explicit: explicit.as_deref(),
            files: files.as_deref(),
            path: args.path.wanted(),
            memory: args.memory,
            threads: args.threads(),
            disk_limit: args.search.disk_limit,
            in_cluster: false,
        },
    )
}
