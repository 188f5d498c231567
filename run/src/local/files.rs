//! Life cycle of a worker's layer files: unsynced, durable for a checkpoint, kept, removed.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use strata_store::{
    CheckpointFile, Hex64, JobDir, KeptFile, Layer, LayerHeader, LayerWriter, RecycledFile, Result,
    StoreError, layer_file, older_file,
};

use crate::keep_layers::KeepLayers;

/// Files of a worker: naming of new ones, and management of those that the search no longer reads but that
/// are still needed: kept layers, and files named by the last durable checkpoint.
#[derive(Debug)]
pub(crate) struct Files {
    folder: JobDir,
    worker: u32,
    keep: KeepLayers,
    /// Layers kept since the last checkpoint.
    waiting: Vec<Layer>,
    /// Bytes of all kept layers.
    kept_bytes: u64,
    /// Files named by the last durable checkpoint.
    pinned: HashSet<PathBuf>,
    /// Bytes of the files to remove after the next checkpoint, by name.
    obsolete: BTreeMap<String, u64>,
    /// File of a dropped layer, to be overwritten by the next one.
    recycled: Option<RecycledFile>,
    /// Files of an earlier session.
    earlier: Earlier,
}

/// The checkpoint that a session resumes from. The history, not the options of this session, determines
/// which of its layers are kept.
#[derive(Debug, Default)]
struct Earlier {
    /// Depth of the checkpoint; None if the session starts at the seeds.
    depth: Option<u32>,
    /// Files that the history names.
    kept: HashSet<PathBuf>,
    /// Number in the names of layers that this worker copied from several files; 0 if it uses the
    /// files without copies.
    copy: u32,
}

impl Files {
    pub(crate) fn new(folder: JobDir, worker: u32, keep: KeepLayers) -> Files {
        Files {
            folder,
            worker,
            keep,
            waiting: Vec::new(),
            kept_bytes: 0,
            pinned: HashSet::new(),
            obsolete: BTreeMap::new(),
            recycled: None,
            earlier: Earlier::default(),
        }
    }

    /// Whether a layer of this depth and expected number of states is written to a file.
    pub(crate) fn on_disk(&self, depth: u32, states: u64) -> bool {
        /// Narrower layers stay in memory until a checkpoint; each takes a page or less.
        const TRIVIAL: u64 = 2048;
        states >= TRIVIAL || self.keep.keeps(depth)
    }

    /// A writer of an unsynced file, which gets its final name in a checkpoint.
    pub(crate) fn writer(&mut self, header: LayerHeader) -> Result<LayerWriter> {
        let fs = self.folder.fs().clone();
        let path = self.folder.temp_path(&format!("layer-{:03}", self.worker));
        if self.keep.keeps(header.depth) {
            LayerWriter::file(fs, &path, header)
        } else {
            LayerWriter::recycling(self.recycled.take(), fs, &path, header)
        }
    }

    /// The file that keeps a layer, if it is kept.
    pub(crate) fn kept(&self, layer: &Layer) -> Option<KeptFile> {
        let depth = layer.header().depth;
        let name = self.path(depth).file_name()?.to_str()?.to_owned();
        self.keep.keeps(depth).then(|| KeptFile {
            worker: self.worker,
            file: name,
            bytes: layer.file_bytes(),
            seal: Hex64(layer.seal()),
        })
    }

    /// Gives a layer's file its final name, under which other workers read it until the next
    /// checkpoint makes it durable.
    pub(crate) fn share(&self, layer: &Layer) -> Result<CheckpointFile> {
        layer.rename(&self.final_path(layer))?;
        let unwritten = || StoreError::Inconsistent {
            file: self.folder.path().to_owned(),
            what: format!("layer {} is only in memory", layer.header().depth),
        };
        CheckpointFile::of(layer, self.worker).ok_or_else(unwritten)
    }

