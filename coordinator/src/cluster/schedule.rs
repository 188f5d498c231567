//! Active jobs and the workers of their sessions.
//!
//! Each active job has a thread, which takes workers here before a session and returns them after
//! it. A worker is in one session at a time. Its session's epoch is issued after the worker is taken,
//! so the epochs of a worker's sessions ascend, although those of different jobs interleave.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::entry::{ClusterCheckpoint, WorkerNumber};
use crate::scheduling::{ActiveJob, Need, Room, divide};

/// Workers of an active job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Grant {
    /// Workers that the job is to have, ascending.
    pub(crate) workers: Vec<WorkerNumber>,
    /// The ones among `workers` that no other session has now.
    pub(crate) usable: Vec<WorkerNumber>,
}

/// Active jobs in the order in which they started.
#[derive(Debug, Default)]
pub(crate) struct Schedule {
    jobs: Mutex<Vec<(String, ActiveJob)>>,
}

impl Schedule {
    fn jobs(&self) -> MutexGuard<'_, Vec<(String, ActiveJob)>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a job that starts.
    pub(crate) fn start(&self, id: &str, need: Need) {
        let (members, holders) = (Vec::new(), Vec::new());
        self.jobs().push((id.to_owned(), ActiveJob { need, members, holders, is_blocked: false }));
    }

    /// Removes a job that has ended or cannot go on.
    pub(crate) fn end(&self, id: &str) {
        self.jobs().retain(|(job, _)| job != id);
    }

    /// Whether a job is active.
    pub(crate) fn has(&self, id: &str) -> bool {
        self.jobs().iter().any(|(job, _)| job == id)
    }

    /// Whether no job is active.
    pub(crate) fn is_empty(&self) -> bool {
        self.jobs().is_empty()
    }

    /// The room that the active jobs leave on `workers` workers.
    pub(crate) fn room(&self, workers: usize) -> Room {
        Room::new(workers, self.jobs().iter().map(|(_, job)| job))
    }

    /// The available workers that a job is to have; none if the job is not active.
    pub(crate) fn grant(&self, id: &str, available: &[WorkerNumber]) -> Grant {
        grant(&self.jobs(), id, available)
    }

    /// Whether a worker has files of the last checkpoint of an active job whose next session can
    /// start. A job that waits for absent workers does not count.
    pub(crate) fn needs(&self, worker: WorkerNumber) -> bool {
        self.jobs().iter().any(|(_, job)| !job.is_blocked && job.holds(worker))
    }

    /// Whether a worker has files of a job's last checkpoint, and is not in the job's session.
    pub(crate) fn is_source(&self, id: &str, worker: WorkerNumber) -> bool {
        let jobs = self.jobs();
        let job = jobs.iter().find(|(job, _)| job == id);
        job.is_some_and(|(_, job)| job.holds(worker) && !job.members.contains(&worker))
    }

    /// Records which workers have files of a job's checkpoint, and whether the job waits for absent
    /// ones (`is_blocked`).
    pub(crate) fn set_files(
        &self,
        id: &str,
        checkpoint: Option<&ClusterCheckpoint>,
        is_blocked: bool,
    ) {
        let records = checkpoint.iter().flat_map(|checkpoint| &checkpoint.records);
        let mut holders: Vec<WorkerNumber> =
            records.map(|record| record.worker as WorkerNumber).collect();
        holders.sort_unstable();
        holders.dedup();
        if let Some((_, job)) = self.jobs().iter_mut().find(|(job, _)| job == id) {
            (job.holders, job.is_blocked) = (holders, is_blocked);
        }
    }

    /// Takes workers for a session. `choose` gets the workers that the job is to have and that no
    /// other session has, and returns the ones to take, which may be none, and a result. Returns
    /// that result.
    pub(crate) fn take<T>(
        &self,
        id: &str,
        available: &[WorkerNumber],
        choose: impl FnOnce(&[WorkerNumber]) -> (Vec<WorkerNumber>, T),
    ) -> T {
        let mut jobs = self.jobs();
        let Grant { usable, .. } = grant(&jobs, id, available);
        let (mut members, chosen) = choose(&usable);
        members.sort_unstable();
        members.dedup();
        if let Some((_, job)) = jobs.iter_mut().find(|(job, _)| job == id) {
            job.members = members;
        }
        chosen
    }

    /// Returns the workers of a session that is over.
    pub(crate) fn give_back(&self, id: &str) {
        if let Some((_, job)) = self.jobs().iter_mut().find(|(job, _)| job == id) {
            job.members.clear();
        }
    }
}

fn grant(jobs: &[(String, ActiveJob)], id: &str, available: &[WorkerNumber]) -> Grant {
    let Some(index) = jobs.iter().position(|(job, _)| job == id) else { return Grant::default() };
    let active: Vec<ActiveJob> = jobs.iter().map(|(_, job)| job.clone()).collect();
    let workers = divide(available, &active).swap_remove(index);
    let others = active.iter().enumerate().filter(|(other, _)| *other != index);
    let in_session =
        |worker: &WorkerNumber| others.clone().any(|(_, job)| job.members.contains(worker));
    let usable = workers.iter().copied().filter(|worker| !in_session(worker)).collect();
    Grant { workers, usable }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(usable: &[WorkerNumber]) -> (Vec<WorkerNumber>, Vec<WorkerNumber>) {
        (usable.to_vec(), usable.to_vec())
    }

    #[test]
    fn a_worker_is_in_one_session_at_a_time() {
        let schedule = Schedule::default();
        schedule.start("wide", Need::Several);
        assert_eq!(schedule.take("wide", &[0, 1, 2], all), [0, 1, 2]);
        schedule.start("single", Need::One);
        let granted = |id: &str| {
            let Grant { workers, usable } = schedule.grant(id, &[0, 1, 2]);
            (workers, usable)
        };
        assert_eq!(granted("single"), (vec![0], vec![]));
        assert_eq!(granted("wide"), (vec![1, 2], vec![1, 2]));
        // The worker is not free before the other session is over.
        assert!(schedule.take("single", &[0, 1, 2], all).is_empty());
        schedule.give_back("wide");
        assert_eq!(schedule.take("wide", &[0, 1, 2], all), [1, 2]);
        assert_eq!(schedule.take("single", &[0, 1, 2], all), [0]);
        assert!(!schedule.room(3).is_full() && schedule.room(2).is_full());
        schedule.end("single");
        assert_eq!(granted("wide"), (vec![0, 1, 2], vec![0, 1, 2]));
        assert!(schedule.has("wide") && !schedule.has("single"));
    }

    #[test]
    fn a_job_that_is_not_active_is_granted_no_workers() {
        let schedule = Schedule::default();
        assert_eq!(schedule.take("gone", &[0], |usable| (vec![0], usable.len())), 0);
        assert_eq!(schedule.grant("gone", &[0]), Grant::default());
        assert!(schedule.is_empty());
    }
}
