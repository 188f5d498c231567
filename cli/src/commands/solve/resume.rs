//! `strata resume` of a job in a folder: the manifest has everything that the search needs.

use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use clap::Args;
use strata_run::size::parse_size;
use strata_run::{Ended, Job, KeepLayers, RunOptions, StopReason};

use super::job_run::{JobRun, Labels};
use crate::args::values::at_most;
use crate::duration::parse_duration;
use crate::output::console::Console;
use crate::output::exit::{ExitCode, Failure};
use crate::output::shell::quoted;
use crate::program;
use crate::spaces::puzzle;

/// Resources and limits of the run, for a job in a folder.
#[derive(Debug, Args)]
#[command(next_help_heading = "Job in a folder")]
pub(crate) struct RunArgs {
    /// Threads of each worker [default: as in the last run]
    #[arg(long, value_name = "N", env = "STRATA_THREADS", hide_env_values = true)]
    #[arg(value_parser = at_most(1024))]
    threads: Option<usize>,

    /// Workers in this process [default: as in the last run]
    #[arg(long, value_name = "N", env = "STRATA_WORKERS", hide_env_values = true)]
    #[arg(value_parser = at_most(1024))]
    workers: Option<usize>,

    /// Memory budget of tables, buffers and diagrams [default: as in the last run]
    #[arg(long, value_name = "SIZE", env = "STRATA_MEMORY", hide_env_values = true)]
    #[arg(value_parser = parse_size)]
    memory: Option<u64>,

    /// Time between checkpoints, such as 500ms or 2m [default: as in the last run]
    #[arg(long, value_name = "DURATION", env = "STRATA_CHECKPOINT_INTERVAL")]
    #[arg(hide_env_values = true, value_parser = parse_duration)]
    checkpoint_interval: Option<Duration>,

    /// Layer files to keep: all, last or every:K [default: as in the last run]
    #[arg(long, value_name = "WHICH", env = "STRATA_KEEP_LAYERS", hide_env_values = true)]
    keep_layers: Option<KeepLayers>,

    /// Stop, resumably, before a layer that is expected to exceed this much disk space
    #[arg(long, value_name = "SIZE", env = "STRATA_DISK_LIMIT", hide_env_values = true)]
    #[arg(value_parser = parse_size)]
    disk_limit: Option<u64>,

    /// Stop, resumably, at this depth
    #[arg(long, value_name = "N", env = "STRATA_MAX_LAYERS", hide_env_values = true)]
    max_layers: Option<u32>,

    /// Serve a web page of the search at a loopback address [default: a free port], until Ctrl-C
    #[arg(long, value_name = "ADDR", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "127.0.0.1:0", env = "STRATA_UI", hide_env_values = true)]
    ui: Option<SocketAddr>,
}

impl RunArgs {
    /// The long names of the flags.
    pub(crate) const FLAGS: [&'static str; 8] = [
        "threads",
        "workers",
        "memory",
        "checkpoint-interval",
        "keep-layers",
        "disk-limit",
        "max-layers",
        "ui",
    ];

    /// The options of the last run with those that are given here. Limits are those of one run.
    fn options(&self, last: RunOptions) -> RunOptions {
        RunOptions {
            threads: self.threads.unwrap_or(last.threads),
            workers: self.workers.unwrap_or(last.workers),
            memory: self.memory.unwrap_or(last.memory),
            checkpoint_interval: self.checkpoint_interval.unwrap_or(last.checkpoint_interval),
            keep_layers: self.keep_layers.unwrap_or(last.keep_layers),
            disk_limit: self.disk_limit,
            max_layers: self.max_layers,
            ..last
        }
    }
}

/// Resumes the job of a folder, and shows it as `solve` does. A job that is done is only shown.
///
/// # Errors
/// If the folder cannot be read or is in use, or an option is refused; those of the search.
pub(crate) fn run(args: &RunArgs, folder: &Path, console: &Console) -> Result<ExitCode, Failure> {
    let started = Instant::now();
    let mut job = Job::open(folder, puzzle::opener(), |last| args.options(last))?;
    let memory = job.request().options().memory;
    let labels = Labels::of_job(job.space()?);
    let mut run = JobRun::new(job, labels, args.ui, console, started)?;
    let ended = run.search(false)?;
    run.signals.search_over();
    let code = match ended {
        Ended::Finished(finished) => run.result(&finished),
        Ended::Stopped { reason, depth } => {
            run.stopped(reason, depth, command(folder, reason, memory))
        }
    };
    run.end(code, console)
}

/// The command that resumes the job again. If the memory was short, it has twice as much.
fn command(folder: &Path, reason: StopReason, memory: u64) -> String {
    let command = format!("{} resume {}", program::name(), quoted(&folder.to_string_lossy()));
    match reason {
        StopReason::MemoryFull => {
            format!("{command} --memory {}MiB", memory.saturating_mul(2).div_ceil(1 << 20))
        }
        _ => command,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_names_the_folder_and_more_memory_if_it_was_short() {
        let folder = Path::new("/data/my jobs/panex-6-aaaaaa");
        let command = |reason| command(folder, reason, 64 << 20);
        let plain = "strata resume '/data/my jobs/panex-6-aaaaaa'";
        assert_eq!(command(StopReason::Interrupted), plain);
        assert_eq!(command(StopReason::MemoryFull), format!("{plain} --memory 128MiB"));
    }
}
