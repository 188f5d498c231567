//! Database file: creation, opening, and transactions that return errors instead of panicking.
//!
//! The database (redb) does not detect all damage by itself:
//! - By default it does not check the file and may panic on damage. Here all pages in use are
//!   checked on opening; they are few. Checksums of values detect later damage, and a panic of the
//!   database becomes an error.
//! - It has two commit slots. It treats a damaged last commit as unfinished and rolls back to the
//!   previous commit. The bit that selects the last slot has no checksum. Here an empty commit
//!   follows every commit, so that both slots have the same content.

use std::cell::Cell;
use std::fs::File;
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use redb::backends::FileBackend;
use redb::{Builder, Database, ReadableDatabase, WriteTransaction};
use strata_proto::platform::{Instant, Panicked};
use strata_store::open_private;

use super::error::JournalError;
use super::health::Health;
use super::setup::JournalSetup;
use super::table::{Reading, Tx, Writing};

type Result<T> = std::result::Result<T, JournalError>;

/// Size of the database's cache. Most journals are smaller.
const CACHE_BYTES: usize = 16 << 20;

/// End of the name of a file that is being created.
const NEW: &str = ".new";

/// Minimum time between two attempts to open the database again.
const REOPEN_INTERVAL: Duration = Duration::from_secs(1);

/// Size below which the file is not shrunk.
const SHRINK_BYTES: u64 = 4 << 20;

/// The file shrinks when at most 1/`SPARSE` of it is in use.
const SPARSE: u64 = 4;

/// A database file. Dropping closes it.
///
/// After an error of the operating system the database refuses all operations until it is opened
/// again. The store opens it again at its next use, at most once a second.
pub(super) struct Store {
    path: PathBuf,
    setup: JournalSetup,
    open: RwLock<OpenDatabase>,
    health: Health,
}

/// The open database, if it could be opened.
struct OpenDatabase {
    database: Option<Database>,
    /// Whether the database refuses all operations.
    is_broken: bool,
    /// Time of the last attempt to open the database again.
    reopened: Option<Instant>,
}

impl OpenDatabase {
    /// Whether it can be opened again now.
    fn is_due(&self) -> bool {
        self.is_broken && self.reopened.is_none_or(|last| last.elapsed() >= REOPEN_INTERVAL)
    }
}

impl Store {
    /// Opens the file and checks all of it. Creates a missing file with the content of `first`.
    pub(super) fn open(
        path: &Path,
        setup: JournalSetup,
        first: impl FnOnce(&Writing) -> Result<()>,
    ) -> Result<Self> {
        if !path.try_exists().map_err(JournalError::io("open", path))? {
            create(path, &setup, first)?;
        }
        let database = open(path, &setup)?;
        Ok(Store::new(path, setup, database))
    }

    fn new(path: &Path, setup: JournalSetup, database: Database) -> Store {
        let open = OpenDatabase { database: Some(database), is_broken: false, reopened: None };
        Store { path: path.to_path_buf(), setup, open: RwLock::new(open), health: Health::new() }
    }

    /// Path of the file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Health of the file: its current fault, and the time of the last successful write.
    pub(super) fn health(&self) -> &Health {
        &self.health
    }

    /// Runs a read transaction.
    pub(super) fn read<T>(&self, body: impl FnOnce(&Reading) -> Result<T>) -> Result<T> {
        let in_caller = Cell::new(false);
        let open = self.ready();
        let result = catch_panic(&self.path, &in_caller, || {
            let database = self.database(&open)?;
            let txn = database.begin_read().map_err(JournalError::database("read", &self.path))?;
            body(&Tx::new(&self.path, &txn, &in_caller))
        });
        drop(open);
        self.checked(result)
    }

    /// Runs a durable write transaction. After an error nothing has changed, except that an error
    /// of the commit leaves open whether all or nothing has changed.
    pub(super) fn write<T>(&self, body: impl FnOnce(&Writing) -> Result<T>) -> Result<T> {
        let in_caller = Cell::new(false);
        let open = self.ready();
        let written = catch_panic(&self.path, &in_caller, || {
            let database = self.database(&open)?;
            let txn = self.begin(database)?;
            let tx = Tx::new(&self.path, &txn, &in_caller);
            let result = body(&tx)?;
            let changed = tx.changed();
            if changed {
                self.commit(txn)?;
                self.commit(self.begin(database)?)?;
            }
            Ok((result, changed))
        });
        drop(open);
        let (result, changed) = self.checked(written)?;
        if changed {
            self.health.succeeded(&self.path);
        }
        Ok(result)
    }

