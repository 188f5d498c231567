//! Fuzzing program that `scripts/fuzz` runs: mutations of one target, or the replay of a saved
//! input.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use strata_testing::fuzz::runner::{self, Options};
use strata_testing::fuzz::targets;

/// Arguments.
#[derive(Debug, Parser)]
struct Args {
    /// The target; without one, the names of all are printed
    target: Option<String>,
    /// Duration in seconds
    #[arg(long)]
    seconds: Option<u64>,
    /// Number of inputs
    #[arg(long)]
    runs: Option<u64>,
    /// Seed of the mutations
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Executes this saved input only
    #[arg(long)]
    replay: Option<PathBuf>,
    /// File that gets each input before it is executed
    #[arg(long)]
    current: Option<PathBuf>,
    /// Folder for findings
    #[arg(long)]
    findings: Option<PathBuf>,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let all = targets::all();
    let Some(name) = &args.target else {
        all.iter().for_each(|(name, _)| println!("{name}"));
        return ExitCode::SUCCESS;
    };
    let Some((_, make)) = all.iter().find(|(known, _)| known == name) else {
        eprintln!("there is no target {name:?}");
        return ExitCode::from(2);
    };
    match execute(&args, &mut *make()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{name}: {error}");
            ExitCode::from(2)
        }
    }
}

/// Returns whether there is no finding.
fn execute(args: &Args, target: &mut dyn strata_testing::fuzz::Target) -> std::io::Result<bool> {
    let name = target.name();
    if let Some(path) = &args.replay {
        let result = runner::replay(target, &std::fs::read(path)?);
        println!("{name}: {}: {result:?}", path.display());
        return Ok(result.is_ok());
    }
    let options = Options {
        seed: args.seed,
        runs: args.runs,
        time: args.seconds.map(Duration::from_secs),
        current: args.current.clone(),
        findings: args.findings.clone(),
    };
    let summary = runner::run(target, &options)?;
    println!(
        "{name}: seed {}, {} inputs, {} accepted, {} outcomes, peak {} KiB, slowest {:.3} s, {} findings",
        args.seed,
        summary.runs,
        summary.accepted,
        summary.outcomes,
        summary.peak >> 10,
        summary.slowest.as_secs_f64(),
        summary.findings.len()
    );
    for (number, finding) in &summary.findings {
        println!("{name}: input {number}: {finding}");
    }
    Ok(summary.findings.is_empty())
}
