//! Removal of the states of an encoded list from a bit set, without decoding them one by one.

use crate::layer::gaps::{LONG, long_gap};

/// Mask of the gaps below 32 in the eight bytes of a word: the sum of eight such gaps fits a byte.
const SHORT: u64 = 0x1F1F_1F1F_1F1F_1F1F;

/// Words of eight bytes: each byte is 1, or its own number.
const ONES: u64 = 0x0101_0101_0101_0101;
const LANES: u64 = 0x0706_0504_0302_0100;

const WORD: u64 = u64::BITS as u64;

/// Clears the states of a list in a bit set. The list has the encoding of [`gaps`](crate::layer::gaps) and
/// is given as its common lowest bit and its three columns.
///
/// Bit n of the set stands for the state n, or, if the states share the lowest bit, for the state whose
/// other bits are n. States beyond the set are ignored. `None` if the bytes are not a list.
pub(crate) fn clear(bit: Option<u32>, columns: [&[u8]; 3], words: &mut [u64]) -> Option<()> {
    let [gaps, lows, mut highs] = columns;
    let mut lows = lows.iter();
    let mut next = 0_u64;
    for chunk in gaps.chunks(size_of::<u64>()) {
        if let Some((mask, length)) = chunk.first_chunk().and_then(|bytes| mask_of(*bytes)) {
            let (at, shift) = ((next / WORD) as usize, (next % WORD) as u32);
            // The mask may extend into the next word; with shift 0 the second part is zero.
            let parts = [mask << shift, mask >> 1 >> (u64::BITS - 1 - shift)];
            for (word, part) in words.get_mut(at..).unwrap_or_default().iter_mut().zip(parts) {
                *word &= !part;
            }
            next += length;
            continue;
        }
        for byte in chunk {
            let gap = match u32::from(*byte) {
                short @ ..LONG => short,
                long => long_gap(long, *lows.next()?, &mut highs)?,
            };
            next += u64::from(gap);
            if let Some(word) = words.get_mut((next / WORD) as usize) {
                *word &= !(1 << (next % WORD));
            }
            next += 1;
        }
    }
    let most = u32::MAX >> u32::from(bit.is_some());
    (next <= u64::from(most) + 1).then_some(())
}

/// The states of eight short gaps as a bit mask, whose bit 0 is the first possible state, and the number
/// of bits up to the last state. None if a gap is not short, or the mask exceeds a word.
#[inline(always)]
fn mask_of(gaps: [u8; 8]) -> Option<(u64, u64)> {
    let gaps = u64::from_le_bytes(gaps);
    if gaps & !SHORT != 0 {
        return None;
    }
    // Byte i of the product is the sum of the gaps 0 to i. Each of the i states before takes a bit, too.
    let places = gaps.wrapping_mul(ONES) + LANES;
    let last = places >> 56;
    let places = places.to_le_bytes();
    (last < WORD).then(|| (places.iter().fold(0, |mask, place| mask | 1 << place), last + 1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::layer::list::{List, ListBuf};

    fn gap() -> impl Strategy<Value = u32> {
        prop_oneof![30 => 0_u32..4, 10 => 0_u32..40, 3 => 0_u32..400, 1 => 0_u32..100_000]
    }

    proptest! {
        #[test]
        fn the_states_of_a_list_are_cleared(
            gaps in proptest::collection::vec(gap(), 0..300),
            side in proptest::option::of(0_u32..2),
            length in 0_usize..400,
        ) {
            let mut next = 0;
            let values: Vec<u32> = gaps.iter().map(|gap| {
                let value = next + gap;
                next = value + 1;
                value
            }).collect();
            let states: Vec<u32> =
                values.iter().map(|value| side.map_or(*value, |side| 2 * value + side)).collect();
            let mut buffer = ListBuf::default();
            let list = buffer.encode(&states);
            // Lists of one state, or of even states only, share the lowest bit by chance.
            let shift = u32::from(list.bit.is_some());
            let (mut words, mut expected) = (vec![u64::MAX; length], vec![u64::MAX; length]);
            for state in &states {
                let at = (state >> shift) as usize;
                if let Some(word) = expected.get_mut(at / 64) {
                    *word &= !(1 << (at % 64));
                }
            }
            prop_assert_eq!(list.clear(&mut words), Some(()));
            prop_assert_eq!(words, expected);
        }

        #[test]
        fn garbage_never_panics(
            gaps in proptest::collection::vec(prop_oneof![any::<u8>(), Just(255_u8), Just(31)], 0..200),
            lows in proptest::collection::vec(any::<u8>(), 0..100),
            highs in proptest::collection::vec(any::<u8>(), 0..50),
            length in 0_usize..20,
        ) {
            let list = List { gaps: &gaps, lows: &lows, highs: &highs, ..List::EMPTY };
            let _ = list.clear(&mut vec![0; length]);
        }
    }

    #[test]
    fn clear_refuses_a_list_that_ends_early() {
        let mut words = [u64::MAX; 2];
        let list = List { gaps: &[200], ..List::EMPTY };
        assert_eq!(list.clear(&mut words), None);
    }
}
