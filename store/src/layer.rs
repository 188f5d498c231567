//! Files of regions: written once by several threads, sealed, then read-only.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::block::{BlockMeta, FilePart, MAX_RAW};
use crate::cursor::LayerCursor;
use crate::error::{Result, StoreError};
use crate::format::{self, FileKind, LayerHeader, LayerTotals, Layout, ShardEntry};
use crate::fs::{Fs, FsFile, parent, write_durably};
use crate::key::{EntryKey, KeyRange};
use crate::mapping::Mapping;
use crate::recycled::{self, RecycledFile, Unsealed};
use crate::sample::{self, Sample};

const IN_MEMORY: &str = "<memory>";

/// A file of regions being written: encoders on several threads append their blocks to it.
/// Dropped without being sealed, it removes its file.
#[derive(Debug)]
pub struct LayerWriter {
    header: LayerHeader,
    header_bytes: Vec<u8>,
    sink: Sink,
}

#[derive(Debug)]
enum Sink {
    Memory(Mutex<Vec<u8>>),
    File { file: Box<dyn FsFile>, end: AtomicU64, unsealed: Unsealed, reuse: Reuse },
}

/// Whether the file may be written anew some day.
#[derive(Debug)]
enum Reuse {
    Never,
    Later,
    /// It is written anew now; the map and the length of what was there.
    Now(Mapping),
}

impl LayerWriter {
    /// Keeps everything in memory: for narrow layers.
    ///
    /// # Errors
    /// `Name` if the job id is longer than 255 bytes.
    pub fn memory(header: LayerHeader) -> Result<Self> {
        let header_bytes = format::header_bytes(&header)?;
        let sink = Sink::Memory(Mutex::new(header_bytes.clone()));
        Ok(Self { header, header_bytes, sink })
    }

    /// Creates a file under a temporary name. Nothing is synced before [`Layer::persist`].
    ///
    /// # Errors
    /// `Io` if the file cannot be written, `Name` if the job id is longer than 255 bytes.
    pub fn file(fs: Arc<dyn Fs>, path: &Path, header: LayerHeader) -> Result<Self> {
        Self::create(fs, path, header, Reuse::Never)
    }

    /// The same for a file that can be written anew some day: see [`Layer::recycle`]. It stays open. If
    /// there is a spare one, it becomes that.
    ///
    /// # Errors
    /// As of [`Self::file`]. The spare file is removed then.
    pub fn recycling(
        spare: Option<RecycledFile>,
        fs: Arc<dyn Fs>,
        path: &Path,
        header: LayerHeader,
    ) -> Result<Self> {
        match spare {
            Some(RecycledFile { file, map, unsealed }) => {
                Self::start(file, unsealed, header, Reuse::Now(map))
            }
            None => Self::create(fs, path, header, Reuse::Later),
        }
    }

    fn create(fs: Arc<dyn Fs>, path: &Path, header: LayerHeader, reuse: Reuse) -> Result<Self> {
        let file = fs.create(path).map_err(StoreError::io("create", path))?;
        let unsealed = Unsealed { fs, path: path.to_path_buf(), sealed: false };
        Self::start(file, unsealed, header, reuse)
    }

    fn start(
        file: Box<dyn FsFile>,
        unsealed: Unsealed,
        header: LayerHeader,
        reuse: Reuse,
    ) -> Result<Self> {
        let header_bytes = format::header_bytes(&header)?;
        let path = &unsealed.path;
        file.write_all_at(&header_bytes, 0).map_err(StoreError::io("write", path))?;
        let end = AtomicU64::new(header_bytes.len() as u64);
        Ok(Self { header, header_bytes, sink: Sink::File { file, end, unsealed, reuse } })
    }

    /// What the file says it is.
    #[must_use]
    pub fn header(&self) -> &LayerHeader {
        &self.header
    }

    /// Bytes so far, without what encoders still hold.
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

