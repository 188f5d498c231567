//! The state space: keys, seeds, and successors.

use strata_space::{KeySink, KeySpace, Seed, SpaceError};

use super::super::board::{Board, Reading, Shape};
use super::orders::{First, Jump, Order, Orders};
use super::rules::{Choices, Move};

/// Configuration of a search for clockwise walks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClockwiseConfig {
    /// Where walks begin; `None` for the distances of all boards.
    pub start: Option<Board>,
    /// Where walks end.
    pub goal: Board,
    /// Where the blank may turn although it could go straight.
    pub choices: Choices,
}

/// The state space of clockwise walks to a board.
#[derive(Debug)]
pub struct ClockwiseTiles {
    shape: Shape,
    config: ClockwiseConfig,
    /// The square of each place in the reading order.
    squares: Vec<u8>,
    orders: Orders,
    /// The place of the blank and the next move of each code; no move for markers.
    codes: Vec<(u8, Option<Move>)>,
    /// By code: what the state's successors are.
    before: Vec<Before>,
    code_bits: u32,
    local_bits: u32,
}

/// Successors of the states with a code: those that may come before in a walk, and the marker.
#[derive(Clone, Debug, Default)]
struct Before {
    /// Codes of those with the same order of tiles.
    same: Vec<u8>,
    /// The jump that leads to another order, and the code there.
    across: Vec<(u8, u8)>,
}

/// The most tiles of a pattern: with seven, a local has 18 or 19 bits.
const PATTERN: usize = 7;

/// The squares of a board whose keys need more local bits, for 64 bits of first tiles.
const LARGEST: u8 = 25;

impl ClockwiseTiles {
    /// The state space of a configuration.
    ///
    /// # Errors
    /// [`SpaceError::Conflict`] if start and goal differ in shape, [`SpaceError::Unsolvable`] if their
    /// parities differ.
    pub fn new(config: ClockwiseConfig) -> Result<ClockwiseTiles, SpaceError> {
        let shape = config.goal.shape();
        let tiles = usize::from(shape.squares()) - 1;
        let last = PATTERN + usize::from(shape.squares() == LARGEST);
        let last = last.min(tiles - 1);
        let squares = shape.reading_order();
        let mut jumps = Vec::new();
        let codes = codes(shape, &squares);
        let before = predecessors(shape, &squares, config.choices, &codes, &mut jumps);
        let (goal, _) = order(&config.goal);
        let even = Orders::new(tiles, last, false, jumps.clone());
        let orders = if even.holds(&goal) { even } else { Orders::new(tiles, last, true, jumps) };
        if let Some(start) = &config.start {
            if start.shape() != shape {
                return Err(SpaceError::Conflict {
                    name: "goal".into(),
                    why: format!("it is a board of {shape}, the start one of {}", start.shape()),
                });
            }
            if !orders.holds(&order(start).0) {
                let (start, goal) = (start.to_string(), config.goal.to_string());
                let why = "an odd permutation of the tiles lies between".into();
                return Err(SpaceError::Unsolvable { start, goal, why });
            }
        }
        let bits = |count: usize| count.next_power_of_two().trailing_zeros();
        let code_bits = bits(codes.len());
        let local_bits = code_bits + bits(orders.patterns());
        Ok(ClockwiseTiles { shape, config, squares, orders, codes, before, code_bits, local_bits })
    }

    /// Where walks begin; `None` if the distances of all boards are searched.
    pub fn start(&self) -> Option<&Board> {
        self.config.start.as_ref()
    }

    /// Where walks end.
    pub fn goal(&self) -> &Board {
        &self.config.goal
    }

    /// Where the blank may turn although it could go straight.
    pub fn choices(&self) -> Choices {
        self.config.choices
    }

    /// The key of a board with the next move, or of its marker.
    fn key(&self, board: &Board, next: Option<Move>) -> u128 {
        let (order, place) = order(board);
        let code = self.codes.iter().position(|code| *code == (place, next)).unwrap_or_default();
        let (first, pattern) = self.orders.numbers(&order);
        self.base(first, pattern) | code as u128
    }

    /// The key of an order with code 0.
    #[inline]
    fn base(&self, first: u64, pattern: u32) -> u128 {
        u128::from(first) << self.local_bits | u128::from(pattern) << self.code_bits
    }

    #[inline]
    fn code(&self, key: u128) -> usize {
        key as usize & ((1 << self.code_bits) - 1)
    }

    fn first(&self, key: u128) -> u64 {
        (key >> self.local_bits) as u64
    }

    fn pattern(&self, key: u128) -> u32 {
        key as u32 >> self.code_bits & ((1 << (self.local_bits - self.code_bits)) - 1)
    }

    /// The board of a state, and the next move if it is no marker.
    fn board(&self, key: u128) -> (Board, Option<Move>) {
        let (place, next) = self.codes[self.code(key)];
        let order = self.orders.order(&self.orders.first(self.first(key)), self.pattern(key));
        let place = usize::from(place);
        let mut reading = Reading::default();
        let mut tiles = order.iter().map(|tile| tile + 1);
        for (at, to) in reading[..self.squares.len()].iter_mut().enumerate() {
            *to = if at == place { 0 } else { tiles.next().unwrap_or_default() };
        }
        (Board::written(self.shape, &reading), next)
    }

