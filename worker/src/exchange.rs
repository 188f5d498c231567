//! Exchange of exits between processes: exits for this worker go into its inbox, all others over
//! links.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use strata_explicit::{Exchange, ExchangeError, MemoryRun, Result, Run};
use strata_store::{BlockEncoder, EncodeOptions, Layer, StoreError};

use crate::epoch::Epoch;
use crate::error::LinkError;
use crate::state::NodeState;

/// The exchange of an epoch.
pub(crate) struct RemoteExchange {
    state: Arc<NodeState>,
    epoch: Arc<Epoch>,
    encode: EncodeOptions,
    /// Idle encoders, at most one for each search thread.
    encoders: Mutex<Vec<BlockEncoder>>,
}

impl RemoteExchange {
    pub(crate) fn new(
        state: Arc<NodeState>,
        epoch: Arc<Epoch>,
        encode: EncodeOptions,
    ) -> RemoteExchange {
        RemoteExchange { state, epoch, encode, encoders: Mutex::default() }
    }

    fn encoder(&self) -> strata_store::Result<BlockEncoder> {
        let idle = self.encoders.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.map_or_else(|| BlockEncoder::new(self.encode), Ok)
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
        let image = strata_explicit::run_image(&run, &mut encoder, self.epoch.folder.job(), depth)?;
        self.encoders.lock().unwrap_or_else(PoisonError::into_inner).push(encoder);
        self.epoch.inbox.recycle(vec![Run::Memory(Arc::new(run))])?;
        let bytes = image.into_image().map_err(|layer| no_image(&layer))?;
        self.state.sent_bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(link.send(depth, Bytes::from(bytes)).map_err(|error| undelivered(to, error))?)
    }

    fn recycled_run(&self, _: usize) -> MemoryRun {
        self.epoch.inbox.recycled_run()
    }

    fn flush(&self, _: usize, _: u32) -> Result<()> {
        self.check_epoch(self.epoch.own)?;
        for (to, link) in &self.epoch.links {
            link.flush().map_err(|error| undelivered(*to, error))?;
        }
        Ok(())
    }
}

fn undelivered(to: u16, error: LinkError) -> ExchangeError {
    ExchangeError { to: to.into(), source: Box::new(error) }
}

fn no_image(layer: &Layer) -> StoreError {
    let what = "a run made in memory has no image".to_owned();
    StoreError::Inconsistent { file: layer.name(), what }
}
