//! Slow, independent reference searches for the tests: breadth-first, with hash sets of plain stacks,
//! written from the rules of the puzzles alone. They share no code with the crates under test.

// Every test binary compiles its own copy of this module and uses only a part of it.
#![allow(dead_code)]

use std::cell::Cell;
use std::collections::HashMap;
use std::hash::Hash;

pub(crate) mod ends;
pub(crate) mod golden;
pub(crate) mod search;
pub(crate) mod tiles;

/// What counts as one state of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Symmetry {
    /// A position and its image under "swap the side columns and the colours" together are one state.
    Class,
    /// Every position is a state.
    Off,
}

/// Whether a tile may rest on the centre column's layer 0, the crossing of the top track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CentreTop {
    /// Such positions are left out: the tile would have to leave in the very next move.
    Forbid,
    /// Such positions count; while the tile is there, no tile passes between the side columns.
    Allow,
}

/// When the search ends. The layer that ends it is completed and counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Where the search from the start meets its mirror image, which is the search from the goal.
    AtMeeting,
    /// When the goal is reached.
    AtGoal,
    /// When nothing new is found.
    Never,
}

/// The settings of a Panex search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    pub(crate) symmetry: Symmetry,
    pub(crate) centre_top: CentreTop,
    pub(crate) stop: Stop,
}

/// The result of a reference search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reference {
    /// States by depth; depth 0 is the start alone.
    pub(crate) layers: Vec<u64>,
    /// By depth, the legal moves of its states (of one position for a class), the last layer's too.
    pub(crate) generated: Vec<u64>,
    /// Moves of a shortest solution, where the search ended on one.
    pub(crate) moves: Option<u32>,
}

impl Reference {
    /// The greatest depth.
    pub(crate) fn depth(&self) -> u32 {
        self.layers.len() as u32 - 1
    }

    /// States in all layers together.
    pub(crate) fn states(&self) -> u64 {
        self.layers.iter().sum()
    }

    /// States in the widest layer.
    pub(crate) fn widest(&self) -> u64 {
        self.layers.iter().copied().max().unwrap_or(0)
    }
}

/// Searches Panex with `n` tiles of each colour, from the two standing towers to their exchange.
pub(crate) fn panex_layers(n: u8, options: Options) -> Reference {
    let stored = |position: Position| match options.symmetry {
        Symmetry::Class => position.mirrored().recoloured().min(position),
        Symmetry::Off => position,
    };
    let start = Position::start(n);
    let goal = stored(start.mirrored());
    breadth_first(
        stored(start),
        |position| {
            let next = position.successors(options.centre_top);
            next.into_iter().map(stored).collect()
        },
        |depth, layer, depths| {
            let mirror_lies_at = |depth| {
                layer
                    .iter()
                    .any(|position| depths.get(&stored(position.mirrored())) == Some(&depth))
            };
            match options.stop {
                Stop::AtMeeting if mirror_lies_at(depth - 1) => Some(2 * depth - 1),
                Stop::AtMeeting if mirror_lies_at(depth) => Some(2 * depth),
                Stop::AtGoal if depths.contains_key(&goal) => Some(depth),
                _ => None,
            }
        },
    )
}

/// Searches the whole space of the Towers of Hanoi, from all `discs` on peg 0.
pub(crate) fn hanoi_layers(discs: usize, pegs: usize) -> Reference {
    let mut start = vec![Vec::new(); pegs];
    start[0] = (0..discs).rev().collect();
    breadth_first(start, |pegs| hanoi_successors(pegs), |_, _, _| None)
}

/// Pegs of discs, each from the bottom up; a smaller number is a smaller disc.
fn hanoi_successors(position: &[Vec<usize>]) -> Vec<Vec<Vec<usize>>> {
    let mut successors = Vec::new();
    for from in 0..position.len() {
        let Some(disc) = position[from].last() else {
            continue;
        };
        for to in 0..position.len() {
            let fits = position[to].last().is_none_or(|below| disc < below);
            if to != from && fits {
                let mut next = position.to_vec();
                next[from].pop();
                next[to].push(*disc);
                successors.push(next);
            }
        }
    }
    successors
}

