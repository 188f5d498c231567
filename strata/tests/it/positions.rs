//! Tests of the positions that states of a user's space stand for: summed, not counted, or impossible.

use strata::{
    KeySpace, Keyed, NoNested, Parameter, Parameters, Puzzle, Report, Search, Seed, SpaceError,
};

/// Corners of a cube of 12 dimensions, up to the order of the coordinates: a key is the number of
/// coordinates that are 1.
struct FoldedCube {
    counting: String,
}

/// 12 over k.
fn corners(k: u64) -> u64 {
    (0..k).fold(1, |product, i| product * (12 - i) / (i + 1))
}

impl KeySpace for FoldedCube {
    type Key = u64;
    fn seeds(&self) -> Vec<Seed> {
        vec![Seed::start(0)]
    }

    fn key_bits(&self) -> u32 {
        4
    }

    fn successors(&self, key: u64, out: &mut Vec<u64>) {
        out.extend((0..key).map(|_| key - 1).chain((key..12).map(|_| key + 1)));
    }

    fn positions(&self, key: u64) -> Option<u64> {
        match &*self.counting {
            "right" => Some(corners(key)),
            "partial" => (key < 5).then_some(2),
            "one-too-large" => Some(if key == 3 { u64::MAX } else { 1 }),
            "sum-too-large" => Some(u64::MAX / 4),
            _ => None,
        }
    }

    fn text(&self, key: u64) -> String {
        key.to_string()
    }
}

impl Puzzle for FoldedCube {
    type States = Keyed<FoldedCube>;
    type Nested = NoNested;

    const NAME: &'static str = "folded-cube";
    const SUMMARY: &'static str = "corners of a cube, up to the order of coordinates";
    const PARAMETERS: &'static [Parameter] =
        &[Parameter::positional("counting", "how positions are counted")];

    fn open(parameters: &Parameters) -> Result<FoldedCube, SpaceError> {
        Ok(FoldedCube { counting: parameters.get("counting").cloned().unwrap_or_default() })
    }

    fn parameters(&self) -> Parameters {
        [("counting".to_owned(), self.counting.clone())].into()
    }
}

fn run(counting: &str, workers: usize) -> strata_run::Result<Report> {
    Search::new(FoldedCube { counting: counting.to_owned() }).workers(workers).run()
}

#[test]
fn positions_are_summed_if_a_space_counts_them() {
    let counted = run("right", 2).unwrap();
    assert_eq!((counted.states(), counted.positions()), (13, 4096));
    let layers = counted.layers().iter().map(|layer| layer.positions);
    assert!(layers.eq((0..=12).map(corners)));
    let uncounted = run("not", 2).unwrap();
    assert_eq!((uncounted.states(), uncounted.positions()), (13, 0));
    assert_eq!(uncounted.digest(), counted.digest());
}

#[test]
fn impossible_positions_end_a_search() {
    for (counting, why) in [
        ("partial", "1 states stand for 0 positions"),
        ("one-too-large", "positions"),
        ("sum-too-large", "positions"),
    ] {
        let error = run(counting, 1).err().unwrap().to_string();
        assert!(error.contains(why), "{counting}: {error}");
    }
}
