//! Exit codes, and the failure that prints one line.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use strata_engine::symbolic::StepError;
use strata_proto::net::{NetError, printable};
use strata_run::{Retryable, StopReason, WorkerError};
use strata_space::{SpaceError, shortened};
use strata_store::{Holder, StoreError, is_unusable_path};

use crate::output::events::Outcome;
use crate::program::flags::flag_of;

/// Exit codes. Scripts rely on these numbers: they never change meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ExitCode {
    /// The command succeeded.
    Done = 0,
    /// An unexpected error.
    Unexpected = 1,
    /// The command line, an environment variable or an input was refused.
    Usage = 2,
    /// The goal cannot be reached: everything was searched, or parity excludes it; or a replay does
    /// not end at its goal.
    NoGoal = 3,
    /// A limit was reached, or the job was cancelled; it can be resumed.
    Limit = 4,
    /// The job failed.
    JobFailed = 5,
    /// Two methods found different numbers of moves.
    Differs = 6,
    /// The coordinator, or the node checked, did not reply.
    Unreachable = 10,
    /// There is no such job.
    NoSuchJob = 11,
    /// Data on disk is damaged.
    Corrupt = 12,
    /// Interrupted by a signal: the job can be resumed, or keeps running in the cluster.
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

    /// The code with that number.
    pub(crate) fn of(number: u32) -> Option<ExitCode> {
        ExitCode::ALL.into_iter().find(|&code| code as u32 == number)
    }

    /// The code of a finished search.
    pub(crate) fn of_outcome(outcome: Outcome) -> ExitCode {
        match outcome {
            Outcome::NoGoal => ExitCode::NoGoal,
            Outcome::Goal | Outcome::Exhausted => ExitCode::Done,
        }
    }

    fn meaning(self) -> &'static str {
        match self {
            ExitCode::Done => "done",
            ExitCode::Unexpected => "unexpected error",
            ExitCode::Usage => "usage: a flag, variable or input was refused",
            ExitCode::NoGoal => "the goal cannot be reached; or a replay ends elsewhere",
            ExitCode::Limit => "stopped at a limit or cancelled, resumable",
            ExitCode::JobFailed => "job failed",
            ExitCode::Differs => "two methods found different numbers",
            ExitCode::Unreachable => "coordinator unreachable",
            ExitCode::NoSuchJob => "no such job",
            ExitCode::Corrupt => "corrupt data",
            ExitCode::Interrupted => "interrupted: resumable, or running on in the cluster",
        }
    }
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        std::process::ExitCode::from(code as u8)
    }
}

/// The table of exit codes of `--help`.
pub fn help_table() -> String {
    let mut table = String::from("Exit codes:");
    for code in ExitCode::ALL {
        // Writing to a string cannot fail.
        let _ = write!(table, "\n  {:>3}  {}", code as u8, code.meaning());
    }
    table
}

/// Characters at the beginning of a long message that are kept.
const MESSAGE_CHARS: usize = 2000;

/// Characters at the end of a long message that are kept: the end has the reason and advice.
const END_CHARS: usize = 500;

/// Why a command failed: an exit code and a message of one line.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// The code to exit with.
    pub code: ExitCode,
    message: String,
}

impl Failure {
    /// A failure with the given code; line breaks in the message become spaces, other control
    /// characters are escaped.
    pub fn new(code: ExitCode, message: impl ToString) -> Self {
        let message = message.to_string();
        let lines = message.lines().map(str::trim);
        let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
        Failure { code, message: cut(&printable(&with_flags(&lines.join(" ")))) }
    }

    /// A data directory, a lock file or an identity that cannot be used.
    pub(crate) fn data_dir(error: StoreError) -> Self {
        match &error {
            StoreError::Locked { holder, .. } => Failure::usage(locked(&error, holder.as_deref())),
            _ => Failure::new(data_dir_code(&error), error),
        }
    }

    /// A refused flag, variable or input.
    pub fn usage(message: impl ToString) -> Self {
        Failure::new(ExitCode::Usage, message)
    }

    /// Prints the line on standard error.
    pub(crate) fn report(&self) {
        // If standard error is closed, the exit code still reports the failure.
        let _ = writeln!(io::stderr(), "error: {self}");
    }
}

/// Settings that the messages of libraries and nodes name, as in `` `keep_layers` ``, besides those of
/// engines.
const SETTINGS: [&str; 11] = [
    "checkpoint_interval",
    "engine",
    "insecure",
    "inverses",
    "memory",
    "new",
    "symmetry",
    "tls_ca",
    "tls_cert",
    "tls_key",
    "token_file",
];

/// A message of a library or a node in which flags replace the names of settings.
pub(crate) fn with_flags(message: &str) -> String {
    let settings = SETTINGS.into_iter().chain(strata_run::engine_settings());
    settings.fold(message.to_owned(), |text, setting| {
        text.replace(&format!("`{setting}`"), &format!("--{}", flag_of(setting)))
    })
}

