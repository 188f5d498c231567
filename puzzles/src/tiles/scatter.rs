//! Canonical states under a transposition: the state of a board, scattering moves, weights of
//! images, and paths.

use std::cmp::Ordering;

use super::board::{Board, Reading};
use super::state_space::{Tiles, origin_weight};
use super::tables::behind;
use strata_space::{Chain, Local, RegionKey, State, Weight};

impl Tiles {
    /// The canonical state of a board.
    #[inline]
    pub(super) fn canonical(&self, reading: &Reading, side: u32) -> State {
        let state = self.state(reading, side);
        let Some(symmetry) = &self.symmetry else { return state };
        let image = || self.state(&symmetry.image(reading), side);
        match symmetry.order(state.narrow() >> 1) {
            Ordering::Less => state,
            Ordering::Greater => image(),
            Ordering::Equal => image().min(state),
        }
    }

    /// Appends the canonical states after a move of each of the locals.
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

    /// Sum of the weights of the images of a region's boards, except boards that are their own
    /// images.
    pub(super) fn image_weight(&self, region: RegionKey, locals: &[Local]) -> Weight {
        let Some(symmetry) = &self.symmetry else { return Weight::ZERO };
        let large = self.large(region);
        let mut sums = [Weight::ZERO; 2];
        for local in locals {
            let reading = symmetry.reading(local >> 1, &large);
            let image = symmetry.image(&reading);
            if symmetry.order(local >> 1).is_ne() || image != reading {
                sums[(local & 1) as usize] += symmetry.weight(&image);
            }
        }
        sums[0] * origin_weight(0) + sums[1] * origin_weight(1)
    }

    /// Number of a region's boards that are not their own images.
    pub(super) fn other_boards(&self, region: RegionKey, locals: &[Local]) -> u64 {
        let Some(symmetry) = &self.symmetry else { return 0 };
        let large = self.large(region);
        let differs = |local: &&Local| {
            symmetry.order(*local >> 1).is_ne() || {
                let reading = symmetry.reading(*local >> 1, &large);
                symmetry.image(&reading) != reading
            }
        };
        locals.iter().filter(differs).count() as u64
    }

    /// The boards of a path from the start through the states of a chain. A state may stand for two
    /// boards; the preceding board determines which of them the path visits. None if there is no such
    /// path, or if the chain has states from the goal and does not end at the goal.
    pub fn unfold(&self, chain: &Chain) -> Option<Vec<Board>> {
        let (first, onward) = chain.from_start.split_first()?;
        // The searches met in the last state of both parts.
        let back = chain.from_goal.split_last().map_or(&[][..], |(_, back)| back);
        (self.locate(self.start(), 0) == *first).then_some(())?;
        let mut path = vec![self.start().reading()];
        for state in onward.iter().chain(back.iter().rev()) {
            let is_next = |next: &Reading| self.canonical(next, state.side()) == *state;
            let next = self.neighbours(path.last()?).find(is_next)?;
            path.push(next);
        }
        let path: Vec<Board> = path.iter().map(|at| Board::written(self.shape(), at)).collect();
        let ends = self.goal().filter(|_| !chain.from_goal.is_empty());
        ends.is_none_or(|goal| path.last() == Some(goal)).then_some(path)
    }
}
