//! The cluster as a data source of the dashboard.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::dashboard::model::{
    Action, Checkpoint, Job, JobResult, JobState, LogEntry, LogPart, MarkKind, Overview, Range,
    Scope, Solution, Worker,
};
use crate::dashboard::{Source, SourceError, Texts};
use strata_proto::platform::Instant;
use strata_proto::v1;
use strata_store::{LayerRecord, Weight};

use super::reader::message;
use super::{changes, view};
use crate::cluster::context::Cluster;
use crate::cluster::event::{FROM_CHECKPOINT, ROLLED_BACK};
use crate::cluster::membership::MemberView;
use crate::entry::{JobEntry, WorkerEntry};
use crate::journal::error::JournalError;

/// Most jobs on the page that have not ended.
const UNENDED: usize = 100;

/// Most jobs on the page that have ended.
const ENDED: usize = 50;

/// Most layers that one call returns.
const PART: u32 = 1024;

/// Most jobs whose texts are cached.
const TEXTS: usize = 256;

/// A [`Source`] of the dashboard that reads a coordinator's state.
pub(super) struct ClusterSource {
    cluster: Arc<Cluster>,
    /// Cached texts, by job and whether it has a result: a result changes them.
    texts: Mutex<HashMap<String, Texts>>,
}

/// Converts an error of the journal.
fn failed(error: JournalError) -> SourceError {
    let text = error.to_string();
    match error {
        JournalError::NoSuchJob { what } => SourceError::NoSuchJob(what),
        JournalError::NotResumable { .. } | JournalError::NotEnded { .. } => {
            SourceError::Refused(text)
        }
        _ => SourceError::Unavailable(text),
    }
}

impl ClusterSource {
    pub(super) fn new(cluster: Arc<Cluster>) -> ClusterSource {
        ClusterSource { cluster, texts: Mutex::default() }
    }

    /// The job with exactly this id. Names and prefixes are refused: they may mean another job
    /// later, and a page's address must always mean the same one.
    fn find(&self, id: &str) -> Result<JobEntry, SourceError> {
        let entry = self.cluster.journal.find(id).map_err(failed)?;
        if entry.id == id { Ok(entry) } else { Err(SourceError::NoSuchJob(id.to_owned())) }
    }

    fn shown(&self, entry: &JobEntry) -> Result<Job, SourceError> {
        let message = message(&self.cluster, entry).map_err(failed)?;
        let interval = self.cluster.options.checkpoint_interval;
        let interval = entry.options.checkpoint_interval.unwrap_or(interval);
        let mut job = job(message);
        job.checkpoint_interval_seconds = interval.as_secs_f64();
        job.checkpoint = self.checkpoint(entry);
        let Texts { title, command } = self.texts(&job);
        job.command = command;
        if let Some(result) = &mut job.result {
            result.title = title;
        }
        Ok(job)
    }

    fn checkpoint(&self, entry: &JobEntry) -> Option<Checkpoint> {
        let last = entry.checkpoint.as_ref()?;
        let age = self.cluster.seconds().saturating_sub(last.made);
        // `None` if the last checkpoint was made before the coordinator started.
        let work = self.cluster.work.of(&entry.id).and_then(|work| work.last_checkpoint);
        Some(Checkpoint {
            depth: last.depth,
            age_seconds: Some(age as f64),
            cost_seconds: work.map(|(_, took)| took.as_secs_f64()),
            bytes: work.map(|(bytes, _)| bytes),
        })
    }

    fn texts(&self, job: &Job) -> Texts {
        let mut known = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        // A result changes the texts.
        let key = format!("{} {}", job.id, job.result.is_some());
        if let Some(texts) = known.get(&key) {
            return texts.clone();
        }
        if known.len() >= TEXTS {
            known.clear();
        }
        let texts = self.cluster.options.dashboard.presenter.texts(job);
        known.insert(key, texts.clone());
        texts
    }

