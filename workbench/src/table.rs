//! Tables of the papers as data: the number of every cell, and the evidence for it.

use strata_replay::{CentreTop, MAX_LEVEL, ReplayError, replay};

use crate::formulas::{FormulaError, Quantity};
use crate::operations::{Kind, Operation, OperationError, Task};

/// Kind of evidence for a number.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Evidence {
    /// A proof for every n, whose certificate a separate program checks
    /// ([`crate::formulas::X_PROOF`]).
    Proven,
    /// A breadth-first search over positions, with this project's engine, found no shorter path.
    Searched,
    /// A list of this many moves was constructed and replayed. This does not show that it is
    /// shortest.
    Constructed,
    /// A search over choke points, with [`crate::choke`], found no shorter path.
    ChokePoint,
    /// Others found the number by a search and published it.
    Published,
}

impl Evidence {
    /// All kinds.
    pub const ALL: [Evidence; 5] = [
        Evidence::Proven,
        Evidence::Searched,
        Evidence::Constructed,
        Evidence::ChokePoint,
        Evidence::Published,
    ];
}

/// A number of a table.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Cell {
    /// The number of moves.
    pub value: u128,
    known: [bool; Evidence::ALL.len()],
}

impl Cell {
    fn formula(value: u128) -> Cell {
        Cell { value, known: [false; Evidence::ALL.len()] }
    }

    /// How the number is known beyond the formula.
    pub fn evidence(&self) -> impl Iterator<Item = Evidence> {
        Evidence::ALL.into_iter().filter(|evidence| self.has(*evidence))
    }

    fn has(&self, evidence: Evidence) -> bool {
        self.known[evidence as usize]
    }

    /// Whether the formula is the only evidence.
    pub fn is_formula_only(&self) -> bool {
        self.known == [false; Evidence::ALL.len()]
    }
}

/// Error of a table that cannot be made, or a result that cannot be entered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// More rows than levels, or none.
    #[error("a table has 1 to {MAX_LEVEL} rows, not {rows}")]
    Rows {
        /// Requested rows.
        rows: u8,
    },
    /// A cell that the table does not have.
    #[error("the table has no {quantity}({n})")]
    NoCell {
        /// Column.
        quantity: Quantity,
        /// Row.
        n: u8,
    },
    /// A result differs from the number in the table.
    #[error("{quantity}({n}) is {expected}, but {found} was found")]
    Differs {
        /// Column.
        quantity: Quantity,
        /// Row.
        n: u8,
        /// The number in the table.
        expected: u128,
        /// The result.
        found: u128,
    },
    /// A number exceeds 128 bits.
    #[error(transparent)]
    Formula(#[from] FormulaError),
    /// A list of moves cannot be made.
    #[error(transparent)]
    Operation(#[from] OperationError),
    /// A list of moves is wrong.
    #[error("{task}: {error}")]
    Replay {
        /// The operation.
        task: Task,
        /// What went wrong.
        error: ReplayError,
    },
    /// A list of moves leads elsewhere.
    #[error("{task} ends at {end}")]
    Elsewhere {
        /// The operation.
        task: Task,
        /// Where it ends.
        end: String,
    },
}

/// X(1) to X(18), as searches have found them.
pub const X: [u128; 18] = [
    3, 13, 42, 128, 343, 881, 2189, 5359, 13023, 31537, 76245, 184_191, 444_807, 1_074_001,
    2_593_021, 6_260_271, 15_113_807, 36_488_145,
];

/// Highest level to which this project's engine has searched a quantity, with `strata solve` and
/// `strata panex op --search`. The searches begin at the least level and cover S and S-bar in all
/// variations; up to level 9 they cover the right versions as well as the left ones.
pub const SEARCHED: [(Quantity, u8); 5] = [
    (Quantity::T, 10),
    (Quantity::TBar, 10),
    (Quantity::S, 9),
    (Quantity::SBar, 9),
    (Quantity::X, 8),
];

/// Highest level for which X(n) was found with choke points here.
pub const X_CHOKE_POINTS: u8 = 18;

/// Highest level for which X(n) was published: 1 to 6 by the paper's authors and 7 to 9 by David
/// Bagley (2002 and 2004, reported by Baxter), who searched positions, 10 to 13 by Derek Kisman
/// (2010), who searched over choke points.
pub const X_PUBLISHED: u8 = 13;

/// The papers' tables up to some level.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Table {
    rows: Vec<[Option<Cell>; Quantity::ALL.len()]>,
}

