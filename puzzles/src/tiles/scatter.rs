//! States that stand for two boards: which of the two is held, what scatters, what the other weighs.

use std::cmp::Ordering;

use super::board::{Board, Reading};
use super::state_space::{Tiles, origin_weight};
use super::tables::behind;
use strata_space::{Chain, Local, RegionKey, State, Weight};

impl Tiles {
    /// The state that is held for a board.
    #[inline]
    pub(super) fn canonical(&self, reading: &Reading, side: u32) -> State {
        let state = self.state(reading, side);
        let Some(symmetry) = &self.symmetry else { return state };
        let image = || self.state(&symmetry.image(reading), side);
        match symmetry.order(state.local >> 1) {
            Ordering::Less => state,
            Ordering::Greater => image(),
            Ordering::Equal => image().min(state),
        }
    }

    /// Appends the canonical states behind a move of each of the locals.
    pub(super) fn scatter_moves(
        &self,
        region: RegionKey,
        kind: usize,
        locals: &[Local],
        out: &mut Vec<State>,
    ) {
        let Some(symmetry) = &self.symmetry else { return };
        let large = self.large(region);
        out.extend(locals.iter().filter_map(|local| {
            let mut next = symmetry.reading(local >> 1, &large);
            let blank = symmetry.blank(local >> 1);
            next.swap(blank.into(), behind(self.shape(), blank, kind)?.into());
            Some(self.canonical(&next, local & 1))
        }));
    }

    /// What the images of a region's boards weigh that are not the boards themselves.
    pub(super) fn image_weight(&self, region: RegionKey, locals: &[Local]) -> Weight {
        let Some(symmetry) = &self.symmetry else { return Weight::ZERO };
        let large = self.large(region);
        let mut sums = [Weight::ZERO; 2];
        for local in locals {
            let reading = symmetry.reading(local >> 1, &large);
            let image = symmetry.image(&reading);
            if symmetry.order(local >> 1).is_ne() || image != reading {
                sums[(local & 1) as usize] += symmetry.weigh(&image);
            }
        }
        sums[0] * origin_weight(0) + sums[1] * origin_weight(1)
    }

    /// The boards of a way from the start that passes through the states of a chain. A state may stand
    /// for two boards; which is meant follows from those before. None if there is no such way, or the
    /// chain has states from the goal and does not lead there.
    pub fn unfold(&self, chain: &Chain) -> Option<Vec<Board>> {
        let (first, onward) = chain.from_start.split_first()?;
        // The searches met in the last state of both parts.
        let back = chain.from_goal.split_last().map_or(&[][..], |(_, back)| back);
        (self.locate(self.start(), 0) == *first).then_some(())?;
        let mut way = vec![self.start().reading()];
        for state in onward.iter().chain(back.iter().rev()) {
            let is_next = |next: &Reading| self.canonical(next, state.local & 1) == *state;
            let next = self.neighbours(way.last()?).find(is_next)?;
            way.push(next);
        }
        let way: Vec<Board> = way.iter().map(|at| Board::written(self.shape(), at)).collect();
        let ends = self.goal().filter(|_| !chain.from_goal.is_empty());
        ends.is_none_or(|goal| way.last() == Some(goal)).then_some(way)
    }
}
