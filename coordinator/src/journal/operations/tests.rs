//! Tests of the journal that need private access: limits, files of other programs, and tampered
//! tables in files that the database accepts.

use redb::{Database, ReadableDatabase, TableDefinition};

use super::*;
use crate::entry::ClusterCheckpoint;
use crate::journal::records::layer_key;

type Table = TableDefinition<'static, &'static str, &'static [u8]>;

/// Changes the tables of a closed journal.
fn tamper(path: &Path, change: impl FnOnce(&redb::WriteTransaction)) {
    let database = Database::open(path).unwrap();
    let txn = database.begin_write().unwrap();
    change(&txn);
    txn.commit().unwrap();
}

fn value(path: &Path, table: &'static str, key: &str) -> Vec<u8> {
    let database = Database::open(path).unwrap();
    let rows = database.begin_read().unwrap().open_table(Table::new(table)).unwrap();
    rows.get(key).unwrap().unwrap().value().to_vec()
}

fn line(depth: u32) -> strata_store::LayerRecord {
    strata_store::LayerRecord {
        depth,
        states: 1,
        positions: 1,
        generated: 2,
        regions: 1,
        bytes: 9,
        digest: strata_store::Weight([3, 4]),
        seconds: 0.5,
        ..strata_store::LayerRecord::default()
    }
}

fn spec() -> JobSpec {
    JobSpec {
        space: "hanoi".to_owned(),
        params: [].into(),
        shards: 4,
        engine: strata_store::EngineKind::Explicit,
    }
}

impl Journal {
    /// Adds jobs like another one, in one transaction.
    pub(crate) fn submit_copies(&self, like: &JobEntry, number: usize) -> Result<()> {
        let submit = |tx: &Writing<'_>| {
            let mut counts = counts(tx)?;
            for copy in 0..number {
                let id = format!("copy-{copy:06}");
                let name = Some(format!("name-{copy:06}"));
                let entry = JobEntry { id, order: counts.order, name, ..like.clone() };
                add_job(tx, &mut counts, &entry)?;
                set_end(tx, None, Some(&entry))?;
            }
            tx.put(META, COUNTS, &counts)
        };
        // The index of the queue is built again.
        self.queue.forget();
        self.store.write(submit)
    }
}

/// Registers two workers and a job of three layers. Returns the job's id.
fn fill(path: &Path) -> String {
    let journal = Journal::open(path).unwrap();
    journal.register("a", "w1", "h:1", |_| false).unwrap();
    journal.register("b", "w2", "h:2", |_| false).unwrap();
    let options = JobOptions::default();
    let (job, _) = journal.submit("hanoi", Some("big".into()), spec(), options, 1, None).unwrap();
    journal.checkpoint(&job.id, &[line(0), line(1), line(2)], |_| ()).unwrap();
    job.id
}

/// Reads everything in a journal.
fn read(path: &Path, job: &str) -> Result<()> {
    let journal = Journal::open(path)?;
    journal.workers()?;
    journal.jobs()?;
    journal.layers(job)?;
    journal.find("big")?;
    Ok(())
}

#[track_caller]
fn refused(path: &Path, job: &str, named: &[&str]) {
    let error = read(path, job).unwrap_err();
    assert!(error.is_corrupt(), "{error}");
    for name in named {
        assert!(error.to_string().contains(name), "no {name} in {error}");
    }
}

fn register(
    journal: &Journal,
    id: &str,
    alive: &[WorkerNumber],
) -> std::result::Result<WorkerNumber, String> {
    let worker = Registration { id, name: id.into(), address: "h:1" };
    let registered = journal.register_within(3, worker, |number| alive.contains(&number));
    registered.map(|registered| registered.entry.number).map_err(|error| error.to_string())
}

fn with_three_workers(path: &Path) -> Journal {
    let journal = Journal::open(path).unwrap();
    for number in 0..3 {
        assert_eq!(register(&journal, &format!("id-{number}"), &[]), Ok(number));
    }
    journal
}

