//! Interrupts: the first asks for a stop with a checkpoint, the second ends the process.

use std::io;
use std::sync::mpsc::{self, Sender};

use strata::CancelToken;
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};

use crate::output::exit::ExitCode;

/// Whether the user wants the search to stop.
pub(super) struct Signals {
    token: CancelToken,
}

impl Signals {
    /// Listens to SIGINT and SIGTERM from here on, in a thread of its own.
    pub(super) fn listen() -> Signals {
        let token = CancelToken::new();
        let (ready, listening) = mpsc::channel();
        let cancelled = token.clone();
        let thread = std::thread::Builder::new().name("signals".to_owned());
        let spawned = thread.spawn(move || wait(&cancelled, &ready));
        let listening = spawned.and_then(|_| {
            let gone = |_| io::Error::other("the thread ended");
            listening.recv().map_err(gone).and_then(|listening| listening)
        });
        if let Err(error) = listening {
            // Interrupts then end the process at once, which loses nothing durable.
            tracing::warn!("cannot listen to signals: {error}");
        }
        Signals { token }
    }

    /// The token that the first signal cancels.
    pub(super) fn token(&self) -> &CancelToken {
        &self.token
    }
}

fn wait(token: &CancelToken, ready: &Sender<io::Result<()>>) {
    let runtime = match Builder::new_current_thread().enable_io().build() {
        Ok(runtime) => runtime,
        Err(error) => return send(ready, Err(error)),
    };
    runtime.block_on(async {
        let streams = signal(SignalKind::interrupt())
            .and_then(|interrupt| Ok((interrupt, signal(SignalKind::terminate())?)));
        let (mut interrupt, mut terminate) = match streams {
            Ok(streams) => streams,
            Err(error) => return send(ready, Err(error)),
        };
        send(ready, Ok(()));
        loop {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            if token.cancel() {
                std::process::exit(ExitCode::Interrupted as i32);
            }
            tracing::warn!("stopping after this layer; another signal stops at once");
        }
    });
}

fn send(ready: &Sender<io::Result<()>>, result: io::Result<()>) {
    // Whoever waited for it is gone only if the process is ending.
    let _ = ready.send(result);
}
