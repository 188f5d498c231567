//! `strata stats` and `strata verify`: read a job's folder, also while a job runs in it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use strata::catalogue::{Registry, Space};
use strata_explicit::{Kernel, KernelMemory};
use strata_space::SpaceError;
use strata_store::jobs_in;
use strata_store::{EngineKind, JobDir, Layer, Manifest, RealFs, RunState, StoreError};
use strata_symbolic::Options;

use crate::args::cluster::StatsArgs;
use crate::cli::VerifyArgs;
use crate::commands::jobs;
use crate::commands::stats::table::{self, Row};
use crate::folder::audit::{self, Ledger, Reread};
use crate::output::console::Console;
use crate::output::events::VERSION;
use crate::output::exit::{ExitCode, Failure};
use crate::output::stdout;
use crate::output::units;

/// Memory for the regions of the kernel that recomputes digests.
const MEMORY: KernelMemory = KernelMemory { regions: 64 << 20, memo: 0 };

/// A running job may publish a checkpoint while another is being opened, this often at most.
const ATTEMPTS: u32 = 100;

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
    let (folder, mut manifest) = open(&job_folder(dir)?)?;
    let view = loop {
        let record = manifest.checkpoint.as_ref().map(|checkpoint| &checkpoint.history);
        match folder.read_history(record) {
            Ok(view) => break view,
            Err(error) => match changed(&folder, &manifest)? {
                Some(newer) => manifest = newer,
                None => return Err(error.into()),
            },
        }
    };
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

/// The manifest, if it is another one by now.
fn changed(folder: &JobDir, manifest: &Manifest) -> Result<Option<Manifest>, StoreError> {
    let newer = folder.read_manifest()?;
    Ok((newer != *manifest).then_some(newer))
}

/// Runs `strata verify`.
pub(crate) fn verify(args: &VerifyArgs, console: &Console) -> Result<ExitCode, Failure> {
    let (folder, manifest) = open(&job_folder(&args.dir)?)?;
    if !manifest.spec.engine.is_explicit() {
        return verify_diagrams(&folder, manifest, console);
    }
    let (manifest, ledger, layers) = snapshot(&folder, manifest)?;
    let mut kernel = kernel(&folder, &manifest)?;
    let mut read = Reread::default();
    for layer in &layers {
        read.add(audit::reread(layer, Some(&mut *kernel))?);
    }
    read.add(audit::kept_files(&folder, &ledger, Some(&mut *kernel))?);
    Report::new(&manifest, &ledger, read).show(console)
}

/// [`verify`] for a symbolic job.
fn verify_diagrams(
    folder: &JobDir,
    mut manifest: Manifest,
    console: &Console,
) -> Result<ExitCode, Failure> {
    let options = Options {
        memory: usize::MAX,
        keep_layers: false,
        digests: manifest.spec.engine == EngineKind::Symbolic,
        verify: 0,
        threads: 1,
    };
    let form = space(folder, &manifest)?.nested().map_err(|error| strange(folder, &error))?;
    let mut search = form
        .open(options)
        .map_err(|error| Failure::new(ExitCode::Unexpected, error.to_string()))?;
    let mut attempts = 0;
    loop {
        let read = audit::ledger(folder, &manifest)
            .and_then(|ledger| Ok((audit::diagrams(folder, &manifest, &mut *search)?, ledger)));
        match read {
            Ok((read, ledger)) => return Report::new(&manifest, &ledger, read).show(console),
            Err(error) => match changed(folder, &manifest)? {
                Some(newer) if attempts < ATTEMPTS => manifest = newer,
                _ => return Err(error.into()),
            },
        }
        attempts += 1;
    }
}

/// A manifest, its history and the layers of its checkpoint that belong together.
fn snapshot(
    folder: &JobDir,
    mut manifest: Manifest,
) -> Result<(Manifest, Ledger, Vec<Layer>), StoreError> {
    let mut attempts = 0;
    loop {
        let opened = audit::ledger(folder, &manifest)
            .and_then(|ledger| Ok((ledger, audit::open_checkpoint(folder, &manifest)?)));
        match opened {
            Ok((ledger, layers)) => return Ok((manifest, ledger, layers)),
            Err(error) => match changed(folder, &manifest)? {
                Some(newer) if attempts < ATTEMPTS => manifest = newer,
                _ => return Err(error),
            },
        }
        attempts += 1;
    }
}

/// What recomputes the digests of the job's layers.
fn kernel(folder: &JobDir, manifest: &Manifest) -> Result<Box<dyn Kernel>, Failure> {
    Ok(space(folder, manifest)?.engine(manifest.spec.shards).kernel(MEMORY))
}

/// The job's space.
pub(crate) fn space(folder: &JobDir, manifest: &Manifest) -> Result<Space, StoreError> {
    let spec = &manifest.spec;
    Registry::shipped().open(&spec.space, &spec.params).map_err(|error| strange(folder, &error))
}

fn strange(folder: &JobDir, error: &SpaceError) -> StoreError {
    StoreError::Corrupt {
        file: folder.path().join("manifest.json"),
        offset: 0,
        expected: "a state space of this version".to_owned(),
        found: error.to_string(),
    }
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

    fn new(manifest: &'a Manifest, ledger: &Ledger, read: Reread) -> Self {
        Report {
            v: VERSION,
            event: "verified",
            job: &manifest.job,
            state: manifest.state,
            checkpoint_depth: manifest.checkpoint.as_ref().map(|checkpoint| checkpoint.depth),
            layers: ledger.lines.len(),
            states: ledger.totals.states,
            digest: ledger.totals.digest.to_string(),
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
