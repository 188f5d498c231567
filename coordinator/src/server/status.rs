//! Conversion of errors to gRPC statuses, and a wrapper that runs blocking code off the async
//! threads.

use std::fmt::Display;

use strata_proto::platform::Platform;
use tonic::Status;

use crate::journal::error::JournalError;

/// Runs code that blocks on the disk, on a thread for blocking code.
///
/// # Errors
/// The status of the code's error; `INTERNAL` if the code panics.
pub(super) async fn blocking<T: Send + 'static, E: Into<ErrorStatus> + Send + 'static>(
    platform: &dyn Platform,
    code: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, Status> {
    match platform.blocking(code).await {
        Ok(result) => result.map_err(|error| error.into().0),
        Err(error) => Err(Status::internal(error.to_string())),
    }
}

/// The status of a malformed request.
pub(super) fn invalid(error: impl Display) -> Status {
    Status::invalid_argument(error.to_string())
}

/// The status of an error of the journal.
pub(super) fn status(error: JournalError) -> Status {
    ErrorStatus::from(error).0
}

/// The status of an error.
pub(super) struct ErrorStatus(Status);

impl From<Status> for ErrorStatus {
    fn from(status: Status) -> ErrorStatus {
        ErrorStatus(status)
    }
}

impl From<std::io::Error> for ErrorStatus {
    fn from(error: std::io::Error) -> ErrorStatus {
        ErrorStatus(Status::unavailable(error.to_string()))
    }
}

impl From<JournalError> for ErrorStatus {
    fn from(error: JournalError) -> ErrorStatus {
        let text = error.to_string();
        ErrorStatus(match error {
            JournalError::NoSuchJob { .. } => Status::not_found(text),
            JournalError::Ambiguous { .. } | JournalError::Name { .. } => invalid(text),
            JournalError::NameTaken { .. }
            | JournalError::NameEnded { .. }
            | JournalError::NameInUse { .. } => Status::already_exists(text),
            JournalError::NotResumable { .. } | JournalError::NotEnded { .. } => {
                Status::failed_precondition(text)
            }
            JournalError::TooManyWorkers { .. } => {
                tracing::warn!("{text}");
                Status::resource_exhausted(text)
            }
            JournalError::Corrupt { .. } => {
                tracing::error!("{text}");
                Status::data_loss(text)
            }
            // The journal logs its own faults.
            error if error.is_disk_full() => Status::resource_exhausted(text),
            JournalError::Io { .. } | JournalError::Unusable { .. } => Status::unavailable(text),
            // A restart may help: clients try again.
            JournalError::Locked { .. } | JournalError::Format { .. } | JournalError::Random(_) => {
                tracing::error!("{text}");
                Status::unavailable(text)
            }
            JournalError::Unwritable { .. }
            | JournalError::Fixed { .. }
            | JournalError::Gap { .. } => {
                tracing::error!("{text}");
                Status::internal(text)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use strata_proto::platform::System;
    use tokio::runtime::Handle;
    use tonic::Code;

    use super::*;
    use crate::entry::JobState;

    #[test]
    fn errors_of_the_journal_have_their_status_codes() {
        let (path, job) = (std::path::PathBuf::new, || "a".to_owned());
        let full = io::Error::from(io::ErrorKind::StorageFull);
        let broken = io::Error::from(io::ErrorKind::Other);
        let name = JournalError::Name { what: "name of a job", name: "..".to_owned() };
        let errors = [
            (JournalError::NoSuchJob { what: job() }, Code::NotFound),
            (JournalError::Ambiguous { what: job(), jobs: Vec::new() }, Code::InvalidArgument),
            (name, Code::InvalidArgument),
            (
                JournalError::NotResumable { job: job(), state: JobState::Done },
                Code::FailedPrecondition,
            ),
            (JournalError::NotEnded { job: job() }, Code::FailedPrecondition),
            (JournalError::TooManyWorkers { limit: 1 }, Code::ResourceExhausted),
            (JournalError::Corrupt { path: path(), what: String::new() }, Code::DataLoss),
            (JournalError::Io { op: "write", path: path(), source: full }, Code::ResourceExhausted),
            (JournalError::Io { op: "write", path: path(), source: broken }, Code::Unavailable),
            (JournalError::Unusable { path: path(), what: String::new() }, Code::Unavailable),
            (JournalError::Fixed { job: job(), what: "id" }, Code::Internal),
        ];
        for (error, code) in errors {
            let text = error.to_string();
            let ErrorStatus(status) = error.into();
            assert_eq!((status.code(), status.message()), (code, text.as_str()));
        }
    }

    #[tokio::test]
    async fn a_panic_is_an_internal_error() {
        let system = System::new(&Handle::current());
        let panics = || -> Result<(), Status> { panic!("a bug") };
        let status = blocking(&*system, panics).await.unwrap_err();
        assert_eq!(status.code(), Code::Internal);
    }
}
