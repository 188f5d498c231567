//! A schedule of faults, made from a seed alone.

use std::fmt;
use std::time::Duration;

use super::fault::{Damage, Fault, Link, Node, WORKERS, workers};
use crate::cluster::proxy::LinkMode;
use crate::cluster::random::Random;

/// Jobs that run during the faults. All but the last write a checkpoint after every layer.
///
/// They cover all engines and all forms of keys and files: coordinates, ranks of permutations,
/// states that stand for their images under symmetries, moves that cannot be undone, bits for each
/// state, diagrams. Jobs with one shard run beside others.
pub(super) const JOBS: [&str; 14] = [
    "panex 6 --checkpoint-interval 1ms",
    "panex 5 --checkpoint-interval 1ms",
    "panex 5 --keep-layers all --checkpoint-interval 1ms",
    "tiles 3x3 --exhaust --checkpoint-interval 1ms",
    "hanoi 8 --exhaust --shards 1 --checkpoint-interval 1ms",
    "panex 6 --engine symbolic --checkpoint-interval 1ms",
    "hanoi 10 --pegs 4 --exhaust --engine dense --checkpoint-interval 1ms",
    "lx 8 --shards 16 --checkpoint-interval 1ms",
    "lrx 8 --shards 16 --checkpoint-interval 1ms",
    "pancake 8 --shards 1 --checkpoint-interval 1ms",
    "pancake 8 --engine dense --checkpoint-interval 1ms",
    "topspin 8 4 --symmetry on --shards 16 --checkpoint-interval 1ms",
    "panex 5 --shards 1 --checkpoint-interval 1ms",
    "panex 6",
];

/// A fault and its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Event {
    /// Time since the first layer of the first job.
    pub(super) at: Duration,
    /// Time from its start to its end.
    pub(super) lasts: Duration,
    pub(super) fault: Fault,
}

/// Faults of a run, and what runs meanwhile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Schedule {
    pub(super) seed: u64,
    pub(super) lease: Duration,
    /// Width of a layer below which one worker makes it.
    pub(super) narrow: u32,
    pub(super) worker_timeout: Duration,
    /// Indexes into [`JOBS`]. They run one after the other, from the start again, until the faults
    /// are over.
    pub(super) jobs: Vec<usize>,
    /// Number of jobs in the queue at a time.
    pub(super) at_once: usize,
    /// The faults, in the order of their start.
    pub(super) events: Vec<Event>,
}

impl Schedule {
    /// The schedule of a seed.
    pub(super) fn of(seed: u64) -> Schedule {
        let random = &mut Random::new(seed);
        let lease = Duration::from_millis(random.pick(&[600, 1000, 1500]));
        let narrow = random.pick(&[0, 0, 500]);
        let jobs = (0..6).map(|_| random.below(JOBS.len() as u64) as usize).collect();
        let at_once = random.between(2, 4) as usize;
        // Most runs have no fault that permits a job to fail.
        let severe = random.pick(&[0, 0, 0, 1, 1, 2]);
        let count = random.between(5, 8);
        let mut faults: Vec<Fault> = (0..count - severe).map(|_| ordinary(random)).collect();
        for _ in 0..severe {
            let place = random.between(0, faults.len() as u64) as usize;
            faults.insert(place, self::severe(random));
        }
        let events = place(faults, lease, random);
        // The timeout is long enough for every fault but a lost folder: that worker never returns.
        let is_lost = events.iter().any(|event| matches!(event.fault, Fault::LostWorker(_)));
        let worker_timeout = Duration::from_secs(if is_lost { 8 } else { 60 });
        Schedule { seed, lease, narrow, worker_timeout, jobs, at_once, events }
    }

    /// Whether a job may end with an exit code.
    pub(super) fn permits(&self, code: i32) -> bool {
        self.events.iter().any(|event| event.fault.permits().contains(&code))
    }

