//! Trait [`Platform`]: everything of the machine that a node uses.

use std::fmt::Debug;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use strata_store::Fs;

use crate::platform::connection::{BoxFuture, Connector, Listener};
use crate::platform::resources::Resources;
use crate::platform::thread::{Panicked, Thread};

/// The machine a node runs on.
pub trait Platform: Debug + Send + Sync {
    /// The file system.
    fn fs(&self) -> Arc<dyn Fs>;

    /// Memory of the process, and free space on the file system of a folder. May block.
    fn resources(&self, data_dir: &Path) -> Resources;

    /// Resets the peak of the process's resident memory to its current value, where the system
    /// permits it. Returns whether it did.
    fn reset_peak_memory(&self) -> bool;

    /// The time of day.
    fn wall_time(&self) -> SystemTime;

    /// A random number.
    ///
    /// # Errors
    /// If the operating system provides none.
    fn random(&self) -> io::Result<u128>;

    /// Starts a thread. The work may compute for long and [`block_on`](Self::block_on) futures.
    ///
    /// # Errors
    /// If there are no more threads.
    fn start(&self, name: &str, work: Box<dyn FnOnce() + Send>) -> io::Result<Thread>;

    /// Runs work that blocks on files or computes for a moment, on a thread of a pool.
    fn run(&self, work: Box<dyn FnOnce() + Send>) -> Thread;

    /// Blocks a thread that [`start`](Self::start) started, or a thread that such a thread waits
    /// for, until a future is ready.
    fn block_on(&self, future: Pin<&mut dyn Future<Output = ()>>);

    /// How connections are made; `None` for TCP.
    fn connector(&self) -> Option<Connector>;

    /// Listens on an address; port 0 is any free port.
    ///
    /// # Errors
    /// If the address is taken or not one of this machine.
    fn listen(&self, addr: SocketAddr) -> BoxFuture<'_, io::Result<Box<dyn Listener>>>;
}

impl dyn Platform + '_ {
    /// Runs work that blocks or computes for a moment, outside the asynchronous threads.
    ///
    /// # Errors
    /// If the work panics, or is dropped because the runtime or the process ends.
    pub fn blocking<T: Send + 'static, F: FnOnce() -> T + Send + 'static>(
        &self,
        work: F,
    ) -> impl Future<Output = Result<T, Panicked>> + Send + use<T, F> {
        let (sender, mut receiver) = tokio::sync::oneshot::channel();
        let thread = self.run(Box::new(move || {
            // The caller may have gone.
            let _ = sender.send(work());
        }));
        async move {
            thread.await?;
            let missing = |_| Panicked { message: "the work has no result".to_owned() };
            receiver.try_recv().map_err(missing)
        }
    }

    /// Blocks a thread until a future is ready. See [`Platform::block_on`].
    ///
    /// # Panics
    /// If the platform ends the wait before the future is ready.
    pub fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        let mut output = None;
        self.block_on(pin!(async { output = Some(future.await) }));
        output.expect("block_on returns when the future is ready")
    }

    /// Blocks a thread until a future is ready, at most for `timeout`; `None` after that time. See
    /// [`Platform::block_on`].
    pub fn wait_at_most<T>(&self, timeout: Duration, future: impl Future<Output = T>) -> Option<T> {
        self.wait(async { tokio::time::timeout(timeout, future).await.ok() })
    }
}