impl Table {
    /// The rows 1 to `rows`: the formulas, the known values of X, and what was searched. Where X is
    /// proven it is not marked as searched.
    ///
    /// # Errors
    /// If there is no such row, or a number of it has more than 128 bits.
    pub fn new(rows: u8) -> Result<Table, TableError> {
        if rows == 0 || rows > MAX_LEVEL {
            return Err(TableError::Rows { rows });
        }
        let mut table = Table { rows: vec![[None; Quantity::ALL.len()]; usize::from(rows)] };
        for n in 1..=rows {
            for quantity in Quantity::ALL {
                match quantity.formula(n.into()) {
                    Ok(value) => {
                        *table.cell_mut(quantity, n)? = Some(Cell::formula(value));
                        // X has a formula only where it is proven.
                        if quantity == Quantity::X {
                            table.mark(quantity, n, value, Evidence::Proven)?;
                        }
                    }
                    Err(FormulaError::Undefined { .. } | FormulaError::SearchOnly { .. }) => {}
                    Err(error) => return Err(error.into()),
                }
            }
        }
        for (n, value) in (1..=rows).zip(X) {
            for (upto, evidence) in
                [(X_CHOKE_POINTS, Evidence::ChokePoint), (X_PUBLISHED, Evidence::Published)]
            {
                if n <= upto {
                    table.mark(Quantity::X, n, value, evidence)?;
                }
            }
        }
        for (quantity, upto) in SEARCHED {
            for n in 1..=upto.min(rows) {
                let cell = table.cell(quantity, n);
                if let Some(cell) = cell.filter(|cell| !cell.has(Evidence::Proven)) {
                    table.mark(quantity, n, cell.value, Evidence::Searched)?;
                }
            }
        }
        Ok(table)
    }

    /// Number of rows.
    pub fn rows(&self) -> u8 {
        // `new` made at most MAX_LEVEL of them.
        self.rows.len() as u8
    }

    /// The cell of a quantity; none if the quantity is not defined at n.
    pub fn cell(&self, quantity: Quantity, n: u8) -> Option<Cell> {
        *self.rows.get(usize::from(n).checked_sub(1)?)?.get(quantity as usize)?
    }

    fn cell_mut(&mut self, quantity: Quantity, n: u8) -> Result<&mut Option<Cell>, TableError> {
        let row = usize::from(n).checked_sub(1).and_then(|row| self.rows.get_mut(row));
        Ok(&mut row.ok_or(TableError::NoCell { quantity, n })?[quantity as usize])
    }

    /// Enters the evidence of a result. For X(n) without a formula it may be a new number; for
    /// every other cell it must be the known one.
    ///
    /// # Errors
    /// If the result differs from what is known, or the table has no such cell.
    pub fn mark(
        &mut self,
        quantity: Quantity,
        n: u8,
        found: u128,
        evidence: Evidence,
    ) -> Result<(), TableError> {
        let slot = self.cell_mut(quantity, n)?;
        if quantity == Quantity::X {
            slot.get_or_insert(Cell::formula(found));
        }
        let cell = slot.as_mut().ok_or(TableError::NoCell { quantity, n })?;
        if cell.value != found {
            return Err(TableError::Differs { quantity, n, expected: cell.value, found });
        }
        cell.known[evidence as usize] = true;
        Ok(())
    }

    /// Makes and replays the lists of moves of all quantities that have one, up to a level, and
    /// marks their numbers. The list of X(n) also marks U(n).
    ///
    /// # Errors
    /// If a list does not lead where it should, or has another number of moves than the cell.
    pub fn construct(&mut self, upto: u8) -> Result<(), TableError> {
        for n in 1..=upto.min(self.rows()) {
            for (quantity, kind) in [
                (Quantity::T, Kind::T),
                (Quantity::TBar, Kind::TBar),
                (Quantity::S, Kind::S),
                (Quantity::SBar, Kind::SBar),
                (Quantity::X, Kind::X),
                (Quantity::BaxterT, Kind::BaxterT),
                (Quantity::BaxterS, Kind::BaxterS),
                (Quantity::BaxterU, Kind::BaxterU),
                (Quantity::BaxterUImproved, Kind::BaxterUImproved),
            ] {
                if u32::from(n) < quantity.least() {
                    continue;
                }
                let moves = replayed(Task::new(kind, Some(n))?)?;
                if quantity == Quantity::X && self.cell(Quantity::U, n).is_some() {
                    self.mark(Quantity::U, n, moves, Evidence::Constructed)?;
                }
                self.mark(quantity, n, moves, Evidence::Constructed)?;
            }
        }
        Ok(())
    }
}

/// The number of moves of a task, after a replay that leads to its end.
fn replayed(task: Task) -> Result<u128, TableError> {
    let word = Operation::from(task).word()?;
    let ends = task.ends().map_err(OperationError::from)?;
    let ends = ends.ok_or(OperationError::NoEnds { task })?;
    let end = replay(&ends.start, word.iter(), CentreTop::Forbidden, |_, _| {})
        .map_err(|error| TableError::Replay { task, error })?;
    if end.position() != &ends.goal {
        return Err(TableError::Elsewhere { task, end: end.position().to_string() });
    }
    Ok(end.moves().into())
}

/// An error in the papers, for the column it concerns.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Footnote {
    /// Column.
    pub quantity: Quantity,
    /// What is printed and what is right.
    pub text: &'static str,
}

