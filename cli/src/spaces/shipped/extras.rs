//! Types of what the command line has for single puzzles.

use std::error::Error;

use strata::catalogue::{Entry, Parameters};

use crate::args::path::{PathForm, PathFormat};
use crate::output::console::Console;
use crate::output::exit::{ExitCode, Failure};
use crate::spaces::moves::{Moves, Shown};

/// What the command line has for one puzzle.
pub(crate) struct Extras {
    /// Whether an entry of the registry is this puzzle, and not another one of its name.
    pub(super) is_of: fn(&Entry) -> bool,
    /// Replays moves between two positions by code that shares nothing with the search. Returns
    /// the moves in text form; with `other_form` positions are in the puzzle's other form.
    pub(crate) replay:
        fn(ends: [String; 2], &Moves, PathFormat, other_form: bool) -> Result<Shown, String>,
    /// The other form of positions.
    pub(crate) other_form: Option<OtherForm>,
    /// The search in memory.
    pub(crate) in_memory: Option<InMemory>,
}

/// Another form of positions than that of the space, chosen by a flag that is no parameter.
#[derive(Debug)]
pub(crate) struct OtherForm {
    /// Long name of the flag, and its id.
    pub(crate) flag: &'static str,
    /// Environment variable of the flag.
    pub(crate) variable: &'static str,
    /// Help of the flag.
    pub(crate) help: &'static str,
    /// Reads a start or goal for a puzzle with these positional values; None if it is written the
    /// same in both forms.
    pub(crate) read: fn(values: &[String], end: &str) -> Result<Option<String>, Refused>,
    /// A start or goal of the space in this form.
    pub(crate) show: fn(end: &str) -> Option<String>,
}

/// Why a position in another form was refused.
pub(crate) type Refused = Box<dyn Error + Send + Sync>;

/// A search that the engines cannot make.
pub(crate) struct InMemory {
    /// The parameter and the value that request it.
    pub(crate) request: (&'static str, &'static str),
    /// What is searched, for the message that refuses a flag.
    pub(crate) what: &'static str,
    /// Flags that do not apply.
    pub(crate) unsupported: &'static [&'static str],
    /// Runs it.
    pub(crate) run: fn(&MemoryRun<'_>) -> Result<ExitCode, Failure>,
}

/// Arguments of a search in memory.
pub(crate) struct MemoryRun<'a> {
    /// Parameters that were given.
    pub(crate) given: &'a Parameters,
    /// Memory budget in bytes.
    pub(crate) memory: u64,
    /// Form and destination of the moves, if they are wanted.
    pub(crate) path: Option<&'a PathForm>,
    /// Output.
    pub(crate) console: &'a Console,
}
