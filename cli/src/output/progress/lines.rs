//! Progress as log lines: a few layers a second, and a heartbeat when nothing else is logged.

use std::time::Duration;

use strata::{Tracker, memory};
use tracing::{info, warn};

use super::sink::{Sink, Throttle};
use crate::output::events::{Checkpoint, Event, Job, Layer, Summary};

/// Layer lines are at least this far apart.
const INTERVAL: Duration = Duration::from_millis(333);

/// The longest silence.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// Turns events into log lines.
pub(super) struct Lines {
    tracker: Tracker,
    job: String,
    layers: Throttle,
    checkpoints: Throttle,
    /// The last layer, if it was not logged.
    held_back: Option<Layer>,
    /// The last layer's depth.
    depth: Option<u32>,
    /// Whether a cluster searches, which makes the memory of this process irrelevant.
    remote: bool,
    last_line: Duration,
    over: bool,
}

impl Lines {
    pub(super) fn new(expected_layers: Option<u32>) -> Self {
        Lines {
            tracker: Tracker::new(expected_layers),
            job: String::new(),
            layers: Throttle::new(INTERVAL),
            checkpoints: Throttle::new(INTERVAL),
            held_back: None,
            depth: None,
            remote: false,
            last_line: Duration::ZERO,
            over: false,
        }
    }

    fn job(&mut self, job: &Job) {
        self.job.clone_from(&job.job);
        self.remote = job.is_remote();
        let params = serde_json::Value::Object(job.params.clone());
        let began = match job.resumed_from {
            _ if self.remote => "job followed",
            Some(_) => "job resumed",
            None => "job started",
        };
        // Figures of other processes are left out.
        let own = |value: u64| Some(value).filter(|_| !self.remote);
        info!(
            job = %job.job,
            space = %job.space,
            params = %params,
            engine = %job.engine,
            shards = job.shards,
            data_dir = (!job.data_dir.is_empty()).then(|| tracing::field::display(&job.data_dir)),
            threads = own(job.threads as u64),
            workers = Some(job.workers).filter(|&workers| workers > 0),
            memory = own(job.memory_bytes),
            from_layer = job.resumed_from,
            "{began}"
        );
    }

    fn layer(&mut self, layer: &Layer, now: Duration) {
        self.tracker.layer(&layer.tracked(), now);
        self.depth = Some(layer.depth);
        if layer.replayed {
            return;
        }
        if self.layers.allows(now) {
            self.layer_line(layer, now);
        } else {
            self.held_back = Some(layer.clone());
        }
    }

    fn layer_line(&mut self, layer: &Layer, now: Duration) {
        self.held_back = None;
        self.last_line = now;
        let eta = self.tracker.time_left();
        info!(
            job = %self.job,
            layer = layer.depth,
            states = layer.states,
            generated = layer.generated,
            dup_ratio = %format_args!("{:.3}", self.tracker.duplicate_ratio()),
            bytes = layer.bytes,
            total = layer.total_states,
            elapsed = %format_args!("{:.1}s", now.as_secs_f64()),
            rate = %format_args!("{:.0}/s", self.tracker.rate()),
            eta = eta.map(|eta| tracing::field::display(format!("{eta:.0}s"))),
            "layer committed"
        );
    }

    /// Logs the last layer if it was not logged yet.
    fn catch_up(&mut self, now: Duration) {
        if let Some(layer) = self.held_back.take() {
            self.layer_line(&layer, now);
        }
    }

    fn checkpoint(&mut self, checkpoint: &Checkpoint, now: Duration) {
        if !self.checkpoints.allows(now) {
            return;
        }
        self.last_line = now;
        info!(
            job = %self.job,
            layer = checkpoint.depth,
            bytes = checkpoint.bytes,
            seconds = %format_args!("{:.3}", checkpoint.seconds),
            "checkpoint committed"
        );
    }

