//! Tables of the local parts of boards, by local index.
//!
//! The move kinds are the blank's moves: back and forward in the reading order, and across to the
//! previous and the next line. A move along the reading order keeps the order of the tiles. A move
//! across takes a tile past an even number of others. It leaves the region if a large tile moves past
//! large ones. The exit edge then gives the direction, the position of the tile among the large ones,
//! and the number of large tiles that it passes.
//!
//! Where symmetric boards are identified, a move also leaves the region if the board after it may not
//! be the canonical one. Such moves have a scattering edge, one for each move kind, after all other
//! edges.

use std::cmp::Ordering;

use super::board::Shape;
use super::numbering::{Numbering, digits, insert};
use strata_space::{ExitEdge, LegalMoves, MAX_INDICES, Weight};

/// Number of move kinds: back and forward in the reading order, across to the previous and the next line.
pub(super) const MOVE_KINDS: usize = 4;

/// The first of the move kinds that lead to another line.
pub(super) const ACROSS: usize = 2;

/// The tables.
#[derive(Debug)]
pub(super) struct Tables {
    moves: Vec<Moves>,
    /// A bit for each index with an inside move to the index before.
    links: Vec<u64>,
    /// The first scattering edge.
    scattering: ExitEdge,
    weights: Vec<[Weight; 1]>,
}

/// The moves of a local part, packed. The table is read for every state, so it has to be small enough for
/// the processor's cache.
///
/// Each word has the index after one move across, the exit edge of this move, and four bits, one for
/// each move kind: legal inside moves in the first word, exits in the second. A legal move along the
/// reading order changes the index by one.
#[derive(Copy, Clone, Debug, Default)]
struct Moves([u32; 2]);

const INDEX_BITS: u32 = MAX_INDICES.count_ones();
const MASK_BITS: u32 = MOVE_KINDS as u32;
const EDGE_BITS: u32 = u32::BITS - INDEX_BITS - MASK_BITS;

impl Moves {
    fn add_inside(&mut self, kind: usize, next: u32) {
        self.0[0] |= 1 << (INDEX_BITS + EDGE_BITS) << kind;
        if let Some(across) = kind.checked_sub(ACROSS) {
            self.0[across] |= next;
        }
    }

    fn add_exit(&mut self, kind: usize, next: u32, edge: ExitEdge) {
        self.0[1] |= 1 << (INDEX_BITS + EDGE_BITS) << kind;
        if let Some(across) = kind.checked_sub(ACROSS) {
            debug_assert!(u32::from(edge) >> EDGE_BITS == 0, "{edge}");
            self.0[across] |= u32::from(edge) << INDEX_BITS | next;
        }
    }

    #[inline(always)]
    fn legal(self) -> LegalMoves {
        let [inside, exits] = self.0.map(|word| (word >> (INDEX_BITS + EDGE_BITS)) as u8);
        LegalMoves { inside, exits }
    }

    /// The index after the first (0) or second (1) move across.
    #[inline(always)]
    fn beyond(self, across: usize) -> u32 {
        self.0[across & 1] & MAX_INDICES
    }

    #[inline(always)]
    fn exit_edge(self, across: usize) -> ExitEdge {
        (self.0[across & 1] >> INDEX_BITS & ((1 << EDGE_BITS) - 1)) as ExitEdge
    }

    /// By move kind: the index after a legal inside move, otherwise `index` itself.
    #[inline(always)]
    fn inside_successors(self, index: u32) -> [u32; MOVE_KINDS] {
        let inside = u32::from(self.legal().inside);
        let across = [0, 1].map(|across| {
            let is_inside = inside >> (ACROSS + across) & 1;
            // All bits if the move is inside. A branch would be hard to predict.
            index ^ ((self.beyond(across) ^ index) & is_inside.wrapping_neg())
        });
        [index - (inside & 1), index + (inside >> 1 & 1), across[0], across[1]]
    }
}

/// The numbering of the exit edges.
#[derive(Copy, Clone, Debug)]
pub(super) struct ExitEdges {
    large: u16,
    /// Maximum number of large tiles that a move passes.
    most: u16,
}

/// Effect of an exit edge on the order of the large tiles.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct Jump {
    /// Whether the tile moves forward in the order, not back.
    pub(super) on: bool,
    /// The tile's position among the large tiles, from 0.
    pub(super) tile: u8,
    /// The number of large tiles that it passes.
    pub(super) past: u8,
}

impl ExitEdges {
    pub(super) fn new(shape: Shape, large: u8) -> ExitEdges {
        ExitEdges { large: large.into(), most: 2 * u16::from(shape.line() - 1) }
    }

    pub(super) fn len(self) -> ExitEdge {
        2 * self.large * self.most
    }

    fn number(self, jump: Jump) -> ExitEdge {
        let tile = u16::from(jump.on) * self.large + u16::from(jump.tile);
        tile * self.most + u16::from(jump.past) - 1
    }

    pub(super) fn jump(self, edge: ExitEdge) -> Jump {
        let (tile, past) = (edge / self.most, edge % self.most + 1);
        Jump { on: tile >= self.large, tile: (tile % self.large) as u8, past: past as u8 }
    }

    /// The edge of the inverse move.
    pub(super) fn inverse(self, edge: ExitEdge) -> ExitEdge {
        let Jump { on, tile, past } = self.jump(edge);
        let tile = if on { tile + past } else { tile - past };
        self.number(Jump { on: !on, tile, past })
    }

