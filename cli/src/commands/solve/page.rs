//! A search in this process as the web page shows it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::Value;
use strata_coordinator::dashboard::model::{
    Action, Checkpoint, Job, JobResult, JobState, LogEntry, LogPart, MarkKind, Overview, Range,
    Scope, Solution,
};
use strata_coordinator::dashboard::{Source, SourceError};
use strata_run::{LayerEvent, Request, Tracker};
use strata_store::JobSpec;
use strata_store::LayerRecord;

use crate::output::events::{self, Event};
use crate::output::layer::Layer;
use crate::output::progress::Sink;
use crate::program;
use crate::spaces::drawings::Drawings;

/// Number of layers in one reply.
const PART: usize = 1024;

/// Number of log entries that are kept.
const ENTRIES: usize = 1000;

/// The search of a page. Clones show the same search.
#[derive(Clone)]
pub(crate) struct SearchPage {
    state: Arc<Mutex<State>>,
    /// The search.
    spec: Arc<JobSpec>,
    drawings: Arc<Drawings>,
}

struct State {
    job: Job,
    layers: Vec<LayerRecord>,
    tracker: Tracker,
    /// Time of the last event or tick.
    now: Duration,
    checkpoint: Option<(events::Checkpoint, Instant)>,
    entries: Vec<LogEntry>,
    /// Number of entries that were dropped.
    dropped: u64,
    solution: Option<Solution>,
}

impl SearchPage {
    /// The page of a search; `command` repeats the search.
    pub(crate) fn new(request: &Request, command: String) -> SearchPage {
        let forecast = request.forecast();
        let job = Job {
            created_ms: now_ms(),
            command,
            checkpoint_interval_seconds: request.options().checkpoint_interval.as_secs_f64(),
            workers: 1,
            expected_depth: forecast.layers(),
            expected_states: forecast.states().filter(|_| !forecast.is_upper_bound()),
            ..Job::default()
        };
        let state = State {
            job,
            layers: Vec::new(),
            tracker: Tracker::new(forecast.clone()),
            now: Duration::ZERO,
            checkpoint: None,
            entries: Vec::new(),
            dropped: 0,
            solution: None,
        };
        SearchPage {
            state: Arc::new(Mutex::new(state)),
            spec: Arc::new(request.spec().clone()),
            drawings: Arc::default(),
        }
    }

