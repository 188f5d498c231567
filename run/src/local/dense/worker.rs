//! Dense worker: its search, its layer files and its checkpoints.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use strata_engine::dense::{Options, PartSearch, Search, ShareSearch};
use strata_space::LayerStats;
use strata_space::dense::DenseSpace;
use strata_store::{
    CheckpointFile, DENSE_ENCODING, DenseEncoder, DenseNumbering, DenseReader, EngineKind,
    FileKind, FilePart, JobDir, Layer, LayerHeader, LayerWriter, StoreError,
};

use super::blocks;
use super::layers::{StepLayers, numbering, write_words};
use super::sources::Sources;
use crate::keep_layers::KeepLayers;
use crate::local::error::{Result, WorkerError};
use crate::local::files::Files;
use crate::local::older::OlderLayers;
use crate::local::restore::Restore;
use crate::local::work::Work;
use crate::local::worker::bytes_on_disk;
use crate::plan::report::LayerReport;
use crate::plan::sums::totals_of;

/// Configuration of a worker of the dense engine.
#[derive(Clone, Debug)]
pub struct DenseSetup {
    /// Number of this worker. The numbers of all workers may have gaps.
    pub worker: usize,
    /// Owner of each shard, by shard. Shards are equal ranges of blocks.
    pub owners: Arc<[u16]>,
    /// Threads.
    pub threads: usize,
    /// Memory for tables and planes, in bytes.
    pub memory: u64,
    /// Whether layers have digests.
    pub digest: bool,
    /// Layers that stay on disk besides the last two.
    pub keep: KeepLayers,
    /// The job's folder.
    pub folder: JobDir,
}

/// A worker of a dense job, which makes its blocks of each layer.
///
/// The only worker of a job has the whole space in memory if it fits. It then writes layers only for
/// checkpoints and to keep them, and before it makes a layer to be kept, it writes the layer whose plane
/// this one overwrites. A worker among several has its share of the space in memory if that fits, and
/// reads of the others' files the blocks from which moves lead to its own; every layer is a file. In all other
/// cases every layer is a file, and one part of the space at a time is in memory.
pub struct DenseWorker {
    pub(super) setup: DenseSetup,
    pub(super) space: Arc<dyn DenseSpace>,
    pub(super) numbering: DenseNumbering,
    /// The blocks of this worker.
    pub(super) blocks: Vec<Range<u32>>,
    /// The other workers with moves from their blocks to those of this worker, and these blocks.
    sources: Sources,
    /// Excerpts of their files of the current layer, by worker.
    taken: BTreeMap<u32, Layer>,
    pub(super) search: Engine,
    pub(super) files: Files,
    pub(super) current: Slot,
    /// None at depth 0.
    pub(super) previous: Option<Slot>,
    /// Files of the layers before the last two, which a search with directed moves needs.
    pub(super) older: OlderLayers,
    /// Number of states of these layers. A search in memory need not have written all of them.
    pub(super) older_states: u64,
}

pub(super) enum Engine {
    /// The whole space in memory. None until a layer is seeded or restored.
    Memory(Option<Box<Search>>),
    /// This worker's blocks in memory, and of each layer the blocks that lead to them.
    Share(Box<ShareSearch>),
    Parts(Box<PartSearch>),
}

/// This worker's part of a layer.
pub(super) struct Slot {
    pub(super) depth: u32,
    pub(super) stats: LayerStats,
    /// The written layer; None while it is only in the planes of a search in memory.
    pub(super) layer: Option<Layer>,
}

/// The last two layers, as far as they are written.
pub(super) fn files_of<'a>(previous: &'a Option<Slot>, current: &'a Slot) -> Vec<&'a Layer> {
    previous.iter().chain([current]).filter_map(|slot| slot.layer.as_ref()).collect()
}

/// The layers of a checkpoint, as far as they are written.
pub(super) fn searched<'a>(
    older: &'a OlderLayers,
    previous: &'a Option<Slot>,
    current: &'a Slot,
) -> Vec<&'a Layer> {
    older.files().iter().chain(files_of(previous, current)).collect()
}

