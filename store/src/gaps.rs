//! Lists of states as gaps, in three columns: a byte a state, which is all of a short gap and the
//! high part of a long one; the low bytes of the long gaps; and varints for what remains of the very
//! long ones. The decoder never reads past its input and reports malformed input as `None`.

use crate::columns::Span;
use crate::varint;

/// The smallest long gap. The bytes of long gaps are those with the two highest bits set.
const LONG: u32 = 192;
/// What the byte of a very long gap says of its high part: at least this.
const MOST: u32 = 255 - LONG;
/// High parts of 32-bit gaps are smaller than this, beyond `MOST`.
const HIGH_END: u32 = 1 << 24;

/// Lists are decoded eight values at a time: input and output need this much room at the end.
pub(crate) const SLACK: usize = 8;

/// A list's lowest bits, if all of its values have the same one.
#[inline]
pub(crate) fn common_bit(list: &[u32]) -> Option<u32> {
    let first = *list.first()?;
    let mixed = list.iter().fold(0, |mixed, value| mixed | (value ^ first)) & 1;
    (mixed == 0).then_some(first & 1)
}

/// Writes a strictly increasing list, without the lowest `shift` bits (0 or 1, the same for all
/// values). `bytes` is as long as the list.
pub(crate) fn put_list(
    list: &[u32],
    shift: u32,
    bytes: &mut [u8],
    lows: &mut Vec<u8>,
    highs: &mut Vec<u8>,
) {
    const STEP: usize = 16;
    let (Some((&first, after)), Some((head, tail))) = (list.split_first(), bytes.split_first_mut())
    else {
        return;
    };
    let steps = after.len();
    let before = &list[..steps];
    *head = byte_of(first >> shift);
    if steps < STEP {
        put_gaps(tail, before, after, shift);
    } else {
        let mut done = 0;
        while done < steps {
            // The last step overlaps the one before it: that costs less than a short one.
            let start = done.min(steps - STEP);
            let range = start..start + STEP;
            put_gaps(&mut tail[range.clone()], &before[range.clone()], &after[range], shift);
            done += STEP;
        }
    }
    for (step, chunk) in bytes.chunks(8).enumerate() {
        let mut long = longs(word_of(chunk));
        while long != 0 {
            let i = 8 * step + (long.trailing_zeros() / 8) as usize;
            let gap = match i.checked_sub(1) {
                Some(before) => ((list[i] - list[before]) >> shift) - 1,
                None => first >> shift,
            };
            lows.push((gap - LONG) as u8);
            let high = (gap - LONG) >> 8;
            if high >= MOST {
                varint::put(highs, high - MOST);
            }
            long &= long - 1;
        }
    }
}

#[inline(always)]
fn byte_of(gap: u32) -> u8 {
    (gap.min(LONG) + (gap.saturating_sub(LONG) >> 8).min(MOST)) as u8
}

#[inline(always)]
fn put_gaps(bytes: &mut [u8], before: &[u32], after: &[u32], shift: u32) {
    for ((byte, a), b) in bytes.iter_mut().zip(after).zip(before) {
        *byte = byte_of((a.wrapping_sub(*b) >> shift).wrapping_sub(1));
    }
}

/// The rest of the three columns of a block's lists.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Lists {
    pub(crate) gaps: Span,
    pub(crate) lows: Span,
    pub(crate) highs: Span,
}

impl Lists {
    /// Reads `count` values (at least one) written by [`put_list`] into `out`, with `bit` as their
    /// common lowest bit. Behind the columns, `raw` has `SLACK` more bytes of any value; `out` holds
    /// at least `count + SLACK` values.
    #[inline]
    pub(crate) fn get(
        &mut self,
        raw: &[u8],
        count: usize,
        bit: Option<u32>,
        out: &mut [u32],
    ) -> Option<()> {
        match bit {
            Some(bit) => self.get_shifted::<1>(raw, count, bit, out),
            None => self.get_shifted::<0>(raw, count, 0, out),
        }
    }

