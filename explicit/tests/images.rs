//! Tests of run images: their exits arrive as those of other runs do, and exits of foreign shards
//! or locals are refused.
#![allow(clippy::unwrap_used)] // clippy.toml allows it in tests, but not in their helpers

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use strata_explicit::{
    Bounds, Engine, Error, Inbox, InboxError, InboxOptions, MemoryRun, Run, SortBuffers,
    run_header, run_image,
};
use strata_puzzles::Hanoi;
use strata_puzzles::panex::{Panex, PanexConfig};
use strata_space::{Keyed, Tabled};
use strata_store::{
    BlockEncoder, EncodeOptions, EntryKey, FileKind, KeyRange, Layer, LayerCursor, LayerHeader,
    LayerTotals, LayerWriter, RealFs, StoreError,
};

type Batch = (EntryKey, Vec<u32>);

const JOB: &str = "job";
const SHARDS: u32 = 5;
const LOCALS: u32 = 300;
const ALL: Bounds<'_> = Bounds { owns: &|shard| shard < SHARDS, locals: LOCALS };

fn inbox(folder: &Path, memory: usize) -> Inbox {
    let options = InboxOptions {
        memory,
        job: JOB.into(),
        folder: folder.into(),
        prefix: "run".into(),
        recycled_runs: 1,
        encode: EncodeOptions::default(),
    };
    Inbox::new(Arc::new(RealFs), options).unwrap()
}

fn run(batches: &[Batch]) -> MemoryRun {
    let mut run = MemoryRun::default();
    batches.iter().for_each(|(key, locals)| run.push(*key, None, locals));
    run.sort(&mut SortBuffers::default());
    run
}

fn encoder(block_bytes: usize) -> BlockEncoder {
    BlockEncoder::new(EncodeOptions { zstd_level: 1, block_bytes }).unwrap()
}

/// The run as the receiver opens it from the image's bytes.
fn sent(batches: &[Batch], depth: u32, block_bytes: usize) -> Layer {
    let made = run_image(&run(batches), &mut encoder(block_bytes), JOB, depth).unwrap();
    let bytes = made.into_image().unwrap();
    Layer::from_bytes(bytes, "batch", &run_header(JOB, depth)).unwrap()
}

/// A sealed layer with valid checksums and the given content, which may be invalid.
fn sealed(header: LayerHeader, batches: &[Batch]) -> Layer {
    let writer = LayerWriter::memory(header).unwrap();
    let mut encoder = encoder(100);
    for (key, locals) in batches {
        encoder.push(&writer, *key, locals).unwrap();
    }
    let part = encoder.finish(&writer).unwrap();
    let totals = LayerTotals {
        regions: batches.len() as u64,
        states: batches.iter().map(|(_, locals)| locals.len() as u64).sum(),
        ..LayerTotals::default()
    };
    writer.seal(vec![part], totals).unwrap()
}

/// All exits of some runs, as a pass merges them.
fn read(runs: &[Run]) -> BTreeMap<EntryKey, BTreeSet<u32>> {
    let mut all: BTreeMap<EntryKey, BTreeSet<u32>> = BTreeMap::new();
    for run in runs {
        match run {
            Run::Memory(run) => run
                .for_each_region(|key, locals| {
                    all.entry(key).or_default().extend(locals);
                    Ok(())
                })
                .unwrap(),
            Run::Image(layer) | Run::File(layer) => {
                let mut cursor = LayerCursor::new().unwrap();
                cursor.start(layer, KeyRange::ALL).unwrap();
                while let Some(key) = cursor.key() {
                    all.entry(key).or_default().extend(cursor.locals().unwrap());
                    cursor.advance().unwrap();
                }
            }
        }
    }
    all
}

fn files(folder: &Path) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}

fn batches(most: usize) -> impl Strategy<Value = Vec<Batch>> {
    let key = (0..SHARDS, 0_u128..20).prop_map(|(shard, region)| EntryKey { shard, region });
    // In any order and repeated at will.
    let locals = proptest::collection::vec(0..LOCALS, 1..20);
    proptest::collection::vec((key, locals), 0..most)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn images_arrive_like_runs(
        all in proptest::collection::vec(batches(30), 0..60),
        block_bytes in 1_usize..2000,
        memory in prop_oneof![Just(0), Just(1 << 30), 500_usize..20_000],
        mixed: bool,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let (plain, imaged) = (inbox(dir.path(), 1 << 30), inbox(dir.path(), memory));
        for (number, batches) in all.iter().enumerate() {
            plain.accept(4, run(batches)).unwrap();
            if mixed && number % 3 == 0 {
                imaged.accept(4, run(batches)).unwrap();
            } else {
                imaged.accept_image(4, sent(batches, 4, block_bytes), &ALL).unwrap();
            }
        }
        let (wanted, found) = (plain.take(4).unwrap(), imaged.take(4).unwrap());
        prop_assert_eq!(read(&found), read(&wanted));
        prop_assert!(imaged.take(4).unwrap().is_empty());
        let held: u64 = found.iter().map(|run| match run {
            Run::Memory(run) => run.capacity_bytes() as u64,
            Run::Image(image) => image.file_bytes(),
            Run::File(_) => 0,
        }).sum();
        prop_assert!(held <= memory as u64);
        prop_assert_eq!(imaged.spilled_bytes() > 0, memory < 1 << 30 && files(dir.path()) > 0);
        // Images are merged while they arrive, so a pass gets few of them.
        let images = found.iter().filter(|run| matches!(run, Run::Image(_))).count();
        prop_assert!(images < 2 * 16, "{} images", images);
        imaged.recycle(found).unwrap();
        prop_assert_eq!((imaged.file_bytes(), files(dir.path())), (0, 0));
    }
}