    /// The moves of a path with their positions. Opens the space.
    fn solution_of(&self, path: &events::Path) -> Solution {
        let (moves, positions) = (path.single_moves().to_vec(), path.positions.clone());
        self.drawings.solution(&self.spec.space, &self.spec.params, moves, positions)
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

    fn add(&mut self, layer: &Layer, now: Duration) {
        self.tracker.layer(&layer.event, now);
        let LayerEvent { layer: record, total_states, took, .. } = &layer.event;
        if self.layers.len() > record.depth as usize {
            // A search that starts over emits its layers again.
            self.layers.truncate(record.depth as usize);
            self.job.positions = self.layers.iter().map(|layer| layer.positions).sum();
            self.job.orbits = self.layers.iter().map(|layer| layer.orbits).sum();
        }
        self.job.positions += record.positions;
        let before = if self.layers.is_empty() { Some(0) } else { self.job.orbits };
        self.job.orbits = before.zip(record.orbits).map(|(sum, more)| sum + more);
        self.job.seconds = self.layers.last().map_or(0.0, |last| last.seconds) + took;
        self.job.depth = Some(record.depth);
        self.job.layer_states = record.states;
        self.job.states = *total_states;
        let seconds = self.job.seconds;
        self.layers.push(LayerRecord { seconds, kept: Vec::new(), ..record.clone() });
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

    /// The present state of the job.
    fn now(&self) -> Job {
        let mut job = self.job.clone();
        if let Some((last, made)) = &self.checkpoint {
            job.checkpoint = Some(Checkpoint {
                depth: last.depth,
                age_seconds: Some(made.elapsed().as_secs_f64()),
                cost_seconds: Some(last.seconds),
                bytes: Some(last.bytes),
            });
        }
        job.mean_rate = (job.seconds > 0.0).then(|| job.states as f64 / job.seconds);
        if job.state == JobState::Running {
            job.rate = Some(self.tracker.rate()).filter(|rate| *rate > 0.0);
            job.share = self.tracker.share_of_work();
            let left = self.tracker.time_left(self.now);
            job.eta_seconds = left.map(|left| Range { low: left.low, high: left.high });
        }
        job
    }
}

/// Display that passes events to a page.
pub(super) struct PageSink(pub(super) SearchPage);

impl Sink for PageSink {
    fn event(&mut self, event: &Event, now: Duration) {
        let solution = match event {
            Event::Path(path) => Some(self.0.solution_of(path)),
            _ => None,
        };
        let mut state = self.0.state();
        state.now = now;
        match event {
            Event::Job(job) => state.begin(job),
            Event::Layer(layer) => state.add(layer, now),
            Event::Checkpoint(checkpoint) => {
                let events::Checkpoint { depth, bytes, seconds } = *checkpoint;
                let text = format!("checkpoint layer={depth} bytes={bytes} took={seconds:.3}s");
                state.log("INFO", text, Some((MarkKind::Checkpoint, depth)));
                state.checkpoint = Some((checkpoint.clone(), Instant::now()));
            }
            Event::Result(summary) => state.finish(summary),
            Event::Path(_) => state.solution = solution,
            Event::Stopped(stopped) => state.end(JobState::Stopped, stopped.reason.to_string()),
            Event::Failed(failed) => state.end(JobState::Failed, failed.error.clone()),
            Event::Antipodes(_) | Event::RolledBack(_) => {}
        }
    }

    fn tick(&mut self, now: Duration) {
        self.0.state().now = now;
    }
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

    fn layers(&self, id: &str, from: u32) -> Result<Vec<LayerRecord>, SourceError> {
        self.job(id)?;
        Ok(self.state().layers.iter().skip(from as usize).take(PART).cloned().collect())
    }

    fn expected(&self, id: &str) -> Result<Vec<(u32, f64)>, SourceError> {
        let job = self.job(id)?;
        let depth = job.depth.filter(|_| job.state == JobState::Running);
        let state = self.state();
        let expected = |depth| state.tracker.forecast().expected_layers(depth);
        Ok(depth.map(expected).unwrap_or_default())
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
            let name = program::name();
            let text =
                format!("{name} solve --path shows the moves here. {name} path {id} prints them.");
            SourceError::Refused(text)
        };
        self.state().solution.clone().ok_or_else(missing)
    }

    fn drawing(&self, id: &str, position: &str, dark: bool) -> Result<Option<String>, SourceError> {
        self.job(id)?;
        Ok(self.drawings.draw(&self.spec.space, &self.spec.params, position, dark))
    }
}

#[cfg(test)]
mod tests {
    use strata_run::RunOptions;
    use strata_store::EngineKind;

    use super::*;
    use crate::output::events::tests::{job, layer, stopped, summary};

    /// The page of a search of Panex 6.
    fn page() -> (SearchPage, PageSink) {
        let level = [("level".to_owned(), "6".to_owned())].into();
        let space = program::puzzles().open("panex", &level).unwrap();
        let options = RunOptions::default();
        let request = Request::new(&space, EngineKind::Explicit, 64, options).unwrap();
        let page = SearchPage::new(&request, "strata solve".to_owned());
        (page.clone(), PageSink(page))
    }

