//! Measures ways in which workers can end a layer by messages among themselves.
//!
//! Each worker is a thread, with a TCP connection to each other one. In every layer it has an item of some
//! bytes for each of the others, and ends the layer when it has the items of all others:
//!
//! - `direct`: a message to each.
//! - `grid`: a message to each member of its row, with the items for that member's column. When those of
//!   its row have come, a message to each member of its column.
//! - `relay`: as `grid`, but what comes is passed on at once.
#![allow(clippy::unwrap_used)] // a connection on loopback that fails ends the measurement

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use clap::{Parser, ValueEnum};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::{ClockId, clock_gettime};

#[derive(Parser)]
struct Arguments {
    /// Square numbers of workers
    #[arg(long, value_delimiter = ',', default_value = "4,9,16")]
    workers: Vec<usize>,
    /// Bytes for each other worker and layer
    #[arg(long, value_delimiter = ',', default_value = "20,400")]
    bytes: Vec<usize>,
    #[arg(long, default_value_t = 1000)]
    layers: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Pattern {
    Direct,
    Grid,
    Relay,
}

/// Items for one receiver: who they come from.
type Items = Vec<(u16, u16)>;

fn main() {
    let arguments = Arguments::parse();
    println!("workers  bytes  pattern  messages  processor us  wall us");
    for workers in arguments.workers {
        for bytes in &arguments.bytes {
            for pattern in Pattern::value_variants() {
                measure(*pattern, workers, *bytes, arguments.layers);
            }
        }
    }
}

/// Prints messages, processor time and wall time of a layer at one worker.
fn measure(pattern: Pattern, workers: usize, bytes: usize, layers: u32) {
    let nodes = connected(pattern, workers, bytes);
    let (begun, used) = (Instant::now(), processor_time());
    let run = |mut node: Node| move || node.run(layers);
    let threads: Vec<_> = nodes.into_iter().map(|node| std::thread::spawn(run(node))).collect();
    let sent: u64 = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
    let count = f64::from(layers) * workers as f64;
    let used = (processor_time() - used).as_secs_f64() * 1e6 / count;
    let wall = begun.elapsed().as_secs_f64() * 1e6 / f64::from(layers);
    let (name, messages) = (format!("{pattern:?}").to_lowercase(), sent as f64 / count);
    println!("{workers:7}  {bytes:5}  {name:7}  {messages:8.1}  {used:12.1}  {wall:7.1}");
}

fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Workers with connections between all of them.
fn connected(pattern: Pattern, workers: usize, bytes: usize) -> Vec<Node> {
    let columns = (1..).find(|side| side * side >= workers).unwrap();
    assert_eq!(columns * columns, workers, "the number of workers is not a square");
    let node = |own| Node {
        pattern,
        own,
        columns,
        bytes,
        peers: (0..workers).map(|_| None).collect(),
        layers: Default::default(),
        sent: 0,
    };
    let mut nodes: Vec<Node> = (0..workers).map(node).collect();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    for a in 0..workers {
        for b in 0..a {
            let here = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let there = listener.accept().unwrap().0;
            nodes[a].peers[b] = Some(Peer::new(here));
            nodes[b].peers[a] = Some(Peer::new(there));
        }
    }
    nodes
}

struct Peer {
    stream: TcpStream,
    /// Bytes that are not a whole message.
    received: Vec<u8>,
}

impl Peer {
    fn new(stream: TcpStream) -> Peer {
        stream.set_nodelay(true).unwrap();
        Peer { stream, received: Vec::new() }
    }
}

/// What has come of a layer.
#[derive(Default)]
struct Layer {
    /// Items for this worker.
    items: usize,
    /// Messages of the row.
    row: usize,
    /// Items to pass on, by row of the receiver.
    passed: Vec<Items>,
    is_passed: bool,
}

struct Node {
    pattern: Pattern,
    own: usize,
    columns: usize,
    bytes: usize,
    peers: Vec<Option<Peer>>,
    /// By parity.
    layers: [Layer; 2],
    sent: u64,
}

impl Node {
    /// Ends layers, and returns the number of messages sent.
    fn run(&mut self, layers: u32) -> u64 {
        for layer in 0..layers {
            self.begin(layer);
            while self.layers[layer as usize % 2].items + 1 < self.peers.len() {
                self.receive();
                self.pass_on(layer);
            }
            self.pass_on(layer);
            assert_eq!(self.layers[layer as usize % 2].items + 1, self.peers.len());
            self.layers[layer as usize % 2] = Layer::default();
        }
        self.sent
    }

