//! Symbolic search of a nested space, layer by layer.

use std::ops::ControlFlow;
use std::sync::Arc;

use strata_space::nested::{NestedSpace, NestedState};
use strata_space::{Finish, LayerStats};

use crate::symbolic::diagram::arena::Diagram;
use crate::symbolic::diagram::meeting::meets_itself;
use crate::symbolic::diagram::self_mirrored::count_self_mirrored;
use crate::symbolic::error::StepError;
use crate::symbolic::index::bits::ConfigSet;
use crate::symbolic::node::record::LeafSets;
use crate::symbolic::node::reference::Ref;
use crate::symbolic::options::Options;
use crate::symbolic::search::layer::{Layer, Usage};
use crate::symbolic::search::snapshot::{self, SnapshotError};

/// A symbolic search. It holds the last layer and the layer before, and memoised parts of earlier layers.
pub struct Search<S: NestedSpace> {
    space: Arc<S>,
    pub(crate) options: Options,
    diagram: Diagram<S>,
    finish: Finish<NestedState<S::Config>>,
    depth: u32,
    /// Top nodes of the layers, in order. Without `keep_layers`, only the top node of the last layer.
    tops: Vec<Ref>,
    /// Number of nodes before the last layer was computed.
    nodes_before: usize,
    collections: u32,
}

impl<S: NestedSpace> Search<S> {
    /// A search at layer 0.
    ///
    /// # Errors
    /// [`StepError`] if layer 0 exceeds the memory budget.
    pub fn new(space: Arc<S>, options: Options) -> Result<Search<S>, StepError> {
        let mut search = Search::empty(space, options);
        let top = search.intern_start()?;
        search.tops.push(top);
        Ok(search)
    }

    /// Replaces all layers by a [`Self::snapshot`] of the layer at `depth`, from which the search then
    /// continues.
    ///
    /// # Errors
    /// [`SnapshotError`] if the bytes are not a layer of the space, or exceed the memory budget. The search
    /// then has no layer.
    pub fn load(&mut self, depth: u32, bytes: &[u8]) -> Result<(), SnapshotError> {
        *self = Search::empty(Arc::clone(&self.space), self.options);
        let top = snapshot::read(&mut self.diagram, bytes, self.options.memory)?;
        self.tops.push(top);
        self.depth = depth;
        Ok(())
    }

    /// A search without a layer.
    fn empty(space: Arc<S>, options: Options) -> Search<S> {
        Search {
            diagram: Diagram::new(Arc::clone(&space), options),
            finish: space.finish(),
            space,
            options,
            depth: 0,
            tops: Vec::new(),
            nodes_before: 0,
            collections: 0,
        }
    }

    /// Adds the start to the diagram. Returns the top node of layer 0.
    fn intern_start(&mut self) -> Result<Ref, StepError> {
        let NestedState { configs, leaf } = self.space.start();
        let diagram = &mut self.diagram;
        let (first, top) = (diagram.index.leaf_level() + 1, diagram.index.top_level());
        let mut classes = vec![diagram.index.root_class()?];
        let mut numbers = Vec::new();
        for (level, config) in (first..=top).rev().zip(configs) {
            let number = diagram.index.number_config(level, config)?;
            let class = classes[numbers.len()];
            numbers.push(number);
            classes.push(diagram.index.inner_class(class, number)?);
        }
        let start = LeafSets { current: 1 << leaf, previous: 0 };
        let mut set = diagram.intern_leaf(classes[numbers.len()], start)?;
        for (level, at) in (first..=top).zip((0..numbers.len()).rev()) {
            let base = diagram.child_words.len();
            diagram.child_words.push(set.word());
            let configs = ConfigSet::from_iter([numbers[at]]);
            set = diagram.intern(level, classes[at], configs, base)?;
        }
        diagram.finish_layer(set)?;
        Ok(set)
    }

    /// The space.
    pub fn space(&self) -> &Arc<S> {
        &self.space
    }

