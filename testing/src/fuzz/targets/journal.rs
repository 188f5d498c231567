//! Fuzz target for the journal: changed values with right checksums, of all tables but the indexes of
//! ended and of removed jobs, and damage of the file.
//!
//! An input is the number of a table (1 byte), the number of a row (1 byte) and the row's new JSON.
//! If the number of the table is [`FILE`], an offset (4 bytes) and new bytes of the file follow
//! instead.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition};
use strata_coordinator::{
    AutoEngine, ClusterCheckpoint, EngineRecord, JobEntry, JobOptions, JobState, Journal,
    JournalError, WorkerEntry,
};
use strata_run::{KeepLayers, StopReason};
use strata_store::{
    CheckpointFile, EngineKind, Hex64, JobResult, JobSpec, KeptFile, LayerRecord, Weight,
};
use tempfile::TempDir;
use xxhash_rust::xxh3::xxh3_64;

use super::job_files::mutate_json;
use super::support::{must, scratch};
use crate::fuzz::mutate;
use crate::fuzz::rng::Rng;
use crate::fuzz::target::{Finding, Outcome, Target};

const TABLES: [&str; 6] = ["meta", "jobs", "layers", "workers", "submitted", "names"];

/// In place of a table's number: the input damages the file.
const FILE: u8 = u8::MAX;

/// Key and JSON of the rows of a table.
type Contents = Vec<(String, Vec<u8>)>;

type Rows = TableDefinition<'static, &'static str, &'static [u8]>;

/// A journal with two jobs.
pub(super) struct Journals {
    folder: TempDir,
    /// Content of the journal's file.
    template: Vec<u8>,
    /// Rows by table.
    rows: Vec<Contents>,
}

fn spec() -> JobSpec {
    JobSpec {
        space: "hanoi".to_owned(),
        params: BTreeMap::from([("discs".to_owned(), "4".to_owned())]),
        shards: 4,
        engine: EngineKind::Explicit,
    }
}

fn line(depth: u32) -> LayerRecord {
    let kept = KeptFile {
        worker: 0,
        file: "layer-000001-000.strata".to_owned(),
        bytes: 9,
        seal: Hex64(8),
    };
    LayerRecord {
        depth,
        states: 1 << depth,
        positions: 1 << depth,
        orbits: (depth == 1).then_some(1),
        generated: 3 << depth,
        regions: 1,
        bytes: 100,
        digest: Weight([7, 8]),
        seconds: f64::from(depth) / 3.0,
        read_bytes: 50,
        written_bytes: 150,
        memo_hits: 9,
        memo_misses: 1,
        memo_miss_seconds: 0.5,
        kept: if depth == 1 { vec![kept] } else { Vec::new() },
    }
}

fn fill(journal: &Journal) -> Result<(), JournalError> {
    for (id, name) in [("0123456789abcdef", "a"), ("fedcba9876543210", "b")] {
        journal.register(&id.repeat(2), name, "http://127.0.0.1:7001", |_| false)?;
    }
    let options = JobOptions {
        checkpoint_interval: Some(std::time::Duration::from_secs(3)),
        max_layers: Some(9),
        disk_limit: Some(1 << 40),
        keep: KeepLayers::All,
        engine: EngineRecord { reason: "it fits".to_owned(), auto: Some(AutoEngine::default()) },
        priority: 3,
    };
    let (done, _) =
        journal.submit("hanoi-4-3", Some("first".into()), spec(), options, 5, Some(15))?;
    journal.submit("hanoi-4-3", None, spec(), JobOptions::default(), 6, None)?;
    let record = CheckpointFile {
        depth: 2,
        worker: 0,
        file: "layer-000002-000.strata".to_owned(),
        bytes: 100,
        states: 4,
        positions: 4,
        regions: 1,
        generated: 12,
        digest: Weight([7, 8]),
        seal: Hex64(99),
    };
    let checkpoint =
        ClusterCheckpoint { depth: 2, records: vec![record], owners: vec![0, 1, 0, 1], made: 0 };
    let result = JobResult {
        moves: Some(2),
        layers: 2,
        states: 7,
        positions: 7,
        orbits: Some(3),
        generated: 21,
        widest: 4,
        digest: Weight([1, 2]),
        disk_peak_bytes: 1000,
        peak_rss_bytes: 0,
        seconds: 0.7,
    };
    journal.checkpoint(&done.id, &[line(0), line(1), line(2)], |entry| {
        entry.state = JobState::Stopped(StopReason::MaxLayers);
        entry.seconds = 1.0 / 3.0;
        entry.checkpoint = Some(checkpoint);
        entry.result = Some(result);
    })?;
    journal.next_epoch().map(drop)
}

