//! Puzzles whose states are integer keys, and the adapter that makes a state space of them.

use crate::digest::{Digest, Weight, mix};
use crate::error::SpaceError;
use crate::key::Key;
use crate::sink::{Successor, SuccessorSink};
use crate::state::{Finish, RegionKey, State};
use crate::state_space::StateSpace;
use crate::stats::LayerStats;

/// A puzzle in which a state is one integer key.
///
/// A space with moves that cannot be undone must override [`Self::is_undirected`].
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
    /// The type of keys: `u64`, `u128` for keys of up to 128 bits, or [`Key192`](crate::Key192).
    type Key: Key;

    /// The keys from which the search starts.
    fn seeds(&self) -> Vec<Seed<Self::Key>>;

    /// The number of bits of a key, at most those of the type.
    fn key_bits(&self) -> u32;

    /// Appends the keys one move away from `key`. A key may repeat.
    fn successors(&self, key: Self::Key, out: &mut Vec<Self::Key>);

    /// Passes each successor of each key of a list to `to`, in any order. By default it calls
    /// [`Self::successors`] for each key; a space that finds the successors of many keys faster
    /// overrides it.
    fn all_successors(&self, keys: &[Self::Key], to: &mut impl SuccessorSink<Self::Key>)
    where
        Self: Sized,
    {
        each_successor(self, keys, to);
    }

    /// The number of successors that [`Self::all_successors`] finds.
    fn count_successors(&self, keys: &[Self::Key]) -> u64
    where
        Self: Sized,
    {
        let mut count = 0;
        self.all_successors(keys, &mut |_: Self::Key| count += 1);
        count
    }

    /// The goal at which the search stops, if there is a single one.
    fn goal(&self) -> Option<Self::Key> {
        None
    }

    /// Whether each move can be undone by another: a key is among the successors of each of its
    /// successors. If false, engines compare new states with all layers instead of the last two. If this
    /// wrongly returns true, counts are wrong; [`check_reversible`](crate::check_reversible) detects that
    /// by samples.
    fn is_undirected(&self) -> bool {
        true
    }

    /// The number of low bits of a key that are local, that is, not part of the region.
    ///
    /// A region's states are stored and searched together, which is cheap if many keys with the same
    /// high bits are reached, and if moves take the states of a region to few other regions. With up to
    /// [`Keyed::MOST_DENSE_BITS`] local bits, a search is expected to reach many of their combinations.
    /// With more, it is expected to reach few, and a hash of the local bits splits regions, so that there
    /// are 2^14 or more.
    ///
    /// None, the default, lets the adapter choose. If keys have up to 40 bits, it takes half of them, at
    /// most 12. With wider keys, a search reaches a small part of them, and a hash of the whole key
    /// selects its region: one of 2^16, or of more if keys have more than 142 bits.
    fn local_bits(&self) -> Option<u32> {
        None
    }

    /// Approximate number of values that the bits of keys above [`Self::local_bits`] take. None, the
    /// default, if they take most of the values that so many bits can have.
    fn high_parts(&self) -> Option<u64> {
        None
    }

    /// The sum of the weights of keys, their term in a layer's [`Digest`]. By default the weight of a key
    /// is its hash. A key's weight must not depend on the other keys.
    fn digest(&self, keys: &[Self::Key]) -> Digest {
        Self::Key::digest(keys)
    }

    /// How many positions the key stands for: 1 without symmetry. None if the space does not count
    /// them. If moves cannot be undone, keys may stand for 0 positions, but at least one seed must stand
    /// for a position.
    fn positions(&self, _key: Self::Key) -> Option<u64> {
        Some(1)
    }

    /// The state as text.
    fn text(&self, key: Self::Key) -> String;

    /// The key that stands for the position with this text. None if there is no such key, or the space does
    /// not read texts, which is the default.
    fn parse(&self, _text: &str) -> Option<Self::Key> {
        None
    }
}

