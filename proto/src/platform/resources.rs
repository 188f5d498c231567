//! Memory of the process and free disk space.

use std::path::Path;

/// Memory of the process and free disk space; a value is 0 where the system does not provide it.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// Resident memory in bytes.
    pub rss: u64,
    /// Greatest resident memory since the start or the last reset, in bytes.
    pub peak_rss: u64,
    /// Free bytes on the file system of the data directory.
    pub disk_free: u64,
}

impl Resources {
    /// Asks the operating system. May block.
    pub(crate) fn read(data_dir: &Path) -> Resources {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.trim().split(' ').next()?.parse::<u64>().ok()
        };
        let bytes = |name| field(name).unwrap_or(0) * 1024;
        let stat = rustix::fs::statvfs(data_dir);
        let disk_free = stat.map_or(0, |stat| stat.f_bavail * stat.f_frsize);
        Resources { rss: bytes("VmRSS:"), peak_rss: bytes("VmHWM:"), disk_free }
    }

    /// Resets the peak of the resident memory to its current value. Returns whether that succeeded.
    pub(crate) fn reset_peak() -> bool {
        std::fs::write("/proc/self/clear_refs", "5").is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn the_memory_peak_is_measured_from_the_last_reset() {
        const BYTES: usize = 64 << 20;
        let peak = || Resources::read(Path::new("/")).peak_rss;
        let block = std::hint::black_box(vec![1_u8; BYTES]);
        let with_block = peak();
        drop(block);
        // Other tests of this process take far less.
        assert!(Resources::reset_peak());
        assert!(peak() + (BYTES as u64) / 2 < with_block, "{} {with_block}", peak());
    }

    #[test]
    fn memory_and_disk_space_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let read = Resources::read(folder.path());
        assert!(read.rss > 0 && read.peak_rss >= read.rss && read.disk_free > 0);
    }
}
