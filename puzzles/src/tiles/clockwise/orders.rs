//! Numbering of the orders of tiles: one number for the first tiles, one for the *pattern* of the last.
//!
//! The pattern is the relative order of the last tiles: which of them is the least, the second, and so
//! on. Which tiles they are follows from the first ones. No move changes the parity of the order's
//! inversions, so the parity of a pattern follows from the first tiles, too, and the patterns of each
//! parity are numbered separately.

use super::super::board::MAX_SQUARES;

/// Maximum number of tiles of a board.
const MAX_TILES: usize = MAX_SQUARES as usize - 1;

/// Maximum number of tiles of a pattern.
const MAX_PATTERN: usize = 8;

/// Tiles from 0 in the order in which they are read.
pub(super) type Order = [u8; MAX_TILES];

/// The move of a tile in an order: its old and its new place. The tiles between them shift by one.
pub(super) type Jump = (usize, usize);

/// The numbering of a board's orders of one parity.
#[derive(Debug)]
pub(super) struct Orders {
    tiles: usize,
    /// Number of tiles of a pattern.
    last: usize,
    is_odd: bool,
    /// Number of patterns of each parity.
    patterns: usize,
    /// The even patterns by number, then the odd ones.
    places: Vec<[u8; MAX_PATTERN]>,
    jumps: Vec<Jump>,
    /// By jump and pattern, as in `places`: the pattern's number after a jump inside it.
    inside: Vec<u16>,
}

/// The tiles that a jump moves: those of the pattern, first tiles, or both.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Reach {
    Pattern,
    First,
    Both,
}

/// The first tiles of an order.
#[derive(Clone, Debug)]
pub(super) struct First {
    order: Order,
    /// The other tiles, ascending.
    rest: [u8; MAX_PATTERN],
    /// Whether the patterns that follow are odd.
    is_odd: bool,
}

impl Orders {
    /// The numbering of the orders of `tiles` tiles with an odd or even number of inversions, with
    /// patterns of `last` tiles, for these jumps.
    pub(super) fn new(tiles: usize, last: usize, is_odd: bool, jumps: Vec<Jump>) -> Orders {
        let patterns = (3..=last).product();
        let places = (0..2 * patterns).map(|at| pattern(last, at % patterns, at >= patterns));
        let places: Vec<_> = places.collect();
        let first = tiles - last;
        let mut inside = Vec::new();
        for (was, is) in &jumps {
            let is_inside = was.min(is) >= &first;
            inside.extend(places.iter().map(|before| {
                let mut after = *before;
                if is_inside {
                    jump(&mut after, (was - first, is - first));
                }
                // At most 8! / 2.
                pattern_number(&after[..last]) as u16
            }));
        }
        Orders { tiles, last, is_odd, patterns, places, jumps, inside }
    }

    /// Number of patterns of each parity.
    pub(super) fn patterns(&self) -> usize {
        self.patterns
    }

    /// The number of arrangements of the first tiles.
    pub(super) fn first_tiles(&self) -> u64 {
        (self.last as u64 + 1..=self.tiles as u64).product()
    }

    /// Whether an order has the parity of those that are numbered.
    pub(super) fn holds(&self, order: &Order) -> bool {
        let digits = digits(&order[..self.tiles]);
        (digits.sum::<u32>() & 1 == 1) == self.is_odd
    }

    /// The numbers of an order's first tiles and pattern.
    pub(super) fn numbers(&self, order: &Order) -> (u64, u32) {
        let first = self.tiles - self.last;
        (self.first_number(&order[..first]), pattern_number(&order[first..self.tiles]))
    }

    fn first_number(&self, order: &[u8]) -> u64 {
        let mut left = (1_u32 << self.tiles) - 1;
        let radices = (1..=self.tiles as u64).rev();
        order.iter().zip(radices).fold(0, |number, (tile, radix)| {
            let bit = 1 << tile;
            left &= !bit;
            number * radix + u64::from((left & (bit - 1)).count_ones())
        })
    }

    /// The first tiles of a number.
    pub(super) fn first(&self, number: u64) -> First {
        let first = self.tiles - self.last;
        let (mut order, mut sum, mut high) = (Order::default(), 0, number);
        for at in (0..first).rev() {
            let radix = (self.tiles - at) as u64;
            order[at] = (high % radix) as u8;
            sum += order[at];
            high /= radix;
        }
        let mut left = (1_u32 << self.tiles) - 1;
        for tile in &mut order[..first] {
            *tile = take(&mut left, *tile);
        }
        let mut rest = [0; MAX_PATTERN];
        rest[..self.last].fill_with(|| take(&mut left, 0));
        let is_odd = self.is_odd != (sum & 1 == 1);
        First { order, rest, is_odd }
    }

    /// The order of first tiles and a pattern's number.
    pub(super) fn order(&self, first: &First, pattern: u32) -> Order {
        let mut order = first.order;
        let places = &self.places[self.at(first, pattern)][..self.last];
        for (tile, place) in order[self.tiles - self.last..].iter_mut().zip(places) {
            *tile = first.rest[usize::from(*place)];
        }
        order
    }

    fn at(&self, first: &First, pattern: u32) -> usize {
        usize::from(first.is_odd) * self.patterns + pattern as usize
    }

