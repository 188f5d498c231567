//! Active job of an epoch: the search worker of `strata-run`, and the orders that make, load and save
//! layers.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::num::NonZeroU32;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use strata_engine::explicit::Error as EngineError;
use strata_proto::net::{Connection, KeptFiles, convert};
use strata_proto::platform::Instant;
use strata_proto::v1;
use strata_proto::v1::answer::Outcome;
use strata_run::catalogue::{NestedForm, Space};
use strata_run::progress::CheckpointLine;
use strata_run::{
    Budget, DenseSetup, DenseWorker, KeepLayers, LayerReport, Restore, Setup, SymbolicOptions,
    SymbolicWorker, Work, Worker, WorkerError,
};
use strata_space::SpaceError;
use strata_space::dense::DenseSpace;
use strata_store::{
    BufferPool, CheckpointFile, EncodeOptions, EngineKind, JobDir, JobSpec, LayerRecord,
};
use tokio::sync::Notify;

use crate::barrier::LayerEnd;
use crate::epoch::{Epoch, EpochParts};
use crate::error::{FetchError, LinkError, OrderError};
use crate::excerpt;
use crate::exchange::RemoteExchange;
use crate::fetch::fetch_file;
use crate::folders::claim;
use crate::link::{Link, LinkOptions};
use crate::orders::EpochId;
use crate::state::NodeState;

/// When a window of layers ends, as far as this worker can tell.
struct Window {
    /// When the order came.
    begun: Instant,
    /// Time after which no further layer is begun.
    time: Duration,
    /// Depth at which it ends at the latest.
    last: u32,
    /// States of layers after which it may go on.
    widths: RangeInclusive<u64>,
}

impl Window {
    /// A window of one layer.
    fn of_one() -> Window {
        Window { begun: Instant::now(), time: Duration::ZERO, last: 0, widths: 0..=u64::MAX }
    }
}

/// The job that a worker runs.
pub(crate) struct ActiveJob {
    pub(crate) epoch: Arc<Epoch>,
    worker: Box<dyn Work>,
    /// URLs of the other workers, by number.
    peers: HashMap<u16, String>,
    /// Connections over which layers of other workers are fetched, by number.
    connections: HashMap<u16, Connection>,
    excerpts: Arc<BufferPool>,
    /// Whether a checkpoint is one file, which also holds the layer before its own.
    is_diagram: bool,
    /// Whether the peak of memory was reset at the start of this epoch.
    has_peak: bool,
}

