//! What can go wrong with the journal.

use std::io;
use std::path::{Path, PathBuf};

use crate::entry::JobState;

/// An operation on the journal failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The operating system refused an operation.
    #[error("cannot {op} the journal {}: {source}", path.display())]
    Io {
        /// The operation, as a verb.
        op: &'static str,
        /// The journal.
        path: PathBuf,
        /// The operating system's answer.
        source: io::Error,
    },
    /// The file does not hold what was written to it, or was never a journal.
    #[error("the journal {} is corrupt: {what}", path.display())]
    Corrupt {
        /// The journal.
        path: PathBuf,
        /// Where (table and key, if it is known) and what is wrong.
        what: String,
    },
    /// The journal was written by another version of this program.
    #[error("the journal {} has format {found}; this program reads format {expected}", path.display())]
    Format {
        /// The journal.
        path: PathBuf,
        /// The format of this program.
        expected: u32,
        /// The journal's.
        found: u32,
    },
    /// Another process, or another part of this one, has the journal open.
    #[error("the journal {} is in use by another process", path.display())]
    Locked {
        /// The journal.
        path: PathBuf,
    },
    /// After an earlier error nothing can be done before the journal is opened again.
    #[error("the journal {} has to be opened again: {what}", path.display())]
    Unusable {
        /// The journal.
        path: PathBuf,
        /// Why.
        what: String,
    },
    /// What is to be written could not be read back, such as a time that is no number.
    #[error("{table} {key:?} cannot be written to the journal: {what}")]
    Unwritable {
        /// The table.
        table: &'static str,
        /// The key in it.
        key: String,
        /// What is wrong.
        what: String,
    },
    /// There is no such job.
    #[error("there is no job {what:?}")]
    NoSuchJob {
        /// What was asked for.
        what: String,
    },
    /// Several jobs have ids that begin so.
    #[error("{what:?} is the beginning of several jobs: {}", jobs.join(", "))]
    Ambiguous {
        /// What was asked for.
        what: String,
        /// Ids of the jobs, in order.
        jobs: Vec<String>,
    },
    /// A job of that name searches something else.
    #[error("the name {name:?} belongs to job {job}, which differs: {}", list(differences))]
    NameTaken {
        /// The name.
        name: String,
        /// The job that has it.
        job: String,
        /// Name, the existing job's value and the new one's of everything that differs.
        differences: Vec<(String, String, String)>,
    },
    /// A name or id that could not be a folder's name, or is too long.
    #[error("{name:?} is not a valid {what}")]
    Name {
        /// What it is for.
        what: &'static str,
        /// The refused name.
        name: String,
    },
    /// The job has not ended, or has a result.
    #[error("job {job} is {state} and cannot be resumed")]
    NotResumable {
        /// The job.
        job: String,
        /// Its state.
        state: JobState,
    },
    /// Something was about to change what never changes in a job.
    #[error("the {what} of job {job} cannot change")]
    Fixed {
        /// The job.
        job: String,
        /// What was changed.
        what: &'static str,
    },
    /// Lines of layers do not follow each other, or what is there.
    #[error("a line of layer {found} of job {job} where layer {expected} should be")]
    Gap {
        /// The job.
        job: String,
        /// The depth that can come next (for a first line: or any smaller one).
        expected: u32,
        /// The depth that came.
        found: u32,
    },
    /// All numbers of workers are taken.
    #[error("there are {limit} workers already: no more can register")]
    TooManyWorkers {
        /// How many there can be.
        limit: u16,
    },
}

fn list(differences: &[(String, String, String)]) -> String {
    let one = |(name, own, other): &(_, _, _)| format!("{name} is {own:?}, not {other:?}");
    differences.iter().map(one).collect::<Vec<String>>().join(", ")
}

impl JournalError {
    /// Whether the disk or the quota is full.
    #[must_use]
    pub fn is_disk_full(&self) -> bool {
        matches!(self, Self::Io { source, .. }
            if matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded))
    }

    /// Whether the journal is damaged.
    #[must_use]
    pub fn is_corrupt(&self) -> bool {
        matches!(self, Self::Corrupt { .. })
    }

    pub(super) fn corrupt(path: &Path, what: impl ToString) -> Self {
        Self::Corrupt { path: path.to_path_buf(), what: what.to_string() }
    }

    /// For `map_err`: adds the operation and the path.
    pub(super) fn io<'a>(op: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> Self + 'a {
        move |source| Self::Io { op, path: path.to_path_buf(), source }
    }

    /// What an error of the database means here.
    pub(super) fn database<E: Into<redb::Error>>(
        op: &'static str,
        path: &Path,
    ) -> impl FnOnce(E) -> Self {
        move |error| match error.into() {
            redb::Error::DatabaseAlreadyOpen | redb::Error::LockProtocolMismatch => {
                Self::Locked { path: path.to_path_buf() }
            }
            // This is how a file without the magic number, or one that is too short, shows itself.
            redb::Error::Io(source)
                if matches!(
                    source.kind(),
                    io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof
                ) =>
            {
                Self::corrupt(path, source)
            }
            redb::Error::Io(source) => Self::io(op, path)(source),
            error @ (redb::Error::PreviousIo
            | redb::Error::DatabaseClosed
            | redb::Error::LockPoisoned(_)
            | redb::Error::TransactionPoisoned
            | redb::Error::ValueTooLarge(_)) => {
                Self::Unusable { path: path.to_path_buf(), what: error.to_string() }
            }
            redb::Error::Corrupted(what) => Self::corrupt(path, what),
            error => Self::corrupt(path, error),
        }
    }
}
