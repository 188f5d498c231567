//! Engines, and the flags that they do not support.

use strata_run::EngineChoice;
use strata_run::catalogue::Space;
use strata_space::SpaceError;
use strata_store::EngineKind;

use crate::args::line::SolveLine;
use crate::output::exit::{ExitCode, Failure};
use crate::program::flags::{EXPLICIT_ONLY, FOR_FILES};

/// The first given flag that only the explicit engine supports, with dashes.
pub(crate) fn explicit_flag(line: &SolveLine) -> Option<String> {
    first_given(line, &EXPLICIT_ONLY)
}

/// The first given flag that needs the files of layers, with dashes.
pub(crate) fn files_flag(line: &SolveLine) -> Option<String> {
    first_given(line, &FOR_FILES)
}

/// The first of some flags that was given on the command line or in the environment.
pub(crate) fn first_given(line: &SolveLine, flags: &[&str]) -> Option<String> {
    flags.iter().find(|flag| line.given(flag)).map(|flag| format!("--{flag}"))
}

/// The engine that the command line names, if it takes the space and supports the other flags.
/// Variables of the environment may be meant for other searches.
///
/// # Errors
/// What the engine does not support, with the engine that does.
pub(crate) fn named(
    line: &SolveLine,
    space: &Space,
    kind: EngineKind,
) -> Result<EngineChoice, Failure> {
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
        space.dense_size().map_err(|error| match error {
            // Decided without a search.
            SpaceError::Unsolvable { .. } => Failure::new(ExitCode::NoGoal, error),
            error => refused(error.to_string()),
        })?;
        unsupported.retain(|flag| !["shards", "workers"].contains(flag));
        unsupported.push("verify");
    } else {
        space.nested().map_err(|error| refused(error.to_string()))?;
        unsupported.extend(FOR_FILES);
    }
    match unsupported.into_iter().find(|flag| line.typed(flag)) {
        Some("verify") => Err(refused("it does not support --verify".to_owned())),
        Some(flag) => Err(refused(format!("it does not support --{flag}; --engine explicit does"))),
        None => Ok(chosen),
    }
}

/// How a chosen engine is announced: with the reason, and the flag for another engine. `engines` are
/// those that take the space, the preferred one first.
pub(crate) fn announcement(choice: &EngineChoice, engines: &[EngineKind]) -> String {
    let EngineChoice { engine, reason } = choice;
    let differs = |kind: &&EngineKind| {
        kind.is_symbolic() != engine.is_symbolic() || kind.is_dense() != engine.is_dense()
    };
    let other = match engine.is_explicit() {
        true => engines.iter().find(differs),
        false => engines.iter().rev().find(differs),
    };
    let other = other.map(|kind| format!("; --engine {} selects another", kind.name()));
    // The reason of a job that was submitted for one engine is not recorded.
    let reason = if reason.is_empty() { String::new() } else { format!(", {reason}") };
    format!("engine {}{reason}{}", engine.name(), other.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_announcement_names_the_flag_of_another_engine() {
        use EngineKind::{Dense, Explicit, Symbolic, SymbolicLean};
        let of = |engine, engines: &[EngineKind]| {
            announcement(&EngineChoice { engine, reason: "why".to_owned() }, engines)
        };
        let all = [Symbolic, Dense, Explicit];
        assert_eq!(of(Symbolic, &all), "engine symbolic, why; --engine explicit selects another");
        assert_eq!(of(Explicit, &all), "engine explicit, why; --engine symbolic selects another");
        assert_eq!(of(Dense, &all), "engine dense, why; --engine explicit selects another");
        assert_eq!(of(SymbolicLean, &[Symbolic]), "engine symbolic-lean, why");
    }
}