impl ActiveJob {
    /// Makes a worker without states. Files of the job that the order does not name are removed.
    ///
    /// # Errors
    /// [`OrderError::Unfit`] if this worker does not have the space or has too little memory,
    /// [`OrderError::Malformed`] for an impossible order, otherwise those of the file system.
    pub(crate) fn prepare(
        state: &Arc<NodeState>,
        id: EpochId,
        order: v1::Prepare,
    ) -> Result<ActiveJob, OrderError> {
        // The previous job has been released: the peak will be that of this job.
        let has_peak = state.platform().reset_peak_memory();
        let own = state.number.load(Ordering::Acquire) as u16;
        let spec = convert::spec_from(order.spec)?;
        let owners = convert::owners_from(order.owners, spec.shards)?;
        let space = state.options.puzzles.open(&spec.space, &spec.params).map_err(unfit)?;
        let peers = addresses(order.peers);
        let members = members(&owners);
        let threads = state.options.threads;
        let budget =
            Budget::for_node(state.options.memory, space.table_bytes(), threads, members.len());
        let budget = budget.map_err(|error| unfit(format!("memory: {error}")))?;
        let form = Form::of(&space, spec.engine).map_err(unfit)?;
        let folder = JobDir::attach(state.platform().fs(), &state.options.data_dir, &order.job)?;
        claim(&folder, &state.seen_journal().id)?;
        let kept = KeptFiles { layers: order.kept_layers, names: order.files };
        let needed = kept.into_names(own.into())?;
        folder.remove_others(|name| needed.contains(name))?;
        let engine = Arc::new(space.engine(spec.shards));
        let setup = Setup {
            worker: usize::from(own),
            width: engine.width(),
            last_depth: order.last_depth,
            owners: Arc::clone(&owners),
            threads,
            budget,
            encode: EncodeOptions::default(),
            keep: keep_layers(order.keep),
            folder: folder.clone(),
        };
        let inbox = Arc::new(setup.inbox()?);
        let changed = Arc::default();
        let epoch = Arc::new(Epoch::new(EpochParts {
            id,
            own,
            folder,
            inbox: Arc::clone(&inbox),
            owners,
            locals: engine.locals(),
            exit_edges: engine.exit_edges(),
            columns: order.columns as usize,
            learned: budget.reserve() / 4,
            links: links(state, id, own, &members, &peers, budget.outbox(), &changed),
            changed,
        }));
        let made: Result<Box<dyn Work>, WorkerError> = match form {
            Form::Explicit => {
                let (state, level) = (Arc::clone(state), setup.encode.zstd_level);
                let exchange = RemoteExchange::new(state, Arc::clone(&epoch), level);
                Worker::new(setup, engine, inbox, Arc::new(exchange)).map(|w| Box::new(w) as _)
            }
            Form::Nested(form) => {
                let (folder, options) = (epoch.folder.clone(), symbolic_options(state, &spec));
                SymbolicWorker::new(own.into(), folder, form, options).map(|w| Box::new(w) as _)
            }
            Form::Dense(space) => {
                DenseWorker::new(dense_setup(state, &spec, setup), space).map(|w| Box::new(w) as _)
            }
        };
        let worker = made.inspect_err(|_| epoch.fence())?;
        state.depth.store(0, Ordering::Relaxed);
        let (job, workers) = (epoch.folder.job(), members.len());
        tracing::info!(job, epoch = id.number, workers, "session started");
        let is_diagram = spec.engine.is_symbolic();
        let (connections, excerpts) = (Default::default(), BufferPool::new(members.len()));
        Ok(ActiveJob { epoch, worker, peers, connections, excerpts, is_diagram, has_peak })
    }

    /// Executes an order for this job.
    ///
    /// # Errors
    /// If the order cannot be executed.
    pub(crate) fn execute(
        &mut self,
        state: &Arc<NodeState>,
        what: v1::order::What,
    ) -> Result<Outcome, OrderError> {
        use v1::order::What;
        match what {
            What::Seed(_) => {
                let window = Window::of_one();
                let report = self.worker.seed()?;
                Ok(layers(vec![self.end_layer(state, &window, report, &[])?.0]))
            }
            What::Restore(order) => {
                let window = Window::of_one();
                self.epoch.begin_layer(order.depth);
                let from = self.fetch(state, order)?;
                let report = self.worker.restore(&from)?;
                Ok(layers(vec![self.end_layer(state, &window, report, &[])?.0]))
            }
            What::Advance(order) => self.advance(state, order),
            What::Save(v1::Save { depth }) => {
                let started = Instant::now();
                let records = self.worker.save()?;
                if let Some(store) = &state.store {
                    store.upload(state.platform(), &self.epoch, &records)?;
                }
                let (bytes, took) =
                    (records.iter().map(|record| record.bytes).sum(), started.elapsed());
                let line = CheckpointLine { layer: depth, bytes, took: took.as_secs_f64() };
                line.log(self.epoch.folder.job(), CheckpointLine::SAVED);
                let files = records.iter().map(convert::file_to).collect();
                let resources = state.platform().resources(&state.options.data_dir);
                let peak_rss_bytes = if self.has_peak { resources.peak_rss } else { 0 };
                Ok(Outcome::Saved(v1::SavedFiles { depth, files, peak_rss_bytes }))
            }
            What::Saved(_) => {
                self.worker.saved()?;
                if let Some(store) = &state.store {
                    store.delete_superseded(state.platform(), &self.epoch);
                }
                Ok(Outcome::Noted(v1::Noted {}))
            }
            // The executor handles them.
            What::Prepare(_) | What::Release(_) => Ok(Outcome::Noted(v1::Noted {})),
        }
    }

