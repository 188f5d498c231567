//! Simulated connections: two streams of chunks, each with the time of its arrival.

use std::collections::VecDeque;
use std::future::Future;
use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

use crate::simulation::links::{LinkFaults, Links};
use crate::simulation::process::Process;
use crate::simulation::random::Random;
use crate::simulation::scheduler::{Actor, Scheduler};
use crate::simulation::world::{HostId, World};

/// Most bytes of a chunk.
const CHUNK: usize = 16 << 10;

/// With more bytes than this on their way in one direction, the sender waits.
const WINDOW: usize = 256 << 10;

/// Most bytes of a connection that are recorded.
const RECORDED: usize = 1 << 20;

/// Bytes on their way in one direction.
#[derive(Debug)]
struct Pipe {
    chunks: VecDeque<(Instant, Vec<u8>)>,
    bytes: usize,
    random: Random,
    /// Takes a step to receive a chunk.
    actor: Actor,
    /// Whether it has taken the step for the first chunk, of which the reader has not taken all.
    is_received: bool,
    /// Time at which the last chunk arrives.
    last: Option<Instant>,
    /// The sender has sent all, or the reader is gone.
    closed: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

impl Pipe {
    fn new(random: Random, scheduler: &Arc<Scheduler>) -> Pipe {
        Pipe {
            chunks: VecDeque::new(),
            bytes: 0,
            actor: scheduler.actor(&random),
            is_received: false,
            random,
            last: None,
            closed: false,
            reader: None,
            writer: None,
        }
    }
}

#[derive(Debug)]
struct State {
    /// From the connecting side, and from the accepting side.
    pipes: [Pipe; 2],
    /// Both sides get an error.
    reset: bool,
    /// Nothing arrives any more, and neither side gets an error.
    silent: bool,
    /// All bytes that the connecting side has sent; `None` once there are more than [`RECORDED`].
    recorded: Option<Vec<u8>>,
}

impl State {
    fn wake(&mut self) {
        for pipe in &mut self.pipes {
            for waker in [pipe.reader.take(), pipe.writer.take()].into_iter().flatten() {
                waker.wake();
            }
        }
    }
}

/// A connection between two hosts.
#[derive(Debug)]
pub(crate) struct Connection {
    world: Arc<World>,
    links: Arc<Links>,
    from: HostId,
    to: HostId,
    state: Mutex<State>,
}

impl Connection {
    /// A connection between two hosts: the connecting and the accepting one.
    pub(crate) fn new(
        world: &Arc<World>,
        links: &Arc<Links>,
        (from, to): (HostId, HostId),
    ) -> Arc<Connection> {
        let pipe = |from, to| Pipe::new(world.part("connection", from, to), &world.scheduler);
        let state = Mutex::new(State {
            pipes: [pipe(from, to), pipe(to, from)],
            reset: false,
            silent: false,
            recorded: Some(Vec::new()),
        });
        let (world, links) = (Arc::clone(world), Arc::clone(links));
        Arc::new(Connection { world, links, from, to, state })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The connecting and the accepting host.
    pub(crate) fn hosts(&self) -> (HostId, HostId) {
        (self.from, self.to)
    }

    /// Wakes both sides, so that they check the connection again.
    pub(crate) fn wake(&self) {
        self.state().wake();
    }

    /// Ends the connection with an error for both sides.
    pub(crate) fn reset(&self) {
        let mut state = self.state();
        state.reset = true;
        state.wake();
    }

    /// Ends the connection without an error for either side.
    pub(crate) fn silence(&self) {
        self.state().silent = true;
    }

    pub(crate) fn is_silent(&self) -> bool {
        self.state().silent
    }

    /// The two hosts and all bytes that the connecting side has sent; `None` if there are none or
    /// too many.
    pub(crate) fn recorded(&self) -> Option<(HostId, HostId, Vec<u8>)> {
        let recorded = self.state().recorded.clone()?;
        (!recorded.is_empty()).then_some((self.from, self.to, recorded))
    }

    /// The sending and the receiving host of a side's bytes.
    fn direction(&self, side: usize) -> (HostId, HostId) {
        if side == 0 { (self.from, self.to) } else { (self.to, self.from) }
    }

    /// Sends a chunk, and applies the faults of the link.
    fn send(&self, state: &mut State, side: usize, bytes: &[u8]) {
        let (from, to) = self.direction(side);
        let faults = self.links.faults(from, to);
        let LinkFaults { flips, truncations, .. } = faults;
        let mut chunk = bytes.to_vec();
        if side == 0
            && let Some(recorded) = &mut state.recorded
        {
            recorded.extend_from_slice(bytes);
            if recorded.len() > RECORDED {
                state.recorded = None;
            }
        }
        self.world.trace("send", &[from as u64, to as u64, chunk.len() as u64]);
        let random = &state.pipes[side].random;
        if flips > 0 && random.one_in(flips) {
            let bit = random.below(8 * chunk.len() as u64) as usize;
            chunk[bit / 8] ^= 1 << (bit % 8);
        }
        let truncated = truncations > 0 && random.one_in(truncations);
        if truncated {
            chunk.truncate(random.below(chunk.len() as u64) as usize);
        }
        let pipe = &mut state.pipes[side];
        let arrives = Instant::now() + Links::latency(&pipe.actor, &pipe.random, faults);
        let arrives = pipe.last.map_or(arrives, |last| last.max(arrives));
        pipe.last = Some(arrives);
        pipe.bytes += chunk.len();
        pipe.chunks.push_back((arrives, chunk));
        if truncated {
            state.pipes.iter_mut().for_each(|pipe| pipe.closed = true);
            state.wake();
        } else if let Some(reader) = pipe.reader.take() {
            reader.wake();
        }
    }
}

/// One end of a connection.
#[derive(Debug)]
pub(crate) struct End {
    connection: Arc<Connection>,
    /// The process that writes; `None` for a replayed connection.
    process: Option<Arc<Process>>,
    /// 0 for the connecting end, 1 for the accepting one.
    side: usize,
    /// Timer until the next chunk arrives.
    timer: Option<Pin<Box<Sleep>>>,
}

impl End {
    pub(crate) fn new(
        connection: &Arc<Connection>,
        process: Option<&Arc<Process>>,
        side: usize,
    ) -> End {
        let process = process.map(Arc::clone);
        End { connection: Arc::clone(connection), process, side, timer: None }
    }

