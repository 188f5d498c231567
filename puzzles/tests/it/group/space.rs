//! Tests of groups as dense spaces: numbering, moves, limits.

use std::collections::HashSet;

use strata_puzzles::group::{
    Effort, Element, GroupError, GroupNumbering, GroupOptions, GroupSpace, Shape, StabiliserChain,
};
use strata_space::Work;
use strata_space::dense::{BlockSteps, DenseSpace, DenseState, MoveTable, RowStep};

struct Case {
    shape: Shape,
    moves: Vec<Element>,
}

impl Case {
    fn space(&self, options: &GroupOptions) -> Result<GroupSpace, GroupError> {
        let chain = StabiliserChain::new(&self.shape, &self.moves, Effort::default())?;
        GroupSpace::new(&chain, &self.moves, options)
    }
}

/// Reversals of the first 2 to n slots.
fn pancakes(slots: u16) -> Case {
    let shape = Shape::plain(slots.into()).unwrap();
    let flip = |size: u16| (0..size).rev().chain(size..slots).collect::<Vec<_>>();
    let moves = (2..=slots).map(|size| shape.permutation(&flip(size)).unwrap()).collect();
    Case { shape, moves }
}

/// A cycle of all slots that turns the first, and a swap of the first two: directed edges.
fn turning_cycle(slots: u16, orientations: u8) -> Case {
    let shape = Shape::new(vec![orientations; slots.into()]).unwrap();
    let images: Vec<u16> = (1..slots).chain([0]).collect();
    let mut turns = vec![0; slots.into()];
    turns[0] = 1;
    let cycle = shape.element(&images, &turns).unwrap();
    let swap: Vec<u16> = [1, 0].into_iter().chain(2..slots).collect();
    let moves = vec![cycle, shape.permutation(&swap).unwrap()];
    Case { shape, moves }
}

fn cases() -> Vec<Case> {
    let trivial = Shape::plain(3).unwrap();
    let identity = vec![trivial.identity()];
    vec![
        pancakes(4),
        pancakes(7),
        pancakes(8),
        turning_cycle(4, 3),
        turning_cycle(6, 2),
        Case { shape: trivial, moves: identity },
    ]
}

#[test]
fn every_state_is_one_arrangement() {
    for case in cases() {
        let chain = StabiliserChain::new(&case.shape, &case.moves, Effort::default()).unwrap();
        let space = case.space(&GroupOptions::default()).unwrap();
        let shape = space.tables().shape();
        assert_eq!(chain.order(), shape.states().into());
        let mut seen = HashSet::new();
        for number in 0..shape.states() {
            let state = shape.state(number).unwrap();
            let element = space.element(state).unwrap();
            assert_eq!(space.state(&element), Some(state));
            assert_eq!(space.parse(&space.text(state)), Some(state));
            assert!(seen.insert(element));
        }
        let solved = space.state(&case.shape.identity()).unwrap();
        assert_eq!(space.tables().start(), solved);
        assert_eq!(shape.number(solved), 0);
    }
}

#[test]
fn steps_are_products_with_the_moves() {
    for case in cases() {
        let space = case.space(&GroupOptions::default()).unwrap();
        let tables = space.tables();
        for number in (0..tables.shape().states()).step_by(7) {
            let state = tables.shape().state(number).unwrap();
            let element = space.element(state).unwrap();
            let products = case.moves.iter().map(|m| element.times(m, &case.shape).unwrap());
            let expected: Vec<_> =
                products.map(|next| space.state(&next).unwrap()).enumerate().collect();
            assert_eq!(tables.successors(state).collect::<Vec<_>>(), expected);
        }
        tables.check_converses().unwrap();
        assert!(tables.is_total());
    }
}

#[test]
fn directed_moves_have_converses() {
    let directed = turning_cycle(5, 2).space(&GroupOptions::default()).unwrap();
    assert!(!directed.tables().is_undirected());
    assert!(pancakes(5).space(&GroupOptions::default()).unwrap().tables().is_undirected());
}

