//! Tests of the journal: operations, kills at any time, and damage at any offset.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use proptest::prelude::RngExt;
use proptest::test_runner::{RngAlgorithm, TestRng};
use strata_coordinator::{JobEntry, JobName, JobOptions, JobState, Journal, JournalError};
use strata_run::{KeepLayers, StopReason};
use strata_store::LayerRecord;

use crate::common;

use common::{Content, checkpoint, content, line, spec, submit};

fn cancel(journal: &Journal, job: &str) {
    journal.update(job, |entry| entry.state = JobState::Cancelled).unwrap();
}

#[test]
fn a_job_is_submitted_stopped_queued_again_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.redb");
    let journal = Journal::open(&path).unwrap();
    let job = submit(&journal, Some("big"), 6);
    let other = submit(&journal, None, 7);
    let letters = job.id.strip_prefix("panex-6-").unwrap();
    assert_eq!(letters.len(), 6);
    assert!(letters.bytes().all(|b| b.is_ascii_lowercase() || (b'2'..=b'7').contains(&b)));
    assert_eq!((job.order, other.order, job.state), (0, 1, JobState::Queued));

    let lines: Vec<LayerRecord> = (0..5).map(|depth| line(depth, 1)).collect();
    let entry = journal
        .checkpoint(&job.id, &lines, |entry| {
            entry.state = JobState::Stopped(StopReason::DiskFull);
            entry.checkpoint = Some(checkpoint(4));
            entry.cancel = true;
            entry.seconds = 0.1 + 0.2;
        })
        .unwrap();
    assert_eq!(journal.find(&job.id).unwrap(), entry);
    assert_eq!(journal.layers(&job.id).unwrap(), lines);
    assert_eq!(journal.layers(&other.id).unwrap(), []);

    let again = journal.requeue(&job.id).unwrap();
    assert_eq!((again.order, again.state, again.cancel), (2, JobState::Queued, false));
    assert_eq!(again.checkpoint, entry.checkpoint);
    let refused = journal.requeue(&job.id).unwrap_err();
    assert!(matches!(refused, JournalError::NotResumable { state: JobState::Queued, .. }));
    let ids: Vec<String> = journal.jobs().unwrap().into_iter().map(|job| job.id).collect();
    assert_eq!(ids, [other.id.clone(), job.id.clone()]);

    let queued = journal.remove(&job.id).unwrap_err().to_string();
    assert_eq!(queued, format!("job {} has not ended: cancel it first", job.id));
    cancel(&journal, &job.id);
    journal.remove(&job.id).unwrap();
    assert!(matches!(journal.layers(&job.id), Err(JournalError::NoSuchJob { .. })));
    assert!(matches!(journal.remove(&job.id), Err(JournalError::NoSuchJob { .. })));
    drop(journal);
    assert_eq!(Journal::open(&path).unwrap().jobs().unwrap(), [other]);
}

#[test]
fn a_submission_with_a_name_is_idempotent() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(&folder.path().join("journal.redb")).unwrap();
    let job = submit(&journal, Some("big"), 6);
    let options = JobOptions { keep: KeepLayers::All, ..JobOptions::default() };
    let again =
        journal.submit("other", Some("big".into()), spec(6), options.clone(), 9, None).unwrap();
    assert_eq!(again, (job.clone(), false));
    let refused =
        journal.submit("other", Some("big".into()), spec(7), options, 9, None).unwrap_err();
    assert_eq!(
        refused.to_string(),
        format!(r#"the name "big" belongs to job {}, which differs: n is "6", not "7""#, job.id)
    );
    assert_eq!(journal.jobs().unwrap(), [job]);
    for bad in ["", "a/b", "..", &"x".repeat(65)] {
        let name = Some(bad.into());
        let refused = journal.submit("panex", name, spec(6), JobOptions::default(), 0, None);
        assert!(matches!(refused, Err(JournalError::Name { .. })), "{bad:?}");
        let refused = journal.submit(bad, None, spec(6), JobOptions::default(), 0, None);
        assert!(matches!(refused, Err(JournalError::Name { .. })), "{bad:?}");
    }
}

