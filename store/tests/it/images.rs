//! Tests of file images from other processes: intact images are read back, all others are refused.

use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use strata_store::{
    BlockEncoder, EncodeOptions, EntryKey, ExpectedFile, FileKind, Fs, Layer, LayerHeader,
    LayerTotals, LayerWriter, RealFs, StoreError, Word,
};
use xxhash_rust::xxh3::xxh3_64;

type Entries = Vec<(EntryKey, Vec<u32>)>;

const NAME: &str = "batch 7 of worker 3";

/// Length of the header that [`header`] returns, in bytes.
const HEADER: usize = 20 + 7;
const TRAILER: usize = 96;

fn header(kind: FileKind) -> LayerHeader {
    LayerHeader::new(kind, "panex-6", 41, 0)
}

fn sealed(header: LayerHeader, entries: &Entries, block_bytes: usize) -> Layer {
    let writer = LayerWriter::memory(header).unwrap();
    let mut encoder =
        BlockEncoder::new(EncodeOptions { block_bytes, ..EncodeOptions::default() }).unwrap();
    for (key, locals) in entries {
        encoder.push(&writer, *key, Word::of(locals)).unwrap();
    }
    let totals = LayerTotals {
        regions: entries.len() as u64,
        states: entries.iter().map(|(_, locals)| locals.len() as u64).sum(),
        ..LayerTotals::default()
    };
    let part = encoder.finish(&writer).unwrap();
    writer.seal(vec![part], totals).unwrap()
}

/// Opens and reads all of an image, as a receiver does.
fn receive(bytes: Vec<u8>, expect: &LayerHeader) -> Result<Entries, StoreError> {
    let layer = Layer::from_bytes(bytes, NAME, expect)?;
    let mut all = Vec::new();
    layer.verify(&mut |key, locals| all.push((key, Word::locals(locals).to_vec())))?;
    Ok(all)
}

fn assert_corrupt(bytes: Vec<u8>, expect: &LayerHeader, what: &str) {
    match receive(bytes, expect) {
        Err(StoreError::Corrupt { file, .. }) => assert_eq!(file, Path::new(NAME), "{what}"),
        other => panic!("{what}: {other:?}"),
    }
}

fn entries() -> impl Strategy<Value = Entries> {
    let key = (0_u32..4, any::<u128>(), 0_u32..128)
        .prop_map(|(shard, region, shift)| EntryKey { shard, region: region >> shift });
    let local = prop_oneof![8 => 0_u32..8000, 1 => any::<u32>()];
    let locals = proptest::collection::btree_set(local, 1..60)
        .prop_map(|locals| locals.into_iter().collect());
    proptest::collection::btree_map(key, locals, 0..100).prop_map(|map| map.into_iter().collect())
}

