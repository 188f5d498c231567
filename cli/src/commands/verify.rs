//! `strata verify`: reads the folder of a job, which may be running, and checks it.

use std::io::{self, Write};

use clap::Args;
use serde::Serialize;
use strata::verify::{self, Verified};
use strata_store::RunState;

use crate::folder::{open, space};
use crate::output::console::Console;
use crate::output::exit::{ExitCode, Failure};
use crate::output::json::write_line;
use crate::output::{stdout, units};
use crate::target::TargetArgs;

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
    let (folder, manifest) = open(&args.target.folder("verify")?)?;
    let space = space(&folder, &manifest)?;
    Report::new(&verify::verify(&folder, manifest, space)?).show(console)
}

/// Result of `strata verify`, and the fields of its JSON event.
#[derive(Serialize)]
struct Report<'a> {
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
        stdout::print(|out| {
            if console.json { write_line("verified", self, out) } else { self.text(out) }
        })?;
        Ok(ExitCode::Done)
    }

    fn new(verified: &'a Verified) -> Self {
        let Verified { manifest, history, read } = verified;
        Report {
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

    fn text(&self, out: &mut impl Write) -> io::Result<()> {
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
