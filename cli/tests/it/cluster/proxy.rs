//! A proxy that can delay, damage, cut short or repeat data, or break connections.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::time::Duration;

use crate::cluster::harness::free_port;

/// Interval at which a thread checks the mode of the link.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Mode of the simulated link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum LinkMode {
    /// Forwards all bytes.
    Forward,
    /// Keeps connections open, but forwards nothing.
    Stall,
    /// Forwards the bytes of the client, and holds back those of the node.
    OneWay,
    /// Forwards every read after [`DELAY`].
    Delay,
    /// Flips a bit in one of [`DAMAGE_INTERVAL`] reads, unless another interval is set.
    Damage,
    /// Breaks a connection in the middle of a read, in one of [`TRUNCATE_INTERVAL`] reads.
    Truncate,
    /// Sends the client's bytes to the node over a second connection, too, and drops the answers to
    /// them. Connections without a second one are broken when the mode begins, those with one when
    /// it ends.
    Duplicate,
    /// Breaks connections, and refuses new ones.
    Broken,
    /// The test is over: the proxy stops.
    Closed,
}

/// Number of reads between two flipped bits.
const DAMAGE_INTERVAL: usize = 41;

/// Number of reads between two truncated reads.
const TRUNCATE_INTERVAL: usize = 23;

/// Delay of a read.
const DELAY: Duration = Duration::from_millis(30);

#[derive(Debug)]
struct Shared {
    mode: AtomicU8,
    /// Number of reads between two flipped bits.
    damage_interval: AtomicUsize,
    /// Number of reads in the mode [`LinkMode::Damage`].
    reads: AtomicUsize,
    /// Number of reads in the mode [`LinkMode::Truncate`].
    cut_reads: AtomicUsize,
    /// Number of connections that were made twice.
    copies: AtomicUsize,
}

impl Shared {
    fn is(&self, mode: LinkMode) -> bool {
        self.mode.load(Ordering::Acquire) == mode as u8
    }

    /// Flips a bit if this read is due. The places are the same in every run.
    fn damage(&self, bytes: &mut [u8]) {
        let reads = self.reads.fetch_add(1, Ordering::Relaxed) + 1;
        if reads.is_multiple_of(self.damage_interval.load(Ordering::Relaxed)) {
            let bit = reads.wrapping_mul(0x9e37_79b9) % (8 * bytes.len());
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }

    /// Whether this read is to be cut short.
    fn truncates(&self) -> bool {
        self.is(LinkMode::Truncate)
            && (self.cut_reads.fetch_add(1, Ordering::Relaxed) + 1)
                .is_multiple_of(TRUNCATE_INTERVAL)
    }
}

/// A proxy between a client and a node.
pub(crate) struct Proxy {
    port: u16,
    shared: Arc<Shared>,
}

impl Proxy {
    /// A proxy to a port of this machine.
    pub(crate) fn to(target: u16) -> Proxy {
        let port = free_port();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let shared = Arc::new(Shared {
            mode: AtomicU8::new(LinkMode::Forward as u8),
            damage_interval: AtomicUsize::new(DAMAGE_INTERVAL),
            reads: AtomicUsize::new(0),
            cut_reads: AtomicUsize::new(0),
            copies: AtomicUsize::new(0),
        });
        let link = Arc::clone(&shared);
        let target = SocketAddr::from((Ipv4Addr::LOCALHOST, target));
        std::thread::spawn(move || accept(&listener, target, &link));
        Proxy { port, shared }
    }

    pub(crate) fn url(&self) -> String {
        self.url_of("http")
    }

    /// The proxy's URL with a scheme.
    pub(crate) fn url_of(&self, scheme: &str) -> String {
        format!("{scheme}://127.0.0.1:{}", self.port)
    }

    /// Bits flipped so far.
    pub(crate) fn damaged(&self) -> usize {
        let interval = self.shared.damage_interval.load(Ordering::Relaxed);
        self.shared.reads.load(Ordering::Relaxed) / interval
    }

    /// Sets the number of reads between two flipped bits, before the first one.
    pub(crate) fn set_damage_interval(&self, reads: usize) {
        self.shared.damage_interval.store(reads, Ordering::Relaxed);
    }

    /// Connections broken in the middle of a read so far.
    pub(crate) fn truncated(&self) -> usize {
        self.shared.cut_reads.load(Ordering::Relaxed) / TRUNCATE_INTERVAL
    }

