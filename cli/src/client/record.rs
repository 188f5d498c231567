//! JSON lines of jobs, workers and logs, and the conversions they share with the text form.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::num::NonZeroU32;
use std::time::{Duration, SystemTime};

use serde::Serialize;
use serde_json::{Map, Value};
use strata_proto::v1;
use strata_run::KeepLayers;
use strata_run::forecast::Forecast;
use strata_space::{Parameter, SearchSize};
use strata_store::{EngineKind, Weight};

use crate::output::events::{Farthest, Outcome, Summary, bytes_per_state, radius};
use crate::output::exit::with_flags;
use crate::output::json;
use crate::output::json::write_line;
use crate::output::layer::counted;
use crate::program;
use crate::spaces::request::{self, Naming};

/// Last second that the time format can express.
const LAST_SECOND: u64 = 253_402_300_799;

/// The search of a job.
pub(crate) struct Spec<'a> {
    pub(crate) space: &'a str,
    pub(crate) parameters: BTreeMap<String, String>,
    pub(crate) shards: u32,
    pub(crate) engine: EngineKind,
}

/// Reason for the job's engine, with settings written as flags; empty if it is not recorded.
pub(crate) fn engine_reason(job: &v1::Job) -> String {
    with_flags(&job.engine_reason)
}

/// The search of a job; empty if the coordinator does not send it.
pub(crate) fn spec(job: &v1::Job) -> Spec<'_> {
    let Some(spec) = &job.spec else {
        return Spec {
            space: "",
            parameters: BTreeMap::new(),
            shards: 0,
            engine: EngineKind::default(),
        };
    };
    let parameters = spec.parameters.iter().map(|(name, value)| (name.clone(), value.clone()));
    // The engine may be one of a later version.
    let engine = EngineKind::find(&spec.engine).unwrap_or_default();
    Spec { space: &spec.space, parameters: parameters.collect(), shards: spec.shards, engine }
}

/// The forecast of a job's search. If this program cannot open the puzzle, the depth is the one
/// that the coordinator sent.
pub(crate) fn forecast(job: &v1::Job) -> Forecast {
    let max_layers = job.options.and_then(|options| options.max_layers);
    let Spec { space, parameters, engine, .. } = spec(job);
    match program::puzzles().open(space, &parameters) {
        Ok(space) => Forecast::new(&space, engine, max_layers),
        Err(_) => {
            let size = SearchSize { layers: job.expected_layers, ..SearchSize::default() };
            Forecast::of(size, None, engine, max_layers)
        }
    }
}

