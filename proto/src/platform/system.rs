//! The operating system as a platform.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::SystemTime;

use strata_store::{Fs, RealFs};
use tokio::net::TcpListener;
use tokio::runtime::Handle;

use crate::platform::connection::{BoxFuture, Connector, Listener};
use crate::platform::node_platform::Platform;
use crate::platform::resources::Resources;
use crate::platform::thread::Thread;

/// The operating system, with the asynchronous runtime of the process.
#[derive(Clone, Debug)]
pub struct System {
    runtime: Handle,
}

impl System {
    /// The operating system, with this runtime.
    #[must_use]
    pub fn new(runtime: &Handle) -> Arc<System> {
        Arc::new(System { runtime: runtime.clone() })
    }
}

/// A random number of the operating system.
///
/// # Errors
/// If the operating system provides none.
pub fn random() -> io::Result<u128> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(io::Error::from)?;
    Ok(u128::from_le_bytes(bytes))
}

impl Platform for System {
    fn fs(&self) -> Arc<dyn Fs> {
        Arc::new(RealFs)
    }

    fn resources(&self, data_dir: &Path) -> Resources {
        Resources::read(data_dir)
    }

    fn reset_peak_memory(&self) -> bool {
        Resources::reset_peak()
    }

    fn wall_time(&self) -> SystemTime {
        SystemTime::now()
    }

    fn random(&self) -> io::Result<u128> {
        random()
    }

    fn start(&self, name: &str, work: Box<dyn FnOnce() + Send>) -> io::Result<Thread> {
        let (thread, run) = Thread::new(work);
        std::thread::Builder::new().name(name.to_owned()).spawn(run)?;
        Ok(thread)
    }

    fn run(&self, work: Box<dyn FnOnce() + Send>) -> Thread {
        let (thread, run) = Thread::new(work);
        self.runtime.spawn_blocking(run);
        thread
    }

    fn block_on(&self, future: Pin<&mut dyn Future<Output = ()>>) {
        self.runtime.block_on(future);
    }

    fn connector(&self) -> Option<Connector> {
        None
    }

    fn listen(&self, addr: SocketAddr) -> BoxFuture<'_, io::Result<Box<dyn Listener>>> {
        Box::pin(async move {
            let listener = TcpListener::bind(addr).await?;
            Ok(Box::new(listener) as Box<dyn Listener>)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn a_thread_waits_for_a_future() {
        let system: Arc<dyn Platform> = System::new(&Handle::current());
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let (results, result) = channel();
        let waiting = Arc::clone(&system);
        let thread = system.start(
            "waits",
            Box::new(move || {
                let late = waiting.wait_at_most(Duration::from_millis(1), std::future::pending());
                results.send((late, waiting.wait(receiver))).unwrap();
            }),
        );
        sender.send(7).unwrap();
        thread.unwrap().await.unwrap();
        assert_eq!(result.try_recv().unwrap(), (None::<()>, Ok(7)));
    }

    #[tokio::test]
    async fn blocking_work_returns_its_result_or_its_panic() {
        let system: Arc<dyn Platform> = System::new(&Handle::current());
        assert_eq!(system.blocking(|| 7).await, Ok(7));
        let panicked = system.blocking(|| -> u8 { panic!("a bug") }).await.unwrap_err();
        assert_eq!(panicked.to_string(), "a bug");
        assert_ne!(system.random().unwrap(), system.random().unwrap());
    }
}
