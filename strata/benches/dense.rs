//! Benchmark of dense searches by parts on disk, alternating with searches in memory:
//! `cargo bench -p strata-bfs --bench dense -- [ROUNDS] [PANCAKES]` (3 rounds by default; the puzzle is the
//! pyraminx, or as many pancakes as given).
//!
//! The searches have one thread. Times are its processor time, so that a busy machine does not distort
//! them.

use std::path::Path;
use std::sync::Arc;

use strata_engine::dense::{Options, PartSearch, SearchError};
use strata_run::catalogue::{Parameters, Registry};
use strata_run::{DenseSetup, DenseWorker, KeepLayers, Work};
use strata_space::dense::DenseSpace;
use strata_space::file_value;
use strata_store::{JobDir, RealFs};

/// Number of parts of the space.
const PARTS: u64 = 12;

/// Processor time of this thread.
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    match text.split_whitespace().next().map(str::parse::<f64>) {
        Some(Ok(nanoseconds)) => nanoseconds * 1e-9,
        _ => panic!("the system does not tell the processor time of a thread"),
    }
}

fn open(pancakes: Option<&str>) -> Arc<dyn DenseSpace> {
    let pyraminx = || file_value(include_str!("../../puzzles/data/pyraminx.tws"));
    let (name, parameter, value) = match pancakes {
        Some(n) => ("pancake", "n", n.to_owned()),
        None => ("puzzle", "file", pyraminx()),
    };
    let parameters: Parameters = [(parameter.to_owned(), value)].into();
    match Registry::shipped().open(name, &parameters).and_then(|space| space.dense()) {
        Ok(space) => space,
        Err(error) => panic!("{error}"),
    }
}

/// Memory in bytes for all of a space, and for one part of it.
fn budgets(space: &Arc<dyn DenseSpace>) -> [u64; 2] {
    let refused = PartSearch::new(space, &Options { memory: 0, ..Options::default() });
    let Err(SearchError::Budget { needed, .. }) = refused else { panic!("{refused:?}") };
    // Four planes, and a share of the memory for thin layers.
    let planes = space.tables().shape().words() * 32;
    [needed + planes * 2, needed + planes / PARTS * 17 / 16]
}

/// Searches a space. Returns its states, the number of parts and the processor time.
fn search(space: &Arc<dyn DenseSpace>, dir: &Path, memory: u64, digest: bool) -> (u64, usize, f64) {
    let folder = match JobDir::attach(Arc::new(RealFs), dir, "job") {
        Ok(folder) => folder,
        Err(error) => panic!("{error}"),
    };
    let (owners, keep) = (Arc::new([0]), KeepLayers::Last);
    let setup = DenseSetup { worker: 0, owners, threads: 1, memory, digest, keep, folder };
    let before = processor_seconds();
    let all = DenseWorker::new(setup, Arc::clone(space)).and_then(|mut worker| {
        let parts = worker.parts();
        let mut all = 0;
        let mut layer = worker.seed()?;
        while layer.layer.states > 0 {
            all += layer.layer.states;
            layer = worker.advance(&[])?;
        }
        Ok((all, parts))
    });
    match all {
        Ok((all, parts)) => (all, parts, processor_seconds() - before),
        Err(error) => panic!("{error}"),
    }
}

fn main() {
    let words = std::env::args().skip(1).filter(|word| word != "--bench");
    let words: Vec<String> = words.collect();
    let rounds = words.first().and_then(|word| word.parse().ok()).unwrap_or(3);
    let space = open(words.get(1).map(String::as_str));
    let states = space.tables().shape().states();
    println!("{states} states, {} MiB of tables", space.tables().bytes() >> 20);
    let dir = match tempfile::tempdir() {
        Ok(dir) => dir,
        Err(error) => panic!("{error}"),
    };
    for round in 1..=rounds {
        for digest in [false, true] {
            let [memory, disk] = budgets(&space).map(|memory| {
                let (found, parts, seconds) = search(&space, dir.path(), memory, digest);
                assert_eq!(found, states, "all states");
                println!("round {round}, digests {digest}, {parts} parts: {seconds:.3} s");
                seconds
            });
            println!("round {round}, digests {digest}: {:.2} times", disk / memory);
        }
    }
}
