//! Text form of jobs, workers and log lines.

use std::io::{self, Write};
use std::time::{Duration, SystemTime};

use strata_proto::net::printable;
use strata_proto::v1;

use super::record::{self, has_ended, state, time};
use crate::output::console::Console;
use crate::output::exit::Failure;
use crate::output::{stdout, units};
use crate::spaces::request::{self, Naming};

/// Time since a moment, in its largest unit.
pub(super) fn age(seconds: u64, now: SystemTime) -> String {
    let then = time(seconds.saturating_mul(1000));
    units::short_time(now.duration_since(then).unwrap_or(Duration::ZERO).as_secs_f64().floor())
}

/// All details of one job.
pub(crate) fn job(job: &v1::Job, now: SystemTime, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{}: {}{}", job.id, state_or_paused(job), why(job))?;
    let mut line = |name: &str, value: &str| match value {
        "" => Ok(()),
        value => writeln!(out, "  {name:<11} {value}"),
    };
    let spec = record::spec(job);
    let parameters = request::shown(spec.space, &spec.parameters);
    let parameters = parameters.iter().map(|(name, value)| format!("{name}={value}"));
    line("name", &job.name)?;
    line("space", spec.space)?;
    line("parameters", &parameters.collect::<Vec<_>>().join(" "))?;
    let reason = Some(record::engine_reason(job)).filter(|reason| !reason.is_empty());
    let reason = reason.map_or(String::new(), |reason| format!(" ({reason})"));
    line("engine", &format!("{}{reason}", spec.engine.name()))?;
    if !spec.engine.is_symbolic() {
        line("shards", &units::count(u64::from(spec.shards)))?;
    }
    line("options", &options(&job.options.unwrap_or_default()))?;
    let submitted = humantime::format_rfc3339_seconds(time(job.created.saturating_mul(1000)));
    line("submitted", &format!("{submitted} ({} ago)", age(job.created, now)))?;
    if let Some(ended) = job.ended {
        let then = humantime::format_rfc3339_seconds(time(ended.saturating_mul(1000)));
        line("ended", &format!("{then} ({} ago)", age(ended, now)))?;
    }
    line("workers", &workers(job))?;
    let progress = match job.depth {
        None => "no layer yet".to_owned(),
        Some(depth) => {
            let (depth, states) = (units::count(u64::from(depth)), units::count(job.layer_states));
            format!("depth {depth}, {states} states in the last layer")
        }
    };
    line("progress", &progress)?;
    line("work", &work(job))?;
    line("states", &units::count(job.states))?;
    line("rate", &rate(job))?;
    line("checkpoint", &checkpoint(job, now))?;
    line("time", &units::seconds(job.seconds))?;
    if let Some(result) = &job.result {
        let naming = Naming::new(&job.id, spec.space, &spec.parameters);
        line("result", &record::summary(job, result, Some(&naming), None).title)?;
        line("digest", &record::digest(result.digest))?;
    }
    if has_ended(job) {
        line("exit code", &job.exit_code.to_string())?;
    }
    Ok(())
}

/// The number of the job's workers, with their names if known; empty if the job has ended.
fn workers(job: &v1::Job) -> String {
    if has_ended(job) {
        return String::new();
    }
    let number = units::count(u64::from(job.workers));
    match &*job.worker_names {
        [] => number,
        names => format!("{number} ({})", names.join(", ")),
    }
}

/// The share of the expected work that is done, and the time left; empty if nothing is known or the
/// job has ended.
fn work(job: &v1::Job) -> String {
    if has_ended(job) {
        return String::new();
    }
    let mut parts = Vec::new();
    if let Some(share) = job.work_done {
        parts.push(format!("{} of the expected work", percent(share)));
    }
    if let Some(left) = time_left(job) {
        parts.push(format!("{left} left"));
    }
    if let Some(layers) = job.expected_layers {
        parts.push(format!("depth {} at most", units::count(u64::from(layers))));
    }
    parts.join(", ")
}

/// A share as whole percent, rounded down: 100 % only at the end.
pub(super) fn percent(share: f64) -> String {
    format!("{} %", (share.clamp(0.0, 1.0) * 100.0) as u64)
}

