//! Progress as log lines: some layers at growing intervals, the last layer, and every layer at
//! level `DEBUG`.

use std::time::Duration;

use strata_run::forecast::Forecast;
use strata_run::progress::{CheckpointLine, LayerLine, Pace};
use strata_run::{Tracker, memory};
use tracing::{Level, info, warn};

use super::sink::{Sink, Throttle};
use crate::output::events::{Checkpoint, Event, Job, Summary};
use crate::output::layer::Layer;

/// Least time between lines about checkpoints.
const INTERVAL: Duration = Duration::from_secs(2);

/// Turns events into log lines.
pub(super) struct Lines {
    tracker: Tracker,
    job: String,
    pace: Pace,
    checkpoints: Throttle,
    /// The last layer, if it was not logged at level `INFO`.
    held_back: Option<LayerLine>,
    /// The last line about a layer.
    last: Option<LayerLine>,
    /// Whether the search runs in a cluster: then the memory of this process is not logged.
    remote: bool,
    over: bool,
}

impl Lines {
    /// Lines of a search with this forecast. `longest` is the longest time between two lines.
    pub(super) fn new(forecast: Forecast, longest: Duration) -> Self {
        Lines {
            tracker: Tracker::new(forecast),
            job: String::new(),
            pace: Pace::new(longest),
            checkpoints: Throttle::new(INTERVAL),
            held_back: None,
            last: None,
            remote: false,
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
        // Figures of this process are not those of a cluster's search.
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
        self.tracker.layer(&layer.event, now);
        if layer.event.replayed {
            return;
        }
        let line = LayerLine::new(&layer.event, &self.tracker, now);
        self.last = Some(line.clone());
        if self.pace.is_due(now) {
            self.held_back = None;
            line.log(&self.job, Level::INFO, LayerLine::COMMITTED);
        } else {
            line.log(&self.job, Level::DEBUG, LayerLine::COMMITTED);
            self.held_back = Some(line);
        }
    }

    /// Logs the last layer if it was not logged yet. At level `DEBUG` every layer has been logged.
    fn catch_up(&mut self) {
        if let Some(line) = self.held_back.take()
            && !tracing::enabled!(Level::DEBUG)
        {
            line.log(&self.job, Level::INFO, LayerLine::COMMITTED);
        }
    }

    fn checkpoint(&mut self, checkpoint: &Checkpoint, now: Duration) {
        if self.checkpoints.allows(now) {
            let Checkpoint { depth: layer, bytes, seconds: took } = *checkpoint;
            let line = CheckpointLine { layer, bytes, took };
            line.log(&self.job, CheckpointLine::COMMITTED);
        }
    }

    fn rolled_back(&mut self, depth: Option<u32>) {
        self.tracker.roll_back(depth);
        (self.held_back, self.last) = (None, None);
        warn!(job = %self.job, from_layer = depth, "search rolled back to a checkpoint");
    }

    fn result(&mut self, summary: &Summary) {
        info!(
            job = %self.job,
            layer = summary.layers,
            total = summary.states,
            elapsed = %format_args!("{:.1}s", summary.seconds),
            "search finished"
        );
    }

    /// Logs that the search continues, with the last layer or, before the first one, with the
    /// memory.
    fn still_searching(&mut self, now: Duration) {
        let elapsed = now.as_secs_f64();
        match &self.last {
            Some(last) => {
                let line = LayerLine { elapsed, eta: None, ..last.clone() };
                line.log(&self.job, Level::INFO, LayerLine::SEARCHING);
            }
            None => info!(
                job = (!self.job.is_empty()).then(|| tracing::field::display(&self.job)),
                elapsed = %format_args!("{elapsed:.1}s"),
                memory = if self.remote { None } else { memory::current() },
                "{}", LayerLine::SEARCHING
            ),
        }
    }
}

impl Sink for Lines {
    fn event(&mut self, event: &Event, now: Duration) {
        match event {
            Event::Job(job) => self.job(job),
            Event::Layer(layer) => self.layer(layer, now),
            Event::Checkpoint(checkpoint) => self.checkpoint(checkpoint, now),
            Event::Result(summary) => {
                self.catch_up();
                self.result(summary);
                self.over = true;
            }
            Event::Path(_) | Event::Antipodes(_) => {}
            Event::RolledBack(back) => self.rolled_back(back.depth),
            Event::Stopped(_) | Event::Failed(_) => {
                self.catch_up();
                self.over = true;
            }
        }
    }

