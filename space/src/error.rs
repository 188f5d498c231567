//! Errors of opening a state space: parameters that are malformed, out of range or in conflict.

use std::borrow::Cow;

use crate::text::{VALUE_CHARS, shortened};
use crate::work::WorkError;

/// Maximum number of characters of a reason in a message. A reason may quote a part of a value.
const WHY_CHARS: usize = 1000;

fn value_part(value: &str) -> Cow<'_, str> {
    shortened(value, VALUE_CHARS)
}

/// An error of opening or checking a state space.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum SpaceError {
    /// A number is outside its range.
    #[error("{name} must be between {low} and {high}, not {value}")]
    OutOfRange {
        /// The parameter.
        name: String,
        /// The value given.
        value: u32,
        /// The least value allowed.
        low: u32,
        /// The greatest value allowed.
        high: u32,
    },
    /// A value is not of the expected form.
    #[error("{name} must be {expected}, not '{}'", value_part(value))]
    Malformed {
        /// The parameter.
        name: String,
        /// The value given.
        value: String,
        /// The expected form.
        expected: String,
    },
    /// There is no space of this name.
    #[error("unknown space '{}' (known: {known})", value_part(name))]
    UnknownSpace {
        /// The name given.
        name: String,
        /// The known names.
        known: String,
    },
    /// The space has no parameter of this name.
    #[error("{space} has no parameter '{}' (it has: {known})", value_part(name))]
    UnknownParameter {
        /// The space.
        space: String,
        /// The name given.
        name: String,
        /// The known parameters.
        known: String,
    },
    /// A parameter without a default is missing, or there are too many positional ones.
    #[error("{space} takes {expected}: {usage}")]
    Arguments {
        /// The space.
        space: String,
        /// The parameters that it takes.
        expected: String,
        /// A usage line.
        usage: String,
    },
    /// A text is not the text form of a state, or the space does not allow the state.
    #[error("{name} is not {expected}: {}", shortened(why, WHY_CHARS))]
    State {
        /// The parameter.
        name: String,
        /// What is expected, such as `a legal position`.
        expected: String,
        /// The reason.
        why: String,
    },
    /// A file is not of the expected form.
    #[error("{name}: line {line}, column {column}: {}", shortened(why, WHY_CHARS))]
    File {
        /// The parameter, or the file that it was read from.
        name: String,
        /// The line, from 1.
        line: usize,
        /// The column in characters, from 1.
        column: usize,
        /// What was expected, and what was found.
        why: String,
    },
    /// The goal is unreachable, as can be told without a search.
    #[error("{} cannot be reached from {}: {why}", value_part(goal), value_part(start))]
    Unsolvable {
        /// The start, as text.
        start: String,
        /// The goal, as text.
        goal: String,
        /// The reason.
        why: String,
    },
    /// A value is not allowed in combination with other parameters or the engine.
    #[error("{name} cannot have this value: {}", shortened(why, WHY_CHARS))]
    Conflict {
        /// The parameter.
        name: String,
        /// The reason, which names the other setting.
        why: String,
    },
    /// The space does not have the form that an engine searches.
    #[error("{why}")]
    NoForm {
        /// Which form it lacks.
        why: String,
    },
    /// A move cannot be undone, although the space declares its edges undirected.
    #[error(
        "a move leads from {from} to {to}, and none leads back: is_undirected() of the space must be \
         false, or its successors are wrong"
    )]
    Irreversible {
        /// The state before the move, as text.
        from: String,
        /// The state after it, as text.
        to: String,
    },
    /// The flip or the exchange of a nested space is not a symmetry: it does not map moves to moves, or
    /// the flip moves a start that it must fix.
    #[error("the {symmetry} of the nested form is no symmetry of the search: {why}")]
    Asymmetric {
        /// Name of the map: flip or exchange.
        symmetry: String,
        /// The state or function for which it is wrong.
        why: String,
    },
    /// Look-ups in the tables of a space disagree with its moves.
    #[error(
        "from {from}, look-ups in the tables of the space lead to other states than its moves: \
         tables, or the symmetries of their targets, are wrong"
    )]
    Tables {
        /// The state before the moves, as text.
        from: String,
    },
    /// The keys of a [`KeySpace`](crate::KeySpace) are too wide.
    #[error("keys of {bits} bits do not fit: the limit is {limit}")]
    KeyTooWide {
        /// The bits of a key.
        bits: u32,
        /// The limit of the bits of a key.
        limit: u32,
    },
    /// The part of a [`KeySpace`](crate::KeySpace)'s keys that is not local is too wide.
    #[error("{bits} bits of a key that are not local do not fit: the limit is {limit}")]
    RegionTooWide {
        /// The bits of a key that are not local.
        bits: u32,
        /// The limit of these bits.
        limit: u32,
    },
    /// The local part of a [`KeySpace`](crate::KeySpace)'s keys is too wide for a region.
    #[error("{bits} local bits of a key do not fit: the limit is {limit}")]
    LocalTooWide {
        /// The local bits of a key.
        bits: u32,
        /// The limit of local bits.
        limit: u32,
    },
    /// A part of the input takes more steps than the budget of a [`Work`](crate::Work) has.
    #[error("{what} takes more than {limit} steps")]
    TooMuchWork {
        /// The part of the input, or the computation that it is too large for.
        what: String,
        /// The limit of steps.
        limit: u64,
    },
    /// The caller cancelled the [`Work`](crate::Work).
    #[error("opening the space was cancelled")]
    Cancelled,
}

impl SpaceError {
    /// For `map_err`: converts a [`WorkError`] into a [`SpaceError`]. `what` names the part that the
    /// budget was too small for.
    pub fn unfinished(what: &str) -> impl Fn(WorkError) -> SpaceError + '_ {
        move |error| match error {
            WorkError::Limit { limit } => SpaceError::TooMuchWork { what: what.to_owned(), limit },
            WorkError::Cancelled => SpaceError::Cancelled,
        }
    }

    /// Checks that the parameter `name` has a value from `low` to `high`.
    ///
    /// # Errors
    /// [`SpaceError::OutOfRange`] otherwise.
    pub fn check(name: &str, value: u32, low: u32, high: u32) -> Result<(), SpaceError> {
        if (low..=high).contains(&value) {
            return Ok(());
        }
        Err(SpaceError::OutOfRange { name: name.into(), value, low, high })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_quote_the_beginning_of_long_values() {
        let long = "x".repeat(100_000);
        let text = || long.clone();
        for error in [
            SpaceError::Malformed { name: "size".into(), value: text(), expected: "a size".into() },
            SpaceError::UnknownSpace { name: text(), known: "hanoi".into() },
            SpaceError::UnknownParameter { space: "a".into(), name: text(), known: "b".into() },
            SpaceError::State { name: "goal".into(), expected: "a state".into(), why: text() },
            SpaceError::File { name: "file".into(), line: 1, column: 1, why: text() },
            SpaceError::Unsolvable { start: text(), goal: text(), why: "parity".into() },
            SpaceError::Conflict { name: "moves".into(), why: text() },
        ] {
            let message = error.to_string();
            assert!(message.contains('…') && message.chars().count() < 1100, "{message}");
        }
    }
}
