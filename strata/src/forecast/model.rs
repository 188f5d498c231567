//! What is known of the size of a search.

use strata_space::SearchSize;
use strata_space::dense::DenseSize;
use strata_store::EngineKind;

use super::work::Work;
use crate::catalogue::Space;

/// Seconds of a layer of the explicit engine besides its states: barrier, events and files. Measured
/// on Panex 5 and 6.
pub(super) const LAYER_SECONDS: f64 = 3e-4;

/// What is known of the size of a search, and how its work is measured.
///
/// The default knows nothing.
#[derive(Clone, Debug, Default)]
pub struct Forecast {
    pub(super) engine: EngineKind,
    /// Size of the whole search.
    pub(super) size: SearchSize,
    /// Size of the dense form, if the engine uses it.
    pub(super) dense: Option<DenseSize>,
    /// Whether the states of the size are those of the whole space, of which a search for a goal may
    /// need fewer.
    pub(super) is_upper_bound: bool,
    max_layers: Option<u32>,
    work: Option<Work>,
}

impl Forecast {
    /// What is known of the search of a space by an engine, which stops at `max_layers` if that is
    /// given.
    pub fn new(space: &Space, engine: EngineKind, max_layers: Option<u32>) -> Forecast {
        let dense = if engine.is_symbolic() { None } else { space.dense_size().ok() };
        Forecast::of(space.search_size(), dense, engine, max_layers)
    }

    /// As [`Self::new`], from the sizes of a space and of its dense form.
    pub fn of(
        mut size: SearchSize,
        dense: Option<DenseSize>,
        engine: EngineKind,
        max_layers: Option<u32>,
    ) -> Forecast {
        let mut is_upper_bound = false;
        if let (Some(dense), None) = (dense, size.states) {
            // A space with a dense form is searched whole by the explicit engine, too.
            size.states = Some(dense.states);
            is_upper_bound = dense.has_goal;
        }
        let dense = dense.filter(|_| engine.is_dense());
        let mut forecast = Forecast { engine, size, dense, is_upper_bound, max_layers, work: None };
        forecast.work = forecast.measure();
        forecast
    }

    /// The measure of work that suits engine and size.
    fn measure(&self) -> Option<Work> {
        let layers = self.size.layers;
        if self.engine.is_symbolic()
            && let Some(curve) = self.size.nested?.work_by_depth
        {
            return Some(Work::Depth { curve, layers: layers?, end: self.layers()? });
        }
        if self.is_upper_bound {
            return None;
        }
        match self.states() {
            Some(states) => {
                let rate = self.size.explicit.map_or(0.0, |explicit| explicit.states_per_second);
                let layer_cost = LAYER_SECONDS * rate;
                Some(Work::States { states, layers: self.layers(), layer_cost })
            }
            None => {
                let (layers, curve) = (layers?, self.size.states_by_depth?);
                Some(Work::Depth { curve, layers, end: self.layers()? })
            }
        }
    }

    /// Depth at which the search is expected to end.
    pub fn layers(&self) -> Option<u32> {
        match (self.size.layers, self.max_layers) {
            (Some(layers), Some(max)) => Some(layers.min(max)),
            // Without a known depth the search may end before the limit.
            (layers, _) => layers,
        }
    }

    /// States of all layers up to the expected end.
    pub fn states(&self) -> Option<f64> {
        let states = self.size.states? as f64;
        match self.max_layers {
            None => Some(states),
            Some(max) => {
                let (layers, curve) = (self.size.layers?, self.size.states_by_depth?);
                Some(states * curve.at(max, layers))
            }
        }
    }

    /// Whether [`Self::states`] are those of the whole space, and the search may end before it has
    /// found all of them.
    pub fn is_upper_bound(&self) -> bool {
        self.is_upper_bound
    }

    /// Expected states of the layer at `depth`, if the shape of the search is known.
    pub fn layer_states(&self, depth: u32) -> Option<f64> {
        let (layers, curve) = (self.size.layers?, self.size.states_by_depth?);
        let before = depth.checked_sub(1).map_or(0.0, |before| curve.at(before, layers));
        Some(self.size.states? as f64 * (curve.at(depth, layers) - before))
    }

    /// Share of the work that is done, from 0 to 1, when the layer at `depth`, of `width` states, is
    /// complete and all layers so far have `states`. None if the work is not known, or if the search is beyond its
    /// expected end.
    pub fn share_of_work(&self, depth: u32, width: u64, states: u64) -> Option<f64> {
        self.work?.share(depth, width as f64, states as f64)
    }

    /// States that a dense search finds, if it is known that it finds all of them.
    pub(crate) fn dense_states(&self) -> Option<f64> {
        self.dense?;
        self.work.and(self.states())
    }
}
