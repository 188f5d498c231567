//! Disk of a simulated host: real files in a temporary folder, and the effects of a power loss on
//! them.
//!
//! Content that is not synced may be lost or torn, sector by sector. Creations, renames and removals
//! in a folder that is not synced may be undone, the last ones first. A folder whose creation is undone
//! is lost with all that it holds.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use strata_store::{Fs, FsFile, FsRead, RealFs};

use crate::simulation::image::{JournalImage, SECTOR};
use crate::simulation::process::Process;
use crate::simulation::random::Random;
use crate::simulation::world::World;

/// A change of a name that is not durable yet, with the data to undo it.
#[derive(Debug)]
enum Change {
    /// The file was created; it may have replaced another file of that name.
    Created { path: PathBuf, before: Option<PathBuf> },
    /// The folder was created.
    NewFolder { path: PathBuf },
    /// The file was renamed; it may have replaced another file.
    Renamed { from: PathBuf, to: PathBuf, before: Option<PathBuf> },
    /// The file was removed; a second name keeps it.
    Removed { path: PathBuf, kept: PathBuf },
}

impl Change {
    fn is_in(&self, dir: &Path) -> bool {
        let (Change::Created { path, .. }
        | Change::NewFolder { path }
        | Change::Renamed { to: path, .. }
        | Change::Removed { path, .. }) = self;
        path.parent() == Some(dir)
    }
}

#[derive(Debug, Default)]
struct State {
    /// The synced content of files that have unsynced content.
    synced: BTreeMap<PathBuf, Vec<u8>>,
    changes: Vec<Change>,
}

impl State {
    /// Drops the undo data of a folder.
    fn forget(&mut self, dir: &Path) {
        self.synced.retain(|path, _| path.parent() != Some(dir));
        self.changes.retain(|change| !change.is_in(dir));
    }
}

/// The disk of a host.
#[derive(Debug)]
pub(crate) struct Disk {
    random: Random,
    root: tempfile::TempDir,
    state: Mutex<State>,
    full: AtomicBool,
    /// The coordinator's journal.
    pub(crate) journal: JournalImage,
    /// Number of second names given so far.
    kept: AtomicU64,
    /// Number of temporary names given so far.
    temporary: AtomicU64,
}

impl Disk {
    pub(crate) fn new(world: &Arc<World>) -> io::Result<Arc<Disk>> {
        let shared = Path::new("/dev/shm");
        let parent = if shared.is_dir() { shared.to_owned() } else { std::env::temp_dir() };
        let root = tempfile::Builder::new().prefix(&name()).rand_bytes(0).tempdir_in(parent)?;
        std::fs::create_dir(root.path().join("disk"))?;
        std::fs::create_dir(root.path().join("kept"))?;
        Ok(Arc::new(Disk {
            random: world.part("disk", 0, 0),
            root,
            state: Mutex::default(),
            full: AtomicBool::new(false),
            journal: JournalImage::default(),
            kept: AtomicU64::new(0),
            temporary: AtomicU64::new(0),
        }))
    }

