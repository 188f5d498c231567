//! Derivation of the data of new nodes, inline or on the helper thread.

use strata_space::nested::NestedSpace;

use crate::symbolic::derived::data::NewNode;
use crate::symbolic::derived::executor::Executor;
use crate::symbolic::derived::helper::BatchResult;
use crate::symbolic::diagram::arena::{Diagram, DiagramExits};
use crate::symbolic::error::StepError;
use crate::symbolic::node::reference::Ref;

impl<S: NestedSpace> Diagram<S> {
    /// Derives the data of the last node, or sends it to the helper thread.
    #[inline(always)]
    pub(crate) fn derive_node(&mut self, node: NewNode<'_>) -> Result<(), StepError> {
        let Diagram { index, nodes, content, exit_sets, executor, exit_scratch, .. } = self;
        match executor {
            Executor::Inline(data) => {
                let nodes = DiagramExits { nodes, content };
                let mut exits = std::mem::take(exit_scratch);
                exits.clear();
                let done = data.derive(&index.shared, exit_sets, &nodes, node, &mut exits);
                self.set_exits(self.nodes.len() - 1, &exits);
                self.exit_scratch = exits;
                done
            }
            Executor::Helper(helper) => {
                helper.check()?;
                if helper.push(node) {
                    helper.flush(&index.shared, None);
                    return self.receive_results(false);
                }
                Ok(())
            }
        }
    }

    /// Completes all derivations of a finished layer, and stores the statistics of its top node.
    pub(crate) fn finish_layer(&mut self, top: Ref) -> Result<(), StepError> {
        match &mut self.executor {
            Executor::Inline(data) => {
                data.check()?;
                self.top_stats = data.stats(top);
                Ok(())
            }
            Executor::Helper(helper) => {
                helper.check()?;
                helper.flush(&self.index.shared, Some(top));
                self.receive_results(true)
            }
        }
    }

    /// Applies the results that have arrived, or with `wait` all pending results.
    fn receive_results(&mut self, wait: bool) -> Result<(), StepError> {
        while let Executor::Helper(helper) = &mut self.executor
            && let Some(result) = helper.receive(wait)
        {
            if let Err(error) = self.apply_result(&result) {
                if let Executor::Helper(helper) = &mut self.executor {
                    helper.set_error(error);
                }
                return Err(error);
            }
        }
        Ok(())
    }

    fn apply_result(&mut self, result: &BatchResult) -> Result<(), StepError> {
        result.status?;
        let others = self.own_bytes() - self.exit_sets.bytes();
        self.exit_sets.append(&result.new_sets, &mut self.share, others)?;
        let mut rest = &*result.exits;
        for id in self.first_underived..self.first_underived + result.nodes {
            let moves = self.nodes[id].exit_moves().count_ones() as usize;
            let (exits, after) = rest.split_at(moves);
            self.set_exits(id, exits);
            rest = after;
        }
        self.first_underived += result.nodes;
        self.top_stats = result.stats.or(self.top_stats);
        Ok(())
    }
}
