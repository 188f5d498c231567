//! Words of a command line: which are flags, and which is the command.

use std::ffi::OsString;

use clap::{Arg, Command as Definition};

/// Index of the command in a command line, which begins with the program's name. Global flags and
/// their values are skipped. None if there is no command, or if an unknown flag comes first.
pub(crate) fn command_at(words: &[OsString], definition: &Definition) -> Option<usize> {
    let mut at = 1;
    loop {
        let word = words.get(at)?;
        if !word.as_encoded_bytes().starts_with(b"-") {
            return Some(at);
        }
        let flag = definition.get_arguments().find(|arg| names(word, arg))?;
        let takes_next = flag.get_action().takes_values()
            && flag.get_long().is_some_and(|long| *word == *format!("--{long}"));
        at += 1 + usize::from(takes_next);
    }
}

/// Whether a word of the command line is this flag, with or without a value.
pub(crate) fn names(word: &OsString, arg: &Arg) -> bool {
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

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn the_command_stands_after_global_flags_and_their_values() {
        let definition = Cli::command();
        let at = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            command_at(&words, &definition)
        };
        assert_eq!(at("strata panex --json"), Some(1));
        assert_eq!(at("strata --json -vq --progress none --color=never panex op"), Some(6));
        for line in [
            "strata",
            "strata --json",
            "strata --progress",
            "strata --bogus panex",
            "strata -- panex",
        ] {
            assert_eq!(at(line), None, "{line}");
        }
    }
}
