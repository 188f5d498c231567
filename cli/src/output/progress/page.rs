//! A search in this process as the web page shows it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::Value;
use strata_dashboard::model::{
    Action, Checkpoint, Job, JobResult, JobState, Layer, LogEntry, LogPart, MarkKind, Overview,
    Scope, Solution,
};
use strata_dashboard::{Source, SourceError};

use super::sink::Sink;
use crate::output::events::{self, Event};

/// Layers of a part.
const PART: usize = 1024;

/// Entries of the log that are kept.
const ENTRIES: usize = 1000;

/// Time over which the present rate is averaged.
const WINDOW: Duration = Duration::from_secs(10);

/// Least time between two samples of the rate.
const SAMPLE: Duration = Duration::from_millis(100);

/// The search of a page. Clones show the same search.
#[derive(Clone)]
pub(crate) struct SearchPage {
    state: Arc<Mutex<State>>,
}

struct State {
    job: Job,
    layers: Vec<Layer>,
    /// Search time up to the last layer, in seconds.
    seconds: f64,
    /// Times of the last seconds, with the states of all layers then.
    samples: VecDeque<(Instant, u64)>,
    checkpoint: Option<(events::Checkpoint, Instant)>,
    entries: Vec<LogEntry>,
    /// Entries that are no longer kept.
    dropped: u64,
    solution: Option<Solution>,
}

