//! The operating system's file system.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::fs::file_system::{Fs, FsFile, FsRead};
use crate::fs::regular::{create_private, create_private_dir, open_private, open_regular};

/// The operating system's file system. It opens regular files only, does not follow symbolic links to
/// files, and creates files and folders that only their owner can read.
#[derive(Copy, Clone, Debug, Default)]
pub struct RealFs;

impl FsFile for File {
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        FileExt::write_all_at(self, bytes, offset)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_all()
    }

    fn truncate(&self, len: u64) -> io::Result<()> {
        self.set_len(len)
    }
}

impl FsRead for File {
    fn size(&self) -> io::Result<u64> {
        self.metadata().map(|metadata| metadata.len())
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        FileExt::read_at(self, buffer, offset)
    }
}

impl Fs for RealFs {
    fn create(&self, path: &Path) -> io::Result<Box<dyn FsFile>> {
        Ok(Box::new(create_private(path)?))
    }

    fn open_write(&self, path: &Path) -> io::Result<Box<dyn FsFile>> {
        Ok(Box::new(open_private(OpenOptions::new().write(true), path)?))
    }

    fn open_read(&self, path: &Path) -> io::Result<Box<dyn FsRead>> {
        Ok(Box::new(open_regular(path)?))
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let mut file = open_regular(path)?;
        let len = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
        let mut bytes = Vec::with_capacity(len);
        file.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        File::open(dir)?.sync_all()
    }

    fn create_dir(&self, dir: &Path) -> io::Result<bool> {
        create_private_dir(dir)
    }

    fn remove_dir_all(&self, dir: &Path) -> io::Result<()> {
        fs::remove_dir_all(dir)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<(PathBuf, bool)>> {
        fs::read_dir(dir)?
            .map(|entry| {
                let entry = entry?;
                Ok((entry.path(), entry.file_type()?.is_dir()))
            })
            .collect()
    }
}
