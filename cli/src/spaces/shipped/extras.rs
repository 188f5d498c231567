//! Types of the extras of a puzzle: independent replay of moves, and a second form of positions.

use std::error::Error;

use strata_run::catalogue::{Entry, Parameters};

use crate::output::path_form::PathFormat;
use crate::spaces::moves::{Moves, Shown};

/// Features of one puzzle on the command line besides its parameters.
pub(crate) struct Extras {
    /// Whether an entry of the registry is this puzzle, and not another one with its name.
    pub(super) is_of: fn(&Entry) -> bool,
    /// Replays moves between two positions by code that shares nothing with the search.
    pub(crate) replay: fn(&Replay<'_>) -> Result<Shown, String>,
    /// The other form of positions, if the puzzle has one.
    pub(crate) other_form: Option<OtherForm>,
}

/// Moves to be replayed.
pub(crate) struct Replay<'a> {
    /// Parameters of the search.
    pub(crate) parameters: &'a Parameters,
    /// Start and goal.
    pub(crate) ends: [String; 2],
    /// The moves.
    pub(crate) moves: &'a Moves,
    /// The text form in which they are returned.
    pub(crate) format: PathFormat,
    /// Whether positions are in the puzzle's other form.
    pub(crate) other_form: bool,
}

/// A second form of start and goal, chosen by a flag that is not a parameter of the space.
#[derive(Debug)]
pub(crate) struct OtherForm {
    /// Long name of the flag, and its id.
    pub(crate) flag: &'static str,
    /// Environment variable of the flag.
    pub(crate) variable: &'static str,
    /// Help of the flag.
    pub(crate) help: &'static str,
    /// Reads a start or goal, for a puzzle with these positional values. None if it is written the
    /// same in both forms.
    pub(crate) read: fn(values: &[String], end: &str) -> Result<Option<String>, Refused>,
    /// Shows a start or goal of the space in this form.
    pub(crate) show: fn(end: &str) -> Option<String>,
}

/// Why a position in another form was refused.
pub(crate) type Refused = Box<dyn Error + Send + Sync>;
