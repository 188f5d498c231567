//! The history of a search: one JSON line a layer, appended as the search goes. A checkpoint
//! vouches for a prefix of it.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::error::{Result, StoreError};
use crate::format::FileKind;
use crate::fs::{Fs, FsFile};
use crate::layer::{ExpectedFile, Layer};
use crate::manifest::{Hex64, Hex128, HistoryPrefix, check_name};

/// A reader of a running job's history sees lines at most this late, if layers keep coming.
const FLUSH_EVERY: Duration = Duration::from_millis(200);
const FLUSH_BYTES: usize = 64 << 10;

/// A layer's file that is kept for tracing a path back.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptFile {
    /// The worker that has the file.
    pub worker: u32,
    /// File name in the job's folder.
    pub file: String,
    /// Length of the file.
    pub bytes: u64,
    /// The file's seal.
    pub seal: Hex64,
}

impl KeptFile {
    /// Describes a persisted layer file of a worker; `None` if it is in memory only.
    #[must_use]
    pub fn of(layer: &Layer, worker: u32) -> Option<Self> {
        let file = layer.path()?.file_name()?.to_str()?.to_owned();
        Some(Self { worker, file, bytes: layer.file_bytes(), seal: Hex64(layer.seal()) })
    }

    /// What the file must be, for [`Layer::open`].
    #[must_use]
    pub fn expect<'a>(&self, job: &'a str, depth: u32) -> ExpectedFile<'a> {
        ExpectedFile { job, kind: FileKind::Layer, depth, bytes: self.bytes, seal: self.seal.0 }
    }
}

/// What the history says of one layer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HistoryLine {
    /// Distance from the start.
    pub depth: u32,
    /// States in the layer.
    pub states: u64,
    /// Legal moves of the states.
    pub generated: u64,
    /// Regions in it.
    pub regions: u64,
    /// Bytes of its files.
    pub bytes: u64,
    /// Digest of its states.
    pub digest: Hex128,
    /// Search time from the start until the layer was complete.
    pub seconds: f64,
    /// Its files, if they are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<Vec<KeptFile>>,
}

/// Appends to a history.
pub struct History {
    path: PathBuf,
    file: Box<dyn FsFile>,
    /// Bytes in the file, and lines not written yet.
    written: u64,
    buffer: Vec<u8>,
    lines: u64,
    hash: Xxh3,
    flushed: Instant,
}

impl std::fmt::Debug for History {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("History").field("path", &self.path).field("lines", &self.lines).finish()
    }
}

impl History {
    /// Starts an empty history; an older file is emptied.
    ///
    /// # Errors
    /// `Io`.
    pub fn create(fs: &dyn Fs, path: &Path) -> Result<Self> {
        let file = fs.create(path).map_err(StoreError::io("create", path))?;
        Ok(Self {
            path: path.to_path_buf(),
            file,
            written: 0,
            buffer: Vec::new(),
            lines: 0,
            hash: Xxh3::new(),
            flushed: Instant::now(),
        })
    }

    /// Checks the prefix that a checkpoint vouches for, cuts off what follows it, and goes on from
    /// there. Returns the prefix's lines, too.
    ///
    /// # Errors
    /// `NotFound`, `Io`, or `Corrupt` if the prefix is not what the checkpoint names.
    pub fn resume(
        fs: &dyn Fs,
        path: &Path,
        record: &HistoryPrefix,
    ) -> Result<(Self, Vec<HistoryLine>)> {
        let bytes = fs.read(path).map_err(StoreError::io("read", path))?;
        let prefix = check_prefix(path, &bytes, record)?;
        let lines = parse_lines(path, prefix)?;
        let file = fs.open_write(path).map_err(StoreError::io("open", path))?;
        file.truncate(record.bytes).map_err(StoreError::io("cut off", path))?;
        let mut hash = Xxh3::new();
        hash.update(prefix);
        let history = Self {
            path: path.to_path_buf(),
            file,
            written: record.bytes,
            buffer: Vec::new(),
            lines: record.lines,
            hash,
            flushed: Instant::now(),
        };
        Ok((history, lines))
    }

    /// Adds a line. It reaches the file at once if nothing was written for 200 ms, else with a
    /// later line or [`History::flush`].
    ///
    /// # Errors
    /// `Io`.
    pub fn append(&mut self, line: &HistoryLine) -> Result<()> {
        let start = self.buffer.len();
        serde_json::to_writer(&mut self.buffer, line)
            .map_err(|error| StoreError::io("write", &self.path)(error.into()))?;
        self.buffer.push(b'\n');
        self.hash.update(&self.buffer[start..]);
        self.lines += 1;
        if self.buffer.len() >= FLUSH_BYTES || self.flushed.elapsed() >= FLUSH_EVERY {
            self.flush()?;
        }
        Ok(())
    }

