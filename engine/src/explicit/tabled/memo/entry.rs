//! Memo entries: keys and expansions encoded as words.

use std::hash::Hasher;

use rustc_hash::FxHasher;
use strata_space::{ExitEdge, Local, RegionKey, Weight};
use strata_store::List;

use crate::explicit::tabled::expansion::Expansion;

/// Header of an entry. The key and the parts of the expansion follow, each padded to words.
#[repr(C)]
#[derive(Copy, Clone, bytemuck::Pod, bytemuck::Zeroable)]
struct EntryHeader {
    /// Weight sums of the common side of all states, by image. Those of the other side are zero.
    weight_sums: [[u64; 2]; 2],
    /// Length of the key, in bytes.
    key: u32,
    exits: u32,
    exit_locals: u32,
    gaps: u32,
    lows: u32,
    highs: u32,
    generated: u32,
    /// The common side of all states; with [`FOREIGN`] if another process has computed the entry.
    side: u32,
}

/// Bit of [`EntryHeader::side`] of an entry from another process.
const FOREIGN: u32 = 1 << 1;

/// The least number of bytes of a key: class and side, and the lengths of two lists.
const LEAST_KEY: u32 = 12;

const HEADER_WORDS: usize = size_of::<EntryHeader>() / size_of::<u64>();

/// Hash of a key.
#[inline]
pub(in crate::explicit::tabled) fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(bytes);
    hasher.finish()
}

/// Appends an entry. All states of the expansion must have one side.
pub(super) fn encode(key: &[u8], expansion: &Expansion<'_>, words: &mut Vec<u64>) {
    let List { bit, gaps, lows, highs, width: _ } = expansion.next;
    let side = bit.unwrap_or(0);
    debug_assert_eq!(
        expansion.weight_sums[side as usize ^ 1],
        [Weight::ZERO; 2],
        "the states have one side"
    );
    let header = EntryHeader {
        weight_sums: expansion.weight_sums[side as usize].map(|weight| weight.0),
        key: key.len() as u32,
        exits: expansion.exits.len() as u32,
        exit_locals: expansion.exit_locals.len() as u32,
        gaps: gaps.len() as u32,
        lows: lows.len() as u32,
        highs: highs.len() as u32,
        generated: expansion.generated,
        side,
    };
    words.extend_from_slice(bytemuck::cast_slice(&[header]));
    let parts: [&[u8]; 6] = [
        key,
        bytemuck::cast_slice(expansion.exits),
        bytemuck::cast_slice(expansion.exit_locals),
        gaps,
        lows,
        highs,
    ];
    for part in parts {
        let (whole, rest) = part.as_chunks();
        words.extend(whole.iter().map(|word| u64::from_ne_bytes(*word)));
        if !rest.is_empty() {
            let mut word = [0; 8];
            word[..rest.len()].copy_from_slice(rest);
            words.push(u64::from_ne_bytes(word));
        }
    }
}

/// The header of the entry at the start of `words`.
#[inline]
fn header_of(words: &[u64]) -> &EntryHeader {
    bytemuck::from_bytes(bytemuck::cast_slice(&words[..HEADER_WORDS]))
}

/// The key of the entry at the start of `words`.
#[inline]
pub(super) fn key_of(words: &[u64]) -> &[u8] {
    let len = header_of(words).key as usize;
    &bytemuck::cast_slice(&words[HEADER_WORDS..])[..len]
}

/// The words of the entry at the start of `words`.
pub(super) fn entry_words(words: &[u64]) -> &[u64] {
    &words[..words_of(header_of(words))]
}

/// The number of words of an entry with this header.
fn words_of(header: &EntryHeader) -> usize {
    let bytes = [
        u64::from(header.key),
        8 * u64::from(header.exits),
        4 * u64::from(header.exit_locals),
        header.gaps.into(),
        header.lows.into(),
        header.highs.into(),
    ];
    HEADER_WORDS + bytes.iter().map(|bytes| bytes.div_ceil(8) as usize).sum::<usize>()
}

/// Whether another process has computed the entry at the start of `words`.
#[inline]
pub(super) fn is_foreign(words: &[u64]) -> bool {
    header_of(words).side & FOREIGN != 0
}

/// Words of the region before an entry for other processes.
const REGION_WORDS: usize = size_of::<u128>() / size_of::<u64>();

/// Appends an entry for other processes: a region of the key's class, which they number differently, then
/// the entry.
pub(super) fn put_for_others(region: RegionKey, entry: &[u64], to: &mut Vec<u64>) {
    to.extend([region.0 as u64, (region.0 >> 64) as u64]);
    to.extend_from_slice(entry);
}

/// Bounds of the numbers in an entry.
#[derive(Copy, Clone, Debug)]
pub(in crate::explicit::tabled) struct EntryLimits {
    /// The least number that is no local.
    pub(in crate::explicit::tabled) locals: u32,
    pub(in crate::explicit::tabled) exit_edges: ExitEdge,
}

