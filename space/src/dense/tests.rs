//! Tests of tables, numbers and fingerprints.

use super::*;

/// A ring of 12 states: block 0 to 1, row 0 to 1, three lanes. Move 0 goes round.
fn ring() -> DenseParts {
    let shape = DenseShape { blocks: 2, rows: 2, lanes: 3 };
    let turn = LaneMap::new(vec![1, 2, 0]);
    let stay = LaneMap::new(vec![0, 1, 2]);
    let step = |block, class| BlockStep { block, class };
    let row = |row, map| RowStep { row, map };
    let moves = MoveTable {
        moves: 1,
        steps: vec![step(1, 0), step(0, 1)],
        // Block 0 to 1 keeps row and lane; block 1 to 0 takes the next row, and a lane from 1.
        rows: vec![row(0, 1), row(1, 1), row(1, 1), row(0, 0)],
    };
    let start = DenseState { block: 0, row: 0, lane: 0 };
    DenseParts { shape, moves, converses: None, maps: vec![turn, stay], start, goals: Vec::new() }
}

fn converses() -> MoveTable {
    let mut back = ring().moves;
    back.steps[0].class = 1;
    back.steps[1].class = 0;
    back.rows[2] = RowStep { row: 1, map: 2 };
    back.rows[3] = RowStep { row: 0, map: 1 };
    back
}

#[test]
fn a_ring_has_one_successor_each() {
    let tables = DenseTables::new(ring()).unwrap();
    let (mut state, mut length) = (tables.start(), 0);
    loop {
        state = tables.successors(state).next().unwrap().1;
        length += 1;
        if state == tables.start() {
            break;
        }
    }
    assert_eq!(length, 12);
}

#[test]
fn a_fingerprint_depends_on_every_table() {
    let of = |change: fn(&mut DenseParts)| {
        let mut parts = ring();
        parts.converses = Some(converses());
        parts.maps.push(LaneMap::new(vec![2, 0, 1]));
        change(&mut parts);
        DenseTables::new(parts).unwrap().fingerprint()
    };
    assert_eq!(of(|_| ()), of(|parts| parts.goals = vec![parts.start]));
    let prints = [
        of(|_| ()),
        of(|parts| parts.converses = None),
        of(|parts| parts.start.lane = 1),
        of(|parts| parts.moves.steps.swap(0, 1)),
        of(|parts| parts.moves.steps[0].class = NO_CLASS),
        of(|parts| parts.moves.rows[0].row = 1),
        of(|parts| parts.moves.rows[0].map = 0),
        of(|parts| parts.maps.swap(0, 1)),
    ];
    let different: std::collections::HashSet<u64> = prints.into_iter().collect();
    assert_eq!(different.len(), prints.len());
}

#[test]
fn numbers_and_states_correspond() {
    let shape = ring().shape;
    let numbers: Vec<u64> =
        (0..shape.states()).map(|n| shape.number(shape.state(n).unwrap())).collect();
    assert_eq!(numbers, (0..12).collect::<Vec<_>>());
    assert_eq!(shape.state(12), None);
    assert_eq!(shape.state(u64::MAX), None);
}

#[test]
fn an_edge_without_a_way_back_is_found() {
    let directed = DenseTables::new(ring()).unwrap();
    assert_eq!(directed.check_converses(), Err(DenseError::Converse { index: 0, number: 0 }));
    let mut parts = ring();
    parts.maps.push(LaneMap::new(vec![2, 0, 1]));
    parts.converses = Some(converses());
    DenseTables::new(parts).unwrap().check_converses().unwrap();
}

#[test]
fn numbers_out_of_range_are_rejected() {
    let error = |change: fn(&mut DenseParts)| {
        let mut parts = ring();
        change(&mut parts);
        DenseTables::new(parts).unwrap_err()
    };
    let entry = |what, index| DenseError::Entry { what, index };
    assert!(matches!(error(|p| p.shape.lanes = 65), DenseError::Shape(_)));
    assert!(matches!(error(|p| p.shape.rows = MAX_ROWS + 1), DenseError::Shape(_)));
    assert!(matches!(error(|p| p.shape.blocks = 0), DenseError::Shape(_)));
    let length = |what, given| DenseError::Length { what, given };
    assert_eq!(error(|p| p.shape.blocks = 3), length("blocks", 2));
    assert_eq!(error(|p| p.moves.rows.truncate(3)), length("rows", 3));
    assert_eq!(error(|p| p.moves.steps[1].block = 2), entry("blocks", 1));
    assert_eq!(error(|p| p.moves.steps[0].class = 2), entry("blocks", 0));
    assert_eq!(error(|p| p.moves.rows[3].row = 2), entry("rows", 3));
    assert_eq!(error(|p| p.moves.rows[2].map = 2), entry("rows", 2));
    assert_eq!(error(|p| p.maps[1] = LaneMap::new(vec![0, 0, 1])), entry("lane maps", 1));
    assert_eq!(error(|p| p.maps[0] = LaneMap::new(vec![0, 3, 1])), entry("lane maps", 0));
    assert_eq!(error(|p| p.maps[0] = LaneMap::new(vec![0, 1])), entry("lane maps", 0));
    assert_eq!(error(|p| p.start.lane = 3), entry("start and goals", 0));
    assert_eq!(
        error(|p| p.goals = vec![p.start, DenseState { row: 2, ..p.start }]),
        entry("start and goals", 2)
    );
}

#[test]
fn a_map_without_all_lanes_is_not_total() {
    assert!(DenseTables::new(ring()).unwrap().is_total());
    let mut parts = ring();
    parts.maps[0] = LaneMap::new(vec![1, NO_LANE, 0]);
    let tables = DenseTables::new(parts).unwrap();
    assert!(!tables.is_total());
    assert_eq!(tables.maps()[0].domain(), 0b101);
    let stuck = DenseState { block: 1, row: 1, lane: 1 };
    assert_eq!(tables.successors(stuck).next(), None);
}
