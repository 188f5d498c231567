//! Shortest solutions without counterclockwise turns, by an exact search in memory.
//!
//! A state is a board and its next move. Its successors are the states after that move whose own
//! move may follow it: straight on or a right turn, as the rules allow. Moves are not reversible,
//! so this graph is directed. The neighbours of a layer may lie in any earlier layer, so the search
//! marks all visited states. (Reversing a walk does not help: what was a right turn is then a left
//! turn.) The search goes backwards from the goal, so that one search gives the distances of all
//! boards. The first move is free, and so is the heading at the end.
//!
//! A search takes three words of 64 bits for each order of the tiles. A word has a bit for each of the
//! blank's squares and each move. If a walk is requested, two bytes per state are added.

use crate::tiles::board::{Board, Shape};
use crate::tiles::check::{Side, Violation, choice_squares};
use crate::tiles::moves::{Move, Turn};
use crate::tiles::orders::{Jump, Orders};
use crate::tiles::word::Word;

/// Where the blank may choose between straight on and a right turn. Elsewhere it goes straight as
/// long as it can.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Choices {
    /// On every square.
    Free,
    /// On the squares of [`choice_squares`], while it goes along their side.
    Side,
    /// On the squares of the bottom row between the corners, while it goes left, whatever the
    /// board's shape.
    Bottom,
}

impl Choices {
    /// Whether a move may follow another, with the blank on a square (from 0) in between.
    fn allow(self, shape: Shape, cell: usize, before: Move, next: Move) -> bool {
        let edge = shape.beside(cell, before).is_none();
        let bottom = || {
            let (row, column) = (cell / shape.columns(), cell % shape.columns());
            row + 1 == shape.rows() && column > 0 && column + 1 < shape.columns()
        };
        let choice = match self {
            Choices::Free => true,
            Choices::Side => {
                before == Side::of(shape).heading() && choice_squares(shape).contains(&(cell + 1))
            }
            Choices::Bottom => before == Move::Left && bottom(),
        };
        match next.turn_from(before) {
            Turn::Straight => true,
            Turn::Clockwise => edge || choice,
            _ => false,
        }
    }
}

/// Replays a walk from a board by the rules, and returns the board where it ends.
///
/// # Errors
/// The first move that breaks a rule.
pub fn follow(start: &Board, walk: &[Move], choices: Choices) -> Result<Board, Violation> {
    let (shape, mut board) = (start.shape(), start.clone());
    let mut before = None;
    for (at, mv) in (1..).zip(walk.iter().copied()) {
        let square = board.blank();
        if let Some(before) = before
            && !choices.allow(shape, square - 1, before, mv)
        {
            return Err(match mv.turn_from(before) {
                Turn::Clockwise => Violation::NotForced { at, mv, square },
                _ => Violation::NotClockwise { at, mv },
            });
        }
        if !board.step(mv) {
            return Err(Violation::OffBoard { at, mv, square });
        }
        before = Some(mv);
    }
    Ok(board)
}

/// Error of a search that cannot run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClockwiseError {
    /// The states do not fit a word of 64 bits, or do not fit the memory.
    #[error("a clockwise search of a {shape} board would need {} of memory", size(*bytes))]
    Memory {
        /// The shape.
        shape: Shape,
        /// Bytes that the search needs; none if the board has more than 16 squares.
        bytes: Option<u64>,
    },
}

fn size(bytes: Option<u64>) -> String {
    bytes.map_or("more than 2^64 bytes".to_owned(), |bytes| format!("{bytes} bytes"))
}

/// A layer of the search.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Level {
    /// Number of moves to the goal.
    pub depth: u32,
    /// Number of boards whose shortest walk to the goal has this length.
    pub boards: u64,
    /// Number of states, pairs of a board and a next move, whose shortest walk to the goal has this
    /// length.
    pub states: u64,
}

/// A predecessor of a state: a state whose move leads to it.
#[derive(Copy, Clone, Debug)]
struct Predecessor {
    /// Bit of the earlier state.
    bit: u32,
    /// Index of the jump from the earlier order to the later one; none if the order stays.
    across: Option<usize>,
}

