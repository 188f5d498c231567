//! Registry of the puzzles that ship with Strata.

use strata_puzzles::Hanoi;
use strata_puzzles::panex::Panex;
use strata_puzzles::permutation::{BurntPancake, Lrx, Lx, Member, Pancake, Permutation, TopSpin};
use strata_puzzles::tiles::{ClockwiseTiles, Tiles, WideClockwiseTiles};

use strata_space::{Key192, Parameters, Puzzle, SpaceError, Work};

use super::registry::{Entry, Registry};
use super::space::Space;

impl Registry {
    /// The puzzles that ship with Strata.
    pub fn shipped() -> Registry {
        Registry::new([
            Entry::of::<Panex>(),
            Entry::of::<Hanoi>(),
            Entry::opened_by::<Tiles>(tiles),
            Entry::opened_by::<Permutation>(permutation),
            Entry::of::<Member<Pancake>>(),
            Entry::of::<Member<BurntPancake>>(),
            Entry::of::<Member<TopSpin>>(),
            Entry::of::<Member<Lrx>>(),
            Entry::of::<Member<Lx>>(),
        ])
    }
}

/// Sliding tiles. Clockwise moves have a space of their own, with wide keys only where narrow ones do not
/// fit.
fn tiles(parameters: &Parameters, _: &Work) -> Result<Space, SpaceError> {
    if !ClockwiseTiles::is_asked(parameters) {
        return Space::new(Tiles::open(parameters)?);
    }
    match Space::new(ClockwiseTiles::open(parameters)?) {
        Err(SpaceError::KeyTooWide { .. }) => Space::new(WideClockwiseTiles::open(parameters)?),
        space => space,
    }
}

/// A puzzle from a file, with wide keys, which are slower, only where narrow ones do not fit.
fn permutation(parameters: &Parameters, work: &Work) -> Result<Space, SpaceError> {
    let puzzle = Permutation::open_within(parameters, work)?;
    match puzzle.check_explicit() {
        Err(SpaceError::KeyTooWide { .. }) => Space::new(puzzle.with_keys::<Key192>()?),
        // Whatever else the explicit engine refuses, other engines may accept.
        _ => Space::new(puzzle),
    }
}

#[cfg(test)]
mod tests {
    use strata_space::{DrawingTheme, Parameters};

    use super::*;

    fn given(pairs: &[(&str, &str)]) -> Parameters {
        pairs.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect()
    }

    #[test]
    fn parameters_of_a_space_open_the_same_space() {
        let shipped = Registry::shipped();
        for (name, pairs) in [
            ("panex", &[("level", "9"), ("k", "2"), ("symmetry", "off")][..]),
            ("panex", &[("level", "4"), ("centre-top", "allow"), ("exhaust", "true")]),
            ("panex", &[("level", "2"), ("start", "b2 / - / o1 b1 o2"), ("goal", "towers")]),
            ("panex", &[("level", "2"), ("start", "b2 / o1 b1 / o2"), ("centre-top", "allow")]),
            ("hanoi", &[("discs", "5"), ("pegs", "4")]),
            ("tiles", &[("size", "3x2"), ("start", "5 2 / 4 3 / _ 1"), ("k", "2")]),
            ("tiles", &[("size", "2x3"), ("exhaust", "true")]),
            ("tiles", &[("size", "3x3"), ("symmetry", "off")]),
            ("tiles", &[("size", "2x3"), ("moves", "clockwise"), ("start", "_ 1 2 / 4 5 3")]),
            ("tiles", &[("size", "2x3"), ("moves", "clockwise"), ("exhaust", "true")]),
            ("tiles", &[("size", "3x4"), ("moves", "clockwise"), ("choices", "limited")]),
            // Its keys need more than 64 bits.
            ("tiles", &[("size", "5x5"), ("moves", "clockwise"), ("exhaust", "true")]),
            ("puzzle", &[("file", r"a = (1,2,3)\nb = (1,2)\n"), ("inverses", "true")]),
            (
                "puzzle",
                &[("file", "a = (1,2,3)(4,5)"), ("inverses", "true"), ("goal", "3 1 2 ? ?")],
            ),
            ("pancake", &[("n", "5"), ("start", "5 4 3 2 1"), ("goal", "2 1 3 4 5")]),
            ("burnt-pancake", &[("n", "3"), ("goal", "1 2 3 / 1 1 1")]),
            ("topspin", &[("n", "6"), ("k", "4")]),
            ("lrx", &[("n", "4"), ("exhaust", "true")]),
            ("lx", &[("n", "4")]),
        ] {
            let space = shipped.open(name, &given(pairs)).unwrap();
            let all = space.parameters();
            for (name, value) in pairs {
                assert_eq!(all[*name], *value);
            }
            assert_eq!(shipped.open(name, &all).unwrap().parameters(), all);
            assert_eq!(all.len(), shipped.find(name).unwrap().parameters.len());
        }
    }

    #[test]
    fn errors_name_the_wrong_puzzle_parameter_or_value() {
        let shipped = Registry::shipped();
        let error = |name: &str, pairs: &[(&str, &str)]| {
            shipped.open(name, &given(pairs)).unwrap_err().to_string()
        };
        assert_eq!(error("panex", &[("level", "0")]), "level must be between 1 and 14, not 0");
        assert_eq!(error("panex", &[("level", "15")]), "level must be between 1 and 14, not 15");
        assert_eq!(error("panex", &[("level", "x")]), "level must be a whole number, not 'x'");
        assert_eq!(error("panex", &[]), "panex takes level: strata solve panex LEVEL");
        assert_eq!(
            error("panex", &[("level", "5"), ("symmetry", "maybe")]),
            "symmetry must be 'on' or 'off', not 'maybe'"
        );
        assert_eq!(
            error("chess", &[]),
            "unknown space 'chess' (known: panex, hanoi, tiles, puzzle, pancake, burnt-pancake, topspin, \
             lrx, lx)"
        );
        assert_eq!(
            error("hanoi", &[("discs", "5"), ("k", "3")]),
            "hanoi has no parameter 'k' (it has: discs, pegs, exhaust)"
        );
        let two = ["4".to_string(), "5".to_string()];
        let error = shipped.parameters("panex", &two, &[]).unwrap_err();
        assert_eq!(error.to_string(), "panex takes level (2 given): strata solve panex LEVEL");
    }

    #[test]
    fn positions_have_the_drawings_of_their_puzzle() {
        let draw = |name: &str, pairs: &[(&str, &str)], position: &str| {
            let space = Registry::shipped().open(name, &given(pairs)).unwrap();
            space.drawing(position, DrawingTheme::Dark)
        };
        let board = draw("tiles", &[("size", "2x2")], "1 2 / 3 _").unwrap();
        assert_eq!(board.matches("<rect").count(), 3);
        assert_eq!(draw("pancake", &[("n", "4")], "1 2 3 4"), None);
    }

    #[test]
    fn labels_have_name_and_size() {
        let label = |name: &str, pairs: &[(&str, &str)]| {
            let space = Registry::shipped().open(name, &given(pairs)).unwrap();
            (space.label(), space.distance_name())
        };
        assert_eq!(label("panex", &[("level", "6")]), ("panex-6".into(), "X(6)".into()));
        assert_eq!(label("tiles", &[("size", "2x3")]).0, "tiles-2x3");
        assert_eq!(
            label("hanoi", &[("discs", "5")]),
            ("hanoi-5-3".into(), "H(5 discs, 3 pegs)".into())
        );
    }
}
