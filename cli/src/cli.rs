//! The command line: every command, in groups.

use clap::builder::StyledStr;
use clap::{Arg, Command as Definition, CommandFactory, Parser, Subcommand};

use crate::commands::completions::{self, CompletionsArgs};
use crate::commands::gc::GcArgs;
use crate::commands::health::HealthArgs;
use crate::commands::jobs::{JobArgs, LogsArgs, ResumeArgs};
use crate::commands::layer::LayerArgs;
use crate::commands::lookup::LookUpArgs;
use crate::commands::man::ManArgs;
use crate::commands::nodes::coordinator::CoordinatorArgs;
use crate::commands::nodes::tls_init::TlsInitArgs;
use crate::commands::nodes::worker::WorkerArgs;
use crate::commands::path::PathJobArgs;
use crate::commands::plot::args::PlotArgs;
use crate::commands::puzzle::args::PuzzleCommand;
use crate::commands::replay::ReplayArgs;
use crate::commands::rm::RmArgs;
use crate::commands::solve::args::SolveArgs;
use crate::commands::stats::run::StatsArgs;
use crate::commands::submit::SubmitArgs;
use crate::commands::verify::VerifyArgs;
use crate::commands::view::{ListArgs, StatusArgs};
use crate::extensions::EXTENSIONS;
use crate::help;
use crate::output::args::GlobalArgs;
use crate::output::exit;
use crate::program;
use crate::program::flags::{self, FlagError};
use crate::target::{Places, Typed};

/// Breadth-first search of large state spaces, on disk.
#[derive(Debug, Parser)]
#[command(name = "strata", version)]
pub(crate) struct Cli {
    /// Flags of every command.
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    /// The command.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Search a state space on this machine
    ///
    /// `strata domains` lists the state spaces and their arguments. A size is a number of bytes or
    /// has a unit: KiB, MiB, GiB, TiB (or K, M, G, T) are binary, KB, MB, GB, TB decimal.
    #[command(after_help = exit::help_table())]
    Solve(Box<SolveArgs>),
    /// Search a state space in a cluster
    ///
    /// Follows the job until it ends. Ctrl-C leaves the job running. If the connection is lost, the
    /// command reconnects.
    #[command(after_help = exit::help_table())]
    Submit(Box<SubmitArgs>),
    /// List the jobs of a cluster, or of a folder (--data-dir), newest last
    List(ListArgs),
    /// Show workers and unfinished jobs of a cluster, or one job in full
    Status(StatusArgs),
    /// Follow a job of a cluster, from its first layer to its end
    #[command(after_help = exit::help_table())]
    Watch(JobArgs),
    /// Print the log of a cluster's job
    Logs(LogsArgs),
    /// Stop a cluster's job after its next layer, with a checkpoint
    Cancel(JobArgs),
    /// Continue a stopped job: in a folder, or of a cluster, which it follows
    ///
    /// The folder has all arguments of the search. Threads, memory and kept layers are those of its
    /// last run unless flags say otherwise; limits are those of one run.
    #[command(after_help = exit::help_table())]
    Resume(ResumeArgs),
    /// Remove jobs: their files on all workers, records and logs; or folders of jobs
    ///
    /// Workers that are not connected remove their files when they are. Nothing is removed if one of
    /// the jobs cannot be.
    #[command(after_help = exit::help_table())]
    Rm(RmArgs),
    /// Remove a cluster's jobs that ended some time ago, and files of jobs that it does not know
    ///
    /// A coordinator does not know a job if its journal was lost or restored from an earlier point.
    #[command(after_help = exit::help_table())]
    Gc(GcArgs),
    /// Print the moves of a shortest solution found by a job
    ///
    /// The moves are traced back through the layers, which the job must have kept
    /// (--keep-layers all).
    #[command(after_help = exit::help_table())]
    Path(PathJobArgs),
    /// Print the layer table of a finished or running job
    #[command(after_help = exit::help_table())]
    Stats(StatsArgs),
    /// Draw a chart of a finished or running job, in the terminal or as an SVG or PNG file
    #[command(after_help = exit::help_table())]
    Plot(Box<PlotArgs>),
    /// Count or list the states of a layer of a job in a folder
    #[command(after_help = exit::help_table())]
    Layer(LayerArgs),
    /// Look up states in a job: distances from the start, numbers of shortest ways, and ways
    ///
    /// The job must have kept all layers (--keep-layers all).
    #[command(after_help = exit::help_table())]
    Lookup(LookUpArgs),
    /// Replay moves from standard input and check each of them
    #[command(after_help = exit::help_table())]
    Replay(ReplayArgs),
    /// Read all files of a job and check them
    #[command(after_help = exit::help_table())]
    Verify(VerifyArgs),
    /// Run the coordinator of a cluster
    Coordinator(Box<CoordinatorArgs>),
    /// Run a worker of a cluster
    Worker(Box<WorkerArgs>),
    /// Create the certificates of a cluster: an authority, and one each for nodes and clients
    TlsInit(TlsInitArgs),
    /// Check the health of a node of a cluster (exit code 10 if it is not healthy)
    Health(HealthArgs),
    /// Permutation puzzles from files: moves, constraints and group order, without a search
    #[command(subcommand)]
    Puzzle(PuzzleCommand),
    /// List the state spaces and their parameters
    Domains,
    /// Write the manual pages of the program and of its commands
    Man(ManArgs),
    /// Print a completion script for a shell
    ///
    /// The script asks this program for completions: of commands, flags, puzzles, jobs of the cluster
    /// and folders of jobs.
    Completions(CompletionsArgs),
}