    fn tick(&mut self, now: Duration) {
        if self.over || !self.pace.is_due(now) {
            return;
        }
        match self.held_back.take() {
            Some(line) => line.log(&self.job, Level::INFO, LayerLine::COMMITTED),
            None => self.still_searching(now),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use strata_space::SearchSize;
    use strata_store::EngineKind;

    use super::*;
    use crate::output::events::RolledBack;
    use crate::output::events::tests::{job, layer, stopped, summary};
    use crate::output::stdout::tests::Shared;

    fn millis(value: u64) -> Duration {
        Duration::from_millis(value)
    }

    /// A search of 101 layers of 1000 states.
    fn forecast() -> Forecast {
        let size = SearchSize { layers: Some(100), states: Some(101_000), ..SearchSize::default() };
        Forecast::of(size, None, EngineKind::Explicit, None)
    }

    /// The log lines that `act` causes, without time and level.
    fn log(act: impl FnOnce(&mut Lines)) -> Vec<String> {
        log_at(Level::INFO, act)
    }

    /// The log lines down to a level.
    fn log_at(level: Level, act: impl FnOnce(&mut Lines)) -> Vec<String> {
        let shared = Shared::default();
        let subscriber = tracing_subscriber::fmt()
            .with_ansi(false)
            .with_target(false)
            .without_time()
            .with_level(false)
            .with_max_level(level)
            .with_writer(Mutex::new(shared.clone()))
            .finish();
        tracing::subscriber::with_default(subscriber, || {
            act(&mut Lines::new(forecast(), Pace::LONGEST));
        });
        shared.text().lines().map(|line| line.trim().to_owned()).collect()
    }

    fn replayed(event: Event) -> Event {
        match event {
            Event::Layer(mut layer) => {
                layer.event.replayed = true;
                Event::Layer(layer)
            }
            other => other,
        }
    }

    /// A layer of 1,000 states a second, from second 1 on.
    fn second(depth: u32) -> Event {
        layer(depth, 1000, 1000 * u64::from(depth + 1))
    }

    #[test]
    fn log_lines_of_a_search_without_a_job_have_no_job_field() {
        let lines = log(|lines| {
            lines.tick(millis(2000));
            lines.event(&second(0), millis(3000));
            for at in 1..=20 {
                lines.tick(millis(at * 10_000));
            }
        });
        assert!(lines[0].starts_with("still searching elapsed=2.0s"), "{lines:#?}");
        assert!(lines.iter().any(|line| line.contains("layer=0")), "{lines:#?}");
        assert!(lines.iter().all(|line| !line.contains("job=")), "{lines:#?}");
    }

    #[test]
    fn lines_have_the_documented_form() {
        let lines = log_at(Level::DEBUG, |lines| {
            lines.event(&job(), millis(0));
            for depth in 0..=20 {
                lines.event(&second(depth), millis(1000 * u64::from(depth + 1)));
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
             bytes=500 total=1000 elapsed=1.0s rate=4000/s"
        );
        assert_eq!(
            lines[21],
            "layer committed job=panex-6 layer=20 states=1000 generated=3000 dup_ratio=0.667 \
             bytes=500 total=21000 elapsed=21.0s rate=4000/s eta=17s-23s"
        );
        assert_eq!(lines[22], "search finished job=panex-6 layer=441 total=4078382 elapsed=0.2s");
        assert_eq!(lines.len(), 23);
    }

    #[test]
    fn lines_come_at_growing_intervals_and_a_last_one_in_the_end() {
        let lines = log(|lines| {
            for depth in 0..=99 {
                lines.event(&second(depth), millis(1000 * u64::from(depth + 1)));
            }
            lines.event(&stopped(), millis(100_500));
        });
        let elapsed = lines.iter().map(|line| line.split_once(" elapsed=").unwrap().1);
        let elapsed: Vec<&str> = elapsed.map(|rest| rest.split_once(' ').unwrap().0).collect();
        assert_eq!(elapsed, ["2.0s", "6.0s", "14.0s", "30.0s", "60.0s", "90.0s", "100.0s"]);
    }

    #[test]
    fn a_short_search_has_the_line_of_its_last_layer() {
        let lines = log(|lines| {
            (0..3).for_each(|depth| lines.event(&second(depth), millis(u64::from(depth))));
            lines.event(&Event::Result(summary()), millis(10));
        });
        assert_eq!(lines.len(), 2, "{lines:#?}");
        assert!(lines[0].contains(" layer=2 ") && lines[1].starts_with("search finished"));
    }

    #[test]
    fn a_held_back_layer_is_logged_by_a_tick() {
        let lines = log(|lines| {
            lines.event(&layer(0, 1, 1), millis(0));
            lines.event(&layer(1, 1, 2), millis(1));
            for now in (200..3000).step_by(200) {
                lines.tick(millis(now));
            }
        });
        assert_eq!(lines.len(), 1, "{lines:#?}");
        assert!(
            lines[0].contains(" layer=1 ") && lines[0].contains(" elapsed=0.0s "),
            "{lines:#?}"
        );
    }

    #[test]
    fn a_long_layer_is_logged_as_still_searching() {
        let lines = log(|lines| {
            lines.event(&job(), millis(0));
            lines.tick(millis(2000));
            lines.event(&layer(0, 5, 5), millis(3000));
            for now in (3200..33_400).step_by(200) {
                lines.tick(millis(now));
            }
            lines.event(&Event::Result(summary()), millis(33_400));
            lines.tick(millis(60_000));
        });
        assert!(lines[1].starts_with("still searching job=panex-6 elapsed=2.0s"), "{lines:#?}");
        assert!(lines[2].starts_with("layer committed job=panex-6 layer=0 "), "{lines:#?}");
        let beat = "still searching job=panex-6 layer=0 states=5 generated=15 dup_ratio=0.667 \
                    bytes=2 total=5 elapsed=14.0s rate=20/s";
        assert_eq!(lines[3], beat);
        assert_eq!(lines.len(), 6, "{lines:#?}");
    }

    #[test]
    fn replayed_layers_are_not_logged() {
        let lines = log(|lines| {
            lines.event(&replayed(layer(0, 5, 5)), millis(0));
            lines.event(&replayed(layer(1, 5, 10)), millis(1000));
            lines.event(&layer(2, 5, 15), millis(2000));
        });
        assert_eq!(lines.len(), 1, "{lines:#?}");
        assert!(lines[0].contains(" layer=2 ") && lines[0].contains(" rate=20/s"));
    }

    #[test]
    fn jobs_of_a_cluster_are_logged_as_followed() {
        let Event::Job(job) = job() else { panic!("not a job") };
        let remote =
            Job { data_dir: String::new(), threads: 0, workers: 3, memory_bytes: 0, ..job };
        let lines = log(|lines| {
            lines.event(&Event::Job(remote), millis(0));
            lines.event(&layer(0, 5, 5), millis(1000));
            lines.event(&layer(1, 5, 10), millis(2001));
            lines.event(&Event::RolledBack(RolledBack { depth: Some(0) }), millis(2002));
            lines.tick(millis(11_002));
        });
        assert_eq!(
            lines[0],
            "job followed job=panex-6 space=panex params={\"k\":3,\"level\":6} \
             engine=explicit shards=64 workers=3"
        );
        assert!(lines[1].contains(" layer=1 "), "{lines:#?}");
        assert_eq!(lines[2], "search rolled back to a checkpoint job=panex-6 from_layer=0");
        assert_eq!(lines[3], "still searching job=panex-6 elapsed=11.0s");
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
        assert_eq!(lines[1..], ["checkpoint committed job=panex-6 layer=7 bytes=1000 took=0.013s"]);
    }
}