#[test]
fn the_name_of_an_ended_job_is_reused_only_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.redb");
    let journal = Journal::open(&path).unwrap();
    let again = |journal: &Journal, again: bool| {
        let name = Some(JobName { name: "big", again });
        journal.submit("other", name, spec(6), JobOptions::default(), 9, None)
    };
    let first = submit(&journal, Some("big"), 6).id;
    let refused = again(&journal, true).unwrap_err().to_string();
    assert_eq!(
        refused,
        format!(
            "job {first} has the name \"big\" and has not ended: cancel it first, or omit `new`"
        )
    );
    cancel(&journal, &first);
    let refused = again(&journal, false).unwrap_err().to_string();
    assert_eq!(
        refused,
        format!(
            "the name \"big\" belongs to job {first}, which has ended (cancelled): \"watch big\" \
             shows it, `new` starts another job of that name, \"resume big\" goes on with it"
        )
    );
    journal.update(&first, |job| job.state = JobState::Done).unwrap();
    let refused = again(&journal, false).unwrap_err().to_string();
    assert!(refused.ends_with("`new` starts another job of that name"), "{refused}");
    let (second, is_new) = again(&journal, true).unwrap();
    assert!(is_new);
    assert_eq!(again(&journal, false).unwrap(), (second.clone(), false));
    // The name means the newest.
    assert_eq!(journal.find("big").unwrap(), second);
    assert_eq!(journal.find(&first).unwrap().name.as_deref(), Some("big"));
    // It stays when an older job of the name is removed, and is free without the newest.
    journal.remove(&first).unwrap();
    drop(journal);
    let journal = Journal::open(&path).unwrap();
    assert_eq!(journal.find("big").unwrap(), second);
    cancel(&journal, &second.id);
    journal.remove(&second.id).unwrap();
    assert!(matches!(journal.find("big"), Err(JournalError::NoSuchJob { .. })));
    submit(&journal, Some("big"), 6);
}

#[test]
fn jobs_are_found_by_id_then_name_then_prefix() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(&folder.path().join("journal.redb")).unwrap();
    let six = submit(&journal, None, 6);
    let seven = submit(&journal, None, 7);
    let named = submit(&journal, Some("panex-7"), 8);
    let found = |what: &str| journal.find(what).map(|job| job.id);
    assert_eq!(found(&six.id).unwrap(), six.id);
    assert_eq!(found("panex-6").unwrap(), six.id);
    assert_eq!(found("panex-7").unwrap(), named.id, "a name takes precedence over a prefix");
    assert_eq!(found("panex-7-").unwrap(), seven.id);
    let several = found("panex-").unwrap_err();
    let JournalError::Ambiguous { what, jobs } = several else { panic!("{several}") };
    assert_eq!((&*what, jobs), ("panex-", vec![six.id, seven.id.clone(), named.id.clone()]));
    cancel(&journal, &named.id);
    journal.remove(&named.id).unwrap();
    assert_eq!(found("panex-7").unwrap(), seven.id);
    for nothing in ["", "panex-9", "panex-6-zzzzzzz"] {
        assert!(matches!(found(nothing), Err(JournalError::NoSuchJob { .. })), "{nothing:?}");
    }
}

#[test]
fn layers_with_a_gap_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(&folder.path().join("journal.redb")).unwrap();
    let job = submit(&journal, None, 6).id;
    let put = |depths: Range<u32>, salt| {
        let lines: Vec<LayerRecord> = depths.map(|depth| line(depth, salt)).collect();
        journal.checkpoint(&job, &lines, |entry| entry.peak_rss_bytes += 1)
    };
    let gap = |result: Result<JobEntry, JournalError>| match result {
        Err(JournalError::Gap { expected, found, .. }) => (expected, found),
        other => panic!("{other:?}"),
    };
    assert_eq!(gap(put(1..3, 0)), (0, 1));
    put(0..10, 0).unwrap();
    assert_eq!(gap(put(11..12, 0)), (10, 11));
    let broken = [line(4, 1), line(6, 1)];
    assert_eq!(gap(journal.checkpoint(&job, &broken, |_| ())), (5, 6));
    let last = [line(u32::MAX, 1)];
    assert_eq!(gap(journal.checkpoint(&job, &last, |_| ())), (10, u32::MAX));
    // A refused change has no effect.
    assert_eq!(journal.find(&job).unwrap().peak_rss_bytes, 1);
    assert_eq!(journal.layers(&job).unwrap().len(), 10);
    // New lines replace old ones up to the end.
    put(4..7, 1).unwrap();
    let expected: Vec<LayerRecord> =
        (0..7).map(|depth| line(depth, u64::from(depth >= 4))).collect();
    assert_eq!(journal.layers(&job).unwrap(), expected);
    put(7..7, 0).unwrap();
    assert_eq!(journal.layers(&job).unwrap(), expected);
}

#[test]
fn fixed_fields_cannot_be_changed() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(&folder.path().join("journal.redb")).unwrap();
    let job = submit(&journal, Some("big"), 6);
    let fixed = |change: fn(&mut JobEntry)| match journal.update(&job.id, change) {
        Err(JournalError::Fixed { what, .. }) => what,
        other => panic!("{other:?}"),
    };
    assert_eq!(fixed(|job| job.id.push('x')), "id");
    assert_eq!(fixed(|job| job.name = None), "name");
    assert_eq!(fixed(|job| job.order = 7), "place in the queue");
    assert_eq!(fixed(|job| job.spec.shards = 1), "specification");
    assert_eq!(fixed(|job| job.created = 0), "time of submission");
    for invalid in [f64::NAN, f64::INFINITY] {
        let refused = journal.update(&job.id, |job| job.seconds = invalid);
        assert!(matches!(refused, Err(JournalError::Unwritable { .. })));
    }
    assert_eq!(journal.jobs().unwrap(), std::slice::from_ref(&job));
    let (_, answer) = journal.update(&job.id, |job| job.cancel).unwrap();
    assert!(!answer);
    assert!(matches!(journal.update("nobody", |_| ()), Err(JournalError::NoSuchJob { .. })));
}

