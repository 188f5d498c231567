//! Tests of recycled files: the last content is read back, no file is left over, and no file in use
//! is overwritten.

use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use strata_space::Weight;
use strata_store::{
    BlockEncoder, EncodeOptions, EntryKey, ExpectedFile, FaultyFs, FileKind, Fs, KeyRange, Layer,
    LayerCursor, LayerHeader, LayerTotals, LayerWriter, RealFs, RecycledFile, StoreError, Word,
};

fn real() -> Arc<dyn Fs> {
    Arc::new(RealFs)
}

fn header(depth: u32) -> LayerHeader {
    LayerHeader::new(FileKind::Layer, "job", depth, 1)
}

/// A layer of `regions` regions, each with different states.
fn layer_of(regions: u32, salt: u32) -> Vec<(EntryKey, Vec<u32>)> {
    let key = |i| EntryKey { shard: 0, region: u128::from(i) };
    // Incompressible states.
    let noise = |i: u32, j: u32| {
        let word = (i * 200 + j + salt).wrapping_mul(0x9e37_79b1);
        (word ^ word >> 15).wrapping_mul(0x85eb_ca6b) >> 22
    };
    let locals = |i| (0..200).map(|j| j * 1_024 + noise(i, j)).collect();
    (0..regions).map(|i| (key(i), locals(i))).collect()
}

fn write(writer: LayerWriter, entries: &[(EntryKey, Vec<u32>)]) -> Result<Layer, StoreError> {
    let mut encoder = BlockEncoder::new(EncodeOptions::default()).unwrap();
    for (key, locals) in entries {
        encoder.push(&writer, *key, Word::of(locals))?;
    }
    let part = encoder.finish(&writer)?;
    let states = entries.iter().map(|(_, locals)| locals.len() as u64).sum();
    let regions = entries.len() as u64;
    writer.seal(
        vec![part],
        LayerTotals { regions, states, positions: states, generated: 0, digest: Weight([0, 0]) },
    )
}

fn read(layer: &Layer) -> Vec<(EntryKey, Vec<u32>)> {
    let mut cursor = LayerCursor::new().unwrap();
    cursor.start(layer, KeyRange::ALL).unwrap();
    let mut found = Vec::new();
    while let Some(key) = cursor.key() {
        found.push((key, Word::locals(cursor.locals().unwrap()).to_vec()));
        cursor.advance().unwrap();
    }
    found
}

fn recycling(recycled: Option<RecycledFile>, path: &Path, depth: u32) -> LayerWriter {
    LayerWriter::recycling(recycled, real(), path, header(depth)).unwrap()
}

fn files(dir: &Path) -> usize {
    std::fs::read_dir(dir).unwrap().count()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Layers become larger and smaller than the file that they overwrite.
    #[test]
    fn an_overwritten_file_has_its_new_content(
        sizes in proptest::collection::vec(prop_oneof![0_u32..20, 0_u32..600], 1..8),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let mut recycled = None;
        for (depth, size) in (0..).zip(sizes) {
            let path = dir.path().join(format!("{depth}.tmp"));
            let entries = layer_of(size, depth);
            let layer = write(recycling(recycled.take(), &path, depth), &entries).unwrap();
            prop_assert_eq!(files(dir.path()), 1);
            prop_assert_eq!(read(&layer), entries);
            // The file on disk is also valid.
            let (at, bytes, seal) = (layer.path().unwrap(), layer.file_bytes(), layer.seal());
            prop_assert_eq!(std::fs::metadata(&at).unwrap().len(), bytes);
            let expect = ExpectedFile { job: "job", kind: FileKind::Layer, depth, bytes, seal };
            Layer::open(real(), &at, &expect).unwrap().verify(&mut |_, _| ()).unwrap();
            recycled = layer.recycle().unwrap();
            prop_assert_eq!(recycled.as_ref().map(RecycledFile::bytes), Some(bytes));
        }
        drop(recycled);
        prop_assert_eq!(files(dir.path()), 0);
    }
}

#[test]
fn files_in_use_are_not_recycled() {
    let dir = tempfile::tempdir().unwrap();
    let (path, entries) = (dir.path().join("1.tmp"), layer_of(30, 1));
    // A durable file is removed instead of recycled.
    let layer = write(recycling(None, &path, 1), &entries).unwrap();
    layer.persist(&real(), &dir.path().join("1.strata")).unwrap();
    assert!(layer.recycle().unwrap().is_none());
    assert_eq!(files(dir.path()), 0);
    // A file that a cursor reads.
    let layer = write(recycling(None, &path, 1), &entries).unwrap();
    let mut cursor = LayerCursor::new().unwrap();
    cursor.start(&layer, KeyRange::ALL).unwrap();
    assert!(layer.recycle().unwrap().is_none());
    let found = (cursor.key(), Word::locals(cursor.locals().unwrap()));
    assert_eq!(found, (Some(entries[0].0), &entries[0].1[..]));
    assert_eq!(files(dir.path()), 0);
    // A file that was not created for recycling, and a layer in memory.
    let layer = write(LayerWriter::file(real(), &path, header(1)).unwrap(), &entries).unwrap();
    assert!(layer.recycle().unwrap().is_none());
    let layer = write(LayerWriter::memory(header(1)).unwrap(), &entries).unwrap();
    assert!(layer.recycle().unwrap().is_none());
    assert_eq!(files(dir.path()), 0);
    // A file that is too large.
    let large = layer_of(20_000, 7);
    let layer = write(recycling(None, &path, 1), &large).unwrap();
    assert!(layer.file_bytes() > 4 << 20);
    assert!(layer.recycle().unwrap().is_none());
    assert_eq!(files(dir.path()), 0);
}

#[test]
fn a_disk_that_is_full_the_second_time_leaves_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let fs = FaultyFs::new();
    let shared: Arc<dyn Fs> = Arc::new(fs.clone());
    for budget in [0, 10, 100, 1000] {
        let path = dir.path().join("1.tmp");
        let writer = LayerWriter::recycling(None, shared.clone(), &path, header(1)).unwrap();
        let recycled = write(writer, &layer_of(30, 1)).unwrap().recycle().unwrap();
        fs.fill_after(budget);
        let writer = LayerWriter::recycling(recycled, shared.clone(), &path, header(2));
        let error = writer.and_then(|writer| write(writer, &layer_of(40, 2))).unwrap_err();
        assert!(error.is_disk_full(), "{error}");
        assert_eq!(files(dir.path()), 0, "budget {budget}");
        fs.heal();
    }
}
