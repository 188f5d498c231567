//! Reports of layers that workers have made or loaded.

use std::num::NonZeroU32;

use strata_space::LayerStats;
use strata_store::{CheckpointFile, LayerRecord};

use super::refusal::Refusal;

/// A layer that has been made or loaded: one worker's part of it, or the sum of all parts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LayerReport {
    /// The layer's figures and kept files. When all parts are summed, the driver corrects the time and the
    /// plan adds the orbits.
    pub layer: LayerRecord,
    /// Whether the two searches have met after an odd number of moves.
    pub odd: bool,
    /// Whether the two searches have met after an even number of moves.
    pub even: bool,
    /// Whether the goal is in the layer.
    pub found: bool,
    /// Number of pairs of a symmetry other than the identity and a position of the layer that it fixes.
    pub fixed: u64,
    /// Number of the symmetries whose orbits are counted, the identity included; None if orbits are not
    /// counted.
    pub symmetries: Option<NonZeroU32>,
    /// The files through which other workers read the layer.
    pub shared: Vec<CheckpointFile>,
    /// Bytes on disk when the layer was complete.
    pub disk_peak: u64,
    /// Bytes on disk once everything that only this layer needed is removed.
    pub disk_left: u64,
    /// Bytes spilled so far in this session.
    pub spilled: u64,
    /// Number of kept layers that become durable with the next checkpoint.
    pub waiting: usize,
}

impl LayerReport {
    /// A report of a layer with the figures that a search has counted.
    #[must_use]
    pub fn of(depth: u32, stats: &LayerStats) -> LayerReport {
        let LayerStats { regions, states, positions, generated, digest, .. } = *stats;
        LayerReport {
            layer: LayerRecord {
                depth,
                states,
                positions,
                generated,
                regions,
                digest,
                ..LayerRecord::default()
            },
            odd: stats.odd,
            even: stats.even,
            found: stats.found,
            fixed: stats.fixed,
            ..LayerReport::default()
        }
    }

    /// The sum of all workers' parts. Sums of counts stop at `u64::MAX`, which the plan refuses.
    ///
    /// # Errors
    /// [`Refusal::WrongDepth`] for parts of different layers, [`Refusal::Implausible`] for parts with
    /// different symmetries.
    pub fn sum(parts: impl IntoIterator<Item = LayerReport>) -> Result<LayerReport, Refusal> {
        let mut parts = parts.into_iter();
        let mut sum = parts.next().unwrap_or_default();
        parts.try_for_each(|part| sum.add(part))?;
        Ok(sum)
    }

    fn add(&mut self, part: LayerReport) -> Result<(), Refusal> {
        let (sum, more) = (&mut self.layer, part.layer);
        if more.depth != sum.depth {
            return Err(Refusal::WrongDepth { expected: sum.depth, found: more.depth });
        }
        if part.symmetries != self.symmetries {
            let number = |count: Option<NonZeroU32>| count.map_or(0, NonZeroU32::get);
            let (one, other) = (number(self.symmetries), number(part.symmetries));
            let what = format!("workers count orbits of {one} and of {other} symmetries");
            return Err(Refusal::Implausible { depth: sum.depth, what });
        }
        sum.states = sum.states.saturating_add(more.states);
        sum.positions = sum.positions.saturating_add(more.positions);
        sum.generated = sum.generated.saturating_add(more.generated);
        sum.regions = sum.regions.saturating_add(more.regions);
        sum.bytes = sum.bytes.saturating_add(more.bytes);
        sum.read_bytes = sum.read_bytes.saturating_add(more.read_bytes);
        sum.written_bytes = sum.written_bytes.saturating_add(more.written_bytes);
        sum.memo_hits = sum.memo_hits.saturating_add(more.memo_hits);
        sum.memo_misses = sum.memo_misses.saturating_add(more.memo_misses);
        sum.memo_miss_seconds += more.memo_miss_seconds;
        sum.seconds = sum.seconds.max(more.seconds);
        sum.digest += more.digest;
        sum.kept.extend(more.kept);
        self.odd |= part.odd;
        self.even |= part.even;
        self.found |= part.found;
        self.fixed = self.fixed.saturating_add(part.fixed);
        self.shared.extend(part.shared);
        self.disk_peak = self.disk_peak.saturating_add(part.disk_peak);
        self.disk_left = self.disk_left.saturating_add(part.disk_left);
        self.spilled = self.spilled.saturating_add(part.spilled);
        self.waiting = self.waiting.saturating_add(part.waiting);
        Ok(())
    }
}
