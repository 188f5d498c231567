//! Sealed layer files: immutable, in memory or on disk.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Result, StoreError};
use crate::fs::durable::{parent, remove_if_present, write_durably};
use crate::fs::file_system::Fs;
use crate::key::EntryKey;
use crate::layer::excerpt::{Excerpt, Remote};
use crate::layer::format::{self, FileKind, LayerHeader, LayerTotals, Layout};
use crate::layer::index::{BlockMeta, ShardEntry};
use crate::layer::recycled::{RecycledFile, Unsealed};
use crate::layer::sample::{self, Sample};
use crate::layer::source::{Content, Location, Source};

/// What a manifest or a history records of a file. Opening the file checks it.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct ExpectedFile<'a> {
    /// Id of the job that it belongs to.
    pub job: &'a str,
    /// The kind of the file.
    pub kind: FileKind,
    /// Depth of the layer.
    pub depth: u32,
    /// Length of the file, in bytes.
    pub bytes: u64,
    /// Seal of the file, see [`Layer::seal`].
    pub seal: u64,
}

/// Bytes, index and location of a sealed file, shared with its cursors.
#[derive(Debug)]
pub(crate) struct LayerData {
    pub(crate) source: Source,
    pub(crate) layout: Layout,
    /// Samples of the keys. Empty if this process opened the file, as samples are not stored.
    samples: Vec<Sample>,
}

/// A sealed, immutable layer file or run, in memory or on disk. Clones share it. A file on disk stays
/// when they are dropped.
#[derive(Clone, Debug)]
pub struct Layer {
    data: Arc<LayerData>,
}

impl Layer {
    pub(crate) fn new(source: Source, layout: Layout, samples: Vec<Sample>) -> Self {
        Self { data: Arc::new(LayerData { source, layout, samples }) }
    }

    /// Opens a file and checks all of it except the content of its blocks, which cursors check when they
    /// read a block.
    ///
    /// # Errors
    /// `NotFound`, `Io`, `Read`, or `Corrupt` if the file is damaged or is not the expected one.
    pub fn open(fs: Arc<dyn Fs>, path: &Path, expect: &ExpectedFile<'_>) -> Result<Self> {
        let reader = fs.open_read(path).map_err(StoreError::io("open", path))?;
        let location = Location { file: Some((fs, path.to_path_buf())), durable: true, open: None };
        let source = Source::new(Content::file(Arc::from(reader)), location);
        let layout = check_file(path, &source, expect)?;
        Ok(Self::new(source, layout, Vec::new()))
    }

    /// Opens a layer from the content of a file, for instance received from another process. The content
    /// is checked as by [`Layer::open`]. `name` replaces the path in messages.
    ///
    /// # Errors
    /// `Corrupt` if the content is damaged or is not the expected one.
    pub fn from_content(bytes: Vec<u8>, name: &str, expect: &ExpectedFile<'_>) -> Result<Self> {
        let name = PathBuf::from(name);
        let source = in_memory(bytes, &name);
        let layout = check_file(&name, &source, expect)?;
        Ok(Self::new(source, layout, Vec::new()))
    }

    /// Opens a layer from an excerpt of its file, which must have its header and its index. They are checked as
    /// by [`Layer::open`]; a read of other bytes that are missing is an error. `name` replaces the path in
    /// messages.
    ///
    /// # Errors
    /// `Corrupt` if the excerpt is damaged, lacks the header or the index, or is not of the expected file.
    pub fn from_excerpt(excerpt: Excerpt, name: &str, expect: &ExpectedFile<'_>) -> Result<Self> {
        let name = PathBuf::from(name);
        let content = Content::Remote(Remote { excerpt, len: expect.bytes, name: name.clone() });
        let source = Source::new(content, Location::default());
        let layout = check_file(&name, &source, expect)?;
        Ok(Self::new(source, layout, Vec::new()))
    }

    /// Replaces the content of `to` by bytes of the file, unchecked.
    ///
    /// # Errors
    /// `Read` if the file cannot be read there, `Corrupt` if it ends before, `Io` or `NotFound` if a closed
    /// file cannot be opened.
    pub fn read(&self, range: Range<u64>, to: &mut Vec<u8>) -> Result<()> {
        let len = range.end.saturating_sub(range.start) as usize;
        self.data.source.copy(range.start, len, to)
    }

