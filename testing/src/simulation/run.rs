//! Simulation of one run: a cluster, its jobs, its faults, and the checks.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use strata_run::catalogue::Registry;
use tokio::task::JoinSet;

use crate::simulation::byzantine;
use crate::simulation::disk::Disk;
use crate::simulation::fault::{Event, Fault, Kind, Schedule};
use crate::simulation::job::{Checked, Faults, Job, Together};
use crate::simulation::network::Network;
use crate::simulation::node::{COORDINATOR, Host, Settings};
use crate::simulation::platform::SimulatedPlatform;
use crate::simulation::process::Process;
use crate::simulation::scheduler::{Order, Scheduler};
use crate::simulation::world::{HostId, World};

/// First host of the clients.
const CLIENT: HostId = 20;

/// First host of clones.
const CLONE: HostId = 30;

/// Host of Byzantine workers.
const BYZANTINE: HostId = 40;

/// Interval at which hosts and faults are checked.
const TICK: Duration = Duration::from_millis(10);

/// Time after which a host restarts a process that has ended.
const RESTART: Duration = Duration::from_millis(3000);

/// Pause after each fault of time zero, before the workers start: a Byzantine worker registers
/// first.
const HEAD_START: Duration = Duration::from_millis(100);

/// Longest lifetime of a clone.
const CLONE_TIME: Duration = Duration::from_secs(2);

/// Time after the last fault in which all jobs must end.
const PATIENCE: Duration = Duration::from_secs(300);

/// Outcome of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Digest of all events: two runs of a seed have the same.
    pub trace: u64,
    /// Simulated time.
    pub time: Duration,
    /// Descriptions of the jobs, all of them done.
    pub jobs: Vec<String>,
    /// Largest number of jobs that their clients saw running at the same time.
    pub together: usize,
    /// Number of faults of each kind.
    pub faults: BTreeMap<String, u32>,
    /// Whether priorities, not random times, decided the order of steps.
    pub by_priority: bool,
}

/// A run that failed a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The seed, which repeats the run.
    pub seed: u64,
    /// What was wrong.
    pub what: String,
    /// The faults of the run, in order.
    pub schedule: Vec<String>,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "seed {}: {}", self.seed, self.what)?;
        self.schedule.iter().try_for_each(|event| writeln!(f, "  {event}"))
    }
}

/// Runs a cluster with the faults of a seed.
///
/// # Errors
/// If a job has wrong numbers, does not end, or ends in a way that the faults do not explain.
///
/// # Panics
/// If the operating system provides no threads or no temporary files.
pub fn run(seed: u64) -> Result<Outcome, Violation> {
    let scheduler = Scheduler::of_seed(seed);
    let chooses = Arc::clone(&scheduler);
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_time().start_paused(true).on_thread_park(move || chooses.choose());
    let runtime = builder.build();
    let runtime = runtime.expect("a runtime on one thread");
    runtime.block_on(async {
        let mut cluster = Cluster::new(seed, &scheduler).expect("temporary files");
        let ended = cluster.run().await;
        cluster.end().await;
        let schedule = cluster.schedule.events.iter();
        let schedule = schedule.map(|Event { at, fault }| format!("{at:?} {fault:?}"));
        ended.map_err(|what| Violation { seed, what, schedule: schedule.collect() })
    })
}

struct Cluster {
    world: Arc<World>,
    network: Arc<Network>,
    hosts: Vec<Host>,
    clones: Vec<(Duration, Host)>,
    /// A Byzantine worker, with the process of its proxy.
    byzantine: Option<(Host, Arc<Process>)>,
    /// Since when each host has had no process.
    down: BTreeMap<HostId, Duration>,
    schedule: Schedule,
    settings: Settings,
    faults: Arc<Faults>,
    counts: BTreeMap<String, u32>,
    backup: Option<Vec<u8>>,
}

