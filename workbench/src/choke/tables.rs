//! Tables of the least moves of the segments of one level, and the step to the next level.

use std::cmp::Reverse;
use std::sync::Mutex;

use super::classes::{BASE, ClassId, Structure};
use super::error::{ChokeError, UNREACHED};
use super::graph::Reach;
use super::run::{Run, for_each};
use super::search::{Lower, Search};

/// The tables of level N: for each class and row 2^N numbers of moves, by swap vector.
pub(super) struct Tables {
    pub(super) level: u8,
    /// By class, and by node of the class's graph: the rows are those of its useful nodes. Empty
    /// for classes that are not needed.
    classes: Vec<Vec<Vec<u32>>>,
    /// The greatest number in a row.
    largest: u32,
}

/// Which distances to keep of a level.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Keep {
    /// The tables' rows.
    Rows,
    /// The distances of all nodes, from which paths can be reconstructed.
    Everything,
}

impl Tables {
    /// The tables of the base level.
    pub(super) fn base(structure: &Structure) -> Self {
        let with_rows = |class: &super::classes::Class| {
            let mut costs = vec![Vec::new(); class.nodes.len()];
            for (&node, row) in class.row_nodes.iter().zip(class.base.iter()) {
                costs[node].clone_from(row);
            }
            costs
        };
        let classes: Vec<_> = structure.classes.iter().map(with_rows).collect();
        let largest = largest(classes.iter().flatten());
        Self { level: BASE, classes, largest }
    }

    /// The next level's tables of the requested classes.
    ///
    /// # Errors
    /// If the run is cancelled or the next level's costs do not fit.
    pub(super) fn next(
        &self,
        structure: &Structure,
        requested: &[ClassId],
        keep: Keep,
        run: &Run<'_>,
    ) -> Result<Self, ChokeError> {
        let level = self.level + 1;
        let needed = Structure::needed(requested.iter().flat_map(|&c| &structure.classes[c].nodes));
        let lower = self.as_lower(structure, &needed, run);
        let counter = run.counter(level, requested.len());
        // Classes with the most nodes come first, so that no thread starts a long one at the end.
        let mut order = requested.to_vec();
        order.sort_by_key(|&c| Reverse(structure.classes[c].nodes.len()));
        let classes = vec![Vec::new(); structure.classes.len()];
        let results = Mutex::new(Ok((classes, 0)));
        for_each(run.threads, order.into_iter(), |class| {
            let found = self.next_class(structure, class, &lower, keep, run);
            let Ok(mut results) = results.lock() else { return };
            match (found, results.as_mut()) {
                (Ok((costs, most)), Ok((classes, largest))) => {
                    classes[class] = costs;
                    *largest = most.max(*largest);
                    counter.one_more();
                }
                (Err(error), Ok(_)) => *results = Err(error),
                (_, Err(_)) => {}
            }
        });
        let (classes, largest) = results.into_inner().unwrap_or(Err(ChokeError::Cancelled))?;
        Ok(Self { level, classes, largest })
    }

    /// One class's distances at the next level, and the greatest number in its rows.
    fn next_class(
        &self,
        structure: &Structure,
        class: ClassId,
        lower: &Lower<'_>,
        keep: Keep,
        run: &Run<'_>,
    ) -> Result<(Vec<Vec<u32>>, u32), ChokeError> {
        let class = &structure.classes[class];
        let mut search = Search::new(&class.nodes, lower, Reach::Segment);
        while let Some(least) = search.next() {
            run.check()?;
            search.settle(least);
            search.spread(least, 1);
        }
        let mut costs = search.into_costs();
        self.check_sums(largest(&costs))?;
        let most = largest(class.row_nodes.iter().map(|&node| &costs[node]));
        if keep == Keep::Rows {
            for (node, costs) in costs.iter_mut().enumerate() {
                if !class.row_nodes.contains(&node) {
                    *costs = Vec::new();
                }
            }
        }
        Ok((costs, most))
    }

    /// Checks that a distance up to `greatest_distance` plus an entry of these tables is less than
    /// `UNREACHED`.
    pub(super) fn check_sums(&self, greatest_distance: u32) -> Result<(), ChokeError> {
        if greatest_distance + self.largest < UNREACHED {
            Ok(())
        } else {
            Err(ChokeError::CostTooLarge { level: self.level + 1 })
        }
    }

    /// The tables of these classes as the search of the next level reads them.
    pub(super) fn as_lower(
        &self,
        structure: &Structure,
        needed: &[ClassId],
        run: &Run<'_>,
    ) -> Lower<'_> {
        let mut rows = vec![Vec::new(); self.classes.len()];
        for &class in needed {
            let count = structure.classes[class].row_nodes.len();
            rows[class] = (0..count).map(|row| self.row(structure, class, row)).collect();
        }
        Lower::new(u32::from(self.level), &rows, self.largest, run.vectors)
    }

    /// The least moves of a row by swap vector.
    pub(super) fn row(&self, structure: &Structure, class: ClassId, row: usize) -> &[u32] {
        &self.classes[class][structure.classes[class].row_nodes[row]]
    }

    /// The distances of a class's nodes by swap vector, from [`Keep::Everything`].
    pub(super) fn distances(&self, class: ClassId) -> &[Vec<u32>] {
        &self.classes[class]
    }
}

/// The greatest number of moves in some rows, without unreached entries.
pub(super) fn largest<'a>(costs: impl IntoIterator<Item = &'a Vec<u32>>) -> u32 {
    let reached = |costs: &Vec<u32>| costs.iter().copied().filter(|&c| c < UNREACHED).max();
    costs.into_iter().filter_map(reached).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_that_do_not_fit_are_refused() {
        let tables = Tables { level: 21, classes: Vec::new(), largest: UNREACHED - 10 };
        assert_eq!(tables.check_sums(9), Ok(()));
        assert_eq!(tables.check_sums(10), Err(ChokeError::CostTooLarge { level: 22 }));
    }

    #[test]
    fn unreached_entries_are_not_the_largest() {
        assert_eq!(largest(&[vec![UNREACHED, 3], vec![7], vec![]]), 7);
    }
}
