//! Base level of the recursion: segments found by breadth-first search over positions.

use rustc_hash::{FxBuildHasher, FxHashSet};
use strata_replay::Move;

use super::shape::Shape;
use super::signature::Signature;
use super::stack::{Stack, Stacks};

/// Initial capacity for the visits of a search. The searches of the base level have 2,479 on
/// average and 3,176 at most.
const ROOM_FOR_VISITS: usize = 3200;

/// A puzzle with small tiles in pairs and some lower tiles that may move as well.
///
/// The small tiles of level l have the ids 2(l-1) and 2(l-1)+1, lower tile i has the id 2N+i.
/// Rows are counted from the top, the track being row 0; a tile's row is its level, or one less
/// than the row of what it lies on.
pub(super) struct Board {
    small: u8,
    /// Level of each tile, by its id.
    levels: Vec<u8>,
    /// Row of the support below the lowest tile, by column.
    ground: [u8; 3],
    /// The levels of the small tiles in every shape.
    shapes: [Stacks; 5],
}

/// A position found by a search.
pub(super) struct Visit {
    pub(super) stacks: Stacks,
    pub(super) moves: u32,
    /// Its shape, if it is a useful position.
    pub(super) useful: Option<Shape>,
    /// The move that led here and the index of the position it came from.
    from: Option<(Move, u32)>,
}

impl Board {
    pub(super) fn new(small: u8, lower: &[u8], ground: [u8; 3]) -> Self {
        let pairs = (1..=small).flat_map(|level| [level, level]);
        Self {
            small,
            levels: pairs.chain(lower.iter().copied()).collect(),
            ground,
            shapes: Shape::ALL.map(|shape| shape.levels(small)),
        }
    }

    /// The board whose lower tiles 0, 1 and 2 are the slot tiles of a signature.
    pub(super) fn of_signature(small: u8, signature: &Signature) -> Self {
        let absolute = |relative: [u8; 3]| relative.map(|r| small + r);
        Self::new(small, &absolute(signature.lower), absolute(signature.support))
    }

    /// The useful position with these lower tiles in which no pair is exchanged.
    pub(super) fn position(&self, shape: Shape, lower: &Stacks) -> Stacks {
        let mut stacks =
            lower.map(|l| l.bottom_up().map(|i| 2 * self.small + i).collect::<Stack>());
        let mut seen = 0_u32;
        let mut colour = |level: u8| {
            let second = seen >> level & 1;
            seen |= 1 << level;
            2 * (level - 1) + second as u8
        };
        let [left, centre, right] = shape.levels(self.small);
        for (column, levels) in [left, centre].into_iter().enumerate() {
            for level in levels.bottom_up() {
                stacks[column].push(colour(level));
            }
        }
        let downwards: Vec<u8> = right.bottom_up().rev().map(colour).collect();
        for tile in downwards.into_iter().rev() {
            stacks[2].push(tile);
        }
        stacks
    }

    /// Pairs whose second tile is to the left of the first, as a bit mask: bit l - 1 for level l.
    ///
    /// The tipped tile 1 counts as still on the centre column.
    pub(super) fn swaps(&self, stacks: &Stacks) -> usize {
        let [left, centre, right] = stacks;
        let (mut seen, mut swaps) = (0_usize, 0);
        for tile in left.bottom_up().chain(centre.bottom_up()).chain(right.bottom_up().rev()) {
            let pair = 1 << (tile / 2);
            if tile < 2 * self.small && seen & pair == 0 {
                seen |= pair;
                swaps |= if tile % 2 == 1 { pair } else { 0 };
            }
        }
        swaps
    }

    /// The lower tiles by column.
    pub(super) fn lower(&self, stacks: &Stacks) -> Stacks {
        stacks.map(|s| s.bottom_up().filter_map(|t| t.checked_sub(2 * self.small)).collect())
    }

    /// The shape, if the position is useful: in every column all lower tiles lie below the small
    /// ones, and the topmost lower tile or the ground is at row N + 1 or below.
    fn useful(&self, stacks: &Stacks) -> Option<Shape> {
        let mut small = [Stack::default(); 3];
        for (column, stack) in stacks.iter().enumerate() {
            let mut support = self.ground[column];
            for tile in stack.bottom_up() {
                let level = self.levels[usize::from(tile)];
                if level <= self.small {
                    small[column].push(level);
                } else if small[column] == Stack::default() {
                    support = level.min(support.checked_sub(1)?);
                } else {
                    return None;
                }
            }
            if support <= self.small {
                return None;
            }
        }
        let index = self.shapes.iter().position(|levels| *levels == small)?;
        Some(Shape::ALL[index])
    }

    /// The row of a column's topmost tile.
    fn top_row(&self, column: usize, stack: Stack) -> u8 {
        stack.bottom_up().fold(self.ground[column], |row, tile| {
            self.levels[usize::from(tile)].min(row.saturating_sub(1))
        })
    }

