//! A proxy that can delay data or break connections.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use crate::harness::free_port;

/// How often a thread looks whether the cable has changed.
const LOOK: Duration = Duration::from_millis(10);

/// What becomes of bytes and connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Cable {
    /// All goes through.
    Whole,
    /// Connections stay, but nothing goes through.
    Silent,
    /// Connections break, and new ones are not made.
    Broken,
    /// The test is over.
    Gone,
}

#[derive(Debug)]
struct Shared(AtomicU8);

impl Shared {
    fn is(&self, cable: Cable) -> bool {
        self.0.load(Ordering::Acquire) == cable as u8
    }
}

/// A proxy between a client and a node.
pub(crate) struct Proxy {
    port: u16,
    shared: Arc<Shared>,
}

impl Proxy {
    /// A cable to a port of this machine.
    pub(crate) fn to(target: u16) -> Proxy {
        let port = free_port();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let shared = Arc::new(Shared(AtomicU8::new(Cable::Whole as u8)));
        let cable = Arc::clone(&shared);
        let target = SocketAddr::from((Ipv4Addr::LOCALHOST, target));
        std::thread::spawn(move || accept(&listener, target, &cable));
        Proxy { port, shared }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Makes the cable so from now on.
    pub(crate) fn make(&self, cable: Cable) {
        self.shared.0.store(cable as u8, Ordering::Release);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.make(Cable::Gone);
    }
}

fn accept(listener: &TcpListener, target: SocketAddr, cable: &Arc<Shared>) {
    while !cable.is(Cable::Gone) {
        let Ok((near, _)) = listener.accept() else {
            std::thread::sleep(LOOK);
            continue;
        };
        // A connection that is dropped here was refused, as far as its maker can tell.
        if cable.is(Cable::Broken) {
            continue;
        }
        let Ok(far) = TcpStream::connect(target) else { continue };
        for (from, to) in [(&near, &far), (&far, &near)] {
            let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
            let cable = Arc::clone(cable);
            std::thread::spawn(move || pump(from, to, &cable));
        }
    }
}

/// Carries bytes one way until either end closes, or the cable breaks.
fn pump(mut from: TcpStream, mut to: TcpStream, cable: &Shared) {
    from.set_nonblocking(false).unwrap();
    from.set_read_timeout(Some(LOOK)).unwrap();
    to.set_nodelay(true).unwrap();
    let mut buffer = vec![0; 64 << 10];
    while !cable.is(Cable::Broken) && !cable.is(Cable::Gone) {
        if cable.is(Cable::Silent) {
            std::thread::sleep(LOOK);
            continue;
        }
        match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(len) => {
                // What was read when the cable was cut comes through when it is mended.
                while cable.is(Cable::Silent) {
                    std::thread::sleep(LOOK);
                }
                if cable.is(Cable::Broken) || to.write_all(&buffer[..len]).is_err() {
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