#[test]
fn lanes_nearly_fill_a_word_and_blocks_are_sorted_by_the_first_pieces() {
    let space = pancakes(10).space(&GroupOptions::default()).unwrap();
    let shape = space.tables().shape();
    assert!(shape.lanes >= 48, "{shape:?}");
    assert_eq!(u64::from(shape.rows * shape.lanes), 5_040);
    let place = |block| {
        let element = space.element(DenseState { block, row: 0, lane: 0 }).unwrap();
        [0, 1].map(|piece| element.images().iter().position(|image| *image == piece).unwrap())
    };
    let places: Vec<_> = (0..shape.blocks).map(|block| place(block)[0]).collect();
    assert!(places.is_sorted());
    let mut changes: Vec<_> = (0..shape.blocks).map(place).collect();
    changes.dedup();
    assert_eq!(changes.len(), 90, "each pair of places is one range of blocks");
}

#[test]
fn the_numbering_is_a_function_of_the_moves() {
    let (one, other) = (pancakes(7), pancakes(7));
    let [one, other] = [one, other].map(|case| case.space(&GroupOptions::default()).unwrap());
    assert_eq!(one.tables().moves(), other.tables().moves());
    assert_eq!(one.tables().maps(), other.tables().maps());
    // A change of the numbering changes digests and files.
    let text = |number| one.text(one.tables().shape().state(number).unwrap());
    assert_eq!([1, 1234, 5039].map(text), ["3 0 2 1 6 4 5", "3 6 1 2 4 5 0", "2 0 3 4 5 1 6"]);
}

#[test]
fn elements_outside_the_group_are_rejected() {
    // Two cycles of three slots at once: the images of base slots alone do not show that an element is not
    // a member.
    let shape = Shape::plain(6).unwrap();
    let cycles = shape.permutation(&[1, 2, 0, 4, 5, 3]).unwrap();
    let stranger = shape.permutation(&[1, 2, 0, 3, 4, 5]).unwrap();
    let case = Case { shape, moves: vec![cycles] };
    let chain = StabiliserChain::new(&case.shape, &case.moves, Effort::default()).unwrap();
    let error = |start: Option<&Element>, goals: &[&Element]| {
        let goals = goals.iter().map(|goal| (*goal).clone()).collect();
        let options = GroupOptions { start: start.cloned(), goals, ..GroupOptions::default() };
        case.space(&options).unwrap_err()
    };
    assert_eq!(error(Some(&stranger), &[]), GroupError::NotMember { what: "the start" });
    let identity = case.shape.identity();
    assert_eq!(error(None, &[&identity, &stranger]), GroupError::NotMember { what: "a goal" });
    let other = Shape::plain(3).unwrap().identity();
    assert_eq!(error(Some(&other), &[]), GroupError::NotMember { what: "the start" });
    let moves = [stranger];
    let outside = GroupSpace::new(&chain, &moves, &GroupOptions::default()).unwrap_err();
    assert_eq!(outside, GroupError::NotMember { what: "a move" });
}

#[test]
fn tables_beyond_the_limit_are_refused() {
    let small = GroupOptions { table_bytes: 1_000, ..GroupOptions::default() };
    assert!(matches!(pancakes(10).space(&small), Err(GroupError::TableMemory { .. })));
    // One block, and rows of more bytes than the limit.
    assert!(matches!(
        pancakes(7).space(&GroupOptions { table_bytes: 100, ..small }),
        Err(GroupError::TableMemory { .. })
    ));
    // 17!/7! blocks: fewer than 2^56, and more than 2^32.
    assert!(matches!(
        pancakes(17).space(&GroupOptions::default()),
        Err(GroupError::TableMemory { .. })
    ));
    assert!(matches!(pancakes(30).space(&GroupOptions::default()), Err(GroupError::Blocks { .. })));
}

#[test]
fn factored_steps_equal_the_full_table() {
    let cases = [pancakes(9), pancakes(10), turning_cycle(8, 2), turning_cycle(6, 6)];
    for case in cases {
        let full = case.space(&GroupOptions::default()).unwrap();
        let options = GroupOptions { full_bytes: 0, ..GroupOptions::default() };
        let factored = case.space(&options).unwrap();
        let (tables, expected) = (factored.tables(), full.tables());
        let shape = expected.shape();
        assert_eq!(tables.shape(), shape);
        assert_eq!(tables.fingerprint(), expected.fingerprint());
        assert_eq!(tables.maps(), expected.maps());
        let pairs =
            [(tables.moves(), expected.moves()), (tables.converses(), expected.converses())];
        for (table, expected) in pairs {
            assert!(matches!(table.steps, BlockSteps::Factored(_)), "{shape:?}");
            assert!(matches!(expected.steps, BlockSteps::Full(_)), "{shape:?}");
            assert_eq!(table.rows, expected.rows);
            for block in 0..shape.blocks {
                assert!(table.of_block(block).eq(expected.of_block(block)), "{block}");
            }
        }
        assert!(tables.bytes() < expected.bytes(), "{shape:?}");
    }
}

