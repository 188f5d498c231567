//! Packed contents of nodes and exit sets.
//!
//! A list of children is the number of a set of configurations, followed by a reference for each
//! configuration. All references of a list take as many bits as the largest one needs.

use crate::memory::preallocate;
use crate::symbolic::index::bits::{ConfigId, ConfigSet};
use crate::symbolic::node::config_sets::{ConfigSetTable, SET_NUMBER_BITS};
use crate::symbolic::node::reference::Ref;

/// A child of an inner node: a configuration and the set below it.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Child {
    pub(crate) config: ConfigId,
    pub(crate) set: Ref,
}

/// Bytes of a list's header: the number of its configuration set in 20 bits, and the width of a
/// reference in 4.
const HEADER: usize = 3;

/// The smallest width of a reference in bits. Four bits then encode the width.
const MIN_WIDTH: u32 = 17;

/// Number of zero bytes after the end, so that a word can be read at any byte.
const PADDING: usize = size_of::<u64>();

/// A packed list of children.
#[derive(Copy, Clone, Default)]
pub(crate) struct ChildList {
    pub(crate) configs: ConfigSet,
    begin: usize,
    width: u32,
}

/// Contents, one after the other, at multiples of `UNIT` bytes.
pub(crate) struct ContentStore<const UNIT: usize> {
    bytes: Vec<u8>,
}

impl<const UNIT: usize> ContentStore<UNIT> {
    /// A store that begins with `units` unused units, with `prealloc_bytes` bytes preallocated.
    pub(crate) fn new(units: usize, prealloc_bytes: usize) -> ContentStore<UNIT> {
        let mut bytes = Vec::new();
        preallocate(&mut bytes, prealloc_bytes);
        bytes.resize(units * UNIT + PADDING, 0);
        ContentStore { bytes }
    }

    /// Memory in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// The underlying bytes.
    pub(crate) fn bytes_mut(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Offset of the next content, in units.
    pub(crate) fn end_unit(&self) -> usize {
        (self.bytes.len() - PADDING) / UNIT
    }

    /// Appends a content after `zeros` zero bytes.
    pub(crate) fn push(&mut self, zeros: usize, content: &[u8]) {
        let end = self.bytes.len() - PADDING + zeros;
        self.bytes.resize(end, 0);
        self.bytes.extend_from_slice(content);
        let all = (zeros + content.len()).next_multiple_of(UNIT);
        self.bytes.resize(end - zeros + all + PADDING, 0);
    }

    /// The eight bytes at a byte offset.
    #[inline(always)]
    pub(crate) fn u64_at(&self, at: usize) -> u64 {
        match self.bytes[at..].first_chunk() {
            Some(bytes) => u64::from_le_bytes(*bytes),
            None => 0,
        }
    }

    /// The four bytes at a byte offset.
    #[inline(always)]
    pub(crate) fn u32_at(&self, at: usize) -> u32 {
        self.u64_at(at) as u32
    }

    /// Overwrites the four bytes at a byte offset.
    #[inline(always)]
    pub(crate) fn set_u32_at(&mut self, at: usize, value: u32) {
        self.bytes[at..at + size_of::<u32>()].copy_from_slice(&value.to_le_bytes());
    }

    /// All bytes from an offset on.
    #[inline(always)]
    pub(crate) fn bytes_from(&self, at: usize) -> &[u8] {
        &self.bytes[at..]
    }

    /// The list at a byte offset.
    #[inline(always)]
    pub(crate) fn list_at(&self, sets: &ConfigSetTable, at: usize) -> ChildList {
        let header = self.u32_at(at);
        let set = header & ((1 << SET_NUMBER_BITS) - 1);
        let width = (header >> SET_NUMBER_BITS & 15) + MIN_WIDTH;
        ChildList { configs: sets.get(set), begin: at + HEADER, width }
    }

    /// The reference of the child at an index of a list.
    #[inline(always)]
    pub(crate) fn child_at(&self, list: ChildList, at: usize) -> Ref {
        let bit = at * list.width as usize;
        let word = self.u64_at(list.begin + bit / 8) >> (bit % 8);
        Ref::from_word((word & ((1 << list.width) - 1)) as u32)
    }

    /// The children of a list.
    #[inline(always)]
    pub(crate) fn children(&self, list: ChildList) -> impl Iterator<Item = Child> {
        let sets = (0..).map(move |at| self.child_at(list, at));
        list.configs.iter().zip(sets).map(|(config, set)| Child { config, set })
    }

    /// Whether the list at a byte offset equals a packed list with these configurations.
    #[inline(always)]
    pub(crate) fn matches(
        &self,
        sets: &ConfigSetTable,
        at: usize,
        configs: ConfigSet,
        packed: &PackedList,
    ) -> bool {
        let header = self.u32_at(at);
        header >> SET_NUMBER_BITS & 15 == packed.width - MIN_WIDTH
            && sets.get(header & ((1 << SET_NUMBER_BITS) - 1)) == configs
            && self.bytes[at + HEADER..].starts_with(&packed.bytes[HEADER..])
    }
}

/// A packed list under construction.
#[derive(Default)]
pub(crate) struct PackedList {
    bytes: Vec<u8>,
    width: u32,
}

impl PackedList {
    /// Packs references, one for each configuration of the list.
    pub(crate) fn pack(&mut self, children: &[u32]) {
        let all = children.iter().fold(0, |all, word| all | word);
        self.width = (u32::BITS - all.leading_zeros()).max(MIN_WIDTH);
        self.bytes.clear();
        self.bytes.resize(HEADER, 0);
        let (mut word, mut bits) = (0u64, 0);
        for set in children {
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

    /// The packed list, with the number of its configuration set filled in.
    pub(crate) fn finish(&mut self, set: u32) -> &[u8] {
        let header = set | (self.width - MIN_WIDTH) << SET_NUMBER_BITS;
        self.bytes[..HEADER].copy_from_slice(&header.to_le_bytes()[..HEADER]);
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
        let mut sets = ConfigSetTable::new();
        let mut store = ContentStore::<2>::new(1, 0);
        let mut packed = PackedList::default();
        let mut expected = Vec::new();
        for bits in 1..=32 {
            for len in [1, 2, 3, 7, 64] {
                let children: Vec<u32> = (0..len)
                    .map(|at| 0x9e37_79b9u32.wrapping_mul(at + bits) >> (32 - bits))
                    .collect();
                let configs = ConfigSet(u64::MAX >> (64 - len));
                packed.pack(&children);
                let at = store.end_unit() * 2;
                store.push(4, packed.finish(sets.number(configs).unwrap()));
                assert!(store.matches(&sets, at + 4, configs, &packed));
                assert!(!store.matches(&sets, at + 4, ConfigSet(configs.0 << 1), &packed));
                expected.push((at, configs, children));
            }
        }
        for (at, configs, children) in expected {
            assert_eq!(store.u32_at(at), 0);
            let list = store.list_at(&sets, at + 4);
            assert_eq!(list.configs, configs);
            let read = (0..children.len()).map(|place| store.child_at(list, place).word());
            assert!(read.eq(children.iter().copied()));
        }
    }
}
