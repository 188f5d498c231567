//! Who works out what belongs to a node that has been made: the thread that makes it, or a second.

use strata_space::nested::NestedSpace;

use crate::budget::Share;
use crate::diagram::{Diagram, Stored};
use crate::error::StepError;
use crate::exits::ExitLists;
use crate::finder::{Finder, Made};
use crate::follower::{Answer, Follower};
use crate::refs::Ref;

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

impl<S: NestedSpace> Diagram<S> {
    /// Works out what belongs to the last node, or has it worked out.
    #[inline(always)]
    pub(crate) fn work_out(&mut self, made: Made<'_>) -> Result<(), StepError> {
        let Diagram { levels, nodes, content, exit_lists, work, found, .. } = self;
        match work {
            Work::Here(finder) => {
                let nodes = Stored { nodes, content };
                let mut found = std::mem::take(found);
                found.clear();
                let done = finder.find(&levels.known, exit_lists, &nodes, made, &mut found);
                self.keep_exits(self.nodes.len() - 1, &found);
                self.found = found;
                done
            }
            Work::There(follower) => {
                follower.state()?;
                if follower.tell(made) {
                    follower.hand_over(&levels.known, None);
                    return self.take_answers(false);
                }
                Ok(())
            }
        }
    }

    /// Has everything worked out, of a layer that is complete; its top's detail is noted.
    pub(crate) fn settle(&mut self, top: Ref) -> Result<(), StepError> {
        match &mut self.work {
            Work::Here(finder) => {
                finder.state()?;
                self.detail = finder.detail(top);
                Ok(())
            }
            Work::There(follower) => {
                follower.state()?;
                follower.hand_over(&self.levels.known, Some(top));
                self.take_answers(true)
            }
        }
    }

    /// Takes over the answers that are there, or waits for all of them.
    fn take_answers(&mut self, wait: bool) -> Result<(), StepError> {
        while let Work::There(follower) = &mut self.work
            && let Some(answer) = follower.answer(wait)
        {
            if let Err(error) = self.take_over(&answer) {
                if let Work::There(follower) = &mut self.work {
                    follower.fail(error);
                }
                return Err(error);
            }
        }
        Ok(())
    }

    fn take_over(&mut self, answer: &Answer) -> Result<(), StepError> {
        answer.result?;
        let others = self.own_bytes() - self.exit_lists.bytes();
        self.exit_lists.add(&answer.news, &mut self.share, others)?;
        let mut found = &*answer.found;
        for id in self.unknown..self.unknown + answer.nodes {
            let moves = self.nodes[id].exits().count_ones() as usize;
            let (exits, rest) = found.split_at(moves);
            self.keep_exits(id, exits);
            found = rest;
        }
        self.unknown += answer.nodes;
        self.detail = answer.detail.or(self.detail);
        Ok(())
    }
}