impl DenseWorker {
    /// A worker before layer 0.
    ///
    /// # Errors
    /// [`WorkerError::Dense`] if not even one block of the space fits the memory.
    pub fn new(setup: DenseSetup, space: Arc<dyn DenseSpace>) -> Result<DenseWorker> {
        let options = options(&setup);
        let (count, is_own) = (space.tables().shape().blocks, owned_by(setup.worker));
        let blocks = blocks::of_worker(&setup.owners, setup.worker, count);
        let numbering = numbering(&*space);
        let is_alone = setup.owners.iter().all(is_own);
        let (search, sources) = if is_alone {
            match Search::needed_bytes(&*space, &options)? <= setup.memory {
                true => (Engine::Memory(None), Sources::default()),
                false => (parts(&space, &options)?, Sources::default()),
            }
        } else {
            let sources = Sources::new(&*space, &numbering, &setup.owners, &blocks, setup.worker);
            let ranges = sources.ranges();
            match ShareSearch::needed_bytes(&*space, &options, (&blocks, &ranges))? <= setup.memory
            {
                true => {
                    let search = ShareSearch::new(&space, &options, blocks.clone(), ranges)?;
                    (Engine::Share(Box::new(search)), sources)
                }
                false => {
                    let search = PartSearch::new(&space, &options)?;
                    let leading = leading(&setup, &search, count);
                    (Engine::Parts(Box::new(search)), Sources::whole(leading))
                }
            }
        };
        let current = Slot { depth: 0, stats: LayerStats::default(), layer: None };
        Ok(DenseWorker {
            files: Files::new(setup.folder.clone(), setup.worker as u32, setup.keep),
            numbering,
            blocks,
            sources,
            taken: BTreeMap::new(),
            setup,
            space,
            search,
            current,
            previous: None,
            older: OlderLayers::default(),
            older_states: 0,
        })
    }

    /// The number of parts of the space, of which one is in memory at a time; 1 if all of it is, or all of
    /// this worker's share.
    pub fn parts(&self) -> usize {
        match &self.search {
            Engine::Memory(_) | Engine::Share(_) => 1,
            Engine::Parts(search) => search.parts(),
        }
    }

    /// Whether this is the only worker.
    fn is_alone(&self) -> bool {
        self.setup.owners.iter().all(owned_by(self.setup.worker))
    }

    pub(super) fn header(&self, depth: u32) -> LayerHeader {
        let job = self.setup.folder.job().to_owned();
        LayerHeader::new(FileKind::Dense, job, depth, DENSE_ENCODING)
    }

    /// A writer of a layer: to memory if the layer is narrow and neither kept nor read by other workers,
    /// otherwise to a file.
    pub(super) fn writer(&mut self, depth: u32, states: u64) -> Result<LayerWriter> {
        let header = self.header(depth);
        Ok(if !self.is_alone() || self.files.on_disk(depth, states) {
            self.files.writer(header)?
        } else {
            LayerWriter::memory(header)?
        })
    }

    /// Writes a layer that is in the planes of the search.
    fn write_planes(&mut self, depth: u32, stats: &LayerStats) -> Result<Layer> {
        let writer = self.writer(depth, stats.states)?;
        let parts = match &self.search {
            _ if stats.states == 0 => Vec::new(),
            Engine::Memory(Some(search)) if depth == search.depth() => {
                let read = |first, to: &mut [u64]| search.read_current(first, to);
                vec![self.write_blocks(&writer, read)?]
            }
            Engine::Memory(Some(search)) if depth + 1 == search.depth() => {
                let read = |first, to: &mut [u64]| search.read_previous(first, to);
                vec![self.write_blocks(&writer, read)?]
            }
            _ => return Err(self.missing(depth)),
        };
        Ok(writer.seal(parts, totals_of(stats))?)
    }

    /// Writes the states that `read` gives for own blocks.
    fn write_blocks(&self, to: &LayerWriter, read: impl Fn(u32, &mut [u64])) -> Result<FilePart> {
        write_words(self.numbering, to, &self.blocks, |first, words| {
            read(first, words);
            Ok(())
        })
    }

