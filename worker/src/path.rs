//! Second searches for the paths of symbolic jobs, with all layers in memory.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use strata_proto::net::convert;
use strata_proto::platform::Instant;
use strata_proto::v1;
use strata_proto::v1::path_part::Part;
use strata_run::{CancelToken, Error, PathProgress, StepError, SymbolicOptions, symbolic_path};
use strata_store::JobSpec;
use tokio::sync::mpsc;
use tonic::Status;

use crate::memory_use::Reservation;
use crate::state::NodeState;

/// Time between two messages about the progress.
const INTERVAL: Duration = Duration::from_millis(500);

/// Positions in one message.
const PART: usize = 1000;

/// Messages that wait to be sent.
const BUFFERED: usize = 8;

type Parts = mpsc::Sender<Result<v1::PathPart, Status>>;

/// Starts a search. Its progress and its result are received from the channel; the search ends when
/// the receiver is dropped.
///
/// # Errors
/// `INVALID_ARGUMENT` for a malformed request; `ABORTED` while the memory is in use.
pub(crate) fn find(
    state: &Arc<NodeState>,
    request: v1::FindPathRequest,
) -> Result<mpsc::Receiver<Result<v1::PathPart, Status>>, Status> {
    let spec = convert::spec_from(request.spec).map_err(invalid)?;
    let reservation = state.memory_use.begin_search();
    let reservation = reservation
        .ok_or_else(|| Status::aborted("the worker runs a job or another search for a path"))?;
    let (parts, received) = mpsc::channel(BUFFERED);
    let node = Arc::clone(state);
    let work = move || run(&node, &spec, reservation, &parts);
    let started = state.platform().start("path", Box::new(work));
    started.map_err(|error| Status::unavailable(format!("no thread for a search: {error}")))?;
    Ok(received)
}

fn run(state: &NodeState, spec: &JobSpec, reservation: Reservation, parts: &Parts) {
    let found = search(state, spec, reservation.cancel(), parts);
    // The receiver may be slow, and a job must not wait for it.
    drop(reservation);
    let send = |part| state.platform().wait(parts.send(part)).is_ok();
    match found {
        Ok(positions) => {
            for positions in positions.chunks(PART) {
                let part = Part::Positions(v1::PathPositions { positions: positions.to_vec() });
                if !send(Ok(v1::PathPart { part: Some(part) })) {
                    return;
                }
            }
        }
        Err(status) => {
            send(Err(status));
        }
    }
}

/// The positions of a shortest solution.
fn search(
    state: &NodeState,
    spec: &JobSpec,
    cancel: &CancelToken,
    parts: &Parts,
) -> Result<Vec<String>, Status> {
    let space = state.options.puzzles.open(&spec.space, &spec.params).map_err(invalid)?;
    let options = SymbolicOptions {
        memory: usize::try_from(state.options.memory).unwrap_or(usize::MAX),
        keep_layers: true,
        digests: false,
        verify: 0,
        threads: state.options.threads,
    };
    let mut sent = None::<Instant>;
    let positions = symbolic_path(&space, options, &mut |progress| {
        if cancel.is_cancelled() || parts.is_closed() {
            return ControlFlow::Break(());
        }
        if sent.is_none_or(|sent| sent.elapsed() >= INTERVAL) {
            sent = Some(Instant::now());
            let part = Some(Part::Progress(message(progress)));
            // A message is dropped while the receiver is slow.
            let _ = parts.try_send(Ok(v1::PathPart { part }));
        }
        ControlFlow::Continue(())
    });
    match positions {
        Ok(Some(positions)) => Ok(positions),
        Ok(None) => Err(Status::aborted("a job of this worker has begun")),
        Err(error @ Error::Step(StepError::Memory { .. } | StepError::TooMany { .. })) => {
            Err(Status::out_of_range(error.to_string()))
        }
        Err(error @ Error::NoPath(_)) => Err(Status::failed_precondition(error.to_string())),
        Err(error @ Error::Space(_)) => Err(invalid(error)),
        Err(error) => Err(Status::internal(error.to_string())),
    }
}

fn message(progress: PathProgress) -> v1::PathProgress {
    let (depth, moves) = match progress {
        PathProgress::Layer(depth) => (depth, None),
        PathProgress::Moves { depth, moves } => (depth, Some(moves)),
    };
    v1::PathProgress { worker: String::new(), depth, moves }
}

fn invalid(error: impl std::fmt::Display) -> Status {
    Status::invalid_argument(error.to_string())
}
