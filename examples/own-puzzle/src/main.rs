//! The pancake puzzle: sort a stack of pancakes by turning over some of the topmost ones.
//!
//! With `--exhaust` a search lists all orders of the stack. The radius is the pancake number: 8 for
//! 7 pancakes, 11 for 10 (OEIS A058986).
#![forbid(unsafe_code)]

use strata::catalogue::{
    KeySpace, Keyed, NoNested, Parameter, ParameterReader, Parameters, Puzzle, Seed, SpaceError,
};

/// A stack of pancakes of different sizes.
///
/// A key has four bits for each pancake, those of the topmost pancake lowest. The pancakes at the bottom
/// move least; they are the region.
struct Pancakes {
    size: u32,
    exhaust: bool,
}

impl Pancakes {
    /// The key of the sorted stack: the smallest pancake, 0, is on top.
    fn sorted(&self) -> u64 {
        (0..u64::from(self.size)).fold(0, |key, pancake| key | pancake << (4 * pancake))
    }

    /// The key after the `count` topmost pancakes are turned over.
    fn flip(key: u64, count: u32) -> u64 {
        let turned = (0..count).fold(0, |turned, at| turned << 4 | key >> (4 * at) & 15);
        key >> (4 * count) << (4 * count) | turned
    }
}

impl KeySpace for Pancakes {
    type Key = u64;
    fn seeds(&self) -> Vec<Seed> {
        vec![Seed::start(self.sorted())]
    }

    fn key_bits(&self) -> u32 {
        4 * self.size
    }

    fn successors(&self, key: u64, out: &mut Vec<u64>) {
        out.extend((2..=self.size).map(|count| Pancakes::flip(key, count)));
    }

    /// The largest pancake on top of the sorted others; none in a search of all stacks.
    fn goal(&self) -> Option<u64> {
        let rest = self.sorted() & ((1 << (4 * (self.size - 1))) - 1);
        (!self.exhaust).then_some(rest << 4 | u64::from(self.size - 1))
    }

    fn text(&self, key: u64) -> String {
        let pancakes = (0..self.size).map(|at| (1 + (key >> (4 * at) & 15)).to_string());
        pancakes.collect::<Vec<_>>().join("-")
    }
}

impl Puzzle for Pancakes {
    type States = Keyed<Pancakes>;
    type Nested = NoNested;

    const NAME: &'static str = "stack";
    const SUMMARY: &'static str = "the pancake puzzle: SIZE pancakes, turned over from the top";
    const PARAMETERS: &'static [Parameter] =
        &[Parameter::positional("size", "pancakes, 2 to 15"), Parameter::EXHAUST];

    fn open(parameters: &Parameters) -> Result<Pancakes, SpaceError> {
        let read: ParameterReader<'_> = Pancakes::reader(parameters);
        let size = read.number("size")?.unwrap_or_default();
        SpaceError::check("size", size, 2, 15)?;
        Ok(Pancakes { size, exhaust: read.switch("exhaust")? })
    }

    fn parameters(&self) -> Parameters {
        let pairs = [("size", self.size.to_string()), ("exhaust", self.exhaust.to_string())];
        pairs.map(|(name, value)| (name.to_owned(), value)).into()
    }
}

fn main() -> std::process::ExitCode {
    strata_cli::run([strata_cli::Entry::of::<Pancakes>()])
}
