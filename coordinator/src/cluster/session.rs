//! Session of a job: a run from the start or a checkpoint until the job ends, stops or loses a
//! worker.
//!
//! Each session has its own epoch. Orders, answers and batches of older epochs are ignored.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use strata_proto::net::{KeptFiles, convert};
use strata_proto::platform::Instant;
use strata_proto::v1;
use strata_proto::v1::FailureKind;
use strata_proto::v1::keep_layers::Which;
use strata_run::forecast::Forecast;
use strata_run::progress::Field;
use strata_run::{
    DriveError, Driver, KeepLayers, LayerEvents, Outcome, Plan, PlanOptions, ResumePoint, Start,
    Totals, Tracker,
};
use strata_store::{CheckpointFile, LayerRecord};

use super::checkpoint_sink::JournalSink;
use super::context::Cluster;
use super::error::ClusterError;
use super::event::{Level, ROLLED_BACK};
use super::job_view::JobView;
use super::space_info::SpaceInfo;
use super::worker_pool::{Interruption, RemotePool, RestoreOrders};
use crate::entry::{JobEntry, WorkerNumber};

/// How long the layer in progress may take after a shutdown is requested. Supervisors allow 30
/// seconds, and the checkpoint takes part of that.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(20);

/// Text of the log entry about the start of a session.
const SESSION_STARTED: &str = "session started";

/// Runs a session of a job. `owners` has the owner of each shard.
///
/// # Errors
/// `Failed` if a worker is lost or fails, if the journal fails, if a shutdown interrupts a layer, or if
/// the job is cancelled before the first layer; `Refused` if the workers' reports contradict each other
/// or the checkpoint.
pub(crate) fn run(
    cluster: &Arc<Cluster>,
    job: &Arc<JobView>,
    entry: &JobEntry,
    space: &SpaceInfo,
    owners: Vec<WorkerNumber>,
) -> Result<Outcome, DriveError<ClusterError>> {
    // The epoch is issued after the workers are taken, so it is greater than all their earlier
    // epochs.
    let epoch = cluster.journal.next_epoch().map_err(failed)?;
    let lines = cluster.journal.layers(&entry.id).map_err(failed)?;
    let saved = (!lines.is_empty()).then(|| Totals::of_lines(&lines));
    if let Some(Some(depth)) = job.roll_back(saved) {
        job.log(Level::Warn, &format!("{ROLLED_BACK}{depth}"));
    }
    let workers = workers(&owners);
    let names: Vec<String> =
        workers.iter().map(|worker| cluster.membership.name(*worker)).collect();
    log_start(job, entry, epoch, &names);
    cluster.work.add_session(&entry.id);
    job.set_workers(workers.len(), Vec::new());
    job.set_worker_names(names);
    let plan = plan(entry, &lines, space);
    let restore = restore_orders(entry, &lines, &owners);
    let prepare = PrepareOrders::new(cluster, entry, &lines, &owners);
    let interruption = interruption(Arc::clone(cluster), Arc::clone(job));
    let mut pool =
        RemotePool::new(Arc::clone(cluster), epoch, &entry.spec, workers, restore, interruption);
    let earlier = earlier_layers(space.forecast.clone(), &lines);
    let sink = JournalSink::new(Arc::clone(cluster), Arc::clone(job), entry, owners, earlier);
    let prepared = pool.prepare(move |number| prepare.order(number));
    let interval = entry.options.checkpoint_interval.unwrap_or(cluster.options.checkpoint_interval);
    let mut driver = Driver::new(plan, pool, sink, interval);
    let outcome = prepared.map_err(DriveError::Failed).and_then(|()| driver.run());
    driver.into_pool().release();
    outcome
}

fn failed(error: impl Into<ClusterError>) -> DriveError<ClusterError> {
    DriveError::Failed(error.into())
}

fn log_start(job: &JobView, entry: &JobEntry, epoch: u64, names: &[String]) {
    let workers = names.join(",");
    // None: from the start.
    let from_layer = entry.checkpoint.as_ref().map(|checkpoint| checkpoint.depth);
    tracing::info!(job = entry.id, epoch, %workers, from_layer, "{SESSION_STARTED}");
    let fields = [Field::count("epoch", epoch), Field::text("workers", workers)];
    let from = from_layer.map(|depth| Field::count("from_layer", depth.into()));
    job.record(Level::Info, SESSION_STARTED, fields.into_iter().chain(from).collect());
}

