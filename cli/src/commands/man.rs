//! `strata man`: manual pages of the program and of all its commands.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Command as Definition};
use clap_mangen::Man;
use serde::Serialize;

use crate::extensions;
use crate::output::console::Console;
use crate::output::exit::{ExitCode, Failure};
use crate::output::json::write_line;
use crate::output::stdout;
use crate::program;

/// Arguments of `man`.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// Folder of the pages, created if necessary
    #[arg(value_name = "DIR")]
    dir: PathBuf,
}

/// Fields of the `manual` event.
#[derive(Serialize)]
struct Manual<'a> {
    /// The folder.
    dir: &'a Path,
    /// The files in it.
    pages: Vec<String>,
}

/// Writes the pages of this program. Extensions write their own.
///
/// # Errors
/// If the folder or a page cannot be written.
pub(crate) fn run(
    args: &ManArgs,
    console: &Console,
    mut definition: Definition,
) -> Result<ExitCode, Failure> {
    definition.build();
    write(args, console, [&definition])
}

/// Writes the pages of commands and of their subcommands.
///
/// # Errors
/// If the folder or a page cannot be written.
pub(crate) fn write<'a>(
    args: &ManArgs,
    console: &Console,
    commands: impl IntoIterator<Item = &'a Definition>,
) -> Result<ExitCode, Failure> {
    let mut pages = Vec::new();
    let written = std::fs::create_dir_all(&args.dir).and_then(|()| {
        commands.into_iter().try_for_each(|command| write_pages(command, &args.dir, &mut pages))
    });
    written.map_err(|error| {
        Failure::usage(format!("cannot write the pages to {}: {error}", args.dir.display()))
    })?;
    pages.sort();
    let manual = Manual { dir: &args.dir, pages };
    stdout::print(|out| {
        if console.json {
            write_line("manual", &manual, out)
        } else {
            writeln!(out, "{} pages in {}", manual.pages.len(), args.dir.display())
        }
    })?;
    Ok(ExitCode::Done)
}

/// Writes the page of a command and those of its subcommands, and adds their names.
fn write_pages(command: &Definition, dir: &Path, pages: &mut Vec<String>) -> io::Result<()> {
    let source = format!("{} {}", program::name(), env!("CARGO_PKG_VERSION"));
    // An empty date would shift what follows it.
    let page = Man::new(command.clone()).date(" ").source(source).manual("Strata");
    page.generate_to(dir)?;
    pages.push(page.get_filename());
    // `help` gets no page: it would repeat the list of the others.
    let commands = command.get_subcommands().filter(|one| !one.is_hide_set());
    let mut commands =
        commands.filter(|one| one.get_name() != "help" && !extensions::is_one(one.get_name()));
    commands.try_for_each(|command| write_pages(command, dir, pages))
}