    fn worker(&self, entry: &WorkerEntry, members: &[MemberView]) -> Worker {
        let info = view::worker(entry, members);
        let member = members.iter().find(|member| member.entry.number == entry.number);
        let pace = self.cluster.pace.of(entry.number, Instant::now());
        Worker {
            number: info.number,
            name: info.name,
            address: info.address,
            alive: info.alive,
            leaving: info.leaving,
            silent_seconds: member.map(|member| member.silent.as_secs_f64()),
            threads: info.threads,
            memory_bytes: info.memory_bytes,
            rss_bytes: info.rss_bytes,
            disk_free_bytes: info.disk_free_bytes,
            rate: pace.rate,
            straggler_share: pace.straggler_share,
        }
    }
}

/// Converts a message to a job of the page.
fn job(message: v1::Job) -> Job {
    let v1::JobSpec { space, parameters, engine, .. } = message.spec.clone().unwrap_or_default();
    let time_left = message.eta_low_seconds.zip(message.eta_high_seconds);
    let params = parameters.into_iter().collect();
    Job {
        orbits: message.orbits,
        state: state(message.state()),
        result: message.result.as_ref().map(result),
        id: message.id,
        name: message.name,
        space,
        params,
        engine,
        engine_reason: message.engine_reason,
        created_ms: 1000 * message.created,
        ended_ms: message.ended.map(|ended| 1000 * ended),
        seconds: message.seconds,
        depth: message.depth,
        expected_depth: message.expected_layers,
        layer_states: message.layer_states,
        states: message.states,
        expected_states: message.expected_states,
        positions: message.positions,
        share: message.work_done,
        eta_seconds: time_left.map(|(low, high)| Range { low, high }),
        rate: message.states_per_second,
        queue_position: message.queue_position,
        waiting_for: message.waiting_for,
        mean_rate: (message.seconds > 0.0).then(|| message.states as f64 / message.seconds),
        workers: message.workers,
        error: message.error,
        may_change: true,
        ..Job::default()
    }
}

fn state(state: v1::JobState) -> JobState {
    match state {
        v1::JobState::Queued | v1::JobState::Unspecified => JobState::Queued,
        v1::JobState::Waiting => JobState::Waiting,
        v1::JobState::Running => JobState::Running,
        v1::JobState::Stopped => JobState::Stopped,
        v1::JobState::Cancelled => JobState::Cancelled,
        v1::JobState::Failed => JobState::Failed,
        v1::JobState::Done => JobState::Done,
    }
}

fn result(result: &v1::JobResult) -> JobResult {
    let v1::Digest { first, second } = result.digest.unwrap_or_default();
    JobResult {
        title: String::new(),
        moves: result.moves,
        depth: result.layers,
        states: result.states,
        positions: result.positions,
        widest: result.widest,
        widest_depth: result.widest_depth,
        digest: Weight([first, second]).to_string(),
        seconds: result.seconds,
        disk_peak_bytes: result.disk_peak_bytes,
        peak_rss_bytes: result.peak_rss_bytes,
    }
}

/// The figures of a layer, without the names of its kept files.
fn without_files(layer: LayerRecord) -> LayerRecord {
    LayerRecord { kept: Vec::new(), ..layer }
}

impl Source for ClusterSource {
    fn overview(&self) -> Result<Overview, SourceError> {
        let cluster = &self.cluster;
        let shown = cluster.journal.newest(UNENDED, ENDED).map_err(failed)?;
        let jobs = shown.unended.iter().chain(&shown.ended).map(|entry| self.shown(entry));
        let mut jobs = jobs.collect::<Result<Vec<Job>, _>>()?;
        // Running jobs, then queued ones in the order of the queue, then ended ones.
        jobs.sort_by_key(|job| (job.state.has_ended(), job.queue_position));
        let known = cluster.journal.workers().map_err(failed)?;
        let members = cluster.membership.members();
        let workers = known.iter().map(|entry| self.worker(entry, &members)).collect();
        Ok(Overview {
            scope: Scope::Cluster,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            time_ms: 1000 * cluster.seconds(),
            workers,
            jobs,
            has_more_jobs: shown.has_more,
            fault: cluster.journal.fault().map(|error| error.to_string()),
        })
    }

    fn job(&self, id: &str) -> Result<Job, SourceError> {
        let entry = self.find(id)?;
        self.shown(&entry)
    }