    /// Ends the layer that this worker has just made or loaded, together with the other workers, to which it
    /// sends the expansions that it has learned. Returns the report, and whether the window ends here.
    fn end_layer(
        &self,
        state: &NodeState,
        window: &Window,
        mut report: LayerReport,
        learned: &[Bytes],
    ) -> Result<(v1::LayerReport, bool), OrderError> {
        let LayerRecord { depth, states, generated, bytes, .. } = report.layer;
        let is_found = report.odd || report.even || report.found;
        let is_late = window.begun.elapsed() >= window.time;
        let own = LayerEnd { states, is_last: is_found || is_late || depth >= window.last };
        let ends_window =
            self.epoch.end_layer(state.platform(), depth, (own, learned), &window.widths)?;
        report.layer.seconds = window.begun.elapsed().as_secs_f64();
        state.depth.store(depth, Ordering::Relaxed);
        let job = self.epoch.folder.job();
        tracing::debug!(job, layer = depth, states, generated, bytes, "layer made");
        Ok((report_to(&report), ends_window))
    }

    /// Makes the layers of a window. First fetches what this worker reads of the files of the current layer
    /// that other workers have shared.
    fn advance(
        &mut self,
        state: &Arc<NodeState>,
        order: v1::Advance,
    ) -> Result<Outcome, OrderError> {
        let v1::Advance { depth, last, time_ms, least_states, most_states, files } = order;
        let made = self.worker.depth();
        if depth != made + 1 || last < depth {
            return Err(OrderError::WrongLayer { depth, last: made });
        }
        let window = Window {
            begun: Instant::now(),
            time: Duration::from_millis(time_ms.into()),
            last,
            widths: least_states..=most_states,
        };
        let files = files.into_iter().map(convert::file_from);
        let mut files = files.collect::<Result<Vec<_>, _>>()?;
        let mut reports = Vec::new();
        for depth in depth..=last {
            self.epoch.begin_layer(depth);
            let fetched = self.fetch_shared(state, &mut files)?;
            for expansions in self.epoch.take_learned() {
                self.worker.learn(&words_of(&expansions)?)?;
            }
            let mut report = self.worker.advance(&files)?;
            let learned = self.worker.take_learned();
            let learned: Vec<Bytes> = learned.iter().map(|words| bytes_of(words)).collect();
            report.disk_peak += fetched.bytes;
            // The files of later layers come with other orders.
            drop(fetched);
            files.clear();
            let (report, ends_window) = self.end_layer(state, &window, report, &learned)?;
            reports.push(report);
            if ends_window {
                break;
            }
        }
        Ok(layers(reports))
    }

    /// Fetches the shared files that this worker reads. Excerpts go to the worker; of copies, the names in
    /// `files` are replaced.
    fn fetch_shared(
        &mut self,
        state: &NodeState,
        files: &mut [CheckpointFile],
    ) -> Result<FetchedFiles, OrderError> {
        let folder = self.epoch.folder.clone();
        let mut fetched = FetchedFiles { folder, names: Vec::new(), bytes: 0 };
        // Each worker begins with another one, so that not all fetch from one at the same time.
        let after = files.partition_point(|file| file.worker <= u32::from(self.epoch.own));
        let (before, after) = files.split_at_mut(after);
        for file in after.iter_mut().chain(before) {
            if file.states == 0 || !self.worker.reads(file.worker) {
                continue;
            }
            if self.worker.excerpt(file.worker).is_some() {
                self.fetch_excerpt(state, file)?;
                continue;
            }
            let name = format!("shared-{:06}-{:03}.strata", file.depth, file.worker);
            let peer = u16::try_from(file.worker).ok().and_then(|worker| self.peers.get(&worker));
            let fetch = fetch_file(state, &self.epoch, file, &name, peer.map(String::as_str));
            fetch.map_err(retryable)?;
            fetched.names.push(name.clone());
            fetched.bytes += file.bytes;
            file.file = name;
        }
        Ok(fetched)
    }

