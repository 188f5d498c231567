//! Damage of files, and backups of the files before it.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::fault::Damage;

/// Files before and after they were damaged.
#[derive(Default)]
pub(super) struct Backups(Vec<Backup>);

struct Backup {
    path: PathBuf,
    before: Vec<u8>,
    /// None if the file was deleted.
    after: Option<Vec<u8>>,
}

impl Backups {
    /// Damages a checkpoint file of the job on which a worker worked last. Returns false if there
    /// is none.
    pub(super) fn damage(&mut self, data: &Path, damage: Damage, place: u64) -> bool {
        let Some((path, before)) = checkpoint_file(data, place) else { return false };
        let after = damaged(&before, damage, place);
        match &after {
            Some(bytes) => std::fs::write(&path, bytes).unwrap(),
            // The worker may have removed the file just now.
            None => remove(&path),
        }
        self.0.push(Backup { path, before, after });
        true
    }

    /// Restores the damaged files of a job that nothing has replaced since. Returns their number.
    pub(super) fn restore(&self, job: &str) -> usize {
        let is_of_job = |backup: &&Backup| {
            let folder = backup.path.parent().expect("it is in a folder");
            folder.ends_with(job) && folder.is_dir()
        };
        let mut restored = 0;
        for backup in self.0.iter().rev().filter(is_of_job) {
            if std::fs::read(&backup.path).ok() == backup.after {
                // Another file of this name may still be open, so the file is replaced rather than
                // overwritten.
                let temp = backup.path.with_extension("restored");
                std::fs::write(&temp, &backup.before).unwrap();
                std::fs::rename(&temp, &backup.path).unwrap();
                restored += 1;
            }
        }
        restored
    }
}

/// A checkpoint file of the job folder that changed last, with its bytes.
fn checkpoint_file(data: &Path, place: u64) -> Option<(PathBuf, Vec<u8>)> {
    let mut files: Vec<(SystemTime, PathBuf)> = Vec::new();
    for folder in entries(data).into_iter().filter(|path| path.is_dir()) {
        let Ok(changed) = folder.metadata().and_then(|data| data.modified()) else { continue };
        let layers = entries(&folder).into_iter().filter(|path| {
            let name = path.file_name().expect("it has a name").to_string_lossy();
            let is_layer = name.starts_with("layer-") || name.starts_with("frontier-");
            is_layer && name.ends_with(".strata")
        });
        files.extend(layers.map(|path| (changed, path)));
    }
    let last = files.iter().map(|(changed, _)| *changed).max()?;
    files.retain(|(changed, _)| *changed == last);
    files.sort();
    let (_, path) = files.swap_remove(place as usize % files.len());
    // The worker may have removed it just now.
    let bytes = std::fs::read(&path).ok().filter(|bytes| !bytes.is_empty())?;
    Some((path, bytes))
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    entries.filter_map(|entry| Some(entry.ok()?.path())).collect()
}

fn remove(path: &Path) {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => panic!("{}: {error}", path.display()),
        _ => {}
    }
}

/// Bytes after damage; none if the file is deleted.
pub(super) fn damaged(bytes: &[u8], damage: Damage, place: u64) -> Option<Vec<u8>> {
    let mut bytes = bytes.to_vec();
    let at = (place >> 3) as usize % bytes.len();
    match damage {
        Damage::Flip => bytes[at] ^= 1 << (place & 7),
        Damage::Truncate => bytes.truncate(bytes.len() / 2),
        Damage::Overwrite => {
            let end = bytes.len().min(at + 64);
            bytes[at..end].iter_mut().for_each(|byte| *byte = !*byte);
        }
        Damage::Delete => return None,
    }
    Some(bytes)
}

/// Copies a folder whose files may disappear meanwhile.
pub(super) fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for path in entries(from) {
        let copy = to.join(path.file_name().expect("it has a name"));
        if path.is_dir() {
            copy_folder(&path, &copy);
        } else if let Err(error) = std::fs::copy(&path, &copy) {
            assert_eq!(error.kind(), ErrorKind::NotFound, "{}: {error}", path.display());
        }
    }
}

#[test]
fn damage_changes_every_file_and_its_backup_restores_it() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("job-1");
    std::fs::create_dir(&folder).unwrap();
    let path = folder.join("layer-000001-000.strata");
    let before: Vec<u8> = (0..200).collect();
    let kinds = [Damage::Flip, Damage::Truncate, Damage::Overwrite, Damage::Delete];
    for (number, damage) in kinds.into_iter().enumerate() {
        std::fs::write(&path, &before).unwrap();
        let mut backups = Backups::default();
        assert!(backups.damage(dir.path(), damage, 1_234_567 + number as u64));
        let after = std::fs::read(&path).ok();
        assert_ne!(after.as_ref(), Some(&before));
        assert_eq!(after.is_none(), damage == Damage::Delete);
        assert_eq!((backups.restore("job-2"), backups.restore("job-1")), (0, 1));
        assert_eq!(std::fs::read(&path).unwrap(), before);
        // What was written since then stays.
        std::fs::write(&path, "other").unwrap();
        assert_eq!(backups.restore("job-1"), 0);
    }
}
