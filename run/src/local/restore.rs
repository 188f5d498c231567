//! Restoring of a checkpoint, with any number of workers.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use strata_engine::explicit::{DiscardExits, check_width};
use strata_space::LayerStats;
use strata_store::{
    BlockEncoder, CheckpointFile, EngineKind, EntryKey, JobDir, KeyRange, Layer, LayerCursor,
    StoreError,
};

use super::error::Result;
use super::older::OlderLayers;
use super::worker::{Worker, check_encoding, counted, emit, empty};
use crate::plan::report::LayerReport;
use crate::plan::sums::totals_of;

/// A checkpoint to resume from, as one worker needs it.
#[derive(Clone, Debug)]
pub struct Restore {
    /// Depth of the checkpoint's last layer.
    pub depth: u32,
    /// The checkpoint's files, of all workers. The worker's folder must hold its own files, and those with
    /// states of the former owners of its shards.
    pub records: Vec<CheckpointFile>,
    /// Owner of each shard when the files were written, by shard.
    pub owners_before: Arc<[u16]>,
    /// Names of the files that the history keeps in the worker's folder. They stay, independent of the
    /// options of this session.
    pub kept: HashSet<String>,
    /// Names of files that other workers wrote and this worker manages: it counts them and, unless
    /// they are kept, removes them after the next checkpoint. They are files of workers that no
    /// longer exist, and copies made for this worker because it owns their shards now. If workers share
    /// a folder, at most one of them may list a file.
    pub inherited_files: HashSet<String>,
}

impl Restore {
    /// Checks that the checkpoint has as many shards as `owners`.
    ///
    /// # Errors
    /// `Inconsistent` if the numbers of shards differ.
    pub(super) fn check_shards(&self, owners: &[u16], folder: &JobDir) -> Result<()> {
        let (now, before) = (owners.len(), self.owners_before.len());
        if now == before {
            return Ok(());
        }
        let what = format!("{now} shards in files of {before}");
        Err(StoreError::Inconsistent { file: folder.path().to_owned(), what }.into())
    }

    /// Whether a worker's files hold exactly the shards that `owners` give it. False for a worker
    /// without shards, which needs no files.
    pub(super) fn has_shards_of(&self, worker: usize, owners: &[u16]) -> bool {
        let own = |owner: &u16| usize::from(*owner) == worker;
        let mut pairs = owners.iter().zip(&*self.owners_before);
        owners.iter().any(own) && pairs.all(|(now, before)| own(now) == own(before))
    }

    /// The file that a worker wrote of a layer.
    ///
    /// # Errors
    /// `NotFound` if the checkpoint has none.
    pub(super) fn record(
        &self,
        depth: u32,
        worker: usize,
        folder: &JobDir,
    ) -> Result<&CheckpointFile> {
        let of_layer = &mut self.records.iter().filter(|record| record.depth == depth);
        let record = of_layer.find(|record| record.worker as usize == worker);
        let missing = || StoreError::NotFound { path: folder.layer_path(depth, worker as u32) };
        Ok(record.ok_or_else(missing)?)
    }

    /// The files that a worker counts and removes: its own and the inherited ones.
    pub(super) fn managed_by(&self, worker: usize) -> impl Iterator<Item = &CheckpointFile> {
        self.records.iter().filter(move |record| {
            record.worker as usize == worker || self.inherited_files.contains(&record.file)
        })
    }
}

impl Worker {
    /// Loads this worker's shards of a checkpoint's two layers and sends the exits of the last one.
    ///
    /// A worker that owned the same shards when the files were written uses its own files without
    /// copies. Otherwise it copies its shards from the files of their former owners. Its own files
    /// then stay unread until the next checkpoint.
    ///
    /// # Errors
    /// `Corrupt` if a file is damaged or differs from its record; `NotFound` if a file is missing;
    /// `Inconsistent` if the checkpoint has another number of shards.
    pub fn restore(&mut self, from: &Restore) -> Result<LayerReport> {
        let (own, owners) = (self.setup.worker, &self.setup.owners);
        from.check_shards(owners, &self.setup.folder)?;
        let depths = from.depth.saturating_sub(1)..=from.depth;
        let uses_own_files = from.has_shards_of(own, owners);
        let load = |depth| {
            if uses_own_files { self.open(from, depth, own) } else { self.copy_layer(from, depth) }
        };
        let mut layers = depths.map(load).collect::<Result<Vec<Layer>>>()?;
        self.older = OlderLayers::new(self.load_older(from, uses_own_files)?);

        self.files.resume(from.depth, &from.kept);
        if uses_own_files {
            self.files.pin(&self.older.files().iter().chain(&layers).collect::<Vec<_>>());
        } else {
            self.files.start_copies()?;
        }
        for record in from.managed_by(own) {
            self.files.inherit(&record.file, record.bytes)?;
        }
        // Depth 0 has no layer before it.
        self.current = layers.pop().map_or_else(|| empty(&self.setup, from.depth), Ok)?;
        self.previous = layers.pop();
        self.resend()
    }

    /// Opens a worker's file of a layer and reads all of it.
    fn open(&self, from: &Restore, depth: u32, worker: usize) -> Result<Layer> {
        self.open_record(from.record(depth, worker, &self.setup.folder)?)
    }