    #[inline]
    fn get_shifted<const SHIFT: u32>(
        &mut self,
        raw: &[u8],
        count: usize,
        bit: u32,
        out: &mut [u32],
    ) -> Option<()> {
        let start = self.gaps.take(count)?;
        let padded = count.next_multiple_of(8);
        let bytes = raw.get(start..start + padded)?;
        let targets = out.get_mut(..padded)?;
        // A gap counts from the value after the one before: the first one from 0.
        let mut next = 0_u64;
        let mut left = count;
        for (chunk, window) in bytes.chunks_exact(8).zip(targets.chunks_exact_mut(8)) {
            let mut word = word_of(chunk);
            let here = left.min(8);
            if here < 8 {
                word &= (1 << (8 * here)) - 1;
            }
            let long = longs(word);
            if long == 0 {
                for (i, (slot, byte)) in window.iter_mut().zip(word.to_le_bytes()).enumerate() {
                    next += u64::from(byte);
                    *slot = ((next + i as u64) << SHIFT) as u32 | bit;
                }
            } else {
                let gaps = self.long_gaps(raw, word, long)?;
                for (i, (slot, gap)) in window.iter_mut().zip(gaps).enumerate() {
                    next += gap;
                    *slot = ((next + i as u64) << SHIFT) as u32 | bit;
                }
            }
            next += here as u64;
            left -= here;
        }
        // Values only grow: if the last one fits, all do. Gaps are below 2^33 and their number
        // below 2^28, so that the sum is right.
        (next - 1 <= u64::from(u32::MAX >> SHIFT)).then_some(())
    }

    /// Eight gaps, of which `long` marks the long ones.
    #[inline]
    fn long_gaps(&mut self, raw: &[u8], word: u64, mut long: u64) -> Option<[u64; 8]> {
        let mut gaps = word.to_le_bytes().map(u64::from);
        let start = self.lows.take(long.count_ones() as usize)?;
        let lows = raw.get(start..self.lows.at)?;
        for low in lows {
            let gap = &mut gaps[(long.trailing_zeros() / 8) as usize];
            let mut high = *gap - u64::from(LONG);
            if high == u64::from(MOST) {
                high += u64::from(self.highs.varint(raw).filter(|&high| high < HIGH_END)?);
            }
            *gap = u64::from(LONG) + (high << 8 | u64::from(*low));
            long &= long - 1;
        }
        Some(gaps)
    }

    /// Passes over `count` values: what the long ones among them have in the other columns has to be
    /// counted.
    pub(crate) fn skip(&mut self, raw: &[u8], count: usize) -> Option<()> {
        let start = self.gaps.take(count)?;
        let (mut long, mut very_long) = (0, 0);
        for chunk in raw.get(start..start + count)?.chunks(8) {
            let word = word_of(chunk);
            long += longs(word).count_ones() as usize;
            very_long += very_longs(word).count_ones() as usize;
        }
        self.lows.take(long)?;
        for _ in 0..very_long {
            self.highs.varint(raw)?;
        }
        Some(())
    }
}

const HIGHEST: u64 = 0x8080_8080_8080_8080;

/// The highest bit of each of the eight bytes that is at least `LONG`.
#[inline(always)]
fn longs(word: u64) -> u64 {
    word & (word << 1) & HIGHEST
}

/// The highest bit of each of the eight bytes that is 255.
#[inline(always)]
fn very_longs(word: u64) -> u64 {
    word & ((word & !HIGHEST) + 0x0101_0101_0101_0101) & HIGHEST
}

