//! Tests of layer files: round trips, splits, faults, and detection of every kind of damage.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use proptest::prelude::*;
use strata_space::Weight;
use strata_store::{
    BlockEncoder, CheckpointFile, EncodeOptions, EngineKind, EntryKey, ExpectedFile, FaultyFs,
    FileKind, Fs, KeptFile, KeyRange, Layer, LayerCursor, LayerHeader, LayerTotals, LayerWriter,
    RealFs, StoreError, VerifiedCounts, Word,
};

type Entries = Vec<(EntryKey, Vec<u32>)>;

fn header(kind: FileKind) -> LayerHeader {
    LayerHeader::new(kind, "panex-6", 41, 3)
}

fn totals(entries: &Entries) -> LayerTotals {
    LayerTotals {
        regions: entries.len() as u64,
        states: entries.iter().map(|(_, locals)| locals.len() as u64).sum(),
        positions: entries.iter().map(|(_, locals)| locals.len() as u64).sum(),
        generated: 12345,
        digest: Weight([7, 8]),
    }
}

fn options(block_bytes: usize) -> EncodeOptions {
    EncodeOptions { zstd_level: 1, block_bytes, ..EncodeOptions::default() }
}

/// Writes the entries with several encoders, one per thread, each of which gets a contiguous share.
fn write(writer: LayerWriter, entries: &Entries, encoders: usize, block_bytes: usize) -> Layer {
    let share = entries.len().div_ceil(encoders).max(1);
    let mut parts = std::thread::scope(|scope| {
        let threads: Vec<_> = entries
            .chunks(share)
            .map(|chunk| {
                let writer = &writer;
                scope.spawn(move || {
                    let mut encoder = BlockEncoder::new(options(block_bytes)).unwrap();
                    for (key, locals) in chunk {
                        encoder.push(writer, *key, Word::of(locals)).unwrap();
                    }
                    encoder.finish(writer).unwrap()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    // Threads finish in any order.
    parts.reverse();
    writer.seal(parts, totals(entries)).unwrap()
}

fn read(layer: &Layer, range: KeyRange) -> Entries {
    let mut cursor = LayerCursor::new().unwrap();
    cursor.start(layer, range).unwrap();
    let mut found = Vec::new();
    while let Some(key) = cursor.key() {
        found.push((key, Word::locals(cursor.locals().unwrap()).to_vec()));
        cursor.advance().unwrap();
    }
    assert!(cursor.locals().unwrap().is_empty());
    cursor.advance().unwrap();
    found
}

fn real() -> Arc<dyn Fs> {
    Arc::new(RealFs)
}

fn expect(layer: &Layer) -> ExpectedFile<'_> {
    let header = layer.header();
    ExpectedFile {
        job: &header.job,
        kind: header.kind,
        depth: header.depth,
        bytes: layer.file_bytes(),
        seal: layer.seal(),
    }
}

fn key() -> impl Strategy<Value = EntryKey> {
    (0_u32..4, any::<u128>(), prop_oneof![Just(0_u32), Just(60), Just(100), Just(121), Just(127)])
        .prop_map(|(shard, region, shift)| EntryKey { shard, region: region >> shift })
}

fn locals() -> impl Strategy<Value = Vec<u32>> {
    let value = prop_oneof![8 => 0_u32..8000, 1 => any::<u32>()];
    (proptest::collection::btree_set(value, 1..120), 0_u32..3).prop_map(|(set, side)| {
        // All on side 0 or 1, or mixed.
        let set: std::collections::BTreeSet<u32> =
            set.into_iter().map(|value| if side < 2 { value & !1 | side } else { value }).collect();
        set.into_iter().collect()
    })
}

fn entries(most: usize) -> impl Strategy<Value = Entries> {
    proptest::collection::btree_map(key(), locals(), 0..most)
        .prop_map(|map| map.into_iter().collect())
}

/// A fixed layer of several blocks; different values of `salt` give different layers.
fn sample(salt: u32) -> Entries {
    (0..150_u32)
        .map(|i| {
            let key = EntryKey { shard: i / 60, region: u128::from(i) << (i % 50) | u128::from(i) };
            (key, (0..10 + i % 30).map(|j| j * 7 + (i * j + salt) % 5).collect())
        })
        .collect::<std::collections::BTreeMap<_, _>>()
        .into_iter()
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn layers_round_trip(
        entries in entries(200), encoders in 1_usize..5, block_bytes in 1_usize..4000,
        in_memory: bool, ends in (key(), key()),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("layer.tmp");
        let writer = if in_memory {
            LayerWriter::memory(header(FileKind::Layer)).unwrap()
        } else {
            LayerWriter::file(real(), &path, header(FileKind::Layer)).unwrap()
        };
        let layer = write(writer, &entries, encoders, block_bytes);
        prop_assert_eq!(&read(&layer, KeyRange::ALL), &entries);
        for (from, to) in [(Some(ends.0), Some(ends.1)), (Some(ends.1), None), (None, Some(ends.0))] {
            let wanted: Entries = entries.iter()
                .filter(|(key, _)| from.is_none_or(|from| *key >= from) && to.is_none_or(|to| *key < to))
                .cloned().collect();
            prop_assert_eq!(read(&layer, KeyRange { start: from, end: to }), wanted);
        }
        let final_path = dir.path().join("layer.strata");
        layer.persist(&real(), &final_path).unwrap();
        layer.persist(&real(), &final_path).unwrap();
        prop_assert_eq!(layer.path(), Some(final_path.clone()));
        let opened = Layer::open(real(), &final_path, &expect(&layer)).unwrap();
        prop_assert_eq!(opened.totals(), layer.totals());
        prop_assert_eq!(opened.blocks(), layer.blocks());
        prop_assert_eq!(opened.shards(), layer.shards());
        let mut seen = Vec::new();
        let count = opened.verify(&mut |key, locals| seen.push((key, Word::locals(locals).to_vec()))).unwrap();
        let sums = totals(&entries);
        prop_assert_eq!(count, VerifiedCounts { regions: sums.regions, states: sums.states });
        prop_assert_eq!(&seen, &entries);
        prop_assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
        opened.remove().unwrap();
        prop_assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn splits_cover_everything_once(
        entries in entries(200), parts in 1_usize..9, block_bytes in 1_usize..20_000,
    ) {
        let writer = LayerWriter::memory(header(FileKind::Layer)).unwrap();
        let layer = write(writer, &entries, 2, block_bytes);
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("layer.strata");
        layer.persist(&real(), &path).unwrap();
        let opened = Layer::open(real(), &path, &expect(&layer)).unwrap();
        for layer in [layer, opened] {
            let keys = layer.split_keys(parts);
            prop_assert!(keys.len() < parts);
            prop_assert!(keys.is_sorted_by(|a, b| a < b));
            let all: Entries = KeyRange::ALL.split(&keys).flat_map(|range| read(&layer, range)).collect();
            prop_assert_eq!(&all, &entries);
        }
    }
}

#[test]
fn large_layers_are_split_evenly() {
    let entries: Entries = (0..4000_u32)
        .map(|i| {
            (EntryKey { shard: 0, region: u128::from(i) * 3 }, (0..50).map(|j| j * 9 + i).collect())
        })
        .collect();
    for (block_bytes, blocks) in [(1000, 200), (EncodeOptions::default().block_bytes, 3)] {
        let writer = LayerWriter::memory(header(FileKind::Layer)).unwrap();
        let layer = write(writer, &entries, 3, block_bytes);
        assert!(layer.blocks().len().abs_diff(blocks) < 30);
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("layer.strata");
        layer.persist(&real(), &path).unwrap();
        let opened = Layer::open(real(), &path, &expect(&layer)).unwrap();
        // An opened file is split between blocks only.
        let layers = if blocks == 3 { vec![layer] } else { vec![layer, opened] };
        for layer in layers {
            let keys = layer.split_keys(7);
            assert_eq!(keys.len(), 6);
            for range in KeyRange::ALL.split(&keys) {
                let states: usize = read(&layer, range).iter().map(|(_, list)| list.len()).sum();
                assert!(states.abs_diff(200_000 / 7) < 2000, "{states}");
            }
        }
    }
}

#[test]
fn runs_may_repeat_keys_and_layers_may_not() {
    let key = |region| EntryKey { shard: 1, region };
    let entries: Entries =
        vec![(key(5), vec![1]), (key(5), vec![1, 9]), (key(5), vec![0]), (key(6), vec![3])];
    for block_bytes in [1, 4000] {
        let run =
            write(LayerWriter::memory(header(FileKind::Run)).unwrap(), &entries, 1, block_bytes);
        assert_eq!(read(&run, KeyRange::ALL), entries);
        assert_eq!(read(&run, KeyRange::between(key(5), key(6))), entries[..3]);
        assert_eq!(run.verify(&mut |_, _| ()).unwrap().regions, 4);

        let writer = LayerWriter::memory(header(FileKind::Layer)).unwrap();
        let mut encoder = BlockEncoder::new(options(block_bytes)).unwrap();
        encoder.push(&writer, key(5), &[Word(1)]).unwrap();
        let again = encoder.push(&writer, key(5), &[Word(2)]);
        assert!(matches!(again, Err(StoreError::Inconsistent { .. })), "{again:?}");
        // The encoder is empty and usable again.
        encoder.push(&writer, key(4), &[Word(2)]).unwrap();
        assert_eq!(encoder.finish(&writer).unwrap().blocks.len(), 1);
        assert!(encoder.push(&writer, key(4), &[]).is_err());
    }
}

#[test]
fn overlapping_parts_and_wrong_totals_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let part = |writer: &LayerWriter, regions: [u128; 2]| {
        let mut encoder = BlockEncoder::new(options(4000)).unwrap();
        for region in regions {
            encoder.push(writer, EntryKey { shard: 0, region }, &[Word(1)]).unwrap();
        }
        encoder.finish(writer).unwrap()
    };
    let sums = LayerTotals { regions: 4, states: 4, ..LayerTotals::default() };
    for (other, sums) in
        [([3, 9], sums), ([5, 9], sums), ([6, 9], LayerTotals { states: 5, ..sums })]
    {
        let path = dir.path().join("layer.tmp");
        let writer = LayerWriter::file(real(), &path, header(FileKind::Layer)).unwrap();
        let parts = vec![part(&writer, [1, 5]), part(&writer, other)];
        assert!(matches!(writer.seal(parts, sums), Err(StoreError::Inconsistent { .. })));
        assert!(!path.exists(), "an unsealed file is removed");
    }
}

#[test]
fn an_empty_layer_can_be_read_split_and_verified() {
    let layer = write(LayerWriter::memory(header(FileKind::Layer)).unwrap(), &Vec::new(), 1, 4000);
    assert_eq!(read(&layer, KeyRange::ALL), Vec::new());
    assert_eq!(layer.split_keys(4), []);
    assert_eq!(layer.verify(&mut |_, _| ()).unwrap(), VerifiedCounts::default());
}

#[test]
fn a_file_to_which_two_threads_append_in_turns_round_trips() {
    // Several megabytes with incompressible gaps, so that each encoder appends to the file many times.
    let mut seed = 1_u64;
    let mut random = move || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 40) as u32
    };
    let entries: Entries = (0..40_000_u32)
        .map(|i| {
            let mut value = 0;
            let locals = (0..200)
                .map(|_| {
                    value += 1 + random() % 120;
                    value
                })
                .collect();
            (EntryKey { shard: i % 3000 / 1000, region: u128::from(i) }, locals)
        })
        .collect::<std::collections::BTreeMap<_, _>>()
        .into_iter()
        .collect();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("layer.tmp");
    let writer = LayerWriter::file(real(), &path, header(FileKind::Layer)).unwrap();
    let layer = write(writer, &entries, 2, 16 << 10);
    assert!(layer.file_bytes() > 6 << 20, "{}", layer.file_bytes());
    let mut cursor = LayerCursor::new().unwrap();
    cursor.start(&layer, KeyRange::ALL).unwrap();
    for (key, locals) in &entries {
        assert_eq!(cursor.key(), Some(*key));
        assert!(Word::locals(cursor.locals().unwrap()) == locals);
        cursor.advance().unwrap();
    }
    assert_eq!(cursor.key(), None);
}

fn persisted(
    dir: &Path,
    name: &str,
    kind: FileKind,
    depth: u32,
    job: &str,
    salt: u32,
) -> (PathBuf, Layer) {
    let path = dir.join(name);
    let head = LayerHeader { depth, job: job.to_owned(), ..header(kind) };
    let mut entries = sample(salt);
    if kind == FileKind::Run {
        entries.insert(3, entries[3].clone());
    }
    let layer = write(LayerWriter::memory(head).unwrap(), &entries, 2, 1500);
    assert!(layer.blocks().len() > 2);
    let packed = layer.blocks().iter().filter(|block| block.stored_len < block.raw_len).count();
    assert!(0 < packed && packed < layer.blocks().len(), "blocks of both sorts");
    layer.persist(&real(), &path).unwrap();
    (path, layer)
}

/// Opens and verifies as a resume does, and reports the error.
fn inspect(path: &Path, expect: &ExpectedFile<'_>) -> Result<(), StoreError> {
    let layer = Layer::open(real(), path, expect)?;
    layer.verify(&mut |_, _| ())?;
    Ok(())
}

fn assert_corrupt(path: &Path, expect: &ExpectedFile<'_>, what: &str) -> u64 {
    match inspect(path, expect) {
        Err(StoreError::Corrupt { file, offset, .. }) => {
            assert_eq!(file, path, "{what}");
            offset
        }
        other => panic!("{what}: {other:?}"),
    }
}

#[test]
fn every_flipped_byte_is_found() {
    let dir = tempfile::tempdir().unwrap();
    for kind in [FileKind::Layer, FileKind::Run] {
        let (path, layer) = persisted(dir.path(), "layer.strata", kind, 41, "panex-6", 0);
        let expect = expect(&layer);
        inspect(&path, &expect).unwrap();
        let good = std::fs::read(&path).unwrap();
        let tail = good.len() - 96;
        for at in 0..good.len() {
            for flip in [0x01, 0x80, 0xff] {
                let mut bad = good.clone();
                bad[at] ^= flip;
                std::fs::write(&path, &bad).unwrap();
                let offset = assert_corrupt(&path, &expect, &format!("byte {at} ^ {flip:#x}"));
                assert!(offset <= good.len() as u64);
                let block = layer.blocks().iter().find(|block| {
                    (block.offset..block.offset + u64::from(block.stored_len))
                        .contains(&(at as u64))
                });
                if let Some(block) = block {
                    assert_eq!(offset, block.offset, "a damaged block is named");
                } else if at >= tail {
                    assert!(offset >= tail as u64, "byte {at}: offset {offset}");
                }
            }
        }
    }
}

#[test]
fn files_of_another_length_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (path, layer) = persisted(dir.path(), "layer.strata", FileKind::Layer, 41, "panex-6", 0);
    let good = std::fs::read(&path).unwrap();
    for len in 0..good.len() {
        std::fs::write(&path, &good[..len]).unwrap();
        assert_corrupt(&path, &expect(&layer), &format!("cut to {len}"));
        // Also if the manifest records the shorter length.
        let short = ExpectedFile { bytes: len as u64, ..expect(&layer) };
        assert_corrupt(&path, &short, &format!("cut to {len}, as expected"));
    }
    let mut long = good.clone();
    long.push(0);
    std::fs::write(&path, &long).unwrap();
    assert_corrupt(&path, &expect(&layer), "a byte more");
    std::fs::remove_file(&path).unwrap();
    assert!(matches!(inspect(&path, &expect(&layer)), Err(StoreError::NotFound { .. })));
}

#[test]
fn another_file_under_its_name_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (path, layer) = persisted(dir.path(), "layer.strata", FileKind::Layer, 41, "panex-6", 0);
    let others = [
        (FileKind::Layer, 40, "panex-6", 0, "depth 41"),
        (FileKind::Layer, 41, "panex-7", 0, "job \"panex-6\""),
        (FileKind::Run, 41, "panex-6", 0, "kind Layer"),
        (FileKind::Layer, 41, "panex-6", 1, "seal"),
    ];
    for (kind, depth, job, salt, wanted) in others {
        let (other, _) = persisted(dir.path(), "other", kind, depth, job, salt);
        std::fs::copy(&other, &path).unwrap();
        let same_length = std::fs::metadata(&other).unwrap().len() == layer.file_bytes();
        match inspect(&path, &expect(&layer)) {
            Err(StoreError::Corrupt { expected, .. }) => {
                assert!(
                    expected.contains(wanted) || !same_length,
                    "{expected} instead of {wanted}"
                );
            }
            found => panic!("{wanted}: {found:?}"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Invalid content with valid checksums causes neither panics nor large allocations.
    #[test]
    fn forged_blocks_never_panic(
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        in_index: bool, from in key(),
    ) {
        use xxhash_rust::xxh3::xxh3_64;
        let dir = tempfile::tempdir().unwrap();
        // Blocks small enough to be stored uncompressed, so that damage reaches the decoder.
        let writer = LayerWriter::memory(header(FileKind::Layer)).unwrap();
        let layer = write(writer, &sample(0), 1, 100);
        let path = dir.path().join("layer.strata");
        layer.persist(&real(), &path).unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        let (blocks, trailer) = (layer.blocks(), bytes.len() - 96);
        let footer = trailer - blocks.len() * 72 - layer.shards().len() * 24;
        for (index, value) in damage {
            let at = if in_index { footer + index.index(trailer - footer) } else { 27 + index.index(footer - 27) };
            bytes[at] = value;
        }
        for (i, block) in blocks.iter().enumerate() {
            let stored = block.offset as usize..block.offset as usize + block.stored_len as usize;
            let checksum = xxh3_64(&bytes[stored]);
            bytes[footer + i * 72 + 64..][..8].copy_from_slice(&checksum.to_le_bytes());
        }
        let checksum = xxh3_64(&bytes[footer..trailer]);
        bytes[trailer + 24..][..8].copy_from_slice(&checksum.to_le_bytes());
        let mut sealed = bytes[..27].to_vec();
        sealed.extend_from_slice(&bytes[trailer..trailer + 80]);
        let seal = xxh3_64(&sealed);
        bytes[trailer + 80..][..8].copy_from_slice(&seal.to_le_bytes());
        std::fs::write(&path, &bytes).unwrap();
        let expect = ExpectedFile { seal, ..expect(&layer) };
        match inspect(&path, &expect) {
            Ok(()) | Err(StoreError::Corrupt { .. }) => {}
            other => prop_assert!(false, "{:?}", other),
        }
        // A range that starts within a block makes the cursor skip regions.
        if let Ok(layer) = Layer::open(real(), &path, &expect) {
            let mut cursor = LayerCursor::new().unwrap();
            let mut result = cursor.start(&layer, KeyRange::from(from));
            while let (Ok(()), Some(key)) = (&result, cursor.key()) {
                prop_assert!(key >= from);
                result = cursor.advance();
            }
            prop_assert_eq!(cursor.key(), None);
        }
    }
}

#[test]
fn a_persisted_layer_is_opened_by_its_record() {
    let dir = tempfile::tempdir().unwrap();
    let layer = write(LayerWriter::memory(header(FileKind::Layer)).unwrap(), &sample(0), 1, 1500);
    assert_eq!(CheckpointFile::of(&layer, 2), None);
    let path = dir.path().join("layer.strata");
    layer.persist(&real(), &path).unwrap();
    let record = CheckpointFile::of(&layer, 2).unwrap();
    assert_eq!((record.file.as_str(), record.worker, record.depth), ("layer.strata", 2, 41));
    Layer::open(real(), &path, &record.expect("panex-6", EngineKind::Explicit)).unwrap();
    let kept = KeptFile::of(&layer, 2).unwrap();
    Layer::open(real(), &path, &kept.expect("panex-6", 41, EngineKind::Explicit)).unwrap();
    assert!(
        Layer::open(real(), &path, &kept.expect("panex-6", 40, EngineKind::Explicit))
            .unwrap_err()
            .is_corrupt()
    );
}

#[test]
fn a_full_disk_leaves_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let entries = sample(0);
    for budget in [0, 10, 26, 27, 100, 1000, 2000] {
        let fs = FaultyFs::new();
        fs.fill_after(budget);
        let shared: Arc<dyn Fs> = Arc::new(fs.clone());
        let path = dir.path().join("layer.tmp");
        let attempt = || -> Result<Layer, StoreError> {
            let writer = LayerWriter::file(shared.clone(), &path, header(FileKind::Layer))?;
            let mut encoder = BlockEncoder::new(options(300))?;
            for (key, locals) in &entries {
                encoder.push(&writer, *key, Word::of(locals))?;
            }
            let part = encoder.finish(&writer)?;
            writer.seal(vec![part], totals(&entries))
        };
        let error = attempt().unwrap_err();
        assert!(error.is_disk_full() && !error.is_corrupt(), "{error}");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "budget {budget}");
        // A layer in memory that cannot be persisted stays usable.
        let layer = write(LayerWriter::memory(header(FileKind::Layer)).unwrap(), &entries, 1, 300);
        let error = layer.persist(&shared, &dir.path().join("layer.strata")).unwrap_err();
        assert!(error.is_disk_full());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "budget {budget}");
        assert_eq!(layer.path(), None);
        fs.heal();
        layer.persist(&shared, &dir.path().join("layer.strata")).unwrap();
        layer.remove().unwrap();
    }
}

#[test]
fn a_crash_leaves_a_persisted_layer_complete_or_without_its_name() {
    let dir = tempfile::tempdir().unwrap();
    let entries = sample(0);
    let final_path = dir.path().join("layer.strata");
    for in_memory in [true, false] {
        for steps in 0..=3 {
            let fs = FaultyFs::new();
            let shared: Arc<dyn Fs> = Arc::new(fs.clone());
            let writer = if in_memory {
                LayerWriter::memory(header(FileKind::Layer)).unwrap()
            } else {
                let path = dir.path().join("layer.tmp");
                LayerWriter::file(shared.clone(), &path, header(FileKind::Layer)).unwrap()
            };
            let layer = write(writer, &entries, 2, 300);
            fs.fail_after(steps);
            let persisted = layer.persist(&shared, &final_path);
            assert_eq!(persisted.is_ok(), steps == 3, "sync, rename, sync folder: {persisted:?}");
            let (job, expected) = (layer.header().job.clone(), expect(&layer));
            let expected = ExpectedFile { job: &job, ..expected };
            if steps < 2 {
                assert!(!final_path.exists());
            } else {
                // A file was synced before it got its final name.
                drop(layer);
                fs.crash().unwrap();
                inspect(&final_path, &expected).unwrap();
            }
            for entry in std::fs::read_dir(dir.path()).unwrap() {
                std::fs::remove_file(entry.unwrap().path()).unwrap();
            }
        }
    }
}
