//! Tests of regions with more states than one entry of a file has.

use crate::drive;

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use drive::{LayerNumbers, SearchSetup, on_all_workers, owners, search, start_workers};
use strata_engine::explicit::Engine;
use strata_run::{Restore, Worker};
use strata_space::{KeySpace, Keyed, Seed, mix};
use strata_store::{CheckpointFile, EncodeOptions, EngineKind, FileKind, Layer, RealFs};

use crate::kinds::check::sizes;
use crate::reference::search::layers_of;

/// A random graph of 2^12 vertices.
#[derive(Clone, Copy, Debug)]
struct Graph {
    seed: u64,
    is_undirected: bool,
    key_bits: u32,
    local_bits: u32,
}

const VERTICES: u128 = 1 << 12;

impl Graph {
    fn counts(&self) -> Vec<u64> {
        let layers = layers_of(&[0], usize::MAX, |key| {
            let mut next = Vec::new();
            self.successors(*key, &mut next);
            next
        });
        sizes(&layers)
    }

    fn engine(self, shards: u32) -> Engine {
        Engine::keyed(Keyed::new(self).unwrap(), shards)
    }
}

impl KeySpace for Graph {
    type Key = u128;
    fn seeds(&self) -> Vec<Seed<u128>> {
        vec![Seed::start(0)]
    }
    fn key_bits(&self) -> u32 {
        self.key_bits
    }
    fn local_bits(&self) -> Option<u32> {
        Some(self.local_bits)
    }
    fn successors(&self, key: u128, out: &mut Vec<u128>) {
        if self.is_undirected {
            // Vertices differ from their neighbours in random bits.
            let bits = |edge| u128::from(mix(self.seed << 8 | edge)) % VERTICES;
            out.extend((0..13).map(|edge| key ^ bits(edge)));
            return;
        }
        let random = u128::from(mix(self.seed << 32 | key as u64));
        out.extend([random, random >> 9].map(|random| (key + random % 512) % VERTICES));
        if random >> 40 & 7 == 0 {
            out.push(key / 2);
        }
    }
    fn is_undirected(&self) -> bool {
        self.is_undirected
    }
    fn text(&self, key: u128) -> String {
        key.to_string()
    }
}

/// Graphs with narrow and wide locals, in regions of 8 to all vertices.
fn graphs() -> impl Iterator<Item = Graph> {
    let bits = [(12, 12), (12, 9), (12, 3), (50, 36), (80, 66)];
    let kinds = [true, false].into_iter().flat_map(move |kind| bits.map(|bits| (kind, bits)));
    (1..).zip(kinds).map(|(seed, (is_undirected, (key_bits, local_bits)))| Graph {
        seed,
        is_undirected,
        key_bits,
        local_bits,
    })
}

/// Options with entries of `entry_words` words.
fn entries_of(entry_words: usize) -> EncodeOptions {
    EncodeOptions { entry_words, ..EncodeOptions::default() }
}

#[test]
fn many_small_entries_give_the_same_layers() {
    for graph in graphs() {
        let plain = search(SearchSetup::default(), |shards| graph.engine(shards));
        assert_eq!(plain.states(), graph.counts(), "{graph:?}");
        for (workers, threads, entry_words, inbox_memory, unreliable) in [
            (1, 1, 1, None, false),
            (1, 3, 7, None, false),
            (2, 1, 10, Some(0), true),
            (3, 2, 64, Some(20_000), false),
        ] {
            let encode = entries_of(entry_words);
            let setup = SearchSetup {
                workers,
                threads,
                inbox_memory,
                unreliable,
                encode,
                ..SearchSetup::default()
            };
            let found = search(setup, |shards| graph.engine(shards));
            assert_eq!(found.layers, plain.layers, "{graph:?}, {setup:?}");
            assert!(found.spilled_bytes > 0 || inbox_memory.is_none_or(|memory| memory > 0));
        }
    }
}

