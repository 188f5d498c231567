//! Fuzz target for layer files: the entries of an accepted file are in order, and are read back the
//! same after they are written.

use std::sync::Arc;

use strata_space::Weight;
use strata_store::{
    BlockEncoder, EncodeOptions, EntryKey, ExpectedFile, FileKind, KeyRange, Layer, LayerCursor,
    LayerHeader, LayerTotals, LayerWriter, LocalWidth, RealFs, StoreError, Word,
};
use tempfile::TempDir;

use super::layer_format::{header_of, mutate_file, seal_of};
use super::support::{must, scratch};
use crate::fuzz::rng::Rng;
use crate::fuzz::target::{Finding, Outcome, Target};

/// Entries of a file, in order, with the words of their states.
pub(super) type Entries = Vec<(EntryKey, Vec<Word>)>;

/// Layer files.
pub(super) struct LayerFiles {
    seeds: Vec<Vec<u8>>,
    folder: TempDir,
}

impl LayerFiles {
    pub(super) fn new() -> LayerFiles {
        LayerFiles { seeds: seeds(), folder: scratch() }
    }
}

/// A header with the fields of the input's header. Opening a file with it as the expected header
/// does not refuse the file for its header alone.
pub(super) fn header(bytes: &[u8], kind: FileKind) -> LayerHeader {
    let (depth, encoding, job) = header_of(bytes);
    let width = match bytes.get(18) {
        Some(1) => LocalWidth::Two,
        Some(2) => LocalWidth::Four,
        _ => LocalWidth::One,
    };
    LayerHeader { kind, job, depth, encoding, width }
}

/// Writes entries to a file in memory.
fn image(
    header: LayerHeader,
    entries: &Entries,
    options: EncodeOptions,
    totals: LayerTotals,
) -> Result<Layer, StoreError> {
    let writer = LayerWriter::memory(header)?;
    let mut encoder = BlockEncoder::new(options)?;
    for (key, locals) in entries {
        encoder.push(&writer, *key, locals)?;
    }
    let part = encoder.finish(&writer)?;
    writer.seal(vec![part], totals)
}

/// `count` entries with lists of several sizes, which grow and sometimes repeat.
pub(super) fn entries(count: u32, seed: u64) -> Entries {
    let mut rng = Rng::new(seed);
    let mut entries = Entries::new();
    let mut key = EntryKey::default();
    for number in 0..count {
        if rng.once_in(4) {
            key = EntryKey { shard: key.shard + rng.below(3) as u32, region: key.region };
        }
        key.region += 1 + u128::from(rng.edge(40) >> 8) * u128::from(rng.edge(9) >> 20);
        if rng.once_in(4) && !entries.is_empty() {
            let repeated = rng.pick(&entries).1.clone();
            entries.push((key, repeated));
            continue;
        }
        let states = 1 + rng.below(1 + number as usize % 40);
        let mut local = rng.below(600) as u32;
        let mut locals = Vec::new();
        let step = [1, 2, 300, 70_000][rng.below(4)];
        for _ in 0..states {
            locals.push(local);
            local += step * (1 + rng.below(3) as u32);
        }
        entries.push((key, Word::of_vec(locals)));
    }
    entries
}

/// The same entries with locals of the given width that are far apart.
pub(super) fn widened(entries: &Entries, width: LocalWidth) -> Entries {
    let wide = |(key, locals): &(EntryKey, Vec<Word>)| {
        let mut words = Vec::new();
        for local in Word::locals(locals) {
            let far = u128::from(*local) << (width.bits() - 32) | u128::from(*local % 1000);
            width.push(far, &mut words);
        }
        (*key, words)
    };
    entries.iter().map(wide).collect()
}

