//! Tests of kernels: memoised expansions equal computed ones, and a discarded pass leaves nothing
//! behind.

use std::collections::BTreeMap;

use strata_engine::explicit::{
    Batches, Engine, Error, ExitSink, Inputs, Kernel, KernelMemory, Output, Result,
};
use strata_puzzles::panex::{Panex, PanexConfig, SymmetryUse};
use strata_puzzles::tiles::{Board, Shape, Tiles, TilesConfig};
use strata_space::{ExitEdge, LayerStats, Local};
use strata_store::{EntryKey, List, ListBuf, Word};

/// Regions and their states.
type Layer = BTreeMap<EntryKey, Vec<Local>>;

/// Exits, with their inverse exit edge.
type Batch = (Option<ExitEdge>, Vec<Local>);

/// The output of a pass.
#[derive(Default, Debug, PartialEq)]
struct Made {
    next: Layer,
    exits: BTreeMap<EntryKey, Vec<Batch>>,
    stats: LayerStats,
}

impl ExitSink for Made {
    fn send(&mut self, target: EntryKey, inverse: Option<ExitEdge>, words: &[Word]) -> Result<()> {
        self.exits.entry(target).or_default().push((inverse, Word::locals(words).to_vec()));
        Ok(())
    }
}

impl Output for Made {
    fn put(&mut self, at: EntryKey, states: List<'_>) -> Result<()> {
        let mut locals = Vec::new();
        states.decode_locals(&mut locals).unwrap();
        assert!(self.next.last_key_value().is_none_or(|(last, _)| *last < at), "in order");
        self.next.insert(at, locals);
        Ok(())
    }

    fn stats(&mut self) -> &mut LayerStats {
        &mut self.stats
    }

    fn damaged(&self, at: EntryKey) -> Error {
        panic!("{at} is not damaged")
    }
}

const SHARDS: u32 = 7;

fn panex(level: u8, symmetry: SymmetryUse) -> Engine {
    let config = PanexConfig { symmetry, ..PanexConfig::new(level) };
    Engine::tabled(Panex::new(config).unwrap(), SHARDS)
}

fn tiles(symmetry: bool) -> Engine {
    let sorted = Board::goal(Shape::parse("3x3").unwrap());
    let config = TilesConfig { start: sorted.clone(), goal: Some(sorted), k: None, symmetry };
    Engine::tabled(Tiles::new(config).unwrap(), SHARDS)
}

fn engine() -> Engine {
    panex(5, SymmetryUse::On)
}

/// Runs a pass with a kernel, with or without the inverse edges of exits.
fn run_pass(
    kernel: &mut dyn Kernel,
    (current, previous): (&Layer, &Layer),
    before: &Made,
    with_inverse: bool,
) -> Result<Made> {
    let mut made = Made::default();
    let (mut a, mut b) = (ListBuf::default(), ListBuf::default());
    let mut keys: Vec<EntryKey> = current.keys().chain(before.exits.keys()).copied().collect();
    keys.sort_unstable();
    keys.dedup();
    for at in keys {
        let mut inbox = Batches::default();
        before.exits.get(&at).into_iter().flatten().for_each(|(inverse, batch)| {
            inbox.push(inverse.filter(|_| with_inverse), Word::of(batch));
        });
        let list = |layer: &Layer| layer.get(&at).cloned().unwrap_or_default();
        let (now, then) = (list(current), list(previous));
        let (current, previous) = (a.encode(&now), b.encode(&then));
        let inputs = Inputs { current, previous, older: &[], inbox: &inbox };
        kernel.expand(at, inputs, &mut made)?;
    }
    Ok(made)
}

/// The layers up to a depth, searched with inverse edges.
fn search(engine: &Engine, kernel: &mut dyn Kernel, depth: usize) -> Vec<Made> {
    search_with(engine, kernel, depth, true).unwrap()
}

