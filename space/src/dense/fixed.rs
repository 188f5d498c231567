//! Positions that symmetries fix, for counting the orbits of a layer by Burnside's lemma.

use std::num::NonZeroU32;

use super::shape::DenseShape;

/// The positions of a dense space that symmetries fix, by the states that stand for them.
///
/// By Burnside's lemma, the number of orbits in a layer is the number of pairs (symmetry, position that
/// it fixes), divided by the number of symmetries. The identity fixes all positions of the layer. The
/// other symmetries fix few, which are listed here for the whole space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixedPositions {
    symmetries: NonZeroU32,
    /// Numbers of states, ascending.
    numbers: Vec<u64>,
    /// For each state: the number of symmetries, other than the identity, that fix a position, summed
    /// over the positions for which the state stands.
    counts: Vec<u32>,
}

impl FixedPositions {
    /// The positions that a group of `symmetries` symmetries fixes. `fixed` has pairs (number of a state,
    /// how many symmetries other than the identity fix one position for which the state stands). Numbers
    /// may repeat; their counts are added. None if a sum exceeds 32 bits, or `symmetries` is 0.
    pub fn new(symmetries: u32, mut fixed: Vec<(u64, u32)>) -> Option<FixedPositions> {
        fixed.sort_unstable_by_key(|(number, _)| *number);
        let (mut numbers, mut counts) = (Vec::<u64>::new(), Vec::<u32>::new());
        for (number, count) in fixed {
            match counts.last_mut().filter(|_| numbers.last() == Some(&number)) {
                Some(sum) => *sum = sum.checked_add(count)?,
                None => {
                    numbers.push(number);
                    counts.push(count);
                }
            }
        }
        numbers.shrink_to_fit();
        counts.shrink_to_fit();
        Some(FixedPositions { symmetries: NonZeroU32::new(symmetries)?, numbers, counts })
    }

    /// The number of symmetries, the identity included.
    pub fn symmetries(&self) -> NonZeroU32 {
        self.symmetries
    }

    /// The number of states that are listed.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Whether the identity is the only symmetry that fixes a position.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// The greatest number of a listed state.
    pub(super) fn last(&self) -> Option<u64> {
        self.numbers.last().copied()
    }

    /// Bytes of the list.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.numbers) + size_of_val(&*self.counts)
    }

    /// The number of pairs (s, p) where p is a position of the given states and s is a symmetry, other
    /// than the identity, that fixes p. `words` has the states of `block`, a word for each row.
    pub(super) fn count(&self, shape: DenseShape, block: u32, words: &[u64]) -> u64 {
        let lanes = u64::from(shape.lanes);
        let states = u64::from(shape.rows) * lanes;
        let first = u64::from(block) * states;
        let from = self.numbers.partition_point(|number| *number < first);
        let listed = self.numbers[from..].iter().zip(&self.counts[from..]);
        let of_block = listed.map(|(number, count)| (number - first, count));
        let of_block = of_block.take_while(|(at, _)| *at < states);
        let has =
            |at: u64| words.get((at / lanes) as usize).map_or(0, |word| word >> (at % lanes) & 1);
        of_block.map(|(at, count)| has(at) * u64::from(*count)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_positions_are_counted_by_block() {
        let shape = DenseShape { blocks: 3, rows: 2, lanes: 5 };
        // State 13 is block 1, row 0, lane 3; state 19 is block 1, row 1, lane 4.
        let fixed = vec![(19, 2), (13, 1), (4, 7), (19, 3), (20, 9)];
        let fixed = FixedPositions::new(6, fixed).unwrap();
        assert_eq!((fixed.symmetries().get(), fixed.len(), fixed.last()), (6, 4, Some(20)));
        let count = |block, words: [u64; 2]| fixed.count(shape, block, &words);
        assert_eq!(count(1, [0b01000, 0b10000]), 6);
        assert_eq!(count(1, [0b01000, 0b01111]), 1);
        assert_eq!(count(1, [0b10111, 0b10000]), 5);
        assert_eq!(count(0, [0b11111, 0b11111]), 7);
        assert_eq!(count(2, [0b00001, 0]), 9);
        assert_eq!(count(2, [0b00010, 0b11111]), 0);
        assert_eq!(FixedPositions::new(0, Vec::new()), None);
        assert_eq!(FixedPositions::new(2, vec![(1, u32::MAX), (1, 1)]), None);
        assert!(FixedPositions::new(2, Vec::new()).unwrap().is_empty());
    }
}
