//! The writer of a layer file, shared by the encoders of several threads.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{Result, StoreError};
use crate::fs::file_system::{Fs, FsFile, FsRead};
use crate::layer::file::Layer;
use crate::layer::format::{self, FileKind, LayerHeader, LayerTotals, Layout};
use crate::layer::index::{FilePart, Index};
use crate::layer::recycled::{MAX_BYTES, RecycledFile, Unsealed};
use crate::layer::source::{Content, Location, Source, lock};

const IN_MEMORY: &str = "<memory>";

/// A layer file that is being written. Encoders on several threads append their blocks to it. The file is
/// removed if the writer is dropped before [`LayerWriter::seal`].
#[derive(Debug)]
pub struct LayerWriter {
    header: LayerHeader,
    header_bytes: Vec<u8>,
    sink: Sink,
}

#[derive(Debug)]
enum Sink {
    Memory(Mutex<Vec<u8>>),
    File { file: Box<dyn FsFile>, end: AtomicU64, unsealed: Unsealed, recycling: Recycling },
}

/// Whether a file can be recycled.
#[derive(Debug)]
enum Recycling {
    /// Never: the file is closed when it is sealed.
    Off,
    /// A new file, which stays open so that it can be overwritten later.
    New,
    /// An overwritten file, open for reading, and the length of its old content.
    Overwritten(Arc<dyn FsRead>, u64),
}

impl LayerWriter {
    /// A writer to memory, for narrow layers.
    ///
    /// # Errors
    /// `Name` if the job id is longer than 255 bytes.
    pub fn memory(header: LayerHeader) -> Result<Self> {
        let header_bytes = format::header_bytes(&header)?;
        let sink = Sink::Memory(Mutex::new(header_bytes.clone()));
        Ok(Self { header, header_bytes, sink })
    }

    /// Creates a file, usually under a temporary name. It is synced only by [`Layer::persist`].
    ///
    /// # Errors
    /// `Io` if the file cannot be written, `Name` if the job id is longer than 255 bytes.
    pub fn file(fs: Arc<dyn Fs>, path: &Path, header: LayerHeader) -> Result<Self> {
        Self::create(fs, path, header, Recycling::Off)
    }

    /// Overwrites `recycled`, or creates a file at `path`. [`Layer::recycle`] can return the file later. A
    /// recycled file keeps its old path.
    ///
    /// # Errors
    /// Those of [`Self::file`]; the recycled file is then removed.
    pub fn recycling(
        recycled: Option<RecycledFile>,
        fs: Arc<dyn Fs>,
        path: &Path,
        header: LayerHeader,
    ) -> Result<Self> {
        match recycled {
            Some(RecycledFile { file, reader, bytes, unsealed }) => {
                Self::start(file, unsealed, header, Recycling::Overwritten(reader, bytes))
            }
            None => Self::create(fs, path, header, Recycling::New),
        }
    }

    fn create(
        fs: Arc<dyn Fs>,
        path: &Path,
        header: LayerHeader,
        recycling: Recycling,
    ) -> Result<Self> {
        let file = fs.create(path).map_err(StoreError::io("create", path))?;
        let unsealed = Unsealed { fs, path: path.to_path_buf(), sealed: false };
        Self::start(file, unsealed, header, recycling)
    }

    fn start(
        file: Box<dyn FsFile>,
        unsealed: Unsealed,
        header: LayerHeader,
        recycling: Recycling,
    ) -> Result<Self> {
        let header_bytes = format::header_bytes(&header)?;
        let path = &unsealed.path;
        file.write_all_at(&header_bytes, 0).map_err(StoreError::io("write", path))?;
        let end = AtomicU64::new(header_bytes.len() as u64);
        Ok(Self { header, header_bytes, sink: Sink::File { file, end, unsealed, recycling } })
    }

    /// The file's header.
    #[must_use]
    pub fn header(&self) -> &LayerHeader {
        &self.header
    }

