//! The command line: every command, flag and environment variable.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{BoolishValueParser, RangedU64ValueParser, Resettable};
use clap::{ArgAction, Args, FromArgMatches, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use strata::KeepLayers;
use strata_store::EngineKind;

use crate::args::cluster::{
    HealthArgs, JobArgs, ListArgs, LogsArgs, PathJobArgs, ResumeArgs, StatsArgs, StatusArgs,
    SubmitArgs,
};
use crate::args::domain::{CommonFlags, DomainArgs, Given};
use crate::cmdline::SolveLine;
use crate::commands::layer::LayerArgs;
use crate::commands::nodes::args::{CoordinatorArgs, WorkerArgs};
use crate::commands::panex::args::PanexCommand;
use crate::commands::replay::ReplayArgs;
use crate::commands::tiles::args::TilesCommand;
use crate::output::exit;
use crate::output::units;

/// Breadth-first search of large state spaces, on disk.
#[derive(Debug, Parser)]
#[command(name = "strata", version, after_help = exit::help_table())]
pub(crate) struct Cli {
    /// Flags of every command.
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Flags of every command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct GlobalArgs {
    /// Print versioned newline-delimited JSON on standard output
    ///
    /// A reader who closes the pipe early does not stop the command: it goes on in silence.
    #[arg(long, global = true, env = "STRATA_JSON", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    pub(crate) json: bool,

    /// How to show progress on standard error (auto: a bar on a terminal, else lines)
    #[arg(long, global = true, value_name = "MODE", default_value = "auto")]
    #[arg(env = "STRATA_PROGRESS", hide_env_values = true)]
    pub(crate) progress: ProgressMode,

    /// When to colour the log (auto: on a terminal, unless NO_COLOR is set)
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    #[arg(env = "STRATA_COLOR", hide_env_values = true)]
    pub(crate) color: ColorMode,

    /// Log more (twice: everything)
    #[arg(short, long, global = true, action = ArgAction::Count)]
    #[arg(env = "STRATA_VERBOSE", hide_env_values = true)]
    pub(crate) verbose: u8,

    /// Log warnings and errors only (twice: errors only)
    #[arg(short, long, global = true, action = ArgAction::Count)]
    #[arg(env = "STRATA_QUIET", hide_env_values = true)]
    pub(crate) quiet: u8,

    /// The form of the log on standard error
    #[arg(long, global = true, value_name = "FORMAT", default_value = "text")]
    #[arg(env = "STRATA_LOG_FORMAT", hide_env_values = true)]
    pub(crate) log_format: LogFormat,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Search a state space on this machine
    ///
    /// `strata domains` lists the state spaces and their arguments. Sizes are bytes or carry a
    /// unit: KiB, MiB, GiB, TiB (or K, M, G, T) are binary, KB, MB, GB, TB decimal.
    #[command(after_help = exit::help_table())]
    Solve(Box<SolveArgs>),
    /// Search a state space in a cluster
    ///
    /// Follows the job until it ends. Ctrl-C leaves it running. A lost connection is made again as
    /// soon as the coordinator is back.
    #[command(after_help = exit::help_table())]
    Submit(Box<SubmitArgs>),
    /// List a cluster's jobs, the newest last
    List(ListArgs),
    /// Show a cluster's workers and unfinished jobs, or everything of one job
    Status(StatusArgs),
    /// Follow a job of a cluster, from its first layer to its end
    #[command(after_help = exit::help_table())]
    Watch(JobArgs),
    /// Print the log of a cluster's job
    Logs(LogsArgs),
    /// End a cluster's job after its next layer, with a checkpoint
    Cancel(JobArgs),
    /// Go on with a stopped, cancelled or failed job of a cluster, and follow it
    #[command(after_help = exit::help_table())]
    Resume(ResumeArgs),
    /// Print the moves of a shortest solution that a cluster's job has found
    ///
    /// They are traced back through the layers, which the job must have kept (--keep-layers all).
    #[command(after_help = exit::help_table())]
    Path(PathJobArgs),
    /// Print the layer table of a finished or running job
    #[command(after_help = exit::help_table())]
    Stats(StatsArgs),
    /// Count or list the states of a layer of a job in a folder
    #[command(after_help = exit::help_table())]
    Layer(LayerArgs),
    /// Replay moves from standard input and check every one
    #[command(after_help = exit::help_table())]
    Replay(ReplayArgs),
    /// Read everything of a job again and check it
    #[command(after_help = exit::help_table())]
    Verify(VerifyArgs),
    /// Run a cluster's coordinator
    Coordinator(Box<CoordinatorArgs>),
    /// Run a worker of a cluster
    Worker(Box<WorkerArgs>),
    /// Ask a node of a cluster whether it is healthy (exit code 10 if not)
    Health(HealthArgs),
    /// The Panex puzzle: its operations, tables, comparisons and drawings
    #[command(subcommand)]
    Panex(PanexCommand),
    /// What is known of the sliding-tile puzzle without searching its positions
    #[command(subcommand, after_help = exit::help_table())]
    Tiles(TilesCommand),
    /// List the state spaces and their parameters
    Domains,
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
}

/// Arguments of `solve`.
#[derive(Clone, Debug, Args)]
pub(crate) struct SolveArgs {
    /// The state space, such as panex or hanoi
    pub(crate) domain: String,

    /// Its arguments, such as the level or the number of discs
    #[arg(value_name = "ARGS", allow_negative_numbers = true)]
    pub(crate) args: Vec<String>,

    /// Threads of each worker; a symbolic search uses two at most
    #[arg(long, value_name = "N", default_value_t = available_threads())]
    #[arg(env = "STRATA_THREADS", hide_env_values = true, value_parser = at_most(1024))]
    pub(crate) threads: usize,

    /// Workers
    #[arg(long, value_name = "N", default_value = "1")]
    #[arg(env = "STRATA_WORKERS", hide_env_values = true, value_parser = at_most(1024))]
    pub(crate) workers: usize,

    /// Memory budget of everything that grows
    #[arg(long, value_name = "SIZE", default_value = "1GiB")]
    #[arg(env = "STRATA_MEMORY", hide_env_values = true, value_parser = units::parse_size)]
    pub(crate) memory: u64,

    /// Folder that holds a folder for each job
    #[arg(long, value_name = "DIR", default_value = "./strata-data")]
    #[arg(env = "STRATA_DATA_DIR", hide_env_values = true)]
    pub(crate) data_dir: PathBuf,

    /// Stop, resumably, before a layer that is expected to take more room on disk
    #[arg(long, value_name = "SIZE")]
    #[arg(env = "STRATA_DISK_LIMIT", hide_env_values = true, value_parser = units::parse_size)]
    pub(crate) disk_limit: Option<u64>,

    /// Stop, resumably, at this depth
    #[arg(long, value_name = "N", env = "STRATA_MAX_LAYERS", hide_env_values = true)]
    pub(crate) max_layers: Option<u32>,

    /// Go on from the job's last checkpoint
    #[arg(long, env = "STRATA_RESUME", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    pub(crate) resume: bool,

    /// Time between checkpoints, such as 500ms or 2m
    #[arg(long, value_name = "DURATION", default_value = "30s")]
    #[arg(env = "STRATA_CHECKPOINT_INTERVAL", hide_env_values = true)]
    #[arg(value_parser = humantime::parse_duration)]
    pub(crate) checkpoint_interval: Duration,

    /// Layer files to keep: all, last (those the search needs) or every:K
    #[arg(long, value_name = "WHICH", default_value = "last")]
    #[arg(env = "STRATA_KEEP_LAYERS", hide_env_values = true, value_parser = parse_keep_layers)]
    pub(crate) keep_layers: KeepLayers,

    /// Flags that many state spaces have.
    #[command(flatten)]
    pub(crate) common: CommonFlags,

    /// How layers are held
    #[arg(long, value_name = "ENGINE", default_value = "auto")]
    #[arg(env = "STRATA_ENGINE", hide_env_values = true)]
    pub(crate) engine: Engine,

    /// Make one of 64 steps that the symbolic engine remembers again, and compare
    #[arg(long, env = "STRATA_VERIFY", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    pub(crate) verify: bool,

    /// Shards to divide the states among (fixed for the life of a job)
    #[arg(long, value_name = "N", env = "STRATA_SHARDS", hide_env_values = true)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub(crate) shards: Option<u32>,

    /// The moves of a shortest solution.
    #[command(flatten)]
    pub(crate) path: PathArgs,

    /// Flags of single state spaces.
    #[command(flatten)]
    pub(crate) own: DomainArgs,

    /// The command line these arguments came from.
    #[arg(skip)]
    pub(crate) line: SolveLine,
}

/// Flags for the moves of a shortest solution.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Path")]
pub(crate) struct PathArgs {
    /// Print the moves of a shortest solution, too (keeps all layers, see --keep-layers)
    ///
    /// They are traced back through the layers. If these do not fit the disk limit, or
    /// --keep-layers says otherwise, both halves of the way are searched again, and so on.
    #[arg(long, env = "STRATA_PATH", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    path: bool,

    /// Form and place of the moves.
    #[command(flatten)]
    pub(crate) form: PathForm,
}

/// How moves are shown.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Path")]
pub(crate) struct PathForm {
    /// The form of the moves
    #[arg(long, value_name = "FORM", default_value = "moves")]
    #[arg(env = "STRATA_PATH_FORMAT", hide_env_values = true)]
    pub(crate) path_format: PathFormat,

    /// Write the moves to a file instead (with solve, implies --path)
    #[arg(long, value_name = "FILE", env = "STRATA_PATH_FILE", hide_env_values = true)]
    pub(crate) path_file: Option<PathBuf>,
}

impl PathArgs {
    /// Whether the moves are wanted at all.
    pub(crate) fn wanted(&self) -> bool {
        self.path || self.form.path_file.is_some()
    }
}

/// The form of moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PathFormat {
    /// One a line with its tile, such as b1 L>C.
    Moves,
    /// All in one line, such as LC RC.
    Words,
}

impl SolveArgs {
    /// The arguments of a command line, name of the command first, with no regard to the
    /// environment.
    pub(crate) fn without_variables(
        words: impl IntoIterator<Item = OsString>,
    ) -> Result<SolveArgs, clap::Error> {
        let definition = SolveArgs::augment_args(clap::Command::new("solve"));
        let definition = definition.mut_args(|arg| arg.env(Resettable::Reset));
        SolveArgs::from_arg_matches(&definition.try_get_matches_from(words)?)
    }

    /// The parameters of state spaces that were given by flag or variable.
    pub(crate) fn parameters(&self) -> Vec<Given> {
        self.own.given(&self.common, &self.line)
    }
}

/// Arguments of `verify`.
#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// The job's folder
    pub(crate) dir: PathBuf,
}