    /// The tiles that a jump moves.
    #[inline]
    pub(super) fn reach(&self, number: usize) -> Reach {
        let (was, is) = self.jumps[number];
        let begin = self.tiles - self.last;
        if was.min(is) >= begin {
            Reach::Pattern
        } else if was.max(is) < begin {
            Reach::First
        } else {
            Reach::Both
        }
    }

    /// The pattern after a jump inside it.
    #[inline]
    pub(super) fn pattern_after(&self, first: &First, pattern: u32, number: usize) -> u32 {
        self.inside[number * self.places.len() + self.at(first, pattern)].into()
    }

    /// The number of the first tiles after a jump inside them.
    pub(super) fn first_after(&self, first: &First, number: usize) -> u64 {
        let mut order = first.order;
        jump(&mut order, self.jumps[number]);
        self.first_number(&order[..self.tiles - self.last])
    }

    /// The numbers after any jump.
    pub(super) fn both_after(&self, first: &First, pattern: u32, number: usize) -> (u64, u32) {
        let mut order = self.order(first, pattern);
        jump(&mut order, self.jumps[number]);
        self.numbers(&order)
    }
}

/// Removes the tile with `smaller` smaller ones from a set, and returns it.
fn take(left: &mut u32, smaller: u8) -> u8 {
    let mut greater = *left;
    (0..smaller).for_each(|_| greater &= greater - 1);
    let tile = greater.trailing_zeros() as u8;
    *left &= !(1 << tile);
    tile
}

/// Applies a jump to an order.
fn jump(order: &mut [u8], (was, is): Jump) {
    if was < is {
        order[was..=is].rotate_left(1);
    } else {
        order[is..=was].rotate_right(1);
    }
}

/// By place: the number of smaller tiles after the tile. The sum is the number of inversions.
fn digits(order: &[u8]) -> impl Iterator<Item = u32> {
    let mut left = order.iter().fold(0_u32, |set, tile| set | 1 << tile);
    order.iter().map(move |tile| {
        let bit = 1 << tile;
        left &= !bit;
        (left & (bit - 1)).count_ones()
    })
}

/// The number of a pattern among those of its parity: its digits but the last two.
fn pattern_number(order: &[u8]) -> u32 {
    let radices = (3..=order.len() as u32).rev();
    digits(order).zip(radices).fold(0, |number, (digit, radix)| number * radix + digit)
}

/// The pattern of a number.
fn pattern(tiles: usize, number: usize, is_odd: bool) -> [u8; MAX_PATTERN] {
    let (mut places, mut sum, mut high) = ([0; MAX_PATTERN], 0, number);
    for at in (0..tiles - 2).rev() {
        let radix = tiles - at;
        places[at] = (high % radix) as u8;
        sum += places[at];
        high /= radix;
    }
    places[tiles - 2] = (sum ^ u8::from(is_odd)) & 1;
    let mut left = (1_u32 << tiles) - 1;
    for place in &mut places[..tiles] {
        *place = take(&mut left, *place);
    }
    places
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_order_of_a_parity_has_its_own_numbers() {
        for (tiles, last, is_odd) in [(3, 2, false), (5, 3, true), (7, 5, false), (7, 7, true)] {
            let orders = Orders::new(tiles, last, is_odd, Vec::new());
            let mut found = HashSet::new();
            for number in 0..orders.first_tiles() {
                let first = orders.first(number);
                for pattern in 0..orders.patterns() as u32 {
                    let order = orders.order(&first, pattern);
                    assert_eq!(orders.numbers(&order), (number, pattern));
                    assert!(orders.holds(&order) && found.insert(order));
                    let mut other = order;
                    other.swap(0, 1);
                    assert!(!orders.holds(&other));
                }
            }
            assert_eq!(found.len(), (3..=tiles).product::<usize>());
        }
    }

    #[test]
    fn a_jump_moves_one_tile() {
        // Among the first tiles, across to the others, and among the others; on and back.
        let jumps = [(0, 2), (3, 1), (2, 6), (7, 3), (5, 7), (8, 4), (0, 8)];
        for last in [2, 4, 5, 8] {
            let orders = Orders::new(9, last, true, jumps.to_vec());
            let step = orders.first_tiles() / 50 + 1;
            for number in (0..orders.first_tiles()).step_by(step as usize) {
                let first = orders.first(number);
                for pattern in (0..orders.patterns()).step_by(orders.patterns() / 20 + 1) {
                    for (at, (was, is)) in jumps.iter().enumerate() {
                        let mut order = orders.order(&first, pattern as u32)[..9].to_vec();
                        let tile = order.remove(*was);
                        order.insert(*is, tile);
                        let pattern = pattern as u32;
                        let numbers = orders.both_after(&first, pattern, at);
                        assert_eq!(orders.order(&orders.first(numbers.0), numbers.1)[..9], order);
                        let alone = match orders.reach(at) {
                            Reach::Pattern => (number, orders.pattern_after(&first, pattern, at)),
                            Reach::First => (orders.first_after(&first, at), pattern),
                            Reach::Both => numbers,
                        };
                        assert_eq!(alone, numbers);
                    }
                }
            }
        }
    }
}
