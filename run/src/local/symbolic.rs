//! Symbolic worker: the whole layer is one diagram in memory, and a checkpoint is one file.

use strata_engine::symbolic::{AnySearch, Layer, Options, SnapshotError, StepError};
use strata_space::Finish;
use strata_store::{
    CheckpointFile, Hex64, JobDir, SnapshotSeal, StoreError, check_diagram_snapshot, frontier_file,
    read_diagram_snapshot, write_diagram_snapshot,
};

use super::error::{Result, WorkerError};
use super::restore::Restore;
use super::work::Work;
use crate::catalogue::NestedForm;
use crate::plan::report::LayerReport;

/// The only worker of a symbolic job. It holds all states.
pub struct SymbolicWorker {
    number: u32,
    folder: JobDir,
    search: Box<dyn AnySearch>,
    /// The file of the last checkpoint.
    last: Option<CheckpointFile>,
    /// Files of older checkpoints, to be removed once the last one is durable.
    older: Vec<String>,
}

impl SymbolicWorker {
    /// The least memory budget of a symbolic job.
    pub const LEAST_MEMORY: u64 = 1 << 20;

    /// A worker that has made layer 0. Files are in `folder`, with the worker's number in the name.
    ///
    /// # Errors
    /// [`WorkerError::Symbolic`] if layer 0 does not fit the memory.
    pub fn new(
        number: usize,
        folder: JobDir,
        form: NestedForm,
        options: Options,
    ) -> Result<SymbolicWorker> {
        let search = form.open(options).map_err(failed(&folder))?;
        Ok(SymbolicWorker { number: number as u32, folder, search, last: None, older: Vec::new() })
    }

    /// The condition that ends the search.
    pub fn finish(&self) -> Finish<()> {
        self.search.finish()
    }

    fn report(&self, layer: &Layer) -> LayerReport {
        let disk_bytes = self.last.as_ref().map_or(0, |last| last.bytes);
        LayerReport {
            disk_peak: disk_bytes,
            disk_left: disk_bytes,
            ..LayerReport::of(layer.depth, &layer.stats)
        }
    }

    fn name(&self, depth: u32) -> String {
        frontier_file(depth, self.number)
    }
}

/// Adds the job's folder to the error of a step.
fn failed(folder: &JobDir) -> impl FnOnce(StepError) -> WorkerError + '_ {
    move |source| WorkerError::Symbolic { folder: folder.path().to_owned(), source }
}

/// Checks every byte of a checkpoint's file, without loading the diagram.
///
/// # Errors
/// If the file is missing or damaged.
pub(crate) fn check_diagram(folder: &JobDir, record: &CheckpointFile) -> Result<(), StoreError> {
    let path = folder.file_path(&record.file)?;
    check_diagram_snapshot(&**folder.fs(), &path, folder.job(), record.depth, seal_of(record))
}

fn seal_of(record: &CheckpointFile) -> SnapshotSeal {
    SnapshotSeal { bytes: record.bytes, seal: record.seal.0 }
}

/// Loads the diagram in a checkpoint's file into the search. The file is not decompressed if it declares a
/// size above the search's memory budget.
///
/// # Errors
/// [`WorkerError::Store`] if the file is missing or damaged, or is not a diagram of the space;
/// [`WorkerError::Symbolic`] if file or diagram do not fit the memory.
pub fn load_diagram(
    folder: &JobDir,
    record: &CheckpointFile,
    search: &mut dyn AnySearch,
) -> Result<(), WorkerError> {
    let path = folder.file_path(&record.file)?;
    let (fs, job, memory) = (&**folder.fs(), folder.job(), search.memory());
    let content =
        read_diagram_snapshot(fs, &path, job, record.depth, seal_of(record), memory as u64);
    let content = content.map_err(|error| match error {
        error if error.is_memory_full() => failed(folder)(StepError::Memory { budget: memory }),
        error => error.into(),
    })?;
    search.load(record.depth, &content).map_err(|error| match error {
        SnapshotError::Step(error) => failed(folder)(error),
        SnapshotError::Malformed { what, at } => {
            let expected = "a diagram of the space".to_owned();
            let (offset, found) = (at as u64, what.to_owned());
            StoreError::Corrupt { file: path, offset, expected, found }.into()
        }
    })
}

impl Work for SymbolicWorker {
    fn depth(&self) -> u32 {
        self.search.depth()
    }

    fn seed(&mut self) -> Result<LayerReport> {
        Ok(self.report(&self.search.layer()))
    }

    fn restore(&mut self, from: &Restore) -> Result<LayerReport> {
        let [record] = &*from.records else {
            let what = format!("{} files of one diagram", from.records.len());
            let file = self.folder.path().to_owned();
            return Err(StoreError::Inconsistent { file, what }.into());
        };
        load_diagram(&self.folder, record, &mut *self.search)?;
        self.last = Some(record.clone());
        Ok(self.report(&self.search.layer()))
    }

    fn advance(&mut self, _: &[CheckpointFile]) -> Result<LayerReport> {
        let layer = self.search.advance().map_err(failed(&self.folder))?;
        Ok(self.report(&layer))
    }

