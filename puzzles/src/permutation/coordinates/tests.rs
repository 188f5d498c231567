use std::collections::HashSet;
use std::fmt::Write;

use crate::group::Element;
use strata_space::{Work, mix};

use super::super::definition::{Definition, NamedElement, State};
use super::super::symmetry::{Canonical, Codes};
use super::packing::Digit;
use super::{Coordinates, Folding};

/// A puzzle with sets of pieces and turns, and moves that cycle some pieces of each set and turn them.
/// Sets in `odd` are cycled by an even number of pieces.
fn puzzle(sets: &[(usize, u8)], moves: u64, odd: &[usize]) -> Definition {
    let mut text = "Name made\n".to_owned();
    let mut line = |parts: std::fmt::Arguments<'_>| writeln!(text, "{parts}").unwrap();
    for (number, (size, orientations)) in sets.iter().enumerate() {
        line(format_args!("Set S{number} {size} {orientations}"));
    }
    line(format_args!("Solved"));
    for (number, (size, _)) in sets.iter().enumerate() {
        let pieces: Vec<String> = (1..=*size).map(|piece| piece.to_string()).collect();
        line(format_args!("S{number}\n{}", pieces.join(" ")));
    }
    line(format_args!("End"));
    for mv in 0..moves {
        line(format_args!("Move M{mv}"));
        for (number, (size, orientations)) in sets.iter().enumerate() {
            let random = |at: usize| mix(mv * 100 + (number * 20 + at) as u64) as usize;
            let cycle = if odd.contains(&number) { 4 } else { 5 };
            let mut pieces: Vec<usize> = (1..=*size).collect();
            let mut slots: Vec<usize> = (0..*size).collect();
            slots.sort_by_key(|slot| random(*slot));
            for pair in slots[..cycle].windows(2) {
                pieces.swap(pair[0], pair[1]);
            }
            let mut turns = vec![0; *size];
            turns[slots[0]] = usize::from(*orientations) - 1;
            turns[slots[1]] = usize::from(*orientations > 1);
            let words = |numbers: &[usize]| {
                numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
            };
            line(format_args!("S{number}\n{}\n{}", words(&pieces), words(&turns)));
        }
        line(format_args!("End"));
    }
    Definition::read(&text).unwrap()
}

fn elements(definition: &Definition) -> Vec<Element> {
    definition.moves.iter().map(|mv: &NamedElement| mv.element.clone()).collect()
}

/// States of a random walk from the solved state.
fn walk(definition: &Definition, steps: u64) -> Vec<State> {
    let mut states = vec![definition.solved.clone()];
    for step in 0..steps {
        let mv = &definition.moves[(mix(step) % definition.moves.len() as u64) as usize];
        states.push(definition.after(&states[states.len() - 1], &mv.element));
    }
    states
}

/// Checks keys and successors along a random walk. Returns the coordinates.
fn check(definition: &Definition) -> Coordinates {
    let moves = elements(definition);
    let made = Coordinates::new(definition, &definition.solved, &moves).unwrap();
    let states = walk(definition, 700);
    let keys: Vec<u128> = states.iter().map(|state| made.key_of(state).unwrap()).collect();
    let (mut known, mut regions) = (HashSet::new(), HashSet::new());
    for (state, key) in states.iter().zip(&keys) {
        assert!(key >> made.bits() == 0);
        assert_eq!(made.state(*key), *state);
        assert_eq!(known.insert(state), regions.insert(key), "two states with one key");
    }
    let mut found: Vec<u128> = Vec::new();
    made.successors(&keys, &mut |key| found.push(key));
    let mut next: Vec<u128> = Vec::new();
    for state in &states {
        next.extend(
            moves.iter().map(|mv| made.key_of::<u128>(&definition.after(state, mv)).unwrap()),
        );
    }
    found.sort_unstable();
    next.sort_unstable();
    assert_eq!(found, next);
    made
}

#[test]
fn the_cube_has_keys_without_gaps() {
    let definition = Definition::read(include_str!("../../../data/3x3x3.tws")).unwrap();
    let made = check(&definition);
    // 43,252,003,274,489,856,000 states have 65.2 bits, 40,320 of them regions.
    assert_eq!((made.bits(), made.local_bits()), (66, 50));
    let values = |digits: &[Digit]| -> u128 {
        digits.iter().map(|d| u128::from(d.divisor.value())).product()
    };
    assert_eq!(values(&made.region) * values(&made.local), 43_252_003_274_489_856_000);
    // A twisted corner and two exchanged pieces are not states of the cube.
    let mut twisted = definition.solved.clone();
    twisted.turns[0] = 1;
    assert_eq!(made.key_of::<u128>(&twisted), None);
    let mut exchanged = definition.solved.clone();
    exchanged.kinds.swap(0, 1);
    let key: u128 = made.key_of(&exchanged).unwrap();
    assert_ne!(made.state(key), exchanged);
}

#[test]
fn orbits_of_any_size_have_keys_and_successors() {
    let all_even = check(&puzzle(&[(9, 2), (10, 1), (8, 3)], 8, &[]));
    // The third orbit is the region.
    assert_eq!(all_even.parities.iter().count(), 2);
    let one_odd = check(&puzzle(&[(11, 1), (12, 1), (7, 2)], 8, &[1]));
    assert_eq!(one_odd.parities.iter().count(), 2);
    let together = check(&puzzle(&[(12, 1), (10, 1), (5, 1)], 8, &[0, 1]));
    assert_eq!(together.parities.iter().count(), 2);
    check(&puzzle(&[(8, 3), (8, 2), (6, 4)], 8, &[0, 2]));
}

