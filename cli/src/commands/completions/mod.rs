//! `strata completions`: scripts that make a shell ask the program for completions, and the replies.

mod candidates;

use std::ffi::OsString;
use std::io::Write;

use clap::builder::ValueHint;
use clap::{Arg, Args, Command as Definition};
use clap_complete::Shell;
use clap_complete::engine::ArgValueCompleter;
use clap_complete::env::{CompleteEnv, Shells};

use crate::output::exit::{ExitCode, Failure};
use crate::output::stdout;
use crate::program;

/// The variable with the shell's name, by which a script asks for completions.
const VARIABLE: &str = "STRATA_COMPLETE";

/// Arguments of `completions`.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// Prints the script of a shell, which runs this program by its name.
///
/// # Errors
/// If standard output cannot be written, or there is no script for the shell.
pub(crate) fn run(args: &CompletionsArgs) -> Result<ExitCode, Failure> {
    let shell = args.shell.to_string();
    let (shells, name) = (Shells::builtins(), program::name());
    let shell = shells
        .completer(&shell)
        .ok_or_else(|| Failure::usage(format!("there are no completions for the shell {shell}")))?;
    let mut script = Vec::new();
    let written = shell.write_registration(VARIABLE, name, name, name, &mut script);
    written.map_err(|error| Failure::new(ExitCode::Unexpected, error))?;
    stdout::print(|out| out.write_all(&script))?;
    Ok(ExitCode::Done)
}

/// Whether a command line is a request for completions: after the program's name and `--` it holds
/// the line that is being typed.
pub(crate) fn is_request(words: &[OsString]) -> bool {
    let is_asked = std::env::var_os(VARIABLE).is_some_and(|shell| !shell.is_empty());
    is_asked && words.get(1).is_some_and(|word| word == "--")
}

/// Answers a request for completions.
///
/// A request that cannot be answered has no completions: a message would destroy the line that a
/// user is typing.
pub(crate) fn answer(words: Vec<OsString>, definition: fn() -> Definition) {
    std::panic::set_hook(Box::new(|_| {}));
    let folder = std::env::current_dir().ok();
    let _ = std::panic::catch_unwind(move || {
        let request = CompleteEnv::with_factory(definition).var(VARIABLE);
        request.try_complete(words, folder.as_deref())
    });
}

/// The definition with completions of jobs, folders, files and puzzles, chosen by the placeholders of
/// the arguments.
pub(crate) fn completed(definition: Definition) -> Definition {
    definition.mut_args(with_completions).mut_subcommands(completed)
}

fn with_completions(arg: Arg) -> Arg {
    let placeholder = arg.get_value_names().and_then(|names| names.first());
    let placeholder = placeholder.map(ToString::to_string).unwrap_or_default();
    let (jobs, folders) = (placeholder.contains("JOB"), placeholder.contains("DIR"));
    match &*placeholder {
        "DOMAIN" => arg.add(ArgValueCompleter::new(candidates::puzzles)),
        "ARGS" => arg.add(ArgValueCompleter::new(candidates::puzzle_arguments)),
        "FILE" => arg.value_hint(ValueHint::FilePath),
        _ if arg.is_positional() && jobs => arg.add(ArgValueCompleter::new(candidates::jobs)),
        _ if arg.is_positional() && folders => arg.add(ArgValueCompleter::new(candidates::folders)),
        _ if folders => arg.value_hint(ValueHint::DirPath),
        _ => arg,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_and_puzzles_are_completed_and_numbers_are_not() {
        let arg = |name| with_completions(Arg::new("x").value_name(name));
        for name in ["JOB", "JOB|DIR", "DIR", "DOMAIN", "ARGS"] {
            assert!(arg(name).get::<ArgValueCompleter>().is_some(), "{name}");
        }
        assert!(arg("N").get::<ArgValueCompleter>().is_none());
        let flag = with_completions(Arg::new("x").long("x").value_name("DIR"));
        assert_eq!(flag.get_value_hint(), ValueHint::DirPath);
        assert_eq!(arg("FILE").get_value_hint(), ValueHint::FilePath);
    }

    #[test]
    fn an_ordinary_command_line_is_not_a_completion_request() {
        let words = ["strata", "list"].map(OsString::from);
        assert!(!is_request(&words));
    }
}
