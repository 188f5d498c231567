//! An image of the coordinator's journal, with the writes that are not durable.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::simulation::random::Random;

/// Bytes that a disk writes at once.
pub(crate) const SECTOR: usize = 512;

/// A change of the file.
#[derive(Clone, Debug)]
pub(crate) enum Write {
    Bytes { offset: usize, bytes: Vec<u8> },
    Len(usize),
}

impl Write {
    pub(crate) fn apply(&self, content: &mut Vec<u8>) {
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

/// Content of the file, and its durable part.
#[derive(Debug, Default)]
pub(crate) struct Image {
    /// `None` before the file is opened for the first time.
    pub(crate) content: Option<Vec<u8>>,
    /// The content of the last sync.
    pub(crate) durable: Vec<u8>,
    /// Writes since then.
    pub(crate) writes: Vec<Write>,
}

/// Image of the database's file.
#[derive(Debug, Default)]
pub(crate) struct JournalImage(Mutex<Image>);

impl JournalImage {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Image> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The durable content, for a backup.
    pub(crate) fn backup(&self) -> Option<Vec<u8>> {
        let image = self.lock();
        image.content.is_some().then(|| image.durable.clone())
    }

    /// Restores a backup. No process may have the journal open.
    pub(crate) fn restore(&self, backup: Vec<u8>) {
        let mut image = self.lock();
        image.durable.clone_from(&backup);
        image.content = Some(backup);
        image.writes.clear();
    }

    /// Removes the content, as if the file were deleted.
    pub(crate) fn erase(&self) {
        *self.lock() = Image::default();
    }

    /// Simulates a power loss: each write that is not durable is kept, lost, or kept in part.
    pub(crate) fn lose_power(&self, random: &Random) {
        let mut image = self.lock();
        if image.content.is_none() {
            return;
        }
        let mut content = image.durable.clone();
        for write in std::mem::take(&mut image.writes) {
            match random.below(3) {
                0 => {}
                1 => write.apply(&mut content),
                _ => tear(random, write).iter().for_each(|part| part.apply(&mut content)),
            }
        }
        image.durable.clone_from(&content);
        image.content = Some(content);
    }
}

/// Some sectors of a write.
fn tear(random: &Random, write: Write) -> Vec<Write> {
    let Write::Bytes { offset, bytes } = write else { return vec![write] };
    let parts = bytes.chunks(SECTOR).enumerate();
    let parts = parts.map(|(part, bytes)| Write::Bytes {
        offset: offset + part * SECTOR,
        bytes: bytes.to_vec(),
    });
    parts.filter(|_| random.one_in(2)).collect()
}
