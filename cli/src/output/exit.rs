//! How the program ends: the table of exit codes, and the failure that prints one line.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use strata::{StopReason, WorkerError};
use strata_space::SpaceError;
use strata_store::StoreError;
use strata_symbolic::StepError;

/// The exit codes. Scripts rely on these numbers: they never change meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum ExitCode {
    /// The command did what it was asked.
    Done = 0,
    /// Something nobody foresaw.
    Unexpected = 1,
    /// The command line, an environment variable or an input was refused.
    Usage = 2,
    /// No goal can be reached: everything was searched, or parity excludes it; or a replay does not end
    /// at its goal.
    NoGoal = 3,
    /// A limit was reached, or somebody cancelled it; the job can be resumed.
    Limit = 4,
    /// The job failed.
    JobFailed = 5,
    /// Two ways to the same number of moves have found different ones.
    Differs = 6,
    /// The coordinator, or the node asked, did not answer.
    Unreachable = 10,
    /// There is no such job.
    NoSuchJob = 11,
    /// Data on disk is damaged.
    Corrupt = 12,
    /// Interrupted by a signal: the job can be resumed, or goes on without its follower.
    Interrupted = 130,
}

impl ExitCode {
    /// Every code, in ascending order.
    const ALL: [ExitCode; 11] = [
        ExitCode::Done,
        ExitCode::Unexpected,
        ExitCode::Usage,
        ExitCode::NoGoal,
        ExitCode::Limit,
        ExitCode::JobFailed,
        ExitCode::Differs,
        ExitCode::Unreachable,
        ExitCode::NoSuchJob,
        ExitCode::Corrupt,
        ExitCode::Interrupted,
    ];

    /// The code of that number.
    pub(crate) fn of(number: u32) -> Option<ExitCode> {
        ExitCode::ALL.into_iter().find(|&code| code as u32 == number)
    }

    fn meaning(self) -> &'static str {
        match self {
            ExitCode::Done => "done",
            ExitCode::Unexpected => "unexpected error",
            ExitCode::Usage => "usage: a flag, variable or input was refused",
            ExitCode::NoGoal => "no goal can be reached; or a replay ends elsewhere",
            ExitCode::Limit => "stopped at a limit or cancelled, resumable",
            ExitCode::JobFailed => "job failed",
            ExitCode::Differs => "two ways to the same number found different ones",
            ExitCode::Unreachable => "coordinator unreachable",
            ExitCode::NoSuchJob => "no such job",
            ExitCode::Corrupt => "corrupt data",
            ExitCode::Interrupted => "interrupted: resumable, or it goes on in the cluster",
        }
    }
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        std::process::ExitCode::from(code as u8)
    }
}

/// The table of exit codes as `--help` shows it.
pub(crate) fn help_table() -> String {
    let mut table = String::from("Exit codes:");
    for code in ExitCode::ALL {
        // Writing to a string cannot fail.
        let _ = write!(table, "\n  {:>3}  {}", code as u8, code.meaning());
    }
    table
}

/// Why a command ended without doing what it was asked.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Failure {
    /// The code to exit with.
    pub(crate) code: ExitCode,
    message: String,
}

impl Failure {
    /// A failure with the given code; line breaks in the message become blanks.
    pub(crate) fn new(code: ExitCode, message: impl ToString) -> Self {
        let message = message.to_string();
        let lines = message.lines().map(str::trim);
        let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
        Failure { code, message: lines.join(" ") }
    }

    /// A refused flag, variable or input.
    pub(crate) fn usage(message: impl ToString) -> Self {
        Failure::new(ExitCode::Usage, message)
    }

    /// Prints the one line on stderr.
    pub(crate) fn report(&self) {
        // With stderr closed there is nobody left to tell; the exit code still speaks.
        let _ = writeln!(io::stderr(), "error: {self}");
    }
}

impl From<strata_explicit::Error> for Failure {
    fn from(error: strata_explicit::Error) -> Failure {
        Failure::new(error.store().map_or(ExitCode::JobFailed, store_code), error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        Failure::new(store_code(&error), error)
    }
}

fn store_code(error: &StoreError) -> ExitCode {
    match error {
        error if error.is_corrupt() => ExitCode::Corrupt,
        StoreError::Memory { .. } => ExitCode::Limit,
        error if error.is_disk_full() => ExitCode::Limit,
        StoreError::Locked { .. } | StoreError::Exists { .. } | StoreError::Name { .. } => {
            ExitCode::Usage
        }
        _ => ExitCode::JobFailed,
    }
}

impl From<strata::Error> for Failure {
    fn from(error: strata::Error) -> Failure {
        use strata::Error;
        let code = match &error {
            Error::Store(_) => ExitCode::Unexpected,
            Error::Option { .. } | Error::IsJobFolder(_) | Error::NoSuchJob(_) => ExitCode::Usage,
            Error::OtherSearch { .. } | Error::LayersNotKept { .. } => ExitCode::Usage,
            Error::LayerNotHeld { .. } | Error::NoLayer { .. } => ExitCode::Usage,
            // Known without a search.
            Error::Space(SpaceError::Unsolvable { .. }) => ExitCode::NoGoal,
            Error::Space(_) => ExitCode::Usage,
            Error::DataDir(StoreError::Corrupt { .. }) | Error::Restored { .. } => {
                ExitCode::Corrupt
            }
            Error::DataDir(_) => ExitCode::Usage,
            Error::Step(StepError::Mismatch { .. }) => ExitCode::Unexpected,
            Error::Step(_) => ExitCode::Limit,
            Error::Stopped { reason: StopReason::Interrupted, .. } => ExitCode::Interrupted,
            Error::Stopped { .. } => ExitCode::Limit,
            Error::Worker(WorkerError::Panicked { .. }) => ExitCode::Unexpected,
            Error::Worker(error) => error.store().map_or(ExitCode::JobFailed, store_code),
            _ => ExitCode::Unexpected,
        };
        match error {
            Error::Store(error) => error.into(),
            Error::Option { option, why } => {
                let flag = option.replace('_', "-");
                Failure::new(code, format!("invalid value for '--{flag}': {why}"))
            }
            Error::IsJobFolder(dir) => {
                let dir = dir.display();
                let hint = "--data-dir takes the folder that holds it";
                Failure::new(code, format!("{dir} is the folder of one job: {hint}"))
            }
            Error::LayersNotKept { job } => {
                let message =
                    format!("job {job} has not kept all layers: a path needs --keep-layers all");
                Failure::new(code, message)
            }
            error => Failure::new(code, error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_the_documented_ones() {
        let numbers: Vec<u8> = ExitCode::ALL.iter().map(|&code| code as u8).collect();
        assert_eq!(numbers, [0, 1, 2, 3, 4, 5, 6, 10, 11, 12, 130]);
        assert_eq!(ExitCode::of(12), Some(ExitCode::Corrupt));
        assert_eq!(ExitCode::of(9), None);
    }

    #[test]
    fn the_table_has_a_line_a_code() {
        let table = help_table();
        assert_eq!(table.lines().count(), 1 + ExitCode::ALL.len());
        assert!(table.contains("\n   12  corrupt data"));
        assert!(table.contains("\n  130  interrupted"));
    }

    #[test]
    fn a_failure_is_one_line() {
        let failure = Failure::usage("level 99 is too large\n\n  the limit is 12\n");
        assert_eq!(failure.to_string(), "level 99 is too large the limit is 12");
        assert_eq!(failure.code, ExitCode::Usage);
    }
}
