//! A simulated process: the platform of a node, from its start to its end.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::Uri;
use strata_platform::{BoxFuture, Connector, Listener, Platform, Resources, Thread};
use strata_store::Fs;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::disk::{Disk, ProcessFs};
use crate::network::{HostId, Network};
use crate::threads::{self, SimulatedThread};
use crate::world::World;

/// Longest time until work of a pool begins or its end is noticed.
const POOL: Duration = Duration::from_millis(2);

/// No crash is planned.
const NEVER: u64 = u64::MAX;

/// A process of a host.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) host: HostId,
    world: Arc<World>,
    alive: AtomicBool,
    paused: AtomicBool,
    /// Steps until it crashes.
    steps: AtomicU64,
    /// Notified when it crashes.
    pub(crate) crashed: Notify,
    /// Notified when it continues after a pause.
    continued: Notify,
    /// Tasks that run its threads.
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Process {
    /// A process that runs.
    pub(crate) fn new(host: HostId, world: &Arc<World>) -> Arc<Process> {
        Arc::new(Process {
            host,
            world: Arc::clone(world),
            alive: AtomicBool::new(true),
            paused: AtomicBool::new(false),
            steps: AtomicU64::new(NEVER),
            crashed: Notify::new(),
            continued: Notify::new(),
            threads: Mutex::default(),
        })
    }

    pub(crate) fn is_alive(&self) -> bool {
        self.alive.load(Ordering::Acquire)
    }

    /// Lets it crash at a later step: a write, a sync, a message.
    pub(crate) fn crash_after(&self, steps: u64) {
        self.steps.store(steps, Ordering::Release);
    }

    /// Ends it: from now on it changes nothing.
    pub(crate) fn kill(&self) {
        self.alive.store(false, Ordering::Release);
    }

    /// Pauses its threads, or lets them continue.
    pub(crate) fn set_paused(&self, paused: bool) {
        self.paused.store(paused, Ordering::Release);
        self.continued.notify_waiters();
    }

    /// A step after which others can see something of the process.
    ///
    /// # Errors
    /// If the process has ended or crashes now.
    pub(crate) fn step(&self) -> io::Result<()> {
        if !self.is_alive() {
            return Err(io::Error::other("the process has ended"));
        }
        let left = self.steps.load(Ordering::Acquire);
        if left == NEVER {
            return Ok(());
        }
        self.steps.store(left.saturating_sub(1), Ordering::Release);
        if left > 0 {
            return Ok(());
        }
        self.kill();
        self.world.trace("crash at a step", &[self.host as u64]);
        self.crashed.notify_one();
        Err(io::Error::other("the process crashes"))
    }

    /// Ends its threads.
    pub(crate) async fn end_threads(&self) {
        let threads = std::mem::take(&mut *self.lock_threads());
        for thread in threads {
            thread.abort();
            let _ = thread.await;
        }
    }

    fn lock_threads(&self) -> std::sync::MutexGuard<'_, Vec<JoinHandle<()>>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a thread while the process is not paused.
    async fn run(self: Arc<Self>, mut thread: SimulatedThread) {
        std::future::poll_fn(|context| {
            if self.paused.load(Ordering::Acquire) {
                // The pause's end wakes the task; `drive` polls again then.
                let waker = context.waker().clone();
                let process = Arc::clone(&self);
                self.world.runtime.spawn(async move {
                    loop {
                        let continued = process.continued.notified();
                        if !process.paused.load(Ordering::Acquire) {
                            break;
                        }
                        continued.await;
                    }
                    waker.wake();
                });
                return std::task::Poll::Pending;
            }
            Pin::new(&mut thread).poll(context)
        })
        .await;
    }
}

/// The platform of a process.
#[derive(Clone, Debug)]
pub(crate) struct SimulatedPlatform {
    pub(crate) process: Arc<Process>,
    pub(crate) network: Arc<Network>,
    pub(crate) disk: Arc<Disk>,
}

impl Platform for SimulatedPlatform {
    fn fs(&self) -> Arc<dyn Fs> {
        Arc::new(ProcessFs::new(&self.process, &self.disk))
    }

    fn resources(&self, _: &Path) -> Resources {
        Resources { rss: 64 << 20, peak_rss: 64 << 20, disk_free: 1 << 40 }
    }

    fn random(&self) -> io::Result<u128> {
        Ok(self.process.world.random().u128(..))
    }

    fn start(&self, name: &str, work: Box<dyn FnOnce() + Send>) -> io::Result<Thread> {
        let (thread, run) = Thread::new(work);
        let simulated = SimulatedThread::new(name, &self.process.world.runtime, run)?;
        let task = self.process.world.runtime.spawn(Arc::clone(&self.process).run(simulated));
        self.process.lock_threads().push(task);
        Ok(thread)
    }

    fn run(&self, work: Box<dyn FnOnce() + Send>) -> Thread {
        let (thread, run) = Thread::new(work);
        let process = Arc::clone(&self.process);
        self.process.world.runtime.spawn(async move {
            tokio::time::sleep(process.world.time(POOL)).await;
            while process.paused.load(Ordering::Acquire) {
                process.continued.notified().await;
            }
            if process.is_alive() {
                run();
            }
        });
        thread
    }

    fn block_on(&self, future: Pin<&mut dyn Future<Output = ()>>) {
        threads::block_on(future);
    }

    fn connector(&self) -> Option<Connector> {
        let (process, network) = (Arc::clone(&self.process), Arc::clone(&self.network));
        Some(Arc::new(move |uri: Uri| {
            let (process, network) = (Arc::clone(&process), Arc::clone(&network));
            Box::pin(async move {
                let authority = uri.authority().map_or("", |authority| authority.as_str());
                let addr = authority.parse().map_err(io::Error::other)?;
                network.connect(&process, addr).await
            })
        }))
    }

    fn listen(&self, addr: SocketAddr) -> BoxFuture<'_, io::Result<Box<dyn Listener>>> {
        let accepting = self.network.listen(Arc::clone(&self.process), addr);
        Box::pin(async move { Ok(Box::new(accepting) as Box<dyn Listener>) })
    }
}
