use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use strata_space::Weight;

use super::*;
use crate::error::{Result, StoreError};
use crate::fs::faulty::FaultyFs;
use crate::fs::file_system::Fs;
use crate::layer::excerpt::Excerpt;
use crate::layer::file::{ExpectedFile, Layer};
use crate::layer::format::{FileKind, LayerHeader, LayerTotals};
use crate::layer::writer::LayerWriter;

const NUMBERING: DenseNumbering =
    DenseNumbering { blocks: 40_000, rows: 3, lanes: 60, fingerprint: 0x0123_4567_89ab_cdef };

fn header() -> LayerHeader {
    LayerHeader::new(FileKind::Dense, "job", 4, DENSE_ENCODING)
}

/// Totals of a layer, given the words of all its blocks.
fn totals(words: &[u64], rows: usize) -> LayerTotals {
    let states = words.iter().map(|word| u64::from(word.count_ones())).sum();
    let has_states = |block: &&[u64]| block.iter().any(|word| *word != 0);
    let regions = words.chunks(rows).filter(has_states).count() as u64;
    LayerTotals { regions, states, positions: states, generated: 7, digest: Weight([1, 2]) }
}

/// A layer in memory with these words from block 0 on, pushed in ranges of `step` blocks.
fn layer(numbering: DenseNumbering, words: &[u64], step: usize) -> Layer {
    let rows = numbering.rows as usize;
    let writer = LayerWriter::memory(header()).unwrap();
    let mut encoder = DenseEncoder::new(numbering);
    for (index, words) in words.chunks(step * rows).enumerate() {
        encoder.push(&writer, (index * step) as u32, words).unwrap();
    }
    writer.seal(vec![encoder.finish()], totals(words, rows)).unwrap()
}

/// Runs of words; each run has its own density, from no lane to all lanes.
fn words(lanes: u32) -> impl Strategy<Value = Vec<u64>> {
    let mask = u64::MAX >> (64 - lanes);
    let run = (1_usize..400, 0_u32..4, any::<u64>()).prop_map(move |(len, kind, seed)| {
        let mut state = seed | 1;
        let word = move |_| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            let dense = state ^ state >> 29;
            match kind {
                0 => 0,
                1 => u64::from(state >> 60 == 0) << (state >> 32 & 63) & mask,
                2 => dense & dense.rotate_left(17) & mask,
                _ => dense & mask,
            }
        };
        (0..len).map(word).collect::<Vec<u64>>()
    });
    proptest::collection::vec(run, 1..60).prop_map(|runs| {
        let mut words = runs.concat();
        words.truncate(words.len() / 3 * 3);
        words
    })
}

fn expected(layer: &Layer) -> ExpectedFile<'_> {
    let (bytes, seal, kind) = (layer.file_bytes(), layer.seal(), FileKind::Dense);
    ExpectedFile { job: "job", kind, depth: 4, bytes, seal }
}

