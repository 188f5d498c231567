//! Threads of simulated processes. Each runs on a thread of the operating system, but only while
//! the runtime polls it: one thread runs at a time, and the order of all steps is repeatable.

use std::cell::RefCell;
use std::future::Future;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread::JoinHandle;

use tokio::runtime::Handle;

/// Which side runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    Runtime,
    Thread,
    Ended,
}

#[derive(Debug)]
struct State {
    turn: Turn,
    /// Wakes the task that polls the thread.
    waker: Waker,
    /// The thread unwinds at its next step.
    killed: bool,
}

/// Passes the turn between the runtime and one thread.
#[derive(Debug)]
struct Baton {
    state: Mutex<State>,
    passed: Condvar,
}

thread_local! {
    /// The baton of this thread, if it is a simulated one.
    static CURRENT: RefCell<Option<Arc<Baton>>> = const { RefCell::new(None) };
}

/// Payload of the panic that ends a killed thread.
struct Killed;

impl Baton {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the turn to the other side and waits until it comes back or the thread has ended.
    fn pass(&self, from: Turn, to: Turn) -> MutexGuard<'_, State> {
        let mut state = self.lock();
        state.turn = to;
        self.passed.notify_all();
        let waits = |state: &mut State| state.turn != from && state.turn != Turn::Ended;
        self.passed.wait_while(state, waits).unwrap_or_else(PoisonError::into_inner)
    }
}

/// A simulated thread. Polled as a future, it runs the thread until its next wait; it is ready when
/// the thread has ended. Dropping it ends the thread at its current wait.
#[derive(Debug)]
pub(crate) struct SimulatedThread {
    baton: Arc<Baton>,
    thread: Option<JoinHandle<()>>,
}

impl SimulatedThread {
    /// A thread that has not begun.
    pub(crate) fn new(
        name: &str,
        runtime: &Handle,
        work: impl FnOnce() + Send + 'static,
    ) -> io::Result<SimulatedThread> {
        let state = State { turn: Turn::Runtime, waker: Waker::noop().clone(), killed: false };
        let baton = Arc::new(Baton { state: Mutex::new(state), passed: Condvar::new() });
        let (own, runtime) = (Arc::clone(&baton), runtime.clone());
        let run = move || {
            // Timers and tasks of the thread belong to the simulation's runtime.
            let _runtime = runtime.enter();
            CURRENT.with(|current| current.replace(Some(Arc::clone(&own))));
            let waits = |state: &mut State| state.turn != Turn::Thread;
            let begun = own.passed.wait_while(own.lock(), waits);
            let killed = begun.unwrap_or_else(PoisonError::into_inner).killed;
            if !killed {
                // The work catches and reports its own panics, so only a kill unwinds to here.
                let _ = catch_unwind(AssertUnwindSafe(work));
            }
            own.lock().turn = Turn::Ended;
            own.passed.notify_all();
        };
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(run)?;
        Ok(SimulatedThread { baton, thread: Some(thread) })
    }
}

impl Future for SimulatedThread {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.baton.lock().waker = context.waker().clone();
        match self.baton.pass(Turn::Runtime, Turn::Thread).turn {
            Turn::Ended => Poll::Ready(()),
            _ => Poll::Pending,
        }
    }
}

impl Drop for SimulatedThread {
    fn drop(&mut self) {
        let ended = {
            let mut state = self.baton.lock();
            state.killed = true;
            state.turn == Turn::Ended
        };
        if !ended {
            drop(self.baton.pass(Turn::Runtime, Turn::Thread));
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Blocks a simulated thread until a future is ready.
pub(crate) fn block_on(mut future: Pin<&mut dyn Future<Output = ()>>) {
    let baton = CURRENT.with(|current| current.borrow().clone());
    let baton = baton.expect("only simulated threads wait");
    loop {
        let waker = baton.lock().waker.clone();
        if future.as_mut().poll(&mut Context::from_waker(&waker)).is_ready() {
            return;
        }
        if baton.pass(Turn::Thread, Turn::Runtime).killed {
            resume_unwind(Box::new(Killed));
        }
    }
}
