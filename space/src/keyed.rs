//! Puzzles whose states are integer keys, and the adapter that makes a state space of them.

use crate::digest::{Weight, mix};
use crate::error::SpaceError;
use crate::key::Key;
use crate::state::{Finish, Local, RegionKey, State};
use crate::state_space::StateSpace;

/// A puzzle in which a state is one integer key.
///
/// A space whose moves cannot all be undone says so: see [`Self::is_undirected`].
///
/// ```
/// use strata_space::{KeySpace, Keyed, Seed, StateSpace};
///
/// /// Three cells in a row; a move flips one of them.
/// struct Flips;
///
/// impl KeySpace for Flips {
///     type Key = u64;
///
///     fn seeds(&self) -> Vec<Seed> {
///         vec![Seed::start(0b000)]
///     }
///     fn key_bits(&self) -> u32 {
///         3
///     }
///     fn successors(&self, key: u64, out: &mut Vec<u64>) {
///         out.extend((0..3).map(|cell| key ^ 1 << cell));
///     }
///     fn goal(&self) -> Option<u64> {
///         Some(0b111)
///     }
///     fn text(&self, key: u64) -> String {
///         format!("{key:03b}")
///     }
/// }
///
/// let space = Keyed::new(Flips)?;
/// let mut next = Vec::new();
/// space.moves(space.seeds()[0], &mut next);
/// let next: Vec<String> = next.into_iter().map(|state| space.text(state)).collect();
/// assert_eq!(next, ["001", "010", "100"]);
/// # Ok::<(), strata_space::SpaceError>(())
/// ```
pub trait KeySpace: Send + Sync + 'static {
    /// The type of keys: `u64`, or `u128` for keys of up to 128 bits.
    type Key: Key;

    /// The keys from which the search starts.
    fn seeds(&self) -> Vec<Seed<Self::Key>>;

    /// The number of bits of a key, at most those of the type.
    fn key_bits(&self) -> u32;

    /// Appends the keys one move away from `key`. A key may repeat.
    fn successors(&self, key: Self::Key, out: &mut Vec<Self::Key>);

    /// The goal at which the search stops, if there is a single one.
    fn goal(&self) -> Option<Self::Key> {
        None
    }

    /// Whether each move can be undone by another: a key is among the successors of each of its
    /// successors. If not, engines compare new states with all layers instead of the last two. If it
    /// is said and not true, counts are wrong;
    /// [`check_reversible`](crate::check_reversible) finds it by samples.
    fn is_undirected(&self) -> bool {
        true
    }

    /// The number of low bits of a key that are local, that is, not part of the region.
    ///
    /// Successors in the same region are cheap, and a layer needs memory for one region at a time.
    /// The default is half of the bits, at most 12.
    fn local_bits(&self) -> u32 {
        (self.key_bits() / 2).min(12)
    }

    /// The key's weight in a layer's digest, see [`Digest`](crate::Digest).
    fn weight(&self, key: Self::Key) -> Weight {
        key.weight()
    }

    /// How many positions the key stands for: 1 without symmetry. None if the space does not count
    /// them.
    fn positions(&self, _key: Self::Key) -> Option<u64> {
        Some(1)
    }

    /// The state as text.
    fn text(&self, key: Self::Key) -> String;
}

/// A key from which a search starts, with its side.
///
/// Seeds on both sides make a search from both ends, which stops where the two meet:
///
/// ```
/// use strata_space::Seed;
///
/// let both_ends = vec![Seed::start(0b000_u64), Seed::goal(0b111)];
/// # assert_ne!(both_ends[0], both_ends[1]);
/// ```
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Seed<K = u64> {
    key: K,
    side: u32,
}

impl<K> Seed<K> {
    /// A key on the side of the start.
    pub fn start(key: K) -> Seed<K> {
        Seed { key, side: 0 }
    }

    /// A key on the side of the goal.
    pub fn goal(key: K) -> Seed<K> {
        Seed { key, side: 1 }
    }

    /// The key.
    pub fn key(self) -> K {
        self.key
    }
}

/// The [`StateSpace`] of a [`KeySpace`]: the high bits of a key are the region, the low bits the
/// local part. The example of [`KeySpace`] shows its use.
#[derive(Debug)]
pub struct Keyed<S> {
    space: S,
    local_bits: u32,
}