fn search_with(
    engine: &Engine,
    kernel: &mut dyn Kernel,
    depth: usize,
    with_inverse: bool,
) -> Result<Vec<Made>> {
    let mut seeds = Made::default();
    for (at, seed) in engine.seeds().unwrap() {
        seeds.next.entry(at).or_default().push(seed.narrow());
    }
    let start = seeds.next.clone();
    let mut stats = LayerStats::default();
    for (at, locals) in &start {
        kernel.emit(*at, Word::of(locals), &mut stats, &mut seeds).unwrap();
    }
    let (mut layers, empty) = (vec![seeds], Layer::new());
    for d in 0..depth {
        let previous = d.checked_sub(1).map_or(&empty, |before| &layers[before].next);
        let mut made = run_pass(kernel, (&layers[d].next, previous), &layers[d], with_inverse)?;
        let mut rest = Made::default();
        kernel.finish(&mut rest)?;
        made.next.append(&mut rest.next);
        for (target, batches) in rest.exits {
            made.exits.entry(target).or_default().extend(batches);
        }
        made.stats.add(&rest.stats);
        layers.push(made);
    }
    Ok(layers)
}

#[test]
fn memoised_expansions_equal_computed_ones() {
    let engine = engine();
    let kernel = |memo| engine.kernel(KernelMemory { regions: 1 << 20, memo, learned: 0 });
    let made = search(&engine, &mut *kernel(0), 172);
    assert_eq!(made.iter().map(|layer| layer.stats.states).sum::<u64>(), 218_854);
    // With a large memo table, in which the second search always hits; with entries of another kernel;
    // and with a table that drops most entries.
    let (mut large, mut other) = (kernel(64 << 20), kernel(64 << 20));
    for _ in 0..2 {
        assert_eq!(search(&engine, &mut *large, 172), made);
    }
    assert_eq!(search(&engine, &mut *other, 172), made);
    assert_eq!(search(&engine, &mut *kernel(40 << 10), 172), made);
}

const LEARNING: KernelMemory = KernelMemory { regions: 1 << 20, memo: 64 << 20, learned: 64 << 20 };

/// All layers, and what a kernel has learned in them.
fn learned(engine: &Engine) -> (Vec<Made>, Vec<u64>) {
    let mut kernel = engine.kernel(LEARNING);
    let made = search(engine, &mut *kernel, 172);
    (made, kernel.take_learned())
}

/// The number of words of the first entry that a kernel has put for others, with the region before it.
fn first_entry(words: &[u64]) -> usize {
    let half = |word: usize, half: u32| (words[word] >> (32 * half)) as u32 as usize;
    let bytes = [half(6, 0), 8 * half(6, 1), 4 * half(7, 0), half(7, 1), half(8, 0), half(8, 1)];
    10 + bytes.into_iter().map(|bytes| bytes.div_ceil(8)).sum::<usize>()
}

#[test]
fn expansions_that_another_process_has_learned_equal_computed_ones() {
    let (made, learned) = learned(&engine());
    // An engine that numbers classes in another order.
    let engine = engine();
    let mut kernel = engine.kernel(LEARNING);
    for (at, locals) in &made[100].next {
        let (mut stats, mut exits) = Default::default();
        kernel.emit(*at, Word::of(locals), &mut stats, &mut exits as &mut Made).unwrap();
    }
    kernel.learn(&learned).unwrap();
    assert_eq!(search(&engine, &mut *kernel, 172), made);
    let used = kernel.take_memo_use();
    assert!(used.misses == 0 && used.hits > 3_000, "{used:?}");
    assert!(kernel.take_learned().is_empty());
}

#[test]
fn what_a_kernel_learns_for_others_has_a_limit() {
    let mut kernel = engine().kernel(KernelMemory { learned: 4096, ..LEARNING });
    search(&engine(), &mut *kernel, 172);
    let bytes = 8 * kernel.take_learned().len();
    assert!(bytes > 2048 && bytes <= 4096, "{bytes}");
}

