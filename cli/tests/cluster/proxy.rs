//! A proxy that can delay or damage data, or break connections.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::time::Duration;

use crate::harness::free_port;

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
    /// Flips a bit now and then: one in [`DAMAGE_INTERVAL`] reads.
    Damage,
    /// Breaks connections, and refuses new ones.
    Broken,
    /// The test is over: the proxy stops.
    Closed,
}

/// Reads from one flipped bit to the next.
const DAMAGE_INTERVAL: usize = 97;

#[derive(Debug)]
struct Shared {
    mode: AtomicU8,
    /// Reads in the mode [`LinkMode::Damage`].
    reads: AtomicUsize,
}

impl Shared {
    fn is(&self, mode: LinkMode) -> bool {
        self.mode.load(Ordering::Acquire) == mode as u8
    }

    /// Flips a bit if it is time. The places are the same in every run.
    fn damage(&self, bytes: &mut [u8]) {
        let reads = self.reads.fetch_add(1, Ordering::Relaxed) + 1;
        if reads.is_multiple_of(DAMAGE_INTERVAL) {
            let bit = reads.wrapping_mul(0x9e37_79b9) % (8 * bytes.len());
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
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
            reads: AtomicUsize::new(0),
        });
        let link = Arc::clone(&shared);
        let target = SocketAddr::from((Ipv4Addr::LOCALHOST, target));
        std::thread::spawn(move || accept(&listener, target, &link));
        Proxy { port, shared }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Bits flipped so far.
    pub(crate) fn damaged(&self) -> usize {
        self.shared.reads.load(Ordering::Relaxed) / DAMAGE_INTERVAL
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
        for (from, to) in [(&near, &far), (&far, &near)] {
            let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
            let link = Arc::clone(link);
            std::thread::spawn(move || pump(from, to, &link));
        }
    }
}

/// Forwards bytes one way until either end closes or the link breaks.
fn pump(mut from: TcpStream, mut to: TcpStream, link: &Shared) {
    from.set_nonblocking(false).unwrap();
    from.set_read_timeout(Some(POLL_INTERVAL)).unwrap();
    to.set_nodelay(true).unwrap();
    let mut buffer = vec![0; 64 << 10];
    while !link.is(LinkMode::Broken) && !link.is(LinkMode::Closed) {
        if link.is(LinkMode::Stall) {
            std::thread::sleep(POLL_INTERVAL);
            continue;
        }
        match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(len) => {
                // Bytes read before the stall are forwarded when it ends.
                while link.is(LinkMode::Stall) {
                    std::thread::sleep(POLL_INTERVAL);
                }
                if link.is(LinkMode::Damage) {
                    link.damage(&mut buffer[..len]);
                }
                if link.is(LinkMode::Broken) || to.write_all(&buffer[..len]).is_err() {
                    break;
                }
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(_) => break,
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}
