//! Choice of the engine by flags, puzzle and memory.

use strata::catalogue::Space;
use strata::{EngineChoice, EngineNeeds, choose_engine, spec_to_resume};
use strata_store::EngineKind;

use super::args::SolveArgs;
use crate::output::exit::Failure;

/// Flags that only the explicit engine supports.
const EXPLICIT_ONLY: [&str; 4] = ["workers", "shards", "k", "locality"];

/// Flags for the files of layers, which the symbolic engine does not write.
const FOR_FILES: [&str; 2] = ["keep-layers", "disk-limit"];

/// Flags for which the symbolic engine needs memory for all layers at once, or has no answer.
const FOR_PATHS: [&str; 3] = ["path", "path-file", "antipodes"];

/// The engine of the command line, or the one that `auto` selects, with the reason.
pub(super) fn choose(args: &SolveArgs, space: &Space) -> Result<EngineChoice, Failure> {
    let choice = match args.search.engine.kind() {
        Some(kind) => named(args, space, kind)?,
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
    let given =
        |flags: &[&'static str]| flags.iter().copied().find(|flag| args.search.line.given(flag));
    let explicit = given(&EXPLICIT_ONLY);
    let files = given(&FOR_FILES).or(given(&FOR_PATHS));
    if let Some(spec) = spec_to_resume(&args.data_dir, space).filter(|_| args.resume) {
        let supports = spec.engine.is_explicit()
            || explicit.is_none() && (spec.engine.is_dense() || files.is_none());
        if supports {
            return EngineChoice { engine: spec.engine, reason: "the job has it".to_owned() };
        }
    }
    let exhaust = space.parameters().get("exhaust").is_some_and(|value| value == "true");
    let [explicit, files] = [explicit, files].map(|flag| flag.map(|flag| format!("--{flag}")));
    choose_engine(
        space,
        &EngineNeeds {
            explicit: explicit.as_deref(),
            files: files.as_deref(),
            memory: args.memory,
            threads: args.threads,
            disk_limit: args.search.disk_limit,
            is_exhaustive: exhaust,
        },
    )
}

/// The engine that the command line names, if it supports the other flags.
fn named(args: &SolveArgs, space: &Space, kind: EngineKind) -> Result<EngineChoice, Failure> {
    let line = &args.search.line;
    let refused = |why: String| Failure::usage(format!("--engine {}: {why}", kind.name()));
    let chosen = EngineChoice { engine: kind, reason: "--engine names it".to_owned() };
    if kind.is_explicit() {
        return match line.typed("verify") {
            true => Err(Failure::usage("--engine explicit does not support --verify")),
            false => Ok(chosen),
        };
    }
    let mut unsupported: Vec<&str> = EXPLICIT_ONLY.to_vec();
    if kind.is_dense() {
        space.dense_size().map_err(|error| refused(error.to_string()))?;
        unsupported.retain(|flag| !["shards", "workers"].contains(flag));
        unsupported.push("verify");
    } else {
        space.nested().map_err(|error| refused(error.to_string()))?;
        unsupported.extend(FOR_FILES);
    }
    match unsupported.into_iter().find(|flag| line.typed(flag)) {
        Some(flag) => Err(refused(format!("it does not support --{flag}"))),
        None => Ok(chosen),
    }
}