    fn rolled_back(&mut self, depth: Option<u32>, now: Duration) {
        self.tracker.roll_back(depth);
        self.held_back = None;
        self.depth = depth;
        self.last_line = now;
        warn!(job = %self.job, layer = depth, "search rolled back to a checkpoint");
    }

    fn result(&mut self, summary: &Summary) {
        info!(
            job = %self.job,
            layers = summary.layers,
            states = summary.states,
            elapsed = %format_args!("{:.1}s", summary.seconds),
            "search finished"
        );
    }

    fn heartbeat(&mut self, now: Duration) {
        self.last_line = now;
        info!(
            job = %self.job,
            layer = self.depth,
            total = self.tracker.states(),
            elapsed = %format_args!("{:.1}s", now.as_secs_f64()),
            memory = if self.remote { None } else { memory::current() },
            "still searching"
        );
    }
}

impl Sink for Lines {
    fn event(&mut self, event: &Event, now: Duration) {
        match event {
            Event::Job(job) => self.job(job),
            Event::Layer(layer) => self.layer(layer, now),
            Event::Checkpoint(checkpoint) => self.checkpoint(checkpoint, now),
            Event::Result(summary) => {
                self.catch_up(now);
                self.result(summary);
                self.over = true;
            }
            Event::Path(_) | Event::Antipodes(_) => {}
            Event::RolledBack(back) => self.rolled_back(back.depth, now),
            Event::Stopped(_) | Event::Failed(_) => {
                self.catch_up(now);
                self.over = true;
            }
        }
    }

