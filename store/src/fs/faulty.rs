//! Fault injection for tests: full disks, failing syncs and renames, unreadable sectors, files that are
//! cut while they are open, and loss of unsynced data and names.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::fs::durable::parent;
use crate::fs::file_system::{Fs, FsFile, FsRead};
use crate::fs::real::RealFs;

/// The real file system with faults that a test switches on. Clones share their faults.
#[derive(Clone, Debug, Default)]
pub struct FaultyFs {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    /// Number of bytes until the disk is full; None without this fault.
    budget: Option<u64>,
    /// Number of syncs and renames that still succeed; None without this fault.
    steps: Option<u64>,
    /// Unreadable bytes: the beginning of the files' names, and a byte offset.
    unreadable: Option<(String, u64)>,
    /// Files that cannot be opened for reading: the beginning of their names.
    closed: Option<String>,
    /// Files that are cut: the beginning of their names, and the length that is left, in bytes.
    cut: Option<(String, u64)>,
    /// The last synced content of each file written through this file system, which a crash leaves.
    durable: HashMap<PathBuf, Vec<u8>>,
    /// Folders created through this file system, whose names are not synced.
    unsynced_folders: Vec<PathBuf>,
    /// Unsynced names that files got by renaming, in order. Each has the durable content of the file that
    /// had the name before.
    unsynced_names: Vec<(PathBuf, Option<Vec<u8>>)>,
}

impl State {
    fn step(&mut self) -> io::Result<()> {
        match &mut self.steps {
            Some(0) => Err(io::Error::other("injected fault")),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Fails if the range has an unreadable byte.
    fn check_read(&self, path: &Path, offset: u64, len: u64) -> io::Result<()> {
        match &self.unreadable {
            Some((prefix, at))
                if has_prefix(path, prefix) && (offset..offset + len).contains(at) =>
            {
                Err(io::Error::from_raw_os_error(rustix::io::Errno::IO.raw_os_error()))
            }
            _ => Ok(()),
        }
    }
}

/// Whether a file's name begins with `prefix`.
fn has_prefix(path: &Path, prefix: &str) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix))
}

impl FaultyFs {
    /// A file system without faults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Fills the disk after this many more bytes. The write that crosses the limit stores what fits
    /// and fails, and all later writes fail.
    pub fn fill_after(&self, bytes: u64) {
        self.state().budget = Some(bytes);
    }

    /// Lets this many more syncs and renames succeed; later ones fail.
    pub fn fail_after(&self, steps: u64) {
        self.state().steps = Some(steps);
    }

    /// Makes the byte at `offset` unreadable in all files whose names begin with `prefix`, including files
    /// that are open: reads that include it fail with EIO.
    pub fn fail_reads_at(&self, prefix: &str, offset: u64) {
        self.state().unreadable = Some((prefix.to_owned(), offset));
    }

    /// Makes opening for reading fail with EIO, for all files whose names begin with `prefix`.
    pub fn fail_opens(&self, prefix: &str) {
        self.state().closed = Some(prefix.to_owned());
    }

    /// Cuts all files whose names begin with `prefix` to `len` bytes, as if another process did so after
    /// their sizes were read: reads beyond `len` find the end of the file, and the sizes do not change.
    pub fn cut_reads_at(&self, prefix: &str, len: u64) {
        self.state().cut = Some((prefix.to_owned(), len));
    }

    /// Ends all faults.
    pub fn heal(&self) {
        let mut state = self.state();
        (state.unreadable, state.cut, state.closed) = (None, None, None);
        state.budget = None;
        state.steps = None;
    }

    /// Simulates a power failure: each file written through this file system gets its last synced
    /// content back, or becomes empty if it was never synced. A folder created through it is lost with
    /// its content if the folder above was not synced. Names of files stay.
    ///
    /// # Errors
    /// The operating system's error.
    pub fn crash(&self) -> io::Result<()> {
        let mut state = self.state();
        state.unsynced_names.clear();
        for dir in std::mem::take(&mut state.unsynced_folders) {
            if dir.exists() {
                std::fs::remove_dir_all(dir)?;
            }
        }
        for (path, content) in &state.durable {
            if path.exists() {
                std::fs::write(path, content)?;
            }
        }
        Ok(())
    }

