//! Figures of layers: of one worker's part, of a whole layer, of all layers so far.

use std::num::NonZeroU32;

use strata_space::{Digest, LayerStats, Weight};
use strata_store::{CheckpointFile, Hex128, HistoryLine, JobResult, KeptFile, LayerTotals};

/// The figures that a file records of a layer. What ends the search is not recorded, and false.
pub(crate) fn stats_of(totals: &LayerTotals) -> LayerStats {
    LayerStats {
        regions: totals.regions,
        states: totals.states,
        positions: totals.positions,
        generated: totals.generated,
        digest: Weight(totals.digest),
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
        digest: stats.digest.0,
    }
}

/// One worker's part of a layer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LayerPart {
    /// Figures of the new states.
    pub stats: LayerStats,
    /// The symmetries whose orbits the workers count, the identity included; None if they count none.
    pub symmetries: Option<NonZeroU32>,
    /// Bytes of the layer's file.
    pub bytes: u64,
    /// Bytes on disk when the layer was complete.
    pub disk_peak: u64,
    /// Bytes on disk once everything that only this layer needed was removed.
    pub disk_left: u64,
    /// Bytes spilled so far in this session.
    pub spilled: u64,
    /// The file that keeps the layer, if it is kept.
    pub kept: Option<KeptFile>,
    /// The file from which other workers read the layer, if they do.
    pub shared: Option<Box<CheckpointFile>>,
}

/// A worker's report of a layer.
#[derive(Clone, Debug)]
pub struct PartReport {
    /// The worker's number.
    pub worker: usize,
    /// The layer's depth.
    pub depth: u32,
    /// What the worker found.
    pub part: LayerPart,
}

/// A complete layer, all workers' parts together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LayerSummary {
    /// Distance from the start.
    pub depth: u32,
    /// Its figures. What ends the search is not recorded and false in layers read from a history.
    pub stats: LayerStats,
    /// Orbits of symmetries among its positions, if the dense engine has counted them.
    pub orbits: Option<u64>,
    /// Bytes of its files.
    pub bytes: u64,
    /// The files that keep it, by worker.
    pub kept: Vec<KeptFile>,
}

impl LayerSummary {
    /// The layer of a line of the history.
    #[must_use]
    pub fn of_line(line: &HistoryLine) -> LayerSummary {
        LayerSummary {
            depth: line.depth,
            stats: stats_of(&line.totals()),
            orbits: line.orbits,
            bytes: line.bytes,
            kept: line.kept.clone().unwrap_or_default(),
        }
    }

    /// The line of the history for a layer that was complete after `seconds` of search.
    #[must_use]
    pub fn into_line(self, seconds: f64) -> HistoryLine {
        let LayerTotals { states, positions, regions, generated, digest } = totals_of(&self.stats);
        HistoryLine {
            depth: self.depth,
            states,
            positions,
            orbits: self.orbits,
            generated,
            regions,
            bytes: self.bytes,
            digest: Hex128(digest),
            seconds,
            kept: Some(self.kept).filter(|kept| !kept.is_empty()),
        }
    }

    /// The sum of all workers' reports of a layer.
    pub(crate) fn of(reports: &[PartReport]) -> LayerSummary {
        let depth = reports.first().map_or(0, |report| report.depth);
        Sum::of(depth, reports.iter().map(|report| report.part.clone()).collect()).layer
    }
}

/// Sums over all layers so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Totals {
    /// Greatest depth with a state.
    pub depth: u32,
    /// Greatest depth with a state that stands for a position; [`Self::depth`] if positions are not
    /// counted.
    pub radius: u32,
    /// Positions of the layer of that depth.
    pub positions_at_radius: u64,
    /// States.
    pub states: u64,
    /// Positions that they stand for; 0 if the space does not count them.
    pub positions: u64,
    /// Orbits of symmetries among the positions; None unless the dense engine has counted those of all
    /// layers.
    pub orbits: Option<u64>,
    /// Legal moves from them.
    pub generated: u64,
    /// States of the widest layer.
    pub widest: u64,
    /// The depth of the first of the widest layers.
    pub widest_depth: u32,
    /// Digest of all states.
    pub digest: Digest,
    /// Bytes of all layer files when they were sealed.
    pub layer_bytes: u64,
    /// Most bytes on disk at any time.
    pub disk_peak: u64,
    /// Bytes spilled because memory was full.
    pub spilled: u64,
}

