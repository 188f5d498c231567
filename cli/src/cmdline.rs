//! Parsing: the command line with its environment, and usage errors of one line.

use std::ffi::OsString;
use std::panic::AssertUnwindSafe;

use clap::builder::Resettable;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgMatches, Command as Definition, FromArgMatches};
use strata_space::{VALUE_CHARS, shortened};

use crate::args::line::SolveLine;
use crate::cli::{self, Cli, Command};
use crate::help;
use crate::output::exit::{ExitCode, Failure};
use crate::program;
use crate::target::Typed;
use crate::words::names;

/// Why there is no command to run.
pub(crate) enum Refusal {
    /// Help or the version is to be printed, or there is no command.
    Help(clap::Error),
    /// The command line or a variable was refused.
    Usage(Failure),
}

/// Dispatches the parsed command, or prints why there is none. Returns the exit code of the
/// process.
pub(crate) fn run<T>(
    parsed: Result<T, Refusal>,
    dispatch: impl FnOnce(&T) -> Result<ExitCode, Failure>,
) -> std::process::ExitCode {
    let result = match parsed {
        // The panic hook has printed the message.
        Ok(parsed) => std::panic::catch_unwind(AssertUnwindSafe(|| dispatch(&parsed)))
            .unwrap_or(Ok(ExitCode::Unexpected)),
        Err(Refusal::Usage(failure)) => Err(failure),
        Err(Refusal::Help(help)) => {
            // A closed pipe is not a failure.
            let _ = help.print();
            let requested = help.exit_code() == 0;
            Ok(if requested { ExitCode::Done } else { ExitCode::Usage })
        }
    };
    match result {
        Ok(code) => code.into(),
        Err(failure) => {
            failure.report();
            failure.code.into()
        }
    }
}

/// Parses the command line, program name first, and the environment.
pub(crate) fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Cli, Refusal> {
    let words: Vec<OsString> = words.into_iter().collect();
    let (mut cli, definition, matches): (Cli, _, _) = parse_as(cli::definition(), &words)?;
    if let Some((name, matches)) = matches.subcommand()
        && let Some(definition) = definition.find_subcommand(name)
        && let Some(typed) = cli.command.typed_mut()
    {
        *typed = Typed::new(definition, matches);
    }
    let line = match &mut cli.command {
        Command::Solve(args) => Some(&mut args.search.line),
        Command::Submit(args) => Some(&mut args.search.line),
        _ => None,
    };
    if let Some(line) = line
        && let Some((name, matches)) = matches.subcommand()
        && let Some(definition) = definition.find_subcommand(name)
    {
        *line = SolveLine::new(&words, definition, matches);
    }
    Ok(cli)
}

/// Parses words, program name first, and the environment by a definition. Also returns the adapted
/// definition and the matches.
pub(crate) fn parse_as<T: FromArgMatches>(
    definition: Definition,
    words: &[OsString],
) -> Result<(T, Definition, ArgMatches), Refusal> {
    let mut definition = definition_for(definition, words);
    let parsed = definition
        .try_get_matches_from_mut(words)
        .and_then(|matches| Ok((T::from_arg_matches(&matches)?, matches)));
    match parsed {
        Ok((parsed, matches)) => Ok((parsed, definition, matches)),
        Err(error) => Err(refusal(error, &definition, words)),
    }
}

/// Adapts the definition to a command line: fewer flags if short help is requested, and no
/// variables for global flags that are on the line.
///
/// clap reads the variable of a global flag before a flag that follows the command, and would
/// refuse a value that the flag replaces.
fn definition_for(definition: Definition, words: &[OsString]) -> Definition {
    let is_short = words.iter().any(|word| word == "-h");
    let definition = if is_short { help::short(definition) } else { definition };
    definition.mut_args(|arg| {
        if arg.is_global_set() && words.iter().any(|word| names(word, &arg)) {
            arg.env(Resettable::Reset)
        } else {
            arg
        }
    })
}

