//! The hosts of a cluster and the processes on them: start, stop, crash and restart.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use strata_coordinator::{ClusterOptions, Coordinator, DashboardOptions, JournalSetup, Retention};
use strata_proto::net::Security;
use strata_proto::platform::{Machine, Platform};
use strata_run::catalogue::Registry;
use strata_worker::{Node, NodeOptions};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::simulation::disk::Disk;
use crate::simulation::journal::JournalFile;
use crate::simulation::network::{Network, address};
use crate::simulation::platform::SimulatedPlatform;
use crate::simulation::process::Process;
use crate::simulation::world::HostId;

/// The host of the coordinator. Workers have the hosts after it.
pub(crate) const COORDINATOR: HostId = 0;

/// Port of gRPC.
const PORT: u16 = 7000;

/// Port of HTTP.
const HTTP: u16 = 8000;

/// Memory budget of a worker: small, so that exits are spilled.
const MEMORY: u64 = 64 << 20;

/// Settings that differ from seed to seed.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) lease: Duration,
    pub(crate) worker_timeout: Duration,
    pub(crate) checkpoint_interval: Duration,
    pub(crate) narrow: u64,
    /// Workers in a row of the grid.
    pub(crate) columns: Option<u32>,
    pub(crate) puzzles: Arc<Registry>,
}

/// A running process.
#[derive(Debug)]
struct Running {
    process: Arc<Process>,
    main: JoinHandle<Result<(), String>>,
    /// Requests its end.
    stop: Arc<Notify>,
}

/// A host of the cluster, with the process on it.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) id: HostId,
    pub(crate) disk: Arc<Disk>,
    /// The URL at which a worker on it reaches the coordinator.
    pub(crate) coordinator: String,
    network: Arc<Network>,
    settings: Settings,
    running: Option<Running>,
    paused: bool,
    /// Its process never starts again.
    has_left: bool,
}

/// The URL of the coordinator.
pub(crate) fn coordinator_url() -> String {
    format!("http://{}", address(COORDINATOR, PORT))
}

impl Host {
    /// A host on which nothing runs.
    pub(crate) fn new(id: HostId, network: &Arc<Network>, settings: &Settings) -> io::Result<Host> {
        let disk = Disk::new(&network.world)?;
        let (network, settings) = (Arc::clone(network), settings.clone());
        let coordinator = coordinator_url();
        Ok(Host {
            id,
            disk,
            coordinator,
            network,
            settings,
            running: None,
            paused: false,
            has_left: false,
        })
    }

    pub(crate) fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// Starts the process, unless it runs or the host has left.
    pub(crate) fn start(&mut self) {
        if self.running.is_some() || self.has_left {
            return;
        }
        self.network.world.trace("start", &[self.id as u64]);
        self.network.restarted(self.id);
        let process = Process::new(self.id, &self.network.world);
        let platform: Arc<dyn Platform> = Arc::new(SimulatedPlatform {
            process: Arc::clone(&process),
            network: Arc::clone(&self.network),
            disk: Arc::clone(&self.disk),
        });
        let stop = Arc::new(Notify::new());
        let world = &self.network.world;
        let main = if self.id == COORDINATOR {
            let options = self.coordinator_options(&process, platform);
            world.runtime.spawn(coordinator(options, Arc::clone(&self.disk), Arc::clone(&stop)))
        } else {
            world.runtime.spawn(worker(self.worker_options(platform), self.id, Arc::clone(&stop)))
        };
        self.running = Some(Running { process, main, stop });
        self.set_paused(self.paused);
    }

    fn coordinator_options(
        &self,
        process: &Arc<Process>,
        platform: Arc<dyn Platform>,
    ) -> ClusterOptions {
        let Settings { lease, worker_timeout, checkpoint_interval, narrow, columns, .. } =
            self.settings;
        let (process, disk) = (Arc::clone(process), Arc::clone(&self.disk));
        let journal = JournalSetup::on(&platform).open_with(move |builder, path| {
            builder.create_with_backend(JournalFile::open(&process, &disk, path)?)
        });
        ClusterOptions {
            lease,
            worker_timeout,
            checkpoint_interval,
            has_store: false,
            narrow: Some(narrow),
            columns,
            log_interval: Duration::from_secs(30),
            retention: Retention::default(),
            puzzles: Arc::clone(&self.settings.puzzles),
            platform,
            journal,
            dashboard: DashboardOptions::default(),
        }
    }

    fn worker_options(&self, platform: Arc<dyn Platform>) -> NodeOptions {
        NodeOptions {
            coordinator: self.coordinator.clone(),
            name: format!("w{}", self.id),
            is_named: true,
            data_dir: self.disk.data(),
            threads: 1,
            memory: MEMORY,
            store: None,
            puzzles: Arc::clone(&self.settings.puzzles),
            machine: Machine::default(),
            platform,
        }
    }

    /// Lets the process crash at a later step.
    pub(crate) fn crash_after(&self, steps: u64) {
        if let Some(running) = &self.running {
            running.process.crash_after(steps);
        }
    }

    /// Whether the process has crashed at a step.
    pub(crate) fn has_crashed(&self) -> bool {
        self.running.as_ref().is_some_and(|running| !running.process.is_alive())
    }

