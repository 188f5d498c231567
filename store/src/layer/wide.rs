//! Encoding of lists of wide locals, in three columns.
//!
//! Wide locals are far apart, and the low bits of their gaps are random. So each gap is split into a high
//! part and low bits; all gaps of a list have the same number of low bits. The first column has one byte
//! for each high part. The second column has a byte with the number of low bits, then the packed low bits.
//! The third column has, as varints, the rest of high parts that do not fit a byte. The decoder never
//! reads past its input and reports malformed input as `None`.

use crate::layer::gaps::Lists;
use crate::layer::local::{LocalWidth, LocalWord};
use crate::layer::span::Span;
use crate::layer::varint;

/// The byte of a high part that is this or more.
const MOST: u64 = 255;

/// Number of bits of the mean high part, chosen so that few high parts exceed a byte. A compressed byte
/// takes about log2(mean) + 1.5 bits, as many as these bits would take among the low bits.
const HIGH_BITS: u32 = 6;

/// Bits that one read or write moves.
const STEP: u32 = 56;

/// The lowest bit of all locals of a list, if they share it.
pub(crate) fn common_bit<L: LocalWord>(list: &[L]) -> Option<u32> {
    let bit = |local: &L| (*local).into() as u32 & 1;
    let first = bit(list.first()?);
    list.iter().all(|local| bit(local) == first).then_some(first)
}

/// Encodes a strictly increasing list; if `common`, without the lowest bit of each local. `bytes` has room
/// for one byte per local.
pub(crate) fn put_list<L: LocalWord>(
    list: &[L],
    common: bool,
    bytes: &mut [u8],
    lows: &mut Vec<u8>,
    highs: &mut Vec<u8>,
) {
    let Some(last) = list.last() else { return };
    let shift = u32::from(common);
    let length = last.length().saturating_sub(shift);
    let bits = low_bits(length, list.len());
    lows.push(bits as u8);
    let start = lows.len();
    let used = low_bytes(list.len(), bits);
    // The last write may extend beyond the bytes that are used.
    lows.resize(start + used + 2 * size_of::<u64>(), 0);
    let mut writer = BitWriter { bytes: &mut lows[start..], at: 0, pending: 0, fill: 0 };
    let mask = (1_u128 << bits) - 1;
    let mut next = 0;
    for (local, byte) in list.iter().zip(bytes) {
        let value = (*local).into() >> shift;
        let gap = value - next;
        next = value.wrapping_add(1);
        let high = (gap >> bits) as u64;
        *byte = high.min(MOST) as u8;
        if high >= MOST {
            // At most 32 bits: the gap is at most the last local.
            varint::put(highs, (high - MOST) as u32);
        }
        writer.put(gap & mask, bits);
    }
    writer.finish();
    lows.truncate(start + used);
}

/// Number of low bits of the gaps of a list whose last value has `length` bits. The high parts then have
/// at most 32 bits.
fn low_bits(length: u32, count: usize) -> u32 {
    length.saturating_sub((count.ilog2() + HIGH_BITS).min(u32::BITS))
}

/// Number of bytes of the packed low bits of a list.
fn low_bytes(count: usize, bits: u32) -> usize {
    (count * bits as usize).div_ceil(8)
}

/// Skips `count` locals written by [`put_list`] and returns their bytes in each column.
pub(crate) fn take(lists: &mut Lists, raw: &[u8], count: usize) -> Option<[Span; 3]> {
    let (low, high) = (lists.lows.at, lists.highs.at);
    let at = lists.gaps.take(count)?;
    let very_long =
        raw.get(at..at + count)?.iter().filter(|byte| u64::from(**byte) == MOST).count();
    if lists.lows.left() == 0 {
        return None;
    }
    let bits = *raw.get(low)?;
    lists.lows.take(1 + low_bytes(count, bits.into()))?;
    for _ in 0..very_long {
        lists.highs.varint(raw)?;
    }
    Some(
        [(at, lists.gaps), (low, lists.lows), (high, lists.highs)]
            .map(|(at, rest)| Span { at, end: rest.at }),
    )
}