#[test]
fn a_wrong_expansion_of_another_process_is_noticed() {
    let (made, mut learned) = learned(&engine());
    let mut at = 0;
    while at < learned.len() {
        // The number of moves.
        learned[at + 9] += 1;
        at += first_entry(&learned[at..]);
    }
    let engine = engine();
    let mut kernel = engine.kernel(LEARNING);
    kernel.learn(&learned).unwrap();
    let error = search_with(&engine, &mut *kernel, made.len() - 1, true).unwrap_err();
    assert_eq!(error.to_string(), "an expansion from another worker is wrong");
}

#[test]
fn damaged_expansions_are_refused_or_have_the_form_of_others() {
    let engine = engine();
    let (_, learned) = learned(&engine);
    let mut ends = vec![0];
    while *ends.last().unwrap() < 1_000 {
        ends.push(ends.last().unwrap() + first_entry(&learned[*ends.last().unwrap()..]));
    }
    let mut kernel = engine.kernel(LEARNING);
    for len in 0..*ends.last().unwrap() {
        let result = kernel.learn(&learned[..len]);
        assert_eq!(result.is_ok(), ends.contains(&len), "{len} words");
    }
    let mut words = learned[..ends[3]].to_vec();
    let mut refused = 0;
    for bit in 0..64 * words.len() {
        words[bit / 64] ^= 1 << (bit % 64);
        refused += usize::from(kernel.learn(&words).is_err());
        words[bit / 64] ^= 1 << (bit % 64);
    }
    assert!(refused > 64 * words.len() / 10, "{refused}");
}

#[test]
fn a_discarded_pass_leaves_nothing_behind() {
    let engine = engine();
    let mut kernel = engine.kernel(KernelMemory { regions: 1 << 20, memo: 1 << 20, learned: 0 });
    let layers = search(&engine, &mut *kernel, 3);
    run_pass(&mut *kernel, (&layers[2].next, &layers[1].next), &layers[2], true).unwrap();
    kernel.discard();
    let mut made = Made::default();
    kernel.finish(&mut made).unwrap();
    assert_eq!(made, Made::default());
    // Without `discard`, the regions stay pending, and `finish` expands them.
    run_pass(&mut *kernel, (&layers[2].next, &layers[1].next), &layers[2], true).unwrap();
    kernel.finish(&mut made).unwrap();
    assert_eq!(made.next, layers[3].next);
}

#[test]
fn skipped_inverse_exits_lead_to_known_states() {
    let spaces: [(Engine, usize); 4] =
        [(engine(), 172), (panex(4, SymmetryUse::Off), 90), (tiles(false), 31), (tiles(true), 31)];
    for (engine, depth) in spaces {
        let memory = KernelMemory { regions: 1 << 20, memo: 1 << 20, learned: 0 };
        let all = search_with(&engine, &mut *engine.kernel(memory), depth, false).unwrap();
        let sent = search(&engine, &mut *engine.kernel(memory), depth);
        let count =
            |made: &Made| made.exits.values().flatten().map(|(_, b)| b.len()).sum::<usize>();
        for (d, (all, fewer)) in all.iter().zip(&sent).enumerate() {
            assert_eq!((&all.next, all.stats), (&fewer.next, fewer.stats), "depth {d}");
            let before = d.checked_sub(1).map(|before| &sent[before].next);
            for (target, batches) in &all.exits {
                let known = before.and_then(|layer| layer.get(target));
                let now = fewer.exits.get(target);
                let still: Vec<Local> =
                    now.into_iter().flatten().flat_map(|(_, batch)| batch.clone()).collect();
                for local in batches.iter().flat_map(|(_, batch)| batch) {
                    let is_known = known.is_some_and(|known| known.binary_search(local).is_ok());
                    assert!(is_known || still.contains(local), "depth {d}: {local} of {target}");
                }
            }
        }
        let sum = |layers: &[Made]| layers.iter().map(count).sum::<usize>();
        assert!(sum(&sent) * 4 < sum(&all) * 3, "{} of {}", sum(&sent), sum(&all));
    }
}
