//! Baxter's simplified algorithm with Zigzag, and its improved version.
//!
//! Baxter's recursions of T and S begin at n = 4. His table fits Zigzags that begin with the single
//! move `LR` and a second one of 7 moves. (Through the centre the first one would be two moves,
//! past a tile on the centre's top layer.)

use strata_replay::Move::{CR, LR, RL};

use super::formula::Operation;
use super::sides::{L, R, Side, four, moves};
use super::task::{Kind, Task};

impl Side {
    fn simple_t(self, n: u8) -> Operation {
        self.task(Kind::BaxterT, n)
    }

    fn simple_s(self, n: u8) -> Operation {
        self.task(Kind::BaxterS, n)
    }
}

pub(super) fn t(n: u8) -> Operation {
    match n {
        1..=3 => L.t(n),
        _ => L.simple_t(n - 1) + L.simple_s(n - 1) + four() + L.simple_t(n - 2),
    }
}

/// Baxter's table has S(1) = 1: tile 1 alone moves.
pub(super) fn s(n: u8) -> Operation {
    match n {
        1 => L.t(1),
        2 | 3 => L.s(n),
        _ => L.simple_s(n - 1) + four() + L.simple_s(n - 1).inverse() + L.simple_t(n - 2).inverse(),
    }
}

/// Zigzag without its last term, L T_(n-1).
fn z_begin(n: u8) -> Operation {
    match n {
        1 => moves(&[LR]),
        2 => L.simple_s(2) + moves(&[RL, CR, LR]),
        _ => L.simple_s(n) + R.simple_s(n).inverse() + R.simple_t(n - 1).inverse(),
    }
}

pub(super) fn z(n: u8) -> Operation {
    match n {
        1 => z_begin(1),
        _ => z_begin(n) + L.simple_t(n - 1),
    }
}

pub(super) fn u(n: u8) -> Operation {
    let zigzags = (1..=n - 2).map(|i| Task::of(Kind::BaxterZ, i).into());
    R.simple_t(n - 1)
        + R.simple_s(n)
        + L.simple_t(n - 1)
        + L.simple_s(n)
        + R.simple_s(n).inverse()
        + Operation::sequence(zigzags)
        + z_begin(n - 1)
        + four()
        + L.simple_s(n - 1).inverse()
        + L.simple_t(n - 1).inverse()
}

/// The improved Zigzag without its last term, L T_(n-1). Where tile 1 would pass through the
/// opposite corner, the bar versions leave it there.
fn z_improved_begin(n: u8) -> Operation {
    match n {
        1 => moves(&[LR]),
        _ => L.s(n) + R.s_bar(n).inverse() + R.t_bar(n - 1).inverse(),
    }
}

pub(super) fn z_improved(n: u8) -> Operation {
    match n {
        1 => z_improved_begin(1),
        _ => z_improved_begin(n) + L.t(n - 1),
    }
}

pub(super) fn u_improved(n: u8) -> Operation {
    let zigzags = (1..=n - 2).map(|i| Task::of(Kind::BaxterZImproved, i).into());
    R.t_bar(n - 1)
        + R.s_bar(n)
        + L.t_bar(n - 1)
        + L.s_bar(n)
        + R.s(n).inverse()
        + Operation::sequence(zigzags)
        + z_improved_begin(n - 1)
        + four()
        + L.s_bar(n - 1).inverse()
        + L.t_bar(n - 1).inverse()
}
