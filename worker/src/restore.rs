//! Going on from a checkpoint, with as many workers as there are now.

use std::collections::HashSet;
use std::time::Instant;

use strata_search::{Tally, count};
use strata_store::{
    BlockEncoder, EntryKey, Expect, FileKind, Layer, LayerCursor, LayerRecord, StoreError,
};

use crate::Result;
use crate::worker::{ENCODING, LayerReport, Worker, emit, totals};

/// A checkpoint to go on from.
#[derive(Clone, Debug)]
pub struct Restore {
    /// Depth of its last layer.
    pub depth: u32,
    /// Its files, of all workers.
    pub records: Vec<LayerRecord>,
    /// Names of the files that the history keeps, whatever the worker is told to keep now.
    pub kept: HashSet<String>,
}

impl Worker {
    /// Loads this worker's shards of a checkpoint's two layers and sends the last one's exits.
    /// If another number of workers wrote it, every worker copies its shards out of their files;
    /// those are not searched any more and stay until the next checkpoint.
    ///
    /// # Errors
    /// `Corrupt` if a file is missing, damaged, not the one named, or does not count up to what
    /// the record says.
    pub fn restore(&mut self, from: &Restore) -> Result<LayerReport> {
        let started = Instant::now();
        let Restore { depth, records, kept } = from;
        let now = self.setup.owners.iter().map(|owner| u32::from(*owner) + 1).max();
        let same = records.iter().map(|record| record.worker + 1).max() == now;
        let own = self.setup.worker as u32;
        let mut layers = Vec::new();
        let mut originals = Vec::new();
        let first = depth.saturating_sub(1);
        for layer_depth in first..=*depth {
            let files = records.iter().filter(|record| record.depth == layer_depth);
            let files = files.filter(|record| !same || record.worker == own);
            let opened = files.map(|record| self.open(record)).collect::<Result<Vec<Layer>>>()?;
            if same {
                layers.extend(opened);
            } else {
                layers.push(self.copy_own(layer_depth, &opened)?);
                originals.extend(opened);
            }
        }
        self.files.resume(*depth, kept);
        if same {
            self.files.pin(&layers.iter().collect::<Vec<_>>());
        } else {
            // One worker removes them for all.
            self.files.replace(if own == 0 { originals } else { Vec::new() })?;
        }
        let missing = || StoreError::NotFound { path: self.setup.folder.layer_path(*depth, own) };
        self.current = layers.pop().ok_or_else(missing)?;
        self.previous = layers.pop();
        let (current, empty) = (self.current.header().depth, self.previous.is_none());
        if current != *depth || empty != (*depth == 0) {
            return Err(StoreError::NotFound { path: self.setup.folder.layer_path(first, own) });
        }
        self.resend(started)
    }

    fn open(&self, record: &LayerRecord) -> Result<Layer> {
        let path = self.setup.folder.file_path(&record.file)?;
        let expect = Expect {
            job: self.setup.folder.job(),
            kind: FileKind::Layer,
            depth: record.depth,
            bytes: record.bytes,
            seal: record.seal.0,
        };
        let layer = Layer::open(self.setup.folder.fs().clone(), &path, &expect)?;
        let encoding = layer.header().encoding;
        if encoding != ENCODING {
            let (expected, found) = (format!("encoding {ENCODING}"), encoding.to_string());
            // Magic, version and kind come before it.
            return Err(StoreError::Corrupt { file: path, offset: 16, expected, found });
        }
        layer.verify(&mut |_, _| {})?;
        Ok(layer)
    }

    /// Sends the exits of the last layer and compares what it counts up to with its totals.
    fn resend(&mut self, started: Instant) -> Result<LayerReport> {
        let tally = emit(&mut self.lanes, self.pool.as_ref(), &self.current)?;
        let (counted, recorded) = (totals(&tally), *self.current.totals());
        if counted != recorded {
            return Err(StoreError::Corrupt {
                file: self.current.path().unwrap_or_default(),
                offset: 0,
                expected: format!("{recorded:?}"),
                found: format!("{counted:?}"),
            });
        }
        Ok(self.report(tally, started))
    }

    /// A new layer with this worker's shards of some files whose ranges do not overlap.
    fn copy_own(&self, depth: u32, files: &[Layer]) -> Result<Layer> {
        let mut kernel = self.engine.kernel(self.setup.budget.regions());
        let writer = self.temp_writer(depth)?;
        let mut encoder = BlockEncoder::new(self.setup.encode)?;
        let mut cursor = LayerCursor::new()?;
        let mut order: Vec<&Layer> =
            files.iter().filter(|file| !file.blocks().is_empty()).collect();
        order.sort_by_key(|file| file.blocks()[0].first);
        let mut tally = Tally::default();
        for file in order {
            tally.add(&count(&mut *kernel, file, |key| self.owns(key))?);
            cursor.start(file, None, None)?;
            while let Some(key) = cursor.key() {
                if self.owns(key) {
                    encoder.push(&writer, key, cursor.locals())?;
                }
                cursor.advance()?;
            }
        }
        let part = encoder.finish(&writer)?;
        writer.seal(vec![part], totals(&tally))
    }

    fn owns(&self, key: EntryKey) -> bool {
        usize::from(self.setup.owners[key.shard as usize]) == self.setup.worker
    }
}
