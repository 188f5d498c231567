//! Pancake sorting: the largest number of flips that a stack of N pancakes needs.
//!
//! `cargo run --release --example pancake -p strata-bfs -- N [DIR [CRASH_AT]]`
//!
//! With CRASH_AT the process aborts after that layer; run it again without CRASH_AT to resume.

use std::error::Error;
use std::time::Duration;

use strata::Event;
use strata::{KeySpace, Keyed, NoNested, Parameter, Parameters, Puzzle, Search, Seed, SpaceError};

/// Stacks of `pancakes` pancakes; a move flips the topmost two or more.
struct Pancakes {
    pancakes: u32,
}

/// The pancake at a place of the stack, the topmost at 0: four bits of the key.
fn pancake(key: u64, place: u32) -> u64 {
    key >> (4 * place) & 15
}

impl KeySpace for Pancakes {
    type Key = u64;
    fn seeds(&self) -> Vec<Seed> {
        let sorted = (0..self.pancakes).map(|place| u64::from(place) << (4 * place));
        vec![Seed::start(sorted.sum())]
    }

    fn key_bits(&self) -> u32 {
        4 * self.pancakes
    }

    fn successors(&self, key: u64, out: &mut Vec<u64>) {
        out.extend((2..=self.pancakes).map(|flipped| {
            let rest = key >> (4 * flipped) << (4 * flipped);
            (0..flipped).fold(rest, |stack, place| {
                stack | pancake(key, place) << (4 * (flipped - 1 - place))
            })
        }));
    }

    fn text(&self, key: u64) -> String {
        (0..self.pancakes).map(|place| format!("{:x}", pancake(key, place))).collect()
    }
}

impl Puzzle for Pancakes {
    type States = Keyed<Pancakes>;
    type Nested = NoNested;

    const NAME: &'static str = "pancake";
    const SUMMARY: &'static str = "stacks of pancakes, sorted by flipping the topmost ones";
    const PARAMETERS: &'static [Parameter] =
        &[Parameter::positional("pancakes", "pancakes in the stack, 1 to 15")];

    fn open(parameters: &Parameters) -> Result<Pancakes, SpaceError> {
        let pancakes = Pancakes::reader(parameters).number("pancakes")?.unwrap_or_default();
        SpaceError::check("pancakes", pancakes, 1, 15)?;
        Ok(Pancakes { pancakes })
    }

    fn parameters(&self) -> Parameters {
        [("pancakes".to_owned(), self.pancakes.to_string())].into()
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let pancakes = arguments.first().map_or(Ok(8), |text| text.parse())?;
    let crash_at: Option<u32> = arguments.get(2).map(|text| text.parse()).transpose()?;
    let mut search = Search::new(Pancakes { pancakes }).on_event(|event| match event {
        Event::Started { resumed_from: Some(depth), .. } => println!("resumed from layer {depth}"),
        Event::Layer(event) => println!("{:>3} {:>12}", event.layer.depth, event.layer.states),
        // A checkpoint follows every layer, so that a crash loses one layer at most.
        Event::Checkpoint { depth, .. } if Some(*depth) == crash_at => std::process::abort(),
        _ => {}
    });
    if let Some(dir) = arguments.get(1) {
        search = search.data_dir(dir).checkpoint_interval(Duration::ZERO);
    }
    let report = search.run()?;
    println!("radius {}, {} states", report.radius(), report.states());
    Ok(())
}