/// The beginning and the end of a message that is too long for a terminal.
fn cut(message: &str) -> String {
    let begin = shortened(message, MESSAGE_CHARS);
    let end = message.char_indices().rev().take(END_CHARS).last();
    match end {
        Some((end, _)) if begin.len() < end => format!("{begin}{}", &message[end..]),
        _ => message.to_owned(),
    }
}

impl From<strata_engine::explicit::Error> for Failure {
    fn from(error: strata_engine::explicit::Error) -> Failure {
        Failure::new(error.store().map_or(ExitCode::JobFailed, store_code), error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        match &error {
            StoreError::Locked { holder, .. } => Failure::usage(locked(&error, holder.as_deref())),
            _ => Failure::new(store_code(&error), error),
        }
    }
}

/// The message for a data directory in use, with what to do.
fn locked(error: &StoreError, holder: Option<&Holder>) -> String {
    let stop = match holder {
        Some(holder) => format!("stop it with 'kill {}'", holder.pid),
        None => "stop it".to_owned(),
    };
    format!("{error}; wait for its end, {stop} (it leaves a checkpoint), or use another --data-dir")
}

fn store_code(error: &StoreError) -> ExitCode {
    match error {
        error if error.is_corrupt() => ExitCode::Corrupt,
        error if error.is_disk_full() => ExitCode::Limit,
        StoreError::Locked { .. } | StoreError::Exists { .. } | StoreError::Name { .. } => {
            ExitCode::Usage
        }
        _ => ExitCode::JobFailed,
    }
}

/// The code for a data directory that cannot be used at the start of a command.
fn data_dir_code(error: &StoreError) -> ExitCode {
    match error {
        StoreError::Corrupt { .. } => ExitCode::Corrupt,
        StoreError::Io { source, .. } | StoreError::Read { source, .. } => path_code(source),
        StoreError::Codec { .. } | StoreError::Inconsistent { .. } => ExitCode::Unexpected,
        _ => ExitCode::Usage,
    }
}

/// The code for a file or folder that the user has named and that cannot be used.
pub(crate) fn path_code(error: &io::Error) -> ExitCode {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ExitCode::Limit,
        _ if is_unusable_path(error) => ExitCode::Usage,
        // The disk, the file system or the machine is the cause.
        _ => ExitCode::Unexpected,
    }
}

impl From<strata_run::Error> for Failure {
    fn from(error: strata_run::Error) -> Failure {
        use strata_run::Error;
        let code = match &error {
            Error::Store(_) => ExitCode::Unexpected,
            Error::Option { .. } | Error::Unsupported { .. } => ExitCode::Usage,
            Error::IsJobFolder(_) | Error::NoSuchJob(_) => ExitCode::Usage,
            Error::OtherSearch { .. } | Error::LayersNotKept { .. } => ExitCode::Usage,
            Error::LookUpEngine { .. } => ExitCode::Usage,
            Error::LookUpMemory { .. } => ExitCode::Limit,
            Error::LayerNotHeld { .. } | Error::NoLayer { .. } => ExitCode::Usage,
            // This is decided without a search.
            Error::Space(SpaceError::Unsolvable { .. }) => ExitCode::NoGoal,
            Error::Space(_) => ExitCode::Usage,
            Error::Restored { .. } => ExitCode::Corrupt,
            Error::DataDir(error) => data_dir_code(error),
            Error::Step(StepError::Mismatch { .. }) => ExitCode::Unexpected,
            Error::Step(_) => ExitCode::Limit,
            Error::Stopped { reason: StopReason::Interrupted, .. } => ExitCode::Interrupted,
            Error::Stopped { .. } => ExitCode::Limit,
            Error::Worker(WorkerError::Panicked { .. }) => ExitCode::Unexpected,
            Error::Worker(error) if error.exhausted().is_some() => ExitCode::Limit,
            Error::Worker(error) => error.store().map_or(ExitCode::JobFailed, store_code),
            _ => ExitCode::Unexpected,
        };
        match error {
            Error::Store(error) => error.into(),
            Error::DataDir(error) => Failure::data_dir(error),
            Error::Option { option, why } => {
                let flag = flag_of(option);
                Failure::new(code, format!("invalid value for '--{flag}': {why}"))
            }
            Error::IsJobFolder(dir) => {
                let dir = dir.display();
                let hint = "--data-dir takes the folder that holds it";
                Failure::new(code, format!("{dir} is the folder of one job: {hint}"))
            }
            Error::LayersNotKept { job } => {
                let message = format!(
                    "job {job} has not kept all layers: paths and look-ups need --keep-layers all"
                );
                Failure::new(code, message)
            }
            error => Failure::new(code, error),
        }
    }
}