/// Passes each successor of each key of a list to `to`: the default of [`KeySpace::all_successors`].
pub fn each_successor<S: KeySpace>(
    space: &S,
    keys: &[S::Key],
    to: &mut impl SuccessorSink<S::Key>,
) {
    let mut next = Vec::new();
    for key in keys {
        space.successors(*key, &mut next);
        next.drain(..).for_each(|key| to.add(key));
    }
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

    /// A seed with another key, on the same side.
    pub fn map<T>(self, key: impl FnOnce(K) -> T) -> Seed<T> {
        Seed { key: key(self.key), side: self.side }
    }
}

/// The [`StateSpace`] of a [`KeySpace`]: the high bits of a key are the region, the low bits the
/// local part. The example of [`KeySpace`] shows its use.
#[derive(Debug)]
pub struct Keyed<S> {
    space: S,
    local_bits: u32,
    hashed: Hashed,
}

/// The part of a key that is replaced by an invertible hash of this part. If few keys are reached, the hash
/// makes the gaps between them even.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Hashed {
    Nothing,
    /// The low bits, with their number. If it exceeds that of the local bits, the high bits of the hash
    /// are part of the region.
    Low(u32),
    /// All bits, with their number.
    Key(u32),
}

impl<S: KeySpace> Keyed<S> {
    /// The most local bits with which a region is not split, because a search is expected to reach many of
    /// its states. With both sides, such a region has at most 2^24 states, the limit of one entry of a file.
    pub const MOST_DENSE_BITS: u32 = 23;

    /// Limit of local bits: with the side, a local has 127.
    pub const MAX_LOCAL_BITS: u32 = 126;

    /// The most bits of a key whose high bits are the region by default; a wider key is hashed.
    const MOST_SHORT_BITS: u32 = 40;

    /// The bits of a region if whole keys are hashed: few enough that a wide layer has long lists, many
    /// enough that the list of one region fits into a processor's cache. A region has more bits if the
    /// rest of the key would exceed [`Self::MAX_LOCAL_BITS`].
    const REGION_BITS: u32 = 16;

    /// The fewest bits of a region, including those from the hash, if the space chooses more than
    /// [`Self::MOST_DENSE_BITS`] local bits. With fewer, a region would have too many states; with more,
    /// the lists of exits would be short.
    const LEAST_REGION_BITS: u32 = 14;

    /// Limit of the bits of a region.
    const MAX_REGION_BITS: u32 = u128::BITS;

    /// Wraps a space.
    ///
    /// # Errors
    /// - [`SpaceError::KeyTooWide`] if keys have more bits than their type.
    /// - [`SpaceError::LocalTooWide`] if the space chooses more than [`Self::MAX_LOCAL_BITS`] local bits.
    /// - [`SpaceError::RegionTooWide`] if more than 128 bits of a key are not local.
    /// - [`SpaceError::Conflict`] if there are seeds on the goal's side and moves that cannot be undone.
    pub fn new(space: S) -> Result<Keyed<S>, SpaceError> {
        let (key_bits, chosen) = (space.key_bits(), space.local_bits());
        if key_bits > S::Key::BITS {
            return Err(SpaceError::KeyTooWide { bits: key_bits, limit: S::Key::BITS });
        }
        if let Some(bits) = chosen.filter(|bits| *bits > Self::MAX_LOCAL_BITS) {
            return Err(SpaceError::LocalTooWide { bits, limit: Self::MAX_LOCAL_BITS });
        }
        let (local_bits, hashed) = match chosen.map(|bits| bits.min(key_bits)) {
            Some(bits) if bits > Self::MOST_DENSE_BITS => {
                let high_bits =
                    space.high_parts().map_or(key_bits - bits, |parts| parts.max(1).ilog2());
                let split_bits = Self::LEAST_REGION_BITS.saturating_sub(high_bits);
                (bits - split_bits, Hashed::Low(bits))
            }
            Some(bits) => (bits, Hashed::Nothing),
            None if key_bits > Self::MOST_SHORT_BITS => {
                let local_bits = (key_bits - Self::REGION_BITS).min(Self::MAX_LOCAL_BITS);
                (local_bits, Hashed::Key(key_bits))
            }
            None => ((key_bits / 2).min(12), Hashed::Nothing),
        };
        let region_bits = key_bits.saturating_sub(local_bits);
        if region_bits > Self::MAX_REGION_BITS {
            let (bits, limit) = (region_bits, Self::MAX_REGION_BITS);
            return Err(SpaceError::RegionTooWide { bits, limit });
        }
        if !space.is_undirected() && space.seeds().iter().any(|seed| seed.side == 1) {
            return Err(SpaceError::Conflict {
                name: "goal".into(),
                why: "some moves cannot be undone, so the search cannot begin at its end too"
                    .into(),
            });
        }
        Ok(Keyed { space, local_bits, hashed })
    }

