//! Platform of a simulated process.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::SystemTime;

use http::Uri;
use strata_proto::platform::{BoxFuture, Connector, Listener, Platform, Resources, Thread};
use strata_store::Fs;

use crate::simulation::disk::{Disk, ProcessFs};
use crate::simulation::network::Network;
use crate::simulation::process::Process;
use crate::simulation::threads;

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

    fn reset_peak_memory(&self) -> bool {
        true
    }

    fn wall_time(&self) -> SystemTime {
        self.network.world.wall_time()
    }

    fn random(&self) -> io::Result<u128> {
        Ok(self.process.random.number())
    }

    fn start(&self, name: &str, work: Box<dyn FnOnce() + Send>) -> io::Result<Thread> {
        let (thread, run) = Thread::new(work);
        self.process.start(name, run)?;
        Ok(thread)
    }

    fn run(&self, work: Box<dyn FnOnce() + Send>) -> Thread {
        let (thread, run) = Thread::new(work);
        self.process.run_in_pool(run);
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
