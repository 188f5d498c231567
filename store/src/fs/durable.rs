//! Durable creation of folders, durable replacement of files, and their temporary names.

use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Result, StoreError};
use crate::fs::file_system::Fs;

/// The folder of a file. Syncing it makes the file's name durable.
pub(crate) fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(dir) if !dir.as_os_str().is_empty() => dir,
        _ => Path::new("."),
    }
}

/// A new temporary path in the folder of `path`. No manifest names such a file, so after a crash it is a
/// leftover, which is removed when the job is opened again.
pub(crate) fn temp_beside(fs: &dyn Fs, path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.tmp", fs.unique_suffix()));
    path.with_file_name(name)
}

/// Whether `name` is a temporary name that [`write_durably`] uses for a file named `of`. Such a file is a
/// leftover unless a process is writing it.
#[must_use]
pub fn is_temporary(name: &str, of: &str) -> bool {
    let rest = name.strip_prefix(of).and_then(|rest| rest.strip_prefix('.'));
    let suffix = rest.and_then(|rest| rest.strip_suffix(".tmp")).unwrap_or_default();
    !suffix.is_empty() && suffix.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
}

/// Creates a folder and the missing folders above it, durably and for the owner only. An existing folder
/// is not an error; its name becomes durable, too, as the process that created it may have been killed.
///
/// The name of each folder becomes durable before a folder is created in it. So after a crash, only the
/// innermost existing folder can have a name that is not durable.
///
/// # Errors
/// `Io` if a folder cannot be created, or something else has its name, or the name of a new folder
/// cannot be made durable.
pub fn create_dir_durably(fs: &dyn Fs, dir: &Path) -> Result<()> {
    if dir.as_os_str().is_empty() {
        return Ok(());
    }
    let create = || fs.create_dir(dir);
    let failed = StoreError::io("create", dir);
    let is_new = match create() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            create_dir_durably(fs, parent(dir))?;
            create().map_err(failed)?
        }
        created => {
            let is_new = created.map_err(failed)?;
            if is_new {
                sync_name(fs, parent(dir), false)?;
            }
            is_new
        }
    };
    sync_name(fs, dir, is_new)
}

/// Makes the name of a folder durable in the folder above it.
fn sync_name(fs: &dyn Fs, dir: &Path, is_new: bool) -> Result<()> {
    use io::ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    let above = parent(dir);
    match fs.sync_dir(above) {
        // The folder above an existing one may be another user's, or on a file system without syncs.
        Err(error)
            if !is_new && matches!(error.kind(), InvalidInput | PermissionDenied | Unsupported) =>
        {
            Ok(())
        }
        synced => synced.map_err(StoreError::io("sync", above)),
    }
}

/// Replaces the file at `path` by a file with this content, atomically and durably.
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

/// Removes the files of a folder for whose names `is_unwanted` is true. It is passed an empty name if the
/// name is not UTF-8. Folders stay. Returns the number of files removed.
pub(crate) fn remove_files(
    fs: &dyn Fs,
    dir: &Path,
    is_unwanted: impl Fn(&str) -> bool,
) -> Result<usize> {
    let mut removed = 0;
    for (path, is_dir) in fs.list(dir).map_err(StoreError::io("list", dir))? {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if !is_dir && is_unwanted(name) {
            remove_if_present(fs, &path)?;
            removed += 1;
        }
    }
    Ok(removed)
}

/// Removes a file; a missing file is not an error.
pub(crate) fn remove_if_present(fs: &dyn Fs, path: &Path) -> Result<()> {
    match fs.remove(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(StoreError::io("remove", path)(error))
        }
        _ => Ok(()),
    }
}
