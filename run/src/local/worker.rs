//! Explicit worker, with the last two layers, the inbox and the pass tasks.

use std::sync::Arc;

use strata_engine::explicit::{
    Engine, Exchange, Inbox, InboxOptions, MemoUse, Outboxes, Pass, PassTask, Run,
};
use strata_space::{Finish, LayerStats, State};
use strata_store::{
    BlockEncoder, CheckpointFile, EncodeOptions, EntryKey, FileKind, FilePart, JobDir, KeyRange,
    Layer, LayerHeader, LayerTotals, LayerWriter, LocalWidth, StoreError,
};

use super::budget::Budget;
use super::error::{Result, WorkerError};
use super::files::Files;
use super::older::OlderLayers;
use super::part::{Found, PassPart};
use super::threads::{self, Threads};
use crate::keep_layers::KeepLayers;
use crate::plan::report::LayerReport;
use crate::plan::sums::totals_of;

/// Encoding number of layer files: locals are `2 * index + side`.
pub(crate) const ENCODING: u16 = 1;

/// Checks that the locals in a layer file have the encoding of this version.
///
/// # Errors
/// `Corrupt` if they have another encoding.
pub(crate) fn check_encoding(layer: &Layer) -> strata_store::Result<()> {
    let encoding = layer.header().encoding;
    if encoding == ENCODING {
        return Ok(());
    }
    let (expected, found) = (format!("encoding {ENCODING}"), encoding.to_string());
    // Magic, version and kind come before the field.
    Err(StoreError::Corrupt { file: layer.name(), offset: 16, expected, found })
}

/// Configuration of a worker. Everything but the job itself may differ between sessions.
#[derive(Clone)]
pub struct Setup {
    /// Number of this worker. The numbers of all workers may have gaps.
    pub worker: usize,
    /// Width of locals: that of the engine.
    pub width: LocalWidth,
    /// Owner of each shard, by shard.
    pub owners: Arc<[u16]>,
    /// Threads.
    pub threads: usize,
    /// Memory.
    pub budget: Budget,
    /// Compression.
    pub encode: EncodeOptions,
    /// The depth at which the search stops, if it is known. The exits of that layer are not sent.
    pub last_depth: Option<u32>,
    /// Layers that stay on disk besides the last two.
    pub keep: KeepLayers,
    /// The job's folder.
    pub folder: JobDir,
}

impl Setup {
    /// Creates this worker's inbox, which the exchange needs before the worker exists.
    ///
    /// # Errors
    /// If there is no memory for compression.
    pub fn inbox(&self) -> Result<Inbox> {
        let options = InboxOptions {
            memory: self.budget.inbox(),
            width: self.width,
            job: self.folder.job().to_owned(),
            folder: self.folder.path().to_owned(),
            prefix: format!("run-{:03}", self.worker),
            recycled_runs: self.threads,
            encode: self.encode,
        };
        Ok(Inbox::new(self.folder.fs().clone(), options)?)
    }

    fn owns(&self, key: EntryKey) -> bool {
        usize::from(self.owners[key.shard as usize]) == self.worker
    }
}

/// A worker of the explicit engine.
pub struct Worker {
    pub(crate) setup: Setup,
    pub(crate) engine: Arc<Engine>,
    pub(crate) inbox: Arc<Inbox>,
    pub(crate) exchange: Arc<dyn Exchange>,
    pub(crate) tasks: Vec<PassTask>,
    pub(crate) threads: Arc<Threads>,
    goal: Option<State>,
    pub(crate) files: Files,
    pub(crate) current: Layer,
    pub(crate) previous: Option<Layer>,
    /// The layers before the last two, in a directed search.
    pub(crate) older: OlderLayers,
    /// Whether the current layer is the last one and its exits were not sent.
    has_dropped_exits: bool,
    /// Bytes spilled until the current layer was complete.
    spilled: u64,
}

impl Worker {
    /// A worker without states. `inbox` is its own (see [`Setup::inbox`]). `exchange` delivers to
    /// the inboxes of all workers that own shards.
    ///
    /// # Errors
    /// If a thread cannot be started or a compression context cannot be allocated.
    pub fn new(
        setup: Setup,
        engine: Arc<Engine>,
        inbox: Arc<Inbox>,
        exchange: Arc<dyn Exchange>,
    ) -> Result<Worker> {
        let threads = Arc::new(Threads::new(setup.threads)?);
        Worker::on_threads(setup, engine, inbox, exchange, threads)
    }

