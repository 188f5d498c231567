//! Tests of lists that take several entries.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use strata_store::{
    BlockEncoder, EncodeOptions, EntryKey, ExpectedFile, FileKind, FilePart, Fs, KeyRange, Layer,
    LayerCursor, LayerHeader, LayerTotals, LayerWriter, ListBuf, LocalWidth, RealFs, Result,
    StoreError, VerifiedCounts, Word,
};
use xxhash_rust::xxh3::xxh3_64;

type Entries = Vec<(EntryKey, Vec<Word>)>;

const WIDTHS: [LocalWidth; 3] = [LocalWidth::One, LocalWidth::Two, LocalWidth::Four];

fn header(kind: FileKind, width: LocalWidth) -> LayerHeader {
    LayerHeader { width, ..LayerHeader::new(kind, "job", 5, 4) }
}

fn options(entry_words: usize, block_bytes: usize) -> EncodeOptions {
    EncodeOptions { entry_words, block_bytes, ..EncodeOptions::default() }
}

/// Writes entries as words or as encoded lists, with several encoders, each of which gets a contiguous
/// share.
fn write(header: LayerHeader, entries: &Entries, encoders: usize, options: EncodeOptions) -> Layer {
    let (kind, width) = (header.kind, header.width);
    let writer = LayerWriter::memory(header).unwrap();
    let share = entries.len().div_ceil(encoders).max(1);
    let mut list = ListBuf::default();
    let mut part = |entries: &[(EntryKey, Vec<Word>)]| {
        let mut encoder = BlockEncoder::new(options).unwrap();
        for (number, (key, words)) in entries.iter().enumerate() {
            if number % 2 == 0 {
                encoder.push(&writer, *key, words).unwrap();
            } else {
                let list = list.encode_words(width, words);
                encoder.push_list(&writer, *key, list).unwrap();
            }
        }
        encoder.finish(&writer).unwrap()
    };
    let parts: Vec<FilePart> = entries.chunks(share).rev().map(&mut part).collect();
    let entries_written: u64 =
        parts.iter().flat_map(|part| &part.blocks).map(|block| u64::from(block.regions)).sum();
    let regions = if kind == FileKind::Run { entries_written } else { entries.len() as u64 };
    let states = entries.iter().map(|(_, words)| width.count(words) as u64).sum();
    writer.seal(parts, LayerTotals { regions, states, ..LayerTotals::default() }).unwrap()
}

fn read(layer: &Layer, range: KeyRange) -> Result<Entries> {
    let mut cursor = LayerCursor::new()?;
    cursor.start(layer, range)?;
    let (mut found, mut list) = (Vec::new(), ListBuf::default());
    while let Some(key) = cursor.key() {
        let words = cursor.locals()?.to_vec();
        // An encoded list does not show how it is stored.
        assert!(cursor.list() == list.encode_words(layer.header().width, &words), "{key}");
        found.push((key, words));
        cursor.advance()?;
    }
    assert!(cursor.list().is_empty() && cursor.locals()?.is_empty());
    Ok(found)
}

fn open(layer: &Layer, path: &std::path::Path) -> Layer {
    let fs: Arc<dyn Fs> = Arc::new(RealFs);
    layer.persist(&fs, path).unwrap();
    let LayerHeader { job, kind, depth, .. } = layer.header();
    let (kind, depth) = (*kind, *depth);
    let expect = ExpectedFile { job, kind, depth, bytes: layer.file_bytes(), seal: layer.seal() };
    Layer::open(fs, path, &expect).unwrap()
}

/// Lists of up to a few hundred states in few regions, often adjacent ones, on one side or on both.
fn lists() -> impl Strategy<Value = BTreeMap<EntryKey, Vec<u128>>> {
    let key = (0_u32..3, prop_oneof![0_u128..6, any::<u128>()]);
    let key = key.prop_map(|(shard, region)| EntryKey { shard, region });
    let local = prop_oneof![4 => 0_u128..900, 1 => any::<u128>()];
    let list = (proptest::collection::btree_set(local, 1..300), 0_usize..300, 0_u128..3);
    let list = list.prop_map(|(set, most, side)| {
        let sided = |local: u128| if side < 2 { local & !1 | side } else { local };
        set.into_iter().map(sided).take(most.max(1)).collect()
    });
    proptest::collection::btree_map(key, list, 0..12)
}