    /// Shrinks the file if most of it is free. Other transactions wait meanwhile.
    pub(super) fn shrink(&self) -> Result<()> {
        let metadata = std::fs::metadata(&self.path);
        let len = metadata.map_err(JournalError::io("read", &self.path))?.len();
        if len < SHRINK_BYTES {
            return Ok(());
        }
        let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        let shrunk = match &mut open.database {
            Some(database) => catch_panic(&self.path, &Cell::new(false), || {
                let txn = self.begin(database)?;
                let stats = txn.stats().map_err(JournalError::database("shrink", &self.path))?;
                txn.abort().map_err(JournalError::database("shrink", &self.path))?;
                let used = stats.allocated_pages() * stats.page_size() as u64;
                if used > len / SPARSE {
                    return Ok(());
                }
                database.compact().map_err(JournalError::database("shrink", &self.path))?;
                self.commit(self.begin(database)?)
            }),
            None => Ok(()),
        };
        drop(open);
        self.checked(shrunk)
    }

    /// Locks the database for use, after opening it again if that is due.
    fn ready(&self) -> RwLockReadGuard<'_, OpenDatabase> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        if !open.is_due() {
            return open;
        }
        drop(open);
        self.reopen();
        self.open.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens the database again if that is due.
    fn reopen(&self) {
        let mut state = self.open.write().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have opened it already.
        if !state.is_due() {
            return;
        }
        state.reopened = Some(Instant::now());
        // The file's lock ends with the old database.
        close_quietly(state.database.take());
        match open(&self.path, &self.setup) {
            Ok(database) => {
                state.database = Some(database);
                state.is_broken = false;
            }
            Err(error) => self.health.failed(&error),
        }
    }

    /// Records an error after which the database refuses all operations, and opens it again if that
    /// is due, so that reads succeed even on a full disk. Returns the original error rather than
    /// that of a refused operation.
    fn checked<T>(&self, result: Result<T>) -> Result<T> {
        let Err(error) = result else { return result };
        if !error.is_unavailable() {
            return Err(error);
        }
        self.open.write().unwrap_or_else(PoisonError::into_inner).is_broken = true;
        let error = match error {
            JournalError::Unusable { .. } => self.health.fault().unwrap_or(error),
            error => error,
        };
        self.health.failed(&error);
        self.reopen();
        Err(error)
    }

    fn database<'a>(&self, open: &'a OpenDatabase) -> Result<&'a Database> {
        let closed =
            || JournalError::Unusable { path: self.path.clone(), what: "it is closed".to_owned() };
        open.database.as_ref().ok_or_else(closed)
    }

    fn begin(&self, database: &Database) -> Result<WriteTransaction> {
        database.begin_write().map_err(JournalError::database("write", &self.path))
    }

    fn commit(&self, txn: WriteTransaction) -> Result<()> {
        txn.commit().map_err(JournalError::database("write", &self.path))
    }

    /// Closes the database. Returns the error if that fails.
    fn close(self) -> Result<()> {
        let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        let Some(database) = open.database.take() else { return Ok(()) };
        database.close().map_err(JournalError::database("close", &self.path))
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        let open = self.open.get_mut().unwrap_or_else(PoisonError::into_inner);
        close_quietly(open.database.take());
    }
}

/// Closes a database and ignores errors. Closing reads and writes the file; after a failure the
/// next opening repairs the file.
fn close_quietly(database: Option<Database>) {
    let _ = catch_unwind(AssertUnwindSafe(|| drop(database)));
}

fn open(path: &Path, setup: &JournalSetup) -> Result<Database> {
    catch_panic(path, &Cell::new(false), || {
        setup.open(&builder(), path).map_err(JournalError::database("open", path))
    })
}

