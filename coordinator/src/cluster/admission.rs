//! Admission: when a session may start, and which worker owns which shard.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use strata_store::CheckpointFile;

use super::assignment::{assign, owned};
use crate::entry::{ClusterCheckpoint, WorkerEntry, WorkerNumber};

/// Inputs of the decision.
#[derive(Debug)]
pub(crate) struct ClusterState<'a> {
    /// Workers with a valid lease, ascending.
    pub(crate) live: &'a [WorkerNumber],
    /// Live workers that can own shards, ascending. The other live workers are leaving or work for
    /// other jobs.
    pub(crate) usable: &'a [WorkerNumber],
    /// All workers that have registered and were not replaced.
    pub(crate) known: &'a [WorkerEntry],
    /// The checkpoint to resume from.
    pub(crate) checkpoint: Option<&'a ClusterCheckpoint>,
    /// States of the last layer.
    pub(crate) width: u64,
    /// Layers with fewer states run on one worker.
    pub(crate) narrow: u64,
    /// Number of shards.
    pub(crate) shards: u32,
    /// Whether known workers may still be reconnecting after a start of the coordinator.
    pub(crate) in_grace_period: bool,
    /// Whether a shared store has the checkpoint files of absent workers.
    pub(crate) has_store: bool,
    /// Whether the worker timeout has passed.
    pub(crate) timed_out: bool,
}

/// The decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// Start, with these owners by shard.
    Start(Vec<WorkerNumber>),
    /// Wait for the workers of these names, or for any usable worker if there are none.
    Wait(Vec<String>),
    /// Fail the job: the workers of these names hold needed files and have not connected in time.
    Fail(Vec<String>),
}

/// Decides whether a session can start.
///
/// 1. Workers that hold checkpoint files must be live, unless a shared store has the files and the
///    timeout has passed. They may be leaving or work for other jobs: they send files meanwhile.
/// 2. During the grace period all known workers are awaited.
/// 3. A layer narrower than `narrow` goes to the usable worker that owns most shards. Otherwise the
///    shards are balanced with as few moves as possible.
pub(crate) fn admit(state: &ClusterState<'_>) -> Admission {
    let ClusterState { live, usable, known, checkpoint, .. } = state;
    let absent = absent_holders(live, *checkpoint);
    let from_store = state.has_store && state.timed_out;
    if !absent.is_empty() && !from_store {
        let names = names(known, &absent);
        return if state.timed_out { Admission::Fail(names) } else { Admission::Wait(names) };
    }
    if state.in_grace_period {
        let late: Vec<WorkerNumber> =
            known.iter().map(|entry| entry.number).filter(|n| !live.contains(n)).collect();
        if !late.is_empty() {
            return Admission::Wait(names(known, &late));
        }
    }
    let Some(first) = usable.first() else {
        return Admission::Wait(Vec::new());
    };
    let before = checkpoint.map_or(&[][..], |checkpoint| &checkpoint.owners);
    if state.width >= state.narrow {
        return Admission::Start(assign(state.shards, before, usable));
    }
    // The worker that owns most needs the fewest copies.
    let most = usable.iter().max_by_key(|worker| (owned(before, **worker), Reverse(**worker)));
    Admission::Start(vec![*most.unwrap_or(first); state.shards as usize])
}

/// Workers that are not live and have checkpoint files that a resume reads, ascending.
pub(crate) fn absent_holders(
    live: &[WorkerNumber],
    checkpoint: Option<&ClusterCheckpoint>,
) -> Vec<WorkerNumber> {
    let checkpoints = checkpoint.iter();
    let records = checkpoints.flat_map(|checkpoint| CheckpointFile::needed(&checkpoint.records));
    let holders: BTreeSet<WorkerNumber> =
        records.map(|record| record.worker as WorkerNumber).collect();
    holders.into_iter().filter(|number| !live.contains(number)).collect()
}

fn names(known: &[WorkerEntry], numbers: &[WorkerNumber]) -> Vec<String> {
    let name = |number: &WorkerNumber| {
        let entry = known.iter().find(|entry| entry.number == *number);
        entry.map_or_else(|| format!("number {number}"), |entry| entry.name.clone())
    };
    numbers.iter().map(name).collect()
}

