//! State space of clockwise walks: keys, seeds and successors.

use std::marker::PhantomData;

use strata_space::{Key, KeySpace, Seed, SpaceError, SuccessorSink};

use super::super::board::{Board, Reading, Shape};
use super::orders::{Jump, Order, Orders, Reach};
use super::rules::{Choices, Move};

/// Configuration of a search for clockwise walks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClockwiseConfig {
    /// The board at which walks begin; `None` for the distances of all boards.
    pub start: Option<Board>,
    /// The board at which walks end.
    pub goal: Board,
    /// The squares on which the blank may turn although it could go straight.
    pub choices: Choices,
}

/// Clockwise walks with keys of 64 bits: up to 20 squares.
pub type ClockwiseTiles = ClockwiseSpace<u64>;

/// Clockwise walks with keys of 128 bits, for all boards.
pub type WideClockwiseTiles = ClockwiseSpace<u128>;

/// The state space of clockwise walks to a board, with keys of type `K`.
#[derive(Debug)]
pub struct ClockwiseSpace<K> {
    shape: Shape,
    config: ClockwiseConfig,
    /// The square of each place in the reading order.
    squares: Vec<u8>,
    orders: Orders,
    /// The place of the blank and the next move of each code; no move for markers.
    codes: Vec<(u8, Option<Move>)>,
    /// By code: the state's successors.
    before: Vec<Before>,
    /// Number of jumps.
    jumps: usize,
    code_bits: u32,
    local_bits: u32,
    key: PhantomData<fn() -> K>,
}

/// The successors of the states with a code: the marker, and the states that may precede it in a walk. A
/// move is preceded by the same move or by the one from which it is a right turn.
#[derive(Copy, Clone, Debug, Default)]
struct Before {
    steps: [Step; 3],
    count: u8,
}

/// A successor.
#[derive(Copy, Clone, Debug, Default)]
struct Step {
    /// The jump that leads to the successor's order of tiles, if the order changes.
    jump: Option<u8>,
    code: u8,
}

impl Before {
    /// Adds a successor.
    ///
    /// # Panics
    /// If there are three already.
    fn push(&mut self, step: Step) {
        self.steps[usize::from(self.count)] = step;
        self.count += 1;
    }

    #[inline]
    fn steps(&self) -> &[Step] {
        &self.steps[..usize::from(self.count)]
    }
}

/// Maximum number of tiles of a pattern, on boards below [`LARGEST`]. A local part has 18 or 19 bits.
const PATTERN: usize = 7;

/// The number of squares of the boards that need a longer pattern, so that the number of the first tiles
/// fits 64 bits.
const LARGEST: u8 = 25;

impl<K: Key> ClockwiseSpace<K> {
    /// The state space of a configuration.
    ///
    /// # Errors
    /// [`SpaceError::Conflict`] if start and goal differ in shape, [`SpaceError::Unsolvable`] if their
    /// parities differ.
    pub fn new(config: ClockwiseConfig) -> Result<ClockwiseSpace<K>, SpaceError> {
        let shape = config.goal.shape();
        let tiles = usize::from(shape.squares()) - 1;
        let last = PATTERN + usize::from(shape.squares() == LARGEST);
        let last = last.min(tiles - 1);
        let squares = shape.reading_order();
        let mut jumps = Vec::new();
        let codes = codes(shape, &squares);
        let before = predecessors(shape, &squares, config.choices, &codes, &mut jumps);
        let (number_of_jumps, (goal, _)) = (jumps.len(), order(&config.goal));
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
        Ok(ClockwiseSpace {
            shape,
            config,
            squares,
            orders,
            codes,
            before,
            jumps: number_of_jumps,
            code_bits,
            local_bits,
            key: PhantomData,
        })
    }

    /// The board at which walks begin; `None` if the distances of all boards are searched.
    pub fn start(&self) -> Option<&Board> {
        self.config.start.as_ref()
    }

    /// The board at which walks end.
    pub fn goal(&self) -> &Board {
        &self.config.goal
    }

    /// The squares on which the blank may turn although it could go straight.
    pub fn choices(&self) -> Choices {
        self.config.choices
    }

    /// The key of a board with the next move, or of its marker if there is no next move.
    fn key(&self, board: &Board, next: Option<Move>) -> K {
        let (order, place) = order(board);
        let code = self.codes.iter().position(|code| *code == (place, next)).unwrap_or_default();
        let (first, pattern) = self.orders.numbers(&order);
        self.join(first, pattern, code as u8)
    }

    /// The key of an order's numbers and a code.
    #[inline]
    fn join(&self, first: u64, pattern: u32, code: u8) -> K {
        K::join(first.into(), self.low(pattern, code).into(), self.local_bits)
    }

