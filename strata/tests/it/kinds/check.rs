//! Checks of one row of the table: runs of its search, and the expected layers.

use std::path::Path;
use std::time::Duration;

use strata::{Engine, Search};
use strata_run::{Error, Event};
use strata_space::Digest;

use crate::drive::copy_files;

/// The result of an independent search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Expected {
    /// By depth.
    pub(crate) states: Vec<u64>,
    /// By depth, the positions that the states stand for.
    pub(crate) positions: Vec<u64>,
    /// Moves of a shortest solution.
    pub(crate) moves: Option<u64>,
    /// Whether these are all layers of the search, or the first ones.
    pub(crate) is_whole: bool,
}

impl Expected {
    /// All layers of a space.
    pub(crate) fn whole(states: Vec<u64>) -> Expected {
        Expected { positions: states.clone(), states, moves: None, is_whole: true }
    }

    /// The first layers of a space.
    pub(crate) fn first(states: Vec<u64>) -> Expected {
        Expected { is_whole: false, ..Expected::whole(states) }
    }

    /// All layers of a space with symmetries: by depth, orbits and states.
    pub(crate) fn folded(layers: &[(u64, u64)]) -> Expected {
        let (states, positions) = layers.iter().copied().unzip();
        Expected { states, positions, moves: None, is_whole: true }
    }

    /// The greatest depth.
    pub(crate) fn depth(&self) -> u32 {
        self.states.len() as u32 - 1
    }
}

/// The number of states of each layer.
pub(crate) fn sizes<S>(layers: &[Vec<S>]) -> Vec<u64> {
    layers.iter().map(|layer| layer.len() as u64).collect()
}

/// Layers of a search from both ends, computed from the layers of a search from each end. Each has the
/// states of both. They end with the layer in which the searches meet, if they do.
pub(crate) fn from_both_ends<S: Ord>(ends: [&[Vec<S>]; 2]) -> Expected {
    let [start, goal] = ends;
    let distance = start.iter().position(|layer| goal[0].iter().any(|goal| layer.contains(goal)));
    let last = distance.map_or(start.len().max(goal.len()) - 1, |moves| moves.div_ceil(2));
    let size = |layers: &[Vec<S>], depth: usize| layers.get(depth).map_or(0, Vec::len) as u64;
    let states: Vec<u64> = (0..=last).map(|depth| size(start, depth) + size(goal, depth)).collect();
    Expected { moves: distance.map(|moves| moves as u64), ..Expected::whole(states) }
}

/// A layer as a run finds it: states, positions, digest.
type Layer = (u64, u64, Digest);

/// The result of a run.
#[derive(Clone, Debug, PartialEq)]
struct Found {
    layers: Vec<Layer>,
    moves: Option<u64>,
    /// Depth of the checkpoint from which the run resumed.
    resumed_from: Option<u32>,
}

/// Runs a search, to the end or a limit.
fn run(search: Search<'_>) -> Result<Found, Error> {
    let mut found = Found { layers: Vec::new(), moves: None, resumed_from: None };
    let search = search.on_event(|event| match event {
        Event::Started { resumed_from, .. } => found.resumed_from = *resumed_from,
        Event::Layer(event) => {
            let layer = &event.layer;
            found.layers.push((layer.states, layer.positions, layer.digest));
        }
        _ => {}
    });
    match search.run() {
        Ok(report) => {
            let sum: Digest = report.layers().iter().map(|layer| layer.digest).sum();
            assert_eq!(report.digest(), sum);
            let moves = report.moves();
            drop(report);
            found.moves = moves;
        }
        Err(Error::Stopped { .. }) => {}
        Err(error) => return Err(error),
    }
    Ok(found)
}

/// Number of workers, threads of each, and whether the search has the least memory.
type Setup = (usize, usize, bool);

/// The first is compared with the independent search, the others with the first.
const SETUPS: [Setup; 6] =
    [(1, 1, false), (1, 3, true), (2, 1, true), (2, 3, false), (3, 1, false), (3, 3, true)];

/// A row of the table: how its search is constructed, and the result of an independent search.
pub(crate) struct Row<'a> {
    search: &'a dyn Fn() -> Search<'static>,
    expected: Expected,
}

