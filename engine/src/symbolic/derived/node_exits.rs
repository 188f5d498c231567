//! The helper thread's table of exit sets, by node and move.

use crate::memory::preallocate;
use crate::memory::prefetch;
use crate::symbolic::error::{StepError, check_count};
use crate::symbolic::exits::source::ExitSource;
use crate::symbolic::memory::budget::BudgetShare;
use crate::symbolic::memory::grow::reserve;
use crate::symbolic::node::record::count_moves;
use crate::symbolic::node::reference::Ref;

/// Exit sets of all nodes, by number.
pub(super) struct NodeExits {
    /// For each node, the index in `words` of its exit moves, which its exit sets follow.
    begins: Vec<u32>,
    words: Vec<u32>,
    share: BudgetShare,
}

impl ExitSource for NodeExits {
    #[inline(always)]
    fn exit_moves(&self, id: usize) -> u16 {
        self.words[self.begins[id] as usize] as u16
    }

    #[inline(always)]
    fn exit_set(&self, id: usize, kind: usize) -> u32 {
        let begin = self.begins[id] as usize;
        let before = count_moves(self.words[begin] as u16 & ((1 << kind) - 1));
        self.words[begin + 1 + before]
    }
}

impl NodeExits {
    /// A table with the empty set only.
    pub(super) fn new(share: BudgetShare, prealloc_bytes: usize) -> NodeExits {
        let (mut begins, mut words) = (Vec::new(), Vec::new());
        preallocate(&mut begins, prealloc_bytes / 4);
        preallocate(&mut words, prealloc_bytes / 2);
        begins.push(0);
        // Index 0 is shared by all nodes without exits.
        words.push(0);
        NodeExits { begins, words, share }
    }

    pub(super) fn bytes(&self) -> usize {
        (self.begins.len() + self.words.len()) * size_of::<u32>()
    }

    /// Appends the exits of the next node.
    ///
    /// # Errors
    /// [`StepError::TooMany`] or [`StepError::Memory`].
    #[inline(always)]
    pub(super) fn push(&mut self, moves: u16, exits: &[u32]) -> Result<(), StepError> {
        let words = 1 + exits.len();
        check_count("exits of nodes", self.words.len() + words, u32::MAX as usize)?;
        self.share.grow_to(self.bytes() + (1 + words) * size_of::<u32>())?;
        reserve(&mut self.begins, 1);
        if moves == 0 {
            self.begins.push(0);
            return Ok(());
        }
        reserve(&mut self.words, words);
        self.begins.push(self.words.len() as u32);
        self.words.push(moves.into());
        self.words.extend_from_slice(exits);
        Ok(())
    }

    /// Prefetches the exits of nodes.
    pub(super) fn prefetch(&self, nodes: impl Iterator<Item = Ref> + Clone) {
        for node in nodes.clone() {
            prefetch(&self.begins, node.id());
        }
        for node in nodes {
            if let Some(begin) = self.begins.get(node.id()) {
                prefetch(&self.words, *begin as usize);
            }
        }
    }
}