    /// Whether a job may be lost for good.
    pub(super) fn loses_jobs(&self) -> bool {
        self.events.iter().any(|event| event.fault.loses_jobs())
    }

    /// Whether one of the faults fills a node's disk.
    pub(super) fn fills(&self, node: Node) -> bool {
        let is_filled =
            |fault: &Fault| matches!(fault, Fault::FullDisk { node: full, .. } if *full == node);
        self.events.iter().any(|event| is_filled(&event.fault))
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Schedule { seed, lease, narrow, worker_timeout, jobs, at_once, events } = self;
        writeln!(
            f,
            "seed {seed}: lease {lease:?}, narrow {narrow}, worker timeout {worker_timeout:?}, \
             {at_once} jobs at a time"
        )?;
        for job in jobs {
            writeln!(f, "  job {}", JOBS[*job])?;
        }
        for Event { at, lasts, fault } in events {
            writeln!(f, "  {:>6} ms, for {:>4} ms: {fault}", at.as_millis(), lasts.as_millis())?;
        }
        Ok(())
    }
}

fn worker(random: &mut Random) -> u8 {
    random.between(1, u64::from(WORKERS)) as u8
}

fn node(random: &mut Random) -> Node {
    match random.below(4) {
        0 => Node::Coordinator,
        number => Node::Worker(number as u8),
    }
}

/// A fault after which every job ends with the right result, possibly after it was resumed.
fn ordinary(random: &mut Random) -> Fault {
    match random.below(22) {
        0..3 => {
            let one = node(random);
            let other = node(random);
            let all: Vec<Node> = workers().collect();
            Fault::Killed(match random.below(6) {
                0 => [&[Node::Coordinator], &all[..]].concat(),
                1 | 2 if one != other => vec![one, other],
                _ => vec![one],
            })
        }
        3..5 => Fault::Paused(node(random)),
        5..13 => {
            let number = worker(random);
            let link =
                if random.below(2) == 0 { Link::Control(number) } else { Link::Exchange(number) };
            let mode = random.pick(&[
                LinkMode::Stall,
                LinkMode::OneWay,
                LinkMode::Delay,
                LinkMode::Damage,
                LinkMode::Damage,
                LinkMode::Truncate,
                LinkMode::Duplicate,
                LinkMode::Duplicate,
                LinkMode::Broken,
            ]);
            Fault::Network(link, mode)
        }
        13 => Fault::SecondProcess(node(random)),
        14 => {
            let node = node(random);
            Fault::FullDisk { node, restarts: random.below(3) == 0 }
        }
        15 => Fault::LongPause,
        16..18 => Fault::Terminated(node(random)),
        18..20 => Fault::RemovedJob { place: random.next() },
        20 => Fault::Collected,
        _ => {
            let damage =
                random.pick(&[Damage::Flip, Damage::Truncate, Damage::Overwrite, Damage::Delete]);
            let (worker, place) = (worker(random), random.next());
            Fault::DamagedFile { worker, damage, is_live: false, place }
        }
    }
}

/// A fault after which a job may be lost.
fn severe(random: &mut Random) -> Fault {
    match random.below(9) {
        0..2 => Fault::Clone(worker(random)),
        2 => {
            let damage = random.pick(&[Damage::Flip, Damage::Truncate, Damage::Overwrite]);
            Fault::DamagedJournal { damage, place: random.next() }
        }
        3..5 => Fault::RestoredJournal { is_paused: random.below(2) == 0 },
        5 => Fault::LostCoordinator { is_paused: random.below(2) == 0 },
        6 => Fault::LostWorker(worker(random)),
        _ => {
            let all = [Damage::Flip, Damage::Truncate, Damage::Overwrite, Damage::Delete];
            let damage = random.pick(&all);
            let (worker, place) = (worker(random), random.next());
            Fault::DamagedFile { worker, damage, is_live: true, place }
        }
    }
}