/// Up to eight bytes as a word, filled up with zeros.
#[inline(always)]
fn word_of(bytes: &[u8]) -> u64 {
    if let Some(chunk) = bytes.first_chunk::<8>() {
        return u64::from_le_bytes(*chunk);
    }
    let mut chunk = [0; 8];
    chunk[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(chunk)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The three columns one after the other, followed by bytes that must not matter.
    fn join(columns: [&[u8]; 3]) -> (Vec<u8>, Lists) {
        let mut raw = Vec::new();
        let [gaps, lows, highs] = columns.map(|column| {
            let at = raw.len();
            raw.extend_from_slice(column);
            Span { at, end: raw.len() }
        });
        raw.extend_from_slice(&[0xff; SLACK]);
        (raw, Lists { gaps, lows, highs })
    }

    fn encode(lists: &[Vec<u32>]) -> [Vec<u8>; 3] {
        let (mut bytes, mut lows, mut highs) = (Vec::new(), Vec::new(), Vec::new());
        for list in lists {
            let start = bytes.len();
            bytes.resize(start + list.len(), 0);
            let shift = u32::from(common_bit(list).is_some());
            put_list(list, shift, &mut bytes[start..], &mut lows, &mut highs);
        }
        [bytes, lows, highs]
    }

    fn assert_round_trip(lists: &[Vec<u32>]) {
        let [bytes, lows, highs] = encode(lists);
        let (raw, all) = join([&bytes, &lows, &highs]);
        let mut rest = all;
        for list in lists {
            let mut out = vec![0; list.len() + SLACK];
            let mut skipped = rest;
            rest.get(&raw, list.len(), common_bit(list), &mut out).unwrap();
            assert_eq!(&out[..list.len()], &list[..]);
            skipped.skip(&raw, list.len()).unwrap();
            assert_eq!(format!("{skipped:?}"), format!("{rest:?}"));
        }
        for span in [rest.gaps, rest.lows, rest.highs] {
            assert_eq!(span.at, span.end);
        }
        let mut skipped = all;
        skipped.skip(&raw, lists.iter().map(Vec::len).sum()).unwrap();
        assert_eq!(format!("{skipped:?}"), format!("{rest:?}"));
    }

    fn list() -> impl Strategy<Value = Vec<u32>> {
        let gap = prop_oneof![
            16 => 0_u32..100, 4 => 100_u32..20_000, 2 => 20_000_u32..40_000_000, 1 => any::<u32>()];
        (proptest::collection::vec(gap, 1..100), 0_u32..3)
            .prop_map(|(gaps, side)| {
                let mut list: Vec<u32> = Vec::new();
                for gap in gaps {
                    let next =
                        list.last().map_or(Some(gap), |last| last.checked_add(gap)?.checked_add(1));
                    // Sides 0 and 1 are common, 2 is mixed.
                    let next = next.and_then(|next| match side {
                        2 => Some(next),
                        side if next % 2 == side => Some(next),
                        _ => next.checked_add(1),
                    });
                    list.extend(next);
                }
                list
            })
            .prop_filter("not empty", |list| !list.is_empty())
    }

    proptest! {
        #[test]
        fn lists_round_trip(lists in proptest::collection::vec(list(), 1..4)) {
            assert_round_trip(&lists);
        }

        #[test]
        fn garbage_never_panics(
            gaps in proptest::collection::vec(prop_oneof![any::<u8>(), Just(255_u8)], 0..200),
            lows in proptest::collection::vec(any::<u8>(), 0..100),
            highs in proptest::collection::vec(any::<u8>(), 0..50),
            count in 1_usize..300, bit in proptest::option::of(0_u32..2),
        ) {
            let (raw, lists) = join([&gaps, &lows, &highs]);
            let mut out = vec![0; count + SLACK];
            if lists.clone().get(&raw, count, bit, &mut out).is_some() {
                prop_assert!(out[..count].is_sorted_by(|a, b| a < b));
                lists.clone().skip(&raw, count).unwrap();
            }
        }
    }

    #[test]
    fn the_ends_of_the_range_survive() {
        const END: u32 = u32::MAX;
        for list in [
            vec![0],
            vec![END],
            vec![END - 1],
            vec![0, END],
            vec![1, END],
            vec![0, END - 1],
            (END - 40..=END).collect(),
            vec![191, 192, 193, 384, 577, 16_320 + 577, 40_000],
        ] {
            assert_round_trip(&[list]);
        }
        // One past the end of the range overflows.
        for last in [END, END - 1] {
            let [mut bytes, lows, highs] = encode(&[vec![last]]);
            bytes.push(0);
            let (raw, mut lists) = join([&bytes, &lows, &highs]);
            assert!(lists.get(&raw, 2, Some(last & 1), &mut [0; 10]).is_none());
        }
    }
}