/// A search backwards from a goal, layer by layer.
#[derive(Debug)]
pub struct Clockwise {
    goal: Board,
    choices: Choices,
    orders: Orders,
    /// Predecessors of a state, by its bit.
    predecessors: Vec<Vec<Predecessor>>,
    jumps: Vec<Jump>,
    /// Depth of the last layer.
    depth: Option<u32>,
    seen: Vec<u64>,
    current: Vec<u64>,
    next: Vec<u64>,
    /// The depth of each state, if walks are requested.
    depths: Vec<u16>,
}

/// Limit of the squares of a board: with four moves each, they fit a word of 64 bits.
const MOST_SQUARES: usize = 16;

impl Clockwise {
    /// Bytes that a search needs; none if the board is too large for one.
    pub fn bytes(shape: Shape, walks: bool) -> Option<u64> {
        if shape.squares() > MOST_SQUARES {
            return None;
        }
        let word = 3 * 8 + if walks { 8 * shape.squares() as u64 } else { 0 };
        Orders::count(shape)?.checked_mul(word)
    }

    /// A search for walks to a goal, in at most `memory` bytes. With `walks` it keeps the depths
    /// that [`Self::walk`] needs.
    ///
    /// # Errors
    /// If it needs more memory.
    pub fn new(
        goal: &Board,
        choices: Choices,
        walks: bool,
        memory: u64,
    ) -> Result<Clockwise, ClockwiseError> {
        let shape = goal.shape();
        let bytes = Clockwise::bytes(shape, walks);
        let count = Orders::count(shape).and_then(|count| usize::try_from(count).ok());
        let (Some(_), Some(count)) = (bytes.filter(|bytes| *bytes <= memory), count) else {
            return Err(ClockwiseError::Memory { shape, bytes });
        };
        let orders = Orders::of(goal);
        let (predecessors, jumps) = predecessors(shape, choices);
        let depths = if walks { vec![0; count * 4 * shape.squares()] } else { Vec::new() };
        let empty = || vec![0; count];
        let (seen, current, next) = (empty(), empty(), empty());
        let goal = goal.clone();
        Ok(Clockwise {
            goal,
            choices,
            orders,
            predecessors,
            jumps,
            depth: None,
            seen,
            current,
            next,
            depths,
        })
    }

    /// Searches the next layer, from depth 0 on. None when all states are known.
    pub fn advance(&mut self) -> Option<Level> {
        let Some(depth) = self.depth else {
            self.depth = Some(0);
            self.before_goal();
            return Some(Level { depth: 0, boards: 1, states: 0 });
        };
        self.depth = Some(depth + 1);
        let level = self.settle(depth + 1);
        if level.states == 0 {
            return None;
        }
        self.expand();
        Some(level)
    }

    /// Marks the states whose move leads to the goal.
    fn before_goal(&mut self) {
        for mv in Move::ALL {
            let mut board = self.goal.clone();
            if board.step(inverse(mv)) {
                let (order, _) = self.orders.read(&board);
                let bit = bit(board.blank() - 1, mv);
                self.next[self.orders.rank(&order)] |= 1 << bit;
            }
        }
    }

    /// Makes the new states of `next` the current layer, and counts them.
    fn settle(&mut self, depth: u32) -> Level {
        let goal = {
            let (order, _) = self.orders.read(&self.goal);
            (self.orders.rank(&order), self.goal.blank() - 1)
        };
        let states = 4 * self.goal.shape().squares();
        let mut level = Level { depth, boards: 0, states: 0 };
        for (rank, next) in self.next.iter_mut().enumerate() {
            let seen = &mut self.seen[rank];
            let new = *next & !*seen;
            *next = 0;
            self.current[rank] = new;
            if new == 0 {
                continue;
            }
            let mut boards = boards(*seen | new) & !boards(*seen);
            if rank == goal.0 {
                boards &= !(1 << (4 * goal.1));
            }
            *seen |= new;
            level.boards += u64::from(boards.count_ones());
            level.states += u64::from(new.count_ones());
            if let Some(depths) = self.depths.get_mut(rank * states..(rank + 1) * states) {
                for_bits(new, |bit| depths[bit] = u16::try_from(depth).unwrap_or(u16::MAX));
            }
        }
        level
    }

