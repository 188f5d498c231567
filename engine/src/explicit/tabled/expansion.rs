//! The result of expanding one region.

use strata_space::{Local, Weight};
use strata_store::List;

/// Number of exits by one exit edge.
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Debug, bytemuck::Pod, bytemuck::Zeroable)]
pub(super) struct ExitCount {
    pub(super) edge: u32,
    pub(super) count: u32,
}

/// Result of expanding a region.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct Expansion<'a> {
    /// The new states of the region.
    pub(super) next: List<'a>,
    /// Number of legal moves of the new states.
    pub(super) generated: u32,
    /// Sums of the local weights of the new states, by side and image.
    pub(super) weight_sums: [[Weight; 2]; 2],
    /// The exit edges in use, ascending, each with its number of exits.
    pub(super) exits: &'a [ExitCount],
    /// The states with exits, grouped by edge in the order of `exits`. A state occurs once for each of its
    /// edges.
    pub(super) exit_locals: &'a [Local],
}