/// The entries of lists, with locals of a width.
fn entries_of(lists: &BTreeMap<EntryKey, Vec<u128>>, width: LocalWidth) -> Entries {
    let words = |list: &Vec<u128>| {
        let mask = u128::MAX >> (u128::BITS - width.bits());
        let mut locals: Vec<u128> = list.iter().map(|local| local & mask).collect();
        locals.sort_unstable();
        locals.dedup();
        let mut words = Vec::new();
        locals.iter().for_each(|local| width.push(*local, &mut words));
        words
    };
    lists.iter().map(|(key, list)| (*key, words(list))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn lists_of_any_length_round_trip(
        lists in lists(), entry_words in 1_usize..60, block_bytes in prop_oneof![1_usize..900, Just(1 << 18)],
        encoders in 1_usize..4, parts in 1_usize..6, width in 0_usize..3, is_older: bool,
    ) {
        let width = WIDTHS[width];
        let entries = entries_of(&lists, width);
        let kind = if is_older { FileKind::Older } else { FileKind::Layer };
        let layer = write(header(kind, width), &entries, encoders, options(entry_words, block_bytes));
        let most = (entry_words / width.words()).max(1);
        let stored: usize = layer.blocks().iter().map(|block| block.regions as usize).sum();
        let needed = entries.iter().map(|(_, words)| width.count(words).div_ceil(most)).sum::<usize>();
        prop_assert_eq!(stored, needed);
        let dir = tempfile::tempdir().unwrap();
        let opened = open(&layer, &dir.path().join("layer.strata"));
        for layer in [layer, opened] {
            prop_assert_eq!(&read(&layer, KeyRange::ALL).unwrap(), &entries);
            let mut seen = Vec::new();
            let counts = layer.verify(&mut |key, words| seen.push((key, words.to_vec()))).unwrap();
            prop_assert_eq!(&seen, &entries);
            let totals = layer.totals();
            prop_assert_eq!(counts, VerifiedCounts { regions: totals.regions, states: totals.states });
            prop_assert_eq!(totals.regions, entries.len() as u64);
            let keys = layer.split_keys(parts);
            prop_assert!(keys.len() < parts && keys.is_sorted_by(|a, b| a < b));
            let split: Vec<Entries> =
                KeyRange::ALL.split(&keys).map(|range| read(&layer, range).unwrap()).collect();
            prop_assert_eq!(&split.concat(), &entries);
            for (number, (key, _)) in entries.iter().enumerate() {
                prop_assert_eq!(&read(&layer, KeyRange::from(*key)).unwrap(), &entries[number..]);
                let next = EntryKey { region: key.region.saturating_add(1), ..*key };
                let from = entries.partition_point(|(key, _)| *key < next);
                prop_assert_eq!(&read(&layer, KeyRange::from(next)).unwrap(), &entries[from..]);
                let before = KeyRange { start: None, end: Some(*key) };
                prop_assert_eq!(&read(&layer, before).unwrap(), &entries[..number]);
            }
        }
    }

    /// A cursor does not join the entries of a region in a run.
    #[test]
    fn runs_store_a_long_list_as_several_entries(
        lists in lists(), entry_words in 1_usize..60, block_bytes in 1_usize..900, width in 0_usize..3,
    ) {
        let width = WIDTHS[width];
        let entries = entries_of(&lists, width);
        let run = write(header(FileKind::Run, width), &entries, 2, options(entry_words, block_bytes));
        let most = (entry_words / width.words()).max(1);
        let mut joined = Entries::new();
        for (key, words) in read(&run, KeyRange::ALL).unwrap() {
            prop_assert!(width.count(&words) <= most);
            match joined.last_mut() {
                Some((last, all)) if *last == key => all.extend(words),
                _ => joined.push((key, words)),
            }
        }
        prop_assert_eq!(joined, entries);
        prop_assert_eq!(run.verify(&mut |_, _| ()).unwrap().regions, run.totals().regions);
    }
}

fn key(region: u128) -> EntryKey {
    EntryKey { shard: 0, region }
}

/// Region 5 has a list of 4 entries of 10 states, with regions before and behind it.
fn sample() -> Entries {
    let list = (0..37_u32).map(|i| 3 * i * i).collect();
    let entries = [(4, vec![1, 9]), (5, list), (6, vec![2]), (9, vec![5, 7])];
    entries.map(|(region, locals)| (key(region), Word::of_vec(locals))).into()
}

#[test]
fn only_lists_longer_than_an_entry_are_cut() {
    let entries = sample();
    let write = |entry_words| {
        let options = options(entry_words, 1 << 18);
        write(header(FileKind::Layer, LocalWidth::One), &entries, 1, options)
    };
    let plain = write(EncodeOptions::default().entry_words);
    assert_eq!(write(37).image(), plain.image());
    assert_eq!(plain.blocks().len(), 1);
    let cut = write(10);
    let keys: Vec<_> = cut.blocks().iter().map(|block| (block.first, block.last)).collect();
    assert_eq!(keys, [(4, 5), (5, 5), (5, 5), (5, 9)].map(|(a, b)| (key(a), key(b))));
    assert_eq!((cut.totals().regions, cut.shards()[0].regions), (4, 4));
}

/// A region, and the locals of one of its entries.
type Row<'a> = (u128, &'a [u32]);

