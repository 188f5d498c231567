//! Removed jobs, as text and as JSON lines.

use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;
use strata_proto::net::printable;
use strata_proto::v1;

use super::record::state;
use crate::output::json::write_line;

/// A job that was removed or, in a dry run, would be.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Removed<'a> {
    job: &'a str,
    name: Option<&'a str>,
    /// `unknown` for a job that the coordinator's journal does not know; `None` for a local one.
    state: Option<&'a str>,
    /// When it ended, in seconds since 1970.
    ended: Option<u64>,
    /// The folder of a local job.
    folder: Option<String>,
    /// Workers that hold an unknown job.
    workers: &'a [String],
    /// Workers that may still hold files of it.
    waiting_for: &'a [String],
    dry_run: bool,
}

impl<'a> Removed<'a> {
    /// A job of the cluster.
    pub(crate) fn job(job: &'a v1::Job, waiting_for: &'a [String], dry_run: bool) -> Removed<'a> {
        Removed {
            job: &job.id,
            name: Some(job.name.as_str()).filter(|name| !name.is_empty()),
            state: Some(state(job)),
            ended: job.ended,
            waiting_for,
            dry_run,
            ..Removed::default()
        }
    }

    /// A job that the coordinator's journal does not know.
    pub(crate) fn unknown(job: &'a v1::UnknownJob, dry_run: bool) -> Removed<'a> {
        let v1::UnknownJob { job, workers } = job;
        Removed { job, state: Some("unknown"), workers, dry_run, ..Removed::default() }
    }

    /// A job in a folder.
    pub(crate) fn local(job: &'a str, folder: &Path) -> Removed<'a> {
        Removed { job, folder: Some(folder.display().to_string()), ..Removed::default() }
    }

    /// Writes a line, as JSON or as text.
    pub(crate) fn write(&self, json: bool, out: &mut impl Write) -> io::Result<()> {
        if json {
            return write_line("removed", self, out);
        }
        let done = if self.dry_run { "would be removed" } else { "removed" };
        let place = match (&self.folder, self.state) {
            (Some(folder), _) => format!(" ({folder})"),
            (None, Some("unknown")) if self.workers.is_empty() => {
                " (unknown to the coordinator; only its log)".to_owned()
            }
            (None, Some("unknown")) => {
                format!(" (unknown to the coordinator; on {})", self.workers.join(", "))
            }
            (None, state) => state.map_or(String::new(), |state| format!(" ({state})")),
        };
        writeln!(out, "{}: {done}{}", printable(self.job), printable(&place))?;
        write_waiting(self.waiting_for, out)
    }
}

/// Writes which workers may still hold files, if any do.
fn write_waiting(workers: &[String], out: &mut impl Write) -> io::Result<()> {
    match workers {
        [] => Ok(()),
        workers => {
            let workers = workers.join(", ");
            writeln!(out, "  {} may hold files until connected", printable(&workers))
        }
    }
}

/// Sums over the jobs that `gc` removed or, in a dry run, would.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Collected {
    /// Jobs of the coordinator's journal.
    pub(crate) jobs: usize,
    /// Jobs that the journal does not know.
    pub(crate) unknown: usize,
    /// Workers that may still hold files, of unknown jobs too.
    pub(crate) waiting_for: Vec<String>,
    pub(crate) dry_run: bool,
}

impl Collected {
    /// Writes a line, as JSON or as text.
    pub(crate) fn write(&self, json: bool, out: &mut impl Write) -> io::Result<()> {
        if json {
            return write_line("collected", self, out);
        }
        let done = if self.dry_run { "would be removed" } else { "removed" };
        let jobs = self.jobs + self.unknown;
        let unknown = match self.unknown {
            0 => String::new(),
            unknown => format!(", {unknown} of them unknown to the coordinator"),
        };
        let plural = if jobs == 1 { "" } else { "s" };
        writeln!(out, "{jobs} job{plural} {done}{unknown}")?;
        write_waiting(&self.waiting_for, out)
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::tests::job;
    use super::*;

    fn text(write: impl Fn(&mut Vec<u8>) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_removed_job_has_every_field() {
        let done = v1::Job { ended: Some(7), ..job(v1::JobState::Done) };
        let waiting = ["w1".to_owned()];
        let removed = Removed::job(&done, &waiting, false);
        assert_eq!(
            text(|out| removed.write(true, out)),
            "{\"v\":1,\"event\":\"removed\",\"job\":\"panex-3-aaaaaa\",\"name\":null,\
             \"state\":\"done\",\"ended\":7,\"folder\":null,\"workers\":[],\
             \"waiting_for\":[\"w1\"],\"dry_run\":false}\n"
        );
        let expected = "panex-3-aaaaaa: removed (done)\n  w1 may hold files until connected\n";
        assert_eq!(text(|out| removed.write(false, out)), expected);
    }

    #[test]
    fn an_unknown_job_names_its_workers() {
        let workers = vec!["w1".to_owned(), "w\n2".to_owned()];
        let job = v1::UnknownJob { job: "hanoi-5-aaaaaa".to_owned(), workers };
        let expected =
            "hanoi-5-aaaaaa: would be removed (unknown to the coordinator; on w1, w\\n2)\n";
        assert_eq!(text(|out| Removed::unknown(&job, true).write(false, out)), expected);
        let job = v1::UnknownJob { workers: Vec::new(), ..job };
        let expected = "hanoi-5-aaaaaa: removed (unknown to the coordinator; only its log)\n";
        assert_eq!(text(|out| Removed::unknown(&job, false).write(false, out)), expected);
    }

    #[test]
    fn sums_count_known_and_unknown_jobs() {
        let collected = |jobs, unknown| {
            let collected = Collected { jobs, unknown, ..Collected::default() };
            text(|out| collected.write(false, out))
        };
        assert_eq!(collected(1, 0), "1 job removed\n");
        assert_eq!(collected(2, 3), "5 jobs removed, 3 of them unknown to the coordinator\n");
    }
}
