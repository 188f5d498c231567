//! Tests of the dense worker: layers in memory and by parts, files, checkpoints, crashes.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use strata_engine::dense::{Options, PartSearch, SearchError};
use strata_run::{DenseSetup, DenseWorker, KeepLayers, LayerReport, Restore, StopReason, Work};
use strata_run::{Retryable, WorkerError};
use strata_space::LayerStats;
use strata_space::dense::{
    BlockStep, BlockSteps, DenseParts, DenseShape, DenseSpace, DenseState, DenseTables, LaneMap,
    MoveTable, RowStep,
};
use strata_store::{
    CheckpointFile, DenseNumbering, DenseReader, EngineKind, FaultyFs, Fs, JobDir, KeptFile, Layer,
    RealFs, StoreError,
};

use crate::dense::{budgets, expected, folded, folded_turns, hanoi, kept_of};
use crate::drive::{copy_files, names_in, stats_of};

type Space = Arc<dyn DenseSpace>;

/// A graph of arrangements of six pieces, with a block for each.
#[derive(Debug)]
struct Arrangements(DenseTables);

impl DenseSpace for Arrangements {
    fn tables(&self) -> &DenseTables {
        &self.0
    }

    fn text(&self, state: DenseState) -> String {
        state.block.to_string()
    }

    fn parse(&self, text: &str) -> Option<DenseState> {
        text.parse().ok().map(|block| DenseState { block, row: 0, lane: 0 })
    }
}

/// The space of all arrangements reachable by some moves, given as images by slot.
fn arrangements(moves: &[[usize; 6]], is_undirected: bool) -> Space {
    let mut all = vec![[0, 1, 2, 3, 4, 5]];
    let mut numbers: HashMap<[usize; 6], u32> = [(all[0], 0)].into();
    let apply = |pieces: &[usize; 6], images: &[usize; 6]| images.map(|slot| pieces[slot]);
    let mut next = 0;
    while let Some(pieces) = all.get(next).copied() {
        for images in moves {
            let to = apply(&pieces, images);
            numbers.entry(to).or_insert_with(|| {
                all.push(to);
                all.len() as u32 - 1
            });
        }
        next += 1;
    }
    let inverse = |images: &[usize; 6]| {
        let mut inverse = [0; 6];
        images.iter().enumerate().for_each(|(slot, image)| inverse[*image] = slot);
        inverse
    };
    let table = |moves: &[[usize; 6]]| {
        let step = |pieces, images| BlockStep { block: numbers[&apply(pieces, images)], class: 0 };
        let steps =
            all.iter().flat_map(|pieces| moves.iter().map(move |images| step(pieces, images)));
        MoveTable {
            moves: moves.len(),
            steps: BlockSteps::Full(steps.collect()),
            rows: vec![RowStep { row: 0, map: 0 }],
        }
    };
    let inverses: Vec<[usize; 6]> = moves.iter().map(inverse).collect();
    let state = |block| DenseState { block, row: 0, lane: 0 };
    let parts = DenseParts {
        shape: DenseShape { blocks: all.len() as u32, rows: 1, lanes: 1 },
        moves: table(moves),
        converses: (!is_undirected).then(|| table(&inverses)),
        maps: vec![LaneMap::new(vec![0])],
        start: state(0),
        goals: vec![state(all.len() as u32 / 2)],
        multiplicities: Vec::new(),
    };
    let tables = DenseTables::new(parts).unwrap();
    tables.check_converses().unwrap();
    Arc::new(Arrangements(tables))
}

/// Rotations in one direction and an exchange of two pieces: a directed graph.
fn directed() -> Space {
    arrangements(&[[1, 2, 3, 4, 5, 0], [1, 0, 2, 3, 4, 5]], false)
}

/// Spaces with a block for each state, and spaces with folded blocks, each with undirected and with
/// directed edges.
fn small_spaces() -> Vec<(&'static str, Space)> {
    let flips = [[1, 0, 2, 3, 4, 5], [3, 2, 1, 0, 4, 5], [5, 4, 3, 2, 1, 0]];
    let spaces = [arrangements(&flips, true), directed(), folded(), folded_turns()];
    ["flips", "directed", "folded", "folded and directed"].into_iter().zip(spaces).collect()
}