    fn layers(&self, id: &str, from: u32) -> Result<Vec<LayerRecord>, SourceError> {
        let entry = self.find(id)?;
        // The view is read before the journal: meanwhile a layer may move from the view to the
        // journal.
        let live = self.cluster.job_in_use(id).and_then(|view| view.position().layers);
        let (saved, unsaved) = live.unwrap_or_else(|| {
            (entry.progress.as_ref().map_or(0, |progress| progress.depth + 1), Vec::new())
        });
        if let Some(skipped) = from.checked_sub(saved) {
            let unsaved = unsaved.into_iter().skip(skipped as usize).take(PART as usize);
            return Ok(unsaved.map(without_files).collect());
        }
        let depths = from..saved.min(from.saturating_add(PART));
        let lines = self.cluster.journal.layers_between(id, depths).map_err(failed)?;
        Ok(lines.into_iter().map(without_files).collect())
    }

    fn expected(&self, id: &str) -> Result<Vec<(u32, f64)>, SourceError> {
        let entry = self.find(id)?;
        if entry.state == crate::entry::JobState::Done {
            return Ok(Vec::new());
        }
        let live = self.cluster.job_in_use(id).and_then(|view| view.snapshot());
        let progress = live.and_then(|live| live.progress).or_else(|| entry.progress.clone());
        let Some(last) = progress else { return Ok(Vec::new()) };
        let space = self.cluster.spaces.of(&self.cluster.options.puzzles, &entry);
        Ok(space.map(|space| space.forecast.expected_layers(last.depth)).unwrap_or_default())
    }

    fn log(&self, id: &str, from: u64) -> Result<LogPart, SourceError> {
        let part = self.cluster.job(id).log_entries(from);
        let part = part.map_err(|error| SourceError::Unavailable(error.to_string()))?;
        let mut before = None;
        let entries = part.entries.into_iter().map(|entry| {
            let text = entry.to_string();
            let mark = mark(&text, before);
            before = mark.map(|(kind, _)| kind);
            LogEntry { time_ms: entry.time_ms, level: entry.level.name().to_owned(), text, mark }
        });
        Ok(LogPart { entries: entries.collect(), next: part.next, more: part.more })
    }

    fn change(&self, id: &str, action: Action) -> Result<(), SourceError> {
        let id = self.find(id)?.id;
        match action {
            Action::Cancel => {
                let (entry, had_ended) = changes::cancel(&self.cluster, &id).map_err(failed)?;
                if had_ended {
                    let text = format!("job {} has ended already", entry.id);
                    return Err(SourceError::Refused(text));
                }
            }
            Action::Resume => {
                changes::resume(&self.cluster, &id).map_err(failed)?;
            }
            Action::Remove => changes::remove(&self.cluster, &id).map_err(failed)?,
        }
        Ok(())
    }

    fn solution(&self, id: &str) -> Result<Solution, SourceError> {
        let job = self.job(id)?;
        self.cluster.options.dashboard.presenter.solution(&job)
    }

    fn drawing(&self, id: &str, position: &str, dark: bool) -> Result<Option<String>, SourceError> {
        let job = self.job(id)?;
        Ok(self.cluster.options.dashboard.presenter.drawing(&job, position, dark))
    }
}

/// The mark that a log entry makes in the charts, and its depth. `before` is the mark of the
/// previous entry of the same part of the log: a session that begins after a rollback is not marked
/// as a resumption.
fn mark(text: &str, before: Option<MarkKind>) -> Option<(MarkKind, u32)> {
    let depth_after = |mark: &str| {
        let (_, rest) = text.split_once(mark)?;
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        rest[..digits].parse().ok()
    };
    if text.starts_with("checkpoint ") {
        return Some((MarkKind::Checkpoint, depth_after(" layer=")?));
    }
    if text.starts_with(ROLLED_BACK) {
        return Some((MarkKind::Rollback, depth_after(ROLLED_BACK)?));
    }
    if text.starts_with("session ") && before != Some(MarkKind::Rollback) {
        return Some((MarkKind::Resume, depth_after(FROM_CHECKPOINT)?));
    }
    None
}

#[cfg(test)]
mod tests;
