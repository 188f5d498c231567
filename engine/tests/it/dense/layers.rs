//! Tests of every layer against a slow search, with all kernels, threads and directions.

use crate::dense::{all_layers, puzzles};

use std::collections::HashSet;
use std::sync::Arc;

use puzzles::{Moves, Powers};
use strata_engine::dense::{Direction, Kernel, Options, Search, SearchError};
use strata_puzzles::group::{Effort, Element, GroupOptions, GroupSpace, StabiliserChain};
use strata_space::dense::DenseSpace;
use strata_space::{Digest, LayerStats};

use crate::reference::search::layers_of;

/// For each slot, its piece and the orientation of the piece.
type Arrangement = Vec<(u16, u8)>;

/// All layers, from a search with sets of arrangements. It shares no code with the engine or with groups.
fn slow_layers(moves: &Moves) -> Vec<Vec<Arrangement>> {
    let orientations = moves.shape.orientations();
    let start: Arrangement = (0..orientations.len() as u16).map(|piece| (piece, 0)).collect();
    layers_of(&[start], usize::MAX, |arrangement| {
        let after = |mv: &Element| {
            let slots = mv.images().iter().zip(mv.turns()).zip(orientations);
            let slots = slots.map(|((from, turn), orientations)| {
                let (piece, before) = arrangement[usize::from(*from)];
                (piece, (before + turn) % orientations)
            });
            slots.collect()
        };
        moves.moves.iter().map(after).collect()
    })
}

fn state_of(space: &GroupSpace, arrangement: &Arrangement) -> strata_space::dense::DenseState {
    let (images, turns): (Vec<u16>, Vec<u8>) = arrangement.iter().copied().unzip();
    space.state(&space.shape().element(&images, &turns).unwrap()).unwrap()
}

fn all_options() -> Vec<Options> {
    let mut all = Vec::new();
    for kernel in Kernel::available() {
        for threads in [1, 2, 3] {
            for direction in [None, Some(Direction::Push), Some(Direction::Pull)] {
                let kernel = Some(kernel);
                all.push(Options { kernel, threads, direction, ..Options::default() });
            }
        }
    }
    all
}

fn check(name: &str, moves: &Moves) {
    let space = moves.space();
    let expected: Vec<LayerStats> = slow_layers(moves)
        .iter()
        .map(|layer| {
            let states: Vec<_> = layer.iter().map(|state| state_of(&space, state)).collect();
            let blocks: HashSet<u32> = states.iter().map(|state| state.block).collect();
            LayerStats {
                regions: blocks.len() as u64,
                states: layer.len() as u64,
                positions: layer.len() as u64,
                generated: (layer.len() * moves.moves.len()) as u64,
                digest: states.iter().map(|state| space.weight(*state)).sum::<Digest>(),
                ..LayerStats::default()
            }
        })
        .collect();
    for options in all_options() {
        let mut search = Search::new(space.clone(), &options).unwrap();
        assert_eq!(all_layers(&mut search), expected, "{name} with {options:?}");
    }
}

#[test]
fn layers_are_those_of_a_slow_search() {
    for slots in [2, 3, 5, 8, 9] {
        check("pancakes", &puzzles::pancake(slots));
    }
    for slots in [2, 5, 6] {
        check("burnt pancakes", &puzzles::burnt_pancake(slots));
    }
    check("rotations and a swap", &puzzles::rotation_and_swap(8, Powers::Quarter));
    check("powers of a rotation, and a swap", &puzzles::rotation_and_swap(7, Powers::All));
    check("rotations and a reversal", &puzzles::top_spin(8, 4));
    check("two faces", &puzzles::cube2(2, Powers::All));
    check("two faces, quarter turns", &puzzles::cube2(2, Powers::Quarter));
    check("one face", &puzzles::cube2(1, Powers::Quarter));
    // A space with directed edges.
    check("a rotation and a swap", &puzzles::rotation_and_swap(5, Powers::One));
    check("a rotation and a swap", &puzzles::rotation_and_swap(8, Powers::One));
    check("clockwise turns", &puzzles::cube2(2, Powers::One));
}

#[test]
fn the_group_without_moves_has_one_state() {
    let shape = strata_puzzles::group::Shape::plain(3).unwrap();
    let identity = shape.identity();
    check("no pieces move", &Moves { shape: shape.clone(), moves: vec![identity] });
    let none = Moves { shape, moves: Vec::new() };
    check("no moves", &none);
}

