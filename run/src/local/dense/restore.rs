//! Restoring of a dense checkpoint, with any number of workers.

use std::collections::BTreeSet;
use std::sync::Arc;

use strata_engine::dense::{Counter, Search};
use strata_space::LayerStats;
use strata_store::{CheckpointFile, DenseReader, Layer};

use super::layers::{Readers, write_words};
use super::worker::{DenseWorker, Engine, Slot, options, owned_by, searched};
use crate::local::error::{Result, WorkerError};
use crate::local::older::OlderLayers;
use crate::local::restore::Restore;
use crate::plan::sums::{stats_of, totals_of};

impl DenseWorker {
    /// Loads this worker's blocks of a checkpoint's two layers. A worker that owned the same blocks
    /// when the files were written uses its own files; otherwise it copies its blocks from the files
    /// of their former owners.
    pub(super) fn load_checkpoint(&mut self, from: &Restore) -> Result<()> {
        let (own, owners) = (self.setup.worker, &self.setup.owners);
        from.check_shards(owners, &self.setup.folder)?;
        let uses_own_files = from.has_shards_of(own, owners);
        let depths = from.depth.saturating_sub(1)..=from.depth;
        let mut slots = Vec::with_capacity(2);
        for depth in depths {
            slots.push(if uses_own_files {
                self.open_own(from, depth)?
            } else {
                self.copy_layer(from, depth)?
            });
        }
        self.current = slots.pop().ok_or_else(|| self.missing(from.depth))?;
        self.previous = slots.pop();
        self.older = OlderLayers::new(self.load_older(from, uses_own_files)?);
        self.older_states = self.older.states();
        self.files.resume(from.depth, &from.kept);
        if uses_own_files {
            self.files.pin(&searched(&self.older, &self.previous, &self.current));
        } else {
            self.files.start_copies()?;
        }
        for record in from.managed_by(own) {
            self.files.inherit(&record.file, record.bytes)?;
        }
        self.current.stats = self.load()?;
        Ok(())
    }

    /// Opens this worker's file of a checkpoint's layer.
    fn open_own(&self, from: &Restore, depth: u32) -> Result<Slot> {
        let record = from.record(depth, self.setup.worker, &self.setup.folder)?;
        let layer = self.open(record)?;
        Ok(Slot { depth, stats: stats_of(&record.totals()), layer: Some(layer) })
    }

    /// A new file with this worker's blocks of a layer, copied from the files of former owners.
    fn copy_layer(&mut self, from: &Restore, depth: u32) -> Result<Slot> {
        let mut files = Vec::new();
        for worker in self.former_owners(from) {
            let record = from.record(depth, usize::from(worker), &self.setup.folder)?;
            if record.states > 0 {
                files.push(self.open(record)?);
            }
        }
        let states = files.iter().map(|layer| layer.totals().states).sum();
        let writer = self.writer(depth, states)?;
        let readers = Readers::new(self.numbering, files.iter())?;
        let counter = Counter::new(&*self.space, self.setup.digest);
        let mut stats = LayerStats::default();
        let part = write_words(self.numbering, &writer, &self.blocks, |first, words| {
            readers.read(first, words)?;
            stats.add(&counter.count(first, words));
            Ok::<_, WorkerError>(())
        })?;
        let layer = writer.seal(vec![part], totals_of(&stats))?;
        Ok(Slot { depth, stats, layer: Some(layer) })
    }

    /// The workers that had blocks of this worker when the files were written.
    fn former_owners(&self, from: &Restore) -> BTreeSet<u16> {
        let own = owned_by(self.setup.worker);
        let owners = self.setup.owners.iter().zip(&*from.owners_before);
        owners.filter(|(now, _)| own(now)).map(|(_, before)| *before).collect()
    }

    /// The files of older layers: this worker's own, or a copy of its blocks.
    fn load_older(&self, from: &Restore, uses_own_files: bool) -> Result<Vec<Layer>> {
        let writers = match uses_own_files {
            true => [self.setup.worker as u16].into(),
            false => self.former_owners(from),
        };
        let is_read = |record: &&CheckpointFile| {
            let is_of_writer = writers.iter().any(|writer| u32::from(*writer) == record.worker);
            record.is_older() && record.states > 0 && is_of_writer
        };
        let mut records: Vec<&CheckpointFile> = from.records.iter().filter(is_read).collect();
        records.sort_unstable_by_key(|record| record.depth);
        let opened = |record| {
            let file = self.open(record)?;
            if !uses_own_files {
                // There may be many files of former owners.
                file.close();
            }
            Ok(file)
        };
        let files = records.into_iter().map(opened).collect::<Result<Vec<Layer>>>()?;
        match files.iter().map(|file| file.header().depth).max() {
            Some(depth) if !uses_own_files => Ok(vec![self.older_layer(depth, files.iter())?]),
            _ => Ok(files),
        }
    }

    /// Reads all layers that the search needs in full; a search in memory loads them into its planes.
    /// Returns the figures of the current layer, counted from its states.
    fn load(&mut self) -> Result<LayerStats> {
        let layers = searched(&self.older, &self.previous, &self.current);
        if let Engine::Share(search) = &mut self.search {
            search.resume(self.current.depth);
        }
        let Engine::Memory(search) = &mut self.search else {
            let counter = Counter::new(&*self.space, self.setup.digest);
            let mut stats = LayerStats::default();
            for layer in layers {
                let depth = layer.header().depth;
                DenseReader::new(layer, self.numbering)?.visit(|first, words| {
                    if depth == self.current.depth {
                        stats.add(&counter.count(first, words));
                    }
                    let Engine::Share(search) = &mut self.search else { return Ok(()) };
                    Ok::<(), WorkerError>(search.add(depth, first, words)?)
                })?;
            }
            return Ok(stats);
        };
        let load = |search: &mut Search| {
            for layer in layers {
                let depth = layer.header().depth;
                DenseReader::new(layer, self.numbering)?.visit(|first, words| {
                    Ok::<(), WorkerError>(search.add(depth, first, words)?)
                })?;
            }
            Ok::<(), WorkerError>(())
        };
        let (options, depth) = (options(&self.setup), self.current.depth);
        // Frees the planes of the previous search first.
        *search = None;
        let resumed = Search::resumed(Arc::clone(&self.space), &options, depth, load)?;
        Ok(search.insert(Box::new(resumed)).stats())
    }
}