/// Name of the job's state.
pub(crate) fn state(job: &v1::Job) -> &'static str {
    match job.state() {
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

/// Whether the job has ended, with a result or without.
pub(crate) fn has_ended(job: &v1::Job) -> bool {
    use v1::JobState::{Cancelled, Done, Failed, Stopped};
    matches!(job.state(), Stopped | Cancelled | Failed | Done)
}

/// A digest as 32 hexadecimal digits.
pub(crate) fn digest(digest: Option<v1::Digest>) -> String {
    let v1::Digest { first, second } = digest.unwrap_or_default();
    Weight([first, second]).to_string()
}

/// The time `milliseconds` after the start of 1970.
pub(crate) fn time(milliseconds: u64) -> SystemTime {
    let time = Duration::from_millis(milliseconds).min(Duration::from_secs(LAST_SECOND));
    SystemTime::UNIX_EPOCH + time
}

/// Result of a finished job, as `solve` shows it. Without `naming` it has no title: JSON does
/// not print the title, and a naming costs the opening of the job's space. `farthest` is the last layer
/// with a position, if the layers are known.
pub(crate) fn summary(
    job: &v1::Job,
    result: &v1::JobResult,
    naming: Option<&Naming>,
    farthest: Option<Farthest>,
) -> Summary {
    let of_job = spec(job);
    let exhaustive = Parameter::EXHAUST.is_on(&of_job.parameters);
    let has_goal = || match naming {
        Some(naming) => naming.has_goal,
        None => request::has_goal(of_job.space, &of_job.parameters),
    };
    let outcome = Outcome::of(result.moves, has_goal);
    let radius = radius(result.layers, result.states, result.positions);
    let farthest = farthest.filter(|_| radius.is_none() && result.moves.is_none());
    let radius = radius.or(farthest.map(|farthest| farthest.depth));
    Summary {
        outcome,
        moves: result.moves,
        layers: result.layers,
        states: result.states,
        positions: counted(result.positions, result.states),
        orbits: result.orbits,
        generated: result.generated,
        widest: result.widest,
        widest_depth: result.widest_depth,
        digest: digest(result.digest),
        seconds: result.seconds,
        peak_rss_bytes: Some(result.peak_rss_bytes).filter(|&bytes| bytes > 0),
        peak_rss_worker: Some(result.peak_rss_worker.clone()).filter(|name| !name.is_empty()),
        disk_peak_bytes: result.disk_peak_bytes,
        spilled_bytes: result.spilled_bytes,
        bytes_per_state: bytes_per_state(of_job.engine, result.layer_bytes, result.states),
        farthest,
        title: naming.map_or_else(String::new, |naming| {
            naming.title(outcome, result.moves, radius, exhaustive)
        }),
    }
}

/// The layers that a job keeps.
pub(crate) fn kept(options: &v1::JobOptions) -> KeepLayers {
    use v1::keep_layers::Which;
    match options.keep.and_then(|keep| keep.which) {
        Some(Which::All(_)) => KeepLayers::All,
        Some(Which::Every(step)) => {
            NonZeroU32::new(step).map_or(KeepLayers::All, KeepLayers::Every)
        }
        Some(Which::Last(_)) | None => KeepLayers::Last,
    }
}

/// Value of `--keep-layers` of a job.
pub(crate) fn keep(options: &v1::JobOptions) -> String {
    use v1::keep_layers::Which;
    match options.keep.and_then(|keep| keep.which) {
        Some(Which::All(_)) => "all".to_owned(),
        Some(Which::Every(number)) => format!("every:{number}"),
        Some(Which::Last(_)) | None => "last".to_owned(),
    }
}

/// Expected work, remaining time and rates of a job.
#[derive(Serialize)]
struct Estimates {
    expected_states: Option<f64>,
    work_done: Option<f64>,
    eta_low_seconds: Option<f64>,
    eta_high_seconds: Option<f64>,
    states_per_second: Option<f64>,
    mean_states_per_second: Option<f64>,
}

impl Estimates {
    fn of(job: &v1::Job) -> Estimates {
        Estimates {
            expected_states: job.expected_states,
            work_done: job.work_done,
            eta_low_seconds: job.eta_low_seconds,
            eta_high_seconds: job.eta_high_seconds,
            states_per_second: job.states_per_second,
            mean_states_per_second: job.mean_states_per_second,
        }
    }
}

/// A text field of a message; none if it is empty.
fn text(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

/// Fields of a job's event.
#[derive(Serialize)]
struct JobFields<'a> {
    job: &'a str,
    name: Option<&'a str>,
    state: &'a str,
    space: &'a str,
    params: Map<String, Value>,
    engine: &'static str,
    engine_reason: Option<&'a str>,
    shards: u32,
    checkpoint_interval_ms: Option<u64>,
    max_layers: Option<u32>,
    disk_limit_bytes: Option<u64>,
    keep_layers: String,
    created: u64,
    ended: Option<u64>,
    seconds: f64,
    depth: Option<u32>,
    layer_states: u64,
    states: u64,
    positions: Option<u64>,
    orbits: Option<u64>,
    checkpoint: Option<u32>,
    checkpoint_at: Option<u64>,
    expected_layers: Option<u32>,
    #[serde(flatten)]
    estimates: Estimates,
    queue_position: u32,
    priority: i32,
    waiting_for: &'a [String],
    workers: u32,
    worker_names: &'a [String],
    error: Option<&'a str>,
    exit_code: Option<u32>,
    result: Option<Summary>,
}

/// Writes a job.
pub(crate) fn write_job(job: &v1::Job, out: &mut impl Write) -> io::Result<()> {
    let (spec, options) = (spec(job), job.options.unwrap_or_default());
    let engine_reason = engine_reason(job);
    let fields = JobFields {
        job: &job.id,
        name: text(&job.name),
        state: state(job),
        space: spec.space,
        params: json::parameters(&request::shown(spec.space, &spec.parameters)),
        engine: spec.engine.name(),
        engine_reason: Some(&*engine_reason).filter(|reason| !reason.is_empty()),
        shards: spec.shards,
        checkpoint_interval_ms: Some(options.checkpoint_interval_ms).filter(|&time| time > 0),
        max_layers: options.max_layers,
        disk_limit_bytes: options.disk_limit_bytes,
        keep_layers: keep(&options),
        created: job.created,
        ended: job.ended,
        seconds: job.seconds,
        depth: job.depth,
        layer_states: job.layer_states,
        states: job.states,
        positions: counted(job.positions, job.states),
        orbits: job.orbits,
        checkpoint: job.checkpoint,
        checkpoint_at: job.checkpoint_at,
        expected_layers: job.expected_layers,
        estimates: Estimates::of(job),
        queue_position: job.queue_position,
        priority: options.priority,
        waiting_for: &job.waiting_for,
        workers: job.workers,
        worker_names: &job.worker_names,
        error: text(&job.error),
        exit_code: has_ended(job).then_some(job.exit_code),
        result: job.result.as_ref().map(|result| summary(job, result, None, None)),
    };
    write_line("job_status", &fields, out)
}

/// Writes a worker.
pub(crate) fn write_worker(worker: &v1::WorkerInfo, out: &mut impl Write) -> io::Result<()> {
    #[derive(Serialize)]
    struct Fields<'a> {
        number: u32,
        name: &'a str,
        address: &'a str,
        alive: bool,
        threads: u32,
        memory_bytes: u64,
        rss_bytes: u64,
        disk_free_bytes: u64,
        silent_ms: u64,
    }
    let fields = Fields {
        number: worker.number,
        name: &worker.name,
        address: &worker.address,
        alive: worker.alive,
        threads: worker.threads,
        memory_bytes: worker.memory_bytes,
        rss_bytes: worker.rss_bytes,
        disk_free_bytes: worker.disk_free_bytes,
        silent_ms: worker.silent_ms,
    };
    write_line("worker", &fields, out)
}

