//! Table rows of permutation puzzles from files and families.

use std::path::Path;

use strata::{Engine, Search};
use strata_run::Error;
use strata_space::file_value;

use crate::kinds::check::{Checked, Expected, check, from_both_ends, sizes};
use crate::kinds::orbits::Graph;
use crate::kinds::reference::{
    Reference, State as Arrangement, Step, burnt_pancakes, from_cycles, lrx, pancakes, reversed,
    shifted, steps_of, topspin,
};
use crate::kinds::texts;
use crate::reference::search::layers_of;

/// Name and value of options or parameters.
type Pairs<'a> = &'a [(&'a str, &'a str)];

fn counts(layers: Vec<usize>) -> Vec<u64> {
    layers.into_iter().map(|count| count as u64).collect()
}

/// A search of a puzzle from a file.
pub(crate) fn puzzle(text: &str, options: Pairs<'_>) -> Search<'static> {
    let file = file_value(text);
    Search::named("puzzle", [("file", &*file)].into_iter().chain(options.iter().copied()))
}

/// Checks a `.tws` file without symmetries: all layers, by the dense engine too if it can.
fn whole(text: &str, options: Pairs<'_>) {
    let (reference, moves) = Reference::of_options(text, options);
    let expected = Expected::whole(counts(reference.search(&moves)));
    assert!(expected.states.len() > 2);
    let search = || puzzle(text, options);
    let checked = check(&search, expected);
    if reference.illegal.is_empty() {
        checked.same_as(Engine::Dense);
    }
}

/// Checks the first layers of a `.tws` file.
fn first(text: &str, options: Pairs<'_>, depth: usize) {
    let (reference, moves) = Reference::of_options(text, options);
    let expected = Expected::first(counts(reference.first_layers(&moves, depth)));
    check(&|| puzzle(text, options), expected);
}

/// Checks a `.tws` file with symmetries: as many orbits as trial finds.
fn folded(text: &str, options: Pairs<'_>, symmetries: usize) {
    let (reference, moves) = Reference::of_options(text, options);
    let (layers, found) = Graph::new(&reference, &moves).orbits();
    assert_eq!(found, symmetries);
    let layers: Vec<(u64, u64)> = layers.into_iter().map(|(n, all)| (n as u64, all)).collect();
    let on = [options, &[("symmetry", "on")]].concat();
    let search = || puzzle(text, &on);
    let checked = check(&search, Expected::folded(&layers));
    if reference.illegal.is_empty() {
        checked.unfolds_to(puzzle(text, options));
    }
}

/// The text of a list of permutations: where the piece of each point goes.
fn list(moves: &[Vec<usize>]) -> String {
    let line = |(from, name): (&Vec<usize>, char)| {
        let mut to = vec![0; from.len()];
        from.iter().enumerate().for_each(|(slot, from)| to[*from] = slot + 1);
        let to: Vec<String> = to.iter().map(ToString::to_string).collect();
        format!("{name} = [{}]\n", to.join(","))
    };
    moves.iter().zip('a'..).map(line).collect()
}

fn inverse(from: &[usize]) -> Vec<usize> {
    let mut back = vec![0; from.len()];
    from.iter().enumerate().for_each(|(slot, from)| back[*from] = slot);
    back
}

/// Checks the layers of a group up to a depth. Without a depth, also checks those of the dense engine.
fn plain<'a>(
    search: &'a dyn Fn() -> Search<'static>,
    moves: &[Vec<usize>],
    depth: Option<usize>,
) -> Checked<'a> {
    let reference = Reference::solved(moves[0].len(), 1);
    let steps = steps_of(moves);
    match depth {
        Some(depth) => {
            check(search, Expected::first(counts(reference.first_layers(&steps, depth))))
        }
        None => {
            check(search, Expected::whole(counts(reference.search(&steps)))).same_as(Engine::Dense)
        }
    }
}

fn family(name: &str, n: &str) -> Search<'static> {
    Search::named(name, [("n", n)])
}

/// The moves of LX, without inverses.
fn lx(n: usize) -> Vec<Vec<usize>> {
    vec![shifted(n, 1), reversed(n, 0, 2)]
}

#[test]
fn families_of_4_and_6() {
    plain(&|| family("pancake", "6"), &pancakes(6), None);
    plain(&|| Search::named("topspin", [("n", "6"), ("k", "4")]), &topspin(6, 4), None);
    plain(&|| family("lrx", "6"), &lrx(6), None);
    let expected = Expected::whole(counts(Reference::solved(4, 2).search(&burnt_pancakes(4))));
    check(&|| family("burnt-pancake", "4"), expected).same_as(Engine::Dense);
}

