//! Folders of jobs: which one is in use, which journal each belongs to, and which are to be
//! removed.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use strata_proto::net::convert;
use strata_proto::v1;
use strata_store::{
    Fs, JobDir, KeptFile, Removed, StoreError, is_layer_file, is_unusable_path, take_job,
};
use tonic::Status;

use crate::error::OrderError;

/// The job that the executor has prepared. Its folder is protected from removal.
#[derive(Debug, Default)]
pub(crate) struct ActiveFolder(Mutex<Option<String>>);

/// Result of [`ActiveFolder::take`].
pub(crate) enum Taken {
    /// The executor has the job prepared.
    Active,
    /// The job has no folder.
    Absent,
    /// The folder of this name belongs to another journal.
    Foreign,
    Folder(Removed),
}

impl ActiveFolder {
    fn job(&self) -> MutexGuard<'_, Option<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Protects the folder of a job from removal, instead of the one protected before.
    pub(crate) fn enter(&self, job: &str) {
        *self.job() = Some(job.to_owned());
    }

    /// Ends the protection.
    pub(crate) fn leave(&self) {
        *self.job() = None;
    }

    /// Takes the folder of a job out of the data directory, unless the job is prepared or the
    /// folder belongs to another journal than `journal`. The lock is held meanwhile, so that the
    /// executor cannot prepare the job.
    ///
    /// # Errors
    /// Those of the file system, and `Corrupt` if the folder's mark is damaged.
    pub(crate) fn take(
        &self,
        fs: Arc<dyn Fs>,
        data_dir: &Path,
        journal: &str,
        job: &str,
    ) -> Result<Taken, StoreError> {
        let active = self.job();
        if active.as_deref() == Some(job) {
            return Ok(Taken::Active);
        }
        // A folder without a mark is taken, too: a worker may end before it marks a new folder.
        if let Some(owner) = JobDir::owner_of(&*fs, data_dir, job)?
            && owner != journal
        {
            tracing::warn!(job, "not removed: the folder belongs to the journal {owner}");
            return Ok(Taken::Foreign);
        }
        Ok(take_job(fs, data_dir, job)?.map_or(Taken::Absent, Taken::Folder))
    }
}

/// Marks a job's folder as belonging to a journal.
///
/// # Errors
/// [`OrderError::Unfit`] if it belongs to another journal, otherwise those of the file system.
pub(crate) fn claim(folder: &JobDir, journal: &str) -> Result<(), OrderError> {
    match folder.owner()? {
        Some(owner) if owner == journal => Ok(()),
        Some(owner) => {
            let folder = folder.path().display();
            Err(OrderError::Unfit(format!("{folder} belongs to a job of another journal, {owner}")))
        }
        None => Ok(folder.set_owner(journal)?),
    }
}

/// Opens the folder of a job whose files another node reads. Symbolic links are refused.
///
/// # Errors
/// `INVALID_ARGUMENT` if the id is not a plain name, `NOT_FOUND` if the job has no folder, or a
/// link in its place, `DATA_LOSS` if the disk cannot be read.
pub(crate) fn folder(fs: Arc<dyn Fs>, data_dir: &Path, job: &str) -> Result<JobDir, Status> {
    JobDir::existing(fs, data_dir, job).map_err(|error| refusal(&error))
}

fn refusal(error: &StoreError) -> Status {
    let text = error.to_string();
    match error {
        StoreError::Name { .. } => Status::invalid_argument(text),
        StoreError::Io { source, .. } if !is_unusable_path(source) => Status::data_loss(text),
        _ => Status::not_found(text),
    }
}

/// Checks that a name is one of a layer file. Nothing else in a job's folder is read for other nodes.
///
/// # Errors
/// `INVALID_ARGUMENT` for other names.
pub(crate) fn check_layer_file(name: &str) -> Result<(), Status> {
    match is_layer_file(name) {
        true => Ok(()),
        false => Err(Status::invalid_argument(format!("{name} is no layer file"))),
    }
}

/// The folder of a job, and the record of a layer file in it that another node names.
///
/// # Errors
/// Those of [`folder`] and [`check_layer_file`], and `INVALID_ARGUMENT` for a malformed record.
pub(crate) fn layer_file(
    fs: Arc<dyn Fs>,
    data_dir: &Path,
    job: &str,
    file: v1::LayerFile,
) -> Result<(JobDir, KeptFile), Status> {
    // A kept layer's file has no totals.
    let record = convert::kept_from(file);
    let record = record.map_err(|error| Status::invalid_argument(error.to_string()))?;
    check_layer_file(&record.file)?;
    Ok((folder(fs, data_dir, job)?, record))
}

/// Jobs that are to be removed.
#[derive(Debug, Default)]
pub(crate) struct Removals(Mutex<RemovalQueue>);

