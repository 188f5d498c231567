//! Scheduling: which waiting jobs start, and which workers each job has.
//!
//! Jobs that can use only one worker run beside others, each on a worker of its own. At most one
//! job that can use several workers runs at a time; it has the workers that are left. A worker
//! works for one job at a time, so memory and disks are divided along with the workers.
//!
//! An *active* job is one that has started and has not ended. Active jobs keep the order in which
//! they started. A waiting job starts only if every active job would still have a worker. Waiting
//! jobs start in the order of the queue, except that jobs of one worker overtake a job of several
//! workers while another of that kind is active. So neither kind of job can starve the other.

use std::collections::{BTreeSet, VecDeque};
use std::iter::Peekable;

use strata_store::JobSpec;

use crate::entry::WorkerNumber;

/// How many workers a job can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// One worker.
    One,
    /// As many workers as the job has shards.
    Several,
}

impl Need {
    /// The need of a job: [`Need::One`] if it has one shard, or uses the symbolic engine, which keeps
    /// all shards in the memory of one worker.
    pub(crate) fn of(spec: &JobSpec) -> Need {
        if spec.shards == 1 || spec.engine.is_symbolic() { Need::One } else { Need::Several }
    }
}

/// An active job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ActiveJob {
    pub(crate) need: Need,
    /// Workers of its session, ascending; none between sessions.
    pub(crate) members: Vec<WorkerNumber>,
    /// Workers that have files of its last checkpoint, ascending.
    pub(crate) holders: Vec<WorkerNumber>,
    /// Whether it waits for absent workers that have files it needs. Such a job gets no worker.
    pub(crate) is_blocked: bool,
}

impl ActiveJob {
    /// Whether a worker has files of its last checkpoint.
    pub(crate) fn holds(&self, worker: WorkerNumber) -> bool {
        self.holders.binary_search(&worker).is_ok()
    }
}

/// Divides workers among active jobs. `available` is ascending, `jobs` are in the order in which they
/// started. Returns the workers of each job, ascending: one at most for [`Need::One`].
///
/// 1. Jobs of one worker get one worker each, in their order, but the last free worker only if the
///    job of several workers did not start earlier.
/// 2. A job of one worker keeps the worker of its session. Otherwise it prefers a worker in no
///    session, and among those one that holds files of its checkpoint.
/// 3. The first job of several workers gets the rest.
pub(crate) fn divide(available: &[WorkerNumber], jobs: &[ActiveJob]) -> Vec<Vec<WorkerNumber>> {
    let takes_part = |need| move |job: &ActiveJob| job.need == need && !job.is_blocked;
    let several = jobs.iter().position(takes_part(Need::Several));
    let mut left = available.len();
    let mut single = Vec::new();
    for (index, job) in jobs.iter().enumerate() {
        let reserved = usize::from(several.is_some_and(|several| several < index));
        if takes_part(Need::One)(job) && left > reserved {
            single.push(index);
            left -= 1;
        }
    }
    let mut free: BTreeSet<WorkerNumber> = available.iter().copied().collect();
    let mut grants = vec![Vec::new(); jobs.len()];
    for index in &single {
        let own = jobs[*index].members.first();
        grants[*index].extend(own.filter(|own| free.remove(own)));
    }
    let in_session = |worker: WorkerNumber| jobs.iter().any(|job| job.members.contains(&worker));
    for index in single {
        if grants[index].is_empty() {
            let held = |worker: WorkerNumber| jobs[index].holds(worker);
            let best =
                free.iter().copied().min_by_key(|worker| (in_session(*worker), !held(*worker)));
            grants[index].extend(best.filter(|best| free.remove(best)));
        }
    }
    if let Some(several) = several {
        grants[several] = free.into_iter().collect();
    }
    grants
}

/// Room for jobs to start.
#[derive(Clone, Debug)]
pub(crate) struct Room {
    /// Workers beyond one for each active job. Negative if workers were lost.
    free: i64,
    /// Active jobs of several workers.
    several: usize,
}

