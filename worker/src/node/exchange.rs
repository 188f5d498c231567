//! The exchange between processes: what stays goes straight into the own inbox, the rest over links.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use strata_explicit::{Error, Exchange, ExchangeError, MemoryRun, Result, Run};
use strata_proto::v1::FailureKind;
use strata_store::{BlockEncoder, EncodeOptions, Layer, StoreError};

use super::epoch::Epoch;
use super::shared::Shared;

/// See the module.
pub(crate) struct RemoteExchange {
    shared: Arc<Shared>,
    epoch: Arc<Epoch>,
    encode: EncodeOptions,
    /// Encoders that no thread uses now.
    encoders: Mutex<Vec<BlockEncoder>>,
}

impl RemoteExchange {
    pub(crate) fn new(
        shared: Arc<Shared>,
        epoch: Arc<Epoch>,
        encode: EncodeOptions,
    ) -> RemoteExchange {
        RemoteExchange { shared, epoch, encode, encoders: Mutex::default() }
    }

    fn encoder(&self) -> Result<BlockEncoder> {
        let spare = self.encoders.lock().unwrap_or_else(PoisonError::into_inner).pop();
        spare.map_or_else(|| Ok(BlockEncoder::new(self.encode)?), Ok)
    }

    /// Makes an error of what went wrong outside, and notes it for the answer.
    fn fail(&self, to: u16, (kind, why): (FailureKind, String)) -> Error {
        self.epoch.note(kind, &why);
        ExchangeError { to: to.into(), why }.into()
    }

    fn over(&self, to: u16) -> Result<()> {
        if !self.epoch.is_over() {
            return Ok(());
        }
        let why = format!("epoch {} is over", self.epoch.number);
        Err(self.fail(to, (FailureKind::Fenced, why)))
    }
}

impl Exchange for RemoteExchange {
    fn send(&self, to: usize, depth: u32, run: MemoryRun) -> Result<()> {
        let to = to as u16;
        self.over(to)?;
        if to == self.epoch.own {
            return Ok(self.epoch.inbox.accept(depth, run)?);
        }
        let Some(link) = self.epoch.links.get(&to) else {
            let why = format!("worker {to} is not among the peers");
            return Err(self.fail(to, (FailureKind::Unspecified, why)));
        };
        let mut encoder = self.encoder()?;
        let image = strata_explicit::run_image(&run, &mut encoder, self.epoch.folder.job(), depth)?;
        self.encoders.lock().unwrap_or_else(PoisonError::into_inner).push(encoder);
        self.epoch.inbox.recycle(vec![Run::Memory(Arc::new(run))])?;
        let bytes = image.into_image().map_err(|layer| no_image(&layer))?;
        self.shared.sent_bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        link.send(depth, Bytes::from(bytes)).map_err(|trouble| self.fail(to, trouble))
    }

    fn recycled_run(&self, _: usize) -> MemoryRun {
        self.epoch.inbox.recycled_run()
    }

    fn flush(&self, _: usize, _: u32) -> Result<()> {
        self.over(self.epoch.own)?;
        for (to, link) in &self.epoch.links {
            link.flush().map_err(|trouble| self.fail(*to, trouble))?;
        }
        Ok(())
    }
}

fn no_image(layer: &Layer) -> StoreError {
    let what = "a run made in memory has no image".to_owned();
    StoreError::Inconsistent { file: layer.name(), what }
}
