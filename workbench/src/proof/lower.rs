//! The lower bound: tables with one kept bit and prices for the others, in closed form.
//!
//! A table of level N has 2^N columns, one for each swap vector. Here only the bit of level N is
//! kept; for each lower level i whose tiles are exchanged, the price c_i is subtracted. The swap
//! vector of a chain of segments is the XOR of their swap vectors, so it has at most as many bits
//! as these together. Hence the priced cost of a chain is at least the sum of the priced costs of
//! its segments.

use super::error::ProofError;
use super::form::Form;
use super::ladder::{Costs, HIGHEST, Ladder, UNREACHED};
use super::prices::{self, price};
use crate::choke::classes::Structure;

/// The level of the tables from which the induction starts.
pub(super) const START: u32 = 4;

/// Closed forms of all quantities of the induction.
pub(super) struct LowerBound {
    /// Form of the prices from level 4 on.
    pub(super) price: Form,
    pub(super) classes: Vec<ClassForms>,
    /// Forms of the distances, by node of the whole puzzle and by the bits of levels N + 1 and N.
    pub(super) top: Vec<[Form; 4]>,
}

/// The closed forms of a class.
pub(super) struct ClassForms {
    /// Forms of the table entries, by row and by the bit of level N.
    pub(super) rows: Vec<[Form; 2]>,
    /// Forms of the distances, by node and by the bits of levels N + 1 and N.
    pub(super) nodes: Vec<[Form; 4]>,
}

impl LowerBound {
    /// Computes tables up to level [`HIGHEST`] and fits forms to them.
    ///
    /// # Errors
    /// If a sequence has no closed form.
    pub(super) fn find(structure: &Structure) -> Result<Self, ProofError> {
        let ladder = Ladder::climb(structure, keep_top_bit)?;
        let classes = structure.classes.iter().enumerate().map(|(id, class)| {
            let row =
                |row: usize| fit("table entries", START, |n, bit| ladder.rows(n, id)[row][bit]);
            let node = |node: usize| {
                fit("distances", START + 1, |n, bits| ladder.nodes(n, id)[node][bits])
            };
            Ok(ClassForms {
                rows: (0..class.row_nodes.len()).map(row).collect::<Result<_, _>>()?,
                nodes: (0..class.nodes.len()).map(node).collect::<Result<_, _>>()?,
            })
        });
        let top =
            |node: usize| fit("top distances", START + 1, |n, bits| ladder.top(n)[node][bits]);
        Ok(Self {
            price: prices::form()?,
            classes: classes.collect::<Result<_, _>>()?,
            top: (0..structure.top.len()).map(top).collect::<Result<_, _>>()?,
        })
    }
}

/// Costs by the bit of level N, from costs by the bits of levels N and N - 1: the lesser of the two, after
/// the price is subtracted from that with the tiles of level N - 1 exchanged.
fn keep_top_bit(level: u32, costs: &[i64]) -> Result<Costs, ProofError> {
    let price = price(level - 1)?;
    let lesser = |pair: &[i64]| match *pair {
        [kept, UNREACHED] => kept,
        [kept, exchanged] => kept.min(exchanged - price),
        _ => UNREACHED,
    };
    Ok(costs.chunks(2).map(lesser).collect())
}

/// The forms of sequences that start at level `first`, by the kept bits.
fn fit<const N: usize>(
    what: &'static str,
    first: u32,
    value: impl Fn(u32, usize) -> i64,
) -> Result<[Form; N], ProofError> {
    let mut forms = [Form { pell: [0; 2], slope: 0, constant: 0, parity: 0 }; N];
    for (bits, form) in forms.iter_mut().enumerate() {
        let values: Vec<i64> = (first..=HIGHEST).map(|n| value(n, bits)).collect();
        *form = Form::fit(first, &values).ok_or_else(|| {
            let values = values[..5].to_vec();
            ProofError::NoForm { what, level: first, values }
        })?;
    }
    Ok(forms)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formulas::Quantity;

    /// The node of the whole puzzle's start and goal, and the swaps of the goal.
    const GOAL: (usize, usize) = (0, 0b11);

    fn prices_up_to(level: u32) -> i64 {
        (1..=level).map(|i| price(i).unwrap()).sum()
    }

    #[test]
    fn bounds_from_tables_equal_the_upper_bound() {
        let ladder = Ladder::climb(Structure::shared(), keep_top_bit).unwrap();
        let bound = |n| ladder.top(n)[GOAL.0][GOAL.1] + prices_up_to(n - 2);
        assert_eq!([bound(3), bound(4)], [42, 127]);
        for n in 5..=HIGHEST {
            assert_eq!(Ok(bound(n) as u128), Quantity::U.formula(n), "X({n})");
        }
    }

    #[test]
    fn forms_give_the_same_bounds_as_tables() {
        let lower = LowerBound::find(Structure::shared()).unwrap();
        let goal = lower.top[GOAL.0][GOAL.1];
        for n in START + 1..=HIGHEST {
            let bound = goal.eighths(n).unwrap() / 8 + prices_up_to(n - 2);
            assert_eq!(Ok(bound as u128), Quantity::U.formula(n), "X({n})");
        }
    }

    #[test]
    fn the_kept_bit_is_the_higher_one() {
        assert_eq!(keep_top_bit(4, &[7, 9, 3, UNREACHED]), Ok(vec![4, 3]));
        assert_eq!(keep_top_bit(2, &[UNREACHED, UNREACHED, 6, 5]), Ok(vec![UNREACHED, 5]));
    }

    #[test]
    fn too_high_prices_give_a_negative_cycle() {
        let dear = |_: u32, costs: &[i64]| {
            let lesser = |pair: &[i64]| pair[0].min(pair[1] - 100);
            Ok(costs.chunks(2).map(lesser).collect())
        };
        let found = Ladder::climb(Structure::shared(), dear);
        assert_eq!(found.err(), Some(ProofError::NegativeCycle { level: 3 }));
    }

    #[test]
    fn a_sequence_without_a_form_is_named() {
        let squares = |n: u32, _| i64::from(n * n);
        let found = fit::<2>("squares", 1, squares);
        let (level, values) = (1, vec![1, 4, 9, 16, 25]);
        assert_eq!(found, Err(ProofError::NoForm { what: "squares", level, values }));
    }
}