/// Time from a fault's start to its end.
fn lasting(fault: &Fault, lease: Duration, random: &mut Random) -> Duration {
    let lease = lease.as_millis() as u64;
    let milliseconds = match fault {
        Fault::Killed(_) | Fault::LostWorker(_) | Fault::LostCoordinator { .. } => {
            random.below(700)
        }
        Fault::LongPause => random.between(lease * 2, lease * 5),
        // The pause is shorter than the lease, or longer.
        Fault::Paused(_)
        | Fault::Network(_, LinkMode::Stall | LinkMode::OneWay | LinkMode::Broken) => {
            let (short, long) = (lease / 2, lease * 2);
            if random.below(2) == 0 {
                random.between(100, short)
            } else {
                random.between(long - lease / 2, long)
            }
        }
        Fault::Network(..) => random.between(800, 3000),
        Fault::FullDisk { .. } | Fault::Clone(_) | Fault::RestoredJournal { .. } => {
            random.between(500, 2500)
        }
        Fault::Terminated(_)
        | Fault::DamagedFile { .. }
        | Fault::DamagedJournal { .. }
        | Fault::SecondProcess(_)
        | Fault::RemovedJob { .. }
        | Fault::Collected => 0,
    };
    Duration::from_millis(milliseconds)
}

/// Gives each fault a time. Those of one node do not overlap, nor do those of one link.
fn place(faults: Vec<Fault>, lease: Duration, random: &mut Random) -> Vec<Event> {
    let mut events: Vec<Event> = Vec::new();
    let mut now = Duration::ZERO;
    for fault in faults {
        now += Duration::from_millis(random.between(100, 1200));
        let clashing = events.iter().filter(|event| clash(&event.fault, &fault));
        let free = clashing.map(|event| event.at + event.lasts + Duration::from_millis(100)).max();
        now = now.max(free.unwrap_or_default());
        let lasts = lasting(&fault, lease, random);
        events.push(Event { at: now, lasts, fault });
    }
    events
}

/// Whether two faults touch the same node or link.
fn clash(one: &Fault, other: &Fault) -> bool {
    if let (Fault::Network(one, _), Fault::Network(other, _)) = (one, other) {
        return one == other;
    }
    one.nodes().iter().any(|node| other.nodes().contains(node))
}

#[test]
fn equal_seeds_give_equal_schedules() {
    for seed in 0..200 {
        let schedule = Schedule::of(seed);
        assert_eq!(schedule, Schedule::of(seed));
        assert_ne!(schedule.events, Schedule::of(seed + 1).events);
        assert!((5..=8).contains(&schedule.events.len()), "{schedule}");
    }
}

#[test]
fn faults_of_a_node_do_not_overlap() {
    for seed in 0..500 {
        let schedule = Schedule::of(seed);
        for (number, event) in schedule.events.iter().enumerate() {
            for later in &schedule.events[number + 1..] {
                assert!(event.at < later.at, "{schedule}");
                let is_over = event.at + event.lasts < later.at;
                assert!(is_over || !clash(&event.fault, &later.fault), "{schedule}");
            }
        }
    }
}

#[test]
fn all_kinds_of_faults_occur() {
    use std::collections::BTreeSet;

    let schedules: Vec<Schedule> = (0..500).map(Schedule::of).collect();
    let events = schedules.iter().flat_map(|schedule| &schedule.events);
    let kinds: BTreeSet<String> = events.map(|event| event.fault.kind()).collect();
    // 17 kinds besides the seven modes of two kinds of links.
    assert_eq!(kinds.len(), 17 + 2 * 7, "{kinds:?}");
    let jobs: BTreeSet<usize> =
        schedules.iter().flat_map(|schedule| schedule.jobs.clone()).collect();
    assert_eq!(jobs.len(), JOBS.len());
    // Most runs must end well.
    let strict = schedules.iter().filter(|schedule| !schedule.loses_jobs()).count();
    assert!(strict > 200, "{strict}");
}