    /// Writes the layer before the current one if it is only in the planes. Returns the bytes written to
    /// disk.
    fn write_previous(&mut self) -> Result<u64> {
        let unwritten = self.previous.as_ref().filter(|slot| slot.layer.is_none());
        let Some(&Slot { depth, stats, .. }) = unwritten else { return Ok(0) };
        let layer = self.write_planes(depth, &stats)?;
        let bytes = bytes_on_disk(&layer);
        self.previous = Some(Slot { depth, stats, layer: Some(layer) });
        Ok(bytes)
    }

    /// Writes those of the last two layers that are not written yet.
    fn write_last_two(&mut self) -> Result<()> {
        self.write_previous()?;
        let Slot { depth, stats, ref layer } = self.current;
        if layer.is_none() {
            self.current.layer = Some(self.write_planes(depth, &stats)?);
        }
        Ok(())
    }

    /// Makes the next layer by parts. Returns its figures, the layer and the number of bytes read. `files`
    /// are those of all workers for the current layer.
    fn advance_parts(&mut self, files: &[CheckpointFile]) -> Result<(LayerStats, Layer, u64)> {
        let writer = self.writer(self.current.depth + 1, self.current.stats.states)?;
        let others = self.open_sources(files)?;
        let Some(own) = &self.current.layer else {
            return Err(self.missing(self.current.depth));
        };
        let previous = self.previous.iter().filter_map(|slot| slot.layer.as_ref());
        let current = [own].into_iter().chain(others.iter().map(|(_, layer)| layer));
        let earlier = previous.chain(self.older.files());
        let read = current.clone().chain(earlier.clone()).map(bytes_on_disk).sum();
        let layers = StepLayers::new(self.numbering, current, earlier, &writer)?;
        let mut stats = LayerStats::default();
        match &mut self.search {
            Engine::Parts(search) => {
                for blocks in &self.blocks {
                    stats.add(&search.advance(blocks.clone(), &layers)?);
                }
            }
            _ => return Err(self.missing(self.current.depth)),
        }
        let parts = layers.into_parts();
        Ok((stats, writer.seal(parts, totals_of(&stats))?, read))
    }

    /// Makes the next layer of the share in memory, from the layers of those that lead to it. Returns its
    /// figures, the layer and the number of bytes read.
    fn advance_share(&mut self, files: &[CheckpointFile]) -> Result<(LayerStats, Layer, u64)> {
        let depth = self.current.depth;
        let others = self.open_sources(files)?;
        let read = others.iter().map(|(_, layer)| layer.held_bytes()).sum();
        let mut readers = BTreeMap::new();
        for (worker, layer) in &others {
            readers.insert(*worker, DenseReader::new(layer, self.numbering)?);
        }
        let Engine::Share(search) = &mut self.search else { return Err(self.missing(depth)) };
        if search.depth() != depth {
            return Err(self.missing(depth));
        }
        let sources = &self.sources;
        let stats = search.advance(|blocks, words, counts| {
            match sources.worker_of(blocks.start).and_then(|worker| readers.get(&worker)) {
                Some(reader) => reader.read_filled(blocks.start, words, counts),
                // A worker whose part of the layer has no states.
                None => Ok(()),
            }
        })?;
        let layer = self.write_share(depth + 1, &stats)?;
        Ok((stats, layer, read))
    }

    /// Writes the current layer of the share.
    fn write_share(&mut self, depth: u32, stats: &LayerStats) -> Result<Layer> {
        let writer = self.writer(depth, stats.states)?;
        let Engine::Share(search) = &self.search else { return Err(self.missing(depth)) };
        let mut encoder = DenseEncoder::new(self.numbering);
        for blocks in self.blocks.iter().filter(|_| stats.states > 0) {
            encoder.push(&writer, blocks.start, search.current(blocks))?;
        }
        Ok(writer.seal(vec![encoder.finish()], totals_of(stats))?)
    }

