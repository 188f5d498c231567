//! Wait.

use std::sync::mpsc::{Receiver, RecvError, TryRecvError};

/// How often one looks for the other's message before it sleeps: for some 80 microseconds.
/// Waking it takes 50 microseconds.
const LOOKS: u32 = 1 << 12;

/// Who has looked in vain looks again the next time but so many, and sleeps at once until then: where
/// both have to share a core, looking keeps the other from answering.
const SLEEPS: u32 = 16;

/// How one waits for messages.
#[derive(Default)]
pub(super) struct Wait {
    /// How often it has slept since it last looked with success.
    slept: u32,
}

impl Wait {
    /// The next message.
    pub(super) fn next<T>(&mut self, from: &Receiver<T>) -> Result<T, RecvError> {
        let looks = if self.slept.is_multiple_of(SLEEPS) { LOOKS } else { 1 };
        for look in 0..looks {
            match from.try_recv() {
                Ok(message) => {
                    if look > 0 {
                        self.slept = 0;
                    }
                    return Ok(message);
                }
                Err(TryRecvError::Empty) => std::hint::spin_loop(),
                Err(TryRecvError::Disconnected) => return Err(RecvError),
            }
        }
        self.slept = self.slept.wrapping_add(1);
        from.recv()
    }
}
