//! Numbers of configuration sets.

use rustc_hash::FxHashMap;

use crate::symbolic::error::StepError;
use crate::symbolic::index::bits::ConfigSet;

/// Number of bits of a set's number.
pub(super) const SET_NUMBER_BITS: u32 = 20;

/// Configuration sets of all levels, by number. There are about ten thousand.
pub(crate) struct ConfigSetTable {
    sets: Vec<ConfigSet>,
    numbers: FxHashMap<ConfigSet, u32>,
}

impl ConfigSetTable {
    /// A table with the empty set as number 0.
    pub(crate) fn new() -> ConfigSetTable {
        let mut sets = ConfigSetTable { sets: Vec::new(), numbers: FxHashMap::default() };
        sets.add(ConfigSet::default());
        sets
    }

    fn add(&mut self, set: ConfigSet) -> u32 {
        let number = self.sets.len() as u32;
        self.sets.push(set);
        self.numbers.insert(set, number);
        number
    }

    /// The number of a set, which is added if it is not in the table.
    ///
    /// # Errors
    /// [`StepError::TooMany`] if the numbers are used up.
    pub(crate) fn number(&mut self, set: ConfigSet) -> Result<u32, StepError> {
        if let Some(number) = self.numbers.get(&set) {
            return Ok(*number);
        }
        let limit = 1 << SET_NUMBER_BITS;
        if self.sets.len() >= limit {
            return Err(StepError::TooMany { what: "sets of configurations", limit });
        }
        Ok(self.add(set))
    }

    /// Number of sets.
    pub(crate) fn len(&self) -> usize {
        self.sets.len()
    }

    /// The set with a number.
    #[inline(always)]
    pub(super) fn get(&self, number: u32) -> ConfigSet {
        self.sets[number as usize]
    }

    /// The sets with this number or a larger one.
    pub(crate) fn starting_at(&self, number: usize) -> &[ConfigSet] {
        &self.sets[number..]
    }

    /// Memory in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.sets.capacity() * size_of::<ConfigSet>()
            + self.numbers.capacity() * (2 * size_of::<u64>() + 1)
    }
}