/// Directed. The diameters are published.
#[test]
fn lx_of_3_to_6() {
    let six = [1, 2, 3, 5, 8, 13, 20, 30, 42, 56, 73, 87, 98, 101, 85, 59, 29, 7, 1];
    for (n, diameter) in (3..).zip([2, 6, 11, six.len() - 1]) {
        let layers = Reference::solved(n, 1).search(&steps_of(&lx(n)));
        assert_eq!(layers.len() - 1, diameter);
        assert!(n < 6 || layers == six);
        plain(&|| family("lx", &n.to_string()), &lx(n), None);
    }
}

/// Directed, from a list of permutations of which none has an inverse, and with their inverses.
#[test]
fn permutations_without_and_with_inverses() {
    let mut moves = vec![shifted(6, 1), vec![4, 1, 0, 3, 2, 5], vec![1, 2, 3, 0, 4, 5]];
    let text = list(&moves);
    plain(&|| puzzle(&text, &[]), &moves, None);
    moves.extend(moves.clone().iter().map(|from| inverse(from)));
    plain(&|| puzzle(&text, &[("inverses", "true")]), &moves, None);
}

/// Directed, with one goal, which ends the search.
#[test]
fn lx_of_5_to_a_goal() {
    let moves = steps_of(&lx(5));
    let (reference, goal) = (Reference::solved(5, 1), [1, 0, 2, 4, 3]);
    let layers = layers_of(std::slice::from_ref(&reference.start), usize::MAX, |state| {
        moves.iter().map(|steps| reference.apply(state, steps)).collect()
    });
    let has_goal =
        |state: &Arrangement| state.iter().zip(goal).all(|((label, ..), wanted)| *label == wanted);
    let distance = layers.iter().position(|layer| layer.iter().any(has_goal)).unwrap();
    let states = sizes(&layers[..=distance]);
    let expected = Expected { moves: Some(distance as u64), ..Expected::whole(states) };
    assert!(distance > 5);
    let search = || Search::named("lx", [("n", "5"), ("goal", "2 1 3 5 4")]);
    check(&search, expected).same_as(Engine::Dense);
}

#[test]
fn features_of_tws_files() {
    for text in [texts::RING, texts::ILLEGAL] {
        whole(text, &[]);
    }
    for text in [texts::RING, texts::ALIKE_OPEN, texts::SETS] {
        whole(text, &[("metric", "quarter")]);
    }
}

#[test]
fn shipped_files() {
    let cube = include_str!("../../../../puzzles/data/2x2x2.tws");
    whole(cube, &[("moves", "U2,F2,R2")]);
    first(cube, &[("moves", "U,R")], 6);
    let pyraminx = include_str!("../../../../puzzles/data/pyraminx.tws");
    whole(pyraminx, &[("moves", "U,l")]);
    first(pyraminx, &[], 3);
    first(include_str!("../../../../puzzles/data/skewb.tws"), &[("metric", "quarter")], 4);
    let cube = include_str!("../../../../puzzles/data/3x3x3.tws");
    first(cube, &[], 2);
    first(cube, &[("metric", "quarter"), ("moves", "U,R,F")], 4);
}

/// Keys of 62 bits, which are ranks.
#[test]
fn topspin_with_wide_keys() {
    let search = || Search::named("topspin", [("n", "20"), ("k", "4")]);
    plain(&search, &topspin(20, 4), Some(3));
}

/// Keys of 108 bits, of which 60 are reached.
#[test]
fn a_dihedral_group_of_30_points() {
    let mut moves = vec![shifted(30, 1), reversed(30, 0, 30)];
    let text = list(&moves);
    moves.push(shifted(30, 29));
    plain(&|| puzzle(&text, &[("inverses", "true")]), &moves, None);
}

/// Directed, with keys of 80 bits. The moves are those of ATLAS.
#[test]
fn the_mathieu_group_m24() {
    let text = "a = (1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23)\n\
                b = (3,17,10,7,9)(4,13,14,19,5)(8,18,11,12,23)(15,20,22,21,16)\n";
    let first: Vec<usize> = (1..=23).collect();
    let second: [&[usize]; 4] =
        [&[3, 17, 10, 7, 9], &[4, 13, 14, 19, 5], &[8, 18, 11, 12, 23], &[15, 20, 22, 21, 16]];
    let moves = [from_cycles(24, &[&first]), from_cycles(24, &second)];
    plain(&|| puzzle(text, &[]), &moves, Some(9));
}

