//! The command that repeats a search.

use std::collections::BTreeMap;

use strata_run::check_settings;
use strata_store::EngineKind;

use crate::output::shell::quoted;
use crate::program;

/// The command that repeats a search. Empty if the puzzle is not known or a parameter was read from a
/// file.
pub(crate) fn command(space: &str, parameters: &BTreeMap<String, String>, engine: &str) -> String {
    let Ok(entry) = program::puzzles().find(space) else { return String::new() };
    let kind = EngineKind::find(engine).unwrap_or_default();
    let mut words = vec![program::name().to_owned(), "solve".to_owned(), space.to_owned()];
    let mut flags = Vec::new();
    for parameter in entry.parameters {
        let Some(value) = parameters.get(parameter.name) else { continue };
        // The parameter has the content of a file, whose name is not recorded.
        if parameter.shown(value) != *value {
            return String::new();
        }
        let flag = parameter.long_flag();
        if check_settings(kind, &[parameter.name]).is_err() {
            continue;
        }
        match parameter.default {
            _ if parameter.positional => words.push(quoted(value)),
            Some(default) if default == value => {}
            _ if parameter.flag.values == strata_space::Values::Switch => {
                if value == "true" {
                    flags.push(format!("--{flag}"));
                }
            }
            // Without `=`, a value that begins with a dash would be another flag.
            _ => flags.push(format!("--{flag}={}", quoted(value))),
        }
    }
    words.append(&mut flags);
    words.push(format!("--engine {engine}"));
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use strata_space::Parameters;

    use super::*;

    fn parameters(space: &str, values: &[&str]) -> Parameters {
        let values: Vec<String> = values.iter().map(ToString::to_string).collect();
        let given = program::puzzles().parameters(space, &values, &[]).unwrap();
        program::puzzles().open(space, &given).unwrap().parameters()
    }

    #[test]
    fn the_command_has_no_flag_that_its_engine_refuses() {
        let panex = parameters("panex", &["6"]);
        let line = |engine| command("panex", &panex, engine);
        assert!(line("explicit").contains("--locality="), "{}", line("explicit"));
        for engine in ["symbolic", "dense"] {
            let line = line(engine);
            assert!(["--k=", "--locality="].iter().all(|flag| !line.contains(flag)), "{line}");
        }
    }

    /// The command is read by the program's own parser, and means the same search.
    #[test]
    fn the_command_repeats_the_search() {
        for (space, values) in [("panex", &["4"][..]), ("hanoi", &["5"]), ("tiles", &["3x3"])] {
            let parameters = parameters(space, values);
            let line = command(space, &parameters, "explicit");
            let words = line.split_whitespace().map(std::ffi::OsString::from);
            let Ok(crate::cli::Cli { command: crate::cli::Command::Solve(args), .. }) =
                crate::cmdline::parse(words)
            else {
                panic!("not solve: {line}");
            };
            let again = &args.search;
            let opened =
                crate::spaces::request::open(&again.domain, &again.args, again.parameters());
            assert_eq!(opened.ok().map(|space| space.parameters()), Some(parameters), "{line}");
        }
    }

    #[test]
    fn an_unknown_puzzle_has_no_command() {
        assert_eq!(command("chess", &BTreeMap::new(), "explicit"), "");
    }
}