#[cfg(test)]
mod tests {
    use strata_store::{Hex64, Weight};

    use super::*;

    fn known(numbers: &[u16]) -> Vec<WorkerEntry> {
        let entry = |number: &u16| WorkerEntry {
            number: *number,
            id: String::new(),
            name: format!("worker-{number}"),
            address: String::new(),
            first_seen: 0,
            host: None,
        };
        numbers.iter().map(entry).collect()
    }

    fn checkpoint(owners: &[u16], holders: &[u16]) -> ClusterCheckpoint {
        let record = |worker: &u16| CheckpointFile {
            depth: 9,
            worker: u32::from(*worker),
            file: String::new(),
            bytes: 1,
            states: 1,
            positions: 1,
            regions: 1,
            generated: 1,
            digest: Weight([0, 0]),
            seal: Hex64(0),
        };
        ClusterCheckpoint {
            depth: 9,
            records: holders.iter().map(record).collect(),
            owners: owners.to_vec(),
            made: 0,
        }
    }

    fn state<'a>(live: &'a [u16], known: &'a [WorkerEntry]) -> ClusterState<'a> {
        ClusterState {
            live,
            usable: live,
            known,
            checkpoint: None,
            width: 100,
            narrow: 100,
            shards: 4,
            in_grace_period: false,
            has_store: false,
            timed_out: false,
        }
    }

    #[test]
    fn a_new_job_starts_on_all_live_workers() {
        let known = known(&[0, 1, 2]);
        assert_eq!(admit(&state(&[], &known)), Admission::Wait(Vec::new()));
        assert_eq!(admit(&state(&[1, 2], &known)), Admission::Start(vec![1, 1, 2, 2]));
        let grace = ClusterState { in_grace_period: true, ..state(&[1, 2], &known) };
        assert_eq!(admit(&grace), Admission::Wait(vec!["worker-0".to_owned()]));
    }

    #[test]
    fn a_narrow_layer_goes_to_the_worker_that_owns_most_shards() {
        let known = known(&[0, 1, 2]);
        let narrow = ClusterState { width: 99, ..state(&[1, 2], &known) };
        assert_eq!(admit(&narrow), Admission::Start(vec![1; 4]));
        let from = checkpoint(&[1, 2, 2, 2], &[1, 2]);
        let narrow = ClusterState { checkpoint: Some(&from), ..narrow };
        assert_eq!(admit(&narrow), Admission::Start(vec![2; 4]));
    }

    #[test]
    fn workers_with_checkpoint_files_are_awaited() {
        let known = known(&[0, 1, 2]);
        let from = checkpoint(&[0, 1, 2, 2], &[0, 1, 2]);
        let waiting = ClusterState { checkpoint: Some(&from), ..state(&[0, 2], &known) };
        let names = vec!["worker-1".to_owned()];
        assert_eq!(admit(&waiting), Admission::Wait(names.clone()));
        let timed_out = ClusterState { timed_out: true, ..waiting };
        assert_eq!(admit(&timed_out), Admission::Fail(names));
        // The store has the files too, so other workers take over.
        let stored = ClusterState { has_store: true, ..timed_out };
        assert_eq!(admit(&stored), Admission::Start(vec![0, 0, 2, 2]));
        // All holders are there, but worker 1 works for another job.
        let busy = ClusterState { usable: &[0, 2], ..state(&[0, 1, 2], &known) };
        let busy = ClusterState { checkpoint: Some(&from), ..busy };
        assert_eq!(admit(&busy), Admission::Start(vec![0, 0, 2, 2]));
        assert_eq!(admit(&ClusterState { usable: &[], ..busy }), Admission::Wait(Vec::new()));
        // Worker 1 has no file with states, so it is not awaited.
        let from = checkpoint(&[0, 1, 2, 2], &[0, 2]);
        let free = ClusterState { checkpoint: Some(&from), ..state(&[0, 2], &known) };
        assert_eq!(admit(&free), Admission::Start(vec![0, 0, 2, 2]));
    }
}