/// The errors in the papers. The numbers here are the corrected ones.
pub const FOOTNOTES: [Footnote; 7] = [
    Footnote {
        quantity: Quantity::TBar,
        text: "T-bar(n) = 2 T-bar(n-1) + T-bar(n-2) + 3 holds from n = 4 on (n = 3 would give 8); \
               the closed forms of T and T-bar, printed for n >= 3 and n >= 4, hold from n = 2 on.",
    },
    Footnote {
        quantity: Quantity::S,
        text: "Baxter's figure 11-1, which repeats the paper's numbers, prints T-bar(n) for S(n) \
               from n = 4 on; right is T-bar(n) - 1.",
    },
    Footnote {
        quantity: Quantity::U,
        text: "The sum holds from n = 5 on: it gives 42 for n = 3, but 127 for n = 4, where \
               X(4) = 128. C_n moves the tile n, where the paper says \"#i\".",
    },
    Footnote {
        quantity: Quantity::L,
        text: "The sequence that the bound is taken from should end in R T-bar_(n-1)^-1, not \
               R T-bar_(n-1).",
    },
    Footnote {
        quantity: Quantity::BaxterT,
        text: "The recursions of the simplified T and S, printed for n > 2, begin at n = 4, from \
               T = 1, 3, 9 and S = 1, 3, 8.",
    },
    Footnote {
        quantity: Quantity::BaxterU,
        text: "As printed, U has two moves more: Z_1 must be the single move LR (through the \
               centre, it would need the centre's top layer), and Z_2 ends in RL CR LR and T_1, 7 \
               moves in all.",
    },
    Footnote {
        quantity: Quantity::BaxterUImproved,
        text: "U' is not what remains of U without consecutive cancelling moves: it needs the bar \
               versions wherever tile 1 goes on through the opposite corner.",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constructed_cells_are_marked_and_bounds_are_formulas() {
        let mut table = Table::new(10).unwrap();
        table.construct(8).unwrap();
        for n in 1..=10_u8 {
            for quantity in Quantity::ALL {
                let Some(cell) = table.cell(quantity, n) else {
                    assert!(u32::from(n) < quantity.least(), "{quantity}({n})");
                    continue;
                };
                let constructed = cell.evidence().any(|known| known == Evidence::Constructed);
                assert_eq!(constructed, n <= 8 && quantity != Quantity::L, "{quantity}({n})");
            }
        }
        let x: Vec<u128> = (1..=10).map(|n| table.cell(Quantity::X, n).unwrap().value).collect();
        assert_eq!(x, [3, 13, 42, 128, 343, 881, 2189, 5359, 13023, 31537]);
        let known = |n| table.cell(Quantity::X, n).unwrap().evidence().collect::<Vec<_>>();
        use Evidence::{ChokePoint, Constructed, Proven, Published, Searched};
        assert_eq!(known(4), [Searched, Constructed, ChokePoint, Published]);
        assert_eq!(known(8), [Proven, Constructed, ChokePoint, Published]);
        assert_eq!(known(10), [Proven, ChokePoint, Published]);
        assert!(table.cell(Quantity::L, 10).unwrap().is_formula_only());
        assert_eq!((table.cell(Quantity::T, 0), table.cell(Quantity::T, 11)), (None, None));
    }

    #[test]
    fn x_is_proven_from_5_on_and_equals_what_was_searched() {
        let table = Table::new(90).unwrap();
        for n in 1..=90 {
            let x = table.cell(Quantity::X, n).unwrap();
            assert_eq!(x.has(Evidence::Proven), n >= 5, "n = {n}");
            assert_eq!(x.has(Evidence::Searched), n < 5, "n = {n}");
            if n >= 5 {
                assert_eq!(Some(x.value), table.cell(Quantity::U, n).map(|cell| cell.value));
            }
        }
        for (n, searched) in (5..).zip(&X[4..]) {
            assert_eq!(Quantity::X.formula(n), Ok(*searched), "n = {n}");
        }
        let known = |n| table.cell(Quantity::X, n).unwrap().evidence().collect::<Vec<_>>();
        assert_eq!(known(14), [Evidence::Proven, Evidence::ChokePoint]);
        assert_eq!(known(19), [Evidence::Proven]);
        assert_eq!(table.cell(Quantity::X, 19).unwrap().value, 88_090_373);
    }

    #[test]
    fn wrong_results_are_refused() {
        let mut table = Table::new(18).unwrap();
        let searched = Evidence::Searched;
        let error = table.mark(Quantity::T, 7, 346, searched).unwrap_err().to_string();
        assert_eq!(error, "T(7) is 345, but 346 was found");
        let error = table.mark(Quantity::X, 18, 36_488_146, searched).unwrap_err().to_string();
        assert_eq!(error, "X(18) is 36488145, but 36488146 was found");
        let error = table.mark(Quantity::X, 4, 127, searched).unwrap_err().to_string();
        assert_eq!(error, "X(4) is 128, but 127 was found");
        table.mark(Quantity::X, 18, 36_488_145, Evidence::ChokePoint).unwrap();
        assert!(table.mark(Quantity::X, 18, 36_488_144, searched).is_err());
        assert!(table.mark(Quantity::U, 4, 128, searched).is_err());
        assert!(table.mark(Quantity::T, 19, 1, searched).is_err());
        assert_eq!(Table::new(0), Err(TableError::Rows { rows: 0 }));
        assert_eq!(Table::new(100), Err(TableError::Rows { rows: 100 }));
    }
}
