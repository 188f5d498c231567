//! Simulated network: listeners and connections.
//!
//! A connection is two ordered streams of bytes, as TCP has them. Every chunk takes a random time.
//! Links can be cut, be slow, and flip or lose bytes. Connections can be reset, fall silent, and be
//! replayed by an attacker who has recorded them.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use strata_proto::platform::{ByteStream, Listener};
use tokio::io::AsyncReadExt;
use tokio::sync::Notify;

use crate::simulation::connection::{Connection, End};
use crate::simulation::links::{LinkFaults, Links};
use crate::simulation::process::Process;
use crate::simulation::world::{HostId, World};

/// Longest duration of a replayed connection.
const REPLAY: Duration = Duration::from_secs(3);

/// A listener's connections that have not been accepted.
#[derive(Debug)]
struct Listening {
    process: Arc<Process>,
    queue: VecDeque<(End, SocketAddr)>,
    waker: Option<Waker>,
}

#[derive(Debug, Default)]
struct State {
    listeners: BTreeMap<SocketAddr, Listening>,
    connections: Vec<Weak<Connection>>,
}

/// The network of all hosts.
#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) world: Arc<World>,
    links: Arc<Links>,
    state: Mutex<State>,
    /// Notified when links or hosts change.
    changed: Notify,
}

/// The address of a host, on which all its processes listen.
pub(crate) fn address(host: HostId, port: u16) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1 + host as u8], port))
}

/// The host of an address.
fn host_of(addr: SocketAddr) -> HostId {
    match addr.ip() {
        std::net::IpAddr::V4(ip) => HostId::from(ip.octets()[3]).saturating_sub(1),
        std::net::IpAddr::V6(_) => 0,
    }
}

impl Network {
    pub(crate) fn new(world: Arc<World>) -> Arc<Network> {
        let links = Arc::new(Links::default());
        Arc::new(Network { world, links, state: Mutex::default(), changed: Notify::new() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the faults of a link.
    pub(crate) fn set_faults(&self, from: HostId, to: HostId, faults: LinkFaults) {
        self.links.set_faults(from, to, faults);
        self.wake();
    }

    /// Pauses a host or lets it continue.
    pub(crate) fn set_paused(&self, host: HostId, paused: bool) {
        self.links.set_paused(host, paused);
        self.wake();
    }

    /// Ends all faults of links and pauses.
    pub(crate) fn heal(&self) {
        self.links.heal();
        self.wake();
    }

    fn connections(&self) -> Vec<Arc<Connection>> {
        let mut state = self.state();
        state.connections.retain(|connection| connection.strong_count() > 0);
        state.connections.iter().filter_map(Weak::upgrade).collect()
    }

    /// Wakes everything that waits for the network.
    fn wake(&self) {
        self.connections().iter().for_each(|connection| connection.wake());
        self.changed.notify_waiters();
    }

    /// Resets the connections between two hosts.
    pub(crate) fn reset(&self, a: HostId, b: HostId) {
        for connection in self.connections() {
            let (from, to) = connection.hosts();
            if (from, to) == (a, b) || (from, to) == (b, a) {
                connection.reset();
            }
        }
    }

    /// Ends all connections of a host that has crashed. If `silent`, as after a power loss, its
    /// peers get no error until the host starts again.
    pub(crate) fn crash(&self, host: HostId, silent: bool) {
        self.state().listeners.retain(|_, listening| listening.process.host != host);
        for connection in self.connections() {
            let (from, to) = connection.hosts();
            if from == host || to == host {
                if silent { connection.silence() } else { connection.reset() }
            }
        }
    }

    /// Resets the silent connections of a host that has started again.
    pub(crate) fn restarted(&self, host: HostId) {
        for connection in self.connections() {
            let (from, to) = connection.hosts();
            if connection.is_silent() && (from == host || to == host) {
                connection.reset();
            }
        }
    }

    /// Connects a process to a listener.
    ///
    /// # Errors
    /// If nothing listens there.
    pub(crate) async fn connect(
        self: &Arc<Self>,
        process: &Arc<Process>,
        addr: SocketAddr,
    ) -> io::Result<Box<dyn ByteStream>> {
        let (from, to) = (process.host, host_of(addr));
        let actor = self.world.scheduler.actor(&process.random);
        let latency = Links::latency(&actor, &process.random, self.links.faults(from, to));
        actor.step_after(latency).await;
        loop {
            let changed = self.changed.notified();
            if !self.links.is_blocked(from, to) && !self.links.is_blocked(to, from) {
                break;
            }
            changed.await;
        }
        process.step()?;
        let end = self.open(from, Some(process), addr)?;
        self.world.trace("connect", &[from as u64, to as u64]);
        Ok(Box::new(end))
    }

    /// Makes a connection; the other end waits in the listener's queue.
    fn open(
        self: &Arc<Self>,
        from: HostId,
        process: Option<&Arc<Process>>,
        addr: SocketAddr,
    ) -> io::Result<End> {
        let mut state = self.state();
        let listening = state.listeners.get_mut(&addr).filter(|l| l.process.is_alive());
        let listening = listening.ok_or(ErrorKind::ConnectionRefused)?;
        let connection = Connection::new(&self.world, &self.links, (from, listening.process.host));
        let peer = address(from, 9);
        let accepted = End::new(&connection, Some(&listening.process), 1);
        listening.queue.push_back((accepted, peer));
        if let Some(waker) = listening.waker.take() {
            waker.wake();
        }
        state.connections.push(Arc::downgrade(&connection));
        Ok(End::new(&connection, process, 0))
    }

    /// Replays what the connecting side of a random connection has sent so far, over new
    /// connections to the listeners of the same host.
    pub(crate) fn replay(self: &Arc<Self>) {
        let recorded: Vec<_> = self.connections().iter().filter_map(|c| c.recorded()).collect();
        if recorded.is_empty() {
            return;
        }
        let (from, to, bytes) =
            recorded[self.world.random.below(recorded.len() as u64) as usize].clone();
        let ports: Vec<SocketAddr> =
            self.state().listeners.keys().copied().filter(|addr| host_of(*addr) == to).collect();
        for addr in ports {
            let Ok(mut end) = self.open(from, None, addr) else { continue };
            end.preload(&bytes);
            let lasts = self.world.random.time(REPLAY);
            self.world.runtime.spawn(async move {
                let mut answers = Vec::new();
                let _ = tokio::time::timeout(lasts, end.read_to_end(&mut answers)).await;
            });
        }
    }

    /// Listens at an address.
    pub(crate) fn listen(self: &Arc<Self>, process: Arc<Process>, addr: SocketAddr) -> Accepting {
        let listening =
            Listening { process: Arc::clone(&process), queue: VecDeque::new(), waker: None };
        self.state().listeners.insert(addr, listening);
        Accepting { network: Arc::clone(self), process, addr }
    }
}

/// A listener of a simulated process.
#[derive(Debug)]
pub(crate) struct Accepting {
    network: Arc<Network>,
    process: Arc<Process>,
    addr: SocketAddr,
}

impl Listener for Accepting {
    fn poll_accept(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<(Box<dyn ByteStream>, SocketAddr)>> {
        let mut state = self.network.state();
        // The listener of a process that has ended accepts nothing.
        let own = state.listeners.get_mut(&self.addr);
        let Some(own) = own.filter(|own| Arc::ptr_eq(&own.process, &self.process)) else {
            return Poll::Pending;
        };
        match own.queue.pop_front() {
            Some((end, peer)) => Poll::Ready(Ok((Box::new(end), peer))),
            None => {
                own.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.addr)
    }
}
