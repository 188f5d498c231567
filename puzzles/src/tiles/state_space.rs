//! State space of sliding tiles: regions, local parts and their tables.

use std::cmp::Ordering;

use super::board::{Board, Reading, Shape};
use super::numbering::{Numbering, digits, insert};
use super::symmetry::{Symmetry, Transposition};
use super::tables::{ACROSS, ExitEdges, Jump, MOVE_KINDS, Tables, behind, digit_weight};
use strata_space::mix;
use strata_space::{
    EdgeTarget, ExitEdge, Finish, InsideSuccessors, LegalMoves, Local, LocalWeights, MAX_INDICES,
    MoveKind, RegionKey, SpaceError, State, StateSpace, Tabled, Weight,
};

/// A tile in a region's key takes 5 bits.
const TILE_BITS: u32 = 5;

/// Configuration of a search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TilesConfig {
    /// The start.
    pub start: Board,
    /// The goal; `None` to list the whole reachable space.
    pub goal: Option<Board>,
    /// Tiles up to k are local; `None` for the largest k, see [`max_k`].
    pub k: Option<u8>,
    /// Whether symmetric boards are identified, if a symmetry fixes start and goal.
    pub symmetry: bool,
}

/// The state space of sliding tiles on a board.
#[derive(Debug)]
pub struct Tiles {
    shape: Shape,
    config: TilesConfig,
    small: u8,
    locals: Numbering,
    edges: ExitEdges,
    tables: Tables,
    /// The symmetry by which boards are identified, if any.
    pub(super) symmetry: Option<Symmetry>,
}

/// The largest k of a shape for which the tables have fewer than 2^17 indices.
pub fn max_k(shape: Shape) -> u8 {
    let fits = |k: &u8| Numbering::new(shape.squares() - 1, *k).len() <= MAX_INDICES;
    (1..shape.squares()).take_while(fits).last().unwrap_or(1)
}

impl Tiles {
    /// The state space of a configuration, with its tables.
    ///
    /// # Errors
    /// [`SpaceError::OutOfRange`] if k is out of range, [`SpaceError::Conflict`] if start and goal
    /// differ in shape, [`SpaceError::Unsolvable`] if the goal cannot be reached.
    pub fn new(config: TilesConfig) -> Result<Tiles, SpaceError> {
        let TilesConfig { start, goal, k, symmetry } = &config;
        let shape = start.shape();
        let most = max_k(shape);
        let small = k.unwrap_or(most);
        SpaceError::check("k", small.into(), 1, most.into())?;
        if let Some(goal) = &goal {
            if goal.shape() != shape {
                return Err(SpaceError::Conflict {
                    name: "goal".into(),
                    why: format!("it is a board of {}, the start one of {shape}", goal.shape()),
                });
            }
            if parity(start) != parity(goal) {
                let (start, goal) = (start.to_string(), goal.to_string());
                let why = "an odd permutation of the tiles lies between".into();
                return Err(SpaceError::Unsolvable { start, goal, why });
            }
        }
        let locals = Numbering::new(shape.squares() - 1, small);
        let edges = ExitEdges::new(shape, shape.squares() - 1 - small);
        let transposition = symmetry.then(|| Transposition::fixing(start, goal.as_ref())).flatten();
        let symmetry = transposition.map(|found| Symmetry::new(shape, small, locals, found));
        let order =
            |index| symmetry.as_ref().map_or(Ordering::Less, |symmetry| symmetry.order(index));
        let tables = Tables::new(shape, small, locals, edges, &order);
        Ok(Tiles { shape, config, small, locals, edges, tables, symmetry })
    }

    /// Rows and columns.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The start of the search.
    pub fn start(&self) -> &Board {
        &self.config.start
    }

    /// The goal; `None` if the whole reachable space is listed.
    pub fn goal(&self) -> Option<&Board> {
        self.config.goal.as_ref()
    }

    /// The number k: tiles up to k are local.
    pub fn k(&self) -> u8 {
        self.small
    }

    /// Whether symmetric boards are identified, if a symmetry fixes start and goal.
    pub fn symmetry(&self) -> bool {
        self.config.symmetry
    }

    pub(super) fn locate(&self, board: &Board, side: u32) -> State {
        self.canonical(&board.reading(), side)
    }

