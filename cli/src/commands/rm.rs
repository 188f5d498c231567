//! `strata rm`: removes jobs of a cluster, and folders of jobs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use clap::builder::BoolishValueParser;
use strata_proto::v1;
use strata_store::{DataDir, JobDir, RealFs, jobs_in, remove_job};

use crate::client::record::has_ended;
use crate::client::remote::Remote;
use crate::client::removed::Removed;
use crate::output::console::Console;
use crate::output::exit::{ExitCode, Failure};
use crate::output::stdout::{self, Output};
use crate::signals::Signals;
use crate::target::{Found, Places};

/// Interval at which the state of a cancelled job is read.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Arguments of `rm`.
#[derive(Debug, Args)]
pub(crate) struct RmArgs {
    /// Folders of jobs, whole ids of jobs in --data-dir, or jobs of the cluster
    #[arg(value_name = "JOB|DIR", required = true)]
    jobs: Vec<PathBuf>,

    /// Cancel jobs that have not ended, and remove them then
    #[arg(long, env = "STRATA_FORCE", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    force: bool,

    /// Where to look for them.
    #[command(flatten)]
    pub(crate) places: Places,
}

/// Runs `strata rm`. Nothing is removed if one of the jobs cannot be.
///
/// # Errors
/// If there is no such job, it has not ended, or its folder is in use or no job's; if the cluster
/// cannot be reached; if a folder cannot be removed.
pub(crate) fn run(args: &RmArgs, console: &Console) -> Result<ExitCode, Failure> {
    let mut local = LocalJobs::default();
    let mut names: Vec<(&PathBuf, Vec<String>)> = Vec::new();
    for word in &args.jobs {
        match args.places.look_for_id(word)? {
            Found::Folder(folder) => local.add(&folder)?,
            Found::No(looked) => names.push((word, looked)),
        }
    }
    let mut output = Output::stdout();
    if let [(first, looked), ..] = &*names {
        let remote = args.places.connect(first, looked)?;
        let mut jobs: BTreeMap<String, v1::Job> = BTreeMap::new();
        for (word, looked) in &names {
            let job = remote.status(&word.to_string_lossy());
            let job = job.map_err(|failure| args.places.not_found(word, looked, failure))?;
            if !has_ended(&job) && !args.force {
                let message = format!(
                    "job {} has not ended: cancel it first, or use --force to cancel and remove it",
                    job.id
                );
                return Err(Failure::usage(message));
            }
            jobs.insert(job.id.clone(), job);
        }
        let mut signals = remote.signals()?;
        for job in jobs.values() {
            end(&remote, job, &mut signals)?;
            let v1::RemovedJob { job, waiting_for } = remote.remove(&job.id)?;
            let job = job.unwrap_or_default();
            let removed = Removed::job(&job, &waiting_for, false);
            output.write_with(|out| removed.write(console.json, out));
            output.flush();
        }
    }
    local.remove(|job, folder| {
        output.write_with(|out| Removed::local(job, folder).write(console.json, out));
        output.flush();
    })?;
    output.finish().map_err(stdout::failure)?;
    Ok(ExitCode::Done)
}

/// Cancels a job that has not ended, and waits for its end.
fn end(remote: &Remote<'_>, job: &v1::Job, signals: &mut Signals) -> Result<(), Failure> {
    if has_ended(job) {
        return Ok(());
    }
    // The job may have ended in the meantime.
    if let Err(failure) = remote.cancel(&job.id)
        && !has_ended(&remote.status(&job.id)?)
    {
        return Err(failure);
    }
    tracing::info!(job = job.id, "waiting for the last checkpoint of the cancelled job");
    while !has_ended(&remote.status(&job.id)?) {
        if remote.pause(POLL_INTERVAL, signals) {
            let message = format!("job {} is cancelled and was not removed", job.id);
            return Err(Failure::new(ExitCode::Interrupted, message));
        }
    }
    Ok(())
}

/// Jobs in folders, whose data directories are locked.
#[derive(Debug, Default)]
struct LocalJobs {
    /// Locks of the data directories; none for a directory without a lock file.
    locks: BTreeMap<PathBuf, Option<DataDir>>,
    /// Data directory and id of each job.
    jobs: Vec<(PathBuf, String)>,
}

impl LocalJobs {
    /// Adds a folder.
    ///
    /// # Errors
    /// If it is not the folder of a job, or another process uses the data directory.
    fn add(&mut self, folder: &Path) -> Result<(), Failure> {
        let shown = folder.display();
        let refused = |what: &str| Failure::usage(format!("{shown} {what}"));
        // A path such as `.` does not end in a name.
        let path = match folder.file_name() {
            Some(name) => {
                let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty());
                let parent = parent.unwrap_or(Path::new(".")).canonicalize();
                parent.map(|parent| parent.join(name))
            }
            None => folder.canonicalize(),
        };
        let missing = |error| Failure::new(ExitCode::NoSuchJob, format!("{shown}: {error}"));
        let path = path.map_err(missing)?;
        let kind = path.symlink_metadata().map_err(missing)?.file_type();
        if kind.is_symlink() {
            return Err(refused("is a symbolic link: name the folder itself"));
        }
        let (Some(data_dir), Some(job)) =
            (path.parent(), path.file_name().and_then(|name| name.to_str()))
        else {
            return Err(refused("is no folder of a job"));
        };
        if !kind.is_dir() || !is_job(&path, data_dir, job) {
            let holds_jobs =
                kind.is_dir() && jobs_in(&RealFs, &path).is_ok_and(|jobs| !jobs.is_empty());
            return Err(refused(match holds_jobs {
                true => "is no folder of a job: it holds jobs, name one of them",
                false => "is no folder of a job",
            }));
        }
        if !self.locks.contains_key(data_dir) {
            // A data directory without a lock file has not been used by a process.
            let is_locked = data_dir.join(".lock").exists();
            let lock = is_locked.then(|| DataDir::lock(&RealFs, data_dir)).transpose()?;
            self.locks.insert(data_dir.to_owned(), lock);
        }
        self.jobs.push((data_dir.to_owned(), job.to_owned()));
        Ok(())
    }

    /// Removes all folders, and calls `removed` with each job and its folder.
    fn remove(self, mut removed: impl FnMut(&str, &Path)) -> Result<(), Failure> {
        for (data_dir, job) in &self.jobs {
            // A folder that was named twice is gone the second time.
            if remove_job(&RealFs, data_dir, job)? {
                removed(job, &data_dir.join(job));
            }
        }
        Ok(())
    }
}

/// Whether a folder is a job's: it has a manifest, or the mark of a cluster.
fn is_job(path: &Path, data_dir: &Path, job: &str) -> bool {
    let has_manifest =
        path.join("manifest.json").symlink_metadata().is_ok_and(|file| file.is_file());
    has_manifest || JobDir::owner_of(&RealFs, data_dir, job).is_ok_and(|owner| owner.is_some())
}
