//! Checkpoint sink of a session: adds layers to the job's view and writes checkpoints to the
//! journal.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use strata_proto::platform::Instant;
use strata_run::progress::{CheckpointLine, LayerLine};
use strata_run::{
    CheckpointSink, LayerEvent, LayerEvents, Outcome, Publication, StopReason, Totals, Tracker,
};
use strata_store::LayerRecord;

use super::context::Cluster;
use super::error::ClusterError;
use super::event::Level;
use super::job_view::JobView;
use super::schedule::Grant;
use crate::entry::{ClusterCheckpoint, JobEntry, JobState, WorkerNumber};

/// Minimum duration of a session that ends so that a session with more workers can start.
const MIN_SESSION: Duration = Duration::from_secs(5);

/// Such a session also lasts at least this many times as long as its start took, so that moves take
/// a small part of the time.
const MIN_STARTS: u32 = 10;

/// Sink of one session.
pub(crate) struct JournalSink {
    cluster: Arc<Cluster>,
    job: Arc<JobView>,
    id: String,
    /// Layers with fewer states run on one worker.
    narrow: u64,
    /// Owner of each shard, by shard.
    owners: Vec<WorkerNumber>,
    /// Workers of the session, ascending.
    members: Vec<WorkerNumber>,
    /// Layers that no checkpoint holds yet.
    unsaved: Vec<LayerRecord>,
    started: Instant,
    /// Time from the start of the session until its first layer was made or loaded; `None` before
    /// that.
    start_took: Option<Duration>,
    /// Search time of earlier sessions, in seconds.
    seconds_before: f64,
    tracker: Tracker,
    layers: LayerEvents,
}

impl JournalSink {
    /// A sink for a session of the job `entry`. `owners` has the owner of each shard. `tracker` and
    /// `layers` have the layers of earlier sessions.
    pub(crate) fn new(
        cluster: Arc<Cluster>,
        job: Arc<JobView>,
        entry: &JobEntry,
        owners: Vec<WorkerNumber>,
        (tracker, layers): (Tracker, LayerEvents),
    ) -> JournalSink {
        let mut members = owners.clone();
        members.sort_unstable();
        members.dedup();
        JournalSink {
            narrow: cluster.narrow(&entry.spec),
            cluster,
            job,
            id: entry.id.clone(),
            owners,
            members,
            unsaved: Vec::new(),
            started: Instant::now(),
            start_took: None,
            seconds_before: entry.seconds,
            tracker,
            layers,
        }
    }

    /// Whether the next layer, of about `width` states, should run on other workers.
    fn should_move(&mut self, width: u64) -> bool {
        let (age, start) = (self.started.elapsed(), self.start_took);
        let start = *self.start_took.insert(start.unwrap_or(age));
        let available = self.cluster.membership.available();
        if self.members.iter().any(|member| !available.contains(member)) {
            // A worker that is leaving needs a checkpoint before it exits.
            return true;
        }
        let Grant { workers, usable } = self.cluster.schedule.grant(&self.id, &available);
        if self.members.iter().any(|member| !workers.contains(member)) {
            // Another job waits for the worker. The session first searches for as long as its start
            // took.
            return age >= 2 * start;
        }
        // No more workers than shards can take part.
        let possible = usable.len().min(self.owners.len());
        let is_settled = age > MIN_SESSION.max(MIN_STARTS * start);
        fits_others(self.members.len(), possible, width, self.narrow, is_settled)
    }

    fn show_layer(&self, event: &LayerEvent) {
        let line = LayerLine::new(event, &self.tracker, self.started.elapsed());
        let line = LayerLine { elapsed: event.layer.seconds, ..line };
        self.job.show_layer(line, self.cluster.options.log_interval);
    }
}

/// Whether a layer of about `width` states should run on another number of workers than the
/// `members` of the session, if `possible` workers can take part. `is_settled`: the session has run
/// long enough to pay for a move to more workers.
fn fits_others(members: usize, possible: usize, width: u64, narrow: u64, is_settled: bool) -> bool {
    let is_short = 1 < members && members < possible;
    !widths(members, possible, narrow).contains(&width) || (is_short && is_settled)
}

/// The numbers of states of layers that a session of `members` workers makes, if `possible` workers can
/// take part. Layers of fewer than `narrow` states are made by one worker.
pub(super) fn widths(members: usize, possible: usize, narrow: u64) -> RangeInclusive<u64> {
    match (members, possible) {
        (_, 0 | 1) => 0..=u64::MAX,
        (1, _) => 0..=narrow.saturating_sub(1),
        // A quarter, as hysteresis: sessions must not alternate between one worker and all workers.
        _ => narrow / 4..=u64::MAX,
    }
}

impl JournalSink {
    /// The largest peak of resident memory among the session's workers, in bytes, and the name of
    /// its worker.
    fn peak(&self) -> (u64, Option<String>) {
        let members = self.cluster.membership.members().into_iter();
        let own = members.filter(|member| self.members.contains(&member.entry.number));
        let greatest = own.max_by_key(|member| member.beat.peak_rss_bytes);
        greatest.map_or((0, None), |member| (member.beat.peak_rss_bytes, Some(member.entry.name)))
    }
}

