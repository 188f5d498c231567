//! Towers of Hanoi by name and parameters.

use std::sync::Arc;

use strata_space::dense::{DenseSize, DenseSpace};
use strata_space::{
    Curve, DrawingTheme, NestedPuzzle, NestedSize, Parameter, Parameters, Puzzle, SearchSize,
    SpaceError,
};

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

    /// All states are nearer to the start than the goal, or nearly all with more than three pegs.
    fn search_size(&self) -> SearchSize {
        let states = u64::from(self.pegs()).checked_pow(self.discs());
        if self.pegs() > 3 {
            let nested = NestedSize { nodes: None, work_by_depth: None };
            return SearchSize { states, nested: Some(nested), ..SearchSize::default() };
        }
        let layers = 1_u32.checked_shl(self.discs()).map(|moves| moves - 1);
        let nested = NestedSize {
            // Some two for each layer; all layers take as long.
            nodes: layers.map(|layers| 2 * u64::from(layers)),
            work_by_depth: Some(Curve(&[])),
        };
        SearchSize { layers, states, nested: Some(nested), ..SearchSize::default() }
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
    fn the_size_of_a_search_is_known() {
        let size = |discs: &str, pegs: &str| {
            let pairs = [("discs", discs), ("pegs", pegs)];
            let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
            let SearchSize { layers, states, .. } =
                Hanoi::open(&pairs.into()).unwrap().search_size();
            (layers, states)
        };
        assert_eq!(size("16", "3"), (Some(65_535), Some(43_046_721)));
        assert_eq!(size("12", "4"), (None, Some(16_777_216)));
    }

    #[test]
    fn numbers_out_of_range_are_named_as_given() {
        let discs = |discs: &str| [("discs".to_owned(), discs.to_owned())].into();
        let error = Hanoi::open(&discs("300")).unwrap_err();
        assert_eq!(error.to_string(), "discs must be between 1 and 21, not 300");
    }
}
