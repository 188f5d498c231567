//! The lock file of a data directory, which names the process that holds the lock.
//!
//! The lock itself is the operating system's. The content of the file serves messages only: it is neither
//! synced nor checked, and nothing depends on it.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

use crate::fs::regular::open_regular;
use crate::holder::Holder;

/// Name of the lock file in a data directory.
pub(super) const LOCK_FILE: &str = ".lock";

/// Longest lock file that is read, in bytes: escapes of JSON take up to six bytes each.
const FILE_BYTES: u64 = 16_000;

/// Number of attempts to read the entry, and the pause after each: a process that has just taken the lock
/// may not have written its entry yet.
const ATTEMPTS: u32 = 10;
const PAUSE: Duration = Duration::from_millis(20);

impl Holder {
    /// The running process that the lock file of a data directory names. None if that process has ended,
    /// or is invisible because it runs in another container. Takes no lock.
    #[must_use]
    pub fn of(data_dir: &Path) -> Option<Holder> {
        entry(&data_dir.join(LOCK_FILE)).filter(Holder::is_running)
    }
}

/// Writes this process into the lock file. Errors are ignored, because a full disk must not prevent a
/// resume; the file then names no process.
pub(super) fn write(lock: &File) {
    // The old entry is removed first, so that a failed write cannot leave it as this process's entry.
    let _ = lock.set_len(0);
    if let Ok(mut text) = serde_json::to_vec(&Holder::this()) {
        text.push(b'\n');
        let _ = lock.write_all_at(&text, 0);
    }
}

/// Empties the lock file before the lock is released.
pub(super) fn clear(lock: &File) {
    let _ = lock.set_len(0);
}

/// The process that the lock file names. If it names none that is visible, waits for an entry, up to
/// [`ATTEMPTS`] times [`PAUSE`].
pub(super) fn read(lock: &Path) -> Option<Holder> {
    let mut found = None;
    for _ in 0..ATTEMPTS {
        found = entry(lock);
        if found.as_ref().is_some_and(Holder::is_visible) {
            break;
        }
        std::thread::sleep(PAUSE);
    }
    found
}

fn entry(lock: &Path) -> Option<Holder> {
    let mut text = Vec::new();
    open_regular(lock).ok()?.take(FILE_BYTES).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_holder_of_a_lock_is_read_back() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let file = File::create(&path).unwrap();
        write(&file);
        let holder = read(&path).unwrap();
        assert_eq!(holder.pid, std::process::id());
        assert!(holder.command.contains("strata"), "{holder:?}");
        assert!(holder.to_string().starts_with(&format!("process {}, for ", holder.pid)));
        clear(&file);
        assert_eq!(read(&path), None);
        let lock = File::create(dir.path().join(LOCK_FILE)).unwrap();
        assert_eq!(Holder::of(dir.path()), None);
        write(&lock);
        assert_eq!(Holder::of(dir.path()).unwrap().pid, std::process::id());
        // Another process may have the id of a killed one by now.
        let other = Holder { command: "another command".to_owned(), ..holder };
        std::fs::write(dir.path().join(LOCK_FILE), serde_json::to_vec(&other).unwrap()).unwrap();
        assert_eq!(Holder::of(dir.path()), None);
        std::fs::write(&path, "{\"pid\":1").unwrap();
        assert_eq!(read(&path), None);
    }
}