    /// A worker whose tasks run on threads that other workers may share.
    pub(crate) fn on_threads(
        setup: Setup,
        engine: Arc<Engine>,
        inbox: Arc<Inbox>,
        exchange: Arc<dyn Exchange>,
        threads: Arc<Threads>,
    ) -> Result<Worker> {
        let task = |_| {
            let outboxes = Outboxes::new(
                exchange.clone(),
                setup.worker,
                setup.owners.clone(),
                setup.budget.outbox(),
            );
            PassTask::new(engine.kernel(setup.budget.kernel()), setup.encode, outboxes)
        };
        let tasks = (0..setup.threads).map(task).collect::<strata_store::Result<Vec<_>>>()?;
        let goal = match engine.finish() {
            Finish::State(goal) => Some(goal),
            Finish::Meeting | Finish::Exhausted => None,
        };
        let number = setup.worker as u32;
        Ok(Worker {
            has_dropped_exits: false,
            spilled: 0,
            files: Files::new(setup.folder.clone(), number, setup.keep),
            current: empty(&setup, 0)?,
            previous: None,
            older: OlderLayers::default(),
            setup,
            engine,
            inbox,
            exchange,
            tasks,
            threads,
            goal,
        })
    }

    /// Depth of the last layer.
    pub fn depth(&self) -> u32 {
        self.current.header().depth
    }

    /// Makes layer 0 from this worker's share of the seeds. On return all its exits are in the
    /// inboxes of their owners.
    ///
    /// # Errors
    /// If exits cannot be delivered or spilled.
    pub fn seed(&mut self) -> Result<LayerReport> {
        let mut seeds = self.engine.seeds()?;
        seeds.retain(|(key, _)| self.setup.owns(*key));
        seeds.sort_unstable();
        seeds.dedup();
        // The kernel counts the totals, and needs a layer to read.
        let regions = seeds.chunk_by(|a, b| a.0 == b.0).count() as u64;
        let counted = LayerTotals { regions, states: seeds.len() as u64, ..LayerTotals::default() };
        let draft = self.seed_layer(&seeds, counted)?;
        let mut stats = emit(&mut self.tasks, &self.threads, &draft)?;
        stats.found = self.goal.is_some_and(|goal| seeds.iter().any(|(_, state)| *state == goal));
        // The searches meet at depth 0 if start and goal are the same.
        stats.even = seeds.windows(2).any(|pair| {
            let [(a, first), (b, second)] = [pair[0], pair[1]];
            a == b && first.local ^ 1 == second.local
        });
        self.current = self.seed_layer(&seeds, totals_of(&stats))?;
        self.exchange.flush(self.setup.worker, 0)?;
        Ok(self.report(&stats))
    }

    fn seed_layer(&self, seeds: &[(EntryKey, State)], totals: LayerTotals) -> Result<Layer> {
        let writer = LayerWriter::memory(self.header(0))?;
        let mut encoder = BlockEncoder::new(self.setup.encode)?;
        for group in seeds.chunk_by(|a, b| a.0 == b.0) {
            let mut words = Vec::new();
            group.iter().for_each(|(_, state)| self.setup.width.push(state.local, &mut words));
            encoder.push(&writer, group[0].0, &words)?;
        }
        let part = encoder.finish(&writer)?;
        Ok(writer.seal(vec![part], totals)?)
    }

    /// Turns layer d into layer d+1. All exits of layer d must have arrived. On return the exits of
    /// the new layer are in the inboxes of their owners.
    ///
    /// # Errors
    /// If an input is damaged, an output cannot be written or exits cannot be delivered. Both old
    /// layers remain and can be checkpointed, but the worker cannot continue: the exits of layer d
    /// are consumed.
    pub fn advance(&mut self) -> Result<LayerReport> {
        let pass = self.begin()?;
        let threads = Arc::clone(&self.threads);
        let mut parts = self.parts(&pass);
        threads.run(&mut parts);
        let found = parts.into_iter().filter_map(PassPart::found).collect::<Result<_>>()?;
        self.finish(pass, found)
    }

    /// Begins to turn layer d into layer d+1.
    pub(crate) fn begin(&mut self) -> Result<Pass> {
        let depth = self.depth() + 1;
        if self.has_dropped_exits {
            return Err(WorkerError::LastLayer { depth: depth - 1 });
        }
        Ok(Pass {
            depth: depth - 1,
            current: self.current.clone(),
            previous: self.previous.clone(),
            older: self.older.files().to_vec(),
            inbox: self.inbox.take(depth - 1)?,
            writer: self.writer(depth)?,
            goal: self.goal,
            is_last: self.setup.last_depth == Some(depth),
        })
    }