impl SearchPage {
    /// The page of a search that ends at the depth `expected` at the latest, if that is known, and that
    /// `command` repeats.
    pub(crate) fn new(expected: Option<u32>, command: String, interval: Duration) -> SearchPage {
        let job = Job {
            created_ms: now_ms(),
            command,
            checkpoint_interval_seconds: interval.as_secs_f64(),
            workers: 1,
            expected_depth: expected,
            ..Job::default()
        };
        let state = State {
            job,
            layers: Vec::new(),
            seconds: 0.0,
            samples: VecDeque::new(),
            checkpoint: None,
            entries: Vec::new(),
            dropped: 0,
            solution: None,
        };
        SearchPage { state: Arc::new(Mutex::new(state)) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as u64
}

impl State {
    fn begin(&mut self, job: &events::Job) {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        self.job.id.clone_from(&job.job);
        self.job.space.clone_from(&job.space);
        self.job.params =
            job.params.iter().map(|(name, value)| (name.clone(), text(value))).collect();
        self.job.engine = job.engine.to_owned();
        self.job.engine_reason.clone_from(&job.engine_reason);
        self.job.workers = job.workers as u32;
        self.job.state = JobState::Running;
        match job.resumed_from {
            Some(depth) => {
                let text = format!("resumed from the checkpoint of layer {depth}");
                self.log("INFO", text, Some((MarkKind::Resume, depth)));
            }
            None => self.log("INFO", "started".to_owned(), None),
        }
    }

    fn add(&mut self, layer: &events::Layer) {
        self.seconds += layer.seconds;
        // A search that starts over shows its layers again.
        self.layers.truncate(layer.depth as usize);
        self.layers.push(Layer {
            depth: layer.depth,
            states: layer.states,
            positions: layer.positions.unwrap_or(0),
            bytes: layer.bytes,
            seconds: self.seconds,
        });
        self.job.depth = Some(layer.depth);
        self.job.layer_states = layer.states;
        self.job.states = layer.total_states;
        self.job.positions += layer.positions.unwrap_or(0);
        if layer.replayed {
            self.samples.clear();
        } else {
            self.sample(layer.total_states);
        }
    }

    fn sample(&mut self, states: u64) {
        let now = Instant::now();
        if self.samples.back().is_none_or(|(last, _)| now >= *last + SAMPLE) {
            self.samples.push_back((now, states));
        }
        while self.samples.front().is_some_and(|(first, _)| now > *first + WINDOW) {
            self.samples.pop_front();
        }
    }

    /// States a second of the last seconds, of layers that were complete.
    fn rate(&self) -> Option<f64> {
        let ((first, before), (last, after)) = (self.samples.front()?, self.samples.back()?);
        let time = last.duration_since(*first).as_secs_f64();
        (time > 0.0).then(|| after.saturating_sub(*before) as f64 / time)
    }

    fn end(&mut self, state: JobState, error: String) {
        self.job.state = state;
        self.job.ended_ms = Some(now_ms());
        self.job.error.clone_from(&error);
        let level = if state == JobState::Failed { "ERROR" } else { "INFO" };
        self.log(level, if error.is_empty() { "done".to_owned() } else { error }, None);
    }

    fn finish(&mut self, summary: &events::Summary) {
        self.job.result = Some(JobResult {
            title: summary.title.clone(),
            moves: summary.moves,
            depth: summary.layers,
            states: summary.states,
            positions: summary.positions.unwrap_or(0),
            widest: summary.widest,
            widest_depth: summary.widest_depth,
            digest: summary.digest.clone(),
            seconds: summary.seconds,
            disk_peak_bytes: summary.disk_peak_bytes,
            peak_rss_bytes: summary.peak_rss_bytes.unwrap_or(0),
        });
        self.end(JobState::Done, String::new());
    }

    fn log(&mut self, level: &str, text: String, mark: Option<(MarkKind, u32)>) {
        if self.entries.len() == ENTRIES {
            self.entries.remove(0);
            self.dropped += 1;
        }
        self.entries.push(LogEntry { time_ms: now_ms(), level: level.to_owned(), text, mark });
    }

    /// The job now.
    fn now(&self) -> Job {
        let mut job = self.job.clone();
        job.seconds = self.seconds;
        if let Some((last, made)) = &self.checkpoint {
            job.checkpoint = Some(Checkpoint {
                depth: last.depth,
                age_seconds: Some(made.elapsed().as_secs_f64()),
                cost_seconds: Some(last.seconds),
                bytes: Some(last.bytes),
            });
        }
        job.mean_rate = (self.seconds > 0.0).then(|| job.states as f64 / self.seconds);
        if job.state == JobState::Running {
            job.rate = self.rate();
        }
        job
    }
}

/// The end of the displays' events that a page receives.
pub(super) struct PageSink(pub(super) SearchPage);

impl Sink for PageSink {
    fn event(&mut self, event: &Event, _: Duration) {
        let mut state = self.0.state();
        match event {
            Event::Job(job) => state.begin(job),
            Event::Layer(layer) => state.add(layer),
            Event::Checkpoint(checkpoint) => {
                let events::Checkpoint { depth, bytes, seconds } = *checkpoint;
                let text = format!("checkpoint layer={depth} bytes={bytes} took={seconds:.3}s");
                state.log("INFO", text, Some((MarkKind::Checkpoint, depth)));
                state.checkpoint = Some((checkpoint.clone(), Instant::now()));
            }
            Event::Result(summary) => state.finish(summary),
            Event::Path(path) => {
                let moves = path.moves.clone();
                state.solution = Some(Solution { moves, ..Solution::default() });
            }
            Event::Stopped(stopped) => state.end(JobState::Stopped, stopped.reason.to_string()),
            Event::Failed(failed) => state.end(JobState::Failed, failed.error.clone()),
            Event::Antipodes(_) | Event::RolledBack(_) => {}
        }
    }

    fn tick(&mut self, _: Duration) {}
}

impl Source for SearchPage {
    fn overview(&self) -> Result<Overview, SourceError> {
        let job = self.state().now();
        Ok(Overview {
            scope: Scope::Search,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            time_ms: now_ms(),
            // Before the search begins it has no id.
            jobs: if job.id.is_empty() { Vec::new() } else { vec![job] },
            ..Overview::default()
        })
    }

    fn job(&self, id: &str) -> Result<Job, SourceError> {
        let job = self.state().now();
        if job.id == id { Ok(job) } else { Err(SourceError::NoSuchJob(id.to_owned())) }
    }

    fn layers(&self, id: &str, from: u32) -> Result<Vec<Layer>, SourceError> {
        self.job(id)?;
        Ok(self.state().layers.iter().skip(from as usize).take(PART).copied().collect())
    }

    fn expected(&self, _: &str) -> Result<Vec<(u32, f64)>, SourceError> {
        Ok(Vec::new())
    }

    fn log(&self, id: &str, from: u64) -> Result<LogPart, SourceError> {
        self.job(id)?;
        let state = self.state();
        let skipped = from.saturating_sub(state.dropped) as usize;
        let entries: Vec<LogEntry> = state.entries.iter().skip(skipped).cloned().collect();
        let next = state.dropped + state.entries.len() as u64;
        Ok(LogPart { entries, next, more: false })
    }

    fn change(&self, _: &str, _: Action) -> Result<(), SourceError> {
        Err(SourceError::Refused("This search is controlled by its own terminal.".to_owned()))
    }

    fn solution(&self, id: &str) -> Result<Solution, SourceError> {
        self.job(id)?;
        let missing = || {
            let text = "The search has not printed the moves: --path makes it.";
            SourceError::Refused(text.to_owned())
        };
        self.state().solution.clone().ok_or_else(missing)
    }

    fn drawing(&self, _: &str, _: &str, _: bool) -> Result<Option<String>, SourceError> {
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::events::tests::{job, layer, stopped, summary};

    fn page() -> (SearchPage, PageSink) {
        let page = SearchPage::new(None, "strata solve".to_owned(), Duration::ZERO);
        (page.clone(), PageSink(page))
    }

    #[test]
    fn a_search_is_shown_from_its_begin_to_its_result() {
        let (page, mut sink) = page();
        assert_eq!(page.overview().unwrap().jobs, []);
        let mut send = |event: &Event| sink.event(event, Duration::ZERO);
        send(&job());
        send(&layer(0, 1, 1));
        send(&layer(1, 4, 5));
        let checkpoint = events::Checkpoint { depth: 1, bytes: 100, seconds: 0.5 };
        send(&Event::Checkpoint(checkpoint));
        let shown = page.job("panex-6").unwrap();
        assert_eq!((shown.state, shown.depth, shown.states), (JobState::Running, Some(1), 5));
        assert_eq!((shown.params["level"].as_str(), shown.positions), ("6", 10));
        assert_eq!(shown.checkpoint.and_then(|last| last.bytes), Some(100));
        assert!(!shown.may_change && page.change("panex-6", Action::Cancel).is_err());
        assert_eq!(page.layers("panex-6", 1).unwrap()[0].seconds, 0.5);
        let log = page.log("panex-6", 0).unwrap();
        assert_eq!(log.entries[1].mark, Some((MarkKind::Checkpoint, 1)));
        assert!(page.solution("panex-6").is_err() && page.job("panex-7").is_err());
        send(&Event::Result(summary()));
        let moves = vec!["a".to_owned()];
        send(&Event::Path(events::Path { moves: moves.clone(), file: None, between: "\n" }));
        let shown = page.job("panex-6").unwrap();
        assert_eq!(shown.state, JobState::Done);
        assert_eq!(shown.result.unwrap().title, "X(6) = 881");
        assert_eq!(page.solution("panex-6").unwrap().moves, moves);
        assert_eq!(page.log("panex-6", log.next).unwrap().entries.len(), 1);
    }

    #[test]
    fn an_early_end_has_its_reason_and_the_log_is_bounded() {
        let (page, mut sink) = page();
        sink.event(&job(), Duration::ZERO);
        for depth in 0..2 * ENTRIES as u32 {
            let checkpoint = events::Checkpoint { depth, bytes: 0, seconds: 0.0 };
            sink.event(&Event::Checkpoint(checkpoint), Duration::ZERO);
        }
        sink.event(&stopped(), Duration::ZERO);
        let shown = page.job("panex-6").unwrap();
        assert_eq!((shown.state, &*shown.error), (JobState::Stopped, "interrupted"));
        let log = page.log("panex-6", 0).unwrap();
        assert_eq!(log.entries.len(), ENTRIES);
        assert_eq!(log.entries.last().unwrap().text, "interrupted");
    }
}