    /// Sends recorded bytes.
    pub(crate) fn preload(&mut self, bytes: &[u8]) {
        let mut state = self.connection.state();
        for chunk in bytes.chunks(CHUNK) {
            self.connection.send(&mut state, self.side, chunk);
        }
    }
}

impl AsyncRead for End {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            let connection = Arc::clone(&self.connection);
            let side = 1 - self.side;
            let (from, to) = connection.direction(side);
            let blocked = connection.links.is_blocked(from, to);
            let mut state = connection.state();
            if state.reset {
                return Poll::Ready(Err(ErrorKind::ConnectionReset.into()));
            }
            let silent = state.silent;
            let pipe = &mut state.pipes[side];
            pipe.reader = Some(context.waker().clone());
            if blocked || silent {
                return Poll::Pending;
            }
            let Some((arrives, chunk)) = pipe.chunks.front_mut() else {
                return if pipe.closed { Poll::Ready(Ok(())) } else { Poll::Pending };
            };
            let arrives = *arrives;
            if buffer.remaining() == 0 {
                return Poll::Ready(Ok(()));
            }
            if arrives <= Instant::now() {
                if !pipe.is_received {
                    ready!(pipe.actor.poll_step(context));
                    pipe.is_received = true;
                }
                let len = chunk.len().min(buffer.remaining());
                buffer.put_slice(&chunk[..len]);
                chunk.drain(..len);
                if chunk.is_empty() {
                    pipe.chunks.pop_front();
                    pipe.is_received = false;
                }
                pipe.bytes -= len;
                if let Some(writer) = pipe.writer.take() {
                    writer.wake();
                }
                if len == 0 {
                    continue;
                }
                return Poll::Ready(Ok(()));
            }
            drop(state);
            let timer =
                self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(arrives)));
            if timer.deadline() != arrives {
                timer.as_mut().reset(arrives);
            }
            ready!(timer.as_mut().poll(context));
        }
    }
}

impl AsyncWrite for End {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.process.as_ref().map_or(Ok(()), |process| process.step())?;
        let connection = &self.connection;
        let mut state = connection.state();
        if state.reset {
            return Poll::Ready(Err(ErrorKind::ConnectionReset.into()));
        }
        if state.silent {
            return Poll::Ready(Ok(bytes.len()));
        }
        let pipe = &mut state.pipes[self.side];
        if pipe.closed {
            return Poll::Ready(Err(ErrorKind::BrokenPipe.into()));
        }
        if pipe.bytes >= WINDOW {
            pipe.writer = Some(context.waker().clone());
            return Poll::Pending;
        }
        let bytes = &bytes[..bytes.len().min(CHUNK)];
        if !bytes.is_empty() {
            connection.send(&mut state, self.side, bytes);
        }
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut state = self.connection.state();
        state.pipes[self.side].closed = true;
        state.wake();
        Poll::Ready(Ok(()))
    }
}

impl Drop for End {
    fn drop(&mut self) {
        let mut state = self.connection.state();
        state.pipes.iter_mut().for_each(|pipe| pipe.closed = true);
        state.wake();
    }
}
