//! Tests of the adapter for keys.

use std::collections::BTreeSet;
use std::marker::PhantomData;

use proptest::prelude::*;

use super::*;
use crate::key192::Key192;

struct Wide<K> {
    key_bits: u32,
    local_bits: Option<u32>,
    key: PhantomData<K>,
}

impl<K: Key> KeySpace for Wide<K> {
    type Key = K;

    fn seeds(&self) -> Vec<Seed<K>> {
        Vec::new()
    }
    fn key_bits(&self) -> u32 {
        self.key_bits
    }
    fn local_bits(&self) -> Option<u32> {
        self.local_bits
    }
    fn successors(&self, _: K, _: &mut Vec<K>) {}
    fn text(&self, key: K) -> String {
        format!("{key:?}")
    }
}

fn open<K: Key>(key_bits: u32, local_bits: Option<u32>) -> Result<Keyed<Wide<K>>, SpaceError> {
    Keyed::new(Wide { key_bits, local_bits, key: PhantomData })
}

#[test]
fn keys_that_do_not_fit_are_refused() {
    assert!(open::<u128>(128, Some(126)).is_ok());
    let error = open::<u128>(128, Some(127)).err();
    assert_eq!(error, Some(SpaceError::LocalTooWide { bits: 127, limit: 126 }));
    let error = open::<u128>(129, None).err();
    assert_eq!(error, Some(SpaceError::KeyTooWide { bits: 129, limit: 128 }));
    assert!(open::<Key192>(192, Some(64)).is_ok());
    let error = open::<Key192>(192, Some(63)).err();
    assert_eq!(error, Some(SpaceError::RegionTooWide { bits: 129, limit: 128 }));
    let error = open::<Key192>(193, None).err();
    assert_eq!(error, Some(SpaceError::KeyTooWide { bits: 193, limit: 192 }));
}

fn check<K: Key>(key_bits: u32, local_bits: Option<u32>, key: K) {
    if key_bits > K::BITS {
        return;
    }
    let space = match open::<K>(key_bits, local_bits) {
        Ok(space) => space,
        Err(SpaceError::RegionTooWide { bits, .. }) => {
            assert!(bits > 128 && bits == key_bits - local_bits.unwrap());
            return;
        }
        Err(error) => panic!("{error}"),
    };
    for side in 0..2 {
        let state = space.state(key, side);
        assert_eq!((space.key(state), state.side()), (key, side));
        assert_eq!(state.local.unbounded_shr(space.local_bits()), 0);
        let region_bits = key_bits.saturating_sub(space.local_bits);
        assert_eq!(state.region.0.unbounded_shr(region_bits), 0);
    }
}

proptest! {
    #[test]
    fn keys_of_any_width_are_read_back(
        key_bits in 1_u32..=192,
        local_bits in proptest::option::of(0_u32..=126),
        high: u64,
        low: u128,
    ) {
        let mask = Key192::mask(key_bits);
        for key in [Key192::new(high, low) & mask, mask, Key192::from(low & 1) & mask] {
            check(key_bits, local_bits, key);
            check(key_bits, local_bits, key.low());
            check(key_bits, local_bits, key.low() as u64);
        }
    }
}

/// A move changes the four high bits, and one low bit.
struct Few {
    low_bits: u32,
    /// Whether the low bits are local.
    are_local: bool,
    high_parts: u64,
}

impl KeySpace for Few {
    type Key = u64;

    fn seeds(&self) -> Vec<Seed> {
        Vec::new()
    }
    fn key_bits(&self) -> u32 {
        self.low_bits + 4
    }
    fn local_bits(&self) -> Option<u32> {
        self.are_local.then_some(self.low_bits)
    }
    fn high_parts(&self) -> Option<u64> {
        Some(self.high_parts)
    }
    fn successors(&self, key: u64, out: &mut Vec<u64>) {
        let (high, low) = (key >> self.low_bits, key & ((1 << self.low_bits) - 1));
        out.extend((0..3).map(|bit| (high ^ 5) << self.low_bits | (low ^ 1 << bit)));
    }
    fn all_successors(&self, keys: &[u64], to: &mut impl SuccessorSink<u64>) {
        let high = (keys[0] >> self.low_bits ^ 5) << self.low_bits;
        let low = |key: &u64, bit: u32| (key & ((1 << self.low_bits) - 1)) ^ 1 << bit;
        for bit in 0..3 {
            let lows: Vec<u64> = keys.iter().map(|key| low(key, bit)).collect();
            // In two runs, one of them backwards.
            let (first, last) = lows.split_at(lows.len() / 2);
            to.add_run(high, first);
            let back: Vec<u64> = last.iter().rev().copied().collect();
            to.add_run(high, &back);
        }
    }
    fn text(&self, key: u64) -> String {
        format!("{key:x}")
    }
}

