//! Receiving from a channel: spinning first, then blocking.

use std::sync::mpsc::{Receiver, RecvError, TryRecvError};

/// Number of polls before blocking: about 80 microseconds. Waking a blocked thread takes 50 microseconds.
const SPINS: u32 = 1 << 12;

/// After a spin without success, only every `SPIN_INTERVAL`-th receive spins; the others block at once. If
/// both threads share a core, spinning delays the other thread.
const SPIN_INTERVAL: u32 = 16;

/// Adaptive wait for messages.
#[derive(Default)]
pub(super) struct SpinWait {
    /// Number of receives that have blocked since spinning last succeeded.
    blocked: u32,
}

impl SpinWait {
    /// Receives the next message.
    pub(super) fn receive<T>(&mut self, from: &Receiver<T>) -> Result<T, RecvError> {
        let spins = if self.blocked.is_multiple_of(SPIN_INTERVAL) { SPINS } else { 1 };
        for spin in 0..spins {
            match from.try_recv() {
                Ok(message) => {
                    if spin > 0 {
                        self.blocked = 0;
                    }
                    return Ok(message);
                }
                Err(TryRecvError::Empty) => std::hint::spin_loop(),
                Err(TryRecvError::Disconnected) => return Err(RecvError),
            }
        }
        self.blocked = self.blocked.wrapping_add(1);
        from.recv()
    }
}