/// Compares the explicit engine with an independent search in all setups.
pub(crate) fn check<'a>(
    search: &'a dyn Fn() -> Search<'static>,
    expected: Expected,
) -> Checked<'a> {
    let row = Row { search, expected };
    let found = row.explicit(SETUPS[0], None, row.expected.depth());
    let figures = |which: fn(&Layer) -> u64| found.layers.iter().map(which).collect::<Vec<_>>();
    assert_eq!(figures(|layer| layer.0), row.expected.states);
    assert_eq!(figures(|layer| layer.1), row.expected.positions);
    assert_eq!(found.moves, row.expected.moves);
    for setup in &SETUPS[1..] {
        let other = row.explicit(*setup, None, row.expected.depth());
        assert_eq!(other, found, "{setup:?}");
    }
    row.check_paused(&found);
    row.check_killed(&found);
    Checked { row, found }
}

impl Row<'_> {
    /// Runs the explicit engine up to a depth, in a folder if one is given. If the depth is that of the last
    /// layer of all, there is no limit.
    fn explicit(&self, setup: Setup, dir: Option<&Path>, depth: u32) -> Found {
        let (workers, threads, is_least) = setup;
        let make = || {
            let search = (self.search)().engine(Engine::Explicit).shards(7);
            let search = search.workers(workers).threads(threads);
            if self.expected.is_whole && depth == self.expected.depth() {
                search
            } else {
                search.max_layers(depth)
            }
        };
        let mut search = make();
        if is_least {
            let least = least_mebibytes(make());
            let error = run(make().memory(&format!("{}MiB", least - 1))).unwrap_err();
            assert!(matches!(error, Error::Option { option: "memory", .. }), "{error}");
            search = search.memory(&format!("{least}MiB"));
        }
        if let Some(dir) = dir {
            search = search.data_dir(dir);
        }
        run(search).unwrap()
    }

    /// Stops at a layer in the middle, and resumes with other workers.
    fn check_paused(&self, found: &Found) {
        let dir = tempfile::tempdir().unwrap();
        let last = self.expected.depth();
        if last == 0 {
            return;
        }
        let middle = (last - 1) / 2;
        let paused = self.explicit((3, 1, false), Some(dir.path()), middle);
        assert_eq!(paused.layers, found.layers[..=middle as usize]);
        let resumed = self.explicit((2, 3, true), Some(dir.path()), last);
        assert_eq!(resumed, Found { resumed_from: Some(middle), ..found.clone() });
    }

    /// Resumes from the files that a search has at a layer in the middle, as if it had been killed.
    fn check_killed(&self, found: &Found) {
        let (dir, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let last = self.expected.depth();
        let middle = last.div_ceil(2);
        let search = (self.search)().engine(Engine::Explicit).shards(7).workers(2).threads(1);
        let search = search.max_layers(last).checkpoint_interval(Duration::ZERO);
        let result = search
            .data_dir(dir.path())
            .on_layer(|layer| {
                if layer.depth == middle {
                    copy_files(dir.path(), copy.path());
                }
            })
            .run();
        assert!(matches!(result, Ok(_) | Err(Error::Stopped { .. })));
        drop(result);
        let resumed = self.explicit((1, 3, false), Some(copy.path()), last);
        // The checkpoint of the layer itself comes after its event.
        assert_eq!(resumed.resumed_from, middle.checked_sub(1));
        assert_eq!(resumed, Found { resumed_from: resumed.resumed_from, ..found.clone() });
    }
}

/// A row that has been checked.
pub(crate) struct Checked<'a> {
    row: Row<'a>,
    found: Found,
}

impl Checked<'_> {
    /// Checks that another engine finds the same layers with the same digests.
    pub(crate) fn same_as(self, engine: Engine) -> Self {
        assert!(self.row.expected.is_whole);
        for threads in [1, 3] {
            let other = run((self.row.search)().engine(engine).threads(threads)).unwrap();
            assert_eq!(other, self.found, "{engine:?}, {threads} threads");
        }
        self
    }

    /// Checks that the dense engine finds as many positions with the same digests in a search without
    /// symmetries.
    pub(crate) fn unfolds_to(self, search: Search<'_>) {
        let other = run(search.engine(Engine::Dense).threads(1)).unwrap();
        let positions = |found: &Found| -> Vec<(u64, Digest)> {
            found.layers.iter().map(|layer| (layer.1, layer.2)).collect()
        };
        assert_eq!(positions(&other), positions(&self.found));
        assert!(other.layers.iter().all(|layer| layer.0 == layer.1));
    }
}

/// The least memory of a search in MiB, read from its refusal of less.
fn least_mebibytes(search: Search<'_>) -> u64 {
    let refused = run(search.memory("1")).unwrap_err().to_string();
    let (before, _) = refused.split_once(" MiB is the least here").expect("a refusal");
    before.rsplit(' ').next().unwrap().parse().unwrap()
}
