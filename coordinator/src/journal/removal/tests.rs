//! Tests of tombstones.

use std::path::Path;
use std::time::{Duration, SystemTime};

use strata_store::{EngineKind, JobSpec};

use super::*;
use crate::entry::{EndState, JobOptions, JobState};
use crate::journal::setup::JournalSetup;

fn open(path: &Path, now: u64) -> Journal {
    let clock = move || SystemTime::UNIX_EPOCH + Duration::from_secs(now);
    Journal::open_with(path, JournalSetup::default().with_clock(clock)).unwrap()
}

/// A job that has ended in a state.
fn ended(journal: &Journal, name: &str, state: JobState) -> String {
    let spec = JobSpec {
        space: "hanoi".to_owned(),
        params: Default::default(),
        shards: 1,
        engine: EngineKind::Explicit,
    };
    let job =
        journal.submit("hanoi", Some(name.into()), spec, JobOptions::default(), 0, None).unwrap().0;
    journal.update(&job.id, |entry| entry.state = state).unwrap();
    job.id
}

fn pending(journal: &Journal, worker: WorkerNumber) -> Vec<String> {
    journal.pending_removals(worker, 9).unwrap()
}

#[test]
fn a_tombstone_stays_until_the_log_and_all_files_are_gone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let mut journal = open(&path, 7);
    for id in ["a", "b"] {
        journal.register(id, id, "h:1", |_| false).unwrap();
    }
    let job = ended(&journal, "big", JobState::Done);
    journal.remove(&job).unwrap();
    // Workers that come later hold nothing of the job.
    journal.register("c", "c", "h:1", |_| false).unwrap();
    // Each step is durable.
    type Step<'a> = &'a dyn Fn(&Journal);
    let steps: [(Step<'_>, bool, [usize; 3]); 4] = [
        (&|_| (), true, [1, 1, 0]),
        (&|journal| journal.confirm_removals(&[(1, vec![job.clone()])]).unwrap(), true, [1, 0, 0]),
        (&|journal| journal.confirm_logs(std::slice::from_ref(&job)).unwrap(), false, [1, 0, 0]),
        (&|journal| journal.confirm_removals(&[(0, vec![job.clone()])]).unwrap(), false, [0, 0, 0]),
    ];
    for (number, (step, log, workers)) in steps.into_iter().enumerate() {
        step(&journal);
        for _ in 0..2 {
            assert_eq!(journal.pending_logs().unwrap().len(), usize::from(log), "{number}");
            assert_eq!([0, 1, 2].map(|worker| pending(&journal, worker).len()), workers);
            assert_eq!(journal.knows(&job).unwrap(), log || workers != [0; 3]);
            drop(journal);
            journal = open(&path, 7);
        }
    }
    assert_eq!(journal.store().read(|tx| tx.count(TOMBSTONES)).unwrap(), 0);
    // The name is free.
    ended(&journal, "big", JobState::Done);
}

#[test]
fn only_jobs_that_have_ended_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let journal = open(&folder.path().join("journal"), 7);
    let done = ended(&journal, "done", JobState::Done);
    let running = ended(&journal, "running", JobState::Running);
    assert!(matches!(journal.remove(&running), Err(JournalError::NotEnded { .. })));
    assert!(matches!(journal.remove("nothing"), Err(JournalError::NoSuchJob { .. })));
    let ids = [running.clone(), "nothing".to_owned(), done.clone()];
    let removed = journal.remove_ended(&ids).unwrap();
    assert_eq!(removed.into_iter().map(|job| job.id).collect::<Vec<_>>(), [done]);
    let unended = journal.unended(|jobs| jobs.running().map(str::to_owned).collect()).unwrap();
    let unended: Vec<String> = unended;
    assert_eq!(unended, [running]);
}

