//! Tests of several workers of the dense engine: layers are the same with any number of workers, also if
//! the number changes from one session to the next.

use std::collections::HashSet;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use strata_run::{DenseSetup, DenseWorker, KeepLayers, LayerReport, Restore, Work};
use strata_space::LayerStats;
use strata_space::dense::DenseSpace;
use strata_store::{
    CheckpointFile, EngineKind, Excerpt, Fs, JobDir, KeptFile, Layer, RealFs, dense_excerpt,
};

use crate::dense::{budgets, expected, folded, folded_turns, hanoi};
use crate::drive::{names_in, stats_of};

const SHARDS: usize = 7;

/// Workers that share a folder, as those of one process do.
struct Team {
    workers: Vec<DenseWorker>,
    reports: Vec<LayerReport>,
    owners: Arc<[u16]>,
}

impl Team {
    fn new(space: &Arc<dyn DenseSpace>, dir: &Path, memory: u64, owners: &[u16]) -> Team {
        let fs: Arc<dyn Fs> = Arc::new(RealFs);
        let owners: Arc<[u16]> = owners.into();
        let count = usize::from(*owners.iter().max().unwrap()) + 1;
        let worker = |number| {
            let setup = DenseSetup {
                worker: number,
                owners: Arc::clone(&owners),
                threads: 2,
                memory,
                digest: true,
                keep: KeepLayers::Last,
                folder: JobDir::attach(Arc::clone(&fs), dir, "job").unwrap(),
            };
            DenseWorker::new(setup, Arc::clone(space)).unwrap()
        };
        Team { workers: (0..count).map(worker).collect(), reports: Vec::new(), owners }
    }

    fn seed(&mut self) {
        self.reports = self.workers.iter_mut().map(|worker| worker.seed().unwrap()).collect();
    }

    fn restore(&mut self, saved: &Saved) {
        let count = self.workers.len();
        let gone = saved.files.iter().filter(|file| file.worker as usize >= count);
        let gone: HashSet<String> = gone.map(|file| file.file.clone()).collect();
        let restore = |number| Restore {
            depth: saved.depth,
            records: saved.files.clone(),
            owners_before: Arc::clone(&saved.owners),
            kept: saved.kept.iter().map(|(_, kept)| kept.file.clone()).collect(),
            inherited_files: if number == 0 { gone.clone() } else { HashSet::new() },
        };
        let workers = self.workers.iter_mut().enumerate();
        self.reports = workers.map(|(number, w)| w.restore(&restore(number)).unwrap()).collect();
    }

    fn shared(&self) -> Vec<CheckpointFile> {
        self.reports.iter().flat_map(|report| report.shared.clone()).collect()
    }

    fn advance(&mut self) {
        let files = self.shared();
        self.reports =
            self.workers.iter_mut().map(|worker| worker.advance(&files).unwrap()).collect();
    }

    fn sum(&self) -> LayerStats {
        let mut sum = LayerStats::default();
        self.reports.iter().for_each(|report| sum.add(&stats_of(report)));
        sum
    }

    fn save(&mut self, saved: &mut Saved) {
        let files = self.workers.iter_mut().map(|worker| worker.save().unwrap());
        saved.files = files.flatten().collect();
        (saved.depth, saved.owners) = (self.reports[0].layer.depth, Arc::clone(&self.owners));
        self.workers.iter_mut().for_each(|worker| worker.saved().unwrap());
    }
}

/// The checkpoint of a job.
struct Saved {
    depth: u32,
    files: Vec<CheckpointFile>,
    kept: Vec<(u32, KeptFile)>,
    owners: Arc<[u16]>,
}

impl Saved {
    fn none() -> Saved {
        Saved { depth: 0, files: Vec::new(), kept: Vec::new(), owners: Arc::new([]) }
    }

    fn add(&mut self, reports: &[LayerReport]) {
        let depth = reports[0].layer.depth;
        self.kept.retain(|(kept, _)| *kept < depth);
        let kept = reports.iter().flat_map(|report| &report.layer.kept);
        self.kept.extend(kept.map(|kept| (depth, kept.clone())));
    }

