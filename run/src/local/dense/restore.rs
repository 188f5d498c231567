//! Restoring of a dense checkpoint, with any number of workers.

use std::collections::BTreeSet;
use std::sync::Arc;

use strata_engine::dense::{Counter, Search};
use strata_space::LayerStats;
use strata_store::{DenseEncoder, DenseReader, KeptFile, Layer};

use super::layers::{Readers, ranges};
use super::worker::{DenseWorker, Engine, Slot, files_of, options, owned_by};
use crate::local::error::{Result, WorkerError};
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
        self.files.resume(from.depth, &from.kept);
        if uses_own_files {
            self.files.pin(&files_of(&self.previous, &self.current));
        } else {
            self.files.start_copies()?;
        }
        for record in from.managed_by(own) {
            self.files.inherit(&record.file, record.bytes)?;
        }
        if !self.is_undirected() {
            self.earlier = self.open_earlier(from)?;
        }
        self.current.stats = self.load()?;
        Ok(())
    }

    /// Opens this worker's file of a checkpoint's layer.
    fn open_own(&self, from: &Restore, depth: u32) -> Result<Slot> {
        let record = from.record(depth, self.setup.worker, &self.setup.folder)?;
        let layer = self.open(&record.file, &record.expect(self.setup.folder.job()))?;
        Ok(Slot { depth, stats: stats_of(&record.totals()), layer: Some(layer) })
    }

    /// A new file with this worker's blocks of a layer, copied from the files of former owners.
    fn copy_layer(&mut self, from: &Restore, depth: u32) -> Result<Slot> {
        let own = owned_by(self.setup.worker);
        let owners = self.setup.owners.iter().zip(&*from.owners_before);
        let former: BTreeSet<u16> =
            owners.filter(|(now, _)| own(now)).map(|(_, before)| *before).collect();
        let mut files = Vec::new();
        for worker in former {
            let record = from.record(depth, usize::from(worker), &self.setup.folder)?;
            if record.states > 0 {
                files.push(self.open(&record.file, &record.expect(self.setup.folder.job()))?);
            }
        }
        let states = files.iter().map(|layer| layer.totals().states).sum();
        let writer = self.writer(depth, states)?;
        let readers = Readers::new(self.numbering, files.iter())?;
        let counter = Counter::new(&*self.space, self.setup.digest);
        let mut encoder = DenseEncoder::new(self.numbering);
        let mut stats = LayerStats::default();
        let mut words = Vec::new();
        let rows = self.numbering.rows;
        for blocks in self.blocks.iter().flat_map(|blocks| ranges(blocks.clone(), rows)) {
            words.resize(blocks.len() * rows as usize, 0);
            readers.read(blocks.start, &mut words)?;
            stats.add(&counter.count(blocks.start, &words));
            encoder.push(&writer, blocks.start, &words)?;
        }
        let layer = writer.seal(vec![encoder.finish()], totals_of(&stats))?;
        Ok(Slot { depth, stats, layer: Some(layer) })
    }

    /// Opens the files of all layers before the checkpoint's two.
    fn open_earlier(&self, from: &Restore) -> Result<Vec<Layer>> {
        let needed = || from.kept_layers.iter().filter(|(depth, _)| depth + 1 < from.depth);
        let depths: BTreeSet<u32> = needed().map(|(depth, _)| *depth).collect();
        let expected = 0..from.depth.saturating_sub(1);
        if let Some(lost) = expected.clone().find(|depth| !depths.contains(depth)) {
            return Err(self.missing(lost));
        }
        let open = |(depth, kept): &(u32, KeptFile)| {
            let layer = self.open(&kept.file, &kept.expect(self.setup.folder.job(), *depth))?;
            // There are as many files as layers.
            layer.close();
            Ok(layer)
        };
        needed().map(open).collect()
    }

    /// Reads all layers that the search needs in full; a search in memory loads them into its planes.
    /// Returns the figures of the current layer, counted from its states.
    fn load(&mut self) -> Result<LayerStats> {
        let mut layers = files_of(&self.previous, &self.current);
        layers.extend(&self.earlier);
        if let Engine::Share(search) = &mut self.search {
            search.resume(self.current.depth);
        }
        let Engine::Memory(search) = &mut self.search else {
            let counter = Counter::new(&*self.space, self.setup.digest);
            let (mut stats, rows) = (LayerStats::default(), self.numbering.rows as usize);
            for layer in layers {
                let depth = layer.header().depth;
                DenseReader::new(layer, self.numbering)?.visit(|first, words| {
                    if depth == self.current.depth {
                        stats.add(&counter.count(first, words));
                    }
                    let Engine::Share(search) = &mut self.search else { return Ok(()) };
                    if depth + 1 >= self.current.depth {
                        search.add(depth, first, words)?;
                        return Ok(());
                    }
                    // The earlier layers of a directed search are those of all workers.
                    let end = first + (words.len() / rows) as u32;
                    for own in &self.blocks {
                        let common = own.start.max(first)..own.end.min(end);
                        let at = |block: u32| (block - first) as usize * rows;
                        if !common.is_empty() {
                            let words = &words[at(common.start)..at(common.end)];
                            search.add(depth, common.start, words)?;
                        }
                    }
                    Ok::<(), WorkerError>(())
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