/// The first of the entries that another process has put for this one: its region, its words and the words
/// after it. None if it is malformed. `locals` is scratch memory.
pub(super) fn first_of_others<'a>(
    words: &'a [u64],
    limits: EntryLimits,
    locals: &mut Vec<Local>,
) -> Option<(RegionKey, &'a [u64], &'a [u64])> {
    let (region, words) = words.split_at_checked(REGION_WORDS)?;
    let region = RegionKey(u128::from(region[1]) << 64 | u128::from(region[0]));
    let header = header_of(words.get(..HEADER_WORDS)?);
    let (entry, rest) = words.split_at_checked(words_of(header))?;
    let key_side = key_of(entry).first().filter(|_| header.key >= LEAST_KEY)? & 1;
    let has_side = header.side <= 1 && (header.gaps == 0 || header.side == u32::from(key_side));
    let Expansion { next, exits, exit_locals, .. } = decode(entry);
    next.decode_locals(locals)?;
    let are_locals = |locals: &[Local]| locals.iter().all(|local| *local < limits.locals);
    let is_ordered =
        locals.is_sorted_by(|a, b| a < b) && exits.is_sorted_by(|a, b| a.edge < b.edge);
    let has_edges = exits.iter().all(|exit| exit.edge < u32::from(limits.exit_edges));
    let count: u64 = exits.iter().map(|exit| u64::from(exit.count)).sum();
    let is_sound = has_side
        && is_ordered
        && has_edges
        && are_locals(locals)
        && are_locals(exit_locals)
        && count == exit_locals.len() as u64;
    is_sound.then_some((region, entry, rest))
}

/// Replaces the content of `words` by an entry of another process, with the number that its class has here, and
/// marked as foreign.
pub(super) fn adopt(entry: &[u64], class: u32, words: &mut Vec<u64>) {
    words.clear();
    words.extend_from_slice(entry);
    let header: &mut EntryHeader =
        bytemuck::from_bytes_mut(bytemuck::cast_slice_mut(&mut words[..HEADER_WORDS]));
    header.side |= FOREIGN;
    let key: &mut [u32] = bytemuck::cast_slice_mut(&mut words[HEADER_WORDS..]);
    key[0] = class << 1 | key[0] & 1;
}

/// The expansion of the entry at the start of `words`.
#[inline]
pub(super) fn decode(words: &[u64]) -> Expansion<'_> {
    let header = header_of(words);
    let mut rest = &words[HEADER_WORDS + header.key.div_ceil(8) as usize..];
    let mut part = |bytes: u32| {
        let (part, after) = rest.split_at(bytes.div_ceil(8) as usize);
        rest = after;
        &bytemuck::cast_slice::<u64, u8>(part)[..bytes as usize]
    };
    let mut weight_sums = [[Weight::ZERO; 2]; 2];
    weight_sums[header.side as usize & 1] = header.weight_sums.map(Weight);
    let exits = bytemuck::cast_slice(part(8 * header.exits));
    let exit_locals = bytemuck::cast_slice(part(4 * header.exit_locals));
    let (gaps, lows, highs) = (part(header.gaps), part(header.lows), part(header.highs));
    let bit = (!gaps.is_empty()).then_some(header.side & 1);
    Expansion {
        next: List { bit, gaps, lows, highs, ..List::EMPTY },
        generated: header.generated,
        weight_sums,
        exits,
        exit_locals,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::explicit::tabled::expansion::ExitCount;
    use proptest::prelude::*;
    use strata_space::Local;
    use strata_store::ListBuf;

    /// An expansion that depends only on the key.
    pub(crate) struct TestExpansion {
        list: ListBuf,
        exits: Vec<ExitCount>,
        exit_locals: Vec<Local>,
        seed: u32,
    }

    impl TestExpansion {
        pub(crate) fn of(key: &[u8]) -> TestExpansion {
            let seed = key.iter().fold(7, |seed: u32, byte| seed * 31 % 65_521 + u32::from(*byte));
            let mut list = ListBuf::default();
            let states: Vec<u32> =
                (0..seed % 40).map(|i| 2 * i * (seed % 900 + 2) + (seed & 1)).collect();
            list.encode(&states);
            let exits = (0..seed % 3).map(|edge| ExitCount { edge, count: 1 }).collect();
            let exit_locals = states.into_iter().take(seed as usize % 3).collect();
            TestExpansion { list, exits, exit_locals, seed }
        }

        pub(crate) fn expansion(&self) -> Expansion<'_> {
            let weight = Weight([u64::from(self.seed), 3]);
            let mut weight_sums = [[Weight::ZERO; 2]; 2];
            if let Some(side) = self.list.list().bit {
                weight_sums[side as usize] = [weight, Weight::ONE];
            }
            Expansion {
                next: self.list.list(),
                generated: self.seed,
                weight_sums,
                exits: &self.exits,
                exit_locals: &self.exit_locals,
            }
        }
    }

    proptest! {
        #[test]
        fn encoded_entries_are_decoded(
            keys in proptest::collection::vec(
                proptest::collection::vec(any::<u8>(), 0..40), 1..20,
            ),
        ) {
            let mut words = Vec::new();
            for key in &keys {
                encode(key, &TestExpansion::of(key).expansion(), &mut words);
            }
            let mut rest = &words[..];
            for key in &keys {
                prop_assert_eq!(key_of(rest), &key[..]);
                let expected = TestExpansion::of(key);
                prop_assert_eq!(decode(rest), expected.expansion());
                rest = &rest[entry_words(rest).len()..];
            }
            prop_assert!(rest.is_empty());
        }
    }
}
