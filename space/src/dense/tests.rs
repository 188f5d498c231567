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
        steps: BlockSteps::Full(vec![step(1, 0), step(0, 1)]),
        // Block 0 to 1 keeps row and lane; block 1 to 0 takes the next row, and a lane from 1.
        rows: vec![row(0, 1), row(1, 1), row(1, 1), row(0, 0)],
    };
    let start = DenseState { block: 0, row: 0, lane: 0 };
    DenseParts {
        shape,
        moves,
        converses: None,
        maps: vec![turn, stay],
        start,
        goals: Vec::new(),
        multiplicities: Vec::new(),
    }
}

/// The steps of blocks of a full table.
fn steps(table: &mut MoveTable) -> &mut Vec<BlockStep> {
    match &mut table.steps {
        BlockSteps::Full(steps) => steps,
        BlockSteps::Factored(_) => panic!("the steps are in factors"),
    }
}

fn converses() -> MoveTable {
    let mut back = ring().moves;
    steps(&mut back)[0].class = 1;
    steps(&mut back)[1].class = 0;
    back.rows[2] = RowStep { row: 1, map: 2 };
    back.rows[3] = RowStep { row: 0, map: 1 };
    back
}

#[test]
fn the_only_move_of_a_ring_visits_all_states() {
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
        of(|parts| steps(&mut parts.moves).swap(0, 1)),
        of(|parts| steps(&mut parts.moves)[0].class = NO_CLASS),
        of(|parts| parts.moves.rows[0].row = 1),
        of(|parts| parts.moves.rows[0].map = 0),
        of(|parts| parts.maps.swap(0, 1)),
        of(|parts| parts.multiplicities = vec![1, 2]),
        of(|parts| parts.multiplicities = vec![1, 3]),
    ];
    let different: std::collections::HashSet<u64> = prints.into_iter().collect();
    assert_eq!(different.len(), prints.len());
}

/// Six blocks as two upper and three lower parts, with one row of one lane and two moves: move 0
/// exchanges the upper parts, move 1 rotates the lower parts below the second upper part.
fn factored() -> DenseParts {
    let step = |block, class| BlockStep { block, class };
    let steps = FactoredSteps {
        lowers: 3,
        uppers: vec![step(1, 0), step(0, NO_CLASS), step(0, 0), step(1, 1)],
        classes: vec![
            step(0, 0),
            step(1, 1),
            step(2, 0),
            step(1, 0),
            step(2, NO_CLASS),
            step(0, 1),
        ],
    };
    let row = RowStep { row: 0, map: 0 };
    let steps = BlockSteps::Factored(steps);
    let shape = DenseShape { blocks: 6, rows: 1, lanes: 1 };
    DenseParts {
        shape,
        moves: MoveTable { moves: 2, steps, rows: vec![row, row] },
        converses: None,
        maps: vec![LaneMap::new(vec![0])],
        start: DenseState { block: 0, row: 0, lane: 0 },
        goals: Vec::new(),
        multiplicities: Vec::new(),
    }
}

#[test]
fn factored_steps_equal_their_products() {
    let tables = DenseTables::new(factored()).unwrap();
    let step = |block, class| BlockStep { block, class };
    let none = BlockStep { block: 0, class: NO_CLASS };
    let expected = [
        [step(3, 0), none],
        [step(4, 1), none],
        [step(5, 0), none],
        [step(0, 0), step(4, 0)],
        [step(1, 1), BlockStep { block: 5, class: NO_CLASS }],
        [step(2, 0), step(3, 1)],
    ];
    for (block, steps) in (0..).zip(expected) {
        assert_eq!(tables.moves().of_block(block).collect::<Vec<_>>(), steps, "{block}");
    }
    assert_eq!(tables.moves().of_block(6).next(), None);
    assert!(!tables.is_total());
    let targets = |blocks| tables.moves().targets(blocks).collect::<Vec<_>>();
    assert_eq!(targets(0..1), targets(1..2));
    assert_eq!(targets(2..4), [3..6, 0..3, 3..6]);
    assert_eq!(targets(2..3), targets(2..4)[..1]);
    let mut full = factored();
    full.moves.steps = BlockSteps::Full(expected.concat());
    let full = DenseTables::new(full).unwrap();
    assert_eq!(full.fingerprint(), tables.fingerprint());
    assert_eq!(full.moves().targets(3..4).collect::<Vec<_>>(), [0..1, 4..5]);
    assert_eq!((full.bytes(), tables.bytes()), (12 * 8 + 8, 10 * 8 + 8));
}