/// How to show progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProgressMode {
    /// A bar on a terminal, else lines.
    Auto,
    /// A live display.
    Bar,
    /// Log lines.
    Lines,
    /// Nothing.
    None,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorMode {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The form of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people.
    Text,
    /// For machines.
    Json,
}

/// The form of the layer table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TableFormat {
    /// Aligned columns.
    Table,
    /// Comma-separated values.
    Csv,
    /// A JSON object a line.
    Json,
}

impl Engine {
    /// The engine that is asked for by name.
    pub(crate) fn kind(self) -> Option<EngineKind> {
        match self {
            Engine::Auto => None,
            Engine::Explicit => Some(EngineKind::Explicit),
            Engine::Symbolic => Some(EngineKind::Symbolic),
            Engine::SymbolicLean => Some(EngineKind::SymbolicLean),
        }
    }
}

/// How layers are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Engine {
    /// Symbolic where the space can be searched so, unless flags ask for what only explicit has.
    Auto,
    /// Every state is written down.
    Explicit,
    /// As diagrams of what repeats.
    Symbolic,
    /// The same without digests and numbers of moves, in less memory.
    SymbolicLean,
}

/// Why a value of `--keep-layers` was refused.
#[derive(Debug, thiserror::Error)]
#[error("use all, last or every:K with K of at least 1")]
pub(crate) struct KeepLayersError;