/// Valid files: empty, one block, several blocks, repeated lists, very long gaps, the greatest keys, wide
/// locals, lists of several entries.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let last = EntryKey { shard: u32::MAX, region: u128::MAX };
    let ends: Entries = vec![
        (EntryKey::default(), Word::of(&[0, u32::MAX]).to_vec()),
        (last, Word::of(&[1, 3, 5, u32::MAX]).to_vec()),
    ];
    let (one, two, four) = (LocalWidth::One, LocalWidth::Two, LocalWidth::Four);
    let plain = EncodeOptions::default();
    let blocks_of = |block_bytes| EncodeOptions { block_bytes, ..plain };
    let entries_of = |entry_words| EncodeOptions { entry_words, ..blocks_of(512) };
    let lists = [
        (entries(0, 1), plain, one),
        (entries(1, 2), plain, one),
        (entries(12, 3), blocks_of(64), one),
        (entries(90, 4), blocks_of(512), one),
        (widened(&ends, two), blocks_of(64), two),
        (widened(&ends, four), blocks_of(64), four),
        (ends, blocks_of(64), one),
        (widened(&entries(12, 5), two), blocks_of(64), two),
        (widened(&entries(90, 6), four), blocks_of(512), four),
        (entries(30, 7), entries_of(6), one),
        (widened(&entries(30, 8), two), entries_of(10), two),
    ];
    let seed = |(entries, options, width): &(Entries, EncodeOptions, LocalWidth)| {
        let states = entries.iter().map(|(_, words)| width.count(words) as u64).sum();
        let header =
            LayerHeader { width: *width, ..LayerHeader::new(FileKind::Layer, "job-1", 7, 1) };
        let totals = LayerTotals {
            regions: entries.len() as u64,
            states,
            positions: states,
            generated: 2 * states,
            digest: Weight([states, 5]),
        };
        let layer = must(image(header, entries, *options, totals));
        must(layer.image().map(<[u8]>::to_vec).ok_or("the layer is in a file"))
    };
    lists.iter().map(seed).collect()
}

/// Reads all entries of a file, with every check of the store.
pub(super) fn read(layer: &Layer) -> Result<Entries, StoreError> {
    let mut entries = Entries::new();
    layer.verify(&mut |key, locals| entries.push((key, locals.to_vec())))?;
    Ok(entries)
}

/// Checks that keys and locals increase. Unless `strict`, as for runs, keys may repeat.
pub(super) fn check_order(
    entries: &Entries,
    width: LocalWidth,
    strict: bool,
) -> Result<(), Finding> {
    for pair in entries.windows(2) {
        let (a, b) = (pair[0].0, pair[1].0);
        if a > b || (a == b && strict) {
            return Err(format!("key {b} after {a}"));
        }
    }
    match entries.iter().find(|(_, l)| l.is_empty() || !width.is_sorted(l)) {
        Some((key, locals)) => Err(format!("locals of {key}: {locals:?}")),
        None => Ok(()),
    }
}

/// Reads a part of the file as a pass task does.
fn check_range(layer: &Layer, entries: &Entries, from: EntryKey) -> Result<(), Finding> {
    let mut cursor = must(LayerCursor::new());
    let mut found = Entries::new();
    let mut next = cursor.start(layer, KeyRange::from(from));
    while next.is_ok()
        && let Some(key) = cursor.key()
    {
        let mut decoded = Vec::new();
        let whole = cursor.list().decode(&mut decoded).is_some();
        match cursor.locals() {
            Ok(locals) if whole && locals == decoded => found.push((key, decoded)),
            Ok(locals) => return Err(format!("{key}: {locals:?}, decoded as {decoded:?}")),
            Err(error) => return Err(format!("{key}: {error}")),
        }
        next = cursor.advance();
    }
    next.map_err(|error| format!("from {from}: {error}"))?;
    let expected: Vec<_> = entries.iter().filter(|(key, _)| *key >= from).cloned().collect();
    if found == expected {
        Ok(())
    } else {
        Err(format!("from {from}: {found:?}, not {expected:?}"))
    }
}