#[test]
fn the_number_of_workers_is_limited() {
    let folder = tempfile::tempdir().unwrap();
    let journal = with_three_workers(&folder.path().join("journal.redb"));
    // They have registered within the last minute.
    let text = register(&journal, "one more", &[]).unwrap_err();
    assert!(text.starts_with("there are 3 workers already") && text.contains("data"), "{text}");
    // A registered worker keeps its number.
    assert_eq!(register(&journal, "id-1", &[]), Ok(1));
    let numbers: Vec<u16> = journal.workers().unwrap().iter().map(|w| w.number).collect();
    assert_eq!(numbers, [0, 1, 2]);
}

#[test]
fn at_the_limit_a_gone_worker_without_files_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.redb");
    let journal = with_three_workers(&path);
    drop(journal);
    // No worker has registered since it was opened.
    let journal = Journal::open(&path).unwrap();
    assert!(register(&journal, "new", &[0, 1, 2]).is_err());
    assert_eq!(register(&journal, "new", &[0, 2]), Ok(1));
    assert_eq!(register(&journal, "new", &[]), Ok(1));
    let workers = journal.workers().unwrap();
    let ids: Vec<&str> = workers.iter().map(|worker| worker.id.as_str()).collect();
    assert_eq!(ids, ["id-0", "new", "id-2"]);
    // The forgotten worker is a new one.
    assert_eq!(register(&journal, "id-1", &[2]), Ok(0));
    assert!(register(&journal, "id-0", &[2]).is_err());
}

/// Adds a job with a kept layer of worker `keeper` and a checkpoint of worker `holder`.
fn hold_files(journal: &Journal, keeper: u32, holder: u32) {
    let (job, _) = journal.submit("job", None, spec(), JobOptions::default(), 0, None).unwrap();
    let (seal, file) = (strata_store::Hex64(1), "layer-000000-000.strata".to_owned());
    let kept = strata_store::KeptFile { worker: keeper, file: file.clone(), bytes: 9, seal };
    let first = strata_store::LayerRecord { kept: vec![kept], ..line(0) };
    let record = strata_store::CheckpointFile {
        depth: 0,
        worker: holder,
        file,
        bytes: 9,
        states: 1,
        positions: 1,
        regions: 1,
        generated: 2,
        digest: strata_store::Weight([3, 4]),
        seal,
    };
    let (records, owners) = (vec![record], vec![2; 4]);
    let checkpoint = ClusterCheckpoint { depth: 0, records, owners, made: 0 };
    journal.checkpoint(&job.id, &[first], |job| job.checkpoint = Some(checkpoint)).unwrap();
}

#[test]
fn workers_that_hold_files_of_jobs_are_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.redb");
    let journal = with_three_workers(&path);
    hold_files(&journal, 0, 1);
    drop(journal);
    let journal = Journal::open(&path).unwrap();
    assert_eq!(register(&journal, "new", &[]), Ok(2));
    assert!(register(&journal, "another", &[]).is_err());
}

#[test]
fn a_worker_that_received_files_after_a_replacement_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.redb");
    let journal = with_three_workers(&path);
    drop(journal);
    let journal = Journal::open(&path).unwrap();
    assert_eq!(register(&journal, "new", &[]), Ok(0));
    hold_files(&journal, 1, 1);
    assert_eq!(register(&journal, "another", &[]), Ok(2));
}

#[test]
fn a_registration_reads_no_other_worker() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.redb");
    let journal = Journal::open(&path).unwrap();
    for id in ["a", "b"] {
        journal.register(id, id, "h:1", |_| false).unwrap();
    }
    drop(journal);
    let journal = Journal::open(&path).unwrap();
    journal
        .store
        .write(|tx| tx.put(WORKERS, &crate::journal::workers::worker_key(0), &"damaged".to_owned()))
        .unwrap();
    assert_eq!(journal.register("b", "b", "h:2", |_| false).unwrap().entry.number, 1);
    assert_eq!(journal.register("c", "c", "h:3", |_| false).unwrap().entry.number, 2);
    assert!(journal.register("a", "a", "h:1", |_| false).unwrap_err().is_corrupt());
}