/// Alike pieces and illegal states, with keys of more than 40 bits.
#[test]
fn alike_pieces_and_illegal_states_with_wide_keys() {
    let words = |numbers: &mut dyn Iterator<Item = usize>| {
        numbers.map(|number| number.to_string()).collect::<Vec<_>>().join(" ")
    };
    let solved = words(&mut (0..40).map(|slot| 1 + slot / 14));
    let cycle = words(&mut (0..40).map(|slot| 1 + (slot + 1) % 40));
    let swap = words(&mut reversed(40, 12, 4).into_iter().map(|slot| slot + 1));
    let text = format!(
        "Set A 40 1\nSolved\nA\n{solved}\nEnd\nMove L\nA\n{cycle}\nEnd\nMove X\nA\n{swap}\nEnd\n\
         Illegal A 40 1 2\n"
    );
    first(&text, &[("metric", "quarter")], 12);
}

/// Three rings of twelve pieces each: keys of 87 bits, which are coordinates.
const RINGS: &str = "Set A 12 1\nSet B 12 1\nSet C 12 1\nSolved\nA\n1 2 3 4 5 6 7 8 9 10 11 12\nB\n\
                     1 2 3 4 5 6 7 8 9 10 11 12\nC\n1 2 3 4 5 6 7 8 9 10 11 12\nEnd\nMove a\nA\n\
                     2 3 4 5 6 7 8 9 10 11 12 1\nEnd\nMove b\nB\n2 3 4 5 6 7 8 9 10 11 12 1\nEnd\n\
                     Move c\nC\n2 3 4 5 6 7 8 9 10 11 12 1\nEnd\n";

#[test]
fn rings_with_coordinates() {
    whole(RINGS, &[("metric", "quarter")]);
}

#[test]
fn rings_with_coordinates_and_symmetries() {
    folded(RINGS, &[("metric", "quarter")], 48);
}

#[test]
fn puzzles_with_symmetries() {
    let cube = include_str!("../../../../puzzles/data/2x2x2.tws");
    folded(cube, &[("moves", "U2,F2,R2")], 6);
    folded(texts::SHUFFLED, &[("metric", "quarter")], 4);
    folded(texts::RING, &[], 2);
    // A symmetry maps illegal pairs to illegal pairs.
    folded(texts::ILLEGAL_RING, &[], 2);
}

/// Checks that the dense engine counts as many orbits in each layer as trial finds, with 1 to `most`
/// workers and after a resume.
fn dense_orbits(text: &str, options: Pairs<'_>, symmetries: usize, most: usize) {
    let (reference, moves) = Reference::of_options(text, options);
    let (layers, found) = Graph::new(&reference, &moves).orbits();
    assert_eq!(found, symmetries);
    let expected: Vec<Option<u64>> = layers.iter().map(|(n, _)| Some(*n as u64)).collect();
    let on = [options, &[("symmetry", "on")]].concat();
    let run = |workers, dir: Option<&Path>, last: Option<u32>| {
        let mut orbits = Vec::new();
        let search = puzzle(text, &on).engine(Engine::Dense).shards(most as u32);
        let search = search.workers(workers);
        let search = match dir {
            Some(dir) => search.data_dir(dir),
            None => search,
        };
        let search = match last {
            Some(last) => search.max_layers(last),
            None => search,
        };
        match search.on_layer(|layer| orbits.push(layer.orbits)).run() {
            Ok(report) => {
                let sum = report.layers().iter().map(|layer| layer.orbits).sum();
                assert_eq!(report.totals().orbits, sum);
            }
            Err(error) => assert!(matches!(error, Error::Stopped { .. }), "{error}"),
        }
        orbits
    };
    for workers in 1..=most {
        assert_eq!(run(workers, None, None), expected, "{workers} workers");
    }
    let dir = tempfile::tempdir().unwrap();
    let last = expected.len() as u32 / 2;
    assert_eq!(run(most, Some(dir.path()), Some(last)), expected[..=last as usize]);
    assert_eq!(run(1, Some(dir.path()), None), expected);
}