#[test]
fn bytes_of_steps_are_known_before_the_tables() {
    for case in cases().into_iter().chain([pancakes(9), turning_cycle(8, 2)]) {
        let chain = StabiliserChain::new(&case.shape, &case.moves, Effort::default()).unwrap();
        let numbering = GroupNumbering::new(&chain).unwrap();
        for full_bytes in [0, usize::MAX] {
            let options = GroupOptions { full_bytes, ..GroupOptions::default() };
            let bytes =
                GroupSpace::step_bytes(&numbering, &case.moves, &options, &Work::unlimited())
                    .unwrap();
            let space = case.space(&options).unwrap();
            let tables = space.tables();
            let rows = |table: &MoveTable| table.rows.len() * size_of::<RowStep>();
            let converses = (!tables.is_undirected()).then(|| rows(tables.converses()));
            let rows = rows(tables.moves()) + converses.unwrap_or(0);
            assert_eq!(bytes + rows, tables.bytes(), "{:?}", tables.shape());
        }
    }
}

#[test]
fn fifteen_pancakes_have_tables_of_megabytes() {
    let space = pancakes(15).space(&GroupOptions::default()).unwrap();
    let (tables, shape) = (space.tables(), space.tables().shape());
    assert_eq!(shape.states(), (1..=15_u64).product::<u64>());
    assert!(tables.bytes() < 16 << 20, "{}", tables.bytes());
    // The states 2 moves away: 13 others for each of 14 moves.
    let mut near = HashSet::from([tables.start()]);
    for expected in [15, 1 + 14 + 14 * 13] {
        let states: Vec<_> = near.iter().copied().collect();
        near.extend(states.iter().flat_map(|state| tables.successors(*state).map(|(_, s)| s)));
        assert_eq!(near.len(), expected);
    }
    for state in &near {
        let element = space.element(*state).unwrap();
        assert_eq!(space.state(&element), Some(*state));
    }
}

#[test]
fn a_chain_of_unknown_order_is_refused() {
    let case = pancakes(9);
    let chain = |bits: u32| {
        let effort = Effort { steps: 1 << bits, ..Effort::default() };
        StabiliserChain::new(&case.shape, &case.moves, effort).ok()
    };
    let unverified = (8..30).filter_map(chain).find(|chain| !chain.is_verified()).unwrap();
    let error = GroupSpace::new(&unverified, &case.moves, &GroupOptions::default()).unwrap_err();
    assert_eq!(error, GroupError::NotVerified);
}

#[test]
fn a_start_and_goals_are_states() {
    let case = pancakes(6);
    let element = case.shape.permutation(&[5, 4, 3, 2, 0, 1]).unwrap();
    let options = GroupOptions {
        start: Some(element.clone()),
        goals: vec![case.shape.identity()],
        ..GroupOptions::default()
    };
    let space = case.space(&options).unwrap();
    assert_eq!(Some(space.tables().start()), space.state(&element));
    assert_eq!(space.text(space.tables().start()), "5 4 3 2 0 1");
    assert_eq!(space.tables().goals(), [DenseState { block: 0, row: 0, lane: 0 }]);
    assert_eq!(space.parse("5 4 3 2 0"), None);
    assert_eq!(space.parse("5 4 3 2 0 0"), None);
}

#[test]
fn a_numbering_needs_no_tables() {
    let case = pancakes(17);
    let chain = StabiliserChain::new(&case.shape, &case.moves, Effort::default()).unwrap();
    let numbering = GroupNumbering::new(&chain).unwrap();
    assert!(numbering.blocks() > u64::from(u32::MAX));
    assert_eq!(numbering.dense_shape(), None);
    let mut element = case.shape.identity();
    for (index, mv) in case.moves.iter().cycle().take(100).enumerate() {
        element = element.times(mv, &case.shape).unwrap();
        let number = numbering.number(&element).unwrap();
        assert_eq!(numbering.element(number).as_ref(), Some(&element), "{index}");
        let inverse = element.inverse(&case.shape).unwrap();
        assert_eq!(numbering.number_of_inverse(&inverse), Some(number));
    }
}
