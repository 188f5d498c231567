//! Alerts about a cluster, derived from successive overviews.

use std::collections::{BTreeMap, VecDeque};

use serde::Serialize;

use crate::dashboard::model::{JobState, Overview, Worker};

/// Minimum time between two samples of a disk, in seconds.
const SAMPLE: f64 = 10.0;

/// Most samples of a disk: ten minutes of them.
const SAMPLES: usize = 60;

/// Minimum time between the first and the last sample of a trend, in seconds.
const LEAST: f64 = 60.0;

/// A disk that is full in less than this time is reported, in seconds: a day.
const SOON: f64 = 86_400.0;

/// A disk that is full in less than this time is urgent, in seconds: four hours.
const VERY_SOON: f64 = 14_400.0;

/// A checkpoint is overdue after this many checkpoint intervals plus [`GRACE`].
const INTERVALS: f64 = 3.0;

/// Extra time before a checkpoint is overdue, in seconds, since a layer may take long.
const GRACE: f64 = 60.0;

/// How urgent an alert is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Severity {
    /// Work has stopped, or will stop soon.
    Error,
    /// A user should watch it.
    Warning,
}

/// A condition that a user should look at.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Alert {
    /// Unique key of the condition; it stays the same while the text changes.
    pub(crate) key: String,
    pub(crate) severity: Severity,
    /// Text of the alert: one sentence.
    pub(crate) text: String,
}

/// Samples of the free space of one disk: time in seconds, and bytes.
#[derive(Debug, Default)]
struct DiskTrend {
    samples: VecDeque<(f64, u64)>,
}

impl DiskTrend {
    fn add(&mut self, now: f64, free: u64) {
        if self.samples.back().is_some_and(|(last, _)| now < last + SAMPLE) {
            return;
        }
        if self.samples.len() == SAMPLES {
            self.samples.pop_front();
        }
        self.samples.push_back((now, free));
    }

    /// Seconds until the disk is full at the current rate; `None` if free space does not shrink or
    /// the samples cover too little time.
    fn seconds_left(&self) -> Option<f64> {
        let ((first, before), (last, after)) = (self.samples.front()?, self.samples.back()?);
        let used = before.checked_sub(*after).filter(|used| *used > 0)?;
        let time = last - first;
        (time >= LEAST).then(|| *after as f64 * time / used as f64)
    }
}

/// State of the alerts from earlier overviews.
#[derive(Debug, Default)]
pub(crate) struct AlertRules {
    disks: BTreeMap<u32, DiskTrend>,
}

impl AlertRules {
    /// The alerts of an overview, urgent ones first. `now` is a monotonic time in seconds.
    pub(crate) fn apply(&mut self, overview: &Overview, now: f64) -> Vec<Alert> {
        let mut alerts = Vec::new();
        if let Some(fault) = &overview.fault {
            let key = "journal".to_owned();
            alerts.push(Alert { key, severity: Severity::Error, text: fault.clone() });
        }
        self.disks.retain(|number, _| overview.workers.iter().any(|one| one.number == *number));
        for worker in &overview.workers {
            alerts.extend(silent(worker, overview));
            if worker.alive && worker.disk_free_bytes > 0 {
                let trend = self.disks.entry(worker.number).or_default();
                trend.add(now, worker.disk_free_bytes);
                alerts.extend(trend.seconds_left().and_then(|left| filling(worker, left)));
            }
        }
        alerts.extend(overdue(overview));
        alerts.sort_by_key(|alert| alert.severity);
        alerts
    }
}

fn silent(worker: &Worker, overview: &Overview) -> Option<Alert> {
    if worker.alive {
        return None;
    }
    // A worker that has left is gone on purpose: no alert unless a job waits for it.
    let is_awaited = overview.jobs.iter().any(|job| job.waiting_for.contains(&worker.name));
    // No alert for a worker that has not connected since the start and that no job waits for.
    let silent = match worker.silent_seconds {
        Some(_) if worker.leaving && !is_awaited => return None,
        Some(seconds) => format!("has been silent for {}", duration(seconds)),
        None if is_awaited => "has not connected".to_owned(),
        None => return None,
    };
    let (severity, end) = if is_awaited {
        (Severity::Error, ", and a job waits for it")
    } else {
        (Severity::Warning, "")
    };
    let key = format!("silent {}", worker.number);
    Some(Alert { key, severity, text: format!("Worker {} {silent}{end}.", worker.name) })
}

fn filling(worker: &Worker, seconds: f64) -> Option<Alert> {
    let severity = if seconds < VERY_SOON { Severity::Error } else { Severity::Warning };
    let left = duration(seconds);
    let Worker { number, name, .. } = worker;
    let (key, text) = (
        format!("disk {number}"),
        format!("The disk of worker {name} is full in {left} if it goes on like this."),
    );
    (seconds < SOON).then_some(Alert { key, severity, text })
}

