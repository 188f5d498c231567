//! Interface between the page and what it shows.

use std::fmt::Debug;

use strata_store::LayerRecord;

use crate::dashboard::model::{Action, Job, LogPart, Overview, Solution};

/// What the page shows, and the changes it may ask for. Calls may block on the disk: the server makes
/// them outside the asynchronous threads.
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

    /// The next layers of a job from a depth on, with consecutive depths; none after the last.
    ///
    /// # Errors
    /// Those of [`Self::job`].
    fn layers(&self, id: &str, from: u32) -> Result<Vec<LayerRecord>, SourceError>;

    /// States that are expected in the layers after the last one, by depth: some of the layers, and
    /// the last one. Empty without a basis.
    ///
    /// # Errors
    /// Those of [`Self::job`].
    fn expected(&self, id: &str) -> Result<Vec<(u32, f64)>, SourceError>;

    /// The next entries of a job's log. `from` is 0 or the end of the part before.
    ///
    /// # Errors
    /// Those of [`Self::job`].
    fn log(&self, id: &str, from: u64) -> Result<LogPart, SourceError>;

    /// Makes a change.
    ///
    /// # Errors
    /// Those of [`Self::job`]; [`SourceError::Refused`] if the job's state does not permit it.
    fn change(&self, id: &str, action: Action) -> Result<(), SourceError>;

    /// The moves of a shortest solution. May take long; the server asks for one at a time, and keeps
    /// the answer.
    ///
    /// # Errors
    /// Those of [`Self::job`]; [`SourceError::Refused`] with the reason if there are none, or they
    /// cannot be had here.
    fn solution(&self, id: &str) -> Result<Solution, SourceError>;

    /// The drawing of a position as SVG, in the dark or the light theme; none if the puzzle has none.
    /// `position` is one of a [`Solution`].
    ///
    /// # Errors
    /// Those of [`Self::job`].
    fn drawing(&self, id: &str, position: &str, dark: bool) -> Result<Option<String>, SourceError>;
}

/// What a program knows of puzzles: names of results, commands, moves and drawings.
pub trait Presenter: Debug + Send + Sync {
    /// Texts about a job and its result. Opens the job's space, which takes milliseconds.
    fn texts(&self, job: &Job) -> Texts;

    /// The moves of a shortest solution of a job.
    ///
    /// # Errors
    /// [`SourceError::Refused`] with the reason if they cannot be had here.
    fn solution(&self, job: &Job) -> Result<Solution, SourceError>;

    /// The drawing of a position of a solution as SVG; none if the puzzle has none.
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

/// A presenter that knows no puzzles.
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

/// Why there is nothing to show, or a change is not made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// There is no such job.
    #[error("there is no job {0}")]
    NoSuchJob(String),
    /// The job's state or kind does not permit it.
    #[error("{0}")]
    Refused(String),
    /// It cannot be read or written now.
    #[error("{0}")]
    Unavailable(String),
}
