//! Memo entries: keys and expansions encoded as words.

use std::hash::Hasher;

use rustc_hash::FxHasher;
use strata_space::Weight;
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
    /// The common side of all states.
    side: u32,
}

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
    let header = header_of(words);
    let bytes = [
        header.key,
        8 * header.exits,
        4 * header.exit_locals,
        header.gaps,
        header.lows,
        header.highs,
    ];
    &words[..HEADER_WORDS + bytes.iter().map(|bytes| bytes.div_ceil(8) as usize).sum::<usize>()]
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
    let bit = (!gaps.is_empty()).then_some(header.side);
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