#[test]
fn jobs_are_found_by_the_time_of_their_end() {
    const ALL: [EndState; 3] = [EndState::Done, EndState::Cancelled, EndState::Stopped];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let job = |time, state| ended(&open(&path, time), &format!("job-{time}"), state);
    let first = job(10, JobState::Done);
    let second = job(20, JobState::Cancelled);
    let third = job(30, JobState::Done);
    let journal = open(&path, 40);
    let ids = |jobs: Result<Vec<super::super::ended::EndedJob>>| {
        jobs.unwrap().into_iter().map(|job| job.id).collect::<Vec<_>>()
    };
    assert_eq!(ids(journal.ended_before(19, &ALL)), [&*first]);
    assert_eq!(ids(journal.ended_before(20, &ALL)), [&*first, &*second]);
    assert_eq!(ids(journal.ended_before(99, &[EndState::Done])), [&*first, &*third]);
    assert_eq!(ids(journal.ended_beyond(1, &ALL)), [&*first, &*second]);
    assert_eq!(ids(journal.ended_beyond(1, &[EndState::Done])), [&*first]);
    assert_eq!(ids(journal.ended_beyond(3, &ALL)), [""; 0]);
    // Queued again, a job has not ended; it ends anew.
    journal.requeue(&second).unwrap();
    assert_eq!(ids(journal.ended_before(99, &ALL)), [&*first, &*third]);
    journal.update(&second, |entry| entry.state = JobState::Done).unwrap();
    assert_eq!(ids(journal.ended_before(99, &ALL)), [&*first, &*third, &*second]);
    // A later change of a job that has ended does not change the time.
    drop(journal);
    let journal = open(&path, 50);
    journal.update(&first, |entry| entry.seconds = 1.0).unwrap();
    assert_eq!(journal.find(&first).unwrap().ended, Some(10));
    assert_eq!(ids(journal.ended_before(10, &ALL)), [&*first]);
    // The order is that of the ends, also within a second and after the clock went back.
    drop(journal);
    let [fourth, fifth] = [1, 2].map(|number| job(5 + number, JobState::Done));
    let journal = open(&path, 60);
    assert_eq!(journal.find(&fifth).unwrap().ended, Some(40));
    let expected = [&*first, &*third, &*second, &*fourth, &*fifth];
    assert_eq!(ids(journal.ended_before(99, &ALL)), expected);
    assert_eq!(ids(journal.ended_beyond(1, &ALL)), expected[..4]);
}

#[test]
fn the_number_of_tombstones_is_limited() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let id = |number: usize| format!("lost-{number:06}");
    let bury = |journal: &Journal, numbers: std::ops::Range<usize>| {
        let jobs = numbers.map(|number| (id(number), vec![0])).collect();
        journal.remove_unknown(&jobs).unwrap();
    };
    bury(&open(&path, 1), 0..10);
    bury(&open(&path, 2), 10..MAX_TOMBSTONES);
    let journal = open(&path, 3);
    assert_eq!(pending(&journal, 0)[0], id(0));
    bury(&journal, MAX_TOMBSTONES..MAX_TOMBSTONES + 4);
    let left = journal.pending_removals(0, usize::MAX).unwrap();
    assert_eq!(left.len(), MAX_TOMBSTONES);
    assert_eq!(left.last(), Some(&id(MAX_TOMBSTONES + 3)));
    assert!(left.iter().filter(|job| **job < id(10)).count() == 6);
    drop(journal);
    assert_eq!(open(&path, 3).pending_removals(0, usize::MAX).unwrap(), left);
}

#[test]
fn a_job_that_the_journal_has_is_not_removed_as_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let journal = open(&folder.path().join("journal"), 7);
    journal.register("a", "a", "h:1", |_| false).unwrap();
    let known = ended(&journal, "known", JobState::Done);
    let jobs = [known.clone(), "lost".to_owned()].map(|job| (job, vec![0]));
    journal.remove_unknown(&jobs.into()).unwrap();
    assert_eq!(pending(&journal, 0), ["lost"]);
    assert!(journal.knows(&known).unwrap() && !journal.knows("other").unwrap());
    assert_eq!(journal.find("known").unwrap().id, known);
}

#[test]
fn the_file_shrinks_when_most_jobs_are_removed() {
    const JOBS: usize = 2000;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let journal = open(&path, 7);
    let kept = ended(&journal, "kept", JobState::Done);
    let like = journal.find(&kept).unwrap();
    let filler =
        JobEntry { state: JobState::Failed { corrupt: false, why: "x".repeat(8000) }, ..like };
    journal.submit_copies(&filler, JOBS).unwrap();
    let bytes = || std::fs::metadata(&path).unwrap().len();
    let full = bytes();
    assert!(full > 16 << 20, "{full}");
    // All of it is in use.
    journal.shrink();
    assert_eq!(bytes(), full);
    let ids: Vec<String> = (0..JOBS).map(|copy| format!("copy-{copy:06}")).collect();
    assert_eq!(journal.remove_ended(&ids).unwrap().len(), JOBS);
    journal.shrink();
    assert!(bytes() < full / 4, "{} of {full}", bytes());
    assert_eq!(journal.jobs().unwrap().len(), 1);
    assert_eq!(journal.next_epoch().unwrap(), 1);
    // As after a kill.
    let copy = folder.path().join("copy");
    std::fs::copy(&path, &copy).unwrap();
    assert_eq!(open(&copy, 7).find("kept").unwrap().id, kept);
    drop(journal);
    assert_eq!(open(&path, 7).next_epoch().unwrap(), 2);
}
