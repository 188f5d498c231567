//! A search of a nested space, layer by layer.

use std::ops::ControlFlow;
use std::sync::Arc;

use strata_space::nested::{Nested, NestedFinish, NestedSpace};

use crate::diagram::arena::Diagram;
use crate::diagram::meeting::meets_itself;
use crate::diagram::self_mirrored::fixed;
use crate::error::StepError;
use crate::index::bits::Configs;
use crate::node::record::LeafSets;
use crate::node::reference::Ref;
use crate::options::Options;
use crate::search::layer::{Layer, Usage};
use crate::search::snapshot::{self, SnapshotError};

/// A search. It holds the last two layers, and whatever else it remembers of those before.
pub struct Search<S: NestedSpace> {
    space: Arc<S>,
    pub(crate) options: Options,
    diagram: Diagram<S>,
    finish: NestedFinish<S::Config>,
    depth: u32,
    /// Tops of the layers, up to the last one; only that one if the others are not kept.
    tops: Vec<Ref>,
    nodes_before: usize,
    collections: u32,
}

impl<S: NestedSpace> Search<S> {
    /// A search that has made layer 0.
    ///
    /// # Errors
    /// If even that does not fit.
    pub fn new(space: Arc<S>, options: Options) -> Result<Search<S>, StepError> {
        let mut search = Search::empty(space, options);
        let top = search.seed()?;
        search.tops.push(top);
        Ok(search)
    }

    /// Goes on from a [`Self::snapshot`] of a depth, forgetting everything else.
    ///
    /// # Errors
    /// If the bytes are not a layer of the space, or it does not fit. There is no layer then.
    pub fn load(&mut self, depth: u32, bytes: &[u8]) -> Result<(), SnapshotError> {
        *self = Search::empty(Arc::clone(&self.space), self.options);
        let top = snapshot::read(&mut self.diagram, bytes)?;
        self.tops.push(top);
        self.depth = depth;
        Ok(())
    }

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

    fn seed(&mut self) -> Result<Ref, StepError> {
        let Nested { configs, leaf } = self.space.start();
        let diagram = &mut self.diagram;
        let (first, top) = (diagram.levels.leaf() + 1, diagram.levels.top());
        let mut classes = vec![diagram.levels.root()?];
        let mut numbers = Vec::new();
        for (level, config) in (first..=top).rev().zip(configs) {
            let number = diagram.levels.number(level, config)?;
            let class = classes[numbers.len()];
            numbers.push(number);
            classes.push(diagram.levels.inner(class, number)?);
        }
        let start = LeafSets { current: 1 << leaf, previous: 0 };
        let mut set = diagram.intern_leaf(classes[numbers.len()], start)?;
        for (level, at) in (first..=top).zip((0..numbers.len()).rev()) {
            let base = diagram.made.len();
            diagram.made.push(set.word());
            let configs = Configs::from_iter([numbers[at]]);
            set = diagram.intern((level, classes[at]), configs, base)?;
        }
        diagram.settle(set)?;
        Ok(set)
    }

    /// The space.
    pub fn space(&self) -> &Arc<S> {
        &self.space
    }

