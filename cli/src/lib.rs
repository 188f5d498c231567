//! The command line of Strata: arguments in, text out.
#![forbid(unsafe_code)]

mod args;
mod cli;
mod client;
mod cmdline;
mod commands;
mod output;
mod spaces;

use std::io::Write;

use clap::CommandFactory;

use crate::cli::{Cli, Command};
use crate::cmdline::Refusal;
use crate::commands::{domains, jobs, layer, nodes, panex, path, replay, solve, tiles, verify};
use crate::output::console::Console;
use crate::output::exit::{ExitCode, Failure};

/// Parses the command line, runs the command, and returns the exit code of the process.
pub fn run() -> std::process::ExitCode {
    let ended = match cmdline::parse(std::env::args_os()) {
        // A bug that shows itself as a panic has been reported on stderr by then.
        Ok(cli) => std::panic::catch_unwind(|| dispatch(&cli)).unwrap_or(Ok(ExitCode::Unexpected)),
        Err(Refusal::Usage(failure)) => Err(failure),
        Err(Refusal::Help(help)) => {
            // A reader who left is no reason to fail.
            let _ = help.print();
            let asked_for = help.exit_code() == 0;
            Ok(if asked_for { ExitCode::Done } else { ExitCode::Usage })
        }
    };
    match ended {
        Ok(code) => code.into(),
        Err(failure) => {
            failure.report();
            failure.code.into()
        }
    }
}

fn dispatch(cli: &Cli) -> Result<ExitCode, Failure> {
    let console = Console::start(&cli.global);
    match &cli.command {
        Command::Solve(args) => solve::run::run(args, &console),
        Command::Submit(args) => jobs::submit(args, &console),
        Command::List(args) => jobs::list(args, &console),
        Command::Status(args) => jobs::status(args, &console),
        Command::Watch(args) => jobs::watch(args, &console),
        Command::Logs(args) => jobs::logs(args, &console),
        Command::Cancel(args) => jobs::cancel(args, &console),
        Command::Resume(args) => jobs::resume(args, &console),
        Command::Path(args) => path::run(args, &console),
        Command::Stats(args) => verify::stats(args, &console),
        Command::Layer(args) => layer::run(args, &console),
        Command::Replay(args) => replay::run(args, &console),
        Command::Verify(args) => verify::verify(args, &console),
        Command::Coordinator(args) => nodes::run::coordinator(args),
        Command::Worker(args) => nodes::run::worker(args),
        Command::Health(args) => jobs::health(args, &console),
        Command::Panex(command) => panex::run::run(command, &console),
        Command::Tiles(command) => tiles::run::run(command, &console),
        Command::Domains => domains::run(&console),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "strata", &mut script);
            output::stdout::print(|out| out.write_all(&script))?;
            Ok(ExitCode::Done)
        }
    }
}