/// The small spaces, and a space whose blocks have several rows and lanes and are not folded.
fn spaces() -> Vec<(&'static str, Space)> {
    let mut spaces = small_spaces();
    spaces.push(("hanoi", hanoi()));
    spaces
}

/// Layers by a plain search of the states.
fn plain_layers(space: &Space) -> Vec<(LayerStats, BTreeSet<DenseState>)> {
    let tables = space.tables();
    let mut known: HashSet<DenseState> = [tables.start()].into();
    let mut layer: BTreeSet<DenseState> = [tables.start()].into();
    let moves_of = |state: &DenseState| {
        tables.successors(*state).count() as u64 * tables.multiplicity(state.block)
    };
    let fixed = |state: &DenseState| {
        let mut words = vec![0; tables.shape().rows as usize];
        words[usize::from(state.row)] = 1 << state.lane;
        tables.count_fixed(state.block, &words)
    };
    let mut layers = Vec::new();
    while !layer.is_empty() {
        let blocks: BTreeSet<u32> = layer.iter().map(|state| state.block).collect();
        let stats = LayerStats {
            states: layer.len() as u64,
            positions: layer.iter().map(|state| tables.multiplicity(state.block)).sum(),
            fixed: layer.iter().map(fixed).sum(),
            regions: blocks.len() as u64,
            generated: layer.iter().map(moves_of).sum(),
            digest: layer.iter().map(|state| space.weight(*state)).sum(),
            found: tables.goals().iter().any(|goal| layer.contains(goal)),
            ..LayerStats::default()
        };
        let next: BTreeSet<DenseState> = if tables.is_folded() {
            let all =
                (0..tables.shape().states()).filter_map(|number| tables.shape().state(number));
            let is_next = |state: &DenseState| {
                !known.contains(state)
                    && tables.predecessors(*state).any(|(_, before)| layer.contains(&before))
            };
            all.filter(is_next).collect()
        } else {
            let next = layer.iter().flat_map(|state| tables.successors(*state));
            next.map(|(_, state)| state).filter(|state| !known.contains(state)).collect()
        };
        known.extend(&next);
        layers.push((stats, std::mem::replace(&mut layer, next)));
    }
    layers
}

fn stats(layers: &[(LayerStats, BTreeSet<DenseState>)]) -> Vec<LayerStats> {
    layers.iter().map(|(stats, _)| *stats).collect()
}

/// Settings of a search. Layers must not depend on them.
#[derive(Copy, Clone, Debug)]
struct Way {
    /// Number of parts; None for a search in memory.
    parts: Option<u32>,
    threads: usize,
    keep: KeepLayers,
}

const IN_MEMORY: Way = Way { parts: None, threads: 1, keep: KeepLayers::Last };
const BY_PARTS: Way = Way { parts: Some(3), ..IN_MEMORY };

fn folder(fs: Arc<dyn Fs>, dir: &Path) -> JobDir {
    JobDir::attach(fs, dir, "job").unwrap()
}

fn setup(way: Way, memory: u64, folder: &JobDir) -> DenseSetup {
    let Way { threads, keep, .. } = way;
    let (owners, folder) = (Arc::new([0; 8]), folder.clone());
    DenseSetup { worker: 0, owners, threads, memory, digest: true, keep, folder }
}

fn worker(space: &Space, way: Way, folder: &JobDir) -> DenseWorker {
    let Way { parts, .. } = way;
    let setup = |memory| setup(way, memory, folder);
    let Some(parts) = parts else {
        let worker = DenseWorker::new(setup(64 << 20), Arc::clone(space)).unwrap();
        assert_eq!(worker.parts(), 1);
        return worker;
    };
    // The least budget that suffices for this number of parts.
    let blocks = space.tables().shape().blocks;
    let parts = parts.min(blocks) as usize;
    let fits = |memory: u64| {
        DenseWorker::new(setup(memory), Arc::clone(space))
            .is_ok_and(|worker| worker.parts() <= parts)
    };
    let (mut low, mut high) = (0, 64 << 20);
    while high - low > 1 {
        let middle = (low + high) / 2;
        if fits(middle) { high = middle } else { low = middle }
    }
    let worker = DenseWorker::new(setup(high), Arc::clone(space)).unwrap();
    let parts = (blocks as usize).div_ceil((blocks as usize).div_ceil(parts));
    assert!(
        parts > 1 && worker.parts() == parts,
        "{} parts of {blocks} blocks, not {parts}",
        worker.parts()
    );
    worker
}

