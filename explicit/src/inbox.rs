//! Where exits wait for the next pass, and how they get there.
//!
//! An inbox always takes what it is sent: what exceeds its memory share is written to a sorted
//! run on disk, so that no sender ever waits for a receiver.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use strata_space::Local;
use strata_store::{BlockEncoder, EncodeOptions, EntryKey, Fs, KeyRange, Layer, LayerWriter};

use crate::Result;
use crate::image::{self, Bounds, run_header, write_run};
use crate::kernel::Batches;
use crate::run::{MemoryRun, Run, RunCursor};

/// Spilled runs that are merged into one when there are as many.
const MOST_FILES: usize = 16;

/// Images that are merged into one when there are as many: each costs every task a cursor.
const MOST_IMAGES: usize = 16;

/// Carries exits to the worker that owns the region they lead to. Sets are idempotent: what is
/// delivered twice changes nothing.
pub trait Exchange: Send + Sync {
    /// Delivers a sorted run of exits of layer `depth` to a worker's inbox. The memory may be
    /// reused afterwards.
    ///
    /// It may wait for the receiver to take the run in, but never for the receiver's own progress
    /// in its pass: two workers that waited for each other would do so for ever.
    ///
    /// # Errors
    /// If the run cannot be delivered, or has to be spilled and that fails.
    fn send(&self, to: usize, depth: u32, run: MemoryRun) -> Result<()>;

    /// Returns when everything that worker `from` has sent of layer `depth` is in the inboxes of
    /// those it was sent to. Like [`Self::send`], it waits for nobody's progress.
    ///
    /// # Errors
    /// If something could not be delivered.
    fn flush(&self, from: usize, depth: u32) -> Result<()>;

    /// An empty run whose memory is reused.
    fn recycled_run(&self, from: usize) -> MemoryRun;
}

/// The exchange within one process: straight into the other worker's inbox.
#[derive(Debug)]
pub struct LocalExchange {
    inboxes: Vec<Arc<Inbox>>,
}

impl LocalExchange {
    /// An exchange between workers, by number.
    pub fn new(inboxes: Vec<Arc<Inbox>>) -> LocalExchange {
        LocalExchange { inboxes }
    }
}

impl Exchange for LocalExchange {
    fn send(&self, to: usize, depth: u32, run: MemoryRun) -> Result<()> {
        self.inboxes[to].accept(depth, run)
    }

    fn flush(&self, _: usize, _: u32) -> Result<()> {
        // What has been sent has been accepted.
        Ok(())
    }

    fn recycled_run(&self, from: usize) -> MemoryRun {
        self.inboxes[from].recycled_run()
    }
}

/// Settings of an [`Inbox`].
#[derive(Clone, Debug)]
pub struct InboxOptions {
    /// Bytes that runs in memory may take.
    pub memory: usize,
    /// Job id, for the headers of spilled runs.
    pub job: String,
    /// Folder of spilled runs.
    pub folder: PathBuf,
    /// Prefix of their names.
    pub prefix: String,
    /// How many runs' memory is kept for reuse: one a task.
    pub recycled_runs: usize,
    /// Compression of spilled runs.
    pub encode: EncodeOptions,
}

/// The exits that wait for one worker's next pass, and those of the layer that this pass makes:
/// another worker may be one pass ahead.
#[derive(Debug)]
pub struct Inbox {
    fs: Arc<dyn Fs>,
    options: InboxOptions,
    /// By parity of the layer's depth.
    waiting: [Mutex<Waiting>; 2],
    /// Memory of runs that have been read.
    spare: Mutex<Vec<MemoryRun>>,
    spilling: Mutex<BlockEncoder>,
    next_file: AtomicU64,
    spilled_bytes: AtomicU64,
    files_bytes: AtomicU64,
}

#[derive(Debug, Default)]
struct Waiting {
    memory: Vec<MemoryRun>,
    /// By how often they have been merged, so that none is merged again and again.
    images: Vec<Vec<Arc<Layer>>>,
    /// Of runs in memory and images, also while they are being merged.
    bytes: usize,
    files: Vec<Arc<Layer>>,
}

impl Waiting {
    /// Takes out all that is in memory.
    fn in_memory(&mut self) -> Vec<Run> {
        let memory = std::mem::take(&mut self.memory).into_iter();
        let images = std::mem::take(&mut self.images).into_iter().flatten();
        memory.map(|run| Run::Memory(Arc::new(run))).chain(images.map(Run::Image)).collect()
    }

    fn add_image(&mut self, level: usize, image: Layer) {
        if self.images.len() <= level {
            self.images.resize_with(level + 1, Vec::new);
        }
        self.images[level].push(Arc::new(image));
    }

