//! `strata verify`: reads the files of a job, which may be running, and checks them. Workers check those
//! of a cluster's job.

use std::collections::BTreeSet;
use std::io::{self, Write};

use clap::Args;
use serde::Serialize;
use strata_proto::v1;
use strata_run::verify::{self, Verified};
use strata_space::Weight;
use strata_store::RunState;

use crate::client::record;
use crate::folder::{open, space};
use crate::output::console::Console;
use crate::output::exit::{ExitCode, Failure};
use crate::output::json::write_line;
use crate::output::{stdout, units};
use crate::target::{ClusterJob, Target, TargetArgs};

/// Arguments of `verify`.
#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// The job.
    #[command(flatten)]
    pub(crate) target: TargetArgs,
}

/// Runs `strata verify`.
///
/// # Errors
/// If there is no such job, or its files are damaged.
pub(crate) fn run(args: &VerifyArgs, console: &Console) -> Result<ExitCode, Failure> {
    match args.target.find()? {
        Target::Folder(folder) => {
            let (folder, manifest) = open(&folder)?;
            let space = space(&folder, &manifest)?;
            Report::new(&verify::verify(&folder, manifest, space)?).show(console)
        }
        Target::Cluster(found) => of_cluster(&found)?.show(console),
    }
}

/// Makes the workers check a job's files.
///
/// # Errors
/// If a file is damaged (the failure names the worker, the file and the offset) or a worker cannot be
/// reached.
fn of_cluster<'a>(found: &'a ClusterJob<'_>) -> Result<Report<'a>, Failure> {
    let ClusterJob { remote, job } = found;
    let mut digest = Weight::ZERO;
    let mut layers = 0;
    for line in remote.layers(&job.id)? {
        digest += line.digest;
        layers += 1;
    }
    let mut report = Report {
        job: &job.id,
        state: record::state(job),
        checkpoint_depth: job.checkpoint.map(|depth| with_states(depth, layers)),
        layers,
        states: job.states,
        digest: digest.to_string(),
        files: 0,
        file_bytes: 0,
        file_states: 0,
        workers: Some(0),
    };
    let mut workers = BTreeSet::new();
    let mut parts = remote.verify(&job.id)?;
    while let Some(v1::VerifyPart { worker, file }) = remote.next(&mut parts)? {
        let file = file.unwrap_or_default();
        tracing::debug!("worker {worker}: {} is intact", file.file);
        workers.insert(worker);
        report.files += 1;
        report.file_bytes += file.bytes;
        report.file_states += file.states;
    }
    report.workers = Some(workers.len());
    Ok(report)
}

/// Depth of a checkpoint's last layer with states. The checkpoint of a whole space has one more
/// layer, which is empty and has no line in the history.
fn with_states(depth: u32, layers: usize) -> u32 {
    u32::try_from(layers).map_or(depth, |layers| depth.min(layers.saturating_sub(1)))
}

/// Result of `strata verify`, and the fields of its JSON event.
#[derive(Serialize)]
struct Report<'a> {
    job: &'a str,
    state: &'static str,
    checkpoint_depth: Option<u32>,
    layers: usize,
    states: u64,
    digest: String,
    files: u64,
    file_bytes: u64,
    file_states: u64,
    /// Number of workers that have files of the job; none for a folder.
    workers: Option<usize>,
}

impl<'a> Report<'a> {
    fn show(&self, console: &Console) -> Result<ExitCode, Failure> {
        stdout::print(|out| {
            if console.json { write_line("verified", self, out) } else { self.text(out) }
        })?;
        Ok(ExitCode::Done)
    }

    fn new(verified: &'a Verified) -> Self {
        let Verified { manifest, history, read } = verified;
        Report {
            job: &manifest.job,
            state: match manifest.state {
                RunState::Running => "running",
                RunState::Stopped => "stopped",
                RunState::Done => "done",
            },
            checkpoint_depth: manifest
                .checkpoint
                .as_ref()
                .map(|checkpoint| with_states(checkpoint.depth, history.lines().len())),
            layers: history.lines().len(),
            states: history.totals().states,
            digest: history.totals().digest.to_string(),
            files: read.files,
            file_bytes: read.bytes,
            file_states: read.states,
            workers: None,
        }
    }

    fn text(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "{}: {}, intact", self.job, self.state)?;
        let Some(depth) = self.checkpoint_depth else {
            return writeln!(out, "  no checkpoint yet");
        };
        let (layers, states) = (self.layers as u64, units::count(self.states));
        writeln!(out, "  checkpoint  depth {}", units::count(u64::from(depth)))?;
        writeln!(out, "  history     {} layers, {states} states", units::count(layers))?;
        let (bytes, held) = (units::bytes(self.file_bytes), units::count(self.file_states));
        let places = match self.workers {
            None => String::new(),
            Some(1) => " at 1 worker".to_owned(),
            Some(workers) => format!(" at {workers} workers"),
        };
        let files = units::count(self.files);
        writeln!(out, "  files       {files}{places} ({bytes}, {held} states)")?;
        writeln!(out, "  digest      {}", self.digest)
    }
}
