//! One session of a job: from the start or a checkpoint until it ends, is stopped, or a worker is
//! lost. Each has an epoch of its own; whatever belongs to an older one counts no more.

use std::collections::HashMap;
use std::sync::Arc;

use strata_net::convert;
use strata_proto::v1;
use strata_store::HistoryLine;

use super::Cluster;
use super::checkpoint_sink::JournalSink;
use super::error::ClusterError;
use super::job_view::{JobView, Level};
use super::worker_pool::{RemotePool, RestoreOrders};
use crate::entry::JobEntry;
use strata::KeepLayers;
use strata::{DriveError, Driver};
use strata::{LayerSummary, Totals};
use strata::{Outcome, Plan, PlanOptions, Rule, Start};
use strata::{Tracked, Tracker};

/// Runs a session of a job with these owners by shard.
///
/// # Errors
/// Whatever ended it before its time.
pub(crate) fn run(
    cluster: &Arc<Cluster>,
    job: &Arc<JobView>,
    entry: &JobEntry,
    owners: Vec<u16>,
) -> Result<Outcome, DriveError<ClusterError>> {
    let epoch = cluster.journal.next_epoch().map_err(failed)?;
    let lines = cluster.journal.layers(&entry.id).map_err(failed)?;
    job.roll_back(lines.len());
    let members = members(cluster, &owners);
    let names: Vec<&str> = members.iter().map(|(_, name)| name.as_str()).collect();
    let from = entry.checkpoint.as_ref().map_or_else(
        || "from the start".to_owned(),
        |checkpoint| format!("from the checkpoint of layer {}", checkpoint.depth),
    );
    job.note(Level::Info, &format!("session epoch={epoch} workers={} {from}", names.join(",")));
    job.crew(members.len(), Vec::new());
    let abandon = {
        let cluster = Arc::clone(cluster);
        let job = Arc::clone(job);
        let asked = std::sync::Mutex::new(None::<std::time::Instant>);
        move || {
            job.show_life();
            is_overdue(&cluster, &asked)
        }
    };
    let facts = job.facts(&entry.spec);
    let plan = plan(entry, &lines, members.len(), facts.rule);
    let restore = restore(entry, &lines);
    let prepare = Prepare::new(cluster, entry, &lines, &owners);
    let mut crew = RemotePool::new(Arc::clone(cluster), epoch, members, restore, Box::new(abandon));
    let tracker = tracker(facts.expected_layers, &lines);
    let keeper = JournalSink::new(
        Arc::clone(cluster),
        Arc::clone(job),
        (&entry.id, cluster.narrow(&entry.spec)),
        owners,
        entry.seconds,
        tracker,
    );
    let prepared = crew.prepare(|number| prepare.of(number));
    let interval = entry.options.checkpoint_interval.unwrap_or(cluster.options.checkpoint_interval);
    let mut driver = Driver::new(plan, crew, keeper, interval);
    let outcome = prepared.map_err(DriveError::Failed).and_then(|()| driver.run());
    driver.into_pool().release();
    outcome
}

fn failed(error: impl Into<ClusterError>) -> DriveError<ClusterError> {
    DriveError::Failed(error.into())
}

/// After a shutdown is asked for, the layer that runs may be finished and saved, but not for ever.
fn is_overdue(cluster: &Cluster, asked: &std::sync::Mutex<Option<std::time::Instant>>) -> bool {
    /// Whoever asked may wait for 30 seconds; the checkpoint takes its time, too.
    const GRACE: std::time::Duration = std::time::Duration::from_secs(20);
    if !cluster.is_shutting_down() {
        return false;
    }
    let mut asked = asked.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    asked.get_or_insert_with(std::time::Instant::now).elapsed() > GRACE
}

/// The workers with a shard, by number, with their names.
fn members(cluster: &Cluster, owners: &[u16]) -> Vec<(u16, String)> {
    let names: HashMap<u16, String> = cluster
        .membership
        .members()
        .into_iter()
        .map(|member| (member.entry.number, member.entry.name))
        .collect();
    let mut numbers = owners.to_vec();
    numbers.sort_unstable();
    numbers.dedup();
    let named = |number: u16| {
        let name = names.get(&number).cloned();
        (number, name.unwrap_or_else(|| format!("number {number}")))
    };
    numbers.into_iter().map(named).collect()
}