#[test]
fn a_region_written_by_two_encoders_is_refused() {
    let header = header(FileKind::Layer, LocalWidth::One);
    let part = |writer: &LayerWriter, entries: &[(u128, &[u32])]| {
        let mut encoder = BlockEncoder::new(options(2, 4000)).unwrap();
        for (region, words) in entries {
            encoder.push(writer, key(*region), Word::of(words)).unwrap();
        }
        encoder.finish(writer).unwrap()
    };
    let long: &[(u128, &[u32])] = &[(1, &[1]), (5, &[1, 2, 3, 4, 5])];
    let rows: [(&[Row<'_>], u64); 3] =
        [(&[(5, &[6, 7, 8])], 1), (&[(5, &[6]), (6, &[1])], 2), (&[(6, &[6, 7, 8])], 1)];
    for (number, (other, regions)) in rows.into_iter().enumerate() {
        let writer = LayerWriter::memory(header.clone()).unwrap();
        let parts = vec![part(&writer, other), part(&writer, long)];
        let states = parts.iter().flat_map(|part| &part.shards).map(|shard| shard.states).sum();
        let totals = LayerTotals { regions: 2 + regions, states, ..LayerTotals::default() };
        let sealed = writer.seal(parts, totals);
        assert_eq!(sealed.is_ok(), number == 2, "{sealed:?}");
    }
}

#[test]
fn long_lists_out_of_order_are_refused() {
    let writer = LayerWriter::memory(header(FileKind::Layer, LocalWidth::One)).unwrap();
    let mut encoder = BlockEncoder::new(options(2, 4000)).unwrap();
    for words in [&[1, 2, 3, 4, 5][..], &[7]] {
        encoder.push(&writer, key(5), Word::of(&[1, 2, 3, 4, 5])).unwrap();
        let again = encoder.push(&writer, key(5), Word::of(words));
        assert!(matches!(again, Err(StoreError::Inconsistent { .. })), "{again:?}");
        let mut buffer = ListBuf::default();
        let list = buffer.encode(&[1, 2, 3]);
        encoder.push_list(&writer, key(5), list).unwrap();
        let again = encoder.push_list(&writer, key(4), list);
        assert!(matches!(again, Err(StoreError::Inconsistent { .. })), "{again:?}");
    }
}

/// Blocks and places of footer and trailer of an image.
fn places(layer: &Layer) -> (Vec<u8>, usize, usize) {
    let bytes = layer.image().unwrap().to_vec();
    let trailer = bytes.len() - 96;
    let footer = trailer - layer.blocks().len() * 72 - layer.shards().len() * 24;
    (bytes, footer, trailer)
}

/// Recomputes the checksums of footer and trailer, and opens the image as a layer.
fn reseal(mut bytes: Vec<u8>, footer: usize) -> Result<Layer> {
    let trailer = bytes.len() - 96;
    let checksum = xxh3_64(&bytes[footer..trailer]);
    bytes[trailer + 24..][..8].copy_from_slice(&checksum.to_le_bytes());
    let header_len = 20 + usize::from(bytes[11]);
    let sealed = [&bytes[..header_len], &bytes[trailer..trailer + 80]].concat();
    bytes[trailer + 80..][..8].copy_from_slice(&xxh3_64(&sealed).to_le_bytes());
    Layer::from_bytes(bytes, "forged", &header(FileKind::Layer, LocalWidth::One))
}

fn assert_refused(opened: Result<Layer>, expected: &str) {
    let inspected = opened.and_then(|layer| {
        let read = read(&layer, KeyRange::ALL).map(|_| ());
        let verified = layer.verify(&mut |_, _| ()).map(|_| ());
        assert_eq!(read.is_err(), verified.is_err());
        read.and(verified)
    });
    match inspected {
        Err(StoreError::Corrupt { expected: found, .. }) if found.contains(expected) => {}
        other => panic!("{other:?} instead of {expected}"),
    }
}

#[test]
fn every_flipped_byte_of_a_long_list_is_found() {
    let layer = write(header(FileKind::Layer, LocalWidth::One), &sample(), 1, options(10, 1 << 18));
    let (bytes, ..) = places(&layer);
    let header = layer.header();
    for at in 0..bytes.len() {
        for flip in [1, 0x80, 0xff] {
            let mut bad = bytes.clone();
            bad[at] ^= flip;
            let opened = Layer::from_bytes(bad, "damaged", header);
            let found = opened.and_then(|layer| layer.verify(&mut |_, _| ()));
            assert!(matches!(found, Err(StoreError::Corrupt { .. })), "byte {at}: {found:?}");
        }
    }
}

#[test]
fn parts_of_a_list_out_of_order_are_refused() {
    let layer = write(header(FileKind::Layer, LocalWidth::One), &sample(), 1, options(10, 1 << 18));
    let (bytes, footer, _) = places(&layer);
    reseal(bytes.clone(), footer).unwrap().verify(&mut |_, _| ()).unwrap();
    let mut swapped = bytes.clone();
    let (second, third) = swapped[footer + 72..][..144].split_at_mut(72);
    second.swap_with_slice(third);
    assert_refused(reseal(swapped, footer), "states above those of the block before");
    // The last part of a list must not be missing, and a part must not count as another region.
    let mut renamed = bytes.clone();
    renamed[footer + 3 * 72 + 4] = 6;
    assert_refused(reseal(renamed, footer), "regions and states of all blocks");
    let mut renamed = bytes;
    renamed[footer + 3 * 72 + 4] = 6;
    let trailer = renamed.len() - 96;
    renamed[trailer + 32] += 1;
    renamed[trailer - 24 + 8] += 1;
    assert_refused(reseal(renamed, footer), "the first key that the index names");
}

/// A run may repeat keys where a layer may not.
#[test]
fn keys_repeated_without_a_continued_list_are_refused() {
    let run = |entries: [(EntryKey, Vec<Word>); 3], block_bytes| {
        let options = options(100, block_bytes);
        let run = write(header(FileKind::Run, LocalWidth::One), &entries.to_vec(), 1, options);
        let (mut bytes, footer, trailer) = places(&run);
        bytes[10] = 1;
        (bytes, footer, trailer)
    };
    let within_a_block =
        [(key(5), vec![Word(1)]), (key(5), vec![Word(2)]), (key(6), vec![Word(1)])];
    let (bytes, footer, _) = run(within_a_block.clone(), 1 << 18);
    assert_refused(reseal(bytes, footer), "a greater region key");
    let (bytes, footer, _) = run(within_a_block.clone(), 1);
    assert_refused(reseal(bytes, footer), "regions and states of all blocks");
    let forged = |entries| {
        let (mut bytes, footer, trailer) = run(entries, 1);
        bytes[trailer + 32] -= 1;
        bytes[trailer - 24 + 8] -= 1;
        reseal(bytes, footer)
    };
    // If regions are counted as in a layer, the image is valid.
    forged(within_a_block).unwrap().verify(&mut |_, _| ()).unwrap();
    let same_state =
        [(key(5), vec![Word(1), Word(2)]), (key(5), vec![Word(2)]), (key(6), vec![Word(1)])];
    assert_refused(forged(same_state), "states above those of the block before");
    // A continued list is counted for its own shard only.
    let (mut bytes, footer, trailer) =
        run([(key(5), vec![Word(1)]), (key(5), vec![Word(2)]), (key(6), vec![Word(1)])], 1);
    bytes[trailer - 24 + 8] -= 1;
    assert_refused(reseal(bytes, footer), "regions and states of all blocks");
}