impl CheckpointSink for JournalSink {
    type Error = ClusterError;

    fn stop(&mut self, last: &LayerRecord) -> Option<StopReason> {
        if self.cluster.is_shutting_down() || self.job.is_cancelled() {
            return Some(StopReason::Interrupted);
        }
        self.should_move(last.states).then_some(StopReason::Moving)
    }

    /// A checkpoint is due if a leaving worker outside the session has files of the last one: the
    /// worker may end once the new checkpoint is durable.
    fn is_due(&mut self) -> bool {
        let mut leaving = self.cluster.membership.leaving().into_iter();
        leaving.any(|worker| self.cluster.schedule.is_source(&self.id, worker))
    }

    fn seconds(&self) -> f64 {
        self.seconds_before + self.started.elapsed().as_secs_f64()
    }

    fn commit(&mut self, layer: LayerRecord, _: &Totals) -> Result<(), ClusterError> {
        // The layers of a window are committed together, later than they were complete.
        let seconds = (layer.seconds - self.seconds_before).max(0.0);
        let event = self.layers.next(layer, false);
        self.tracker.layer(&event, Duration::from_secs_f64(seconds));
        self.show_layer(&event);
        self.cluster.work.add_layer(&self.id, &event.layer);
        self.unsaved.push(event.layer.clone());
        self.job.add_layer(event.layer, self.tracker.figures());
        Ok(())
    }

    fn publish(&mut self, publication: Publication) -> Result<(), ClusterError> {
        let Publication { depth, records, totals, ending } = publication;
        let seconds = self.seconds();
        let (peak_rss, peak_worker) = self.peak();
        let owners = self.owners.clone();
        let made = self.cluster.seconds();
        let work_done = self.tracker.share_of_work();
        let change = |entry: &mut JobEntry| {
            entry.seconds = seconds;
            entry.work_done = work_done;
            if peak_rss > entry.peak_rss_bytes {
                (entry.peak_rss_bytes, entry.peak_rss_worker) = (peak_rss, peak_worker);
            }
            entry.checkpoint = Some(ClusterCheckpoint { depth, records, owners, made });
            if let Some(progress) = &mut entry.progress {
                (progress.disk_peak, progress.spilled) = (totals.disk_peak, totals.spilled);
            }
            let moves = match ending {
                Some(Outcome::Goal(moves)) => Some(moves),
                Some(Outcome::Exhausted) => None,
                Some(Outcome::Stopped(_)) | None => return,
            };
            entry.state = JobState::Done;
            entry.result = Some(totals.result(moves, entry.peak_rss_bytes, seconds));
        };
        let entry = self.cluster.journal.checkpoint(&self.id, &self.unsaved, change)?;
        self.unsaved = Vec::new();
        // No worker takes over the files of a job that ends.
        let goes_on = ending.is_none_or(|ending| ending == Outcome::Stopped(StopReason::Moving));
        let checkpoint = entry.checkpoint.as_ref().filter(|_| goes_on);
        self.cluster.schedule.set_files(&self.id, checkpoint, false);
        self.cluster.dismiss_leaving();
        self.job.set_saved(entry.progress.as_ref());
        if !goes_on {
            self.job.show_last_layer();
        }
        Ok(())
    }

    fn abandoned(&mut self, error: &ClusterError) {
        self.job.log(Level::Error, &error.to_string());
    }

    fn now(&self) -> std::time::Instant {
        Instant::now().into_std()
    }

    fn checkpointed(&mut self, depth: u32, bytes: u64, took: Duration) {
        let line = CheckpointLine { layer: depth, bytes, took: took.as_secs_f64() };
        line.log(&self.id, CheckpointLine::COMMITTED);
        self.job.record(Level::Info, CheckpointLine::COMMITTED, line.fields());
        self.cluster.work.add_checkpoint(&self.id, bytes, took);
        self.job.add_checkpoint(depth, bytes, took);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_move_to_more_workers_when_they_are_wide_and_to_one_when_they_are_narrow() {
        let moves = |members, possible, width| fits_others(members, possible, width, 100, true);
        assert!(moves(1, 3, 100) && !moves(1, 3, 99));
        assert!(moves(3, 3, 24) && !moves(3, 3, 25));
        assert!(moves(2, 3, 100) && !fits_others(2, 3, 100, 100, false));
        // A worker alone is not joined by others because of its age.
        assert!(!moves(1, 3, 1));
    }

    #[test]
    fn a_single_possible_worker_keeps_the_job() {
        // A job of one shard, on a cluster of any size: moving it would never end.
        assert!(!fits_others(1, 1, u64::MAX, 1, true));
        assert!(!fits_others(2, 2, u64::MAX, 1, true));
    }
}
