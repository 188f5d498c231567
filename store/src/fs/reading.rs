//! Positioned reads whose errors name the file and the offset.

use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Result, StoreError};
use crate::fs::file_system::FsRead;

/// Fills `target` with the bytes of a file from `offset` on. `name` is its path, for messages.
///
/// # Errors
/// `Read` if the file cannot be read there, `Corrupt` if it ends before.
pub(crate) fn read_exact(
    file: &dyn FsRead,
    name: &dyn Fn() -> PathBuf,
    offset: u64,
    target: &mut [u8],
) -> Result<()> {
    let mut done = 0;
    while done < target.len() {
        let at = offset + done as u64;
        match file.read_at(&mut target[done..], at) {
            Ok(0) => return Err(ends_early(&name(), offset, target.len(), done)),
            Ok(read) => done += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(source) => return Err(StoreError::Read { path: name(), offset: at, source }),
        }
    }
    Ok(())
}

/// The error if a file has `found` bytes from `offset` on, instead of at least `len`.
#[cold]
pub(crate) fn ends_early(name: &Path, offset: u64, len: usize, found: usize) -> StoreError {
    let expected = format!("{len} bytes");
    StoreError::corrupt(name, offset, expected, format!("{found}, then the end of the file"))
}
