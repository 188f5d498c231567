//! What a fuzz target is.

use std::fmt::Display;

use crate::fuzz::rng::Rng;

/// What became of an input.
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

/// A property does not hold: what was expected, and what was found.
pub type Finding = String;

/// A parser, or several related ones, with their properties.
pub trait Target {
    /// The name, also of the folder of its corpus.
    fn name(&self) -> &'static str;

    /// Valid inputs. All are accepted.
    fn seeds(&self) -> Vec<Vec<u8>>;

    /// Changes an input. A target that knows the format computes checksums again, so that changes
    /// get past them. `other` is a second input.
    fn mutate(&self, input: &mut Vec<u8>, other: &[u8], rng: &mut Rng);

    /// Executes an input.
    ///
    /// # Errors
    /// The property that does not hold. A panic is a finding, too.
    fn check(&mut self, input: &[u8]) -> Result<Outcome, Finding>;

    /// Most bytes that an input of a length may take in memory.
    fn memory(&self, len: usize) -> usize {
        (16 << 20) + 64 * len
    }

    /// Mutations that a test executes: about a second's.
    fn test_runs(&self) -> u64 {
        1000
    }
}
