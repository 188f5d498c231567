//! Who works out what belongs to a node that has been made: the thread that makes it, or a second.

use crate::derived::data::Finder;
use crate::derived::helper::Follower;
use crate::exits::sets::ExitLists;
use crate::memory::budget::Share;
use crate::node::reference::Ref;

/// See the module.
pub(crate) enum Work<C> {
    Here(Box<Finder>),
    There(Follower<C>),
}

impl<C: Copy + Send + Sync + 'static> Work<C> {
    /// With so many threads, a part of a share's budget and a promise of so many bytes.
    pub(crate) fn new(
        threads: usize,
        share: &Share,
        with_details: bool,
        promised: usize,
    ) -> Work<C> {
        let second = || Follower::start(share, with_details, promised);
        match (threads > 1).then(second).flatten() {
            Some(follower) => Work::There(follower),
            None => Work::Here(Box::new(Finder::new(share, with_details, promised))),
        }
    }

    /// Bytes of memory, with the lists if there is no copy of them.
    pub(crate) fn bytes(&self, lists: &ExitLists) -> usize {
        match self {
            Work::Here(finder) => finder.bytes() + lists.bytes(),
            Work::There(follower) => follower.bytes,
        }
    }

    /// Bytes of lists that are a copy of a second thread's.
    pub(crate) fn copy_bytes(&self, lists: &ExitLists) -> usize {
        match self {
            Work::Here(_) => 0,
            Work::There(_) => lists.bytes(),
        }
    }

    /// How many sets of exits there are.
    pub(crate) fn sets(&self) -> usize {
        match self {
            Work::Here(finder) => finder.sets(),
            Work::There(follower) => follower.sets,
        }
    }

    /// Asks for what working out will need of a node, ahead of its use.
    #[inline(always)]
    pub(crate) fn prefetch(&self, set: Ref) {
        if let Work::Here(finder) = self {
            finder.prefetch(set);
        }
    }
}