    /// Opens the files of the current layer that other workers share and this worker reads. Of those without
    /// states there are none.
    fn open_sources(&mut self, files: &[CheckpointFile]) -> Result<Vec<(u32, Layer)>> {
        let depth = self.current.depth;
        let mut taken = std::mem::take(&mut self.taken);
        let mut layers = Vec::new();
        for worker in self.sources.workers() {
            let record = files.iter().find(|file| (file.worker, file.depth) == (worker, depth));
            let Some(record) = record else {
                let what = format!("layer {depth} of worker {worker} is not there");
                let file = self.setup.folder.path().to_owned();
                return Err(StoreError::Inconsistent { file, what }.into());
            };
            if record.states == 0 {
                continue;
            }
            let is_recorded =
                |layer: &Layer| layer.header().depth == depth && layer.seal() == record.seal.0;
            if let Some(layer) = taken.remove(&worker).filter(is_recorded) {
                layers.push((worker, layer));
            } else {
                let layer = self.open(record)?;
                // There may be as many files as workers.
                layer.close();
                layers.push((worker, layer));
            }
        }
        Ok(layers)
    }

    pub(super) fn missing(&self, depth: u32) -> WorkerError {
        let what = format!("layer {depth} is not there");
        StoreError::Inconsistent { file: self.setup.folder.path().to_owned(), what }.into()
    }

    /// Makes a layer the current one, and releases the layer that the search no longer needs. Returns the
    /// bytes on disk before the release.
    fn push(&mut self, slot: Slot) -> Result<u64> {
        let released = self.previous.replace(std::mem::replace(&mut self.current, slot));
        self.older_states += released.as_ref().map_or(0, |slot| slot.stats.states);
        let mut bytes = self.disk_bytes();
        if let Some(layer) = released.and_then(|slot| slot.layer) {
            bytes += bytes_on_disk(&layer);
            self.files.release_layer(layer)?;
        }
        Ok(bytes)
    }

    /// Writes a layer in the planes if it is kept.
    fn write_if_kept(&mut self, depth: u32, stats: &LayerStats) -> Result<Option<Layer>> {
        let is_kept = self.setup.keep.keeps(depth);
        is_kept.then(|| self.write_planes(depth, stats)).transpose()
    }

    pub(super) fn is_undirected(&self) -> bool {
        self.space.tables().is_undirected()
    }

    pub(super) fn open(&self, record: &CheckpointFile) -> Result<Layer> {
        let path = self.setup.folder.file_path(&record.file)?;
        let expect = record.expect(self.setup.folder.job(), EngineKind::Dense);
        Ok(Layer::open(self.setup.folder.fs().clone(), &path, &expect)?)
    }

    fn disk_bytes(&self) -> u64 {
        let layers = files_of(&self.previous, &self.current).into_iter();
        layers.map(bytes_on_disk).sum::<u64>() + self.older.disk_bytes() + self.files.bytes()
    }

    /// The report of the current layer. Other workers can read its file from then on.
    fn report(&self) -> Result<LayerReport> {
        let mut report = LayerReport::of(self.current.depth, &self.current.stats);
        report.symmetries = self.space.tables().symmetries();
        if let Some(layer) = &self.current.layer {
            report.layer.bytes = layer.file_bytes();
            report.layer.kept.extend(self.files.kept(layer));
            if !self.is_alone() {
                report.shared.push(self.files.share(layer)?);
            }
        }
        report.disk_peak = self.disk_bytes();
        report.disk_left = report.disk_peak;
        report.waiting = self.files.waiting();
        Ok(report)
    }
}

/// A predicate on the owner of a shard: whether it is this worker.
pub(super) fn owned_by(worker: usize) -> impl Fn(&u16) -> bool {
    move |owner| usize::from(*owner) == worker
}

fn parts(space: &Arc<dyn DenseSpace>, options: &Options) -> Result<Engine> {
    Ok(Engine::Parts(Box::new(PartSearch::new(space, options)?)))
}

/// The other workers with moves from their blocks to those of this worker.
fn leading(setup: &DenseSetup, search: &PartSearch, count: u32) -> BTreeSet<u32> {
    let own = blocks::of_worker(&setup.owners, setup.worker, count);
    let mut others: BTreeSet<u16> = setup.owners.iter().copied().collect();
    others.retain(|other| !owned_by(setup.worker)(other));
    others.retain(|other| {
        let blocks = blocks::of_worker(&setup.owners, usize::from(*other), count);
        blocks.iter().any(|from| own.iter().any(|to| search.leads(from, to)))
    });
    others.into_iter().map(u32::from).collect()
}

