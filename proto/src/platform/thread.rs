//! Threads whose end can be awaited.

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::sync::oneshot;

/// Work on a thread panicked, or was dropped before its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Panicked {
    /// The panic's message, or the reason.
    pub message: String,
}

impl Panicked {
    /// The panic with this payload.
    #[must_use]
    pub fn of(payload: &(dyn Any + Send)) -> Panicked {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        Panicked { message: text.unwrap_or_else(|| "no message".to_owned()) }
    }
}

/// Work on a thread. As a future it is ready when the work has ended. Dropping it leaves the work
/// running.
#[derive(Debug)]
pub struct Thread {
    ended: oneshot::Receiver<Result<(), Panicked>>,
}

impl Thread {
    /// Returns a handle to the work, and the function that a thread must run.
    pub fn new(work: Box<dyn FnOnce() + Send>) -> (Thread, impl FnOnce() + Send + 'static) {
        let (end, ended) = oneshot::channel();
        let run = move || {
            let result = catch_unwind(AssertUnwindSafe(work));
            // Nobody may be waiting.
            let _ = end.send(result.map_err(|payload| Panicked::of(&*payload)));
        };
        (Thread { ended }, run)
    }
}

impl Future for Thread {
    type Output = Result<(), Panicked>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let ended = ready!(Pin::new(&mut self.ended).poll(context));
        Poll::Ready(ended.unwrap_or_else(|_| {
            Err(Panicked { message: "the thread was ended by the system".to_owned() })
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_thread_ends_with_its_work_or_its_panic() {
        let (thread, run) = Thread::new(Box::new(|| {}));
        std::thread::spawn(run);
        assert_eq!(thread.await, Ok(()));
        for message in ["bug 7", "bug"] {
            let work = move || if message == "bug" { panic!("bug") } else { panic!("bug {}", 7) };
            let (thread, run) = Thread::new(Box::new(work));
            run();
            assert_eq!(thread.await.unwrap_err().to_string(), message);
        }
        let (thread, run) = Thread::new(Box::new(|| {}));
        drop(run);
        assert!(thread.await.is_err());
    }
}
