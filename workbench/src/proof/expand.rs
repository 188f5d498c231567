//! Expansion of the grammar to moves of tiles.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use strata_replay::{Move, Word};

use super::error::ProofError;
use super::grammar::{Chains, Grammar, Segment, parity};
use super::ladder::LOWEST;
use crate::choke::classes::Structure;
use crate::choke::path::base_segment;

use crate::choke;

/// Expansion of words of the grammar. Segments of the grammar's first level and below are expanded
/// once.
pub(super) struct Expander<'a> {
    structure: &'a Structure,
    chains: &'a Chains<'a>,
    grammar: &'a Grammar,
    known: FxHashMap<(u32, Segment), Rc<[Move]>>,
}

impl<'a> Expander<'a> {
    pub(super) fn new(
        structure: &'a Structure,
        chains: &'a Chains<'a>,
        grammar: &'a Grammar,
    ) -> Self {
        Self { structure, chains, grammar, known: FxHashMap::default() }
    }

    /// The exchange of the towers of a level above the grammar's first.
    ///
    /// # Errors
    /// If the level is not above the grammar's first, or is above [`choke::MAX_LEVEL`].
    pub(super) fn exchange(&mut self, level: u32) -> Result<Word, ProofError> {
        let (least, greatest) = (self.grammar.start + 1, choke::MAX_LEVEL.into());
        if !(least..=greatest).contains(&level) {
            return Err(ProofError::Level { level, least, greatest });
        }
        let mut word = Word::new();
        for &part in &self.grammar.top[parity(level)] {
            self.append(level - 1, part, &mut word)?;
        }
        Ok(word)
    }

    /// Appends the moves of a segment of a level by the grammar's rules.
    fn append(&mut self, level: u32, segment: usize, word: &mut Word) -> Result<(), ProofError> {
        let grammar = self.grammar;
        if level == grammar.start {
            word.extend(self.moves(level, &grammar.segments[segment])?.iter().copied());
            return Ok(());
        }
        let rule = &grammar.rules[segment][parity(level)];
        rule.iter().try_for_each(|&part| self.append(level - 1, part, word))
    }

    /// The moves of a segment of a level for which there are no rules.
    fn moves(&mut self, level: u32, segment: &Segment) -> Result<Rc<[Move]>, ProofError> {
        if let Some(moves) = self.known.get(&(level, *segment)) {
            return Ok(Rc::clone(moves));
        }
        let mut moves = Vec::new();
        if level == LOWEST {
            let Segment { signature, mirrored, row, swaps } = *segment;
            let found = base_segment(self.structure, &signature, row, swaps);
            moves = found.ok_or(ProofError::NoChain { level })?;
            if mirrored {
                moves.iter_mut().for_each(|mv| *mv = mv.mirror());
            }
        } else {
            for part in self.chains.segment(level, segment)? {
                moves.extend_from_slice(&self.moves(level - 1, &part)?);
            }
        }
        let moves: Rc<[Move]> = moves.into();
        self.known.insert((level, *segment), Rc::clone(&moves));
        Ok(moves)
    }
}