/// Decodes a list, given as its common lowest bit and its three columns. Passes each local to `put`.
pub(crate) fn get_list<L: LocalWord>(
    bit: Option<u32>,
    columns: [&[u8]; 3],
    mut put: impl FnMut(L),
) -> Option<()> {
    let [gaps, lows, mut highs] = columns;
    if gaps.is_empty() {
        return (lows.is_empty() && highs.is_empty()).then_some(());
    }
    let (bits, lows) = lows.split_first()?;
    let (bits, shift) = (u32::from(*bits), u32::from(bit.is_some()));
    let least = u128::from(bit.unwrap_or(0));
    let most = u128::MAX >> (u128::BITS - L::WIDTH.bits()) >> shift;
    let greatest = most.length() - HIGH_BITS;
    if bits > greatest || lows.len() != low_bytes(gaps.len(), bits) {
        return None;
    }
    let mut next = Some(0_u128);
    let mut reader = BitReader { bytes: lows, at: 0 };
    for byte in gaps {
        let mut high = u128::from(*byte);
        if u64::from(*byte) == MOST {
            let mut at = 0;
            high += u128::from(varint::get(highs, &mut at)?);
            highs = &highs[at..];
        }
        // In locals of two words, nothing can overflow: a high part has at most 33 bits.
        let shifted = high << bits;
        if L::WIDTH == LocalWidth::Four && shifted >> bits != high {
            return None;
        }
        let value = next?.checked_add(shifted | reader.take(bits))?;
        if value > most {
            return None;
        }
        put(L::truncate(value << shift | least));
        next = value.checked_add(1);
    }
    highs.is_empty().then_some(())
}

/// Writes numbers of any number of bits into bytes, low bits first.
struct BitWriter<'a> {
    bytes: &'a mut [u8],
    at: usize,
    /// Bits that are not in `bytes` yet: the lowest `fill`, fewer than eight.
    pending: u64,
    fill: u32,
}

impl BitWriter<'_> {
    #[inline(always)]
    fn put(&mut self, value: u128, bits: u32) {
        if bits <= STEP {
            self.put_some(value as u64, bits);
            return;
        }
        let mut done = 0;
        while done < bits {
            let step = STEP.min(bits - done);
            self.put_some((value >> done) as u64 & ((1 << step) - 1), step);
            done += step;
        }
    }

    #[inline(always)]
    fn put_some(&mut self, value: u64, bits: u32) {
        self.pending |= value << self.fill;
        self.fill += bits;
        self.bytes[self.at..self.at + 8].copy_from_slice(&self.pending.to_le_bytes());
        self.at += (self.fill / 8) as usize;
        self.pending >>= self.fill / 8 * 8;
        self.fill %= 8;
    }

    fn finish(self) {
        self.bytes[self.at] = self.pending as u8;
    }
}

/// Reads numbers of any number of bits.
struct BitReader<'a> {
    bytes: &'a [u8],
    /// Number of bits read so far.
    at: usize,
}

