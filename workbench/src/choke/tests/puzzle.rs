//! Comparison of the tables with every segment from every useful position of the real puzzle.

use std::collections::{BTreeMap, BTreeSet};

use super::super::board::Board;
use super::super::classes::{BASE, Structure};
use super::super::error::UNREACHED;
use super::super::shape::Shape;
use super::super::signature::{LEVEL_CAP, ROW_CAP, Signature};
use super::super::stack::{Stack, Stacks};
use super::super::tables::Tables;
use super::recursion::{level_three, next_level};

/// Shape and lower tiles; the colours of small tiles do not matter.
type Useful = (Shape, Stacks);
/// Least moves by end and swap vector.
type Segments = BTreeMap<(Useful, usize), u32>;

struct Puzzle {
    level: u8,
    small: u8,
    /// Levels of the lower tiles by number.
    lower: Vec<u8>,
    board: Board,
}

impl Puzzle {
    fn new(level: u8, small: u8) -> Self {
        let lower: Vec<u8> = (small + 1..=level).flat_map(|l| [l, l]).collect();
        let board = Board::new(small, &lower, [level + 1; 3]);
        Self { level, small, lower, board }
    }

    fn start(&self) -> Useful {
        let tower = |first: u8| {
            (0..self.level - self.small).rev().map(|i| 2 * i + first).collect::<Stack>()
        };
        (Shape::Sides, [tower(0), Stack::default(), tower(1)])
    }

    fn segments(&self, (shape, lower): &Useful) -> Segments {
        let visits = self.board.segments(self.board.position(*shape, lower));
        let end =
            |stacks: &Stacks, shape| ((shape, self.board.lower(stacks)), self.board.swaps(stacks));
        visits.iter().filter_map(|v| Some((end(&v.stacks, v.useful?), v.moves))).collect()
    }

    /// The same segments, from the table of the position's signature.
    fn by_tables(&self, (shape, lower): &Useful, tables: &Tables) -> Segments {
        let structure = Structure::shared();
        let (canonical, mirrored) = shape.canonical();
        let column = |c: usize| if mirrored { 2 - c } else { c };
        let mut rest = *lower;
        let a = if canonical == Shape::Sides { None } else { rest[column(0)].pop() };
        let slots = [a, rest[1].pop(), rest[1].pop()];
        let level = |tile: u8| self.lower[usize::from(tile)] - self.small;
        let row = |c: usize| {
            let tiles = rest[column(c)].bottom_up();
            let ground = self.level + 1 - self.small;
            tiles.fold(ground, |row, tile| (row - 1).min(level(tile))).min(ROW_CAP)
        };
        let signature = Signature {
            shape: canonical,
            lower: slots.map(|slot| slot.map_or(0, level).min(LEVEL_CAP)),
            support: [row(0), row(1), row(2)],
        };
        let class = structure.class_of[&signature];
        let mut segments = Segments::new();
        for (k, pattern) in structure.classes[class].patterns.iter().enumerate() {
            let mut stacks = rest;
            for (c, tiles) in pattern.slots.iter().enumerate() {
                for slot in tiles.bottom_up() {
                    stacks[column(c)].push(slots[usize::from(slot)].unwrap());
                }
            }
            let end = if mirrored { pattern.end.mirror() } else { pattern.end };
            let entries = tables.row(structure, class, k).iter().enumerate();
            let reached = entries.filter(|(_, cost)| **cost < UNREACHED);
            segments.extend(reached.map(|(w, cost)| (((end, stacks), w), *cost)));
        }
        segments
    }

    /// Compares all segments; returns the numbers of positions and segments.
    fn compare(&self, tables: &Tables) -> (usize, usize) {
        let mut seen = BTreeSet::from([self.start()]);
        let mut waiting = vec![self.start()];
        let mut count = 0;
        while let Some(useful) = waiting.pop() {
            let segments = self.segments(&useful);
            assert_eq!(segments, self.by_tables(&useful, tables), "{useful:?}");
            count += segments.len();
            for (end, _) in segments.into_keys() {
                if seen.insert(end) {
                    waiting.push(end);
                }
            }
        }
        (seen.len(), count)
    }
}

#[test]
fn two_small_levels() {
    let tables = Tables::base(Structure::shared());
    assert_eq!(tables.level, BASE);
    assert_eq!(Puzzle::new(3, 2).compare(&tables), (30, 1016));
    assert_eq!(Puzzle::new(4, 2).compare(&tables), (240, 9872));
}

#[test]
fn three_small_levels() {
    assert_eq!(Puzzle::new(4, 3).compare(&level_three()), (30, 2032));
}

#[test]
#[ignore = "some ten seconds"]
fn larger_puzzles() {
    let base = Tables::base(Structure::shared());
    assert_eq!(Puzzle::new(5, 2).compare(&base), (3000, 124_064));
    let tables = level_three();
    assert_eq!(Puzzle::new(5, 3).compare(&tables), (240, 19_744));
    assert_eq!(Puzzle::new(5, 4).compare(&next_level(&tables)), (30, 4064));
}
