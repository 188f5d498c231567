//! Type-erased symbolic search.

use std::ops::ControlFlow;
use std::sync::Arc;

use strata_space::Finish;
use strata_space::nested::NestedSpace;

use crate::symbolic::error::StepError;
use crate::symbolic::options::Options;
use crate::symbolic::search::layer::{Layer, Usage};
use crate::symbolic::search::snapshot::SnapshotError;
use crate::symbolic::search::typed::Search;

/// A [`Search`] of any space, with states in text form.
pub trait AnySearch: Send {
    /// See [`Search::depth`].
    fn depth(&self) -> u32;

    /// See [`Search::layer`].
    fn layer(&self) -> Layer;

    /// See [`Search::advance`].
    ///
    /// # Errors
    /// [`StepError`] if the layer cannot be computed. The last layer is then unchanged.
    fn advance(&mut self) -> Result<Layer, StepError>;

    /// See [`Search::snapshot`].
    fn snapshot(&self) -> Vec<u8>;

    /// See [`Search::load`].
    ///
    /// # Errors
    /// [`SnapshotError`] if the bytes are not a layer of the space or do not fit. The search then
    /// has no layer.
    fn load(&mut self, depth: u32, bytes: &[u8]) -> Result<(), SnapshotError>;

    /// The memory budget in bytes, which also limits the length of a snapshot to load.
    fn memory(&self) -> usize;

    /// How the search ends.
    fn finish(&self) -> Finish<()>;

    /// See [`Search::positions`].
    fn positions(&self) -> u64;

    /// The position with a rank below [`Self::positions`], as text; None for other ranks.
    fn nth_text(&self, at: u64) -> Option<String>;

    /// Visits the states of the last layer as text, until `visit` breaks.
    fn visit_texts(&self, visit: &mut dyn FnMut(String) -> ControlFlow<()>);

    /// See [`Search::shortest_path`]. The states are texts.
    fn shortest_path(&self, on_move: &mut dyn FnMut() -> ControlFlow<()>) -> Option<Vec<String>>;

    /// See [`Search::usage`].
    fn usage(&self) -> Usage;
}

impl<S: NestedSpace> AnySearch for Search<S> {
    fn depth(&self) -> u32 {
        Search::depth(self)
    }

    fn layer(&self) -> Layer {
        Search::layer(self)
    }

    fn advance(&mut self) -> Result<Layer, StepError> {
        Search::advance(self)
    }

    fn snapshot(&self) -> Vec<u8> {
        Search::snapshot(self)
    }

    fn load(&mut self, depth: u32, bytes: &[u8]) -> Result<(), SnapshotError> {
        Search::load(self, depth, bytes)
    }

    fn memory(&self) -> usize {
        self.options.memory
    }

    fn finish(&self) -> Finish<()> {
        self.space().finish().rule()
    }

    fn visit_texts(&self, visit: &mut dyn FnMut(String) -> ControlFlow<()>) {
        let space = Arc::clone(self.space());
        let _: ControlFlow<()> = self.visit(|state| match space.is_orbit_representative(state) {
            true => visit(space.text(state)),
            false => ControlFlow::Continue(()),
        });
    }

    fn positions(&self) -> u64 {
        Search::positions(self)
    }

    fn nth_text(&self, at: u64) -> Option<String> {
        Some(self.space().text(&self.nth(at)?))
    }

    fn shortest_path(&self, on_move: &mut dyn FnMut() -> ControlFlow<()>) -> Option<Vec<String>> {
        let path = Search::shortest_path(self, on_move)?;
        Some(path.iter().map(|state| self.space().text(state)).collect())
    }

    fn usage(&self) -> Usage {
        Search::usage(self)
    }
}

/// Opens a search at layer 0.
///
/// # Errors
/// [`StepError`] if layer 0 exceeds the memory budget.
pub fn open<S: NestedSpace>(space: S, options: Options) -> Result<Box<dyn AnySearch>, StepError> {
    Ok(Box::new(Search::new(Arc::new(space), options)?))
}
