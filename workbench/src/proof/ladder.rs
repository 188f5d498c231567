//! Tables and distances of the choke-point graphs with few bits of the swap vector, level by level.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::error::ProofError;
use crate::choke::{
    self,
    classes::{BASE, ClassId, SearchNode, Structure},
};

/// Numbers of moves, less prices, by the kept bits of the swap vector. The highest bit is that of
/// the highest level.
pub(super) type Costs = Vec<i64>;

/// The cost of what cannot be reached. Two of them can be added.
pub(super) const UNREACHED: i64 = i64::MAX / 4;

/// The greatest level. Costs stay below 2^50.
pub(super) const HIGHEST: u32 = 32;

/// The first level with tables.
pub(super) const LOWEST: u32 = BASE as u32;

/// Limit of the changes of a distance. Without a negative cycle a distance changes a few times;
/// with one, it changes without end.
const MOST_CHANGES: u32 = 1000;

/// Tables from level 2 and distances from level 3 up to [`HIGHEST`].
pub(super) struct Ladder {
    /// Tables of the levels from `LOWEST` on, by class and row.
    tables: Vec<Vec<Vec<Costs>>>,
    /// Distances of the levels from `LOWEST + 1` on.
    levels: Vec<Distances>,
}

/// Distances in the graphs of one level.
struct Distances {
    /// Distances by class and node.
    classes: Vec<Vec<Costs>>,
    /// Distances of the whole puzzle, by node.
    top: Vec<Costs>,
}

impl Ladder {
    /// Computes all levels. `fold` makes a row of a table from the costs at a node, by all bits
    /// that are known there: both bits at level 2, and above it one bit more than the rows of the
    /// level below have.
    ///
    /// # Errors
    /// If a price is too large, or a negative cycle shows that the prices are too high.
    pub(super) fn climb(
        structure: &Structure,
        fold: impl Fn(u32, &[i64]) -> Result<Costs, ProofError>,
    ) -> Result<Self, ProofError> {
        let base = |row: &Vec<u32>| {
            let costs: Costs = row.iter().map(|&moves| from_moves(moves)).collect();
            fold(LOWEST, &costs)
        };
        let classes = structure.classes.iter();
        let base = classes.map(|class| class.base.iter().map(base).collect());
        let mut tables = vec![base.collect::<Result<Vec<Vec<_>>, _>>()?];
        let mut levels = Vec::new();
        for level in LOWEST + 1..=HIGHEST {
            let lower = &tables[tables.len() - 1];
            let distances = Distances {
                classes: structure
                    .classes
                    .iter()
                    .map(|class| shortest(&class.nodes, lower, level))
                    .collect::<Result<_, _>>()?,
                top: shortest(&structure.top, lower, level)?,
            };
            let rows = structure.classes.iter().zip(&distances.classes).map(|(class, costs)| {
                class.row_nodes.iter().map(|&node| fold(level, &costs[node])).collect()
            });
            tables.push(rows.collect::<Result<_, _>>()?);
            levels.push(distances);
        }
        Ok(Self { tables, levels })
    }

    /// The rows of a class at a level from 2 on.
    pub(super) fn rows(&self, level: u32, class: ClassId) -> &[Costs] {
        &self.tables[(level - LOWEST) as usize][class]
    }

    /// The distances of a class's nodes at a level from 3 on.
    pub(super) fn nodes(&self, level: u32, class: ClassId) -> &[Costs] {
        &self.levels[(level - LOWEST - 1) as usize].classes[class]
    }

    /// The distances of the whole puzzle's nodes at a level from 3 on.
    pub(super) fn top(&self, level: u32) -> &[Costs] {
        &self.levels[(level - LOWEST - 1) as usize].top
    }
}

fn from_moves(moves: u32) -> i64 {
    if moves < choke::UNREACHED { i64::from(moves) } else { UNREACHED }
}

/// Least costs from node 0 to all nodes, by the bits of the lower level's rows and one for the
/// order of the two tiles of `level`.
fn shortest(
    nodes: &[SearchNode],
    lower: &[Vec<Costs>],
    level: u32,
) -> Result<Vec<Costs>, ProofError> {
    let half = lower.iter().flatten().map(Vec::len).max().unwrap_or(1);
    let mut costs = vec![vec![UNREACHED; 2 * half]; nodes.len()];
    let mut changes = vec![0; 2 * half * nodes.len()];
    costs[0][0] = 0;
    let mut queue = BinaryHeap::from([Reverse((0, 0, 0))]);
    while let Some(Reverse((cost, node, swaps))) = queue.pop() {
        let Some(class) = nodes[node].class.filter(|_| cost == costs[node][swaps]) else {
            continue;
        };
        let count: &mut u32 = &mut changes[2 * half * node + swaps];
        *count += 1;
        if *count > MOST_CHANGES {
            return Err(ProofError::NegativeCycle { level });
        }
        for (edge, row) in nodes[node].edges.iter().zip(&lower[class]) {
            let (to, flip) = (edge.to as usize, if edge.flips { half } else { 0 });
            for (w, &moves) in row.iter().enumerate().filter(|(_, moves)| **moves < UNREACHED) {
                let (sum, after) = (cost + moves, swaps ^ flip ^ w);
                if sum < costs[to][after] {
                    costs[to][after] = sum;
                    queue.push(Reverse((sum, to, after)));
                }
            }
        }
    }
    Ok(costs)
}
