//! Source.

use crate::index::bits::Configs;

/// What is known of nodes that others are above of: who leaves them.
pub(crate) trait Leaving {
    /// The moves by which something larger may move, a bit each, of a node that is not flipped.
    fn moves(&self, id: usize) -> u16;

    /// The set of exits by one of them, as a word.
    fn exits(&self, id: usize, mv: usize) -> u32;
}

/// A node whose exits are to be found.
#[derive(Copy, Clone)]
pub(crate) struct Inner<'a> {
    pub(crate) level: u8,
    pub(crate) moves: u16,
    pub(crate) configs: Configs,
    pub(crate) below: &'a [u32],
}
