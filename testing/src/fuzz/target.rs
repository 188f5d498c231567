//! The trait of fuzz targets, and the outcomes of inputs.

use std::fmt::Display;

use crate::fuzz::rng::Rng;

/// Outcome of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was accepted, and every property held.
    Accepted,
    /// It was refused, with this error.
    Refused(String),
}

impl Outcome {
    /// A refusal.
    pub fn refused(error: impl Display) -> Outcome {
        Outcome::Refused(error.to_string())
    }
}

/// Description of a property that does not hold: what was expected, and what was found.
pub type Finding = String;

/// A parser, or several related ones, with their properties.
pub trait Target {
    /// The target's name, which is also the name of its corpus folder.
    fn name(&self) -> &'static str;

    /// Valid inputs. All are accepted.
    fn seeds(&self) -> Vec<Vec<u8>>;

    /// Changes an input. A target whose format has checksums recomputes them, so that changes get
    /// past them. `other` is a second input.
    fn mutate(&self, input: &mut Vec<u8>, other: &[u8], rng: &mut Rng);

    /// Executes an input.
    ///
    /// # Errors
    /// The property that does not hold. A panic is a finding, too.
    fn check(&mut self, input: &[u8]) -> Result<Outcome, Finding>;

    /// Most bytes of memory that an input of length `len` may take.
    fn memory(&self, len: usize) -> usize {
        (16 << 20) + 64 * len
    }

    /// Number of mutations that a test executes: about a second's worth.
    fn test_runs(&self) -> u64 {
        1000
    }
}
