//! Opening of regular files only: reading a pipe or a device could block, or never end.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

/// Mode of new files: only the owner has access.
const FILE_MODE: u32 = 0o600;

/// Mode of new folders: only the owner has access.
const DIR_MODE: u32 = 0o700;

/// Opens a file of a data directory for reading. Symbolic links are not followed, as they lead out of
/// the directory.
///
/// # Errors
/// The operating system's error; `InvalidInput` or `IsADirectory` if it is not a regular file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    open(OpenOptions::new().read(true), path, OFlags::NOFOLLOW)
}

/// Opens a user's file for reading. Symbolic links are followed.
///
/// # Errors
/// The operating system's error; `InvalidInput` or `IsADirectory` if it is not a regular file.
pub fn open_input(path: &Path) -> io::Result<File> {
    open(OpenOptions::new().read(true), path, OFlags::empty())
}

/// Reads a user's file of at most `limit` bytes. Symbolic links are followed.
///
/// # Errors
/// Those of [`open_input`], and `FileTooLarge` for a longer file.
pub fn read_input(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    read_limited(open_input(path)?, limit)
}

/// Reads everything to the end, at most `limit` bytes.
///
/// # Errors
/// The operating system's error, and `FileTooLarge` if there are more bytes.
pub fn read_limited(from: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        let text = format!("it is longer than {limit} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
    }
    Ok(bytes)
}

/// Creates a file of a data directory for writing, or empties the existing one. Only the owner can
/// read a new file.
///
/// # Errors
/// The operating system's error; `InvalidInput` or `IsADirectory` if it is not a regular file.
pub(crate) fn create_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let file = open(options.write(true).create(true).mode(FILE_MODE), path, OFlags::NOFOLLOW)?;
    file.set_len(0)?;
    Ok(file)
}

/// Opens a file of a data directory with `options`. If it is created, only the owner can read it.
///
/// # Errors
/// The operating system's error; `InvalidInput` or `IsADirectory` if it is not a regular file.
pub fn open_private(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    open(options.mode(FILE_MODE), path, OFlags::NOFOLLOW)
}

/// Creates a folder that only the owner can read. Returns whether it is new; an existing folder is not an
/// error and is not changed.
///
/// # Errors
/// The operating system's error; `NotFound` if the folder above does not exist.
pub(crate) fn create_private_dir(dir: &Path) -> io::Result<bool> {
    match DirBuilder::new().mode(DIR_MODE).create(dir) {
        Ok(()) => Ok(true),
        Err(_) if dir.is_dir() => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whether an error of opening, creating or locking a file is due to the path, so that another path may
/// work: the path does not name a regular file, the process has no permission, or the file is too large.
/// All other errors are those of a disk, a file system or the machine, such as EIO
/// and EROFS.
#[must_use]
pub fn is_unusable_path(error: &io::Error) -> bool {
    use io::ErrorKind;
    matches!(
        error.kind(),
        ErrorKind::NotFound
            | ErrorKind::PermissionDenied
            | ErrorKind::AlreadyExists
            | ErrorKind::NotADirectory
            | ErrorKind::IsADirectory
            | ErrorKind::InvalidInput
            | ErrorKind::InvalidFilename
            | ErrorKind::FileTooLarge
    )
}

fn open(options: &mut OpenOptions, path: &Path, flags: OFlags) -> io::Result<File> {
    // Without NONBLOCK, opening a pipe waits for its other end.
    let flags = flags | OFlags::NONBLOCK;
    let file = options.custom_flags(flags.bits().cast_signed()).open(path);
    let file = file.map_err(|error| {
        match error.raw_os_error().map(rustix::io::Errno::from_raw_os_error) {
            Some(rustix::io::Errno::LOOP) => invalid("it is a symbolic link"),
            Some(rustix::io::Errno::NXIO) => invalid("it is not a regular file"),
            _ => error,
        }
    })?;
    let kind = file.metadata()?.file_type();
    if kind.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !kind.is_file() {
        return Err(invalid("it is not a regular file"));
    }
    Ok(file)
}

fn invalid(text: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, text)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use rustix::fs::{CWD, FileType, Mode};

    use super::*;
    use crate::fs::durable::create_dir_durably;
    use crate::fs::file_system::Fs;
    use crate::fs::real::RealFs;

    fn fails<T>(opened: io::Result<T>) -> String {
        opened.err().unwrap().to_string()
    }

    #[test]
    fn pipes_and_devices_are_refused_without_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        rustix::fs::mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        for path in [&pipe, Path::new("/dev/zero")] {
            let text = "it is not a regular file";
            assert_eq!(fails(RealFs.read(path)), text);
            assert_eq!(fails(RealFs.open_read(path)), text);
            assert_eq!(fails(RealFs.create(path)), text);
            assert_eq!(fails(RealFs.open_write(path)), text);
            assert_eq!(fails(read_input(path, 9)), text);
        }
        assert_eq!(open_input(folder.path()).unwrap_err().kind(), io::ErrorKind::IsADirectory);
    }

    #[test]
    fn symbolic_links_are_followed_only_for_input_files() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        std::fs::write(&file, "secret").unwrap();
        symlink(&file, &link).unwrap();
        let text = "it is a symbolic link";
        assert_eq!(fails(RealFs.read(&link)), text);
        assert_eq!(fails(RealFs.open_read(&link)), text);
        assert_eq!(fails(RealFs.create(&link)), text);
        assert_eq!(fails(RealFs.open_write(&link)), text);
        assert_eq!(read_input(&link, 6).unwrap(), b"secret");
        assert_eq!(fails(read_input(&link, 5)), "it is longer than 5 bytes");
        assert_eq!(RealFs.read(&file).unwrap(), b"secret");
    }

    #[test]
    fn disk_errors_are_distinguished_from_unusable_paths() {
        use rustix::io::Errno;
        let of = |errno: Errno| is_unusable_path(&errno.into());
        for errno in [Errno::NOENT, Errno::ACCESS, Errno::PERM, Errno::NOTDIR, Errno::NAMETOOLONG] {
            assert!(of(errno), "{errno}");
        }
        for errno in [Errno::IO, Errno::ROFS, Errno::STALE, Errno::NOSPC, Errno::MFILE] {
            assert!(!of(errno), "{errno}");
        }
        let link = tempfile::tempdir().unwrap().path().join("none");
        assert!(is_unusable_path(&open_input(&link).unwrap_err()));
    }

    #[test]
    fn new_files_and_folders_are_for_the_owner_only() {
        let folder = tempfile::tempdir().unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        let dir = folder.path().join("data/job");
        create_dir_durably(&RealFs, &dir).unwrap();
        let file = dir.join("file");
        RealFs.create(&file).unwrap().write_all_at(b"long", 0).unwrap();
        assert_eq!((mode(&dir), mode(&file)), (DIR_MODE, FILE_MODE));
        assert_eq!(mode(dir.parent().unwrap()), DIR_MODE);
        RealFs.create(&file).unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"");
    }
}