    /// Which of the two moves across the blank makes: 0 or 1.
    pub(super) fn across(self, edge: ExitEdge) -> usize {
        // The tile moves in the opposite direction. The edges of tiles that move forward come last.
        usize::from(edge < self.large * self.most)
    }
}

/// The square of the blank after a move, if the move stays on the board.
pub(super) fn behind(shape: Shape, blank: u8, kind: usize) -> Option<u8> {
    let line = shape.line();
    let offset = blank % line;
    // The nearest square across is the next one in the reading order: a move along it.
    let to = match kind {
        0 => blank.checked_sub(1),
        1 => Some(blank + 1),
        2 if offset > 0 => blank.checked_sub(2 * offset + 1),
        3 if offset + 1 < line => Some(blank + 2 * (line - 1 - offset) + 1),
        _ => None,
    };
    to.filter(|to| *to < shape.squares())
}

/// Updates an order of tiles for a move of the blank between two places. Returns the old and the new
/// place of the tile that exchanges squares with the blank.
pub(super) fn move_blank(order: &mut [u8], from: u8, to: u8) -> (usize, usize) {
    let (was, is) = if to > from { (to - 1, from) } else { (to, from - 1) };
    let (was, is) = (usize::from(was), usize::from(is));
    if was < is {
        order[was..=is].rotate_left(1);
    } else {
        order[is..=was].rotate_right(1);
    }
    (was, is)
}

/// The effect of the move of a tile on the order of the large tiles, if there is one.
fn jump(before: &[u8], was: usize, is: usize, small: u8) -> Option<Jump> {
    let count = |tiles: &[u8]| tiles.iter().filter(|tile| **tile > small).count() as u8;
    let past = count(if was < is { &before[was + 1..=is] } else { &before[is..was] });
    let leaves = before[was] > small && past > 0;
    leaves.then(|| Jump { on: was < is, tile: count(&before[..was]), past })
}

impl Tables {
    /// The tables of a board. `order` returns for each local part whether its boards are canonical (less),
    /// their images are (greater), or some of both (equal).
    pub(super) fn new(
        shape: Shape,
        small: u8,
        locals: Numbering,
        edges: ExitEdges,
        order: &dyn Fn(u32) -> Ordering,
    ) -> Tables {
        let size = locals.len() as usize;
        let mut tables = Tables {
            moves: vec![Moves::default(); size],
            links: vec![0; size.div_ceil(64)],
            scattering: edges.len(),
            weights: vec![[Weight::ZERO]; size],
        };
        let large: Vec<u8> = (small + 1..shape.squares()).collect();
        for index in 0..size {
            let Some((local, blank)) = locals.digits(index as u32) else { continue };
            tables.weights[index][0] = local_weight(&local, blank);
            let before = insert(&local, &large);
            for kind in 0..MOVE_KINDS {
                let Some(to) = behind(shape, blank, kind) else { continue };
                let mut after = before.clone();
                let (was, is) = move_blank(&mut after, blank, to);
                let next = locals.index(&digits(&after, small), to);
                debug_assert!(
                    kind >= ACROSS || next.abs_diff(index as u32) == 1,
                    "{index}, {next}"
                );
                let moves = &mut tables.moves[index];
                if order(next).is_ge() {
                    moves.add_exit(kind, 0, edges.len() + kind as ExitEdge);
                } else if let Some(jump) = jump(&before, was, is, small) {
                    moves.add_exit(kind, next, edges.number(jump));
                } else {
                    moves.add_inside(kind, next);
                }
            }
            let is_linked = u64::from(tables.moves[index].legal().inside & 1);
            tables.links[index / 64] |= is_linked << (index % 64);
        }
        tables
    }

    #[inline(always)]
    pub(super) fn legal_moves(&self, index: u32) -> LegalMoves {
        self.moves[index as usize].legal()
    }

    #[inline(always)]
    pub(super) fn inside_successors(&self, index: u32) -> [u32; MOVE_KINDS] {
        self.moves[index as usize].inside_successors(index)
    }

    #[inline(always)]
    pub(super) fn exit_edge(&self, index: u32, kind: usize) -> ExitEdge {
        match kind.checked_sub(ACROSS) {
            Some(across) => self.moves[index as usize].exit_edge(across),
            // In a move along the reading order no large tile passes another.
            None => self.scattering + kind as ExitEdge,
        }
    }

    /// The index after the first (0) or second (1) move across.
    #[inline(always)]
    pub(super) fn beyond(&self, index: u32, across: usize) -> u32 {
        self.moves[index as usize].beyond(across)
    }

    #[inline(always)]
    pub(super) fn links(&self) -> &[u64] {
        &self.links
    }

    #[inline(always)]
    pub(super) fn weights(&self) -> &[[Weight; 1]] {
        &self.weights
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.moves[..]) + size_of_val(&self.links[..]) + size_of_val(&self.weights[..])
    }
}

/// The weight of one tile's digit.
pub(super) fn digit_weight(tile: u8, digit: u8) -> Weight {
    Weight::hash(u64::from(tile) << 8 | u64::from(digit))
}

/// The weight of a local part is the product of the weights of its tiles' digits; the blank counts
/// as tile 0 with its place as digit.
fn local_weight(digits: &[u8], blank: u8) -> Weight {
    let tiles = (1..).zip(digits).map(|(tile, digit)| digit_weight(tile, *digit));
    tiles.fold(digit_weight(0, blank), |product, weight| product * weight)
}