/// The checkpoint that a session leaves for the next one.
struct Saved {
    depth: u32,
    records: Vec<CheckpointFile>,
    owners: Arc<[u16]>,
}

/// Searches to a depth, from the start or from a checkpoint, and compares each layer.
fn session(
    dir: &Path,
    setup: SearchSetup,
    engine: &Arc<Engine>,
    from: Option<&Saved>,
    (expected, to): (&[LayerNumbers], u32),
) -> Saved {
    let mut workers = start_workers(setup, engine, dir);
    let mut reports = match from {
        None => on_all_workers(&mut workers, Worker::seed),
        Some(saved) => {
            let removed =
                saved.records.iter().filter(|record| record.worker as usize >= setup.workers);
            let removed: HashSet<String> = removed.map(|record| record.file.clone()).collect();
            let restore = |worker| Restore {
                depth: saved.depth,
                records: saved.records.clone(),
                owners_before: saved.owners.clone(),
                kept: HashSet::new(),
                inherited_files: if worker == 0 { removed.clone() } else { HashSet::new() },
            };
            let workers = workers.iter_mut().zip(0..);
            workers.map(|(worker, number)| worker.restore(&restore(number)).unwrap()).collect()
        }
    };
    loop {
        let depth = reports[0].layer.depth;
        assert_eq!(LayerNumbers::new(depth, &drive::sum(&reports)), expected[depth as usize]);
        if depth == to {
            break;
        }
        reports = on_all_workers(&mut workers, Worker::advance);
    }
    let records: Vec<Vec<CheckpointFile>> =
        workers.iter_mut().map(|worker| worker.save().unwrap()).collect();
    workers.iter_mut().for_each(|worker| worker.saved().unwrap());
    Saved { depth: to, records: records.concat(), owners: owners(setup) }
}

/// Largest numbers of entries of a region in a checkpoint: in files of layers, and of older layers.
fn most_entries(dir: &Path, saved: &Saved) -> [usize; 2] {
    let mut most = [0; 2];
    for record in &saved.records {
        let path = dir.join("job").join(&record.file);
        let layer =
            Layer::open(Arc::new(RealFs), &path, &record.expect("job", EngineKind::Explicit))
                .unwrap();
        let chains = layer.blocks().chunk_by(|a, b| a.last == b.first).map(<[_]>::len);
        let of_kind = &mut most[usize::from(layer.header().kind == FileKind::Older)];
        *of_kind = chains.max().unwrap_or(0).max(*of_kind);
    }
    most
}

#[test]
fn many_small_entries_survive_checkpoints_with_other_workers() {
    for graph in graphs() {
        let plain = search(SearchSetup::default(), |shards| graph.engine(shards));
        let setup = SearchSetup { shards: 8, ..SearchSetup::default() };
        let engine = Arc::new(graph.engine(setup.shards));
        let dir = tempfile::tempdir().unwrap();
        let last = plain.layers.len() as u32 - 1;
        let mut saved: Option<Saved> = None;
        let mut most = [0; 2];
        for (number, (workers, threads, entry_words)) in
            (0..).zip([(1, 2, 8), (3, 1, 12), (3, 1, 5), (2, 2, 1 << 20), (1, 1, 6)])
        {
            let setup = SearchSetup { workers, threads, encode: entries_of(entry_words), ..setup };
            let to = last * (number + 1) / 5;
            let found = session(dir.path(), setup, &engine, saved.as_ref(), (&plain.layers, to));
            let found_most = most_entries(dir.path(), &found);
            most = [most[0].max(found_most[0]), most[1].max(found_most[1])];
            saved = Some(found);
        }
        assert!(most[0] > 2 || graph.local_bits < 5, "{graph:?}: {most:?}");
        assert!(most[1] > 5 || graph.is_undirected || graph.local_bits < 5, "{graph:?}: {most:?}");
    }
}