fn refusal(error: clap::Error, definition: &Definition, words: &[OsString]) -> Refusal {
    match error.kind() {
        ErrorKind::DisplayHelp
        | ErrorKind::DisplayVersion
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => Refusal::Help(error),
        _ => Refusal::Usage(Failure::usage(one_line(&error, definition, words))),
    }
}

/// First paragraph and tips of clap's message, and the variable that the refused value comes from.
fn one_line(error: &clap::Error, definition: &Definition, words: &[OsString]) -> String {
    let mut text = error.render().to_string();
    for (_, value) in error.context() {
        if let ContextValue::String(value) = value {
            text = text.replace(&**value, &shortened(value, VALUE_CHARS));
        }
    }
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let (first, rest) = text.split_once("\n\n").unwrap_or((text, ""));
    let first: Vec<&str> = first.lines().map(str::trim).collect();
    let mut line = first.join(" ");
    for tip in rest.lines().filter_map(|line| line.trim().strip_prefix("tip: ")) {
        line.push_str("; ");
        line.push_str(tip);
    }
    if let Some(variable) = variable_of(error, definition, words) {
        line.push_str(&format!(" (from the environment variable {variable})"));
    }
    let command = command_of(definition, words);
    line.push_str(&format!("; see '{}{command} --help'", program::name()));
    line
}

/// The commands on a command line, each after a space.
fn command_of(definition: &Definition, words: &[OsString]) -> String {
    let mut names = String::new();
    let mut at = definition;
    for word in words.iter().skip(1).take_while(|word| *word != "--") {
        if let Some(command) = at.find_subcommand(word) {
            names.push(' ');
            names.push_str(command.get_name());
            at = command;
        }
    }
    names
}

/// The environment variable that the refused value comes from, if any.
fn variable_of(error: &clap::Error, definition: &Definition, words: &[OsString]) -> Option<String> {
    let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let long = flag.split_whitespace().next()?.strip_prefix("--")?;
    let long = long.trim_end_matches("...");
    let arg = flag_of(definition, long)?;
    let variable = arg.get_env()?;
    let typed = words.iter().any(|word| names(word, arg));
    (!typed && std::env::var_os(variable).is_some())
        .then(|| variable.to_string_lossy().into_owned())
}

