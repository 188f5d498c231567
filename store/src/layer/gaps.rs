//! Encoding of a list of states as gaps, in three columns.
//!
//! A gap takes one byte in the first column. The byte holds a short gap, or the high part of a long
//! gap. The second column has the low bytes of long gaps. The third column has the rest of very
//! long gaps, as varints. The decoder never reads past its input and reports malformed input as
//! `None`.

use crate::layer::span::Span;
use crate::layer::varint;

/// The smallest long gap. The byte of a long gap has its two highest bits set.
pub(crate) const LONG: u32 = 192;
/// The high part that the byte of a very long gap has; the actual high part is this or more.
const MOST: u32 = 255 - LONG;

/// Extra bytes or values that an output needs at its end, because lists are processed eight values at a
/// time.
pub(crate) const SLACK: usize = 8;

/// The lowest bit of all values of a list, if they share it.
#[inline]
pub(crate) fn common_bit(list: &[u32]) -> Option<u32> {
    let first = *list.first()?;
    let mixed = list.iter().fold(0, |mixed, value| mixed | (value ^ first)) & 1;
    (mixed == 0).then_some(first & 1)
}

/// Encodes a strictly increasing list; if `common`, without the lowest bit of each value. `bytes` has
/// room for the list and [`SLACK`] more bytes, which may change.
pub(crate) fn put_list(
    list: &[u32],
    common: bool,
    bytes: &mut [u8],
    lows: &mut Vec<u8>,
    highs: &mut Vec<u8>,
) {
    if common {
        put_shifted::<1>(list, bytes, lows, highs);
    } else {
        put_shifted::<0>(list, bytes, lows, highs);
    }
}

