//! Tests of the layers of small puzzles of all formats and features.

use strata_puzzles::permutation::{BurntPancake, Lrx, Member, Pancake, TopSpin};
use strata_space::{KeySpace, Puzzle};

use crate::permutation::dense::check_dense;
use crate::permutation::reference::{
    Reference, burnt_pancakes, from_cycles, lrx, pancakes, topspin,
};
use crate::permutation::texts::{
    ALIKE_OPEN, ILLEGAL, KPUZZLE, OPEN_TWIST, RING, SEQUENCES, SETS, SHUFFLED, TWISTS, ZERO_BASED,
};
use crate::permutation::{layers, numbers, open};

fn check(text: &str, moves: &[&str], metric: &str) {
    let names = moves.join(",");
    let mut options = vec![("metric", metric)];
    options.extend((!moves.is_empty()).then_some(("moves", &*names)));
    let puzzle = open(text, &options).unwrap();
    let found = layers(&puzzle);
    check_dense(&puzzle, &found);
    let expected = Reference::read(text).layers(moves, metric == "quarter");
    assert_eq!(found, expected, "{moves:?} {metric} of {text}");
    assert!(found.len() > 2, "{found:?} of {text}");
}

#[test]
fn features_of_tws_files_are_searched_as_the_reference_does() {
    for text in
        [RING, TWISTS, OPEN_TWIST, ALIKE_OPEN, SETS, ILLEGAL, ZERO_BASED, SEQUENCES, SHUFFLED]
    {
        check(text, &[], "half");
        check(text, &[], "quarter");
    }
    check(SETS, &["a", "b2"], "half");
    check(SEQUENCES, &["B", "F"], "quarter");
}

#[test]
fn shipped_files_are_searched_as_the_reference_does() {
    let cube = include_str!("../../../data/2x2x2.tws");
    check(cube, &["U", "R"], "half");
    check(cube, &["U2", "F2", "R2"], "half");
    check(include_str!("../../../data/pyraminx.tws"), &["U", "b"], "half");
    check(include_str!("../../../data/skewb.tws"), &["UFR", "UBL"], "quarter");
    check(include_str!("../../../data/dino.tws"), &["UFR", "UBR"], "half");
    check(include_str!("../../../data/3x3x3-ur.tws"), &["U2", "R2"], "half");
    check(include_str!("../../../data/3x3x3.tws"), &["F2", "U2", "R2"], "quarter");
}

#[test]
fn ksolve_files_are_searched_as_the_reference_does() {
    // The reference does not support `Ignore`.
    let ignore = "Ignore\nC\n1 0 0 0\n0 0 0 0\nEnd\n";
    let found = layers(&open(&format!("{TWISTS}{ignore}"), &[]).unwrap());
    assert_eq!(found, Reference::read(TWISTS).layers(&[], false));
}

#[test]
fn a_kpuzzle_and_a_tws_file_of_one_puzzle_agree() {
    for metric in ["half", "quarter"] {
        let found = layers(&open(KPUZZLE, &[("metric", metric)]).unwrap());
        assert_eq!(found, Reference::read(TWISTS).layers(&[], metric == "quarter"));
    }
    let open_twist = KPUZZLE.replace(
        r#""orientation": [0, 0, 0, 0]}"#,
        r#""orientation": [0, 0, 0, 0], "orientationMod": [1, 0, 0, 3]}"#,
    );
    assert_eq!(
        layers(&open(&open_twist, &[]).unwrap()),
        Reference::read(OPEN_TWIST).layers(&[], false)
    );
}

#[test]
fn derived_moves_are_evaluated() {
    let derived = r#"}, "derivedMoves": {
        "S": "[R: U]", "T": "[U, R2']", "Q": "(U S)2 R'", "x": "U R"
    }}"#;
    let end = KPUZZLE.rfind("}\n}").unwrap();
    let derived = format!("{}{derived}", &KPUZZLE[..end]);
    let written = format!(
        "{TWISTS}MoveSequence S R U R'\nMoveSequence T U R2' U' R2\nMoveSequence Q U S U S R'\n"
    );
    let reference = Reference::read(&written);
    for moves in [&["S", "T"][..], &["Q"], &[]] {
        let names = moves.join(",");
        let options = [("moves", &*names)];
        let options = if moves.is_empty() { &[][..] } else { &options };
        let found = layers(&open(&derived, options).unwrap());
        assert_eq!(found, reference.layers(moves, false), "{moves:?}");
    }
}

#[test]
fn a_period_of_orientations_is_a_divisor() {
    let halved = KPUZZLE.replace("\"numOrientations\": 3", "\"numOrientations\": 6").replace(
        r#""orientation": [0, 0, 0, 0]}"#,
        r#""orientation": [0, 0, 5, 0], "orientationMod": [2, 3, 0, 1]}"#,
    );
    let mut reference = Reference::read(&TWISTS.replace("Set C 4 3", "Set C 4 6"));
    for (slot, (turn, period)) in [(0, 2), (0, 3), (5, 6), (0, 1)].into_iter().enumerate() {
        (reference.start[slot].1, reference.start[slot].2) = (turn, period);
    }
    let step = &mut reference.moves[1].1[0];
    (step[1].1, step[3].1) = (2, 1);
    step[2].1 = 0;
    assert_eq!(layers(&open(&halved, &[]).unwrap()), reference.layers(&[], false));
}