    /// The bits of a region that come from the hash of a key's low bits.
    fn split_bits(&self) -> u32 {
        match self.hashed {
            Hashed::Low(bits) => bits - self.local_bits,
            Hashed::Nothing | Hashed::Key(_) => 0,
        }
    }

    /// The wrapped space.
    pub fn space(&self) -> &S {
        &self.space
    }

    #[inline]
    fn key(&self, state: State) -> S::Key {
        let (region, low) = (state.region.0, state.local >> 1);
        match self.hashed {
            Hashed::Nothing => S::Key::join(region, low, self.local_bits),
            Hashed::Key(bits) => S::Key::join(region, low, self.local_bits).gather(bits),
            Hashed::Low(bits) => {
                let (high, split) = region.split(self.split_bits());
                let low = match (u128::join(split, low, self.local_bits), bits) {
                    (low, 0..=63) => (low as u64).gather(bits).into(),
                    (low, _) => low.gather(bits),
                };
                S::Key::join(high, low, bits)
            }
        }
    }

    /// Appends the keys of a region's states.
    fn read_keys<L: Copy + Into<u128>>(
        &self,
        region: RegionKey,
        locals: &[L],
        keys: &mut Vec<S::Key>,
    ) {
        let bits = match self.hashed {
            Hashed::Low(bits) if bits < u64::BITS => bits,
            _ => {
                let state = |local: &L| State { region, local: (*local).into() };
                keys.extend(locals.iter().map(|local| self.key(state(local))));
                return;
            }
        };
        // The same as `key`, but what all states of the region share is computed once.
        let (high, split) = region.0.split(self.split_bits());
        let split = u64::join(split, 0, self.local_bits);
        let (upper, lower) = S::Key::join(high, 0, bits).split(u64::BITS);
        keys.extend(locals.iter().map(|local| {
            let low = (*local).into() as u64 >> 1;
            S::Key::join(upper, lower | u128::from((split | low).gather(bits)), u64::BITS)
        }));
    }

    #[inline]
    fn state(&self, key: S::Key, side: u32) -> State {
        let (region, low) = match self.hashed {
            Hashed::Nothing => key.split(self.local_bits),
            Hashed::Key(bits) => key.spread(bits).split(self.local_bits),
            Hashed::Low(bits) => {
                let (high, low) = key.split(bits);
                let low = match bits {
                    0..=63 => u128::from((low as u64).spread(bits)),
                    _ => low.spread(bits),
                };
                let (split, low) = low.split(self.local_bits);
                (u128::join(high, split, self.split_bits()), low)
            }
        };
        State { region: RegionKey(region), local: low << 1 | u128::from(side) }
    }
}

/// Turns successors, given as keys, into states of one side.
struct KeysToStates<'a, S, T> {
    keyed: &'a Keyed<S>,
    side: u32,
    /// Scratch memory: locals of a run, by region.
    runs: Vec<Vec<u64>>,
    to: &'a mut T,
}

