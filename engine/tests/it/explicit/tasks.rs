//! Tests of pass tasks in steps, and of pass tasks that fail: no exit remains after a failure, and no
//! state may be in the reserved region.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use strata_engine::explicit::{
    Engine, Error, Exchange, ExchangeError, KernelMemory, LocalExchange, MemoryRun, Outboxes, Pass,
    PassTask, Result,
};
use strata_puzzles::Hanoi;
use strata_puzzles::panex::{Panex, PanexConfig};
use strata_space::{Finish, Keyed, LayerStats, RegionKey, State, StateSpace, Weight};
use strata_store::{
    BlockEncoder, EncodeOptions, EntryKey, FileKind, FilePart, KeyRange, Layer, LayerHeader,
    LayerTotals, LayerWriter, LocalWidth, Word,
};

use crate::explicit::inbox;

const SHARDS: u32 = 2;

/// A space in which moves lead from a region to the regions whose keys are greater by `steps`. The seed is
/// state 0 of region `seed`.
struct Steps {
    seed: u128,
    steps: [u128; 2],
}

impl StateSpace for Steps {
    fn seeds(&self) -> Vec<State> {
        vec![State::new(RegionKey(self.seed), 0)]
    }

    fn finish(&self) -> Finish {
        Finish::Exhausted
    }

    fn moves(&self, state: State, out: &mut Vec<State>) {
        let further = |step| RegionKey(state.region.0 + step);
        out.extend(self.steps.map(|step| State::new(further(step), 0)));
    }

    fn shard_hash(&self, region: RegionKey) -> u64 {
        region.0 as u64
    }

    fn weight(&self, _: State) -> Weight {
        Weight::ONE
    }

    fn text(&self, state: State) -> String {
        format!("state {} of region {:x}", state.local, state.region.0)
    }
}

/// An exchange that records the runs sent. While `fails` is set, it sends nothing.
#[derive(Default)]
struct Record {
    fails: AtomicBool,
    sent: Mutex<Vec<(usize, u32, u128)>>,
}

impl Exchange for Record {
    fn send(&self, to: usize, depth: u32, run: MemoryRun) -> Result<()> {
        if self.fails.load(Ordering::Relaxed) {
            return Err(ExchangeError { to, source: "no connection".into() }.into());
        }
        let mut sent = self.sent.lock().unwrap();
        Ok(run.for_each_region(LocalWidth::One, |key, _| {
            sent.push((to, depth, key.region));
            Ok(())
        })?)
    }

    fn flush(&self, _: usize, _: u32) -> Result<()> {
        Ok(())
    }

    fn recycled_run(&self, _: usize) -> MemoryRun {
        MemoryRun::default()
    }
}

fn task(engine: &Engine, exchange: Arc<Record>) -> PassTask {
    let kernel = engine.kernel(KernelMemory { regions: 0, memo: 0, learned: 0 });
    // One worker for each shard.
    let outboxes = Outboxes::new(exchange, 0, Arc::from([0, 1]), 1 << 20);
    PassTask::new(kernel, EncodeOptions::default(), outboxes).unwrap()
}

/// A layer with state 0 of one region.
fn layer(depth: u32, region: u128) -> Layer {
    let header = LayerHeader::new(FileKind::Layer, "job", depth, 1);
    let writer = LayerWriter::memory(header).unwrap();
    let mut encoder = BlockEncoder::new(EncodeOptions::default()).unwrap();
    let key = EntryKey::in_shards(region, region as u64, SHARDS);
    encoder.push(&writer, key, &[Word(0)]).unwrap();
    let part = encoder.finish(&writer).unwrap();
    let totals = LayerTotals { regions: 1, states: 1, ..LayerTotals::default() };
    writer.seal(vec![part], totals).unwrap()
}

#[test]
fn exits_of_a_failed_emit_are_dropped() {
    let engine = Engine::sparse(Steps { seed: 0, steps: [10, 11] }, SHARDS);
    let exchange = Arc::new(Record::default());
    let mut task = task(&engine, Arc::clone(&exchange));
    exchange.fails.store(true, Ordering::Relaxed);
    let error = task.emit(&layer(0, 0), KeyRange::ALL).unwrap_err();
    assert!(matches!(error, Error::Exchange(_)), "{error}");
    exchange.fails.store(false, Ordering::Relaxed);
    let stats = task.emit(&layer(4, 100), KeyRange::ALL).unwrap();
    assert_eq!((stats.states, stats.generated), (1, 2));
    assert_eq!(*exchange.sent.lock().unwrap(), [(0, 4, 110), (1, 4, 111)]);
}