    /// Number of bytes of the file that are at hand: of an excerpt fewer than [`Self::file_bytes`].
    #[must_use]
    pub fn held_bytes(&self) -> u64 {
        self.data.source.held_bytes().unwrap_or(self.file_bytes())
    }

    /// Whether the bytes of a range are there; false if the layer is an excerpt that lacks some of them.
    #[must_use]
    pub fn holds(&self, range: Range<u64>) -> bool {
        self.data.source.holds(range)
    }

    /// Opens a layer from an image, such as [`Layer::image`], without a record of its length and seal.
    ///
    /// It is checked like a file: the header must equal `expect`, and the seal in the image must match the
    /// content. `name` replaces the path in messages.
    ///
    /// # Errors
    /// `Corrupt` if the image is damaged or is not the expected one.
    pub fn from_bytes(bytes: Vec<u8>, name: &str, expect: &LayerHeader) -> Result<Self> {
        let name = PathBuf::from(name);
        let LayerHeader { kind, job, depth, encoding, width } = expect;
        let source = in_memory(bytes, &name);
        let header = check_header(&name, &source, job, *kind, *depth)?;
        format::check(&name, 16, "encoding", encoding, &header.encoding)?;
        format::check(&name, 18, "width", width, &header.width)?;
        let layout = format::read_layout(&name, &source)?;
        Ok(Self::new(source, layout, Vec::new()))
    }

    /// The bytes of the whole file; `None` unless it is in memory.
    #[must_use]
    pub fn image(&self) -> Option<&[u8]> {
        self.data.source.memory()
    }

    pub(crate) fn data(&self) -> &Arc<LayerData> {
        &self.data
    }

    /// The file's header.
    #[must_use]
    pub fn header(&self) -> &LayerHeader {
        &self.data.layout.header
    }

    /// The file's totals.
    #[must_use]
    pub fn totals(&self) -> &LayerTotals {
        &self.data.layout.totals
    }

    /// The blocks, in key order.
    #[must_use]
    pub fn blocks(&self) -> &[BlockMeta] {
        &self.data.layout.blocks
    }

    /// The shards that have states, in ascending order.
    #[must_use]
    pub fn shards(&self) -> &[ShardEntry] {
        &self.data.layout.shards
    }

    /// Length of the whole file, in bytes.
    #[must_use]
    pub fn file_bytes(&self) -> u64 {
        self.data.layout.bytes
    }

    /// Checksum of the whole file. It covers the header, the totals and the checksum of the footer; the
    /// footer has the checksum of each block.
    #[must_use]
    pub fn seal(&self) -> u64 {
        self.data.layout.seal
    }

    /// The path, or the name of an image, for messages.
    #[must_use]
    pub fn name(&self) -> PathBuf {
        self.data.source.name()
    }

    /// The path; `None` while the layer is only in memory.
    #[must_use]
    pub fn path(&self) -> Option<PathBuf> {
        self.data.source.location().file.as_ref().map(|(_, path)| path.clone())
    }

    /// Makes the file durable under its final name: syncs it, renames it, and syncs the folder. Does
    /// nothing if this has been done.
    ///
    /// # Errors
    /// `Io` or `NotFound`. The final name then does not exist, or names the complete file if only the
    /// last step (syncing the folder) failed.
    pub fn persist(&self, fs: &Arc<dyn Fs>, final_path: &Path) -> Result<()> {
        let mut location = self.data.source.location();
        location.open = None;
        let dir = parent(final_path);
        match &location.file {
            Some((_, path)) if location.durable && path == final_path => return Ok(()),
            Some((_, path)) => {
                let file = fs.open_write(path).map_err(StoreError::io("open", path))?;
                file.sync().map_err(StoreError::io("sync", path))?;
                if path != final_path {
                    fs.rename(path, final_path).map_err(StoreError::io("rename", path))?;
                    location.file = Some((fs.clone(), final_path.to_path_buf()));
                    location.durable = false;
                }
                fs.sync_dir(dir).map_err(StoreError::io("sync", dir))?;
            }
            None => {
                write_durably(&**fs, final_path, self.image().unwrap_or_default())?;
                location.file = Some((fs.clone(), final_path.to_path_buf()));
            }
        }
        location.durable = true;
        Ok(())
    }

