//! Typed events of a run: the single source of progress, JSON lines and logs.

use strata_space::Digest;
use strata_store::HistoryLine;

/// Something that happened in a run.
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
    /// A checkpoint is durable: a crash from here on loses nothing up to its depth.
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
#[derive(Clone, Debug, PartialEq)]
pub struct LayerEvent {
    /// Distance from the start.
    pub depth: u32,
    /// States.
    pub states: u64,
    /// Positions that they stand for: as many without symmetry, and 0 if the space does not count
    /// them.
    pub positions: u64,
    /// Legal moves of its states.
    pub generated: u64,
    /// Regions with a state.
    pub regions: u64,
    /// Bytes of its files.
    pub bytes: u64,
    /// Sum of the weights of its positions: independent of order, threads and workers.
    pub digest: Digest,
    /// Time it took, in seconds.
    pub seconds: f64,
    /// States of all layers up to this one.
    pub total_states: u64,
    /// Whether an earlier run made it.
    pub replayed: bool,
}

impl LayerEvent {
    pub(crate) fn new(line: &HistoryLine, seconds: f64, total_states: u64, replayed: bool) -> Self {
        LayerEvent {
            depth: line.depth,
            states: line.states,
            positions: line.positions,
            generated: line.generated,
            regions: line.regions,
            bytes: line.bytes,
            digest: strata_space::Weight(line.digest.0),
            seconds,
            total_states,
            replayed,
        }
    }
}

/// The layers of a history as events of earlier runs.
pub(crate) fn replayed(lines: &[HistoryLine]) -> impl Iterator<Item = Event> {
    let (mut total, mut end) = (0, 0.0);
    lines.iter().map(move |line| {
        total += line.states;
        let seconds = line.seconds - std::mem::replace(&mut end, line.seconds);
        Event::Layer(LayerEvent::new(line, seconds, total, true))
    })
}
