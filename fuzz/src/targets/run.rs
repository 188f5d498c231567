//! Run images, as a batch of exits arrives: header, bounds and inbox. Whatever is accepted is in the
//! inbox, no matter how it is merged and spilled.

use std::collections::BTreeSet;
use std::sync::Arc;

use strata_explicit::{Bounds, Inbox, InboxOptions, Run, run_header};
use strata_store::{EncodeOptions, EntryKey, FileKind, Layer, LayerTotals, RealFs, StoreError};
use tempfile::TempDir;

use super::layer::{Entries, check_order, entries, header, image, read};
use super::layer_format::mutate_file;
use super::support::{must, scratch};
use crate::rng::Rng;
use crate::target::{Finding, Outcome, Target};

const JOB: &str = "job-1";
const DEPTH: u32 = 7;
const SHARDS: u32 = 40;
const LOCALS: u32 = 6_000_000;

/// Runs from another worker.
pub(super) struct RunImages {
    seeds: Vec<Vec<u8>>,
    folder: TempDir,
}

impl RunImages {
    pub(super) fn new() -> RunImages {
        RunImages { seeds: seeds(), folder: scratch() }
    }

    fn inbox(&self, memory: usize) -> Inbox {
        let options = InboxOptions {
            memory,
            job: JOB.to_owned(),
            folder: self.folder.path().to_path_buf(),
            prefix: "inbox".to_owned(),
            recycled_runs: 1,
            encode: EncodeOptions { block_bytes: 256, ..EncodeOptions::default() },
        };
        must(Inbox::new(Arc::new(RealFs), options))
    }
}

/// A run in the file format.
fn run(entries: &Entries, block_bytes: usize) -> Vec<u8> {
    let totals = LayerTotals {
        regions: entries.len() as u64,
        states: entries.iter().map(|(_, locals)| locals.len() as u64).sum(),
        ..LayerTotals::default()
    };
    let layer = must(image(run_header(JOB, DEPTH), entries, block_bytes, totals));
    must(layer.into_image().map_err(|_| "the run is in use"))
}

/// Runs of one block and of several, one of them with keys that repeat.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let owned = |count, seed| -> Entries {
        let mut entries = entries(count, seed);
        entries.retain(|(key, locals)| {
            key.shard < SHARDS && locals.last().is_some_and(|local| *local < LOCALS)
        });
        entries
    };
    let twice = owned(9, 3).into_iter().flat_map(|entry| [entry.clone(), entry]).collect();
    let lists = [(owned(1, 1), 4096), (owned(20, 2), 4096), (owned(70, 5), 128), (twice, 64)];
    lists.iter().map(|(entries, block_bytes)| run(entries, *block_bytes)).collect()
}

type States = BTreeSet<(EntryKey, u32)>;

fn states(entries: &Entries) -> States {
    entries.iter().flat_map(|(key, locals)| locals.iter().map(|local| (*key, *local))).collect()
}

/// The states of all runs of an inbox.
fn taken(inbox: &Inbox) -> Result<States, Finding> {
    let runs = inbox.take(DEPTH).map_err(|error| format!("take: {error}"))?;
    let mut all = States::new();
    for run in &runs {
        match run {
            Run::Memory(run) => {
                let visited = run.for_each_region(|key, locals| {
                    all.extend(locals.iter().map(|local| (key, *local)));
                    Ok::<(), StoreError>(())
                });
                visited.map_err(|error| error.to_string())?;
            }
            Run::Image(layer) | Run::File(layer) => {
                let entries =
                    read(layer).map_err(|error| format!("a run of the inbox: {error}"))?;
                check_order(&entries, false)?;
                all.extend(states(&entries));
            }
        }
    }
    inbox.recycle(runs).map_err(|error| error.to_string())?;
    Ok(all)
}

impl Target for RunImages {
    fn name(&self) -> &'static str {
        "run"
    }

    fn seeds(&self) -> Vec<Vec<u8>> {
        self.seeds.clone()
    }

    fn mutate(&self, input: &mut Vec<u8>, other: &[u8], rng: &mut Rng) {
        mutate_file(input, other, rng);
    }

    fn check(&mut self, input: &[u8]) -> Result<Outcome, Finding> {
        let expect = run_header(JOB, DEPTH);
        let open = |bytes: &[u8]| Layer::from_bytes(bytes.to_vec(), "batch", &expect);
        let found = match open(input) {
            Ok(layer) => layer,
            Err(error) => return Ok(Outcome::refused(error)),
        };
        if header(input, FileKind::Run) != expect {
            return Err("accepted with another header".to_owned());
        }
        let bounds = Bounds { owns: &|shard| shard < SHARDS, locals: LOCALS };
        // First alone in memory, then with other runs, then spilled.
        let inbox = self.inbox(1 << 20);
        if let Err(error) = inbox.accept_image(DEPTH, found, &bounds) {
            let left = taken(&inbox)?;
            return match left.is_empty() {
                true => Ok(Outcome::refused(error)),
                false => Err(format!("refused ({error}), but in the inbox: {left:?}")),
            };
        }
        let layer = open(input).map_err(|error| format!("the second time: {error}"))?;
        let expected = states(&read(&layer).map_err(|error| format!("in the inbox, but {error}"))?);
        let outside = |(key, local): &(EntryKey, u32)| key.shard >= SHARDS || *local >= LOCALS;
        if let Some((key, local)) = expected.iter().find(|state| outside(state)) {
            return Err(format!("{local} in {key} is outside the bounds"));
        }
        if taken(&inbox)? != expected {
            return Err("the inbox has other states than the run".to_owned());
        }
        for memory in [64 << 10, 900, 0] {
            let inbox = self.inbox(memory);
            let mut all = expected.clone();
            for number in 0..18 {
                let bytes = if number % 6 == 0 { input } else { &*self.seeds[number % 4] };
                let layer = open(bytes).map_err(|error| error.to_string())?;
                all.extend(states(&read(&layer).map_err(|error| error.to_string())?));
                let accepted = inbox.accept_image(DEPTH, layer, &bounds);
                accepted.map_err(|error| format!("with {memory} bytes: {error}"))?;
            }
            if taken(&inbox)? != all {
                return Err(format!("an inbox of {memory} bytes has other states than its runs"));
            }
        }
        Ok(Outcome::Accepted)
    }

    /// As for a layer file: a block has at most 128 MiB before compression.
    fn memory(&self, _: usize) -> usize {
        1 << 30
    }

    fn test_runs(&self) -> u64 {
        800
    }
}