fn rows(path: &Path) -> Result<Vec<Contents>, redb::Error> {
    let database = Database::open(path)?;
    let transaction = database.begin_read()?;
    let mut tables = Vec::new();
    for table in TABLES {
        let table = transaction.open_table(Rows::new(table))?;
        let mut rows = Vec::new();
        for row in table.iter()? {
            let (key, value) = row?;
            rows.push((key.value().to_owned(), value.value()[8..].to_vec()));
        }
        tables.push(rows);
    }
    Ok(tables)
}

/// Writes a value with its checksum.
fn replace(path: &Path, table: &str, key: &str, json: &[u8]) -> Result<(), redb::Error> {
    let sum = xxh3_64(&[table.as_bytes(), b"\0", key.as_bytes(), b"\0", json].concat());
    let database = Database::open(path)?;
    let transaction = database.begin_write()?;
    let name = TABLES.into_iter().find(|name| *name == table).unwrap_or(TABLES[0]);
    let value = [&sum.to_le_bytes()[..], json].concat();
    transaction.open_table(Rows::new(name))?.insert(key, &*value)?;
    transaction.commit()?;
    Ok(())
}

impl Journals {
    pub(super) fn new() -> Journals {
        let folder = scratch();
        let path = folder.path().join("template");
        let journal = must(Journal::open(&path));
        must(fill(&journal));
        drop(journal);
        let rows = must(rows(&path));
        Journals { template: must(std::fs::read(&path)), rows, folder }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("journal")
    }

    fn row(&self, table: u8, row: u8) -> Option<(&'static str, &str, &[u8])> {
        let table = usize::from(table);
        let rows = self.rows.get(table)?;
        let (key, json) = &rows[usize::from(row) % rows.len()];
        Some((TABLES[table], key, json))
    }
}

/// Calls the operations of a journal. Returns their errors.
fn exercise(journal: &Journal, id: &str) -> Vec<String> {
    let mut errors = Vec::new();
    let mut note = |result: Result<(), JournalError>| {
        errors.extend(result.err().map(|error| error.to_string()));
    };
    note(journal.jobs().map(drop));
    note(journal.workers().map(drop));
    note(journal.layers(id).map(drop));
    note(journal.find(&id[..id.len() - 2]).map(drop));
    note(journal.next_epoch().map(drop));
    note(journal.skip_epochs(1 << 47).map(drop));
    note(journal.next_epoch().map(drop));
    note(journal.register(&"00".repeat(16), "c", "http://127.0.0.1:7002", |_| false).map(drop));
    note(
        journal.submit("new", Some("new".into()), spec(), JobOptions::default(), 7, None).map(drop),
    );
    note(journal.update(id, |entry| entry.seconds += 0.1).map(drop));
    note(journal.checkpoint(id, &[line(1), line(2), line(3)], |_| {}).map(drop));
    note(journal.requeue(id).map(drop));
    note(journal.update(id, |entry| entry.state = JobState::Cancelled).map(drop));
    note(journal.remove(id).map(drop));
    errors
}