    fn tick(&mut self, now: Duration) {
        if self.over {
            return;
        }
        if self.held_back.is_some() && self.layers.allows(now) {
            self.catch_up(now);
        }
        if now >= self.last_line + HEARTBEAT {
            self.heartbeat(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::output::events::RolledBack;
    use crate::output::events::tests::{job, layer, stopped, summary};
    use crate::output::stdout::tests::Shared;

    fn millis(value: u64) -> Duration {
        Duration::from_millis(value)
    }

    /// The log lines that `act` causes, without time and level.
    fn log(act: impl FnOnce(&mut Lines)) -> Vec<String> {
        let shared = Shared::default();
        let subscriber = tracing_subscriber::fmt()
            .with_ansi(false)
            .with_target(false)
            .without_time()
            .with_level(false)
            .with_writer(Mutex::new(shared.clone()))
            .finish();
        tracing::subscriber::with_default(subscriber, || act(&mut Lines::new(Some(100))));
        shared.text().lines().map(|line| line.trim().to_owned()).collect()
    }

    fn replayed(event: Event) -> Event {
        match event {
            Event::Layer(layer) => Event::Layer(Layer { replayed: true, ..layer }),
            other => other,
        }
    }

    #[test]
    fn lines_have_the_documented_form() {
        let lines = log(|lines| {
            lines.event(&job(), millis(0));
            lines.event(&layer(0, 1000, 1000), millis(1000));
            for depth in 1..=20_u64 {
                let event = layer(depth as u32, 1000, 1000 * (depth + 1));
                lines.event(&event, millis(1000 * (depth + 1)));
            }
            lines.event(&Event::Result(summary()), millis(21_000));
        });
        assert_eq!(
            lines[0],
            "job started job=panex-6 space=panex params={\"k\":3,\"level\":6} \
             engine=explicit shards=64 data_dir=strata-data threads=2 workers=1 memory=1073741824"
        );
        assert_eq!(
            lines[1],
            "layer committed job=panex-6 layer=0 states=1000 generated=3000 dup_ratio=0.667 \
             bytes=500 total=1000 elapsed=1.0s rate=1000/s"
        );
        assert_eq!(
            lines[21],
            "layer committed job=panex-6 layer=20 states=1000 generated=3000 dup_ratio=0.667 \
             bytes=500 total=21000 elapsed=21.0s rate=1000/s eta=84s"
        );
        assert_eq!(lines[22], "search finished job=panex-6 layers=441 states=4078382 elapsed=0.2s");
        assert_eq!(lines.len(), 23);
    }

    #[test]
    fn layer_lines_are_limited() {
        let lines = log(|lines| {
            for depth in 0..1100 {
                let event = layer(depth, 10, 10 * u64::from(depth + 1));
                lines.event(&event, millis(u64::from(depth)));
            }
            lines.event(&stopped(), millis(1100));
        });
        assert_eq!(lines.len(), 5, "{lines:#?}");
        assert!(lines[3].contains(" layer=999 "));
        assert!(lines[4].contains(" layer=1099 "));
    }

    #[test]
    fn a_held_back_layer_is_logged_by_a_tick() {
        let lines = log(|lines| {
            lines.event(&layer(0, 1, 1), millis(0));
            lines.event(&layer(1, 1, 2), millis(1));
            lines.tick(millis(200));
            lines.tick(millis(400));
            lines.tick(millis(600));
        });
        assert_eq!(lines.len(), 2, "{lines:#?}");
        assert!(lines[1].contains(" layer=1 "));
    }

    #[test]
    fn a_heartbeat_is_logged_every_ten_seconds() {
        let lines = log(|lines| {
            lines.event(&job(), millis(0));
            lines.event(&layer(0, 5, 5), millis(3000));
            for now in (3200..33_400).step_by(200) {
                lines.tick(millis(now));
            }
            lines.event(&Event::Result(summary()), millis(33_400));
            lines.tick(millis(60_000));
        });
        let beats = lines.iter().filter(|line| line.starts_with("still searching"));
        assert_eq!(beats.count(), 3, "{lines:#?}");
        assert!(lines[2].starts_with("still searching job=panex-6 layer=0 total=5 elapsed=13.0s"));
    }

    #[test]
    fn replayed_layers_are_not_logged() {
        let lines = log(|lines| {
            lines.event(&replayed(layer(0, 5, 5)), millis(0));
            lines.event(&replayed(layer(1, 5, 10)), millis(1000));
            lines.event(&layer(2, 5, 15), millis(2000));
        });
        assert_eq!(lines.len(), 1, "{lines:#?}");
        assert!(lines[0].contains(" layer=2 ") && lines[0].contains(" rate=5/s"));
    }

    #[test]
    fn jobs_of_a_cluster_are_logged_as_followed() {
        let Event::Job(job) = job() else { panic!("not a job") };
        let remote =
            Job { data_dir: String::new(), threads: 0, workers: 3, memory_bytes: 0, ..job };
        let lines = log(|lines| {
            lines.event(&Event::Job(remote), millis(0));
            lines.event(&layer(0, 5, 5), millis(1000));
            lines.event(&layer(1, 5, 10), millis(1001));
            lines.event(&Event::RolledBack(RolledBack { depth: Some(0) }), millis(1002));
            lines.tick(millis(11_002));
        });
        assert_eq!(
            lines[0],
            "job followed job=panex-6 space=panex params={\"k\":3,\"level\":6} \
             engine=explicit shards=64 workers=3"
        );
        assert_eq!(lines[2], "search rolled back to a checkpoint job=panex-6 layer=0");
        assert_eq!(lines[3], "still searching job=panex-6 layer=0 total=5 elapsed=11.0s");
        assert_eq!(lines.len(), 4, "{lines:#?}");
    }

    #[test]
    fn checkpoints_are_logged() {
        let lines = log(|lines| {
            let checkpoint =
                Event::Checkpoint(Checkpoint { depth: 7, bytes: 1000, seconds: 0.0125 });
            lines.event(&job(), millis(0));
            lines.event(&checkpoint, millis(10));
            lines.event(&checkpoint, millis(20));
        });
        assert_eq!(
            lines[1..],
            ["checkpoint committed job=panex-6 layer=7 bytes=1000 seconds=0.013"]
        );
    }
}
