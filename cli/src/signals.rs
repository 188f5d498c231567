//! SIGINT and SIGTERM: as awaited signals, as a shutdown request, and as a cancellation token.
//!
//! The first signal requests a stop with a checkpoint; the second ends the process.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};

use strata_run::CancelToken;
use tokio::runtime::Builder;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::output::exit::{ExitCode, Failure};

/// SIGINT and SIGTERM from the creation of this value on.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    /// Installs the handlers. Requires the context of a runtime.
    ///
    /// # Errors
    /// If the system refuses a handler.
    pub(crate) fn listen() -> Result<Signals, Failure> {
        Signals::try_listen().map_err(|error| {
            Failure::new(ExitCode::Unexpected, format!("cannot listen to signals: {error}"))
        })
    }

    fn try_listen() -> io::Result<Signals> {
        let interrupt = signal(SignalKind::interrupt())?;
        Ok(Signals { interrupt, terminate: signal(SignalKind::terminate())? })
    }

    /// Waits for the next signal.
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }

    /// Completes at the first signal. The second ends the process.
    pub(crate) async fn shutdown(mut self) {
        self.next().await;
        tracing::info!("ending after the next checkpoint; another signal ends at once");
        tokio::spawn(async move {
            self.next().await;
            std::process::exit(ExitCode::Interrupted as i32);
        });
    }
}

/// Cancellation of a search by signals.
pub(crate) struct SignalToken {
    token: CancelToken,
    /// Whether the search is over, so that no layer is left to wait for.
    is_over: Arc<AtomicBool>,
}

impl SignalToken {
    /// Listens to signals from here on, in a thread of its own.
    pub(crate) fn listen() -> SignalToken {
        let token = CancelToken::new();
        let (ready, listening) = mpsc::channel();
        let (cancelled, is_over) = (token.clone(), Arc::new(AtomicBool::new(false)));
        let over = Arc::clone(&is_over);
        let thread = std::thread::Builder::new().name("signals".to_owned());
        let spawned = thread.spawn(move || wait(&cancelled, &over, &ready));
        let listening = spawned.and_then(|_| {
            let gone = |_| io::Error::other("the thread ended");
            listening.recv().map_err(gone).and_then(|listening| listening)
        });
        if let Err(error) = listening {
            // A signal then ends the process at once, which loses nothing durable.
            tracing::warn!("cannot listen to signals: {error}");
        }
        SignalToken { token, is_over }
    }

    /// Marks the search as over: a signal then no longer logs that it waits for the end of a layer.
    pub(crate) fn search_over(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// The token that the first signal cancels.
    pub(crate) fn token(&self) -> &CancelToken {
        &self.token
    }
}

/// Cancels the token at the first signal and ends the process at the second.
fn wait(token: &CancelToken, is_over: &AtomicBool, ready: &Sender<io::Result<()>>) {
    let runtime = match Builder::new_current_thread().enable_io().build() {
        Ok(runtime) => runtime,
        Err(error) => return send(ready, Err(error)),
    };
    runtime.block_on(async {
        let mut signals = match Signals::try_listen() {
            Ok(signals) => signals,
            Err(error) => return send(ready, Err(error)),
        };
        send(ready, Ok(()));
        loop {
            signals.next().await;
            if token.cancel() {
                std::process::exit(ExitCode::Interrupted as i32);
            }
            if !is_over.load(Ordering::Relaxed) {
                tracing::warn!("stopping after this layer; another signal stops at once");
            }
        }
    });
}

fn send(ready: &Sender<io::Result<()>>, result: io::Result<()>) {
    // The receiver is gone only if the process is ending.
    let _ = ready.send(result);
}
