//! `strata stats` and `strata verify`: read a job's folder, also while a job runs in it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use strata::catalogue::Space;
use strata::verify::{self, Verified};
use strata_store::jobs_in;
use strata_store::{JobDir, Manifest, RealFs, RunState, StoreError};

use crate::args::cluster::StatsArgs;
use crate::cli::VerifyArgs;
use crate::commands::jobs;
use crate::commands::stats::table::{self, Row};
use crate::output::console::Console;
use crate::output::events::VERSION;
use crate::output::exit::{ExitCode, Failure};
use crate::output::stdout;
use crate::output::units;
use crate::spaces::puzzle;

/// The job that a folder stands for: its own, or the only one in a data directory.
pub(crate) fn job_folder(dir: &Path) -> Result<PathBuf, Failure> {
    // `.` has no name of its own, and a job is called as its folder.
    let missing = |error| Failure::new(ExitCode::NoSuchJob, format!("{}: {error}", dir.display()));
    let dir = dir.canonicalize().map_err(missing)?;
    let looks_like_one = ["manifest.json", "history.jsonl"].iter().any(|f| dir.join(f).exists());
    if looks_like_one {
        return Ok(dir);
    }
    let jobs = jobs_in(&RealFs, &dir)?;
    match &*jobs {
        [job] => Ok(dir.join(job)),
        [] => {
            let message = format!("there is no job in {}", dir.display());
            Err(Failure::new(ExitCode::NoSuchJob, message))
        }
        jobs => {
            let (dir, jobs) = (dir.display(), jobs.join(", "));
            Err(Failure::usage(format!("{dir} holds several jobs, name one: {jobs}")))
        }
    }
}

pub(crate) fn open(dir: &Path) -> Result<(JobDir, Manifest), StoreError> {
    JobDir::open(Arc::new(RealFs), dir)
}

/// Runs `strata stats`.
pub(crate) fn stats(args: &StatsArgs, console: &Console) -> Result<ExitCode, Failure> {
    let rows = match args.job() {
        Some(job) => jobs::layers(&args.client, job)?,
        None => rows(&args.dir)?,
    };
    stdout::print(|out| table::write(&rows, args.format(console.json), out))?;
    Ok(ExitCode::Done)
}

/// The layer table of the job in a folder.
fn rows(dir: &Path) -> Result<Vec<Row>, Failure> {
    let (folder, manifest) = open(&job_folder(dir)?)?;
    let (_, view) = verify::with_current(&folder, manifest, |manifest| {
        let record = manifest.checkpoint.as_ref().map(|checkpoint| &checkpoint.history);
        folder.read_history(record)
    })?;
    let mut end = 0.0;
    let rows = view.lines.into_iter().map(|line| Row {
        depth: line.depth,
        states: line.states,
        generated: line.generated,
        regions: line.regions,
        bytes: line.bytes,
        digest: line.digest.to_string(),
        seconds: line.seconds - std::mem::replace(&mut end, line.seconds),
    });
    Ok(rows.collect())
}

/// Runs `strata verify`.
pub(crate) fn verify(args: &VerifyArgs, console: &Console) -> Result<ExitCode, Failure> {
    let (folder, manifest) = open(&job_folder(&args.dir)?)?;
    let space = space(&folder, &manifest)?;
    Report::new(&verify::verify(&folder, manifest, space)?).show(console)
}

/// The job's space.
pub(crate) fn space(folder: &JobDir, manifest: &Manifest) -> Result<Space, StoreError> {
    puzzle::reopen(&manifest.spec).map_err(|error| StoreError::Corrupt {
        file: folder.path().join("manifest.json"),
        offset: 0,
        expected: "a state space of this version".to_owned(),
        found: error.to_string(),
    })
}

/// The answer of `strata verify`.
#[derive(Serialize)]
struct Report<'a> {
    v: u32,
    event: &'static str,
    job: &'a str,
    state: RunState,
    checkpoint_depth: Option<u32>,
    layers: usize,
    states: u64,
    digest: String,
    files: u64,
    file_bytes: u64,
    file_states: u64,
}

impl<'a> Report<'a> {
    fn show(&self, console: &Console) -> Result<ExitCode, Failure> {
        stdout::print(|out| if console.json { self.json(out) } else { self.text(out) })?;
        Ok(ExitCode::Done)
    }

    fn new(verified: &'a Verified) -> Self {
        let Verified { manifest, history, read } = verified;
        Report {
            v: VERSION,
            event: "verified",
            job: &manifest.job,
            state: manifest.state,
            checkpoint_depth: manifest.checkpoint.as_ref().map(|checkpoint| checkpoint.depth),
            layers: history.lines().len(),
            states: history.totals().states,
            digest: history.totals().digest.to_string(),
            files: read.files,
            file_bytes: read.bytes,
            file_states: read.states,
        }
    }

    fn json(&self, out: &mut impl Write) -> std::io::Result<()> {
        serde_json::to_writer(&mut *out, self)?;
        out.write_all(b"\n")
    }

    fn text(&self, out: &mut impl Write) -> std::io::Result<()> {
        let state = match self.state {
            RunState::Running => "running",
            RunState::Stopped => "stopped",
            RunState::Done => "done",
        };
        writeln!(out, "{}: {state}, intact", self.job)?;
        let Some(depth) = self.checkpoint_depth else {
            return writeln!(out, "  no checkpoint yet");
        };
        let (layers, states) = (self.layers as u64, units::count(self.states));
        writeln!(out, "  checkpoint  depth {}", units::count(u64::from(depth)))?;
        writeln!(out, "  history     {} layers, {states} states", units::count(layers))?;
        let (bytes, held) = (units::bytes(self.file_bytes), units::count(self.file_states));
        writeln!(out, "  files       {} ({bytes}, {held} states)", units::count(self.files))?;
        writeln!(out, "  digest      {}", self.digest)
    }
}
