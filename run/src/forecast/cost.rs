//! Expected time, memory and disk space of a search.
//!
//! The rates were measured on machines with two cores (docs/benchmarks.md). A time is a range, since it
//! depends on the machine and on other work there.

use strata_space::NestedSize;
use strata_space::dense::DenseSize;

use super::model::{Forecast, LAYER_SECONDS};
use super::range::Range;
use crate::dense_memory::DenseMemory;
use crate::keep_layers::KeepLayers;

/// Seconds of one thread for a node of a diagram, without digests.
const NODE_SECONDS: f64 = 3e-6;

/// Factor of the time of a node with digests.
const DIGEST_TIME: f64 = 1.27;

/// Speedup by a second thread, without digests and with them.
const HELPER_SPEED: (f64, f64) = (1.3, 1.55);

/// Bytes of a node: on one thread without digests, and what a second thread and digests add.
const NODE_BYTES: (u64, u64, u64) = (90, 27, 40);

/// Bytes of a layer in the history.
const LINE_BYTES: u64 = 250;

/// Bytes of checkpoints per node: 0.9 MiB for Panex 10.
const NODE_DISK_BYTES: f64 = 0.12;

/// Memory of the process besides nodes.
const FIXED_BYTES: u64 = 16 << 20;

/// States per second of one thread of the dense engine, with its planes in memory: least and most.
const DENSE_RATE: Range = Range { low: 80e6, high: 450e6 };

/// States per second of one thread of the dense engine, by parts on disk: least and most.
const DENSE_DISK_RATE: Range = Range { low: 25e6, high: 150e6 };

/// Number of the widest layers that are on disk at a time: those of two checkpoints and the next one.
const LAYERS_ON_DISK: f64 = 5.0;

/// Factor by which a time may be wrong in either direction.
const TIME_FACTOR: f64 = 1.7;

/// Seconds and bytes on disk above which the expected cost of a search is announced.
const LARGE: (f64, u64) = (60.0, 1 << 30);

/// Resources of a search.
#[derive(Copy, Clone, Debug)]
pub struct Resources {
    /// Threads, all workers together.
    pub threads: usize,
    /// Memory budget in bytes, all workers together.
    pub memory: u64,
    /// Layers that stay on disk.
    pub keep: KeepLayers,
}

/// Expected cost of a search. Unknown figures are absent.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct Expected {
    /// Depth at which the search ends.
    pub layers: Option<u32>,
    /// States of all layers.
    pub states: Option<f64>,
    /// Whether the search may end before it has found all these states: then states, time and disk
    /// are upper bounds.
    pub is_upper_bound: bool,
    /// Time in seconds.
    pub seconds: Option<Range>,
    /// Memory in bytes. The explicit engine uses its budget.
    pub memory_bytes: Option<u64>,
    /// Largest number of bytes on disk at any time.
    pub disk_bytes: Option<u64>,
}

impl Expected {
    /// Whether the search is expected to take over a minute or over 1 GiB on disk.
    pub fn is_large(&self) -> bool {
        self.seconds.is_some_and(|seconds| seconds.middle() > LARGE.0)
            || self.disk_bytes.is_some_and(|bytes| bytes > LARGE.1)
    }

    /// Whether states, time and disk space are all unknown.
    pub fn is_unknown(&self) -> bool {
        self.seconds.is_none() && self.states.is_none() && self.disk_bytes.is_none()
    }
}

impl Forecast {
    /// The expected cost of the search with these resources.
    pub fn expected(&self, resources: &Resources) -> Expected {
        let mut expected = Expected {
            layers: self.layers(),
            states: self.states(),
            is_upper_bound: self.is_upper_bound(),
            ..Expected::default()
        };
        match (self.dense, self.size.nested) {
            (Some(dense), _) => self.add_dense(&dense, resources, &mut expected),
            (None, Some(nested)) if self.engine.is_symbolic() => {
                self.add_symbolic(&nested, resources, &mut expected);
            }
            (None, _) if self.engine.is_explicit() => self.add_explicit(resources, &mut expected),
            _ => {}
        }
        expected
    }

