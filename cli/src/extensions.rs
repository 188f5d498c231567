//! Commands that are programs of their own: `strata NAME` runs the program `strata-NAME`.
//!
//! The program is the first of that name in the folder of the running program and in those of `PATH`. It
//! replaces this process: it has the same environment and standard streams, and its exit code is that of
//! the command.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Command as Definition;

use crate::output::exit::{Failure, path_code};
use crate::words::command_at;

/// A command of a program that is built with this one, but not by default.
pub(crate) struct Extension {
    /// The command.
    pub(crate) name: &'static str,
    /// One line of help.
    pub(crate) about: &'static str,
    /// The program, which has the name of the package that builds it.
    program: &'static str,
    /// Arguments of the program before those of the command.
    before: &'static [&'static str],
}

/// The commands that help and completions list.
pub(crate) const EXTENSIONS: [Extension; 2] = [
    Extension {
        name: "panex",
        about: "The Panex puzzle: operations, tables, comparisons, proof and drawings",
        program: "strata-panex",
        before: &[],
    },
    Extension {
        name: "tiles",
        about: "Sliding-tile puzzles: solvability and clockwise walks, without a search",
        program: "strata-panex",
        before: &["tiles"],
    },
];

/// Whether a command is one of [`EXTENSIONS`].
pub(crate) fn is_one(name: &str) -> bool {
    EXTENSIONS.iter().any(|extension| extension.name == name)
}

/// A command line for another program.
#[derive(Debug, PartialEq)]
struct Call {
    /// The command.
    name: String,
    /// The words before and after it, without the program's name.
    arguments: Vec<OsString>,
}

impl Call {
    /// The call of a command line. None if its command belongs to `own`, the definition of this
    /// program, or cannot be a part of a file's name.
    fn of(words: &[OsString], own: &Definition) -> Option<Call> {
        let mut at = command_at(words, own)?;
        let mut arguments = words[1..at].to_vec();
        let wants_help = words[at] == "help";
        at += usize::from(wants_help);
        let name = words.get(at)?.to_str()?;
        let is_plain = |symbol: char| symbol.is_ascii_alphanumeric() || "-_".contains(symbol);
        let is_name = name.starts_with(|first: char| first.is_ascii_alphanumeric())
            && name.chars().all(is_plain);
        if !is_name || name == "help" || own.find_subcommand(name).is_some() {
            return None;
        }
        arguments.extend_from_slice(&words[at + 1..]);
        arguments.extend(wants_help.then(|| "--help".into()));
        Some(Call { name: name.to_owned(), arguments })
    }
}

/// Runs the program of a command that is not in `own`, the definition of this program.
///
/// Does not return if the program runs. Returns a failure if it cannot run, or if the program of
/// one of [`EXTENSIONS`] is missing. Returns None in all other cases, in which the command line is
/// for this program.
pub(crate) fn run(words: &[OsString], own: &Definition) -> Option<Failure> {
    let Call { name, arguments } = Call::of(words, own)?;
    let Some(extension) = EXTENSIONS.iter().find(|extension| extension.name == name) else {
        return find(&format!("strata-{name}")).map(|program| replace(&program, arguments));
    };
    let Some(program) = find(extension.program) else { return Some(missing(extension)) };
    let before = extension.before.iter().map(OsString::from);
    Some(replace(&program, before.chain(arguments)))
}

/// Passes a request for completions to the program whose command is being typed, if it is one of
/// [`EXTENSIONS`], and does not return then. Other programs may not expect such a request.
pub(crate) fn complete(words: &[OsString], own: &Definition) {
    let typed = words.get(2..).and_then(|typed| Call::of(typed, own));
    let extension = typed.and_then(|call| EXTENSIONS.iter().find(|one| one.name == call.name));
    if let Some(program) = extension.and_then(|extension| find(extension.program)) {
        // If it cannot run, there are no completions.
        let _ = replace(&program, &words[1..]);
    }
}

/// Replaces this process by a program. Returns only if that fails.
fn replace(program: &Path, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Failure {
    let error = Command::new(program).args(arguments).exec();
    Failure::new(path_code(&error), format!("cannot run {}: {error}", program.display()))
}

/// The folder of the running program.
fn own_folder() -> Option<PathBuf> {
    Some(std::env::current_exe().ok()?.parent()?.to_owned())
}

/// The first executable file of a name in the folder of the running program and in those of `PATH`.
fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    // An empty entry of `PATH` would be the working directory.
    let path = std::env::split_paths(&path).filter(|folder| !folder.as_os_str().is_empty());
    let mut files = own_folder().into_iter().chain(path).map(|folder| folder.join(name));
    files.find(|file| {
        file.metadata().is_ok_and(|kind| kind.is_file() && kind.permissions().mode() & 0o111 != 0)
    })
}

fn missing(extension: &Extension) -> Failure {
    let Extension { name, program, .. } = extension;
    let beside =
        own_folder().map_or(String::new(), |folder| format!("in {} or ", folder.display()));
    Failure::usage(format!(
        "the command '{name}' is the program {program}, which is not {beside}in a folder of PATH; \
         'cargo build --release -p {program}' builds it"
    ))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;

    fn call(line: &str) -> Option<(String, String)> {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let Call { name, arguments } = Call::of(&words, &Cli::command())?;
        Some((name, arguments.join(OsStr::new(" ")).into_string().unwrap()))
    }

    #[test]
    fn an_unknown_command_calls_an_extension_with_all_other_words() {
        for (line, name, arguments) in [
            ("strata panex", "panex", ""),
            ("strata --progress none panex op X --json", "panex", "--progress none op X --json"),
            ("strata my-tool -- -x", "my-tool", "-- -x"),
            ("strata help panex op", "panex", "op --help"),
            ("strata -q help my_tool", "my_tool", "-q --help"),
        ] {
            assert_eq!(call(line), Some((name.to_owned(), arguments.to_owned())), "{line}");
        }
    }

    #[test]
    fn built_in_commands_and_invalid_names_call_no_extension() {
        for line in [
            "strata",
            "strata help",
            "strata help solve",
            "strata help help",
            "strata solve panex",
            "strata --help panex",
            "strata --bogus panex",
            "strata ../x",
            "strata é",
            "strata help -x",
        ] {
            assert_eq!(call(line), None, "{line}");
        }
    }
}