impl Totals {
    /// Sums over the lines of a history, which are in order.
    #[must_use]
    pub fn of_lines(lines: &[HistoryLine], disk_peak: u64, spilled: u64) -> Totals {
        let mut totals = Totals { disk_peak, spilled, ..Totals::default() };
        lines.iter().for_each(|line| totals.add(&LayerSummary::of_line(line)));
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
            digest: Hex128(self.digest.0),
            disk_peak_bytes: self.disk_peak,
            peak_rss_bytes,
            seconds,
        }
    }

    /// Whether no sum overflows when a layer is added.
    pub(super) fn has_room_for(&self, layer: &LayerSummary) -> bool {
        let LayerStats { states, positions, generated, .. } = layer.stats;
        let sums =
            [(self.states, states), (self.generated, generated), (self.layer_bytes, layer.bytes)];
        // Parts of layers are added up to `u64::MAX` at most, which is no sum of positions.
        let positions = self.positions.checked_add(positions).filter(|sum| *sum < u64::MAX);
        positions.is_some() && sums.iter().all(|(sum, more)| sum.checked_add(*more).is_some())
    }

    /// Adds a layer; layers come in order.
    pub fn add(&mut self, layer: &LayerSummary) {
        let LayerStats { states, positions, generated, digest, .. } = layer.stats;
        self.depth = layer.depth;
        // There are no states before the first layer.
        let before = if self.states == 0 { Some(0) } else { self.orbits };
        self.orbits = before.zip(layer.orbits).and_then(|(sum, more)| sum.checked_add(more));
        if positions > 0 || self.positions == 0 {
            (self.radius, self.positions_at_radius) = (layer.depth, positions);
        }
        self.states += states;
        self.positions += positions;
        self.generated += generated;
        self.digest += digest;
        self.layer_bytes += layer.bytes;
        if states > self.widest {
            (self.widest, self.widest_depth) = (states, layer.depth);
        }
    }
}

/// Sum of all workers' reports of one layer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sum {
    pub(crate) layer: LayerSummary,
    /// The symmetries that each worker has reported.
    pub(crate) symmetries: Vec<Option<NonZeroU32>>,
    pub(crate) disk_peak: u64,
    pub(crate) disk_left: u64,
    pub(crate) spilled: u64,
}

impl Sum {
    pub(crate) fn of(depth: u32, parts: Vec<LayerPart>) -> Sum {
        let mut sum = Sum { layer: LayerSummary { depth, ..Default::default() }, ..Sum::default() };
        for part in parts {
            let layer = &mut sum.layer;
            layer.stats.add(&part.stats);
            sum.symmetries.push(part.symmetries);
            layer.bytes += part.bytes;
            layer.kept.extend(part.kept);
            sum.disk_peak = sum.disk_peak.saturating_add(part.disk_peak);
            sum.disk_left = sum.disk_left.saturating_add(part.disk_left);
            sum.spilled = sum.spilled.saturating_add(part.spilled);
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_radius_is_that_of_positions() {
        let radius = |layers: &[(u64, u64)]| {
            let mut totals = Totals::default();
            for (depth, (states, positions)) in (0..).zip(layers.iter().copied()) {
                let stats = LayerStats { states, positions, ..LayerStats::default() };
                totals.add(&LayerSummary { depth, stats, ..LayerSummary::default() });
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
                let stats = LayerStats { states: 5, ..LayerStats::default() };
                totals.add(&LayerSummary { depth, stats, orbits, ..LayerSummary::default() });
            }
            totals.orbits
        };
        assert_eq!(orbits(&[Some(1), Some(3), Some(2)]), Some(6));
        assert_eq!(orbits(&[]), None);
        // Layers of an earlier version have none.
        assert_eq!(orbits(&[None, Some(3)]), None);
        assert_eq!(orbits(&[Some(1), None, Some(3)]), None);
    }

    #[test]
    fn recorded_figures_survive_both_conversions() {
        let totals =
            LayerTotals { regions: 1, states: 2, positions: 6, generated: 3, digest: [4, 5] };
        assert_eq!(totals_of(&stats_of(&totals)), totals);
        let (stats, orbits) = (stats_of(&totals), Some(4));
        let line =
            LayerSummary { depth: 7, stats, orbits, ..LayerSummary::default() }.into_line(0.5);
        assert_eq!((line.depth, line.totals()), (7, totals));
        let read = LayerSummary::of_line(&line);
        assert_eq!((read.stats, read.orbits), (stats, orbits));
    }
}
