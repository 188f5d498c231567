//! Storage of exit sets.

use crate::memory::prefetch;
use crate::symbolic::error::StepError;
use crate::symbolic::index::bits::ConfigSet;
use crate::symbolic::memory::budget::BudgetShare;
use crate::symbolic::memory::grow::reserve;
use crate::symbolic::node::config_sets::ConfigSetTable;
use crate::symbolic::node::content::{Child, ContentStore};
use crate::symbolic::node::reference::Ref;

/// Number of bytes in a unit. Contents begin at multiples of it.
pub(super) const UNIT: usize = 4;

/// Exit sets by number: packed lists, or words of leaf states. The number of a set is its offset in units.
pub(crate) struct ExitSets {
    pub(super) content: ContentStore<UNIT>,
    pub(super) config_sets: ConfigSetTable,
}

/// Exit sets that were appended after a given end.
#[derive(Default)]
pub(crate) struct ExitSetsDelta {
    content: Vec<u8>,
    config_sets: Vec<ConfigSet>,
}

/// End of the exit sets at one time.
#[derive(Copy, Clone)]
pub(crate) struct ExitSetsEnd {
    unit: usize,
    config_set: usize,
}

impl ExitSets {
    /// An empty storage, with `prealloc_bytes` bytes preallocated.
    pub(crate) fn new(prealloc_bytes: usize) -> ExitSets {
        ExitSets {
            content: ContentStore::new(1, prealloc_bytes),
            config_sets: ConfigSetTable::new(),
        }
    }

    /// Memory in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.content.bytes() + self.config_sets.bytes()
    }

    /// The states of a stored leaf set.
    #[inline(always)]
    pub(crate) fn leaf(&self, id: usize) -> u64 {
        self.content.u64_at(id * UNIT)
    }

    /// The children of a stored inner set.
    #[inline(always)]
    pub(crate) fn children(&self, id: usize) -> impl Iterator<Item = Child> {
        self.content.children(self.content.list_at(&self.config_sets, id * UNIT))
    }

    /// Prefetches a set.
    #[inline(always)]
    pub(crate) fn prefetch(&self, set: Ref) {
        prefetch(self.content.bytes_from(set.id() * UNIT), 0);
    }

    /// Copies the sets appended after `end`, and advances `end`.
    pub(crate) fn take_new(&self, end: &mut ExitSetsEnd) -> ExitSetsDelta {
        let begin = std::mem::replace(end, self.end());
        let content = begin.unit * UNIT;
        ExitSetsDelta {
            content: self.content.bytes_from(content)[..end.unit * UNIT - content].to_vec(),
            config_sets: self.config_sets.starting_at(begin.config_set).to_vec(),
        }
    }

    /// The current end.
    pub(crate) fn end(&self) -> ExitSetsEnd {
        ExitSetsEnd { unit: self.content.end_unit(), config_set: self.config_sets.len() }
    }

    /// Appends the sets of another thread. The memory share must also hold `others` bytes.
    ///
    /// # Errors
    /// [`StepError::Memory`] or [`StepError::TooMany`].
    pub(crate) fn append(
        &mut self,
        delta: &ExitSetsDelta,
        share: &mut BudgetShare,
        others: usize,
    ) -> Result<(), StepError> {
        share.grow_to(others + self.bytes() + delta.content.len())?;
        for set in &delta.config_sets {
            self.config_sets.number(*set)?;
        }
        reserve(self.content.bytes_mut(), delta.content.len());
        self.content.push(0, &delta.content);
        Ok(())
    }
}
