//! Tests of antipodes: states of the last layer with shortest paths.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use strata_run::catalogue::{KeySpace, Seed, Space};
use strata_run::{
    CancelToken, Ended, Event, Job, Jobs, KeepLayers, Request, RunControl, RunOptions,
};
use strata_space::SpaceError;
use strata_store::{EngineKind, JobSpec};

/// Number of [`Ring`]s that exist, and the largest number at a time.
static OPEN: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];

/// A ring of 10 points, of which each value counts itself.
struct Ring(());

impl Ring {
    fn new() -> Ring {
        let open = OPEN[0].fetch_add(1, Ordering::SeqCst) + 1;
        OPEN[1].fetch_max(open, Ordering::SeqCst);
        Ring(())
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        OPEN[0].fetch_sub(1, Ordering::SeqCst);
    }
}

impl KeySpace for Ring {
    type Key = u64;
    fn seeds(&self) -> Vec<Seed> {
        vec![Seed::start(0)]
    }

    fn key_bits(&self) -> u32 {
        4
    }

    fn successors(&self, key: u64, out: &mut Vec<u64>) {
        out.extend([(key + 1) % 10, (key + 9) % 10]);
    }

    fn text(&self, key: u64) -> String {
        key.to_string()
    }
}

without_parameters!(Ring, "ring", Ok(Ring::new()));

/// A tree of directed edges in which 1 and 3 stand for no position.
struct Tree;

impl KeySpace for Tree {
    type Key = u64;
    fn seeds(&self) -> Vec<Seed> {
        vec![Seed::start(0)]
    }

    fn key_bits(&self) -> u32 {
        2
    }

    fn is_undirected(&self) -> bool {
        false
    }

    fn successors(&self, key: u64, out: &mut Vec<u64>) {
        match key {
            0 => out.extend([1, 2]),
            1 => out.push(3),
            _ => {}
        }
    }

    fn text(&self, key: u64) -> String {
        key.to_string()
    }

    fn positions(&self, key: u64) -> Option<u64> {
        Some(1 - key % 2)
    }
}

without_parameters!(Tree, "tree", Ok(Tree));

/// A finished job of the explicit engine with all layers.
fn finished(open: fn() -> Result<Space, SpaceError>) -> Job {
    let options = RunOptions { threads: 1, keep_layers: KeepLayers::All, ..RunOptions::default() };
    let space = open().unwrap();
    let request = Request::new(&space, EngineKind::Explicit, 1, options).unwrap();
    let jobs = Jobs::temporary().unwrap();
    let mut job = jobs.create(request, space, Arc::new(move |_: &JobSpec| open())).unwrap();
    let (cancel, on_event) = (&CancelToken::new(), &mut |_: &Event| {});
    let ended = job.run(RunControl { cancel, on_event, started: Instant::now() }).unwrap();
    assert!(matches!(ended, Ended::Finished(_)));
    job
}

/// The tables of a space may take most of the memory.
#[test]
fn antipodes_are_listed_with_one_space_at_a_time() {
    let job = finished(|| Space::new(Ring::new()));
    assert_eq!(OPEN[0].load(Ordering::SeqCst), 0, "the run has taken the space over");
    OPEN[1].store(0, Ordering::SeqCst);
    let found = job.antipodes(3).unwrap();
    assert_eq!((found.depth, found.states), (5, 1));
    let [antipode] = &*found.first else { panic!("{found:?}") };
    assert_eq!(antipode.state, "5");
    assert_eq!(antipode.moves.as_ref().map(Vec::len), Some(5));
    assert_eq!(OPEN.each_ref().map(|count| count.load(Ordering::SeqCst)), [0, 1]);
}

#[test]
fn states_without_a_position_are_left_out() {
    let found = finished(|| Space::new(Tree)).antipodes(9).unwrap();
    assert_eq!((found.depth, found.states), (1, 1));
    let [antipode] = &*found.first else { panic!("{found:?}") };
    assert_eq!((antipode.state.as_str(), &antipode.moves), ("2", &None));
}
