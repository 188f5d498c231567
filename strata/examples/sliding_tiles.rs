//! How to add a puzzle: the sliding tiles on three by three cells, listed to the last position, as
//! a plain list of keys. (`strata solve tiles 3x3 --exhaust --symmetry off` does the same by tables.)
//!
//! `cargo run --release --example sliding_tiles -p strata-worker`

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use strata::{Budget, KeepLayers, Setup, Worker};
use strata_explicit::{Engine, LocalExchange};
use strata_space::{KeySpace, Keyed, Seed};
use strata_store::{EncodeOptions, JobDir, RealFs};

/// Eight tiles and a gap on a board of three by three cells.
///
/// The key holds a digit of four bits for every cell, the first cell lowest; 0 is the gap.
pub(crate) struct SlidingTiles;

const SIDE: u32 = 3;
const CELLS: u32 = SIDE * SIDE;
const CELL_BITS: u32 = 4;

fn tile(key: u64, cell: u32) -> u64 {
    key >> (CELL_BITS * cell) & ((1 << CELL_BITS) - 1)
}

impl KeySpace for SlidingTiles {
    fn seeds(&self) -> Vec<Seed> {
        let solved = (0..CELLS).fold(0, |key, cell| key | u64::from(cell) << (CELL_BITS * cell));
        vec![Seed::start(solved)]
    }

    fn key_bits(&self) -> u32 {
        CELLS * CELL_BITS
    }

    fn successors(&self, key: u64, out: &mut Vec<u64>) {
        let gap = (0..CELLS).find(|cell| tile(key, *cell) == 0).unwrap_or_default();
        let beside = |cell: &u32| {
            let (row, column) = (cell / SIDE, cell % SIDE);
            row.abs_diff(gap / SIDE) + column.abs_diff(gap % SIDE) == 1
        };
        out.extend((0..CELLS).filter(beside).map(|cell| {
            let tile = tile(key, cell);
            key ^ tile << (CELL_BITS * cell) ^ tile << (CELL_BITS * gap)
        }));
    }

    fn text(&self, key: u64) -> String {
        (0..CELLS).map(|cell| tile(key, cell).to_string()).collect::<Vec<_>>().join(" ")
    }
}

/// Searches a space until nothing new is found, in files under `dir`. Returns the number of
/// states of every layer.
pub(crate) fn exhaust<S: KeySpace>(space: S, dir: &Path) -> Result<Vec<u64>, Box<dyn Error>> {
    let shards = 16;
    let engine = Arc::new(Engine::direct(Keyed::new(space)?, shards));
    let setup = Setup {
        worker: 0,
        owners: vec![0; shards as usize].into(),
        threads: 1,
        budget: Budget::new(64 << 20, engine.table_bytes(), 1, 1)?,
        encode: EncodeOptions::default(),
        keep: KeepLayers::Last,
        folder: JobDir::attach(Arc::new(RealFs), dir, "sliding-tiles")?,
    };
    let inbox = Arc::new(setup.inbox()?);
    let exchange = Arc::new(LocalExchange::new(vec![inbox.clone()]));
    let mut worker = Worker::new(setup, engine, inbox, exchange)?;
    let mut layers = Vec::new();
    let mut layer = worker.seed()?;
    while layer.stats.states > 0 {
        layers.push(layer.stats.states);
        layer = worker.advance()?;
    }
    Ok(layers)
}

fn main() -> Result<(), Box<dyn Error>> {
    let dir = tempfile::tempdir()?;
    let layers = exhaust(SlidingTiles, dir.path())?;
    for (depth, states) in layers.iter().enumerate() {
        println!("{depth:>3} {states:>7}");
    }
    println!("{} positions", layers.iter().sum::<u64>());
    Ok(())
}
