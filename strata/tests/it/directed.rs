//! Tests of directed spaces, whose new states are compared with those of all earlier layers.

use crate::drive;

use std::collections::HashSet;

use drive::{SearchSetup, names_in, search};
use strata::{
    Engine as EngineName, KeySpace, Parameter, Parameters, Puzzle, Report, Search, Seed, SpaceError,
};
use strata_engine::explicit::Engine;
use strata_puzzles::{Hanoi, NestedHanoi};
use strata_run::{Error, KeepLayers};
use strata_space::{Keyed, mix};

use crate::kinds::check::sizes;
use crate::kinds::user::Listed;
use crate::reference::search::layers_of;

/// A random graph in which most edges lead to vertices that are not far away, in one direction.
#[derive(Clone)]
struct OneWay {
    seed: u64,
    local_bits: u32,
    goal: Option<u64>,
    /// Whether the space declares its edges undirected.
    says_undirected: bool,
}

const BITS: u32 = 12;

impl OneWay {
    fn new(seed: u64) -> OneWay {
        OneWay { seed, local_bits: 5, goal: None, says_undirected: false }
    }

    /// The layers, by a plain breadth-first search.
    fn layers(&self) -> Vec<Vec<u64>> {
        layers_of(&[0], usize::MAX, |key| {
            let mut next = Vec::new();
            self.successors(*key, &mut next);
            next
        })
    }

    fn counts(&self) -> Vec<u64> {
        sizes(&self.layers())
    }
}

impl KeySpace for OneWay {
    type Key = u64;
    fn seeds(&self) -> Vec<Seed> {
        vec![Seed::start(0)]
    }
    fn key_bits(&self) -> u32 {
        BITS
    }
    fn successors(&self, key: u64, out: &mut Vec<u64>) {
        let random = mix(self.seed << 32 | key);
        // Two of the next 64 vertices, and sometimes a vertex long before.
        out.extend([random, random >> 8].map(|r| (key + r % 64) % (1 << BITS)));
        if random >> 40 & 7 == 0 {
            out.push(key / 2);
        }
    }
    fn is_undirected(&self) -> bool {
        self.says_undirected
    }
    fn goal(&self) -> Option<u64> {
        self.goal
    }
    fn local_bits(&self) -> Option<u32> {
        Some(self.local_bits)
    }
    fn text(&self, key: u64) -> String {
        key.to_string()
    }
}

impl Puzzle for OneWay {
    type States = Keyed<OneWay>;
    type Nested = NestedHanoi;

    const NAME: &'static str = "one-way";
    const SUMMARY: &'static str = "a random graph";
    const PARAMETERS: &'static [Parameter] = &[
        Parameter::positional("seed", "of random numbers"),
        Parameter::optional("goal", "none", "a number"),
    ];

    fn open(parameters: &Parameters) -> Result<OneWay, SpaceError> {
        let goal = parameters.get("goal").and_then(|goal| goal.parse().ok());
        let seed = OneWay::reader(parameters).number("seed")?.unwrap_or_default();
        Ok(OneWay { goal, ..OneWay::new(seed.into()) })
    }
    fn parameters(&self) -> Parameters {
        let goal = self.goal.map_or("none".to_owned(), |goal| goal.to_string());
        [("seed".to_owned(), self.seed.to_string()), ("goal".to_owned(), goal)].into()
    }
    /// An arbitrary nested form, which must not be used.
    fn nested(&self) -> Result<NestedHanoi, SpaceError> {
        NestedHanoi::new(Hanoi::new(3, 3, true)?)
    }
}

fn states(report: &Report) -> Vec<u64> {
    report.layers().iter().map(|layer| layer.states).collect()
}

/// The symbolic engine compares layers with the last two only.
#[test]
fn the_symbolic_engine_refuses_moves_that_cannot_be_undone() {
    let symbolic = Search::new(OneWay::new(2)).engine(EngineName::Symbolic);
    let error = symbolic.run().unwrap_err().to_string();
    assert!(error.contains("some moves cannot be undone"), "{error}");
    let chosen = Search::new(OneWay::new(2)).engine(EngineName::Auto).run().unwrap();
    assert_eq!(states(&chosen), OneWay::new(2).counts());
}

#[test]
fn layers_are_those_of_a_plain_search_in_any_setup() {
    let mut greatest = 0;
    for seed in 0..20 {
        let graph = OneWay { local_bits: (seed % 13) as u32, ..OneWay::new(seed) };
        let expected = graph.counts();
        greatest = greatest.max(expected.len());
        let mut digests = HashSet::new();
        for (workers, threads) in [(1, 1), (1, 3), (2, 1), (3, 2)] {
            let inbox_memory = (seed % 3 == 0).then_some(0);
            let setup =
                SearchSetup { workers, threads, shards: 7, inbox_memory, ..Default::default() };
            let space = Keyed::new(graph.clone()).unwrap();
            let found = search(setup, |shards| Engine::sparse(space, shards));
            assert_eq!(found.states(), expected, "seed {seed}, {setup:?}");
            digests.insert(format!("{:?}", found.digests()));
        }
        assert_eq!(digests.len(), 1);
    }
    assert!(greatest > 60, "the layers are few: {greatest}");
}