    /// Gives `to` the successors of states with one order, `number` that of the first.
    fn expand(&self, first: &mut First, number: usize, keys: &[u128], to: &mut impl KeySink<u128>) {
        let base = keys[0] >> self.code_bits << self.code_bits;
        let mut jumps = 0_u64;
        for (number, key) in (number..).zip(keys) {
            let before = &self.before[self.code(*key)];
            before.same.iter().for_each(|code| to.add(number, base | u128::from(*code)));
            jumps |= before.across.iter().fold(0, |jumps, (jump, _)| jumps | 1 << jump);
        }
        // States of one region at a time.
        while jumps != 0 {
            let jump = jumps.trailing_zeros() as u8;
            jumps &= jumps - 1;
            let (after, pattern) = self.orders.jumped(first, self.pattern(base), jump.into());
            let base = self.base(after, pattern);
            for (number, key) in (number..).zip(keys) {
                let across = self.before[self.code(*key)].across.iter();
                for (_, code) in across.filter(|across| across.0 == jump) {
                    to.add(number, base | u128::from(*code));
                }
            }
        }
    }
}

/// A board's order of tiles, from 0, and the place of the blank in the reading order.
fn order(board: &Board) -> (Order, u8) {
    let reading = board.reading();
    let reading = &reading[..board.shape().squares().into()];
    let mut order = Order::default();
    let tiles = reading.iter().filter(|tile| **tile > 0);
    order.iter_mut().zip(tiles).for_each(|(to, tile)| *to = tile - 1);
    let place = reading.iter().position(|tile| *tile == 0).unwrap_or_default();
    (order, place as u8)
}

/// Place and next move of every code, by place.
fn codes(shape: Shape, squares: &[u8]) -> Vec<(u8, Option<Move>)> {
    let of_place = |(place, square): (u8, &u8)| {
        let moves = Move::ALL.into_iter().filter(|next| next.from(shape, *square).is_some());
        let moves: Vec<_> = moves.map(|next| (place, Some(next))).collect();
        [(place, None)].into_iter().chain(moves)
    };
    (0..).zip(squares).flat_map(of_place).collect()
}

/// The successors of the states of every code. Collects the jumps.
fn predecessors(
    shape: Shape,
    squares: &[u8],
    choices: Choices,
    codes: &[(u8, Option<Move>)],
    jumps: &mut Vec<Jump>,
) -> Vec<Before> {
    let number = |code| codes.iter().position(|known| *known == code).unwrap_or_default() as u8;
    let of_code = |(place, next): &(u8, Option<Move>)| {
        let mut found = Before::default();
        let Some(next) = *next else { return found };
        found.same.push(number((*place, None)));
        let square = squares[usize::from(*place)];
        for before in Move::ALL {
            let Some(from) = before.inverse().from(shape, square) else { continue };
            if !choices.allow(shape, square, before, next) {
                continue;
            }
            let from = squares.iter().position(|square| *square == from).unwrap_or_default();
            let code = number((from as u8, Some(before)));
            // The tile on the earlier square goes to this one.
            let to = usize::from(*place);
            let jump = if from > to { (from - 1, to) } else { (from, to - 1) };
            if jump.0 == jump.1 {
                found.same.push(code);
                continue;
            }
            let known = jumps.iter().position(|known| *known == jump).unwrap_or_else(|| {
                jumps.push(jump);
                jumps.len() - 1
            });
            found.across.push((known as u8, code));
        }
        found
    };
    codes.iter().map(of_code).collect()
}

impl KeySpace for ClockwiseTiles {
    type Key = u128;

    /// The goal, and the states whose move leads to it.
    fn seeds(&self) -> Vec<Seed<u128>> {
        let goal = &self.config.goal;
        let before = Move::ALL.into_iter().filter_map(|next| {
            let (down, right) = next.inverse().step();
            Some(self.key(&goal.moved(down, right)?, Some(next)))
        });
        let marker = self.key(goal, None);
        [marker].into_iter().chain(before).map(Seed::start).collect()
    }

    fn key_bits(&self) -> u32 {
        self.local_bits + (u64::BITS - (self.orders.first_tiles() - 1).leading_zeros())
    }

    fn local_bits(&self) -> Option<u32> {
        Some(self.local_bits)
    }

    fn is_undirected(&self) -> bool {
        false
    }

    fn goal(&self) -> Option<u128> {
        self.config.start.as_ref().map(|start| self.key(start, None))
    }

    fn successors(&self, key: u128, out: &mut Vec<u128>) {
        self.all_successors(&[key], &mut |_, next| out.push(next));
    }

    /// The order of a region's first tiles is found once, and what a jump makes of an order.
    fn all_successors(&self, keys: &[u128], to: &mut impl KeySink<u128>) {
        let mut region: Option<(u64, First)> = None;
        let mut number = 0;
        while let Some(rest) = keys.get(number..).filter(|rest| !rest.is_empty()) {
            let order = rest[0] >> self.code_bits;
            let same = rest.iter().take_while(|key| **key >> self.code_bits == order).count();
            let at = self.first(rest[0]);
            let known = region.take().filter(|(number, _)| *number == at);
            let (_, first) = region.insert(known.unwrap_or_else(|| (at, self.orders.first(at))));
            self.expand(first, number, &rest[..same], to);
            number += same;
        }
    }

    fn count_successors(&self, keys: &[u128]) -> u64 {
        let of_key = |key: &u128| {
            let before = &self.before[self.code(*key)];
            (before.same.len() + before.across.len()) as u64
        };
        keys.iter().map(of_key).sum()
    }

    /// One for markers only.
    fn positions(&self, key: u128) -> Option<u64> {
        Some(self.codes[self.code(key)].1.is_none().into())
    }

    fn text(&self, key: u128) -> String {
        match self.board(key) {
            (board, None) => board.to_string(),
            (board, Some(next)) => format!("{board}, {}", next.letter()),
        }
    }
}
