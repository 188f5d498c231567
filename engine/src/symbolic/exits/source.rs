//! Input of exit derivation: a node, and the exit sets of its children.

use crate::symbolic::index::bits::ConfigSet;

/// Exit sets of stored nodes.
pub(crate) trait ExitSource {
    /// The exit moves of a node, as a bit mask.
    fn exit_moves(&self, id: usize) -> u16;

    /// The exit set of a node for one of its exit moves, as a word.
    fn exit_set(&self, id: usize, kind: usize) -> u32;
}

/// An inner node whose exit sets are to be derived.
#[derive(Copy, Clone)]
pub(crate) struct InnerNode<'a> {
    pub(crate) level: u8,
    pub(crate) moves: u16,
    pub(crate) configs: ConfigSet,
    pub(crate) children: &'a [u32],
}