    /// Gives the file its final name without syncing it, so that others can read it. [`Self::persist`]
    /// makes it durable later. A layer that is only in memory stays there.
    ///
    /// # Errors
    /// `Io` or `NotFound` if the file cannot be renamed.
    pub fn rename(&self, final_path: &Path) -> Result<()> {
        let mut location = self.data.source.location();
        let Some((fs, path)) = location.file.clone().filter(|(_, path)| path != final_path) else {
            return Ok(());
        };
        fs.rename(&path, final_path).map_err(StoreError::io("rename", &path))?;
        // Others may read the file, so it must not be recycled.
        location.open = None;
        location.file = Some((fs, final_path.to_path_buf()));
        location.durable = false;
        Ok(())
    }

    /// Closes the file, so that kept layers take no file descriptors. Each later read opens the file by
    /// its path.
    pub fn close(&self) {
        self.data.source.close();
    }

    /// Up to `parts - 1` increasing keys that split the states evenly, for dividing work. The first key of
    /// the layer is never among them.
    ///
    /// A layer that this process wrote is split at samples of its keys; an opened file is split only at
    /// the first keys of blocks.
    #[must_use]
    pub fn split_keys(&self, parts: usize) -> Vec<EntryKey> {
        let total = self.totals().states;
        // A block that continues a list begins with the last key of the block before: no split between.
        let chains = self.blocks().chunk_by(|before, block| block.follows(before));
        let firsts = chains.map(|blocks| Sample {
            key: blocks[0].first,
            states: blocks.iter().map(|block| u64::from(block.states)).sum(),
        });
        if self.data.samples.is_empty() {
            sample::split_keys(firsts, total, parts)
        } else {
            let splits = sample::split_keys(self.data.samples.iter().copied(), total, parts);
            sample::align_to_blocks(splits, firsts, total, parts)
        }
    }

    /// Drops the layer and returns its file for overwriting; removes the file and returns None if it
    /// cannot be overwritten.
    ///
    /// A file can be overwritten if it is small, was written by
    /// [`LayerWriter::recycling`](crate::LayerWriter::recycling) and neither made durable nor renamed,
    /// and no cursor and no clone of the layer uses it.
    ///
    /// # Errors
    /// `Io`; a missing file is not an error.
    pub fn recycle(self) -> Result<Option<RecycledFile>> {
        let (bytes, source) = match Arc::try_unwrap(self.data) {
            Ok(LayerData { layout, source, .. }) => (layout.bytes, source),
            Err(data) => return Self { data }.remove().map(|()| None),
        };
        let (reader, location) = source.into_parts();
        let Some((fs, path)) = location.file else { return Ok(None) };
        let (Some(reader), Some(file)) = (reader, location.open) else {
            return remove_if_present(&*fs, &path).map(|()| None);
        };
        let unsealed = Unsealed { fs, path, sealed: false };
        Ok(Some(RecycledFile { file, reader, bytes, unsealed }))
    }

    /// Removes the file, if there is one. The disk space is freed once no cursor reads the file.
    ///
    /// # Errors
    /// `Io`; a missing file is not an error.
    pub fn remove(self) -> Result<()> {
        match &self.data.source.location().file {
            Some((fs, path)) => remove_if_present(&**fs, path),
            None => Ok(()),
        }
    }
}

fn in_memory(bytes: Vec<u8>, name: &Path) -> Source {
    let name = name.to_owned();
    Source::new(Content::Memory { bytes, name }, Location::default())
}

/// Checks all of a file except the content of its blocks.
fn check_file(name: &Path, source: &Source, expect: &ExpectedFile<'_>) -> Result<Layout> {
    check_header(name, source, expect.job, expect.kind, expect.depth)?;
    let found = source.len()?;
    format::check(name, found.min(expect.bytes) as usize, "length", &expect.bytes, &found)?;
    let layout = format::read_layout(name, source)?;
    if layout.seal != expect.seal {
        let (expected, found) =
            (format!("seal {:016x}", expect.seal), format!("{:016x}", layout.seal));
        return Err(StoreError::corrupt(name, layout.bytes - 16, expected, found));
    }
    Ok(layout)
}

/// Reads the header and checks that it is the expected one.
fn check_header(
    name: &Path,
    source: &Source,
    job: &str,
    kind: FileKind,
    depth: u32,
) -> Result<LayerHeader> {
    let (header, _) = format::read_header(name, source, &mut Vec::new())?;
    format::check(name, 10, "kind", &kind, &header.kind)?;
    format::check(name, 12, "depth", &depth, &header.depth)?;
    format::check(name, 20, "job", &job, &header.job.as_str())?;
    Ok(header)
}
