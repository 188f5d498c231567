//! `strata`: searches state spaces breadth-first, on disk.
#![forbid(unsafe_code)]

mod args;
mod audit;
mod client;
mod cmdline;
mod console;
mod domains;
mod events;
mod exit;
mod gold;
mod inspect;
mod layer;
mod moves;
mod nodes;
mod nodes_args;
mod panex;
mod progress;
mod puzzle;
mod replay;
mod request;
mod rss;
mod solve;
mod stats;
mod stdout;
mod tiles;
mod units;

use std::io::Write;

use clap::CommandFactory;

use crate::args::{Cli, Command};
use crate::cmdline::Refusal;
use crate::console::Console;
use crate::exit::{ExitCode, Failure};

fn main() -> std::process::ExitCode {
    let ended = match cmdline::parse(std::env::args_os()) {
        // A bug that shows itself as a panic has been reported on stderr by then.
        Ok(cli) => std::panic::catch_unwind(|| run(&cli)).unwrap_or(Ok(ExitCode::Unexpected)),
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

fn run(cli: &Cli) -> Result<ExitCode, Failure> {
    let console = Console::start(&cli.global);
    match &cli.command {
        Command::Solve(args) => solve::run(args, &console),
        Command::Submit(args) => client::submit(args, &console),
        Command::List(args) => client::list(args, &console),
        Command::Status(args) => client::status(args, &console),
        Command::Watch(args) => client::watch(args, &console),
        Command::Logs(args) => client::logs(args, &console),
        Command::Cancel(args) => client::cancel(args, &console),
        Command::Resume(args) => client::resume(args, &console),
        Command::Path(args) => client::path(args, &console),
        Command::Stats(args) => inspect::stats(args, &console),
        Command::Layer(args) => layer::run(args, &console),
        Command::Replay(args) => replay::run(args, &console),
        Command::Verify(args) => inspect::verify(args, &console),
        Command::Coordinator(args) => nodes::coordinator(args),
        Command::Worker(args) => nodes::worker(args),
        Command::Health(args) => client::health(args, &console),
        Command::Panex(command) => panex::run(command, &console),
        Command::Tiles(command) => tiles::run(command, &console),
        Command::Domains => domains::run(&console),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "strata", &mut script);
            stdout::print(|out| out.write_all(&script))?;
            Ok(ExitCode::Done)
        }
    }
}
