//! Extras of single shipped puzzles: independent replay of moves, and other forms of positions.
//!
//! Besides the commands of single puzzles, this is the only part of the command line that depends
//! on a puzzle.

mod extras;
pub(crate) mod gold;
mod panex;
mod tiles;

use strata_puzzles::panex::Panex;
use strata_puzzles::tiles::Tiles;
use strata_run::catalogue::{Entry, Registry};

pub(crate) use self::extras::{Extras, OtherForm, Refused, Replay};
use crate::program;

static EXTRAS: [Extras; 2] = [
    Extras {
        is_of: Entry::is_of::<Panex>,
        replay: panex::replay,
        other_form: Some(OtherForm {
            flag: "gold",
            variable: "STRATA_GOLD",
            help: "panex: --start and --goal are positions of Panex Gold, as 'b b / - / o o'; moves \
                   and positions are shown without levels",
            read: panex::read_gold,
            show: panex::show_gold,
        }),
    },
    Extras { is_of: Entry::is_of::<Tiles>, replay: tiles::replay, other_form: None },
];

/// The extras of a puzzle of the program.
pub(crate) fn of(puzzle: &str) -> Option<&'static Extras> {
    in_registry(program::puzzles(), puzzle)
}

fn in_registry(puzzles: &Registry, name: &str) -> Option<&'static Extras> {
    let entry = puzzles.find(name).ok()?;
    EXTRAS.iter().find(|extras| (extras.is_of)(entry))
}

/// The puzzles of the program whose positions have another form.
pub(crate) fn other_forms() -> Vec<(&'static str, &'static OtherForm)> {
    forms_in(program::puzzles())
}

fn forms_in(puzzles: &Registry) -> Vec<(&'static str, &'static OtherForm)> {
    let form = |entry: &Entry| {
        let form = in_registry(puzzles, entry.name)?.other_form.as_ref()?;
        Some((entry.name, form))
    };
    puzzles.entries().iter().filter_map(form).collect()
}

#[cfg(test)]
mod tests {
    use strata_run::catalogue::{
        KeySpace, Keyed, NoNested, Parameter, Parameters, Puzzle, Seed, SpaceError,
    };

    use super::*;

    /// A puzzle with the name of a shipped one.
    struct Other;

    impl KeySpace for Other {
        type Key = u64;
        fn seeds(&self) -> Vec<Seed> {
            vec![Seed::start(0)]
        }
        fn key_bits(&self) -> u32 {
            1
        }
        fn successors(&self, _: u64, _: &mut Vec<u64>) {}
        fn text(&self, key: u64) -> String {
            key.to_string()
        }
    }

    impl Puzzle for Other {
        type States = Keyed<Other>;
        type Nested = NoNested;

        const NAME: &'static str = "panex";
        const SUMMARY: &'static str = "another puzzle";
        const PARAMETERS: &'static [Parameter] = &[];

        fn open(_: &Parameters) -> Result<Other, SpaceError> {
            Ok(Other)
        }

        fn parameters(&self) -> Parameters {
            Parameters::new()
        }
    }

    #[test]
    fn shipped_puzzles_have_their_extras() {
        let shipped = Registry::shipped();
        assert_eq!(forms_in(&shipped).len(), 1);
        for (name, replays) in [("panex", true), ("hanoi", false), ("tiles", true)] {
            assert_eq!(in_registry(&shipped, name).is_some(), replays, "{name}");
        }
    }

    #[test]
    fn a_puzzle_that_replaces_a_shipped_one_has_no_extras() {
        for puzzles in [
            Registry::shipped().with([Entry::of::<Other>()]),
            Registry::new([Entry::of::<Other>()]),
        ] {
            assert!(in_registry(&puzzles, "panex").is_none());
            assert!(forms_in(&puzzles).is_empty());
        }
    }
}