/// The layers up to the end of a search that has just been seeded or restored.
fn run(worker: &mut DenseWorker, first: LayerReport) -> Vec<LayerStats> {
    let mut found = vec![stats_of(&first)];
    while found.last().unwrap().states > 0 {
        let report = worker.advance(&[]).unwrap();
        assert_eq!(report.layer.depth, worker.depth());
        found.push(stats_of(&report));
    }
    found.pop();
    found
}

fn restore(depth: u32, records: &[CheckpointFile], kept: &[(u32, KeptFile)]) -> Restore {
    Restore {
        depth,
        records: records.to_vec(),
        owners_before: Arc::new([0; 8]),
        kept: kept.iter().map(|(_, kept)| kept.file.clone()).collect(),
        inherited_files: HashSet::new(),
    }
}

#[test]
fn every_way_finds_the_same_layers() {
    for (name, space) in spaces() {
        let expected = stats(&plain_layers(&space));
        for parts in [None, Some(2), Some(3), Some(7)] {
            for threads in 1..=3 {
                let way = Way { parts, threads, ..IN_MEMORY };
                let dir = tempfile::tempdir().unwrap();
                let mut worker = worker(&space, way, &folder(Arc::new(RealFs), dir.path()));
                let first = worker.seed().unwrap();
                assert_eq!(run(&mut worker, first), expected, "{name}, {way:?}");
            }
        }
    }
}

/// Resumes from a checkpoint at every depth, with the same settings and with others.
#[test]
fn a_search_resumes_at_every_depth_in_any_way() {
    for (name, space) in small_spaces() {
        let expected = stats(&plain_layers(&space));
        for (way, other) in [(IN_MEMORY, BY_PARTS), (BY_PARTS, IN_MEMORY)] {
            let dir = tempfile::tempdir().unwrap();
            let folder = folder(Arc::new(RealFs), dir.path());
            let mut worker = worker(&space, way, &folder);
            let mut kept = Vec::new();
            let mut report = worker.seed().unwrap();
            loop {
                let depth = report.layer.depth;
                kept.extend(kept_of(&report));
                let records = worker.save().unwrap();
                let last_two = records.iter().filter(|record| !record.is_older());
                let depths: Vec<u32> = last_two.map(|record| record.depth).collect();
                assert_eq!(depths, (depth.saturating_sub(1)..=depth).collect::<Vec<_>>());
                let is_directed = !space.tables().is_undirected();
                let older = expected.iter().take(depth.saturating_sub(1) as usize);
                let older: u64 = older.filter(|_| is_directed).map(|layer| layer.states).sum();
                assert_eq!(CheckpointFile::older_states(&records), older, "{name}, {depth}");
                worker.saved().unwrap();
                for resumed in [way, other] {
                    let copy = tempfile::tempdir().unwrap();
                    copy_files(&dir.path().join("job"), &copy.path().join("job"));
                    let copied = self::folder(Arc::new(RealFs), copy.path());
                    let mut resumed_worker = self::worker(&space, resumed, &copied);
                    let first = resumed_worker.restore(&restore(depth, &records, &kept)).unwrap();
                    let mut found = if first.layer.states == 0 {
                        Vec::new()
                    } else {
                        run(&mut resumed_worker, first)
                    };
                    // A layer with a goal ends the search, so there is no checkpoint to resume from.
                    let first = found.first_mut().zip(expected.get(depth as usize));
                    first.into_iter().for_each(|(first, layer)| first.found = layer.found);
                    let what = format!("{name} from {depth}, {resumed:?} after {way:?}");
                    assert_eq!(found, expected[depth as usize..], "{what}");
                }
                if report.layer.states == 0 {
                    break;
                }
                report = worker.advance(&[]).unwrap();
            }
        }
    }
}

/// The states of a kept layer's file.
fn states_of(space: &Space, folder: &JobDir, depth: u32, kept: &KeptFile) -> BTreeSet<DenseState> {
    let shape = space.tables().shape();
    let numbering = DenseNumbering {
        blocks: shape.blocks,
        rows: shape.rows,
        lanes: shape.lanes,
        fingerprint: space.tables().fingerprint(),
    };
    let path = folder.file_path(&kept.file).unwrap();
    let expect = kept.expect("job", depth, EngineKind::Dense);
    let layer = Layer::open(folder.fs().clone(), &path, &expect).unwrap();
    let mut words = vec![0; shape.words() as usize];
    DenseReader::new(&layer, numbering).unwrap().read(0, &mut words).unwrap();
    let numbers = (0..shape.words()).flat_map(|word| (0..64).map(move |lane| (word, lane)));
    let numbers = numbers.filter(|(word, lane)| words[*word as usize] >> lane & 1 == 1);
    numbers.map(|(word, lane)| shape.state(word * u64::from(shape.lanes) + lane).unwrap()).collect()
}

