//! Counts.

use rustc_hash::FxHashMap;

use crate::node::record::MANY;

/// Numbers of states that nodes have no room for.
#[derive(Default)]
pub(crate) struct Many(FxHashMap<u32, u64>);

impl Many {
    /// How many states a node has, of which many are noted here.
    #[inline(always)]
    pub(crate) fn states(&self, id: usize, noted: u32) -> u64 {
        if noted < MANY { noted.into() } else { self.many_states(id) }
    }

    #[cold]
    fn many_states(&self, id: usize) -> u64 {
        self.0.get(&(id as u32)).copied().unwrap_or(MANY.into())
    }

    /// What a node notes of its number of states.
    #[inline(always)]
    pub(crate) fn note(&mut self, id: u32, states: u64) -> u32 {
        let noted = states.min(MANY.into()) as u32;
        if noted == MANY {
            self.0.insert(id, states);
        }
        noted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_states_are_noted_beside_the_node() {
        let mut many = Many::default();
        for (id, states) in (1..).zip([0, 1, 1 << 31, u32::MAX.into(), 1 << 32, 3 << 60]) {
            let noted = many.note(id, states);
            assert_eq!(many.states(id as usize, noted), states);
        }
    }
}
