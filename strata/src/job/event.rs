//! Typed events of a run: the single source of progress, JSON lines and logs.

use strata_space::{Digest, Parameters};
use strata_store::{EngineKind, HistoryLine, JobSpec};

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
    /// Orbits of symmetries among its positions; None if they are unknown, or symmetry is not used.
    pub orbits: Option<u64>,
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
    pub(crate) fn new(
        spec: &JobSpec,
        line: &HistoryLine,
        (seconds, total_states): (f64, u64),
        replayed: bool,
    ) -> Self {
        LayerEvent {
            depth: line.depth,
            states: line.states,
            positions: line.positions,
            orbits: orbits((spec.engine, &spec.params), line.states, line.orbits),
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

/// Orbits of symmetries among a job's positions, from its states and from what was counted. With
/// `symmetry` on, states of other engines than the dense one are orbits. None if they are unknown, or
/// symmetry is not used.
#[must_use]
pub fn orbits(
    (engine, parameters): (EngineKind, &Parameters),
    states: u64,
    counted: Option<u64>,
) -> Option<u64> {
    let is_on = parameters.get("symmetry").is_some_and(|value| value == "on");
    if is_on && !engine.is_dense() { Some(states) } else { counted }
}

/// The layers of a history as events of earlier runs.
pub(crate) fn replayed(spec: &JobSpec, lines: &[HistoryLine]) -> impl Iterator<Item = Event> {
    let (mut total, mut end) = (0, 0.0);
    lines.iter().map(move |line| {
        total += line.states;
        let seconds = line.seconds - std::mem::replace(&mut end, line.seconds);
        Event::Layer(LayerEvent::new(spec, line, (seconds, total), true))
    })
}