#[test]
fn kept_layers_hold_their_states() {
    for (name, space) in small_spaces() {
        let expected = plain_layers(&space);
        let keeps = [KeepLayers::All, KeepLayers::Every(2.try_into().unwrap()), KeepLayers::Last];
        for keep in keeps {
            for way in [Way { keep, ..IN_MEMORY }, Way { keep, ..BY_PARTS }] {
                let dir = tempfile::tempdir().unwrap();
                let folder = folder(Arc::new(RealFs), dir.path());
                let mut worker = worker(&space, way, &folder);
                let mut kept = Vec::new();
                let mut report = worker.seed().unwrap();
                while report.layer.states > 0 {
                    kept.extend(kept_of(&report));
                    if report.layer.depth % 3 == 2 {
                        worker.save().unwrap();
                        worker.saved().unwrap();
                    }
                    report = worker.advance(&[]).unwrap();
                }
                let last = worker.save().unwrap();
                worker.saved().unwrap();
                let depths: Vec<u32> =
                    (0..expected.len() as u32).filter(|depth| keep.keeps(*depth)).collect();
                let found: Vec<u32> = kept.iter().map(|(depth, _)| *depth).collect();
                assert_eq!(found, depths, "{name}, {way:?}");
                for (depth, file) in &kept {
                    let states = states_of(&space, &folder, *depth, file);
                    assert!(states == expected[*depth as usize].1, "{name}, {way:?}, {depth}");
                }
                // Nothing else is left.
                let named = kept.iter().map(|(_, kept)| kept.file.clone());
                let named = named.chain(last.iter().map(|record| record.file.clone()));
                let mut named: BTreeSet<String> = named.collect();
                if keep == KeepLayers::All {
                    // The empty layer is kept, too.
                    named.extend(report.layer.kept.iter().map(|kept| kept.file.clone()));
                }
                let found = names_in(&dir.path().join("job"));
                assert_eq!(found, named.into_iter().collect::<Vec<_>>(), "{name}, {way:?}");
            }
        }
    }
}

/// A worker with a durable checkpoint at a depth, on a file system with faults.
struct Checkpointed {
    dir: tempfile::TempDir,
    fs: FaultyFs,
    worker: DenseWorker,
    records: Vec<CheckpointFile>,
    kept: Vec<(u32, KeptFile)>,
}

fn checkpointed(space: &Space, way: Way, depth: u32) -> Checkpointed {
    let dir = tempfile::tempdir().unwrap();
    let fs = FaultyFs::new();
    let folder = folder(Arc::new(fs.clone()), dir.path());
    let mut worker = worker(space, way, &folder);
    let mut kept = Vec::new();
    let mut report = worker.seed().unwrap();
    while report.layer.depth < depth {
        kept.extend(kept_of(&report));
        report = worker.advance(&[]).unwrap();
    }
    kept.extend(kept_of(&report));
    let records = worker.save().unwrap();
    worker.saved().unwrap();
    Checkpointed { dir, fs, worker, records, kept }
}

/// Restores the checkpoint after a power failure, and finds all later layers.
fn assert_restorable(space: &Space, way: Way, depth: u32, at: Checkpointed) {
    let Checkpointed { dir, fs, worker: old, records, kept } = at;
    drop(old);
    fs.crash().unwrap();
    fs.heal();
    // Removes the files that a session removes before it resumes.
    let folder = folder(Arc::new(RealFs), dir.path());
    let named: HashSet<&str> = records
        .iter()
        .map(|record| &*record.file)
        .chain(kept.iter().map(|(_, kept)| &*kept.file))
        .collect();
    folder.remove_others(|name| named.contains(name)).unwrap();
    let mut worker = worker(space, way, &folder);
    let first = worker.restore(&restore(depth, &records, &kept)).unwrap();
    let expected = stats(&plain_layers(space));
    assert_eq!(run(&mut worker, first), expected[depth as usize..]);
}

