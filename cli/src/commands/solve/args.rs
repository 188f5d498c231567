//! Arguments of `strata solve`.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{BoolishValueParser, Resettable};
use clap::{Args, FromArgMatches};

use crate::args::search::SearchArgs;
use crate::args::values::{at_most, available_threads};
use crate::duration::parse_duration;
use crate::output::path_form::PathArgs;
use strata_run::size::parse_size;

/// Limit of the antipodes that are printed.
const MAX_ANTIPODES: i64 = 1_000;

/// Arguments of `solve`.
#[derive(Clone, Debug, Args)]
pub(crate) struct SolveArgs {
    /// Threads of each worker [default: those of the machine, divided by the workers]; a symbolic
    /// search uses two at most
    #[arg(long, value_name = "N")]
    #[arg(env = "STRATA_THREADS", hide_env_values = true, value_parser = at_most(1024))]
    pub(crate) threads: Option<usize>,

    /// Workers in this process
    #[arg(long, value_name = "N", default_value = "1")]
    #[arg(env = "STRATA_WORKERS", hide_env_values = true, value_parser = at_most(1024))]
    pub(crate) workers: usize,

    /// Memory budget of tables, buffers and diagrams
    #[arg(long, value_name = "SIZE", default_value = "1GiB")]
    #[arg(env = "STRATA_MEMORY", hide_env_values = true, value_parser = parse_size)]
    pub(crate) memory: u64,

    /// Folder that holds a folder for each job
    #[arg(long, value_name = "DIR", default_value = "./strata-data")]
    #[arg(env = "STRATA_DATA_DIR", hide_env_values = true)]
    pub(crate) data_dir: PathBuf,

    /// What to search, and when to stop.
    #[command(flatten)]
    pub(crate) search: SearchArgs,

    /// Continue from the job's last checkpoint
    #[arg(long, env = "STRATA_RESUME", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    pub(crate) resume: bool,

    /// Time between checkpoints, such as 500ms or 2m
    #[arg(long, value_name = "DURATION", default_value = "30s")]
    #[arg(env = "STRATA_CHECKPOINT_INTERVAL", hide_env_values = true)]
    #[arg(value_parser = parse_duration)]
    pub(crate) checkpoint_interval: Duration,

    /// Symbolic engine: recompute one in 64 memoised steps and compare
    #[arg(long, env = "STRATA_VERIFY", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    pub(crate) verify: bool,

    /// Explicit engine: check for more states [default: 64, or 100000 without a number] that each of
    /// their moves can be undone, if the puzzle says so
    #[arg(long, value_name = "STATES", num_args = 0..=1, require_equals = true)]
    #[arg(
        default_missing_value = "100000",
        env = "STRATA_CHECK_REVERSIBLE",
        hide_env_values = true
    )]
    pub(crate) check_reversible: Option<usize>,

    /// Dense engine: compute no digests, which saves time
    #[arg(long, env = "STRATA_NO_DIGEST", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    pub(crate) no_digest: bool,

    /// Serve a web page of the search at a loopback address [default: a free port], until Ctrl-C
    #[arg(long, value_name = "ADDR", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "127.0.0.1:0", env = "STRATA_UI", hide_env_values = true)]
    pub(crate) ui: Option<SocketAddr>,

    /// The moves of a shortest solution.
    #[command(flatten)]
    pub(crate) path: PathArgs,

    /// With --exhaust, print up to N states of the last layer, and the fewest moves from each to the
    /// start (the explicit engine keeps all layers for them)
    #[arg(long, value_name = "N", env = "STRATA_ANTIPODES", hide_env_values = true)]
    #[arg(help_heading = "Path", value_parser = clap::value_parser!(u32).range(..=MAX_ANTIPODES))]
    pub(crate) antipodes: Option<u32>,
}

impl SolveArgs {
    /// Threads of each worker: those of `--threads`, or else the machine's divided by the workers.
    pub(crate) fn threads(&self) -> usize {
        self.threads.unwrap_or_else(|| (available_threads() / self.workers).max(1))
    }

    /// Parses a command line, name of the command first, without reading the environment.
    ///
    /// # Errors
    /// Those of the parser.
    pub(crate) fn without_variables(
        words: impl IntoIterator<Item = OsString>,
    ) -> Result<SolveArgs, clap::Error> {
        let definition = SolveArgs::augment_args(clap::Command::new("solve"));
        let definition = definition.mut_args(|arg| arg.env(Resettable::Reset));
        SolveArgs::from_arg_matches(&definition.try_get_matches_from(words)?)
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use clap::Parser;
    use strata_run::KeepLayers;

    use super::*;
    use crate::args::values::Engine;
    use crate::cli::{Cli, Command};

    fn solve(line: &str) -> SolveArgs {
        let words = line.split_whitespace();
        match Cli::try_parse_from(words).unwrap().command {
            Command::Solve(args) => *args,
            other => panic!("not solve: {other:?}"),
        }
    }

    #[test]
    fn defaults() {
        let args = solve("strata solve panex 6");
        let search = &args.search;
        assert_eq!((&*search.domain, &*search.args), ("panex", &["6".to_owned()][..]));
        assert_eq!(args.threads(), available_threads());
        let several = SolveArgs { workers: 2, ..args.clone() };
        assert_eq!(several.threads(), (available_threads() / 2).max(1));
        let many = SolveArgs { workers: 1000, ..args.clone() };
        assert_eq!(many.threads(), 1);
        assert_eq!(SolveArgs { threads: Some(5), ..many }.threads(), 5);
        assert_eq!(args.workers, 1);
        assert_eq!(args.memory, 1 << 30);
        assert_eq!(args.data_dir, PathBuf::from("./strata-data"));
        assert_eq!((search.disk_limit, search.max_layers, search.shards), (None, None, None));
        assert_eq!(args.checkpoint_interval, Duration::from_secs(30));
        assert_eq!(search.keep_layers, KeepLayers::Last);
        assert!(!args.resume && !args.path.wanted());
        assert_eq!(search.engine, Engine::Auto);
        assert_eq!(search.parameters(), []);
    }

    #[test]
    fn flags_are_accepted_before_and_after_the_command() {
        let args = solve(
            "strata --json solve hanoi 10 --pegs 4 --memory 64MiB --keep-layers every:5 \
             --checkpoint-interval 500ms --symmetry off -s 5 -k 4 --centre-top allow",
        );
        assert_eq!(args.search.args, ["10"]);
        assert_eq!(args.memory, 64 << 20);
        assert_eq!(args.search.keep_layers, KeepLayers::Every(NonZeroU32::new(5).unwrap()));
        assert_eq!(args.checkpoint_interval, Duration::from_millis(500));
        let given = args.search.parameters().into_iter();
        let given: Vec<_> = given.map(|g| (g.name, g.value)).collect();
        let expected =
            [("k", "4"), ("s", "5"), ("centre-top", "allow"), ("pegs", "4"), ("symmetry", "off")];
        assert_eq!(given, expected.map(|(name, value)| (name, value.to_owned())));
    }

    #[test]
    fn malformed_values_are_refused() {
        for flags in [
            "--memory lots",
            "--memory 64XB",
            "--threads 0",
            "--threads two",
            "--workers 0",
            "--shards 0",
            "--keep-layers every:0",
            "--keep-layers some",
            "--checkpoint-interval 30",
            "--engine quick",
            "--symmetry maybe",
            "--k some",
        ] {
            let line = format!("strata solve panex 6 {flags}");
            let error = Cli::try_parse_from(line.split_whitespace()).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{flags}");
        }
    }
}
