//! Tests of the removal of job folders, and of the mark of a worker's job folder.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use strata_store::{
    FaultyFs, Fs, JobDir, RealFs, StoreError, jobs_in, owned_jobs, remove_job, remove_remains,
};

fn real() -> Arc<dyn Fs> {
    Arc::new(RealFs)
}

/// Names in a folder, sorted.
fn names(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort_unstable();
    names
}

/// A worker's folder of a job, with a layer.
fn attached(data: &Path, job: &str) -> JobDir {
    let folder = JobDir::attach(real(), data, job).unwrap();
    std::fs::write(folder.layer_path(3, 0), "x").unwrap();
    folder
}

#[test]
fn the_folder_of_a_worker_names_its_journal() {
    let data = tempfile::tempdir().unwrap();
    let (mine, other) = ("0".repeat(32), "1".repeat(32));
    let folder = attached(data.path(), "a");
    assert_eq!(folder.owner().unwrap(), None);
    folder.set_owner(&mine).unwrap();
    assert_eq!(folder.owner().unwrap().as_deref(), Some(&*mine));
    folder.remove_others(|_| false).unwrap();
    assert_eq!(names(folder.path()), ["journal-id"]);
    attached(data.path(), "b").set_owner(&other).unwrap();
    attached(data.path(), "without");
    let damaged = attached(data.path(), "damaged");
    std::fs::write(damaged.path().join("journal-id"), "../..").unwrap();
    assert!(matches!(damaged.owner(), Err(StoreError::Corrupt { .. })));
    let begun = SystemTime::now().checked_sub(Duration::from_secs(60)).unwrap();
    let found = owned_jobs(&RealFs, data.path(), &mine).unwrap();
    assert_eq!(found.iter().map(|job| &*job.job).collect::<Vec<_>>(), ["a"]);
    assert!(found[0].modified > begun && found[0].modified <= SystemTime::now());
}

#[test]
fn an_interrupted_removal_leaves_the_whole_job_or_deletable_remains() {
    for steps in 0..4 {
        let data = tempfile::tempdir().unwrap();
        attached(data.path(), "a");
        let fs = FaultyFs::new();
        fs.fail_after(steps);
        let removed = remove_job(&fs, data.path(), "a");
        let left = names(data.path());
        match steps {
            0 => assert_eq!((removed.is_err(), &*left), (true, &["a".to_owned()][..])),
            1 => {
                assert!(removed.is_err() && left.len() == 1);
                assert!(left[0].starts_with(".removed-a."), "{left:?}");
                assert_eq!(jobs_in(&RealFs, data.path()).unwrap(), [""; 0]);
                assert_eq!(remove_remains(&RealFs, data.path()).unwrap(), 1);
                assert!(names(data.path()).is_empty());
            }
            // The deletion is complete, but not durable.
            2 => assert!(removed.is_err() && left.is_empty()),
            _ => assert!(removed.unwrap() && left.is_empty()),
        }
        assert_eq!(remove_remains(&RealFs, data.path()).unwrap(), 0);
    }
}

#[test]
fn the_folder_of_a_job_that_was_being_created_is_deleted() {
    let data = tempfile::tempdir().unwrap();
    for (job, files) in [
        ("begun", &["manifest.json.1-0.tmp"][..]),
        ("complete", &["manifest.json", "manifest.json.1-0.tmp"]),
        ("empty", &[]),
        ("others", &["notes.tmp"]),
    ] {
        let dir = data.path().join(job);
        std::fs::create_dir(&dir).unwrap();
        files.iter().for_each(|name| std::fs::write(dir.join(name), "x").unwrap());
    }
    assert_eq!(remove_remains(&RealFs, data.path()).unwrap(), 1);
    assert_eq!(names(data.path()), ["complete", "empty", "others"]);
}

#[test]
fn a_removal_follows_no_link() {
    let data = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::write(elsewhere.path().join("precious"), "x").unwrap();
    let folder = attached(data.path(), "a");
    std::os::unix::fs::symlink(elsewhere.path(), folder.path().join("link")).unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), data.path().join("b")).unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), data.path().join(".removed-c.1")).unwrap();
    assert!(remove_job(&RealFs, data.path(), "a").unwrap());
    let refused = remove_job(&RealFs, data.path(), "b").unwrap_err().to_string();
    assert!(refused.ends_with("b is inconsistent: it is no folder"), "{refused}");
    assert_eq!(remove_remains(&RealFs, data.path()).unwrap(), 0);
    assert!(!remove_job(&RealFs, data.path(), "missing").unwrap());
    assert!(matches!(remove_job(&RealFs, data.path(), ".."), Err(StoreError::Name { .. })));
    assert_eq!(names(elsewhere.path()), ["precious"]);
}

#[test]
fn jobs_that_are_removed_while_they_are_listed_are_left_out() {
    let data = tempfile::tempdir().unwrap();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                for number in 0..20 {
                    std::fs::create_dir(data.path().join(format!("job-{number}"))).unwrap();
                }
                for number in 0..20 {
                    std::fs::remove_dir(data.path().join(format!("job-{number}"))).unwrap();
                }
            }
        });
        let lists: Vec<_> = (0..2000).map(|_| jobs_in(&RealFs, data.path())).collect();
        is_over.store(true, Ordering::Relaxed);
        assert!(lists.into_iter().all(|jobs| jobs.unwrap().is_empty()));
    });
}