    /// Connections made twice so far.
    pub(crate) fn duplicated(&self) -> usize {
        self.shared.copies.load(Ordering::Relaxed)
    }

    /// Sets the mode of the link.
    pub(crate) fn set_mode(&self, mode: LinkMode) {
        self.shared.mode.store(mode as u8, Ordering::Release);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.set_mode(LinkMode::Closed);
    }
}

fn accept(listener: &TcpListener, target: SocketAddr, link: &Arc<Shared>) {
    while !link.is(LinkMode::Closed) {
        let Ok((near, _)) = listener.accept() else {
            std::thread::sleep(POLL_INTERVAL);
            continue;
        };
        // Dropping the connection here looks like a refusal to the client.
        if link.is(LinkMode::Broken) {
            continue;
        }
        let Ok(far) = TcpStream::connect(target) else { continue };
        let copy = link.is(LinkMode::Duplicate).then(|| TcpStream::connect(target));
        let copy = copy.and_then(Result::ok);
        let is_copied = copy.is_some();
        if let Some(copy) = &copy {
            link.copies.fetch_add(1, Ordering::Relaxed);
            let answers = copy.try_clone().unwrap();
            std::thread::spawn(move || drain(answers));
        }
        let clone = |stream: &TcpStream| stream.try_clone().unwrap();
        let there = Pump { from: clone(&near), to: clone(&far), copy, is_copied, is_back: false };
        let back = Pump { from: far, to: near, copy: None, is_copied, is_back: true };
        for pump in [there, back] {
            let link = Arc::clone(link);
            std::thread::spawn(move || pump.run(&link));
        }
    }
}

/// Reads and drops bytes until the connection ends.
fn drain(mut from: TcpStream) {
    let mut buffer = vec![0; 64 << 10];
    while from.read(&mut buffer).is_ok_and(|len| len > 0) {}
}

/// One direction of a connection.
struct Pump {
    from: TcpStream,
    to: TcpStream,
    /// The second connection to the node.
    copy: Option<TcpStream>,
    /// Whether the connection has a second one.
    is_copied: bool,
    /// Whether the bytes go from the node to the client.
    is_back: bool,
}

impl Pump {
    /// Forwards bytes until either end closes or the link breaks.
    fn run(mut self, link: &Shared) {
        self.from.set_nonblocking(false).unwrap();
        self.from.set_read_timeout(Some(POLL_INTERVAL)).unwrap();
        self.to.set_nodelay(true).unwrap();
        let mut buffer = vec![0; 64 << 10];
        while !self.is_cut(link) {
            if self.is_held(link) {
                std::thread::sleep(POLL_INTERVAL);
                continue;
            }
            match self.from.read(&mut buffer) {
                Ok(0) => break,
                Ok(len) => {
                    if !self.forward(&mut buffer[..len], link) {
                        break;
                    }
                }
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                Err(_) => break,
            }
        }
        for stream in [&self.from, &self.to].into_iter().chain(&self.copy) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    fn is_cut(&self, link: &Shared) -> bool {
        let is_closed = link.is(LinkMode::Broken) || link.is(LinkMode::Closed);
        is_closed || link.is(LinkMode::Duplicate) != self.is_copied
    }

    fn is_held(&self, link: &Shared) -> bool {
        link.is(LinkMode::Stall) || (link.is(LinkMode::OneWay) && self.is_back)
    }

    /// Forwards a read. False if the connection is to be broken.
    fn forward(&mut self, bytes: &mut [u8], link: &Shared) -> bool {
        // Bytes read before the stall are forwarded when it ends.
        while self.is_held(link) {
            std::thread::sleep(POLL_INTERVAL);
        }
        if link.is(LinkMode::Delay) {
            std::thread::sleep(DELAY);
        }
        if link.is(LinkMode::Damage) {
            link.damage(bytes);
        }
        if link.truncates() {
            let _ = self.to.write_all(&bytes[..bytes.len() / 2]);
            return false;
        }
        if self.is_cut(link) || self.to.write_all(bytes).is_err() {
            return false;
        }
        if self.copy.as_mut().is_some_and(|copy| copy.write_all(bytes).is_err()) {
            self.copy = None;
        }
        true
    }
}