#[test]
fn workers_of_one_host_are_renamed_durably_when_the_second_one_registers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.redb");
    let register = |journal: &Journal, id: &str, address: &str| {
        let name = WorkerName { name: "box", is_given: false };
        journal.register(id, name, address, |_| true).unwrap()
    };
    let names = |journal: &Journal| -> Vec<String> {
        journal.workers().unwrap().into_iter().map(|worker| worker.name).collect()
    };
    let journal = Journal::open(&path).unwrap();
    assert_eq!(register(&journal, "a", "http://10.0.0.1:7071").renamed, []);
    assert_eq!(names(&journal), ["box"]);
    let second = register(&journal, "b", "http://10.0.0.1:7072");
    assert_eq!(second.entry.name, "box:7072");
    let renamed: Vec<_> = second.renamed.iter().map(|w| (w.number, &*w.name)).collect();
    assert_eq!(renamed, [(0, "box:7071")]);
    drop(journal);
    let journal = Journal::open(&path).unwrap();
    assert_eq!(names(&journal), ["box:7071", "box:7072"]);
    // The first one does not lose its port when it comes back.
    assert_eq!(register(&journal, "a", "http://10.0.0.1:7071").entry.name, "box:7071");
    let given = journal.register("c", "box:7071", "http://10.0.0.2:7071", |_| true).unwrap();
    assert_eq!(given.entry.name, "box:7071#2");
}

#[test]
fn a_panic_of_the_caller_propagates_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.redb");
    let journal = Journal::open(&path).unwrap();
    let job = journal.submit("hanoi", None, spec(), JobOptions::default(), 1, None).unwrap().0;
    let update = || {
        journal.update(&job.id, |job| {
            job.cancel = true;
            panic!("of the caller")
        })
    };
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(update));
    assert_eq!(panicked.err().unwrap().downcast_ref(), Some(&"of the caller"));
    assert_eq!(journal.next_epoch().unwrap(), 1);
    assert_eq!(journal.jobs().unwrap(), std::slice::from_ref(&job));
    drop(journal);
    assert_eq!(Journal::open(&path).unwrap().jobs().unwrap(), [job]);
}

#[test]
fn a_file_that_is_no_journal_is_refused_and_left_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.redb");
    let foreign = Database::create(folder.path().join("foreign")).unwrap();
    drop(foreign);
    let foreign = std::fs::read(folder.path().join("foreign")).unwrap();
    for bytes in [&b""[..], b"x", b"redb", &[0; 4096], &[7; 100_000], &foreign] {
        std::fs::write(&path, bytes).unwrap();
        let error = Journal::open(&path).unwrap_err();
        assert!(error.is_corrupt(), "{} bytes: {error}", bytes.len());
        assert!(error.to_string().contains("journal.redb"), "{error}");
        assert!(bytes.len() == foreign.len() || std::fs::read(&path).unwrap() == bytes);
    }
}

#[test]
fn another_format_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.redb");
    {
        #[derive(PartialEq, serde::Serialize, Deserialize)]
        struct Later {
            format: u32,
            more: u8,
        }
        let _later = Store::open(&path, JournalSetup::default(), |tx| {
            tx.put(META, COUNTS, &Later { format: FORMAT + 1, more: 1 })
        });
    }
    let error = Journal::open(&path).unwrap_err();
    assert!(matches!(error, JournalError::Format { expected: 1, found: 2, .. }), "{error}");
}