    /// Simulates a power failure as [`Self::crash`] does, which also undoes the renames of files in
    /// folders that were not synced: the files that had the names before are back.
    ///
    /// # Errors
    /// The operating system's error.
    pub fn crash_losing_names(&self) -> io::Result<()> {
        let names = std::mem::take(&mut self.state().unsynced_names);
        self.crash()?;
        let mut state = self.state();
        for (path, before) in names.into_iter().rev() {
            match before {
                _ if !path.exists() => {}
                Some(content) => {
                    std::fs::write(&path, &content)?;
                    state.durable.insert(path, content);
                }
                None => {
                    std::fs::remove_file(&path)?;
                    state.durable.remove(&path);
                }
            }
        }
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wrap(&self, path: &Path, inner: Box<dyn FsFile>) -> Box<dyn FsFile> {
        Box::new(FaultyFile { fs: self.clone(), path: path.to_path_buf(), inner })
    }
}

/// A file opened for reading.
#[derive(Debug)]
struct FaultyRead {
    fs: FaultyFs,
    path: PathBuf,
    inner: Box<dyn FsRead>,
}

impl FsRead for FaultyRead {
    fn size(&self) -> io::Result<u64> {
        self.inner.size()
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let state = self.fs.state();
        state.check_read(&self.path, offset, buffer.len() as u64)?;
        let left = match &state.cut {
            Some((prefix, len)) if has_prefix(&self.path, prefix) => len.saturating_sub(offset),
            _ => u64::MAX,
        };
        drop(state);
        let most = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        self.inner.read_at(&mut buffer[..most], offset)
    }
}

#[derive(Debug)]
struct FaultyFile {
    fs: FaultyFs,
    path: PathBuf,
    inner: Box<dyn FsFile>,
}

impl FsFile for FaultyFile {
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let mut state = self.fs.state();
        let fits = state.budget.map_or(bytes.len(), |left| bytes.len().min(left as usize));
        if let Some(left) = &mut state.budget {
            *left -= fits as u64;
        }
        self.inner.write_all_at(&bytes[..fits], offset)?;
        if fits < bytes.len() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let mut state = self.fs.state();
        state.step()?;
        self.inner.sync()?;
        state.durable.insert(self.path.clone(), RealFs.read(&self.path)?);
        Ok(())
    }

    fn truncate(&self, len: u64) -> io::Result<()> {
        self.inner.truncate(len)
    }
}

impl Fs for FaultyFs {
    fn create(&self, path: &Path) -> io::Result<Box<dyn FsFile>> {
        let file = RealFs.create(path)?;
        self.state().durable.insert(path.to_path_buf(), Vec::new());
        Ok(self.wrap(path, file))
    }

    fn open_write(&self, path: &Path) -> io::Result<Box<dyn FsFile>> {
        let file = RealFs.open_write(path)?;
        let content = RealFs.read(path)?;
        self.state().durable.entry(path.to_path_buf()).or_insert(content);
        Ok(self.wrap(path, file))
    }

    fn open_read(&self, path: &Path) -> io::Result<Box<dyn FsRead>> {
        if self.state().closed.as_ref().is_some_and(|prefix| has_prefix(path, prefix)) {
            return Err(io::Error::from_raw_os_error(rustix::io::Errno::IO.raw_os_error()));
        }
        let (fs, path) = (self.clone(), path.to_path_buf());
        let inner = RealFs.open_read(&path)?;
        Ok(Box::new(FaultyRead { fs, path, inner }))
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let bytes = RealFs.read(path)?;
        self.state().check_read(path, 0, bytes.len() as u64)?;
        Ok(bytes)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.step()?;
        let before = state.durable.get(to).cloned().filter(|_| to.exists());
        let before = before.or_else(|| RealFs.read(to).ok());
        RealFs.rename(from, to)?;
        state.unsynced_names.push((to.to_path_buf(), before));
        if let Some(content) = state.durable.remove(from) {
            state.durable.insert(to.to_path_buf(), content);
        }
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        RealFs.remove(path)?;
        self.state().unsynced_names.retain(|(name, _)| name != path);
        Ok(())
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.step()?;
        RealFs.sync_dir(dir)?;
        state.unsynced_folders.retain(|folder| parent(folder) != dir);
        state.unsynced_names.retain(|(name, _)| parent(name) != dir);
        Ok(())
    }

    fn create_dir(&self, dir: &Path) -> io::Result<bool> {
        let is_new = RealFs.create_dir(dir)?;
        if is_new {
            self.state().unsynced_folders.push(dir.to_path_buf());
        }
        Ok(is_new)
    }

    fn remove_dir_all(&self, dir: &Path) -> io::Result<()> {
        RealFs.remove_dir_all(dir)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<(PathBuf, bool)>> {
        RealFs.list(dir)
    }
}