impl Command {
    /// The record of typed flags, for a command that distinguishes them from variables.
    pub(crate) fn typed_mut(&mut self) -> Option<&mut Typed> {
        match self {
            Command::List(args) => Some(&mut args.typed),
            _ => self.places_mut().map(|places| &mut places.typed),
        }
    }

    /// The places where the command looks for a job, if it accepts folders of jobs.
    fn places_mut(&mut self) -> Option<&mut Places> {
        match self {
            Command::Stats(args) => Some(&mut args.target.places),
            Command::Plot(args) => Some(&mut args.target.places),
            Command::Layer(args) => Some(&mut args.target.places),
            Command::Lookup(args) => Some(&mut args.target.places),
            Command::Verify(args) => Some(&mut args.target.places),
            Command::Path(args) => Some(&mut args.target.places),
            Command::Resume(args) => Some(&mut args.target.places),
            Command::Rm(args) => Some(&mut args.places),
            _ => None,
        }
    }
}

/// The groups of commands in the help of the program.
const GROUPS: [(&str, &[&str]); 4] = [
    ("Search on this machine", &["solve", "stats", "plot", "layer", "lookup", "verify", "replay"]),
    (
        "Jobs of a cluster",
        &["submit", "list", "status", "watch", "logs", "cancel", "resume", "rm", "gc", "path"],
    ),
    ("Nodes of a cluster", &["coordinator", "worker", "tls-init", "health"]),
    ("Puzzles and tools", &["domains", "puzzle", "panex", "tiles", "completions", "man"]),
];

/// Checks that no flag of a puzzle is also a flag of a command.
///
/// # Errors
/// [`FlagError::Taken`] for the first such flag.
pub(crate) fn check_flags() -> Result<(), FlagError> {
    let definition = Cli::command();
    let global: Vec<Arg> = definition.get_arguments().cloned().collect();
    let commands = ["solve", "submit"].iter().filter_map(|name| definition.find_subcommand(name));
    commands.into_iter().try_for_each(|command| {
        let all = command.clone().args(global.clone());
        flags::check(program::flags(), &all)
    })
}

/// The definition of the program for clap: its name, its commands in groups, and help of one
/// screen.
pub(crate) fn definition() -> Definition {
    let name = program::name();
    let definition = completions::completed(help::grouped(Cli::command().name(name)));
    let extensions = EXTENSIONS.iter().map(|one| Definition::new(one.name).about(one.about));
    let definition = definition.subcommands(extensions);
    let definition = if name == "strata" { definition } else { renamed(definition, name) };
    let mut template = "{about}\n\n{usage-heading} {usage}\n".to_owned();
    for (heading, names) in GROUPS {
        template += &format!("\n{heading}:\n");
        for name in names {
            let command = definition.find_subcommand(name);
            let about = command.and_then(Definition::get_about);
            template += &format!("  {name:<12} {}\n", about.cloned().unwrap_or_default());
        }
    }
    template += "\n{options}{after-help}";
    let definition = definition.after_help(exit::help_table());
    // `--help` prints the short form, too: the long one does not fit a screen.
    let help = definition.clone().help_template(template).render_help().to_string();
    let more = "; COMMAND --help describes the flags of a command";
    definition.override_help(help.replace(" (see more with '--help')", more))
}

/// The definition with the name of another program in the texts of the commands.
fn renamed(definition: Definition, name: &str) -> Definition {
    let own = |text: &StyledStr| text.to_string().replace("`strata ", &format!("`{name} "));
    definition.mut_subcommands(|command| {
        let (about, long) = (command.get_about().map(own), command.get_long_about().map(own));
        let command = about.map_or(command.clone(), |text| command.about(text));
        long.map_or(command.clone(), |text| command.long_about(text))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definition_is_sound() {
        definition().debug_assert();
    }

    #[test]
    fn every_flag_has_its_variable() {
        let mut root = definition();
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
    fn help_lists_every_command_once_on_one_screen() {
        let mut definition = definition();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        let mut names: Vec<&str> = definition.get_subcommands().map(Definition::get_name).collect();
        grouped.sort_unstable();
        names.sort_unstable();
        assert_eq!(grouped, names);
        let help = definition.render_help().to_string();
        assert!(help.lines().count() <= 64, "{help}");
        assert!(help.contains("  completions  Print a completion script"), "{help}");
    }
}
