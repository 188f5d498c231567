//! Tests of puzzles from files: counts of every layer against an independent search and published tables.

mod dense;
mod families;
mod faults;
mod layers;
mod limits;
mod lists;
mod orbits;
mod published;
mod reference;
#[path = "../../../../strata/tests/it/reference/search.rs"]
mod search;
mod symmetry;
mod texts;
mod wide;
mod words;

use strata_puzzles::permutation::Permutation;
use strata_space::{KeySpace, Parameters, Puzzle, SpaceError, file_value};

use search::layers_of;

fn parameters(content: &str, options: &[(&str, &str)]) -> Parameters {
    let file = file_value(content);
    let pairs = [("file", &*file)].into_iter().chain(options.iter().copied());
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

fn open(content: &str, options: &[(&str, &str)]) -> Result<Permutation, SpaceError> {
    Permutation::open(&parameters(content, options))
}

fn numbers(pairs: &[(&str, impl ToString)]) -> Parameters {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), value.to_string())).collect()
}

/// Each layer around the start, by keys.
fn layers_of_keys<S: KeySpace>(space: &S) -> Vec<Vec<S::Key>> {
    layers_of(&[space.seeds()[0].key()], usize::MAX, |key| {
        let mut next = Vec::new();
        space.successors(*key, &mut next);
        next
    })
}

/// States of each layer around the start, by keys.
fn layers(space: &impl KeySpace) -> Vec<usize> {
    layers_of_keys(space).iter().map(Vec::len).collect()
}
