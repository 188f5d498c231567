//! Tests of wide keys: layers and digests are those of the same graph with narrow keys.

use crate::drive;

use std::marker::PhantomData;

use drive::{Outcome, SearchSetup, search};
use strata::{KeySpace, NoNested, Parameter, Parameters, Puzzle, Search, Seed, SpaceError};
use strata_engine::explicit::Engine;
use strata_puzzles::Hanoi;
use strata_run::{Error, KeepLayers};
use strata_space::{Digest, Key, Key192, Keyed};

use crate::kinds::permutations::puzzle;
use crate::kinds::published::first;
use crate::kinds::user::Listed;

/// The graph of a space with keys of at most 64 bits, under wide keys that are far apart. Digests are
/// those of the narrow keys, so they do not depend on the width.
#[derive(Clone, Debug)]
struct Far<S, K> {
    inner: S,
    bits: u32,
    local_bits: Option<u32>,
    key: PhantomData<K>,
}

impl<S, K> Far<S, K> {
    fn new(inner: S, bits: u32) -> Far<S, K> {
        Far { inner, bits, local_bits: None, key: PhantomData }
    }
}

impl<S: KeySpace<Key = u64>, K: Key> Far<S, K> {
    fn far(&self, key: u64) -> K {
        K::join(0, key.into(), u64::BITS).spread(self.bits)
    }

    fn near(&self, key: K) -> u64 {
        let (high, low) = key.gather(self.bits).split(u64::BITS);
        assert_eq!(high, 0);
        low as u64
    }
}

impl<S: KeySpace<Key = u64>, K: Key> KeySpace for Far<S, K> {
    type Key = K;

    fn seeds(&self) -> Vec<Seed<K>> {
        self.inner.seeds().into_iter().map(|seed| seed.map(|key| self.far(key))).collect()
    }
    fn key_bits(&self) -> u32 {
        self.bits
    }
    fn local_bits(&self) -> Option<u32> {
        self.local_bits
    }
    fn successors(&self, key: K, out: &mut Vec<K>) {
        let mut next = Vec::new();
        self.inner.successors(self.near(key), &mut next);
        out.extend(next.into_iter().map(|key| self.far(key)));
    }
    fn goal(&self) -> Option<K> {
        self.inner.goal().map(|goal| self.far(goal))
    }
    fn is_undirected(&self) -> bool {
        self.inner.is_undirected()
    }
    fn digest(&self, keys: &[K]) -> Digest {
        let near: Vec<u64> = keys.iter().map(|key| self.near(*key)).collect();
        self.inner.digest(&near)
    }
    fn text(&self, key: K) -> String {
        self.inner.text(self.near(key))
    }
}

fn setups() -> impl Iterator<Item = SearchSetup> {
    [(1, 1, None), (2, 1, Some(0)), (3, 2, None), (1, 3, Some(20_000))].into_iter().map(
        |(workers, threads, inbox_memory)| SearchSetup {
            workers,
            threads,
            inbox_memory,
            unreliable: workers == 2,
            shards: 7,
            ..SearchSetup::default()
        },
    )
}

fn found<S: KeySpace>(setup: SearchSetup, space: S) -> Outcome {
    let space = Keyed::new(space).unwrap();
    search(setup, |shards| Engine::keyed(space, shards))
}

/// Compares the search of a space with searches with wide keys, for each of `widths` bits.
fn compare<S: KeySpace<Key = u64> + Clone>(space: &S, widths: &[u32]) {
    let plain = found(SearchSetup::default(), space.clone());
    assert!(plain.layers.len() > 10);
    for &bits in widths {
        for setup in setups() {
            if bits <= 128 {
                compare_one::<S, u128>(&plain, space, bits, setup);
            } else {
                compare_one::<S, Key192>(&plain, space, bits, setup);
            }
        }
        if bits <= 64 {
            compare_one::<S, u64>(&plain, space, bits, SearchSetup::default());
        }
        compare_one::<S, Key192>(&plain, space, bits, SearchSetup::default());
    }
}

fn compare_one<S, K>(plain: &Outcome, space: &S, bits: u32, setup: SearchSetup)
where
    S: KeySpace<Key = u64> + Clone,
    K: Key,
{
    let wide = found(setup, Far::<S, K>::new(space.clone(), bits));
    assert_eq!((&wide.layers, wide.moves), (&plain.layers, plain.moves), "{bits} bits");
    assert!(wide.run_files == 0 || wide.moves.is_some());
    assert!(wide.spilled_bytes > 0 || setup.inbox_memory != Some(0), "{setup:?}");
}

#[test]
fn layers_do_not_depend_on_the_width_of_keys() {
    compare(&Hanoi::new(6, 4, true).unwrap(), &[41, 63, 64, 79, 80, 128, 142, 157, 192]);
}

