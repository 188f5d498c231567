//! A search of a nested space, whatever its type.

use std::ops::ControlFlow;
use std::sync::Arc;

use strata_space::nested::{NestedFinish, NestedSpace};

use crate::error::StepError;
use crate::options::Options;
use crate::search::layer::{Layer, Usage};
use crate::search::snapshot::SnapshotError;
use crate::search::typed::Search;

/// When a search is over.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Ends {
    /// When it meets itself.
    Meeting,
    /// When it reaches the goal.
    Goal,
    /// When there are no more states.
    Exhausted,
}

/// A search, see [`Search`].
pub trait AnySearch: Send {
    /// See [`Search::depth`].
    fn depth(&self) -> u32;

    /// See [`Search::layer`].
    fn layer(&self) -> Layer;

    /// See [`Search::advance`].
    ///
    /// # Errors
    /// If the layer does not fit; the last one is still there.
    fn advance(&mut self) -> Result<Layer, StepError>;

    /// See [`Search::snapshot`].
    fn snapshot(&self) -> Vec<u8>;

    /// See [`Search::load`].
    ///
    /// # Errors
    /// If the bytes are not a layer of the space, or it does not fit.
    fn load(&mut self, depth: u32, bytes: &[u8]) -> Result<(), SnapshotError>;

    /// When the search is over.
    fn ends(&self) -> Ends;

    /// Number of positions of the last layer: states, or both of a state and its flip.
    fn positions(&self) -> u64;

    /// One of them in the space's text form, by its place in the order of the diagram.
    fn nth_text(&self, at: u64) -> Option<String>;

    /// Shows the states of the last layer in the space's text form until `visit` breaks off.
    fn visit_texts(&self, visit: &mut dyn FnMut(String) -> ControlFlow<()>);

    /// See [`Search::shortest_path`]; in the space's text form.
    fn shortest_path(&self) -> Option<Vec<String>>;

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

    fn ends(&self) -> Ends {
        match self.space().finish() {
            NestedFinish::Meeting => Ends::Meeting,
            NestedFinish::State(_) => Ends::Goal,
            NestedFinish::Exhausted => Ends::Exhausted,
        }
    }

    fn visit_texts(&self, visit: &mut dyn FnMut(String) -> ControlFlow<()>) {
        let space = Arc::clone(self.space());
        let _: ControlFlow<()> = self.visit(|state| match space.stands_for_its_orbit(state) {
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

    fn shortest_path(&self) -> Option<Vec<String>> {
        let way = Search::shortest_path(self)?;
        Some(way.iter().map(|state| self.space().text(state)).collect())
    }

    fn usage(&self) -> Usage {
        Search::usage(self)
    }
}

/// A search that has made layer 0.
///
/// # Errors
/// If even that does not fit.
pub fn open<S: NestedSpace>(space: S, options: Options) -> Result<Box<dyn AnySearch>, StepError> {
    Ok(Box::new(Search::new(Arc::new(space), options)?))
}
