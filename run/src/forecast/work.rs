//! Measures of the work of a search, by states or by depth.

use strata_space::Curve;

/// Share of the cost of a state that falls to the layer after its own, in which it is expanded.
/// Measured on 10 pancakes, whose layers grow by a factor of 7.
const EXPANSION: f64 = 0.3;

/// Measure of the work up to a layer.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(super) enum Work {
    /// By states, with a fixed part for each layer.
    ///
    /// A layer costs the expansion of the states of the layer before and the storing of its own states.
    /// The difference matters where layers grow fast.
    States {
        /// States at the end.
        states: f64,
        /// Depth of the end, if it is known.
        layers: Option<u32>,
        /// Work of a layer besides that of its states, in states.
        layer_cost: f64,
    },
    /// By depth, with a curve of the work.
    Depth {
        /// Share of the work by share of the depth.
        curve: Curve,
        /// Depth of the end of the whole search.
        layers: u32,
        /// Depth at which it stops.
        end: u32,
    },
}

impl Work {
    /// Share of the work that is done when the layer at `depth`, of `width` states, is complete, with
    /// `states` in all layers so far. None if the search is beyond its expected end.
    pub(super) fn share(&self, depth: u32, width: f64, states: f64) -> Option<f64> {
        match *self {
            Work::States { states: all, layers, layer_cost } => {
                let layers = layers.unwrap_or(depth);
                let done = states - EXPANSION * width + layer_cost * f64::from(depth);
                let is_over = states > all || depth > layers;
                (!is_over).then(|| done / (all + layer_cost * f64::from(layers)))
            }
            Work::Depth { curve, layers, end } => {
                (depth <= end).then(|| curve.at(depth, layers) / curve.at(end, layers))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_and_layers_count_as_work() {
        let work = Work::States { states: 2e6, layers: Some(100), layer_cost: 20e3 };
        assert_eq!(work.share(0, 0.0, 0.0), Some(0.0));
        assert_eq!(work.share(50, 0.0, 1e6), Some(0.5));
        assert_eq!(work.share(100, 0.0, 2e6), Some(1.0));
        // Without a known depth, later layers are assumed to cost nothing more.
        let work = Work::States { states: 2e6, layers: None, layer_cost: 20e3 };
        assert_eq!(work.share(0, 0.0, 1e6), Some(0.5));
        assert_eq!(work.share(100, 0.0, 2e6), Some(1.0));
    }

    #[test]
    fn the_states_of_the_last_layer_are_not_expanded_yet() {
        let work = Work::States { states: 1000.0, layers: None, layer_cost: 0.0 };
        assert_eq!(work.share(4, 100.0, 500.0), Some(0.47));
    }

    #[test]
    fn there_is_no_share_beyond_the_end() {
        let states = Work::States { states: 2e6, layers: Some(100), layer_cost: 0.0 };
        assert_eq!(states.share(100, 0.0, 3e6), None);
        assert_eq!(states.share(101, 0.0, 1e6), None);
        let depth = Work::Depth { curve: Curve(&[0.0, 0.25, 1.0]), layers: 100, end: 50 };
        assert_eq!(depth.share(25, 0.0, 0.0), Some(0.5));
        assert_eq!(depth.share(50, 0.0, 0.0), Some(1.0));
        assert_eq!(depth.share(51, 0.0, 0.0), None);
    }
}