#[test]
fn searches_from_both_ends_meet_with_wide_keys() {
    for (chords, end, moves) in [(10, 77, 74), (20, 77, 65), (30, 200, 37)] {
        let space = Listed { other_end: Some(end), ..Listed::ring(900, chords) };
        assert_eq!(found(SearchSetup::default(), space.clone()).moves, Some(moves));
        compare(&space, &[60, 128, 192]);
    }
}

#[test]
fn moves_that_cannot_be_undone_are_searched_with_wide_keys() {
    compare(&Listed::<u64>::one_way(900, 60), &[60, 128, 192]);
}

/// A puzzle with keys of any width.
impl<K: Key> Puzzle for Far<Hanoi, K> {
    type States = Keyed<Far<Hanoi, K>>;
    type Nested = NoNested;

    const NAME: &'static str = "far-hanoi";
    const SUMMARY: &'static str = "Hanoi with keys that are far apart";
    const PARAMETERS: &'static [Parameter] = &[Parameter::positional("bits", "of a key")];

    fn open(parameters: &Parameters) -> Result<Far<Hanoi, K>, SpaceError> {
        let bits = Self::reader(parameters).number("bits")?.unwrap_or_default();
        Ok(Far::new(Hanoi::new(7, 4, false)?, bits))
    }
    fn parameters(&self) -> Parameters {
        [("bits".to_owned(), self.bits.to_string())].into()
    }
}

fn far_hanoi<K: Key>(bits: u32) -> Far<Hanoi, K> {
    Far::new(Hanoi::new(7, 4, false).unwrap(), bits)
}

fn resume_and_trace<K: Key>(bits: u32) {
    let whole = Search::new(Hanoi::new(7, 4, false).unwrap()).run().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let search = |workers: usize| {
        let search = Search::new(far_hanoi::<K>(bits)).data_dir(dir.path()).workers(workers);
        search.threads(2).shards(16).keep_layers(KeepLayers::All)
    };
    for (depth, workers) in [(3, 2), (10, 3)] {
        let stopped = search(workers).max_layers(depth).run().unwrap_err();
        assert!(matches!(stopped, Error::Stopped { .. }), "{stopped}");
    }
    let report = search(1).run().unwrap();
    assert_eq!((report.moves(), report.digest()), (whole.moves(), whole.digest()));
    let (path, space) = (report.path().unwrap(), far_hanoi::<K>(bits));
    assert_eq!(Some(path.len() as u64), report.moves());
    assert_eq!(*path.iter().last().unwrap(), space.text(space.goal().unwrap()));
}

#[test]
fn a_search_with_wide_keys_resumes_and_its_path_is_traced() {
    resume_and_trace::<u128>(60);
    resume_and_trace::<u128>(100);
    resume_and_trace::<Key192>(157);
    resume_and_trace::<Key192>(192);
}

/// Files of another width are not read as if they had the right one.
#[test]
fn a_checkpoint_with_locals_of_another_width_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    // By its parameters the job is the same.
    let search = |space: Far<Hanoi, u128>, layers| {
        Search::new(space).data_dir(dir.path()).max_layers(layers).run().unwrap_err()
    };
    let stopped = search(far_hanoi(60), 5);
    assert!(matches!(stopped, Error::Stopped { .. }), "{stopped}");
    let refused = search(Far { local_bits: Some(12), ..far_hanoi(60) }, 9).to_string();
    assert!(refused.contains("locals of 32 bits"), "{refused}");
    assert!(refused.contains("locals of 64 bits"), "{refused}");
}

/// The 4x4x4, with keys of 157 bits. The counts are those of a search of stickers in
/// `puzzles/tests/it/permutation/wide.rs`.
fn cube_of_four(symmetry: &str) -> Search<'static> {
    puzzle(include_str!("../../../puzzles/data/4x4x4.tws"), &[("symmetry", symmetry)])
}

#[test]
fn the_cube_of_four_has_its_layers_with_any_workers_and_after_stops() {
    let depth = 3;
    for symmetry in ["off", "on"] {
        let one = first(cube_of_four(symmetry), depth);
        assert!(one.iter().map(|layer| layer.1).eq([1, 36, 1026, 28_812]));
        assert_eq!(one.iter().all(|layer| layer.0 == layer.1), symmetry == "off");
        for (workers, threads) in [(2, 1), (3, 2)] {
            let search = cube_of_four(symmetry).workers(workers).threads(threads);
            assert_eq!(first(search, depth), one);
        }
        let dir = tempfile::tempdir().unwrap();
        for (depth, workers) in [(1, 2), (2, 3), (depth, 1)] {
            let search = cube_of_four(symmetry).data_dir(dir.path()).workers(workers);
            let found = first(search, depth);
            assert_eq!(found, one[..found.len()]);
        }
    }
}