/// The expected time left, or its range; none if it is not known.
pub(super) fn time_left(job: &v1::Job) -> Option<String> {
    let (low, high) = (job.eta_low_seconds?, job.eta_high_seconds?);
    let (low, high) = (units::short_time(low), units::short_time(high));
    Some(if low == high { low } else { format!("{low} to {high}") })
}

/// States a second; empty if they are not known.
fn rate(job: &v1::Job) -> String {
    let Some(now) = job.states_per_second else { return String::new() };
    let mean = job.mean_states_per_second.map(|mean| format!(" (mean {})", units::rate(mean)));
    format!("{} states/s{}", units::rate(now), mean.unwrap_or_default())
}

/// Depth and age of the last checkpoint.
fn checkpoint(job: &v1::Job, now: SystemTime) -> String {
    let Some(depth) = job.checkpoint else { return "none".to_owned() };
    let age = job.checkpoint_at.map(|at| format!(" ({} ago)", age(at, now)));
    format!("depth {}{}", units::count(u64::from(depth)), age.unwrap_or_default())
}

/// Whether the job is paused until the coordinator can continue it.
pub(super) fn is_paused(job: &v1::Job) -> bool {
    job.state() == v1::JobState::Waiting && !job.error.is_empty()
}

/// Name of the job's state in texts.
pub(crate) fn state_or_paused(job: &v1::Job) -> &'static str {
    if is_paused(job) { "paused" } else { state(job) }
}

/// What a job is waiting for, or why it ended or is paused.
pub(crate) fn why(job: &v1::Job) -> String {
    match job.state() {
        v1::JobState::Queued if job.queue_position > 0 => {
            let jobs = units::count(u64::from(job.queue_position));
            format!(", jobs before it: {jobs}")
        }
        v1::JobState::Waiting if is_paused(job) => format!(": {}", job.error),
        v1::JobState::Waiting if job.waiting_for.is_empty() => " for workers".to_owned(),
        v1::JobState::Waiting => format!(" for workers: {}", job.waiting_for.join(", ")),
        v1::JobState::Running if job.workers == 1 => " on 1 worker".to_owned(),
        v1::JobState::Running if job.workers > 1 => format!(" on {} workers", job.workers),
        _ if job.error.is_empty() => String::new(),
        _ => format!(": {}", job.error),
    }
}

fn options(options: &v1::JobOptions) -> String {
    let mut words = vec![format!("keep-layers={}", record::keep(options))];
    if let Some(layers) = options.max_layers {
        words.push(format!("max-layers={layers}"));
    }
    if let Some(limit) = options.disk_limit_bytes {
        words.push(format!("disk-limit={limit}B"));
    }
    if options.priority != 0 {
        words.push(format!("priority={}", options.priority));
    }
    if options.checkpoint_interval_ms > 0 {
        let interval = Duration::from_millis(options.checkpoint_interval_ms);
        let interval = humantime::format_duration(interval).to_string().replace(' ', "");
        words.push(format!("checkpoint-interval={interval}"));
    }
    words.join(" ")
}

/// Result of a cancellation.
pub(crate) fn cancelled(job: &v1::Job, out: &mut impl Write) -> io::Result<()> {
    match has_ended(job) {
        true => writeln!(out, "{} is {}", job.id, state(job)),
        false if job.state() == v1::JobState::Waiting => {
            writeln!(out, "{} is being cancelled", job.id)
        }
        false => writeln!(out, "{} stops after its next layer", job.id),
    }
}

/// Prints the id of a job that is not followed.
///
/// # Errors
/// If standard output cannot be written.
pub(crate) fn print_detached(job: &v1::Job, console: &Console) -> Result<(), Failure> {
    stdout::print(|out| {
        if console.json { record::write_job(job, out) } else { writeln!(out, "{}", job.id) }
    })
}