/// The first flag with this long name, of a command or its subcommands.
fn flag_of<'a>(definition: &'a Definition, long: &str) -> Option<&'a Arg> {
    let is_it = |arg: &&Arg| arg.get_long().is_some_and(|name| name == long);
    let below = || definition.get_subcommands().find_map(|command| flag_of(command, long));
    definition.get_arguments().find(is_it).or_else(below)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<Cli, Refusal> {
        parse(words.iter().map(OsString::from))
    }

    fn line(words: &[&str]) -> SolveLine {
        match parsed(words) {
            Ok(Cli { command: Command::Solve(args), .. }) => args.search.line,
            _ => panic!("not solve: {words:?}"),
        }
    }

    fn refused(words: &[&str]) -> String {
        match parsed(words) {
            Err(Refusal::Usage(failure)) => failure.to_string(),
            _ => panic!("not refused: {words:?}"),
        }
    }

    #[test]
    fn typed_flags_are_recorded_apart_from_variables() {
        let typed = |line: &str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let Ok(mut cli) = parsed(&words) else { panic!("refused: {line}") };
            let typed = cli.command.typed_mut().unwrap();
            typed.first_of(&["coordinator", "data-dir"])
        };
        assert_eq!(typed("strata stats job"), None);
        assert_eq!(typed("strata verify job --data-dir d"), Some("data-dir"));
        assert_eq!(typed("strata list --data-dir d"), Some("data-dir"));
        assert_eq!(
            typed("strata rm job --data-dir d --coordinator http://c:1"),
            Some("coordinator")
        );
    }

    #[test]
    fn usage_errors_are_one_line() {
        assert_eq!(
            refused(&["strata", "solve"]),
            "the following required arguments were not provided: <DOMAIN>; see \
             'strata solve --help'"
        );
        assert_eq!(
            refused(&["strata", "solve", "panex", "--memory", "64XB"]),
            "invalid value '64XB' for '--memory <SIZE>': unknown unit 'XB': use KiB, MiB, GiB, \
             TiB (K, M, G, T), KB, MB, GB, TB or B; see 'strata solve --help'"
        );
        assert_eq!(
            refused(&["strata", "solve", "panex", "--engine", "quick"]),
            "invalid value 'quick' for '--engine <ENGINE>' [possible values: auto, explicit, \
             symbolic, symbolic-lean, dense]; see 'strata solve --help'"
        );
        let long = "x".repeat(100_000);
        for words in [
            &["strata", "solve", "panex", "--memory", &long][..],
            &["strata", "solve", "panex", "--engine", &long],
            &["strata", "solve", &format!("--{long}")],
            &["strata", &long],
        ] {
            let message = refused(words);
            assert!(message.len() < 1000 && message.ends_with("--help'"), "{message}");
        }
        assert!(refused(&["strata", "é"]).starts_with("unrecognized subcommand"));
        assert!(refused(&["strata", "solve", "panex", "-é"]).contains("'-é'"));
        let message = refused(&["strata", "slove"]);
        assert!(message.starts_with("unrecognized subcommand 'slove'; "), "{message}");
        assert!(message.contains("'solve'"), "{message}");
    }

    #[test]
    fn help_and_version_are_not_failures() {
        for words in [&["strata", "--help"][..], &["strata", "-V"], &["strata"]] {
            assert!(matches!(parsed(words), Err(Refusal::Help(_))), "{words:?}");
        }
    }

    #[test]
    fn short_help_fits_a_screen_and_long_help_has_all_flags() {
        let help = |line: &str| match parsed(&line.split(' ').collect::<Vec<_>>()) {
            Err(Refusal::Help(help)) => help.render().to_string(),
            _ => panic!("no help: {line}"),
        };
        for command in cli::definition().get_subcommands().map(Definition::get_name) {
            let text = help(&format!("strata {command} -h"));
            let lines = text.lines().count();
            assert!(lines <= 40, "{command}: {lines} lines\n{text}");
            assert!(!text.contains("STRATA_"), "{text}");
            let more = format!("`strata {command} --help` describes all flags");
            assert!(text.contains(&more), "{text}");
        }
        for command in ["solve", "submit"] {
            let short = help(&format!("strata {command} -h"));
            assert!((24..=40).contains(&short.lines().count()), "{short}");
            let long = help(&format!("strata {command} --help"));
            let headings = ["Search:", "Resources:", "Stops and checkpoints:", "State spaces:"];
            assert!(headings.iter().all(|heading| long.contains(heading)), "{long}");
            assert!(long.contains("STRATA_KEEP_LAYERS") && long.contains("Exit codes:"), "{long}");
        }
    }

    #[test]
    fn the_resume_command_repeats_the_flags() {
        let words = ["./strata", "--json", "solve", "panex", "--k=4", "6", "--max-layers", "9"];
        let line = line(&words);
        assert_eq!(
            line.resume_command(&[]),
            "./strata solve panex 6 --max-layers 9 --k 4 --json --resume"
        );
        assert_eq!(
            line.resume_command(&["max-layers"]),
            "./strata solve panex 6 --k 4 --json --resume"
        );
    }

    #[test]
    fn resuming_twice_gives_the_same_command() {
        let command = "strata solve hanoi 10 --data-dir /tmp/x --pegs 4 --resume";
        let words: Vec<&str> = command.split(' ').collect();
        assert_eq!(line(&words).resume_command(&[]), command);
    }

    #[test]
    fn words_with_special_characters_are_quoted() {
        let line = line(&["strata", "solve", "panex", "6", "--data-dir", "my 'data'"]);
        assert_eq!(
            line.resume_command(&[]),
            r"strata solve panex 6 --data-dir 'my '\''data'\''' --resume"
        );
    }
}