    /// Takes out the images that have been merged `level` times, if there are as many as may be.
    fn full_level(&mut self, level: usize) -> Option<Vec<Run>> {
        let images = self.images.get_mut(level)?;
        (images.len() >= MOST_IMAGES).then(|| images.drain(..).map(Run::Image).collect())
    }
}

/// Bytes that a run counts for in its inbox.
fn held(run: &Run) -> usize {
    match run {
        Run::Memory(run) => run.capacity_bytes(),
        Run::Image(image) => image.file_bytes() as usize,
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
    pub fn new(fs: Arc<dyn Fs>, options: InboxOptions) -> Result<Inbox> {
        Ok(Inbox {
            fs,
            spilling: Mutex::new(BlockEncoder::new(options.encode)?),
            options,
            waiting: Default::default(),
            spare: Mutex::default(),
            next_file: AtomicU64::new(0),
            spilled_bytes: AtomicU64::new(0),
            files_bytes: AtomicU64::new(0),
        })
    }

    fn waiting(&self, depth: u32) -> MutexGuard<'_, Waiting> {
        lock(&self.waiting[(depth & 1) as usize])
    }

    /// Takes a sorted run of exits of layer `depth`.
    ///
    /// # Errors
    /// If it has to be spilled and that fails.
    pub fn accept(&self, depth: u32, run: MemoryRun) -> Result<()> {
        let mut waiting = self.waiting(depth);
        if run.is_empty() {
            self.recycle_memory(run);
            return Ok(());
        }
        if waiting.bytes + run.capacity_bytes() <= self.options.memory {
            waiting.bytes += run.capacity_bytes();
            waiting.memory.push(run);
            return Ok(());
        }
        self.spill(depth, waiting, Run::Memory(Arc::new(run)))
    }

    /// Takes a run of exits of layer `depth` that came as an image, after a look at all of it.
    ///
    /// # Errors
    /// `Corrupt` if it is damaged, not such a run or not within bounds: nothing of it is taken
    /// then. `Io` if it has to be spilled and that fails.
    pub fn accept_image(&self, depth: u32, image: Layer, bounds: &Bounds<'_>) -> Result<()> {
        image::check(&image, &run_header(&self.options.job, depth), bounds)?;
        if image.totals().regions == 0 {
            return Ok(());
        }
        let bytes = image.file_bytes() as usize;
        let mut waiting = self.waiting(depth);
        if waiting.bytes + bytes > self.options.memory {
            return self.spill(depth, waiting, Run::Image(Arc::new(image)));
        }
        waiting.bytes += bytes;
        waiting.add_image(0, image);
        let mut level = 0;
        while let Some(images) = waiting.full_level(level) {
            drop(waiting);
            let freed: usize = images.iter().map(held).sum();
            if freed > self.options.memory / 2 {
                // For a moment they need as much again, and soon they would have to go anyway.
                return self.write_out(depth, images, freed);
            }
            let writer = LayerWriter::memory(run_header(&self.options.job, depth))?;
            let merged = self.merge(writer, &images)?;
            waiting = self.waiting(depth);
            waiting.bytes = waiting.bytes.saturating_sub(freed) + merged.file_bytes() as usize;
            level += 1;
            waiting.add_image(level, merged);
        }
        Ok(())
    }

    /// Writes out what is in memory, and a run for which there is no room. All of it goes at once:
    /// few large runs are cheaper to write and to merge than many small ones.
    fn spill(&self, depth: u32, mut waiting: MutexGuard<'_, Waiting>, last: Run) -> Result<()> {
        let mut runs = waiting.in_memory();
        drop(waiting);
        // What others are about to write out is theirs to count.
        let freed = runs.iter().map(held).sum();
        runs.push(last);
        self.write_out(depth, runs, freed)
    }

    /// Writes out runs that were taken from those in memory, where they count `freed` bytes.
    fn write_out(&self, depth: u32, runs: Vec<Run>, freed: usize) -> Result<()> {
        let file = self.merge_to_file(depth, &runs)?;
        self.recycle(runs)?;
        let mut waiting = self.waiting(depth);
        waiting.bytes = waiting.bytes.saturating_sub(freed);
        waiting.files.push(Arc::new(file));
        if waiting.files.len() >= MOST_FILES {
            let files = std::mem::take(&mut waiting.files);
            drop(waiting);
            let runs: Vec<Run> = files.into_iter().map(Run::File).collect();
            let merged = self.merge_to_file(depth, &runs)?;
            self.recycle(runs)?;
            self.waiting(depth).files.push(Arc::new(merged));
        }
        Ok(())
    }

    /// All exits of layer `depth` that have been accepted.
    pub fn take(&self, depth: u32) -> Vec<Run> {
        let mut waiting = std::mem::take(&mut *self.waiting(depth));
        let mut runs = waiting.in_memory();
        runs.extend(waiting.files.into_iter().map(Run::File));
        runs
    }

    /// Takes runs back that have been read: their memory is reused, or freed; their files are
    /// removed.
    ///
    /// # Errors
    /// If a file cannot be removed.
    pub fn recycle(&self, runs: Vec<Run>) -> Result<()> {
        for run in runs {
            match run {
                Run::Memory(run) => {
                    if let Ok(run) = Arc::try_unwrap(run) {
                        self.recycle_memory(run);
                    }
                }
                Run::Image(_) => {}
                Run::File(file) => self.remove(file)?,
            }
        }
        Ok(())
    }

    /// An empty run whose memory is reused.
    pub fn recycled_run(&self) -> MemoryRun {
        lock(&self.spare).pop().unwrap_or_default()
    }

    fn recycle_memory(&self, mut run: MemoryRun) {
        let mut spare = lock(&self.spare);
        if spare.len() < self.options.recycled_runs {
            run.clear();
            spare.push(run);
        }
    }

    /// Bytes ever written to spilled runs.
    pub fn spilled_bytes(&self) -> u64 {
        self.spilled_bytes.load(Ordering::Relaxed)
    }

    /// Bytes of spilled runs on disk now.
    pub fn file_bytes(&self) -> u64 {
        self.files_bytes.load(Ordering::Relaxed)
    }

    fn remove(&self, file: Arc<Layer>) -> Result<()> {
        self.files_bytes.fetch_sub(file.file_bytes(), Ordering::Relaxed);
        Arc::try_unwrap(file).map_or(Ok(()), Layer::remove)
    }

    fn merge_to_file(&self, depth: u32, runs: &[Run]) -> Result<Layer> {
        let number = self.next_file.fetch_add(1, Ordering::Relaxed);
        let path = self.options.folder.join(format!("{}-{number:06}.tmp", self.options.prefix));
        let header = run_header(&self.options.job, depth);
        let file = self.merge(LayerWriter::file(self.fs.clone(), &path, header)?, runs)?;
        self.spilled_bytes.fetch_add(file.file_bytes(), Ordering::Relaxed);
        self.files_bytes.fetch_add(file.file_bytes(), Ordering::Relaxed);
        Ok(file)
    }

    /// Writes several runs as one.
    fn merge(&self, writer: LayerWriter, runs: &[Run]) -> Result<Layer> {
        let mut merged = Merge::new(runs, KeyRange::ALL)?;
        write_run(writer, &mut lock(&self.spilling), |encoder, writer| {
            let (mut batches, mut locals) = (Batches::default(), Vec::<Local>::new());
            while let Some(key) = merged.key() {
                batches.clear();
                merged.take(key, &mut batches)?;
                locals.clear();
                locals.extend_from_slice(batches.locals());
                locals.sort_unstable();
                locals.dedup();
                encoder.push(writer, key, &locals)?;
            }
            Ok(())
        })
    }
}

