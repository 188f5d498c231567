//! The worker: its search, its layers as files, and how they become a checkpoint.

use std::sync::Arc;
use std::time::Instant;

use strata_dense::{Counter, Options, PartSearch, Search};
use strata_space::LayerStats;
use strata_space::dense::DenseSpace;
use strata_store::{
    CheckpointFile, DENSE_ENCODING, DenseEncoder, DenseNumbering, DenseReader, ExpectedFile,
    FileKind, JobDir, KeptFile, Layer, LayerHeader, LayerWriter, StoreError,
};

use super::layers::{StepLayers, numbering, write_words};
use crate::keep_layers::KeepLayers;
use crate::local::error::{Result, WorkerError};
use crate::local::files::Files;
use crate::local::restore::Restore;
use crate::local::work::Work;
use crate::local::worker::LayerReport;
use crate::plan::sums::{stats_of, totals_of};

/// Configuration of a worker of the dense engine.
#[derive(Clone, Debug)]
pub struct DenseSetup {
    /// Number of this worker.
    pub worker: usize,
    /// Threads.
    pub threads: usize,
    /// Memory for tables and planes, in bytes.
    pub memory: u64,
    /// Whether layers have digests.
    pub digest: bool,
    /// Layers that stay on disk besides the last two. All do if moves are directed.
    pub keep: KeepLayers,
    /// The job's folder.
    pub folder: JobDir,
}

/// The only worker of a dense job.
///
/// The whole space is in memory if it fits. Layers are then written only for checkpoints, and if they
/// are kept. Otherwise every layer is a file, and a part of the space is in memory.
pub struct DenseWorker {
    setup: DenseSetup,
    space: Arc<dyn DenseSpace>,
    numbering: DenseNumbering,
    search: Engine,
    keep: KeepLayers,
    files: Files,
    current: Slot,
    /// None at depth 0.
    previous: Option<Slot>,
    /// The layers before, which a search with directed moves needs.
    earlier: Vec<Layer>,
}

enum Engine {
    /// None before a layer is seeded or restored.
    Memory(Option<Box<Search>>),
    Parts(Box<PartSearch>),
}

/// A layer of the search.
struct Slot {
    depth: u32,
    stats: LayerStats,
    /// None while it is only in the planes of a search in memory.
    layer: Option<Layer>,
}

/// The last two layers, as far as they are written.
fn files_of<'a>(previous: &'a Option<Slot>, current: &'a Slot) -> Vec<&'a Layer> {
    previous.iter().chain([current]).filter_map(|slot| slot.layer.as_ref()).collect()
}

impl DenseWorker {
    /// A worker before layer 0.
    ///
    /// # Errors
    /// [`WorkerError::Dense`] if not even one block of the space fits the memory.
    pub fn new(setup: DenseSetup, space: Arc<dyn DenseSpace>) -> Result<DenseWorker> {
        let options = options(&setup);
        let search = if Search::needed_bytes(&*space, &options)? <= setup.memory {
            Engine::Memory(None)
        } else {
            Engine::Parts(Box::new(PartSearch::new(&space, &options)?))
        };
        let keep = if space.tables().is_undirected() { setup.keep } else { KeepLayers::All };
        let current = Slot { depth: 0, stats: LayerStats::default(), layer: None };
        Ok(DenseWorker {
            files: Files::new(setup.folder.clone(), setup.worker as u32, keep),
            numbering: numbering(&*space),
            keep,
            setup,
            space,
            search,
            current,
            previous: None,
            earlier: Vec::new(),
        })
    }

    /// The number of parts of the space, of which one is in memory at a time; 1 if all of it is.
    pub fn parts(&self) -> usize {
        match &self.search {
            Engine::Memory(_) => 1,
            Engine::Parts(search) => search.parts(),
        }
    }

    fn header(&self, depth: u32) -> LayerHeader {
        let job = self.setup.folder.job().to_owned();
        LayerHeader { kind: FileKind::Dense, job, depth, encoding: DENSE_ENCODING }
    }

    /// A writer to memory for a narrow layer that is not kept, else to a file.
    fn writer(&mut self, depth: u32, states: u64) -> Result<LayerWriter> {
        let header = self.header(depth);
        Ok(if self.files.on_disk(depth, states) {
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
                vec![write_words(self.numbering, &writer, |first, to| {
                    search.read_current(first, to)
                })?]
            }
            Engine::Memory(Some(search)) if depth + 1 == search.depth() => {
                vec![write_words(self.numbering, &writer, |first, to| {
                    search.read_previous(first, to)
                })?]
            }
            _ => return Err(self.missing(depth)),
        };
        Ok(writer.seal(parts, totals_of(stats))?)
    }

