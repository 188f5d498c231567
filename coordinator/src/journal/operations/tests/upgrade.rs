//! Tests of journals of earlier formats.

use super::*;

/// Turns a journal into one of an earlier format: without the tables and times of format 4, the
/// tables of format 3, the id (format 1) and the progress of jobs that formats 1 and 2 may lack.
fn downgrade(path: &Path, format: u32) {
    let journal = Journal::open(path).unwrap();
    let strip = |tx: &Writing<'_>| {
        for (id, mut record) in tx.all::<serde_json::Value>(JOBS)? {
            if format < 3 {
                record.as_object_mut().unwrap().remove("submitted").unwrap();
            }
            let fields = record["entry"].as_object_mut().unwrap();
            fields.remove("ended").unwrap();
            if format < 3 {
                fields.remove("expected_layers").unwrap();
                fields.remove("progress").unwrap();
            }
            tx.put(JOBS, &id, &record)?;
        }
        let mut counts = serde_json::to_value(counts(tx)?).unwrap();
        counts["format"] = format.into();
        if format == 1 {
            counts.as_object_mut().unwrap().remove("id").unwrap();
        }
        tx.put(META, COUNTS, &counts)
    };
    journal.store.write(strip).unwrap();
    drop(journal);
    tamper(path, |txn| {
        let added = if format < 3 {
            &[NAMES, SUBMITTED, ENDED, TOMBSTONES][..]
        } else {
            &[ENDED, TOMBSTONES]
        };
        for table in added.iter().copied() {
            assert!(txn.delete_table(Table::new(table)).unwrap());
        }
    });
}

#[test]
fn a_journal_of_an_earlier_format_is_upgraded_when_it_is_opened() {
    for format in [1, 2, 3] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.redb");
        let first = fill(&path);
        let journal = Journal::open(&path).unwrap();
        let named = journal.find(&first).unwrap();
        journal.submit_copies(&named, 3).unwrap();
        journal.update("copy-000001", |job| job.state = JobState::Cancelled).unwrap();
        journal.remove("copy-000001").unwrap();
        journal.update("copy-000002", |job| job.state = JobState::Done).unwrap();
        journal.update(&first, |job| job.state = JobState::Cancelled).unwrap();
        journal.requeue(&first).unwrap();
        assert_eq!(journal.skip_epochs(7).unwrap(), Some(0));
        let (jobs, id) = (journal.jobs().unwrap(), journal.id().to_owned());
        drop(journal);
        downgrade(&path, format);

        let journal = Journal::open(&path).unwrap();
        assert!(strata_net::protocol::is_id(journal.id()), "{:?}", journal.id());
        assert_eq!(journal.id() == id, format > 1);
        assert_eq!(journal.next_epoch().unwrap(), 8);
        let progress = named.progress.clone();
        assert_eq!(journal.find(&first).unwrap().progress, progress);
        let without_progress = |jobs: Vec<JobEntry>| {
            jobs.into_iter()
                .map(|job| JobEntry { progress: None, ended: None, ..job })
                .collect::<Vec<_>>()
        };
        assert_eq!(without_progress(journal.jobs().unwrap()), without_progress(jobs));
        assert_eq!(journal.find("name-000002").unwrap().id, "copy-000002");
        let listed = journal.jobs_from(0).unwrap().jobs.into_iter().map(|job| job.id);
        // Before format 3, jobs of the same second have the order of the queue.
        let expected = match format {
            3 => [&*first, "copy-000000", "copy-000002"],
            _ => ["copy-000000", "copy-000002", &*first],
        };
        assert!(listed.eq(expected.map(str::to_owned)));
        let ended = journal.ended_before(u64::MAX, &[EndState::Done]).unwrap();
        assert_eq!(ended.iter().map(|job| &*job.id).collect::<Vec<_>>(), ["copy-000002"]);
        // New jobs follow.
        let new =
            journal.submit("new", None, named.spec, JobOptions::default(), 9, None).unwrap().0;
        assert_eq!(journal.jobs_from(0).unwrap().jobs.pop(), Some(new));
        let id = journal.id().to_owned();
        drop(journal);
        assert_eq!(Journal::open(&path).unwrap().id(), id);
    }
}

#[test]
fn a_journal_without_positions_keeps_its_jobs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.redb");
    let id = fill(&path);
    let journal = Journal::open(&path).unwrap();
    journal.update(&id, |job| job.state = JobState::Done).unwrap();
    let (mut job, lines) = (journal.find(&id).unwrap(), journal.layers(&id).unwrap());
    assert!(job.ended.is_some() && !lines.is_empty());
    let strip = |tx: &Writing<'_>| {
        for (id, mut record) in tx.all::<serde_json::Value>(JOBS)? {
            let progress = record["entry"]["progress"].as_object_mut().unwrap();
            progress.remove("positions").unwrap();
            tx.put(JOBS, &id, &record)?;
        }
        for (key, mut line) in tx.all::<serde_json::Value>(LAYERS)? {
            line.as_object_mut().unwrap().remove("positions").unwrap();
            tx.put(LAYERS, &key, &line)?;
        }
        let counts = Counts { format: 4, ..counts(tx)? };
        tx.put(META, COUNTS, &counts)
    };
    journal.store.write(strip).unwrap();
    drop(journal);

    let journal = Journal::open(&path).unwrap();
    assert_eq!(journal.store.read(counts).unwrap().format, FORMAT);
    let uncounted =
        lines.into_iter().map(|line| strata_store::HistoryLine { positions: 0, ..line });
    assert!(journal.layers(&id).unwrap().into_iter().eq(uncounted));
    job.progress.as_mut().unwrap().positions = 0;
    assert_eq!(journal.find(&id).unwrap(), job, "the end is not another one");
}
