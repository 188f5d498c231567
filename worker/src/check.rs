//! Checks of a job's layer files and lists of their states, on request of the coordinator.
//!
//! Both read whole files on a thread of their own. Checks run one after the other: each takes up to
//! 64 MiB beyond the memory budget.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use strata_proto::net::convert;
use strata_proto::v1;
use strata_run::{Error, FileChecker, LayerView};
use strata_store::{CheckpointFile, JobSpec, LayerTotals, StoreError, check_name};
use tokio::sync::mpsc;
use tonic::Status;

use crate::folders::{check_layer_file, folder, layer_file};
use crate::state::NodeState;

/// Most files in a request.
const MAX_FILES: usize = 256;

/// Interval at which empty parts are sent while a file is being read. The caller's time limit for a
/// part is longer.
const ALIVE: Duration = Duration::from_secs(10);

/// Longest wait for a caller that does not read.
const SLOW: Duration = Duration::from_secs(60);

/// A part of a list is sent when its texts have this many bytes.
const PART_BYTES: usize = 64 << 10;

/// Parts buffered for one caller.
const BUFFERED: usize = 8;

/// Parts of a reply.
pub(crate) type Parts<T> = mpsc::Receiver<Result<T, Status>>;

/// Starts a check.
///
/// # Errors
/// For a malformed request, or if there are no more threads.
pub(crate) fn check(
    state: &Arc<NodeState>,
    request: v1::CheckRequest,
) -> Result<Parts<v1::CheckPart>, Status> {
    let v1::CheckRequest { job, spec, files } = request;
    let spec = convert::spec_from(spec).map_err(invalid)?;
    if files.len() > MAX_FILES {
        return Err(invalid(format!("{} files are more than {MAX_FILES}", files.len())));
    }
    // Kept files come without counts and digest: the check computes these.
    let files = files.into_iter().map(|file| {
        let digest = Some(file.digest.unwrap_or_default());
        convert::file_from(v1::LayerFile { digest, ..file })
    });
    let files = files.collect::<Result<Vec<_>, _>>();
    let files = files.map_err(invalid)?;
    files.iter().try_for_each(|file| check_layer_file(&file.file))?;
    check_name("job id", &job).map_err(invalid)?;
    let (results, mut checked) = mpsc::channel(BUFFERED);
    let node = Arc::clone(state);
    let work = move || {
        // Fails if the process ends.
        let Ok(_turn) = node.platform().wait(node.checks.acquire()) else { return };
        check_files(&node, &job, &spec, files, &results);
    };
    start(state, Box::new(work))?;
    let (parts, replies) = mpsc::channel(BUFFERED);
    tokio::spawn(async move {
        loop {
            let part = match tokio::time::timeout(ALIVE, checked.recv()).await {
                Ok(Some(part)) => part,
                Ok(None) => return,
                Err(_) => Ok(v1::CheckPart { file: None }),
            };
            // The check ends when its channel is dropped. Without a limit, a caller that reads
            // nothing would delay the checks of all others.
            if parts.send_timeout(part, SLOW).await.is_err() {
                return;
            }
        }
    });
    Ok(replies)
}

/// Checks files until one is damaged, or the caller is gone.
fn check_files(
    state: &NodeState,
    job: &str,
    spec: &JobSpec,
    files: Vec<CheckpointFile>,
    results: &mpsc::Sender<Result<v1::CheckPart, Status>>,
) {
    let send = |part| state.platform().wait(results.send(part)).is_ok();
    let opened = state.options.puzzles.open(&spec.space, &spec.params).map_err(invalid);
    let opened = opened.and_then(|space| {
        let folder = folder(state.platform().fs(), &state.options.data_dir, job)?;
        let checker = FileChecker::new(spec, space, state.options.memory);
        Ok((folder, checker.map_err(|error| status(&error))?))
    });
    let (folder, mut checker) = match opened {
        Ok(opened) => opened,
        Err(status) => {
            send(Err(status));
            return;
        }
    };
    for record in files {
        let found = checker.check(&folder, &record);
        let part = found.map_err(|error| status(&error)).map(|totals| {
            let LayerTotals { states, positions, regions, generated, digest } = totals;
            let file = CheckpointFile { states, positions, regions, generated, digest, ..record };
            v1::CheckPart { file: Some(convert::file_to(&file)) }
        });
        let is_last = part.is_err();
        if !send(part) || is_last {
            return;
        }
    }
}

