//! The history of a search: one JSON line per layer, appended during the search.
//!
//! Lines are buffered and become durable with a checkpoint, which records the length and the
//! checksum of the prefix that belongs to it.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::error::{Result, StoreError};
use crate::fs::file_system::{Fs, FsFile};
use crate::hex::Hex64;
use crate::job::checkpoint::HistoryPrefix;
use crate::job::layer_record::LayerRecord;
use crate::name::check_name;

/// Longest time that lines stay in the buffer while layers are added.
const FLUSH_EVERY: Duration = Duration::from_millis(200);
const FLUSH_BYTES: usize = 64 << 10;

/// Writer of a history.
pub struct History {
    path: PathBuf,
    file: Box<dyn FsFile>,
    /// Bytes in the file.
    written: u64,
    /// Lines that are not in the file yet.
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
    /// Creates an empty history, or empties the existing one.
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

    /// Resumes a history at a checkpoint: checks the prefix and cuts off what follows it. Returns the
    /// history and the lines of the prefix.
    ///
    /// # Errors
    /// `NotFound`, `Io`, or `Corrupt` if the prefix differs from what the checkpoint records.
    pub fn resume(
        fs: &dyn Fs,
        path: &Path,
        record: &HistoryPrefix,
    ) -> Result<(Self, Vec<LayerRecord>)> {
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

    /// Appends a line. It is written at once if the last write was at least 200 ms ago; otherwise it is
    /// buffered until a later line or [`History::flush`].
    ///
    /// # Errors
    /// `Io`.
    pub fn append(&mut self, line: &LayerRecord) -> Result<()> {
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

    /// Writes the buffered lines, so that readers see them. They are not durable yet.
    ///
    /// # Errors
    /// `Io`; the lines stay in the buffer, and the next call writes them.
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

    /// Makes all lines durable and returns their length, number and checksum, for the checkpoint. The
    /// file's name becomes durable with the manifest, which is in the same folder.
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

/// The complete lines of a history, which a process may still be writing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HistoryView {
    /// All complete lines.
    pub lines: Vec<LayerRecord>,
    /// Number of lines at the end that follow the checkpoint. A resume cuts them off.
    pub after_checkpoint: usize,
}

/// Reads a history: the prefix of a checkpoint, which is checked, and the complete lines after it.
/// Without a checkpoint, a missing file is an empty history.
///
/// # Errors
/// `NotFound` if there is a checkpoint but no file, `Io`, or `Corrupt` if the prefix differs from
/// what the checkpoint records.
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
            Some(line) if strange_name(&line).is_none() => lines.push(line),
            _ => break,
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
    if prefix.last().is_some_and(|&b| b != b'\n') {
        let found = "a part of a line";
        return Err(StoreError::corrupt(path, record.bytes, "the end of a line", found));
    }
    let lines = prefix.iter().filter(|&&b| b == b'\n').count() as u64;
    if lines != record.lines {
        let expected = format!("{} lines in the first {len} bytes", record.lines);
        return Err(StoreError::corrupt(path, 0, expected, lines));
    }
    Ok(prefix)
}

/// The first file name of a line that is not a plain name; None if all are.
fn strange_name(line: &LayerRecord) -> Option<&str> {
    let mut names = line.kept.iter().map(|kept| kept.file.as_str());
    names.find(|name| check_name("file name", name).is_err())
}

fn parse_lines(path: &Path, prefix: &[u8]) -> Result<Vec<LayerRecord>> {
    let mut at = 0;
    let mut lines = Vec::new();
    for text in prefix.split_inclusive(|&b| b == b'\n') {
        let line: LayerRecord = serde_json::from_slice(text).map_err(|error| {
            let offset = at + error.column().saturating_sub(1) as u64;
            StoreError::corrupt(path, offset, "a line of a layer", error)
        })?;
        if let Some(name) = strange_name(&line) {
            return Err(StoreError::corrupt(path, at, "a plain file name", format!("{name:?}")));
        }
        at += text.len() as u64;
        lines.push(line);
    }
    Ok(lines)
}