impl<S: KeySpace> Keyed<S> {
    /// The most local bits. With both sides, a region then has at most 2^24 states, the most that
    /// fit into a block of a file.
    pub const MAX_LOCAL_BITS: u32 = 23;

    /// Wraps a space.
    ///
    /// # Errors
    /// [`SpaceError::KeyTooWide`] if keys have more bits than their type, [`SpaceError::LocalTooWide`] if
    /// more than [`Self::MAX_LOCAL_BITS`] of them are local, [`SpaceError::Conflict`] if there are
    /// seeds on the goal's side and moves that cannot be undone.
    pub fn new(space: S) -> Result<Keyed<S>, SpaceError> {
        let (key_bits, local_bits) = (space.key_bits(), space.local_bits());
        if key_bits > S::Key::BITS {
            return Err(SpaceError::KeyTooWide { bits: key_bits, limit: S::Key::BITS });
        }
        if local_bits > Self::MAX_LOCAL_BITS {
            let limit = Self::MAX_LOCAL_BITS;
            return Err(SpaceError::LocalTooWide { bits: local_bits, limit });
        }
        if !space.is_undirected() && space.seeds().iter().any(|seed| seed.side == 1) {
            return Err(SpaceError::Conflict {
                name: "goal".into(),
                why: "some moves cannot be undone, so the search cannot begin at its end too"
                    .into(),
            });
        }
        Ok(Keyed { space, local_bits })
    }

    /// The wrapped space.
    pub fn space(&self) -> &S {
        &self.space
    }

    #[inline]
    fn key(&self, state: State) -> S::Key {
        S::Key::join(state.region.0, state.local >> 1, self.local_bits)
    }

    #[inline]
    fn state(&self, key: S::Key, side: u32) -> State {
        let (region, low) = key.split(self.local_bits);
        State { region: RegionKey(region), local: low << 1 | side }
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

    fn is_undirected(&self) -> bool {
        self.space.is_undirected()
    }

    fn successors<V: FnMut(State)>(&self, region: RegionKey, locals: &[Local], mut visit: V) {
        let mut keys = Vec::new();
        for local in locals {
            let state = State { region, local: *local };
            self.space.successors(self.key(state), &mut keys);
            keys.drain(..).for_each(|key| visit(self.state(key, local & 1)));
        }
    }

    fn shard_hash(&self, region: RegionKey) -> u64 {
        let high = (region.0 >> u64::BITS) as u64;
        mix(if high == 0 { region.0 as u64 } else { mix(high) ^ region.0 as u64 })
    }

    fn weight(&self, state: State) -> Weight {
        let weight = self.space.weight(self.key(state));
        if state.local & 1 == 0 { weight } else { weight * Weight::hash(u64::MAX) }
    }

    fn positions(&self, state: State) -> Option<u64> {
        self.space.positions(self.key(state))
    }

    fn text(&self, state: State) -> String {
        self.space.text(self.key(state))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Wide {
        key_bits: u32,
        local_bits: u32,
    }

    impl KeySpace for Wide {
        type Key = u128;

        fn seeds(&self) -> Vec<Seed<u128>> {
            vec![Seed::start(u128::MAX)]
        }
        fn key_bits(&self) -> u32 {
            self.key_bits
        }
        fn local_bits(&self) -> u32 {
            self.local_bits
        }
        fn successors(&self, _: u128, _: &mut Vec<u128>) {}
        fn text(&self, key: u128) -> String {
            key.to_string()
        }
    }

    #[test]
    fn regions_too_large_for_a_file_are_refused() {
        let open = |key_bits, local_bits| Keyed::new(Wide { key_bits, local_bits });
        assert!(open(128, 23).is_ok());
        let error = open(128, 24).err();
        assert_eq!(error, Some(SpaceError::LocalTooWide { bits: 24, limit: 23 }));
        let error = open(129, 12).err();
        assert_eq!(error, Some(SpaceError::KeyTooWide { bits: 129, limit: 128 }));
    }

    #[test]
    fn keys_of_all_bits_are_read_back() {
        let space = Keyed::new(Wide { key_bits: 128, local_bits: 12 }).unwrap();
        for key in [0, 1, u128::MAX, u128::MAX / 3, 1 << 127, u64::MAX.into()] {
            assert_eq!(space.key(space.state(key, 1)), key);
        }
        assert_eq!(space.text(space.seeds()[0]), u128::MAX.to_string());
    }
}
