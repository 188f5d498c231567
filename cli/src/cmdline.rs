//! Parsing around clap: usage errors in one line, and the exact command that resumes a job.

use std::ffi::OsString;

use clap::builder::{Resettable, StyledStr};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command as Definition, CommandFactory, FromArgMatches};

use crate::args::flags::{self, FlagError};
use crate::cli::{Cli, Command};
use crate::output::exit::Failure;
use crate::spaces::program;

/// Why there is nothing to run.
pub(crate) enum Refusal {
    /// Help or the version was asked for, or nothing at all.
    Help(clap::Error),
    /// The command line or a variable was refused.
    Usage(Failure),
}

/// Parses the command line, program name first, and the environment.
pub(crate) fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Cli, Refusal> {
    let words: Vec<OsString> = words.into_iter().collect();
    let mut definition = definition_for(&words);
    let parsed = definition
        .try_get_matches_from_mut(&words)
        .and_then(|matches| Ok((Cli::from_arg_matches(&matches)?, matches)));
    let (mut cli, matches) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => return Err(refusal(error, &definition, &words)),
    };
    let line = match &mut cli.command {
        Command::Solve(args) => Some(&mut args.line),
        Command::Submit(args) => Some(&mut args.line),
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

/// The definition, with the program's own name.
pub(crate) fn definition() -> Definition {
    let name = program::name();
    let definition = Cli::command().name(name);
    if name == "strata" {
        return definition;
    }
    let own = |text: &StyledStr| text.to_string().replace("`strata ", &format!("`{name} "));
    definition.mut_subcommands(|command| {
        let (about, long) = (command.get_about().map(own), command.get_long_about().map(own));
        let command = about.map_or(command.clone(), |text| command.about(text));
        long.map_or(command.clone(), |text| command.long_about(text))
    })
}

/// Refuses puzzles whose flags commands have for themselves.
///
/// # Errors
/// The first such flag.
pub(crate) fn check_flags() -> Result<(), FlagError> {
    let definition = Cli::command();
    let global: Vec<Arg> = definition.get_arguments().cloned().collect();
    let commands = ["solve", "submit"].iter().filter_map(|name| definition.find_subcommand(name));
    commands.into_iter().try_for_each(|command| {
        let all = command.clone().args(global.clone());
        flags::check(program::flags(), &all)
    })
}

/// The definition without the variables of global flags that were typed.
///
/// clap reads such variables before it comes to a flag behind the command, and would refuse a
/// value that the flag is about to replace.
fn definition_for(words: &[OsString]) -> Definition {
    definition().mut_args(|arg| {
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

/// What clap says in its first paragraph and its tips, and the variable that is to blame.
fn one_line(error: &clap::Error, definition: &Definition, words: &[OsString]) -> String {
    let text = error.render().to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let (first, rest) = text.split_once("\n\n").unwrap_or((text, ""));
    let first: Vec<&str> = first.lines().map(str::trim).collect();
    let mut line = first.join(" ");
    for tip in rest.lines().filter_map(|line| line.trim().strip_prefix("tip: ")) {
        line.push_str("; ");
        line.push_str(tip);
    }
    if let Some(variable) = variable_to_blame(error, definition, words) {
        line.push_str(&format!(" (from the environment variable {variable})"));
    }
    line.push_str(&format!("; see '{} --help'", program::name()));
    line
}

/// The environment variable that the refused value came from, if it did.
fn variable_to_blame(
    error: &clap::Error,
    definition: &Definition,
    words: &[OsString],
) -> Option<String> {
    let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let long = flag.split_whitespace().next()?.strip_prefix("--")?;
    let long = long.trim_end_matches("...");
    let commands = std::iter::once(definition).chain(definition.get_subcommands());
    let mut args = commands.flat_map(Definition::get_arguments);
    let arg = args.find(|arg| arg.get_long().is_some_and(|name| name == long))?;
    let variable = arg.get_env()?;
    let typed = words.iter().any(|word| names(word, arg));
    (!typed && std::env::var_os(variable).is_some())
        .then(|| variable.to_string_lossy().into_owned())
}

/// Whether a word of the command line is this flag, with or without its value.
fn names(word: &OsString, arg: &Arg) -> bool {
    let word = word.to_string_lossy();
    let long = arg.get_long().unwrap_or_default();
    let is_long = word
        .strip_prefix("--")
        .and_then(|word| word.strip_prefix(long))
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('='));
    let is_short = !word.starts_with("--")
        && arg
            .get_short()
            .is_some_and(|short| word.strip_prefix('-').is_some_and(|w| w.starts_with(short)));
    is_long || is_short
}

/// What the command line of a `solve` or `submit` said, as needed to say it again.
#[derive(Clone, Debug, Default)]
pub(crate) struct SolveLine {
    program: String,
    values: Vec<String>,
    /// Long name, value of flags that take one, and whether it was typed.
    flags: Vec<(String, Option<String>, bool)>,
}

impl SolveLine {
    fn new(words: &[OsString], definition: &Definition, matches: &ArgMatches) -> Self {
        let program = words.first().map_or(program::name().into(), |word| word.to_string_lossy());
        let mut line = SolveLine { program: program.into_owned(), ..SolveLine::default() };
        for arg in definition.get_arguments() {
            let id = arg.get_id().as_str();
            let typed = match matches.value_source(id) {
                Some(ValueSource::CommandLine) => true,
                Some(ValueSource::EnvVariable) => false,
                _ => continue,
            };
            let raw = matches.get_raw(id).into_iter().flatten();
            let mut raw = raw.map(|value| value.to_string_lossy().into_owned());
            match (arg.get_long(), arg.get_action()) {
                (None, _) => line.values.extend(raw),
                (Some(long), ArgAction::SetTrue) if matches.get_flag(id) => {
                    line.flags.push((long.to_owned(), None, typed));
                }
                (Some(long), ArgAction::Set) => {
                    line.flags.push((long.to_owned(), raw.next(), typed));
                }
                _ => {}
            }
        }
        line
    }

    /// Whether the flag stood on the command line.
    pub(crate) fn typed(&self, long: &str) -> bool {
        self.flags.iter().any(|(name, _, typed)| *typed && name == long)
    }

    /// Whether the flag was given, on the command line or in the environment.
    pub(crate) fn given(&self, long: &str) -> bool {
        self.flags.iter().any(|(name, ..)| name == long)
    }

    /// The command that goes on with the job, quoted for a shell.
    ///
    /// What came from the environment is spelt out, so that the command works in any shell. The
    /// flags named in `without` are left out: the limit that stopped a job would stop it again.
    pub(crate) fn resume_command(&self, without: &[&str]) -> String {
        let mut words = vec![quoted(&self.program), "solve".to_owned()];
        words.extend(self.values.iter().map(|value| quoted(value)));
        for (long, value, _) in &self.flags {
            if long == "resume" || without.contains(&long.as_str()) {
                continue;
            }
            words.push(format!("--{long}"));
            words.extend(value.iter().map(|value| quoted(value)));
        }
        words.push("--resume".to_owned());
        words.join(" ")
    }
}

/// The word as a POSIX shell needs it.
pub(crate) fn quoted(word: &str) -> String {
    let harmless = |c: char| c.is_ascii_alphanumeric() || "_-./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(harmless) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<Cli, Refusal> {
        parse(words.iter().map(OsString::from))
    }

    fn line(words: &[&str]) -> SolveLine {
        match parsed(words) {
            Ok(Cli { command: Command::Solve(args), .. }) => args.line,
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
    fn usage_errors_are_one_line() {
        assert_eq!(
            refused(&["strata", "solve"]),
            "the following required arguments were not provided: <DOMAIN>; see 'strata --help'"
        );
        assert_eq!(
            refused(&["strata", "solve", "panex", "--memory", "64XB"]),
            "invalid value '64XB' for '--memory <SIZE>': unknown unit 'XB': use KiB, MiB, GiB, \
             TiB (K, M, G, T), KB, MB, GB, TB or B; see 'strata --help'"
        );
        assert_eq!(
            refused(&["strata", "solve", "panex", "--engine", "quick"]),
            "invalid value 'quick' for '--engine <ENGINE>' [possible values: auto, explicit, \
             symbolic, symbolic-lean]; see 'strata --help'"
        );
        assert!(refused(&["strata", "é"]).starts_with("unrecognized subcommand"));
        assert!(refused(&["strata", "solve", "panex", "-é"]).contains("'-é'"));
        let message = refused(&["strata", "slove"]);
        assert!(message.starts_with("unrecognized subcommand 'slove'; "), "{message}");
        assert!(message.contains("'solve'"), "{message}");
    }

    #[test]
    fn help_is_no_failure() {
        for words in [&["strata", "--help"][..], &["strata", "-V"], &["strata"]] {
            assert!(matches!(parsed(words), Err(Refusal::Help(_))), "{words:?}");
        }
    }

    #[test]
    fn resume_command_repeats_what_was_typed() {
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
    fn odd_words_are_quoted() {
        let line = line(&["strata", "solve", "panex", "6", "--data-dir", "my 'data'"]);
        assert_eq!(
            line.resume_command(&[]),
            r"strata solve panex 6 --data-dir 'my '\''data'\''' --resume"
        );
    }
}
