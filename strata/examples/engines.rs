//! The same search with two engines: the Panex puzzle of level 6.
//!
//! `cargo run --release --example engines -p strata-bfs`

use strata::{Engine, Search};

fn main() -> Result<(), strata::Error> {
    for engine in [Engine::Symbolic, Engine::Explicit] {
        let report = Search::named("panex", [("level", "6")]).engine(engine).run()?;
        println!(
            "{engine:?}: {} moves, {} states, digest {}, {:.2} s",
            report.moves().unwrap_or_default(),
            report.states(),
            report.digest(),
            report.seconds()
        );
    }
    Ok(())
}