/// Entries of several blocks, some of them compressed. A run has a repeated key.
fn sample(kind: FileKind) -> Entries {
    let mut all: Entries = (0..90_u32)
        .map(|i| {
            let region = u128::from(i) << (i % 50) | u128::from(i);
            let locals = (0..10 + i % 30).map(|j| j * 7 + i * j % 5).collect();
            (EntryKey { shard: i / 40, region }, locals)
        })
        .collect();
    all.sort_unstable_by_key(|(key, _)| *key);
    if kind == FileKind::Run {
        all.insert(3, all[3].clone());
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn images_round_trip(entries in entries(), block_bytes in 1_usize..4000, run: bool) {
        let kind = if run { FileKind::Run } else { FileKind::Layer };
        let layer = sealed(header(kind), &entries, block_bytes);
        let image = layer.image().unwrap().to_vec();
        prop_assert_eq!(image.len() as u64, layer.file_bytes());
        let opened = Layer::from_bytes(image.clone(), NAME, &header(kind)).unwrap();
        prop_assert_eq!(opened.header(), layer.header());
        prop_assert_eq!(opened.totals(), layer.totals());
        prop_assert_eq!(opened.blocks(), layer.blocks());
        prop_assert_eq!(opened.shards(), layer.shards());
        prop_assert_eq!(opened.seal(), layer.seal());
        prop_assert_eq!((opened.path(), opened.name()), (None, NAME.into()));
        prop_assert_eq!(receive(image.clone(), &header(kind)).unwrap(), entries);
        // The bytes of an image equal those of the file that a writer to disk would produce.
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("layer.strata");
        let fs: Arc<dyn Fs> = Arc::new(RealFs);
        opened.persist(&fs, &path).unwrap();
        prop_assert_eq!(std::fs::read(&path).unwrap(), image.clone());
        let (bytes, seal) = (layer.file_bytes(), layer.seal());
        let expect = ExpectedFile { job: "panex-6", kind, depth: 41, bytes, seal };
        let received = Layer::from_content(image.clone(), NAME, &expect).unwrap();
        prop_assert_eq!((received.totals(), received.image()), (layer.totals(), Some(&image[..])));
        let other = ExpectedFile { seal: seal ^ 1, ..expect };
        prop_assert!(Layer::from_content(image.clone(), NAME, &other).unwrap_err().is_corrupt());
        let file = Layer::open(fs, &path, &expect).unwrap();
        prop_assert_eq!(file.image(), None);
    }

    #[test]
    fn random_bytes_are_refused_as_images(bytes in proptest::collection::vec(any::<u8>(), 0..400), start in 0_usize..=HEADER) {
        let layer = sealed(header(FileKind::Run), &Vec::new(), 100);
        // Also random bytes between the start and the end of a valid image.
        let image = layer.image().unwrap();
        for bytes in [bytes.clone(), [&image[..start], &bytes[..], &image[image.len() - 8..]].concat()] {
            assert_corrupt(bytes, &header(FileKind::Run), "random bytes");
        }
    }

    /// Invalid content with valid checksums never causes a panic.
    #[test]
    fn forged_images_never_panic(
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        area in 0_usize..3,
    ) {
        let layer = sealed(header(FileKind::Run), &sample(FileKind::Run), 100);
        let mut bytes = layer.image().unwrap().to_vec();
        let trailer = bytes.len() - TRAILER;
        let footer = trailer - layer.blocks().len() * 72 - layer.shards().len() * 24;
        let areas = [HEADER..footer, footer..trailer, trailer..trailer + 80];
        for (index, value) in damage {
            let area = areas[area].clone();
            bytes[area.start + index.index(area.len())] = value;
        }
        for (i, block) in layer.blocks().iter().enumerate() {
            let checksum = xxh3_64(&bytes[block.offset as usize..][..block.stored_len as usize]);
            bytes[footer + i * 72 + 64..][..8].copy_from_slice(&checksum.to_le_bytes());
        }
        if area < 2 {
            let checksum = xxh3_64(&bytes[footer..trailer]);
            bytes[trailer + 24..][..8].copy_from_slice(&checksum.to_le_bytes());
        }
        let seal = xxh3_64(&[&bytes[..HEADER], &bytes[trailer..trailer + 80]].concat());
        bytes[trailer + 80..][..8].copy_from_slice(&seal.to_le_bytes());
        match receive(bytes, &header(FileKind::Run)) {
            Ok(_) | Err(StoreError::Corrupt { .. }) => {}
            other => prop_assert!(false, "{:?}", other),
        }
    }
}

#[test]
fn every_flipped_byte_and_every_other_length_is_found() {
    for kind in [FileKind::Layer, FileKind::Run] {
        let layer = sealed(header(kind), &sample(kind), 1500);
        assert!(layer.blocks().len() > 1);
        let good = layer.image().unwrap();
        assert_eq!(receive(good.to_vec(), &header(kind)).unwrap(), sample(kind));
        for at in 0..good.len() {
            for flip in [0x01, 0x80, 0xff] {
                let mut bad = good.to_vec();
                bad[at] ^= flip;
                assert_corrupt(bad, &header(kind), &format!("byte {at} ^ {flip:#x}"));
            }
            assert_corrupt(good[..at].to_vec(), &header(kind), &format!("cut to {at}"));
            assert_corrupt(good[at + 1..].to_vec(), &header(kind), &format!("without {at}"));
        }
        for more in [&[0][..], good] {
            assert_corrupt([good, more].concat(), &header(kind), "more behind it");
        }
    }
}

#[test]
fn an_image_with_another_header_is_refused() {
    let entries = sample(FileKind::Layer);
    let run = header(FileKind::Run);
    let image = sealed(run.clone(), &entries, 1500).image().unwrap().to_vec();
    let others = [
        (LayerHeader { kind: FileKind::Layer, ..run.clone() }, "kind Layer"),
        (LayerHeader { depth: 42, ..run.clone() }, "depth 42"),
        (LayerHeader { job: "panex-7".to_owned(), ..run.clone() }, "job \"panex-7\""),
        (LayerHeader { encoding: 1, ..run.clone() }, "encoding 1"),
    ];
    for (expect, wanted) in others {
        match receive(image.clone(), &expect) {
            Err(StoreError::Corrupt { expected, .. }) => assert_eq!(expected, wanted),
            other => panic!("{wanted}: {other:?}"),
        }
    }
}
