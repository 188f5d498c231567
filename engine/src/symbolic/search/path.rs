//! Shortest paths, traced back through kept layers.

use std::ops::ControlFlow;

use strata_space::Finish;
use strata_space::nested::{NestedSpace, NestedState, successors};

use crate::symbolic::diagram::meeting::{Meeting, meets};
use crate::symbolic::index::bits::{ConfigId, bits};
use crate::symbolic::node::reference::Ref;
use crate::symbolic::search::typed::Search;

impl<S: NestedSpace> Search<S> {
    /// The states of a shortest path from start to goal, both included. The search must have ended: its last
    /// layer [is the last](crate::symbolic::Layer::is_last). `on_move` is called before each move is traced
    /// back, and can end the trace.
    ///
    /// None if `on_move` breaks, if the search has not reached a goal, or if layers are not kept.
    pub fn shortest_path(
        &self,
        on_move: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Option<Vec<NestedState<S::Config>>> {
        let space = &**self.space();
        match space.finish() {
            Finish::Exhausted => None,
            Finish::State(goal) => self.path_from_start(goal, self.depth(), on_move),
            Finish::Meeting => {
                let (met, less) = self.meeting()?;
                let exchange = |state: &NestedState<S::Config>| NestedState {
                    configs: state.configs.iter().map(|c| space.exchange_config(*c)).collect(),
                    leaf: space.exchange_leaf(state.leaf),
                };
                let exchanged = exchange(&met);
                let mut path = self.path_from_start(met, self.depth(), on_move)?;
                // The search from the goal is the image of the search from the start.
                let rest = self.path_from_start(exchanged, self.depth() - less, on_move)?;
                path.extend(rest.iter().rev().skip(1).map(exchange));
                Some(path)
            }
        }
    }

    /// The states of a shortest path from the start to a state of the layer at `depth`.
    fn path_from_start(
        &self,
        state: NestedState<S::Config>,
        depth: u32,
        on_move: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Option<Vec<NestedState<S::Config>>> {
        let mut path = vec![state];
        for depth in (0..depth).rev() {
            if on_move().is_break() {
                return None;
            }
            let next = successors(&**self.space(), path.last()?);
            path.push(next.into_iter().find(|next| self.contains(depth, next) == Some(true))?);
        }
        path.reverse();
        Some(path)
    }

    /// A state of the last layer whose exchanged image is in the layer before, with 1, or in the last layer,
    /// with 0. The former is preferred, as its path is shorter.
    fn meeting(&self) -> Option<(NestedState<S::Config>, u32)> {
        let diagram = self.diagram();
        let (index, top) = (&diagram.index, self.top());
        let meeting = meets(diagram, index.top_level(), top, top);
        let wanted = |found: Meeting| if meeting.odd { found.odd } else { found.even };
        let mut met = NestedState { configs: Vec::new(), leaf: 0 };
        let (mut a, mut b): (Ref, Ref) = (top, top);
        for level in (index.leaf_level() + 1..=index.top_level()).rev() {
            let image = |config: ConfigId| index.config(level, config).exchange;
            let mut children = diagram.children(level, a).filter_map(|child| {
                Some((child, diagram.child_of(level, b, image(child.config))?))
            });
            let found = children
                .find(|(child, other)| wanted(meets(diagram, level - 1, child.set, *other)));
            let (child, other) = found?;
            met.configs.push(index.config(level, child.config).config);
            (a, b) = (child.set, other);
        }
        let other = diagram.leaf(b);
        let other = if meeting.odd { other.previous } else { other.current };
        let image = |leaf: usize| index.leaves().exchange(1 << leaf);
        met.leaf = bits(diagram.leaf(a).current).find(|leaf| image(*leaf) & other != 0)? as u8;
        Some((met, u32::from(meeting.odd)))
    }
}