#[test]
fn orbits_of_the_dense_engine() {
    let cube = include_str!("../../../../puzzles/data/2x2x2.tws");
    dense_orbits(cube, &[("moves", "U2,F2,R2")], 6, 1);
    dense_orbits(RINGS, &[("metric", "quarter")], 48, 1);
    // Swaps of neighbours on a ring of eight.
    let mut ring = "Set A 8 1\nSolved\nA\n1 2 3 4 5 6 7 8\nEnd\n".to_owned();
    for (slot, name) in (0..8).zip('a'..) {
        let mut pieces: Vec<usize> = (1..=8).collect();
        pieces.swap(slot, (slot + 1) % 8);
        let pieces: Vec<String> = pieces.iter().map(ToString::to_string).collect();
        ring += &format!("Move {name}\nA\n{}\nEnd\n", pieces.join(" "));
    }
    dense_orbits(&ring, &[], 16, 3);
    let turned = "Set A 5 3\nSolved\nA\n1 2 3 4 5\n1 0 2 0 0\nEnd\nMove p\nA\n2 3 1 4 5\n1 0 0 0 0\n\
                  End\nMove q\nA\n1 2 4 5 3\n0 0 2 1 0\nEnd\n";
    dense_orbits(turned, &[("metric", "quarter")], 4, 1);
}

#[test]
fn two_layers() {
    let search = || puzzle("a = (1,2)\n", &[]);
    check(&search, Expected::whole(vec![1, 1])).same_as(Engine::Dense);
}

/// From both ends, with symmetries that keep the goal and without.
#[test]
fn a_goal_of_a_puzzle() {
    let text = "a = (1,2)\nb = (2,3)\nc = (3,4)\nd = (4,5)\n";
    let moves: Vec<Vec<Step>> = steps_of(&(0..4).map(|at| reversed(5, at, 2)).collect::<Vec<_>>());
    let reference = Reference::solved(5, 1);
    let around = |pieces: [u32; 5]| {
        let start = pieces.map(|label| (label, 0, 1)).to_vec();
        layers_of(&[start], usize::MAX, |state| {
            moves.iter().map(|steps| reference.apply(state, steps)).collect()
        })
    };
    // The image under the exchange of left and right, which maps each swap to another.
    let image = |state: &Arrangement| -> Arrangement {
        state.iter().rev().map(|(label, ..)| (4 - label, 0, 1)).collect()
    };
    let ends = [around([0, 1, 2, 3, 4]), around([4, 1, 2, 3, 0])];
    let expected = from_both_ends([&ends[0], &ends[1]]);
    assert_eq!(expected.moves, Some(7));
    let goal = |symmetry| puzzle(text, &[("goal", "5 2 3 4 1"), ("symmetry", symmetry)]);
    check(&|| goal("off"), expected.clone());
    let orbits = ends.map(|layers| {
        let is_least = |state: &&Arrangement| **state <= image(state);
        let least = layers.iter().map(|layer| layer.iter().filter(is_least).count() as u64);
        least.collect::<Vec<u64>>()
    });
    let states = (0..expected.states.len()).map(|depth| orbits[0][depth] + orbits[1][depth]);
    let folded = Expected { states: states.collect(), ..expected.clone() };
    assert!(folded.states.iter().sum::<u64>() < expected.states.iter().sum());
    check(&|| goal("on"), folded);
    // The exchange does not map this goal to itself, so it is not used.
    let ends = [around([0, 1, 2, 3, 4]), around([3, 1, 2, 4, 0])];
    let expected = from_both_ends([&ends[0], &ends[1]]);
    for symmetry in ["off", "on"] {
        let search = || puzzle(text, &[("goal", "4 2 3 5 1"), ("symmetry", symmetry)]);
        check(&search, expected.clone());
    }
}

/// A start that is not solved, with symmetries: they relabel pieces along with slots, so that the start is
/// fixed.
#[test]
fn a_start_that_is_not_solved_with_symmetries() {
    let text = "a = (1,2)\nb = (2,3)\nc = (3,4)\nd = (4,5)\n";
    let moves = (0..4).map(|at| reversed(5, at, 2)).collect::<Vec<_>>();
    let start = [1, 4, 0, 3, 2];
    let mut reference = Reference::solved(5, 1);
    reference.start = start.map(|label| (label, 0, 1)).to_vec();
    let (layers, found) = Graph::new(&reference, &steps_of(&moves)).orbits();
    assert_eq!(found, 2);
    let layers: Vec<(u64, u64)> = layers.into_iter().map(|(n, all)| (n as u64, all)).collect();
    let search = |symmetry| puzzle(text, &[("start", "2 5 1 4 3"), ("symmetry", symmetry)]);
    check(&|| search("on"), Expected::folded(&layers)).unfolds_to(search("off"));
}