    /// Writes those of the last two layers that are not.
    fn write_last_two(&mut self) -> Result<()> {
        if let Some(mut slot) = self.previous.take() {
            if slot.layer.is_none() {
                slot.layer = Some(self.write_planes(slot.depth, &slot.stats)?);
            }
            self.previous = Some(slot);
        }
        let Slot { depth, stats, ref layer } = self.current;
        if layer.is_none() {
            self.current.layer = Some(self.write_planes(depth, &stats)?);
        }
        Ok(())
    }

    /// Makes the next layer by parts.
    fn advance_parts(&mut self) -> Result<(LayerStats, Layer)> {
        let writer = self.writer(self.current.depth + 1, self.current.stats.states)?;
        let Some(current) = &self.current.layer else {
            return Err(self.missing(self.current.depth));
        };
        let previous = self.previous.iter().filter_map(|slot| slot.layer.as_ref());
        let earlier = previous.chain(&self.earlier);
        let layers = StepLayers::new(self.numbering, current, earlier, &writer)?;
        let stats = match &mut self.search {
            Engine::Parts(search) => search.advance(0..self.numbering.blocks, &layers)?,
            Engine::Memory(_) => return Err(self.missing(self.current.depth)),
        };
        let parts = layers.into_parts();
        Ok((stats, writer.seal(parts, totals_of(&stats))?))
    }

    fn missing(&self, depth: u32) -> WorkerError {
        let what = format!("layer {depth} is not there");
        StoreError::Inconsistent { file: self.setup.folder.path().to_owned(), what }.into()
    }

    /// Makes a layer the current one. Returns the bytes on disk before the layer that the search no
    /// longer needs was released.
    fn push(&mut self, slot: Slot) -> Result<u64> {
        let released = self.previous.replace(std::mem::replace(&mut self.current, slot));
        let mut bytes = self.disk_bytes();
        if let Some(layer) = released.and_then(|slot| slot.layer) {
            bytes += layer.path().map_or(0, |_| layer.file_bytes());
            if !self.is_undirected() {
                self.earlier.push(layer.clone());
            }
            self.files.release_layer(layer)?;
        }
        Ok(bytes)
    }

    /// Writes a layer in the planes if it is kept.
    fn write_if_kept(&mut self, depth: u32, stats: &LayerStats) -> Result<Option<Layer>> {
        let is_kept = self.keep.keeps(depth);
        is_kept.then(|| self.write_planes(depth, stats)).transpose()
    }

    fn is_undirected(&self) -> bool {
        self.space.tables().is_undirected()
    }

    fn open(&self, file: &str, expect: &ExpectedFile<'_>) -> Result<Layer> {
        let path = self.setup.folder.file_path(file)?;
        let expect = ExpectedFile { kind: FileKind::Dense, ..*expect };
        Ok(Layer::open(self.setup.folder.fs().clone(), &path, &expect)?)
    }

    /// Opens this worker's file of a checkpoint's layer.
    fn open_record(&self, from: &Restore, depth: u32) -> Result<Slot> {
        let own = self.setup.worker as u32;
        let mut records = from.records.iter();
        let record = records.find(|record| (record.depth, record.worker) == (depth, own));
        let Some(record) = record else {
            let path = self.setup.folder.layer_path(depth, own);
            return Err(StoreError::NotFound { path }.into());
        };
        let layer = self.open(&record.file, &record.expect(self.setup.folder.job()))?;
        Ok(Slot { depth, stats: stats_of(&record.totals()), layer: Some(layer) })
    }

