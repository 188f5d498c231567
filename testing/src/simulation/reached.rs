//! Rare states that simulations must reach. A run in which nothing unusual happens tests little, so many
//! seeds together are checked for what the nodes have logged.

use std::fmt::{Debug, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::Context;

/// Texts in log entries, each of a state that takes faults or luck. 3,000 seeds must reach each: one that fewer than
/// five of them reach does not belong here.
const STATES: [&str; 23] = [
    // Messages between workers.
    "a batch was sent again",
    "a batch was not accepted",
    "trying again",
    // Sessions.
    "the coordinator was restarted: the session of before has ended",
    "back to the last checkpoint",
    "rolled back to layer",
    "paused at the last checkpoint",
    "did not reconnect",
    "waiting for a worker: other jobs have them",
    "waiting for w",
    "queued again",
    "cancelled; it can be resumed",
    "stopped: ",
    "failed: ",
    // Workers, and who they are.
    "no connection to the coordinator",
    "worker disconnected",
    "the coordinator has another journal now",
    "the worker was connected to another journal",
    "this journal is an older copy",
    "the worker has another name now",
    // Files and removals.
    "again: ",
    "the job cannot be removed",
    "can be written again",
];

/// Counts how often each of the rare states was reached in this process: a layer of a subscriber.
#[derive(Clone, Debug)]
pub struct Reached {
    counts: Arc<[AtomicU64]>,
}

impl Default for Reached {
    fn default() -> Reached {
        Reached { counts: STATES.iter().map(|_| AtomicU64::new(0)).collect() }
    }
}

impl Reached {
    /// The entries that the layer needs.
    #[must_use]
    pub fn filter() -> Targets {
        let debug = ["strata_worker", "strata_coordinator"].map(|name| (name, LevelFilter::DEBUG));
        debug.into_iter().collect()
    }

    /// How often each state was reached.
    pub fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> {
        STATES.into_iter().zip(self.counts.iter().map(|count| count.load(Ordering::Relaxed)))
    }

    /// The states that were not reached.
    pub fn missing(&self) -> impl Iterator<Item = &'static str> {
        self.counts().filter(|(_, count)| *count == 0).map(|(state, _)| state)
    }
}

impl<S: Subscriber> Layer<S> for Reached {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut text = Message::default();
        event.record(&mut text);
        for (state, count) in STATES.iter().zip(&*self.counts) {
            if text.0.contains(state) {
                count.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

/// The message of an event.
#[derive(Default)]
struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            // A string takes all that is written.
            let _ = write!(self.0, "{value:?}");
        }
    }
}
