//! Fuzz target for encoded runs, the form in which batches of exits arrive: format, bounds and
//! inbox. The inbox returns all states of accepted runs, no matter how it merges and spills them.

use std::collections::BTreeSet;
use std::sync::Arc;

use strata_engine::explicit::{
    Bounds, Inbox, InboxOptions, MemoryRun, Run, RunEncoder, SortBuffers,
};
use strata_store::{EncodeOptions, EntryKey, LocalWidth, RealFs, StoreError, Word};
use tempfile::TempDir;

use super::layer::{Entries, check_order, entries, read, widened};
use super::support::{must, scratch};
use crate::fuzz::mutate;
use crate::fuzz::rng::Rng;
use crate::fuzz::target::{Finding, Outcome, Target};

const JOB: &str = "job-1";
const DEPTH: u32 = 7;
const SHARDS: u32 = 40;
const LOCALS: u32 = 6_000_000;
const EDGES: u16 = 12;

/// Runs from another worker.
pub(super) struct EncodedRuns {
    seeds: Vec<Vec<u8>>,
    /// The states of each seed.
    states: Vec<States>,
    width: LocalWidth,
    folder: TempDir,
}

impl EncodedRuns {
    /// Runs with locals of a width.
    pub(super) fn new(width: LocalWidth) -> EncodedRuns {
        let states = lists(width).iter().map(|entries| states(entries, width)).collect();
        EncodedRuns { seeds: seeds(width), states, width, folder: scratch() }
    }

    fn inbox(&self, memory: usize) -> Inbox {
        let options = InboxOptions {
            memory,
            width: self.width,
            job: JOB.to_owned(),
            folder: self.folder.path().to_path_buf(),
            prefix: "inbox".to_owned(),
            recycled_runs: 1,
            encode: EncodeOptions { block_bytes: 256, entry_words: 24, ..EncodeOptions::default() },
        };
        must(Inbox::new(Arc::new(RealFs), options))
    }
}

/// An encoded run of some entries, with inverse edges.
fn run(entries: &Entries, width: LocalWidth) -> Vec<u8> {
    let mut run = MemoryRun::default();
    for ((key, locals), number) in entries.iter().zip(0..) {
        let inverse = if number % 3 == 0 { None } else { Some(number % EDGES) };
        run.push(*key, inverse, locals);
    }
    run.sort(&mut SortBuffers::default());
    let mut parts = Vec::new();
    let encoded = must(RunEncoder::new(1, bound(width))).encode(&run, |part| {
        parts.push(part);
        Ok::<(), StoreError>(())
    });
    must(encoded);
    parts.swap_remove(0)
}

/// Exclusive bound of locals of a width.
fn bound(width: LocalWidth) -> u128 {
    u128::from(LOCALS) << (width.bits() - 32)
}

/// Lists of entries for few and many batches; one list has repeated keys.
fn lists(width: LocalWidth) -> [Entries; 4] {
    let owned = |count, seed| -> Entries {
        let mut entries = entries(count, seed);
        entries.retain(|(key, locals)| {
            key.shard < SHARDS && locals.last().is_some_and(|local| local.0 < LOCALS)
        });
        entries
    };
    let twice = owned(9, 3).into_iter().flat_map(|entry| [entry.clone(), entry]).collect();
    [owned(1, 1), owned(20, 2), owned(70, 5), twice].map(|entries| widened(&entries, width))
}

/// The lists as encoded runs.
pub(super) fn seeds(width: LocalWidth) -> Vec<Vec<u8>> {
    lists(width).iter().map(|entries| run(entries, width)).collect()
}

/// Changes a run: its bytes, or its content together with the checksum.
fn mutate_run(run: &mut Vec<u8>, other: &[u8], rng: &mut Rng) {
    let content = |bytes: &[u8]| zstd::bulk::decompress(bytes, mutate::MAX_LEN).ok();
    match content(run).filter(|_| !rng.once_in(4)) {
        Some(mut bytes) => {
            let other = content(other).unwrap_or_default();
            mutate::bytes(&mut bytes, &other, rng);
            *run = must(zstd::bulk::compress(&bytes, 1));
        }
        None => mutate::bytes(run, other, rng),
    }
}

