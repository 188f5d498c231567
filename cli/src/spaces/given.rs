//! Parameters of a state space as they were given.

/// A parameter of a state space as it was given.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Given {
    /// The parameter's name.
    pub(crate) name: &'static str,
    /// Its value.
    pub(crate) value: String,
    /// Whether it was given on the command line. A value from an environment variable may be meant
    /// for other runs, so it is ignored where it does not apply.
    pub(crate) typed: bool,
}