impl<S: KeySpace, T: SuccessorSink<State>> SuccessorSink<S::Key> for KeysToStates<'_, S, T> {
    #[inline]
    fn add(&mut self, key: S::Key) {
        self.to.add(self.keyed.state(key, self.side));
    }

    fn add_run(&mut self, high: S::Key, lows: &[u64]) {
        let (local_bits, split_bits) = (self.keyed.local_bits, self.keyed.split_bits());
        let bits = local_bits + split_bits;
        let (region, rest) = high.split(bits);
        // The space may use another number of low bits than the local or hashed ones.
        let fits = || rest == 0 && lows.iter().fold(0, |all, low| all | low) >> bits == 0;
        if bits >= u64::BITS || matches!(self.keyed.hashed, Hashed::Key(_)) || !fits() {
            return lows.iter().for_each(|low| self.add(high.with_low_bits(*low)));
        }
        let (is_hashed, side) = (self.keyed.hashed != Hashed::Nothing, u64::from(self.side));
        let region = region << split_bits;
        let lows = lows.iter().map(|low| if is_hashed { low.spread(bits) } else { *low });
        self.runs.resize_with(1 << split_bits, Vec::new);
        self.runs.iter_mut().for_each(Vec::clear);
        if let [run] = &mut self.runs[..] {
            run.extend(lows.map(|low| low << 1 | side));
        } else {
            let region_mask = u64::MAX << local_bits;
            for low in lows {
                self.runs[(low >> local_bits) as usize].push((low & !region_mask) << 1 | side);
            }
        }
        for (split, run) in (0..).zip(&self.runs) {
            self.to.add_run(State { region: RegionKey(region | split), local: 0 }, run);
        }
    }
}

/// Number of states that are counted together: their keys fit into the processor's first-level cache.
const COUNTED: usize = 256;

/// The factor in the weight of a state on the goal's side.
fn goal_side() -> Weight {
    Weight::hash(u64::MAX)
}

// The default of a method would not call the method of the wrapped space.
#[deny(clippy::missing_trait_methods)]
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
        out.extend(keys.into_iter().map(|key| self.state(key, state.side())));
    }

    fn is_undirected(&self) -> bool {
        self.space.is_undirected()
    }

    fn local_bits(&self) -> u32 {
        self.local_bits + 1
    }

    fn successors<L>(&self, region: RegionKey, locals: &[L], to: &mut impl SuccessorSink<State>)
    where
        L: Copy + Into<u128>,
    {
        let is_start = |local: &L| (*local).into() & 1 == 0;
        let (start, goal): (Vec<L>, Vec<L>) = locals.iter().copied().partition(is_start);
        let mut keys = Vec::with_capacity(locals.len());
        for (side, locals) in [(0, start), (1, goal)] {
            if locals.is_empty() {
                continue;
            }
            keys.clear();
            self.read_keys(region, &locals, &mut keys);
            let mut sink = KeysToStates { keyed: self, side, runs: Vec::new(), to };
            self.space.all_successors(&keys, &mut sink);
        }
    }

    fn count<L>(&self, region: RegionKey, locals: &[L], successors: bool) -> LayerStats
    where
        L: Copy + Into<u128>,
    {
        let mut stats = LayerStats { states: locals.len() as u64, ..LayerStats::default() };
        let side = |local: L| local.into() as usize & 1;
        let (mut digests, mut keys) = ([Digest::ZERO; 2], Vec::with_capacity(COUNTED));
        let parts = locals.chunks(COUNTED);
        for locals in parts.flat_map(|part| part.chunk_by(|a, b| side(*a) == side(*b))) {
            keys.clear();
            self.read_keys(region, locals, &mut keys);
            digests[side(locals[0])] += self.space.digest(&keys);
            let positions = keys.iter().map(|key| self.space.positions(*key).unwrap_or(0));
            stats.positions = positions.fold(stats.positions, u64::saturating_add);
            if successors {
                stats.generated += self.space.count_successors(&keys);
            }
        }
        stats.digest = digests[0] + digests[1] * goal_side();
        stats
    }

    fn shard_hash(&self, region: RegionKey) -> u64 {
        // Regions with equal high bits are in one shard: their successors are in the same regions.
        let region = region.0 >> self.split_bits();
        let high = (region >> u64::BITS) as u64;
        mix(if high == 0 { region as u64 } else { mix(high) ^ region as u64 })
    }

    fn weight(&self, state: State) -> Weight {
        let weight = self.space.digest(&[self.key(state)]);
        if state.side() == 0 { weight } else { weight * goal_side() }
    }

    fn positions(&self, state: State) -> Option<u64> {
        self.space.positions(self.key(state))
    }

    fn text(&self, state: State) -> String {
        self.space.text(self.key(state))
    }

    fn parse(&self, text: &str) -> Option<State> {
        self.space.parse(text).map(|key| self.state(key, 0))
    }
}

#[cfg(test)]
mod tests;