    /// Fetches the blocks that this worker reads of a shared file.
    fn fetch_excerpt(
        &mut self,
        state: &NodeState,
        file: &CheckpointFile,
    ) -> Result<(), FetchError> {
        let unavailable = |why: String| FetchError::Unavailable {
            file: file.file.clone(),
            worker: file.worker,
            why,
        };
        let number = u16::try_from(file.worker).unwrap_or(u16::MAX);
        let connection = match self.connections.entry(number) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let address = self.peers.get(&number);
                let address =
                    address.ok_or_else(|| unavailable("its address is not known".into()))?;
                let connected = self.epoch.wait(state.platform(), state.security.connect(address));
                let over = || FetchError::EpochOver { epoch: self.epoch.id.number };
                let connected = connected.ok_or_else(over)?;
                new.insert(connected.map_err(|error| unavailable(error.to_string()))?)
            }
        };
        let blocks = self.worker.excerpt(file.worker).unwrap_or_default();
        let from = (&*connection, &self.excerpts);
        let layer = excerpt::fetch(state, &self.epoch, from, file, blocks).map_err(retryable)?;
        self.worker.take(file.worker, layer);
        Ok(())
    }

    /// Fetches the files of former owners of this worker's shards, and returns what to load. Files
    /// without states are not needed: their owners may be lost.
    fn fetch(&self, state: &NodeState, order: v1::Restore) -> Result<Restore, OrderError> {
        let records = order.files.into_iter().map(convert::file_from);
        let records = records.collect::<Result<Vec<_>, _>>()?;
        let shards = self.epoch.owners.len() as u32;
        let owners_before = convert::owners_from(order.owners, shards)?;
        let own = self.epoch.own;
        let owners = self.epoch.owners.iter().zip(owners_before.iter());
        let sources: HashSet<u16> =
            owners.filter(|(now, _)| **now == own).map(|(_, before)| *before).collect();
        let mut inherited_files = HashSet::new();
        for record in records.iter().filter(|record| record.states > 0 || self.is_diagram) {
            let worker = record.worker as u16;
            if worker != own && sources.contains(&worker) {
                let address = self.peers.get(&worker).map(String::as_str);
                fetch_file(state, &self.epoch, record, &record.file, address)?;
                inherited_files.insert(record.file.clone());
            }
        }
        let kept = KeptFiles { layers: order.kept_layers, names: order.kept };
        let kept = kept.into_names(own.into())?;
        Ok(Restore { depth: order.depth, records, kept, owners_before, inherited_files })
    }
}

/// Makes the loss of a shared file a transient error: the next session makes the file again, from
/// the last checkpoint.
fn retryable(error: FetchError) -> FetchError {
    match error {
        FetchError::Missing { file, worker, why } => FetchError::Unavailable { file, worker, why },
        other => other,
    }
}

/// Local copies of other workers' files. Dropping it removes them.
struct FetchedFiles {
    folder: JobDir,
    names: Vec<String>,
    bytes: u64,
}

impl Drop for FetchedFiles {
    fn drop(&mut self) {
        for name in &self.names {
            // A file that stays is removed when the job is prepared again.
            if let Err(error) = self.folder.remove_file(name) {
                tracing::warn!("{error}");
            }
        }
    }
}

/// The space in the form that an engine searches.
enum Form {
    Explicit,
    Nested(NestedForm),
    Dense(Arc<dyn DenseSpace>),
}

impl Form {
    /// The form of a space for an engine.
    ///
    /// # Errors
    /// If the engine cannot search the space.
    fn of(space: &Space, engine: EngineKind) -> Result<Form, SpaceError> {
        Ok(match engine {
            EngineKind::Explicit => {
                space.check_explicit()?;
                Form::Explicit
            }
            EngineKind::Symbolic | EngineKind::SymbolicLean => Form::Nested(space.nested()?),
            EngineKind::Dense | EngineKind::DenseLean => Form::Dense(space.dense()?),
        })
    }
}

impl Drop for ActiveJob {
    /// Ends the epoch, and with it the tasks of its links.
    fn drop(&mut self) {
        let (job, epoch) = (self.epoch.folder.job(), self.epoch.id.number);
        tracing::info!(job, epoch, layer = self.worker.depth(), "session ended");
        self.epoch.fence();
    }
}

/// Expansions as they travel: little-endian words.
fn bytes_of(words: &[u64]) -> Bytes {
    let words: Vec<u64> = words.iter().map(|word| word.to_le()).collect();
    Bytes::copy_from_slice(bytemuck::cast_slice(&words))
}

