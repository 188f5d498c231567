//! Metric families: names, help texts and values of all metrics.
//!
//! A job's totals may decrease when the search returns to a checkpoint, so they are gauges. Counts
//! since the start of the coordinator never decrease, so they are counters.

use std::collections::BTreeMap;
use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, MetricEncoder};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use strata_proto::v1;

use super::snapshot::{JobMetrics, Snapshot};
use crate::cluster::membership::MemberView;
use crate::cluster::work::JobWork;

/// The metrics of the cluster at one moment.
#[derive(Debug)]
pub(super) struct Families(pub(super) Snapshot);

/// The value of a sample.
#[derive(Clone, Copy, Debug)]
enum Value {
    Int(u64),
    Float(f64),
}

impl From<u64> for Value {
    fn from(value: u64) -> Value {
        Value::Int(value)
    }
}

impl From<u32> for Value {
    fn from(value: u32) -> Value {
        Value::Int(value.into())
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Int(value.into())
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Value {
        Value::Float(value)
    }
}

/// A metric with at most one value for each `T`.
struct Family<T> {
    kind: MetricType,
    name: &'static str,
    help: &'static str,
    value: fn(&T) -> Option<Value>,
}

const fn gauge<T>(
    name: &'static str,
    help: &'static str,
    value: fn(&T) -> Option<Value>,
) -> Family<T> {
    Family { kind: MetricType::Gauge, name, help, value }
}

/// A counter. `name` is without the suffix `_total`.
const fn counter<T>(
    name: &'static str,
    help: &'static str,
    value: fn(&T) -> Option<Value>,
) -> Family<T> {
    Family { kind: MetricType::Counter, name, help, value }
}

/// Metrics without labels.
const CLUSTER: &[Family<Snapshot>] = &[
    gauge("start_time_seconds", "When the coordinator started, as Unix time.", |s| {
        Some(s.started.into())
    }),
    gauge(
        "journal_writable",
        "1 if the last access of the journal succeeded, else 0. Without access there are no metrics \
         of jobs.",
        |s| Some(s.is_journal_writable.into()),
    ),
];

/// Metrics with the label `search_job`.
const JOBS: &[Family<JobMetrics>] = &[
    gauge("job_submitted_timestamp_seconds", "When the job was submitted, as Unix time.", |m| {
        Some(m.job.created.into())
    }),
    gauge("job_ended_timestamp_seconds", "When the job ended, as Unix time.", |m| {
        m.job.ended.map(Value::Int)
    }),
    gauge("job_search_seconds", "Search time of the job over all its sessions.", |m| {
        Some(m.job.seconds.into())
    }),
    gauge("job_workers", "Workers that the job runs on. 0 while it waits.", |m| {
        Some(m.job.workers.into())
    }),
    gauge("job_depth", "Depth of the last complete layer.", |m| m.job.depth.map(Value::from)),
    gauge("job_layer_states", "States of the last complete layer.", |m| {
        of_layers(m, m.job.layer_states)
    }),
    gauge("job_states", "States of all layers.", |m| of_layers(m, m.job.states)),
    gauge(
        "job_positions",
        "Positions that the states stand for. Absent if they are not counted.",
        |m| of_layers(m, m.job.positions).filter(|_| m.job.positions > 0),
    ),
    gauge("job_expected_depth", "Depth at which the search ends at the latest, if known.", |m| {
        m.job.expected_layers.map(Value::from)
    }),
    gauge(
        "job_expected_states",
        "States that the search is expected to find. Absent if that is not known.",
        |m| m.job.expected_states.map(Value::Float),
    ),
    gauge(
        "job_work_done_ratio",
        "Share of the expected work that is done, from 0 to 1. Absent without a basis.",
        |m| m.job.work_done.map(Value::Float),
    ),
    gauge(
        "job_eta_low_seconds",
        "Least time that a running job is expected to take from now. Absent without a basis.",
        |m| m.job.eta_low_seconds.map(Value::Float),
    ),
    gauge(
        "job_eta_high_seconds",
        "Greatest time that a running job is expected to take from now. Absent without a basis.",
        |m| m.job.eta_high_seconds.map(Value::Float),
    ),
    gauge("job_checkpoint_depth", "Depth of the last durable checkpoint.", |m| {
        m.job.checkpoint.map(Value::from)
    }),
    gauge(
        "job_last_checkpoint_timestamp_seconds",
        "When the last durable checkpoint was made, as Unix time.",
        |m| m.checkpoint_made.map(Value::Int),
    ),
    gauge("job_checkpoint_interval_seconds", "Intended time between checkpoints.", |m| {
        Some(m.checkpoint_interval.into())
    }),
    gauge(
        "job_last_checkpoint_duration_seconds",
        "Time that the last checkpoint took, from the order to save until it was durable.",
        |m| last_checkpoint(m).map(|(_, took)| took.as_secs_f64().into()),
    ),
    gauge("job_last_checkpoint_bytes", "Bytes of the files of the last checkpoint.", |m| {
        last_checkpoint(m).map(|(bytes, _)| bytes.into())
    }),
    gauge("job_result_moves", "Length of a shortest solution of a job that is done.", |m| {
        m.job.result.as_ref()?.moves.map(Value::Int)
    }),
    gauge("job_result_depth", "Greatest depth of a job that is done.", |m| {
        m.job.result.as_ref().map(|result| result.layers.into())
    }),
    gauge(
        "job_disk_peak_bytes",
        "Most bytes on disk at any time, all workers together, of a job that is done.",
        |m| m.job.result.as_ref().map(|result| result.disk_peak_bytes.into()),
    ),
    counter("sessions", "Sessions that began.", |m| work(m, |work| work.sessions.into())),
    counter(
        "states_new",
        "States of complete layers; those of repeated layers count again.",
        |m| work(m, |work| work.states.into()),
    ),
    counter("states_generated", "Legal moves of these states.", |m| {
        work(m, |work| work.generated.into())
    }),
    counter("layer_bytes", "Bytes of the files of these layers.", |m| {
        work(m, |work| work.layer_bytes.into())
    }),
    counter("layer_read_bytes", "Bytes of the files from which these layers were made.", |m| {
        work(m, |work| work.read_bytes.into())
    }),
    counter(
        "layer_written_bytes",
        "Bytes of the files that were written to make these layers.",
        |m| work(m, |work| work.written_bytes.into()),
    ),
    counter(
        "layer_memo_hits",
        "Expansions of regions of these layers that were found in memo tables.",
        |m| work(m, |work| work.memo_hits.into()),
    ),
    counter(
        "layer_memo_misses",
        "Expansions that were looked up in memo tables, not found and computed.",
        |m| work(m, |work| work.memo_misses.into()),
    ),
    counter(
        "layer_memo_miss_seconds",
        "Time to compute these, over all threads and workers.",
        |m| work(m, |work| work.memo_miss_seconds.into()),
    ),
    counter("checkpoints", "Durable checkpoints.", |m| work(m, |work| work.checkpoints.into())),
    counter("checkpoint_bytes", "Bytes of the files of these checkpoints.", |m| {
        work(m, |work| work.checkpoint_bytes.into())
    }),
    counter("checkpoint_duration_seconds", "Time that these checkpoints took.", |m| {
        work(m, |work| work.checkpoint_time.as_secs_f64().into())
    }),
];

/// A figure of complete layers; `None` before the first.
fn of_layers(metrics: &JobMetrics, value: u64) -> Option<Value> {
    metrics.job.depth.map(|_| value.into())
}

fn last_checkpoint(metrics: &JobMetrics) -> Option<(u64, std::time::Duration)> {
    metrics.work?.last_checkpoint
}

/// A total since the start of the coordinator. It is 0 for a job that has not ended and had no
/// session.
fn work(metrics: &JobMetrics, value: fn(&JobWork) -> Value) -> Option<Value> {
    let has_ended = metrics.job.ended.is_some();
    metrics.work.or((!has_ended).then(JobWork::default)).as_ref().map(value)
}

/// Metrics with the label `worker`.
const WORKERS: &[Family<MemberView>] = &[
    gauge("worker_alive", "1 if the worker's lease is valid, else 0.", |m| Some(m.alive.into())),
    gauge("worker_leaving", "1 if the worker's last heartbeat announced its end, else 0.", |m| {
        Some(m.beat.leaving.into())
    }),
    gauge("worker_threads", "Threads that the worker searches with.", |m| Some(m.threads.into())),
    gauge("worker_memory_budget_bytes", "Memory budget of the worker.", |m| {
        Some(m.memory_bytes.into())
    }),
    gauge("worker_resident_bytes", "Resident memory of the worker.", |m| beat(m, m.beat.rss_bytes)),
    gauge(
        "worker_disk_free_bytes",
        "Free space on the file system of the worker's data directory.",
        |m| beat(m, m.beat.disk_free_bytes),
    ),
];

/// A figure of the last heartbeat; `None` before the first.
fn beat(member: &MemberView, value: u64) -> Option<Value> {
    (member.beat.rss_bytes > 0).then_some(value.into())
}

impl Collector for Families {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let encoder = &mut encoder;
        let Families(snapshot) = self;
        let build = [(vec![("version", env!("CARGO_PKG_VERSION"))], Value::Int(1))];
        write(encoder, MetricType::Gauge, "build_info", "Version of the coordinator.", build)?;
        for Family { kind, name, help, value } in CLUSTER {
            let samples = value(snapshot).map(|value| (Vec::new(), value));
            write(encoder, *kind, name, help, samples)?;
        }
        let counts = snapshot.counts.iter();
        let counts =
            counts.map(|(state, count)| (vec![("state", state_name(*state))], (*count).into()));
        write(encoder, MetricType::Gauge, "jobs", "Jobs in the journal, by state.", counts)?;
        jobs(encoder, &snapshot.jobs)?;
        workers(encoder, snapshot)
    }
}