    fn save(&mut self) -> Result<Vec<CheckpointFile>> {
        let Layer { depth, stats, .. } = self.search.layer();
        // A new file of the restored layer may have other bytes. Overwriting the old file would damage the
        // checkpoint that names it until the next one is published.
        let own = |last: &&CheckpointFile| last.depth == depth && last.worker == self.number;
        if let Some(last) = self.last.as_ref().filter(own) {
            return Ok(vec![last.clone()]);
        }
        let file = self.name(depth);
        let (fs, job) = (&**self.folder.fs(), self.folder.job());
        let path = self.folder.file_path(&file)?;
        let content = self.search.snapshot();
        let SnapshotSeal { bytes, seal } = write_diagram_snapshot(fs, &path, job, depth, &content)?;
        let record = CheckpointFile {
            depth,
            worker: self.number,
            file,
            bytes,
            states: stats.states,
            positions: stats.positions,
            regions: stats.regions,
            generated: stats.generated,
            digest: stats.digest,
            seal: Hex64(seal),
        };
        let before = self.last.replace(record.clone());
        self.older.extend(before.map(|last| last.file).filter(|name| *name != record.file));
        Ok(vec![record])
    }

    fn saved(&mut self) -> Result<()> {
        Ok(self.older.drain(..).try_for_each(|name| self.folder.remove_file(&name))?)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::Arc;

    use strata_puzzles::panex::{Panex, PanexConfig};
    use strata_space::Weight;
    use strata_store::{FaultyFs, Fs};
    use tempfile::tempdir;

    use super::*;
    use crate::catalogue::Space;
    use crate::plan::driver::Retryable;
    use crate::plan::machine::StopReason;

    fn worker(folder: &JobDir) -> SymbolicWorker {
        let space = Space::new(Panex::new(PanexConfig::new(4)).unwrap()).unwrap();
        let options =
            Options { memory: 16 << 20, keep_layers: false, digests: true, verify: 0, threads: 1 };
        SymbolicWorker::new(0, folder.clone(), space.nested().unwrap(), options).unwrap()
    }

    #[test]
    fn a_diagram_is_read_within_the_memory_budget() {
        let (dir, fs) = (tempdir().unwrap(), FaultyFs::new());
        let folder = JobDir::attach(Arc::new(fs.clone()), dir.path(), "job").unwrap();
        let memory = SymbolicWorker::LEAST_MEMORY as usize;
        let space = Space::new(Panex::new(PanexConfig::new(3)).unwrap()).unwrap();
        let options = Options { memory, keep_layers: false, digests: true, verify: 0, threads: 1 };
        let mut search = space.nested().unwrap().open(options).unwrap();
        // Nothing makes it shorter.
        let mut word = 1_u64;
        let content = std::iter::repeat_with(|| {
            word ^= word << 13;
            word ^= word >> 7;
            word ^= word << 17;
            word as u8
        });
        let content: Vec<u8> = content.take(2 * memory).collect();
        let path = folder.file_path("diagram").unwrap();
        let sealed = write_diagram_snapshot(&fs, &path, "job", 7, &content).unwrap();
        let record = CheckpointFile {
            depth: 7,
            worker: 0,
            file: "diagram".to_owned(),
            bytes: sealed.bytes,
            states: 1,
            positions: 1,
            regions: 1,
            generated: 1,
            digest: Weight([0; 2]),
            seal: Hex64(sealed.seal),
        };
        // A read of the file would be an error of its own.
        fs.fail_reads_at("diagram", 0);
        let error = load_diagram(&folder, &record, &mut *search).unwrap_err();
        assert_eq!(error.exhausted(), Some(StopReason::MemoryFull), "{error}");
    }

    #[test]
    fn the_file_of_a_restored_diagram_is_not_written_again() {
        const DEPTH: u32 = 50;
        let (dir, fs) = (tempdir().unwrap(), FaultyFs::new());
        let folder = JobDir::attach(Arc::new(fs.clone()), dir.path(), "job").unwrap();
        let mut first = worker(&folder);
        (0..DEPTH).for_each(|_| drop(first.advance(&[]).unwrap()));
        let records = first.save().unwrap();
        let path = folder.file_path(&records[0].file).unwrap();
        let content = fs.read(&path).unwrap();

        let restore = Restore {
            depth: DEPTH,
            records: records.clone(),
            owners_before: Arc::new([0]),
            kept: HashSet::new(),
            inherited_files: HashSet::new(),
        };
        let mut second = worker(&folder);
        second.restore(&restore).unwrap();
        assert_eq!(second.save().unwrap(), records);
        assert_eq!(fs.read(&path).unwrap(), content);
        second.saved().unwrap();
        assert!(path.exists());

        // The file goes when the next checkpoint is published.
        second.advance(&[]).unwrap();
        assert_eq!(second.save().unwrap()[0].depth, DEPTH + 1);
        assert!(path.exists());
        second.saved().unwrap();
        assert!(!path.exists());
    }
}