/// Reads a range of keys of several runs as one.
pub(crate) struct Merge {
    /// Each with its key.
    runs: Vec<(Option<EntryKey>, RunCursor)>,
    least: Option<EntryKey>,
}

impl Merge {
    pub(crate) fn new(runs: &[Run], range: KeyRange) -> Result<Merge> {
        let cursor = |run| RunCursor::new(run, range).map(|cursor| (cursor.key(), cursor));
        let runs: Vec<_> = runs.iter().map(cursor).collect::<Result<_>>()?;
        let mut merge = Merge { runs, least: None };
        merge.compare();
        Ok(merge)
    }

    #[inline]
    fn compare(&mut self) {
        self.least = self.runs.iter().filter_map(|(key, _)| *key).min();
    }

    /// The least key that is left.
    #[inline]
    pub(crate) fn key(&self) -> Option<EntryKey> {
        self.least
    }

    /// Appends the batches of the region `key` from all runs.
    #[inline]
    pub(crate) fn take(&mut self, key: EntryKey, out: &mut Batches) -> Result<()> {
        if self.least != Some(key) {
            return Ok(());
        }
        for (at, run) in &mut self.runs {
            if *at == Some(key) {
                run.take(key, out)?;
                *at = run.key();
            }
        }
        self.compare();
        Ok(())
    }
}
