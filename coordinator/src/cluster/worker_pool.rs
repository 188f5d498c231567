//! Worker pool of a session: the driver's workers, over the network.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use strata_proto::net::convert::{self, ConvertError};
use strata_proto::net::{KeptFiles, reported};
use strata_proto::platform::Instant;
use strata_proto::v1::answer::Outcome;
use strata_proto::v1::order::What;
use strata_proto::v1::{self, FailureKind};
use strata_run::{Done, LayerReport, Order, WorkerPool};
use strata_store::{CheckpointFile, JobSpec, LayerRecord};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::checkpoint_sink::widths;
use super::context::Cluster;
use super::error::ClusterError;
use super::membership::WorkerEvent;
use super::outgoing::{MakeOrder, PendingOrder};
use super::pace::PartTime;
use crate::entry::WorkerNumber;

/// Time after which workers begin no further layer of a window. Stops, checkpoints and progress wait for
/// the end of a window.
const WINDOW: Duration = Duration::from_millis(500);

/// Greatest number of layers in a window. Kept layers of a window wait for a checkpoint.
const WINDOW_LAYERS: u32 = 256;

/// Interval at which the interruption is checked while answers are awaited.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// The protocol's orders for [`Order::Restore`].
pub(crate) struct RestoreOrders {
    /// The part that is the same for all workers.
    pub(crate) common: v1::Restore,
    /// Files of the checkpoint, by the worker that wrote them.
    pub(crate) files: BTreeMap<u32, Vec<v1::LayerFile>>,
    /// By worker: the workers that wrote the shards that it owns now.
    pub(crate) sources: HashMap<WorkerNumber, BTreeSet<u32>>,
    /// Files that the history keeps, by worker.
    pub(crate) kept: HashMap<u32, KeptFiles>,
}

impl RestoreOrders {
    /// The order for a worker, with its own files and those from which it reads shards. If all
    /// orders had all files, their size would be quadratic in the number of workers.
    pub(crate) fn order(&self, number: WorkerNumber) -> v1::Restore {
        let own = u32::from(number);
        let kept = self.kept.get(&own).cloned().unwrap_or_default();
        let KeptFiles { layers: kept_layers, names: kept } = kept;
        let sources = self.sources.get(&number).into_iter().flatten().copied();
        let workers: BTreeSet<u32> = sources.chain([own]).collect();
        let files = workers.iter().filter_map(|worker| self.files.get(worker)).flatten();
        v1::Restore { files: files.cloned().collect(), kept, kept_layers, ..self.common.clone() }
    }
}

/// Error text for a job that fails because two processes present one worker's identity.
const COPIED: &str =
    "another process has its identity, from a copy of its data directory: end one of them";

/// Remote workers of one session. A worker's index in the plan is its index in the pool.
pub(crate) struct RemotePool {
    cluster: Arc<Cluster>,
    epoch: u64,
    /// Greatest number of layers in a window.
    window: u32,
    /// Layers with fewer states run on one worker.
    narrow: u64,
    /// Workers of the session, ascending.
    workers: Vec<WorkerNumber>,
    /// Number of the last order.
    last_order: u64,
    /// Time at which the last order was sent.
    sent: Instant,
    /// Times from `sent` to the answers that report a part of a layer.
    times: Vec<PartTime>,
    events: UnboundedReceiver<WorkerEvent>,
    restore: Option<Arc<RestoreOrders>>,
    /// Checks whether to stop waiting for answers.
    interruption: Interruption,
}

/// Returns why to stop waiting for the answers to an order; `None` to go on waiting. The arguments are
/// whether the order is one of those that begin a session, and the session's workers. A session that
/// ends while it begins loses no work.
pub(crate) type Interruption = Box<dyn Fn(bool, &[WorkerNumber]) -> Option<ClusterError> + Send>;