impl BitReader<'_> {
    #[inline(always)]
    fn take(&mut self, bits: u32) -> u128 {
        if bits <= STEP {
            return self.take_some(bits).into();
        }
        let (mut value, mut done) = (0, 0);
        while done < bits {
            let step = STEP.min(bits - done);
            value |= u128::from(self.take_some(step)) << done;
            done += step;
        }
        value
    }

    #[inline(always)]
    fn take_some(&mut self, bits: u32) -> u64 {
        let rest = self.bytes.get(self.at / 8..).unwrap_or_default();
        let word = match rest.first_chunk() {
            Some(chunk) => u64::from_le_bytes(*chunk),
            None => {
                let mut chunk = [0; 8];
                chunk[..rest.len()].copy_from_slice(rest);
                u64::from_le_bytes(chunk)
            }
        };
        let value = word >> (self.at % 8) & ((1 << bits) - 1);
        self.at += bits as usize;
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layer::gaps::SLACK;
    use proptest::prelude::*;

    fn encode<L: LocalWord>(list: &[L]) -> (Option<u32>, [Vec<u8>; 3]) {
        let bit = common_bit(list);
        let (mut bytes, mut lows, mut highs) = (vec![0; list.len()], Vec::new(), Vec::new());
        put_list(list, bit.is_some(), &mut bytes, &mut lows, &mut highs);
        (bit, [bytes, lows, highs])
    }

    fn get<L: LocalWord>(bit: Option<u32>, columns: [&[u8]; 3]) -> Option<Vec<L>> {
        let mut found = Vec::new();
        get_list(bit, columns, |local| found.push(local))?;
        Some(found)
    }

    /// Encodes a list twice in a row, and decodes both copies.
    fn assert_round_trip<L: LocalWord>(list: &[L]) {
        let (bit, columns) = encode(list);
        let mut raw = Vec::new();
        let spans = columns.each_ref().map(|column| {
            let at = raw.len();
            raw.extend_from_slice(column);
            raw.extend_from_slice(column);
            Span { at, end: raw.len() }
        });
        raw.extend_from_slice(&[0xff; SLACK]);
        let [gaps, lows, highs] = spans;
        let mut lists = Lists { gaps, lows, highs };
        for _ in 0..2 {
            let spans = take(&mut lists, &raw, list.len()).unwrap();
            let found = get::<L>(bit, spans.map(|span| &raw[span.at..span.end]));
            assert_eq!(found.as_deref(), Some(list));
        }
        assert_eq!([lists.gaps, lists.lows, lists.highs].map(|span| span.left()), [0; 3]);
    }

    fn check<L: LocalWord>(locals: &[u128], side: Option<u128>) {
        let side = |local: u128| side.map_or(local, |side| local & !1 | side);
        let mut list: Vec<L> = locals.iter().map(|local| L::truncate(side(*local))).collect();
        list.sort_unstable();
        list.dedup();
        assert_round_trip(&list);
    }

    proptest! {
        #[test]
        fn lists_round_trip(
            locals in proptest::collection::vec(any::<u128>(), 1..300),
            shift in 0_u32..120, far: Option<u128>, side in proptest::option::of(0_u128..2),
        ) {
            let mut locals: Vec<u128> = locals.into_iter().map(|local| local >> shift).collect();
            locals.extend(far);
            check::<u64>(&locals, side);
            check::<u128>(&locals, side);
        }

        #[test]
        fn garbage_never_panics(
            gaps in proptest::collection::vec(prop_oneof![any::<u8>(), Just(255_u8)], 0..40),
            lows in proptest::collection::vec(any::<u8>(), 0..100), bits in 0_u8..140,
            highs in proptest::collection::vec(any::<u8>(), 0..50),
            count in 1_usize..50, bit in proptest::option::of(0_u32..2),
        ) {
            let fit = low_bytes(gaps.len(), bits.into()).min(lows.len());
            for lows in [&lows[..], &lows[..fit]] {
                let lows = [&[bits], lows].concat();
                let wide = get::<u128>(bit, [&gaps, &lows, &highs]);
                prop_assert!(wide.is_none_or(|list| list.is_sorted_by(|a, b| a < b)));
                let list = get::<u64>(bit, [&gaps, &lows, &highs]);
                prop_assert!(list.is_none_or(|list| list.is_sorted_by(|a, b| a < b)));
            }
            let raw = [&gaps[..], &[bits], &lows, &highs, &[0xff; SLACK]].concat();
            let ends = [gaps.len(), gaps.len() + 1 + lows.len(), raw.len() - SLACK];
            let mut lists = Lists {
                gaps: Span { at: 0, end: ends[0] },
                lows: Span { at: ends[0], end: ends[1] },
                highs: Span { at: ends[1], end: ends[2] },
            };
            if let Some(spans) = take(&mut lists, &raw, count) {
                prop_assert!(spans.iter().all(|span| span.end <= raw.len()));
            }
        }
    }

    #[test]
    fn lists_at_both_ends_of_the_range_round_trip() {
        const END: u128 = u128::MAX;
        for list in [
            vec![0],
            vec![END],
            vec![END - 1],
            vec![0, END],
            vec![1, END],
            vec![0, 2, END - 1],
            (END - 40..=END).collect(),
        ] {
            assert_round_trip(&list);
            let short: Vec<u64> = list.iter().map(|local| *local as u64).collect();
            assert_round_trip(&short);
        }
        // One past the end of the range overflows.
        for (bit, last) in [(None, END), (Some(1), END), (Some(0), END - 1)] {
            let (mut bytes, mut lows, mut highs) = (vec![0], Vec::new(), Vec::new());
            put_list(&[last], bit.is_some(), &mut bytes, &mut lows, &mut highs);
            assert!(get::<u128>(bit, [&bytes, &lows, &highs]).is_some());
            assert_eq!(get::<u64>(bit, [&bytes, &lows, &highs]), None);
            bytes.push(0);
            lows.resize(1 + low_bytes(2, lows[0].into()), 0);
            assert_eq!(get::<u128>(bit, [&bytes, &lows, &highs]), None);
        }
    }

    /// A list in memory may have more states than an entry in a file.
    #[test]
    fn the_high_part_of_a_gap_fits_a_varint() {
        assert_eq!(low_bits(64, 1 << 24), 64 - 24 - HIGH_BITS);
        for count in [1, 1 << 24, 1 << 26, 1 << 27, 1 << 40] {
            for length in [0, 30, 33, 64, 128] {
                assert!(length - low_bits(length, count) <= u32::BITS);
            }
        }
    }

    #[test]
    fn a_list_with_another_number_of_low_bits_is_refused() {
        let (bit, [bytes, mut lows, highs]) = encode(&[5_u64, 1 << 40, 1 << 60]);
        assert!(get::<u64>(bit, [&bytes, &lows, &highs]).is_some());
        lows[0] += 8;
        assert_eq!(get::<u64>(bit, [&bytes, &lows, &highs]), None);
        assert_eq!(get::<u64>(bit, [&bytes, &[], &highs]), None);
        assert_eq!(get::<u64>(bit, [&[], &[], &[]]), Some(Vec::new()));
    }
}