#[inline]
fn put_shifted<const SHIFT: u32>(
    list: &[u32],
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
    *head = byte_of::<SHIFT>(first >> SHIFT);
    if steps < STEP {
        put_gaps::<SHIFT>(&mut tail[..steps], before, after);
    } else {
        let mut done = 0;
        while done < steps {
            // The last step overlaps the one before, which is faster than a short step.
            let start = done.min(steps - STEP);
            let range = start..start + STEP;
            put_gaps::<SHIFT>(&mut tail[range.clone()], &before[range.clone()], &after[range]);
            done += STEP;
        }
    }
    bytes[list.len()..list.len() + SLACK].fill(0);
    for start in (0..list.len()).step_by(MARKED) {
        let end = list.len().min(start + MARKED).next_multiple_of(8);
        let mut long = marks(&bytes[start..end]);
        while long != 0 {
            let i = start + long.trailing_zeros() as usize;
            let gap = match i.checked_sub(1) {
                Some(before) => ((list[i] - list[before]) >> SHIFT) - 1,
                None => first >> SHIFT,
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
fn byte_of<const SHIFT: u32>(gap: u32) -> u8 {
    if SHIFT == 0 {
        (gap.min(LONG) + (gap.saturating_sub(LONG) >> 8).min(MOST)) as u8
    } else {
        // Values below 2^31 fit signed integers, which vector units compare faster.
        let (gap, long) = (gap as i32, LONG as i32);
        (gap.min(long) + ((gap - long).max(0) >> 8).min(MOST as i32)) as u8
    }
}

#[inline(always)]
fn put_gaps<const SHIFT: u32>(bytes: &mut [u8], before: &[u32], after: &[u32]) {
    for ((byte, a), b) in bytes.iter_mut().zip(after).zip(before) {
        *byte = byte_of::<SHIFT>((a.wrapping_sub(*b) >> SHIFT).wrapping_sub(1));
    }
}

/// The unread part of the three columns of a block's lists.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Lists {
    pub(crate) gaps: Span,
    pub(crate) lows: Span,
    pub(crate) highs: Span,
}

impl Lists {
    /// The start of the unread part of each column.
    #[inline]
    pub(crate) fn starts(&self) -> [usize; 3] {
        [self.gaps.at, self.lows.at, self.highs.at]
    }

    /// Skips `count` values written by [`put_list`] and returns their bytes in each column. The
    /// bytes in the second and the third column are found by counting long gaps.
    #[inline]
    pub(crate) fn take(&mut self, raw: &[u8], count: usize) -> Option<[Span; 3]> {
        let at = self.gaps.take(count)?;
        let bytes = raw.get(at..at + count)?;
        let (long, any_very_long) = count_longs(bytes);
        let very_long = if any_very_long {
            bytes.iter().filter(|byte| u32::from(**byte) == LONG + MOST).count()
        } else {
            0
        };
        let (low, high) = (self.lows.take(long)?, self.highs.at);
        for _ in 0..very_long {
            self.highs.varint(raw)?;
        }
        Some(
            [(at, self.gaps), (low, self.lows), (high, self.highs)]
                .map(|(at, rest)| Span { at, end: rest.at }),
        )
    }
}

/// Decodes a list, given as its common lowest bit and its three columns, into `out`, which has room for
/// the list and [`SLACK`] more values. `None` if the columns are not a list.
pub(crate) fn get_list(bit: Option<u32>, columns: [&[u8]; 3], out: &mut [u32]) -> Option<()> {
    match bit {
        Some(bit) => get_shifted::<1>(columns, bit, out),
        None => get_shifted::<0>(columns, 0, out),
    }
}

#[inline]
fn get_shifted<const SHIFT: u32>(columns: [&[u8]; 3], bit: u32, out: &mut [u32]) -> Option<()> {
    let [gaps, lows, mut highs] = columns;
    let mut lows = lows.iter();
    let targets = out.get_mut(..gaps.len().next_multiple_of(8))?;
    let mut next = 0_u64;
    for (bytes, targets) in gaps.chunks(MARKED).zip(targets.chunks_mut(MARKED)) {
        let mut padded = [0; MARKED];
        padded[..bytes.len()].copy_from_slice(bytes);
        // In three steps, because a branch for each group of gaps would be hard to predict, and would
        // cost more than everything else.
        for (slot, byte) in targets.iter_mut().zip(padded) {
            *slot = u32::from(byte);
        }
        let mut long = marks(&padded[..targets.len()]);
        while long != 0 {
            let gap = targets.get_mut(long.trailing_zeros() as usize)?;
            *gap = long_gap(*gap, *lows.next()?, &mut highs)?;
            long &= long - 1;
        }
        for slot in &mut targets[..bytes.len()] {
            // A gap counts from the successor of the value before; the first gap counts from 0.
            next += u64::from(*slot) + 1;
            *slot = ((next - 1) << SHIFT) as u32 | bit;
        }
    }
    // Values increase: if the last one fits, all do.
    (next <= u64::from(u32::MAX >> SHIFT) + 1).then_some(())
}

/// The long gap with this byte, which is at least [`LONG`], and this low byte. The rest of a very long gap
/// is taken from `highs`.
#[inline]
pub(crate) fn long_gap(byte: u32, low: u8, highs: &mut &[u8]) -> Option<u32> {
    let mut high = byte - LONG;
    if high == MOST {
        let mut pos = 0;
        high = high.checked_add(varint::get(highs, &mut pos)?)?;
        *highs = &highs[pos..];
    }
    high.checked_mul(256)?.checked_add(LONG + u32::from(low))
}

const HIGHEST: u64 = 0x8080_8080_8080_8080;

/// Marks the bytes of a word that are at least `LONG`, by their highest bits.
#[inline(always)]
fn longs(word: u64) -> u64 {
    word & (word << 1) & HIGHEST
}

/// The number of long gaps among some bytes, and whether one of them is very long.
#[inline]
fn count_longs(bytes: &[u8]) -> (usize, bool) {
    // Eight counters of one byte each.
    const MOST_STEPS: usize = 255;
    let (mut count, mut any) = (0, 0);
    for part in bytes.chunks(8 * MOST_STEPS) {
        let mut counters = 0;
        for chunk in part.chunks(8) {
            let word = word_of(chunk);
            counters += longs(word) >> 7;
            any |= very_longs(word);
        }
        let pairs = (counters & EVEN_BYTES) + (counters >> 8 & EVEN_BYTES);
        count += (pairs.wrapping_mul(0x0001_0001_0001_0001) >> 48) as usize;
    }
    (count, any != 0)
}

const EVEN_BYTES: u64 = 0x00ff_00ff_00ff_00ff;

/// Marks the bytes of a word that are 255, by their highest bits.
#[inline(always)]
fn very_longs(word: u64) -> u64 {
    word & ((word & !HIGHEST) + 0x0101_0101_0101_0101) & HIGHEST
}

/// The most bytes that `marks` accepts.
const MARKED: usize = 64;

/// Bit mask of the bytes of long gaps. The number of bytes is a multiple of eight.
#[inline(always)]
fn marks(bytes: &[u8]) -> u64 {
    let mut marks = 0;
    for (i, chunk) in bytes.chunks_exact(8).enumerate() {
        // Packs the highest bits of eight bytes.
        let bits = (longs(word_of(chunk)) >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        marks |= bits << (8 * i);
    }
    marks
}

/// Up to eight bytes as a word, padded with zeros.
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

    fn get(raw: &[u8], spans: [Span; 3], bit: Option<u32>) -> Option<Vec<u32>> {
        let [gaps, lows, highs] = spans.map(|span| &raw[span.at..span.end]);
        let mut out = vec![0; gaps.len() + SLACK];
        get_list(bit, [gaps, lows, highs], &mut out)?;
        out.truncate(gaps.len());
        Some(out)
    }

    fn encode(lists: &[Vec<u32>]) -> [Vec<u8>; 3] {
        let (mut bytes, mut lows, mut highs) = (Vec::new(), Vec::new(), Vec::new());
        for list in lists {
            let start = bytes.len();
            bytes.resize(start + list.len() + SLACK, 0);
            let common = common_bit(list).is_some();
            put_list(list, common, &mut bytes[start..], &mut lows, &mut highs);
            bytes.truncate(start + list.len());
        }
        [bytes, lows, highs]
    }

    fn assert_round_trip(lists: &[Vec<u32>]) {
        let [bytes, lows, highs] = encode(lists);
        let (raw, all) = join([&bytes, &lows, &highs]);
        let mut rest = all;
        for list in lists {
            let spans = rest.take(&raw, list.len()).unwrap();
            assert_eq!(get(&raw, spans, common_bit(list)).unwrap(), list[..]);
        }
        for span in [rest.gaps, rest.lows, rest.highs] {
            assert_eq!(span.at, span.end);
        }
        let mut skipped = all;
        skipped.take(&raw, lists.iter().map(Vec::len).sum()).unwrap();
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
        fn long_gaps_are_counted(
            bytes in proptest::collection::vec(prop_oneof![any::<u8>(), Just(255)], 0..5000),
        ) {
            let long = bytes.iter().filter(|byte| **byte >= 192).count();
            prop_assert_eq!(count_longs(&bytes), (long, bytes.contains(&255)));
        }

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
            if let Some(spans) = lists.clone().take(&raw, count)
                && let Some(values) = get(&raw, spans, bit)
            {
                prop_assert!(values.is_sorted_by(|a, b| a < b));
            }
        }
    }

    #[test]
    fn lists_at_both_ends_of_the_range_round_trip() {
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
            let spans = lists.take(&raw, 2).unwrap();
            assert_eq!(get(&raw, spans, Some(last & 1)), None);
        }
    }
}
