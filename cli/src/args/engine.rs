//! Engines and their settings on a command line.

use strata_run::{EngineChoice, Error};
use strata_space::SpaceError;
use strata_store::EngineKind;

use crate::args::line::SolveLine;
use crate::output::exit::Failure;
use crate::program::flags::flag_of;

/// The given settings that not every engine supports.
///
/// If an engine is named, settings from environment variables are left out: they may be meant for
/// other searches.
pub(crate) fn settings(line: &SolveLine, named: Option<EngineKind>) -> Vec<&'static str> {
    let is_given = |setting: &&str| match named {
        Some(_) => line.typed(&flag_of(setting)),
        None => line.given(&flag_of(setting)),
    };
    strata_run::engine_settings().filter(is_given).collect()
}

/// The failure for a named engine that does not support the space or a setting.
pub(crate) fn refused(named: Option<EngineKind>, error: Error) -> Failure {
    match (named, error) {
        (Some(kind), Error::Space(error)) if !matches!(error, SpaceError::Unsolvable { .. }) => {
            Failure::usage(format!("--engine {}: {error}", kind.name()))
        }
        (_, error) => error.into(),
    }
}

/// The text that announces a chosen engine: its reason, and the flag that selects another engine.
/// `engines` are those that support the space, the preferred one first.
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