    /// A writer of an unsynced file of older layers.
    pub(crate) fn older_writer(&self, header: LayerHeader) -> Result<LayerWriter> {
        let path = self.folder.temp_path(&format!("older-{:03}", self.worker));
        LayerWriter::file(self.folder.fs().clone(), &path, header)
    }

    /// The path of a layer's file in a checkpoint. A file that the last durable checkpoint names keeps
    /// its name; any other file gets the name of its kind and depth.
    fn final_path(&self, layer: &Layer) -> PathBuf {
        let depth = layer.header().depth;
        let path = layer.path().filter(|path| self.pinned.contains(path));
        path.unwrap_or_else(|| match layer.header().kind {
            kind if kind.is_older() => self.named(older_file(depth, self.worker), depth),
            _ => self.path(depth),
        })
    }

    /// Number of kept layers that the next checkpoint makes durable.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Bytes on disk besides the two last layers.
    pub(crate) fn bytes(&self) -> u64 {
        let recycled = self.recycled.as_ref().map_or(0, RecycledFile::bytes);
        self.kept_bytes + self.obsolete.values().sum::<u64>() + recycled
    }

    /// Final path of a layer's file. A copy must not replace a file that the durable manifest or
    /// the history names.
    fn path(&self, depth: u32) -> PathBuf {
        self.named(layer_file(depth, self.worker), depth)
    }

    fn named(&self, name: String, depth: u32) -> PathBuf {
        let name = match name.strip_suffix(SUFFIX) {
            Some(stem) if self.earlier.copy > 0 && self.is_earlier(depth) => {
                format!("{stem}-{}{SUFFIX}", self.earlier.copy)
            }
            _ => name,
        };
        self.folder.path().join(name)
    }

    fn is_earlier(&self, depth: u32) -> bool {
        self.earlier.depth.is_some_and(|last| depth <= last)
    }

    /// Keeps, recycles or drops a layer that is no longer one of the last two. A kept layer is closed: its
    /// clones open the file for each read.
    pub(crate) fn release_layer(&mut self, layer: Layer) -> Result<()> {
        if layer.path().is_some_and(|path| self.earlier.kept.contains(&path)) {
            self.kept_bytes += layer.file_bytes();
            layer.close();
            return Ok(());
        }
        let depth = layer.header().depth;
        if self.keep.keeps(depth) && !self.is_earlier(depth) {
            self.kept_bytes += layer.file_bytes();
            layer.close();
            self.waiting.push(layer);
            return Ok(());
        }
        if let Some(layer) = self.without_pinned(layer) {
            self.recycled = layer.recycle()?;
        }
        Ok(())
    }

    /// Removes a file of older layers that the search no longer reads.
    pub(crate) fn release_older(&mut self, layer: Layer) -> Result<()> {
        self.without_pinned(layer).map_or(Ok(()), Layer::remove)
    }

    /// Returns the layer if it has a file that the last checkpoint does not name. A file that it names is
    /// registered for removal after the next checkpoint.
    fn without_pinned(&mut self, layer: Layer) -> Option<Layer> {
        let path = layer.path()?;
        if !self.pinned.contains(&path) {
            return Some(layer);
        }
        // A pinned file was persisted under a name that a worker chose, so the name is valid UTF-8.
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        self.obsolete.insert(name.to_owned(), layer.file_bytes());
        None
    }

    /// Makes the searched layers and all kept ones durable under their final names.
    pub(crate) fn persist(&mut self, layers: &[&Layer]) -> Result<Vec<CheckpointFile>> {
        let fs = self.folder.fs().clone();
        for layer in self.waiting.iter().chain(layers.iter().copied()) {
            layer.persist(&fs, &self.final_path(layer))?;
        }
        self.waiting.clear();
        Ok(layers.iter().filter_map(|layer| CheckpointFile::of(layer, self.worker)).collect())
    }

