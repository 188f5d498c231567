//! Derive.

use strata_space::nested::NestedSpace;

use crate::derived::data::Made;
use crate::derived::executor::Work;
use crate::derived::helper::Answer;
use crate::diagram::arena::{Diagram, Stored};
use crate::error::StepError;
use crate::node::reference::Ref;

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
