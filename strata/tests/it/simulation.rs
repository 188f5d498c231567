//! Simulation of the plan: thousands of random runs with windows of layers, repeated answers, checkpoints,
//! stops and crashes, after which the number of workers changes.

use std::collections::VecDeque;

use proptest::prelude::*;
use strata::LayerRecord;
use strata_run::{
    Command, Input, LayerReport, Outcome, Plan, Publication, ResumePoint, Start, StopReason, Totals,
};
use strata_space::{Digest, Finish, LayerStats};
use strata_store::{CheckpointFile, Hex64};

use crate::plan::options;

/// A pseudo-random number generator with a fixed seed.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

/// A simulated search: the width of each layer, and the layer that ends it.
struct SimulatedSearch {
    widths: Vec<u64>,
    rule: Finish<()>,
    goal: Option<(u32, bool, bool)>,
}

impl SimulatedSearch {
    fn new(random: &mut Random) -> SimulatedSearch {
        let depth = random.below(30);
        let widths = (0..=depth).map(|_| 1 + random.below(1000)).collect();
        let rule =
            [Finish::Meeting, Finish::State(()), Finish::Exhausted][random.below(3) as usize];
        let goal = random.one_in(2).then(|| {
            let depth = random.below(depth + 1) as u32;
            (depth, depth > 0 && random.one_in(2), random.one_in(2))
        });
        SimulatedSearch { widths, rule, goal }
    }

    fn layer(&self, depth: u32) -> LayerRecord {
        self.part(depth, 0, 1).layer
    }

    /// One worker's part: the first has the digest, the last has what is left of the states.
    fn part(&self, depth: u32, worker: usize, workers: usize) -> LayerReport {
        let states = self.widths.get(depth as usize).copied().unwrap_or(0);
        let share = states / workers as u64;
        let own = if worker + 1 == workers { states - share * (workers as u64 - 1) } else { share };
        let goal = self.goal.filter(|goal| goal.0 == depth && worker == workers / 2);
        let digest = (0..states % 5).map(|i| Digest::hash(u64::from(depth) * 7 + i)).sum();
        let mut report = LayerReport::of(
            depth,
            &LayerStats {
                states: own,
                positions: 2 * own,
                fixed: 0,
                regions: own,
                generated: 1000 * own,
                digest: if worker == 0 { digest } else { Digest::ZERO },
                odd: goal.is_some_and(|goal| goal.1),
                even: goal.is_some_and(|goal| goal.2),
                found: goal.is_some(),
            },
        );
        report.layer.bytes = 3 * own;
        report
    }

    /// The sum of all reports of a layer.
    fn report(&self, depth: u32, workers: usize) -> Box<LayerReport> {
        let parts = (0..workers).map(|worker| self.part(depth, worker, workers));
        Box::new(LayerReport::sum(parts).unwrap())
    }

    /// The layers of a window, up to a depth at most.
    fn window(&self, depth: u32, last: u32, workers: usize) -> VecDeque<Input> {
        let ends = |report: &LayerReport| {
            report.layer.states == 0 || report.odd || report.even || report.found
        };
        let mut inputs = VecDeque::new();
        for depth in depth..=last {
            let report = self.report(depth, workers);
            if depth == last || ends(&report) {
                inputs.push_back(Input::Layer(report));
                break;
            }
            inputs.push_back(Input::PassedLayer(report));
        }
        inputs
    }

    /// The end of an undisturbed search, and its last depth.
    fn end(&self) -> (Outcome, u32) {
        let moves = self.goal.and_then(|(depth, odd, even)| match self.rule {
            Finish::Meeting if odd => Some((2 * u64::from(depth) - 1, depth)),
            Finish::Meeting if even => Some((2 * u64::from(depth), depth)),
            Finish::State(()) => Some((u64::from(depth), depth)),
            _ => None,
        });
        match moves {
            Some((moves, depth)) => (Outcome::Goal(moves), depth),
            None => (Outcome::Exhausted, self.widths.len() as u32 - 1),
        }
    }
}

/// The data that the driver has made durable.
#[derive(Default)]
struct Disk {
    committed: Vec<LayerRecord>,
    checkpoint: Option<(Publication, usize)>,
}

/// The files of a checkpoint.
fn records(search: &SimulatedSearch, depth: u32, workers: usize) -> Vec<CheckpointFile> {
    let record = |(depth, worker)| {
        let LayerRecord { states, positions, regions, generated, digest, .. } =
            search.part(depth, worker, workers).layer;
        CheckpointFile {
            depth,
            worker: worker as u32,
            file: String::new(),
            bytes: 1,
            states,
            positions,
            regions,
            generated,
            digest,
            seal: Hex64::default(),
        }
    };
    let depths = depth.saturating_sub(1)..=depth;
    depths.flat_map(|depth| (0..workers).map(move |worker| (depth, worker))).map(record).collect()
}

