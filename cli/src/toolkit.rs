//! Toolkit for the programs of other commands: flags, outputs and exit codes of the command line,
//! and searches inside a command.
//!
//! `strata NAME` runs the program `strata-NAME`. A program that is built on this module reads its
//! arguments and prints results, errors, help and completions like the commands of `strata`. It
//! belongs to this workspace: the module is not a stable interface.

use std::ffi::OsString;

use clap::{Command as Definition, CommandFactory, Parser, Subcommand};

pub use crate::args::values::{at_most, available_threads};
pub use crate::commands::man::ManArgs;
pub use crate::commands::solve::embedded::{Found, SearchResources, search};
pub use crate::output::console::Console;
pub use crate::output::exit::{ExitCode, Failure, help_table};
pub use crate::output::json::write_line;
pub use crate::output::path_form::check_folder;
pub use crate::output::stdout::print;

use crate::cmdline;
use crate::commands::completions;
use crate::commands::man;
use crate::output::args::GlobalArgs;
use crate::words::command_at;

/// Files that arguments name: `-` is standard input or output.
pub mod files {
    pub use crate::files::{input_name, is_standard, output, read};
}

/// Readable forms of counts, bytes and times.
pub mod units {
    pub use crate::output::units::{bytes, count, seconds};
}

/// The command line of a program: the flags of every command, and its own commands.
#[derive(Debug, Parser)]
#[command(name = "strata", bin_name = "strata")]
struct Line<C: Subcommand> {
    #[command(flatten)]
    global: GlobalArgs,
    #[command(subcommand)]
    command: C,
}

fn definition<C: Subcommand>() -> Definition {
    completions::completed(Line::<C>::command())
}

/// Runs the commands of a program, and returns the exit code of the process.
///
/// Help and errors show the commands as commands of `strata`. If a line does not begin with one of
/// them, the command `default` is inserted: with the default `panex`, both `strata-panex panex op` and
/// `strata-panex op` run `strata panex op`.
pub fn run<C: Subcommand>(
    default: &str,
    dispatch: impl FnOnce(&C, &Console) -> Result<ExitCode, Failure>,
) -> std::process::ExitCode {
    strata_engine::memory::release_large_allocations();
    let mut words: Vec<OsString> = std::env::args_os().collect();
    if completions::is_request(&words) {
        completions::answer(words, definition::<C>);
        return std::process::ExitCode::SUCCESS;
    }
    let definition = definition::<C>();
    let command = command_at(&words, &definition).map(|at| &words[at]);
    if command.is_none_or(|name| definition.find_subcommand(name).is_none()) {
        words.insert(words.len().min(1), default.into());
    }
    let parsed = cmdline::parse_as::<Line<C>>(definition, &words).map(|(line, ..)| line);
    cmdline::run(parsed, |line| dispatch(&line.command, &Console::start(&line.global)))
}

/// Writes the manual pages of the commands of a program.
///
/// # Errors
/// If the folder or a page cannot be written.
pub fn manual<C: Subcommand>(args: &ManArgs, console: &Console) -> Result<ExitCode, Failure> {
    let mut definition = definition::<C>();
    definition.build();
    let commands = definition.get_subcommands().filter(|command| command.get_name() != "help");
    man::write(args, console, commands)
}