    fn add_dense(&self, dense: &DenseSize, resources: &Resources, expected: &mut Expected) {
        let DenseMemory { whole, .. } = DenseMemory::of(dense, resources.threads);
        let is_whole = whole <= resources.memory;
        let rate = if is_whole { DENSE_RATE } else { DENSE_DISK_RATE };
        let threads = resources.threads.max(1) as f64;
        expected.memory_bytes = Some(whole.min(resources.memory));
        expected.seconds = self.states().map(|states| Range {
            // A goal may be anywhere.
            low: if self.is_upper_bound() { 0.0 } else { states / (rate.high * threads) },
            high: states / (rate.low * threads),
        });
        // A layer has at most a bit for each state; about three are on disk at a time. Older layers together
        // have one, too, and are there twice while they are merged.
        let layer = dense.states.div_ceil(8);
        let older = if dense.is_undirected { 0 } else { 2 };
        let kept = match (resources.keep, self.layers()) {
            (KeepLayers::Last, _) => Some(3),
            (KeepLayers::All, Some(layers)) => Some(u64::from(layers) + 1),
            (KeepLayers::Every(step), Some(layers)) => Some(u64::from(layers / step) + 3),
            _ => None,
        };
        expected.disk_bytes = kept.map(|layers| (layers + older).saturating_mul(layer));
    }

    fn add_symbolic(&self, nested: &NestedSize, resources: &Resources, expected: &mut Expected) {
        let (has_digests, has_helper) = (self.engine.has_digests(), resources.threads > 1);
        let (alone, helper, digests) = NODE_BYTES;
        let bytes = alone + helper * u64::from(has_helper) + digests * u64::from(has_digests);
        let Some(nodes) = nested.nodes else { return };
        let nodes = nodes as f64 * self.share_of_end();
        let speed = match (has_helper, has_digests) {
            (false, _) => 1.0,
            (true, false) => HELPER_SPEED.0,
            (true, true) => HELPER_SPEED.1,
        };
        let node = NODE_SECONDS * if has_digests { DIGEST_TIME } else { 1.0 } / speed;
        expected.seconds = Some(Range::around(nodes * node, TIME_FACTOR));
        // With a smaller budget the search drops memoised steps.
        let whole = FIXED_BYTES + (nodes * bytes as f64) as u64;
        expected.memory_bytes = Some(whole.min(resources.memory));
        let lines = self.layers().map(|layers| u64::from(layers) * LINE_BYTES);
        expected.disk_bytes = lines.map(|lines| lines + (nodes * NODE_DISK_BYTES) as u64);
    }

    /// The share of the work of the whole search up to the end, which may be the depth limit.
    fn share_of_end(&self) -> f64 {
        match (self.size.layers, self.layers(), self.size.nested) {
            (Some(layers), Some(end), Some(NestedSize { work_by_depth: Some(curve), .. })) => {
                curve.at(end, layers)
            }
            _ => 1.0,
        }
    }

    fn add_explicit(&self, resources: &Resources, expected: &mut Expected) {
        expected.memory_bytes = Some(resources.memory);
        let (Some(states), Some(figures)) = (self.states(), self.size.explicit) else { return };
        let rate = figures.states_per_second * resources.threads.max(1) as f64;
        let layers = f64::from(self.layers().unwrap_or(0));
        let seconds = states / rate + layers * LAYER_SECONDS;
        expected.seconds = Some(Range::around(seconds, TIME_FACTOR));
        let all = states * figures.bytes_per_state;
        let widest = self.size.widest.map(|widest| {
            let widest = (widest as f64).min(states) * figures.bytes_per_state;
            LAYERS_ON_DISK * widest
        });
        let bytes = match resources.keep {
            KeepLayers::Last => widest,
            KeepLayers::All => Some(all),
            KeepLayers::Every(step) => widest.map(|two| two + all / f64::from(step.get())),
        };
        expected.disk_bytes = bytes.map(|bytes| bytes as u64);
    }
}
