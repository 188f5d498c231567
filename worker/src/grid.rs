//! Rows and columns of workers.

use std::ops::Range;

/// Workers in rows of `columns`, by their places in the list of an epoch's workers; the last row may be
/// shorter.
///
/// What a worker has for others goes along its row to the *carrier*, the member that is nearest to the
/// receiver's column, and from there to the receiver. So a worker sends a message to each member of its row and
/// of its column instead of one to each worker. A grid of one row is a direct exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grid {
    workers: usize,
    columns: usize,
}

impl Grid {
    /// A grid of at least one worker. Without columns all workers are in one row.
    pub(crate) fn new(workers: usize, columns: usize) -> Grid {
        let columns = if columns == 0 { workers } else { columns.min(workers) };
        Grid { workers, columns: columns.max(1) }
    }

    pub(crate) fn rows(self) -> usize {
        self.workers.div_ceil(self.columns)
    }

    pub(crate) fn row_of(self, worker: usize) -> usize {
        worker / self.columns
    }

    pub(crate) fn members(self, row: usize) -> Range<usize> {
        let start = row * self.columns;
        start..(start + self.columns).min(self.workers)
    }

    /// The member of `row` that brings the row's exits to a worker: the worker itself in its own row.
    pub(crate) fn carrier(self, row: usize, to: usize) -> usize {
        let members = self.members(row);
        if members.contains(&to) { to } else { members.start + to % self.columns % members.len() }
    }

    /// The workers of other rows to which a worker brings its row's exits.
    pub(crate) fn carried(self, worker: usize) -> impl Iterator<Item = usize> {
        let row = self.row_of(worker);
        let others = (0..self.workers).filter(move |to| self.row_of(*to) != row);
        others.filter(move |to| self.carrier(row, *to) == worker)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everyone_is_reached_from_every_row_through_one_carrier() {
        for workers in 1..20 {
            for columns in 0..=workers {
                let grid = Grid::new(workers, columns);
                let rows: Vec<usize> = (0..grid.rows()).flat_map(|row| grid.members(row)).collect();
                assert_eq!(rows, (0..workers).collect::<Vec<_>>());
                for to in 0..workers {
                    for row in 0..grid.rows() {
                        let carrier = grid.carrier(row, to);
                        assert_eq!(grid.row_of(carrier), row);
                        let carries =
                            grid.members(row).filter(|own| grid.carried(*own).any(|t| t == to));
                        let expected = (row != grid.row_of(to)).then_some(carrier);
                        assert_eq!(carries.collect::<Vec<_>>(), Vec::from_iter(expected));
                    }
                }
            }
        }
    }
}
