//! Benchmark of complete searches of sliding tiles, for a size of the local part:
//! `cargo bench -p strata-bfs --bench tiles -- [SIZE [K [THREADS]]]` (by default 3x4 and 2x6, the largest k
//! and one thread). The totals are compared with the known ones, so no symmetry is used.

#[path = "../tests/it/drive/mod.rs"]
mod drive;

use std::time::Instant;

use drive::SearchSetup;
use strata_engine::explicit::Engine;
use strata_puzzles::tiles::Tiles;
use strata_run::catalogue::{Parameters, Puzzle};
use strata_space::Tabled;

/// Known spaces: size, states, radius.
const KNOWN: [(&str, u64, usize); 5] = [
    ("3x3", 181_440, 31),
    ("2x5", 1_814_400, 55),
    ("3x4", 239_500_800, 53),
    ("4x3", 239_500_800, 53),
    ("2x6", 239_500_800, 80),
];

fn open(size: &str, k: Option<&str>) -> Tiles {
    let pairs =
        [("size", Some(size)), ("exhaust", Some("true")), ("symmetry", Some("off")), ("k", k)];
    let given = pairs.iter().filter_map(|(name, value)| Some((*name, (*value)?)));
    let parameters: Parameters = given.map(|(a, b)| (a.to_owned(), b.to_owned())).collect();
    match <Tiles as Puzzle>::open(&parameters) {
        Ok(tiles) => tiles,
        Err(error) => panic!("{error}"),
    }
}

/// The share of moves that stay inside a region, which is the same for all regions.
fn inside(space: &Tiles) -> f64 {
    let moves = (0..space.indices()).map(|index| space.legal_moves(&(), index));
    let (inside, all) = moves.fold((0, 0), |(inside, all), open| {
        let inner = open.inside.count_ones();
        (inside + inner, all + inner + open.exits.count_ones())
    });
    f64::from(inside) / f64::from(all)
}

fn exhaust(size: &str, k: Option<&str>, threads: usize) {
    let space = open(size, k);
    let (k, share, bytes) = (space.k(), inside(&space), space.table_bytes());
    let started = Instant::now();
    let setup = SearchSetup { threads, extra_memory: 512 << 20, ..SearchSetup::default() };
    let outcome = drive::search(setup, |shards| Engine::tabled(space, shards));
    let (states, seconds) = (outcome.states(), started.elapsed().as_secs_f64());
    let (total, radius) = (states.iter().sum::<u64>(), states.len() - 1);
    if let Some(known) = KNOWN.iter().find(|known| known.0 == size) {
        assert_eq!((total, radius), (known.1, known.2), "{size}");
    }
    println!(
        "{size} k={k}: {total} states, radius {radius} (last {}), {:.1}% inside, tables {:.1} MB, \
         {threads} threads: {seconds:.1} s, {:.2} M states/s, spilled {} MiB",
        states[radius],
        100.0 * share,
        bytes as f64 / 1e6,
        total as f64 / seconds / 1e6,
        outcome.spilled_bytes >> 20,
    );
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let threads = words.get(2).and_then(|word| word.parse().ok()).unwrap_or(1);
    match words.first() {
        Some(size) => exhaust(size, words.get(1).map(String::as_str), threads),
        None => ["3x4", "2x6"].iter().for_each(|size| exhaust(size, None, threads)),
    }
}
