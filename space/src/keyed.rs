//! The default for simple spaces: key in, successor keys out, no tables.

use crate::digest::{Weight, mix};
use crate::error::SpaceError;
use crate::state::{Finish, RegionKey, State};
use crate::state_space::StateSpace;

/// A state space in which a state is one integer key.
///
/// Edges must be undirected. See the crate's example.
pub trait KeySpace: Send + Sync + 'static {
    /// The keys the search starts from.
    fn seeds(&self) -> Vec<Seed>;

    /// Keys are below `2^key_bits()`, at most 63.
    fn key_bits(&self) -> u32;

    /// Appends the keys one move away from `key`; repetitions are allowed.
    fn successors(&self, key: u64, out: &mut Vec<u64>);

    /// The goal, where there is a single one and the search is to stop at it.
    fn goal(&self) -> Option<u64> {
        None
    }

    /// How many low bits of the key stay inside a region. Successors that differ in these only
    /// are cheap, and a layer needs memory for one region at a time; half of the bits, at most
    /// 12, is a good start.
    fn local_bits(&self) -> u32 {
        (self.key_bits() / 2).min(12)
    }

    /// The key's part of a layer's digest, see [`crate::Digest`].
    fn weight(&self, key: u64) -> Weight {
        Weight::hash(key)
    }

    /// The key in words.
    fn text(&self, key: u64) -> String;
}

/// A key the search starts from.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Seed {
    key: u64,
    side: u32,
}

impl Seed {
    /// A key on the side of the start.
    pub fn start(key: u64) -> Seed {
        Seed { key, side: 0 }
    }

    /// A key on the side of the goal: the search then grows from both and stops where they meet.
    pub fn goal(key: u64) -> Seed {
        Seed { key, side: 1 }
    }
}

/// Makes a [`StateSpace`] of a [`KeySpace`]: the high bits of the key are the region.
#[derive(Debug)]
pub struct Keyed<S> {
    space: S,
    local_bits: u32,
}

impl<S: KeySpace> Keyed<S> {
    /// With both sides a region has at most 2^24 states, as many as a file's block takes.
    pub const MOST_LOCAL_BITS: u32 = 23;

    /// Wraps a space.
    ///
    /// # Errors
    /// If keys have more than 63 bits or more than [`Self::MOST_LOCAL_BITS`] of them are local.
    pub fn new(space: S) -> Result<Keyed<S>, SpaceError> {
        let (key_bits, local_bits) = (space.key_bits(), space.local_bits());
        if key_bits > 63 {
            return Err(SpaceError::KeyTooWide { bits: key_bits, limit: 63 });
        }
        if local_bits > Self::MOST_LOCAL_BITS {
            let limit = Self::MOST_LOCAL_BITS;
            return Err(SpaceError::KeyTooWide { bits: local_bits, limit });
        }
        Ok(Keyed { space, local_bits })
    }

    /// The space inside.
    pub fn space(&self) -> &S {
        &self.space
    }

    fn key(&self, state: State) -> u64 {
        (state.region.0 as u64) << self.local_bits | u64::from(state.local >> 1)
    }

    fn state(&self, key: u64, side: u32) -> State {
        let low = key & ((1 << self.local_bits) - 1);
        let region = RegionKey((key >> self.local_bits).into());
        State { region, local: (low as u32) << 1 | side }
    }
}

impl<S: KeySpace> StateSpace for Keyed<S> {
    fn seeds(&self) -> Vec<State> {
        self.space.seeds().into_iter().map(|seed| self.state(seed.key, seed.side)).collect()
    }

    fn finish(&self) -> Finish {
        match self.space.goal() {
            Some(goal) => Finish::State(self.state(goal, 0)),
            None if self.space.seeds().iter().any(|seed| seed.side == 1) => Finish::Meeting,
            None => Finish::Exhausted,
        }
    }

    fn moves(&self, state: State, out: &mut Vec<State>) {
        let mut keys = Vec::new();
        self.space.successors(self.key(state), &mut keys);
        out.extend(keys.into_iter().map(|key| self.state(key, state.local & 1)));
    }

    fn shard_hash(&self, region: RegionKey) -> u64 {
        mix(region.0 as u64)
    }

    fn weight(&self, state: State) -> Weight {
        let weight = self.space.weight(self.key(state));
        // No key is so large.
        if state.local & 1 == 0 { weight } else { weight * Weight::hash(u64::MAX) }
    }

    fn text(&self, state: State) -> String {
        self.space.text(self.key(state))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Wide {
        local_bits: u32,
    }

    impl KeySpace for Wide {
        fn seeds(&self) -> Vec<Seed> {
            vec![Seed::start(0)]
        }
        fn key_bits(&self) -> u32 {
            63
        }
        fn local_bits(&self) -> u32 {
            self.local_bits
        }
        fn successors(&self, _: u64, _: &mut Vec<u64>) {}
        fn text(&self, key: u64) -> String {
            key.to_string()
        }
    }

    #[test]
    fn regions_that_no_file_could_hold_are_refused() {
        assert!(Keyed::new(Wide { local_bits: 23 }).is_ok());
        let error = Keyed::new(Wide { local_bits: 24 }).err();
        assert_eq!(error, Some(SpaceError::KeyTooWide { bits: 24, limit: 23 }));
    }
}
