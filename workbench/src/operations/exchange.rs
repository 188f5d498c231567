//! The paper's exchange of the two towers, X_n, in 3, 13, 42, 128 and from level 5 on U(n) moves.
//!
//! The pictures that define Y, Z, W and V are missing from the text of the paper. The words here
//! lead through all positions that it names, and each has the length that the paper gives.

use strata_replay::Move::{self, CL, CR, LC, LR, RC, RL};

use super::formula::Operation;
use super::sides::{L, R, four, moves};
use super::task::{Kind, Task};

/// Common first moves of Y and Y-bar.
const Y_COMMON: [Move; 12] = [RC, LR, CR, CL, RC, RC, LR, LR, LR, CL, CL, RC];

const W: [Move; 13] = [RL, CL, CR, LC, LC, RL, RL, RL, CR, LR, LC, RL, RL];

pub(super) fn y() -> Operation {
    moves(&Y_COMMON) + moves(&[LR, LC, RL])
}

pub(super) fn y_bar() -> Operation {
    moves(&Y_COMMON) + moves(&[LC, LR, CL])
}

pub(super) fn z() -> Operation {
    moves(&[CL, RL, RC, LR, LR, CL, RL, CR, CL, RC, RC, LR, CL, CR, LR])
}

pub(super) fn w() -> Operation {
    moves(&W)
}

fn task(kind: Kind) -> Operation {
    Task::of(kind, 0).into()
}

/// C_n, which brings the tile n from R to L.
pub(super) fn c(n: u8) -> Operation {
    L.t_bar(n - 1).inverse() + R.t_bar(n - 1) + R.s_bar(n) + L.s_bar(n).inverse()
}

/// V_n: L T-bar_(n-1)^-1 and R S-bar_n^-1, where the 18 moves about their border are replaced by 19
/// that exchange the tiles of level 2 as well.
pub(super) fn v(n: u8) -> Operation {
    L.t_bar(n - 1).inverse().without_last(9)
        + (moves(&W) + moves(&[RL, CR, CR, LC, RC, RL]))
        + R.s_bar(n).inverse().without_first(9)
}

pub(super) fn x(n: u8) -> Operation {
    match n {
        1 => moves(&[LC, RL, CR]),
        2 => moves(&[LR, LC, RL, RL, RC, LR, LR, CL, RC, RL, CL, CR, LR]),
        3 => L.t_bar(2) + L.s_bar(3) + R.t_bar(2) + task(Kind::Y) + task(Kind::Z),
        4 => x_4(),
        _ => x_series(n),
    }
}

fn x_4() -> Operation {
    let first = L.t_bar(3) + L.s_bar(3) + four() + R.t_bar(2) + task(Kind::YBar);
    let middle = L.t_bar(2).inverse() + R.t_bar(2) + R.s_bar(4) + L.s_bar(4).inverse();
    let last = task(Kind::W) + R.s(3) + four() + R.s_bar(3).inverse() + R.t_bar(3).inverse();
    first + middle + last
}

/// The paper's four series, for n >= 5.
fn x_series(n: u8) -> Operation {
    let first = L.t_bar(n - 1)
        + L.s_bar(n - 1)
        + four()
        + R.t_bar(n - 2)
        + R.s_bar(n - 1)
        + L.s_bar(n - 1).inverse();
    let second = Operation::sequence((4..=n - 2).rev().map(|i| Task::of(Kind::C, i).into()));
    let third = L.t_bar(2).inverse()
        + R.t_bar(2)
        + task(Kind::YBar)
        + L.t_bar(2).inverse()
        + R.t_bar(2)
        + R.s_bar(n);
    let fourth = L.s_bar(n).inverse() + Task::of(Kind::V, n).into() + R.t_bar(n - 1).inverse();
    first + second + third + fourth
}
