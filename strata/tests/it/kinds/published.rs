//! Table rows of large puzzles, with published counts of their first layers.

use strata::{Engine, Search};
use strata_run::Error;

use crate::kinds::permutations::puzzle;

/// States, positions and digests of the first layers, by the explicit engine.
pub(crate) fn first(search: Search<'_>, depth: u32) -> Vec<(u64, u64, strata_space::Digest)> {
    let mut found = Vec::new();
    let search = search.engine(Engine::Explicit).shards(9).max_layers(depth);
    let error = search
        .on_layer(|layer| found.push((layer.states, layer.positions, layer.digest)))
        .run()
        .unwrap_err();
    assert!(matches!(error, Error::Stopped { .. }), "{error}");
    found
}

/// The 3x3x3 by half turns (cube20.org, twsearch).
const POSITIONS: [u64; 7] = [1, 18, 243, 3240, 43_239, 574_908, 7_618_438];

/// Their orbits under the 48 symmetries of the cube.
const ORBITS: [u64; 7] = [1, 2, 9, 75, 934, 12_077, 159_131];

fn cube(symmetry: &str) -> Search<'static> {
    puzzle(include_str!("../../../../puzzles/data/3x3x3.tws"), &[("symmetry", symmetry)])
}

fn check(symmetry: &str, states: &[u64]) {
    let depth = states.len() as u32 - 1;
    let one = first(cube(symmetry).threads(1), depth);
    let counts: Vec<(u64, u64)> = one.iter().map(|(states, all, _)| (*states, *all)).collect();
    assert!(counts.into_iter().eq(states.iter().copied().zip(POSITIONS)));
    let depth = depth.min(4);
    for (workers, threads) in [(2, 1), (3, 3)] {
        let other = first(cube(symmetry).workers(workers).threads(threads), depth);
        assert_eq!(other, one[..=depth as usize], "{workers} workers of {threads} threads");
    }
}

#[test]
fn the_cube() {
    check("off", &POSITIONS[..6]);
}

#[test]
fn orbits_of_the_cube() {
    check("on", &ORBITS[..6]);
}

#[test]
#[ignore = "7,618,438 states: a minute without optimisation"]
fn deeper_layers_of_the_cube() {
    check("off", &POSITIONS);
    check("on", &ORBITS);
}

/// The diameters are published; the table has smaller n.
#[test]
fn lx_of_7_and_8() {
    for (n, diameter) in [("7", 25), ("8", 35)] {
        let found = [Engine::Explicit, Engine::Dense].map(|engine| {
            let report = Search::named("lx", [("n", n)]).engine(engine).threads(2).run().unwrap();
            assert_eq!(report.radius(), diameter);
            let layers = report.layers().iter().map(|layer| layer.states);
            (layers.collect::<Vec<u64>>(), report.digest())
        });
        assert_eq!(found[0], found[1]);
    }
}