/// Tells a session when and why to stop waiting for its workers: [`SHUTDOWN_GRACE`] after a
/// shutdown request. A session that has only begun has nothing to lose, so it stops at once on a
/// shutdown, a cancellation, or if one of its workers is leaving. Each call also writes the
/// periodic log entry of a long layer.
fn interruption(cluster: Arc<Cluster>, job: Arc<JobView>) -> Interruption {
    let requested = Mutex::new(None::<Instant>);
    Box::new(move |begins, workers| {
        job.show_if_quiet(cluster.options.log_interval);
        if begins && job.is_cancelled() {
            return Some(ClusterError::Cancelled);
        }
        let leaving = || cluster.membership.leaving().into_iter().find(|w| workers.contains(w));
        if begins && let Some(worker) = leaving() {
            let (name, kind) = (cluster.membership.name(worker), FailureKind::Peer);
            let message = "it leaves before the session has begun".to_owned();
            return Some(ClusterError::Failed { worker, name, kind, message });
        }
        if !cluster.is_shutting_down() {
            return None;
        }
        let mut requested = requested.lock().unwrap_or_else(PoisonError::into_inner);
        let since = requested.get_or_insert_with(Instant::now);
        (begins || since.elapsed() > SHUTDOWN_GRACE).then_some(ClusterError::Shutdown)
    })
}

/// The layers to keep as a message.
pub(crate) fn keep_layers_to(keep: KeepLayers) -> v1::KeepLayers {
    let which = match keep {
        KeepLayers::Last => Which::Last(true),
        KeepLayers::All => Which::All(true),
        KeepLayers::Every(step) => Which::Every(step.get()),
    };
    v1::KeepLayers { which: Some(which) }
}