#[test]
fn successors_of_a_region_are_those_of_its_states() {
    // In the last case the runs have another number of low bits than the adapter.
    for (low_bits, are_local, local_bits, split_bits) in
        [(46, true, 35, 11), (25, true, 14, 11), (20, true, 20, 0), (20, false, 12, 0)]
    {
        let space = Keyed::new(Few { low_bits, are_local, high_parts: 9 }).unwrap();
        assert_eq!((space.local_bits, space.split_bits()), (local_bits, split_bits));
        let low = |number: u64| number.wrapping_mul(0x9E37_79B9) % (1 << 20);
        let key = |number: u64| (3 << low_bits) + low(number);
        let states: Vec<State> =
            (0..500).map(|number| space.state(key(number), number as u32 & 1)).collect();
        let mut of_region: Vec<State> =
            states.iter().copied().filter(|state| state.region == states[1].region).collect();
        of_region.sort_unstable();
        let locals: Vec<u128> = of_region.iter().map(|state| state.local).collect();
        let (mut found, mut expected) = (Vec::new(), Vec::new());
        space.successors(states[1].region, &locals, &mut |state: State| found.push(state));
        of_region.iter().for_each(|state| space.moves(*state, &mut expected));
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected);
        // The regions into which equal high bits are split have one shard, and several of them have states.
        if !are_local {
            continue;
        }
        let hashes: BTreeSet<u64> =
            states.iter().map(|state| space.shard_hash(state.region)).collect();
        let regions: BTreeSet<RegionKey> = states.iter().map(|state| state.region).collect();
        assert_eq!((hashes.len(), regions.len() > 1), (1, split_bits > 0));
    }
}

#[test]
fn few_regions_are_split_by_a_hash() {
    let split = |key_bits, local_bits| {
        let space = open::<u128>(key_bits, Some(local_bits)).unwrap();
        (space.local_bits, space.split_bits())
    };
    assert_eq!(split(60, 50), (46, 4));
    assert_eq!(split(64, 50), (50, 0));
    assert_eq!(split(24, 24), (10, 14));
    let space = Keyed::new(Few { low_bits: 40, are_local: true, high_parts: 0 }).unwrap();
    assert_eq!((space.local_bits, space.split_bits()), (26, 14));
    assert_eq!(split(126, 126), (112, 14));
    // With so few local bits, a region cannot have too many states.
    assert_eq!(split(23, 23), (23, 0));
}

#[test]
fn wide_keys_have_few_regions() {
    let bits = |key_bits| open::<Key192>(key_bits, None).unwrap().local_bits();
    assert_eq!([24, 40, 41, 128, 142].map(bits), [13, 13, 26, 113, 127]);
    // Wider keys have locals of the greatest width.
    assert_eq!([143, 192].map(bits), [127, 127]);
    assert_eq!(open::<u128>(41, Some(12)).unwrap().local_bits(), 13);
}

/// A ring of 2^30 keys. Every method with a default is overridden, with another result.
struct Told;

#[deny(clippy::missing_trait_methods)]
impl KeySpace for Told {
    type Key = u64;

    fn seeds(&self) -> Vec<Seed> {
        vec![Seed::start(5)]
    }
    fn key_bits(&self) -> u32 {
        30
    }
    fn goal(&self) -> Option<u64> {
        Some(9)
    }
    fn is_undirected(&self) -> bool {
        false
    }
    fn successors(&self, key: u64, out: &mut Vec<u64>) {
        out.push((key + 1) % (1 << 30));
    }
    fn local_bits(&self) -> Option<u32> {
        Some(26)
    }
    fn high_parts(&self) -> Option<u64> {
        Some(2)
    }
    fn all_successors(&self, keys: &[u64], to: &mut impl SuccessorSink<u64>) {
        // Each successor twice, which must not change the result of a search.
        each_successor(self, keys, to);
        each_successor(self, keys, to);
    }
    fn count_successors(&self, keys: &[u64]) -> u64 {
        100 * keys.len() as u64
    }
    fn digest(&self, keys: &[u64]) -> Digest {
        keys.iter().map(|key| Weight::hash(key + 1000)).sum()
    }
    fn positions(&self, key: u64) -> Option<u64> {
        Some(key)
    }
    fn text(&self, key: u64) -> String {
        format!("key {key}")
    }
    fn parse(&self, text: &str) -> Option<u64> {
        text.strip_prefix("key ")?.parse().ok()
    }
}

#[test]
fn keyed_calls_the_overridden_methods_of_the_space() {
    let space = Keyed::new(Told).unwrap();
    // Two high parts are split into 2^14 regions.
    assert_eq!((StateSpace::local_bits(&space), space.split_bits()), (14, 13));
    let state = space.seeds()[0];
    assert_eq!(StateSpace::text(&space, state), "key 5");
    assert_eq!(StateSpace::parse(&space, "key 5"), Some(state));
    assert_eq!(space.finish(), Finish::State(space.state(9, 0)));
    assert!(!StateSpace::is_undirected(&space));
    assert_eq!(StateSpace::positions(&space, state), Some(5));
    assert_eq!(space.weight(state), Weight::hash(1005));
    let mut next = Vec::new();
    space.moves(state, &mut next);
    assert_eq!(next, [space.state(6, 0)]);
    let mut all = Vec::new();
    let locals = [state.local];
    space.successors(state.region, &locals, &mut |state: State| all.push(state));
    assert_eq!(all, [space.state(6, 0); 2]);
    let counted = space.count(state.region, &locals, true);
    let digest = Told.digest(&[5]);
    let expected = LayerStats { states: 1, positions: 5, generated: 100, digest, ..counted };
    assert_eq!(counted, expected);
}
