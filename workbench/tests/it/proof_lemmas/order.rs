//! Lemmas P2 and P4 on random walks: useful positions of a level are useful one level lower, and
//! changes of the order vector add by XOR.

use crate::proof_lemmas::certificate::Certificate;
use crate::proof_lemmas::model::{Position, Puzzle, Tile};
use crate::proof_lemmas::useful::Useful;

const PUZZLE: Puzzle = Puzzle { levels: 5 };
const STEPS: usize = 2_000_000;

/// Pseudo-random numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

/// A chain of segments of one level.
struct Chain {
    small: u8,
    /// The last useful position of the level.
    last: Position,
    /// XOR and sums, by bit, of the changes of its segments since the last useful position of the
    /// next level.
    xor: u32,
    sums: [i64; 5],
    segments: usize,
}

fn order(position: &Position, small: u8) -> u32 {
    Useful::new(PUZZLE, position, small).unwrap().order
}

/// Column of a tile.
fn column_of(position: &Position, tile: Tile) -> usize {
    position.iter().position(|column| column.tiles().any(|t| t == tile)).unwrap()
}

impl Chain {
    fn new(small: u8) -> Self {
        Self { small, last: PUZZLE.start(), xor: 0, sums: [0; 5], segments: 0 }
    }

    /// Ends a segment. The tiles of the next level exchange their columns' order or not.
    fn extend(&mut self, position: &Position) {
        let change = order(&self.last, self.small) ^ order(position, self.small);
        let next = self.small + 1;
        let left_first = |p: &Position| column_of(p, 2 * next) < column_of(p, 2 * next + 1);
        let flips = next <= PUZZLE.levels && left_first(&self.last) != left_first(position);
        self.xor ^= change | u32::from(flips) << self.small;
        for (i, sum) in self.sums.iter_mut().enumerate() {
            *sum += i64::from(change >> i & 1);
        }
        self.last = *position;
        self.segments += 1;
    }

    /// Ends a segment of the next level, which changes the order vector by `change`.
    fn compare(&mut self, change: u32, certificate: &Certificate) {
        assert_eq!(self.xor, change, "level {}", self.small);
        let priced = |bits: &dyn Fn(usize) -> i64| -> i64 {
            (1..self.small).map(|i| certificate.price(i) * bits(usize::from(i) - 1)).sum()
        };
        let once = priced(&|bit| i64::from(change >> bit & 1));
        assert!(once <= priced(&|bit| self.sums[bit]), "level {}", self.small);
        (self.xor, self.sums) = (0, [0; 5]);
    }
}

#[test]
fn changes_of_the_order_vector_add_by_xor() {
    let certificate = Certificate::made_here();
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut position = PUZZLE.start();
    let mut chains: Vec<Chain> = (2..=PUZZLE.levels).map(Chain::new).collect();
    for _ in 0..STEPS {
        let mut moves = Vec::new();
        PUZZLE.moves(&position, |_, after| moves.push(after));
        position = moves[random.below(moves.len())];
        extend(&mut chains, &position, certificate);
    }
    let segments: Vec<usize> = chains.iter().map(|chain| chain.segments).collect();
    assert!(segments.is_sorted_by(|lower, higher| lower > higher), "{segments:?}");
    assert!(segments[3] > 100, "{segments:?}");
}

/// Ends the segments of all levels for which the position is useful, the least level first.
fn extend(chains: &mut [Chain], position: &Position, certificate: &Certificate) {
    let useful: Vec<Option<Useful>> =
        chains.iter().map(|chain| Useful::new(PUZZLE, position, chain.small)).collect();
    for pair in useful.windows(2) {
        if let [lower, Some(higher)] = pair {
            let shape = lower.as_ref().expect("useful one level higher").shape;
            assert_eq!(shape, higher.shape);
        }
    }
    for i in 0..chains.len() {
        let Some(useful) = &useful[i] else { break };
        if i > 0 {
            let change = order(&chains[i].last, chains[i].small) ^ useful.order;
            chains[i - 1].compare(change, certificate);
        }
        chains[i].extend(position);
    }
}
