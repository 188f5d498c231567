//! Tests of encoded runs: their exits arrive like those of other runs, and exits with foreign shards,
//! locals or edges are refused.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use strata_engine::explicit::{
    Bounds, Engine, Inbox, InboxError, MAX_CONTENT, MemoryRun, Run, RunEncoder, SortBuffers,
};
use strata_puzzles::Hanoi;
use strata_puzzles::panex::{Panex, PanexConfig};
use strata_space::{ExitEdge, Keyed, Tabled};
use strata_store::{EntryKey, LocalWidth, StoreError, Word};

use crate::explicit::{self, files, read};

/// Target region, inverse edge and locals.
type Batch = (EntryKey, Option<ExitEdge>, Vec<u32>);

const SHARDS: u32 = 5;
const LOCALS: u32 = 300;
const EDGES: ExitEdge = 7;
const ALL: Bounds<'_> =
    Bounds { owns: &|shard| shard < SHARDS, locals: LOCALS as u128, exit_edges: EDGES };

fn inbox(folder: &Path, memory: usize) -> Arc<Inbox> {
    explicit::inbox(folder, memory, LocalWidth::One)
}

fn run(batches: &[Batch]) -> MemoryRun {
    let mut run = MemoryRun::default();
    batches.iter().for_each(|(key, inverse, locals)| run.push(*key, *inverse, Word::of(locals)));
    run.sort(&mut SortBuffers::default());
    run
}

/// The parts of a run as another process sends them.
fn sent(batches: &[Batch]) -> Vec<Vec<u8>> {
    let mut parts = Vec::new();
    let encoded = RunEncoder::new(1, 1 << 32).unwrap().encode(&run(batches), |part| {
        parts.push(part);
        Ok::<(), StoreError>(())
    });
    encoded.unwrap();
    parts
}

/// Accepts a run from another process.
fn accept(inbox: &Inbox, depth: u32, batches: &[Batch]) {
    for part in sent(batches) {
        inbox.accept_encoded(depth, &part, "batch", &ALL).unwrap();
    }
}

fn batches(most: usize) -> impl Strategy<Value = Vec<Batch>> {
    let key = (0..SHARDS, 0_u128..20).prop_map(|(shard, region)| EntryKey { shard, region });
    // In any order, with repetitions.
    let locals = proptest::collection::vec(0..LOCALS, 1..20);
    proptest::collection::vec((key, proptest::option::of(0..EDGES), locals), 0..most)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn exits_of_encoded_runs_equal_those_of_plain_runs(
        all in proptest::collection::vec(batches(30), 0..60),
        memory in prop_oneof![Just(0), Just(1 << 30), 500_usize..20_000],
        mixed: bool,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let (plain, encoded) = (inbox(dir.path(), 1 << 30), inbox(dir.path(), memory));
        for (number, batches) in all.iter().enumerate() {
            plain.accept(4, run(batches)).unwrap();
            if mixed && number % 3 == 0 {
                encoded.accept(4, run(batches)).unwrap();
            } else {
                accept(&encoded, 4, batches);
            }
        }
        let (wanted, found) = (plain.take(4).unwrap(), encoded.take(4).unwrap());
        prop_assert_eq!(read(&found), read(&wanted));
        prop_assert!(encoded.take(4).unwrap().is_empty());
        let held: usize = found.iter().map(|run| match run {
            Run::Memory(run) => run.capacity_bytes(),
            Run::File(_) => 0,
        }).sum();
        prop_assert!(held <= memory);
        prop_assert_eq!(encoded.spilled_bytes() > 0, memory < 1 << 30 && files(dir.path()) > 0);
        // Received runs are merged while they arrive, so a pass gets few of them.
        let others = if mixed { all.len() / 3 + 1 } else { 0 };
        prop_assert!(found.len() < 2 * 16 + others, "{} runs", found.len());
        encoded.recycle(4, found).unwrap();
        prop_assert_eq!((encoded.file_bytes(), files(dir.path())), (0, 0));
    }

    /// The batches of a region are the same, with their inverse edges and the order of their locals.
    #[test]
    fn batches_and_inverse_edges_survive_encoding(all in proptest::collection::vec(batches(30), 1..40)) {
        let dir = tempfile::tempdir().unwrap();
        let inbox = inbox(dir.path(), 1 << 30);
        all.iter().for_each(|batches| accept(&inbox, 4, batches));
        let mut found: Vec<Batch> = Vec::new();
        for taken in inbox.take(4).unwrap() {
            let Run::Memory(run) = taken else { panic!("a file") };
            let batches: Vec<Batch> =
                run.batches().map(|(key, edge, locals)| (key, edge, Word::locals(locals).to_vec())).collect();
            prop_assert!(batches.is_sorted_by_key(|batch| batch.0));
            found.extend(batches);
        }
        let mut wanted = all.concat();
        found.sort_unstable();
        wanted.sort_unstable();
        prop_assert_eq!(found, wanted);
    }
}

