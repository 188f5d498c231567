//! The paper's tower transfers T, T-bar and sinks S, S-bar, all of least length.

use strata_replay::Move::{CL, CR, LC, LR, RC, RL};

use super::formula::Operation;
use super::sides::{L, four, moves};

pub(super) fn t(n: u8) -> Operation {
    match n {
        1 => moves(&[LC]),
        2 => moves(&[LR, LC, RC]),
        3 => moves(&[LR, LC, LC, RL, CR, CL, RC, LC, LC]),
        _ => L.t_bar(n - 1) + L.s_bar(n - 1) + four() + L.t(n - 2),
    }
}

pub(super) fn t_bar(n: u8) -> Operation {
    match n {
        1 => moves(&[LR]),
        2 => moves(&[LR, LC]),
        3 => moves(&[LR, LC, LC, RL, CR, CL, RC, LC, LR]),
        _ => L.t_bar(n - 1) + L.s_bar(n - 1) + four() + L.t_bar(n - 2),
    }
}

pub(super) fn s(n: u8) -> Operation {
    match n {
        2 => moves(&[CR, LC, RL]),
        3 => moves(&[LR, CL, CL, RC, LR, LC, RL, CL]),
        _ => L.s(n - 1) + four() + L.s_bar(n - 1).inverse() + L.t_bar(n - 2).inverse(),
    }
}

pub(super) fn s_bar(n: u8) -> Operation {
    match n {
        2 => moves(&[LC, RL]),
        3 => moves(&[LC, RL, CL, CR, LC, LC, RL, CL]),
        _ => L.s_bar(n - 1) + four() + L.s_bar(n - 1).inverse() + L.t_bar(n - 2).inverse(),
    }
}

pub(super) fn four_word() -> Operation {
    moves(&[CL, CR, LC, RC])
}