    /// Depth of the last layer: its distance from the start.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    pub(crate) fn diagram(&self) -> &Diagram<S> {
        &self.diagram
    }

    pub(crate) fn top(&self) -> Ref {
        self.tops.last().copied().unwrap_or(Ref::EMPTY)
    }

    /// Computes the next layer. If the memory budget is exceeded, and not all layers are to be kept, drops
    /// everything but the last layer and tries again.
    ///
    /// # Errors
    /// [`StepError`] if the layer cannot be computed. The last layer is then unchanged.
    pub fn advance(&mut self) -> Result<Layer, StepError> {
        self.nodes_before = self.diagram.nodes.len();
        let next = match self.diagram.step_top(self.top()) {
            Err(StepError::Memory { .. }) if !self.options.keep_layers => {
                self.compact()?;
                self.diagram.step_top(self.top())
            }
            next => next,
        };
        let next = next.inspect_err(|_| self.diagram.clear_scratch())?;
        if !self.options.keep_layers {
            self.tops.clear();
        }
        self.tops.push(next);
        self.depth += 1;
        Ok(self.layer())
    }

    /// Drops everything but the last layer.
    ///
    /// # Errors
    /// [`StepError::Memory`] if the last layer alone exceeds the budget. The layer is then unchanged.
    pub(crate) fn compact(&mut self) -> Result<(), StepError> {
        let bytes = self.snapshot();
        self.collections += 1;
        let kept = self.replace_by(&bytes, self.options.memory);
        if kept.is_err() {
            // The last layer is small, so it is kept even if it exceeds the budget.
            self.replace_by(&bytes, usize::MAX)?;
            self.diagram.share.exhaust(self.options.memory);
        }
        self.nodes_before = self.diagram.nodes.len();
        kept
    }

    /// Replaces the diagram by a layer, given as a snapshot that has just been written.
    fn replace_by(&mut self, bytes: &[u8], memory: usize) -> Result<(), StepError> {
        let options = Options { memory, ..self.options };
        self.diagram = Diagram::new(Arc::clone(&self.space), options);
        self.tops.clear();
        match snapshot::read(&mut self.diagram, bytes, usize::MAX) {
            Ok(top) => {
                self.tops.push(top);
                Ok(())
            }
            Err(SnapshotError::Step(error)) => Err(error),
            Err(SnapshotError::Malformed { what, at }) => {
                unreachable!("a snapshot just written is malformed: {what} at byte {at}")
            }
        }
    }

    /// Figures of the last layer.
    pub fn layer(&self) -> Layer {
        let top = self.top();
        let nodes = self.diagram.nodes.len() - self.nodes_before;
        let positions = self.positions();
        let mut states = positions;
        let top_stats = self.diagram.top_stats.unwrap_or_default();
        let mut generated = top_stats.moves;
        if self.space.counts_orbits() {
            debug_assert!(top.is_self_mirrored(), "a layer is its own flip");
            let fixed = count_self_mirrored(&self.diagram, top);
            (states, generated) = ((states + fixed.states) / 2, (generated + fixed.moves) / 2);
        }
        if !self.options.digests {
            generated = 0;
        }
        let mut stats = LayerStats {
            regions: u64::from(states > 0),
            states,
            positions,
            generated,
            digest: top_stats.digest,
            ..LayerStats::default()
        };
        match &self.finish {
            Finish::Meeting => {
                let meeting = meets_itself(&self.diagram, top);
                (stats.odd, stats.even) = (meeting.odd, meeting.even);
            }
            Finish::State(goal) => stats.found = self.diagram.contains(top, goal),
            Finish::Exhausted => {}
        }
        Layer { depth: self.depth, stats, nodes: nodes as u64 }
    }

    /// The last layer and the layer before, as bytes for [`Self::load`].
    pub fn snapshot(&self) -> Vec<u8> {
        snapshot::write(&self.diagram, self.top())
    }

    /// Whether a state is in the layer at `depth`; None if that layer is not kept.
    pub fn contains(&self, depth: u32, state: &NestedState<S::Config>) -> Option<bool> {
        let back = self.depth.checked_sub(depth)? as usize;
        let at = self.tops.len().checked_sub(back + 1)?;
        Some(self.diagram.contains(self.tops[at], state))
    }

    /// Number of positions of the last layer. A state and its flip count as two positions.
    pub fn positions(&self) -> u64 {
        self.diagram.states(self.top())
    }

    /// The position with the rank `at` in the diagram's order; None unless `at` is below
    /// [`Self::positions`].
    pub fn nth(&self, at: u64) -> Option<NestedState<S::Config>> {
        (at < self.positions()).then(|| self.diagram.nth(self.top(), at))
    }

    /// Visits the positions of the last layer, until `visit` breaks.
    pub fn visit<B>(
        &self,
        mut visit: impl FnMut(&NestedState<S::Config>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        self.diagram.visit(self.top(), &mut visit)
    }

    /// Size of the search in memory.
    pub fn usage(&self) -> Usage {
        Usage {
            nodes: self.diagram.nodes.len(),
            exit_sets: self.diagram.executor.set_count(),
            classes: self.diagram.index.class_count(),
            bytes: self.diagram.bytes(),
            collections: self.collections,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use strata_puzzles::panex::{NestedPanex, PanexConfig};

    const LEVEL: u8 = 4;

    fn options(threads: usize) -> Options {
        Options { memory: 1 << 30, keep_layers: false, digests: true, verify: 0, threads }
    }

    #[test]
    fn a_layer_that_exceeds_the_budget_is_kept() {
        for threads in [1, 2] {
            exceed_the_budget(threads);
        }
    }

    fn exceed_the_budget(threads: usize) {
        let space = Arc::new(NestedPanex::new(PanexConfig::new(LEVEL)).unwrap());
        let mut search = Search::new(space, options(threads)).unwrap();
        for _ in 0..40 {
            search.advance().unwrap();
        }
        let expected = search.layer();
        search.options.memory = 1 << 10;
        assert_eq!(search.compact(), Err(StepError::Memory { budget: 1 << 10 }));
        assert_eq!(Layer { nodes: expected.nodes, ..search.layer() }, expected);
        // Advancing fails, too, until there is more memory.
        assert!(search.advance().is_err());
        let bytes = search.snapshot();
        search.options.memory = 1 << 30;
        search.load(40, &bytes).unwrap();
        assert_eq!(search.layer().stats.digest, expected.stats.digest);
        search.advance().unwrap();
    }
}