    fn begin(&mut self, layer: u32) {
        let (own, columns, workers) = (self.own as u16, self.columns, self.peers.len());
        if self.pattern == Pattern::Direct {
            for to in (0..workers).filter(|to| *to != usize::from(own)) {
                self.send(layer, to, &[(own, to as u16)]);
            }
            return;
        }
        let (row, column) = (self.own / columns, self.own % columns);
        for to in (0..columns).filter(|to| *to != column) {
            let items: Items = (0..columns).map(|r| (own, (r * columns + to) as u16)).collect();
            self.send(layer, row * columns + to, &items);
        }
        let items =
            (0..columns).filter(|r| *r != row).map(|r| (own, (r * columns + column) as u16));
        let items: Items = items.collect();
        let state = &mut self.layers[layer as usize % 2];
        state.row += 1;
        items.into_iter().for_each(|item| state.pass(columns, item));
        self.pass_on(layer);
    }

    /// Sends items to other rows, when it is time.
    fn pass_on(&mut self, layer: u32) {
        let (columns, column) = (self.columns, self.own % self.columns);
        let state = &mut self.layers[layer as usize % 2];
        let is_time = match self.pattern {
            Pattern::Direct => false,
            Pattern::Grid => state.row == columns && !state.is_passed,
            Pattern::Relay => true,
        };
        if !is_time {
            return;
        }
        state.is_passed = true;
        for (row, items) in std::mem::take(&mut state.passed).into_iter().enumerate() {
            if !items.is_empty() {
                self.send(layer, row * columns + column, &items);
            }
        }
    }

    /// A message: its length, the layer, and items with their bytes.
    fn send(&mut self, layer: u32, to: usize, items: &[(u16, u16)]) {
        let mut message = Vec::with_capacity(8 + items.len() * (4 + self.bytes));
        message.extend(0_u32.to_le_bytes());
        message.extend(layer.to_le_bytes());
        for (from, to) in items {
            message.extend(from.to_le_bytes());
            message.extend(to.to_le_bytes());
            message.resize(message.len() + self.bytes, 0);
        }
        let length = message.len() as u32;
        message[..4].copy_from_slice(&length.to_le_bytes());
        self.peers[to].as_mut().unwrap().stream.write_all(&message).unwrap();
        self.sent += 1;
    }

    /// Waits until a message comes, and takes all that have come.
    fn receive(&mut self) {
        let ready: Vec<usize> = {
            let peers = self.peers.iter().enumerate();
            let (numbers, streams): (Vec<usize>, Vec<&TcpStream>) =
                peers.filter_map(|(n, peer)| Some((n, &peer.as_ref()?.stream))).unzip();
            let fd = |stream| PollFd::new(stream, PollFlags::IN);
            let mut fds: Vec<PollFd<'_>> = streams.into_iter().map(fd).collect();
            poll(&mut fds, None).unwrap();
            let ready = numbers.into_iter().zip(fds).filter(|(_, fd)| !fd.revents().is_empty());
            ready.map(|(number, _)| number).collect()
        };
        let mut buffer = vec![0; 1 << 16];
        for from in ready {
            let peer = self.peers[from].as_mut().unwrap();
            let length = peer.stream.read(&mut buffer).unwrap();
            peer.received.extend_from_slice(&buffer[..length]);
            while let Some(message) = self.message(from) {
                self.take(from, &message);
            }
        }
    }

    fn message(&mut self, from: usize) -> Option<Vec<u8>> {
        let received = &mut self.peers[from].as_mut().unwrap().received;
        let length = u32::from_le_bytes(received.get(..4)?.try_into().unwrap()) as usize;
        (received.len() >= length).then(|| received.drain(..length).collect())
    }

    fn take(&mut self, from: usize, message: &[u8]) {
        let layer = u32::from_le_bytes(message[4..8].try_into().unwrap());
        let columns = self.columns;
        let state = &mut self.layers[layer as usize % 2];
        state.row += usize::from(from / columns == self.own / columns);
        for item in message[8..].chunks_exact(4 + self.bytes) {
            let number = |at: usize| u16::from_le_bytes([item[at], item[at + 1]]);
            let (from, to) = (number(0), number(2));
            if usize::from(to) == self.own {
                state.items += 1;
            } else {
                state.pass(columns, (from, to));
            }
        }
    }
}

impl Layer {
    fn pass(&mut self, columns: usize, item: (u16, u16)) {
        self.passed.resize_with(columns, Vec::new);
        self.passed[usize::from(item.1) / columns].push(item);
    }
}
