//! A job's log file: one line per entry, with time, level and text.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use super::event::{Level, LogEntry};

/// A log file. It is created by the first entry.
#[derive(Debug)]
pub(crate) struct JobLog {
    path: PathBuf,
}

impl JobLog {
    pub(crate) fn new(path: PathBuf) -> JobLog {
        JobLog { path }
    }

    /// The file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Appends an entry.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(crate) fn append(&mut self, entry: &LogEntry) -> io::Result<()> {
        let LogEntry { time_ms, level, text } = entry;
        let mut file = File::options().create(true).append(true).open(&self.path)?;
        file.write_all(format!("{time_ms} {} {text}\n", level.name()).as_bytes())
    }

    /// All entries, oldest first. Skips lines that a crash has cut short.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(crate) fn entries(&self) -> io::Result<Vec<LogEntry>> {
        let file = match File::open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other?,
        };
        let mut entries = Vec::new();
        for line in BufReader::new(file).lines() {
            entries.extend(parse(&line?));
        }
        Ok(entries)
    }
}

fn parse(line: &str) -> Option<LogEntry> {
    let mut words = line.splitn(3, ' ');
    let time_ms = words.next()?.parse().ok()?;
    let level = Level::from_name(words.next()?)?;
    Some(LogEntry { time_ms, level, text: words.next()?.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_cut_short_is_skipped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.log");
        let append = |text: &str| {
            let entry = LogEntry { time_ms: 17, level: Level::Warn, text: text.to_owned() };
            JobLog::new(path.clone()).append(&entry).unwrap();
        };
        assert_eq!(JobLog::new(path.clone()).entries().unwrap(), []);
        append("first line");
        File::options().append(true).open(&path).unwrap().write_all(b"17 INF").unwrap();
        // The line cut short merges with the next one, and the merged line is skipped.
        append("second");
        append("third");
        let entries = JobLog::new(path).entries().unwrap();
        let texts: Vec<&str> = entries.iter().map(|entry| entry.text.as_str()).collect();
        assert_eq!(texts, ["first line", "third"]);
        assert!(entries.iter().all(|entry| (entry.time_ms, entry.level) == (17, Level::Warn)));
    }
}
