//! Temporary files in folders without a lock, and removal of those that killed processes left.
//!
//! A process holds a lock on each temporary file that it uses. The operating system releases the lock
//! when the process ends, even if it is killed. So a file that can be locked is a leftover.

use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::fs::regular::open_regular;

/// Locks a temporary file, just created at `path`, until it is closed.
///
/// Returns false if another process has mistaken the file for a leftover and removes it: the caller then
/// needs another file. On a file system without locks, the file stays unlocked, and
/// [`remove_abandoned`] removes no file.
///
/// # Errors
/// The operating system's error.
pub fn hold_temporary(file: &File, path: &Path) -> io::Result<bool> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => return Ok(false),
        Err(TryLockError::Error(error)) if error.kind() != io::ErrorKind::Unsupported => {
            return Err(error);
        }
        _ => {}
    }
    let own = file.metadata()?;
    match path.symlink_metadata() {
        Ok(named) => Ok((named.dev(), named.ino()) == (own.dev(), own.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Removes the files of a folder for whose names `is_temporary` is true, unless a process holds them with
/// [`hold_temporary`]. Returns the number of files removed. A file that cannot be locked or removed
/// stays.
///
/// # Errors
/// The operating system's error of listing the folder; a missing folder is not an error.
pub fn remove_abandoned(dir: &Path, is_temporary: impl Fn(&str) -> bool) -> io::Result<usize> {
    let entries = match std::fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        entries => entries?,
    };
    let mut removed = 0;
    for entry in entries {
        let entry = entry?;
        if !entry.file_name().to_str().is_some_and(&is_temporary) {
            continue;
        }
        let path = entry.path();
        // The lock is released after the removal.
        if let Ok(file) = open_regular(&path)
            && file.try_lock().is_ok()
            && std::fs::remove_file(&path).is_ok()
        {
            removed += 1;
        }
    }
    Ok(removed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_files_in_use_are_not_removed() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        let held = File::create(path("held.tmp")).unwrap();
        assert!(hold_temporary(&held, &path("held.tmp")).unwrap());
        for name in ["left.tmp", "other"] {
            std::fs::write(path(name), "").unwrap();
        }
        std::os::unix::fs::symlink("other", path("link.tmp")).unwrap();
        let remove = || remove_abandoned(dir.path(), |name| name.ends_with(".tmp")).unwrap();
        assert_eq!(remove(), 1);
        let exist = ["held.tmp", "left.tmp", "other", "link.tmp"]
            .map(|name| path(name).symlink_metadata().is_ok());
        assert_eq!(exist, [true, false, true, true]);
        drop(held);
        assert_eq!(remove(), 1);
        assert_eq!(remove_abandoned(&path("missing"), |_| true).unwrap(), 0);
    }

    #[test]
    fn a_removed_temporary_file_cannot_be_held() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new.tmp");
        let file = File::create(&path).unwrap();
        assert_eq!(remove_abandoned(dir.path(), |_| true).unwrap(), 1);
        assert!(!hold_temporary(&file, &path).unwrap());
        let again = File::create(&path).unwrap();
        assert!(!hold_temporary(&file, &path).unwrap());
        assert!(hold_temporary(&again, &path).unwrap());
        let other = File::open(&path).unwrap();
        assert!(!hold_temporary(&other, &path).unwrap());
    }
}
