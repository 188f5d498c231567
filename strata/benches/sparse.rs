//! Benchmark of spaces without tables, with one thread:
//! `cargo bench -p strata-bfs --bench sparse -- [DISCS [PANCAKES [TOKENS [DEPTH]]]]` (by default 12 discs on
//! 4 pegs, 9 pancakes, 9 tokens of LX, whose moves have no inverses, and the 3x3x3 to depth 6).

use std::time::Instant;

use strata::{Engine, Search};
use strata_run::{Error, Result};
use strata_space::file_value;

/// Searches a whole space and prints its rate.
fn exhaust(name: &str, parameters: &[(&str, &str)], expected: u64) -> Result<()> {
    let search = Search::named(name, parameters.iter().copied()).engine(Engine::Explicit);
    let report = search.threads(1).run()?;
    let (states, seconds) = (report.states(), report.seconds());
    assert_eq!(states, expected, "{name} {parameters:?}");
    let generated: u64 = report.layers().iter().map(|layer| layer.generated).sum();
    let bytes: u64 = report.layers().iter().map(|layer| layer.bytes).sum();
    println!(
        "{name} {}: {states} states, {} layers, {seconds:.2} s, {:.2} M states/s, {:.1} M moves/s, {:.2} bytes a \
         state",
        parameters[0].1,
        report.radius() + 1,
        states as f64 / seconds / 1e6,
        generated as f64 / seconds / 1e6,
        bytes as f64 / states as f64,
    );
    Ok(())
}

/// Searches the 3x3x3 to a depth, with symmetries or without, and prints its rate.
fn cube(symmetry: &str, depth: u32) -> Result<()> {
    let file = file_value(include_str!("../../puzzles/data/3x3x3.tws"));
    let parameters = [("file", &*file), ("symmetry", symmetry)];
    let search = Search::named("puzzle", parameters).engine(Engine::Explicit).threads(1);
    let (mut last, mut states, started) = (None, 0, Instant::now());
    let search = search.memory("8GiB").max_layers(depth).on_layer(|layer| {
        states += layer.states;
        last = Some(layer.clone());
    });
    match search.run() {
        Ok(_) | Err(Error::Stopped { .. }) => {}
        Err(error) => return Err(error),
    }
    let seconds = started.elapsed().as_secs_f64();
    if let Some(layer) = last {
        println!(
            "3x3x3, symmetry {symmetry}, to depth {depth}: {} states, {seconds:.2} s, {:.2} M states/s, {:.2} \
             bytes a state of the last layer",
            states,
            states as f64 / seconds / 1e6,
            layer.bytes as f64 / layer.states as f64,
        );
    }
    Ok(())
}

fn main() -> Result<()> {
    let words = std::env::args().skip(1).filter(|word| word != "--bench");
    let given: Vec<u32> = words.filter_map(|word| word.parse().ok()).collect();
    let number = |index: usize, default| given.get(index).copied().unwrap_or(default);
    let factorial = |n: u32| (1..=u64::from(n)).product::<u64>();
    let (discs, pancakes, tokens) = (number(0, 12), number(1, 9), number(2, 9));
    let text = [discs, pancakes, tokens].map(|number| number.to_string());
    let hanoi = [("discs", &*text[0]), ("pegs", "4"), ("exhaust", "true")];
    exhaust("hanoi", &hanoi, 4_u64.pow(discs))?;
    exhaust("pancake", &[("n", &*text[1])], factorial(pancakes))?;
    exhaust("lx", &[("n", &*text[2])], factorial(tokens))?;
    let depth = number(3, 6);
    cube("off", depth)?;
    cube("on", depth + 1)
}
