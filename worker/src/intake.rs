//! Limit on the bytes of batches that a worker receives at the same time.
//!
//! A batch has up to 64 MiB and is held in memory until it is decoded and accepted. Any number of connections
//! can send batches at the same time, so each needs a permit for its length before its content is read. Until
//! then flow control stops the sender.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The limit is the memory budget divided by this.
const SHARE: u64 = 8;

/// Limit on the bytes of batches that are in memory at the same time.
#[derive(Clone, Debug)]
pub(crate) struct Intake {
    free: Arc<Semaphore>,
    total: u32,
}

impl Intake {
    /// The limit for a memory budget in bytes.
    pub(crate) fn new(memory: u64) -> Intake {
        Intake::of(u32::try_from(memory / SHARE).unwrap_or(u32::MAX).clamp(1, 1 << 29))
    }

    fn of(total: u32) -> Intake {
        Intake { free: Arc::new(Semaphore::new(total as usize)), total }
    }

    /// Waits until there is room for a batch, which has it until the permit is dropped. A batch longer than
    /// the limit has all room. `None` only if the semaphore is closed, which it never is.
    pub(crate) async fn permit(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let permits = u32::try_from(bytes).unwrap_or(u32::MAX).min(self.total);
        Arc::clone(&self.free).acquire_many_owned(permits).await.ok()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_batch_waits_until_there_is_room_for_it() {
        let intake = Intake::of(10);
        let waits = |bytes| {
            let intake = intake.clone();
            let permit = async move { intake.permit(bytes).await.map(drop) };
            async { tokio::time::timeout(Duration::from_secs(1), permit).await.is_err() }
        };
        let first = intake.permit(8).await;
        assert!(waits(6).await);
        assert!(!waits(2).await);
        drop(first);
        assert!(!waits(6).await);
        // One that is too long waits until there is no other.
        let small = intake.permit(1).await;
        assert!(waits(200).await);
        drop(small);
        assert!(!waits(200).await);
        assert_eq!(Intake::new(64 << 20).total, 8 << 20);
    }
}