fn batch(shard: u32, region: u128, locals: &[u32]) -> Batch {
    (EntryKey { shard, region }, locals.to_vec())
}

#[test]
fn hundreds_of_images_become_few_and_use_the_share() {
    let dir = tempfile::tempdir().unwrap();
    let inbox = inbox(dir.path(), 64 << 10);
    let mut expected: BTreeMap<EntryKey, BTreeSet<u32>> = BTreeMap::new();
    for number in 0..1000_u32 {
        let key = EntryKey { shard: number % SHARDS, region: u128::from(number % 97) };
        let locals = [number % LOCALS, (number * 7) % LOCALS];
        expected.entry(key).or_default().extend(locals);
        inbox.accept_image(9, sent(&[(key, locals.to_vec())], 9, 4000), &ALL).unwrap();
    }
    assert_eq!(inbox.spilled_bytes(), 0);
    let runs = inbox.take(9).unwrap();
    assert!(runs.len() < 3 * 16, "{} runs", runs.len());
    assert_eq!(read(&runs), expected);
}

fn refused(inbox: &Inbox, depth: u32, image: Layer, bounds: &Bounds<'_>, wanted: &str) {
    match inbox.accept_image(depth, image, bounds) {
        Err(InboxError::Refused(error)) if error.is_corrupt() => {
            assert!(error.to_string().contains(wanted), "{error} instead of {wanted}");
        }
        other => panic!("{wanted}: {other:?}"),
    }
    assert!(inbox.take(depth).unwrap().is_empty(), "{wanted}: something of it was taken");
}

#[test]
fn exits_of_foreign_shards_and_locals_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let good = [batch(1, 4, &[7, 9]), batch(3, 2, &[LOCALS - 1])];
    let ours = Bounds { owns: &|shard| [1, 3].contains(&shard), locals: LOCALS };
    for memory in [0, 1 << 20] {
        let inbox = inbox(dir.path(), memory);
        inbox.accept_image(8, sent(&good, 8, 100), &ours).unwrap();
        assert_eq!(read(&inbox.take(8).unwrap()).len(), 2);
        let foreign = [batch(1, 4, &[7]), batch(2, 4, &[7]), batch(3, 4, &[7])];
        refused(&inbox, 8, sent(&foreign, 8, 100), &ours, "own shards, found shard 2");
        let beyond = [batch(1, 4, &[7]), batch(u32::MAX, 0, &[7])];
        refused(&inbox, 8, sent(&beyond, 8, 100), &ours, "own shards, found shard 4294967295");
        let local = [batch(1, 4, &[7]), batch(3, 2, &[9, LOCALS])];
        refused(&inbox, 8, sent(&local, 8, 100), &ours, "below 300, found 300 in region 3:2");
        refused(&inbox, 10, sent(&good, 8, 100), &ours, "depth: 10");
        let layer = LayerHeader { kind: FileKind::Layer, ..run_header(JOB, 8) };
        refused(&inbox, 8, sealed(layer, &good), &ours, "kind: Run");
        refused(&inbox, 8, sealed(run_header("other", 8), &good), &ours, "job: \"job\"");
    }
}

#[test]
fn damage_is_found_before_anything_is_taken() {
    let dir = tempfile::tempdir().unwrap();
    let inbox = inbox(dir.path(), 1 << 20);
    let batches: Vec<Batch> =
        (0..40).map(|i| batch(i / 10, u128::from(i * i), &[i, i + 100])).collect();
    let good = run_image(&run(&batches), &mut encoder(50), JOB, 8).unwrap();
    let bytes = good.into_image().unwrap();
    for at in 0..bytes.len() {
        let mut bad = bytes.clone();
        bad[at] ^= 0x10;
        let taken = Layer::from_bytes(bad, "batch", &run_header(JOB, 8))
            .map_err(Error::from)
            .and_then(|image| Ok(inbox.accept_image(8, image, &ALL)?));
        let error = taken.unwrap_err();
        assert!(error.is_corrupt(), "byte {at}: {error}");
        assert!(inbox.take(8).unwrap().is_empty(), "byte {at}");
    }
}

#[test]
fn only_sorted_runs_have_images() {
    let mut run = MemoryRun::default();
    run.push(EntryKey { shard: 2, region: 0 }, None, &[1]);
    run.push(EntryKey { shard: 1, region: 0 }, None, &[1]);
    let mut encoder = encoder(100);
    let error = run_image(&run, &mut encoder, JOB, 3).unwrap_err();
    assert!(matches!(error, StoreError::Inconsistent { .. }), "{error}");
    // The encoder can be used again.
    run.sort(&mut SortBuffers::default());
    assert_eq!(run_image(&run, &mut encoder, JOB, 3).unwrap().totals().regions, 2);
}

#[test]
fn spaces_with_tables_or_keys_bound_their_locals() {
    let panex = Panex::new(PanexConfig::new(4)).unwrap();
    let indices = panex.indices();
    assert_eq!(Engine::tabled(panex, 3).locals(), 2 * indices);
    let hanoi = Keyed::new(Hanoi::new(8, 3, false).unwrap()).unwrap();
    assert_eq!(Engine::keyed(hanoi, 3).locals() % 2, 0);
}
