//! Tests of Panex searches between arbitrary positions: distances and traced paths, compared with a
//! plain search.

use crate::drive;
use crate::reference;

use std::collections::HashMap;
use std::path::Path;

use drive::{Outcome, SearchSetup, open_kept, search_in};
use reference::CentreTop;
use reference::ends::{all_positions, distances, is_first_image, play, uses_centre_top};
use strata_engine::explicit::{Engine, Layers, Result, Trace};
use strata_puzzles::panex::Panex;
use strata_run::KeepLayers;
use strata_run::catalogue::{Parameters, Puzzle};
use strata_store::{KeptFile, Layer};

use crate::kinds::user::Random;

/// Opens a search as the command line does.
fn panex(level: u8, [start, goal]: [&str; 2], more: &[(&str, &str)]) -> Panex {
    let level = level.to_string();
    let pairs = [("level", &*level), ("start", start), ("goal", goal)];
    let pairs = pairs.iter().chain(more);
    let parameters: Parameters =
        pairs.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    <Panex as Puzzle>::open(&parameters).unwrap()
}

fn setup() -> SearchSetup {
    SearchSetup { shards: 4, ..SearchSetup::default() }
}

fn meet(dir: &Path, level: u8, ends: [&str; 2], k: &str) -> Outcome {
    let space = panex(level, ends, &[("k", k)]);
    search_in(dir, setup(), |shards| Engine::tabled(space, shards))
}

/// The centre-top rule of a search between two positions.
fn rule(ends: [&str; 2]) -> CentreTop {
    if ends.into_iter().any(uses_centre_top) { CentreTop::Allow } else { CentreTop::Forbid }
}

fn below(random: &mut Random, limit: usize) -> usize {
    random.below(limit as u64) as usize
}

/// Distances from one position under both rules, computed on demand.
struct Distances<'a> {
    from: &'a str,
    known: HashMap<bool, HashMap<String, u32>>,
}

impl<'a> Distances<'a> {
    fn new(from: &'a str) -> Distances<'a> {
        Distances { from, known: HashMap::new() }
    }

    fn to(&mut self, to: &str) -> Option<u32> {
        let rule = rule([self.from, to]);
        let known = self.known.entry(rule == CentreTop::Allow);
        known.or_insert_with(|| distances(self.from, rule)).get(to).copied()
    }
}

#[test]
fn distances_of_all_pairs_of_the_smallest_levels_equal_the_reference() {
    let dir = tempfile::tempdir().unwrap();
    for (level, positions) in [(1, 12), (2, 216)] {
        let all = all_positions(level);
        assert_eq!(all.len(), positions);
        for start in all.iter().filter(|position| is_first_image(position)) {
            let mut distances = Distances::new(start);
            for goal in &all {
                let found = meet(dir.path(), level, [start, goal], "1");
                assert_eq!(found.moves, distances.to(goal), "{start} to {goal}");
            }
        }
    }
}

/// Compares random pairs, `goals` for each of `starts` positions: one plain search for them all.
fn sample(level: u8, starts: usize, goals: usize, ks: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    let all = all_positions(level);
    let mut random = Random(u64::from(level));
    for start in 0..starts {
        let start = &all[if start == 0 { 0 } else { below(&mut random, all.len()) }];
        let mut distances = Distances::new(start);
        for turn in 0..goals {
            let goal = &all[below(&mut random, all.len())];
            let k = ks[turn % ks.len()];
            let found = meet(dir.path(), level, [start, goal], k);
            assert_eq!(found.moves, distances.to(goal), "{start} to {goal}, k = {k}");
        }
    }
}

#[test]
fn distances_of_random_pairs_of_level_three_equal_the_reference() {
    sample(3, 20, 100, &["1", "2"]);
}

#[test]
#[ignore = "takes long; run by scripts/nightly"]
fn distances_of_random_pairs_of_level_four_equal_the_reference() {
    // With k = 1 most moves lead to another region, and a search takes three times as long.
    let ks = [&["1"][..], &["2"; 9]].concat();
    sample(4, 10, 100, &ks);
}

/// The layers of a search in a folder.
struct Kept<'a> {
    dir: &'a Path,
    files: &'a [Vec<KeptFile>],
}