#[test]
fn a_chunk_that_an_excerpt_lacks_or_that_is_damaged_is_an_error() {
    let numbering = DenseNumbering { blocks: 100, rows: 1 << 14, lanes: 64, ..NUMBERING };
    let words: Vec<u64> =
        (0..10_u64 << 14).map(|word: u64| word.wrapping_mul(0x9249_2492_4924_9249)).collect();
    let layer = layer(numbering, &words, 10);
    assert_eq!((layer.blocks().len(), numbering.chunk_blocks()), (5, 2));
    let image = layer.image().unwrap();
    let excerpt = |blocks: Range<u32>, damaged: u64| {
        let mut excerpt = Excerpt::default();
        for range in dense_excerpt(&layer, &[blocks]) {
            let mut bytes = image[range.start as usize..range.end as usize].to_vec();
            if range.contains(&damaged) {
                bytes[(damaged - range.start) as usize] ^= 4;
            }
            excerpt.insert(range.start, &bytes);
        }
        Layer::from_excerpt(excerpt, "excerpt", &expected(&layer))
    };
    let read = |layer: &Layer, blocks: Range<u32>| {
        let (mut filled, mut counts) = (vec![0; blocks.len() << 14], vec![0; blocks.len()]);
        let reader = DenseReader::new(layer, numbering).unwrap();
        reader.read_filled(blocks.start, &mut filled, &mut counts).map(|()| filled)
    };
    let some = excerpt(3..7, u64::MAX).unwrap();
    assert!(some.file_bytes() > 300 << 10);
    assert!(read(&some, 2..8).unwrap() == words[2 << 14..8 << 14]);
    for blocks in [0..1, 1..4, 7..9, 9..10] {
        let error = read(&some, blocks.clone()).unwrap_err().to_string();
        assert!(error.contains("an excerpt without them"), "{blocks:?}: {error}");
    }
    let damaged = layer.blocks()[2].offset + 9;
    let error = read(&excerpt(3..7, damaged).unwrap(), 4..6).unwrap_err();
    assert!(error.is_corrupt() && error.to_string().contains("checksum"), "{error}");
    // The index, and the header.
    for damaged in [layer.file_bytes() - 200, 12] {
        assert!(excerpt(3..7, damaged).unwrap_err().is_corrupt());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn words_round_trip(words in words(60), step in 1_usize..20_000, from in 0_usize..3000, len in 0_usize..9000) {
        let layer = layer(NUMBERING, &words, step);
        let reader = DenseReader::new(&layer, NUMBERING).unwrap();
        // A part, then everything, then beyond the end.
        let blocks = words.len() / 3;
        let (from, to) = (from.min(blocks), (from + len).min(blocks));
        let mut part = vec![1; (to - from) * 3];
        reader.read(from as u32, &mut part).unwrap();
        prop_assert_eq!(&part, &words[from * 3..to * 3]);
        let mut all = vec![1; words.len() + 3];
        reader.read(0, &mut all).unwrap();
        prop_assert_eq!(&all[..words.len()], &words[..]);
        prop_assert_eq!(&all[words.len()..], &[0; 3]);
        let mut visited = vec![0; words.len()];
        reader.visit(|first, chunk| {
            visited[first as usize * 3..][..chunk.len()].copy_from_slice(chunk);
            Ok::<(), StoreError>(())
        }).unwrap();
        prop_assert_eq!(&visited, &words);
        // Only the blocks with states, of a part of the file.
        let from_file = |range: Range<u64>| {
            let range = range.start as usize..range.end as usize;
            (range.start as u64, &layer.image().unwrap()[range])
        };
        let mut excerpt = Excerpt::default();
        let blocks = from as u32..to as u32;
        for range in dense_excerpt(&layer, std::slice::from_ref(&blocks)) {
            let (offset, bytes) = from_file(range);
            excerpt.insert(offset, bytes);
        }
        let expect = expected(&layer);
        let excerpt = Layer::from_excerpt(excerpt, "excerpt", &expect).unwrap();
        let (mut filled, mut counts) = (vec![7; part.len()], vec![0; to - from]);
        let reader = DenseReader::new(&excerpt, NUMBERING).unwrap();
        reader.read_filled(from as u32, &mut filled, &mut counts).unwrap();
        for ((filled, count), words) in filled.chunks(3).zip(counts).zip(part.chunks(3)) {
            prop_assert_eq!(count as usize, words.iter().filter(|word| **word != 0).count());
            prop_assert!(count == 0 || filled == words);
        }
    }
}

#[test]
fn thin_layers_take_few_bytes_and_dense_ones_a_bit_a_state() {
    let numbering = DenseNumbering { blocks: 64, rows: 512, lanes: 64, ..NUMBERING };
    let size = |word: fn(usize) -> u64| {
        let words: Vec<u64> = (0..64 * 512).map(word).collect();
        let layer = layer(numbering, &words, 64);
        (layer.file_bytes() - 300, layer.totals().states)
    };
    let (bytes, states) = size(|index| u64::from(index % 50 == 0) << (index % 64));
    assert!(bytes < 2 * states, "{bytes} bytes for {states} states");
    let (bytes, _) = size(|index| 0x9249_2492_4924_9249 ^ index as u64);
    assert!(bytes < 8 * 64 * 512, "{bytes} bytes");
}

#[test]
fn a_file_that_cannot_be_read_is_an_error_with_file_and_offset() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("layer");
    let faulty = FaultyFs::new();
    let fs: Arc<dyn Fs> = Arc::new(faulty.clone());
    let (sealed, words) = file(&fs, &path);
    let opened = open(&fs, &path, &sealed).unwrap();
    for layer in [&sealed, &opened] {
        for chunk in layer.blocks() {
            faulty.fail_reads_at("layer", chunk.offset);
            let Err(StoreError::Read { path: named, offset, source }) = read(layer, NUMBERING)
            else {
                panic!()
            };
            assert_eq!((&named, offset, source.raw_os_error()), (&path, chunk.offset, Some(5)));
            faulty.heal();
            assert_eq!(read(layer, NUMBERING).unwrap(), words);
        }
    }
    // Another process cuts the file while it is open.
    let end = sealed.blocks().iter().map(|chunk| chunk.offset + u64::from(chunk.stored_len)).max();
    for len in (0..end.unwrap()).rev().step_by(7) {
        std::fs::File::options().write(true).open(&path).unwrap().set_len(len).unwrap();
        for layer in [&sealed, &opened] {
            let Err(StoreError::Corrupt { file, offset, .. }) = read(layer, NUMBERING) else {
                panic!("{len}")
            };
            assert_eq!(file, path);
            assert!(layer.blocks().iter().any(|chunk| chunk.offset == offset), "{offset}");
        }
    }
}

/// Writes a file with a sparse and a dense chunk. Returns the layer and its words.
fn file(fs: &Arc<dyn Fs>, path: &Path) -> (Layer, Vec<u64>) {
    let mut words = vec![0; 1500];
    words[17] = 1 << 59;
    words[700] = 5;
    words[1200..1300].fill(0x0123_4567_89ab_cdef);
    let writer = LayerWriter::file(Arc::clone(fs), path, header()).unwrap();
    let mut encoder = DenseEncoder::new(NUMBERING);
    // Two chunks.
    encoder.push(&writer, 0, &words[..900]).unwrap();
    encoder.push(&writer, 300, &words[900..]).unwrap();
    (writer.seal(vec![encoder.finish()], totals(&words, 3)).unwrap(), words)
}

