//! Rows and columns of workers.

use std::ops::Range;

/// Number of a worker, from 0.
pub(super) type Worker = u8;

/// Workers in rows of `columns`; the last row may be shorter.
///
/// Exits go along the row of their sender to the *carrier*, the member that is nearest to the receiver's
/// column, and from there to the receiver. A grid of one row is a direct exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Grid {
    pub(super) workers: u8,
    pub(super) columns: u8,
}

impl Grid {
    pub(super) fn all(self) -> Range<Worker> {
        0..self.workers
    }

    pub(super) fn rows(self) -> Range<u8> {
        0..self.workers.div_ceil(self.columns)
    }

    pub(super) fn row_of(self, worker: Worker) -> u8 {
        worker / self.columns
    }

    pub(super) fn members(self, row: u8) -> Range<Worker> {
        let start = row * self.columns;
        start..(start + self.columns).min(self.workers)
    }

    /// The member of `row` that brings messages of the row to a worker: itself in its own row.
    pub(super) fn carrier(self, row: u8, to: Worker) -> Worker {
        let members = self.members(row);
        let length = members.end - members.start;
        if members.contains(&to) { to } else { members.start + to % self.columns % length }
    }

    /// The workers of other rows to which a worker brings its row's messages.
    pub(super) fn carried(self, worker: Worker) -> impl Iterator<Item = Worker> {
        let row = self.row_of(worker);
        self.all().filter(move |to| self.row_of(*to) != row && self.carrier(row, *to) == worker)
    }
}