/// Writes a line of a log.
pub(crate) fn write_log(line: &v1::LogLine, out: &mut impl Write) -> io::Result<()> {
    #[derive(Serialize)]
    struct Fields<'a> {
        time: String,
        level: &'a str,
        text: &'a str,
        message: &'a str,
        fields: Map<String, Value>,
    }
    let time = humantime::format_rfc3339_millis(time(line.time_ms)).to_string();
    let fields = line.fields.iter().map(|field| (field.name.clone(), field_value(field)));
    let (level, text, message) = (&*line.level, &*line.text, &*line.message);
    let fields = fields.collect();
    write_line("log", &Fields { time, level, text, message, fields }, out)
}

/// The value of a field of a log: a number if the field has one, else its text.
fn field_value(field: &v1::LogField) -> Value {
    match field.number {
        // A count: a whole number that `u64` represents exactly.
        Some(number) if number.fract() == 0.0 && (0.0..1e15).contains(&number) => {
            Value::from(number as u64)
        }
        Some(number) => Value::from(number),
        None => Value::from(field.text.as_str()),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A job for Panex of level 3.
    pub(in crate::client) fn job(state: v1::JobState) -> v1::Job {
        let parameters = [("level", "3"), ("k", "3"), ("exhaust", "false")];
        let parameters = parameters.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let spec = v1::JobSpec {
            space: "panex".to_owned(),
            parameters: parameters.into(),
            shards: 64,
            engine: String::new(),
        };
        v1::Job {
            id: "panex-3-aaaaaa".to_owned(),
            spec: Some(spec),
            state: state.into(),
            created: 1_795_266_000,
            ..v1::Job::default()
        }
    }

    fn json(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_job_has_every_field_in_every_state() {
        let line = json(|out| write_job(&job(v1::JobState::Queued), out));
        assert_eq!(
            line,
            "{\"v\":1,\"event\":\"job_status\",\"job\":\"panex-3-aaaaaa\",\"name\":null,\
             \"state\":\"queued\",\"space\":\"panex\",\
             \"params\":{\"exhaust\":false,\"k\":3,\"level\":3},\"engine\":\"explicit\",\"engine_reason\":null,\
             \"shards\":64,\
             \"checkpoint_interval_ms\":null,\"max_layers\":null,\"disk_limit_bytes\":null,\
             \"keep_layers\":\"last\",\"created\":1795266000,\"ended\":null,\"seconds\":0.0,\"depth\":null,\
             \"layer_states\":0,\"states\":0,\"positions\":0,\"orbits\":null,\"checkpoint\":null,\"checkpoint_at\":null,\
             \"expected_layers\":null,\
             \"expected_states\":null,\"work_done\":null,\"eta_low_seconds\":null,\"eta_high_seconds\":null,\
             \"states_per_second\":null,\"mean_states_per_second\":null,\
             \"queue_position\":0,\"priority\":0,\"waiting_for\":[],\"workers\":0,\"worker_names\":[],\"error\":null,\
             \"exit_code\":null,\"result\":null}\n"
        );
        let result = v1::JobResult { moves: Some(42), layers: 21, ..Default::default() };
        let done = v1::Job { result: Some(result), ..job(v1::JobState::Done) };
        let value: Value = serde_json::from_str(&json(|out| write_job(&done, out))).unwrap();
        assert_eq!((&value["exit_code"], &value["result"]["moves"]), (&0.into(), &42.into()));
    }

    #[test]
    fn only_explicit_jobs_have_bytes_per_state() {
        for engine in EngineKind::ALL {
            let result = v1::JobResult { layer_bytes: 30, states: 20, ..Default::default() };
            let mut done = v1::Job { result: Some(result), ..job(v1::JobState::Done) };
            done.spec.as_mut().unwrap().engine = engine.name().to_owned();
            let value: Value = serde_json::from_str(&json(|out| write_job(&done, out))).unwrap();
            let expected = if engine == EngineKind::Explicit { 1.5.into() } else { Value::Null };
            assert_eq!(value["result"]["bytes_per_state"], expected, "{}", engine.name());
        }
    }

    #[test]
    fn log_lines_have_a_time() {
        let line = |time_ms| v1::LogLine {
            time_ms,
            level: "INFO".to_owned(),
            text: "worker \"b\" is back".to_owned(),
            message: "worker \"b\" is back".to_owned(),
            ..v1::LogLine::default()
        };
        assert_eq!(
            json(|out| write_log(&line(1_795_266_000_250), out)),
            "{\"v\":1,\"event\":\"log\",\"time\":\"2026-11-21T13:00:00.250Z\",\
             \"level\":\"INFO\",\"text\":\"worker \\\"b\\\" is back\",\
             \"message\":\"worker \\\"b\\\" is back\",\"fields\":{}}\n"
        );
        assert!(json(|out| write_log(&line(u64::MAX), out)).contains("\"9999-12-31T23:59:59"));
        let field = |name: &str, text: &str, number| v1::LogField {
            name: name.to_owned(),
            text: text.to_owned(),
            number,
        };
        let (message, text) = ("layer committed".to_owned(), String::new());
        let fields = vec![
            field("layer", "4", Some(4.0)),
            field("elapsed", "1.5s", Some(1.5)),
            field("eta", "5s", None),
        ];
        let line = v1::LogLine { message, text, fields, ..line(0) };
        assert!(json(|out| write_log(&line, out)).ends_with(
            "\"text\":\"\",\"message\":\"layer committed\",\
             \"fields\":{\"elapsed\":1.5,\"eta\":\"5s\",\"layer\":4}}\n"
        ));
    }

    #[test]
    fn worker_lines_have_a_number() {
        let worker = v1::WorkerInfo { number: 2, name: "b".to_owned(), ..Default::default() };
        let value: Value = serde_json::from_str(&json(|out| write_worker(&worker, out))).unwrap();
        assert_eq!((&value["event"], &value["number"]), (&"worker".into(), &2.into()));
    }

    #[test]
    fn kept_layers_have_the_form_of_the_flag() {
        use v1::keep_layers::Which;
        let keep = |which| {
            let keep = Some(v1::KeepLayers { which });
            super::keep(&v1::JobOptions { keep, ..Default::default() })
        };
        assert_eq!(keep(None), "last");
        assert_eq!(keep(Some(Which::All(true))), "all");
        assert_eq!(keep(Some(Which::Every(5))), "every:5");
    }
}
