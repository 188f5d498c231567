//! Tests of the dense engine against independent searches and published tables.

mod folded;
mod hanoi;
mod layers;
mod parts;
mod published;
mod puzzles;
mod share;

use strata_engine::dense::Search;
use strata_space::LayerStats;

/// The figures of the current layer and of all that follow.
fn all_layers(search: &mut Search) -> Vec<LayerStats> {
    let first = search.stats();
    std::iter::once(first).chain(std::iter::from_fn(|| search.advance())).collect()
}
