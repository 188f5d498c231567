//! Benchmark of the dense engine on groups of puzzles and on towers of Hanoi, in alternating runs:
//! `cargo bench -p strata-engine --bench groups -- [ROUNDS] [PUZZLE ...]` (3 and all by default).
//!
//! With one thread, the processor time of the thread is measured, which works on a busy machine. With
//! two threads, the elapsed time is measured, which needs an idle machine. Times include the first use of
//! the search's memory, but not the construction of the space's tables.

#[path = "../tests/it/dense/puzzles/mod.rs"]
mod puzzles;

use std::sync::Arc;
use std::time::Instant;

use puzzles::Powers;
use strata_engine::dense::{Kernel, Options, Search};
use strata_puzzles::{DenseHanoi, Hanoi};
use strata_space::dense::DenseSpace;

type Puzzle = (&'static str, fn() -> Arc<dyn DenseSpace>);

const PUZZLES: [Puzzle; 12] = [
    ("pyraminx", || puzzles::pyraminx().space()),
    ("dino", || puzzles::dino().space()),
    ("skewb", || puzzles::skewb().space()),
    ("cube2", || puzzles::cube2(6, Powers::All).space()),
    ("skewb-diamond-folded", || puzzles::from_file("skewb-diamond", true)),
    ("cube2-folded", || puzzles::from_file("2x2x2", true)),
    ("skewb-folded", || puzzles::from_file("skewb", true)),
    ("dino-folded", || puzzles::from_file("dino", true)),
    ("pyraminx-folded", || puzzles::from_file("pyraminx", true)),
    ("pancake-12", || puzzles::pancake(12).space()),
    ("pancake-12-factored", || puzzles::pancake(12).factored_space()),
    ("hanoi-13-4", || match Hanoi::new(13, 4, true).and_then(DenseHanoi::new) {
        Ok(space) => Arc::new(space),
        Err(error) => panic!("{error}"),
    }),
];

/// Processor time of this thread in seconds; None if the system does not report it.
fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split_whitespace().next()?.parse::<f64>().ok()? * 1e-9)
}

/// Peak resident memory of the process in MiB.
fn peak_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|line| line.starts_with("VmHWM"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? >> 10)
}

/// Seconds of a search of the whole space.
fn search(space: &Arc<dyn DenseSpace>, options: &Options, is_verbose: bool) -> f64 {
    let wall = Instant::now();
    let before = processor_seconds();
    let mut search = match Search::new(Arc::clone(space), options) {
        Ok(search) => search,
        Err(error) => panic!("{error}"),
    };
    let (mut states, mut positions) = (search.stats().states, search.stats().positions);
    loop {
        let (layer_wall, layer_before) = (Instant::now(), processor_seconds());
        let Some(layer) = search.advance() else { break };
        states += layer.states;
        positions += layer.positions;
        if is_verbose {
            let seconds = seconds_since(layer_wall, layer_before, options);
            println!("  depth {}: {} states, {seconds:.4} s", search.depth(), layer.states);
        }
    }
    assert_eq!(states, space.tables().shape().states(), "all states");
    if is_verbose {
        println!("  {states} states stand for {positions} positions");
    }
    seconds_since(wall, before, options)
}

fn seconds_since(wall: Instant, before: Option<f64>, options: &Options) -> f64 {
    match (before, processor_seconds()) {
        (Some(before), Some(after)) if options.threads == 1 => after - before,
        _ => wall.elapsed().as_secs_f64(),
    }
}

fn greatest(times: &[f64]) -> f64 {
    times.iter().copied().fold(0.0, f64::max)
}

fn least(times: &[f64]) -> f64 {
    times.iter().copied().fold(f64::INFINITY, f64::min)
}

fn measure((name, open): &Puzzle, rounds: usize, is_verbose: bool) {
    let started = Instant::now();
    let space = open();
    let setup = started.elapsed().as_secs_f64();
    let shape = space.tables().shape();
    let states = shape.states() as f64;
    println!(
        "{name}: {states} states, {} moves, {} blocks of {} rows of {} lanes, {} MiB of tables, made in {setup:.2} s",
        space.tables().moves().moves,
        shape.blocks,
        shape.rows,
        shape.lanes,
        space.tables().bytes() >> 20
    );
    let plain = Options { digest: false, memory: 16 << 30, ..Options::default() };
    let mut setups = vec![
        ("no digests".to_owned(), plain.clone()),
        ("digests".to_owned(), Options { digest: true, ..plain.clone() }),
        ("no digests, 2 threads".to_owned(), Options { threads: 2, ..plain.clone() }),
        ("digests, 2 threads".to_owned(), Options { threads: 2, digest: true, ..plain.clone() }),
    ];
    for kernel in Kernel::available().into_iter().skip(1) {
        setups.push((format!("{kernel:?}"), Options { kernel: Some(kernel), ..plain.clone() }));
    }
    // The first search of a process is slower, as the system must provide its memory.
    search(&space, &plain, false);
    let mut times = vec![Vec::new(); setups.len()];
    for round in 0..rounds {
        for ((_, options), times) in setups.iter().zip(&mut times) {
            times.push(search(&space, options, is_verbose && round == 0));
        }
    }
    for ((label, _), times) in setups.iter().zip(&times) {
        let best = least(times);
        let rate = states / best / 1e6;
        println!("  {label}: {best:.3} to {:.3} s, {rate:.0} M states/s", greatest(times));
    }
    if let Some(peak) = peak_memory() {
        println!("  peak memory of the process: {peak} MiB");
    }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let rounds = words.iter().find_map(|word| word.parse().ok()).unwrap_or(3);
    let is_chosen = |(name, _): &Puzzle| {
        words.iter().any(|word| word == name)
            || words.iter().all(|word| word.parse::<u32>().is_ok() || word == "-v")
    };
    let is_verbose = words.iter().any(|word| word == "-v");
    for puzzle in PUZZLES.iter().filter(|puzzle| is_chosen(puzzle)) {
        measure(puzzle, rounds, is_verbose);
    }
}
