//! Results of a verification: figures, or the first line or check that does not hold.

use std::fmt::Display;

/// Figures of an accepted certificate by name. Section 12 of the document has them.
pub type Report = Vec<(&'static str, usize)>;
/// Why a text does not prove the theorem: the first malformed line and what is expected there, or
/// the first check that fails and its place, such as a signature, row, node, rule or N.
pub type Failure = String;
pub(crate) type Result<T> = std::result::Result<T, Failure>;

pub(crate) fn fails(check: &str, place: impl Display) -> Failure {
    format!("this does not hold: {check}; at {place}")
}

pub(crate) fn ensure(holds: bool, check: &str, place: impl Display) -> Result<()> {
    if holds { Ok(()) } else { Err(fails(check, place)) }
}