    /// Appends bytes as a whole and returns their offset.
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
    /// `Io` if the file cannot be written or mapped; `Inconsistent` if parts overlap or the totals
    /// differ from what the encoders counted. The file is removed then.
    pub fn seal(self, parts: Vec<FilePart>, totals: LayerTotals) -> Result<Layer> {
        let (blocks, shards, samples) = self.join(parts, &totals)?;
        let at = self.bytes();
        let (tail, seal) = format::tail_bytes(&self.header_bytes, &totals, &blocks, &shards, at);
        let bytes = at + tail.len() as u64;
        let (content, place) = match self.sink {
            Sink::Memory(all) => {
                let mut all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
                all.extend_from_slice(&tail);
                // Whoever keeps it counts its length.
                all.shrink_to_fit();
                (Content::Memory { bytes: all, name: IN_MEMORY.into() }, Place::default())
            }
            Sink::File { file, unsealed, reuse, .. } => {
                let path = &unsealed.path;
                file.write_all_at(&tail, at).map_err(StoreError::io("write", path))?;
                seal_file(file, unsealed, reuse, bytes)?
            }
        };
        let layout = Layout { header: self.header, totals, blocks, shards, bytes, seal };
        Ok(Layer::new(content, layout, place, samples))
    }

    fn join(
        &self,
        parts: Vec<FilePart>,
        totals: &LayerTotals,
    ) -> Result<(Vec<BlockMeta>, Vec<ShardEntry>, Vec<Sample>)> {
        let wrong = |what| StoreError::Inconsistent { file: self.name(), what };
        let mut parts = parts.into_iter();
        let first = parts.next().unwrap_or_default();
        let FilePart { mut blocks, shards: mut counts, mut samples } = first;
        for part in parts {
            blocks.extend(part.blocks);
            counts.extend(part.shards);
            samples.extend(part.samples);
        }
        blocks.sort_by_key(|block| (block.first, block.last));
        for pair in blocks.windows(2) {
            let (a, b) = (pair[0].last, pair[1].first);
            if a > b || (a == b && self.header.kind == FileKind::Layer) {
                return Err(wrong(format!("a block that ends at {a} overlaps one from {b}")));
            }
        }
        counts.sort_by_key(|count| count.shard);
        let mut shards: Vec<ShardEntry> = Vec::with_capacity(counts.len());
        for count in counts {
            match shards.last_mut() {
                Some(last) if last.shard == count.shard => {
                    last.regions += count.regions;
                    last.states += count.states;
                }
                _ => shards.push(ShardEntry {
                    shard: count.shard,
                    first_block: format::first_block_of(&blocks, count.shard),
                    regions: count.regions,
                    states: count.states,
                }),
            }
        }
        let counted = shards.iter().fold((0, 0), |sum, s| (sum.0 + s.regions, sum.1 + s.states));
        if counted != (totals.regions, totals.states) {
            return Err(wrong(format!(
                "{} regions and {} states announced, {} and {} written",
                totals.regions, totals.states, counted.0, counted.1
            )));
        }
        Ok((blocks, shards, sample::merge(samples)))
    }
}

/// Maps a file that is complete, of so many bytes.
fn seal_file(
    file: Box<dyn FsFile>,
    mut unsealed: Unsealed,
    reuse: Reuse,
    bytes: u64,
) -> Result<(Content, Place)> {
    let path = &unsealed.path;
    let keep = !matches!(reuse, Reuse::Never) && bytes <= recycled::MAX_BYTES;
    let mut map = None;
    if let Reuse::Now(old) = reuse {
        if bytes < old.bytes().len() as u64 {
            file.truncate(bytes).map_err(StoreError::io("truncate", path))?;
        }
        map = old.of_new_content(bytes as usize);
    }
    let map = match map {
        Some(map) => map,
        None => unsealed.fs.map(path).map_err(StoreError::io("map", path))?,
    };
    let found = map.bytes().len() as u64;
    if found != bytes {
        return Err(StoreError::corrupt(path, found, format!("{bytes} bytes"), found));
    }
    unsealed.sealed = true;
    let (fs, path) = (unsealed.fs.clone(), path.clone());
    let place = Place { file: Some((fs, path)), durable: false, open: keep.then_some(file) };
    Ok((Content::Map(map), place))
}