    /// The parts of a pass, each with a task of its own.
    pub(crate) fn parts<'a>(&'a mut self, pass: &'a Pass) -> Vec<PassPart<'a>> {
        let ranges = ranges(&self.current, self.setup.threads);
        let states = self.current.totals().states / ranges.len() as u64;
        let pairs = self.tasks.iter_mut().zip(ranges);
        pairs.map(|(task, range)| PassPart::new(task, pass, range, states)).collect()
    }

    /// Completes the layer from what the tasks have found.
    pub(crate) fn finish(&mut self, pass: Pass, found: Vec<Found>) -> Result<LayerReport> {
        let Pass { depth, current, previous, older, inbox, writer, is_last, .. } = pass;
        let runs = inbox.iter().map(|run| match run {
            Run::Memory(_) => 0,
            Run::File(file) => file.file_bytes(),
        });
        let layers = [&current].into_iter().chain(&previous).chain(&older);
        let read_bytes = runs.chain(layers.map(bytes_on_disk)).sum();
        // A file that is no longer needed can be overwritten only if no other clone holds it.
        drop((current, previous, older));
        let mut stats = LayerStats::default();
        let mut parts = Vec::with_capacity(found.len());
        for (part, found) in found {
            stats.add(&found);
            parts.push(part);
        }
        let mut memo = MemoUse::default();
        self.tasks.iter_mut().for_each(|task| memo.add(task.take_memo_use()));
        let next = writer.seal(parts, totals_of(&stats))?;
        self.exchange.flush(self.setup.worker, next.header().depth)?;
        let spilled = self.inbox.file_bytes();
        self.inbox.recycle(depth, inbox)?;
        // The last step that writes. If it fails, the layers are still the previous ones.
        let older = self.merge_older()?;
        self.has_dropped_exits = is_last;
        let previous = self.previous.replace(std::mem::replace(&mut self.current, next));
        let mut report = self.report(&stats);
        let spilled_now = report.spilled - std::mem::replace(&mut self.spilled, report.spilled);
        report.layer.memo_hits = memo.hits;
        report.layer.memo_misses = memo.misses;
        report.layer.memo_miss_seconds = memo.miss_time.as_secs_f64();
        report.layer.read_bytes = read_bytes;
        report.layer.written_bytes = bytes_on_disk(&self.current) + spilled_now;
        if let Some((count, merged)) = older {
            report.layer.written_bytes += bytes_on_disk(&merged);
            report.disk_peak += bytes_on_disk(&merged);
            let replaced = self.older.replace(count, merged);
            replaced.into_iter().try_for_each(|file| self.files.release_older(file))?;
        }
        report.disk_peak += spilled;
        if let Some(previous) = previous {
            report.disk_peak += bytes_on_disk(&previous);
            self.files.release_layer(previous)?;
            report.disk_left = self.disk_bytes();
        }
        Ok(report)
    }

    /// In a directed search, merges the layer that the search no longer reads as one of the last two with
    /// the last files of older layers. Returns the number of these files and the new file.
    fn merge_older(&mut self) -> Result<Option<(usize, Layer)>> {
        let layer = self.previous.as_ref().filter(|layer| layer.totals().states > 0);
        let Some(layer) = layer.filter(|_| !self.engine.is_undirected()) else { return Ok(None) };
        let joined = self.older.joined_by(layer.totals().states);
        let (count, depth) = (joined.len(), layer.header().depth);
        let layers = [joined, std::slice::from_ref(layer)].concat();
        Ok(Some((count, self.merge(&layers, depth)?)))
    }

    /// Merges layers into one file of older layers. `depth` is that of the last one.
    fn merge(&mut self, layers: &[Layer], depth: u32) -> Result<Layer> {
        let states = layers.iter().map(|layer| layer.totals().states).sum();
        let writer = self.older_writer(depth, states)?;
        let largest = layers.iter().max_by_key(|layer| layer.totals().states);
        let ranges = largest.map_or(vec![KeyRange::ALL], |most| ranges(most, self.setup.threads));
        let work = |task: &mut PassTask, range| Ok(task.merge(layers, &writer, range)?);
        let parts = self.threads.each(&mut self.tasks, &ranges, work);
        let parts = parts.into_iter().collect::<Result<Vec<_>>>()?;
        let totals = counted(&parts);
        Ok(writer.seal(parts, totals)?)
    }