#[derive(Debug, Default)]
struct RemovalQueue {
    jobs: BTreeSet<String>,
    /// A task that removes them is running.
    is_running: bool,
    /// Jobs whose failed removal is logged.
    logged: BTreeSet<String>,
}

impl Removals {
    fn queue(&self) -> MutexGuard<'_, RemovalQueue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds jobs. Returns whether the caller must start a task that removes them.
    pub(crate) fn add(&self, jobs: Vec<String>) -> bool {
        let mut queue = self.queue();
        queue.jobs.extend(jobs);
        !std::mem::replace(&mut queue.is_running, true)
    }

    /// The next job to remove. With `None` the task must end.
    pub(crate) fn next(&self) -> Option<String> {
        let mut queue = self.queue();
        let next = queue.jobs.pop_first();
        queue.is_running = next.is_some();
        next
    }

    /// Clears the queue, at the start of a new connection. The coordinator repeats its requests.
    pub(crate) fn clear(&self) {
        self.queue().jobs.clear();
    }

    /// Whether a failure to remove `job` has yet to be logged; later calls return false.
    pub(crate) fn is_new(&self, job: &str) -> bool {
        self.queue().logged.insert(job.to_owned())
    }

    /// Records that a job is removed.
    pub(crate) fn succeeded(&self, job: &str) {
        self.queue().logged.remove(job);
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use strata_store::RealFs;
    use tonic::Code;

    use super::*;
    use crate::transfer::failed;

    #[test]
    fn a_folder_that_the_disk_cannot_read_is_not_missing() {
        let data = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(data.path(), data.path().join("link")).unwrap();
        let code = |job| folder(Arc::new(RealFs), data.path(), job).unwrap_err().code();
        assert_eq!(code("a/b"), Code::InvalidArgument);
        assert_eq!((code("nothing"), code("link")), (Code::NotFound, Code::NotFound));
        let broken = failed("open", data.path(), io::Error::from_raw_os_error(5));
        assert_eq!(refusal(&broken).code(), Code::DataLoss);
    }

    fn marked(data: &Path, job: &str, journal: Option<&str>) -> JobDir {
        let folder = JobDir::attach(Arc::new(RealFs), data, job).unwrap();
        journal.into_iter().for_each(|journal| folder.set_owner(journal).unwrap());
        folder
    }

    #[test]
    fn only_unused_folders_of_the_journal_are_taken() {
        let data = tempfile::tempdir().unwrap();
        let active = ActiveFolder::default();
        for (job, mark) in [("a", Some("mine")), ("b", Some("other")), ("old", None)] {
            marked(data.path(), job, mark);
        }
        let take = |job| active.take(Arc::new(RealFs), data.path(), "mine", job).unwrap();
        active.enter("a");
        assert!(matches!(take("a"), Taken::Active));
        assert!(matches!(take("b"), Taken::Foreign) && data.path().join("b").exists());
        assert!(matches!(take("nothing"), Taken::Absent));
        active.leave();
        for job in ["a", "old"] {
            let Taken::Folder(folder) = take(job) else { panic!("{job} is not taken") };
            assert!(!data.path().join(job).exists());
            folder.delete().unwrap();
        }
        assert_eq!(std::fs::read_dir(data.path()).unwrap().count(), 1);
        let damaged = data.path().join("b").join("journal-id");
        std::fs::write(damaged, "..").unwrap();
        assert!(active.take(Arc::new(RealFs), data.path(), "mine", "b").is_err());
    }

    #[test]
    fn a_folder_of_another_journal_is_not_used() {
        let data = tempfile::tempdir().unwrap();
        let folder = marked(data.path(), "a", None);
        claim(&folder, "mine").unwrap();
        claim(&folder, "mine").unwrap();
        let refused = claim(&folder, "other").unwrap_err().to_string();
        assert!(refused.ends_with("belongs to a job of another journal, mine"), "{refused}");
        assert_eq!(folder.owner().unwrap().as_deref(), Some("mine"));
    }

    #[test]
    fn one_task_at_a_time_removes_each_job_once() {
        let removals = Removals::default();
        let jobs = |jobs: &[&str]| jobs.iter().map(|job| (*job).to_owned()).collect();
        assert!(removals.add(jobs(&["b", "a"])));
        assert!(!removals.add(jobs(&["a", "c"])));
        let next = [(); 4].map(|()| removals.next());
        assert_eq!(next, [Some("a".into()), Some("b".into()), Some("c".into()), None]);
        assert!(removals.add(jobs(&["a"])));
        removals.clear();
        assert_eq!(removals.next(), None);
        assert!(removals.is_new("a") && !removals.is_new("a"));
        removals.succeeded("a");
        assert!(removals.is_new("a"));
    }
}
