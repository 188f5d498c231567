//! Which workers a session begins with, and which shards each owns.

use std::collections::BTreeSet;

use super::assignment::assign;
use crate::entry::{ClusterCheckpoint, WorkerEntry};

/// What is known when a session is about to begin.
#[derive(Debug)]
pub(crate) struct ClusterState<'a> {
    /// Workers whose lease is valid and who are not about to leave, in order.
    pub(crate) alive: &'a [u16],
    /// All workers that were ever seen.
    pub(crate) known: &'a [WorkerEntry],
    /// The checkpoint to go on from.
    pub(crate) checkpoint: Option<&'a ClusterCheckpoint>,
    /// States of the last layer.
    pub(crate) width: u64,
    /// Layers with fewer states are made by one worker.
    pub(crate) narrow: u64,
    /// Number of shards.
    pub(crate) shards: u32,
    /// Whether known workers still have time to turn up.
    pub(crate) early: bool,
    /// Whether files of absent workers can be had from elsewhere.
    pub(crate) has_store: bool,
    /// Whether the time to wait for absent workers is over.
    pub(crate) overdue: bool,
}

/// What to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// Begin with these owners by shard.
    Start(Vec<u16>),
    /// Wait for these workers, or for any if there are none.
    Wait(Vec<String>),
    /// These workers have files that are needed, and have not come back in time.
    Fail(Vec<String>),
}

/// Decides.
pub(crate) fn admit(situation: &ClusterState<'_>) -> Admission {
    let ClusterState { alive, known, checkpoint, .. } = situation;
    let name = |number: &u16| {
        let entry = known.iter().find(|entry| entry.number == *number);
        entry.map_or_else(|| format!("number {number}"), |entry| entry.name.clone())
    };
    let records = checkpoint.iter().flat_map(|checkpoint| &checkpoint.records);
    let holders: BTreeSet<u16> =
        records.filter(|record| record.states > 0).map(|record| record.worker as u16).collect();
    let absent: Vec<u16> = holders.into_iter().filter(|number| !alive.contains(number)).collect();
    let names = |numbers: &[u16]| numbers.iter().map(name).collect::<Vec<_>>();
    let others_may = situation.has_store && situation.overdue;
    if !absent.is_empty() && !others_may {
        return if situation.overdue {
            Admission::Fail(names(&absent))
        } else {
            Admission::Wait(names(&absent))
        };
    }
    if situation.early {
        let late: Vec<u16> =
            known.iter().map(|entry| entry.number).filter(|n| !alive.contains(n)).collect();
        if !late.is_empty() {
            return Admission::Wait(names(&late));
        }
    }
    if alive.is_empty() {
        return Admission::Wait(Vec::new());
    }
    let before = checkpoint.map_or(&[][..], |checkpoint| &checkpoint.owners);
    let shards = situation.shards;
    if situation.width >= situation.narrow {
        return Admission::Start(assign(shards, before, alive));
    }
    // Whoever has the most moves the least.
    let held = |worker: &u16| before.iter().filter(|owner| *owner == worker).count();
    let most = alive.iter().max_by_key(|worker| (held(worker), std::cmp::Reverse(**worker)));
    Admission::Start(vec![most.copied().unwrap_or(alive[0]); shards as usize])
}

#[cfg(test)]
mod tests {
    use strata_store::{CheckpointFile, Hex64, Hex128};

    use super::*;

    fn known(numbers: &[u16]) -> Vec<WorkerEntry> {
        let entry = |number: &u16| WorkerEntry {
            number: *number,
            id: String::new(),
            name: format!("worker-{number}"),
            address: String::new(),
            first_seen: 0,
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
            regions: 1,
            generated: 1,
            digest: Hex128([0, 0]),
            seal: Hex64(0),
        };
        ClusterCheckpoint {
            depth: 9,
            records: holders.iter().map(record).collect(),
            owners: owners.to_vec(),
            disk_peak: 0,
            spilled: 0,
        }
    }

    fn situation<'a>(alive: &'a [u16], known: &'a [WorkerEntry]) -> ClusterState<'a> {
        ClusterState {
            alive,
            known,
            checkpoint: None,
            width: 100,
            narrow: 100,
            shards: 4,
            early: false,
            has_store: false,
            overdue: false,
        }
    }

    #[test]
    fn a_new_job_begins_with_whoever_is_there() {
        let known = known(&[0, 1, 2]);
        assert_eq!(admit(&situation(&[], &known)), Admission::Wait(Vec::new()));
        assert_eq!(admit(&situation(&[1, 2], &known)), Admission::Start(vec![1, 1, 2, 2]));
        let early = ClusterState { early: true, ..situation(&[1, 2], &known) };
        assert_eq!(admit(&early), Admission::Wait(vec!["worker-0".to_owned()]));
    }

    #[test]
    fn narrow_layers_are_made_by_one_worker() {
        let known = known(&[0, 1, 2]);
        let narrow = ClusterState { width: 99, ..situation(&[1, 2], &known) };
        assert_eq!(admit(&narrow), Admission::Start(vec![1; 4]));
        let from = checkpoint(&[1, 2, 2, 2], &[1, 2]);
        let narrow = ClusterState { checkpoint: Some(&from), ..narrow };
        assert_eq!(admit(&narrow), Admission::Start(vec![2; 4]));
    }

    #[test]
    fn who_has_files_is_waited_for() {
        let known = known(&[0, 1, 2]);
        let from = checkpoint(&[0, 1, 2, 2], &[0, 1, 2]);
        let waiting = ClusterState { checkpoint: Some(&from), ..situation(&[0, 2], &known) };
        let names = vec!["worker-1".to_owned()];
        assert_eq!(admit(&waiting), Admission::Wait(names.clone()));
        let overdue = ClusterState { overdue: true, ..waiting };
        assert_eq!(admit(&overdue), Admission::Fail(names));
        // The files are elsewhere, too: others take over.
        let stored = ClusterState { has_store: true, ..overdue };
        assert_eq!(admit(&stored), Admission::Start(vec![0, 0, 2, 2]));
        // Nobody has anything in the files of worker 1: nobody waits for it.
        let from = checkpoint(&[0, 1, 2, 2], &[0, 2]);
        let free = ClusterState { checkpoint: Some(&from), ..situation(&[0, 2], &known) };
        assert_eq!(admit(&free), Admission::Start(vec![0, 0, 2, 2]));
    }
}
