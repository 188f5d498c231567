//! A job's log file: one line per entry, a JSON object with time, level, message and fields.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use strata_store::{open_private, open_regular};

use super::event::LogEntry;

/// Entries that are read at a time.
const PART: usize = 1000;

/// A log file. It is created by the first entry.
#[derive(Debug)]
pub(crate) struct JobLog {
    path: PathBuf,
    /// Whether the last entry could not be written.
    failed: bool,
}

/// Some entries of a log, in order.
#[derive(Debug, PartialEq)]
pub(crate) struct LogPart {
    pub(crate) entries: Vec<LogEntry>,
    /// Offset in the file from which the next part is read.
    pub(crate) next: u64,
    /// Whether there was more when the part was read.
    pub(crate) more: bool,
}

impl JobLog {
    pub(crate) fn new(path: PathBuf) -> JobLog {
        JobLog { path, failed: false }
    }

    /// The file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Appends an entry. The process's log has the entry too, so a failed write loses nothing. A
    /// failure is logged once until an entry can be written again.
    pub(crate) fn append(&mut self, entry: &LogEntry) {
        let written = self.write(entry);
        match (&written, self.failed) {
            (Err(error), false) => {
                tracing::warn!("cannot write {}: {error}", self.path.display());
            }
            (Ok(()), true) => tracing::info!("{} can be written again", self.path.display()),
            _ => {}
        }
        self.failed = written.is_err();
    }

    fn write(&self, entry: &LogEntry) -> io::Result<()> {
        let mut file = open_private(File::options().create(true).append(true), &self.path)?;
        // The entry before may be cut short.
        let start = if self.failed { "\n" } else { "" };
        let line = serde_json::to_string(entry)?;
        file.write_all(format!("{start}{line}\n").as_bytes())
    }

    /// Reads the next entries of a log from an offset on, oldest first. Skips lines that a crash has
    /// cut short.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(crate) fn read(path: &Path, from: u64) -> io::Result<LogPart> {
        let mut part = LogPart { entries: Vec::new(), next: from, more: false };
        let mut file = match open_regular(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(part),
            other => other?,
        };
        file.seek(SeekFrom::Start(from))?;
        let mut file = BufReader::new(file);
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = file.read_until(b'\n', &mut line)?;
            // The last line may not be complete yet.
            if line.last() != Some(&b'\n') {
                return Ok(part);
            }
            part.next += read as u64;
            part.entries.extend(serde_json::from_slice::<LogEntry>(&line).ok());
            if part.entries.len() == PART {
                part.more = true;
                return Ok(part);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::event::{Level, LogField};
    use super::*;

    fn entry(time_ms: u64, level: Level, message: &str) -> LogEntry {
        LogEntry { time_ms, level, message: message.to_owned(), fields: Vec::new() }
    }

    #[test]
    fn a_line_cut_short_is_skipped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.log");
        let append = |text: &str| {
            JobLog::new(path.clone()).append(&entry(17, Level::Warn, text));
        };
        assert_eq!(JobLog::read(&path, 0).unwrap().entries, []);
        append("first line");
        File::options().append(true).open(&path).unwrap().write_all(b"{\"time_ms\":17,").unwrap();
        // The line cut short merges with the next one, and the merged line is skipped.
        append("second");
        append("third");
        let entries = JobLog::read(&path, 0).unwrap().entries;
        let texts: Vec<&str> = entries.iter().map(|entry| entry.message.as_str()).collect();
        assert_eq!(texts, ["first line", "third"]);
        assert!(entries.iter().all(|entry| (entry.time_ms, entry.level) == (17, Level::Warn)));
    }

    #[test]
    fn fields_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.log");
        let number = LogField { name: "layer".to_owned(), text: "4".to_owned(), number: Some(4.0) };
        let text = LogField { name: "eta".to_owned(), text: "5s".to_owned(), number: None };
        let fields = vec![number, text];
        let new = LogEntry { fields, ..entry(14, Level::Error, "layer committed") };
        JobLog::new(path.clone()).append(&new);
        let entries = JobLog::read(&path, 0).unwrap().entries;
        assert_eq!(entries, [new]);
        assert_eq!(entries[0].to_string(), "layer committed layer=4 eta=5s");
    }

    #[test]
    fn a_long_log_is_read_in_parts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.log");
        let mut log = JobLog::new(path.clone());
        for number in 0..2 * PART + 10 {
            log.append(&entry(1, Level::Info, &number.to_string()));
        }
        let (mut next, mut sizes) = (0, Vec::new());
        loop {
            let part = JobLog::read(&path, next).unwrap();
            sizes.push(part.entries.len());
            next = part.next;
            if !part.more {
                break;
            }
        }
        assert_eq!(sizes, [PART, PART, 10]);
        assert_eq!(next, std::fs::metadata(&path).unwrap().len());
    }
}
