//! Part of the index that does not depend on classes, shared with the helper thread.

use rustc_hash::FxHashMap;
use strata_space::Weight;
use strata_space::nested::{MAX_MOVE_KINDS, Shift};

use crate::symbolic::index::bits::ConfigId;
use crate::symbolic::index::leaves::LeafTable;

/// A configuration, its images and its weights.
#[derive(Clone, Debug)]
pub(crate) struct ConfigInfo<C> {
    pub(crate) config: C,
    pub(crate) flip: ConfigId,
    pub(crate) exchange: ConfigId,
    /// The weight of the configuration and of its flip.
    pub(crate) weights: [Weight; 2],
}

/// Table entry of a shift that has not been computed yet.
pub(super) const UNKNOWN: u8 = u8::MAX;

/// Flag of a table entry: a piece of the level itself moves.
pub(super) const INSIDE: u8 = 1 << 7;

/// Configurations of one level, with their shifts.
#[derive(Clone)]
pub(crate) struct LevelConfigs<C> {
    pub(super) entries: Vec<ConfigInfo<C>>,
    /// Shifts, by configuration and move.
    pub(super) shifts: Vec<[u8; MAX_MOVE_KINDS as usize]>,
    pub(super) numbers: FxHashMap<C, ConfigId>,
}

/// Tables of configurations, leaf states and moves.
#[derive(Clone)]
pub(crate) struct SharedIndex<C> {
    pub(crate) leaves: LeafTable,
    /// Configurations, by level; empty for the leaf levels.
    pub(super) levels: Vec<LevelConfigs<C>>,
    /// For each mask of moves, the mask of their flips.
    pub(super) flipped_moves: Box<[u16]>,
    pub(super) flipped_move: [u8; MAX_MOVE_KINDS as usize],
}

impl<C> SharedIndex<C> {
    #[inline(always)]
    pub(crate) fn flip_moves(&self, mask: u16) -> u16 {
        self.flipped_moves[usize::from(mask)]
    }

    #[inline(always)]
    pub(crate) fn flip_move(&self, kind: usize) -> usize {
        self.flipped_move[kind].into()
    }

    #[inline(always)]
    pub(crate) fn config(&self, level: u8, config: ConfigId) -> &ConfigInfo<C> {
        &self.levels[usize::from(level)].entries[usize::from(config)]
    }

    /// `NestedSpace::shift` by number; None if it has not been computed yet.
    #[inline(always)]
    pub(crate) fn shift(
        &self,
        level: u8,
        config: ConfigId,
        kind: usize,
    ) -> Option<Shift<ConfigId>> {
        match self.levels[usize::from(level)].shifts[usize::from(config)][kind] {
            UNKNOWN => None,
            code if code & INSIDE != 0 => Some(Shift::Inside(code ^ INSIDE)),
            code => Some(Shift::Outside(code)),
        }
    }
}