    /// A board as region and local part.
    #[inline]
    pub(super) fn state(&self, reading: &Reading, side: u32) -> State {
        let (mut region, mut large, mut seen, mut blank) = (0, 0, 0u32, 0);
        let mut digits = Reading::default();
        for (place, tile) in (0..self.shape.squares()).zip(reading) {
            if *tile > self.small {
                region = region << TILE_BITS | u128::from(*tile);
                large += 1;
            } else if *tile > 0 {
                digits[usize::from(tile - 1)] = large + (seen >> tile).count_ones() as u8;
                seen |= 1 << tile;
            } else {
                blank = place;
            }
        }
        let index = self.locals.index(&digits[..self.small.into()], blank);
        State::new(RegionKey(region), index << 1 | side)
    }

    /// The board of a state.
    fn reading(&self, state: State) -> Reading {
        let (digits, blank) = self.locals.digits(state.narrow() >> 1).unwrap_or_default();
        let mut order = insert(&digits, &self.large(state.region));
        order.insert(blank.into(), 0);
        let mut reading = Reading::default();
        reading.iter_mut().zip(order).for_each(|(to, tile)| *to = tile);
        reading
    }

    /// The boards that are one move away.
    pub(super) fn neighbours(&self, reading: &Reading) -> impl Iterator<Item = Reading> {
        let blank = reading.iter().position(|tile| *tile == 0).unwrap_or_default();
        let to = (0..MOVE_KINDS).filter_map(move |kind| behind(self.shape, blank as u8, kind));
        to.map(move |to| {
            let mut next = *reading;
            next.swap(blank, to.into());
            next
        })
    }

    /// The large tiles of a region as they are read.
    pub(super) fn large(&self, region: RegionKey) -> Vec<u8> {
        let count = u32::from(self.shape.squares() - 1 - self.small);
        let tile = |at: u32| (region.0 >> (TILE_BITS * at)) as u8 & ((1 << TILE_BITS) - 1);
        (0..count).rev().map(tile).collect()
    }
}

/// The parity of the order in which a board's tiles are read.
fn parity(board: &Board) -> u32 {
    let order: Vec<u8> = board.reading().into_iter().filter(|tile| *tile > 0).collect();
    let digits = digits(&order, board.shape().squares() - 1);
    digits.into_iter().map(u32::from).sum::<u32>() & 1
}

/// Factor of a position's weight for the end from which it was reached, so that the digests of the
/// two searches differ.
pub(super) fn origin_weight(side: usize) -> Weight {
    // No tile has so great a number.
    if side == 0 { Weight::ONE } else { digit_weight(u8::MAX, 0) }
}

impl StateSpace for Tiles {
    fn seeds(&self) -> Vec<State> {
        let goal = self.goal().map(|goal| self.locate(goal, 1));
        [self.locate(self.start(), 0)].into_iter().chain(goal).collect()
    }

    fn finish(&self) -> Finish {
        if self.goal().is_some() { Finish::Meeting } else { Finish::Exhausted }
    }

    fn moves(&self, state: State, out: &mut Vec<State>) {
        let reading = self.reading(state);
        let next = self.neighbours(&reading);
        out.extend(next.map(|next| self.canonical(&next, state.side())));
    }

    fn shard_hash(&self, region: RegionKey) -> u64 {
        mix(mix(region.0 as u64) ^ (region.0 >> 64) as u64)
    }

    fn weight(&self, state: State) -> Weight {
        let index = state.narrow() >> 1;
        let side = state.side() as usize;
        let first = self.region_weights(state.region)[side][0];
        first * self.tables.weights()[index as usize][0]
            + self.unfactored_weight(state.region, &[state.narrow()])
    }

    fn positions(&self, state: State) -> Option<u64> {
        Some(1 + self.unfactored_positions(state.region, &[state.narrow()]))
    }

    /// Of the boards that the state stands for, the one whose text sorts first.
    fn text(&self, state: State) -> String {
        let reading = self.reading(state);
        let text = |reading: &Reading| Board::written(self.shape, reading).to_string();
        let image = self.symmetry.as_ref().map(|symmetry| text(&symmetry.image(&reading)));
        image.into_iter().fold(text(&reading), String::min)
    }

    fn parse(&self, text: &str) -> Option<State> {
        let board = Board::parse(self.shape, text).ok()?;
        (parity(&board) == parity(self.start())).then(|| self.locate(&board, 0))
    }
}

impl Tabled for Tiles {
    const MOVE_KINDS: MoveKind = MOVE_KINDS as MoveKind;

    type Class = ();

