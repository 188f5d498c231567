//! What the web page says about searches: titles of results, commands that repeat a search, solutions.

use std::collections::BTreeMap;

use strata_coordinator::dashboard::model::{Job, Solution};
use strata_coordinator::dashboard::{Presenter, SourceError, Texts};

use strata_run::check_settings;
use strata_space::Parameter;
use strata_store::EngineKind;

use crate::output::events::{self, Outcome};
use crate::output::shell::quoted;
use crate::program;
use crate::spaces::drawings::Drawings;
use crate::spaces::path_command::{Found, PathCommand};
use crate::spaces::request::Naming;

/// The presenter of this program, with its name and its puzzles.
#[derive(Debug, Default)]
pub(crate) struct PuzzlePresenter {
    /// Finds the moves of a job; none if that is not possible here.
    pub(crate) path: Option<PathCommand>,
    pub(crate) drawings: Drawings,
}

impl Presenter for PuzzlePresenter {
    fn texts(&self, job: &Job) -> Texts {
        let title = job.result.as_ref().map_or_else(String::new, |result| {
            let is_exhaustive = Parameter::EXHAUST.is_on(&job.params);
            let naming = Naming::new(&job.id, &job.space, &job.params);
            let outcome = Outcome::of(result.moves, || naming.has_goal);
            let radius = events::radius(result.depth, result.states, result.positions);
            naming.title(outcome, result.moves, radius, is_exhaustive)
        });
        Texts { title, command: command(&job.space, &job.params, &job.engine) }
    }

    fn solution(&self, job: &Job) -> Result<Solution, SourceError> {
        let name = program::name();
        let other = format!("The command {name} path {} prints the moves.", job.id);
        let Some(path) = &self.path else { return Err(SourceError::Refused(other)) };
        let Found { moves, positions } = path.find(&job.id).map_err(SourceError::Refused)?;
        Ok(self.drawings.solution(&job.space, &job.params, moves, positions))
    }

    fn drawing(&self, job: &Job, position: &str, dark: bool) -> Option<String> {
        self.drawings.draw(&job.space, &job.params, position, dark)
    }
}

/// The command that repeats a search; empty if the puzzle is not known, or if it was read from a file.
pub(crate) fn command(space: &str, parameters: &BTreeMap<String, String>, engine: &str) -> String {
    let Ok(entry) = program::puzzles().find(space) else { return String::new() };
    let kind = EngineKind::find(engine).unwrap_or_default();
    let mut words = vec![program::name().to_owned(), "solve".to_owned(), space.to_owned()];
    let mut flags = Vec::new();
    for parameter in entry.parameters {
        let Some(value) = parameters.get(parameter.name) else { continue };
        // The content of a file has no name any more.
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
            // A value that begins with a dash would be another flag.
            _ => flags.push(format!("--{flag}={}", quoted(value))),
        }
    }
    words.append(&mut flags);
    words.push(format!("--engine {engine}"));
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use strata_coordinator::dashboard::model::JobResult;

    use super::*;

    fn job(space: &str, values: &[&str], moves: Option<u64>) -> Job {
        let words: Vec<String> = values.iter().map(ToString::to_string).collect();
        let opened = program::puzzles().parameters(space, &words, &[]).unwrap();
        let space_of = program::puzzles().open(space, &opened).unwrap();
        let result = JobResult { moves, depth: 21, ..JobResult::default() };
        Job {
            id: format!("{space}-x"),
            space: space.to_owned(),
            params: space_of.parameters(),
            engine: "explicit".to_owned(),
            result: Some(result),
            ..Job::default()
        }
    }

    #[test]
    fn results_have_their_titles_and_searches_their_commands() {
        let texts = PuzzlePresenter::default().texts(&job("panex", &["3"], Some(42)));
        assert_eq!(texts.title, "X(3) = 42");
        assert!(texts.command.starts_with("strata solve panex 3 "), "{}", texts.command);
        assert!(texts.command.ends_with(" --engine explicit"), "{}", texts.command);
    }

    #[test]
    fn the_command_has_no_flag_that_its_engine_refuses() {
        let job = job("panex", &["6"], Some(881));
        let line = |engine| command("panex", &job.params, engine);
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
            let job = job(space, values, None);
            let line = command(space, &job.params, "explicit");
            let words = line.split_whitespace().map(std::ffi::OsString::from);
            let Ok(crate::cli::Cli { command: crate::cli::Command::Solve(args), .. }) =
                crate::cmdline::parse(words)
            else {
                panic!("not solve: {line}");
            };
            let again = &args.search;
            let opened =
                crate::spaces::request::open(&again.domain, &again.args, again.parameters());
            assert_eq!(opened.ok().map(|space| space.parameters()), Some(job.params), "{line}");
        }
    }

    #[test]
    fn positions_of_a_job_are_drawn() {
        let presenter = PuzzlePresenter::default();
        let panex = job("panex", &["2"], Some(13));
        let drawing = presenter.drawing(&panex, "b1 b2 / - / o1 o2", true).unwrap();
        assert!(drawing.contains("<title>b1 b2 / - / o1 o2</title>"), "{drawing}");
        assert_eq!(presenter.drawing(&panex, "b1 / - / o1", true), None);
        assert_eq!(presenter.drawing(&job("pancake", &["4"], None), "1 2 3 4", true), None);
    }

    #[test]
    fn an_unknown_puzzle_has_no_command() {
        assert_eq!(command("chess", &BTreeMap::new(), "explicit"), "");
    }
}
