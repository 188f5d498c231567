//! Interface between the page and its data.

use std::fmt::Debug;

use strata_store::LayerRecord;

use crate::dashboard::model::{Action, Job, LogPart, Overview, Solution};

/// Data source of the page, which also makes the changes that the page requests. Calls may block on
/// the disk: the server makes them outside the asynchronous threads.
pub trait Source: Send + Sync + 'static {
    /// Workers and jobs now.
    ///
    /// # Errors
    /// [`SourceError::Unavailable`] if they cannot be read.
    fn overview(&self) -> Result<Overview, SourceError>;

    /// A job now, by its id.
    ///
    /// # Errors
    /// [`SourceError::NoSuchJob`]; [`SourceError::Unavailable`] if it cannot be read.
    fn job(&self, id: &str) -> Result<Job, SourceError>;

    /// The next layers of a job from depth `from` on, with consecutive depths; an empty list after
    /// the last.
    ///
    /// # Errors
    /// Those of [`Self::job`].
    fn layers(&self, id: &str, from: u32) -> Result<Vec<LayerRecord>, SourceError>;

    /// States that are expected in the layers after the last complete one, by depth: in some of the
    /// layers, always including the last. Empty if there is no basis for an estimate.
    ///
    /// # Errors
    /// Those of [`Self::job`].
    fn expected(&self, id: &str) -> Result<Vec<(u32, f64)>, SourceError>;

    /// The next entries of a job's log. `from` is 0 or [`LogPart::next`] of the part before.
    ///
    /// # Errors
    /// Those of [`Self::job`].
    fn log(&self, id: &str, from: u64) -> Result<LogPart, SourceError>;

    /// Makes a change.
    ///
    /// # Errors
    /// Those of [`Self::job`]; [`SourceError::Refused`] if the job's state does not permit it.
    fn change(&self, id: &str, action: Action) -> Result<(), SourceError>;

    /// The moves of a shortest solution. May take long; the server requests one at a time, and
    /// caches the response.
    ///
    /// # Errors
    /// Those of [`Self::job`]; [`SourceError::Refused`] with the reason if there is no solution, or
    /// it cannot be found here.
    fn solution(&self, id: &str) -> Result<Solution, SourceError>;

    /// The drawing of a position as SVG, in the dark or the light theme; `None` if the puzzle has
    /// no drawings. `position` is one of a [`Solution`].
    ///
    /// # Errors
    /// Those of [`Self::job`].
    fn drawing(&self, id: &str, position: &str, dark: bool) -> Result<Option<String>, SourceError>;
}

/// A program's presentation of puzzles: titles of results, commands, moves and drawings.
pub trait Presenter: Debug + Send + Sync {
    /// Texts about a job and its result. Opens the job's space, which takes milliseconds.
    fn texts(&self, job: &Job) -> Texts;

    /// The moves of a shortest solution of a job.
    ///
    /// # Errors
    /// [`SourceError::Refused`] with the reason if they cannot be found here.
    fn solution(&self, job: &Job) -> Result<Solution, SourceError>;

    /// The drawing of a position of a solution as SVG; `None` if the puzzle has no drawings.
    fn drawing(&self, job: &Job, position: &str, dark: bool) -> Option<String>;
}

/// Texts about a job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts {
    /// The result in one line; empty without a result.
    pub title: String,
    /// The command that repeats the search; empty if it is not known.
    pub command: String,
}

/// A presenter without any puzzle.
#[derive(Debug, Default)]
pub struct PlainPresenter;

impl Presenter for PlainPresenter {
    fn texts(&self, job: &Job) -> Texts {
        let title = job.result.as_ref().map_or_else(String::new, |result| match result.moves {
            Some(moves) => format!("{}: {moves} moves", job.id),
            None => format!("{}: greatest depth {}", job.id, result.depth),
        });
        Texts { title, command: String::new() }
    }

    fn solution(&self, job: &Job) -> Result<Solution, SourceError> {
        Err(SourceError::Refused(format!("The moves of {} are not known here.", job.space)))
    }

    fn drawing(&self, _: &Job, _: &str, _: bool) -> Option<String> {
        None
    }
}

/// Why a call of a [`Source`] failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// There is no such job.
    #[error("there is no job {0}")]
    NoSuchJob(String),
    /// The job's state or kind does not permit the call.
    #[error("{0}")]
    Refused(String),
    /// The data cannot be read or written now.
    #[error("{0}")]
    Unavailable(String),
}
