//! Tests that operations have least length, by a plain breadth-first search.

use std::collections::HashSet;

use strata_panex::formulas::Quantity;
use strata_panex::operations::{Ends, Kind, Operation, SinkVariation, Task};
use strata_panex::table::Table;
use strata_replay::{CentreTop, Position};

/// The least number of moves between two positions, by search from both ends. Moves are reversible,
/// so a layer leads only to itself, the layer before it and the next one.
fn distance(start: &Position, goal: &Position, centre_top: CentreTop) -> u64 {
    let mut layers = [HashSet::from([start.clone()]), HashSet::from([goal.clone()])];
    let mut before = [HashSet::new(), HashSet::new()];
    let mut moves = 0;
    while layers[0].is_disjoint(&layers[1]) {
        let side = usize::from(layers[1].len() < layers[0].len());
        let mut next = HashSet::new();
        for position in &layers[side] {
            for mv in position.legal_moves(centre_top) {
                let mut after = position.clone();
                after.apply(mv, centre_top).unwrap();
                if !layers[side].contains(&after) && !before[side].contains(&after) {
                    next.insert(after);
                }
            }
        }
        assert!(!next.is_empty(), "{goal} cannot be reached from {start}");
        before[side] = std::mem::replace(&mut layers[side], next);
        moves += 1;
    }
    moves
}

fn task(kind: Kind, level: u8) -> Task {
    Task::new(kind, Some(level)).unwrap()
}

fn length(task: Task) -> u64 {
    Operation::from(task).word().unwrap().len() as u64
}

fn check(task: Task, Ends { start, goal }: &Ends, centre_top: CentreTop) {
    assert_eq!(distance(start, goal, centre_top), length(task), "{task}");
}

#[test]
fn sinks_have_least_length_in_all_variations() {
    for kind in [Kind::S, Kind::SBar] {
        for level in 2..=5 {
            let task = task(kind, level);
            for variation in
                [SinkVariation::Plain, SinkVariation::Supported, SinkVariation::Larger(1)]
            {
                check(task, &task.sink_ends(variation).unwrap(), CentreTop::Forbidden);
            }
        }
    }
}

#[test]
fn exchanges_to_level_4_are_the_shortest_with_and_without_centre_top() {
    for level in 1..=4 {
        let task = task(Kind::X, level);
        let ends = task.ends().unwrap().unwrap();
        check(task, &ends, CentreTop::Forbidden);
        check(task, &ends, CentreTop::Allowed);
    }
}

#[test]
fn the_special_words_of_the_exchange_are_the_shortest() {
    for kind in [Kind::Y, Kind::YBar, Kind::Z, Kind::W] {
        let task = Task::new(kind, None).unwrap();
        check(task, &task.ends().unwrap().unwrap(), CentreTop::Forbidden);
    }
}

#[test]
fn every_segment_between_the_checkpoints_of_level_4_is_the_shortest() {
    let checkpoints = [
        (0, "b1 b2 b3 b4 / - / o1 o2 o3 o4"),
        (23, "o1 b1 b2 / o2 b3 b4 / o3 o4"),
        (38, "o3 / b2 b3 b4 / o1 b1 o2 o4"),
        (40, "o1 b2 o3 / b3 b4 / b1 o2 o4"),
        (42, "b1 o1 b2 o3 / o2 b3 b4 / o4"),
        (64, "o1 b2 o3 / o4 b4 / b1 o2 b3"),
        (86, "o4 / b2 o3 b4 / o1 b1 o2 b3"),
        (99, "o1 o2 o3 o4 / b1 b2 b4 / b3"),
        (107, "o1 o2 o3 o4 / b3 b4 / b1 b2"),
        (111, "o1 o2 o3 o4 / b4 b3 / b1 b2"),
        (119, "b1 o1 o2 o3 o4 / b2 b3 / b4"),
        (128, "o1 o2 o3 o4 / - / b1 b2 b3 b4"),
    ];
    for pair in checkpoints.windows(2) {
        let [(from, start), (to, goal)] = pair else { unreachable!("two of them") };
        let (start, goal) = (start.parse().unwrap(), goal.parse().unwrap());
        assert_eq!(distance(&start, &goal, CentreTop::Forbidden), to - from);
    }
}

#[test]
fn numbers_of_the_table_equal_those_of_a_search() {
    let table = Table::new(5).unwrap();
    let mut searched = 0;
    for (quantity, kind) in [
        (Quantity::T, Kind::T),
        (Quantity::TBar, Kind::TBar),
        (Quantity::S, Kind::S),
        (Quantity::SBar, Kind::SBar),
        (Quantity::X, Kind::X),
    ] {
        for n in 1..=5 {
            let Some(cell) = table.cell(quantity, n) else { continue };
            let task = task(kind, n);
            let Ends { start, goal } = task.ends().unwrap().unwrap();
            let found = distance(&start, &goal, CentreTop::Forbidden);
            assert_eq!(u128::from(found), cell.value, "{quantity}({n})");
            // The other words have tests of their own.
            if [Kind::T, Kind::TBar].contains(&kind) {
                assert_eq!(found, length(task), "{task}");
            }
            searched += 1;
        }
    }
    assert_eq!(searched, 23, "T, T-bar and X from 1, S and S-bar from 2");
}