    fn open_record(&self, record: &CheckpointFile) -> Result<Layer> {
        let path = self.setup.folder.file_path(&record.file)?;
        let expect = record.expect(self.setup.folder.job(), EngineKind::Explicit);
        let layer = Layer::open(self.setup.folder.fs().clone(), &path, &expect)?;
        check_encoding(&layer)?;
        check_width(&layer, self.setup.width)?;
        layer.verify(&mut |_, _| {})?;
        Ok(layer)
    }

    /// The files of older layers: this worker's own, or a copy of its shards.
    fn load_older(&mut self, from: &Restore, uses_own_files: bool) -> Result<Vec<Layer>> {
        if uses_own_files {
            return self.open_older(from, self.setup.worker);
        }
        let pieces = self.pieces(&from.owners_before);
        let mut files = BTreeMap::new();
        for Piece { worker, .. } in &pieces {
            if !files.contains_key(worker) {
                files.insert(*worker, self.open_older(from, *worker)?);
            }
        }
        let headers = files.values().flatten().map(Layer::header);
        let Some(depth) = headers.map(|header| header.depth).max() else { return Ok(Vec::new()) };
        let writer = self.older_writer(depth, u64::MAX)?;
        let mut parts = Vec::new();
        if let Some(task) = self.tasks.first_mut() {
            for Piece { worker, from, to } in pieces {
                let range = KeyRange::between(from, to);
                parts.push(task.merge(&files[&worker], &writer, range)?);
            }
        }
        let totals = counted(&parts);
        Ok(vec![writer.seal(parts, totals)?])
    }

    /// Opens a worker's files of older layers with states, the oldest first, and reads all of them.
    fn open_older(&self, from: &Restore, worker: usize) -> Result<Vec<Layer>> {
        let of_worker = |record: &&CheckpointFile| {
            record.is_older() && record.worker as usize == worker && record.states > 0
        };
        let mut records: Vec<&CheckpointFile> = from.records.iter().filter(of_worker).collect();
        records.sort_unstable_by_key(|record| record.depth);
        records.into_iter().map(|record| self.open_record(record)).collect()
    }

    /// A new layer with this worker's shards, copied from the files of their former owners.
    fn copy_layer(&mut self, from: &Restore, depth: u32) -> Result<Layer> {
        let pieces = self.pieces(&from.owners_before);
        let has_states = |worker: &usize| {
            let of_worker = |record: &&CheckpointFile| record.worker as usize == *worker;
            let mut files = from.records.iter().filter(of_worker);
            // A worker without a record is an error, which opening its file reports.
            files.find(|record| record.depth == depth).is_none_or(|record| record.states > 0)
        };
        let former: BTreeSet<usize> =
            pieces.iter().map(|piece| piece.worker).filter(has_states).collect();
        let mut files = BTreeMap::new();
        for worker in former {
            let file = self.open(from, depth, worker)?;
            // There may be as many files as workers.
            file.close();
            files.insert(worker, file);
        }
        if files.is_empty() {
            return Ok(empty(&self.setup, depth)?);
        }
        let mut kernel = self.engine.kernel(self.setup.budget.kernel());
        let mut encoder = BlockEncoder::new(self.setup.encode)?;
        let mut cursor = LayerCursor::new()?;
        let mut stats = LayerStats::default();
        let writer = self.files.writer(self.header(depth))?;
        for Piece { worker, from, to } in pieces {
            let Some(file) = files.get(&worker) else { continue };
            check_width(file, self.setup.width)?;
            cursor.start(file, KeyRange::between(from, to))?;
            while let Some(key) = cursor.key() {
                kernel.emit(key, cursor.locals()?, &mut stats, &mut DiscardExits)?;
                encoder.push_list(&writer, key, cursor.list())?;
                cursor.advance()?;
            }
        }
        let part = encoder.finish(&writer)?;
        Ok(writer.seal(vec![part], totals_of(&stats))?)
    }

    /// This worker's shards in order; consecutive shards of one former owner form one group.
    fn pieces(&self, owners_before: &[u16]) -> Vec<Piece> {
        let mut pieces: Vec<Piece> = Vec::new();
        for (shard, (now, before)) in (0..).zip(self.setup.owners.iter().zip(owners_before)) {
            if usize::from(*now) != self.setup.worker {
                continue;
            }
            let worker = usize::from(*before);
            let (start, end) = (EntryKey::start(shard), EntryKey::start(shard + 1));
            match pieces.last_mut() {
                Some(last) if last.worker == worker && last.to == start => last.to = end,
                _ => pieces.push(Piece { worker, from: start, to: end }),
            }
        }
        pieces
    }

    /// Sends the exits of the last layer, and compares the layer's counts with its recorded totals.
    fn resend(&mut self) -> Result<LayerReport> {
        let stats = emit(&mut self.tasks, &self.threads, &self.current)?;
        let (counted, recorded) = (totals_of(&stats), *self.current.totals());
        if counted != recorded {
            return Err(StoreError::Corrupt {
                file: self.current.path().unwrap_or_default(),
                offset: 0,
                expected: format!("{recorded:?}"),
                found: format!("{counted:?}"),
            }
            .into());
        }
        self.exchange.flush(self.setup.worker, self.depth())?;
        Ok(self.report(&stats))
    }
}

/// Shards whose states are in one file.
struct Piece {
    /// Worker that wrote the file.
    worker: usize,
    /// First key of the first shard.
    from: EntryKey,
    /// First key after the last shard.
    to: EntryKey,
}
