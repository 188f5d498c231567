//! Why a space cannot be opened, by name and parameter.

/// Why a space cannot be opened.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum SpaceError {
    /// A number is outside its range.
    #[error("{name} must be between {low} and {high}, not {value}")]
    OutOfRange {
        /// Parameter.
        name: String,
        /// Value given.
        value: u32,
        /// Least value.
        low: u32,
        /// Greatest value.
        high: u32,
    },
    /// A value does not read as what it should be.
    #[error("{name} must be {expected}, not '{value}'")]
    Malformed {
        /// Parameter.
        name: String,
        /// Value given.
        value: String,
        /// What would be right.
        expected: String,
    },
    /// No such space.
    #[error("unknown space '{name}' (known: {known})")]
    UnknownSpace {
        /// Name given.
        name: String,
        /// Names there are.
        known: String,
    },
    /// The space has no such parameter.
    #[error("{space} has no parameter '{name}' (it has: {known})")]
    UnknownParameter {
        /// Space.
        space: String,
        /// Parameter given.
        name: String,
        /// Parameters there are.
        known: String,
    },
    /// A parameter without a default is missing, or there are too many.
    #[error("{space} takes {expected}: {usage}")]
    Arguments {
        /// Space.
        space: String,
        /// What it takes.
        expected: String,
        /// How to write it.
        usage: String,
    },
    /// A state's text form is not one.
    #[error("{name} is not {expected}: {why}")]
    State {
        /// Parameter.
        name: String,
        /// What it should be, such as `a legal position`.
        expected: String,
        /// What is wrong.
        why: String,
    },
    /// The goal is known to be out of reach, without a search.
    #[error("{goal} cannot be reached from {start}: {why}")]
    Unsolvable {
        /// Where the search would begin.
        start: String,
        /// Where it would end.
        goal: String,
        /// Why not.
        why: String,
    },
    /// A value does not go with others.
    #[error("{name} cannot be so: {why}")]
    Conflict {
        /// Parameter.
        name: String,
        /// What it does not go with.
        why: String,
    },
    /// The keys of a simple space are too wide.
    #[error("keys of {bits} bits do not fit: the limit is {limit}")]
    KeyTooWide {
        /// Bits needed.
        bits: u32,
        /// Bits there are.
        limit: u32,
    },
}

impl SpaceError {
    /// Checks that a number is in its range.
    ///
    /// # Errors
    /// [`SpaceError::OutOfRange`] if it is not.
    pub fn check(name: &str, value: u32, low: u32, high: u32) -> Result<(), SpaceError> {
        if (low..=high).contains(&value) {
            return Ok(());
        }
        Err(SpaceError::OutOfRange { name: name.into(), value, low, high })
    }
}
