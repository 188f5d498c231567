//! Sums over the layers of a search.

use serde::{Deserialize, Serialize};
use strata_space::{Digest, LayerStats};
use strata_store::{JobResult, LayerRecord, LayerTotals};

/// The figures that a file records of a layer, as statistics. Files do not record what ends the search, so
/// those fields are false.
pub(crate) fn stats_of(totals: &LayerTotals) -> LayerStats {
    LayerStats {
        regions: totals.regions,
        states: totals.states,
        positions: totals.positions,
        generated: totals.generated,
        digest: totals.digest,
        ..LayerStats::default()
    }
}

/// The figures of a layer as a file records them.
pub(crate) fn totals_of(stats: &LayerStats) -> LayerTotals {
    LayerTotals {
        regions: stats.regions,
        states: stats.states,
        positions: stats.positions,
        generated: stats.generated,
        digest: stats.digest,
    }
}

/// Sums over all layers so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Totals {
    /// Largest depth with a state.
    pub depth: u32,
    /// States of the layer of that depth.
    pub layer_states: u64,
    /// Search time in seconds until that layer was complete.
    pub seconds: f64,
    /// Largest depth with a state that stands for a position; [`Self::depth`] if positions are not
    /// counted.
    pub radius: u32,
    /// Positions of the layer at depth [`Self::radius`].
    pub positions_at_radius: u64,
    /// States of all layers.
    pub states: u64,
    /// Positions that the states stand for; 0 if the space does not count them.
    pub positions: u64,
    /// Orbits of symmetries among the positions; None unless those of all layers are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orbits: Option<u64>,
    /// Legal moves from the states.
    pub generated: u64,
    /// States of the widest layer.
    pub widest: u64,
    /// The depth of the first of the widest layers.
    pub widest_depth: u32,
    /// Digest of all states.
    pub digest: Digest,
    /// Bytes of all layer files when they were sealed.
    pub layer_bytes: u64,
    /// Largest number of bytes on disk at any time.
    pub disk_peak: u64,
    /// Bytes spilled because memory was full.
    pub spilled: u64,
}

impl Totals {
    /// Sums over layers from depth 0 on.
    #[must_use]
    pub fn of_lines(lines: &[LayerRecord]) -> Totals {
        let mut totals = Totals::default();
        lines.iter().for_each(|line| totals.add(line));
        totals
    }

    /// The result of a finished job.
    #[must_use]
    pub fn result(&self, moves: Option<u64>, peak_rss_bytes: u64, seconds: f64) -> JobResult {
        JobResult {
            moves,
            layers: self.depth,
            states: self.states,
            positions: self.positions,
            orbits: self.orbits,
            generated: self.generated,
            widest: self.widest,
            digest: self.digest,
            disk_peak_bytes: self.disk_peak,
            peak_rss_bytes,
            seconds,
        }
    }

    /// Whether a layer can be added without overflow of a sum.
    pub(super) fn has_room_for(&self, layer: &LayerRecord) -> bool {
        let LayerRecord { states, positions, generated, .. } = *layer;
        let sums =
            [(self.states, states), (self.generated, generated), (self.layer_bytes, layer.bytes)];
        // Sums of parts of layers saturate at `u64::MAX`, so that value is not a valid sum of positions.
        let positions = self.positions.checked_add(positions).filter(|sum| *sum < u64::MAX);
        positions.is_some() && sums.iter().all(|(sum, more)| sum.checked_add(*more).is_some())
    }

    /// Adds the next layer. Sums stop at `u64::MAX`, which the plan refuses.
    pub fn add(&mut self, layer: &LayerRecord) {
        let LayerRecord { states, positions, generated, .. } = *layer;
        (self.depth, self.layer_states, self.seconds) = (layer.depth, states, layer.seconds);
        // Before the first layer, the number of orbits is 0.
        let before = if self.states == 0 { Some(0) } else { self.orbits };
        self.orbits = before.zip(layer.orbits).and_then(|(sum, more)| sum.checked_add(more));
        if positions > 0 || self.positions == 0 {
            (self.radius, self.positions_at_radius) = (layer.depth, positions);
        }
        self.states = self.states.saturating_add(states);
        self.positions = self.positions.saturating_add(positions);
        self.generated = self.generated.saturating_add(generated);
        self.digest += layer.digest;
        self.layer_bytes = self.layer_bytes.saturating_add(layer.bytes);
        if states > self.widest {
            (self.widest, self.widest_depth) = (states, layer.depth);
        }
    }
}

#[cfg(test)]
mod tests {
    use strata_space::Weight;

    use super::*;

    #[test]
    fn the_radius_is_that_of_positions() {
        let radius = |layers: &[(u64, u64)]| {
            let mut totals = Totals::default();
            for (depth, (states, positions)) in (0..).zip(layers.iter().copied()) {
                totals.add(&LayerRecord { depth, states, positions, ..LayerRecord::default() });
            }
            (totals.depth, totals.radius, totals.positions_at_radius)
        };
        assert_eq!(radius(&[(1, 1), (4, 2), (3, 0), (2, 1), (5, 0), (1, 0)]), (5, 3, 1));
        assert_eq!(radius(&[(1, 2), (4, 8)]), (1, 1, 8));
        assert_eq!(radius(&[(1, 0), (4, 0)]), (1, 1, 0));
    }

    #[test]
    fn orbits_are_those_of_all_layers() {
        let orbits = |layers: &[Option<u64>]| {
            let mut totals = Totals::default();
            for (depth, orbits) in (0..).zip(layers.iter().copied()) {
                totals.add(&LayerRecord { depth, states: 5, orbits, ..LayerRecord::default() });
            }
            totals.orbits
        };
        assert_eq!(orbits(&[Some(1), Some(3), Some(2)]), Some(6));
        assert_eq!(orbits(&[]), None);
        assert_eq!(orbits(&[None, Some(3)]), None);
        assert_eq!(orbits(&[Some(1), None, Some(3)]), None);
    }

    #[test]
    fn recorded_figures_survive_both_conversions() {
        let totals = LayerTotals {
            regions: 1,
            states: 2,
            positions: 6,
            generated: 3,
            digest: Weight([4, 5]),
        };
        assert_eq!(totals_of(&stats_of(&totals)), totals);
    }
}
