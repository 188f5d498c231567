//! Texts of the web page about searches: titles of results, commands that repeat a search,
//! solutions.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use strata_coordinator::dashboard::model::{Job, Solution};
use strata_coordinator::dashboard::{Presenter, SourceError, Texts};
use strata_run::CancelToken;
use strata_space::Parameter;

use crate::args::cluster::ClientArgs;
use crate::client::path;
use crate::client::remote::{Remote, Until};
use crate::output::events::{self, Outcome};
use crate::output::exit::Failure;
use crate::output::path_form::PathFormat;
use crate::program;
use crate::spaces::drawings::Drawings;
use crate::spaces::repeat::command;
use crate::spaces::request::Naming;

/// The presenter of this program, with its name and its puzzles.
#[derive(Debug, Default)]
pub(super) struct PuzzlePresenter {
    /// Finds the moves of a job; none if this coordinator cannot call itself.
    pub(super) paths: Option<JobPaths>,
    pub(super) drawings: Drawings,
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
        let Some(paths) = &self.paths else { return Err(SourceError::Refused(other)) };
        let path = paths.find(&job.id).map_err(SourceError::Refused)?;
        let (moves, positions) = (path.single_moves().to_vec(), path.positions);
        Ok(self.drawings.solution(&job.space, &job.params, moves, positions))
    }

    fn drawing(&self, job: &Job, position: &str, dark: bool) -> Option<String> {
        self.drawings.draw(&job.space, &job.params, position, dark)
    }
}

/// Time limit of a search for a path. Browsers wait for a reply for five minutes at most.
pub(super) const LIMIT: Duration = Duration::from_secs(4 * 60);

/// Finds the moves of jobs as `strata path` does, by calls to the coordinator of this process.
#[derive(Debug)]
pub(super) struct JobPaths {
    /// The coordinator.
    pub(super) client: ClientArgs,
    /// Folder for files that do not fit the memory, removed at the end of a search.
    pub(super) folder: PathBuf,
    /// Time limit of a search for a path.
    pub(super) limit: Duration,
    /// Cancelled when the coordinator ends.
    pub(super) stop: CancelToken,
}

impl JobPaths {
    /// A shortest solution of a job, checked by [`Puzzle::replay`](crate::spaces::puzzle::Puzzle::replay).
    ///
    /// # Errors
    /// A sentence with the reason.
    fn find(&self, job: &str) -> Result<events::Path, String> {
        let deadline = Instant::now() + self.limit;
        let found = self.find_until(job, Until { deadline, stop: self.stop.clone() });
        if let Err(error) = remove(&self.folder) {
            tracing::warn!("{error}");
        }
        found.map_err(|failure| {
            if self.stop.is_cancelled() {
                return "The coordinator is ending.".to_owned();
            }
            if Instant::now() < deadline {
                return failure.to_string();
            }
            let (limit, name) = (humantime::format_duration(self.limit), program::name());
            format!(
                "The moves were not found within {limit}. The command {name} path {job} has no time \
                 limit."
            )
        })
    }

    fn find_until(&self, job: &str, until: Until) -> Result<events::Path, Failure> {
        let remote = Remote::connect(&self.client)?.until(until);
        let job = remote.status(job)?;
        let moves = job.result.as_ref().and_then(|result| result.moves);
        let (puzzle, path) = path::find(&remote, &job, &self.folder)?;
        puzzle.replay(path, moves, PathFormat::Moves, false)
    }
}

/// Removes the folder of a search for a path, if there is one.
///
/// # Errors
/// A sentence with the reason.
pub(super) fn remove(folder: &Path) -> Result<(), String> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(format!("a search for a path cannot remove {}: {error}", folder.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use strata_coordinator::dashboard::model::JobResult;

    use super::*;
    use crate::args::cluster::SecurityArgs;

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
    fn positions_of_a_job_are_drawn() {
        let presenter = PuzzlePresenter::default();
        let panex = job("panex", &["2"], Some(13));
        let drawing = presenter.drawing(&panex, "b1 b2 / - / o1 o2", true).unwrap();
        assert!(drawing.contains("<title>b1 b2 / - / o1 o2</title>"), "{drawing}");
        assert_eq!(presenter.drawing(&panex, "b1 / - / o1", true), None);
        assert_eq!(presenter.drawing(&job("pancake", &["4"], None), "1 2 3 4", true), None);
    }

    #[test]
    fn a_search_for_a_path_ends_after_the_limit_and_with_the_coordinator() {
        // A server that accepts connections and never replies.
        let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = silent.local_addr().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let client = ClientArgs {
            coordinator: format!("http://{address}"),
            security: SecurityArgs { insecure: true, ..SecurityArgs::default() },
        };
        let mut paths = JobPaths {
            client,
            folder: folder.path().join("path"),
            limit: Duration::from_millis(200),
            stop: CancelToken::new(),
        };
        let expected = "The moves were not found within 200ms. The command strata path panex-3-x has \
                        no time limit.";
        assert_eq!(paths.find("panex-3-x").unwrap_err(), expected);
        paths.limit = LIMIT;
        paths.stop.cancel();
        assert_eq!(paths.find("x").unwrap_err(), "The coordinator is ending.");
    }
}
