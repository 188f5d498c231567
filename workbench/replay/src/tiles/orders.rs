//! Numbering of the orders of tiles, as an index into tables.
//!
//! The squares are read row by row, every second row backwards, and the blank is left out. A move
//! then keeps the order, or takes one tile past an even number of others. So only the orders of one
//! parity can be reached, and only they are numbered.

use crate::tiles::board::{Board, Shape};
use crate::tiles::moves::Move;

/// Numbering of the orders that can be reached from a board.
#[derive(Clone, Debug)]
pub(crate) struct Orders {
    shape: Shape,
    parity: u32,
}

/// Index of a tile in an order before and after a move.
pub(crate) type Jump = (usize, usize);

/// An order of at most 15 tiles; entries after the last tile are ignored.
pub(crate) type Order = [u8; 16];

impl Orders {
    /// The numbering for a board of at most 16 squares.
    pub(crate) fn of(board: &Board) -> Orders {
        let mut orders = Orders { shape: board.shape(), parity: 0 };
        let (order, _) = orders.read(board);
        let mut inversions = 0;
        for (at, tile) in order[..orders.tiles()].iter().enumerate() {
            inversions += order[..at].iter().filter(|before| *before > tile).count() as u32;
        }
        orders.parity = inversions & 1;
        orders
    }

    fn tiles(&self) -> usize {
        self.shape.squares() - 1
    }

    /// Number of orders for a shape: half of the permutations of its tiles. None if it exceeds 64
    /// bits.
    pub(crate) fn count(shape: Shape) -> Option<u64> {
        (3..shape.squares() as u64).try_fold(1u64, u64::checked_mul)
    }

    /// The place of a square in the reading order, both from 0. The function is its own inverse.
    pub(crate) fn place(shape: Shape, cell: usize) -> usize {
        let (row, column) = (cell / shape.columns(), cell % shape.columns());
        let along = if row.is_multiple_of(2) { column } else { shape.columns() - 1 - column };
        row * shape.columns() + along
    }

    /// A board's order, and the blank's place.
    pub(crate) fn read(&self, board: &Board) -> (Order, usize) {
        let mut places = [0; 17];
        for (cell, tile) in board.tiles().iter().enumerate() {
            places[Orders::place(self.shape, cell)] = *tile;
        }
        let blank = Orders::place(self.shape, board.blank() - 1);
        let mut order = [0; 16];
        let tiles = places[..self.shape.squares()].iter().filter(|tile| **tile != 0);
        order.iter_mut().zip(tiles).for_each(|(at, tile)| *at = *tile);
        (order, blank)
    }

    /// The number of an order; its parity is not checked.
    pub(crate) fn rank(&self, order: &Order) -> usize {
        let tiles = self.tiles();
        let (mut rank, mut left) = (0, u32::MAX);
        for (at, tile) in order[..tiles - 2].iter().enumerate() {
            let bit = 1u32 << tile;
            left &= !bit;
            // Tile 0 does not exist.
            let smaller = (left & (bit - 1) & !1).count_ones();
            rank = rank * (tiles - at) + smaller as usize;
        }
        rank
    }

    /// The order with this number.
    pub(crate) fn order(&self, mut rank: usize) -> Order {
        let tiles = self.tiles();
        let mut digits = [0; 16];
        let mut sum = 0;
        for at in (0..tiles - 2).rev() {
            digits[at] = rank % (tiles - at);
            rank /= tiles - at;
            sum += digits[at];
        }
        digits[tiles - 2] = (sum ^ self.parity as usize) & 1;
        let mut left = (1u32 << (tiles + 1)) - 2;
        let mut order = [0; 16];
        for at in 0..tiles {
            let mut rest = left;
            (0..digits[at]).for_each(|_| rest &= rest - 1);
            order[at] = rest.trailing_zeros() as u8;
            left &= !(1 << order[at]);
        }
        order
    }

    /// The effect of moving the blank from a square, from 0: the square it goes to, and the jump of
    /// the tile that it passes in the order. None at the edge.
    pub(crate) fn moved(shape: Shape, cell: usize, mv: Move) -> Option<(usize, Jump)> {
        let to = shape.beside(cell, mv)?;
        let (from, at) = (Orders::place(shape, cell), Orders::place(shape, to));
        let jump = if at > from { (at - 1, from) } else { (at, from - 1) };
        Some((to, jump))
    }

    /// Moves a tile within an order.
    pub(crate) fn jump(order: &mut Order, (was, is): Jump) {
        if was < is {
            order[was..=is].rotate_left(1);
        } else {
            order[is..=was].rotate_right(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_number_the_orders_of_one_parity() {
        for text in ["1 2 / 3 _", "2 1 / 3 _", "1 2 3 / 4 5 _", "2 1 3 / 4 5 6 / 7 8 _"] {
            let board: Board = text.parse().unwrap();
            let orders = Orders::of(&board);
            let count = Orders::count(board.shape()).unwrap() as usize;
            let mut seen = std::collections::HashSet::new();
            for rank in 0..count {
                let order = orders.order(rank);
                assert_eq!(orders.rank(&order), rank, "{text}");
                assert!(seen.insert(order));
            }
            assert!(seen.contains(&orders.read(&board).0), "{text}");
        }
        assert_eq!(Orders::count("3x4".parse().unwrap()), Some(19_958_400));
        assert_eq!(Orders::count("15x15".parse().unwrap()), None);
    }

    #[test]
    fn jumps_have_the_effect_of_moves_on_orders() {
        let mut board: Board = "5 2 11 4 / 1 10 _ 8 / 9 6 3 7".parse().unwrap();
        let orders = Orders::of(&board);
        let mut state = 5u64;
        for _ in 0..500 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let mv = Move::ALL[(state >> 33) as usize % 4];
            let (mut order, _) = orders.read(&board);
            let moved = Orders::moved(board.shape(), board.blank() - 1, mv);
            assert_eq!(board.step(mv), moved.is_some());
            let Some((to, jump)) = moved else { continue };
            Orders::jump(&mut order, jump);
            assert_eq!((order, Orders::place(board.shape(), to)), orders.read(&board));
            assert_eq!(orders.order(orders.rank(&order)), order);
        }
    }
}
