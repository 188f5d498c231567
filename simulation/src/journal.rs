//! The coordinator's journal on a simulated disk: an image of the database's file, with the writes
//! that are not durable.

use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use redb::StorageBackend;

use crate::disk::{Disk, SECTOR};
use crate::process::Process;
use crate::world::World;

#[derive(Clone, Debug)]
enum Write {
    Bytes { offset: usize, bytes: Vec<u8> },
    Len(usize),
}

impl Write {
    fn apply(&self, content: &mut Vec<u8>) {
        match self {
            Write::Bytes { offset, bytes } => {
                let end = offset + bytes.len();
                if content.len() < end {
                    content.resize(end, 0);
                }
                content[*offset..end].copy_from_slice(bytes);
            }
            Write::Len(len) => content.resize(*len, 0),
        }
    }
}

#[derive(Debug, Default)]
struct Image {
    /// `None` before the file is opened for the first time.
    content: Option<Vec<u8>>,
    /// The content of the last sync.
    durable: Vec<u8>,
    /// Writes since then.
    writes: Vec<Write>,
}

/// The content of the database's file.
#[derive(Debug, Default)]
pub(crate) struct JournalImage(Mutex<Image>);

impl JournalImage {
    fn lock(&self) -> MutexGuard<'_, Image> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The durable content, as a backup has it.
    pub(crate) fn backup(&self) -> Option<Vec<u8>> {
        let image = self.lock();
        image.content.is_some().then(|| image.durable.clone())
    }

    /// Puts a backup back. No process may have the journal open.
    pub(crate) fn restore(&self, backup: Vec<u8>) {
        let mut image = self.lock();
        image.durable.clone_from(&backup);
        image.content = Some(backup);
        image.writes.clear();
    }

    /// Removes the content, as with its file.
    pub(crate) fn erase(&self) {
        *self.lock() = Image::default();
    }

    /// Loses writes that are not durable: each is kept, lost, or kept in part.
    pub(crate) fn lose_power(&self, world: &World) {
        let mut image = self.lock();
        if image.content.is_none() {
            return;
        }
        let mut content = image.durable.clone();
        for write in std::mem::take(&mut image.writes) {
            match world.below(3) {
                0 => {}
                1 => write.apply(&mut content),
                _ => tear(world, write).iter().for_each(|part| part.apply(&mut content)),
            }
        }
        image.durable.clone_from(&content);
        image.content = Some(content);
    }
}

/// Some sectors of a write.
fn tear(world: &World, write: Write) -> Vec<Write> {
    let Write::Bytes { offset, bytes } = write else { return vec![write] };
    let parts = bytes.chunks(SECTOR).enumerate();
    let parts = parts.map(|(part, bytes)| Write::Bytes {
        offset: offset + part * SECTOR,
        bytes: bytes.to_vec(),
    });
    parts.filter(|_| world.one_in(2)).collect()
}

/// The database's file as a process has it open.
#[derive(Debug)]
pub(crate) struct JournalFile {
    process: Arc<Process>,
    disk: Arc<Disk>,
}

impl JournalFile {
    /// Opens the image. The first time it has the content of a file.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(crate) fn open(
        process: &Arc<Process>,
        disk: &Arc<Disk>,
        path: &Path,
    ) -> io::Result<JournalFile> {
        let mut image = disk.journal.lock();
        if image.content.is_none() {
            image.durable = std::fs::read(path)?;
            image.content = Some(image.durable.clone());
        }
        drop(image);
        Ok(JournalFile { process: Arc::clone(process), disk: Arc::clone(disk) })
    }

    /// A process that has ended must not see what its successor writes.
    fn check_alive(&self) -> io::Result<()> {
        if self.process.is_alive() {
            Ok(())
        } else {
            Err(io::Error::other("the process has ended"))
        }
    }

    fn change(&self, write: Write) -> io::Result<()> {
        if self.disk.is_full() {
            return Err(ErrorKind::StorageFull.into());
        }
        self.process.step()?;
        let mut image = self.disk.journal.lock();
        let content = image.content.as_mut().ok_or(ErrorKind::NotFound)?;
        write.apply(content);
        image.writes.push(write);
        Ok(())
    }
}

impl StorageBackend for JournalFile {
    fn len(&self) -> io::Result<u64> {
        self.check_alive()?;
        let image = self.disk.journal.lock();
        Ok(image.content.as_ref().map_or(0, Vec::len) as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.check_alive()?;
        let image = self.disk.journal.lock();
        let content = image.content.as_deref().unwrap_or_default();
        let bytes = content.get(offset as usize..).and_then(|rest| rest.get(..out.len()));
        out.copy_from_slice(bytes.ok_or(ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.change(Write::Len(len as usize))
    }

    fn sync_data(&self) -> io::Result<()> {
        self.process.step()?;
        let mut image = self.disk.journal.lock();
        let Image { durable, writes, .. } = &mut *image;
        writes.drain(..).for_each(|write| write.apply(durable));
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.change(Write::Bytes { offset: offset as usize, bytes: data.to_vec() })
    }
}
