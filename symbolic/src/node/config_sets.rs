//! Config sets.

use rustc_hash::FxHashMap;

use crate::error::StepError;
use crate::index::bits::Configs;

/// Sets of configurations are numbered in so many bits.
pub(super) const SET_BITS: u32 = 20;

/// Numbers of sets of configurations, whatever their level: there are some ten thousand.
pub(crate) struct ConfigSets {
    sets: Vec<Configs>,
    numbers: FxHashMap<Configs, u32>,
}

impl ConfigSets {
    /// Number 0 is the empty set.
    pub(crate) fn new() -> ConfigSets {
        let mut sets = ConfigSets { sets: Vec::new(), numbers: FxHashMap::default() };
        sets.add(Configs::default());
        sets
    }

    fn add(&mut self, set: Configs) -> u32 {
        let number = self.sets.len() as u32;
        self.sets.push(set);
        self.numbers.insert(set, number);
        number
    }

    /// The number of a set, a new one if it is met for the first time.
    pub(crate) fn number(&mut self, set: Configs) -> Result<u32, StepError> {
        if let Some(number) = self.numbers.get(&set) {
            return Ok(*number);
        }
        let most = 1 << SET_BITS;
        if self.sets.len() >= most {
            return Err(StepError::TooMany { what: "sets of configurations", limit: most });
        }
        Ok(self.add(set))
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.sets.len()
    }

    /// Those from a number on.
    /// The set of a number.
    #[inline(always)]
    pub(super) fn get(&self, number: u32) -> Configs {
        self.sets[number as usize]
    }

    pub(crate) fn since(&self, number: usize) -> &[Configs] {
        &self.sets[number..]
    }

    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> usize {
        self.sets.capacity() * size_of::<Configs>()
            + self.numbers.capacity() * (2 * size_of::<u64>() + 1)
    }
}