#[test]
fn a_crash_at_any_step_of_a_checkpoint_leaves_the_one_before() {
    for (_, space) in small_spaces() {
        for way in [IN_MEMORY, BY_PARTS, Way { keep: KeepLayers::All, ..BY_PARTS }] {
            for steps in 0.. {
                let mut at = checkpointed(&space, way, 3);
                at.worker.advance(&[]).unwrap();
                at.worker.advance(&[]).unwrap();
                at.fs.fail_after(steps);
                let saved = at.worker.save();
                let is_complete = saved.is_ok();
                assert!(steps > 0 || !is_complete);
                assert_restorable(&space, way, 3, at);
                if is_complete {
                    break;
                }
            }
        }
    }
}

#[test]
fn a_full_disk_is_an_exhausted_resource_and_leaves_the_checkpoint() {
    for (name, space) in small_spaces() {
        for way in [IN_MEMORY, BY_PARTS, Way { keep: KeepLayers::All, ..IN_MEMORY }] {
            let mut failures = 0;
            for bytes in [0, 60, 120, 240, 1 << 20] {
                let mut at = checkpointed(&space, way, 3);
                at.fs.fill_after(bytes);
                let mut step = || {
                    for _ in 0..3 {
                        at.worker.advance(&[])?;
                    }
                    at.worker.save().map(drop)
                };
                match step() {
                    Ok(()) => assert!(bytes == 1 << 20, "{name}, {way:?}, {bytes}"),
                    Err(error) => {
                        failures += 1;
                        assert_eq!(error.exhausted(), Some(StopReason::DiskFull), "{error}");
                    }
                }
                assert_restorable(&space, way, 3, at);
            }
            assert!(failures >= 3, "{name}, {way:?}");
        }
    }
}

#[test]
fn a_full_disk_leaves_the_last_two_layers_to_be_saved() {
    let space = hanoi();
    let [_, by_parts] = budgets(&space);
    let expected = expected(&space);
    let (dir, fs) = (tempfile::tempdir().unwrap(), FaultyFs::new());
    let folder = folder(Arc::new(fs.clone()), dir.path());
    let way = Way { threads: 2, keep: KeepLayers::All, ..IN_MEMORY };
    let new = || DenseWorker::new(setup(way, by_parts, &folder), Arc::clone(&space)).unwrap();
    let mut worker = new();
    assert!(worker.parts() > 1);
    let mut kept = kept_of(&worker.seed().unwrap());
    fs.fill_after(20_000);
    let error = loop {
        match worker.advance(&[]) {
            Ok(report) => kept.extend(kept_of(&report)),
            Err(error) => break error,
        }
    };
    assert!(error.store().unwrap().is_disk_full(), "{error}");
    fs.heal();
    let (depth, records) = (worker.depth(), worker.save().unwrap());
    assert_eq!(records.len(), 2);
    let mut worker = new();
    worker.restore(&restore(depth, &records, &kept)).unwrap();
    let next = worker.advance(&[]).unwrap();
    assert_eq!(stats_of(&next), expected[next.layer.depth as usize]);
}

/// In memory, the planes hold the last two layers only, and a next layer that is kept is written at once.
#[test]
fn a_full_disk_at_a_kept_layer_leaves_the_two_layers_before_to_be_saved() {
    for (name, space) in [("hanoi", hanoi()), ("folded", folded())] {
        let expected = expected(&space);
        let way = Way { keep: KeepLayers::Every(4.try_into().unwrap()), ..IN_MEMORY };
        let mut failed_depths = BTreeSet::new();
        for bytes in (0..40_000).step_by(2_000) {
            let (dir, fs) = (tempfile::tempdir().unwrap(), FaultyFs::new());
            let folder = folder(Arc::new(fs.clone()), dir.path());
            let mut worker = worker(&space, way, &folder);
            let mut kept = kept_of(&worker.seed().unwrap());
            fs.fill_after(bytes);
            let error = loop {
                match worker.advance(&[]) {
                    Ok(report) if report.layer.states == 0 => break None,
                    Ok(report) => kept.extend(kept_of(&report)),
                    Err(error) => break Some(error),
                }
            };
            let Some(error) = error else { continue };
            assert_eq!(error.exhausted(), Some(StopReason::DiskFull), "{error}");
            fs.heal();
            let depth = worker.depth();
            failed_depths.insert(depth + 1);
            let records = worker.save().unwrap();
            let depths: Vec<u32> = records.iter().map(|record| record.depth).collect();
            assert_eq!(depths, [depth - 1, depth], "{name}, {bytes} bytes");
            worker.saved().unwrap();
            let mut worker = self::worker(&space, way, &folder);
            let first = worker.restore(&restore(depth, &records, &kept)).unwrap();
            let mut found = run(&mut worker, first);
            found.push(LayerStats::default());
            // A restored layer does not tell whether it has a goal.
            found[0].found = expected[depth as usize].found;
            assert_eq!(found, expected[depth as usize..], "{name}, {bytes} bytes");
        }
        assert!(failed_depths.len() > 2, "{name}: {failed_depths:?}");
        assert!(failed_depths.iter().all(|depth| way.keep.keeps(*depth)), "{failed_depths:?}");
    }
}