#[test]
fn lists_of_permutations_get_inverses_only_on_request() {
    let swap = |a: usize, b: usize| {
        let mut images: Vec<usize> = (0..5).collect();
        images.swap(a, b);
        images
    };
    let text = "# bubbles\na = (1,2);\nb := [1,3,2];\nc := (3,4);\nd = 1 2 3 5 4;\n";
    let expected = Reference::plain(5, &[swap(0, 1), swap(1, 2), swap(2, 3), swap(3, 4)]);
    assert_eq!(expected, [1, 4, 9, 15, 20, 22, 20, 15, 9, 4, 1]);
    let space = open(text, &[]).unwrap();
    assert_eq!(layers(&space), expected);
    check_dense(&space, &expected);
    assert_eq!(
        (space.label().as_str(), space.move_names().collect::<Vec<_>>().join(" ").as_str()),
        ("puzzle-bubbles", "a b c d")
    );
    let cycles = "r = (1,2,3,4,5)\nt = (1,2)(3,4)\n";
    let left: Vec<usize> = vec![1, 2, 3, 4, 0];
    let right: Vec<usize> = vec![4, 0, 1, 2, 3];
    let turn: Vec<usize> = vec![1, 0, 3, 2, 4];
    let expected = Reference::plain(5, &[left, right, turn]);
    assert_eq!(layers(&open(cycles, &[("inverses", "true")]).unwrap()), expected);
}

#[test]
fn directed_moves_are_searched_as_the_reference_does() {
    let alike = "# alike\nl = [2,3,4,5,6,1]\nx = [2,1,3,4,5,6]\nd = (1,3,5)\n";
    let images =
        |points: &[usize]| -> Vec<usize> { points.iter().map(|point| point - 1).collect() };
    // A permutation moves the piece at a point to the image; the images of slots are those of the inverse.
    let shift = images(&[6, 1, 2, 3, 4, 5]);
    let swap = images(&[2, 1, 3, 4, 5, 6]);
    let cycle = images(&[5, 2, 1, 4, 3, 6]);
    let expected = Reference::plain(6, &[shift.clone(), swap.clone(), cycle]);
    let puzzle = open(alike, &[]).unwrap();
    assert!(!puzzle.dense_size().unwrap().is_undirected);
    check_dense(&puzzle, &expected);
    for moves in ["l,x", "l,d"] {
        let puzzle = open(alike, &[("moves", moves)]).unwrap();
        assert!(puzzle.check_explicit().is_ok() && !puzzle.is_undirected());
        assert!(!puzzle.dense().unwrap().tables().is_undirected());
    }
    let expected = Reference::plain(6, &[shift, swap]);
    let puzzle = open(alike, &[("moves", "l,x")]).unwrap();
    check_dense(&puzzle, &expected);
    assert_eq!(layers(&puzzle), expected);
}

/// Mathieu groups, with the generators of ATLAS and GAP.
#[test]
fn sporadic_groups_are_searched_as_the_reference_does() {
    let m11 = "a = (1,2,3,4,5,6,7,8,9,10,11)\nb = (3,7,11,8)(4,10,5,6)\n";
    let puzzle = open(m11, &[("inverses", "true")]).unwrap();
    assert_eq!(puzzle.dense_size().unwrap().states, 7920);
    let a: Vec<usize> = [10].into_iter().chain(0..10).collect();
    let inverse_a: Vec<usize> = (1..11).chain([0]).collect();
    let b = from_cycles(11, &[&[3, 7, 11, 8], &[4, 10, 5, 6]]);
    let mut inverse_b = vec![0; 11];
    (0..11).for_each(|slot| inverse_b[b[slot]] = slot);
    check_dense(&puzzle, &Reference::plain(11, &[a, b, inverse_a, inverse_b]));
}

#[test]
fn a_group_that_is_small_in_many_arrangements_has_a_dense_form() {
    let m24 = "a = (1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23)\n\
               b = (3,17,10,7,9)(4,13,14,19,5)(8,18,11,12,23)(15,20,22,21,16)\n\
               c = (1,24)(2,23)(3,12)(4,16)(5,18)(6,10)(7,20)(8,14)(9,21)(11,17)(13,22)(15,19)\n";
    let puzzle = open(m24, &[("inverses", "true")]).unwrap();
    assert_eq!((puzzle.check_explicit(), puzzle.key_bits()), (Ok(()), 80));
    assert_eq!(puzzle.dense_size().unwrap().states, 244_823_040);
}

/// Checks the members of a family, by numbers and layers.
fn check_family<P: Puzzle + KeySpace>(pairs: &[(&str, usize)], expected: &[usize]) {
    let puzzle = P::open(&numbers(pairs)).unwrap();
    assert_eq!(layers(&puzzle), expected);
    check_dense(&puzzle, expected);
}

#[test]
fn families_are_searched_as_the_reference_does() {
    for n in 2..=7 {
        check_family::<Member<Pancake>>(&[("n", n)], &Reference::plain(n, &pancakes(n)));
    }
    for (n, k) in [(4, 2), (5, 3), (6, 4), (7, 3)] {
        let expected = Reference::plain(n, &topspin(n, k));
        check_family::<Member<TopSpin>>(&[("n", n), ("k", k)], &expected);
    }
    for n in 3..=7 {
        check_family::<Member<Lrx>>(&[("n", n)], &Reference::plain(n, &lrx(n)));
    }
    for n in 2..=4 {
        let expected = Reference::solved(n, 2).search(&burnt_pancakes(n));
        check_family::<Member<BurntPancake>>(&[("n", n)], &expected);
    }
}
