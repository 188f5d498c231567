//! Searches the Panex puzzle symbolically: `panex LEVEL [MEMORY in MiB] [THREADS] [digests]`.

use std::sync::Arc;
use std::time::Instant;

use strata_engine::symbolic::{Options, Search};
use strata_puzzles::panex::{NestedPanex, PanexConfig};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let level = args.next().unwrap_or("6".into()).parse()?;
    let memory: usize = args.next().unwrap_or("8192".into()).parse()?;
    let threads = args.next().unwrap_or("1".into()).parse()?;
    let digests = args.next().is_some();
    let started = Instant::now();
    let space = NestedPanex::new(PanexConfig::new(level))?;
    let options = Options { memory: memory << 20, keep_layers: false, digests, verify: 0, threads };
    let mut search = Search::new(Arc::new(space), options)?;
    let mut states = search.layer().stats.states;
    let mut widest = 1;
    loop {
        let layer = search.advance()?;
        states += layer.stats.states;
        widest = widest.max(layer.stats.states);
        if layer.is_last() {
            let moves = 2 * layer.depth - u32::from(layer.stats.odd);
            println!("X({level}) = {moves}, {states} states, widest {widest}");
            println!("{:.2?}, {:?}", started.elapsed(), search.usage());
            return Ok(());
        }
    }
}
