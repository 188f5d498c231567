//! Tests that spilled exits give the same layers as exits in memory, and that file traffic is counted.

use std::sync::Arc;

use crate::drive;

use drive::{Outcome, SearchSetup, on_all_workers, search, start_workers};
use strata_engine::explicit::Engine;
use strata_puzzles::Hanoi;
use strata_puzzles::panex::{Panex, PanexConfig};
use strata_run::{KeepLayers, LayerReport, Worker};
use strata_space::{KeySpace, Keyed, Seed};

/// Hanoi with regions so small that most moves leave them.
struct ManyRegions(Hanoi);

impl KeySpace for ManyRegions {
    type Key = u64;
    fn seeds(&self) -> Vec<Seed> {
        self.0.seeds()
    }

    fn key_bits(&self) -> u32 {
        self.0.key_bits()
    }

    fn successors(&self, key: u64, out: &mut Vec<u64>) {
        self.0.successors(key, out);
    }

    fn local_bits(&self) -> Option<u32> {
        Some(3)
    }

    fn text(&self, key: u64) -> String {
        self.0.text(key)
    }
}

fn hanoi(setup: SearchSetup) -> Outcome {
    let space = Keyed::new(ManyRegions(Hanoi::new(10, 4, true).unwrap())).unwrap();
    search(setup, |shards| Engine::sparse(space, shards))
}

#[test]
fn the_least_budget_spills_and_finds_the_same_layers() {
    let generous = hanoi(SearchSetup { extra_memory: 1 << 30, ..SearchSetup::default() });
    assert_eq!(generous.spilled_bytes, 0);
    assert_eq!(generous.states().iter().sum::<u64>(), 4_u64.pow(10));
    for workers in [1, 2] {
        let tight = hanoi(SearchSetup { extra_memory: 0, workers, ..SearchSetup::default() });
        assert!(tight.spilled_bytes > 0, "{workers} workers");
        assert_eq!(tight.layers, generous.layers, "{workers} workers");
        assert_eq!(tight.run_files, 0, "{workers} workers leave spilled runs behind");
    }
}

/// The figures of all layers but the first.
fn layers(setup: SearchSetup) -> Vec<LayerReport> {
    let dir = tempfile::tempdir().unwrap();
    let space = Keyed::new(Hanoi::new(7, 4, true).unwrap()).unwrap();
    let engine = Arc::new(Engine::sparse(space, setup.shards));
    let mut workers = start_workers(setup, &engine, dir.path());
    on_all_workers(&mut workers, Worker::seed);
    let mut reports = Vec::new();
    loop {
        let report = LayerReport::sum(on_all_workers(&mut workers, Worker::advance)).unwrap();
        if report.layer.states == 0 {
            return reports;
        }
        reports.push(report);
    }
}

#[test]
fn the_traffic_of_a_layer_is_that_of_its_files() {
    for workers in [1, 2] {
        let setup = SearchSetup { keep: KeepLayers::All, workers, ..SearchSetup::default() };
        let plain = layers(setup);
        for last in plain.windows(3) {
            let [before, previous, layer] = [0, 1, 2].map(|at| &last[at].layer);
            assert_eq!(layer.written_bytes, layer.bytes, "layer {}", layer.depth);
            assert_eq!(layer.read_bytes, previous.bytes + before.bytes, "layer {}", layer.depth);
        }
        // All exits are spilled: each run is written once and read once, by the next layer.
        let spilled = layers(SearchSetup { inbox_memory: Some(0), ..setup });
        let sum = |of: fn(&LayerReport) -> u64| spilled.iter().map(of).sum::<u64>();
        let written = sum(|report| report.layer.written_bytes - report.layer.bytes);
        let last = spilled.last().unwrap();
        assert!(written > 0 && written <= last.spilled, "{written} of {}", last.spilled);
        let more = |of: fn(&LayerReport) -> u64| sum(of) - plain.iter().map(of).sum::<u64>();
        assert!(more(|report| report.layer.read_bytes) > written / 2, "{workers} workers");
        // Narrow layers that are not kept are in memory.
        let narrow = layers(SearchSetup { workers, ..SearchSetup::default() });
        assert_eq!((narrow[0].layer.read_bytes, narrow[0].layer.written_bytes), (0, 0));
    }
}

#[test]
fn the_memo_use_of_a_layer_counts_look_ups() {
    let figures = |setup: SearchSetup| {
        let dir = tempfile::tempdir().unwrap();
        let panex = Panex::new(PanexConfig::new(5)).unwrap();
        let engine = Arc::new(Engine::tabled(panex, setup.shards));
        let mut workers = start_workers(setup, &engine, dir.path());
        on_all_workers(&mut workers, Worker::seed);
        let report = || LayerReport::sum(on_all_workers(&mut workers, Worker::advance)).unwrap();
        let reports: Vec<LayerReport> = std::iter::repeat_with(report).take(150).collect();
        let layers = || reports.iter().map(|report| &report.layer);
        let hits: u64 = layers().map(|layer| layer.memo_hits).sum();
        let misses: u64 = layers().map(|layer| layer.memo_misses).sum();
        ([hits, misses], layers().map(|layer| layer.memo_miss_seconds).sum::<f64>())
    };
    let ([hits, misses], seconds) = figures(SearchSetup::default());
    assert!(hits > 20 && misses > 1000, "{hits} hits, {misses} misses");
    assert!(seconds > 0.0);
    assert_eq!(figures(SearchSetup::default()).0, [hits, misses]);
}
