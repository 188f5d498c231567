//! Tests of layers and radii against published tables.

use strata_puzzles::permutation::{BurntPancake, Lrx, Member, Pancake, TopSpin};
use strata_space::{KeySpace, Puzzle};

use crate::permutation::{layers, numbers, open};

fn member<P: Puzzle + KeySpace>(pairs: &[(&str, u32)]) -> Vec<usize> {
    layers(&P::open(&numbers(pairs)).unwrap())
}

#[test]
fn square_turns_of_three_faces() {
    let table = [1, 3, 6, 12, 24, 48, 93, 180, 315, 489, 604, 522, 250, 42, 3];
    let cube = include_str!("../../../data/3x3x3.tws");
    assert_eq!(layers(&open(cube, &[("moves", "U2,F2,R2")]).unwrap()), table);
}

/// twsearch, godsnumber.csv.
#[test]
fn the_skewb_diamond() {
    let table = [1, 16, 208, 2280, 18795, 104_856, 433_752, 897_588, 198_564, 2640, 180];
    assert_eq!(layers(&open(include_str!("../../../data/skewb-diamond.tws"), &[]).unwrap()), table);
}

/// OEIS A092113, row 9; the radii are OEIS A058986.
#[test]
fn pancakes() {
    let nine = [1, 8, 56, 391, 2278, 10666, 38015, 93585, 132697, 79379, 5804];
    assert_eq!(member::<Member<Pancake>>(&[("n", 9)]), nine);
    for (n, radius) in (2..).zip([1, 3, 4, 5, 7, 8]) {
        assert_eq!(member::<Member<Pancake>>(&[("n", n)]).len() - 1, radius);
    }
}

/// Cohen and Blum 1995; the radii are OEIS A078941.
#[test]
fn burnt_pancakes() {
    let six = [1, 6, 30, 150, 675, 2340, 6604, 12795, 15519, 6957, 959, 43, 1];
    assert_eq!(member::<Member<BurntPancake>>(&[("n", 6)]), six);
    for (n, radius) in (1..).zip([1, 4, 6, 8, 10]) {
        assert_eq!(member::<Member<BurntPancake>>(&[("n", n)]).len() - 1, radius);
    }
}

/// With k = 2 these are swaps of neighbours on a ring, whose radius is n² / 4 rounded down
/// (van Zuylen, Bieron, Schalekamp, Yu: A tight upper bound on the number of cyclically adjacent
/// transpositions to sort a permutation, 2016).
#[test]
fn topspin_with_two_tokens_sorts_a_ring() {
    for n in 3..=8 {
        let table = member::<Member<TopSpin>>(&[("n", n), ("k", 2)]);
        assert_eq!(table.len() as u32 - 1, n * n / 4);
        assert_eq!(table.iter().sum::<usize>(), (1..=n as usize).product::<usize>());
    }
}

/// The radius is n (n - 1) / 2, as Chervov et al. found for small n (CayleyPy, arXiv 2502.18663).
#[test]
fn lrx_radii() {
    for n in 4..=8 {
        let table = member::<Member<Lrx>>(&[("n", n)]);
        assert_eq!(table.len() as u32 - 1, n * (n - 1) / 2);
        assert_eq!(table.iter().sum::<usize>(), (1..=n as usize).product::<usize>());
    }
}

/// OEIS A079761 and A079762.
#[test]
#[ignore = "3,674,160 states twice: half a minute"]
fn the_pocket_cube() {
    let half = [1, 9, 54, 321, 1847, 9992, 50136, 227_536, 870_072, 1_887_748, 623_800, 2644];
    let quarter = [
        1, 6, 27, 120, 534, 2256, 8969, 33058, 114_149, 360_508, 930_588, 1_350_852, 782_536,
        90280, 276,
    ];
    let cube = include_str!("../../../data/2x2x2.tws");
    assert_eq!(layers(&open(cube, &[("moves", "F,U,R")]).unwrap()), half);
    let options = [("moves", "F,U,R"), ("metric", "quarter")];
    assert_eq!(layers(&open(cube, &options).unwrap()), quarter);
}
