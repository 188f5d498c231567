//! Health checks and metrics of a cluster.

use rustix::process::Signal;

use crate::cluster::faults::SLOW;
use crate::cluster::harness::{COORDINATOR, Cluster, eventually, fails, free_port};
use crate::common::{expect, strata};

/// The value of a metric with these labels.
fn metric(text: &str, name: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
    line.split(' ').next()?.parse().ok()
}

#[test]
fn health_and_metrics() {
    let mut cluster = Cluster::empty("");
    let port = free_port();
    cluster.join("w1", &format!("--listen 127.0.0.1:{port}"));
    cluster.join("w2", "");
    assert_eq!(cluster.get("/healthz", ""), (200, "ok\n".to_owned()));
    assert_eq!(cluster.get("/readyz", ""), (200, "ready\n".to_owned()));
    assert_eq!(cluster.get("/nothing", "").0, 404);
    let (_, idle) = cluster.get("/metrics", "");
    assert_eq!(metric(&idle, "strata_jobs{state=\"queued\"}"), Some(0.0), "{idle}");
    let follower = cluster.follow(&format!("submit {SLOW}"));
    let (job, queued) = (follower.job(), cluster.submit("panex 5"));
    let depth = follower.until_depth(200);
    let (status, text) = cluster.get("/metrics", "");
    assert_eq!(status, 200);
    let of_job =
        |text: &str, name: &str| metric(text, &format!("strata_{name}{{search_job=\"{job}\"}}"));
    let now = |name: &str| of_job(&text, name);
    assert!(now("job_depth").unwrap() >= depth as f64, "{text}");
    assert!(now("job_layer_states").unwrap() > 1000.0);
    assert!(now("job_states").unwrap() > 100_000.0);
    assert!(now("states_new_total").unwrap() > 100_000.0);
    assert!(now("states_generated_total") > now("states_new_total"));
    assert!(now("layer_bytes_total").unwrap() > 1000.0);
    assert!(now("job_search_seconds").unwrap() > 0.0);
    assert!(now("sessions_total").unwrap() >= 1.0);
    assert!(now("checkpoints_total").unwrap() >= 1.0);
    assert!(now("checkpoint_duration_seconds_total").unwrap() > 0.0);
    assert!(now("job_last_checkpoint_bytes").unwrap() > 0.0);
    assert!(now("job_last_checkpoint_timestamp_seconds").unwrap() > 1.7e9);
    assert_eq!(now("job_checkpoint_interval_seconds"), Some(0.001));
    assert_eq!(now("job_workers"), Some(2.0), "{text}");
    assert_eq!(metric(&text, "strata_jobs{state=\"queued\"}"), Some(1.0));
    assert_eq!(metric(&text, "strata_jobs{state=\"running\"}"), Some(1.0));
    for worker in ["w1", "w2"] {
        let of_worker =
            |name: &str| metric(&text, &format!("strata_{name}{{worker=\"{worker}\"}}"));
        assert_eq!(of_worker("worker_alive"), Some(1.0), "{text}");
        assert!(of_worker("worker_resident_bytes").unwrap() > 1e6);
        assert!(of_worker("worker_disk_free_bytes").unwrap() > 0.0);
        assert!(of_worker("worker_memory_budget_bytes").unwrap() > 1e6);
        assert!(of_worker("worker_last_heartbeat_timestamp_seconds").unwrap() > 1.7e9);
    }
    let exchanged = |text: &str, way: &str| -> f64 {
        let name = |worker: &str| {
            format!("strata_exchange_bytes_total{{worker=\"{worker}\",direction=\"{way}\"}}")
        };
        ["w1", "w2"].iter().map(|worker| metric(text, &name(worker)).unwrap()).sum()
    };
    follower.expect_answer();
    let (_, ended) = cluster.get("/metrics", "");
    assert_eq!(of_job(&ended, "job_result_moves"), Some(881.0), "{ended}");
    assert!(of_job(&ended, "job_ended_timestamp_seconds").unwrap() > 1.7e9);
    let done = format!("strata_job_state{{search_job=\"{job}\",state=\"done\"}}");
    assert_eq!(metric(&ended, &done), Some(1.0), "{ended}");
    cluster.follow(&format!("watch {queued}")).expect(0);
    eventually("the last heartbeats count all bytes", || {
        let (_, text) = cluster.get("/metrics", "");
        let (sent, received) = (exchanged(&text, "sent"), exchanged(&text, "received"));
        sent > 0.0 && (sent - received).abs() < f64::EPSILON
    });
    cluster.kill("w2");
    eventually("the metrics show the worker as lost", || {
        let (_, text) = cluster.get("/metrics", "");
        metric(&text, "strata_worker_alive{worker=\"w2\"}") == Some(0.0)
    });
    let text = expect(0, &mut cluster.client("status")).stdout;
    assert!(text.contains("1 of 2 workers alive"), "{text}");
}

#[test]
fn metrics_have_the_requested_format() {
    let cluster = Cluster::empty("");
    let page = |headers: &str| cluster.page("/metrics", headers);
    let classic = page("");
    assert!(classic.contains("content-type: text/plain; version=0.0.4"), "{classic}");
    assert!(classic.contains("# TYPE strata_sessions_total counter\n"), "{classic}");
    let open = page("accept: application/openmetrics-text; version=1.0.0\r\n");
    assert!(open.contains("content-type: application/openmetrics-text; version=1.0.0"), "{open}");
    assert!(open.contains("# TYPE strata_sessions counter\n") && open.ends_with("# EOF\n"));
}

#[test]
fn health_checks_tell_healthy_nodes_from_stopped_and_hung_ones() {
    let mut cluster = Cluster::empty("");
    let port = free_port();
    cluster.join("w1", &format!("--listen 127.0.0.1:{port}"));
    let text = expect(0, &mut cluster.client("health")).stdout;
    assert_eq!(text, format!("{} is healthy\n", cluster.url()));
    let worker = format!("http://127.0.0.1:{port}");
    let ran = expect(0, &mut strata(&format!("--json health --url {worker}")));
    assert_eq!(ran.event("health")["healthy"], true);
    cluster.signal("w1", Signal::TERM);
    assert_eq!(cluster.ended("w1").code(), Some(0));
    let ran = fails(10, &mut strata(&format!("--json health --url {worker}")), &worker);
    assert_eq!(ran.event("health")["healthy"], false);
    // A node that hangs is not healthy either.
    cluster.signal(COORDINATOR, Signal::STOP);
    fails(10, &mut cluster.client("health"), "no answer within");
    cluster.signal(COORDINATOR, Signal::CONT);
    cluster.signal(COORDINATOR, Signal::TERM);
    assert_eq!(cluster.ended(COORDINATOR).code(), Some(0));
    fails(10, &mut cluster.client("health"), "cannot reach");
}