#[test]
fn a_directed_space_declared_undirected_is_refused() {
    let graph = OneWay { says_undirected: true, ..OneWay::new(1) };
    let search = Search::new(graph).engine(EngineName::Explicit);
    let error = search.run().unwrap_err().to_string();
    assert!(error.contains("a move leads from 0 to "), "{error}");
}

#[test]
fn a_search_resumes_at_any_layer_with_any_number_of_workers() {
    let graph = || OneWay::new(5);
    let whole = Search::new(graph()).threads(1).run().unwrap();
    assert_eq!(states(&whole), graph().counts());
    for depth in [0, 1, 2, 3, 10, 40] {
        let dir = tempfile::tempdir().unwrap();
        let run = |workers: usize, layers: u32| {
            let search = Search::new(graph()).data_dir(dir.path()).threads(2).workers(workers);
            search.shards(16).max_layers(layers).run()
        };
        for (more, workers) in (0..).zip([1, 3, 3, 2, 1]) {
            assert!(matches!(run(workers, depth + more).unwrap_err(), Error::Stopped { .. }));
        }
        let report = run(2, 1000).unwrap();
        assert_eq!((states(&report), report.digest()), (states(&whole), whole.digest()));
        let older = older_files(report.folder());
        assert!(!older.is_empty() && older.len() <= 2 * 16, "{older:?}");
    }
}

/// Older layers are merged into a file whose depth is that of a layer before the checkpoint's.
#[test]
fn a_resumed_search_has_no_temporary_file_at_its_end() {
    for (first, then) in [(1, 1), (2, 2), (2, 1), (1, 3)] {
        let dir = tempfile::tempdir().unwrap();
        let run = |workers: usize, layers: u32| {
            let search = Search::new(OneWay::new(5)).data_dir(dir.path()).workers(workers);
            // Files of kept depths are on disk, however small.
            search.keep_layers(KeepLayers::All).shards(16).max_layers(layers).run()
        };
        let temporary = || {
            let names = std::fs::read_dir(dir.path()).unwrap().map(|job| job.unwrap().path());
            let names = names.filter(|job| job.is_dir()).flat_map(|job| names_in(&job));
            names.filter(|name| name.ends_with(".tmp")).collect::<Vec<_>>()
        };
        assert!(matches!(run(first, 20).unwrap_err(), Error::Stopped { .. }));
        for layers in [21, 22, 25] {
            assert!(matches!(run(then, layers).unwrap_err(), Error::Stopped { .. }));
            assert_eq!(temporary(), [""; 0], "{first} and {then} workers, {layers} layers");
        }
        let report = run(then, 1000).unwrap();
        assert_eq!(states(&report), OneWay::new(5).counts());
        assert!(!older_files(report.folder()).is_empty());
        assert_eq!(temporary(), [""; 0], "{first} and {then} workers");
    }
}

fn older_files(folder: &std::path::Path) -> Vec<String> {
    names_in(folder).into_iter().filter(|name| name.contains("older-")).collect()
}

/// The checkpoint of an undirected search has the last two layers only. If the space is declared directed
/// afterwards, the search lacks the older layers.
#[test]
fn a_checkpoint_without_older_layers_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    // A ring with steps in both directions, which the space may declare directed or undirected.
    let run = |is_undirected, layers| {
        let ring = Listed::<u64> { is_undirected, ..Listed::ring(64, 0) };
        Search::new(ring).data_dir(dir.path()).max_layers(layers).run()
    };
    assert!(matches!(run(true, 5).unwrap_err(), Error::Stopped { depth: 5, .. }));
    let error = run(false, 9).unwrap_err().to_string();
    assert!(error.contains("states of layers before the last two"), "{error}");
}

#[test]
fn a_path_is_traced_along_the_moves() {
    let graph = OneWay::new(3);
    let layers = graph.layers();
    for depth in [0, 1, 7, layers.len() - 1] {
        let goal = layers[depth].last().copied();
        let graph = OneWay { goal, ..graph.clone() };
        let report = Search::new(graph.clone()).keep_layers(KeepLayers::All).run().unwrap();
        assert_eq!(report.moves(), Some(depth as u64));
        let path: Vec<u64> =
            report.path().unwrap().iter().map(|state| state.parse().unwrap()).collect();
        assert_eq!(path.len(), depth);
        let (mut at, mut next) = (0, Vec::new());
        for state in path {
            next.clear();
            graph.successors(at, &mut next);
            assert!(next.contains(&state), "{at} does not lead to {state}");
            at = state;
        }
        assert_eq!(Some(at), goal);
    }
}

#[test]
fn a_search_from_both_ends_needs_moves_that_can_be_undone() {
    let both = Listed::<u64> { other_end: Some(9), ..Listed::one_way(900, 40) };
    let error = Keyed::new(both).err().unwrap().to_string();
    assert!(error.contains("some moves cannot be undone"), "{error}");
}