#[test]
fn damaged_factors_are_refused() {
    let error = |change: fn(&mut FactoredSteps)| {
        let mut parts = factored();
        let BlockSteps::Factored(factored) = &mut parts.moves.steps else { panic!() };
        change(factored);
        DenseTables::new(parts).unwrap_err()
    };
    let length = |what, given| DenseError::Length { what, given };
    let entry = |what, index| DenseError::Entry { what, index };
    assert_eq!(error(|f| f.lowers = 0), length("upper parts", 4));
    assert_eq!(error(|f| f.lowers = 4), length("upper parts", 4));
    assert_eq!(error(|f| f.lowers = 6), length("upper parts", 4));
    assert_eq!(error(|f| f.uppers.truncate(3)), length("upper parts", 3));
    assert_eq!(error(|f| f.classes.truncate(5)), length("lower parts", 5));
    assert_eq!(error(|f| f.uppers[2].block = 2), entry("upper parts", 2));
    assert_eq!(error(|f| f.uppers[3].class = 2), entry("upper parts", 3));
    assert_eq!(error(|f| f.classes[0].block = 3), entry("lower parts", 0));
    assert_eq!(error(|f| f.classes[5].class = 2), entry("lower parts", 5));
}

#[test]
fn numbers_of_states_round_trip() {
    let shape = ring().shape;
    let numbers: Vec<u64> =
        (0..shape.states()).map(|n| shape.number(shape.state(n).unwrap())).collect();
    assert_eq!(numbers, (0..12).collect::<Vec<_>>());
    assert_eq!(shape.state(12), None);
    assert_eq!(shape.state(u64::MAX), None);
}

#[test]
fn an_edge_without_a_converse_is_found() {
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
    assert_eq!(error(|p| steps(&mut p.moves)[1].block = 2), entry("blocks", 1));
    assert_eq!(error(|p| steps(&mut p.moves)[0].class = 2), entry("blocks", 0));
    assert_eq!(error(|p| p.moves.rows[3].row = 2), entry("rows", 3));
    assert_eq!(error(|p| p.moves.rows[2].map = 2), entry("rows", 2));
    assert_eq!(error(|p| p.maps[1] = LaneMap::new(vec![0, 0, 1])), entry("lane maps", 1));
    assert_eq!(error(|p| p.maps[0] = LaneMap::new(vec![0, 3, 1])), entry("lane maps", 0));
    assert_eq!(error(|p| p.maps[0] = LaneMap::new(vec![0, 1])), entry("lane maps", 0));
    assert_eq!(error(|p| p.start.lane = 3), entry("start and goals", 0));
    let folded = "multiplicities";
    assert_eq!(error(|p| p.multiplicities = vec![1, 2, 1]), length(folded, 3));
    assert_eq!(error(|p| p.multiplicities = vec![1, 0]), entry(folded, 1));
    // The start block must stand for itself alone.
    assert_eq!(error(|p| p.multiplicities = vec![2, 1]), entry(folded, 0));
    assert_eq!(
        error(|p| p.goals = vec![p.start, DenseState { row: 2, ..p.start }]),
        entry("start and goals", 2)
    );
}

#[test]
fn tables_with_a_partial_lane_map_are_not_total() {
    assert!(DenseTables::new(ring()).unwrap().is_total());
    let mut parts = ring();
    parts.maps[0] = LaneMap::new(vec![1, NO_LANE, 0]);
    let tables = DenseTables::new(parts).unwrap();
    assert!(!tables.is_total());
    assert_eq!(tables.maps()[0].domain(), 0b101);
    let stuck = DenseState { block: 1, row: 1, lane: 1 };
    assert_eq!(tables.successors(stuck).next(), None);
}