/// Starts a list of the states in a layer file.
///
/// # Errors
/// For a malformed request, or if there are no more threads.
pub(crate) fn list(
    state: &Arc<NodeState>,
    request: v1::ListFileRequest,
) -> Result<Parts<v1::StatesPart>, Status> {
    let v1::ListFileRequest { job, spec, file, skip, step } = request;
    let spec = convert::spec_from(spec).map_err(invalid)?;
    let file = file.ok_or_else(|| invalid("file is missing"))?;
    let depth = file.depth;
    if step == 0 || spec.engine.is_symbolic() {
        return Err(invalid("a step of 0, or a job without files of layers"));
    }
    let (parts, replies) = mpsc::channel(BUFFERED);
    let node = Arc::clone(state);
    let work = move || {
        let send = |part| node.platform().wait(parts.send(part)).is_ok();
        let opened = node.options.puzzles.open(&spec.space, &spec.params).map_err(invalid);
        let view = opened.and_then(|space| {
            let (fs, data_dir) = (node.platform().fs(), &node.options.data_dir);
            let (folder, kept) = layer_file(fs, data_dir, &job, file)?;
            let view = LayerView::of_file(&folder, &spec, space, depth, &kept);
            view.map_err(|error| status(&error))
        });
        let listed = view.and_then(|view| list_states(&view, skip, step, &send));
        if let Err(status) = listed {
            send(Err(status));
        }
    };
    start(state, Box::new(work))?;
    Ok(replies)
}

/// Sends the number of states of a file, and its states from `skip` on, `step` apart.
fn list_states(
    view: &LayerView,
    skip: u64,
    step: u64,
    send: &impl Fn(Result<v1::StatesPart, Status>) -> bool,
) -> Result<(), Status> {
    if !send(Ok(v1::StatesPart { total: view.states(), states: Vec::new() })) {
        return Ok(());
    }
    let mut part = v1::StatesPart::default();
    let mut bytes = 0;
    let visited = view.visit_from(skip, step, &mut |state| {
        bytes += state.text.len();
        part.states.push(state.text);
        if bytes < PART_BYTES {
            return ControlFlow::Continue(());
        }
        bytes = 0;
        match send(Ok(std::mem::take(&mut part))) {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    });
    visited.map_err(|error| status(&error))?;
    if !part.states.is_empty() {
        send(Ok(part));
    }
    Ok(())
}

fn start(state: &NodeState, work: Box<dyn FnOnce() + Send>) -> Result<(), Status> {
    let thread = state.platform().start("check", work);
    thread.map(drop).map_err(|error| Status::unavailable(format!("cannot start a thread: {error}")))
}

fn invalid(error: impl std::fmt::Display) -> Status {
    Status::invalid_argument(error.to_string())
}

fn status(error: &Error) -> Status {
    let text = error.to_string();
    match error {
        Error::Store(StoreError::NotFound { .. }) => Status::not_found(text),
        Error::Store(error) if error.is_corrupt() => Status::data_loss(text),
        Error::Worker(error) => match error.store() {
            Some(StoreError::NotFound { .. }) => Status::not_found(text),
            Some(error) if error.is_corrupt() => Status::data_loss(text),
            _ => Status::unavailable(text),
        },
        Error::Space(_) => Status::invalid_argument(text),
        _ => Status::unavailable(text),
    }
}
