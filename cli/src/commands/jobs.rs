//! `strata watch`, `logs`, `cancel` and `resume`: the jobs of a cluster; also folders, for `resume`.

use clap::Args;
use clap::builder::BoolishValueParser;

use crate::args::cluster::ClientArgs;
use crate::client::follow::Follower;
use crate::client::remote::Remote;
use crate::client::{record, report};
use crate::commands::solve::resume::{RunArgs, run as resume_folder};
use crate::output::console::Console;
use crate::output::exit::{ExitCode, Failure};
use crate::output::stdout;
use crate::target::{ClusterJob, Target, TargetArgs};

/// Arguments of `watch` and `cancel`.
#[derive(Debug, Args)]
pub(crate) struct JobArgs {
    /// Job: its id, a unique prefix of the id, or its name
    job: String,

    /// The cluster.
    #[command(flatten)]
    client: ClientArgs,
}

/// Arguments of `logs`.
#[derive(Debug, Args)]
pub(crate) struct LogsArgs {
    /// Job: its id, a unique prefix of the id, or its name
    job: String,

    /// Print new lines until the job ends
    #[arg(short, long, env = "STRATA_FOLLOW", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    follow: bool,

    /// The cluster.
    #[command(flatten)]
    client: ClientArgs,
}

/// Arguments of `resume`.
#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    /// The job.
    #[command(flatten)]
    pub(crate) target: TargetArgs,

    /// Print the id of the cluster's job and exit
    #[arg(long, env = "STRATA_DETACH", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    detach: bool,

    /// Resources and limits.
    #[command(flatten)]
    run: RunArgs,
}

/// Runs `strata watch`.
pub(crate) fn watch(args: &JobArgs, console: &Console) -> Result<ExitCode, Failure> {
    Follower::new(Remote::connect(&args.client)?, console, &args.job)?.run()
}

/// Runs `strata resume`.
///
/// # Errors
/// If there is no such job, a flag does not concern it, or it cannot be resumed.
pub(crate) fn resume(args: &ResumeArgs, console: &Console) -> Result<ExitCode, Failure> {
    let typed = &args.target.places.typed;
    let ClusterJob { remote, job } = match args.target.find()? {
        Target::Folder(folder) => {
            return match typed.first_of(&["detach"]) {
                Some(_) => Err(Failure::usage("--detach is for a job of a cluster")),
                None => resume_folder(&args.run, &folder, console),
            };
        }
        Target::Cluster(found) => *found,
    };
    if let Some(flag) = typed.first_of(&RunArgs::FLAGS) {
        let message = format!("--{flag} is for a job in a folder: {} is the cluster's", job.id);
        return Err(Failure::usage(message));
    }
    let job = remote.resume(&job.id)?;
    if args.detach {
        report::print_detached(&job, console)?;
        return Ok(ExitCode::Done);
    }
    Follower::of(remote, console, job)?.run()
}

/// Runs `strata cancel`.
pub(crate) fn cancel(args: &JobArgs, console: &Console) -> Result<ExitCode, Failure> {
    let job = Remote::connect(&args.client)?.cancel(&args.job)?;
    stdout::print(|out| {
        if console.json { record::write_job(&job, out) } else { report::cancelled(&job, out) }
    })?;
    Ok(ExitCode::Done)
}

/// Runs `strata logs`.
pub(crate) fn logs(args: &LogsArgs, console: &Console) -> Result<ExitCode, Failure> {
    let remote = Remote::connect(&args.client)?;
    let mut lines = remote.logs(&args.job, args.follow)?;
    let mut output = stdout::Output::stdout();
    while let Some(line) = remote.next(&mut lines)? {
        output.write_with(|out| {
            if console.json { record::write_log(&line, out) } else { report::log(&line, out) }
        });
        if args.follow {
            output.flush();
        }
    }
    output.finish().map_err(stdout::failure)?;
    Ok(ExitCode::Done)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use crate::cli::Cli;

    #[test]
    fn malformed_values_are_refused() {
        for line in [
            "strata list --coordinator localhost:7070",
            "strata list --coordinator http://",
            "strata list --coordinator http://a/b",
            "strata list --tls-cert mine.pem",
            "strata health --url ftp://a",
            "strata watch",
            "strata logs",
        ] {
            let error = Cli::try_parse_from(line.split_whitespace()).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{line}");
        }
    }
}
