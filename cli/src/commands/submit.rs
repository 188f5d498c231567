//! `strata submit`: submits a job to a cluster and follows it.

use std::time::Duration;

use clap::Args;
use clap::builder::BoolishValueParser;
use strata_proto::net::limits;
use strata_proto::v1;
use strata_run::{EngineChoice, KeepLayers, engines_of, named_engine};
use strata_store::check_name;

use crate::args::cluster::ClientArgs;
use crate::args::engine::{announcement, refused, settings};
use crate::args::search::SearchArgs;
use crate::client::follow::Follower;
use crate::client::remote::Remote;
use crate::client::{expected, record, report};
use crate::duration::parse_duration;
use crate::output::console::Console;
use crate::output::exit::{ExitCode, Failure};
use crate::spaces::request;

/// Arguments of `submit`.
#[derive(Debug, Args)]
pub(crate) struct SubmitArgs {
    /// What to search, and when to stop.
    #[command(flatten)]
    pub(crate) search: SearchArgs,

    /// Name of the job; if a job of this name waits or runs, that job is followed
    #[arg(long, value_name = "NAME", env = "STRATA_NAME", hide_env_values = true)]
    #[arg(value_parser = parse_name)]
    name: Option<String>,

    /// Start another job although one of that name has ended; the name then means the new one
    #[arg(long, requires = "name", env = "STRATA_NEW", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    new: bool,

    /// Jobs of a greater priority start first; it may be negative
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    #[arg(env = "STRATA_PRIORITY", hide_env_values = true)]
    priority: i32,

    /// Print the job's id and exit
    #[arg(long, env = "STRATA_DETACH", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    detach: bool,

    /// Time between checkpoints, such as 500ms or 2m [default: the coordinator's]
    #[arg(long, value_name = "DURATION")]
    #[arg(env = "STRATA_CHECKPOINT_INTERVAL", hide_env_values = true)]
    #[arg(value_parser = parse_duration)]
    checkpoint_interval: Option<Duration>,

    /// The cluster.
    #[command(flatten)]
    client: ClientArgs,
}

/// Why a job's name was refused.
#[derive(Debug, thiserror::Error)]
#[error("use at most 64 letters, digits, dots, dashes and underscores, not beginning with a dot")]
struct NameError;

fn parse_name(text: &str) -> Result<String, NameError> {
    if text.len() > limits::NAME_LEN || check_name("name of a job", text).is_err() {
        return Err(NameError);
    }
    Ok(text.to_owned())
}

/// Runs `strata submit`.
///
/// # Errors
/// If the search is refused, the cluster cannot be reached, or the job fails.
pub(crate) fn run(args: &SubmitArgs, console: &Console) -> Result<ExitCode, Failure> {
    let search = &args.search;
    let space = request::open(&search.domain, &search.args, search.parameters())?;
    let engines = engines_of(&space);
    let kind = search.engine.kind();
    let given = settings(&search.line, kind);
    let auto = match kind {
        Some(kind) => {
            named_engine(&space, kind, &given).map_err(|error| refused(Some(kind), error))?;
            None
        }
        None => {
            let settings = given.into_iter().map(str::to_owned).collect();
            Some(v1::EngineNeeds { settings })
        }
    };
    let spec = v1::JobSpec {
        space: space.name().to_owned(),
        parameters: space.parameters().into_iter().collect(),
        shards: search.shards.unwrap_or(0),
        engine: kind.map_or("", |kind| kind.name()).to_owned(),
    };
    // The tables may be large, and only the workers need them.
    drop(space);
    let mut options = options(args);
    if kind.is_some_and(|kind| kind.is_symbolic()) {
        // These come from variables, which may be meant for other searches: flags were refused
        // above.
        (options.keep, options.disk_limit_bytes) = (None, None);
    }
    let request = v1::SubmitRequest {
        spec: Some(spec),
        options: Some(options),
        name: args.name.clone().unwrap_or_default(),
        auto,
        again: args.new,
        dry_run: search.dry_run,
    };
    let remote = Remote::connect(&args.client)?;
    let job = remote.submit(request)?;
    if search.dry_run {
        expected::print(&job, &remote, console)?;
        return Ok(ExitCode::Done);
    }
    if job.depth.is_none() && !record::has_ended(&job) {
        expected::announce(&job, &remote)?;
    }
    let url = &args.client.coordinator;
    let (engine, reason) = (record::spec(&job).engine, record::engine_reason(&job));
    let choice = EngineChoice { engine, reason };
    // The name may be that of a running job.
    let is_old = job.depth.is_some() || job.state() != v1::JobState::Queued;
    let done = if is_old { "is followed at" } else { "submitted to" };
    tracing::info!("job {} {done} {url}: {}", job.id, announcement(&choice, &engines));
    if args.detach {
        report::print_detached(&job, console)?;
        return Ok(ExitCode::Done);
    }
    Follower::of(remote, console, job)?.run()
}

fn options(args: &SubmitArgs) -> v1::JobOptions {
    use v1::keep_layers::Which;
    let keep = match args.search.keep_layers {
        KeepLayers::All => Which::All(true),
        KeepLayers::Last => Which::Last(true),
        KeepLayers::Every(number) => Which::Every(number.get()),
    };
    // 0 would select the coordinator's default.
    let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX).max(1);
    v1::JobOptions {
        checkpoint_interval_ms: args.checkpoint_interval.map_or(0, milliseconds),
        max_layers: args.search.max_layers,
        disk_limit_bytes: args.search.disk_limit,
        keep: Some(v1::KeepLayers { which: Some(keep) }),
        priority: args.priority,
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command};

    fn submit(line: &str) -> SubmitArgs {
        let words = line.split_whitespace().map(std::ffi::OsString::from);
        match crate::cmdline::parse(words) {
            Ok(Cli { command: Command::Submit(args), .. }) => *args,
            _ => panic!("not submit: {line}"),
        }
    }

    #[test]
    fn submit_accepts_the_flags_of_solve() {
        let args = submit(
            "strata submit hanoi 10 --pegs 4 --exhaust --shards 8 --name ten --new --detach \
             --priority -3 --checkpoint-interval 2s --max-layers 9 --disk-limit 1GiB --keep-layers all",
        );
        let search = &args.search;
        assert_eq!((&*search.domain, &*search.args), ("hanoi", &["10".to_owned()][..]));
        let given = search.parameters();
        let given: Vec<_> = given.iter().map(|g| (g.name, &*g.value, g.typed)).collect();
        assert_eq!(given, [("pegs", "4", true), ("exhaust", "true", true)]);
        assert_eq!(
            (search.shards, search.max_layers, search.disk_limit),
            (Some(8), Some(9), Some(1 << 30))
        );
        assert_eq!(args.checkpoint_interval, Some(Duration::from_secs(2)));
        assert_eq!(args.client.coordinator, "http://127.0.0.1:7070");
        assert!(args.detach && args.new);
        assert_eq!(super::options(&args).priority, -3);
        assert_eq!(submit("strata submit hanoi 3").priority, 0);
    }

    #[test]
    fn malformed_values_are_refused() {
        for name in ["a/b", "..", ".x", "", &"x".repeat(65)] {
            let line = format!("strata submit panex 3 --name={name}");
            let error = Cli::try_parse_from(line.split_whitespace()).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{line}");
        }
        for line in ["strata submit panex 3 --new", "strata submit panex 3 --priority high"] {
            let error = Cli::try_parse_from(line.split_whitespace()).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{line}");
        }
    }
}
