//! Puzzles from files: counts of every layer against an independent search and published tables.

mod dense;
mod families;
mod faults;
mod layers;
mod limits;
mod lists;
mod orbits;
mod published;
mod reference;
mod symmetry;
mod wide;
mod words;

use std::collections::HashSet;

use strata_puzzles::permutation::Permutation;
use strata_space::{KeySpace, Parameters, Puzzle, SpaceError, file_value};

fn parameters(content: &str, options: &[(&str, &str)]) -> Parameters {
    let file = file_value(content);
    let pairs = [("file", &*file)].into_iter().chain(options.iter().copied());
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

fn open(content: &str, options: &[(&str, &str)]) -> Result<Permutation, SpaceError> {
    Permutation::open(&parameters(content, options))
}

/// States of each layer around the start, by keys.
fn layers(space: &impl KeySpace) -> Vec<usize> {
    let start = space.seeds()[0].key();
    let mut known = HashSet::from([start]);
    let mut layer = vec![start];
    let (mut counts, mut next) = (Vec::new(), Vec::new());
    while !layer.is_empty() {
        counts.push(layer.len());
        next.clear();
        for key in &layer {
            space.successors(*key, &mut next);
        }
        layer = next.iter().copied().filter(|key| known.insert(*key)).collect();
    }
    counts
}