impl From<NetError> for Failure {
    fn from(error: NetError) -> Failure {
        let code = match &error {
            NetError::Unreachable { .. } => ExitCode::Unreachable,
            NetError::File { source, .. } => path_code(source),
            NetError::Random { .. } => ExitCode::Unexpected,
            // A file, a flag or an address is wrong.
            _ => ExitCode::Usage,
        };
        Failure::new(code, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_documented() {
        let numbers: Vec<u8> = ExitCode::ALL.iter().map(|&code| code as u8).collect();
        assert_eq!(numbers, [0, 1, 2, 3, 4, 5, 6, 10, 11, 12, 130]);
        assert_eq!(ExitCode::of(12), Some(ExitCode::Corrupt));
        assert_eq!(ExitCode::of(9), None);
    }

    #[test]
    fn settings_that_libraries_name_are_printed_as_flags() {
        let error = strata_run::Error::LayersNotKept { job: "job".to_owned() };
        let text = Failure::new(ExitCode::Usage, error).to_string();
        assert_eq!(
            text,
            "job job has not kept all layers: paths and look-ups need --keep-layers all"
        );
        assert_eq!(with_flags("`memory` of `strata tls-init`"), "--memory of `strata tls-init`");
    }

    #[test]
    fn the_table_has_one_line_per_code() {
        let table = help_table();
        assert_eq!(table.lines().count(), 1 + ExitCode::ALL.len());
        assert!(table.contains("\n   12  corrupt data"));
        assert!(table.contains("\n  130  interrupted"));
    }

    #[test]
    fn a_diagram_beyond_a_limit_exits_with_4_and_a_mismatch_with_5() {
        let code = |source| {
            let error = WorkerError::Symbolic { folder: "job".into(), source };
            Failure::from(strata_run::Error::from(error)).code
        };
        assert_eq!(code(StepError::Memory { budget: 7 }), ExitCode::Limit);
        let many = StepError::TooMany { what: "nodes", limit: 9 };
        assert_eq!(code(many), ExitCode::Limit);
        assert_eq!(code(StepError::Mismatch { level: 3 }), ExitCode::JobFailed);
    }

    #[test]
    fn disk_errors_exit_with_neither_the_usage_nor_the_corruption_code() {
        use rustix::io::Errno;
        let cases = [
            (Errno::IO, ExitCode::Unexpected),
            (Errno::ROFS, ExitCode::Unexpected),
            (Errno::NOSPC, ExitCode::Limit),
            (Errno::ACCESS, ExitCode::Usage),
            (Errno::NOTDIR, ExitCode::Usage),
        ];
        for (errno, code) in cases {
            let io = || io::Error::from(errno);
            let file = || "data/.lock".into();
            let locked = StoreError::Io { op: "lock", path: file(), source: io() };
            let failures = [
                Failure::from(strata_run::Error::DataDir(locked)),
                Failure::data_dir(StoreError::Io { op: "read", path: file(), source: io() }),
                Failure::from(NetError::File { path: file(), source: io() }),
            ];
            for failure in failures {
                assert_eq!(failure.code, code, "{failure}");
                assert!(failure.to_string().contains("data/.lock"), "{failure}");
            }
        }
        // A sector of a layer: the job has failed, and nothing says that its data is damaged.
        let (path, source) = ("job/layer".into(), Errno::IO.into());
        let failure = Failure::from(StoreError::Read { path, offset: 4096, source });
        assert_eq!(failure.code, ExitCode::JobFailed);
        assert!(failure.to_string().starts_with("cannot read job/layer at offset 4096: "));
    }

    #[test]
    fn a_data_directory_in_use_says_by_which_process_and_what_to_do() {
        let holder = Holder { pid: 4711, since: 0, command: "strata solve panex 9".to_owned() };
        let message = |holder| {
            let error = StoreError::Locked { dir: "data".into(), holder };
            let failure = Failure::from(strata_run::Error::DataDir(error));
            assert_eq!(failure.code, ExitCode::Usage);
            failure.to_string()
        };
        let known = message(Some(Box::new(holder)));
        assert!(known.contains("in use by another process (process 4711, for "), "{known}");
        assert!(
            known.contains(": strata solve panex 9); wait for its end, stop it with 'kill 4711'")
        );
        let unknown = message(None);
        assert!(unknown.contains("in use by another process; wait for its end, stop it (it"));
    }

    #[test]
    fn a_failure_is_one_line() {
        let failure = Failure::usage("level 99 is too large\n\n  the limit\u{1b} is 12\n");
        assert_eq!(failure.to_string(), r"level 99 is too large the limit\u{1b} is 12");
        assert_eq!(failure.code, ExitCode::Usage);
    }

    #[test]
    fn a_message_that_repeats_a_long_value_is_cut() {
        for (len, is_cut) in [(1000, false), (2400, false), (100_000, true)] {
            let message = Failure::usage(format!("'{}' is too large", "é".repeat(len))).to_string();
            assert_eq!(message.contains('…'), is_cut, "{message}");
            assert!(message.starts_with("'é") && message.ends_with("é' is too large"), "{message}");
            assert!(message.chars().count() <= 2501, "{message}");
        }
    }
}