fn open(fs: &Arc<dyn Fs>, path: &Path, layer: &Layer) -> Result<Layer> {
    let (bytes, seal) = (layer.file_bytes(), layer.seal());
    let expect = ExpectedFile { job: "job", kind: FileKind::Dense, depth: 4, bytes, seal };
    Layer::open(Arc::clone(fs), path, &expect)
}

fn read(layer: &Layer, numbering: DenseNumbering) -> Result<Vec<u64>> {
    let mut words = vec![0; 1500];
    DenseReader::new(layer, numbering)?.read(0, &mut words)?;
    Ok(words)
}

#[test]
fn every_flipped_bit_and_every_truncation_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("layer");
    let fs: Arc<dyn Fs> = Arc::new(crate::RealFs);
    let (layer, words) = file(&fs, &path);
    let good = std::fs::read(&path).unwrap();
    assert_eq!(read(&open(&fs, &path, &layer).unwrap(), NUMBERING).unwrap(), words);
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 1 << (at % 8);
        std::fs::write(&path, &bad).unwrap();
        let error = open(&fs, &path, &layer).and_then(|layer| read(&layer, NUMBERING)).unwrap_err();
        assert!(error.is_corrupt(), "byte {at}: {error}");
    }
    for len in (0..good.len()).step_by(7) {
        std::fs::write(&path, &good[..len]).unwrap();
        assert!(open(&fs, &path, &layer).unwrap_err().is_corrupt());
    }
}

#[test]
fn a_layer_of_another_numbering_or_kind_is_refused() {
    let words = vec![3; 300];
    let layer = layer(NUMBERING, &words, 100);
    let refused = |numbering| {
        let mut words = vec![0; 300];
        let error = DenseReader::new(&layer, numbering).and_then(|r| r.read(0, &mut words));
        error.unwrap_err().to_string()
    };
    let other = refused(DenseNumbering { fingerprint: 1, ..NUMBERING });
    assert!(other.contains("the numbering 0000000000000001"), "{other}");
    assert!(refused(DenseNumbering { rows: 1, ..NUMBERING }).contains("1 rows"));
    assert!(refused(DenseNumbering { blocks: 99, ..NUMBERING }).contains("99 blocks"));
    assert!(refused(DenseNumbering { lanes: 1, ..NUMBERING }).contains("lanes"));
    let explicit = LayerHeader { kind: FileKind::Layer, ..header() };
    let writer = LayerWriter::memory(explicit).unwrap();
    let pushed = DenseEncoder::new(NUMBERING).push(&writer, 0, &words);
    assert!(matches!(pushed, Err(StoreError::Inconsistent { .. })));
    let empty = writer.seal(Vec::new(), LayerTotals::default()).unwrap();
    assert!(DenseReader::new(&empty, NUMBERING).unwrap_err().is_corrupt());
    let mut cursor = crate::LayerCursor::new().unwrap();
    assert!(cursor.start(&layer, crate::KeyRange::ALL).unwrap_err().is_corrupt());
}

#[test]
fn ranges_that_do_not_fit_are_refused() {
    let writer = LayerWriter::memory(header()).unwrap();
    let mut encoder = DenseEncoder::new(NUMBERING);
    encoder.push(&writer, 5, &[1; 30]).unwrap();
    let refused = |encoder: &mut DenseEncoder, first, words: &[u64]| {
        let pushed = encoder.push(&writer, first, words);
        assert!(matches!(pushed, Err(StoreError::Inconsistent { .. })), "{pushed:?}");
    };
    refused(&mut encoder, 14, &[1; 3]);
    refused(&mut encoder, 15, &[1; 4]);
    refused(&mut encoder, 39_999, &[1; 6]);
    refused(&mut encoder, 15, &[0, 1 << 60, 0]);
    let mut reader_words = [0; 4];
    let layer = layer(NUMBERING, &[1; 3], 1);
    let read = DenseReader::new(&layer, NUMBERING).unwrap().read(0, &mut reader_words);
    assert!(matches!(read, Err(StoreError::Inconsistent { .. })));
}

#[test]
fn a_full_disk_is_reported_and_leaves_no_file() {
    let fs = Arc::new(FaultyFs::new());
    fs.fill_after(1000);
    let folder = tempfile::tempdir().unwrap();
    let path = &folder.path().join("layer");
    let shared: Arc<dyn Fs> = fs.clone();
    let writer = LayerWriter::file(shared, path, header()).unwrap();
    let pushed = DenseEncoder::new(NUMBERING).push(&writer, 0, &vec![0xffff; 3000]);
    assert!(pushed.unwrap_err().is_disk_full());
    drop(writer);
    assert!(fs.read(path).is_err());
}
