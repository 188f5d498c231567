//! Tables of checksummed values in the database.
//!
//! Keys are text. A value is a checksum and JSON. The checksum is the xxh3-64, little-endian, of
//! table name, key and JSON.

use std::cell::Cell;
use std::ops::{ControlFlow, Range};
use std::path::Path;

use redb::{
    ReadOnlyTable, ReadTransaction, ReadableTable, ReadableTableMetadata, Table, TableDefinition,
    TableError, WriteTransaction,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use xxhash_rust::xxh3::Xxh3;

use super::error::JournalError;

type Result<T> = std::result::Result<T, JournalError>;
type Definition = TableDefinition<'static, &'static str, &'static [u8]>;

const CHECKSUM: usize = 8;

/// The range of all keys, which are ASCII.
pub(super) const ALL: Range<&str> = ""..END;

/// A text greater than every key; appended to a prefix, it is greater than every key with that
/// prefix.
pub(super) const END: &str = "\u{80}";

/// Name of a table.
pub(super) type Name = &'static str;

/// A transaction in which tables can be read.
pub(super) trait Access {
    type Table<'t>: ReadableTable<&'static str, &'static [u8]>
    where
        Self: 't;

    fn table(&self, name: Name) -> std::result::Result<Self::Table<'_>, TableError>;
}

impl Access for ReadTransaction {
    type Table<'t> = ReadOnlyTable<&'static str, &'static [u8]>;

    fn table(&self, name: Name) -> std::result::Result<Self::Table<'_>, TableError> {
        self.open_table(Definition::new(name))
    }
}

impl Access for WriteTransaction {
    type Table<'t> = Table<'t, &'static str, &'static [u8]>;

    fn table(&self, name: Name) -> std::result::Result<Self::Table<'_>, TableError> {
        self.open_table(Definition::new(name))
    }
}

/// A transaction on the journal at a path.
pub(super) struct Tx<'a, A> {
    path: &'a Path,
    txn: &'a A,
    /// Whether there is a change to commit.
    changed: Cell<bool>,
    /// Set while the caller's code runs: its panics are not converted to errors.
    in_caller: &'a Cell<bool>,
}

/// A transaction that only reads.
pub(super) type Reading<'a> = Tx<'a, ReadTransaction>;
/// A transaction that may write.
pub(super) type Writing<'a> = Tx<'a, WriteTransaction>;

impl<'a, A: Access> Tx<'a, A> {
    pub(super) fn new(path: &'a Path, txn: &'a A, in_caller: &'a Cell<bool>) -> Self {
        Self { path, txn, changed: Cell::new(false), in_caller }
    }

    /// Runs the caller's code.
    pub(super) fn run_caller<T>(&self, code: impl FnOnce() -> T) -> T {
        self.in_caller.set(true);
        let result = code();
        self.in_caller.set(false);
        result
    }

    /// An error about a value.
    pub(super) fn corrupt(
        &self,
        table: Name,
        key: &str,
        what: impl std::fmt::Display,
    ) -> JournalError {
        JournalError::corrupt(self.path, format!("table {table}, key {key:?}: {what}"))
    }

    /// The value of a key.
    pub(super) fn get<T: DeserializeOwned>(&self, table: Name, key: &str) -> Result<Option<T>> {
        let rows = self.txn.table(table).map_err(JournalError::database("read", self.path))?;
        let value = rows.get(key).map_err(JournalError::database("read", self.path))?;
        value.map(|value| self.unseal(table, key, value.value())).transpose()
    }