impl RemotePool {
    /// Starts a session with these workers, ascending. `restore` has the orders for
    /// [`Order::Restore`]. `interruption` is called several times a second while answers are awaited.
    pub(crate) fn new(
        cluster: Arc<Cluster>,
        epoch: u64,
        spec: &JobSpec,
        workers: Vec<WorkerNumber>,
        restore: Option<RestoreOrders>,
        interruption: Interruption,
    ) -> RemotePool {
        let (sender, events) = unbounded_channel();
        cluster.membership.start_session(epoch, workers.clone(), sender);
        RemotePool {
            narrow: cluster.narrow(spec),
            cluster,
            epoch,
            // Workers of the dense engine get the files of the layer before with the order.
            window: if spec.engine.is_dense() { 1 } else { WINDOW_LAYERS },
            workers,
            last_order: 0,
            sent: Instant::now(),
            times: Vec::new(),
            events,
            restore: restore.map(Arc::new),
            interruption,
        }
    }

    /// Prepares all workers for the session. `order` makes each worker's order.
    ///
    /// # Errors
    /// If a worker is lost, fails or sends a malformed answer, or on shutdown.
    pub(crate) fn prepare(
        &mut self,
        order: impl Fn(WorkerNumber) -> v1::Prepare + Send + Sync + 'static,
    ) -> Result<(), ClusterError> {
        self.execute(Kind::Prepare, move |number| What::Prepare(order(number))).map(drop)
    }

    /// Ends the session and releases the workers.
    pub(crate) fn release(mut self) {
        self.send(|_| What::Release(v1::Release {}));
        self.cluster.membership.end_session(self.epoch);
    }

    fn send(&mut self, what: impl Fn(WorkerNumber) -> What + Send + Sync + 'static) {
        self.last_order += 1;
        self.sent = Instant::now();
        let what: MakeOrder = Arc::new(what);
        for worker in &self.workers {
            self.cluster.membership.send_order(PendingOrder {
                epoch: self.epoch,
                number: self.last_order,
                incarnation: self.cluster.incarnation,
                worker: *worker,
                what: Arc::clone(&what),
            });
        }
    }

    /// Sends an order and waits until all workers have carried it out.
    ///
    /// # Errors
    /// The failure of the first worker that fails or is lost: the others may be waiting for it.
    fn execute(
        &mut self,
        kind: Kind,
        what: impl Fn(WorkerNumber) -> What + Send + Sync + 'static,
    ) -> Result<Vec<Done>, ClusterError> {
        self.send(what);
        self.times.clear();
        let mut results: Vec<Option<Done>> = self.workers.iter().map(|_| None).collect();
        let mut missing = results.len();
        while missing > 0 {
            let event = self.cluster.platform().wait_at_most(POLL_INTERVAL, self.events.recv());
            let (number, answer) = match event {
                Some(Some(WorkerEvent::Answer { worker, answer })) => (worker, answer),
                Some(Some(WorkerEvent::Lost { worker, why })) => {
                    return Err(self.lost(worker, why));
                }
                Some(Some(WorkerEvent::Copied { worker })) => {
                    let (name, kind) = (self.name(worker), FailureKind::Corrupt);
                    let message = COPIED.to_owned();
                    return Err(ClusterError::Failed { worker, name, kind, message });
                }
                None => match (self.interruption)(kind.begins(), &self.workers) {
                    Some(error) => return Err(error),
                    None => continue,
                },
                Some(None) => return Err(ClusterError::Shutdown),
            };
            let Some(worker) = self.index(number) else { continue };
            if answer.order != self.last_order || results[worker].is_some() {
                continue;
            }
            if let Some(Outcome::Saved(saved)) = &answer.outcome {
                self.cluster.membership.set_peak(number, saved.peak_rss_bytes);
            }
            // The worker may have been renamed since the session began.
            let done = done(number, &self.name(number), kind, *answer)?;
            if let Done::Layers(reports) = &done {
                let states = reports.iter().map(|report| report.layer.states).sum();
                self.times.push(PartTime { worker: number, states, took: self.sent.elapsed() });
            }
            results[worker] = Some(done);
            missing -= 1;
        }
        Ok(results.into_iter().flatten().collect())
    }