fn overdue(overview: &Overview) -> impl Iterator<Item = Alert> {
    let running = overview.jobs.iter().filter(|job| job.state == JobState::Running);
    running.filter_map(|job| {
        let age = job.checkpoint?.age_seconds?;
        let limit = INTERVALS * job.checkpoint_interval_seconds + GRACE;
        let text = format!("The last checkpoint of {} is {} old.", job.id, duration(age));
        let key = format!("checkpoint {}", job.id);
        (age > limit).then_some(Alert { key, severity: Severity::Warning, text })
    })
}

/// Text of a duration in seconds, minutes or hours.
fn duration(seconds: f64) -> String {
    let seconds = seconds.max(0.0) as u64;
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        _ => format!("{} h", seconds / 3600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dashboard::model::{Checkpoint, Job};

    fn worker(alive: bool, free: u64) -> Worker {
        let name = "w1".to_owned();
        let silent_seconds = Some(if alive { 0.0 } else { 35.0 });
        Worker {
            number: 1,
            name,
            alive,
            silent_seconds,
            disk_free_bytes: free,
            ..Worker::default()
        }
    }

    fn overview(worker: Worker, job: Job) -> Overview {
        Overview { workers: vec![worker], jobs: vec![job], ..Overview::default() }
    }

    fn texts(alerts: &[Alert]) -> Vec<&str> {
        alerts.iter().map(|alert| alert.text.as_str()).collect()
    }

    #[test]
    fn a_silent_worker_is_urgent_if_a_job_waits_for_it() {
        let mut rules = AlertRules::default();
        let alerts = rules.apply(&overview(worker(false, 0), Job::default()), 0.0);
        assert_eq!(texts(&alerts), ["Worker w1 has been silent for 35 s."]);
        assert_eq!(alerts[0].severity, Severity::Warning);
        let waits = Job { waiting_for: vec!["w1".to_owned()], ..Job::default() };
        let alerts = rules.apply(&overview(worker(false, 0), waits), 1.0);
        assert_eq!(texts(&alerts), ["Worker w1 has been silent for 35 s, and a job waits for it."]);
        assert_eq!(alerts[0].severity, Severity::Error);
        assert!(rules.apply(&overview(worker(true, 0), Job::default()), 2.0).is_empty());
    }

    #[test]
    fn each_alert_has_a_unique_and_stable_key() {
        let silent = |number: u32, seconds: f64| Worker {
            number,
            name: format!("worker-{number}"),
            silent_seconds: Some(seconds),
            ..Worker::default()
        };
        let keys = |seconds: f64| {
            let workers = (0..3).map(|number| silent(number, seconds)).collect();
            let overview = Overview { workers, ..Overview::default() };
            let alerts = AlertRules::default().apply(&overview, 0.0);
            alerts.into_iter().map(|alert| alert.key).collect::<Vec<_>>()
        };
        assert_eq!(keys(5.0), ["silent 0", "silent 1", "silent 2"]);
        assert_eq!(keys(600.0), keys(5.0));
    }

    #[test]
    fn a_worker_that_left_causes_an_alert_only_if_a_job_waits_for_it() {
        let left = Worker { leaving: true, ..worker(false, 0) };
        let mut rules = AlertRules::default();
        assert!(rules.apply(&overview(left.clone(), Job::default()), 0.0).is_empty());
        let waits = Job { waiting_for: vec!["w1".to_owned()], ..Job::default() };
        assert_eq!(rules.apply(&overview(left, waits), 0.0).len(), 1);
    }

    #[test]
    fn a_disk_is_reported_when_it_fills_soon() {
        let mut rules = AlertRules::default();
        let (gib, mut last) = (1 << 30, Vec::new());
        for step in 0..12 {
            // 1 GiB in 10 s: 100 GiB last for 1,000 s.
            let free = (111 - step) * gib;
            last = rules.apply(&overview(worker(true, free), Job::default()), 10.0 * step as f64);
            assert_eq!(last.is_empty(), step < 6, "{step}");
        }
        assert_eq!(
            texts(&last),
            ["The disk of worker w1 is full in 16 min if it goes on like this."]
        );
        let mut rules = AlertRules::default();
        for step in 0..100 {
            let slowly = overview(worker(true, 1000 * gib - step), Job::default());
            assert!(rules.apply(&slowly, 10.0 * step as f64).is_empty());
        }
    }

    #[test]
    fn a_checkpoint_of_a_running_job_may_be_overdue() {
        let job = |state, age| Job {
            id: "panex-8".to_owned(),
            state,
            checkpoint_interval_seconds: 30.0,
            checkpoint: Some(Checkpoint { age_seconds: Some(age), ..Checkpoint::default() }),
            ..Job::default()
        };
        let mut rules = AlertRules::default();
        let mut alerts = |job| rules.apply(&overview(worker(true, 0), job), 0.0);
        let overdue = alerts(job(JobState::Running, 300.0));
        assert_eq!(texts(&overdue), ["The last checkpoint of panex-8 is 5 min old."]);
        assert!(alerts(job(JobState::Running, 100.0)).is_empty());
        assert!(alerts(job(JobState::Done, 300.0)).is_empty());
    }
}