fn jobs(encoder: &mut DescriptorEncoder<'_>, jobs: &BTreeMap<String, JobMetrics>) -> fmt::Result {
    let info = jobs.iter().map(|(id, JobMetrics { job, .. })| {
        let spec = job.spec.as_ref();
        let puzzle = spec.map_or("", |spec| spec.space.as_str());
        let engine = spec.map_or("", |spec| spec.engine.as_str());
        let labels = vec![
            ("search_job", id.as_str()),
            ("name", job.name.as_str()),
            ("puzzle", puzzle),
            ("engine", engine),
        ];
        (labels, Value::Int(1))
    });
    write(encoder, MetricType::Gauge, "job_info", "Name, puzzle and engine of the job.", info)?;
    let states = jobs.iter().flat_map(|(id, JobMetrics { job, .. })| {
        let now = job.state();
        STATES.map(|state| {
            let labels = vec![("search_job", id.as_str()), ("state", state_name(state))];
            (labels, Value::from(state == now))
        })
    });
    write(encoder, MetricType::Gauge, "job_state", "1 for the job's state, 0 for others.", states)?;
    for Family { kind, name, help, value } in JOBS {
        let samples = jobs.iter().filter_map(|(id, job)| {
            value(job).map(|value| (vec![("search_job", id.as_str())], value))
        });
        write(encoder, *kind, name, help, samples)?;
    }
    Ok(())
}

