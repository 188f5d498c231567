//! What is worked out of a node when it is made, and is no part of its content: exits and details.

use crate::derived::stats::{Detail, Details};
use crate::error::StepError;
use crate::exits::intern::Exits;
use crate::exits::sets::ExitLists;
use crate::exits::source::{Inner, Leaving};
use crate::index::shared::Known;
use crate::memory::budget::Share;
use crate::node::reference::Ref;

/// A node that has just been made.
#[derive(Copy, Clone)]
pub(crate) enum Made<'a> {
    Inner(Inner<'a>),
    /// Its moves, the leaf states after each, and its detail.
    Leaf(u16, &'a [u64], Detail),
}

/// See the module. Nodes come in the order of their numbers, from 1 on.
pub(crate) struct Finder {
    exits: Exits,
    /// None if they are not wanted.
    details: Option<Details>,
    /// Why not all was found: from then on nothing is.
    failed: Option<StepError>,
}

impl Finder {
    /// A finder that takes parts of a share's budget. More than what is promised it never takes for
    /// anything.
    pub(crate) fn new(share: &Share, with_details: bool, promised: usize) -> Finder {
        let details = || Details::new(share.another(), promised);
        Finder {
            exits: Exits::new(share.another(), promised / 4),
            details: with_details.then(details),
            failed: None,
        }
    }

    /// Bytes of memory, without the lists of exits.
    pub(crate) fn bytes(&self) -> usize {
        self.exits.bytes() + self.details.as_ref().map_or(0, Details::bytes)
    }

    /// How many sets of exits there are.
    pub(crate) fn sets(&self) -> usize {
        self.exits.len()
    }

    /// The detail of a node, if they are wanted.
    pub(crate) fn detail(&self, set: Ref) -> Option<Detail> {
        Some(self.details.as_ref()?.of(set))
    }

    /// Asks for the detail of a node, ahead of its use.
    #[inline(always)]
    pub(crate) fn prefetch(&self, set: Ref) {
        if let Some(details) = &self.details {
            details.prefetch(set);
        }
    }

    /// Whether all was found so far.
    pub(crate) fn state(&self) -> Result<(), StepError> {
        self.failed.map_or(Ok(()), Err)
    }

    /// Works out what belongs to the next node. Its sets of exits are added to `found`, by move.
    #[inline(always)]
    pub(crate) fn find<C>(
        &mut self,
        known: &Known<C>,
        lists: &mut ExitLists,
        nodes: &impl Leaving,
        made: Made<'_>,
        found: &mut Vec<u32>,
    ) -> Result<(), StepError> {
        self.state()?;
        let result = match made {
            Made::Inner(inner) => self.find_inner(known, lists, nodes, inner, found),
            Made::Leaf(_, left, detail) => self.find_leaf(known, lists, left, detail, found),
        };
        self.failed = result.err();
        result
    }

    fn find_inner<C>(
        &mut self,
        known: &Known<C>,
        lists: &mut ExitLists,
        nodes: &impl Leaving,
        inner: Inner<'_>,
        found: &mut Vec<u32>,
    ) -> Result<(), StepError> {
        if let Some(details) = &mut self.details {
            details.sum_up(known, inner.level, inner.configs, inner.below)?;
        }
        if inner.moves == 0 {
            return Ok(());
        }
        self.exits.find(known, lists, nodes, inner, found)
    }

    fn find_leaf<C>(
        &mut self,
        known: &Known<C>,
        lists: &mut ExitLists,
        left: &[u64],
        detail: Detail,
        found: &mut Vec<u32>,
    ) -> Result<(), StepError> {
        if let Some(details) = &mut self.details {
            details.add(detail)?;
        }
        for set in left {
            found.push(self.exits.intern_leaf(known, lists, *set)?.word());
        }
        Ok(())
    }
}
