//! `strata completions`: completion scripts for shells.

use std::io::Write;

use clap::{Args, Command as Definition};
use clap_complete::Shell;

use crate::output::exit::{ExitCode, Failure};
use crate::output::stdout;
use crate::spaces::program;

/// Arguments of `completions`.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// Prints the script for a program of this definition.
///
/// # Errors
/// If standard output cannot be written.
pub(crate) fn run(args: &CompletionsArgs, mut definition: Definition) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut definition, program::name(), &mut script);
    stdout::print(|out| out.write_all(&script))?;
    Ok(ExitCode::Done)
}
