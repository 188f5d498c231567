//! `strata list` and `status`: the jobs and workers of a cluster, and the jobs of a data directory.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use clap::Args;
use clap::builder::BoolishValueParser;

use crate::args::cluster::ClientArgs;
use crate::client::record::has_ended;
use crate::client::remote::Remote;
use crate::client::tables::{self, Shape};
use crate::client::{record, report};
use crate::commands::local_jobs;
use crate::output::console::Console;
use crate::output::exit::{ExitCode, Failure};
use crate::output::stdout::{self, Output};
use crate::signals::Signals;
use crate::target::Typed;

/// Time between two views with `--watch`.
const REFRESH: Duration = Duration::from_secs(2);

/// How the view is shown.
#[derive(Debug, Args)]
struct ViewArgs {
    /// Show all columns, and cut no text; else lines have at most 80 characters
    #[arg(long, env = "STRATA_WIDE", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    wide: bool,

    /// Show it again every 2 s until interrupted: in place on a terminal
    #[arg(long, env = "STRATA_WATCH", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    watch: bool,
}

/// Arguments of `list`.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// List the jobs of a folder of this machine instead of a cluster's
    #[arg(long, value_name = "DIR", env = "STRATA_DATA_DIR", hide_env_values = true)]
    data_dir: Option<PathBuf>,

    /// The flags of the command line: a variable does not choose the folder.
    #[arg(skip)]
    pub(crate) typed: Typed,

    /// How it is shown.
    #[command(flatten)]
    view: ViewArgs,

    /// The cluster.
    #[command(flatten)]
    pub(crate) client: ClientArgs,
}

/// Arguments of `status`.
#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    /// Job: its id, a unique prefix of the id, or its name
    job: Option<String>,

    /// How it is shown.
    #[command(flatten)]
    view: ViewArgs,

    /// The cluster.
    #[command(flatten)]
    client: ClientArgs,
}

/// Runs `strata list`.
///
/// # Errors
/// If the cluster cannot be reached, or the folder cannot be read.
pub(crate) fn list(args: &ListArgs, console: &Console) -> Result<ExitCode, Failure> {
    let folder = args.data_dir.as_ref().filter(|_| args.typed.first_of(&["data-dir"]).is_some());
    let shape = |now| Shape { wide: args.view.wide, now };
    if let Some(folder) = folder {
        return show(
            &args.view,
            || Ok(()),
            |(), now, out| {
                let jobs = local_jobs::read(folder)?;
                local_jobs::write(&jobs, console.json, shape(now), out).map_err(stdout::failure)?;
                Ok(false)
            },
        );
    }
    show(
        &args.view,
        || Remote::connect(&args.client),
        |remote, now, out| {
            let jobs = remote.list(false)?;
            if console.json {
                jobs.iter().try_for_each(|job| record::write_job(job, out))
            } else {
                tables::jobs(&jobs, shape(now), out)
            }
            .map_err(stdout::failure)?;
            Ok(false)
        },
    )
}

/// Runs `strata status`.
///
/// # Errors
/// If the cluster cannot be reached, or has no such job.
pub(crate) fn status(args: &StatusArgs, console: &Console) -> Result<ExitCode, Failure> {
    show(
        &args.view,
        || Remote::connect(&args.client),
        |remote, now, out| match &args.job {
            Some(job) => {
                let job = remote.status(job)?;
                let written = match console.json {
                    true => record::write_job(&job, out),
                    false => report::job(&job, now, out),
                };
                written.map_err(stdout::failure)?;
                Ok(has_ended(&job))
            }
            None => {
                let (workers, jobs) = (remote.workers()?, remote.list(true)?);
                let written = if console.json {
                    let workers = &mut workers.iter();
                    workers
                        .try_for_each(|worker| record::write_worker(worker, out))
                        .and_then(|()| jobs.iter().try_for_each(|job| record::write_job(job, out)))
                } else {
                    let shape = Shape { wide: args.view.wide, now };
                    tables::cluster(&args.client.coordinator, &workers, &jobs, shape, out)
                };
                written.map_err(stdout::failure)?;
                Ok(false)
            }
        },
    )
}

