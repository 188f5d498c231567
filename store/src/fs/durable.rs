//! Durable replacement and removal of files.

use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Result, StoreError};
use crate::fs::file_system::Fs;

/// The folder that holds a file, for syncing it.
pub(crate) fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(dir) if !dir.as_os_str().is_empty() => dir,
        _ => Path::new("."),
    }
}

/// A new temporary name beside `path`. No manifest names such a file, so a crash leaves it as a
/// leftover, which is removed when the job is opened again.
pub(crate) fn temp_beside(fs: &dyn Fs, path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.tmp", fs.unique_suffix()));
    path.with_file_name(name)
}

/// Replaces the file at `path` by one of these bytes, atomically and durably.
///
/// The bytes go to a temporary file, which is synced and renamed; then the folder is synced.
///
/// # Errors
/// `Io` or `NotFound` if a step fails. The old file is then unchanged, unless only the last step
/// (syncing the folder) failed.
pub fn write_durably(fs: &dyn Fs, path: &Path, bytes: &[u8]) -> Result<()> {
    let temp = temp_beside(fs, path);
    let written = (|| {
        let file = fs.create(&temp).map_err(StoreError::io("create", &temp))?;
        file.write_all_at(bytes, 0).map_err(StoreError::io("write", &temp))?;
        file.sync().map_err(StoreError::io("sync", &temp))?;
        fs.rename(&temp, path).map_err(StoreError::io("rename", &temp))
    })();
    if written.is_err() {
        // The first error is reported. If the removal fails, the next start removes the leftover.
        let _ = fs.remove(&temp);
    }
    written?;
    let dir = parent(path);
    fs.sync_dir(dir).map_err(StoreError::io("sync", dir))
}

/// Removes a file; one that does not exist is no error.
pub(crate) fn remove_if_present(fs: &dyn Fs, path: &Path) -> Result<()> {
    match fs.remove(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(StoreError::io("remove", path)(error))
        }
        _ => Ok(()),
    }
}