    fn exit_edges(&self) -> ExitEdge {
        self.edges.len() + if self.symmetry.is_some() { MOVE_KINDS as ExitEdge } else { 0 }
    }

    fn first_scattering_edge(&self) -> ExitEdge {
        self.edges.len()
    }

    fn scatter(&self, region: RegionKey, edge: ExitEdge, locals: &[Local], out: &mut Vec<State>) {
        self.scatter_moves(region, usize::from(edge - self.edges.len()), locals, out);
    }

    fn unfactored_weight(&self, region: RegionKey, locals: &[Local]) -> Weight {
        self.image_weight(region, locals)
    }

    fn unfactored_positions(&self, region: RegionKey, locals: &[Local]) -> u64 {
        self.other_boards(region, locals)
    }

    fn indices(&self) -> u32 {
        self.locals.len()
    }

    fn class(&self, _: RegionKey) {}

    #[inline(always)]
    fn legal_moves(&self, (): &(), index: u32) -> LegalMoves {
        self.tables.legal_moves(index)
    }

    #[inline(always)]
    fn inside_successors(&self, (): &(), index: u32) -> InsideSuccessors {
        InsideSuccessors { first: self.tables.inside_successors(index), more: false }
    }

    #[inline(always)]
    fn links(&self, (): &()) -> Option<&[u64]> {
        // Where boards are identified, a move inside a region may lead back by a scattering edge.
        self.symmetry.is_none().then(|| self.tables.links())
    }

    #[inline(always)]
    fn neighbour(&self, index: u32, kind: MoveKind) -> u32 {
        self.tables.inside_successors(index)[usize::from(kind)]
    }

    #[inline(always)]
    fn exit_edge(&self, index: u32, kind: MoveKind) -> ExitEdge {
        self.tables.exit_edge(index, kind.into())
    }

    fn exit_kind(&self, edge: ExitEdge) -> MoveKind {
        match edge.checked_sub(self.edges.len()) {
            None => (ACROSS + self.edges.across(edge)) as MoveKind,
            // The scattering edges.
            Some(kind) => kind as MoveKind,
        }
    }

    #[inline(always)]
    fn transfer(&self, index: u32, edge: ExitEdge, _: u8) -> Local {
        self.tables.beyond(index, self.edges.across(edge)) << 1
    }

    fn inverse_exit(&self, edge: ExitEdge, _: u8) -> Option<ExitEdge> {
        (edge < self.edges.len()).then(|| self.edges.inverse(edge))
    }

    fn needs_canonicalising(&self, (): &()) -> bool {
        false
    }

    fn canonicalise(&self, (): &(), local: Local) -> Local {
        local
    }

    fn is_fixed(&self, (): &(), _: u32) -> bool {
        false
    }

    fn edge_target(&self, region: RegionKey, edge: ExitEdge) -> EdgeTarget {
        let Jump { on, tile, past } = self.edges.jump(edge);
        let large = u32::from(self.shape.squares() - 1 - self.small);
        // The tiles between the two places, together with the one that moves, which is the first or last.
        let end = u32::from(if on { tile + past } else { tile });
        let shift = TILE_BITS * (large - 1 - end);
        let width = TILE_BITS * u32::from(past);
        let mask = (1 << (width + TILE_BITS)) - 1;
        let part = region.0 >> shift & mask;
        let moved = if on {
            (part << TILE_BITS | part >> width) & mask
        } else {
            part >> TILE_BITS | (part << width & mask)
        };
        EdgeTarget { region: RegionKey(region.0 ^ (part ^ moved) << shift), symmetry: 0 }
    }

    fn region_weights(&self, region: RegionKey) -> [[Weight; 2]; 2] {
        let large = self.large(region);
        let digit = |at: usize| large[..at].iter().filter(|other| **other > large[at]).count();
        let weights = (0..large.len()).map(|at| digit_weight(large[at], digit(at) as u8));
        let product = weights.fold(Weight::ONE, |product, weight| product * weight);
        [0, 1].map(|side| [product * origin_weight(side), Weight::ZERO])
    }

    #[inline(always)]
    fn local_weights(&self, _: usize) -> LocalWeights<'_> {
        LocalWeights::One(self.tables.weights())
    }

    fn table_bytes(&self) -> usize {
        self.tables.bytes() + self.symmetry.as_ref().map_or(0, Symmetry::bytes)
    }
}

#[cfg(test)]
mod tests;
