//! Left and right versions of the operations, for formulas that read like the papers'.

use strata_replay::{Move, Word};

use super::formula::Operation;
use super::task::{Kind, Task};
use super::transform::Transform;

/// Left or right versions of the operations, so that formulas read like the papers'. Levels are not
/// checked: callers keep them within the operations' ranges.
#[derive(Copy, Clone)]
pub(super) struct Side {
    mirror: bool,
}

pub(super) const L: Side = Side { mirror: false };
pub(super) const R: Side = Side { mirror: true };

impl Side {
    pub(super) fn task(self, kind: Kind, n: u8) -> Operation {
        let transform = Transform { mirror: self.mirror, ..Transform::default() };
        Operation::from(Task::of(kind, n)).transformed(transform)
    }

    pub(super) fn t(self, n: u8) -> Operation {
        self.task(Kind::T, n)
    }

    pub(super) fn t_bar(self, n: u8) -> Operation {
        self.task(Kind::TBar, n)
    }

    pub(super) fn s(self, n: u8) -> Operation {
        self.task(Kind::S, n)
    }

    pub(super) fn s_bar(self, n: u8) -> Operation {
        self.task(Kind::SBar, n)
    }
}

/// "4": the two topmost tiles of the centre change places.
pub(super) fn four() -> Operation {
    Task::of(Kind::Four, 0).into()
}

pub(super) fn moves(moves: &[Move]) -> Operation {
    Word::from_iter(moves.iter().copied()).into()
}