/// What a file must be according to the manifest.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct ExpectedFile<'a> {
    /// The job it belongs to.
    pub job: &'a str,
    /// Layer or run.
    pub kind: FileKind,
    /// The layer's depth.
    pub depth: u32,
    /// The file's length.
    pub bytes: u64,
    /// The file's seal, see [`Layer::seal`].
    pub seal: u64,
}

/// What [`Layer::verify`] counted.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq)]
pub struct VerifiedCounts {
    /// Regions (entries, in a run).
    pub regions: u64,
    /// States.
    pub states: u64,
}

/// The bytes, the index and the whereabouts of a sealed file, shared with the cursors on it.
#[derive(Debug)]
pub(crate) struct LayerData {
    content: Content,
    pub(crate) layout: Layout,
    place: Mutex<Place>,
    /// None if the file was opened: they are not stored.
    samples: Vec<Sample>,
}

#[derive(Debug)]
enum Content {
    Memory {
        bytes: Vec<u8>,
        /// For messages, as long as it has no path.
        name: PathBuf,
    },
    Map(Mapping),
}

#[derive(Debug, Default)]
struct Place {
    file: Option<(Arc<dyn Fs>, PathBuf)>,
    /// Synced under its final name.
    durable: bool,
    /// For writing it anew.
    open: Option<Box<dyn FsFile>>,
}

impl LayerData {
    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.content {
            Content::Memory { bytes, .. } => bytes,
            Content::Map(map) => map.bytes(),
        }
    }

    /// Lets go of mapped pages.
    pub(crate) fn release(&self, range: Range<usize>) {
        if let Content::Map(map) = &self.content {
            map.release(range);
        }
    }

    /// The path, for messages.
    pub(crate) fn name(&self) -> PathBuf {
        match (&lock(&self.place).file, &self.content) {
            (Some((_, path)), _) => path.clone(),
            (None, Content::Memory { name, .. }) => name.clone(),
            // Whatever is mapped has a path.
            (None, Content::Map(_)) => PathBuf::default(),
        }
    }
}

/// A sealed, immutable file of regions, in memory or mapped. Dropping it keeps its file.
#[derive(Debug)]
pub struct Layer {
    data: Arc<LayerData>,
}

impl Layer {
    fn new(content: Content, layout: Layout, place: Place, samples: Vec<Sample>) -> Self {
        let place = Mutex::new(place);
        Self { data: Arc::new(LayerData { content, layout, place, samples }) }
    }

    /// Opens a file and checks everything but the blocks' content, which cursors check as they
    /// read it.
    ///
    /// # Errors
    /// `NotFound`, `Io`, or `Corrupt` if the file is damaged or not the expected one.
    pub fn open(fs: Arc<dyn Fs>, path: &Path, expect: &ExpectedFile<'_>) -> Result<Self> {
        let map = fs.map(path).map_err(StoreError::io("map", path))?;
        let bytes = map.bytes();
        check_header(path, bytes, expect.job, expect.kind, expect.depth)?;
        let found = bytes.len() as u64;
        format::check(path, found.min(expect.bytes) as usize, "length", &expect.bytes, &found)?;
        let layout = format::read_layout(path, bytes, MAX_RAW)?;
        if layout.seal != expect.seal {
            let (expected, found) =
                (format!("seal {:016x}", expect.seal), format!("{:016x}", layout.seal));
            return Err(StoreError::corrupt(path, layout.bytes - 16, expected, found));
        }
        let place = Place { file: Some((fs, path.to_path_buf())), durable: true, open: None };
        Ok(Self::new(Content::Map(map), layout, place, Vec::new()))
    }

    /// Opens the image of a file, as [`Layer::image`] gives it and as it may have come from
    /// elsewhere: it is trusted no more than a file, and checked as one. What the header says must
    /// be `expect`; the seal is not expected but must fit. `name` stands for the path in messages.
    ///
    /// # Errors
    /// `Corrupt` if the image is damaged or not the expected one.
    pub fn from_bytes(bytes: Vec<u8>, name: &str, expect: &LayerHeader) -> Result<Self> {
        let name = PathBuf::from(name);
        let LayerHeader { kind, job, depth, encoding } = expect;
        let header = check_header(&name, &bytes, job, *kind, *depth)?;
        format::check(&name, 16, "encoding", encoding, &header.encoding)?;
        let layout = format::read_layout(&name, &bytes, MAX_RAW)?;
        let content = Content::Memory { bytes, name };
        Ok(Self::new(content, layout, Place::default(), Vec::new()))
    }