    /// The values of keys.
    pub(super) fn get_all<'k, T: DeserializeOwned>(
        &self,
        table: Name,
        keys: impl IntoIterator<Item = &'k str>,
    ) -> Result<Vec<Option<T>>> {
        let rows = self.txn.table(table).map_err(JournalError::database("read", self.path))?;
        let get = |key: &'k str| {
            let value = rows.get(key).map_err(JournalError::database("read", self.path))?;
            value.map(|value| self.unseal(table, key, value.value())).transpose()
        };
        keys.into_iter().map(get).collect()
    }

    /// Keys and values in a range of keys, ascending.
    pub(super) fn scan<T: DeserializeOwned>(
        &self,
        table: Name,
        keys: Range<&str>,
    ) -> Result<Vec<(String, T)>> {
        self.scan_some(table, keys, usize::MAX)
    }

    /// The first keys and values in a range of keys, ascending; `most` at most.
    pub(super) fn scan_some<T: DeserializeOwned>(
        &self,
        table: Name,
        keys: Range<&str>,
        most: usize,
    ) -> Result<Vec<(String, T)>> {
        let mut found = Vec::new();
        self.each(table, keys, |key, value| {
            found.push((key.to_owned(), value));
            Ok(if found.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        })?;
        Ok(found)
    }

    /// Calls `visit` with the keys and values in a range of keys, ascending, until `visit` breaks.
    pub(super) fn each<T: DeserializeOwned>(
        &self,
        table: Name,
        keys: Range<&str>,
        mut visit: impl FnMut(&str, T) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let failed = || JournalError::database("read", self.path);
        let rows = self.txn.table(table).map_err(JournalError::database("read", self.path))?;
        for row in rows.range(keys).map_err(failed())? {
            let (key, value) = row.map_err(failed())?;
            let value = self.unseal(table, key.value(), value.value())?;
            if visit(key.value(), value)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// The first keys in a range, ascending; `most` at most.
    pub(super) fn keys(&self, table: Name, keys: Range<&str>, most: usize) -> Result<Vec<String>> {
        let failed = || JournalError::database("read", self.path);
        let rows = self.txn.table(table).map_err(JournalError::database("read", self.path))?;
        let found = rows.range(keys).map_err(failed())?.take(most);
        found.map(|row| Ok(row.map_err(failed())?.0.value().to_owned())).collect()
    }

    /// The last keys and values of a table, descending; `most` at most.
    pub(super) fn last_some<T: DeserializeOwned>(
        &self,
        table: Name,
        most: usize,
    ) -> Result<Vec<(String, T)>> {
        let failed = || JournalError::database("read", self.path);
        let rows = self.txn.table(table).map_err(JournalError::database("read", self.path))?;
        let last = rows.range(ALL).map_err(failed())?.rev().take(most);
        let last = last.map(|row| {
            let (key, value) = row.map_err(failed())?;
            Ok((key.value().to_owned(), self.unseal(table, key.value(), value.value())?))
        });
        last.collect()
    }

    /// The greatest key of a table.
    pub(super) fn last_key(&self, table: Name) -> Result<Option<String>> {
        let rows = self.txn.table(table).map_err(JournalError::database("read", self.path))?;
        let last = rows.last().map_err(JournalError::database("read", self.path))?;
        Ok(last.map(|(key, _)| key.value().to_owned()))
    }

    /// Number of keys of a table, which the database stores.
    pub(super) fn count(&self, table: Name) -> Result<u64> {
        let rows = self.txn.table(table).map_err(JournalError::database("read", self.path))?;
        rows.len().map_err(JournalError::database("read", self.path))
    }

    /// All keys and values of a table, ascending.
    pub(super) fn all<T: DeserializeOwned>(&self, table: Name) -> Result<Vec<(String, T)>> {
        self.scan(table, ALL)
    }

    fn unseal<T: DeserializeOwned>(&self, table: Name, key: &str, value: &[u8]) -> Result<T> {
        let Some((sum, json)) = value.split_first_chunk::<CHECKSUM>() else {
            return Err(self.corrupt(table, key, format!("a value of {} bytes", value.len())));
        };
        let computed = checksum(table, key, json);
        let found = u64::from_le_bytes(*sum);
        if found != computed {
            let what = format!("checksum {found:016x}, but {computed:016x} of the value");
            return Err(self.corrupt(table, key, what));
        }
        serde_json::from_slice(json).map_err(|error| self.corrupt(table, key, error))
    }
}

impl Writing<'_> {
    /// Whether the transaction has changed anything.
    pub(super) fn changed(&self) -> bool {
        self.changed.get()
    }

    /// Creates an empty table.
    pub(super) fn create(&self, table: Name) -> Result<()> {
        self.changed.set(true);
        self.txn.table(table).map(drop).map_err(JournalError::database("write", self.path))
    }

    /// Writes a value.
    pub(super) fn put<T>(&self, table: Name, key: &str, value: &T) -> Result<()>
    where
        T: Serialize + DeserializeOwned + PartialEq,
    {
        self.put_all(table, [(key.to_owned(), value)])
    }

    /// Writes values. A value equal to the stored one is not a change.
    pub(super) fn put_all<'v, T>(
        &self,
        table: Name,
        values: impl IntoIterator<Item = (String, &'v T)>,
    ) -> Result<()>
    where
        T: Serialize + DeserializeOwned + PartialEq + 'v,
    {
        let failed = || JournalError::database("write", self.path);
        let mut rows = self.txn.table(table).map_err(JournalError::database("write", self.path))?;
        for (key, value) in values {
            let sealed = seal(table, &key, value)?;
            let old = rows.get(&*key).map_err(failed())?;
            if old.is_some_and(|old| old.value() == sealed) {
                continue;
            }
            rows.insert(&*key, &*sealed).map_err(failed())?;
            self.changed.set(true);
        }
        Ok(())
    }

    /// Removes values. Missing keys are skipped.
    pub(super) fn remove_all(
        &self,
        table: Name,
        keys: impl IntoIterator<Item = String>,
    ) -> Result<()> {
        let failed = || JournalError::database("write", self.path);
        let mut rows = self.txn.table(table).map_err(JournalError::database("write", self.path))?;
        for key in keys {
            let removed = rows.remove(&*key).map_err(failed())?.is_some();
            self.changed.set(self.changed.get() | removed);
        }
        Ok(())
    }
}

fn checksum(table: Name, key: &str, json: &[u8]) -> u64 {
    let mut hash = Xxh3::new();
    for part in [table.as_bytes(), b"\0", key.as_bytes(), b"\0", json] {
        hash.update(part);
    }
    hash.digest()
}

fn seal<T>(table: Name, key: &str, value: &T) -> Result<Vec<u8>>
where
    T: Serialize + DeserializeOwned + PartialEq,
{
    let refused = |what: String| JournalError::Unwritable { table, key: key.to_owned(), what };
    let mut sealed = vec![0; CHECKSUM];
    serde_json::to_writer(&mut sealed, value).map_err(|error| refused(error.to_string()))?;
    // JSON writes values that it cannot represent, such as an infinite number, as null.
    let read: T = serde_json::from_slice(&sealed[CHECKSUM..])
        .map_err(|error| refused(format!("it could not be read back: {error}")))?;
    if read != *value {
        return Err(refused("it would be read back as another value".to_owned()));
    }
    let sum = checksum(table, key, &sealed[CHECKSUM..]);
    sealed[..CHECKSUM].copy_from_slice(&sum.to_le_bytes());
    Ok(sealed)
}