    /// Distance of the last layer from the start.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    pub(crate) fn diagram(&self) -> &Diagram<S> {
        &self.diagram
    }

    pub(crate) fn top(&self) -> Ref {
        self.tops.last().copied().unwrap_or(Ref::EMPTY)
    }

    /// Makes the next layer. When memory is full, everything but the last layer is forgotten first.
    ///
    /// # Errors
    /// If the layer does not fit; the last one is still there.
    pub fn advance(&mut self) -> Result<Layer, StepError> {
        self.nodes_before = self.diagram.nodes.len();
        let next = match self.diagram.step_top(self.top()) {
            Err(StepError::Memory { .. }) if !self.options.keep_layers => {
                self.collect()?;
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

    /// Forgets everything but the last layer, which is there afterwards even if it does not fit.
    pub(crate) fn collect(&mut self) -> Result<(), StepError> {
        let bytes = self.snapshot();
        self.collections += 1;
        let kept = self.keep_only(&bytes, self.options.memory);
        if kept.is_err() {
            // A layer is small: better over the budget than lost.
            self.keep_only(&bytes, usize::MAX)?;
            self.diagram.share.close(self.options.memory);
        }
        self.nodes_before = self.diagram.nodes.len();
        kept
    }

    /// Replaces everything by a layer that has just been written.
    fn keep_only(&mut self, bytes: &[u8], memory: usize) -> Result<(), StepError> {
        let options = Options { memory, ..self.options };
        self.diagram = Diagram::new(Arc::clone(&self.space), options);
        self.tops.clear();
        match snapshot::read(&mut self.diagram, bytes) {
            Ok(top) => {
                self.tops.push(top);
                Ok(())
            }
            Err(SnapshotError::Step(error)) => Err(error),
            Err(SnapshotError::Malformed { what, at }) => {
                unreachable!("a layer that has just been written: {what} at byte {at}")
            }
        }
    }

    /// What is in the last layer.
    pub fn layer(&self) -> Layer {
        let top = self.top();
        let nodes = self.diagram.nodes.len() - self.nodes_before;
        let mut states = self.diagram.states(top);
        let detail = self.diagram.detail.unwrap_or_default();
        let mut generated = detail.moves;
        if self.space.counts_orbits() {
            debug_assert!(top.is_symmetric(), "a layer is its own flip");
            let (fixed, moves) = fixed(&self.diagram, top);
            (states, generated) = ((states + fixed) / 2, (generated + moves) / 2);
        }
        if !self.options.digests {
            generated = 0;
        }
        let mut layer = Layer {
            depth: self.depth,
            states,
            generated,
            digest: detail.digest,
            odd: false,
            even: false,
            found: false,
            nodes: nodes as u64,
        };
        match &self.finish {
            NestedFinish::Meeting => {
                let meeting = meets_itself(&self.diagram, top);
                (layer.odd, layer.even) = (meeting.odd, meeting.even);
            }
            NestedFinish::State(goal) => layer.found = self.diagram.contains(top, goal),
            NestedFinish::Exhausted => {}
        }
        layer
    }

    /// The last layer and the one before as bytes.
    pub fn snapshot(&self) -> Vec<u8> {
        snapshot::write(&self.diagram, self.top())
    }

    /// Whether a state is in the layer of a depth; None if that layer is not there.
    pub fn contains(&self, depth: u32, state: &Nested<S::Config>) -> Option<bool> {
        let back = self.depth.checked_sub(depth)? as usize;
        let at = self.tops.len().checked_sub(back + 1)?;
        Some(self.diagram.contains(self.tops[at], state))
    }

    /// Number of positions of the last layer: states, with both of a state and its flip.
    pub fn positions(&self) -> u64 {
        self.diagram.states(self.top())
    }

    /// One of them, by its place in the order of the diagram; None if there are not as many.
    pub fn nth(&self, at: u64) -> Option<Nested<S::Config>> {
        (at < self.positions()).then(|| self.diagram.nth(self.top(), at))
    }

    /// Shows the states of the last layer, with both of a state and its flip, until `visit` breaks
    /// off.
    pub fn visit<B>(
        &self,
        mut visit: impl FnMut(&Nested<S::Config>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        self.diagram.visit(self.top(), &mut visit)
    }

    /// What the search takes.
    pub fn usage(&self) -> Usage {
        Usage {
            nodes: self.diagram.nodes.len(),
            exits: self.diagram.work.sets(),
            classes: self.diagram.levels.classes(),
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
    fn a_layer_that_does_not_fit_is_not_lost() {
        for threads in [1, 2] {
            lose_a_layer(threads);
        }
    }

    fn lose_a_layer(threads: usize) {
        let space = Arc::new(NestedPanex::new(PanexConfig::new(LEVEL)).unwrap());
        let mut search = Search::new(space, options(threads)).unwrap();
        for _ in 0..40 {
            search.advance().unwrap();
        }
        let expected = search.layer();
        search.options.memory = 1 << 10;
        assert_eq!(search.collect(), Err(StepError::Memory { budget: 1 << 10 }));
        assert_eq!(Layer { nodes: expected.nodes, ..search.layer() }, expected);
        // Nor can it go on, but with more memory.
        assert!(search.advance().is_err());
        let bytes = search.snapshot();
        search.options.memory = 1 << 30;
        search.load(40, &bytes).unwrap();
        assert_eq!(search.layer().digest, expected.digest);
        search.advance().unwrap();
    }
}
