//! The command line of Strata: arguments in, text out.
//!
//! Each layer imports from the layers below it only:
//!
//! 1. [`run`] dispatches to `commands`.
//! 2. `commands` use `target`, which finds jobs, `client`, `folder`, and `args`, the flags that
//!    commands share.
//! 3. These use `spaces` and `files`.
//! 4. All print through `output`, and get the puzzles from `program`.
//!
//! `extensions` finds the programs of other commands; these use [`toolkit`] for the same flags and
//! outputs. `words` finds the flags and the command in a command line.
#![forbid(unsafe_code)]

mod args;
mod cli;
mod client;
mod cmdline;
mod commands;
mod duration;
mod extensions;
mod files;
mod folder;
mod help;
mod output;
mod program;
mod signals;
mod spaces;
mod target;
pub mod toolkit;
mod words;

use std::ffi::OsString;
use std::path::Path;

use clap::CommandFactory;
pub use strata_run::catalogue::Entry;
use strata_run::catalogue::Registry;

use crate::cli::{Cli, Command};
use crate::commands::{
    completions, domains, gc, health, jobs, layer, lookup, man, nodes, path, plot, puzzle, replay,
    rm, solve, stats, submit, verify, view,
};
use crate::output::console::Console;
use crate::output::exit::{ExitCode, Failure};

/// Runs the command line with the puzzles that ship with Strata and `puzzles`, and returns the exit
/// code of the process.
///
/// A puzzle replaces a shipped one of the same name. Help texts and errors use the name by which
/// the program was started.
///
/// ```no_run
/// # use strata::catalogue::{
/// #     KeySpace, Keyed, NoNested, Parameter, Parameters, Puzzle, Seed, SpaceError,
/// # };
/// # struct Dot;
/// # impl KeySpace for Dot {
/// #     type Key = u64;
/// #     fn seeds(&self) -> Vec<Seed> { vec![Seed::start(0)] }
/// #     fn key_bits(&self) -> u32 { 1 }
/// #     fn successors(&self, _: u64, _: &mut Vec<u64>) {}
/// #     fn text(&self, key: u64) -> String { key.to_string() }
/// # }
/// # impl Puzzle for Dot {
/// #     type States = Keyed<Dot>;
/// #     type Nested = NoNested;
/// #     const NAME: &'static str = "dot";
/// #     const SUMMARY: &'static str = "a dot";
/// #     const PARAMETERS: &'static [Parameter] = &[];
/// #     fn open(_: &Parameters) -> Result<Dot, SpaceError> { Ok(Dot) }
/// #     fn parameters(&self) -> Parameters { Parameters::new() }
/// # }
/// fn main() -> std::process::ExitCode {
///     strata_cli::run([strata_cli::Entry::of::<Dot>()])
/// }
/// ```
pub fn run(puzzles: impl IntoIterator<Item = Entry>) -> std::process::ExitCode {
    strata_engine::memory::release_large_allocations();
    let words: Vec<OsString> = std::env::args_os().collect();
    let name = words.first().and_then(|word| Path::new(word).file_name());
    let name = name.map_or("strata".into(), |name| name.to_string_lossy());
    let registry = Registry::shipped().with(puzzles).for_program(&name);
    if let Err(error) = program::set(registry).and_then(|()| cli::check_flags()) {
        let failure = Failure::new(ExitCode::Unexpected, error);
        failure.report();
        return failure.code.into();
    }
    let own = Cli::command();
    if completions::is_request(&words) {
        extensions::complete(&words, &own);
        completions::answer(words, cli::definition);
        return std::process::ExitCode::SUCCESS;
    }
    if let Some(failure) = extensions::run(&words, &own) {
        failure.report();
        return failure.code.into();
    }
    cmdline::run(cmdline::parse(words), dispatch)
}

fn dispatch(cli: &Cli) -> Result<ExitCode, Failure> {
    let console = Console::start(&cli.global);
    match &cli.command {
        Command::Solve(args) => solve::run::run(args, &console),
        Command::Submit(args) => submit::run(args, &console),
        Command::List(args) => view::list(args, &console),
        Command::Status(args) => view::status(args, &console),
        Command::Watch(args) => jobs::watch(args, &console),
        Command::Logs(args) => jobs::logs(args, &console),
        Command::Cancel(args) => jobs::cancel(args, &console),
        Command::Resume(args) => jobs::resume(args, &console),
        Command::Rm(args) => rm::run(args, &console),
        Command::Gc(args) => gc::run(args, &console),
        Command::Path(args) => path::run(args, &console),
        Command::Stats(args) => stats::run::run(args, &console),
        Command::Plot(args) => plot::run::run(args, &console),
        Command::Layer(args) => layer::run(args, &console),
        Command::Lookup(args) => lookup::run(args, &console),
        Command::Replay(args) => replay::run(args, &console),
        Command::Verify(args) => verify::run(args, &console),
        Command::Coordinator(args) => nodes::coordinator::run(args, cli.global.log_interval),
        Command::Worker(args) => nodes::worker::run(args),
        Command::TlsInit(args) => nodes::tls_init::run(args, &console),
        Command::Health(args) => health::run(args, &console),
        Command::Puzzle(command) => puzzle::run::run(command, &console),
        Command::Domains => domains::run(&console),
        Command::Man(args) => man::run(args, &console, cli::definition()),
        Command::Completions(args) => completions::run(args),
    }
}