/// A tracker that knows what earlier sessions have done.
fn tracker(expected_layers: Option<u32>, lines: &[HistoryLine]) -> Tracker {
    let mut tracker = Tracker::new(expected_layers);
    let mut total_states = 0;
    for line in lines {
        let HistoryLine { depth, states, generated, bytes, .. } = *line;
        total_states += states;
        let tracked = Tracked { depth, states, generated, bytes, total_states, replayed: true };
        tracker.layer(&tracked, std::time::Duration::ZERO);
    }
    tracker
}

fn plan(entry: &JobEntry, lines: &[HistoryLine], workers: usize, rule: Rule) -> Plan {
    let options = PlanOptions {
        workers,
        rule,
        max_layers: entry.options.max_layers,
        disk_limit: entry.options.disk_limit,
    };
    let (Some(checkpoint), [before @ .., last]) = (&entry.checkpoint, lines) else {
        return Plan::new(options, Start::Seeds);
    };
    let searched = |file: &str| checkpoint.records.iter().any(|record| record.file == file);
    let kept = lines.iter().flat_map(|line| line.kept.iter().flatten());
    let start = Start::Checkpoint {
        totals: Totals::of_lines(lines, checkpoint.disk_peak, checkpoint.spilled),
        last: LayerSummary::of_line(last),
        previous_bytes: before.last().map_or(0, |line| line.bytes),
        kept_bytes: kept.filter(|kept| !searched(&kept.file)).map(|kept| kept.bytes).sum(),
    };
    Plan::new(options, start)
}

fn restore(entry: &JobEntry, lines: &[HistoryLine]) -> Option<RestoreOrders> {
    let checkpoint = entry.checkpoint.as_ref()?;
    let mut kept: HashMap<u32, Vec<String>> = HashMap::new();
    for file in lines.iter().flat_map(|line| line.kept.iter().flatten()) {
        kept.entry(file.worker).or_default().push(file.file.clone());
    }
    let common = v1::Restore {
        depth: checkpoint.depth,
        files: checkpoint.records.iter().map(convert::file_to).collect(),
        owners: checkpoint.owners.iter().map(|owner| u32::from(*owner)).collect(),
        kept: Vec::new(),
    };
    Some(RestoreOrders { common, kept })
}

/// What the workers are told before a session.
struct Prepare {
    common: v1::Prepare,
    /// Files that each worker has to keep.
    files: HashMap<u32, Vec<String>>,
}

impl Prepare {
    fn new(cluster: &Cluster, entry: &JobEntry, lines: &[HistoryLine], owners: &[u16]) -> Prepare {
        let members = cluster.membership.members();
        let peers = members.iter().map(|member| v1::Peer {
            number: u32::from(member.entry.number),
            address: member.entry.address.clone(),
        });
        let keep = match entry.options.keep {
            KeepLayers::Last => v1::keep_layers::Which::Last(true),
            KeepLayers::All => v1::keep_layers::Which::All(true),
            KeepLayers::Every(step) => v1::keep_layers::Which::Every(step.get()),
        };
        let common = v1::Prepare {
            job: entry.id.clone(),
            spec: Some(convert::spec_to(&entry.spec)),
            owners: owners.iter().map(|owner| u32::from(*owner)).collect(),
            peers: peers.collect(),
            keep: Some(v1::KeepLayers { which: Some(keep) }),
            files: Vec::new(),
        };
        let mut files: HashMap<u32, Vec<String>> = HashMap::new();
        for record in entry.checkpoint.iter().flat_map(|checkpoint| &checkpoint.records) {
            files.entry(record.worker).or_default().push(record.file.clone());
        }
        for kept in lines.iter().flat_map(|line| line.kept.iter().flatten()) {
            files.entry(kept.worker).or_default().push(kept.file.clone());
        }
        Prepare { common, files }
    }

    fn of(&self, number: u16) -> v1::Prepare {
        let files = self.files.get(&u32::from(number)).cloned().unwrap_or_default();
        v1::Prepare { files, ..self.common.clone() }
    }
}