fn workers(encoder: &mut DescriptorEncoder<'_>, snapshot: &Snapshot) -> fmt::Result {
    let members = &snapshot.workers;
    let names = worker_labels(members);
    let named = || names.iter().map(String::as_str).zip(members);
    for Family { kind, name, help, value } in WORKERS {
        let samples = named().filter_map(|(worker, member)| {
            value(member).map(|value| (vec![("worker", worker)], value))
        });
        write(encoder, *kind, name, help, samples)?;
    }
    let last = named().map(|(worker, member)| {
        (vec![("worker", worker)], (snapshot.now - member.silent.as_secs_f64()).into())
    });
    let help = "When the last message of the worker arrived, as Unix time.";
    write(encoder, MetricType::Gauge, "worker_last_heartbeat_timestamp_seconds", help, last)?;
    let exchange = named().flat_map(|(worker, member)| {
        let sent = ("sent", member.beat.exchange_sent_bytes);
        let received = ("received", member.beat.exchange_received_bytes);
        [sent, received].into_iter().filter_map(move |(direction, bytes)| {
            let labels = vec![("worker", worker), ("direction", direction)];
            beat(member, bytes).map(|value| (labels, value))
        })
    });
    let help = "Bytes of exits that the worker exchanged with others since it started.";
    write(encoder, MetricType::Counter, "exchange_bytes", help, exchange)
}

