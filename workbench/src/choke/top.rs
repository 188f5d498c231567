//! The search of the whole puzzle, from the start to half way.

use super::classes::Structure;
use super::error::ChokeError;
use super::graph::Reach;
use super::run::Run;
use super::search::Search;
use super::tables::{Tables, largest};

/// Meeting of the two halves of a shortest path.
///
/// The inverse of a path from the start to the goal, with the colours exchanged, is another such
/// path. So a position at distance d from the start has an image, with all pairs exchanged, at
/// distance d from the goal.
pub(super) struct Meeting {
    /// X(N): the least number of moves of a path through this position.
    pub(super) moves: u32,
    pub(super) node: usize,
    pub(super) swaps: usize,
    /// Distances from the start by node and swap vector; beyond half way, upper bounds.
    pub(super) costs: Vec<Vec<u32>>,
}

/// Finds the meeting with the fewest moves, from the tables of the level below.
///
/// # Errors
/// If the run is cancelled or the costs do not fit.
pub(super) fn meet(
    structure: &Structure,
    lower: &Tables,
    run: &Run<'_>,
) -> Result<Meeting, ChokeError> {
    let nodes = &structure.top;
    let rows = lower.as_lower(structure, &Structure::needed(nodes), run);
    let counter = run.counter(lower.level + 1, 1);
    let mut search = Search::new(nodes, &rows, Reach::Everything);
    let all = (2 << lower.level) - 1;
    let mut best = u32::MAX;
    // Distances greater than half of the best sum cannot give a shorter path.
    while let Some(least) = search.next().filter(|&least| least < best.div_ceil(2)) {
        run.check()?;
        search.settle(least);
        let sums = search.settled().map(|(node, swaps, c)| c + search.cost(node, swaps ^ all));
        best = sums.min().map_or(best, |sum| sum.min(best));
        search.spread(least, run.threads);
    }
    let costs = search.into_costs();
    lower.check_sums(largest(&costs))?;
    counter.one_more();
    Ok(best_meeting(costs, all))
}

fn best_meeting(costs: Vec<Vec<u32>>, all: usize) -> Meeting {
    let mut best = (u32::MAX, 0, 0);
    for (node, costs) in costs.iter().enumerate() {
        for (swaps, cost) in costs.iter().enumerate() {
            best = best.min((cost + costs[swaps ^ all], node, swaps));
        }
    }
    let (moves, node, swaps) = best;
    Meeting { moves, node, swaps, costs }
}
