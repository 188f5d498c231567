use std::collections::BTreeSet;
use std::sync::PoisonError;

use stateright::{Checker, Model};

use super::grid::{Grid, Worker};
use super::model::{Cluster, Defect, Move, Seen};

const PAIR: Grid = Grid { workers: 2, columns: 2 };
/// The second row has one member, who carries the messages of both columns.
const THREE: Grid = Grid { workers: 3, columns: 2 };
const SQUARE: Grid = Grid { workers: 4, columns: 2 };

/// A search of three layers without faults.
fn cluster(grid: Grid) -> Cluster {
    Cluster {
        grid,
        last: 2,
        window: 2,
        moves: Vec::new(),
        crashes: 0,
        resets: 0,
        stops: 0,
        is_control_slow: false,
        defect: None,
        seen: Default::default(),
    }
}

fn moved() -> Vec<Move> {
    vec![Move { layer: 1, range: 0, to: 1 }]
}

/// Explores all that can happen in a cluster, and returns the names of properties that do not hold.
fn explore(cluster: &Cluster) -> Vec<&'static str> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let checker = cluster.clone().checker().threads(threads).spawn_bfs().join();
    let wrong = checker.discoveries();
    println!("{} states; {:?}", checker.unique_state_count(), wrong.keys());
    for (name, path) in &wrong {
        println!("{name}: {:?} after {:?}", path.last_state().wrong(), path.clone().into_actions());
    }
    wrong.into_keys().collect()
}

/// Checks that nothing goes wrong in some clusters, and that all of `seen` happens in one or other of them.
fn check(clusters: impl IntoIterator<Item = Cluster>, expected: &[Seen]) {
    let mut seen = BTreeSet::new();
    for cluster in clusters {
        assert!(explore(&cluster).is_empty(), "{cluster:?}");
        seen.extend(cluster.seen.lock().unwrap_or_else(PoisonError::into_inner).iter().copied());
    }
    assert!(expected.iter().all(|what| seen.contains(what)), "{seen:?}");
}

const ALL: [Seen; 6] =
    [Seen::Ahead, Seen::Repeated, Seen::Stale, Seen::LayersLost, Seen::Stopped, Seen::Moved];

#[test]
fn no_interleaving_loses_or_doubles_a_range_or_splits_a_window() {
    let faults = Cluster { crashes: 1, resets: 1, stops: 1, moves: moved(), ..cluster(PAIR) };
    let clusters = [
        faults,
        Cluster { resets: 1, moves: moved(), ..cluster(THREE) },
        Cluster { crashes: 1, ..cluster(THREE) },
        Cluster { stops: 1, moves: moved(), ..cluster(THREE) },
        Cluster { last: 3, window: 1, ..cluster(SQUARE) },
    ];
    check(clusters, &ALL);
}

/// More faults together, and messages of the coordinator that take time.
#[test]
#[ignore = "explores millions of states"]
fn no_interleaving_of_more_faults_loses_or_doubles_a_range_or_splits_a_window() {
    let slow = |cluster| Cluster { is_control_slow: true, ..cluster };
    let clusters = [
        slow(Cluster { crashes: 1, resets: 1, stops: 1, moves: moved(), ..cluster(PAIR) }),
        slow(Cluster { stops: 1, ..cluster(THREE) }),
        Cluster { crashes: 1, stops: 1, moves: moved(), ..cluster(THREE) },
        Cluster { crashes: 1, resets: 1, ..cluster(THREE) },
        Cluster { resets: 1, moves: moved(), ..cluster(SQUARE) },
        Cluster { crashes: 1, ..cluster(SQUARE) },
    ];
    check(clusters, &ALL);
}

#[test]
fn every_defect_is_found() {
    let defects = [
        Defect::AnyEpoch,
        Defect::NothingRepeated,
        Defect::StopsAlone,
        Defect::KeepsRange,
        Defect::TakesWithoutParts,
        Defect::CommitsEarly,
        Defect::RejoinsEpoch,
    ];
    for defect in defects {
        let faults = Cluster { crashes: 1, resets: 1, stops: 1, moves: moved(), ..cluster(PAIR) };
        let found = explore(&Cluster { defect: Some(defect), ..faults });
        assert!(!found.is_empty(), "{defect:?}");
    }
}

#[test]
fn each_worker_has_one_carrier_in_each_other_row() {
    for workers in 1..=40 {
        for columns in 1..=workers {
            let grid = Grid { workers, columns };
            for to in grid.all() {
                let mut carriers: Vec<Worker> =
                    grid.all().filter(|from| grid.carried(*from).any(|w| w == to)).collect();
                carriers.sort_by_key(|carrier| grid.row_of(*carrier));
                let others = grid.rows().filter(|row| *row != grid.row_of(to));
                assert!(carriers.iter().map(|carrier| grid.row_of(*carrier)).eq(others));
            }
        }
    }
}