    /// Reads all layers that the search needs, a search in memory into its planes. Returns the
    /// figures of the current layer, counted again.
    fn load(&mut self) -> Result<LayerStats> {
        let mut layers = files_of(&self.previous, &self.current);
        layers.extend(&self.earlier);
        let Engine::Memory(search) = &mut self.search else {
            let counter = Counter::new(&*self.space, self.setup.digest);
            let mut stats = LayerStats::default();
            for layer in layers {
                let is_current = layer.header().depth == self.current.depth;
                DenseReader::new(layer, self.numbering)?.visit(|first, words| {
                    if is_current {
                        stats.add(&counter.count(first, words));
                    }
                    Ok::<(), StoreError>(())
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
        // Frees the planes of an earlier search.
        *search = None;
        let resumed = Search::resumed(Arc::clone(&self.space), &options, depth, load)?;
        Ok(search.insert(Box::new(resumed)).stats())
    }

    fn disk_bytes(&self) -> u64 {
        let layers = files_of(&self.previous, &self.current).into_iter();
        let on_disk = layers.filter(|layer| layer.path().is_some()).map(Layer::file_bytes);
        on_disk.sum::<u64>() + self.files.bytes()
    }

    fn report(&self, started: Instant) -> LayerReport {
        let layer = self.current.layer.as_ref();
        let disk_bytes = self.disk_bytes();
        LayerReport {
            depth: self.current.depth,
            stats: self.current.stats,
            bytes: layer.map_or(0, Layer::file_bytes),
            kept: layer.and_then(|layer| self.files.kept(layer)),
            disk_bytes,
            disk_left: disk_bytes,
            spilled_bytes: 0,
            waiting: self.files.waiting(),
            seconds: started.elapsed().as_secs_f64(),
        }
    }
}

fn options(setup: &DenseSetup) -> Options {
    let DenseSetup { threads, memory, digest, .. } = *setup;
    Options { threads, memory, digest, ..Options::default() }
}

impl Work for DenseWorker {
    fn depth(&self) -> u32 {
        self.current.depth
    }

    fn seed(&mut self) -> Result<LayerReport> {
        let started = Instant::now();
        let (stats, layer) = match &mut self.search {
            Engine::Memory(search) => {
                let new = Search::new(Arc::clone(&self.space), &options(&self.setup))?;
                (search.insert(Box::new(new)).stats(), None)
            }
            Engine::Parts(search) => {
                let stats = search.first_layer();
                let start = self.space.tables().start();
                let mut words = vec![0; self.numbering.rows as usize];
                words[usize::from(start.row)] = 1 << start.lane;
                let writer = self.writer(0, stats.states)?;
                let mut encoder = DenseEncoder::new(self.numbering);
                encoder.push(&writer, start.block, &words)?;
                (stats, Some(writer.seal(vec![encoder.finish()], totals_of(&stats))?))
            }
        };
        let layer = layer.map_or_else(|| self.write_if_kept(0, &stats), |layer| Ok(Some(layer)))?;
        self.current = Slot { depth: 0, stats, layer };
        Ok(self.report(started))
    }

    fn restore(&mut self, from: &Restore) -> Result<LayerReport> {
        let started = Instant::now();
        let before = from.depth.checked_sub(1);
        self.current = self.open_record(from, from.depth)?;
        self.previous = before.map(|depth| self.open_record(from, depth)).transpose()?;
        self.files.resume(from.depth, &from.kept);
        self.files.pin(&files_of(&self.previous, &self.current));
        for record in
            from.records.iter().filter(|record| record.worker as usize == self.setup.worker)
        {
            self.files.inherit(&record.file, record.bytes)?;
        }
        if !self.is_undirected() {
            let needed = from.kept_layers.iter().filter(|(depth, _)| depth + 1 < from.depth);
            let open = |(depth, kept): &(u32, KeptFile)| {
                self.open(&kept.file, &kept.expect(self.setup.folder.job(), *depth))
            };
            self.earlier = needed.map(open).collect::<Result<_>>()?;
            let expected = from.depth.saturating_sub(1);
            if self.earlier.len() != expected as usize {
                return Err(self.missing(self.earlier.len() as u32));
            }
        }
        self.current.stats = self.load()?;
        Ok(self.report(started))
    }

    fn advance(&mut self) -> Result<LayerReport> {
        let started = Instant::now();
        let depth = self.current.depth + 1;
        let (stats, layer) = match &mut self.search {
            Engine::Memory(Some(search)) => (search.advance().unwrap_or_default(), None),
            Engine::Memory(None) => return Err(self.missing(depth - 1)),
            Engine::Parts(_) => {
                let (stats, layer) = self.advance_parts()?;
                (stats, Some(layer))
            }
        };
        // After a failure the last two layers are still those before.
        let layer =
            layer.map_or_else(|| self.write_if_kept(depth, &stats), |layer| Ok(Some(layer)))?;
        let disk_bytes = self.push(Slot { depth, stats, layer })?;
        Ok(LayerReport { disk_bytes, ..self.report(started) })
    }

    fn save(&mut self) -> Result<Vec<CheckpointFile>> {
        self.write_last_two()?;
        Ok(self.files.persist(&files_of(&self.previous, &self.current))?)
    }

    fn saved(&mut self) -> Result<()> {
        Ok(self.files.published(&files_of(&self.previous, &self.current))?)
    }
}