    /// Number of bytes written so far, without those that encoders still buffer.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        match &self.sink {
            Sink::Memory(bytes) => lock(bytes).len() as u64,
            Sink::File { end, .. } => end.load(Ordering::Relaxed),
        }
    }

    /// The path, for messages.
    pub(crate) fn name(&self) -> PathBuf {
        match &self.sink {
            Sink::Memory(_) => PathBuf::from(IN_MEMORY),
            Sink::File { unsealed, .. } => unsealed.path.clone(),
        }
    }

    /// Appends contiguous bytes and returns their offset.
    pub(crate) fn append(&self, bytes: &[u8]) -> Result<u64> {
        match &self.sink {
            Sink::Memory(all) => {
                let mut all = lock(all);
                let start = all.len() as u64;
                all.extend_from_slice(bytes);
                Ok(start)
            }
            Sink::File { file, end, unsealed, .. } => {
                let start = end.fetch_add(bytes.len() as u64, Ordering::Relaxed);
                let path = &unsealed.path;
                file.write_all_at(bytes, start).map_err(StoreError::io("write", path))?;
                Ok(start)
            }
        }
    }

    /// Completes the file from the parts of all encoders and makes it readable.
    ///
    /// # Errors
    /// `Io` if the file cannot be written or opened, `Inconsistent` if parts overlap or `totals`
    /// differ from what the encoders counted. The file is then removed.
    pub fn seal(self, parts: Vec<FilePart>, totals: LayerTotals) -> Result<Layer> {
        let Index { blocks, shards, samples } = self.index(parts, &totals)?;
        let at = self.bytes();
        let (tail, seal) = format::tail_bytes(&self.header_bytes, &totals, &blocks, &shards, at);
        let bytes = at + tail.len() as u64;
        let (content, location) = match self.sink {
            Sink::Memory(all) => {
                let mut all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
                all.extend_from_slice(&tail);
                // Memory budgets count the length only, so the capacity must not exceed it.
                all.shrink_to_fit();
                (Content::Memory { bytes: all, name: IN_MEMORY.into() }, Location::default())
            }
            Sink::File { file, unsealed, recycling, .. } => {
                let path = &unsealed.path;
                file.write_all_at(&tail, at).map_err(StoreError::io("write", path))?;
                seal_file(file, unsealed, recycling, bytes)?
            }
        };
        let layout = Layout { header: self.header, totals, blocks, shards, bytes, seal };
        Ok(Layer::new(Source::new(content, location), layout, samples))
    }

    fn index(&self, parts: Vec<FilePart>, totals: &LayerTotals) -> Result<Index> {
        let inconsistent = |what| StoreError::Inconsistent { file: self.name(), what };
        let kind = self.header.kind;
        let index = Index::join(parts, kind == FileKind::Run, kind.continues_lists());
        let index = index.map_err(inconsistent)?;
        let counted = index.shards.iter().fold((0, 0), |sum, shard| {
            let (regions, states) = sum;
            (regions + shard.regions, states + shard.states)
        });
        if counted != (totals.regions, totals.states) {
            return Err(inconsistent(format!(
                "{} regions and {} states announced, {} and {} written",
                totals.regions, totals.states, counted.0, counted.1
            )));
        }
        Ok(index)
    }
}

/// Opens a complete file of `bytes` bytes for reading.
fn seal_file(
    file: Box<dyn FsFile>,
    mut unsealed: Unsealed,
    recycling: Recycling,
    bytes: u64,
) -> Result<(Content, Location)> {
    let path = &unsealed.path;
    let stays_open = !matches!(recycling, Recycling::Off) && bytes <= MAX_BYTES;
    let reader = match recycling {
        Recycling::Overwritten(reader, old) => {
            if bytes < old {
                file.truncate(bytes).map_err(StoreError::io("truncate", path))?;
            }
            reader
        }
        Recycling::Off | Recycling::New => {
            Arc::from(unsealed.fs.open_read(path).map_err(StoreError::io("open", path))?)
        }
    };
    let found = reader.size().map_err(StoreError::io("read", path))?;
    if found != bytes {
        return Err(StoreError::corrupt(path, found.min(bytes), format!("{bytes} bytes"), found));
    }
    unsealed.sealed = true;
    let (fs, path) = (unsealed.fs.clone(), path.clone());
    let open = stays_open.then_some(file);
    Ok((Content::file(reader), Location { file: Some((fs, path)), durable: false, open }))
}
