//! Metrics in the OpenMetrics format, computed for each request.

use std::fmt;
use std::sync::atomic::AtomicU64;
use std::time::SystemTime;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;

use crate::cluster::context::Cluster;
use crate::journal::error::JournalError;

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct JobLabel {
    job: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct WorkerLabel {
    worker: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct DirectionLabel {
    direction: &'static str,
}

type OfJob<M> = Family<JobLabel, M>;
type OfWorker<M> = Family<WorkerLabel, M>;
type Float = Gauge<f64, AtomicU64>;

/// Why there are no metrics.
#[derive(Debug, thiserror::Error)]
pub(super) enum MetricsError {
    /// The journal cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The metrics cannot be written as text.
    #[error("cannot write the metrics: {0}")]
    Format(#[from] fmt::Error),
}

/// All metrics in the OpenMetrics text format.
///
/// # Errors
/// `Journal` if the journal cannot be read; `Format` if the text cannot be written.
pub(super) fn text(cluster: &Cluster) -> Result<String, MetricsError> {
    let mut registry = Registry::with_prefix("strata");
    let build = Info::new(vec![("version", env!("CARGO_PKG_VERSION"))]);
    registry.register("build", "The program", build);
    jobs(cluster, &mut registry)?;
    workers(cluster, &mut registry);
    let mut text = String::new();
    encode(&mut text, &registry)?;
    Ok(text)
}

/// Metrics of the queue and the running jobs.
fn jobs(cluster: &Cluster, registry: &mut Registry) -> Result<(), MetricsError> {
    let (waiting, running) = cluster
        .journal
        .unended(|jobs| (jobs.queued(), jobs.running().map(str::to_owned).collect::<Vec<_>>()))?;
    let queued: Gauge = Gauge::default();
    queued.set(waiting as i64);
    registry.register("jobs_queued", "Jobs in the queue", queued);
    let writable: Gauge = Gauge::default();
    writable.set(i64::from(cluster.journal.fault().is_none()));
    registry.register(
        "journal_writable",
        "Whether the last write of the journal succeeded",
        writable,
    );
    let (layer, states) = (OfJob::<Gauge>::default(), OfJob::<Gauge>::default());
    let (seconds, workers) = (OfJob::<Float>::default(), OfJob::<Gauge>::default());
    let totals = [(); 3].map(|()| OfJob::<Counter>::default());
    for id in running {
        // The queue has the view of a job that runs.
        let job = cluster.job_in_use(&id).and_then(|job| job.snapshot()).unwrap_or_default();
        let label = JobLabel { job: id };
        if let Some(last) = &job.progress {
            layer.get_or_create(&label).set(i64::from(last.depth));
            states.get_or_create(&label).set(last.layer_states as i64);
            seconds.get_or_create(&label).set(last.seconds);
        }
        let sums = job.progress.unwrap_or_default();
        for (family, sum) in totals.iter().zip([sums.generated, sums.states, sums.layer_bytes]) {
            family.get_or_create(&label).inc_by(sum);
        }
        workers.get_or_create(&label).set(job.workers as i64);
    }
    registry.register("job_layer", "Depth of the last complete layer", layer);
    registry.register("layer_states", "States of the last complete layer", states);
    registry.register("job_search_seconds", "Search time of the job", seconds);
    let [generated, new, bytes] = totals;
    registry.register("states_generated", "Legal moves of all states", generated);
    registry.register("states_new", "States of all layers", new);
    registry.register("layer_bytes", "Bytes of layer files written", bytes);
    registry.register("job_workers", "Workers that the job runs on; 0 while it waits", workers);
    Ok(())
}

/// Metrics of the workers that connected since the start.
fn workers(cluster: &Cluster, registry: &mut Registry) {
    let now = cluster.platform().wall_time();
    let now = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    let (alive, rss, free) =
        (OfWorker::<Gauge>::default(), OfWorker::<Gauge>::default(), OfWorker::<Gauge>::default());
    let last_message = OfWorker::<Float>::default();
    let exchange = Family::<DirectionLabel, Counter>::default();
    for member in cluster.membership.members() {
        let label = WorkerLabel { worker: member.entry.name.clone() };
        alive.get_or_create(&label).set(i64::from(member.alive));
        last_message.get_or_create(&label).set(now - member.silent.as_secs_f64());
        rss.get_or_create(&label).set(member.beat.rss_bytes as i64);
        free.get_or_create(&label).set(member.beat.disk_free_bytes as i64);
        let add = |direction: &'static str, bytes: u64| {
            exchange.get_or_create(&DirectionLabel { direction }).inc_by(bytes);
        };
        add("sent", member.beat.exchange_sent_bytes);
        add("received", member.beat.exchange_received_bytes);
    }
    registry.register("worker_alive", "Whether the worker's lease is valid", alive);
    registry.register(
        "worker_last_heartbeat_timestamp_seconds",
        "Time of the last message from the worker",
        last_message,
    );
    registry.register("worker_resident_bytes", "Resident memory of the worker", rss);
    registry.register("worker_disk_free_bytes", "Free space on the worker's disk", free);
    registry.register(
        "exchange_bytes",
        "Bytes of exits exchanged by workers since their start",
        exchange,
    );
}