pub(crate) fn parse_keep_layers(text: &str) -> Result<KeepLayers, KeepLayersError> {
    match text {
        "all" => Ok(KeepLayers::All),
        "last" => Ok(KeepLayers::Last),
        _ => {
            let number = text.strip_prefix("every:").ok_or(KeepLayersError)?;
            let number = number.parse().map_err(|_| KeepLayersError)?;
            Ok(KeepLayers::Every(number))
        }
    }
}

pub(crate) fn at_most(limit: u64) -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..=limit)
}

pub(crate) fn available_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use std::num::NonZeroU32;

    use super::*;

    fn solve(line: &str) -> SolveArgs {
        let words = line.split_whitespace();
        match Cli::try_parse_from(words).unwrap().command {
            Command::Solve(args) => *args,
            other => panic!("not solve: {other:?}"),
        }
    }

    #[test]
    fn definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_flag_has_its_variable() {
        let mut root = Cli::command();
        root.build();
        let commands = std::iter::once(&root).chain(root.get_subcommands());
        for arg in commands.flat_map(clap::Command::get_arguments) {
            let Some(long) = arg.get_long() else { continue };
            if long == "help" || long == "version" {
                continue;
            }
            let expected = format!("STRATA_{}", long.to_uppercase().replace('-', "_"));
            let actual = arg.get_env().map(|name| name.to_string_lossy().into_owned());
            assert_eq!(actual, Some(expected), "--{long}");
        }
    }

    #[test]
    fn defaults() {
        let args = solve("strata solve panex 6");
        assert_eq!((args.domain.as_str(), args.args.as_slice()), ("panex", &["6".to_owned()][..]));
        assert!(args.threads >= 1);
        assert_eq!(args.workers, 1);
        assert_eq!(args.memory, 1 << 30);
        assert_eq!(args.data_dir, PathBuf::from("./strata-data"));
        assert_eq!((args.disk_limit, args.max_layers, args.shards), (None, None, None));
        assert_eq!(args.checkpoint_interval, Duration::from_secs(30));
        assert_eq!(args.keep_layers, KeepLayers::Last);
        assert!(!args.resume && !args.path.wanted());
        assert_eq!(args.engine, Engine::Auto);
        assert_eq!(args.parameters(), []);
    }

    #[test]
    fn flags_may_stand_anywhere() {
        let args = solve(
            "strata --json solve hanoi 10 --pegs 4 --memory 64MiB --keep-layers every:5 \
             --checkpoint-interval 500ms --symmetry off -s 5 -k 4 --centre-top allow",
        );
        assert_eq!(args.args, ["10"]);
        assert_eq!((args.own.value("pegs"), args.memory), (Some("4"), 64 << 20));
        assert_eq!(args.keep_layers, KeepLayers::Every(NonZeroU32::new(5).unwrap()));
        assert_eq!(args.checkpoint_interval, Duration::from_millis(500));
        let given: Vec<_> = args.parameters().into_iter().map(|g| (g.name, g.value)).collect();
        let expected =
            [("k", "4"), ("s", "5"), ("centre-top", "allow"), ("pegs", "4"), ("symmetry", "off")];
        assert_eq!(given, expected.map(|(name, value)| (name, value.to_owned())));
    }

    #[test]
    fn bad_values_are_refused() {
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

    #[test]
    fn the_table_format_follows_json() {
        let parse = |line: &str| match Cli::try_parse_from(line.split_whitespace()) {
            Ok(Cli { global, command: Command::Stats(args) }) => args.format(global.json),
            other => panic!("not stats: {other:?}"),
        };
        assert_eq!(parse("strata stats dir"), TableFormat::Table);
        assert_eq!(parse("strata stats dir --json"), TableFormat::Json);
        assert_eq!(parse("strata --json stats dir --format csv"), TableFormat::Csv);
    }
}
