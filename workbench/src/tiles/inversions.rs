//! Inversions, and which boards can be solved: theorem 1 of the paper.

use strata_replay::tiles::Board;

/// Figures that decide the solvability of a board by theorem 1.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Solvability {
    /// NI: number of pairs of tiles whose greater tile comes first, row by row.
    pub inversions: usize,
    /// The blank's row, from 1, if the theorem adds it: with an even number of columns.
    pub row: Option<usize>,
    /// Whether the sum must be odd: with an even number of columns and an odd one of rows.
    pub odd: bool,
}

impl Solvability {
    /// Counts a board's inversions.
    ///
    /// A horizontal move of the blank changes no pair; a vertical one moves a tile past P - 1
    /// others. With P odd NI keeps its parity; with P even NI + row does. At the goal NI is 0 and
    /// the row is N.
    pub fn of(board: &Board) -> Solvability {
        let even_columns = board.shape().columns().is_multiple_of(2);
        Solvability {
            inversions: inversions(board.tiles()).iter().sum(),
            row: even_columns.then(|| board.blank_row()),
            odd: even_columns && !board.shape().rows().is_multiple_of(2),
        }
    }

    /// Whether the usual goal can be reached.
    pub fn is_solvable(&self) -> bool {
        (self.inversions + self.row.unwrap_or(0)) % 2 == usize::from(self.odd)
    }
}

/// How many smaller tiles come after each tile, the blank (0) left out and not counted. Section 8 of
/// the paper lists the tiles of two rows around the board instead of row by row.
pub fn inversions(tiles: &[u8]) -> Vec<usize> {
    let tiles: Vec<u8> = tiles.iter().copied().filter(|tile| *tile != 0).collect();
    let after = |at: usize| tiles[at + 1..].iter().filter(|other| **other < tiles[at]).count();
    (0..tiles.len()).map(after).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inversions_match_the_papers_counts() {
        // Figures 2 and 5.
        let board: Board = "6 1 2 4 5 / 7 3 _ 14 9 / 11 12 8 13 10".parse().unwrap();
        let counted = inversions(board.tiles());
        assert_eq!(counted, [5, 0, 0, 1, 1, 1, 0, 6, 1, 2, 2, 0, 1, 0]);
        let solvability = Solvability::of(&board);
        assert_eq!(solvability, Solvability { inversions: 20, row: None, odd: false });
        assert!(solvability.is_solvable());
        // Figures 11 and 12.
        let counted = inversions(&[5, 3, 2, 7, 10, 8, 1, 0, 9, 4]);
        assert_eq!(counted, [4, 2, 1, 2, 4, 2, 0, 1, 0]);
        // Figure 4.
        assert!(!Solvability::of(&"2 1 / 3 _".parse().unwrap()).is_solvable());
    }

    #[test]
    fn each_case_of_theorem_1() {
        for (text, row, odd) in [
            ("1 2 3 / 4 5 6 / 7 _ 8", None, false),
            ("1 _ 2 / 4 5 3", None, false),
            ("1 2 3 4 / 5 _ 6 7", Some(2), false),
            ("1 2 3 4 / 5 6 _ 7 / 9 10 8 11", Some(2), true),
            ("1 2 / 3 _ / 5 4", Some(2), true),
        ] {
            let solvability = Solvability::of(&text.parse().unwrap());
            assert_eq!((solvability.row, solvability.odd), (row, odd), "{text}");
        }
        let solvable = |text: &str| Solvability::of(&text.parse().unwrap()).is_solvable();
        assert!(solvable("1 2 3 / 4 5 6 / 7 _ 8") && !solvable("2 1 3 / 4 5 6 / 7 _ 8"));
        assert!(solvable("1 _ / 3 2") && !solvable("_ 3 / 1 2"));
        assert!(solvable("1 2 / 3 _ / 5 4") && !solvable("1 2 / 4 3 / 5 _"));
    }
}