/// Checks that the journal returns the content of the row.
fn check_row(journal: &Journal, table: &str, key: &str, json: &[u8]) -> Result<(), Finding> {
    let value: serde_json::Value = serde_json::from_slice(json).unwrap_or_default();
    let same = match table {
        "jobs" => {
            journal.find(key).is_ok_and(|found| {
                serde_json::from_value::<JobEntry>(value["entry"].clone())
                    .is_ok_and(|job| job == found)
            }) || journal.find(key).is_err()
        }
        "workers" => journal.workers().map_or(true, |workers| {
            serde_json::from_value::<WorkerEntry>(value)
                .is_ok_and(|worker| workers.contains(&worker))
        }),
        "layers" => {
            let id = key.split('/').next().unwrap_or_default();
            journal.layers(id).map_or(true, |lines| {
                serde_json::from_value::<LayerRecord>(value).is_ok_and(|line| lines.contains(&line))
            })
        }
        _ => true,
    };
    if same { Ok(()) } else { Err(format!("{table} {key} is read as another value")) }
}

impl Target for Journals {
    fn name(&self) -> &'static str {
        "journal"
    }

    fn seeds(&self) -> Vec<Vec<u8>> {
        let mut seeds = vec![[&[FILE, 0, 8, 0, 0, 0][..], &self.template[8..12]].concat()];
        for (table, rows) in (0..).zip(&self.rows) {
            for (row, (_, json)) in (0..).zip(rows) {
                seeds.push([&[table, row], &**json].concat());
            }
        }
        seeds
    }

    fn mutate(&self, input: &mut Vec<u8>, other: &[u8], rng: &mut Rng) {
        let Some((&[table, row], rest)) = input.split_first_chunk() else { return };
        let mut rest = rest.to_vec();
        if self.row(table, row).is_some() {
            mutate_json(&mut rest, other.get(2..).unwrap_or_default(), rng);
            *input = [&[table, row], &*rest].concat();
            return;
        }
        let at = rng.below(self.template.len());
        let mut bytes = self.template[at..self.template.len().min(at + 16)].to_vec();
        mutate::bytes(&mut bytes, other, rng);
        bytes.truncate(64);
        *input = [&[FILE, 0], &(at as u32).to_le_bytes()[..], &bytes].concat();
    }

    fn check(&mut self, input: &[u8]) -> Result<Outcome, Finding> {
        let Some((&[table, row], rest)) = input.split_first_chunk() else {
            return Ok(Outcome::refused("too short"));
        };
        let path = self.path();
        let value = self.row(table, row);
        match value {
            Some((table, key, _)) => {
                must(std::fs::write(&path, &self.template));
                must(replace(&path, table, key, rest));
            }
            None => {
                let mut file = self.template.clone();
                let Some((at, bytes)) = rest.split_first_chunk() else {
                    return Ok(Outcome::refused("too short"));
                };
                let at = u32::from_le_bytes(*at) as usize;
                let places = file.iter_mut().skip(at);
                places.zip(bytes).for_each(|(place, byte)| *place = *byte);
                must(std::fs::write(&path, &file));
            }
        }
        let journal = match Journal::open(&path) {
            Ok(journal) => journal,
            Err(error) => return refused(error, value.is_some()),
        };
        if let Some((table, key, _)) = value {
            check_row(&journal, table, key, rest)?;
        } else if let (Ok(jobs), Ok(workers)) = (journal.jobs(), journal.workers())
            && (jobs.len(), workers.len()) != (self.rows[1].len(), self.rows[3].len())
        {
            return Err(format!("{} jobs and {} workers", jobs.len(), workers.len()));
        }
        let id = self.rows[2][0].0.split('/').next().unwrap_or_default();
        let errors = exercise(&journal, id);
        let panicked = errors.iter().find(|error| value.is_some() && error.contains("panicked"));
        match (panicked, errors.first()) {
            (Some(error), _) => Err(error.clone()),
            (None, Some(error)) => Ok(Outcome::refused(error)),
            (None, None) => Ok(Outcome::Accepted),
        }
    }

    /// Independent of the input's length: the database has a cache, and the file is 50 times as
    /// long as a value.
    fn memory(&self, _: usize) -> usize {
        64 << 20
    }

    fn test_runs(&self) -> u64 {
        25
    }
}

/// The outcome of an error of opening. Only a damaged file may make the database panic; after a
/// changed value that is a finding.
fn refused(error: JournalError, is_value: bool) -> Result<Outcome, Finding> {
    let text = error.to_string();
    if is_value && text.contains("panicked") { Err(text) } else { Ok(Outcome::Refused(text)) }
}