impl Room {
    /// The room that active jobs leave on `workers` workers. A cluster without workers counts as
    /// one with a single worker, so that the first job starts and reports what it waits for.
    pub(crate) fn new<'a>(workers: usize, active: impl IntoIterator<Item = &'a ActiveJob>) -> Room {
        let mut room = Room { free: workers.max(1) as i64, several: 0 };
        for job in active {
            room.several += usize::from(job.need == Need::Several);
            room.free -= i64::from(!job.is_blocked);
        }
        room
    }

    /// Whether nothing can start.
    pub(crate) fn is_full(&self) -> bool {
        self.free <= 0
    }

    /// Takes the room for a job. Returns false if there is none for it.
    pub(crate) fn take(&mut self, need: Need) -> bool {
        let fits = !self.is_full() && (need == Need::One || self.several == 0);
        if fits {
            self.occupy(need);
        }
        fits
    }

    /// Takes the room of a job that starts whether there is room or not.
    pub(crate) fn occupy(&mut self, need: Need) {
        self.free -= 1;
        self.several += usize::from(need == Need::Several);
    }

    fn give_back(&mut self, need: Need) {
        self.free += 1;
        self.several -= usize::from(need == Need::Several);
    }
}

/// The order in which waiting jobs start on `workers` workers, assuming that running jobs end in
/// the order of `running`, and started jobs after them. `waiting` are the jobs in the order of the
/// queue. Returns for each of them the number of waiting jobs that start before it.
pub(crate) fn start_order(workers: usize, running: &[Need], waiting: &[Need]) -> Vec<usize> {
    let job = |need: &Need| ActiveJob {
        need: *need,
        members: Vec::new(),
        holders: Vec::new(),
        is_blocked: false,
    };
    let active: Vec<ActiveJob> = running.iter().map(job).collect();
    let mut room = Room::new(workers, &active);
    let mut running: VecDeque<Need> = running.iter().copied().collect();
    let of = |need| (0..waiting.len()).filter(move |index| waiting[*index] == need).peekable();
    let (mut ones, mut severals) = (of(Need::One), of(Need::Several));
    let mut order = vec![0; waiting.len()];
    for place in 0..waiting.len() {
        loop {
            if let Some(index) = next_start(&mut room, &mut ones, &mut severals) {
                order[index] = place;
                running.push_back(waiting[index]);
                break;
            }
            // With no job running there is room for any.
            let Some(ended) = running.pop_front() else { break };
            room.give_back(ended);
        }
    }
    order
}