/// A line of a log.
pub(crate) fn log(line: &v1::LogLine, out: &mut impl Write) -> io::Result<()> {
    let time = humantime::format_rfc3339_seconds(time(line.time_ms));
    writeln!(out, "{time} {} {}", line.level, printable(&line.text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::record::tests::job as example;

    fn text(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn now() -> SystemTime {
        time((1_795_266_000 + 7200) * 1000)
    }

    #[test]
    fn ages_use_the_largest_unit() {
        let age = |seconds: u64| age(1_795_266_000 + 7200 - seconds, now());
        assert_eq!(
            [0, 59, 60, 7199, 86_399, 200_000].map(age),
            ["0s", "59s", "1m", "1h", "23h", "2d"]
        );
        assert_eq!(super::age(u64::MAX, now()), "0s");
    }

    #[test]
    fn a_job_shows_its_priority() {
        let of = |priority| {
            let options = Some(v1::JobOptions { priority, ..v1::JobOptions::default() });
            v1::Job { options, ..example(v1::JobState::Queued) }
        };
        assert!(text(|out| job(&of(-3), now(), out)).contains("priority=-3"));
        assert!(!text(|out| job(&of(0), now(), out)).contains("priority"));
    }

    #[test]
    fn a_job_shows_all_details() {
        let job = v1::Job {
            name: "night".to_owned(),
            depth: Some(7),
            layer_states: 1234,
            states: 5678,
            checkpoint: Some(6),
            checkpoint_at: Some(1_795_266_000 + 7188),
            worker_names: ["a", "b", "c"].map(str::to_owned).to_vec(),
            work_done: Some(0.4299),
            eta_low_seconds: Some(200.0),
            eta_high_seconds: Some(500.0),
            states_per_second: Some(19.4e6),
            mean_states_per_second: Some(18e6),
            seconds: 192.3,
            workers: 3,
            expected_layers: Some(1095),
            options: Some(v1::JobOptions {
                checkpoint_interval_ms: 1500,
                max_layers: Some(9),
                ..Default::default()
            }),
            ..example(v1::JobState::Running)
        };
        assert_eq!(
            text(|out| super::job(&job, now(), out)),
            "panex-3-aaaaaa: running on 3 workers\n  \
             name        night\n  \
             space       panex\n  \
             parameters  exhaust=false k=3 level=3\n  \
             engine      explicit\n  \
             shards      64\n  \
             options     keep-layers=last max-layers=9 checkpoint-interval=1s500ms\n  \
             submitted   2026-11-21T13:00:00Z (2h ago)\n  \
             workers     3 (a, b, c)\n  \
             progress    depth 7, 1,234 states in the last layer\n  \
             work        42 % of the expected work, 3m to 8m left, depth 1,095 at most\n  \
             states      5,678\n  \
             rate        19.4 M states/s (mean 18.0 M)\n  \
             checkpoint  depth 6 (12s ago)\n  \
             time        3m 12s\n"
        );
    }

    #[test]
    fn a_finished_job_shows_its_result() {
        let result = v1::JobResult { moves: Some(42), layers: 21, ..Default::default() };
        let job = v1::Job { result: Some(result), ..example(v1::JobState::Done) };
        let text = text(|out| super::job(&job, now(), out));
        assert!(text.contains("  result      X(3) = 42\n"), "{text}");
        assert!(!text.contains("workers"), "{text}");
        assert!(text.ends_with("  exit code   0\n"), "{text}");
    }

    #[test]
    fn states_show_their_reasons() {
        let waiting = v1::Job {
            waiting_for: vec!["a".to_owned(), "b".to_owned()],
            ..example(v1::JobState::Waiting)
        };
        assert_eq!(why(&waiting), " for workers: a, b");
        assert_eq!(why(&example(v1::JobState::Waiting)), " for workers");
        let failed =
            v1::Job { error: "a worker is lost".to_owned(), ..example(v1::JobState::Failed) };
        assert_eq!(why(&failed), ": a worker is lost");
        let queued = v1::Job { queue_position: 2, ..example(v1::JobState::Queued) };
        assert_eq!(why(&queued), ", jobs before it: 2");
    }

    #[test]
    fn a_cancelled_job_stops_after_its_next_layer() {
        assert_eq!(
            text(|out| cancelled(&example(v1::JobState::Running), out)),
            "panex-3-aaaaaa stops after its next layer\n"
        );
        assert_eq!(
            text(|out| cancelled(&example(v1::JobState::Cancelled), out)),
            "panex-3-aaaaaa is cancelled\n"
        );
    }
}