    /// The low bits of a key.
    #[inline]
    fn low(&self, pattern: u32, code: u8) -> u64 {
        u64::from(pattern) << self.code_bits | u64::from(code)
    }

    /// The numbers of a key's order, and its code.
    #[inline]
    fn split(&self, key: K) -> (u64, u32, u8) {
        let (first, local) = key.split(self.local_bits);
        let code = local as u8 & ((1 << self.code_bits) - 1);
        (first as u64, local as u32 >> self.code_bits, code)
    }

    /// The board of a state, and the next move unless the key is a marker.
    fn board(&self, key: K) -> (Board, Option<Move>) {
        let (first, pattern, code) = self.split(key);
        let (place, next) = self.codes[usize::from(code)];
        let order = self.orders.order(&self.orders.first(first), pattern);
        let place = usize::from(place);
        let mut reading = Reading::default();
        let mut tiles = order.iter().map(|tile| tile + 1);
        for (at, to) in reading[..self.squares.len()].iter_mut().enumerate() {
            *to = if at == place { 0 } else { tiles.next().unwrap_or_default() };
        }
        (Board::written(self.shape, &reading), next)
    }

    /// Passes the successors of states of one region to `to`.
    fn expand(&self, region: u64, keys: &[K], to: &mut impl SuccessorSink<K>) {
        let first = self.orders.first(region);
        // Low bits of the successors in the same region.
        let mut own = Vec::new();
        // By jump of first tiles: those of the successors in the region to which it takes all states of
        // this one.
        let mut beyond: Vec<Vec<u64>> = vec![Vec::new(); self.jumps];
        // By jump of both parts: the last pattern, and the numbers after the jump.
        let mut last = vec![(u32::MAX, (0, 0)); self.jumps];
        for key in keys {
            let (_, pattern, code) = self.split(*key);
            for Step { jump, code } in self.before[usize::from(code)].steps() {
                let Some(jump) = jump.map(usize::from) else {
                    own.push(self.low(pattern, *code));
                    continue;
                };
                match self.orders.reach(jump) {
                    Reach::Pattern => {
                        let pattern = self.orders.pattern_after(&first, pattern, jump);
                        own.push(self.low(pattern, *code));
                    }
                    Reach::First => beyond[jump].push(self.low(pattern, *code)),
                    Reach::Both => {
                        let known = &mut last[jump];
                        if known.0 != pattern {
                            *known = (pattern, self.orders.both_after(&first, pattern, jump));
                        }
                        let (first, pattern) = known.1;
                        to.add(self.join(first, pattern, *code));
                    }
                }
            }
        }
        to.add_run(self.join(region, 0, 0), &own);
        for (jump, lows) in beyond.iter().enumerate().filter(|(_, lows)| !lows.is_empty()) {
            to.add_run(self.join(self.orders.first_after(&first, jump), 0, 0), lows);
        }
    }

    #[inline]
    fn code(&self, key: K) -> usize {
        self.split(key).2.into()
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

/// The successors of the states of every code. Adds the jumps that occur to `jumps`.
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
        found.push(Step { jump: None, code: number((*place, None)) });
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
                found.push(Step { jump: None, code });
                continue;
            }
            let known = jumps.iter().position(|known| *known == jump).unwrap_or_else(|| {
                jumps.push(jump);
                jumps.len() - 1
            });
            found.push(Step { jump: Some(known as u8), code });
        }
        found
    };
    codes.iter().map(of_code).collect()
}

impl<K: Key> KeySpace for ClockwiseSpace<K> {
    type Key = K;

    /// The goal's marker, and the states whose move leads to the goal.
    fn seeds(&self) -> Vec<Seed<K>> {
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

    fn goal(&self) -> Option<K> {
        self.config.start.as_ref().map(|start| self.key(start, None))
    }

    fn successors(&self, key: K, out: &mut Vec<K>) {
        self.all_successors(&[key], &mut |next| out.push(next));
    }

    /// Expands region by region: the first tiles of a region and the effects of jumps on them are computed
    /// once.
    fn all_successors(&self, keys: &[K], to: &mut impl SuccessorSink<K>) {
        for keys in keys.chunk_by(|a, b| self.split(*a).0 == self.split(*b).0) {
            self.expand(self.split(keys[0]).0, keys, to);
        }
    }

    fn count_successors(&self, keys: &[K]) -> u64 {
        let of_key = |key: &K| u64::from(self.before[self.code(*key)].count);
        keys.iter().map(of_key).sum()
    }

    /// One position for a marker, none for other states.
    fn positions(&self, key: K) -> Option<u64> {
        Some(self.codes[self.code(key)].1.is_none().into())
    }

    fn text(&self, key: K) -> String {
        match self.board(key) {
            (board, None) => board.to_string(),
            (board, Some(next)) => format!("{board}, {}", next.letter()),
        }
    }
}