#[test]
fn a_journal_can_be_open_only_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.redb");
    let journal = Journal::open(&path).unwrap();
    let error = Journal::open(&path).unwrap_err();
    assert!(matches!(&error, JournalError::Locked { path: named } if *named == path), "{error}");
    drop(journal);
    Journal::open(&path).unwrap();
    // No temporary file is left.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    let missing = Journal::open(&folder.path().join("none").join("journal.redb"));
    assert!(matches!(missing, Err(JournalError::Io { .. })));
}

#[test]
fn threads_share_a_journal() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(&folder.path().join("journal.redb")).unwrap();
    let epochs = Mutex::new(BTreeSet::new());
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (journal, epochs) = (&journal, &epochs);
            scope.spawn(move || {
                for round in 0..5 {
                    let epoch = journal.next_epoch().unwrap();
                    assert!(epochs.lock().unwrap().insert(epoch));
                    let id = format!("{thread}-{round}");
                    journal.register(&id, &*id, "a:1", |_| false).unwrap();
                    submit(journal, None, thread);
                    content(journal).unwrap();
                }
            });
        }
    });
    assert_eq!(epochs.into_inner().unwrap(), (1..=20).collect());
    let all = content(&journal).unwrap();
    assert_eq!((all.workers.len(), all.jobs.len()), (20, 20));
}

/// Runs operations of all kinds, and calls `seen` with the last epoch after each.
fn run_all_operations(journal: &Journal, mut seen: impl FnMut(&Journal, u64)) {
    let mut epoch = 0;
    for worker in 0..3 {
        let (id, name) = (format!("id-{worker}"), format!("w{worker}"));
        journal.register(&id, &*name, "h:1", |_| false).unwrap();
        seen(journal, epoch);
    }
    for n in 0..4 {
        let job = submit(journal, Some(&format!("job-{n}")), n).id;
        seen(journal, epoch);
        epoch = journal.next_epoch().unwrap();
        seen(journal, epoch);
        for (from, to) in [(0, 4), (4, 30), (20, 25)] {
            let lines: Vec<LayerRecord> =
                (from..to).map(|depth| line(depth, epoch + u64::from(to))).collect();
            let change = |entry: &mut JobEntry| entry.checkpoint = Some(checkpoint(to - 1));
            journal.checkpoint(&job, &lines, change).unwrap();
            seen(journal, epoch);
        }
        journal.update(&job, |entry| entry.state = JobState::Cancelled).unwrap();
        seen(journal, epoch);
    }
    let job = journal.find("job-1").unwrap().id;
    journal.requeue(&job).unwrap();
    seen(journal, epoch);
    cancel(journal, &job);
    seen(journal, epoch);
    journal.remove(&job).unwrap();
    seen(journal, epoch);
    journal.confirm_removals(&[(0, vec![job])]).unwrap();
    seen(journal, epoch);
}

#[test]
fn finished_transactions_survive_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.redb");
    let copied = folder.path().join("copy.redb");
    let journal = Journal::open(&path).unwrap();
    run_all_operations(&journal, |journal, epoch| {
        let expected = content(journal).unwrap();
        std::fs::copy(&path, &copied).unwrap();
        let reopened = Journal::open(&copied).unwrap();
        assert_eq!(content(&reopened).unwrap(), expected);
        assert_eq!(reopened.next_epoch().unwrap(), epoch + 1);
    });
}

/// Images of a closed and of a killed journal, with their content and last epoch.
fn images(folder: &Path) -> (Vec<u8>, Vec<u8>, Content, u64) {
    let path = folder.join("journal.redb");
    let journal = Journal::open(&path).unwrap();
    let mut last = 0;
    run_all_operations(&journal, |_, epoch| last = epoch);
    let expected = content(&journal).unwrap();
    let killed = std::fs::read(&path).unwrap();
    drop(journal);
    (std::fs::read(&path).unwrap(), killed, expected, last)
}

/// A journal whose damaged copies are opened, and the number of each outcome.
struct DamagedCopy {
    path: PathBuf,
    image: Vec<u8>,
    expected: Content,
    epoch: u64,
    refused: usize,
    harmless: usize,
}