#[test]
fn a_submission_and_a_lookup_read_no_other_job() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.redb");
    let job = fill(&path);
    let journal = Journal::open(&path).unwrap();
    let like = journal.find(&job).unwrap();
    journal.submit_copies(&like, 30).unwrap();
    let damage = |id: &str| {
        journal.store.write(|tx| tx.put(JOBS, id, &"damaged".to_owned())).unwrap();
        assert!(journal.find(id).unwrap_err().is_corrupt());
    };
    (0..30).filter(|copy| *copy != 7).for_each(|copy| damage(&format!("copy-{copy:06}")));
    assert_eq!(journal.find("name-000007").unwrap().id, "copy-000007");
    assert_eq!(journal.find(&job[..job.len() - 1]).unwrap(), like);
    let several = journal.find("copy-").unwrap_err().to_string();
    let expected = (0..10).map(|copy| format!("copy-{copy:06}")).collect::<Vec<_>>().join(", ");
    let expected = format!(r#""copy-" is the beginning of several jobs: {expected} and others"#);
    assert_eq!(several, expected);
    let submit = |name: Option<&str>| {
        let options = JobOptions::default();
        let name = name.map(Into::into);
        journal.submit("new", name, like.spec.clone(), options, 1, None).map(|(job, _)| job)
    };
    assert_eq!(submit(Some("name-000007")).unwrap().id, "copy-000007");
    assert!(submit(Some("name-000008")).unwrap_err().is_corrupt());
    let new = submit(Some("another")).unwrap();
    assert_eq!(journal.find("another").unwrap(), new);
    assert!(journal.jobs().unwrap_err().is_corrupt());
}

#[test]
fn a_listed_job_lacks_only_files_and_owners() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.redb");
    let job = fill(&path);
    let journal = Journal::open(&path).unwrap();
    let mut entry = journal
        .update(&job, |job| {
            job.checkpoint = Some(crate::entry::ClusterCheckpoint {
                depth: 2,
                records: Vec::new(),
                owners: vec![0, 1, 0, 1],
                made: 7,
            });
            job.result = Some(strata_store::JobResult {
                moves: Some(2),
                layers: 2,
                states: 3,
                positions: 3,
                orbits: Some(2),
                generated: 6,
                widest: 1,
                digest: strata_store::Weight([9, 10]),
                disk_peak_bytes: 5,
                peak_rss_bytes: 7,
                seconds: 1.5,
            });
            job.state = JobState::Done;
            job.seconds = 1.5;
            job.expected_layers = Some(9);
            job.peak_rss_bytes = 7;
        })
        .unwrap()
        .0;
    assert_eq!(journal.jobs().unwrap(), std::slice::from_ref(&entry));
    entry.checkpoint.as_mut().unwrap().owners.clear();
    assert_eq!(journal.jobs_from(0).unwrap().jobs, [entry]);
}

#[test]
fn jobs_are_listed_in_parts_in_the_order_of_submission() {
    const JOBS: usize = 700;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.redb");
    let job = fill(&path);
    let journal = Journal::open(&path).unwrap();
    journal.submit_copies(&journal.find(&job).unwrap(), JOBS - 1).unwrap();
    journal.update("copy-000001", |job| job.state = JobState::Cancelled).unwrap();
    journal.requeue("copy-000001").unwrap();
    let (mut listed, mut next) = (Vec::new(), Some(0));
    while let Some(first) = next {
        let part = journal.jobs_from(first).unwrap();
        assert!(part.jobs.len() <= 256, "{}", part.jobs.len());
        listed.extend(part.jobs.into_iter().map(|job| job.id));
        next = part.next;
    }
    let copies = (0..JOBS - 1).map(|copy| format!("copy-{copy:06}"));
    assert!(listed.into_iter().eq([job].into_iter().chain(copies)));
}

#[test]
fn epochs_that_a_worker_has_seen_are_not_issued_again() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(&folder.path().join("journal.redb")).unwrap();
    assert_eq!(journal.next_epoch().unwrap(), 1);
    assert_eq!(journal.skip_epochs(1).unwrap(), None);
    assert_eq!(journal.skip_epochs(5).unwrap(), Some(1));
    assert_eq!(journal.next_epoch().unwrap(), 6);
}

