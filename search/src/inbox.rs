//! Where exits wait for the next pass, and how they get there.
//!
//! An inbox always takes what it is sent: what exceeds its memory share is written to a sorted
//! run on disk, so that no sender ever waits for a receiver.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use strata_space::Local;
use strata_store::{
    BlockEncoder, EncodeOptions, EntryKey, FileKind, Fs, Layer, LayerHeader, LayerTotals,
    LayerWriter,
};

use crate::Result;
use crate::run::{MemoryRun, Run, RunCursor};

/// Spilled runs that are merged into one when there are as many.
const MOST_FILES: usize = 16;

/// Carries exits to the worker that owns the region they lead to. Sets are idempotent: what is
/// delivered twice changes nothing.
pub trait Exchange: Send + Sync {
    /// Delivers a sorted run of exits of layer `depth` to a worker's inbox. The memory may be
    /// reused afterwards.
    ///
    /// # Errors
    /// If the run has to be spilled and that fails.
    fn send(&self, to: usize, depth: u32, run: MemoryRun) -> Result<()>;

    /// An empty run whose memory is reused.
    fn spare(&self, from: usize) -> MemoryRun;
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

    fn spare(&self, from: usize) -> MemoryRun {
        self.inboxes[from].spare()
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
    /// How many runs' memory is kept for reuse: one a lane.
    pub spares: usize,
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
    bytes: usize,
    files: Vec<Arc<Layer>>,
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
            self.keep_spare(run);
            return Ok(());
        }
        if waiting.bytes + run.capacity_bytes() <= self.options.memory {
            waiting.bytes += run.capacity_bytes();
            waiting.memory.push(run);
            return Ok(());
        }
        // All that is in memory goes at once: few large runs are cheaper to write and to merge
        // than many small ones.
        let mut spilled = std::mem::take(&mut waiting.memory);
        let freed = waiting.bytes;
        drop(waiting);
        spilled.push(run);
        let runs: Vec<Run> = spilled.into_iter().map(|run| Run::Memory(Arc::new(run))).collect();
        let file = self.merge(depth, &runs)?;
        self.recycle(runs)?;
        let mut waiting = self.waiting(depth);
        waiting.bytes = waiting.bytes.saturating_sub(freed);
        waiting.files.push(Arc::new(file));
        if waiting.files.len() >= MOST_FILES {
            let files = std::mem::take(&mut waiting.files);
            drop(waiting);
            let runs: Vec<Run> = files.into_iter().map(Run::File).collect();
            let merged = self.merge(depth, &runs)?;
            self.recycle(runs)?;
            self.waiting(depth).files.push(Arc::new(merged));
        }
        Ok(())
    }

    /// All exits of layer `depth` that have been accepted.
    pub fn take(&self, depth: u32) -> Vec<Run> {
        let Waiting { memory, files, .. } = std::mem::take(&mut *self.waiting(depth));
        let memory = memory.into_iter().map(|run| Run::Memory(Arc::new(run)));
        memory.chain(files.into_iter().map(Run::File)).collect()
    }

    /// Takes runs back that have been read: their memory is reused, their files are removed.
    ///
    /// # Errors
    /// If a file cannot be removed.
    pub fn recycle(&self, runs: Vec<Run>) -> Result<()> {
        for run in runs {
            match run {
                Run::Memory(run) => {
                    if let Ok(run) = Arc::try_unwrap(run) {
                        self.keep_spare(run);
                    }
                }
                Run::File(file) => self.remove(file)?,
            }
        }
        Ok(())
    }

    /// An empty run whose memory is reused.
    pub fn spare(&self) -> MemoryRun {
        lock(&self.spare).pop().unwrap_or_default()
    }

    fn keep_spare(&self, mut run: MemoryRun) {
        let mut spare = lock(&self.spare);
        if spare.len() < self.options.spares {
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

    fn write(
        &self,
        depth: u32,
        fill: impl FnOnce(&mut BlockEncoder, &LayerWriter) -> Result<()>,
    ) -> Result<Layer> {
        let number = self.next_file.fetch_add(1, Ordering::Relaxed);
        let path = self.options.folder.join(format!("{}-{number:06}.tmp", self.options.prefix));
        let job = self.options.job.clone();
        let header = LayerHeader { kind: FileKind::Run, job, depth, encoding: 0 };
        let writer = LayerWriter::file(self.fs.clone(), &path, header)?;
        let mut encoder = lock(&self.spilling);
        let filled = fill(&mut encoder, &writer).and_then(|()| encoder.finish(&writer));
        let part = filled.inspect_err(|_| encoder.discard())?;
        drop(encoder);
        let totals = LayerTotals {
            regions: part.blocks.iter().map(|block| u64::from(block.regions)).sum(),
            states: part.blocks.iter().map(|block| u64::from(block.states)).sum(),
            ..LayerTotals::default()
        };
        let file = writer.seal(vec![part], totals)?;
        self.spilled_bytes.fetch_add(file.file_bytes(), Ordering::Relaxed);
        self.files_bytes.fetch_add(file.file_bytes(), Ordering::Relaxed);
        Ok(file)
    }

    /// Writes several runs as one.
    fn merge(&self, depth: u32, runs: &[Run]) -> Result<Layer> {
        let mut merged = Merge::new(runs, None, None)?;
        self.write(depth, |encoder, writer| {
            let mut locals: Vec<Local> = Vec::new();
            while let Some(key) = merged.key() {
                locals.clear();
                merged.take(key, &mut locals)?;
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
    runs: Vec<RunCursor>,
}

impl Merge {
    pub(crate) fn new(runs: &[Run], from: Option<EntryKey>, to: Option<EntryKey>) -> Result<Merge> {
        let runs = runs.iter().map(|run| RunCursor::new(run, from, to)).collect::<Result<_>>()?;
        Ok(Merge { runs })
    }

    /// The least key that is left.
    #[inline]
    pub(crate) fn key(&self) -> Option<EntryKey> {
        self.runs.iter().filter_map(RunCursor::key).min()
    }

    /// Appends the locals of the region `key` from all runs.
    #[inline]
    pub(crate) fn take(&mut self, key: EntryKey, out: &mut Vec<Local>) -> Result<()> {
        for run in &mut self.runs {
            if run.key() == Some(key) {
                run.take(key, out)?;
            }
        }
        Ok(())
    }
}
