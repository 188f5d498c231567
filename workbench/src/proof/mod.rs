//! Proof that X(n) = U(n) for every n from 5 on: a certificate, for a verifier that shares no code
//! with this crate.
//!
//! # Lower bound
//! The tables of [`choke`](crate::choke) have 2^N columns at level N. With one bit instead of N, and
//! a price subtracted for each exchange on the other levels, they are still lower bounds, and
//! every entry has a closed form in N. The certificate lists the forms of all table entries and of
//! the distances of all nodes. That they satisfy the inequalities of the recursion for every N is
//! decided once, by the verifier. For the whole puzzle they give U(n).
//!
//! # Upper bound
//! A grammar describes solutions with U(n) moves: each segment of level N + 1 is a fixed chain of
//! segments of level N, which depends only on the parity of N.

mod bound;
mod error;
mod expand;
mod form;
mod grammar;
mod ladder;
mod lower;
mod prices;
mod write;

pub use bound::{exchange_length, lower_bound};
pub use error::ProofError;

use strata_replay::Word;

use crate::choke::classes::Structure;

/// The text of the certificate: closed forms for the lower bound, and the grammar of the upper one.
/// It is the same in every run.
///
/// # Errors
/// If a sequence has no closed form. This would be a mistake in the program.
pub fn certificate() -> Result<String, ProofError> {
    let structure = Structure::shared();
    let lower = lower::LowerBound::find(structure)?;
    let grammar = grammar::Grammar::find(&grammar::Chains::find(structure)?)?;
    Ok(write::Certificate { structure, lower: &lower, grammar: &grammar }.to_string())
}

/// An exchange of the towers with U(level) moves, for levels from 7 to 21: the grammar of the
/// certificate, expanded to moves.
///
/// # Errors
/// If the level is out of range. Other errors would be mistakes in the program.
///
/// ```
/// use strata_panex::proof;
/// use strata_replay::{CentreTop, Position, replay};
///
/// let word = proof::exchange_word(7)?;
/// assert_eq!(word.len(), 2189);
/// let end = replay(&Position::start(7)?, &*word, CentreTop::Forbidden, |_, _| {})?;
/// assert_eq!(end.into_position(), Position::goal(7)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn exchange_word(level: u32) -> Result<Word, ProofError> {
    let structure = Structure::shared();
    let chains = grammar::Chains::find(structure)?;
    let grammar = grammar::Grammar::find(&chains)?;
    expand::Expander::new(structure, &chains, &grammar).exchange(level)
}