fn builder() -> Builder {
    let mut builder = Database::builder();
    builder.set_cache_size(CACHE_BYTES).set_check_integrity_on_open(true);
    builder
}

/// Creates a file under a temporary name, then gives it its final name: an incomplete file of the
/// final name would look like a damaged one.
fn create(
    path: &Path,
    setup: &JournalSetup,
    first: impl FnOnce(&Writing) -> Result<()>,
) -> Result<()> {
    let failed = |op| JournalError::io(op, path);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temp = path.with_file_name(format!(".{name}.{}{NEW}", setup.letters()?));
    let created = catch_panic(path, &Cell::new(false), || {
        // The database would create a file that others can read.
        let mut new = File::options();
        let file = open_private(new.read(true).write(true).create_new(true), &temp);
        let file = FileBackend::new(file.map_err(failed("create"))?);
        let database = file.and_then(|file| builder().create_with_backend(file));
        let database = database.map_err(JournalError::database("create", path))?;
        let store = Store::new(&temp, setup.clone(), database);
        store.write(first)?;
        store.close()?;
        File::open(&temp).and_then(|file| file.sync_all()).map_err(failed("create"))?;
        match std::fs::hard_link(&temp, path) {
            // Another process has created the file first. If it still uses the file, opening it
            // fails.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            // Some file systems have no hard links.
            Err(_) => std::fs::rename(&temp, path).map_err(failed("create")),
            Ok(()) => Ok(()),
        }
    });
    match std::fs::remove_file(&temp) {
        Err(error) if error.kind() != ErrorKind::NotFound && created.is_ok() => {
            return Err(failed("create")(error));
        }
        _ => created?,
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = File::open(folder.unwrap_or(Path::new(".")));
    folder.and_then(|folder| folder.sync_all()).map_err(failed("create"))
}

/// Whether `name` is the temporary name of a file `of` in its folder while it is created.
pub(super) fn is_temporary(name: &str, of: &str) -> bool {
    let rest = name.strip_prefix('.').and_then(|rest| rest.strip_prefix(of));
    let rest = rest.and_then(|rest| rest.strip_prefix('.'));
    rest.and_then(|rest| rest.strip_suffix(NEW)).is_some_and(JournalSetup::are_letters)
}

/// Converts a panic to an error, except a panic in the caller's code.
fn catch_panic<T>(
    path: &Path,
    in_caller: &Cell<bool>,
    body: impl FnOnce() -> Result<T>,
) -> Result<T> {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(result) => result,
        Err(panic) if in_caller.get() => resume_unwind(panic),
        Err(panic) => {
            let what = format!("the database panicked: {}", Panicked::of(&*panic));
            Err(JournalError::corrupt(path, what))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn temporary_names_are_recognised() {
        let letters = JournalSetup::default().letters().unwrap();
        assert!(is_temporary(&format!(".journal.redb.{letters}.new"), "journal.redb"));
        for other in [
            ".journal.redb.new",
            ".journal.redb..new",
            ".journal.redb.abcdefg.new",
            ".journal.redb.abc.de.new",
            ".journal.redb.Backup.new",
            ".journal.abcdef.new",
            "journal.redb.abcdef.new",
            "journal.redb",
        ] {
            assert!(!is_temporary(other, "journal.redb"), "{other}");
        }
    }

    #[test]
    fn only_the_owner_can_read_a_journal_even_while_it_is_created() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.redb");
        let modes = || {
            let files = std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap());
            let modes = files.map(|file| file.metadata().unwrap().permissions().mode() & 0o777);
            modes.collect::<Vec<_>>()
        };
        let mut during = Vec::new();
        let first = |_: &Writing| {
            during = modes();
            Ok(())
        };
        drop(Store::open(&path, JournalSetup::default(), first).unwrap());
        assert_eq!((during, modes()), (vec![0o600], vec![0o600]));
    }

    #[test]
    fn a_panic_of_the_database_is_an_error() {
        let in_caller = Cell::new(false);
        let panics = || -> Result<()> { panic!("bad page {}", 7) };
        let error = catch_panic(Path::new("j"), &in_caller, panics).unwrap_err();
        let expected = "the journal j is corrupt: the database panicked: bad page 7";
        assert_eq!(error.to_string(), expected);
    }
}