#[test]
fn a_counter_at_its_maximum_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.redb");
    let job = fill(&path);
    let journal = Journal::open(&path).unwrap();
    let entry = journal.find(&job).unwrap();
    let greatest = |field: &str| {
        let counts = journal.store.read(counts).unwrap();
        let mut counts = serde_json::to_value(counts).unwrap();
        counts[field] = u64::MAX.into();
        journal.store.write(|tx| tx.put(META, COUNTS, &counts)).unwrap();
    };
    #[track_caller]
    fn is_refused<T: std::fmt::Debug>(result: Result<T>, named: &str) {
        let error = result.unwrap_err().to_string();
        assert!(error.contains(named), "{error}");
    }
    greatest("epoch");
    is_refused(journal.next_epoch(), "there is no epoch after 18446744073709551615");
    greatest("order");
    journal.update(&job, |entry| entry.state = JobState::Cancelled).unwrap();
    is_refused(journal.requeue(&job), "there is no place in the queue after");
    let submitted = journal.submit("hanoi", None, entry.spec, JobOptions::default(), 1, None);
    is_refused(submitted, "there is no place in the queue after");
}

/// Each change of the job would visit as many keys.
#[test]
fn an_impossible_number_of_layers_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.redb");
    let job = fill(&path);
    let journal = Journal::open(&path).unwrap();
    let change = |tx: &Writing<'_>| {
        let record = record(tx, &job)?;
        tx.put(JOBS, &job, &JobRecord { layers: u32::MAX, ..record })
    };
    journal.update(&job, |entry| entry.state = JobState::Cancelled).unwrap();
    journal.store.write(change).unwrap();
    for result in [
        journal.checkpoint(&job, &[line(1)], |_| ()).map(drop),
        journal.remove(&job).map(drop),
        journal.layers(&job).map(drop),
    ] {
        assert!(result.unwrap_err().is_corrupt());
    }
}

#[test]
fn a_changed_value_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.redb");
    let job = fill(&path);
    let image = std::fs::read(&path).unwrap();
    let depth = layer_key(&job, 1);
    let first = submission_key(0);
    let tables = [
        (META, COUNTS),
        (JOBS, &*job),
        (SUBMITTED, &first),
        (NAMES, "big"),
        (LAYERS, &depth),
        (WORKERS, "00001"),
    ];
    for (table, key) in tables {
        let intact = value(&path, table, key);
        for at in 0..intact.len() {
            let mut bytes = intact.clone();
            bytes[at] ^= 1 << (at % 8);
            // The database's own check accepts a rewritten table.
            if at % 16 == 3 || at < 8 {
                tamper(&path, |txn| {
                    txn.open_table(Table::new(table)).unwrap().insert(key, &*bytes).unwrap();
                });
                refused(&path, &job, &[table, key, "checksum"]);
            }
        }
        tamper(&path, |txn| {
            txn.open_table(Table::new(table)).unwrap().insert(key, &b"short"[..]).unwrap();
        });
        refused(&path, &job, &[table, key]);
        std::fs::write(&path, &image).unwrap();
        read(&path, &job).unwrap();
    }
}

#[test]
fn a_value_under_another_key_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.redb");
    let job = fill(&path);
    let (to, from) = (layer_key(&job, 1), layer_key(&job, 2));
    let bytes = value(&path, LAYERS, &from);
    tamper(&path, |txn| {
        txn.open_table(Table::new(LAYERS)).unwrap().insert(&*to, &*bytes).unwrap();
    });
    refused(&path, &job, &[LAYERS, &to, "checksum"]);
}

#[test]
fn a_missing_value_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.redb");
    let job = fill(&path);
    let image = std::fs::read(&path).unwrap();
    let (middle, last) = (layer_key(&job, 1), layer_key(&job, 2));
    let first = submission_key(0);
    let lost = [
        (META, COUNTS),
        (JOBS, &*job),
        (SUBMITTED, &first),
        (LAYERS, &middle),
        (LAYERS, &last),
        (WORKERS, "00000"),
        (WORKERS, "00001"),
    ];
    for (table, key) in lost {
        tamper(&path, |txn| {
            txn.open_table(Table::new(table)).unwrap().remove(key).unwrap();
        });
        refused(&path, &job, &[]);
        std::fs::write(&path, &image).unwrap();
    }
    read(&path, &job).unwrap();
}
