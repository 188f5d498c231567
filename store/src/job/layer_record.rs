//! Records of layers: figures and kept files.

use serde::{Deserialize, Serialize};
use strata_space::Digest;

use crate::hex::Hex64;
use crate::job::spec::EngineKind;
use crate::layer::file::{ExpectedFile, Layer};
use crate::layer::format::LayerTotals;

/// A layer file that is kept for tracing paths.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptFile {
    /// The worker that keeps the file.
    pub worker: u32,
    /// Name of the file in the job's folder.
    pub file: String,
    /// Length of the file, in bytes.
    pub bytes: u64,
    /// Seal of the file.
    pub seal: Hex64,
}

impl KeptFile {
    /// The record of a worker's layer file; `None` if the layer is only in memory.
    #[must_use]
    pub fn of(layer: &Layer, worker: u32) -> Option<Self> {
        let file = layer.path()?.file_name()?.to_str()?.to_owned();
        Some(Self { worker, file, bytes: layer.file_bytes(), seal: Hex64(layer.seal()) })
    }

    /// The expectation with which [`Layer::open`] checks the file of a job of an engine.
    #[must_use]
    pub fn expect<'a>(&self, job: &'a str, depth: u32, engine: EngineKind) -> ExpectedFile<'a> {
        let kind = engine.file_kind();
        ExpectedFile { job, kind, depth, bytes: self.bytes, seal: self.seal.0 }
    }
}

/// Figures of a layer and the files that keep it. A record is a line of the history; workers, the
/// coordinator and its clients also exchange it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LayerRecord {
    /// Distance from the start.
    pub depth: u32,
    /// States in the layer.
    pub states: u64,
    /// Positions that they stand for; 0 if they are not counted.
    pub positions: u64,
    /// Number of orbits of the positions under the symmetries; None if unknown, or without symmetry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orbits: Option<u64>,
    /// Number of legal moves of the states.
    pub generated: u64,
    /// Regions in the layer.
    pub regions: u64,
    /// Total bytes of its files.
    pub bytes: u64,
    /// Digest of its states.
    pub digest: Digest,
    /// Search time from the start to the completion of the layer, in seconds.
    pub seconds: f64,
    /// Bytes of the files read to make the layer: other layers and spilled exits. 0 if they were in
    /// memory.
    pub read_bytes: u64,
    /// Bytes of the files written to make the layer: the layer itself, spilled exits, and older layers
    /// joined into one file. Files of checkpoints do not count.
    pub written_bytes: u64,
    /// Expansions of regions that were found in the memo table; 0 without a table.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub memo_hits: u64,
    /// Expansions that were looked up there, not found and computed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub memo_misses: u64,
    /// Time to compute these, over all threads and workers, in seconds. It is estimated from one of 16.
    #[serde(default, skip_serializing_if = "is_no_time")]
    pub memo_miss_seconds: f64,
    /// The files kept of the layer, by worker.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<KeptFile>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

fn is_no_time(seconds: &f64) -> bool {
    *seconds == 0.0
}

impl LayerRecord {
    /// The figures that the totals of a layer file also have.
    #[must_use]
    pub fn totals(&self) -> LayerTotals {
        LayerTotals {
            regions: self.regions,
            states: self.states,
            positions: self.positions,
            generated: self.generated,
            digest: self.digest,
        }
    }
}
