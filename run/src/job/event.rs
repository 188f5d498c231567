//! Events of a run, from which progress display, JSON lines and logs are made.

use strata_store::LayerRecord;

/// An event of a run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// The job starts or resumes. The first event of a run.
    Started {
        /// The job's id, which is the name of its folder.
        job: String,
        /// Depth of the checkpoint it resumes from.
        resumed_from: Option<u32>,
    },
    /// A layer is complete. Layers of earlier runs come first, in order.
    Layer(LayerEvent),
    /// A checkpoint is durable: a later crash loses no layer up to its depth.
    Checkpoint {
        /// The last layer in it.
        depth: u32,
        /// Bytes made durable.
        bytes: u64,
        /// Time it took, in seconds.
        seconds: f64,
    },
}

/// A complete layer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LayerEvent {
    /// The layer's figures.
    pub layer: LayerRecord,
    /// Time that the layer took, in seconds.
    pub took: f64,
    /// States of all layers up to this one.
    pub total_states: u64,
    /// Whether an earlier run searched the layer.
    pub replayed: bool,
}

/// Creates the events of layers, which must come in order of depth.
#[derive(Clone, Copy, Debug, Default)]
pub struct LayerEvents {
    /// Search time in seconds up to the last layer.
    end: f64,
    total_states: u64,
}

impl LayerEvents {
    /// The event of the next layer.
    pub fn next(&mut self, layer: LayerRecord, replayed: bool) -> LayerEvent {
        let took = (layer.seconds - std::mem::replace(&mut self.end, layer.seconds)).max(0.0);
        self.total_states = self.total_states.saturating_add(layer.states);
        LayerEvent { layer, took, total_states: self.total_states, replayed }
    }
}