impl Target for LayerFiles {
    fn name(&self) -> &'static str {
        "layer"
    }

    fn seeds(&self) -> Vec<Vec<u8>> {
        self.seeds.clone()
    }

    fn mutate(&self, input: &mut Vec<u8>, other: &[u8], rng: &mut Rng) {
        mutate_file(input, other, rng);
    }

    fn check(&mut self, input: &[u8]) -> Result<Outcome, Finding> {
        let expect = header(input, FileKind::Layer);
        let layer = match Layer::from_bytes(input.to_vec(), "input", &expect) {
            Ok(layer) => layer,
            Err(error) => return Ok(Outcome::refused(error)),
        };
        // Parts of a file may be readable even if the whole is not. Reading may fail only with an
        // error.
        for from in layer.split_keys(3) {
            let mut cursor = must(LayerCursor::new());
            let mut next = cursor.start(&layer, KeyRange::from(from));
            while next.is_ok() && cursor.key().is_some() && cursor.locals().is_ok() {
                next = cursor.advance();
            }
        }
        let entries = match read(&layer) {
            Ok(entries) => entries,
            Err(error) => return Ok(Outcome::refused(error)),
        };
        let width = expect.width;
        check_order(&entries, width, true)?;
        let totals = layer.totals();
        let states: usize = entries.iter().map(|(_, words)| width.count(words)).sum();
        if (totals.regions, totals.states) != (entries.len() as u64, states as u64) {
            return Err(format!("{totals:?} of {} regions, {states} states", entries.len()));
        }
        for from in layer.split_keys(3).into_iter().chain([EntryKey::default()]) {
            check_range(&layer, &entries, from)?;
        }
        // A file with the same seal as a valid file must be that file: manifests record only the
        // seal.
        let same_seal = self.seeds.iter().find(|seed| seal_of(seed) == seal_of(input));
        if same_seal.is_some_and(|seed| seed != input) {
            return Err("another file with the seal of a valid one".to_owned());
        }
        let options =
            EncodeOptions { block_bytes: 512, entry_words: 9, ..EncodeOptions::default() };
        let written = image(expect.clone(), &entries, options, *totals);
        let written = written.map_err(|error| format!("it cannot be written: {error}"))?;
        let again = read(&written).map_err(|error| format!("it cannot be read again: {error}"))?;
        if again != entries || written.totals() != totals {
            return Err(format!("{entries:?} was written as {again:?}"));
        }
        self.open(input, &layer)
    }

    /// A block has at most 128 MiB before compression, and two blocks are read at a time.
    fn memory(&self, _: usize) -> usize {
        512 << 20
    }
}

impl LayerFiles {
    /// Opens the input as a file, as a manifest names it.
    fn open(&self, input: &[u8], layer: &Layer) -> Result<Outcome, Finding> {
        let path = self.folder.path().join("layer");
        must(std::fs::write(&path, input));
        let header = layer.header();
        let expect = ExpectedFile {
            job: &header.job,
            kind: header.kind,
            depth: header.depth,
            bytes: layer.file_bytes(),
            seal: layer.seal(),
        };
        let open = |expect| Layer::open(Arc::new(RealFs), &path, expect);
        open(&expect).map_err(|error| format!("as a file: {error}"))?;
        let others = [
            ExpectedFile { seal: expect.seal ^ 1, ..expect },
            ExpectedFile { bytes: expect.bytes + 1, ..expect },
            ExpectedFile { depth: expect.depth ^ 1, ..expect },
            ExpectedFile { kind: FileKind::Run, ..expect },
            ExpectedFile { job: "another", ..expect },
        ];
        match others.iter().find(|other| open(other).is_ok()) {
            Some(other) => Err(format!("accepted as {other:?}")),
            None => Ok(Outcome::Accepted),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::layer_format::{assembled_twice, reseal};
    use super::*;

    #[test]
    fn resealing_a_valid_file_does_not_change_it() {
        for seed in seeds() {
            let mut sealed = seed.clone();
            reseal(&mut sealed);
            assert_eq!(sealed, seed);
            let [once, twice] = assembled_twice(&seed).unwrap();
            assert_eq!(once, twice);
            let expect = header(&seed, FileKind::Layer);
            let entries = [seed, once].map(|bytes| {
                read(&Layer::from_bytes(bytes, "assembled", &expect).unwrap()).unwrap()
            });
            assert_eq!(entries[0], entries[1]);
        }
    }
}
