//! A layer as tables, JSON lines and CSV files show it.

use serde::{Serialize, Serializer};
use strata_run::LayerEvent;
use strata_store::EngineKind;
use strata_store::LayerRecord;

use crate::output::units;

/// The count of positions. None if positions are not counted, which is recorded as `positions` 0
/// although there are states.
pub(crate) fn counted(positions: u64, states: u64) -> Option<u64> {
    (positions > 0 || states == 0).then_some(positions)
}

/// The columns of a table of layers.
pub(crate) const COLUMNS: [&str; 14] = [
    "depth",
    "states",
    "positions",
    "orbits",
    "generated",
    "regions",
    "bytes",
    "digest",
    "seconds",
    "read_bytes",
    "written_bytes",
    "memo_hits",
    "memo_misses",
    "memo_miss_seconds",
];

/// A row of a table: the figures of a layer, in the order of the columns.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct LayerRow {
    /// The distance from the start.
    pub(crate) depth: u32,
    /// States in the layer.
    pub(crate) states: u64,
    /// Positions that they stand for, if they are counted.
    pub(crate) positions: Option<u64>,
    /// Orbits of symmetries among them; none if they are unknown, or symmetry is not used.
    pub(crate) orbits: Option<u64>,
    /// Legal moves from the layer's states.
    pub(crate) generated: u64,
    /// Regions with a state in the layer.
    pub(crate) regions: u64,
    /// Bytes of the layer's files when they were sealed.
    pub(crate) bytes: u64,
    /// The order-independent digest, 32 hexadecimal digits.
    pub(crate) digest: String,
    /// Time the layer took.
    pub(crate) seconds: f64,
    /// Bytes of the files from which it was made.
    pub(crate) read_bytes: u64,
    /// Bytes of the files that were written to make it.
    pub(crate) written_bytes: u64,
    /// Expansions of regions that were found in the memo table.
    pub(crate) memo_hits: u64,
    /// Expansions that were looked up there, not found and computed.
    pub(crate) memo_misses: u64,
    /// Time to compute these, over all threads and workers.
    pub(crate) memo_miss_seconds: f64,
}

impl LayerRow {
    /// The row of a layer with these positions, which took `seconds`.
    pub(crate) fn new(layer: &LayerRecord, positions: Option<u64>, seconds: f64) -> LayerRow {
        LayerRow {
            depth: layer.depth,
            states: layer.states,
            positions,
            orbits: layer.orbits,
            generated: layer.generated,
            regions: layer.regions,
            bytes: layer.bytes,
            digest: layer.digest.to_string(),
            seconds,
            read_bytes: layer.read_bytes,
            written_bytes: layer.written_bytes,
            memo_hits: layer.memo_hits,
            memo_misses: layer.memo_misses,
            memo_miss_seconds: layer.memo_miss_seconds,
        }
    }

    /// The fields of a CSV file, by column.
    pub(crate) fn fields(&self) -> [String; COLUMNS.len()] {
        let known = |count: Option<u64>| count.map_or_else(String::new, |count| count.to_string());
        [
            self.depth.to_string(),
            self.states.to_string(),
            known(self.positions),
            known(self.orbits),
            self.generated.to_string(),
            self.regions.to_string(),
            self.bytes.to_string(),
            self.digest.clone(),
            format!("{:.6}", self.seconds),
            self.read_bytes.to_string(),
            self.written_bytes.to_string(),
            self.memo_hits.to_string(),
            self.memo_misses.to_string(),
            format!("{:.6}", self.memo_miss_seconds),
        ]
    }

    /// The cells of a table for people, by column.
    pub(crate) fn cells(&self) -> [String; COLUMNS.len()] {
        let known = |count: Option<u64>| count.map_or_else(|| "-".to_owned(), units::count);
        [
            self.depth.to_string(),
            units::count(self.states),
            known(self.positions),
            known(self.orbits),
            units::count(self.generated),
            units::count(self.regions),
            units::count(self.bytes),
            self.digest.clone(),
            format!("{:.3}", self.seconds),
            units::count(self.read_bytes),
            units::count(self.written_bytes),
            units::count(self.memo_hits),
            units::count(self.memo_misses),
            format!("{:.3}", self.memo_miss_seconds),
        ]
    }
}

/// Whether the number of positions differs from that of states, in any layer.
pub(crate) fn has_positions(rows: &[LayerRow]) -> bool {
    rows.iter().any(|row| row.positions.is_some_and(|positions| positions != row.states))
}

/// Whether the number of orbits differs from that of states, in any layer.
pub(crate) fn has_orbits(rows: &[LayerRow]) -> bool {
    rows.iter().any(|row| row.orbits.is_some_and(|orbits| orbits != row.states))
}

/// Whether an aligned table shows a column. Positions and orbits are shown if they differ from the
/// states, other figures if the engine has them.
pub(crate) fn is_shown(column: &str, rows: &[LayerRow], engine: EngineKind) -> bool {
    match column {
        "positions" => has_positions(rows),
        "orbits" => has_orbits(rows),
        "generated" => engine.counts_moves(),
        // A diagram has one region, and no file for each layer.
        "regions" | "bytes" => !engine.is_symbolic(),
        "digest" => engine.has_digests(),
        // Searches in memory have no traffic.
        "read_bytes" | "written_bytes" => {
            rows.iter().any(|row| row.read_bytes > 0 || row.written_bytes > 0)
        }
        "memo_hits" | "memo_misses" | "memo_miss_seconds" => {
            engine.is_explicit() && rows.iter().any(|row| row.memo_hits > 0 || row.memo_misses > 0)
        }
        _ => true,
    }
}

/// A complete layer of a run.
#[derive(Clone, Debug)]
pub(crate) struct Layer {
    /// The layer.
    pub(crate) event: LayerEvent,
    /// Positions that its states stand for, if they are counted.
    pub(crate) positions: Option<u64>,
}

impl Serialize for Layer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Line {
            #[serde(flatten)]
            row: LayerRow,
            /// States in all layers so far, this one included.
            total_states: u64,
            /// Whether the layer is from a run before the resume.
            replayed: bool,
        }
        let LayerEvent { layer, took, total_states, replayed } = &self.event;
        let row = LayerRow::new(layer, self.positions, *took);
        Line { row, total_states: *total_states, replayed: *replayed }.serialize(serializer)
    }
}
