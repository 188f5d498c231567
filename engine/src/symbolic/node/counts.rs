//! State counts that exceed the 32 bits of a node.

use rustc_hash::FxHashMap;

use crate::symbolic::node::record::LARGE;

/// Large state counts, by node.
#[derive(Default)]
pub(crate) struct LargeCounts(FxHashMap<u32, u64>);

impl LargeCounts {
    /// The state count of a node. `stored` is the value of its 32-bit field.
    #[inline(always)]
    pub(crate) fn states(&self, id: usize, stored: u32) -> u64 {
        if stored < LARGE { stored.into() } else { self.large_states(id) }
    }

    #[cold]
    fn large_states(&self, id: usize) -> u64 {
        self.0.get(&(id as u32)).copied().unwrap_or(LARGE.into())
    }

    /// Records a node's state count. Returns the value for its 32-bit field.
    #[inline(always)]
    pub(crate) fn store(&mut self, id: u32, states: u64) -> u32 {
        let stored = states.min(LARGE.into()) as u32;
        if stored == LARGE {
            self.0.insert(id, states);
        }
        stored
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_32_bits_and_more_are_stored_beside_the_node() {
        let mut large_counts = LargeCounts::default();
        for (id, states) in (1..).zip([0, 1, 1 << 31, u32::MAX.into(), 1 << 32, 3 << 60]) {
            let stored = large_counts.store(id, states);
            assert_eq!(large_counts.states(id as usize, stored), states);
        }
    }
}