/// Shows a view once, or again and again until a signal or until `view` returns that it is final.
///
/// `open` connects; `view` writes into a buffer, which is shown whole or not at all. If the
/// coordinator becomes unreachable after the first view, the failure is reported and the view is tried
/// again over a new connection. Every other failure is returned.
fn show<S>(
    args: &ViewArgs,
    open: impl Fn() -> Result<S, Failure>,
    mut view: impl FnMut(&mut S, SystemTime, &mut Vec<u8>) -> Result<bool, Failure>,
) -> Result<ExitCode, Failure> {
    let mut source = Some(open()?);
    let mut output = Output::stdout();
    let screen = Screen::of(args.watch);
    let mut pauses = Pauses::start(args.watch)?;
    let mut is_first = true;
    loop {
        let now = SystemTime::now();
        let mut text = Vec::new();
        let shown = match &mut source {
            Some(source) => view(source, now, &mut text),
            None => open().and_then(|opened| view(source.insert(opened), now, &mut text)),
        };
        let is_final = match shown {
            Ok(is_final) => {
                output.write_with(|out| screen.write(now, &text, is_first, out));
                output.flush();
                is_final
            }
            Err(failure) if is_first || failure.code != ExitCode::Unreachable => {
                return Err(failure);
            }
            Err(failure) => {
                tracing::warn!("{failure}; trying again");
                source = None;
                false
            }
        };
        is_first = false;
        if !args.watch || is_final || output.is_closed() || pauses.wait() {
            output.finish().map_err(stdout::failure)?;
            return Ok(ExitCode::Done);
        }
    }
}

/// How successive views are arranged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Screen {
    /// There is a single view.
    Once,
    /// Each view replaces the previous one.
    InPlace,
    /// Each view begins with the time.
    Blocks,
}

impl Screen {
    fn of(watch: bool) -> Screen {
        match watch {
            false => Screen::Once,
            true if io::stdout().is_terminal() => Screen::InPlace,
            true => Screen::Blocks,
        }
    }

    fn write(
        self,
        now: SystemTime,
        text: &[u8],
        is_first: bool,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let is_json = text.starts_with(b"{");
        match self {
            // Moves the cursor to the upper left corner and erases the screen.
            Screen::InPlace => out.write_all(b"\x1b[H\x1b[2J")?,
            Screen::Blocks if !is_json => {
                let between = if is_first { "" } else { "\n" };
                writeln!(out, "{between}{}", humantime::format_rfc3339_seconds(now))?;
            }
            Screen::Once | Screen::Blocks => {}
        }
        out.write_all(text)
    }
}

/// Pauses between views. A signal ends them.
struct Pauses(Option<(tokio::runtime::Runtime, Signals)>);

impl Pauses {
    /// Installs the signal handlers, if there are pauses.
    fn start(watch: bool) -> Result<Pauses, Failure> {
        if !watch {
            return Ok(Pauses(None));
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| {
            Failure::new(ExitCode::Unexpected, format!("cannot start a runtime: {error}"))
        })?;
        let signals = {
            let _context = runtime.enter();
            Signals::listen()?
        };
        Ok(Pauses(Some((runtime, signals))))
    }

    /// Waits for the next view or a signal; returns whether a signal came.
    fn wait(&mut self) -> bool {
        let Some((runtime, signals)) = &mut self.0 else { return true };
        runtime.block_on(async {
            tokio::select! {
                () = tokio::time::sleep(REFRESH) => false,
                () = signals.next() => true,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_begin_with_the_time_and_screens_are_erased() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_266_000);
        let shown = |screen: Screen, text: &str, is_first| {
            let mut out = Vec::new();
            screen.write(now, text.as_bytes(), is_first, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(shown(Screen::Once, "jobs\n", true), "jobs\n");
        assert_eq!(shown(Screen::Blocks, "jobs\n", true), "2026-11-21T13:00:00Z\njobs\n");
        assert_eq!(shown(Screen::Blocks, "jobs\n", false), "\n2026-11-21T13:00:00Z\njobs\n");
        assert_eq!(shown(Screen::InPlace, "jobs\n", false), "\x1b[H\x1b[2Jjobs\n");
        // JSON lines stay JSON lines.
        assert_eq!(shown(Screen::Blocks, "{}\n", false), "{}\n");
    }
}
