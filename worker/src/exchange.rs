//! Exchange of exits between processes: exits for this worker go into its inbox, all others over
//! links.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use strata_engine::explicit::{Error, Exchange, ExchangeError, MemoryRun, Result, RunEncoder};

use crate::epoch::Epoch;
use crate::error::LinkError;
use crate::state::NodeState;

/// The exchange of an epoch.
pub(crate) struct RemoteExchange {
    state: Arc<NodeState>,
    epoch: Arc<Epoch>,
    /// Compression level of exits.
    zstd_level: i32,
    /// Idle encoders, at most one for each search thread.
    encoders: Mutex<Vec<RunEncoder>>,
}

impl RemoteExchange {
    pub(crate) fn new(state: Arc<NodeState>, epoch: Arc<Epoch>, zstd_level: i32) -> RemoteExchange {
        RemoteExchange { state, epoch, zstd_level, encoders: Mutex::default() }
    }

    fn encoder(&self) -> strata_store::Result<RunEncoder> {
        let idle = self.encoders.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.map_or_else(|| RunEncoder::new(self.zstd_level, self.epoch.locals), Ok)
    }

    /// Fails once the epoch is over.
    fn check_epoch(&self, to: u16) -> Result<(), ExchangeError> {
        if self.epoch.is_over() {
            return Err(undelivered(to, LinkError::EpochOver { epoch: self.epoch.id.number }));
        }
        Ok(())
    }
}

impl Exchange for RemoteExchange {
    fn send(&self, to: usize, depth: u32, run: MemoryRun) -> Result<()> {
        let to = to as u16;
        self.check_epoch(to)?;
        if to == self.epoch.own {
            return Ok(self.epoch.inbox.accept(depth, run)?);
        }
        let link = self.epoch.links.get(&to);
        let link = link.ok_or_else(|| undelivered(to, LinkError::NoAddress))?;
        let mut encoder = self.encoder()?;
        encoder.encode(&run, |bytes| {
            self.state.sent_bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
            link.send(depth, Bytes::from(bytes)).map_err(|error| undelivered(to, error))?;
            Ok::<(), Error>(())
        })?;
        self.encoders.lock().unwrap_or_else(PoisonError::into_inner).push(encoder);
        self.epoch.inbox.recycle_memory(run);
        Ok(())
    }

    fn recycled_run(&self, _: usize) -> MemoryRun {
        self.epoch.inbox.recycled_run()
    }

    /// Waits for nothing: the end of the layer, which follows, sends what is queued, and the barrier of
    /// the layer implies that it has arrived.
    fn flush(&self, _: usize, _: u32) -> Result<()> {
        Ok(self.check_epoch(self.epoch.own)?)
    }
}

fn undelivered(to: u16, error: LinkError) -> ExchangeError {
    ExchangeError { to: to.into(), source: Box::new(error) }
}
