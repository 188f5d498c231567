//! Forecast of a search: its known size, and the measure of its work.

use strata_space::SearchSize;
use strata_space::dense::{DenseFolding, DenseSize};
use strata_store::EngineKind;

use super::work::Work;
use crate::catalogue::Space;

/// Seconds of a layer of the explicit engine besides its states: barrier, events and files. Measured
/// on Panex 5 and 6.
pub(super) const LAYER_SECONDS: f64 = 3e-4;

/// The known size of a search, and the measure of its work.
///
/// The default has no figures.
#[derive(Clone, Debug, Default)]
pub struct Forecast {
    pub(super) engine: EngineKind,
    /// Size of the whole search.
    pub(super) size: SearchSize,
    /// Size of the dense form, if the engine uses it.
    pub(super) dense: Option<DenseSize>,
    /// Whether the number of states is that of the whole space although a search for a goal may need fewer.
    pub(super) is_upper_bound: bool,
    max_layers: Option<u32>,
    work: Option<Work>,
}

impl Forecast {
    /// Maximum number of layers that [`Self::expected_layers`] returns besides the last.
    pub const EXPECTED_LAYERS: u32 = 256;

    /// The forecast of the search of a space by an engine. The search stops at depth `max_layers`, if it
    /// is given.
    pub fn new(space: &Space, engine: EngineKind, max_layers: Option<u32>) -> Forecast {
        let dense = if engine.is_symbolic() { None } else { space.dense_size().ok() };
        // With symmetry, the explicit engine stores one state of each orbit.
        let counts_all = |size: &DenseSize| engine.is_dense() || size.folding == DenseFolding::Off;
        let dense = dense.filter(counts_all);
        Forecast::of(space.search_size(), dense, engine, max_layers)
    }

    /// As [`Self::new`], given the sizes of the search and of the dense form.
    pub fn of(
        mut size: SearchSize,
        dense: Option<DenseSize>,
        engine: EngineKind,
        max_layers: Option<u32>,
    ) -> Forecast {
        let mut is_upper_bound = false;
        if let (Some(dense), None) = (dense, size.states) {
            // The explicit engine searches the same states as the dense engine.
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
            // If the depth is unknown, the search may end before the limit.
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

    /// Whether [`Self::states`] counts the whole space although the search may end before it has found all
    /// states.
    pub fn is_upper_bound(&self) -> bool {
        self.is_upper_bound
    }

    /// Expected numbers of states of layers after `depth`, as pairs of depth and states: at most
    /// [`Self::EXPECTED_LAYERS`] evenly spaced layers, and the last one. Empty if the shape of the search
    /// is unknown.
    pub fn expected_layers(&self, depth: u32) -> Vec<(u32, f64)> {
        self.expected_layers_after(depth).unwrap_or_default()
    }

    fn expected_layers_after(&self, depth: u32) -> Option<Vec<(u32, f64)>> {
        let (end, curve) = (self.size.layers?, self.size.states_by_depth?);
        let states = self.size.states.filter(|_| !self.is_upper_bound)? as f64;
        let until = |depth: Option<u32>| depth.map_or(0.0, |depth| curve.at(depth, end));
        // The curve is linear between its values: means over half a step smooth its slope.
        let near = end / curve.0.len().max(1) as u32 / 2;
        let layer = |depth: u32| {
            let (before, last) =
                (depth.saturating_sub(near).checked_sub(1), end.min(depth.saturating_add(near)));
            let count = last - before.map_or(0, |before| before + 1) + 1;
            (depth, states * (until(Some(last)) - until(before)) / f64::from(count))
        };
        let last = self.layers()?;
        let first = depth.checked_add(1).filter(|first| *first <= last)?;
        let step = (last - first) / Self::EXPECTED_LAYERS + 1;
        let depths = (first..last).step_by(step as usize).chain([last]);
        Some(depths.map(layer).collect())
    }

    /// Share of the work that is done, from 0 to 1, when the layer at `depth`, of `width` states, is
    /// complete and all layers so far have `states` states. None if the work is unknown, or if the search
    /// is beyond its expected end.
    pub fn share_of_work(&self, depth: u32, width: u64, states: u64) -> Option<f64> {
        self.work?.share(depth, width as f64, states as f64)
    }

    /// Number of states that a dense search finds; None if it may end before it has found all states.
    pub(crate) fn dense_states(&self) -> Option<f64> {
        self.dense?;
        self.work.and(self.states())
    }
}

#[cfg(test)]
mod tests {
    use strata_space::Curve;

    use super::*;

    fn forecast(layers: u32, states: u64, max_layers: Option<u32>) -> Forecast {
        // Layers that grow with the depth, then layers of one width.
        let curve = Curve(&[0.0, 1.0 / 12.0, 4.0 / 12.0, 8.0 / 12.0, 1.0]);
        let size = SearchSize {
            layers: Some(layers),
            states: Some(states),
            states_by_depth: Some(curve),
            ..SearchSize::default()
        };
        Forecast::of(size, None, EngineKind::Explicit, max_layers)
    }

    #[test]
    fn the_expected_layers_have_the_expected_states() {
        let forecast = forecast(200, 1_000_000, None);
        let layers = forecast.expected_layers(0);
        assert!(layers.iter().map(|(depth, _)| *depth).eq(1..=200));
        let sum: f64 = layers.iter().map(|(_, states)| states).sum();
        assert!((sum - 1e6).abs() < 2e4, "{sum}");
        assert!(layers.is_sorted_by(|a, b| a.1 <= b.1 + 1.0));
    }

    #[test]
    fn the_expected_layers_are_some_of_those_that_are_left() {
        let all = forecast(100_000, 1 << 40, None);
        let layers = all.expected_layers(1000);
        assert!(layers.len() <= Forecast::EXPECTED_LAYERS as usize + 1, "{}", layers.len());
        assert_eq!((layers[0].0, layers.last().unwrap().0), (1001, 100_000));
        assert_eq!(all.expected_layers(99_999).len(), 1);
        assert_eq!(all.expected_layers(100_000), []);
        assert_eq!(all.expected_layers(u32::MAX), []);
        let limited = forecast(100, 1000, Some(50)).expected_layers(9);
        assert_eq!(limited.last().unwrap().0, 50);
        assert_eq!(Forecast::default().expected_layers(0), []);
    }
}
