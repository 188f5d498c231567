//! Towers of Hanoi by name and parameters.

use std::sync::Arc;

use strata_space::dense::{DenseSize, DenseSpace};
use strata_space::{DrawingTheme, NestedPuzzle, Parameter, Parameters, Puzzle, SpaceError};

use super::dense::DenseHanoi;
use super::drawing;
use super::nested::NestedHanoi;
use super::state_space::Hanoi;

impl Puzzle for Hanoi {
    const NAME: &'static str = "hanoi";

    const SUMMARY: &'static str =
        "Towers of Hanoi: move DISCS discs from the first to the last peg";

    const PARAMETERS: &'static [Parameter] = &[
        Parameter::positional("discs", "discs, 1 to 21"),
        Parameter::optional("pegs", "3", "pegs, 3 to 8").number().value_name("P").flag_help("pegs"),
        Parameter::EXHAUST,
    ];

    /// A shortest solution is well known without a search.
    const NAMES_MOVES: bool = false;

    fn open(parameters: &Parameters) -> Result<Hanoi, SpaceError> {
        let read = Hanoi::reader(parameters);
        let discs = read.number("discs")?.unwrap_or_default();
        Hanoi::new(discs, read.number("pegs")?.unwrap_or(3), read.switch("exhaust")?)
    }

    fn parameters(&self) -> Parameters {
        let pairs = [
            ("discs", self.discs().to_string()),
            ("pegs", self.pegs().to_string()),
            ("exhaust", self.exhaust().to_string()),
        ];
        pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    fn label(&self) -> String {
        format!("hanoi-{}-{}", self.discs(), self.pegs())
    }

    fn distance_name(&self) -> String {
        format!("H({} discs, {} pegs)", self.discs(), self.pegs())
    }

    fn drawing(&self, position: &str, theme: DrawingTheme) -> Option<String> {
        let discs = self.discs();
        let stacks = drawing::read(discs, self.pegs() as usize, position)?;
        Some(drawing::draw(discs, &stacks, position, theme))
    }

    fn dense_size(&self) -> Result<DenseSize, SpaceError> {
        DenseHanoi::size(self)
    }

    fn dense(&self) -> Result<Arc<dyn DenseSpace>, SpaceError> {
        Ok(Arc::new(DenseHanoi::new(self.clone())?))
    }
}

impl NestedPuzzle for Hanoi {
    type Nested = NestedHanoi;

    fn nested(&self) -> Result<NestedHanoi, SpaceError> {
        NestedHanoi::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_out_of_range_are_named_as_given() {
        let discs = |discs: &str| [("discs".to_owned(), discs.to_owned())].into();
        let error = Hanoi::open(&discs("300")).unwrap_err();
        assert_eq!(error.to_string(), "discs must be between 1 and 21, not 300");
    }
}
