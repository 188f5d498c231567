//! The transposition of a square board, and states that stand for two boards because of it.
//!
//! **Definition.** Let T exchange rows and columns of the squares and let r be a permutation of the
//! tiles, with the blank as tile 0 and r(0) = 0. The image Mp of a board p has r(p(s)) on the
//! square T(s). T keeps neighbours, so M maps moves to moves, and MM is the identity if rr is.
//!
//! **When it is used.** M fixes a board b if and only if r(b(s)) = b(T(s)) for every square s. This
//! requires that b's blank is on the diagonal, and it determines r: r = bTb⁻¹, so rr is the
//! identity. So a single end has such an M if its blank is on the diagonal; two ends have one if
//! both blanks are, and both give the same r. In all other cases there is no symmetry.
//!
//! **Why layers are unions of orbits.** M is an automorphism of the graph of boards. If it fixes an
//! end e, then d(e, Mp) = d(Me, Mp) = d(e, p): a layer of the search from e has Mp if it has p. So
//! it is enough to store one board of each orbit {p, Mp}. The neighbours of Mp are the images of
//! those of p: the orbits of the next layer are those of the neighbours of the stored boards,
//! without those of the last two layers. And where p is reached from one end and Mp from the other,
//! p is reached from both: the searches meet in the same layers, after the same number of moves.
//!
//! **Which of the two boards is stored.** M does not map regions to regions: whether two tiles are read
//! in the same order after a transposition depends on their squares. But the squares of the small tiles
//! and the blank in p determine their squares in Mp, for those small tiles that r maps to small tiles.
//! The *canonical* board, which is stored, is the one whose list of squares (of those tiles, then of the
//! blank) is smaller, so usually the local part alone determines it. If the lists are equal, the states
//! are compared. A move is in the tables if its source may be canonical and its target certainly is.
//! The other moves *scatter* a region's states and are computed one by one.

use std::cmp::Ordering;

use super::board::{Board, MAX_SQUARES, Reading, Shape};
use super::numbering::Numbering;
use super::tables::digit_weight;
use strata_space::Weight;

/// A transposition that fixes the ends of a search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Transposition {
    /// By place in the reading order, its image.
    places: Vec<u8>,
    /// By tile, its new name.
    tiles: Vec<u8>,
}

impl Transposition {
    /// The transposition that fixes all ends, if there is one. The ends are of one shape.
    pub(super) fn fixing(start: &Board, goal: Option<&Board>) -> Option<Transposition> {
        let transposition = Transposition::of(start)?;
        let same = |goal: &Board| Transposition::of(goal).as_ref() == Some(&transposition);
        goal.is_none_or(same).then_some(transposition)
    }

    fn of(board: &Board) -> Option<Transposition> {
        let side = board.shape().side()?;
        let order = board.shape().reading_order();
        let place =
            |square: u8| order.iter().position(|at| *at == square).unwrap_or_default() as u8;
        let transposed = |square: &u8| place(square % side * side + square / side);
        let places: Vec<u8> = order.iter().map(transposed).collect();
        let reading = board.reading();
        let mut tiles = vec![0; order.len()];
        for (tile, to) in reading.iter().zip(&places) {
            tiles[usize::from(*tile)] = reading[usize::from(*to)];
        }
        (tiles[0] == 0).then_some(Transposition { places, tiles })
    }

    /// The image of a board.
    #[inline]
    pub(super) fn image(&self, reading: &Reading) -> Reading {
        let mut image = Reading::default();
        for (to, tile) in self.places.iter().zip(reading) {
            image[usize::from(*to)] = self.tiles[usize::from(*tile)];
        }
        image
    }

    /// Less if the board is canonical, greater if its image is, equal if the places of the blank
    /// (tile 0) and of tiles 1 to k do not determine which of them is.
    fn compare(&self, places: &[u8]) -> Ordering {
        let stays = |tile: &u8| usize::from(self.tiles[usize::from(*tile)]) < places.len();
        let tiles = (1..places.len() as u8).filter(stays).chain([0]);
        let orders = tiles.map(|tile| {
            let renamed = places[usize::from(self.tiles[usize::from(tile)])];
            places[usize::from(tile)].cmp(&self.places[usize::from(renamed)])
        });
        orders.fold(Ordering::Equal, Ordering::then)
    }
}

/// Lookup tables of a space whose boards are identified under a transposition.
#[derive(Debug)]
pub(super) struct Symmetry {
    transposition: Transposition,
    /// By index: as [`Transposition::compare`].
    orders: Vec<Ordering>,
    /// By index: the places of the blank and of the small tiles.
    places: Vec<u8>,
    /// Number of places per index: the stride of `places`.
    row: usize,
    weights: ReadingWeights,
}