    fn name(&self, number: WorkerNumber) -> String {
        self.cluster.membership.name(number)
    }

    fn index(&self, number: WorkerNumber) -> Option<usize> {
        self.workers.binary_search(&number).ok()
    }

    fn lost(&self, number: WorkerNumber, why: &str) -> ClusterError {
        let name = self.name(number);
        ClusterError::Lost { worker: number, name, why: why.to_owned() }
    }
}

/// Kind of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Prepare,
    Seed,
    Restore,
    Advance,
    Save,
    Saved,
}

impl Kind {
    /// Whether the order is one of those that begin a session.
    fn begins(self) -> bool {
        matches!(self, Kind::Prepare | Kind::Seed | Kind::Restore)
    }

    /// The protocol's name of the answer to the order.
    fn answer(self) -> &'static str {
        match self {
            Kind::Prepare | Kind::Saved => "Noted",
            Kind::Seed | Kind::Restore | Kind::Advance => "LayerReports",
            Kind::Save => "SavedFiles",
        }
    }
}

/// Converts a worker's answer to an order of this kind.
fn done(
    number: WorkerNumber,
    name: &str,
    kind: Kind,
    answer: v1::Answer,
) -> Result<Done, ClusterError> {
    let own = u32::from(number);
    let malformed = |why: String| ClusterError::Malformed { name: name.to_owned(), why };
    let found = match &answer.outcome {
        Some(Outcome::Layers(_)) => "LayerReports",
        Some(Outcome::Saved(_)) => "SavedFiles",
        Some(Outcome::Noted(_)) => "Noted",
        Some(Outcome::Failure(_)) | None => kind.answer(),
    };
    if found != kind.answer() {
        let expected = kind.answer();
        return Err(malformed(format!("{found} to the order {kind:?}, which needs {expected}")));
    }
    match answer.outcome {
        Some(Outcome::Layers(v1::LayerReports { layers })) => {
            let reports = layers.into_iter().map(|report| layer_report(own, report));
            Ok(Done::Layers(reports.collect::<Result<_, _>>().map_err(malformed)?))
        }
        Some(Outcome::Saved(saved)) => {
            let files = saved.files.into_iter().map(convert::file_from);
            let records = files.collect::<Result<Vec<_>, _>>();
            let records = records.map_err(ClusterError::malformed(name))?;
            if let Some(foreign) = records.iter().find(|record| record.worker != own) {
                return Err(malformed(format!("a file of worker {}", foreign.worker)));
            }
            let mut names: Vec<&str> = records.iter().map(|record| &*record.file).collect();
            names.sort_unstable();
            if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
                return Err(malformed(format!("the file {} twice", pair[0])));
            }
            Ok(Done::Saved { depth: saved.depth, records })
        }
        Some(Outcome::Noted(_)) => Ok(Done::Acknowledged),
        Some(Outcome::Failure(failure)) => Err(ClusterError::Failed {
            worker: number,
            name: name.to_owned(),
            kind: failure.kind(),
            message: reported(&failure.message),
        }),
        None => Err(malformed("an answer without an outcome".to_owned())),
    }
}

/// Whether a file holds a worker's part of a layer.
fn is_of(file: &CheckpointFile, worker: u32, part: &LayerRecord) -> bool {
    (file.worker, file.depth, file.totals()) == (worker, part.depth, part.totals())
}

/// A report of worker `own`; the error says what is wrong with it.
fn layer_report(own: u32, report: v1::LayerReport) -> Result<LayerReport, String> {
    let report = layer_report_from(report).map_err(|error| error.to_string())?;
    let part = &report.layer;
    if let Some(shared) = report.shared.iter().find(|file| !is_of(file, own, part)) {
        let (depth, found, expected) = (part.depth, shared.states, part.states);
        let CheckpointFile { file, depth: of, worker, .. } = shared;
        return Err(format!(
            "{file} with {found} states of layer {of}, of worker {worker}, is not its part of layer \
             {depth} with {expected}"
        ));
    }
    if let Some(foreign) = part.kept.iter().find(|kept| kept.worker != own) {
        return Err(format!("a file of worker {}", foreign.worker));
    }
    Ok(report)
}