#[test]
fn a_move_into_the_reserved_region_is_an_error_that_names_the_state() {
    let engine = Engine::sparse(Steps { seed: 0, steps: [10, u128::MAX] }, SHARDS);
    let mut task = task(&engine, Arc::default());
    let error = task.emit(&layer(0, 0), KeyRange::ALL).unwrap_err();
    assert!(matches!(error, Error::ReservedRegion { .. }), "{error}");
    let state = format!("state 0 of region {:x}", u128::MAX);
    assert!(error.to_string().contains(&state), "{error}");
}

#[test]
fn a_seed_in_the_reserved_region_is_an_error() {
    let engine = Engine::sparse(Steps { seed: u128::MAX, steps: [0, 0] }, SHARDS);
    assert!(matches!(engine.seeds(), Err(Error::ReservedRegion { .. })));
    let engine = Engine::sparse(Steps { seed: u128::MAX - 1, steps: [0, 0] }, SHARDS);
    assert_eq!(engine.seeds().unwrap().len(), 1);
}

/// Layers of a search by one task that expands about `states` states per step, with a pause after each
/// step. A layer is given as its statistics and the checksums of its blocks.
fn layers(engine: &Engine, states: u64) -> Vec<(LayerStats, Vec<u64>)> {
    let folder = tempfile::tempdir().unwrap();
    let inbox = inbox(folder.path(), 1 << 24, engine.width());
    let exchange = Arc::new(LocalExchange::new(vec![Arc::clone(&inbox)]));
    let kernel = engine.kernel(KernelMemory { regions: 1 << 20, memo: 1 << 20, learned: 0 });
    let outboxes = Outboxes::new(exchange, 0, Arc::from([0, 0]), 1 << 20);
    let mut task = PassTask::new(kernel, EncodeOptions::default(), outboxes).unwrap();
    let writer = |depth| {
        let header = LayerHeader::new(FileKind::Layer, "job", depth, 1);
        LayerWriter::memory(LayerHeader { width: engine.width(), ..header }).unwrap()
    };
    let seal = |writer: LayerWriter, part: FilePart| {
        let regions = part.blocks.iter().map(|block| u64::from(block.regions)).sum();
        let states = part.blocks.iter().map(|block| u64::from(block.states)).sum();
        let totals = LayerTotals { regions, states, ..LayerTotals::default() };
        writer.seal(vec![part], totals).unwrap()
    };

    let seeds = writer(0);
    let mut encoder = BlockEncoder::new(EncodeOptions::default()).unwrap();
    let mut sorted = engine.seeds().unwrap();
    sorted.sort_unstable();
    for (key, state) in sorted {
        encoder.push(&seeds, key, &[Word(state.local as u32)]).unwrap();
    }
    let part = encoder.finish(&seeds).unwrap();
    let (mut previous, mut current) = (None, seal(seeds, part));
    task.emit(&current, KeyRange::ALL).unwrap();

    let mut found = Vec::new();
    for depth in 0.. {
        let inbox_of_layer = inbox.take(depth).unwrap();
        let pass = Pass {
            depth,
            current: current.clone(),
            previous,
            older: Vec::new(),
            inbox: inbox_of_layer,
            writer: writer(depth + 1),
            goal: None,
            is_last: false,
        };
        task.begin(&pass, KeyRange::ALL).unwrap();
        let mut expanded = 0;
        while let Some(count) = task.step(&pass, states).unwrap() {
            expanded += count;
            task.pause(&pass).unwrap();
        }
        let (part, stats) = task.finish(&pass).unwrap();
        assert!(stats.states == 0 || states > 1 || expanded > 0);
        if stats.states == 0 {
            break;
        }
        let checksums = part.blocks.iter().map(|block| block.checksum).collect();
        found.push((stats, checksums));
        let Pass { writer, .. } = pass;
        previous = Some(std::mem::replace(&mut current, seal(writer, part)));
    }
    found
}

#[test]
fn steps_and_pauses_do_not_change_layers() {
    let panex = Panex::new(PanexConfig { exhaust: true, ..PanexConfig::new(4) }).unwrap();
    let hanoi = Keyed::new(Hanoi::new(6, 4, false).unwrap()).unwrap();
    for engine in [Engine::tabled(panex, SHARDS), Engine::sparse(hanoi, SHARDS)] {
        let whole = layers(&engine, u64::MAX);
        assert!(whole.len() > 10, "{} layers", whole.len());
        for states in [1, 7, 100] {
            assert_eq!(layers(&engine, states), whole, "{states} states a step");
        }
    }
}