/// Takes the first waiting job for which there is room.
fn next_start(
    room: &mut Room,
    ones: &mut Peekable<impl Iterator<Item = usize>>,
    severals: &mut Peekable<impl Iterator<Item = usize>>,
) -> Option<usize> {
    let is_first = match (ones.peek(), severals.peek()) {
        (Some(one), Some(several)) => several < one,
        (one, _) => one.is_none(),
    };
    if is_first && severals.peek().is_some() && room.take(Need::Several) {
        return severals.next();
    }
    if ones.peek().is_some() && room.take(Need::One) {
        return ones.next();
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::collection::{btree_set, vec};
    use proptest::prelude::*;

    use super::*;

    fn job(need: Need, members: &[WorkerNumber]) -> ActiveJob {
        ActiveJob { need, members: members.to_vec(), holders: Vec::new(), is_blocked: false }
    }

    fn one(members: &[WorkerNumber]) -> ActiveJob {
        job(Need::One, members)
    }

    fn several(members: &[WorkerNumber]) -> ActiveJob {
        job(Need::Several, members)
    }

    fn divided(available: &[WorkerNumber], jobs: &[ActiveJob]) -> Vec<Vec<WorkerNumber>> {
        divide(available, jobs)
    }

    #[test]
    fn a_job_of_several_workers_gets_the_workers_that_are_left() {
        let jobs = [several(&[0, 1, 2]), one(&[])];
        assert_eq!(divided(&[0, 1, 2], &jobs), [vec![1, 2], vec![0]]);
        let jobs = [several(&[1, 2]), one(&[0])];
        assert_eq!(divided(&[0, 1, 2], &jobs), [vec![1, 2], vec![0]]);
        // It always keeps one.
        let jobs = [several(&[1, 2]), one(&[0]), one(&[]), one(&[])];
        assert_eq!(divided(&[0, 1, 2], &jobs), [vec![2], vec![0], vec![1], vec![]]);
        assert_eq!(divided(&[2], &jobs), [vec![2], vec![], vec![], vec![]]);
        // An earlier job of one worker keeps its own.
        assert_eq!(divided(&[0], &[one(&[0]), several(&[])]), [vec![0], vec![]]);
    }

    #[test]
    fn idle_workers_are_preferred_and_among_them_checkpoint_holders() {
        let held = ActiveJob { holders: vec![0, 2], ..one(&[]) };
        let jobs = [several(&[0, 1]), held.clone()];
        assert_eq!(divided(&[0, 1, 2, 3], &jobs), [vec![0, 1, 3], vec![2]]);
        let jobs = [several(&[0, 2]), held.clone()];
        assert_eq!(divided(&[0, 1, 2, 3], &jobs), [vec![0, 2, 3], vec![1]]);
        let jobs = [several(&[1, 2]), held];
        assert_eq!(divided(&[1, 2], &jobs), [vec![1], vec![2]]);
    }

    #[test]
    fn a_job_that_waits_for_absent_workers_takes_none() {
        let blocked = ActiveJob { is_blocked: true, ..several(&[]) };
        assert_eq!(divided(&[0], &[blocked.clone(), one(&[])]), [vec![], vec![0]]);
        assert!(Room::new(1, [&blocked]).take(Need::One));
        // Two jobs of several workers must not come to run when its workers are back.
        assert!(!Room::new(1, [&blocked]).take(Need::Several));
    }

    #[test]
    fn one_worker_runs_one_job_after_the_other() {
        for workers in [0, 1] {
            assert!(Room::new(workers, []).take(Need::One));
            assert!(Room::new(workers, []).take(Need::Several));
            for active in [one(&[0]), several(&[0])] {
                assert!(Room::new(workers, [&active]).is_full());
            }
        }
    }

    #[test]
    fn jobs_of_one_worker_overtake_a_waiting_job_of_several_workers() {
        use Need::{One, Several};
        let waiting = [Several, One, Several, One];
        assert_eq!(start_order(1, &[One], &waiting), [0, 1, 2, 3]);
        assert_eq!(start_order(2, &[One, One], &waiting), [0, 1, 2, 3]);
        assert_eq!(start_order(2, &[One, Several], &waiting), [1, 0, 3, 2]);
        assert_eq!(start_order(3, &[Several, One], &waiting), [1, 0, 3, 2]);
    }

    fn needs() -> impl Strategy<Value = Need> {
        prop_oneof![Just(Need::One), Just(Need::Several)]
    }

    proptest! {
        #[test]
        fn workers_are_divided_and_a_job_of_several_keeps_one(
            available in btree_set(0..8_u16, 0..8),
            needs in vec((needs(), 0..9_u16, any::<bool>()), 0..8),
        ) {
            let available: Vec<u16> = available.into_iter().collect();
            let mut taken = BTreeSet::new();
            let jobs: Vec<ActiveJob> = needs.iter().map(|(need, member, is_blocked)| {
                let is_member = !is_blocked && taken.insert(*member) && *member < 8;
                let members = if is_member { vec![*member] } else { Vec::new() };
                ActiveJob { is_blocked: *is_blocked, ..job(*need, &members) }
            }).collect();
            let grants = divide(&available, &jobs);
            let mut all: Vec<u16> = grants.iter().flatten().copied().collect();
            all.sort_unstable();
            let distinct: BTreeSet<u16> = all.iter().copied().collect();
            prop_assert_eq!(distinct.len(), all.len());
            prop_assert!(all.iter().all(|worker| available.contains(worker)));
            let active = |job: &&ActiveJob| !job.is_blocked;
            let several = jobs.iter().position(|job| job.need == Need::Several && !job.is_blocked);
            for (index, (job, grant)) in jobs.iter().zip(&grants).enumerate() {
                let before = jobs[..index].iter().filter(active);
                let singles = before.clone().filter(|job| job.need == Need::One).count();
                let reserved = usize::from(several.is_some_and(|several| several < index));
                let has_room = available.len() > singles + reserved;
                match job.need {
                    _ if job.is_blocked => prop_assert!(grant.is_empty()),
                    Need::One => prop_assert_eq!(grant.len(), usize::from(has_room)),
                    Need::Several if several != Some(index) => prop_assert!(grant.is_empty()),
                    Need::Several => prop_assert_eq!(grant.is_empty(), !has_room),
                }
            }
            // With a job of several workers no worker is idle.
            if several.is_some() {
                prop_assert_eq!(all, available.clone());
            }
            // What a division gives is kept by the next one.
            let kept: Vec<ActiveJob> = jobs.iter().zip(&grants)
                .map(|(job, grant)| ActiveJob { members: grant.clone(), ..job.clone() }).collect();
            prop_assert_eq!(divide(&available, &kept), grants);
        }

        /// Jobs end in any order, and others arrive all the time: every job starts.
        #[test]
        fn no_stream_of_jobs_starves_another(
            workers in 1..5_usize,
            first in vec(needs(), 1..5),
            stream in needs(),
            ends in vec(0..8_usize, 60),
        ) {
            let mut waiting: Vec<(usize, Need)> = first.iter().copied().enumerate().collect();
            let mut active: Vec<(usize, ActiveJob)> = Vec::new();
            for (number, end) in (first.len()..).zip(ends) {
                let mut room = Room::new(workers, active.iter().map(|(_, job)| job));
                waiting.retain(|(id, need)| {
                    let starts = room.take(*need);
                    if starts {
                        active.push((*id, job(*need, &[])));
                    }
                    !starts
                });
                let available: Vec<u16> = (0..workers as u16).collect();
                let jobs: Vec<ActiveJob> = active.iter().map(|(_, job)| job.clone()).collect();
                prop_assert!(divide(&available, &jobs).iter().all(|grant| !grant.is_empty()));
                active.remove(end % active.len());
                waiting.push((number, stream));
            }
            // 60 ends are enough if those of the stream do not come first. The job of several
            // workers that runs may never end while the others do.
            let late = waiting.iter().find(|(id, _)| *id < first.len());
            let held = active.iter().any(|(_, job)| job.need == Need::Several);
            prop_assert!(late.is_none_or(|(_, need)| *need == Need::Several && held), "{waiting:?}");
        }

        #[test]
        fn the_start_order_has_every_job_once_and_keeps_the_order_of_each_kind(
            workers in 0..5_usize,
            running in vec(needs(), 0..6),
            waiting in vec(needs(), 0..20),
        ) {
            let order = start_order(workers, &running, &waiting);
            let mut sorted = order.clone();
            sorted.sort_unstable();
            prop_assert_eq!(sorted, (0..waiting.len()).collect::<Vec<_>>());
            for need in [Need::One, Need::Several] {
                let of: Vec<usize> = waiting.iter().zip(&order)
                    .filter(|(found, _)| **found == need).map(|(_, place)| *place).collect();
                prop_assert!(of.is_sorted());
            }
            if workers <= 1 && running.is_empty() {
                prop_assert!(order.is_sorted());
            }
        }
    }
}