    /// Whether another tile may be put on the column. The centre's row 0 is forbidden.
    fn has_room(&self, column: usize, stack: Stack) -> bool {
        self.top_row(column, stack) > u8::from(column == 1)
    }

    /// Breadth-first search from a position, in order of the number of moves. Useful positions
    /// other than the first are not expanded.
    pub(super) fn segments(&self, start: Stacks) -> Vec<Visit> {
        self.search(start, |visit| visit.moves == 0 || visit.useful.is_none())
    }

    /// Breadth-first search from a position that expands the visits for which `expand` is true.
    pub(super) fn search(&self, start: Stacks, expand: impl Fn(&Visit) -> bool) -> Vec<Visit> {
        let useful = self.useful(&start);
        let mut visits = Vec::with_capacity(ROOM_FOR_VISITS);
        visits.push(Visit { stacks: start, moves: 0, useful, from: None });
        let mut known = FxHashSet::with_capacity_and_hasher(ROOM_FOR_VISITS, FxBuildHasher);
        known.insert(start);
        let mut next = 0;
        while next < visits.len() {
            let visit = &visits[next];
            let (stacks, moves) = (visit.stacks, visit.moves + 1);
            if expand(visit) {
                let room: [bool; 3] = std::array::from_fn(|c| self.has_room(c, stacks[c]));
                for m in Move::ALL {
                    let (mut to, target) = (stacks, m.to() as usize);
                    let Some(tile) = to[m.from() as usize].pop() else { continue };
                    to[target].push(tile);
                    if room[target] && known.insert(to) {
                        let (useful, from) = (self.useful(&to), Some((m, next as u32)));
                        visits.push(Visit { stacks: to, moves, useful, from });
                    }
                }
            }
            next += 1;
        }
        visits
    }
}

/// The moves that led to the visit with this index.
pub(super) fn moves_to(visits: &[Visit], index: usize) -> Vec<Move> {
    let mut moves = Vec::new();
    let mut visit = &visits[index];
    while let Some((m, from)) = visit.from {
        moves.push(m);
        visit = &visits[from as usize];
    }
    moves.reverse();
    moves
}

#[cfg(test)]
mod tests {
    use super::super::signature::{A, B, C};
    use super::*;

    fn column(tiles: &[u8]) -> Stack {
        tiles.iter().copied().collect()
    }

    #[test]
    fn whole_puzzles_are_solved_in_the_known_number_of_moves() {
        for (level, moves) in [(1, 3), (2, 13), (3, 42), (4, 128)] {
            let board = Board::new(level, &[], [level + 1; 3]);
            let start = board.position(Shape::Sides, &Stacks::default());
            let goal = [start[2], start[1], start[0]];
            let visits = board.search(start, |_| true);
            let at = visits.iter().position(|v| v.stacks == goal).unwrap();
            assert_eq!(visits[at].moves, moves);
            let mut replayed = start;
            for m in moves_to(&visits, at) {
                let tile = replayed[m.from() as usize].pop().unwrap();
                replayed[m.to() as usize].push(tile);
            }
            assert_eq!(replayed, goal);
            assert_eq!(board.swaps(&goal), (1 << level) - 1);
        }
    }

    #[test]
    fn lower_tiles_of_useful_positions_lie_below_the_small_ones_and_leave_room() {
        let signature = Signature { shape: Shape::Right, lower: [1, 2, 3], support: [6; 3] };
        let board = Board::of_signature(2, &signature);
        let start = board.position(Shape::Right, &signature.slots());
        assert_eq!(start, [column(&[4]), column(&[6, 5, 2, 0]), column(&[3, 1])]);
        assert_eq!(board.useful(&start), Some(Shape::Right));
        assert_eq!(board.swaps(&start), 0);
        assert_eq!(board.lower(&start), [column(&[A]), column(&[C, B]), column(&[])]);

        let above = [column(&[]), column(&[6, 5, 2, 0, 4]), column(&[3, 1])];
        assert_eq!(board.useful(&above), None);
        let tight = Board::new(2, &[3, 4, 5], [8, 5, 8]);
        assert_eq!(tight.useful(&start), Some(Shape::Right));
        let tight = Board::new(2, &[3, 4, 5], [8, 4, 8]);
        assert_eq!(tight.useful(&start), None, "tile B is held up at row 2");
    }

    #[test]
    fn tipped_shapes_count_the_tile_on_top_as_on_the_centre() {
        let board = Board::new(2, &[], [3; 3]);
        for shape in Shape::ALL {
            let position = board.position(shape, &Stacks::default());
            assert_eq!(board.useful(&position), Some(shape));
            assert_eq!(board.swaps(&position), 0);
        }
        let right = board.position(Shape::Right, &Stacks::default());
        let tipped = board.position(Shape::RightTipped, &Stacks::default());
        assert_eq!((right[1], right[2]), (column(&[2, 0]), column(&[3, 1])));
        assert_eq!((tipped[1], tipped[2]), (column(&[2]), column(&[3, 1, 0])));
    }
}