impl Layers for Kept<'_> {
    type Error = strata_engine::explicit::Error;

    fn open(&mut self, depth: u32) -> Result<Vec<Layer>> {
        Ok(open_kept(self.dir, depth, &self.files[depth as usize]))
    }
}

/// The moves of a shortest path, traced through all layers.
fn path(
    level: u8,
    ends: [&str; 2],
    more: &[(&str, &str)],
    workers: usize,
) -> Option<Vec<(usize, usize)>> {
    let dir = tempfile::tempdir().unwrap();
    let setup = SearchSetup { keep: KeepLayers::All, workers, ..setup() };
    let space = panex(level, ends, more);
    let found = search_in(dir.path(), setup, |shards| Engine::tabled(space, shards));
    found.moves?;
    let space = panex(level, ends, more);
    let mut layers = Kept { dir: dir.path(), files: &found.kept };
    let depth = found.layers.len() as u32 - 1;
    let chain = Trace::new(&space, setup.shards).unwrap().chain(depth, &mut layers).unwrap();
    let moves = space.unfold(&chain.unwrap()).expect("the chain is a path");
    assert_eq!(moves.len() as u32, found.moves.unwrap());
    Some(moves)
}

fn check_path(level: u8, ends: [&str; 2], more: &[(&str, &str)], workers: usize) {
    let what = format!("{} to {}, {more:?}", ends[0], ends[1]);
    let rule = rule(ends);
    let expected = distances(ends[0], rule).get(ends[1]).copied();
    let found = path(level, ends, more, workers);
    assert_eq!(found.as_ref().map(|moves| moves.len() as u32), expected, "{what}");
    if let Some(moves) = found {
        assert_eq!(play(ends[0], &moves, rule).as_deref(), Some(ends[1]), "{what}");
    }
}

#[test]
fn paths_are_traced_back_for_all_symmetries_of_the_ends() {
    let towers = "b1 b2 b3 / - / o1 o2 o3";
    let exchanged = "o1 o2 o3 / - / b1 b2 b3";
    // Exchanged by ' and *; fixed by *'; exchanged by ', by *, by *'; on the centre's top layer.
    for ends in [
        [towers, exchanged],
        [exchanged, towers],
        [towers, towers],
        ["o1 b2 b3 / - / b1 o2 o3", towers],
        ["b2 b3 / b1 / o1 o2 o3", "o1 o2 o3 / b1 / b2 b3"],
        ["b2 b3 / b1 / o1 o2 o3", "o2 o3 / o1 / b1 b2 b3"],
        ["b2 b3 / b1 / o1 o2 o3", "b1 b2 b3 / o1 / o2 o3"],
        ["b2 b3 / b1 o1 / o2 o3", exchanged],
    ] {
        for more in [&[("k", "1")][..], &[("k", "2")], &[("k", "1"), ("symmetry", "off")]] {
            check_path(3, ends, more, 1);
        }
        check_path(3, ends, &[("k", "1")], 3);
    }
    // All tiles are small: there is only one region, which every symmetry fixes.
    check_path(3, [towers, exchanged], &[("k", "3")], 1);
    check_path(3, [towers, towers], &[("k", "3")], 1);
}

#[test]
fn paths_between_random_positions_are_traced_back() {
    let mut random = Random(7);
    for level in [2, 3] {
        let all = all_positions(level);
        for _ in 0..15 {
            let ends = [&*all[below(&mut random, all.len())], &*all[below(&mut random, all.len())]];
            check_path(level, ends, &[("k", "1")], 1);
        }
    }
}
