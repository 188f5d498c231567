//! A shortest path to one of the farthest positions of the 3x3 sliding tiles.
//!
//! `cargo run --release --example farthest -p strata-bfs`

use std::error::Error;
use std::ops::ControlFlow;

use strata::KeepLayers;
use strata::Search;

fn main() -> Result<(), Box<dyn Error>> {
    let parameters = [("size", "3x3"), ("exhaust", "true")];
    let report = Search::named("tiles", parameters).keep_layers(KeepLayers::All).run()?;
    let mut farthest = None;
    report.layer(report.radius())?.visit(&mut |state| {
        farthest = Some(state);
        ControlFlow::Break(())
    })?;
    let state = farthest.ok_or("the last layer is empty")?;
    let path = report.path_to(&state)?;
    println!("{} is {} moves from the start:", state.text, path.len());
    println!("{}", path.join(" "));
    Ok(())
}