/// The workers that own shards, ascending.
fn workers(owners: &[WorkerNumber]) -> Vec<WorkerNumber> {
    let mut numbers = owners.to_vec();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// A tracker of the job's figures and the source of its layer events, after the layers of earlier
/// sessions.
fn earlier_layers(forecast: Forecast, lines: &[LayerRecord]) -> (Tracker, LayerEvents) {
    let (mut tracker, mut layers) = (Tracker::new(forecast), LayerEvents::default());
    for line in lines {
        tracker.layer(&layers.next(line.clone(), true), Duration::ZERO);
    }
    (tracker, layers)
}

fn plan(entry: &JobEntry, lines: &[LayerRecord], space: &SpaceInfo) -> Plan {
    let options = PlanOptions {
        rule: space.rule,
        max_layers: entry.options.max_layers,
        disk_limit: entry.options.disk_limit,
        engine: entry.spec.engine,
        is_directed: space.is_directed,
        is_folded: space.is_folded,
        states_are_orbits: entry.spec.states_are_orbits(),
    };
    let (Some(checkpoint), [before @ .., last]) = (&entry.checkpoint, lines) else {
        return Plan::new(options, Start::Seeds);
    };
    let searched = |file: &str| checkpoint.records.iter().any(|record| record.file == file);
    let kept = lines.iter().flat_map(|line| &line.kept);
    let (disk_peak, spilled) =
        entry.progress.as_ref().map_or((0, 0), |progress| (progress.disk_peak, progress.spilled));
    let start = Start::Checkpoint(Box::new(ResumePoint {
        totals: Totals { disk_peak, spilled, ..Totals::of_lines(lines) },
        last: last.clone(),
        previous: before.last().cloned(),
        kept_bytes: kept.filter(|kept| !searched(&kept.file)).map(|kept| kept.bytes).sum(),
        older_states: CheckpointFile::older_states(&checkpoint.records),
    }));
    Plan::new(options, start)
}

/// The orders to load the checkpoint into a session in which `owners` has the owner of each shard;
/// `None` without a checkpoint.
fn restore_orders(
    entry: &JobEntry,
    lines: &[LayerRecord],
    owners: &[WorkerNumber],
) -> Option<RestoreOrders> {
    let checkpoint = entry.checkpoint.as_ref()?;
    let common = v1::Restore {
        depth: checkpoint.depth,
        owners: checkpoint.owners.iter().map(|owner| u32::from(*owner)).collect(),
        ..v1::Restore::default()
    };
    let mut files: BTreeMap<u32, Vec<v1::LayerFile>> = BTreeMap::new();
    for record in &checkpoint.records {
        files.entry(record.worker).or_default().push(convert::file_to(record));
    }
    let mut sources: HashMap<WorkerNumber, BTreeSet<u32>> = HashMap::new();
    for (now, before) in owners.iter().zip(&checkpoint.owners) {
        sources.entry(*now).or_default().insert(u32::from(*before));
    }
    Some(RestoreOrders { common, files, sources, kept: kept_files(lines) })
}

/// The files that the history keeps, by worker.
fn kept_files(lines: &[LayerRecord]) -> HashMap<u32, KeptFiles> {
    let mut kept: HashMap<u32, KeptFiles> = HashMap::new();
    for line in lines {
        for file in &line.kept {
            kept.entry(file.worker).or_default().add(file.worker, line.depth, &file.file);
        }
    }
    kept
}

/// Workers in a row of the grid: all of up to four, since a message to each takes one hop instead of two.
/// Of more workers about as many as there are rows, which takes the fewest messages.
fn columns(workers: usize) -> u32 {
    let root = (1..).find(|root| root * root >= workers).unwrap_or(workers);
    if workers <= 4 { 0 } else { root as u32 }
}

/// The orders that prepare workers for a session.
struct PrepareOrders {
    /// The part that is the same for all workers.
    common: v1::Prepare,
    /// Files that must stay, by worker.
    files: HashMap<u32, KeptFiles>,
}

impl PrepareOrders {
    fn new(
        cluster: &Cluster,
        entry: &JobEntry,
        lines: &[LayerRecord],
        owners: &[WorkerNumber],
    ) -> PrepareOrders {
        let members = cluster.membership.members();
        let peers = members.iter().map(|member| v1::Peer {
            number: u32::from(member.entry.number),
            address: member.entry.address.clone(),
        });
        let common = v1::Prepare {
            job: entry.id.clone(),
            spec: Some(convert::spec_to(&entry.spec)),
            owners: owners.iter().map(|owner| u32::from(*owner)).collect(),
            peers: peers.collect(),
            keep: Some(keep_layers_to(entry.options.keep)),
            files: Vec::new(),
            kept_layers: Vec::new(),
            last_depth: entry.options.max_layers,
            columns: cluster.options.columns.unwrap_or_else(|| columns(workers(owners).len())),
        };
        let mut files = kept_files(lines);
        for record in entry.checkpoint.iter().flat_map(|checkpoint| &checkpoint.records) {
            files.entry(record.worker).or_default().names.push(record.file.clone());
        }
        PrepareOrders { common, files }
    }

    fn order(&self, number: WorkerNumber) -> v1::Prepare {
        let kept = self.files.get(&u32::from(number)).cloned().unwrap_or_default();
        let KeptFiles { layers: kept_layers, names: files } = kept;
        v1::Prepare { files, kept_layers, ..self.common.clone() }
    }
}

#[cfg(test)]
mod tests {
    use prost::Message;
    use strata_proto::net::limits;
    use strata_run::KeepLayers;
    use strata_run::catalogue::Registry;
    use strata_store::{CheckpointFile, EngineKind, Hex64, JobSpec, KeptFile, Weight, layer_file};

    use super::*;
    use crate::cluster::context::ClusterOptions;
    use crate::cluster::job_view::JobViews;
    use crate::entry::{ClusterCheckpoint, JobOptions, WorkerEntry};
    use crate::journal::operations::Journal;

    const WORKERS: u32 = 3;

    #[test]
    fn a_grid_has_about_as_many_rows_as_columns() {
        let grids = [1, 4, 5, 9, 10, 16, 64, 1000].map(columns);
        assert_eq!(grids, [0, 0, 3, 3, 4, 4, 8, 32]);
    }

    /// A layer that every worker has kept.
    fn line(depth: u32) -> LayerRecord {
        let file = |worker| KeptFile {
            worker,
            file: layer_file(depth, worker),
            bytes: 100,
            seal: Hex64(7),
        };
        LayerRecord {
            depth,
            states: 10,
            positions: 10,
            orbits: None,
            generated: 30,
            regions: 5,
            bytes: 100,
            digest: Weight([7, 8]),
            seconds: 1.0,
            read_bytes: 1 << 40,
            written_bytes: 1 << 40,
            memo_hits: 1 << 40,
            memo_misses: 1 << 40,
            memo_miss_seconds: 1.0,
            kept: (0..WORKERS).map(file).collect(),
        }
    }

    /// A job with a checkpoint of one shard and two files of each of `workers` workers.
    fn checkpoint_of(workers: u16) -> JobEntry {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(&folder.path().join("journal")).unwrap();
        let spec = JobSpec {
            space: "panex".to_owned(),
            params: Default::default(),
            shards: workers.into(),
            engine: EngineKind::Explicit,
        };
        let options = JobOptions::default();
        let mut entry = journal.submit("panex", None, spec, options, 0, None).unwrap().0;
        let file = |depth: u32, worker: u16| CheckpointFile {
            depth,
            worker: worker.into(),
            file: layer_file(depth, worker.into()),
            bytes: 4096,
            states: 300,
            positions: 300,
            regions: 20,
            generated: 1000,
            digest: Weight([1, 2]),
            seal: Hex64(99),
        };
        entry.checkpoint = Some(ClusterCheckpoint {
            depth: 9,
            records: [8, 9].iter().flat_map(|d| (0..workers).map(|w| file(*d, w))).collect(),
            owners: (0..workers).collect(),
            made: 0,
        });
        entry
    }

    #[tokio::test]
    async fn a_starting_session_stops_at_once_on_cancellation_shutdown_or_a_leaving_worker() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(&folder.path().join("journal")).unwrap();
        let views = JobViews::new(folder.path());
        let options = ClusterOptions::for_tests(Registry::shipped());
        let cluster = Cluster::new(options, journal, views, 1);
        let job = cluster.job("job");
        let interruption = interruption(Arc::clone(&cluster), Arc::clone(&job));
        let why = |begins| interruption(begins, &[3]).map(|error| error.to_string());
        assert_eq!((why(true), why(false)), (None, None));
        job.set_cancelled(true);
        assert_eq!((why(true), why(false)), (Some("the job is cancelled".to_owned()), None));
        job.set_cancelled(false);
        for number in [2, 3] {
            let entry = WorkerEntry {
                number,
                id: format!("{number:032x}"),
                name: format!("w{number}"),
                address: "http://127.0.0.1:1".to_owned(),
                first_seen: 0,
                host: None,
            };
            let (outbound, _received) = tokio::sync::mpsc::unbounded_channel();
            let connection = cluster.membership.connect(entry, v1::Hello::default(), outbound);
            let beat = v1::WorkerBeat { leaving: true, ..v1::WorkerBeat::default() };
            assert!(cluster.membership.heartbeat(number, connection, beat));
            // A worker of another session does not concern this one.
            let leaves = (number == 3)
                .then(|| "worker number 3: it leaves before the session has begun".to_owned());
            assert_eq!((why(true), why(false)), (leaves, None));
        }
        cluster.membership.expire(Instant::now() + Duration::from_secs(3600));
        cluster.shut_down();
        let shutdown = Some("the coordinator is shutting down".to_owned());
        assert_eq!((why(true), why(false)), (shutdown, None));
    }

    #[test]
    fn orders_to_restore_name_the_files_that_their_workers_read() {
        const MANY: u16 = 1000;
        let entry = checkpoint_of(MANY);
        let owners: Vec<WorkerNumber> = (0..MANY).collect();
        let same = restore_orders(&entry, &[], &owners).unwrap();
        let written_by = |order: &v1::Restore| -> Vec<u32> {
            order.files.iter().map(|file| file.worker).collect()
        };
        for worker in owners {
            let order = same.order(worker);
            assert_eq!(written_by(&order), [u32::from(worker); 2]);
            assert!(order.encoded_len() < 4096, "{} bytes", order.encoded_len());
        }
        // Worker 1 takes over the shard of worker 0.
        let owners: Vec<WorkerNumber> = (0..MANY).map(|shard| shard.max(1)).collect();
        let moved = restore_orders(&entry, &[], &owners).unwrap();
        assert_eq!(written_by(&moved.order(1)), [0, 0, 1, 1]);
        // A worker without shards, and a new one.
        assert_eq!(written_by(&moved.order(0)), [0, 0]);
        assert!(written_by(&moved.order(MANY)).is_empty());
    }

    #[test]
    fn orders_for_a_deep_job_that_keeps_all_layers_fit_a_message() {
        const LAYERS: u32 = 300_000;
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(&folder.path().join("journal")).unwrap();
        let spec = JobSpec {
            space: "hanoi".to_owned(),
            params: Default::default(),
            shards: WORKERS,
            engine: EngineKind::Explicit,
        };
        let options = JobOptions { keep: KeepLayers::All, ..JobOptions::default() };
        let mut entry = journal.submit("hanoi", None, spec, options, 0, None).unwrap().0;
        let owners = [0, 1, 2];
        entry.checkpoint = Some(ClusterCheckpoint {
            depth: LAYERS - 1,
            records: Vec::new(),
            owners: owners.to_vec(),
            made: 0,
        });
        let views = JobViews::new(folder.path());
        let options = ClusterOptions::for_tests(Registry::shipped());
        let cluster = Cluster::new(options, journal, views, 1);
        let lines: Vec<LayerRecord> = (0..LAYERS).map(line).collect();
        let prepare = PrepareOrders::new(&cluster, &entry, &lines, &owners);
        let restore = restore_orders(&entry, &lines, &owners).unwrap();
        for worker in owners {
            let (prepare, restore) = (prepare.order(worker), restore.order(worker));
            for bytes in [prepare.encoded_len(), restore.encoded_len()] {
                assert!(bytes < limits::MESSAGE_BYTES / 4, "{bytes} bytes");
            }
            let expected = (0..LAYERS).map(|depth| layer_file(depth, worker.into())).collect();
            let kept = KeptFiles { layers: prepare.kept_layers, names: prepare.files };
            assert!(kept.into_names(worker.into()).as_ref() == Ok(&expected));
            let kept = KeptFiles { layers: restore.kept_layers, names: restore.kept };
            assert!(kept.into_names(worker.into()) == Ok(expected));
        }
    }
}
