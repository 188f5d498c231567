//! Simulated processes: their threads and their steps, from start to end.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, ready};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::simulation::random::Random;
use crate::simulation::scheduler::Actor;
use crate::simulation::threads::SimulatedThread;
use crate::simulation::world::{HostId, World};

/// Longest delay until work of a thread pool begins or its end is noticed.
const POOL: Duration = Duration::from_millis(2);

/// No crash is planned.
const NEVER: u64 = u64::MAX;

/// A process of a host.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) host: HostId,
    world: Arc<World>,
    pub(crate) random: Random,
    alive: AtomicBool,
    paused: AtomicBool,
    /// Steps until it crashes.
    steps: AtomicU64,
    /// Notified when it crashes.
    pub(crate) crashed: Notify,
    /// Notified when it continues after a pause.
    continued: Notify,
    /// Tasks that poll the threads of the process.
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Process {
    /// A running process.
    pub(crate) fn new(host: HostId, world: &Arc<World>) -> Arc<Process> {
        Arc::new(Process {
            host,
            world: Arc::clone(world),
            random: world.part("process", host, host),
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

    /// Makes the process crash after `steps` more steps, such as writes, syncs and messages.
    pub(crate) fn crash_after(&self, steps: u64) {
        self.steps.store(steps, Ordering::Release);
    }

    /// Ends the process: from now on it changes nothing.
    pub(crate) fn kill(&self) {
        self.alive.store(false, Ordering::Release);
    }

    /// Pauses its threads, or lets them continue.
    pub(crate) fn set_paused(&self, paused: bool) {
        self.paused.store(paused, Ordering::Release);
        self.continued.notify_waiters();
    }

    /// Takes a step with an effect that others can see.
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

    /// Starts a thread.
    ///
    /// # Errors
    /// If the operating system has no more threads.
    pub(crate) fn start(
        self: &Arc<Self>,
        name: &str,
        work: impl FnOnce() + Send + 'static,
    ) -> io::Result<()> {
        let thread = SimulatedThread::new(name, &self.world.runtime, work)?;
        let actor = self.world.scheduler.actor(&self.random);
        let task = self.world.runtime.spawn(Arc::clone(self).drive(thread, actor));
        self.lock_threads().push(task);
        Ok(())
    }

    /// Runs work of a thread pool later, without interruption.
    pub(crate) fn run_in_pool(self: &Arc<Self>, work: impl FnOnce() + Send + 'static) {
        let process = Arc::clone(self);
        let actor = self.world.scheduler.actor(&self.random);
        self.world.runtime.spawn(async move {
            let delay = actor.delay(&process.random, POOL);
            actor.step_after(delay).await;
            process.runs().await;
            if process.is_alive() {
                work();
            }
        });
    }

    /// Waits while the process is paused.
    async fn runs(&self) {
        loop {
            let continued = self.continued.notified();
            if !self.paused.load(Ordering::Acquire) {
                return;
            }
            continued.await;
        }
    }

    /// Runs a thread while the process is not paused.
    async fn drive(self: Arc<Self>, mut thread: SimulatedThread, actor: Actor) {
        std::future::poll_fn(|context| {
            if self.paused.load(Ordering::Acquire) {
                // The end of the pause wakes the task.
                let (process, waker) = (Arc::clone(&self), context.waker().clone());
                self.world.runtime.spawn(async move {
                    process.runs().await;
                    waker.wake();
                });
                return Poll::Pending;
            }
            ready!(actor.poll_step(context));
            Pin::new(&mut thread).poll(context)
        })
        .await;
    }
}
