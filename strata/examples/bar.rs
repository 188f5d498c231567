//! Layer events drawn as a bar chart in text: the Panex puzzle of level 3.
//!
//! `cargo run --release --example bar -p strata-bfs`

use strata::Search;

fn main() -> Result<(), strata::Error> {
    const WIDTH: u64 = 60;
    let mut layers = Vec::new();
    let search = Search::named("panex", [("level", "3"), ("symmetry", "off")]);
    let report = search.on_layer(|layer| layers.push(layer.states)).run()?;
    let widest = report.totals().widest;
    for (depth, states) in layers.iter().enumerate() {
        let length = (states * WIDTH).div_ceil(widest) as usize;
        println!("{depth:>3} {states:>6} {}", "#".repeat(length));
    }
    println!("{} moves", report.moves().unwrap_or_default());
    Ok(())
}