    /// The bytes of the whole file, if it is in memory.
    #[must_use]
    pub fn image(&self) -> Option<&[u8]> {
        match &self.data.content {
            Content::Memory { bytes, .. } => Some(bytes),
            Content::Map(_) => None,
        }
    }

    /// The same without a copy.
    ///
    /// # Errors
    /// The layer itself if it is not in memory or a cursor is on it.
    pub fn into_image(self) -> std::result::Result<Vec<u8>, Self> {
        match Arc::try_unwrap(self.data) {
            Ok(LayerData { content: Content::Memory { bytes, .. }, .. }) => Ok(bytes),
            Ok(data) => Err(Self { data: Arc::new(data) }),
            Err(data) => Err(Self { data }),
        }
    }

    pub(crate) fn data(&self) -> &Arc<LayerData> {
        &self.data
    }

    /// What the file says it is.
    #[must_use]
    pub fn header(&self) -> &LayerHeader {
        &self.data.layout.header
    }

    /// What it holds.
    #[must_use]
    pub fn totals(&self) -> &LayerTotals {
        &self.data.layout.totals
    }

    /// Its blocks, in key order.
    #[must_use]
    pub fn blocks(&self) -> &[BlockMeta] {
        &self.data.layout.blocks
    }

    /// Its shards, in order; only those that have states.
    #[must_use]
    pub fn shards(&self) -> &[ShardEntry] {
        &self.data.layout.shards
    }

    /// Bytes of the whole file.
    #[must_use]
    pub fn file_bytes(&self) -> u64 {
        self.data.layout.bytes
    }

    /// The checksum over everything: it covers header, totals and the footer's checksum, and the
    /// footer the blocks' checksums. A manifest that holds it vouches for every byte of the file.
    #[must_use]
    pub fn seal(&self) -> u64 {
        self.data.layout.seal
    }

    /// The path, or what stands for it, for messages.
    #[must_use]
    pub fn name(&self) -> PathBuf {
        self.data.name()
    }

    /// Where the file is; `None` while it is in memory only.
    #[must_use]
    pub fn path(&self) -> Option<PathBuf> {
        lock(&self.data.place).file.as_ref().map(|(_, path)| path.clone())
    }

    /// Makes the file durable under its final name: synced, renamed, folder synced. Does nothing
    /// if it is already.
    ///
    /// # Errors
    /// `Io`. Under the final name is then nothing, or the complete file if only the last step
    /// (syncing the folder) failed.
    pub fn persist(&self, fs: &Arc<dyn Fs>, final_path: &Path) -> Result<()> {
        let mut place = lock(&self.data.place);
        place.open = None;
        let dir = parent(final_path);
        match &place.file {
            Some((_, path)) if place.durable && path == final_path => return Ok(()),
            Some((_, path)) => {
                let file = fs.open_write(path).map_err(StoreError::io("open", path))?;
                file.sync().map_err(StoreError::io("sync", path))?;
                if path != final_path {
                    fs.rename(path, final_path).map_err(StoreError::io("rename", path))?;
                    place.file = Some((fs.clone(), final_path.to_path_buf()));
                    place.durable = false;
                }
                fs.sync_dir(dir).map_err(StoreError::io("sync", dir))?;
            }
            None => {
                write_durably(&**fs, final_path, self.data.bytes())?;
                place.file = Some((fs.clone(), final_path.to_path_buf()));
            }
        }
        place.durable = true;
        Ok(())
    }

