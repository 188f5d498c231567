//! The words of a command line, kept to print the command that resumes a job.

use std::ffi::OsString;

use clap::parser::ValueSource;
use clap::{ArgAction, ArgMatches, Command as Definition};

use crate::output::shell::quoted;
use crate::program;

/// Positional values and flags of a `solve` or `submit`, from the command line or environment.
#[derive(Clone, Debug, Default)]
pub(crate) struct SolveLine {
    program: String,
    values: Vec<String>,
    /// Long name, value if the flag takes one, and whether it was on the command line.
    flags: Vec<(String, Option<String>, bool)>,
}

impl SolveLine {
    /// Reads the values and flags that were given; defaults are left out.
    pub(crate) fn new(words: &[OsString], definition: &Definition, matches: &ArgMatches) -> Self {
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

    /// Whether the flag was on the command line.
    pub(crate) fn typed(&self, long: &str) -> bool {
        self.flags.iter().any(|(name, _, typed)| *typed && name == long)
    }

    /// Whether the flag was given, on the command line or in the environment.
    pub(crate) fn given(&self, long: &str) -> bool {
        self.flags.iter().any(|(name, ..)| name == long)
    }

    /// The command that resumes the job, quoted for a POSIX shell.
    ///
    /// Values from the environment are written as flags, so that the command works in any shell.
    /// Flags named in `without` are left out: the limit that stopped a job would stop it again.
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
