//! Keys of states: combined coordinates for large puzzles that have them, otherwise ranks.

use crate::group::Element;

use super::coordinates::Coordinates;
use super::definition::{Definition, State};
use super::ranking::Ranking;
use super::word::RankKey;

/// The keys of the states reachable from a start.
#[derive(Clone, Debug)]
pub(super) enum Keys {
    Ranks(Ranking),
    Coordinates(Box<Coordinates>),
}

impl Keys {
    /// The keys for a start and moves, or the number of bits that they would need if these are more than
    /// `limit`.
    pub(super) fn new(
        definition: &Definition,
        start: &State,
        moves: &[Element],
        limit: u32,
    ) -> Result<Keys, u64> {
        match Coordinates::new(definition, start, moves) {
            Some(coordinates) => Ok(Keys::Coordinates(Box::new(coordinates))),
            None => Ranking::new(definition, start, moves, limit).map(Keys::Ranks),
        }
    }

    /// Bits of the largest key.
    pub(super) fn bits(&self) -> u32 {
        match self {
            Keys::Ranks(ranking) => ranking.bits(),
            Keys::Coordinates(coordinates) => coordinates.bits(),
        }
    }

    /// The coordinates, if keys are made of them.
    pub(super) fn coordinates(&self) -> Option<&Coordinates> {
        match self {
            Keys::Ranks(_) => None,
            Keys::Coordinates(coordinates) => Some(coordinates),
        }
    }

    /// The key of a state. The caller guarantees that it is reachable from the start. `counts` is a buffer
    /// that calls can share.
    pub(super) fn key_of<K: RankKey>(&self, state: &State, counts: &mut Vec<u64>) -> Option<K> {
        match self {
            Keys::Ranks(ranking) => ranking.rank_of(state, counts),
            Keys::Coordinates(coordinates) => coordinates.key_of(state),
        }
    }

    /// The key of a state; None if it does not have the pieces of the start in the same orbits.
    pub(super) fn key<K: RankKey>(&self, state: &State) -> Option<K> {
        let key = self.key_of(state, &mut Vec::new())?;
        (self.state::<K>(key) == *state).then_some(key)
    }

    /// The state of a key.
    pub(super) fn state<K: RankKey>(&self, key: K) -> State {
        match self {
            Keys::Ranks(ranking) => ranking.state(key),
            Keys::Coordinates(coordinates) => coordinates.state(key),
        }
    }
}