    /// Re-reads the whole file: index, checksum of every block, order of keys and locals, and all
    /// counts. `visit` gets every region, for instance to recompute the digest, which this function
    /// does not check.
    ///
    /// # Errors
    /// `Corrupt` at the first mismatch.
    pub fn verify(&self, visit: &mut dyn FnMut(EntryKey, &[u32])) -> Result<VerifiedCounts> {
        let name = self.data.name();
        let layout = format::read_layout(&name, self.data.bytes(), MAX_RAW)?;
        let mut cursor = LayerCursor::new()?;
        let mut shards: Vec<(u32, u64, u64)> = Vec::with_capacity(layout.shards.len());
        let mut count = VerifiedCounts::default();
        cursor.start(self, KeyRange::ALL)?;
        while let Some(key) = cursor.key() {
            let locals = cursor.locals()?;
            let states = locals.len() as u64;
            visit(key, locals);
            match shards.last_mut() {
                Some(last) if last.0 == key.shard => {
                    last.1 += 1;
                    last.2 += states;
                }
                _ => shards.push((key.shard, 1, states)),
            }
            count.regions += 1;
            count.states += states;
            cursor.advance()?;
        }
        let listed: Vec<_> = layout.shards.iter().map(|s| (s.shard, s.regions, s.states)).collect();
        if let Some(i) =
            (0..listed.len().max(shards.len())).find(|&i| listed.get(i) != shards.get(i))
        {
            let offset = layout.shard_offset(i);
            let (expected, found) = (listed.get(i), shards.get(i));
            let expected = format!("(shard, regions, states) {expected:?}");
            return Err(StoreError::corrupt(&name, offset, expected, format!("{found:?}")));
        }
        Ok(count)
    }

    /// Up to `parts - 1` increasing keys that split the states evenly: where to split the work. None
    /// is the first key. A layer that was written by this process can be split anywhere; of an opened
    /// file only the blocks' first keys are known.
    #[must_use]
    pub fn split_keys(&self, parts: usize) -> Vec<EntryKey> {
        let total = self.totals().states;
        let blocks = self.blocks().iter();
        let firsts =
            blocks.map(|block| Sample { key: block.first, states: u64::from(block.states) });
        if self.data.samples.is_empty() {
            sample::split_keys(firsts, total, parts)
        } else {
            let cuts = sample::split_keys(self.data.samples.iter().copied(), total, parts);
            sample::align_to_blocks(cuts, firsts, total, parts)
        }
    }

    /// Gives up the layer: its file can be written anew if it is small, was never made durable, was
    /// written by [`LayerWriter::recycling`] and no cursor is on it. Else it is removed, if there is one.
    ///
    /// # Errors
    /// `Io`; a file that is gone already is fine.
    pub fn recycle(self) -> Result<Option<RecycledFile>> {
        let (content, place) = match Arc::try_unwrap(self.data) {
            Ok(LayerData { content, place, .. }) => {
                (content, place.into_inner().unwrap_or_else(PoisonError::into_inner))
            }
            Err(data) => return Self { data }.remove().map(|()| None),
        };
        let Some((fs, path)) = place.file else { return Ok(None) };
        match (content, place.open) {
            (Content::Map(map), Some(file)) => {
                Ok(Some(RecycledFile { file, map, unsealed: Unsealed { fs, path, sealed: false } }))
            }
            _ => remove_file(&*fs, &path).map(|()| None),
        }
    }

    /// Removes the file, if there is one. Its space is free once no cursor is on it any more.
    ///
    /// # Errors
    /// `Io`; a file that is gone already is fine.
    pub fn remove(self) -> Result<()> {
        match &lock(&self.data.place).file {
            Some((fs, path)) => remove_file(&**fs, path),
            None => Ok(()),
        }
    }
}

/// Reads the header and checks what the file belongs to.
fn check_header(
    name: &Path,
    bytes: &[u8],
    job: &str,
    kind: FileKind,
    depth: u32,
) -> Result<LayerHeader> {
    let (header, _) = format::read_header(name, bytes)?;
    format::check(name, 10, "kind", &kind, &header.kind)?;
    format::check(name, 12, "depth", &depth, &header.depth)?;
    format::check(name, 20, "job", &job, &header.job.as_str())?;
    Ok(header)
}

/// Removes a file that may be gone already.
pub(crate) fn remove_file(fs: &dyn Fs, path: &Path) -> Result<()> {
    match fs.remove(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(StoreError::io("remove", path)(error))
        }
        _ => Ok(()),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
