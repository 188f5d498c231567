//! Tests of lists that recur in a layer file.

use strata_store::{
    BlockEncoder, EncodeOptions, EntryKey, FileKind, KeyRange, Layer, LayerCursor, LayerHeader,
    LayerTotals, LayerWriter, Word,
};

type Entries = Vec<(EntryKey, Vec<u32>)>;

fn header() -> LayerHeader {
    LayerHeader::new(FileKind::Layer, "job", 3, 1)
}

fn write(entries: &Entries) -> Layer {
    let writer = LayerWriter::memory(header()).unwrap();
    let mut encoder = BlockEncoder::new(EncodeOptions::default()).unwrap();
    for (key, locals) in entries {
        encoder.push(&writer, *key, Word::of(locals)).unwrap();
    }
    let part = encoder.finish(&writer).unwrap();
    let states = entries.iter().map(|(_, locals)| locals.len() as u64).sum();
    let totals = LayerTotals { regions: entries.len() as u64, states, ..LayerTotals::default() };
    writer.seal(vec![part], totals).unwrap()
}

fn assert_read(layer: &Layer, entries: &[(EntryKey, Vec<u32>)]) {
    let mut cursor = LayerCursor::new().unwrap();
    cursor.start(layer, KeyRange::from(entries[0].0)).unwrap();
    for (key, locals) in entries {
        assert_eq!(cursor.key(), Some(*key));
        assert!(Word::locals(cursor.locals().unwrap()) == locals, "{key}");
        cursor.advance().unwrap();
    }
    assert_eq!(cursor.key(), None);
}

/// Lists of 200 states that compress badly, in an order in which each recurs after 40 others.
fn recurring(entries: usize) -> Entries {
    let mut seed = 1_u64;
    let mut random = move || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 40) as u32
    };
    let mut lists = Vec::new();
    for _ in 0..40 {
        let mut local = 0;
        let list = (0..200).map(|_| {
            local += 1 + random() % 300;
            local
        });
        lists.push(list.collect::<Vec<_>>());
    }
    let key = |i: usize| EntryKey { shard: i as u32 / 9000, region: 3 * i as u128 };
    (0..entries).map(|i| (key(i), lists[i % 40].clone())).collect()
}

#[test]
fn a_block_has_each_list_once() {
    let entries = recurring(20_000);
    let layer = write(&entries);
    let [block] = layer.blocks() else { panic!("{} blocks", layer.blocks().len()) };
    assert_eq!(block.states, 200 * 20_000);
    assert!(block.raw_len < 120_000 && block.stored_len < 20_000, "{block:?}");
    // Also from an entry that repeats the list of an earlier entry.
    for from in [0, 1, 50, 8999, 9000, 19_999] {
        assert_read(&layer, &entries[from..]);
    }
}

#[test]
fn every_block_can_be_read_by_itself() {
    // More entries than fit one block.
    let entries = recurring(60_000);
    let layer = write(&entries);
    assert!(layer.blocks().len() > 2);
    for block in layer.blocks() {
        let from = entries.iter().position(|(key, _)| *key == block.first).unwrap();
        assert_read(&layer, &entries[from..]);
        assert!(block.states < (4 << 20) + 200, "{block:?}");
    }
}

#[test]
fn a_file_of_another_version_is_refused() {
    let mut bytes = write(&recurring(3)).image().unwrap().to_vec();
    assert_eq!(bytes[8..10], [1, 0]);
    bytes[8] = 2;
    let error = Layer::from_bytes(bytes, "old", &header()).unwrap_err().to_string();
    assert!(error.contains("expected version 1 of the file format"), "{error}");
    assert!(error.contains("found version 2 of another version of Strata"), "{error}");
}