    /// Marks the predecessors of the current layer in `next`.
    fn expand(&mut self) {
        let mut across = vec![0u64; self.jumps.len()];
        for rank in 0..self.current.len() {
            let current = self.current[rank];
            if current == 0 {
                continue;
            }
            let (mut same, mut used) = (0, 0u64);
            for_bits(current, |bit| {
                for from in &self.predecessors[bit] {
                    match from.across {
                        None => same |= 1 << from.bit,
                        Some(jump) => {
                            across[jump] |= 1 << from.bit;
                            used |= 1 << jump;
                        }
                    }
                }
            });
            self.next[rank] |= same;
            if used == 0 {
                continue;
            }
            let order = self.orders.order(rank);
            for_bits(used, |jump| {
                let mut order = order;
                Orders::jump(&mut order, self.jumps[jump]);
                self.next[self.orders.rank(&order)] |= std::mem::take(&mut across[jump]);
            });
        }
    }

    /// Whether a board is the goal, or is in one of the layers so far.
    pub fn reaches(&self, board: &Board) -> bool {
        let (order, _) = self.orders.read(board);
        let cell = board.blank() - 1;
        // `rank` ignores the parity: an order of the other parity has the rank of another order.
        let same = self.orders.order(self.orders.rank(&order)) == order;
        *board == self.goal
            || same && boards(self.seen[self.orders.rank(&order)]) >> (4 * cell) & 1 == 1
    }

    fn depth_of(&self, board: &Board, mv: Move) -> Option<u16> {
        let (order, _) = self.orders.read(board);
        let states = 4 * board.shape().squares();
        let at = bit(board.blank() - 1, mv) as usize;
        let depth = self.depths.get(self.orders.rank(&order) * states + at).copied();
        depth.filter(|depth| *depth > 0)
    }

    /// A shortest walk from a board. None if the board is not in the layers so far, or walks were
    /// not requested.
    pub fn walk(&self, board: &Board) -> Option<Word> {
        let (mut board, mut moves) = (board.clone(), Vec::new());
        let shape = board.shape();
        let mut left = u16::MAX;
        while left > 1 && (board != self.goal || !moves.is_empty()) {
            let follows = |mv: &Move| {
                let before = moves.last().copied();
                before
                    .is_none_or(|before| self.choices.allow(shape, board.blank() - 1, before, *mv))
            };
            let known = |mv: Move| Some((self.depth_of(&board, mv)?, mv));
            let (depth, mv) = Move::ALL.into_iter().filter(follows).filter_map(known).min()?;
            board.step(mv);
            moves.push(mv);
            left = depth;
        }
        Some(Word::from(moves))
    }
}

/// The bit of a blank's square (from 0) and a move.
fn bit(cell: usize, mv: Move) -> u32 {
    4 * cell as u32 + mv as u32
}

/// The inverse move.
fn inverse(mv: Move) -> Move {
    mv.right_turn().right_turn()
}

/// The lowest of the four bits of each square, set if any of the four is set.
fn boards(word: u64) -> u64 {
    (word | word >> 1 | word >> 2 | word >> 3) & 0x1111_1111_1111_1111
}

fn for_bits(mut word: u64, mut visit: impl FnMut(usize)) {
    while word != 0 {
        visit(word.trailing_zeros() as usize);
        word &= word - 1;
    }
}

/// The predecessors of every state, by its bit, and the jumps of predecessors with another order.
fn predecessors(shape: Shape, choices: Choices) -> (Vec<Vec<Predecessor>>, Vec<Jump>) {
    let mut jumps = Vec::new();
    let mut all = vec![Vec::new(); 4 * shape.squares()];
    for cell in 0..shape.squares() {
        for before in Move::ALL {
            let Some((from, jump)) = Orders::moved(shape, cell, inverse(before)) else { continue };
            let followers = Move::ALL.into_iter().filter(|next| {
                shape.beside(cell, *next).is_some() && choices.allow(shape, cell, before, *next)
            });
            for next in followers {
                let across = (jump.0 != jump.1).then(|| {
                    jumps.iter().position(|known| *known == jump).unwrap_or_else(|| {
                        jumps.push(jump);
                        jumps.len() - 1
                    })
                });
                let bit_before = bit(from, before);
                all[bit(cell, next) as usize].push(Predecessor { bit: bit_before, across });
            }
        }
    }
    (all, jumps)
}