/// Label values of workers: the name, and the number if several workers have the same name. A
/// collector would refuse all metrics if two series were equal.
fn worker_labels(members: &[MemberView]) -> Vec<String> {
    let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
    for member in members {
        *uses.entry(&member.entry.name).or_default() += 1;
    }
    let label = |member: &MemberView| {
        let name = &member.entry.name;
        let is_unique = uses.get(name.as_str()) == Some(&1);
        if is_unique { name.clone() } else { format!("{name} #{}", member.entry.number) }
    };
    members.iter().map(label).collect()
}

/// Writes a metric with its samples.
fn write<'a>(
    encoder: &mut DescriptorEncoder<'_>,
    kind: MetricType,
    name: &str,
    help: &str,
    samples: impl IntoIterator<Item = (Vec<(&'static str, &'a str)>, Value)>,
) -> fmt::Result {
    let mut family = encoder.encode_descriptor(name, help, None, kind)?;
    for (labels, value) in samples {
        // A metric without labels has one sample.
        if labels.is_empty() {
            return write_value(family, kind, value);
        }
        write_value(family.encode_family(&labels)?, kind, value)?;
    }
    Ok(())
}

fn write_value(sample: MetricEncoder<'_>, kind: MetricType, value: Value) -> fmt::Result {
    match (kind, value) {
        (MetricType::Counter, Value::Int(value)) => ConstCounter::new(value).encode(sample),
        (MetricType::Counter, Value::Float(value)) => ConstCounter::new(value).encode(sample),
        (_, Value::Int(value)) => ConstGauge::new(value).encode(sample),
        (_, Value::Float(value)) => ConstGauge::new(value).encode(sample),
    }
}

/// All states of a job.
const STATES: [v1::JobState; 7] = [
    v1::JobState::Queued,
    v1::JobState::Waiting,
    v1::JobState::Running,
    v1::JobState::Stopped,
    v1::JobState::Cancelled,
    v1::JobState::Failed,
    v1::JobState::Done,
];

fn state_name(state: v1::JobState) -> &'static str {
    match state {
        v1::JobState::Unspecified => "unknown",
        v1::JobState::Queued => "queued",
        v1::JobState::Waiting => "waiting",
        v1::JobState::Running => "running",
        v1::JobState::Stopped => "stopped",
        v1::JobState::Cancelled => "cancelled",
        v1::JobState::Failed => "failed",
        v1::JobState::Done => "done",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_of_one_name_have_different_labels() {
        let member = |number, name: &str| {
            let mut member = super::super::tests::member(number);
            member.entry.name = name.to_owned();
            member
        };
        let members = [member(0, "a"), member(1, "b"), member(2, "a")];
        assert_eq!(worker_labels(&members), ["a #0", "b", "a #2"]);
    }
}
