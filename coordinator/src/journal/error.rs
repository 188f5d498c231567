//! Errors of the journal.

use std::io;
use std::path::{Path, PathBuf};

use strata_proto::net::{NetError, limits};

use crate::entry::{JobState, WorkerNumber};

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
        /// The operating system's error.
        source: io::Error,
    },
    /// The file is damaged, or is not a journal.
    #[error("the journal {} is corrupt: {what}", path.display())]
    Corrupt {
        /// The journal.
        path: PathBuf,
        /// The place (table and key, if known) and the fault.
        what: String,
    },
    /// The journal was written by another version of this program.
    #[error("the journal {} has format {found}; this program reads format {expected}", path.display())]
    Format {
        /// The journal.
        path: PathBuf,
        /// The format of this program.
        expected: u32,
        /// The format of the file.
        found: u32,
    },
    /// Another process, or another part of this one, has the journal open.
    #[error("the journal {} is in use by another process", path.display())]
    Locked {
        /// The journal.
        path: PathBuf,
    },
    /// An earlier error has made the open journal unusable until it is opened again.
    #[error("the journal {} has to be opened again: {what}", path.display())]
    Unusable {
        /// The journal.
        path: PathBuf,
        /// The reason.
        what: String,
    },
    /// A value could not be read back after a write, such as an infinite time.
    #[error("{table} {key:?} cannot be written to the journal: {what}")]
    Unwritable {
        /// The table.
        table: &'static str,
        /// The key in it.
        key: String,
        /// The fault.
        what: String,
    },
    /// The operating system provides no random numbers for an id.
    #[error(transparent)]
    Random(#[from] NetError),
    /// No job matches.
    #[error("there is no job {:?}", strata_proto::net::shortened(what))]
    NoSuchJob {
        /// The id, name or prefix.
        what: String,
    },
    /// Several jobs match a prefix.
    #[error(
        "{:?} is the beginning of several jobs: {}",
        strata_proto::net::shortened(what),
        first(jobs)
    )]
    Ambiguous {
        /// The id, name or prefix.
        what: String,
        /// Ids of the jobs, ascending; only the first ones if there are many.
        jobs: Vec<String>,
    },
    /// A job of that name has another specification.
    #[error("the name {name:?} belongs to job {job}, which differs: {}", list(differences))]
    NameTaken {
        /// The name.
        name: String,
        /// The job that has it.
        job: String,
        /// The differences: name, the existing job's value, the new job's value.
        differences: Vec<(String, String, String)>,
    },
    /// The job of that name has ended.
    #[error(
        "the name {name:?} belongs to job {job}, which has ended ({state}): \"watch {name}\" shows it, \
         `new` starts another job of that name{}",
        if state.may_resume() { format!(", \"resume {name}\" goes on with it") } else { String::new() }
    )]
    NameEnded {
        /// The name.
        name: String,
        /// The job that has it.
        job: String,
        /// The job's state.
        state: JobState,
    },
    /// The job of that name waits or runs, and a new job of the same name was requested.
    #[error("job {job} has the name {name:?} and has not ended: cancel it first, or omit `new`")]
    NameInUse {
        /// The name.
        name: String,
        /// The job that has it.
        job: String,
    },
    /// A name or prefix is invalid.
    #[error(
        "{name:?} is not a valid {what}: use 1 to {} letters, digits, dots, dashes and underscores, \
         and no dot at the start",
        limits::NAME_LEN
    )]
    Name {
        /// The use of the name.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// The job cannot be resumed: it has not ended, or has ended with a result.
    #[error("job {job} is {state} and cannot be resumed")]
    NotResumable {
        /// The job.
        job: String,
        /// Its state.
        state: JobState,
    },
    /// The job is queued or runs.
    #[error("job {job} has not ended: cancel it first")]
    NotEnded {
        /// The job.
        job: String,
    },
    /// A change would affect a fixed field of a job.
    #[error("the {what} of job {job} cannot change")]
    Fixed {
        /// The job.
        job: String,
        /// The field.
        what: &'static str,
    },
    /// Layers are not consecutive.
    #[error("a line of layer {found} of job {job} where layer {expected} should be")]
    Gap {
        /// The job.
        job: String,
        /// The depth after the last layer. The first new line may also have a smaller depth.
        expected: u32,
        /// The depth of the line.
        found: u32,
    },
    /// The limit of workers is reached.
    #[error(
        "there are {limit} workers already, which are connected or hold files of jobs: start this \
         one with the data directory of one that has gone"
    )]
    TooManyWorkers {
        /// The limit.
        limit: WorkerNumber,
    },
}

/// The first ids as a text, which says whether there are more.
fn first(jobs: &[String]) -> String {
    let named = &jobs[..jobs.len().min(JournalError::NAMED_JOBS)];
    let more = if jobs.len() > named.len() { " and others" } else { "" };
    format!("{}{more}", named.join(", "))
}

fn list(differences: &[(String, String, String)]) -> String {
    let one = |(name, own, other): &(_, _, _)| format!("{name} is {own:?}, not {other:?}");
    differences.iter().map(one).collect::<Vec<String>>().join(", ")
}

impl JournalError {
    /// Most jobs that the message about an ambiguous prefix names.
    pub(super) const NAMED_JOBS: usize = 10;

    /// Whether the disk or the quota is full.
    #[must_use]
    pub fn is_disk_full(&self) -> bool {
        matches!(self, Self::Io { source, .. }
            if matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded))
    }

    /// Whether the operating system refused an operation, or the journal has to be opened again: the
    /// operation may succeed later.
    #[must_use]
    pub fn is_unavailable(&self) -> bool {
        matches!(self, Self::Io { .. } | Self::Unusable { .. })
    }

    /// A copy of the error for a later operation that fails for the same reason; `None` if the
    /// reason is not the file.
    pub(super) fn repeated(&self) -> Option<Self> {
        match self {
            Self::Io { op, path, source } => {
                let source = match source.raw_os_error() {
                    Some(code) => io::Error::from_raw_os_error(code),
                    None => io::Error::new(source.kind(), source.to_string()),
                };
                Some(Self::Io { op, path: path.clone(), source })
            }
            Self::Unusable { path, what } => {
                Some(Self::Unusable { path: path.clone(), what: what.clone() })
            }
            Self::Corrupt { path, what } => Some(Self::corrupt(path, what)),
            Self::Locked { path } => Some(Self::Locked { path: path.clone() }),
            _ => None,
        }
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

    /// For `map_err`: converts an error of the database.
    pub(super) fn database<E: Into<redb::Error>>(
        op: &'static str,
        path: &Path,
    ) -> impl FnOnce(E) -> Self {
        move |error| match error.into() {
            redb::Error::DatabaseAlreadyOpen | redb::Error::LockProtocolMismatch => {
                Self::Locked { path: path.to_path_buf() }
            }
            // A file without the magic number or of too few bytes.
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
