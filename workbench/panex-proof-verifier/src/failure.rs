//! Failures: the first line or check that does not hold.

use std::fmt::{self, Display};

use crate::sequence::Form;

pub(crate) type Result<T> = std::result::Result<T, Failure>;

/// Why a text does not prove the theorem: the first line that is malformed and what it should have,
/// or the first check that fails and where: signature, row, node, edge, segment, rule, form, N.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure(pub(crate) String);

impl Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Failure {}

pub(crate) fn fails(check: &str, place: impl Display) -> Failure {
    Failure(format!("this does not hold: {check}; at {place}"))
}

pub(crate) fn ensure(holds: bool, check: &str, place: impl Display) -> Result<()> {
    holds.then_some(()).ok_or_else(|| fails(check, place))
}

/// Fails unless a form is never negative at `start`, `start` + `step`, ...
pub(crate) fn require(
    form: Form,
    (start, step): (u32, u32),
    check: &str,
    place: impl Display,
) -> Result<()> {
    form.prove_sign(start, step).map_err(|level| {
        let sign = level.map_or("not proven".to_owned(), |n| format!("negative at N = {n}"));
        fails(check, format_args!("{place}: {form:?} is {sign}"))
    })
}