impl Cluster {
    fn new(seed: u64, scheduler: &Arc<Scheduler>) -> io::Result<Cluster> {
        let world = World::new(seed, scheduler);
        let network = Network::new(Arc::clone(&world));
        let pick = |of: &[u64]| of[world.random.below(of.len() as u64) as usize];
        let settings = Settings {
            lease: Duration::from_millis(pick(&[300, 500, 1000, 2000])),
            worker_timeout: Duration::from_secs(20),
            checkpoint_interval: Duration::from_secs(1),
            narrow: pick(&[1, 1, 20, 100, 1 << 16]),
            columns: [None, Some(1), Some(2)][pick(&[0, 1, 2, 2]) as usize],
            puzzles: Arc::new(Registry::shipped()),
        };
        let workers = 1 + world.random.below(3) as HostId;
        let hosts = (0..=workers).map(|id| Host::new(id, &network, &settings));
        let hosts = hosts.collect::<io::Result<Vec<_>>>()?;
        let (faults, span) =
            (world.random.below(12), Duration::from_millis(500 + world.random.below(6000)));
        let schedule = Schedule::random(&world.random, faults, span, workers);
        Ok(Cluster {
            hosts,
            schedule,
            network,
            settings,
            world,
            clones: Vec::new(),
            byzantine: None,
            down: BTreeMap::new(),
            faults: Arc::default(),
            counts: BTreeMap::new(),
            backup: None,
        })
    }

    /// A platform for a program outside the cluster.
    fn platform(&self, host: HostId) -> io::Result<SimulatedPlatform> {
        Ok(SimulatedPlatform {
            process: Process::new(host, &self.world),
            network: Arc::clone(&self.network),
            disk: Disk::new(&self.world)?,
        })
    }

    /// Starts the coordinator, applies the faults of time zero, then starts the workers.
    async fn start(&mut self) -> io::Result<()> {
        self.hosts[COORDINATOR].start();
        let events = self.schedule.events.clone().into_iter();
        for event in events.take_while(|event| event.at.is_zero()) {
            self.apply(event.fault).await?;
            tokio::time::sleep(HEAD_START).await;
        }
        self.hosts.iter_mut().for_each(Host::start);
        Ok(())
    }

    async fn run(&mut self) -> Result<Outcome, String> {
        self.start().await.map_err(|error| error.to_string())?;
        let mut jobs = JoinSet::new();
        let together = Arc::new(Together::default());
        let count = 1 + self.world.random.below(4);
        for number in 0..count {
            let client = self.platform(CLIENT + number as HostId);
            let client = client.map_err(|error| error.to_string())?;
            let job = Job::new(number, &self.world, client, &self.faults, &together);
            let begins = self.world.random.time(Duration::from_secs(2));
            jobs.spawn(async move {
                tokio::time::sleep(begins).await;
                job.run().await
            });
        }
        let (mut done, mut removed) = (Vec::new(), Vec::new());
        let events = self.schedule.events.clone().into_iter();
        let mut events = events.skip_while(|event| event.at.is_zero()).peekable();
        let last = self.schedule.events.iter().map(|event| event.at).max().unwrap_or_default();
        let mut healed = None;
        while !jobs.is_empty() {
            tokio::time::sleep(TICK).await;
            while let Some(job) = jobs.try_join_next() {
                let Checked { text, removed: id } = job.map_err(|error| error.to_string())??;
                done.push(text);
                removed.extend(id);
            }
            let now = self.world.now();
            while let Some(event) = events.next_if(|event| event.at <= now) {
                self.apply(event.fault).await.map_err(|error| error.to_string())?;
            }
            self.supervise(now).await?;
            if healed.is_none() && now > last + TICK {
                self.heal().await;
                self.leave().await.map_err(|error| error.to_string())?;
                healed = Some(self.world.now());
            }
            if healed.is_some_and(|healed| now > healed + PATIENCE) {
                return Err(format!("{} of {count} jobs have not ended", jobs.len()));
            }
        }
        self.check_removed(&removed).await?;
        done.sort_unstable();
        let (trace, time) = (self.world.digest(), self.world.now());
        let (together, faults) = (together.most(), self.counts.clone());
        let by_priority = self.world.scheduler.order() == Order::Priorities;
        Ok(Outcome { trace, time, jobs: done, together, faults, by_priority })
    }

