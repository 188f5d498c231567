//! Table rows of Panex, Towers of Hanoi and sliding tiles.

use strata::{Engine, Search};

use crate::kinds::check::{Expected, check, from_both_ends, sizes};
use crate::reference::search::layers_of;
use crate::reference::tiles::{orbits, slides};
use crate::reference::{CentreTop, Options, Stop, Symmetry, hanoi_layers, panex_layers};

#[test]
fn hanoi_with_three_to_five_pegs() {
    for (discs, pegs) in [(5, 3), (4, 4), (3, 5)] {
        let [discs_text, pegs_text] = [discs, pegs].map(|number| number.to_string());
        let parameters = [("discs", &*discs_text), ("pegs", &*pegs_text), ("exhaust", "true")];
        let search = || Search::named("hanoi", parameters);
        let expected = Expected::whole(hanoi_layers(discs, pegs).layers);
        check(&search, expected).same_as(Engine::Dense).same_as(Engine::Symbolic);
    }
}

/// The tower stands on the last peg after 2^n - 1 moves. That is the last layer, which has other states,
/// too.
#[test]
fn hanoi_to_its_goal() {
    let search = || Search::named("hanoi", [("discs", "4")]);
    let expected = Expected { moves: Some(15), ..Expected::whole(hanoi_layers(4, 3).layers) };
    assert_eq!(expected.depth(), 15);
    check(&search, expected).same_as(Engine::Dense).same_as(Engine::Symbolic);
}

fn panex(symmetry: Symmetry, stop: Stop) -> crate::reference::Reference {
    panex_layers(3, Options { symmetry, centre_top: CentreTop::Forbid, stop })
}

/// From both ends, with its symmetries: positions are those of a search without.
#[test]
fn panex_of_level_3() {
    let all = panex(Symmetry::Off, Stop::Never).layers;
    let met = panex(Symmetry::Class, Stop::AtMeeting);
    let expected = Expected {
        positions: all[..met.layers.len()].to_vec(),
        moves: met.moves.map(u64::from),
        ..Expected::whole(met.layers)
    };
    assert_eq!(expected.moves, Some(42));
    for k in ["1", "3"] {
        let search = || Search::named("panex", [("level", "3"), ("k", k)]);
        check(&search, expected.clone()).same_as(Engine::Symbolic);
    }
}

#[test]
fn the_whole_space_of_panex_of_level_3() {
    let all = panex(Symmetry::Off, Stop::Never).layers;
    for (word, symmetry) in [("on", Symmetry::Class), ("off", Symmetry::Off)] {
        let states = panex(symmetry, Stop::Never).layers;
        let parameters = [("level", "3"), ("exhaust", "true"), ("symmetry", word)];
        let search = || Search::named("panex", parameters);
        let expected = Expected { positions: all.clone(), ..Expected::whole(states) };
        check(&search, expected).same_as(Engine::Symbolic);
    }
}

#[test]
fn panex_from_the_start_to_the_goal() {
    let found = panex(Symmetry::Off, Stop::AtGoal);
    let expected = Expected { moves: found.moves.map(u64::from), ..Expected::whole(found.layers) };
    let search = || Search::named("panex", [("level", "3"), ("symmetry", "off")]);
    check(&search, expected).same_as(Engine::Symbolic);
}

#[test]
fn sliding_tiles() {
    let start = vec![1, 2, 3, 4, 5, 0];
    let layers = layers_of(&[start], usize::MAX, |board| slides(3, board));
    let search = || Search::named("tiles", [("size", "2x3"), ("exhaust", "true")]);
    check(&search, Expected::whole(sizes(&layers)));
}

#[test]
fn sliding_tiles_from_both_ends() {
    let ends = [vec![4, 5, 0, 1, 2, 3], vec![1, 2, 3, 4, 5, 0]];
    let ends = ends.map(|start| layers_of(&[start], usize::MAX, |board| slides(3, board)));
    let expected = from_both_ends([&ends[0], &ends[1]]);
    assert_eq!(expected.moves, Some(21));
    let search = || Search::named("tiles", [("size", "2x3"), ("start", "4 5 _ / 1 2 3")]);
    check(&search, expected);
}

/// The transposition relabels the tiles such that the sorted board stays as it is.
#[test]
fn sliding_tiles_with_a_symmetry() {
    let layers = orbits(&[1, 2, 3, 4, 5, 6, 7, 8, 0], 12);
    let expected = Expected { is_whole: false, ..Expected::folded(&layers) };
    assert!(expected.states < expected.positions);
    let parameters = [("size", "3x3"), ("exhaust", "true"), ("symmetry", "on")];
    check(&|| Search::named("tiles", parameters), expected);
}
