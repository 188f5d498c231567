//! Shortest solution of a symbolic job, from a second search with all layers in memory.

use std::ops::ControlFlow;

use strata_engine::symbolic::Options;

use crate::catalogue::Space;
use crate::error::{Error, Result};

/// Progress of the second search of a symbolic job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathProgress {
    /// The layer at this depth is complete, and another follows.
    Layer(u32),
    /// All layers are complete, and moves are being traced back.
    Moves {
        /// Depth of the last layer.
        depth: u32,
        /// Moves traced so far.
        moves: u32,
    },
}

/// The positions from start to goal in text form, by a search that holds all layers in memory. It uses
/// memory and threads of `options` only. `on_progress` is called before each further layer and before each
/// move that is traced back; None if it ends the search.
///
/// # Errors
/// [`Error::Step`] if the layers do not fit the memory; [`Error::Space`] if the space is not nested;
/// [`Error::NoPath`] if the search has no goal or does not reach it.
pub fn symbolic_path(
    space: &Space,
    options: Options,
    on_progress: &mut dyn FnMut(PathProgress) -> ControlFlow<()>,
) -> Result<Option<Vec<String>>> {
    let options = Options { keep_layers: true, digests: false, verify: 0, ..options };
    let mut search = space.nested()?.open(options)?;
    let mut layer = search.layer();
    while !layer.is_last() {
        if on_progress(PathProgress::Layer(layer.depth)).is_break() {
            return Ok(None);
        }
        layer = search.advance()?;
    }
    let (mut moves, mut is_ended) = (0, false);
    let positions = search.shortest_path(&mut || {
        let progress = on_progress(PathProgress::Moves { depth: layer.depth, moves });
        moves += 1;
        is_ended = progress.is_break();
        progress
    });
    match positions {
        None if is_ended => Ok(None),
        None => Err(Error::NoPath("no path leads back from a goal".to_owned())),
        positions => Ok(positions),
    }
}

#[cfg(test)]
mod tests {
    use strata_puzzles::panex::Panex;
    use strata_space::{Parameters, Puzzle};

    use super::*;

    const OPTIONS: Options =
        Options { memory: 1 << 26, keep_layers: false, digests: true, verify: 1, threads: 1 };

    fn panex(level: &str, more: &[(&str, &str)]) -> Space {
        let given = [("level", level)].into_iter().chain(more.iter().copied());
        let given = given.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Space::new(Panex::open(&Parameters::from_iter(given)).unwrap()).unwrap()
    }

    #[test]
    fn the_second_search_can_be_ended_in_any_layer_and_at_any_move() {
        let space = panex("4", &[]);
        let mut steps = Vec::new();
        let mut until = |last: usize| {
            steps.clear();
            let mut on_progress = |step| {
                steps.push(step);
                if steps.len() > last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            let positions = symbolic_path(&space, OPTIONS, &mut on_progress).unwrap();
            (positions, steps.len())
        };
        let (positions, all) = until(usize::MAX);
        assert_eq!(positions.unwrap().len(), 129);
        // Layers 0 to 63 have one after them, and there are 128 moves.
        assert_eq!(all, 64 + 128);
        for last in [0, 30, 64, 191] {
            assert_eq!(until(last), (None, last + 1));
        }
        let traced = |moves| PathProgress::Moves { depth: 64, moves };
        assert_eq!(steps[63..66], [PathProgress::Layer(63), traced(0), traced(1)]);
    }

    #[test]
    fn a_path_that_does_not_exist_or_does_not_fit_is_an_error() {
        let mut go_on = |_| ControlFlow::Continue(());
        let whole = symbolic_path(&panex("3", &[("exhaust", "true")]), OPTIONS, &mut go_on);
        assert!(matches!(whole, Err(Error::NoPath(_))), "{whole:?}");
        let small = Options { memory: 1 << 20, ..OPTIONS };
        let small = symbolic_path(&panex("7", &[]), small, &mut go_on);
        assert!(matches!(small, Err(Error::Step(_))), "{small:?}");
    }
}