#[test]
fn a_start_of_another_parity_has_coordinates() {
    let definition = puzzle(&[(9, 2), (10, 1), (8, 3)], 8, &[0, 2]);
    let moves = elements(&definition);
    let mut start = definition.solved.clone();
    start.kinds.swap(0, 1);
    start.turns[2] = 1;
    let made = Coordinates::new(&definition, &start, &moves).unwrap();
    let mut state = start;
    for mv in moves.iter().cycle().take(40) {
        let key: u128 = made.key_of(&state).unwrap();
        assert_eq!(made.state(key), state);
        state = definition.after(&state, mv);
    }
}

#[test]
fn puzzles_beyond_the_limits_of_coordinates_have_none() {
    let has = |definition: &Definition| {
        Coordinates::new(definition, &definition.solved, &elements(definition)).is_some()
    };
    // Small ones, and orbits of many pieces.
    assert!(!has(&Definition::read(include_str!("../../../data/2x2x2.tws")).unwrap()));
    assert!(!has(&puzzle(&[(13, 2), (8, 3)], 8, &[])));
    assert!(has(&puzzle(&[(12, 2), (8, 3)], 8, &[])));
    // Alike pieces, and pieces whose turns cannot be seen.
    let mut alike = puzzle(&[(12, 2), (8, 3)], 8, &[]);
    alike.solved.kinds[1] = alike.solved.kinds[0];
    assert!(!has(&alike));
    let mut unseen = puzzle(&[(12, 2), (8, 3)], 8, &[]);
    unseen.sets[0].kinds[3].orientations = 1;
    assert!(!has(&unseen));
    let mut illegal = puzzle(&[(12, 2), (8, 3)], 8, &[]);
    illegal.illegal.push(super::super::definition::Illegal { slot: 3, kind: 1 });
    assert!(!has(&illegal));
}

/// Compares keys, positions and successors with those of all images.
fn check_folding(text: &str, starts: &[&State]) {
    let definition = Definition::read(text).unwrap();
    let moves = elements(&definition);
    let coordinates = Coordinates::new(&definition, &definition.solved, &moves).unwrap();
    let canonical =
        Canonical::new(&definition, &definition.solved, &moves, &[], &Work::default()).unwrap();
    let folding = Folding::new(&coordinates, &canonical).unwrap();
    let images = |state: &State| -> Vec<u128> {
        let codes = canonical.orbit(&canonical.codes(state));
        let image = |codes: &Codes| {
            let mut image = state.clone();
            canonical.write(codes, &mut image);
            coordinates.key_of(&image).unwrap()
        };
        codes.iter().map(image).collect()
    };
    let key = |state: &State| images(state).into_iter().min().unwrap();
    let few_moves = walk(&definition, 200).into_iter().step_by(3);
    let near = walk(&definition, 2).into_iter().chain(starts.iter().map(|state| (*state).clone()));
    for state in few_moves.chain(near) {
        let own: u128 = folding.key_of(&coordinates, &state).unwrap();
        assert_eq!(own, key(&state));
        assert_eq!(folding.positions(&coordinates, own), images(&state).len() as u64);
        let canonical_state = coordinates.state(own);
        let mut found = Vec::new();
        folding.successors(&coordinates, &[own], &mut |next| found.push(next));
        let next = moves.iter().map(|mv| key(&definition.after(&canonical_state, mv)));
        assert!(found.into_iter().eq(next));
    }
}

#[test]
fn symmetric_states_of_the_cube_have_one_key() {
    let text = include_str!("../../../data/3x3x3.tws");
    let definition = Definition::read(text).unwrap();
    // All edges flipped: a state that all symmetries fix.
    let mut flipped = definition.solved.clone();
    flipped.turns[8..].fill(1);
    check_folding(text, &[&definition.solved, &flipped]);
}

/// A ring of pieces that turn, and one without symmetry.
#[test]
fn symmetric_states_of_rings_have_one_key() {
    let mut text = "Name rings\nSet A 8 3\nSet B 8 2\nSet C 4 1\nSolved\nA\n1 2 3 4 5 6 7 8\nB\n\
                    1 2 3 4 5 6 7 8\nC\n1 2 3 4\nEnd\n"
        .to_owned();
    for mv in 0..8 {
        let next = (mv + 1) % 8;
        let mut order: Vec<usize> = (1..=8).collect();
        order.swap(mv, next);
        let mut turns = [0; 8];
        (turns[mv], turns[next]) = (1, 2);
        let words = |numbers: &[usize]| {
            numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
        };
        let flips = turns.map(|turn| usize::from(turn > 0));
        let (order, turns, flips) = (words(&order), words(&turns), words(&flips));
        let quarter = if mv % 2 == 0 { "2 1 3 4" } else { "1 2 4 3" };
        writeln!(text, "Move M{mv}\nA\n{order}\n{turns}\nB\n{order}\n{flips}\nC\n{quarter}\nEnd")
            .unwrap();
    }
    check_folding(&text, &[]);
}
