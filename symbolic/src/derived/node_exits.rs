//! Node exits.

use crate::error::{StepError, most};
use crate::exits::source::Leaving;
use crate::memory::budget::Share;
use crate::memory::prefetch::prefetch;
use crate::memory::reserve::{promise, reserve};
use crate::node::record::moves_in;
use crate::node::reference::Ref;

/// Exits of nodes, by number.
pub(super) struct Kept {
    /// Where a node's words begin: its moves, and sets of exits by move.
    begins: Vec<u32>,
    words: Vec<u32>,
    share: Share,
}

impl Leaving for Kept {
    #[inline(always)]
    fn moves(&self, id: usize) -> u16 {
        self.words[self.begins[id] as usize] as u16
    }

    #[inline(always)]
    fn exits(&self, id: usize, mv: usize) -> u32 {
        let begin = self.begins[id] as usize;
        let before = moves_in(self.words[begin] as u16 & ((1 << mv) - 1));
        self.words[begin + 1 + before]
    }
}

impl Kept {
    /// Of the empty set.
    pub(super) fn new(share: Share, promised: usize) -> Kept {
        let (mut begins, mut words) = (Vec::new(), Vec::new());
        promise(&mut begins, promised / 4);
        promise(&mut words, promised / 2);
        begins.push(0);
        // It has no moves, nor have others.
        words.push(0);
        Kept { begins, words, share }
    }

    pub(super) fn bytes(&self) -> usize {
        (self.begins.len() + self.words.len()) * size_of::<u32>()
    }

    /// Keeps the exits of the next node.
    #[inline(always)]
    pub(super) fn add(&mut self, moves: u16, exits: &[u32]) -> Result<(), StepError> {
        let words = 1 + exits.len();
        most("exits of nodes", self.words.len() + words, u32::MAX as usize)?;
        self.share.allow(self.bytes() + (1 + words) * size_of::<u32>())?;
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

    /// Asks for what is kept of some nodes, ahead of its use.
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