    #[test]
    fn a_search_is_shown_from_its_start_to_its_result() {
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
        let names = vec!["LC".to_owned()];
        let path = events::Path {
            moves: vec!["b1 L>C".to_owned()],
            file: None,
            positions: Vec::new(),
            names,
            between: "\n",
        };
        send(&Event::Path(path));
        let shown = page.job("panex-6").unwrap();
        assert_eq!(shown.state, JobState::Done);
        assert_eq!(shown.result.unwrap().title, "X(6) = 881");
        assert_eq!(page.solution("panex-6").unwrap().moves, ["b1 L>C"]);
        assert_eq!(page.log("panex-6", log.next).unwrap().entries.len(), 1);
    }

    #[test]
    fn a_solution_has_positions_and_drawings() {
        let (page, mut sink) = page();
        sink.event(&job(), Duration::ZERO);
        let words = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
        let start = "b1 b2 b3 b4 b5 b6 / - / o1 o2 o3 o4 o5 o6";
        let path = events::Path {
            // A form that joins the moves.
            moves: words(&["LC"]),
            file: None,
            positions: words(&[start, "b2 b3 b4 b5 b6 / b1 / o1 o2 o3 o4 o5 o6", start]),
            names: words(&["LC", "CL"]),
            between: "",
        };
        sink.event(&Event::Path(path.clone()), Duration::ZERO);
        let solution = page.solution("panex-6").unwrap();
        assert_eq!((solution.moves, solution.positions), (path.names, path.positions.clone()));
        assert!(solution.has_drawings);
        for position in &path.positions {
            let drawing = page.drawing("panex-6", position, true).unwrap().unwrap();
            assert!(drawing.contains(&format!("<title>{position}</title>")), "{drawing}");
        }
        assert_eq!(page.drawing("panex-6", "chess", true), Ok(None));
        assert!(page.drawing("panex-7", start, true).is_err());
    }

    #[test]
    fn a_running_search_has_its_share_of_work_and_time_left() {
        let (page, mut sink) = page();
        sink.event(&job(), Duration::ZERO);
        let mut total = 0;
        for depth in 0..100 {
            let states = 100 * u64::from(depth + 1);
            total += states;
            let now = Duration::from_millis(250 * u64::from(depth + 1));
            sink.event(&layer(depth, states, total), now);
        }
        let shown = page.job("panex-6").unwrap();
        assert!(shown.expected_states.is_some_and(|states| states > 4e6), "{shown:?}");
        assert_eq!(shown.expected_depth, Some(441));
        let expected = page.expected("panex-6").unwrap();
        let depths = (expected.first().map(|(depth, _)| *depth), expected.last());
        assert!(matches!(depths, (Some(100), Some((441, _)))), "{expected:?}");
        let share = shown.share.unwrap();
        assert!(share > 0.05 && share < 0.3, "{share}");
        assert!(shown.rate.is_some_and(|rate| rate > 0.0), "{shown:?}");
        let left = shown.eta_seconds.unwrap();
        assert!(left.low > 20.0 && left.high > left.low, "{left:?}");
        // Ten seconds later, without a layer.
        sink.tick(Duration::from_secs(35));
        let later = page.job("panex-6").unwrap().eta_seconds.unwrap();
        assert!(later.low < left.low - 5.0, "{left:?} {later:?}");
        sink.event(&Event::Result(summary()), Duration::from_secs(36));
        let shown = page.job("panex-6").unwrap();
        assert_eq!((shown.share, shown.eta_seconds, shown.rate), (None, None, None));
        assert_eq!(page.expected("panex-6"), Ok(Vec::new()));
    }

    #[test]
    fn a_search_that_starts_over_counts_from_its_start() {
        let (page, mut sink) = page();
        sink.event(&job(), Duration::ZERO);
        let mut send = |depth, total| sink.event(&layer(depth, 10, total), Duration::ZERO);
        send(0, 10);
        send(1, 20);
        send(2, 30);
        send(0, 10);
        send(1, 20);
        let shown = page.job("panex-6").unwrap();
        assert_eq!((shown.states, shown.positions, shown.seconds), (20, 40, 0.5));
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