    /// A writer of older layers with `states` states, of which the last is at `depth`.
    pub(crate) fn older_writer(
        &self,
        depth: u32,
        states: u64,
    ) -> strata_store::Result<LayerWriter> {
        let header = LayerHeader { kind: FileKind::Older, ..self.header(depth) };
        if self.files.on_disk(depth, states) {
            self.files.older_writer(header)
        } else {
            LayerWriter::memory(header)
        }
    }

    /// Makes the last two layers, older ones that are needed and all kept ones durable.
    ///
    /// # Errors
    /// If a file cannot be written, synced or renamed.
    pub fn save(&mut self) -> Result<Vec<CheckpointFile>> {
        Ok(self.files.persist(&searched(&self.older, &self.previous, &self.current))?)
    }

    /// Removes the files of the previous checkpoint. The checkpoint that [`Self::save`] wrote must
    /// be durable.
    ///
    /// # Errors
    /// If a file cannot be removed.
    pub fn saved(&mut self) -> Result<()> {
        Ok(self.files.published(&searched(&self.older, &self.previous, &self.current))?)
    }

    pub(crate) fn header(&self, depth: u32) -> LayerHeader {
        header(&self.setup, depth)
    }

    fn writer(&mut self, depth: u32) -> strata_store::Result<LayerWriter> {
        let header = self.header(depth);
        if self.files.on_disk(depth, self.current.totals().states) {
            self.files.writer(header)
        } else {
            LayerWriter::memory(header)
        }
    }

    fn disk_bytes(&self) -> u64 {
        let layers = self.previous.iter().chain([&self.current]);
        let layers = layers.map(bytes_on_disk);
        let others = self.files.bytes() + self.older.disk_bytes() + self.inbox.file_bytes();
        layers.sum::<u64>() + others
    }

    /// The report of the current layer, given its figures.
    pub(crate) fn report(&self, stats: &LayerStats) -> LayerReport {
        let mut report = LayerReport::of(self.depth(), stats);
        report.layer.bytes = self.current.file_bytes();
        report.layer.kept.extend(self.files.kept(&self.current));
        report.disk_peak = self.disk_bytes();
        report.disk_left = report.disk_peak;
        report.spilled = self.inbox.spilled_bytes();
        report.waiting = self.files.waiting();
        report
    }
}

/// Bytes of a layer's file; 0 if it is in memory.
pub(super) fn bytes_on_disk(layer: &Layer) -> u64 {
    layer.path().map_or(0, |_| layer.file_bytes())
}

/// The layers that a search reads.
pub(crate) fn searched<'a>(
    older: &'a OlderLayers,
    previous: &'a Option<Layer>,
    current: &'a Layer,
) -> Vec<&'a Layer> {
    older.files().iter().chain(previous).chain([current]).collect()
}

/// The totals of older layers: their states and regions.
pub(crate) fn counted(parts: &[FilePart]) -> LayerTotals {
    let shards = || parts.iter().flat_map(|part| &part.shards);
    LayerTotals {
        regions: shards().map(|shard| shard.regions).sum(),
        states: shards().map(|shard| shard.states).sum(),
        ..LayerTotals::default()
    }
}

/// Sends the exits of a whole layer. Returns the layer's figures.
pub(crate) fn emit(tasks: &mut [PassTask], threads: &Threads, layer: &Layer) -> Result<LayerStats> {
    let ranges = ranges(layer, tasks.len());
    let work = |task: &mut PassTask, range: KeyRange| task.emit(layer, range);
    let mut total = LayerStats::default();
    for stats in threads.each(tasks, &ranges, work) {
        total.add(&stats?);
    }
    Ok(total)
}

/// Splits a layer's keys into ranges of about equally many states, at most one per thread.
fn ranges(layer: &Layer, threads: usize) -> Vec<KeyRange> {
    let worth = (layer.totals().states / threads::LEAST).max(1);
    let parts = threads.min(usize::try_from(worth).unwrap_or(usize::MAX));
    KeyRange::ALL.split(&layer.split_keys(parts)).collect()
}

fn header(setup: &Setup, depth: u32) -> LayerHeader {
    let job = setup.folder.job().to_owned();
    LayerHeader { width: setup.width, ..LayerHeader::new(FileKind::Layer, job, depth, ENCODING) }
}

pub(crate) fn empty(setup: &Setup, depth: u32) -> strata_store::Result<Layer> {
    LayerWriter::memory(header(setup, depth))?.seal(Vec::new(), LayerTotals::default())
}
