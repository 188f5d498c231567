//! Towers of Hanoi by name and parameters.

use std::sync::Arc;

use strata_space::dense::{DenseSize, DenseSpace};
use strata_space::{
    Curve, DrawingTheme, KeySpace, Keyed, NestedSize, Parameter, Parameters, Puzzle, SearchSize,
    SpaceError,
};

use super::dense::DenseHanoi;
use super::drawing;
use super::nested::NestedHanoi;
use super::state_space::Hanoi;

impl Puzzle for Hanoi {
    type States = Keyed<Hanoi>;
    type Nested = NestedHanoi;

    const NAME: &'static str = "hanoi";

    const SUMMARY: &'static str =
        "Towers of Hanoi: move DISCS discs from the first to the last peg";

    const PARAMETERS: &'static [Parameter] = &[
        Parameter::positional("discs", "discs, 1 to 21"),
        Parameter::optional("pegs", "3", "pegs, 3 to 8").number().value_name("P").flag_help("pegs"),
        Parameter::EXHAUST,
    ];

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

    /// The states of a search up to the goal. With three pegs no state is farther from the start than the
    /// goal; with more pegs only few are.
    fn search_size(&self) -> SearchSize {
        let states = u64::from(self.pegs()).checked_pow(self.discs());
        if self.pegs() > 3 {
            let nested = NestedSize { nodes: None, work_by_depth: None };
            return SearchSize { states, nested: Some(nested), ..SearchSize::default() };
        }
        let layers = 1_u32.checked_shl(self.discs()).map(|moves| moves - 1);
        let nested = NestedSize {
            // About two nodes per layer; all layers take equally long.
            nodes: layers.map(|layers| 2 * u64::from(layers)),
            work_by_depth: Some(Curve(&[])),
        };
        SearchSize { layers, states, nested: Some(nested), ..SearchSize::default() }
    }

    /// A move is named by its pegs, from 1: `1-3` takes the top disc of the first peg to the third.
    fn moves_between(&self, path: &[String]) -> Option<Vec<String>> {
        let read = |text: &String| drawing::read(self.discs(), self.pegs() as usize, text);
        let positions: Vec<Vec<Vec<u32>>> = path.iter().map(read).collect::<Option<_>>()?;
        positions.windows(2).map(|pair| move_name(&pair[0], &pair[1])).collect()
    }

    fn position_text(&self, given: &str) -> Result<String, SpaceError> {
        let why = "it has each disc once, and stacks of discs or '-' between slashes";
        let key = self.parse(given).ok_or_else(|| SpaceError::State {
            name: "state".into(),
            expected: format!("{} discs on {} pegs", self.discs(), self.pegs()),
            why: why.into(),
        })?;
        Ok(self.text(key))
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

    fn nested(&self) -> Result<NestedHanoi, SpaceError> {
        NestedHanoi::new(self.clone())
    }
}

/// The name of the move between two positions; None if they are not one move apart. A position is the
/// list of discs of each peg, top first.
fn move_name(before: &[Vec<u32>], after: &[Vec<u32>]) -> Option<String> {
    let changed: Vec<usize> = (0..before.len()).filter(|peg| before[*peg] != after[*peg]).collect();
    let &[a, b] = &*changed else { return None };
    let (from, to) = if before[a].len() > after[a].len() { (a, b) } else { (b, a) };
    let (disc, left) = before[from].split_first()?;
    let (top, under) = after[to].split_first()?;
    let is_move = disc == top && left == after[from] && under == before[to];
    is_move.then(|| format!("{}-{}", from + 1, to + 1))
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
    fn moves_are_named_by_their_pegs() {
        let hanoi = Hanoi::new(3, 3, false).unwrap();
        let named = |path: &[&str]| {
            hanoi.moves_between(&path.iter().map(ToString::to_string).collect::<Vec<_>>())
        };
        let path = ["1 2 3 / - / -", "2 3 / - / 1", "3 / 2 / 1", "3 / 1 2 / -"];
        assert_eq!(named(&path).unwrap(), ["1-3", "1-2", "3-2"]);
        assert_eq!(named(&path[..1]), Some(Vec::new()));
        // Two moves, a disc below another, no move, and no position.
        for wrong in [
            ["1 2 3 / - / -", "3 / 2 / 1"],
            ["1 2 3 / - / -", "1 3 / 2 / -"],
            ["3 / 2 / 1", "3 / 2 / 1"],
            ["3 / 2 / 1", "3 / 2 1 / -"],
        ] {
            assert_eq!(named(&wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn numbers_out_of_range_are_named_as_given() {
        let discs = |discs: &str| [("discs".to_owned(), discs.to_owned())].into();
        let error = Hanoi::open(&discs("300")).unwrap_err();
        assert_eq!(error.to_string(), "discs must be between 1 and 21, not 300");
    }
}
