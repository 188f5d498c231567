//! Exit sets.

use crate::error::StepError;
use crate::index::bits::Configs;
use crate::memory::budget::Share;
use crate::memory::prefetch::prefetch;
use crate::memory::reserve::reserve;
use crate::node::config_sets::ConfigSets;
use crate::node::content::{Entry, Store};
use crate::node::reference::Ref;

/// Sets of exits begin at multiples of so many bytes.
pub(super) const UNIT: usize = 4;

/// Sets of exits: lists; of the leaf the states. A set's number is where it begins, in units.
pub(crate) struct ExitLists {
    pub(super) content: Store<UNIT>,
    pub(super) config_sets: ConfigSets,
}

/// What one [`ExitLists`] has beyond another.
#[derive(Default)]
pub(crate) struct NewExits {
    content: Vec<u8>,
    config_sets: Vec<Configs>,
}

impl ExitLists {
    /// None, with a promise of so many bytes.
    pub(crate) fn new(promised: usize) -> ExitLists {
        ExitLists { content: Store::new(1, promised), config_sets: ConfigSets::new() }
    }

    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> usize {
        self.content.bytes() + self.config_sets.bytes()
    }

    /// The states of a set of the leaf, not flipped.
    #[inline(always)]
    pub(crate) fn leaf(&self, id: usize) -> u64 {
        self.content.word(id * UNIT)
    }

    /// The entries of a set above the leaf, not flipped.
    #[inline(always)]
    pub(crate) fn entries(&self, id: usize) -> impl Iterator<Item = Entry> {
        self.content.entries(self.content.list_at(&self.config_sets, id * UNIT))
    }

    /// Asks for a set, ahead of its use.
    #[inline(always)]
    pub(crate) fn prefetch(&self, set: Ref) {
        prefetch(self.content.from(set.id() * UNIT), 0);
    }

    /// Moves on what is new since the last such call, of which this is told: the place after it.
    pub(crate) fn news(&self, place: &mut (usize, usize)) -> NewExits {
        let (content, config_sets) = (place.0 * UNIT, place.1);
        *place = (self.content.end(), self.config_sets.len());
        NewExits {
            content: self.content.from(content)[..place.0 * UNIT - content].to_vec(),
            config_sets: self.config_sets.since(config_sets).to_vec(),
        }
    }

    /// Where [`Self::news`] begin.
    pub(crate) fn place(&self) -> (usize, usize) {
        (self.content.end(), self.config_sets.len())
    }

    /// Adds what others have found, if the share allows it besides so many other bytes.
    pub(crate) fn add(
        &mut self,
        news: &NewExits,
        share: &mut Share,
        others: usize,
    ) -> Result<(), StepError> {
        share.allow(others + self.bytes() + news.content.len())?;
        for set in &news.config_sets {
            self.config_sets.number(*set)?;
        }
        reserve(self.content.list(), news.content.len());
        self.content.push(0, &news.content);
        Ok(())
    }
}