    /// Why the process has ended by itself; `None` if it has not.
    pub(crate) async fn ended(&mut self) -> Option<String> {
        if !self.running.as_ref()?.main.is_finished() {
            return None;
        }
        let Running { process, main, .. } = self.running.take()?;
        process.kill();
        process.end_threads().await;
        self.network.crash(self.id, false);
        Some(match main.await {
            Ok(Ok(())) => "it ended without an error".to_owned(),
            Ok(Err(why)) => why,
            Err(error) => error.to_string(),
        })
    }

    /// Takes the host away for good: without power, and with its disk.
    ///
    /// # Errors
    /// If the files of the disk cannot be changed.
    pub(crate) async fn leave(&mut self) -> io::Result<()> {
        self.has_left = true;
        self.crash(true).await
    }

    /// Requests an orderly end.
    pub(crate) fn stop(&self) {
        if let Some(running) = &self.running {
            running.stop.notify_one();
        }
    }

    /// Ends the process at once. With `power`, the host loses power, too: what is not durable on
    /// its disk is lost.
    ///
    /// # Errors
    /// If the files of the disk cannot be changed.
    pub(crate) async fn crash(&mut self, power: bool) -> io::Result<()> {
        let Some(Running { process, main, .. }) = self.running.take() else { return Ok(()) };
        self.network.world.trace("crash", &[self.id as u64, power.into()]);
        process.kill();
        self.network.crash(self.id, power);
        main.abort();
        let _ = main.await;
        process.end_threads().await;
        if power { self.disk.lose_power() } else { Ok(()) }
    }

    /// Pauses the host or lets it continue.
    pub(crate) fn set_paused(&mut self, paused: bool) {
        self.paused = paused;
        self.network.set_paused(self.id, paused);
        if let Some(running) = &self.running {
            running.process.set_paused(paused);
        }
    }
}

async fn coordinator(
    options: ClusterOptions,
    disk: Arc<Disk>,
    stop: Arc<Notify>,
) -> Result<(), String> {
    let (grpc, http) = (address(COORDINATOR, PORT), address(COORDINATOR, HTTP));
    let security = Security::default();
    let coordinator = Coordinator::bind(options, &disk.data(), security, grpc, http).await;
    let coordinator = coordinator.map_err(|error| error.to_string())?;
    let ended = coordinator.run(async move { stop.notified().await }).await;
    ended.map_err(|error| error.to_string())
}

async fn worker(options: NodeOptions, host: HostId, stop: Arc<Notify>) -> Result<(), String> {
    let listen = address(host, PORT);
    let node = Node::bind(options, Security::default(), listen).await;
    let node = node.map_err(|error| error.to_string())?;
    let ended = node.run(format!("http://{listen}"), async move { stop.notified().await }).await;
    ended.map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use strata_proto::v1::ListRequest;
    use strata_proto::v1::job_service_client::JobServiceClient;

    use super::*;
    use crate::simulation::scheduler::Scheduler;
    use crate::simulation::world::World;

    fn settings() -> Settings {
        Settings {
            lease: Duration::from_secs(1),
            worker_timeout: Duration::from_secs(20),
            checkpoint_interval: Duration::from_secs(1),
            narrow: 1,
            columns: None,
            puzzles: Arc::new(Registry::shipped()),
        }
    }

    /// A first start creates the data directory and the folder above.
    #[tokio::test(start_paused = true)]
    async fn new_data_directories_survive_a_loss_of_power() {
        for seed in 0..10 {
            let network = Network::new(World::new(seed, &Scheduler::of_times()));
            for (id, file) in [(COORDINATOR, "logs"), (1, "worker-id")] {
                let mut host = Host::new(id, &network, &settings()).unwrap();
                host.start();
                tokio::time::sleep(Duration::from_secs(1)).await;
                assert!(host.is_running() && host.ended().await.is_none());
                host.crash(true).await.unwrap();
                assert!(host.disk.data().join(file).exists(), "seed {seed}, {file}");
            }
        }
    }

    /// A date of the operating system would change the length of compressed headers from run to run.
    #[tokio::test(start_paused = true)]
    async fn responses_have_the_simulated_date() {
        let world = World::new(0, &Scheduler::of_times());
        let network = Network::new(Arc::clone(&world));
        let mut coordinator = Host::new(COORDINATOR, &network, &settings()).unwrap();
        coordinator.start();
        tokio::time::sleep(Duration::from_secs(1)).await;
        let (process, disk) = (Process::new(1, &world), Disk::new(&world).unwrap());
        let security = Security::default().on(&SimulatedPlatform { process, network, disk });
        let mut dates = Vec::new();
        for _ in 0..2 {
            let connected = security.connect(&coordinator_url()).await.unwrap();
            let listed = JobServiceClient::new(connected).list(ListRequest::default()).await;
            let listed = listed.unwrap();
            dates.push(listed.metadata().get("date").unwrap().to_str().unwrap().to_owned());
            tokio::time::sleep(Duration::from_secs(9)).await;
        }
        assert_eq!(dates, ["Fri, 15 Jan 2027 08:00:01 GMT", "Fri, 15 Jan 2027 08:00:10 GMT"]);
        coordinator.crash(false).await.unwrap();
    }
}