impl Symmetry {
    pub(super) fn new(
        shape: Shape,
        small: u8,
        locals: Numbering,
        transposition: Transposition,
    ) -> Symmetry {
        let row = usize::from(small) + 1;
        let (mut orders, mut all) = (Vec::new(), Vec::new());
        for index in 0..locals.len() {
            let places = locals.places(index);
            let order = places.as_ref().map(|places| transposition.compare(places));
            // Indices without a local part are never canonical.
            orders.push(order.unwrap_or(Ordering::Greater));
            all.extend(places.unwrap_or_else(|| vec![0; row]));
        }
        let weights = ReadingWeights::new(shape.squares() - 1);
        Symmetry { transposition, orders, places: all, row, weights }
    }

    /// As [`Transposition::compare`].
    #[inline]
    pub(super) fn order(&self, index: u32) -> Ordering {
        self.orders[index as usize]
    }

    /// The image of a board.
    #[inline]
    pub(super) fn image(&self, reading: &Reading) -> Reading {
        self.transposition.image(reading)
    }

    /// The board of a local part among large tiles.
    #[inline]
    pub(super) fn reading(&self, index: u32, large: &[u8]) -> Reading {
        const NONE: u8 = u8::MAX;
        let mut reading = Reading::default();
        let places = &self.places[index as usize * self.row..][..self.row];
        let squares = &mut reading[..large.len() + self.row];
        squares.fill(NONE);
        for (tile, place) in (0..).zip(places) {
            squares[usize::from(*place)] = tile;
        }
        let mut next = large.iter();
        for tile in squares.iter_mut().filter(|tile| **tile == NONE) {
            *tile = next.next().copied().unwrap_or_default();
        }
        reading
    }

    /// The place of the blank.
    #[inline]
    pub(super) fn blank(&self, index: u32) -> u8 {
        self.places[index as usize * self.row]
    }

    /// The digest weight of a board.
    #[inline]
    pub(super) fn weight(&self, reading: &Reading) -> Weight {
        self.weights.weight(reading)
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.orders[..]) + size_of_val(&self.places[..]) + self.weights.bytes()
    }
}

/// Maximum number of weights of one group of tiles: a larger table would exceed the processor's cache.
const MOST_PRODUCTS: usize = 1 << 12;

/// Weights of arbitrary boards, equal to the product of the region's and the local part's weight.
#[derive(Debug)]
struct ReadingWeights {
    squares: usize,
    groups: Vec<Group>,
}

/// Products of the weights of the digits of some tiles.
#[derive(Debug)]
struct Group {
    /// By tile: the shift of its digit in a word, and the number of values of the digit.
    digits: Vec<(u32, usize)>,
    products: Vec<Weight>,
}

/// A digit takes 5 bits of a word.
const DIGIT_BITS: u32 = 5;

impl ReadingWeights {
    fn new(tiles: u8) -> ReadingWeights {
        let mut groups: Vec<Group> = Vec::new();
        for tile in 0..=tiles {
            let values = usize::from(tiles - tile) + 1;
            let fits = |group: &&mut Group| group.products.len() * values <= MOST_PRODUCTS;
            let shift = DIGIT_BITS * u32::from(tile);
            let weights: Vec<Weight> =
                (0..values).map(|digit| digit_weight(tile, digit as u8)).collect();
            match groups.last_mut().filter(fits) {
                Some(group) => {
                    let all = group.products.iter();
                    let all =
                        all.flat_map(|product| weights.iter().map(|weight| *product * *weight));
                    group.products = all.collect();
                    group.digits.push((shift, values));
                }
                None => groups.push(Group { digits: vec![(shift, values)], products: weights }),
            }
        }
        ReadingWeights { squares: usize::from(tiles) + 1, groups }
    }

    #[inline]
    fn weight(&self, reading: &Reading) -> Weight {
        const DIGIT: u128 = (1 << DIGIT_BITS) - 1;
        // A one in the digit of every possible tile.
        const ONES: u128 = ((1 << (DIGIT_BITS * MAX_SQUARES as u32)) - 1) / DIGIT;
        // By tile: the number of greater tiles read so far. When the tile itself is read, this is
        // its digit. The digit of the blank is its place.
        let (mut greater, mut digits) = (0, 0);
        for tile in &reading[..self.squares] {
            let shift = DIGIT_BITS * u32::from(*tile);
            digits |= greater & DIGIT << shift;
            greater += ONES & ((1 << shift) - 1);
        }
        let products = self.groups.iter().map(|group| {
            let number = group.digits.iter().fold(0, |number, (shift, values)| {
                number * values + (digits >> shift & DIGIT) as usize
            });
            group.products[number]
        });
        products.fold(Weight::ONE, |product, weight| product * weight)
    }

    fn bytes(&self) -> usize {
        self.groups.iter().map(|group| size_of_val(&group.products[..])).sum()
    }
}
