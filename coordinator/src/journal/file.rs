//! The database file: creating it, opening it, transactions that end in an error and not in a panic.
//!
//! What the database leaves to its user when a byte of the file is damaged:
//! - Opened plainly it trusts the file and may panic. So every page that is in use is checked when
//!   it is opened; there are few. Damage that happens later is caught by the checksums of values,
//!   and where the database panics on it the panic becomes an error here.
//! - It has two commit slots. If the last commit is damaged it is taken for one that was never
//!   finished, and the one before it is gone back to; so it is if the bit is damaged that tells
//!   which is the last, which no checksum covers. So every commit is followed by an empty one: both
//!   slots have the same content then, and it does not matter which of them is taken.

use std::any::Any;
use std::cell::Cell;
use std::fs::File;
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};

use redb::{Builder, Database, ReadableDatabase, WriteTransaction};

use super::error::JournalError;
use super::random;
use super::table::{Reading, Tx, Writing};

type Result<T> = std::result::Result<T, JournalError>;

/// The whole journal is smaller, but for jobs of very many layers.
const CACHE_BYTES: usize = 16 << 20;

/// An open database; closed when dropped.
pub(super) struct Store {
    path: PathBuf,
    /// `None` only while it is dropped.
    database: Option<Database>,
}

impl Store {
    /// Opens the file and checks all of it; without a file, creates one that begins with `first`.
    pub(super) fn open(path: &Path, first: impl FnOnce(&Writing) -> Result<()>) -> Result<Self> {
        if !path.try_exists().map_err(JournalError::io("open", path))? {
            create(path, first)?;
        }
        open(path)
    }

    /// The file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads.
    pub(super) fn read<T>(&self, body: impl FnOnce(&Reading) -> Result<T>) -> Result<T> {
        let outside = Cell::new(false);
        guarded(&self.path, &outside, || {
            let database = self.database()?;
            let txn = database.begin_read().map_err(JournalError::database("read", &self.path))?;
            body(&Tx::new(&self.path, &txn, &outside))
        })
    }

    /// Reads and writes; what was written is durable afterwards. An error changes nothing, unless
    /// it comes from the commit itself: then all or nothing has changed.
    pub(super) fn write<T>(&self, body: impl FnOnce(&Writing) -> Result<T>) -> Result<T> {
        let outside = Cell::new(false);
        guarded(&self.path, &outside, || {
            let txn = self.begin()?;
            let tx = Tx::new(&self.path, &txn, &outside);
            let result = body(&tx)?;
            if tx.changed() {
                self.commit(txn)?;
                self.commit(self.begin()?)?;
            }
            Ok(result)
        })
    }

    fn database(&self) -> Result<&Database> {
        let closed =
            || JournalError::Unusable { path: self.path.clone(), what: "it is closed".to_owned() };
        self.database.as_ref().ok_or_else(closed)
    }

    fn begin(&self) -> Result<WriteTransaction> {
        let txn = self.database()?.begin_write();
        txn.map_err(JournalError::database("write", &self.path))
    }

    fn commit(&self, txn: WriteTransaction) -> Result<()> {
        txn.commit().map_err(JournalError::database("write", &self.path))
    }

    /// Closes it, and says if that fails.
    fn close(mut self) -> Result<()> {
        let Some(database) = self.database.take() else { return Ok(()) };
        database.close().map_err(JournalError::database("close", &self.path))
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // Closing writes, too, and reads what it needs for it. If it fails, opening repairs.
        let database = self.database.take();
        let _ = catch_unwind(AssertUnwindSafe(|| drop(database)));
    }
}

fn open(path: &Path) -> Result<Store> {
    guarded(path, &Cell::new(false), || {
        let database = builder().open(path).map_err(JournalError::database("open", path))?;
        Ok(Store { path: path.to_path_buf(), database: Some(database) })
    })
}

fn builder() -> Builder {
    let mut builder = Database::builder();
    builder.set_cache_size(CACHE_BYTES).set_check_integrity_on_open(true);
    builder
}

/// Creates a file under another name first, so that a file of this name is never half made: then it
/// could not be told from a damaged one.
fn create(path: &Path, first: impl FnOnce(&Writing) -> Result<()>) -> Result<()> {
    let failed = |op| JournalError::io(op, path);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temp = path.with_file_name(format!(".{name}.{}.new", random::letters()));
    let made = guarded(path, &Cell::new(false), || {
        let database = builder().create(&temp).map_err(JournalError::database("create", path))?;
        let store = Store { path: temp.clone(), database: Some(database) };
        store.write(first)?;
        store.close()?;
        File::open(&temp).and_then(|file| file.sync_all()).map_err(failed("create"))?;
        match std::fs::hard_link(&temp, path) {
            // Another process was faster; whether it still has it shows when it is opened.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            // There are file systems without such links.
            Err(_) => std::fs::rename(&temp, path).map_err(failed("create")),
            Ok(()) => Ok(()),
        }
    });
    match std::fs::remove_file(&temp) {
        Err(error) if error.kind() != ErrorKind::NotFound && made.is_ok() => {
            return Err(failed("create")(error));
        }
        _ => made?,
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = File::open(folder.unwrap_or(Path::new(".")));
    folder.and_then(|folder| folder.sync_all()).map_err(failed("create"))
}

/// Makes an error of a panic, unless code of the caller is to blame for it.
fn guarded<T>(path: &Path, outside: &Cell<bool>, body: impl FnOnce() -> Result<T>) -> Result<T> {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(result) => result,
        Err(panic) if outside.get() => resume_unwind(panic),
        Err(panic) => {
            let what = format!("the database gave up: {}", text(&*panic));
            Err(JournalError::corrupt(path, what))
        }
    }
}

fn text(panic: &(dyn Any + Send)) -> &str {
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    owned.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("for no stated reason")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_the_database_is_an_error() {
        let outside = Cell::new(false);
        let panics = || -> Result<()> { panic!("bad page {}", 7) };
        let error = guarded(Path::new("j"), &outside, panics).unwrap_err();
        let expected = "the journal j is corrupt: the database gave up: bad page 7";
        assert_eq!(error.to_string(), expected);
    }
}
