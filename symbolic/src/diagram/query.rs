//! Single states of a set: whether there, which, and from the beginning.

use std::ops::ControlFlow;

use strata_space::nested::{Nested, NestedSpace};

use crate::diagram::arena::Diagram;
use crate::index::bits::{ConfigId, bits};
use crate::node::reference::Ref;

impl<S: NestedSpace> Diagram<S> {
    /// What hangs below a configuration of a node, flipped if the reference is.
    pub(crate) fn below(&self, level: u8, set: Ref, config: ConfigId) -> Option<Ref> {
        if set == Ref::EMPTY {
            return None;
        }
        let flipped = set.is_flipped();
        let stored = if flipped { self.levels.config(level, config).flip } else { config };
        let list = self.list(set.id());
        let is_there = list.configs.contains(stored);
        let below = || self.content.below(list, list.configs.rank(stored)).flip_if(flipped);
        is_there.then(below)
    }

    /// Whether a state is among the current ones of a layer.
    pub(crate) fn contains(&self, top: Ref, state: &Nested<S::Config>) -> bool {
        let levels = (self.levels.leaf() + 1..=self.levels.top()).rev();
        let leaf = levels.zip(&state.configs).try_fold(top, |set, (level, config)| {
            self.below(level, set, self.levels.known(level, *config)?)
        });
        leaf.is_some_and(|leaf| self.leaf(leaf).current >> state.leaf & 1 == 1)
    }

    /// One of the current states of a layer, by its place in the order of the diagram, which must be
    /// less than their number.
    pub(crate) fn nth(&self, top: Ref, at: u64) -> Nested<S::Config> {
        let mut state = Nested { configs: Vec::new(), leaf: 0 };
        let (mut set, mut left) = (top, at);
        for level in (self.levels.leaf() + 1..=self.levels.top()).rev() {
            for entry in self.entries(level, set) {
                let states = self.states(entry.below);
                if left < states {
                    state.configs.push(self.levels.config(level, entry.config).config);
                    set = entry.below;
                    break;
                }
                left -= states;
            }
        }
        let leaf = bits(self.leaf(set).current).nth(left as usize);
        state.leaf = leaf.unwrap_or_default() as u8;
        state
    }

    /// Shows the current states of a layer, in the order of the diagram, until `visit` breaks off.
    pub(crate) fn visit<B>(
        &self,
        top: Ref,
        visit: &mut impl FnMut(&Nested<S::Config>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let mut state = Nested { configs: Vec::new(), leaf: 0 };
        self.visit_below(self.levels.top(), top, &mut state, visit)
    }

    fn visit_below<B>(
        &self,
        level: u8,
        set: Ref,
        state: &mut Nested<S::Config>,
        visit: &mut impl FnMut(&Nested<S::Config>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        if self.node(set).is_hollow() {
            return ControlFlow::Continue(());
        }
        if level == self.levels.leaf() {
            for leaf in bits(self.leaf(set).current) {
                state.leaf = leaf as u8;
                visit(state)?;
            }
            return ControlFlow::Continue(());
        }
        for entry in self.entries(level, set) {
            state.configs.push(self.levels.config(level, entry.config).config);
            let ended = self.visit_below(level - 1, entry.below, state, visit);
            state.configs.pop();
            ended?;
        }
        ControlFlow::Continue(())
    }
}
