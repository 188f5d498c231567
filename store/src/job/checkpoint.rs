//! Checkpoints: the files and counters from which a search can be resumed.

use serde::{Deserialize, Serialize};
use strata_space::Digest;

use crate::hex::Hex64;
use crate::job::layer_names::OLDER_PREFIX;
use crate::job::spec::EngineKind;
use crate::layer::file::{ExpectedFile, Layer};
use crate::layer::format::LayerTotals;

/// A file of a checkpoint: one worker's part of a layer, or, if moves cannot be undone, its part of
/// several older layers together.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckpointFile {
    /// Depth of the layer, or of the last of several layers.
    pub depth: u32,
    /// The worker that wrote and keeps the file.
    pub worker: u32,
    /// Name of the file in the job's folder.
    pub file: String,
    /// Length of the file, in bytes.
    pub bytes: u64,
    /// States in it.
    pub states: u64,
    /// Positions that they stand for; 0 if they are not counted.
    pub positions: u64,
    /// Regions in it.
    pub regions: u64,
    /// Number of legal moves of the states.
    pub generated: u64,
    /// Digest of its states.
    pub digest: Digest,
    /// Seal of the file.
    pub seal: Hex64,
}

impl CheckpointFile {
    /// The record of a worker's layer file; `None` if the layer is only in memory.
    #[must_use]
    pub fn of(layer: &Layer, worker: u32) -> Option<Self> {
        let path = layer.path()?;
        let totals = layer.totals();
        Some(Self {
            depth: layer.header().depth,
            worker,
            file: path.file_name()?.to_str()?.to_owned(),
            bytes: layer.file_bytes(),
            states: totals.states,
            positions: totals.positions,
            regions: totals.regions,
            generated: totals.generated,
            digest: totals.digest,
            seal: Hex64(layer.seal()),
        })
    }

    /// Whether the file holds several older layers. Its only totals are then those of states and regions.
    #[must_use]
    pub fn is_older(&self) -> bool {
        self.file.starts_with(OLDER_PREFIX)
    }

    /// Number of states in the files of a checkpoint that hold older layers.
    #[must_use]
    pub fn older_states(files: &[CheckpointFile]) -> u64 {
        let older = files.iter().filter(|file| file.is_older());
        older.fold(0, |sum: u64, file| sum.saturating_add(file.states))
    }

    /// The files of a checkpoint that a resume needs: those with states. A single file is needed even
    /// without states, because the file of a diagram also holds the layer before.
    pub fn needed(files: &[CheckpointFile]) -> impl Iterator<Item = &CheckpointFile> {
        files.iter().filter(|file| file.states > 0 || files.len() == 1)
    }

    /// The totals of the file.
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

    /// The expectation with which [`Layer::open`] checks the file of a job of an engine.
    #[must_use]
    pub fn expect<'a>(&self, job: &'a str, engine: EngineKind) -> ExpectedFile<'a> {
        ExpectedFile {
            job,
            kind: if self.is_older() { engine.older_kind() } else { engine.file_kind() },
            depth: self.depth,
            bytes: self.bytes,
            seal: self.seal.0,
        }
    }
}

/// The prefix of the history that belongs to a checkpoint.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HistoryPrefix {
    /// Length, in bytes.
    pub bytes: u64,
    /// Number of lines.
    pub lines: u64,
    /// xxh3-64 of the prefix.
    pub checksum: Hex64,
}

/// Counters of a search, over all layers up to a checkpoint.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counters {
    /// States of all layers.
    pub states: u64,
    /// Positions that they stand for; 0 if they are not counted.
    pub positions: u64,
    /// Number of legal moves of the states.
    pub generated: u64,
    /// Peak of the bytes on disk.
    pub disk_peak_bytes: u64,
    /// Total bytes that inboxes have spilled to disk.
    pub spilled_bytes: u64,
}

/// A point from which a search can be resumed.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    /// Depth of the last complete layer.
    pub depth: u32,
    /// The files of the last two layers, or of layer 0 at depth 0. If moves cannot be undone, also the
    /// files of older layers.
    pub layers: Vec<CheckpointFile>,
    /// The history up to this layer.
    pub history: HistoryPrefix,
    /// Counters up to this layer.
    pub counters: Counters,
}