#[test]
fn damaged_and_missing_files_are_refused() {
    for (name, space) in small_spaces() {
        for way in [IN_MEMORY, BY_PARTS] {
            let at = checkpointed(&space, way, 3);
            let folder = folder(Arc::new(RealFs), at.dir.path());
            let refused = |from: &Restore| -> WorkerError {
                worker(&space, way, &folder).restore(from).unwrap_err()
            };
            let from = restore(3, &at.records, &at.kept);
            let files = at.records.iter().map(|record| record.file.clone());
            let has_older = at.records.iter().any(CheckpointFile::is_older);
            assert_eq!(has_older, !space.tables().is_undirected(), "{name}");
            for file in files {
                let path = at.dir.path().join("job").join(&file);
                let good = std::fs::read(&path).unwrap();
                for offset in (0..good.len()).step_by(5) {
                    let mut bad = good.clone();
                    bad[offset] ^= 4;
                    std::fs::write(&path, &bad).unwrap();
                    let error = refused(&from);
                    assert!(error.is_corrupt(), "{name}, {way:?}, {file} at {offset}: {error}");
                }
                std::fs::remove_file(&path).unwrap();
                let error = refused(&from);
                assert!(matches!(error.store(), Some(StoreError::NotFound { .. })), "{error}");
                std::fs::write(&path, &good).unwrap();
            }
            // A record with another layer's figures does not name a file of its depth.
            let mut other = from.clone();
            let at = |depth| {
                let is_of_layer =
                    |record: &CheckpointFile| record.depth == depth && !record.is_older();
                from.records.iter().position(is_of_layer).unwrap()
            };
            other.records[at(3)] = CheckpointFile { depth: 3, ..from.records[at(2)].clone() };
            assert!(refused(&other).is_corrupt());
        }
    }
}

/// Memory for the tables of a space and a part of one block, without digests.
fn least_memory(space: &Space) -> u64 {
    let options = Options { memory: 0, digest: false, ..Options::default() };
    let refused = PartSearch::new(space, &options);
    let Err(SearchError::Budget { needed, .. }) = refused else { panic!("{refused:?}") };
    needed
}

#[test]
fn too_little_memory_is_refused_with_the_needed_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let folder = folder(Arc::new(RealFs), dir.path());
    let Err(error) = DenseWorker::new(setup(IN_MEMORY, 1000, &folder), hanoi()) else {
        panic!("no search fits 1,000 bytes");
    };
    assert!(error.to_string().contains("bytes of memory"), "{error}");
}

#[test]
fn lean_layers_differ_only_in_their_digests() {
    for (name, space) in small_spaces() {
        let expected = stats(&plain_layers(&space)).into_iter();
        let expected: Vec<LayerStats> =
            expected.map(|stats| LayerStats { digest: Default::default(), ..stats }).collect();
        for in_memory in [true, false] {
            let dir = tempfile::tempdir().unwrap();
            let folder = folder(Arc::new(RealFs), dir.path());
            let memory = if in_memory { 64 << 20 } else { least_memory(&space) };
            let setup = DenseSetup { digest: false, ..setup(IN_MEMORY, memory, &folder) };
            let mut worker = DenseWorker::new(setup, Arc::clone(&space)).unwrap();
            assert_eq!(worker.parts() == 1, in_memory);
            let first = worker.seed().unwrap();
            assert_eq!(run(&mut worker, first), expected, "{name}");
        }
    }
}
