//! Inboxes: the exits for a worker's next pass, in memory or spilled to disk.
//!
//! An inbox accepts every run at once, so that no sender waits for the receiver's pass. If runs exceed
//! its share of memory, they are merged into a sorted run on disk.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use strata_store::{
    BlockEncoder, EncodeOptions, FileKind, Fs, KeyRange, Layer, LayerHeader, LayerTotals,
    LayerWriter, LocalWidth, StoreError,
};

use super::run::{MAX_BYTES, MemoryRun, MergedRuns, Run, SortBuffers};
use super::wire::{Bounds, MAX_CONTENT, RunDecoder};
use crate::explicit::error::InboxError;
use crate::explicit::kernel::Batches;
use crate::explicit::local_set::{LocalSet, sort_locals};

/// Number of spilled runs that are merged into one.
const MAX_FILES: usize = 16;

/// Number of received runs that are merged into one, because each task needs a cursor for each run.
const MAX_RECEIVED: usize = 16;

/// The most bytes of a small run, and the most empty runs with which a small one is still kept. A worker
/// needs several small runs for each task, to and from all other workers.
const SMALL_RUN: usize = 512 << 10;
const MAX_RECYCLED: usize = 16;

/// Settings of an [`Inbox`].
#[derive(Clone, Debug)]
pub struct InboxOptions {
    /// Limit of the memory of runs, in bytes, for both layers together. One layer takes at most three
    /// quarters, so that some is left for the other.
    pub memory: usize,
    /// Width of locals.
    pub width: LocalWidth,
    /// Job id, written to the headers of spilled runs.
    pub job: String,
    /// Folder of spilled runs.
    pub folder: PathBuf,
    /// Prefix of the file names of spilled runs.
    pub prefix: String,
    /// Number of empty runs of any size whose memory is kept for reuse, one per task. A few more small
    /// runs are kept, too.
    pub recycled_runs: usize,
    /// Compression of spilled runs.
    pub encode: EncodeOptions,
}

/// Inbox of one worker.
///
/// It holds the exits of two layers: those for the next pass, and those for the pass after it, because a
/// sender may be one pass ahead.
#[derive(Debug)]
pub struct Inbox {
    fs: Arc<dyn Fs>,
    options: InboxOptions,
    /// The exits, by parity of the layer's depth.
    pending: [Mutex<PendingExits>; 2],
    held: Mutex<Held>,
    /// Empty runs whose memory is reused.
    recycled: Mutex<Vec<MemoryRun>>,
    encoder: Mutex<BlockEncoder>,
    /// Idle decoders, each with buffers for sorting.
    decoders: Mutex<Vec<(RunDecoder, SortBuffers)>>,
    next_file: AtomicU64,
    spilled_bytes: AtomicU64,
    files_bytes: AtomicU64,
    /// The first failure by which exits were lost.
    failure: OnceLock<Arc<StoreError>>,
}

/// Exits of one layer that have been accepted and not yet taken.
#[derive(Debug, Default)]
struct PendingExits {
    memory: Vec<MemoryRun>,
    /// Runs from other processes, by the number of times they have been merged. Only runs of one level are
    /// merged, so each batch is merged a logarithmic number of times.
    received: Vec<Vec<MemoryRun>>,
    files: Vec<Arc<Layer>>,
}

/// Bytes of the runs in memory, by parity of the layer's depth. Runs that are being merged or read count,
/// too.
#[derive(Debug, Default)]
struct Held([usize; 2]);

impl Held {
    /// Whether a layer may take `bytes` more bytes. `limit` is the limit for both layers together.
    fn fits(&self, depth: u32, bytes: usize, limit: usize) -> bool {
        let Held(held) = self;
        let (own, other) = (held[(depth & 1) as usize], held[(depth & 1 ^ 1) as usize]);
        own + bytes <= limit.saturating_sub(other).min(limit - limit / 4)
    }

    fn of(&mut self, depth: u32) -> &mut usize {
        &mut self.0[(depth & 1) as usize]
    }
}

impl PendingExits {
    /// Removes and returns the runs in memory.
    fn take_memory(&mut self) -> Vec<Run> {
        let memory = std::mem::take(&mut self.memory).into_iter();
        let received = std::mem::take(&mut self.received).into_iter().flatten();
        memory.chain(received).map(|run| Run::Memory(Arc::new(run))).collect()
    }

    fn add_received(&mut self, level: usize, run: MemoryRun) {
        if self.received.len() <= level {
            self.received.resize_with(level + 1, Vec::new);
        }
        self.received[level].push(run);
    }

