//! Shared.

use rustc_hash::FxHashMap;
use strata_space::Weight;
use strata_space::nested::MAX_MOVES;

use crate::index::bits::ConfigId;
use crate::index::leaves::Leaves;

/// What [`NestedSpace::shift`] says, by number.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Moved {
    /// One of the level itself.
    Inside(ConfigId),
    /// A larger one.
    Outside(ConfigId),
}

/// What is known of a configuration.
#[derive(Clone, Debug)]
pub(crate) struct ConfigEntry<C> {
    pub(crate) config: C,
    pub(crate) flip: ConfigId,
    pub(crate) exchange: ConfigId,
    /// Its own weight and its flip's.
    pub(crate) weights: [Weight; 2],
}

/// In a table of shifts: not known yet.
pub(super) const UNKNOWN: u8 = u8::MAX;

/// In a table of shifts: one of the level itself moves.
pub(super) const INSIDE: u8 = 1 << 7;

#[derive(Clone)]
pub(crate) struct Level<C> {
    pub(super) entries: Vec<ConfigEntry<C>>,
    /// By configuration and move.
    pub(super) shifts: Vec<[u8; MAX_MOVES as usize]>,
    pub(super) numbers: FxHashMap<C, ConfigId>,
}

/// What is known but for classes.
#[derive(Clone)]
pub(crate) struct Known<C> {
    pub(crate) leaves: Leaves,
    /// By level; those of the leaf are empty.
    pub(super) levels: Vec<Level<C>>,
    /// By mask of moves, the flipped mask.
    pub(super) flipped_moves: Box<[u16]>,
    pub(super) flipped_move: [u8; MAX_MOVES as usize],
}

impl<C> Known<C> {
    #[inline(always)]
    pub(crate) fn flip_moves(&self, mask: u16) -> u16 {
        self.flipped_moves[usize::from(mask)]
    }

    #[inline(always)]
    pub(crate) fn flip_move(&self, mv: usize) -> usize {
        self.flipped_move[mv].into()
    }

    #[inline(always)]
    pub(crate) fn config(&self, level: u8, config: ConfigId) -> &ConfigEntry<C> {
        &self.levels[usize::from(level)].entries[usize::from(config)]
    }

    /// What [`NestedSpace::shift`] says; None if it has not been asked yet.
    #[inline(always)]
    pub(crate) fn shift(&self, level: u8, config: ConfigId, mv: usize) -> Option<Moved> {
        match self.levels[usize::from(level)].shifts[usize::from(config)][mv] {
            UNKNOWN => None,
            code if code & INSIDE != 0 => Some(Moved::Inside(code ^ INSIDE)),
            code => Some(Moved::Outside(code)),
        }
    }
}