impl DamagedCopy {
    /// Opens and reads a damaged copy: it has the original content, or is refused.
    fn open_damaged(&mut self, what: &str, damage: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = self.image.clone();
        damage(&mut bytes);
        std::fs::write(&self.path, &bytes).unwrap();
        let read = |journal: Journal| Ok((content(&journal)?, journal.next_epoch()?));
        match Journal::open(&self.path).and_then(read) {
            Ok((found, epoch)) => {
                assert!(found == self.expected, "{what}: {found:?}");
                assert_eq!(epoch, self.epoch + 1, "{what}");
                self.harmless += 1;
            }
            Err(error) => {
                assert!(error.is_corrupt(), "{what}: {error}");
                assert!(error.to_string().contains("damaged.redb"), "{what}: {error}");
                self.refused += 1;
            }
        }
    }
}

/// Bytes before the first page: magic number, flags, sizes, both commit slots.
const HEADER: usize = 320;
/// Bytes at the start of the header that no checksum of the database covers. The test flips each of
/// their bits.
const UNCHECKED: usize = 32;
const PAGE: usize = 4096;

fn damage_everywhere(image: Vec<u8>, expected: Content, epoch: u64, folder: &Path) {
    let path = folder.join("damaged.redb");
    let used: Vec<usize> = (HEADER..image.len()).filter(|&at| image[at] != 0).collect();
    let pages: BTreeSet<usize> = used.iter().map(|at| at / PAGE * PAGE).collect();
    let size = image.len();
    let mut copy = DamagedCopy { path, image, expected, epoch, refused: 0, harmless: 0 };
    copy.open_damaged("nothing", |_| ());
    assert_eq!((copy.refused, copy.harmless), (0, 1));
    let mut rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let checked = (UNCHECKED..HEADER).map(|at| at * 8 + rng.random_range(0..8));
    for bit in (0..UNCHECKED * 8).chain(checked.collect::<Vec<_>>()) {
        copy.open_damaged(&format!("bit {bit}"), |bytes| bytes[bit / 8] ^= 1 << (bit % 8));
    }
    for _ in 0..200 {
        let at = used[rng.random_range(0..used.len())];
        let flip = rng.random_range(1..=255u8);
        copy.open_damaged(&format!("byte {at} ^ {flip}"), |bytes| bytes[at] ^= flip);
    }
    for page in pages {
        let whole = page..size.min(page + PAGE);
        copy.open_damaged(&format!("page at {page} zeroed"), |bytes| bytes[whole].fill(0));
    }
    for length in [0, 100, HEADER, PAGE, size / 2, size - PAGE, size - 1] {
        copy.open_damaged(&format!("cut to {length}"), |bytes| bytes.truncate(length));
    }
    let DamagedCopy { refused, harmless, .. } = copy;
    assert!(refused > 100 && harmless > 100, "{refused} refused, {harmless} harmless");
}

#[test]
fn damage_to_a_closed_journal_is_refused_or_harmless() {
    let folder = tempfile::tempdir().unwrap();
    let (closed, _, expected, epoch) = images(folder.path());
    damage_everywhere(closed, expected, epoch, folder.path());
}

#[test]
fn damage_to_a_killed_journal_is_refused_or_harmless() {
    let folder = tempfile::tempdir().unwrap();
    let (_, killed, expected, epoch) = images(folder.path());
    damage_everywhere(killed, expected, epoch, folder.path());
}

#[test]
fn damage_to_an_open_journal_is_refused_or_harmless() {
    let folder = tempfile::tempdir().unwrap();
    let (closed, _, expected, epoch) = images(folder.path());
    let path = folder.path().join("damaged.redb");
    let used: Vec<usize> = (PAGE..closed.len()).filter(|&at| closed[at] != 0).collect();
    let pages: BTreeSet<usize> = used.iter().map(|at| at / PAGE * PAGE).collect();
    let mut rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut targets: Vec<(usize, usize)> = pages.into_iter().map(|page| (page, PAGE)).collect();
    targets.extend((0..100).map(|_| (used[rng.random_range(0..used.len())], 1)));
    let mut refused = 0;
    for (at, length) in targets {
        std::fs::write(&path, &closed).unwrap();
        let journal = Journal::open(&path).unwrap();
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        let noise: Vec<u8> = closed[at..at + length].iter().map(|byte| byte ^ 0x55).collect();
        std::os::unix::fs::FileExt::write_all_at(&file, &noise, at as u64).unwrap();
        match content(&journal) {
            Ok(found) => assert!(found == expected, "{length} bytes at {at}"),
            Err(error) => {
                assert!(error.is_corrupt(), "{length} bytes at {at}: {error}");
                refused += 1;
            }
        }
        if let Ok(next) = journal.next_epoch() {
            assert_eq!(next, epoch + 1, "{length} bytes at {at}");
        }
    }
    assert!(refused > 10, "only {refused} refused: most of the damage had no effect");
}
