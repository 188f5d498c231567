//! Solutions with drawings, for the web page.

use std::sync::{Arc, Mutex, PoisonError};

use strata_coordinator::dashboard::model::Solution;
use strata_run::catalogue::{Parameters, Space};
use strata_space::DrawingTheme;

use crate::program;

/// Draws positions. The space of the last drawing stays open, because opening it may build tables,
/// and the positions of a solution are drawn in one space.
#[derive(Debug, Default)]
pub(crate) struct Drawings {
    last: Mutex<Option<Opened>>,
}

/// An open space, and the name and parameters by which it was opened.
#[derive(Debug)]
struct Opened {
    name: String,
    parameters: Parameters,
    space: Arc<Space>,
}

impl Drawings {
    /// A solution in a space, with drawings if the space has them. The positions are left out
    /// unless there is one before each move and one after the last.
    pub(crate) fn solution(
        &self,
        name: &str,
        parameters: &Parameters,
        moves: Vec<String>,
        positions: Vec<String>,
    ) -> Solution {
        let is_complete = positions.len() == moves.len() + 1;
        let positions = if is_complete { positions } else { Vec::new() };
        let first = positions.first();
        let drawing = first.and_then(|first| self.draw(name, parameters, first, false));
        Solution { moves, positions, has_drawings: drawing.is_some() }
    }

    /// The drawing of a position as SVG. None if the space cannot be opened or has no drawings.
    pub(crate) fn draw(
        &self,
        name: &str,
        parameters: &Parameters,
        position: &str,
        dark: bool,
    ) -> Option<String> {
        let theme = if dark { DrawingTheme::Dark } else { DrawingTheme::Light };
        self.space(name, parameters)?.drawing(position, theme)
    }

    fn space(&self, name: &str, parameters: &Parameters) -> Option<Arc<Space>> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let is_open = |opened: &&Opened| opened.name == name && opened.parameters == *parameters;
        if let Some(opened) = last.as_ref().filter(is_open) {
            return Some(Arc::clone(&opened.space));
        }
        let space = Arc::new(program::puzzles().open(name, parameters).ok()?);
        let (name, parameters) = (name.to_owned(), parameters.clone());
        *last = Some(Opened { name, parameters, space: Arc::clone(&space) });
        Some(space)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(ToString::to_string).collect()
    }

    fn parameters(name: &str, value: &str) -> Parameters {
        [(name.to_owned(), value.to_owned())].into()
    }

    #[test]
    fn a_solution_has_the_drawings_of_its_puzzle_in_both_themes() {
        let (drawings, tiles) = (Drawings::default(), parameters("size", "2x2"));
        let positions = words(&["1 2 / _ 3", "1 2 / 3 _"]);
        let solution = drawings.solution("tiles", &tiles, words(&["R"]), positions.clone());
        assert_eq!((&solution.positions, solution.has_drawings), (&positions, true));
        let draw = |dark| drawings.draw("tiles", &tiles, &positions[1], dark).unwrap();
        assert!(draw(false).contains("<svg") && draw(false) != draw(true));
        let pancake = parameters("n", "2");
        let solution =
            drawings.solution("pancake", &pancake, words(&["f2"]), words(&["2 1", "1 2"]));
        assert_eq!((solution.positions.len(), solution.has_drawings), (2, false));
    }

    #[test]
    fn the_space_of_the_last_drawing_stays_open() {
        let drawings = Drawings::default();
        let space = |size: &str| drawings.space("tiles", &parameters("size", size)).unwrap();
        let first = space("2x2");
        assert!(Arc::ptr_eq(&first, &space("2x2")));
        assert!(!Arc::ptr_eq(&first, &space("2x3")));
        assert!(!Arc::ptr_eq(&first, &space("2x2")));
    }

    #[test]
    fn positions_are_left_out_unless_they_fit_the_moves_in_number() {
        let solve = |positions: &[&str]| {
            let tiles = parameters("size", "2x2");
            Drawings::default().solution("tiles", &tiles, words(&["R"]), words(positions))
        };
        for positions in [&[][..], &["1 2 / _ 3"]] {
            let moves = words(&["R"]);
            assert_eq!(solve(positions), Solution { moves, ..Solution::default() });
        }
    }
}