#[test]
fn unreachable_states_are_in_no_layer() {
    let all = puzzles::pancake(7);
    let chain = StabiliserChain::new(&all.shape, &all.moves, Effort::default()).unwrap();
    // Reversals of odd lengths keep the parity of each piece's slot.
    let odd: Vec<_> = all.moves.iter().skip(1).step_by(2).cloned().collect();
    let space = GroupSpace::new(&chain, &odd, &GroupOptions::default()).unwrap();
    let expected: Vec<u64> = slow_layers(&Moves { shape: all.shape, moves: odd })
        .iter()
        .map(|layer| layer.len() as u64)
        .collect();
    let outside = space.parse("1 0 2 3 4 5 6").unwrap();
    let mut search = Search::new(Arc::new(space), &Options::default()).unwrap();
    let states: Vec<u64> = all_layers(&mut search).iter().map(|layer| layer.states).collect();
    assert_eq!(states, expected);
    assert_eq!((search.residue(outside), search.path_to_start(outside)), (None, Ok(None)));
}

#[test]
fn paths_to_the_start_have_the_length_of_the_depth() {
    let moves = puzzles::burnt_pancake(5);
    let space = moves.space();
    let mut search = Search::new(space.clone(), &Options::default()).unwrap();
    while search.advance().is_some() {}
    for (depth, layer) in slow_layers(&moves).iter().enumerate() {
        for arrangement in layer {
            let mut state = state_of(&space, arrangement);
            assert_eq!(search.residue(state), Some((depth % 3) as u8));
            let path = search.path_to_start(state).unwrap().unwrap();
            assert_eq!(path.len(), depth);
            for step in path {
                let mut successors = space.tables().successors(state);
                assert_eq!(successors.nth(step.index), Some((step.index, step.state)));
                state = step.state;
            }
            assert_eq!(state, space.tables().start());
        }
    }
}

#[test]
fn the_current_layer_is_listed_also_after_the_last_advance() {
    let moves = puzzles::top_spin(7, 4);
    let space = moves.space();
    let mut search = Search::new(space.clone(), &Options::default()).unwrap();
    for layer in slow_layers(&moves) {
        let mut expected: Vec<_> = layer.iter().map(|state| state_of(&space, state)).collect();
        expected.sort_unstable();
        assert_eq!(search.layer().collect::<Vec<_>>(), expected);
        let (depth, last) = (search.depth(), search.stats());
        if search.advance().is_none() {
            assert_eq!((search.depth(), search.stats()), (depth, last));
            assert_eq!(search.advance(), None);
            assert_eq!(search.layer().collect::<Vec<_>>(), expected);
        }
    }
}

#[test]
fn path_to_start_refuses_directed_edges() {
    let space = puzzles::rotation_and_swap(5, Powers::One).space();
    let start = space.tables().start();
    let search = Search::new(space, &Options::default()).unwrap();
    assert_eq!(search.path_to_start(start), Err(SearchError::Directed));
}

#[test]
fn goals_are_found_in_exactly_their_layers() {
    let moves = puzzles::pancake(6);
    let chain = StabiliserChain::new(&moves.shape, &moves.moves, Effort::default()).unwrap();
    let layers = slow_layers(&moves);
    let goal = |depth: usize| {
        let images: Vec<u16> = layers[depth][0].iter().map(|(piece, _)| *piece).collect();
        moves.shape.permutation(&images).unwrap()
    };
    let goals = vec![goal(0), goal(4)];
    let options = GroupOptions { goals, ..GroupOptions::default() };
    let space = Arc::new(GroupSpace::new(&chain, &moves.moves, &options).unwrap());
    for options in all_options() {
        let mut search = Search::new(space.clone(), &options).unwrap();
        let found: Vec<bool> = all_layers(&mut search).iter().map(|layer| layer.found).collect();
        assert_eq!(found, [true, false, false, false, true, false, false, false]);
    }
}

#[test]
fn digests_can_be_left_out() {
    let options = Options { digest: false, ..Options::default() };
    let space = puzzles::pancake(6).space();
    let mut lean = all_layers(&mut Search::new(space.clone(), &options).unwrap());
    let mut full = all_layers(&mut Search::new(space, &Options::default()).unwrap());
    assert!(lean.iter().all(|layer| layer.digest == Digest::ZERO));
    assert!(full.iter().all(|layer| layer.digest != Digest::ZERO));
    for layer in lean.iter_mut().chain(&mut full) {
        layer.digest = Digest::ZERO;
    }
    assert_eq!(lean, full);
}

#[test]
fn planes_beyond_the_budget_are_refused() {
    let space = puzzles::pancake(9).space();
    let refused = |memory| Search::new(space.clone(), &Options { memory, ..Options::default() });
    let Err(SearchError::Budget { states: 362_880, needed, budget: 1_000 }) = refused(1_000) else {
        panic!("1000 bytes are too few");
    };
    // Four bits for each state, as lanes use most bits of a word, and the tables.
    assert!((362_880 / 2..4_000_000).contains(&needed), "{needed}");
    assert!(refused(needed - 1).is_err());
    assert!(refused(needed).is_ok());
}