fn batch(shard: u32, region: u128, locals: &[u32]) -> Batch {
    (EntryKey { shard, region }, None, locals.to_vec())
}

#[test]
fn hundreds_of_small_runs_are_merged_in_memory() {
    let dir = tempfile::tempdir().unwrap();
    let inbox = inbox(dir.path(), 256 << 10);
    let mut expected = BTreeSet::new();
    for number in 0..1000_u32 {
        let key = EntryKey { shard: number % SHARDS, region: u128::from(number % 97) };
        let locals = [number % LOCALS, (number * 7) % LOCALS];
        expected.extend(locals.map(|local| (key, local)));
        accept(&inbox, 9, &[(key, None, locals.to_vec())]);
    }
    assert_eq!(inbox.spilled_bytes(), 0);
    let runs = inbox.take(9).unwrap();
    assert!(runs.len() < 3 * 16, "{} runs", runs.len());
    assert_eq!(read(&runs), expected);
}

/// An inbox counts allocated bytes, so it must not keep a short run in the memory of a long one.
#[test]
fn a_received_run_takes_memory_for_its_content_only() {
    let dir = tempfile::tempdir().unwrap();
    let inbox = inbox(dir.path(), 64 << 10);
    // A large recycled run, and then also a small one.
    for words in [1 << 20, 50_000] {
        let mut recycled = MemoryRun::default();
        recycled.push(EntryKey::default(), None, &vec![Word(0); words]);
        inbox.recycle_memory(recycled);
        accept(&inbox, 9, &[batch(1, 7, &[1, 2, 3])]);
        assert_eq!(inbox.spilled_bytes(), 0, "{words} words");
        let runs = inbox.take(9).unwrap();
        let [Run::Memory(run)] = &runs[..] else { panic!("{} runs", runs.len()) };
        assert!(run.capacity_bytes() < 100, "{} bytes", run.capacity_bytes());
    }
    let large = inbox.recycled_run().capacity_bytes();
    assert!(large >= 4 << 20, "the large run is kept for senders, found one of {large} bytes");
}

#[test]
fn a_run_is_accepted_quickly_unless_it_leads_to_a_merge_or_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let own = inbox(folder.path(), 1 << 30);
    let quick = |inbox: &Inbox| {
        let is_quick = inbox.accepts_quickly(3);
        accept(inbox, 3, &[batch(1, 7, &[1, 2, 3])]);
        is_quick
    };
    let found: Vec<bool> = (0..32).map(|_| quick(&own)).collect();
    let expected: Vec<bool> = (1..=32).map(|number| number % 16 != 0).collect();
    assert_eq!(found, expected);
    assert!(!inbox(folder.path(), 1 << 20).accepts_quickly(3));
}

#[test]
fn long_runs_and_batches_are_cut() {
    let dir = tempfile::tempdir().unwrap();
    let inbox = inbox(dir.path(), 1 << 30);
    let bounds = Bounds { locals: 1 << 32, ..ALL };
    let long = |region: u128| {
        // Locals of five bytes each.
        let locals: Vec<u32> =
            (0..500_000).map(|i| if i % 2 == 0 { i } else { u32::MAX - i }).collect();
        (EntryKey { shard: 1, region }, Some(3), locals)
    };
    let batches = [long(4), long(5)];
    let parts = sent(&batches);
    assert!(parts.len() > 2, "{} parts", parts.len());
    for part in parts {
        inbox.accept_encoded(2, &part, "batch", &bounds).unwrap();
    }
    let runs = inbox.take(2).unwrap();
    let wanted =
        batches.iter().flat_map(|(key, _, locals)| locals.iter().map(|local| (*key, *local)));
    assert_eq!(read(&runs), wanted.collect());
    for run in &runs {
        let Run::Memory(run) = run else { panic!("a file") };
        assert!(run.batches().all(|(_, inverse, _)| inverse == Some(3)));
    }
}

#[test]
fn an_empty_run_is_not_sent() {
    assert!(sent(&[]).is_empty());
}

fn refused(inbox: &Inbox, bytes: &[u8], bounds: &Bounds<'_>, wanted: &str) {
    match inbox.accept_encoded(8, bytes, "batch of worker 2", bounds) {
        Err(InboxError::Refused(error)) if error.is_corrupt() => {
            let text = error.to_string();
            assert!(text.contains(wanted), "{text} instead of {wanted}");
            assert!(text.contains("batch of worker 2"), "{text}");
        }
        other => panic!("{wanted}: {other:?}"),
    }
    assert!(inbox.take(8).unwrap().is_empty(), "{wanted}: something of it was taken");
}