    /// Removes the files that only the previous checkpoint named. The checkpoint that names these
    /// layers must be durable.
    pub(crate) fn published(&mut self, layers: &[&Layer]) -> Result<()> {
        self.pinned = layers.iter().filter_map(|layer| layer.path()).collect();
        // Drops the recycled file, so that no temporary file remains if this is the last checkpoint.
        self.recycled = None;
        std::mem::take(&mut self.obsolete)
            .into_iter()
            .try_for_each(|(name, _)| self.folder.remove_file(&name))
    }

    /// Registers the checkpoint of an earlier session. The history keeps the files in `kept`.
    pub(crate) fn resume(&mut self, depth: u32, kept: &HashSet<String>) {
        let kept = kept.iter().map(|name| self.folder.path().join(name)).collect();
        self.earlier = Earlier { depth: Some(depth), kept, copy: 0 };
    }

    /// Pins the checkpoint's files: the search reads them without copies.
    pub(crate) fn pin(&mut self, searched: &[&Layer]) {
        self.pinned = searched.iter().filter_map(|layer| layer.path()).collect();
    }

    /// Chooses a new number for copies of the checkpoint's layers, so that they do not replace its
    /// files.
    pub(crate) fn start_copies(&mut self) -> Result<()> {
        let folder = self.folder.path();
        let listed = self.folder.fs().list(folder).map_err(|source| StoreError::Io {
            op: "list",
            path: folder.to_owned(),
            source,
        })?;
        let copies = listed.iter().filter_map(|(path, _)| copy_number(path));
        self.earlier.copy = 1 + copies.max().unwrap_or(0);
        Ok(())
    }

    /// Registers a checkpoint file that this worker manages. Unless the search reads it, it is kept
    /// or removed after the next checkpoint.
    pub(crate) fn inherit(&mut self, name: &str, bytes: u64) -> Result<()> {
        let path = self.folder.file_path(name)?;
        if self.pinned.contains(&path) {
            return Ok(());
        }
        if self.earlier.kept.contains(&path) {
            self.kept_bytes += bytes;
        } else {
            self.obsolete.insert(name.to_owned(), bytes);
        }
        Ok(())
    }
}

/// The suffix of the names of layer files.
const SUFFIX: &str = ".strata";

/// The number N in `layer-DDDDDD-WWW-N.strata` or `older-DDDDDD-WWW-N.strata`.
fn copy_number(path: &Path) -> Option<u32> {
    let name = path.file_name()?.to_str()?.strip_suffix(SUFFIX)?;
    let numbers = name.strip_prefix("layer-").or_else(|| name.strip_prefix("older-"))?;
    numbers.splitn(3, '-').nth(2)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use strata_store::{
        BlockEncoder, EncodeOptions, EntryKey, FileKind, LayerTotals, RealFs, Word,
    };

    use super::*;

    #[test]
    fn a_new_file_of_older_layers_gets_its_final_name() {
        let dir = tempfile::tempdir().unwrap();
        let folder = JobDir::attach(Arc::new(RealFs), dir.path(), "job").unwrap();
        let mut files = Files::new(folder, 1, KeepLayers::Last);
        files.resume(9, &HashSet::new());
        let writer = files.older_writer(LayerHeader::new(FileKind::Older, "job", 3, 0)).unwrap();
        let mut encoder = BlockEncoder::new(EncodeOptions::default()).unwrap();
        encoder.push(&writer, EntryKey { shard: 0, region: 7 }, &[Word(1), Word(2)]).unwrap();
        let totals = LayerTotals { regions: 1, states: 2, ..LayerTotals::default() };
        let part = encoder.finish(&writer).unwrap();
        let older = writer.seal(vec![part], totals).unwrap();
        let name = || older.path().unwrap().file_name().unwrap().to_str().unwrap().to_owned();
        assert!(name().ends_with(".tmp"), "{}", name());
        let [record] = &*files.persist(&[&older]).unwrap() else { panic!("not one file") };
        assert_eq!((&record.file, name()), (&older_file(3, 1), older_file(3, 1)));
    }
}