    /// Writes what is buffered, so that readers see it; not durable yet.
    ///
    /// # Errors
    /// `Io`; what is buffered is kept and written by the next call.
    pub fn flush(&mut self) -> Result<()> {
        if !self.buffer.is_empty() {
            let written = self.file.write_all_at(&self.buffer, self.written);
            written.map_err(StoreError::io("write", &self.path))?;
            self.written += self.buffer.len() as u64;
            self.buffer.clear();
        }
        self.flushed = Instant::now();
        Ok(())
    }

    /// Makes everything durable and returns what the checkpoint is to say of it. The file's name
    /// becomes durable with the manifest, which is written into the same folder.
    ///
    /// # Errors
    /// `Io`.
    pub fn checkpoint(&mut self) -> Result<HistoryPrefix> {
        self.flush()?;
        self.file.sync().map_err(StoreError::io("sync", &self.path))?;
        let checksum = Hex64(self.hash.digest());
        Ok(HistoryPrefix { bytes: self.written, lines: self.lines, checksum })
    }
}

/// What can be read of a history, perhaps while it is being written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HistoryView {
    /// All complete lines.
    pub lines: Vec<HistoryLine>,
    /// How many of them, from the end, come after the checkpoint: a crash would undo them.
    pub after_checkpoint: usize,
}

/// Reads a history: the prefix that the checkpoint vouches for is checked; behind it, lines are
/// read up to the first that is incomplete.
///
/// # Errors
/// `Io`, or `Corrupt` if the prefix is not what the checkpoint names. Without a checkpoint, a
/// missing file is an empty history.
pub fn read_history(
    fs: &dyn Fs,
    path: &Path,
    record: Option<&HistoryPrefix>,
) -> Result<HistoryView> {
    let bytes = match fs.read(path).map_err(StoreError::io("read", path)) {
        Err(StoreError::NotFound { .. }) if record.is_none() => return Ok(HistoryView::default()),
        other => other?,
    };
    let prefix = record.map_or(Ok(&[][..]), |record| check_prefix(path, &bytes, record))?;
    let mut lines = parse_lines(path, prefix)?;
    let durable = lines.len();
    for line in bytes[prefix.len()..].split_inclusive(|&b| b == b'\n') {
        let complete = line.ends_with(b"\n").then(|| serde_json::from_slice(line).ok()).flatten();
        match complete {
            Some(line) => lines.push(line),
            None => break,
        }
    }
    let after_checkpoint = lines.len() - durable;
    Ok(HistoryView { lines, after_checkpoint })
}

fn check_prefix<'a>(path: &Path, bytes: &'a [u8], record: &HistoryPrefix) -> Result<&'a [u8]> {
    let len = usize::try_from(record.bytes).unwrap_or(usize::MAX);
    let Some(prefix) = bytes.get(..len) else {
        let expected = format!("at least {} bytes", record.bytes);
        return Err(StoreError::corrupt(path, bytes.len() as u64, expected, bytes.len()));
    };
    let found = Hex64(xxh3_64(prefix));
    if found != record.checksum {
        let expected = format!("checksum {} of the first {len} bytes", record.checksum);
        return Err(StoreError::corrupt(path, 0, expected, found));
    }
    let lines = prefix.iter().filter(|&&b| b == b'\n').count() as u64;
    if lines != record.lines {
        let expected = format!("{} lines in the first {len} bytes", record.lines);
        return Err(StoreError::corrupt(path, 0, expected, lines));
    }
    Ok(prefix)
}

fn parse_lines(path: &Path, prefix: &[u8]) -> Result<Vec<HistoryLine>> {
    let mut at = 0;
    let mut lines = Vec::new();
    for text in prefix.split_inclusive(|&b| b == b'\n') {
        let line: HistoryLine = serde_json::from_slice(text).map_err(|error| {
            let offset = at + error.column().saturating_sub(1) as u64;
            StoreError::corrupt(path, offset, "a line of a layer", error)
        })?;
        for kept in line.kept.iter().flatten() {
            if check_name("file name", &kept.file).is_err() {
                let found = format!("{:?}", kept.file);
                return Err(StoreError::corrupt(path, at, "a plain file name", found));
            }
        }
        at += text.len() as u64;
        lines.push(line);
    }
    Ok(lines)
}
