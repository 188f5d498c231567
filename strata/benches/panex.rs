//! Benchmark of the explicit engine against a search that sorts vectors of the same states, in
//! alternating runs: `cargo bench -p strata-bfs --bench panex -- LEVEL [ROUNDS]` (6 and 3 by default).
//! The engine writes its layers to files, as in a job.

mod baseline;
#[path = "../tests/it/drive/mod.rs"]
mod drive;

use std::time::Instant;

use drive::SearchSetup;
use strata_run::catalogue::{Parameters, Registry};

/// Million states per second.
fn rate(states: u64, started: Instant) -> f64 {
    states as f64 / started.elapsed().as_secs_f64() / 1e6
}

fn engine_rate(level: u8, threads: usize, states: u64, moves: u32) -> f64 {
    let parameters: Parameters = [("level".to_string(), level.to_string())].into();
    let started = Instant::now();
    // The default memory budget of a job.
    let setup = SearchSetup { threads, extra_memory: 1 << 30, ..SearchSetup::default() };
    let outcome =
        drive::search(setup, |shards| match Registry::shipped().open("panex", &parameters) {
            Ok(space) => space.engine(shards),
            Err(error) => panic!("{error}"),
        });
    let rate = rate(states, started);
    assert_eq!(outcome.states().iter().sum::<u64>(), states, "the baseline's states");
    assert_eq!(outcome.moves, Some(moves), "the baseline's moves");
    rate
}

fn median(mut rates: Vec<f64>) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}

fn main() {
    let mut numbers = std::env::args().skip(1).filter_map(|word| word.parse().ok());
    let (level, rounds) = (numbers.next().unwrap_or(6), numbers.next().unwrap_or(3));
    let (mut plain, mut one, mut two) = (Vec::new(), Vec::new(), Vec::new());
    for round in 1..=rounds {
        let started = Instant::now();
        let (moves, states) = baseline::sorted_vec_search(level);
        plain.push(rate(states, started));
        one.push(engine_rate(level, 1, states, moves));
        two.push(engine_rate(level, 2, states, moves));
        let [a, b, c] = [&plain, &one, &two].map(|rates| rates[rates.len() - 1]);
        println!(
            "n={level} round {round}: baseline {a:.2}, 1 thread {b:.1} ({:.1}x), 2 threads {c:.1} ({:.2}x) M states/s",
            b / a,
            c / b
        );
    }
    let (a, b, c) = (median(plain), median(one), median(two));
    println!(
        "n={level} median: baseline {a:.2}, 1 thread {b:.1} ({:.1}x), 2 threads {c:.1} ({:.2}x) M states/s",
        b / a,
        c / b
    );
}