#[test]
fn exits_of_foreign_shards_locals_and_edges_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let good = [batch(1, 4, &[7, 9]), batch(3, 2, &[LOCALS - 1])];
    let ours = Bounds { owns: &|shard| [1, 3].contains(&shard), ..ALL };
    for memory in [0, 1 << 20] {
        let inbox = inbox(dir.path(), memory);
        inbox.accept_encoded(8, &sent(&good)[0], "batch", &ours).unwrap();
        let exits =
            good.iter().flat_map(|(key, _, locals)| locals.iter().map(|local| (*key, *local)));
        assert_eq!(read(&inbox.take(8).unwrap()), exits.collect());
        let refused = |batches: &[Batch], wanted: &str| {
            refused(&inbox, &sent(batches)[0], &ours, wanted);
        };
        let foreign = [batch(1, 4, &[7]), batch(2, 4, &[7]), batch(3, 4, &[7])];
        refused(&foreign, "own shards, found shard 2");
        refused(
            &[batch(1, 4, &[7]), batch(u32::MAX, 0, &[7])],
            "own shards, found shard 4294967295",
        );
        let local = [batch(1, 4, &[7]), batch(3, 2, &[9, LOCALS])];
        refused(&local, "below 300, found 300 in region 3:2");
        refused(&[batch(1, u128::MAX, &[7])], "a region");
        let edge = (EntryKey { shard: 1, region: 4 }, Some(EDGES), vec![7]);
        refused(&[edge], "exit edges below 7, found 7");
    }
}

/// A content of the wrong form is refused, even in a valid frame.
#[test]
fn contents_of_another_form_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let inbox = inbox(dir.path(), 1 << 20);
    let good = zstd::bulk::decompress(&sent(&[batch(1, 4, &[7, 9])])[0], 1 << 20).unwrap();
    let pack = |content: &[u8]| zstd::bulk::compress(content, 1).unwrap();
    inbox.accept_encoded(8, &pack(&good), "batch", &ALL).unwrap();
    assert_eq!(inbox.take(8).unwrap().len(), 1);
    for length in 1..good.len() {
        refused(&inbox, &pack(&good[..length]), &ALL, "");
    }
    refused(&inbox, &pack(&[&good[..], &[0]].concat()), &ALL, "the end");
    // After the lengths: the key, the inverse edge, and the number of locals.
    let mut none = good.clone();
    assert_eq!(std::mem::replace(&mut none[16], 0), 2);
    refused(&inbox, &pack(&none), &ALL, "1 to 2 exits, found 0");
    let mut far = good.clone();
    far[0] = 0xFF;
    refused(&inbox, &pack(&far), &ALL, "four columns");
    refused(&inbox, &pack(&vec![0; MAX_CONTENT + 1]), &ALL, "at most");
    refused(&inbox, &[], &ALL, "a zstd frame");
}

#[test]
fn a_damaged_run_is_refused_as_a_whole() {
    let dir = tempfile::tempdir().unwrap();
    let inbox = inbox(dir.path(), 1 << 20);
    let batches: Vec<Batch> =
        (0..40).map(|i| batch(i / 10, u128::from(i * i), &[i, i + 100])).collect();
    let bytes = sent(&batches).remove(0);
    inbox.accept_encoded(8, &bytes, "batch", &ALL).unwrap();
    let good = read(&inbox.take(8).unwrap());
    for at in 0..bytes.len() {
        let mut bad = bytes.clone();
        bad[at] ^= 0x10;
        match inbox.accept_encoded(8, &bad, "batch", &ALL) {
            // One bit of the frame's header has no effect.
            Ok(()) => assert_eq!(read(&inbox.take(8).unwrap()), good, "byte {at}"),
            Err(InboxError::Refused(error)) => assert!(error.is_corrupt(), "byte {at}: {error}"),
            Err(error) => panic!("byte {at}: {error}"),
        }
        assert!(inbox.take(8).unwrap().is_empty(), "byte {at}");
    }
}

#[test]
fn only_sorted_runs_are_encoded() {
    let mut run = MemoryRun::default();
    run.push(EntryKey { shard: 2, region: 0 }, None, &[Word(1)]);
    run.push(EntryKey { shard: 1, region: 0 }, None, &[Word(1)]);
    let mut encoder = RunEncoder::new(1, 1 << 32).unwrap();
    let mut parts = 0;
    let mut encode = |run: &MemoryRun| {
        encoder.encode(run, |_| {
            parts += 1;
            Ok::<(), StoreError>(())
        })
    };
    let error = encode(&run).unwrap_err();
    assert!(matches!(error, StoreError::Inconsistent { .. }), "{error}");
    // The encoder can be used again.
    run.sort(&mut SortBuffers::default());
    encode(&run).unwrap();
    assert_eq!(parts, 1);
}

#[test]
fn spaces_with_tables_or_keys_bound_their_locals() {
    let panex = Panex::new(PanexConfig::new(4)).unwrap();
    let (indices, edges) = (panex.indices(), panex.exit_edges());
    let engine = Engine::tabled(panex, 3);
    assert_eq!((engine.locals(), engine.exit_edges()), (u128::from(2 * indices), edges));
    let hanoi = Keyed::new(Hanoi::new(8, 3, false).unwrap()).unwrap();
    let engine = Engine::keyed(hanoi, 3);
    assert_eq!((engine.locals() % 2, engine.exit_edges()), (0, 0));
}