type States = BTreeSet<(EntryKey, u128)>;

fn states(entries: &Entries, width: LocalWidth) -> States {
    let of_entry = |(key, words): &(EntryKey, Vec<Word>)| {
        let key = *key;
        width.locals(words).map(move |local| (key, local)).collect::<Vec<_>>()
    };
    entries.iter().flat_map(of_entry).collect()
}

/// The states of all runs of an inbox.
fn taken(inbox: &Inbox, width: LocalWidth) -> Result<States, Finding> {
    let runs = inbox.take(DEPTH).map_err(|error| format!("take: {error}"))?;
    let mut all = States::new();
    for run in &runs {
        match run {
            Run::Memory(run) => {
                let visited = run.for_each_region(width, |key, words| {
                    all.extend(width.locals(words).map(|local| (key, local)));
                    Ok::<(), StoreError>(())
                });
                visited.map_err(|error| error.to_string())?;
            }
            Run::File(layer) => {
                let entries =
                    read(layer).map_err(|error| format!("a run of the inbox: {error}"))?;
                check_order(&entries, width, false)?;
                all.extend(states(&entries, width));
            }
        }
    }
    inbox.recycle(DEPTH, runs).map_err(|error| error.to_string())?;
    Ok(all)
}

impl Target for EncodedRuns {
    fn name(&self) -> &'static str {
        match self.width {
            LocalWidth::One => "run",
            LocalWidth::Two => "run-64",
            LocalWidth::Four => "run-128",
        }
    }

    fn seeds(&self) -> Vec<Vec<u8>> {
        self.seeds.clone()
    }

    fn mutate(&self, input: &mut Vec<u8>, other: &[u8], rng: &mut Rng) {
        mutate_run(input, other, rng);
    }

    fn check(&mut self, input: &[u8]) -> Result<Outcome, Finding> {
        let locals = bound(self.width);
        let bounds = Bounds { owns: &|shard| shard < SHARDS, locals, exit_edges: EDGES };
        let accept = |inbox: &Inbox, run: &[u8]| {
            inbox.accept_encoded(DEPTH, run, "batch", &bounds).map_err(|error| error.to_string())
        };
        // First alone in memory, then with other runs, in inboxes so small that they spill.
        let inbox = self.inbox(64 << 20);
        if let Err(error) = accept(&inbox, input) {
            let left = taken(&inbox, self.width)?;
            return match left.is_empty() {
                true => Ok(Outcome::refused(error)),
                false => Err(format!("refused ({error}), but in the inbox: {left:?}")),
            };
        }
        let expected = taken(&inbox, self.width)?;
        let outside = |(key, local): &(EntryKey, u128)| key.shard >= SHARDS || *local >= locals;
        if let Some((key, local)) = expected.iter().find(|state| outside(state)) {
            return Err(format!("{local} in {key} is outside the bounds"));
        }
        for memory in [64 << 10, 900, 0] {
            let inbox = self.inbox(memory);
            let mut all = expected.clone();
            for number in 0..18 {
                let seed = number % self.seeds.len();
                let (bytes, states) = match number % 6 {
                    0 => (input, &expected),
                    _ => (&*self.seeds[seed], &self.states[seed]),
                };
                all.extend(states);
                accept(&inbox, bytes).map_err(|error| format!("with {memory} bytes: {error}"))?;
            }
            if taken(&inbox, self.width)? != all {
                return Err(format!("an inbox of {memory} bytes has other states than its runs"));
            }
        }
        Ok(Outcome::Accepted)
    }

    /// Independent of the input's length: the decompressed content has at most 4 MiB, and each 4 bytes
    /// of it may become a batch of 44 bytes.
    fn memory(&self, _: usize) -> usize {
        256 << 20
    }

    fn test_runs(&self) -> u64 {
        300
    }
}
