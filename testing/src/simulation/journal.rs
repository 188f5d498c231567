//! The coordinator's journal, opened by a process on a simulated disk.

use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;

use redb::StorageBackend;

use crate::simulation::disk::Disk;
use crate::simulation::image::{Image, Write};
use crate::simulation::process::Process;

/// The database's file, opened by a process.
#[derive(Debug)]
pub(crate) struct JournalFile {
    process: Arc<Process>,
    disk: Arc<Disk>,
}

impl JournalFile {
    /// Opens the image of the file at `path`. The first call reads its content from the file.
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

    /// Fails after the end of the process: it must not see what its successor writes.
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
