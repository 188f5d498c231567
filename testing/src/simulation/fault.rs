//! Schedule of the faults of a run: kinds, hosts, times and durations, all from the seed.

use std::time::Duration;

use crate::simulation::links::LinkFaults;
use crate::simulation::node::COORDINATOR;
use crate::simulation::random::Random;
use crate::simulation::world::HostId;

/// Kinds of faults, by the effects that they explain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Crash,
    Stop,
    Pause,
    Network,
    Flip,
    DiskFull,
    Damage,
    DataLost,
    JournalRestored,
    JournalLost,
    Clock,
    Clone,
    Byzantine,
    Left,
}

/// A fault, or the end of one.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    /// The process of a host crashes now. With `power`, the host loses power, too: what is not
    /// durable on its disk is lost.
    Crash { host: HostId, power: bool },
    /// The process of a host crashes at a later step.
    CrashAfter { host: HostId, steps: u64 },
    /// The process of a host is requested to end.
    Stop { host: HostId },
    /// A host starts its process again.
    Start { host: HostId },
    /// A host pauses, or continues.
    Pause { host: HostId, paused: bool },
    /// The faults of the link between two hosts.
    Link { a: HostId, b: HostId, faults: LinkFaults, both: bool },
    /// The connections between two hosts are reset.
    Reset { a: HostId, b: HostId },
    /// An attacker replays the bytes that were sent over a connection.
    Replay,
    /// A disk becomes full, or has room again.
    Full { host: HostId, full: bool },
    /// A bit of a file of a worker that has crashed flips.
    Damage { host: HostId },
    /// A worker loses its data directory.
    DataLost { host: HostId },
    /// The journal is copied.
    Backup,
    /// The last copy of the journal is put back.
    Restore,
    /// The coordinator loses its data directory.
    JournalLost,
    /// All clocks jump.
    Clock { by: Duration },
    /// A second process with the identity of a worker starts.
    Clone { host: HostId },
    /// A worker that reports impossible figures joins, or leaves.
    Byzantine { joins: bool },
}

impl Fault {
    /// The kind of the fault; `None` for harmless events and for the end of a fault. Only the end of a
    /// link's fault has a kind, `Network`.
    pub(crate) fn kind(&self) -> Option<Kind> {
        match self {
            Fault::Crash { .. } | Fault::CrashAfter { .. } => Some(Kind::Crash),
            Fault::Stop { .. } => Some(Kind::Stop),
            Fault::Pause { paused, .. } => paused.then_some(Kind::Pause),
            Fault::Link { faults, .. } if faults.flips > 0 => Some(Kind::Flip),
            Fault::Link { .. } | Fault::Reset { .. } | Fault::Replay => Some(Kind::Network),
            Fault::Full { full, .. } => full.then_some(Kind::DiskFull),
            Fault::Damage { .. } => Some(Kind::Damage),
            Fault::DataLost { .. } => Some(Kind::DataLost),
            Fault::Restore => Some(Kind::JournalRestored),
            Fault::JournalLost => Some(Kind::JournalLost),
            Fault::Clock { .. } => Some(Kind::Clock),
            Fault::Clone { .. } => Some(Kind::Clone),
            Fault::Byzantine { joins } => joins.then_some(Kind::Byzantine),
            Fault::Start { .. } | Fault::Backup => None,
        }
    }
}

/// A fault and its time.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) at: Duration,
    pub(crate) fault: Fault,
}

/// Faults in order of their times.
#[derive(Clone, Debug, Default)]
pub(crate) struct Schedule {
    pub(crate) events: Vec<Event>,
}

impl Schedule {
    /// A schedule of `count` faults within `span`, for hosts 0 to `workers`. In some schedules a
    /// Byzantine worker is the first to join, so that it makes the narrow layers.
    pub(crate) fn random(random: &Random, count: u64, span: Duration, workers: HostId) -> Schedule {
        let mut schedule = Schedule::default();
        for _ in 0..count {
            let at = random.time(span);
            schedule.add(random, at, workers);
        }
        if random.one_in(12) {
            schedule.push(Duration::ZERO, Fault::Byzantine { joins: true });
            let end = Duration::from_millis(500) + random.time(Duration::from_secs(3));
            schedule.push(end, Fault::Byzantine { joins: false });
        }
        schedule.events.sort_by_key(|event| event.at);
        schedule
    }

    fn push(&mut self, at: Duration, fault: Fault) {
        self.events.push(Event { at, fault });
    }

    /// Adds a random fault and its end.
    fn add(&mut self, random: &Random, at: Duration, workers: HostId) {
        let host = random.below(workers as u64 + 1) as HostId;
        let worker = 1 + random.below(workers as u64) as HostId;
        let end = at + random.time(Duration::from_millis(2500));
        match random.below(40) {
            0..=4 => {
                self.push(at, Fault::Crash { host, power: random.one_in(2) });
                self.push(end, Fault::Start { host });
            }
            5..=9 => {
                self.push(at, Fault::CrashAfter { host, steps: random.below(200) });
                self.push(end, Fault::Start { host });
            }
            10..=11 => {
                self.push(at, Fault::Stop { host });
                self.push(end, Fault::Start { host });
            }
            12..=15 => {
                self.push(at, Fault::Pause { host, paused: true });
                self.push(end, Fault::Pause { host, paused: false });
            }
            16..=23 => self.link(random, at, end, workers),
            24..=25 => {
                let b = random.below(workers as u64 + 1) as HostId;
                self.push(at, Fault::Reset { a: host, b });
            }
            26..=27 => self.push(at, Fault::Replay),
            28..=30 => {
                self.push(at, Fault::Full { host, full: true });
                self.push(end, Fault::Full { host, full: false });
            }
            31 => self.down(at, end, worker, Fault::Damage { host: worker }),
            32 => self.down(at, end, worker, Fault::DataLost { host: worker }),
            33..=34 => {
                self.push(at.mul_f64(0.5), Fault::Backup);
                self.down(at, end, COORDINATOR, Fault::Restore);
            }
            35 => self.down(at, end, COORDINATOR, Fault::JournalLost),
            36..=37 => {
                let by = random.time(Duration::from_secs(4));
                self.push(at, Fault::Clock { by });
            }
            38 => self.push(at, Fault::Clone { host: worker }),
            _ => {
                self.push(at, Fault::Byzantine { joins: true });
                self.push(end, Fault::Byzantine { joins: false });
            }
        }
    }

    /// Adds a fault of the disk of a host, between a crash and a start of the host.
    fn down(&mut self, at: Duration, end: Duration, host: HostId, fault: Fault) {
        self.push(at, Fault::Crash { host, power: false });
        self.push(at + (end - at) / 2, fault);
        self.push(end, Fault::Start { host });
    }

    fn link(&mut self, random: &Random, at: Duration, end: Duration, workers: HostId) {
        let hosts = workers as u64 + 1;
        let a = random.below(hosts) as HostId;
        let b = (a + 1 + random.below(hosts - 1) as HostId) % (workers + 1);
        let none = LinkFaults::default();
        let faults = match random.below(4) {
            0 => LinkFaults { cut: true, ..none },
            1 => LinkFaults { delay: random.time(Duration::from_millis(800)), ..none },
            2 => LinkFaults { flips: 1 + random.below(40), ..none },
            _ => LinkFaults { truncations: 1 + random.below(40), ..none },
        };
        let both = random.one_in(2);
        self.push(at, Fault::Link { a, b, faults, both });
        self.push(end, Fault::Link { a, b, faults: none, both });
    }
}