fn check_publication(publication: &Publication, workers: usize, committed: &[LayerRecord]) {
    let depth = publication.depth;
    let mut named: Vec<_> = publication.records.iter().map(|r| (r.depth, r.worker)).collect();
    named.sort_unstable();
    let depths = depth.saturating_sub(1)..=depth;
    let all: Vec<_> = depths.flat_map(|d| (0..workers as u32).map(move |w| (d, w))).collect();
    assert_eq!(named, all, "one record per layer and worker");
    let mut totals = Totals { disk_peak: publication.totals.disk_peak, ..Totals::default() };
    committed.iter().for_each(|layer| totals.add(layer));
    assert_eq!(publication.totals, totals);
    let ended = publication.ending == Some(Outcome::Exhausted);
    assert_eq!(committed.len() as u32, depth + u32::from(!ended));
}

/// The plan of the next session: from the start, or from the durable data.
fn next_plan(search: &SimulatedSearch, disk: &mut Disk) -> Plan {
    let start = match &disk.checkpoint {
        None => {
            disk.committed.clear();
            Start::Seeds
        }
        Some((publication, lines)) => {
            disk.committed.truncate(*lines);
            Start::Checkpoint(Box::new(ResumePoint {
                totals: publication.totals.clone(),
                last: search.layer(publication.depth),
                previous: publication.depth.checked_sub(1).map(|depth| search.layer(depth)),
                kept_bytes: 0,
                older_states: 0,
            }))
        }
    };
    Plan::new(options(search.rule), start)
}

/// Runs one session until it ends or crashes. A `quiet` session neither crashes nor stops early.
fn session(
    search: &SimulatedSearch,
    disk: &mut Disk,
    random: &mut Random,
    quiet: bool,
) -> Option<Outcome> {
    let workers = 1 + random.below(4) as usize;
    let restored = disk.checkpoint.as_ref().map_or(0, |(publication, _)| publication.depth);
    let mut plan = next_plan(search, disk);
    let mut delivered: Vec<Input> = Vec::new();
    let mut inputs = VecDeque::new();
    loop {
        while let Some(command) = plan.next_command() {
            match command {
                Command::Seed => inputs.push_back(Input::Layer(search.report(0, workers))),
                Command::Restore => {
                    inputs.push_back(Input::Layer(search.report(restored, workers)));
                }
                Command::Advance { depth, last } => {
                    assert_eq!(disk.committed.len() as u32, depth, "only complete layers");
                    let last = last.min(depth + random.below(4) as u32);
                    inputs = search.window(depth, last, workers);
                }
                Command::Commit(layer) => {
                    assert_eq!(layer, search.layer(disk.committed.len() as u32));
                    disk.committed.push(layer);
                }
                Command::Save { depth } => {
                    let records = records(search, depth, workers);
                    inputs.push_back(Input::Saved { depth, records });
                }
                Command::Publish(publication) => {
                    check_publication(&publication, workers, &disk.committed);
                    inputs.push_back(Input::Published { depth: publication.depth });
                    disk.checkpoint = Some((*publication, disk.committed.len()));
                }
                Command::End(outcome) => {
                    assert_eq!(plan.next_command(), None);
                    for input in delivered {
                        assert!(plan.handle(input).is_err());
                    }
                    assert_eq!(plan.next_command(), None);
                    return Some(outcome);
                }
            }
        }
        if !quiet && random.one_in(200) {
            return None;
        }
        if random.one_in(10) {
            plan.handle(Input::CheckpointDue).unwrap();
        }
        if !quiet && random.one_in(200) {
            plan.handle(Input::Stop(StopReason::Interrupted)).unwrap();
        }
        if random.one_in(3) && !delivered.is_empty() {
            // Repeated answers change nothing.
            let at = random.below(delivered.len() as u64) as usize;
            assert!(plan.handle(delivered[at].clone()).is_err());
        }
        let input = inputs.pop_front().expect("the plan waits for an input");
        plan.handle(input.clone()).unwrap();
        // A publication has no sender that could repeat it at the same depth.
        if !matches!(input, Input::Published { .. }) {
            delivered.push(input);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

    #[test]
    fn every_run_ends_as_the_undisturbed_one(seed in 1_u64..u64::MAX) {
        let mut random = Random(seed);
        let search = SimulatedSearch::new(&mut random);
        let mut disk = Disk::default();
        let mut sessions = 0;
        let outcome = loop {
            sessions += 1;
            match session(&search, &mut disk, &mut random, sessions > 20) {
                Some(Outcome::Stopped(_)) | None => {}
                Some(outcome) => break outcome,
            }
            // A crash may come after the last checkpoint of a search that is over.
            if let Some((Publication { ending: Some(outcome), .. }, _)) = &disk.checkpoint
                && !matches!(outcome, Outcome::Stopped(_))
            {
                break *outcome;
            }
        };
        let (expected, depth) = search.end();
        prop_assert_eq!(outcome, expected);
        let all: Vec<LayerRecord> = (0..=depth).map(|depth| search.layer(depth)).collect();
        prop_assert_eq!(disk.committed, all);
    }
}