    /// Names of the files that the job needs, sorted.
    fn names(&self) -> Vec<String> {
        let kept = self.kept.iter().map(|(_, kept)| kept.file.clone());
        let mut names: Vec<String> =
            self.files.iter().map(|file| file.file.clone()).chain(kept).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// Divisions of the shards, in the order of sessions: more workers, fewer, others, one.
const OWNERS: [[u16; SHARDS]; 6] = [
    [0, 0, 0, 0, 0, 0, 0],
    [0, 0, 0, 1, 1, 1, 1],
    [0, 0, 1, 1, 2, 2, 0],
    [1, 0, 2, 1, 0, 2, 0],
    [1, 0, 1, 1, 0, 1, 0],
    [0, 0, 0, 0, 0, 0, 0],
];

#[test]
fn any_number_of_workers_finds_the_same_layers() {
    for space in [hanoi(), folded(), folded_turns()] {
        any_number_of_workers(&space);
    }
}

fn any_number_of_workers(space: &Arc<dyn DenseSpace>) {
    let expected = expected(space);
    for memory in budgets(space) {
        for owners in OWNERS {
            let dir = tempfile::tempdir().unwrap();
            let mut team = Team::new(space, dir.path(), memory, &owners);
            team.seed();
            for stats in &expected {
                assert_eq!(team.sum(), *stats, "depth {}", team.reports[0].layer.depth);
                if stats.states > 0 {
                    team.advance();
                }
            }
        }
    }
}

#[test]
fn sessions_with_other_workers_continue_from_the_files_of_all() {
    for space in [hanoi(), folded(), folded_turns()] {
        sessions_with_other_workers(&space);
    }
}

fn sessions_with_other_workers(space: &Arc<dyn DenseSpace>) {
    let (expected, is_directed) = (expected(space), !space.tables().is_undirected());
    for memory in budgets(space) {
        let dir = tempfile::tempdir().unwrap();
        let mut saved = Saved::none();
        let mut team = Team::new(space, dir.path(), memory, &OWNERS[0]);
        team.seed();
        for (depth, stats) in expected.iter().enumerate() {
            assert_eq!(team.sum(), *stats, "depth {depth}");
            saved.add(&team.reports);
            team.save(&mut saved);
            assert_eq!(names_in(&dir.path().join("job")), saved.names(), "depth {depth}");
            let files = saved.files.iter().filter(|file| file.depth == saved.depth);
            assert_eq!(files.map(|file| file.states).sum::<u64>(), stats.states);
            let older = expected.iter().take(depth.saturating_sub(1));
            let older: u64 = older.filter(|_| is_directed).map(|layer| layer.states).sum();
            assert_eq!(CheckpointFile::older_states(&saved.files), older, "depth {depth}");
            // Every second session makes two layers.
            if depth % 3 != 1 {
                drop(team);
                let owners = &OWNERS[(depth + 1) % OWNERS.len()];
                team = Team::new(space, dir.path(), memory, owners);
                team.restore(&saved);
                assert_eq!(team.sum(), *stats, "depth {depth}, restored");
            }
            if stats.states > 0 {
                team.advance();
            }
        }
    }
}

/// The blocks of a shared file that a worker reads, with no other part of the file.
fn excerpt(dir: &Path, file: &CheckpointFile, blocks: &[Range<u32>]) -> Layer {
    let content = std::fs::read(dir.join("job").join(&file.file)).unwrap();
    let expect = file.expect("job", EngineKind::Dense);
    let whole = Layer::from_content(content.clone(), "whole", &expect).unwrap();
    let mut excerpt = Excerpt::default();
    for range in dense_excerpt(&whole, blocks) {
        excerpt.insert(range.start, &content[range.start as usize..range.end as usize]);
    }
    Layer::from_excerpt(excerpt, &file.file, &expect).unwrap()
}

#[test]
fn excerpts_of_files_suffice_for_the_next_layer() {
    for space in [hanoi(), folded(), folded_turns()] {
        for owners in &OWNERS[1..4] {
            let dir = tempfile::tempdir().unwrap();
            let mut team = Team::new(&space, dir.path(), 1 << 30, owners);
            team.seed();
            for stats in expected(&space) {
                assert_eq!(team.sum(), stats);
                let files = team.shared();
                for worker in &mut team.workers {
                    for file in files.iter().filter(|file| file.states > 0) {
                        let blocks = worker.excerpt(file.worker).map(<[_]>::to_vec);
                        assert_eq!(blocks.is_some(), worker.reads(file.worker));
                        if let Some(blocks) = blocks {
                            worker.take(file.worker, excerpt(dir.path(), file, &blocks));
                        }
                    }
                }
                team.advance();
            }
        }
    }
}

#[test]
fn an_excerpt_without_a_range_that_a_worker_reads_is_an_error() {
    let space = hanoi();
    let dir = tempfile::tempdir().unwrap();
    let mut team = Team::new(&space, dir.path(), 1 << 30, &OWNERS[1]);
    team.seed();
    // The header of a shorter file comes with its states.
    while team.shared()[1].bytes < 4096 {
        team.advance();
    }
    let files = team.shared();
    let lacking = excerpt(dir.path(), &files[1], &[]);
    team.workers[0].take(1, lacking);
    let error = team.workers[0].advance(&files).unwrap_err().to_string();
    assert!(error.contains(&files[1].file) && error.contains("excerpt without"), "{error}");
    // One of an earlier layer is not used.
    let earlier = excerpt(dir.path(), &files[1], &[]);
    let made: Vec<LayerReport> =
        team.workers.iter_mut().map(|worker| worker.advance(&files).unwrap()).collect();
    team.reports = made;
    team.workers[0].take(1, earlier);
    team.advance();
    let depth = team.reports[0].layer.depth;
    assert_eq!((depth, team.sum()), (files[1].depth + 2, expected(&space)[depth as usize]));
}

#[test]
fn a_layer_is_not_made_without_the_files_of_all_sources() {
    let space = hanoi();
    let dir = tempfile::tempdir().unwrap();
    let mut team = Team::new(&space, dir.path(), 1 << 30, &OWNERS[2]);
    team.seed();
    (0..20).for_each(|_| team.advance());
    let files = team.shared();
    assert_eq!(files.len(), 3);
    let reads: Vec<u32> = (0..3).filter(|other| team.workers[1].reads(*other)).collect();
    assert_eq!(reads, [0, 2]);
    let error = team.workers[1].advance(&files[..2]).unwrap_err().to_string();
    assert!(error.contains("layer 20 of worker 2"), "{error}");
    // Another file under the name of a worker's file.
    let layer = |file: &CheckpointFile| dir.path().join("job").join(&file.file);
    let content = std::fs::read(layer(&files[0])).unwrap();
    std::fs::copy(layer(&files[2]), layer(&files[0])).unwrap();
    let error = team.workers[1].advance(&files).unwrap_err().to_string();
    assert!(error.contains(&files[0].file), "{error}");
    std::fs::write(layer(&files[0]), content).unwrap();
    assert_eq!(team.workers[1].advance(&files).unwrap().layer.depth, 21);
}
