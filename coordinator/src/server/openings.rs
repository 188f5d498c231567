//! Admission of calls that open a space: limits on their number and on the wait, and cancellation
//! when the client leaves.
//!
//! Opening a puzzle from a file takes up to a few seconds of processor time and a few hundred MiB,
//! so only [`AT_A_TIME`] spaces are opened at a time. A call whose client has left stops at its
//! next step.

use std::sync::Arc;
use std::time::Duration;

use strata_proto::platform::Platform;
use strata_space::Work;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tonic::Status;

use super::status::blocking;

/// Most spaces that are opened at a time.
pub(super) const AT_A_TIME: usize = 2;

/// Most calls that wait for their turn.
const WAITING: usize = 32;

/// The longest wait of a call. With the time that opening takes, it is below the 30 s after which clients
/// give up.
const LONGEST_WAIT: Duration = Duration::from_secs(15);

/// Admission of calls that open a space.
#[derive(Debug)]
pub(super) struct Openings {
    turns: Arc<Semaphore>,
    places: Semaphore,
}

impl Default for Openings {
    fn default() -> Openings {
        let turns = Arc::new(Semaphore::new(AT_A_TIME));
        Openings { turns, places: Semaphore::new(WAITING) }
    }
}

/// Cancels work when the call that waits for it is dropped.
struct CancelOnDrop(Work);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl Openings {
    /// Waits for a turn, then runs `code`, which opens a space, on a thread for blocking code. The
    /// [`Work`] passed to `code` is cancelled when the returned future is dropped. The turn ends
    /// with the code.
    ///
    /// # Errors
    /// `UNAVAILABLE` if too many calls wait already, or this one has waited too long; the status of
    /// the code.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        platform: &dyn Platform,
        code: impl FnOnce(&Work) -> Result<T, Status> + Send + 'static,
    ) -> Result<T, Status> {
        let turn = self.turn().await?;
        let work = Work::default();
        let _cancel = CancelOnDrop(work.clone());
        blocking(platform, move || {
            let _turn = turn;
            code(&work)
        })
        .await
    }

    /// Waits for a turn.
    ///
    /// # Errors
    /// `UNAVAILABLE` if too many calls wait already, or this one has waited too long.
    pub(super) async fn turn(&self) -> Result<OwnedSemaphorePermit, Status> {
        if let Ok(turn) = Arc::clone(&self.turns).try_acquire_owned() {
            return Ok(turn);
        }
        let busy = |why: String| {
            Status::unavailable(format!(
                "busy with {AT_A_TIME} other submissions: {why}; try again"
            ))
        };
        let _place = self.places.try_acquire().map_err(|_| busy(format!("{WAITING} more wait")))?;
        let turn = Arc::clone(&self.turns).acquire_owned();
        let waited = |_| busy(format!("it was not the turn of this one within {LONGEST_WAIT:?}"));
        let turn = tokio::time::timeout(LONGEST_WAIT, turn).await.map_err(waited)?;
        turn.map_err(|closed| Status::internal(closed.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;

    use strata_proto::platform::System;
    use strata_space::WorkError;
    use tokio::runtime::Handle;
    use tokio::task::JoinHandle;
    use tonic::Code;

    use super::*;

    /// A gate that holds code until it is opened.
    struct Gate {
        openings: Arc<Openings>,
        /// Receives a message for each code that runs.
        started: mpsc::Receiver<()>,
        starts: mpsc::Sender<()>,
        running: Arc<AtomicUsize>,
        most: Arc<AtomicUsize>,
    }

    impl Gate {
        fn new() -> Gate {
            let (starts, started) = mpsc::channel();
            let openings = Arc::new(Openings::default());
            Gate { openings, started, starts, running: Arc::default(), most: Arc::default() }
        }

        /// A call whose code ends when a message comes or the sender is dropped.
        fn call(&self) -> (JoinHandle<Result<(), Status>>, mpsc::Sender<()>) {
            let (open, opened) = mpsc::channel();
            let (openings, starts) = (Arc::clone(&self.openings), self.starts.clone());
            let (running, most) = (Arc::clone(&self.running), Arc::clone(&self.most));
            let call = tokio::spawn(async move {
                let system = System::new(&Handle::current());
                let code = move |_: &Work| {
                    most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    starts.send(()).unwrap();
                    let _ = opened.recv();
                    running.fetch_sub(1, Ordering::SeqCst);
                    Ok(())
                };
                openings.run(&*system, code).await
            });
            (call, open)
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn few_spaces_are_opened_at_a_time() {
        let gate = Gate::new();
        let calls: Vec<_> = (0..12).map(|_| gate.call()).collect();
        for _ in 0..AT_A_TIME {
            gate.started.recv().unwrap();
        }
        // The others can start only when one of these has ended.
        assert!(gate.started.try_recv().is_err());
        for (call, open) in calls {
            drop(open);
            drop(call);
        }
        for _ in AT_A_TIME..12 {
            gate.started.recv().unwrap();
        }
        assert_eq!(gate.most.load(Ordering::SeqCst), AT_A_TIME);
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_is_refused_when_too_many_wait_or_it_waits_too_long() {
        let openings = Arc::new(Openings::default());
        let mut turns = Vec::new();
        for _ in 0..AT_A_TIME {
            turns.push(openings.turn().await.unwrap());
        }
        let wait = || {
            let openings = Arc::clone(&openings);
            tokio::spawn(async move { openings.turn().await.map(drop) })
        };
        let waiting: Vec<_> = (0..WAITING).map(|_| wait()).collect();
        tokio::task::yield_now().await;
        let refused = openings.turn().await.unwrap_err();
        assert_eq!(refused.code(), Code::Unavailable);
        let text = "busy with 2 other submissions: 32 more wait; try again";
        assert_eq!(refused.message(), text);
        for waited in waiting {
            let refused = waited.await.unwrap().unwrap_err();
            assert_eq!(refused.code(), Code::Unavailable);
            assert!(refused.message().contains("within 15s"), "{refused}");
        }
        // The places are free again, and so is a turn that ends.
        let waiting = wait();
        tokio::task::yield_now().await;
        drop(turns);
        waiting.await.unwrap().unwrap();
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn work_ends_when_the_client_leaves_and_its_turn_with_it() {
        let openings = Arc::new(Openings::default());
        let (starts, started) = mpsc::channel();
        let (ends, ended) = mpsc::channel();
        let call = tokio::spawn({
            let openings = Arc::clone(&openings);
            async move {
                let system = System::new(&Handle::current());
                let code = move |work: &Work| {
                    starts.send(()).unwrap();
                    // This code would never end by itself.
                    let end = loop {
                        match work.spend(0) {
                            Ok(()) => std::thread::yield_now(),
                            Err(end) => break end,
                        }
                    };
                    ends.send(end).unwrap();
                    Ok(())
                };
                openings.run(&*system, code).await
            }
        });
        started.recv().unwrap();
        assert_eq!(openings.turns.available_permits(), AT_A_TIME - 1);
        call.abort();
        assert_eq!(ended.recv().unwrap(), WorkError::Cancelled);
        let all = openings.turns.acquire_many(AT_A_TIME as u32).await.unwrap();
        drop(all);
    }
}
