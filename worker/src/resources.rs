//! Memory of the process and free disk space, sampled for heartbeats.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Longest wait for a sample before a heartbeat is sent with the previous sample.
const WAIT: Duration = Duration::from_millis(100);

/// One sample; a value is 0 where the system does not provide it.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Resources {
    /// Resident memory in bytes.
    pub(crate) rss: u64,
    /// Greatest resident memory since the start, in bytes.
    pub(crate) peak_rss: u64,
    /// Free bytes on the file system of the data directory.
    pub(crate) disk_free: u64,
}

/// Takes samples outside the asynchronous threads, so that a file system that hangs does not delay
/// heartbeats.
#[derive(Debug)]
pub(crate) struct ResourceSampler {
    data_dir: PathBuf,
    last: Mutex<Resources>,
    /// A sample is being taken.
    sampling: AtomicBool,
}

impl ResourceSampler {
    /// A sampler for a data directory.
    pub(crate) fn new(data_dir: PathBuf) -> Arc<ResourceSampler> {
        let (last, sampling) = (Mutex::default(), AtomicBool::new(false));
        Arc::new(ResourceSampler { data_dir, last, sampling })
    }

    /// A new sample; the last one if the file system does not answer within 100 ms.
    pub(crate) async fn sample(self: &Arc<Self>) -> Resources {
        if !self.sampling.swap(true, Ordering::AcqRel) {
            let sampler = Arc::clone(self);
            let sampled = tokio::task::spawn_blocking(move || {
                let sample = read(&sampler.data_dir);
                *sampler.last.lock().unwrap_or_else(PoisonError::into_inner) = sample;
                sampler.sampling.store(false, Ordering::Release);
            });
            // After a timeout, too, the stored sample is the newest one.
            let _ = tokio::time::timeout(WAIT, sampled).await;
        }
        *self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read(data_dir: &Path) -> Resources {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().split(' ').next()?.parse::<u64>().ok()
    };
    let bytes = |name| field(name).unwrap_or(0) * 1024;
    let disk_free = rustix::fs::statvfs(data_dir).map_or(0, |stat| stat.f_bavail * stat.f_frsize);
    Resources { rss: bytes("VmRSS:"), peak_rss: bytes("VmHWM:"), disk_free }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_sample_has_memory_and_disk_space() {
        let folder = tempfile::tempdir().unwrap();
        let sample = ResourceSampler::new(folder.path().to_path_buf()).sample().await;
        assert!(sample.rss > 0 && sample.peak_rss >= sample.rss && sample.disk_free > 0);
    }
}
