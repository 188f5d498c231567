//! Keeps the records of a session: layers as they come, checkpoints in the journal, and what is
//! wished of the session.

use std::sync::Arc;
use std::time::{Duration, Instant};

use strata_store::HistoryLine;

use super::Cluster;
use super::error::ClusterError;
use super::job_view::{JobView, Level};
use crate::entry::{ClusterCheckpoint, JobState};
use strata::CheckpointSink;
use strata::{LayerSummary, Totals};
use strata::{Outcome, Publication, StopReason};
use strata::{Tracked, Tracker};

/// A session begun for a new worker lasts at least this long before it ends for another one.
const SETTLE: Duration = Duration::from_secs(5);

/// Lines of progress in the log are at least this far apart.
const LINE_EVERY: Duration = Duration::from_millis(500);

/// See the module.
pub(crate) struct JournalSink {
    cluster: Arc<Cluster>,
    job: Arc<JobView>,
    id: String,
    /// Narrower layers are made by one worker.
    narrow: u64,
    /// Worker by shard.
    owners: Vec<u16>,
    /// Workers of the session.
    members: Vec<u16>,
    /// Layers that no checkpoint holds.
    fresh: Vec<HistoryLine>,
    started: Instant,
    /// Seconds of earlier sessions.
    before: f64,
    tracker: Tracker,
    /// When the last line went to the log.
    line: Option<Instant>,
}

impl JournalSink {
    pub(crate) fn new(
        cluster: Arc<Cluster>,
        job: Arc<JobView>,
        (id, narrow): (&str, u64),
        owners: Vec<u16>,
        before: f64,
        tracker: Tracker,
    ) -> JournalSink {
        let mut members = owners.clone();
        members.sort_unstable();
        members.dedup();
        JournalSink {
            cluster,
            job,
            id: id.to_owned(),
            narrow,
            owners,
            members,
            fresh: Vec::new(),
            started: Instant::now(),
            before,
            tracker,
            line: None,
        }
    }

    fn seconds(&self) -> f64 {
        self.before + self.started.elapsed().as_secs_f64()
    }

    /// Whether other workers should make the next layer.
    fn should_move(&self, width: u64) -> bool {
        let members = self.cluster.membership.members();
        let here = members.iter().filter(|member| member.alive && !member.beat.leaving);
        let here: Vec<u16> = here.map(|member| member.entry.number).collect();
        if self.members.iter().any(|member| !here.contains(member)) {
            // It wants to go: first a checkpoint.
            return true;
        }
        let narrow = self.narrow;
        match (self.members.len(), here.len()) {
            (_, 0 | 1) => false,
            (1, _) => width >= narrow,
            // Far enough from the other threshold not to go back and forth.
            _ if width < narrow / 4 => true,
            (crew, all) => crew < all && self.started.elapsed() > SETTLE,
        }
    }

    fn log(&mut self, line: &HistoryLine, totals: &Totals) {
        let HistoryLine { depth, states, generated, bytes, seconds, .. } = *line;
        let total_states = totals.states;
        let tracked = Tracked { depth, states, generated, bytes, total_states, replayed: false };
        self.tracker.layer(&tracked, self.started.elapsed());
        if self.line.is_some_and(|line| line.elapsed() < LINE_EVERY) {
            return;
        }
        self.line = Some(Instant::now());
        let eta =
            self.tracker.time_left().map_or_else(|| "?".to_owned(), |left| format!("{left:.0}s"));
        let text = format!(
            "layer committed layer={depth} states={states} total={total_states} \
             generated={generated} dup_ratio={:.3} bytes={bytes} elapsed={seconds:.1}s \
             rate={:.0}/s eta={eta} workers={}",
            self.tracker.duplicate_ratio(),
            self.tracker.rate(),
            self.members.len(),
        );
        self.job.note(Level::Info, &text);
    }
}

impl CheckpointSink for JournalSink {
    type Error = ClusterError;

    fn stop(&mut self, last: &LayerSummary) -> Option<StopReason> {
        if self.cluster.is_shutting_down() || self.job.is_cancelled() {
            return Some(StopReason::Interrupted);
        }
        self.should_move(last.states).then_some(StopReason::Moving)
    }

    fn commit(&mut self, layer: LayerSummary, totals: &Totals) -> Result<(), ClusterError> {
        let line = layer.into_line(self.seconds());
        self.log(&line, totals);
        self.fresh.push(line.clone());
        self.job.layer(line);
        Ok(())
    }

    fn publish(&mut self, publication: Publication) -> Result<(), ClusterError> {
        let Publication { depth, records, totals, ending } = publication;
        let seconds = self.seconds();
        let peaks = self.cluster.membership.members();
        let peak_rss = peaks.iter().map(|member| member.beat.peak_rss_bytes).max().unwrap_or(0);
        let owners = self.owners.clone();
        let change = |entry: &mut crate::entry::JobEntry| {
            entry.seconds = seconds;
            entry.peak_rss_bytes = entry.peak_rss_bytes.max(peak_rss);
            entry.checkpoint = Some(ClusterCheckpoint {
                depth,
                records,
                owners,
                disk_peak: totals.disk_peak,
                spilled: totals.spilled,
            });
            let found = match ending {
                Some(Outcome::Goal(moves)) => Some(Some(moves)),
                Some(Outcome::Exhausted) => Some(None),
                Some(Outcome::Stopped(_)) | None => None,
            };
            if let Some(moves) = found {
                entry.state = JobState::Done;
                entry.result = Some(totals.result(moves, entry.peak_rss_bytes, seconds));
            }
        };
        self.cluster.journal.checkpoint(&self.id, &self.fresh, change)?;
        self.fresh.clear();
        Ok(())
    }

    fn checkpointed(&mut self, depth: u32, bytes: u64, took: Duration) {
        let text =
            format!("checkpoint layer={depth} bytes={bytes} took={:.3}s", took.as_secs_f64());
        self.job.note(Level::Info, &text);
        self.job.checkpoint(depth, bytes, took);
    }
}