    /// Waits until no worker holds files of removed jobs.
    async fn check_removed(&mut self, removed: &[String]) -> Result<(), String> {
        // Not checked after these faults: a lost or restored journal may lack the tombstone, clones and
        // Byzantine workers take part with disks that are not in `self.hosts`, and nobody reaches the disks
        // of hosts that have left.
        let lost =
            [Kind::JournalRestored, Kind::JournalLost, Kind::Byzantine, Kind::Clone, Kind::Left];
        if removed.is_empty() || self.faults.any(&lost) {
            return Ok(());
        }
        self.heal().await;
        let healed = self.world.now();
        while let Some(left) = self.folder_of(removed) {
            if self.world.now() > healed + PATIENCE {
                return Err(format!("the removed job {left} has files"));
            }
            tokio::time::sleep(TICK).await;
            self.supervise(self.world.now()).await?;
        }
        Ok(())
    }

    /// One of the jobs that a worker has a folder of.
    fn folder_of(&self, jobs: &[String]) -> Option<String> {
        let has_folder =
            |job: &&String| self.hosts[1..].iter().any(|host| host.disk.data().join(job).exists());
        jobs.iter().find(has_folder).cloned()
    }

    /// Handles processes that have crashed or ended, and restarts them after a time.
    async fn supervise(&mut self, now: Duration) -> Result<(), String> {
        for host in &mut self.hosts {
            if host.has_crashed() {
                let power = self.world.random.one_in(2);
                host.crash(power).await.map_err(|error| error.to_string())?;
            }
            if let Some(why) = host.ended().await {
                tracing::info!(host = host.id, "the process has ended: {why}");
                let explains = [Kind::Stop, Kind::DiskFull, Kind::Flip, Kind::Clone];
                if !self.faults.any(&explains) {
                    return Err(format!("the process of host {} has ended: {why}", host.id));
                }
            }
            if host.is_running() {
                self.down.remove(&host.id);
            } else if now > *self.down.entry(host.id).or_insert(now) + RESTART {
                host.start();
            }
        }
        for (until, clone) in &mut self.clones {
            if now > *until {
                clone.crash(false).await.map_err(|error| error.to_string())?;
            }
        }
        Ok(())
    }

    async fn apply(&mut self, fault: Fault) -> io::Result<()> {
        tracing::info!("{fault:?}");
        if let Some(kind) = fault.kind() {
            self.faults.add(kind);
            *self.counts.entry(format!("{kind:?}")).or_default() += 1;
        }
        match fault {
            Fault::Crash { host, power } => self.hosts[host].crash(power).await?,
            Fault::CrashAfter { host, steps } => self.hosts[host].crash_after(steps),
            Fault::Stop { host } => self.hosts[host].stop(),
            Fault::Start { host } => self.hosts[host].start(),
            Fault::Pause { host, paused } => self.hosts[host].set_paused(paused),
            Fault::Link { a, b, faults, both } => {
                self.network.set_faults(a, b, faults);
                if both {
                    self.network.set_faults(b, a, faults);
                }
            }
            Fault::Reset { a, b } => self.network.reset(a, b),
            Fault::Replay => self.network.replay(),
            Fault::Full { host, full } => self.hosts[host].disk.set_full(full),
            Fault::Clock { by } => tokio::time::advance(by).await,
            Fault::Clone { host } => self.clone_host(host)?,
            Fault::Byzantine { joins } => self.set_byzantine(joins).await?,
            Fault::Backup => self.backup = self.hosts[COORDINATOR].disk.journal.backup(),
            Fault::Damage { .. } | Fault::DataLost { .. } | Fault::Restore | Fault::JournalLost => {
                self.change_disk(fault)?
            }
        }
        Ok(())
    }

