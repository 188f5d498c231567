//! Queries about single states: membership, selection by rank, enumeration.

use std::ops::ControlFlow;

use strata_space::nested::{NestedSpace, NestedState};

use crate::symbolic::diagram::arena::Diagram;
use crate::symbolic::index::bits::{ConfigId, bits};
use crate::symbolic::node::reference::Ref;

impl<S: NestedSpace> Diagram<S> {
    /// The child of a set at a configuration. It is flipped if the reference is flipped.
    pub(crate) fn child_of(&self, level: u8, set: Ref, config: ConfigId) -> Option<Ref> {
        if set == Ref::EMPTY {
            return None;
        }
        let flipped = set.is_flipped();
        let stored = if flipped { self.index.config(level, config).flip } else { config };
        let list = self.child_list(set.id());
        let is_there = list.configs.contains(stored);
        let child = || self.content.child_at(list, list.configs.rank(stored)).flip_if(flipped);
        is_there.then(child)
    }

    /// Whether a state is a current state of a layer.
    pub(crate) fn contains(&self, top: Ref, state: &NestedState<S::Config>) -> bool {
        let levels = (self.index.leaf_level() + 1..=self.index.top_level()).rev();
        let leaf = levels.zip(&state.configs).try_fold(top, |set, (level, config)| {
            self.child_of(level, set, self.index.find_config(level, *config)?)
        });
        leaf.is_some_and(|leaf| self.leaf(leaf).current >> state.leaf & 1 == 1)
    }

    /// The current state of a layer with the rank `at` in the diagram's order. `at` must be below the
    /// number of current states.
    pub(crate) fn nth(&self, top: Ref, at: u64) -> NestedState<S::Config> {
        let mut state = NestedState { configs: Vec::new(), leaf: 0 };
        let (mut set, mut left) = (top, at);
        for level in (self.index.leaf_level() + 1..=self.index.top_level()).rev() {
            for child in self.children(level, set) {
                let states = self.states(child.set);
                if left < states {
                    state.configs.push(self.index.config(level, child.config).config);
                    set = child.set;
                    break;
                }
                left -= states;
            }
        }
        let leaf = bits(self.leaf(set).current).nth(left as usize);
        state.leaf = leaf.unwrap_or_default() as u8;
        state
    }

    /// Visits the current states of a layer in the diagram's order, until `visit` breaks.
    pub(crate) fn visit<B>(
        &self,
        top: Ref,
        visit: &mut impl FnMut(&NestedState<S::Config>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let mut state = NestedState { configs: Vec::new(), leaf: 0 };
        self.visit_below(self.index.top_level(), top, &mut state, visit)
    }

    fn visit_below<B>(
        &self,
        level: u8,
        set: Ref,
        state: &mut NestedState<S::Config>,
        visit: &mut impl FnMut(&NestedState<S::Config>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        if self.node(set).has_no_states() {
            return ControlFlow::Continue(());
        }
        if level == self.index.leaf_level() {
            for leaf in bits(self.leaf(set).current) {
                state.leaf = leaf as u8;
                visit(state)?;
            }
            return ControlFlow::Continue(());
        }
        for child in self.children(level, set) {
            state.configs.push(self.index.config(level, child.config).config);
            let ended = self.visit_below(level - 1, child.set, state, visit);
            state.configs.pop();
            ended?;
        }
        ControlFlow::Continue(())
    }
}
