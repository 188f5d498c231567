//! Contents as bytes: a set of configurations by number, and what is below each in as few bits as
//! the largest of them takes.

use crate::index::bits::{ConfigId, Configs};
use crate::memory::reserve::promise;
use crate::node::config_sets::{ConfigSets, SET_BITS};
use crate::node::reference::Ref;

/// A configuration and what hangs below it.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Entry {
    pub(crate) config: ConfigId,
    pub(crate) below: Ref,
}

/// Bytes before what is below: the number of the set of configurations, and the number of bits.
const HEAD: usize = 3;

/// The least number of bits of what is below, so that four bits tell it.
const LEAST_WIDTH: u32 = 17;

/// Zeros after the end: a word can be read at any byte.
const SPARE: usize = size_of::<u64>();

/// A list: which configurations, and where what is below them begins.
#[derive(Copy, Clone, Default)]
pub(crate) struct List {
    pub(crate) configs: Configs,
    begin: usize,
    width: u32,
}

/// Contents, one after another, each from a multiple of so many bytes on.
pub(crate) struct Store<const UNIT: usize> {
    bytes: Vec<u8>,
}

impl<const UNIT: usize> Store<UNIT> {
    /// A store whose first so many units mean nothing, and that is promised so many bytes.
    pub(crate) fn new(units: usize, promised: usize) -> Store<UNIT> {
        let mut bytes = Vec::new();
        promise(&mut bytes, promised);
        bytes.resize(units * UNIT + SPARE, 0);
        Store { bytes }
    }

    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// The list of bytes.
    pub(crate) fn list(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Where the next content begins, in units.
    pub(crate) fn end(&self) -> usize {
        (self.bytes.len() - SPARE) / UNIT
    }

    /// Adds a content that begins with so many zeros.
    pub(crate) fn push(&mut self, zeros: usize, content: &[u8]) {
        let end = self.bytes.len() - SPARE + zeros;
        self.bytes.resize(end, 0);
        self.bytes.extend_from_slice(content);
        let all = (zeros + content.len()).next_multiple_of(UNIT);
        self.bytes.resize(end - zeros + all + SPARE, 0);
    }

    /// The eight bytes from a byte on.
    #[inline(always)]
    pub(crate) fn word(&self, at: usize) -> u64 {
        match self.bytes[at..].first_chunk() {
            Some(bytes) => u64::from_le_bytes(*bytes),
            None => 0,
        }
    }

    /// The four bytes from a byte on.
    #[inline(always)]
    pub(crate) fn half(&self, at: usize) -> u32 {
        self.word(at) as u32
    }

    /// Sets the four bytes from a byte on.
    #[inline(always)]
    pub(crate) fn set_half(&mut self, at: usize, value: u32) {
        self.bytes[at..at + size_of::<u32>()].copy_from_slice(&value.to_le_bytes());
    }

    /// The bytes from a byte on.
    #[inline(always)]
    pub(crate) fn from(&self, at: usize) -> &[u8] {
        &self.bytes[at..]
    }

    /// The list at a byte.
    #[inline(always)]
    pub(crate) fn list_at(&self, sets: &ConfigSets, at: usize) -> List {
        let head = self.half(at);
        let set = head & ((1 << SET_BITS) - 1);
        let width = (head >> SET_BITS & 15) + LEAST_WIDTH;
        List { configs: sets.get(set), begin: at + HEAD, width }
    }

    /// What is below a configuration of a list, by its place.
    #[inline(always)]
    pub(crate) fn below(&self, list: List, at: usize) -> Ref {
        let bit = at * list.width as usize;
        let word = self.word(list.begin + bit / 8) >> (bit % 8);
        Ref::of_word((word & ((1 << list.width) - 1)) as u32)
    }

    /// The entries of a list.
    #[inline(always)]
    pub(crate) fn entries(&self, list: List) -> impl Iterator<Item = Entry> {
        let below = (0..).map(move |at| self.below(list, at));
        list.configs.iter().zip(below).map(|(config, below)| Entry { config, below })
    }

    /// Whether the list at a byte is one that has been packed.
    #[inline(always)]
    pub(crate) fn is_at(
        &self,
        sets: &ConfigSets,
        at: usize,
        configs: Configs,
        packed: &Packed,
    ) -> bool {
        let head = self.half(at);
        head >> SET_BITS & 15 == packed.width - LEAST_WIDTH
            && sets.get(head & ((1 << SET_BITS) - 1)) == configs
            && self.bytes[at + HEAD..].starts_with(&packed.bytes[HEAD..])
    }
}

/// A list that is being packed.
#[derive(Default)]
pub(crate) struct Packed {
    bytes: Vec<u8>,
    width: u32,
}

impl Packed {
    /// Packs what is below the configurations of a list.
    pub(crate) fn pack(&mut self, below: &[u32]) {
        let all = below.iter().fold(0, |all, word| all | word);
        self.width = (u32::BITS - all.leading_zeros()).max(LEAST_WIDTH);
        self.bytes.clear();
        self.bytes.resize(HEAD, 0);
        let (mut word, mut bits) = (0u64, 0);
        for set in below {
            word |= u64::from(*set) << bits;
            bits += self.width;
            if bits >= u32::BITS {
                self.bytes.extend_from_slice(&(word as u32).to_le_bytes());
                word >>= u32::BITS;
                bits -= u32::BITS;
            }
        }
        self.bytes.extend_from_slice(&word.to_le_bytes()[..bits.div_ceil(8) as usize]);
    }

    /// The packed list, its configurations being those of a number.
    pub(crate) fn finish(&mut self, set: u32) -> &[u8] {
        let head = set | (self.width - LEAST_WIDTH) << SET_BITS;
        self.bytes[..HEAD].copy_from_slice(&head.to_le_bytes()[..HEAD]);
        &self.bytes
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_any_width_are_read_as_they_were_packed() {
        let mut sets = ConfigSets::new();
        let mut store = Store::<2>::new(1, 0);
        let mut packed = Packed::default();
        let mut expected = Vec::new();
        for bits in 1..=32 {
            for len in [1, 2, 3, 7, 64] {
                let below: Vec<u32> = (0..len)
                    .map(|at| 0x9e37_79b9u32.wrapping_mul(at + bits) >> (32 - bits))
                    .collect();
                let configs = Configs(u64::MAX >> (64 - len));
                packed.pack(&below);
                let at = store.end() * 2;
                store.push(4, packed.finish(sets.number(configs).unwrap()));
                assert!(store.is_at(&sets, at + 4, configs, &packed));
                assert!(!store.is_at(&sets, at + 4, Configs(configs.0 << 1), &packed));
                expected.push((at, configs, below));
            }
        }
        for (at, configs, below) in expected {
            assert_eq!(store.half(at), 0);
            let list = store.list_at(&sets, at + 4);
            assert_eq!(list.configs, configs);
            let read = (0..below.len()).map(|place| store.below(list, place).word());
            assert!(read.eq(below.iter().copied()));
        }
    }
}