    /// Changes the disk of a host that is down.
    fn change_disk(&mut self, fault: Fault) -> io::Result<()> {
        match fault {
            Fault::Damage { host } | Fault::DataLost { host } if self.hosts[host].is_running() => {
                Ok(())
            }
            Fault::Damage { host } => {
                let disk = &self.hosts[host].disk;
                let mut files = disk.files();
                files.retain(|path| path.extension().is_some_and(|end| end == "strata"));
                if files.is_empty() {
                    return Ok(());
                }
                disk.damage(&files[self.world.random.below(files.len() as u64) as usize])
            }
            Fault::DataLost { host } => self.hosts[host].disk.erase(),
            _ if self.hosts[COORDINATOR].is_running() => Ok(()),
            Fault::Restore => {
                if let Some(backup) = self.backup.clone() {
                    self.hosts[COORDINATOR].disk.journal.restore(backup);
                }
                Ok(())
            }
            Fault::JournalLost => self.hosts[COORDINATOR].disk.erase(),
            _ => Ok(()),
        }
    }

    /// Starts a second process with the identity of a worker.
    fn clone_host(&mut self, host: HostId) -> io::Result<()> {
        let mut clone = Host::new(CLONE + self.clones.len(), &self.network, &self.settings)?;
        let from = self.hosts[host].disk.data().join("worker-id");
        if from.exists() {
            std::fs::create_dir_all(clone.disk.data())?;
            std::fs::copy(from, clone.disk.data().join("worker-id"))?;
            clone.start();
        }
        self.clones.push((self.world.now() + self.world.random.time(CLONE_TIME), clone));
        Ok(())
    }

    async fn set_byzantine(&mut self, joins: bool) -> io::Result<()> {
        if let Some((mut worker, proxy)) = self.byzantine.take() {
            proxy.kill();
            worker.crash(false).await?;
        }
        if joins {
            let mut worker = Host::new(BYZANTINE, &self.network, &self.settings)?;
            worker.coordinator = byzantine::proxy_url(BYZANTINE);
            worker.start();
            let platform = self.platform(BYZANTINE)?;
            let proxy = Arc::clone(&platform.process);
            self.world.runtime.spawn(async move {
                let ended = byzantine::proxy(platform, BYZANTINE).await;
                tracing::info!("the proxy of the Byzantine worker has ended: {ended:?}");
            });
            self.byzantine = Some((worker, proxy));
        }
        Ok(())
    }

    /// Ends all faults.
    async fn heal(&mut self) {
        tracing::info!("all faults end");
        self.network.heal();
        let _ = self.set_byzantine(false).await;
        for host in &mut self.hosts {
            host.disk.set_full(false);
            host.set_paused(false);
            host.start();
        }
    }

    /// Takes some workers away for good, in half of the runs; at least one stays. All jobs must still end.
    async fn leave(&mut self) -> io::Result<()> {
        let random = self.world.part("leave", 0, 0);
        let workers = self.hosts.len() as u64 - 1;
        let leaving = if random.one_in(2) { random.below(workers) } else { 0 };
        for _ in 0..leaving {
            let worker = 1 + random.below(workers) as HostId;
            tracing::info!(worker, "the worker leaves for good");
            self.faults.add(Kind::Left);
            *self.counts.entry(format!("{:?}", Kind::Left)).or_default() += 1;
            self.hosts[worker].leave().await?;
        }
        Ok(())
    }

    /// Ends all processes.
    async fn end(&mut self) {
        let _ = self.set_byzantine(false).await;
        let clones = self.clones.iter_mut().map(|(_, clone)| clone);
        for host in self.hosts.iter_mut().chain(clones) {
            let _ = host.crash(false).await;
        }
    }
}