    /// Removes and returns the received runs that have been merged `level` times, if there are at least
    /// [`MAX_RECEIVED`] of them, with at most `most` bytes together.
    fn take_full_level(&mut self, level: usize, most: usize) -> Option<Vec<MemoryRun>> {
        let runs = self.received.get_mut(level)?;
        let is_full = runs.len() >= MAX_RECEIVED;
        (is_full && runs.iter().map(MemoryRun::capacity_bytes).sum::<usize>() <= most)
            .then(|| std::mem::take(runs))
    }
}

/// Bytes of memory that a run takes in an inbox.
fn memory_bytes(run: &Run) -> usize {
    match run {
        Run::Memory(run) => run.capacity_bytes(),
        Run::File(_) => 0,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Inbox {
    /// An empty inbox.
    ///
    /// # Errors
    /// If there is no memory for compression.
    pub fn new(fs: Arc<dyn Fs>, options: InboxOptions) -> strata_store::Result<Inbox> {
        Ok(Inbox {
            fs,
            encoder: Mutex::new(BlockEncoder::new(options.encode)?),
            decoders: Mutex::default(),
            options,
            pending: Default::default(),
            held: Mutex::default(),
            recycled: Mutex::default(),
            next_file: AtomicU64::new(0),
            spilled_bytes: AtomicU64::new(0),
            files_bytes: AtomicU64::new(0),
            failure: OnceLock::new(),
        })
    }

    fn pending(&self, depth: u32) -> MutexGuard<'_, PendingExits> {
        lock(&self.pending[(depth & 1) as usize])
    }

    /// Reserves memory for a run of `bytes` bytes. Returns false if it exceeds the limit.
    fn reserve(&self, depth: u32, bytes: usize) -> bool {
        let mut held = lock(&self.held);
        let fits = held.fits(depth, bytes, self.options.memory);
        *held.of(depth) += if fits { bytes } else { 0 };
        fits
    }

    fn release(&self, depth: u32, bytes: usize) {
        let mut held = lock(&self.held);
        let held = held.of(depth);
        *held = held.saturating_sub(bytes);
    }

    /// Fails if exits are lost.
    fn check_complete(&self) -> Result<(), InboxError> {
        self.failure.get().map_or(Ok(()), |error| Err(InboxError::Incomplete(Arc::clone(error))))
    }

    /// Records a failure by which exits may be lost.
    fn lose(&self, error: StoreError) -> InboxError {
        let error = Arc::new(error);
        let _ = self.failure.set(Arc::clone(&error));
        InboxError::Incomplete(error)
    }

    /// Accepts a sorted run of exits of layer `depth`.
    ///
    /// # Errors
    /// [`InboxError::Incomplete`] if the run must be spilled and that fails, or has failed earlier.
    pub fn accept(&self, depth: u32, run: MemoryRun) -> Result<(), InboxError> {
        self.check_complete()?;
        self.store(depth, run).map_err(|error| self.lose(error))
    }

    fn store(&self, depth: u32, run: MemoryRun) -> strata_store::Result<()> {
        let mut pending = self.pending(depth);
        if run.is_empty() {
            self.recycle_memory(run);
            return Ok(());
        }
        if self.reserve(depth, run.capacity_bytes()) {
            pending.memory.push(run);
            return Ok(());
        }
        self.spill(depth, pending, Run::Memory(Arc::new(run)))
    }

    /// Accepts a part of a run of exits of layer `depth`, encoded by [`RunEncoder`], after checking all of
    /// it. `name` is its name in messages.
    ///
    /// # Errors
    /// [`InboxError::Refused`] if it is damaged or exceeds `bounds`: no exit of it is accepted.
    /// [`InboxError::Incomplete`] if there is no memory to set up decompression, or if merging or spilling
    /// fails, or if one of these has failed earlier.
    ///
    /// [`RunEncoder`]: crate::explicit::RunEncoder
    pub fn accept_encoded(
        &self,
        depth: u32,
        bytes: &[u8],
        name: &str,
        bounds: &Bounds<'_>,
    ) -> Result<(), InboxError> {
        self.check_complete()?;
        let idle = lock(&self.decoders).pop();
        let (mut decoder, mut buffers) = match idle {
            Some(idle) => idle,
            None => {
                let decoder = RunDecoder::new().map_err(|error| self.lose(error))?;
                (decoder, SortBuffers::default())
            }
        };
        let mut run = self.small_recycled_run();
        let decoded = decoder.decode(bytes, name, bounds, &mut run);
        let accepted = match decoded {
            Err(error) => {
                self.recycle_memory(run);
                Err(InboxError::Refused(Arc::new(error)))
            }
            Ok(()) => {
                // The inbox counts allocated bytes, and a recycled run may be much larger than its content.
                run.shrink(run.used_bytes());
                self.store_received(depth, run, &mut buffers).map_err(|error| self.lose(error))
            }
        };
        lock(&self.decoders).push((decoder, buffers));
        accepted
    }

    /// Whether another encoded run of a few KiB can probably be accepted without a merge and without
    /// spilling.
    pub fn accepts_quickly(&self, depth: u32) -> bool {
        let pending = self.pending(depth);
        let waiting = pending.received.first().map_or(0, Vec::len);
        let has_room = lock(&self.held).fits(depth, MAX_CONTENT, self.options.memory);
        waiting + 1 < MAX_RECEIVED && has_room
    }

    fn store_received(
        &self,
        depth: u32,
        run: MemoryRun,
        buffers: &mut SortBuffers,
    ) -> strata_store::Result<()> {
        if run.is_empty() {
            self.recycle_memory(run);
            return Ok(());
        }
        let mut pending = self.pending(depth);
        if !self.reserve(depth, run.capacity_bytes()) {
            return self.spill(depth, pending, Run::Memory(Arc::new(run)));
        }
        pending.add_received(0, run);
        let mut level = 0;
        while let Some(runs) = pending.take_full_level(level, MAX_BYTES) {
            drop(pending);
            let freed: usize = runs.iter().map(MemoryRun::capacity_bytes).sum();
            if freed > self.options.memory / 4 {
                // A merge in memory would need twice the memory of the runs, and they would be spilled
                // soon anyway.
                let runs = runs.into_iter().map(|run| Run::Memory(Arc::new(run)));
                return self.write_out(depth, runs.collect(), freed);
            }
            let merged = MemoryRun::merge(&runs, buffers);
            runs.into_iter().for_each(|run| self.recycle_memory(run));
            pending = self.pending(depth);
            self.release(depth, freed);
            *lock(&self.held).of(depth) += merged.capacity_bytes();
            level += 1;
            pending.add_received(level, merged);
        }
        Ok(())
    }

    /// Writes all runs in memory, and the run `last` that exceeds the limit, to one file. Few large runs
    /// are cheaper to write and to merge than many small ones.
    fn spill(
        &self,
        depth: u32,
        mut pending: MutexGuard<'_, PendingExits>,
        last: Run,
    ) -> strata_store::Result<()> {
        let mut runs = pending.take_memory();
        drop(pending);
        // Other threads may be writing other runs out; they subtract the bytes of those themselves.
        let freed = runs.iter().map(memory_bytes).sum();
        runs.push(last);
        self.write_out(depth, runs, freed)
    }

    /// Writes runs to a file. The caller has removed them from [`PendingExits`], where they took `freed`
    /// bytes of memory.
    fn write_out(&self, depth: u32, runs: Vec<Run>, freed: usize) -> strata_store::Result<()> {
        let file = self.merge_to_file(depth, &runs)?;
        self.dispose(runs)?;
        self.release(depth, freed);
        let mut pending = self.pending(depth);
        pending.files.push(Arc::new(file));
        if pending.files.len() >= MAX_FILES {
            let files = std::mem::take(&mut pending.files);
            drop(pending);
            let runs: Vec<Run> = files.into_iter().map(Run::File).collect();
            let merged = self.merge_to_file(depth, &runs)?;
            self.dispose(runs)?;
            self.pending(depth).files.push(Arc::new(merged));
        }
        Ok(())
    }

    /// Removes and returns all accepted exits of layer `depth`.
    ///
    /// # Errors
    /// [`InboxError::Incomplete`] if some of them are lost.
    pub fn take(&self, depth: u32) -> Result<Vec<Run>, InboxError> {
        self.check_complete()?;
        let mut pending = std::mem::take(&mut *self.pending(depth));
        let mut runs = pending.take_memory();
        runs.extend(pending.files.into_iter().map(Run::File));
        Ok(runs)
    }

    /// Disposes of all runs of layer `depth` after they have been read: memory is reused or freed, and
    /// files are removed.
    ///
    /// # Errors
    /// If a file cannot be removed.
    pub fn recycle(&self, depth: u32, runs: Vec<Run>) -> strata_store::Result<()> {
        self.release(depth, runs.iter().map(memory_bytes).sum());
        self.dispose(runs)
    }

    fn dispose(&self, runs: Vec<Run>) -> strata_store::Result<()> {
        for run in runs {
            match run {
                Run::Memory(run) => {
                    if let Ok(run) = Arc::try_unwrap(run) {
                        self.recycle_memory(run);
                    }
                }
                Run::File(file) => self.remove(file)?,
            }
        }
        Ok(())
    }

    /// An empty run, with recycled memory if there is any.
    pub fn recycled_run(&self) -> MemoryRun {
        lock(&self.recycled).pop().unwrap_or_default()
    }

    /// An empty run, with the memory of a small recycled run if there is one. Large runs are kept for
    /// senders.
    fn small_recycled_run(&self) -> MemoryRun {
        let mut recycled = lock(&self.recycled);
        let small = recycled.iter().rposition(|run| run.capacity_bytes() <= SMALL_RUN);
        small.map_or_else(MemoryRun::default, |at| recycled.swap_remove(at))
    }

    /// Reuses or frees the memory of a run that is in no inbox.
    pub fn recycle_memory(&self, mut run: MemoryRun) {
        let mut recycled = lock(&self.recycled);
        let is_small = run.capacity_bytes() <= SMALL_RUN;
        if recycled.len() < self.options.recycled_runs || is_small && recycled.len() < MAX_RECYCLED
        {
            run.clear();
            recycled.push(run);
        }
    }

    /// Bytes written to spilled runs since the inbox was created.
    pub fn spilled_bytes(&self) -> u64 {
        self.spilled_bytes.load(Ordering::Relaxed)
    }

    /// Bytes of spilled runs that are on disk now.
    pub fn file_bytes(&self) -> u64 {
        self.files_bytes.load(Ordering::Relaxed)
    }

    fn remove(&self, file: Arc<Layer>) -> strata_store::Result<()> {
        self.files_bytes.fetch_sub(file.file_bytes(), Ordering::Relaxed);
        Arc::try_unwrap(file).map_or(Ok(()), Layer::remove)
    }

    fn merge_to_file(&self, depth: u32, runs: &[Run]) -> strata_store::Result<Layer> {
        let number = self.next_file.fetch_add(1, Ordering::Relaxed);
        let path = self.options.folder.join(format!("{}-{number:06}.tmp", self.options.prefix));
        let InboxOptions { job, width, .. } = &self.options;
        let header =
            LayerHeader { width: *width, ..LayerHeader::new(FileKind::Run, job, depth, 0) };
        let file = self.merge(LayerWriter::file(self.fs.clone(), &path, header)?, runs)?;
        self.spilled_bytes.fetch_add(file.file_bytes(), Ordering::Relaxed);
        self.files_bytes.fetch_add(file.file_bytes(), Ordering::Relaxed);
        Ok(file)
    }

    /// Merges several runs into one file.
    fn merge(&self, writer: LayerWriter, runs: &[Run]) -> strata_store::Result<Layer> {
        let encoder = &mut *lock(&self.encoder);
        let filled = fill(&writer, encoder, runs).and_then(|()| encoder.finish(&writer));
        let part = filled.inspect_err(|_| encoder.discard())?;
        let totals = LayerTotals {
            regions: part.shards.iter().map(|shard| shard.regions).sum(),
            states: part.shards.iter().map(|shard| shard.states).sum(),
            ..LayerTotals::default()
        };
        writer.seal(vec![part], totals)
    }
}

/// Writes the merged regions of several runs, each region once.
fn fill(
    writer: &LayerWriter,
    encoder: &mut BlockEncoder,
    runs: &[Run],
) -> strata_store::Result<()> {
    let mut merged = MergedRuns::new(runs, KeyRange::ALL)?;
    let (mut batches, mut words) = (Batches::default(), Vec::new());
    let mut set = LocalSet::default();
    while let Some(key) = merged.key() {
        batches.clear();
        merged.take(key, &mut batches)?;
        words.clear();
        words.extend_from_slice(batches.words());
        sort_locals(writer.header().width, &mut words, &mut set);
        encoder.push(writer, key, &words)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use strata_store::{EntryKey, Word};

    use super::*;

    #[test]
    fn received_runs_are_merged_only_if_one_run_may_hold_them() {
        let mut pending = PendingExits::default();
        let mut bytes = 0;
        for local in 0..MAX_RECEIVED as u32 {
            let mut run = MemoryRun::default();
            run.push(EntryKey::default(), None, &[Word(local)]);
            bytes += run.capacity_bytes();
            assert!(pending.take_full_level(0, usize::MAX).is_none());
            pending.add_received(0, run);
        }
        assert!(pending.take_full_level(0, bytes - 1).is_none());
        assert_eq!(pending.take_full_level(0, bytes).map(|runs| runs.len()), Some(MAX_RECEIVED));
    }
}