fn layer_report_from(report: v1::LayerReport) -> Result<LayerReport, ConvertError> {
    let mut layer = convert::part_from(&report)?;
    layer.kept.extend(report.kept.map(convert::kept_from).transpose()?);
    Ok(LayerReport {
        layer,
        odd: report.met_odd,
        even: report.met_even,
        found: report.found,
        fixed: report.fixed,
        symmetries: NonZeroU32::new(report.symmetries),
        shared: report.shared.map(convert::file_from).transpose()?.into_iter().collect(),
        disk_peak: report.disk_peak_bytes,
        disk_left: report.disk_left_bytes,
        spilled: report.spilled_bytes,
        waiting: report.waiting as usize,
    })
}

impl WorkerPool for RemotePool {
    type Error = ClusterError;

    fn workers(&self) -> usize {
        self.workers.len()
    }

    fn run(&mut self, order: Order) -> Result<Vec<Result<Done, ClusterError>>, ClusterError> {
        let done = match order {
            Order::Seed => self.execute(Kind::Seed, |_| What::Seed(v1::Seed {})),
            Order::Restore => {
                let restore = self.restore.take();
                let order =
                    move |number| restore.as_ref().map(|r| r.order(number)).unwrap_or_default();
                self.execute(Kind::Restore, move |number| What::Restore(order(number)))
            }
            Order::Advance { depth, last, time, files } => {
                let files = files.iter().map(convert::file_to).collect();
                let last = last.min(depth.saturating_add(self.window - 1));
                let time_ms = WINDOW.min(time).as_millis() as u32;
                let possible = self.cluster.membership.available().len();
                let (least_states, most_states) =
                    widths(self.workers.len(), possible, self.narrow).into_inner();
                let advance =
                    v1::Advance { depth, last, time_ms, least_states, most_states, files };
                let done = self.execute(Kind::Advance, move |_| What::Advance(advance.clone()))?;
                self.cluster.pace.add(&self.times, Instant::now());
                Ok(done)
            }
            Order::Save { depth } => {
                self.execute(Kind::Save, move |_| What::Save(v1::Save { depth }))
            }
            Order::Saved { depth } => {
                self.execute(Kind::Saved, move |_| What::Saved(v1::Saved { depth }))
            }
        };
        Ok(done?.into_iter().map(Ok).collect())
    }

    /// Always false: workers that did not fail have consumed their exits, so the search can only
    /// resume from the last checkpoint.
    fn make_room(&mut self) -> Result<bool, ClusterError> {
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_of_the_wrong_kind_is_reported_with_the_expected_kind() {
        let outcomes = [
            ("Noted", Outcome::Noted(v1::Noted {})),
            ("LayerReports", Outcome::Layers(v1::LayerReports::default())),
            ("SavedFiles", Outcome::Saved(v1::SavedFiles::default())),
        ];
        let kinds =
            [Kind::Prepare, Kind::Seed, Kind::Restore, Kind::Advance, Kind::Save, Kind::Saved];
        for kind in kinds {
            for (found, outcome) in outcomes.clone() {
                let answer = v1::Answer { outcome: Some(outcome), ..v1::Answer::default() };
                let text = done(0, "w1", kind, answer).map(drop).map_err(|error| error.to_string());
                let expected = kind.answer();
                if found != expected {
                    let why = format!("{found} to the order {kind:?}, which needs {expected}");
                    assert_eq!(text, Err(format!("worker w1 sent a malformed answer: {why}")));
                } else if found != "LayerReport" {
                    assert_eq!(text, Ok(()));
                }
            }
        }
    }
}