/// Expansions from their travelling form.
fn words_of(bytes: &[u8]) -> Result<Vec<u64>, WorkerError> {
    let (words, rest) = bytes.as_chunks();
    if !rest.is_empty() {
        return Err(EngineError::Learned { what: "malformed" }.into());
    }
    Ok(words.iter().map(|word| u64::from_le_bytes(*word)).collect())
}

fn layers(layers: Vec<v1::LayerReport>) -> Outcome {
    Outcome::Layers(v1::LayerReports { layers })
}

fn report_to(report: &LayerReport) -> v1::LayerReport {
    v1::LayerReport {
        layer: Some(convert::layer_to(&report.layer)),
        met_odd: report.odd,
        met_even: report.even,
        found: report.found,
        fixed: report.fixed,
        symmetries: report.symmetries.map_or(0, NonZeroU32::get),
        disk_peak_bytes: report.disk_peak,
        disk_left_bytes: report.disk_left,
        spilled_bytes: report.spilled,
        // A worker has one file of a layer.
        kept: report.layer.kept.first().map(|kept| convert::kept_to(kept, report.layer.depth)),
        shared: report.shared.first().map(convert::file_to),
        waiting: report.waiting as u32,
    }
}

fn unfit(error: impl ToString) -> OrderError {
    OrderError::Unfit(error.to_string())
}

/// Which layers to keep; without the message, the last two.
fn keep_layers(keep: Option<v1::KeepLayers>) -> KeepLayers {
    match keep.and_then(|keep| keep.which) {
        Some(v1::keep_layers::Which::All(_)) => KeepLayers::All,
        Some(v1::keep_layers::Which::Every(step)) => {
            NonZeroU32::new(step).map_or(KeepLayers::Last, KeepLayers::Every)
        }
        Some(v1::keep_layers::Which::Last(_)) | None => KeepLayers::Last,
    }
}

/// Addresses by worker number.
fn addresses(peers: Vec<v1::Peer>) -> HashMap<u16, String> {
    let address = |peer: v1::Peer| Some((u16::try_from(peer.number).ok()?, peer.address));
    peers.into_iter().filter_map(address).collect()
}

fn dense_setup(state: &NodeState, spec: &JobSpec, setup: Setup) -> DenseSetup {
    let Setup { worker, owners, threads, keep, folder, .. } = setup;
    let (memory, digest) = (state.options.memory, spec.engine.has_digests());
    DenseSetup { worker, owners, threads, memory, digest, keep, folder }
}

fn symbolic_options(state: &NodeState, spec: &JobSpec) -> SymbolicOptions {
    SymbolicOptions {
        memory: state.options.memory as usize,
        keep_layers: false,
        digests: spec.engine.has_digests(),
        verify: 0,
        threads: state.options.threads,
    }
}

/// The workers that own shards, in order.
fn members(owners: &[u16]) -> Vec<u16> {
    let mut members = owners.to_vec();
    members.sort_unstable();
    members.dedup();
    members
}

/// Links to all other members of an epoch, each with a task that delivers its batches. `bytes`
/// limits the unacknowledged bytes of each link: the memory share of an outbox, in which the same
/// exits take much more space uncompressed. `changed` is notified when a link is closed.
fn links(
    state: &Arc<NodeState>,
    epoch: EpochId,
    own: u16,
    members: &[u16],
    peers: &HashMap<u16, String>,
    bytes: usize,
    changed: &Arc<Notify>,
) -> BTreeMap<u16, Arc<Link>> {
    if !members.contains(&own) {
        return BTreeMap::new();
    }
    let timeout = Duration::from_millis(state.lease_ms.load(Ordering::Acquire));
    let link = |to: &u16| {
        let platform = Arc::clone(&state.options.platform);
        let options = LinkOptions { bytes, timeout };
        let link = Link::new(epoch, own, options, platform, Arc::clone(changed));
        match peers.get(to) {
            Some(address) => {
                let (link, address) = (Arc::clone(&link), address.clone());
                state.runtime.spawn(link.run(address, state.security.clone()));
            }
            None => link.close(LinkError::NoAddress),
        }
        (*to, link)
    };
    members.iter().filter(|member| **member != own).map(link).collect()
}