    /// Path of the data directory. The process that uses it creates it and its parent.
    pub(crate) fn data(&self) -> PathBuf {
        self.root.path().join("disk").join("strata").join("data")
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fills the disk, or makes room on it again.
    pub(crate) fn set_full(&self, full: bool) {
        self.full.store(full, Ordering::Release);
    }

    pub(crate) fn is_full(&self) -> bool {
        self.full.load(Ordering::Acquire)
    }

    /// A free name for a file that may come back.
    fn spare(&self) -> PathBuf {
        let number = self.kept.fetch_add(1, Ordering::Relaxed);
        self.root.path().join("kept").join(number.to_string())
    }

    /// Gives a file a second name, if it exists.
    fn keep(&self, path: &Path) -> io::Result<Option<PathBuf>> {
        let spare = self.spare();
        match std::fs::hard_link(path, &spare) {
            Ok(()) => Ok(Some(spare)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Simulates a power loss: content and names that are not durable are lost, completely, in part
    /// or not at all.
    pub(crate) fn lose_power(&self) -> io::Result<()> {
        self.journal.lose_power(&self.random);
        let mut state = self.state();
        let State { synced, changes, .. } = &mut *state;
        for (path, durable) in std::mem::take(synced) {
            let Ok(written) = std::fs::read(&path) else { continue };
            let content = match self.random.below(3) {
                0 => durable,
                1 => written,
                _ => torn(&self.random, &durable, &written),
            };
            self.replace(&path, &content)?;
        }
        let undone = self.random.below(changes.len() as u64 + 1) as usize;
        for change in changes.drain(..).rev().take(undone) {
            undo(change)?;
        }
        if !self.data().exists() {
            self.journal.erase();
        }
        Ok(())
    }

    /// Gives a file new content under the same name. The old file stays unchanged, since it may be
    /// open.
    fn replace(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        let spare = self.spare();
        std::fs::write(&spare, content)?;
        std::fs::rename(&spare, path)
    }

    /// The files of the data directory, in order.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let mut folders = vec![self.data()];
        let mut files = Vec::new();
        while let Some(folder) = folders.pop() {
            let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
            for path in entries.map(|entry| entry.path()) {
                if path.is_dir() { folders.push(path) } else { files.push(path) }
            }
        }
        files.sort_unstable();
        files
    }

    /// Flips a bit of a file.
    pub(crate) fn damage(&self, path: &Path) -> io::Result<()> {
        let mut content = std::fs::read(path)?;
        if !content.is_empty() {
            let bit = self.random.below(8 * content.len() as u64) as usize;
            content[bit / 8] ^= 1 << (bit % 8);
            self.replace(path, &content)?;
        }
        Ok(())
    }

    /// Removes everything.
    pub(crate) fn erase(&self) -> io::Result<()> {
        *self.state() = State::default();
        self.journal.erase();
        remove_folder(&self.data())
    }
}

/// A unique name for a disk.
fn name() -> String {
    static DISKS: AtomicU64 = AtomicU64::new(0);
    let number = DISKS.fetch_add(1, Ordering::Relaxed);
    format!("strata-simulation-{}-{}", digits(std::process::id().into()), digits(number))
}

/// A number in the names of files.
///
/// Paths are in error messages, and headers have a compressed length that depends on their letters.
/// So that runs repeat exactly, all numbers have the same length and only the digits 0 to 2, which
/// compress equally.
fn digits(number: u64) -> String {
    let digit = |place| char::from(b'0' + (number / 3_u64.pow(place) % 3) as u8);
    (0..20).rev().map(digit).collect()
}

/// Removes a folder with all that it holds, if there is one.
fn remove_folder(path: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Content of which some sectors are new and some are old.
fn torn(random: &Random, durable: &[u8], written: &[u8]) -> Vec<u8> {
    let least = durable.len().min(written.len()) as u64;
    let most = durable.len().max(written.len()) as u64;
    let len = (least + random.below(most - least + 1)) as usize;
    let mut content = vec![0; len];
    for (sector, bytes) in content.chunks_mut(SECTOR).enumerate() {
        let source = if random.one_in(2) { durable } else { written };
        let source = source.get(sector * SECTOR..).unwrap_or_default();
        let copied = source.len().min(bytes.len());
        bytes[..copied].copy_from_slice(&source[..copied]);
    }
    content
}

fn undo(change: Change) -> io::Result<()> {
    let bring_back = |kept: Option<PathBuf>, path: &Path| match kept {
        Some(kept) => std::fs::rename(kept, path),
        None => match std::fs::remove_file(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            done => done,
        },
    };
    match change {
        Change::Created { path, before } => bring_back(before, &path),
        Change::NewFolder { path } => remove_folder(&path),
        Change::Removed { path, kept } => std::fs::rename(kept, path),
        Change::Renamed { from, to, before } => {
            if to.exists() {
                std::fs::rename(&to, &from)?;
            }
            before.map_or(Ok(()), |kept| std::fs::rename(kept, &to))
        }
    }
}

/// File system of a process on its host's disk. After the end of the process it changes nothing.
#[derive(Clone, Debug)]
pub(crate) struct ProcessFs {
    process: Arc<Process>,
    disk: Arc<Disk>,
}

impl ProcessFs {
    pub(crate) fn new(process: &Arc<Process>, disk: &Arc<Disk>) -> ProcessFs {
        ProcessFs { process: Arc::clone(process), disk: Arc::clone(disk) }
    }

    /// Takes a step of the process that changes the disk.
    fn step(&self) -> io::Result<MutexGuard<'_, State>> {
        self.process.step()?;
        Ok(self.disk.state())
    }

    fn file(&self, path: &Path, file: Box<dyn FsFile>) -> Box<dyn FsFile> {
        Box::new(ProcessFile { fs: self.clone(), path: path.to_path_buf(), file })
    }
}

#[derive(Debug)]
struct ProcessFile {
    fs: ProcessFs,
    path: PathBuf,
    file: Box<dyn FsFile>,
}

impl ProcessFile {
    /// Records the synced content before the first change.
    fn remember(&self, state: &mut State) -> io::Result<()> {
        if !state.synced.contains_key(&self.path) {
            // The content of a file that was removed or renamed no longer matters.
            let durable = std::fs::read(&self.path).unwrap_or_default();
            state.synced.insert(self.path.clone(), durable);
        }
        Ok(())
    }
}

impl FsFile for ProcessFile {
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        if self.fs.disk.is_full() {
            let fits = self.fs.disk.random.below(bytes.len() as u64 + 1) as usize;
            self.remember(&mut *self.fs.step()?)?;
            self.file.write_all_at(&bytes[..fits], offset)?;
            return Err(ErrorKind::StorageFull.into());
        }
        match self.fs.step() {
            Ok(mut state) => {
                self.remember(&mut state)?;
                self.file.write_all_at(bytes, offset)
            }
            Err(error) => Err(error),
        }
    }

    fn sync(&self) -> io::Result<()> {
        self.fs.step()?.synced.remove(&self.path);
        Ok(())
    }

    fn truncate(&self, len: u64) -> io::Result<()> {
        self.remember(&mut *self.fs.step()?)?;
        self.file.truncate(len)
    }
}

impl Fs for ProcessFs {
    fn create(&self, path: &Path) -> io::Result<Box<dyn FsFile>> {
        let mut state = self.step()?;
        if self.disk.is_full() {
            return Err(ErrorKind::StorageFull.into());
        }
        let before = self.disk.keep(path)?;
        if before.is_some() {
            // The name gets a new file, so that the old file can come back.
            std::fs::remove_file(path)?;
        }
        let file = RealFs.create(path)?;
        state.changes.push(Change::Created { path: path.to_path_buf(), before });
        state.synced.insert(path.to_path_buf(), Vec::new());
        Ok(self.file(path, file))
    }

    fn open_write(&self, path: &Path) -> io::Result<Box<dyn FsFile>> {
        drop(self.step()?);
        Ok(self.file(path, RealFs.open_write(path)?))
    }

    fn open_read(&self, path: &Path) -> io::Result<Box<dyn FsRead>> {
        RealFs.open_read(path)
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        RealFs.read(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.step()?;
        let before = self.disk.keep(to)?;
        RealFs.rename(from, to)?;
        state.synced.remove(to);
        if let Some(content) = state.synced.remove(from) {
            state.synced.insert(to.to_path_buf(), content);
        }
        // A folder is renamed before it is deleted, so nothing in it comes back.
        state.forget(from);
        let (from, to) = (from.to_path_buf(), to.to_path_buf());
        state.changes.push(Change::Renamed { from, to, before });
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.step()?;
        let kept = self.disk.keep(path)?;
        RealFs.remove(path)?;
        state.synced.remove(path);
        if let Some(kept) = kept {
            state.changes.push(Change::Removed { path: path.to_path_buf(), kept });
        }
        Ok(())
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.step()?.changes.retain(|change| !change.is_in(dir));
        Ok(())
    }

    fn create_dir(&self, dir: &Path) -> io::Result<bool> {
        let mut state = self.step()?;
        let is_new = RealFs.create_dir(dir)?;
        if is_new {
            state.changes.push(Change::NewFolder { path: dir.to_path_buf() });
        }
        Ok(is_new)
    }

    fn remove_dir_all(&self, dir: &Path) -> io::Result<()> {
        self.step()?.forget(dir);
        RealFs.remove_dir_all(dir)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<(PathBuf, bool)>> {
        let mut entries = RealFs.list(dir)?;
        entries.sort_unstable();
        Ok(entries)
    }

    /// Counted by disk: a counter of the real process would depend on other simulations in it.
    fn unique_suffix(&self) -> String {
        digits(self.disk.temporary.fetch_add(1, Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use strata_store::{create_dir_durably, write_durably};

    use super::*;
    use crate::simulation::scheduler::Scheduler;

    /// The contents of file `name` after a power loss, over many seeds; `None` if it is gone.
    fn left(name: &str, work: impl Fn(&ProcessFs, &Path)) -> BTreeSet<Option<Vec<u8>>> {
        let after = |seed| {
            let world = World::new(seed, &Scheduler::of_times());
            let disk = Disk::new(&world).unwrap();
            let data = disk.data();
            std::fs::create_dir_all(&data).unwrap();
            work(&ProcessFs::new(&Process::new(1, &world), &disk), &data);
            disk.lose_power().unwrap();
            std::fs::read(data.join(name)).ok()
        };
        (0..100).map(after).collect()
    }

    #[tokio::test]
    async fn content_that_is_not_synced_may_be_lost_or_torn() {
        let (old, new) = (vec![1; 3 * SECTOR], vec![2; 3 * SECTOR]);
        let found = left("file", |fs, data| {
            let file = fs.create(&data.join("file")).unwrap();
            file.write_all_at(&vec![1; 3 * SECTOR], 0).unwrap();
            file.sync().unwrap();
            fs.sync_dir(data).unwrap();
            file.write_all_at(&vec![2; 3 * SECTOR], 0).unwrap();
        });
        assert!(found.contains(&Some(old)) && found.contains(&Some(new)));
        assert!(found.len() > 3 && !found.contains(&None));
    }

    #[tokio::test]
    async fn names_that_are_not_synced_may_be_undone() {
        let replace = |is_synced: bool| {
            left("b", move |fs, data| {
                for (name, byte) in [("b", 1), ("a", 2)] {
                    let file = fs.create(&data.join(name)).unwrap();
                    file.write_all_at(&[byte], 0).unwrap();
                    file.sync().unwrap();
                }
                fs.sync_dir(data).unwrap();
                fs.rename(&data.join("a"), &data.join("b")).unwrap();
                if is_synced {
                    fs.sync_dir(data).unwrap();
                }
            })
        };
        assert_eq!(replace(true), BTreeSet::from([Some(vec![2])]));
        assert_eq!(replace(false), BTreeSet::from([Some(vec![1]), Some(vec![2])]));
    }

    #[tokio::test]
    async fn folders_whose_names_are_not_synced_may_be_lost() {
        let create = |is_synced: bool| {
            left("a/b/file", move |fs, data| {
                for dir in ["a", "a/b"] {
                    fs.create_dir(&data.join(dir)).unwrap();
                }
                write_durably(fs, &data.join("a/b/file"), b"1").unwrap();
                if is_synced {
                    fs.sync_dir(&data.join("a")).unwrap();
                    fs.sync_dir(data).unwrap();
                }
            })
        };
        assert_eq!(create(true), BTreeSet::from([Some(vec![b'1'])]));
        assert_eq!(create(false), BTreeSet::from([None, Some(vec![b'1'])]));
        let durably = left("a/b/file", |fs, data| {
            create_dir_durably(fs, &data.join("a/b")).unwrap();
            write_durably(fs, &data.join("a/b/file"), b"1").unwrap();
        });
        assert_eq!(durably, BTreeSet::from([Some(vec![b'1'])]));
    }

    #[tokio::test]
    async fn temporary_names_depend_only_on_the_disk() {
        let suffixes = || {
            let world = World::new(0, &Scheduler::of_times());
            let fs = ProcessFs::new(&Process::new(1, &world), &Disk::new(&world).unwrap());
            (0..200).map(|_| fs.unique_suffix()).collect::<BTreeSet<_>>()
        };
        assert_eq!(suffixes(), suffixes());
        assert_eq!(suffixes().len(), 200);
        assert!(suffixes().iter().all(|suffix| suffix.len() == 20));
    }

    #[tokio::test]
    async fn a_process_that_has_ended_changes_nothing() {
        let world = World::new(0, &Scheduler::of_times());
        let disk = Disk::new(&world).unwrap();
        let process = Process::new(1, &world);
        let fs = ProcessFs::new(&process, &disk);
        std::fs::create_dir_all(disk.data()).unwrap();
        let file = fs.create(&disk.data().join("file")).unwrap();
        process.crash_after(1);
        file.write_all_at(b"1", 0).unwrap();
        assert!(file.write_all_at(b"2", 0).is_err());
        assert!(fs.remove(&disk.data().join("file")).is_err());
        assert_eq!(std::fs::read(disk.data().join("file")).unwrap(), b"1");
    }
}