pub(super) fn options(setup: &DenseSetup) -> Options {
    let DenseSetup { threads, memory, digest, .. } = *setup;
    Options { threads, memory, digest, ..Options::default() }
}

impl Work for DenseWorker {
    fn depth(&self) -> u32 {
        self.current.depth
    }

    fn seed(&mut self) -> Result<LayerReport> {
        let (stats, layer) = match &mut self.search {
            Engine::Memory(search) => {
                let new = Search::new(Arc::clone(&self.space), &options(&self.setup))?;
                (search.insert(Box::new(new)).stats(), None)
            }
            Engine::Share(search) => {
                let stats = search.begin();
                (stats, Some(self.write_share(0, &stats)?))
            }
            Engine::Parts(search) => {
                let (mut stats, start) = (search.first_layer(), self.space.tables().start());
                let writer = self.writer(0, stats.states)?;
                let mut encoder = DenseEncoder::new(self.numbering);
                if self.blocks.iter().any(|blocks| blocks.contains(&start.block)) {
                    let mut words = vec![0; self.numbering.rows as usize];
                    words[usize::from(start.row)] = 1 << start.lane;
                    encoder.push(&writer, start.block, &words)?;
                } else {
                    stats = LayerStats::default();
                }
                (stats, Some(writer.seal(vec![encoder.finish()], totals_of(&stats))?))
            }
        };
        let layer = layer.map_or_else(|| self.write_if_kept(0, &stats), |layer| Ok(Some(layer)))?;
        self.current = Slot { depth: 0, stats, layer };
        self.report()
    }

    fn restore(&mut self, from: &Restore) -> Result<LayerReport> {
        self.load_checkpoint(from)?;
        self.report()
    }

    fn reads(&self, worker: u32) -> bool {
        self.sources.of(worker).is_some()
    }

    fn excerpt(&self, worker: u32) -> Option<&[Range<u32>]> {
        match self.search {
            Engine::Share(_) => self.sources.of(worker),
            Engine::Memory(_) | Engine::Parts(_) => None,
        }
    }

    fn take(&mut self, worker: u32, layer: Layer) {
        self.taken.insert(worker, layer);
    }

    fn advance(&mut self, files: &[CheckpointFile]) -> Result<LayerReport> {
        let depth = self.current.depth + 1;
        let mut previous_bytes = 0;
        if self.setup.keep.keeps(depth) {
            // In memory, the next layer overwrites the plane of the previous one. If the next layer
            // cannot be written to its file, the previous one must still be there to be saved.
            previous_bytes = self.write_previous()?;
        }
        let (stats, layer, read_bytes) = match &mut self.search {
            Engine::Memory(Some(search)) => (search.advance().unwrap_or_default(), None, 0),
            Engine::Memory(None) => return Err(self.missing(depth - 1)),
            Engine::Share(_) => {
                let (stats, layer, read) = self.advance_share(files)?;
                (stats, Some(layer), read)
            }
            Engine::Parts(_) => {
                let (stats, layer, read) = self.advance_parts(files)?;
                (stats, Some(layer), read)
            }
        };
        // A failure leaves `current` and `previous` unchanged; both can still be saved.
        let layer =
            layer.map_or_else(|| self.write_if_kept(depth, &stats), |layer| Ok(Some(layer)))?;
        let older = self.merge_older()?;
        let older_bytes = older.as_ref().map_or(0, |(_, file)| bytes_on_disk(file));
        let disk_peak = self.push(Slot { depth, stats, layer })? + older_bytes;
        if let Some((count, file)) = older {
            self.replace_older(count, file)?;
        }
        let mut report = LayerReport { disk_peak, ..self.report()? };
        report.layer.read_bytes = read_bytes;
        report.layer.written_bytes =
            self.current.layer.as_ref().map_or(0, bytes_on_disk) + previous_bytes + older_bytes;
        Ok(report)
    }

    fn save(&mut self) -> Result<Vec<CheckpointFile>> {
        self.write_last_two()?;
        self.write_older()?;
        Ok(self.files.persist(&searched(&self.older, &self.previous, &self.current))?)
    }

    fn saved(&mut self) -> Result<()> {
        Ok(self.files.published(&searched(&self.older, &self.previous, &self.current))?)
    }
}
