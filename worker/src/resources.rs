//! Memory of the process and free disk space, sampled for heartbeats.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use strata_proto::platform::{Platform, Resources};

/// Longest wait for a sample before a heartbeat is sent with the previous sample.
const WAIT: Duration = Duration::from_millis(100);

/// Takes samples outside the asynchronous threads, so that a file system that hangs does not delay
/// heartbeats.
#[derive(Debug)]
pub(crate) struct ResourceSampler {
    platform: Arc<dyn Platform>,
    data_dir: PathBuf,
    last: Mutex<Resources>,
    /// A sample is being taken.
    sampling: AtomicBool,
}

impl ResourceSampler {
    /// A sampler for a data directory.
    pub(crate) fn new(platform: Arc<dyn Platform>, data_dir: PathBuf) -> Arc<ResourceSampler> {
        let (last, sampling) = (Mutex::default(), AtomicBool::new(false));
        Arc::new(ResourceSampler { platform, data_dir, last, sampling })
    }

    /// A new sample; the last one if the file system does not answer within 100 ms.
    pub(crate) async fn sample(self: &Arc<Self>) -> Resources {
        if !self.sampling.swap(true, Ordering::AcqRel) {
            let sampler = Arc::clone(self);
            let sampled = self.platform.blocking(move || {
                let sample = sampler.platform.resources(&sampler.data_dir);
                *sampler.last.lock().unwrap_or_else(PoisonError::into_inner) = sample;
                sampler.sampling.store(false, Ordering::Release);
            });
            // After a timeout, too, the stored sample is the newest one.
            let _ = tokio::time::timeout(WAIT, sampled).await;
        }
        *self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use strata_proto::platform::System;
    use tokio::runtime::Handle;

    use super::*;

    #[tokio::test]
    async fn a_sample_has_memory_and_disk_space() {
        let folder = tempfile::tempdir().unwrap();
        let system = System::new(&Handle::current());
        let sample = ResourceSampler::new(system, folder.path().to_path_buf()).sample().await;
        assert!(sample.rss > 0 && sample.peak_rss >= sample.rss && sample.disk_free > 0);
    }
}