/// Searches from one state. `solved` is called with the depth of the layer just completed, that layer and
/// the depths of all states reached; if it returns a value, the search ends.
fn breadth_first<S: Clone + Eq + Hash>(
    start: S,
    successors: impl Fn(&S) -> Vec<S>,
    solved: impl Fn(u32, &[S], &HashMap<S, u32>) -> Option<u32>,
) -> Reference {
    let moves_of_layer = Cell::new(0);
    let counted = |state: &S| {
        let next = successors(state);
        moves_of_layer.set(moves_of_layer.get() + next.len() as u64);
        next
    };
    let (mut generated, mut moves) = (Vec::new(), None);
    let layers = search::search(&[start], &counted, |layers, depths| {
        let depth = layers.len() - 1;
        if depth > 0 {
            generated.push(moves_of_layer.take());
            moves = solved(depth as u32, &layers[depth], depths);
        }
        moves.is_some()
    });
    if moves.is_some() {
        layers[layers.len() - 1].iter().for_each(|state| drop(counted(state)));
    }
    generated.push(moves_of_layer.take());
    let layers = layers.iter().map(|layer| layer.len() as u64).collect();
    Reference { layers, generated, moves }
}

/// A blue tile of level l is l, an orange one is -l.
type Tile = i8;

const LEFT: usize = 0;
const CENTRE: usize = 1;
const RIGHT: usize = 2;

/// The three columns, each a stack of tiles from the bottom up.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Position([Vec<Tile>; 3]);

impl Position {
    /// The blue tower on the left, the orange one on the right, their largest tiles at the bottom.
    fn start(n: u8) -> Position {
        let blue: Vec<Tile> = (1..=n as Tile).rev().collect();
        let orange = blue.iter().map(|tile| -tile).collect();
        Position([blue, Vec::new(), orange])
    }

    /// The side columns exchanged.
    fn mirrored(&self) -> Position {
        let [left, centre, right] = self.0.clone();
        Position([right, centre, left])
    }

    /// The colours exchanged.
    fn recoloured(&self) -> Position {
        let mut position = self.clone();
        for tile in position.0.iter_mut().flatten() {
            *tile = -*tile;
        }
        position
    }

    /// Whether every tile has at most as many tiles above it as its level says.
    fn is_legal(&self) -> bool {
        self.0.iter().flat_map(|column| levels(column)).all(|(level, above)| above <= level)
    }

    /// Whether a tile rests on the centre column's layer 0: some tile there is at the layer of its level
    /// with all layers above it filled.
    fn blocks_track(&self) -> bool {
        levels(&self.0[CENTRE]).any(|(level, above)| above == level)
    }

    /// The positions one legal move away, one for each move.
    fn successors(&self, centre_top: CentreTop) -> Vec<Position> {
        let mut successors = Vec::new();
        for from in [LEFT, CENTRE, RIGHT] {
            for to in [LEFT, CENTRE, RIGHT] {
                let passes_centre = from != CENTRE && to != CENTRE;
                if from == to || (passes_centre && self.blocks_track()) {
                    continue;
                }
                let mut next = self.clone();
                let Some(tile) = next.0[from].pop() else {
                    continue;
                };
                next.0[to].push(tile);
                let allowed = centre_top == CentreTop::Allow || !next.blocks_track();
                if next.is_legal() && allowed {
                    successors.push(next);
                }
            }
        }
        successors
    }
}

/// The levels of a column's tiles from the top down, each with the number of tiles above it.
fn levels(column: &[Tile]) -> impl Iterator<Item = (u8, u8)> {
    column.iter().rev().map(|tile| tile.unsigned_abs()).zip(0..)
}
