//! Kernels: steps that are remembered are those that are made, and nothing is left of a pass that
//! was given up.
#![allow(clippy::unwrap_used)] // clippy.toml allows it in tests, but not in their helpers

use std::collections::BTreeMap;

use strata_search::{
    Batches, Engine, Error, ExitSink, Inputs, Kernel, KernelMemory, Output, Result, Tally,
};
use strata_space::catalogue::Parameters;
use strata_space::{Local, Space};
use strata_store::{EntryKey, List, ListBuf};

/// Regions and their states.
type Layer = BTreeMap<EntryKey, Vec<Local>>;

/// What a pass made.
#[derive(Default, Debug, PartialEq)]
struct Made {
    next: Layer,
    exits: BTreeMap<EntryKey, Vec<Vec<Local>>>,
    tally: Tally,
}

impl ExitSink for Made {
    fn send(&mut self, target: EntryKey, locals: &[Local]) -> Result<()> {
        self.exits.entry(target).or_default().push(locals.to_vec());
        Ok(())
    }
}

impl Output for Made {
    fn put(&mut self, at: EntryKey, states: List<'_>) -> Result<()> {
        let mut locals = Vec::new();
        states.decode(&mut locals).unwrap();
        assert!(self.next.last_key_value().is_none_or(|(last, _)| *last < at), "in order");
        self.next.insert(at, locals);
        Ok(())
    }

    fn tally(&mut self) -> &mut Tally {
        &mut self.tally
    }

    fn damaged(&self, at: EntryKey) -> Error {
        panic!("{at} is not damaged")
    }
}

fn engine() -> Engine {
    let parameters: Parameters = [("level".to_string(), "5".to_string())].into();
    Engine::open(Space::open("panex", &parameters).unwrap(), 7)
}

/// Gives a kernel all regions of a pass.
fn offer(kernel: &mut dyn Kernel, current: &Layer, previous: &Layer, before: &Made) -> Made {
    let mut made = Made::default();
    let (mut a, mut b) = (ListBuf::default(), ListBuf::default());
    let mut keys: Vec<EntryKey> = current.keys().chain(before.exits.keys()).copied().collect();
    keys.sort_unstable();
    keys.dedup();
    for at in keys {
        let mut inbox = Batches::default();
        before.exits.get(&at).into_iter().flatten().for_each(|batch| inbox.push(batch));
        let list = |layer: &Layer| layer.get(&at).cloned().unwrap_or_default();
        let (now, then) = (list(current), list(previous));
        let inputs = Inputs { current: a.encode(&now), previous: b.encode(&then), inbox: &inbox };
        kernel.expand(at, inputs, &mut made).unwrap();
    }
    made
}

/// The first so many layers.
fn search(engine: &Engine, kernel: &mut dyn Kernel, depth: usize) -> Vec<Made> {
    let mut seeds = Made::default();
    for (at, seed) in engine.seeds() {
        seeds.next.entry(at).or_default().push(seed.local);
    }
    let start = seeds.next.clone();
    let mut tally = Tally::default();
    for (at, locals) in &start {
        kernel.emit(*at, locals, &mut tally, &mut seeds).unwrap();
    }
    let (mut layers, empty) = (vec![seeds], Layer::new());
    for d in 0..depth {
        let previous = d.checked_sub(1).map_or(&empty, |before| &layers[before].next);
        let mut made = offer(kernel, &layers[d].next, previous, &layers[d]);
        let mut rest = Made::default();
        kernel.finish(&mut rest).unwrap();
        made.next.append(&mut rest.next);
        for (target, batches) in rest.exits {
            made.exits.entry(target).or_default().extend(batches);
        }
        made.tally.add(&rest.tally);
        layers.push(made);
    }
    layers
}

#[test]
fn remembered_steps_are_those_that_are_made() {
    let engine = engine();
    let kernel = |steps| engine.kernel(KernelMemory { regions: 1 << 20, steps });
    let made = search(&engine, &mut *kernel(0), 172);
    assert_eq!(made.iter().map(|layer| layer.tally.states).sum::<u64>(), 218_854);
    // In a large memory, all of it the second time; told by another kernel; and in a memory that forgets most.
    let (mut large, mut other) = (kernel(64 << 20), kernel(64 << 20));
    for _ in 0..2 {
        assert_eq!(search(&engine, &mut *large, 172), made);
    }
    assert_eq!(search(&engine, &mut *other, 172), made);
    assert_eq!(search(&engine, &mut *kernel(40 << 10), 172), made);
}

#[test]
fn nothing_is_left_of_a_pass_that_was_given_up() {
    let engine = engine();
    let mut kernel = engine.kernel(KernelMemory { regions: 1 << 20, steps: 1 << 20 });
    let layers = search(&engine, &mut *kernel, 3);
    offer(&mut *kernel, &layers[2].next, &layers[1].next, &layers[2]);
    kernel.discard();
    let mut made = Made::default();
    kernel.finish(&mut made).unwrap();
    assert_eq!(made, Made::default());
    // Without word of that, it waits.
    offer(&mut *kernel, &layers[2].next, &layers[1].next, &layers[2]);
    kernel.finish(&mut made).unwrap();
    assert_eq!(made.next, layers[3].next);
}
