//! Text form of jobs, workers and log lines.

use std::io::{self, Write};
use std::time::{Duration, SystemTime};

use strata_net::printable;
use strata_proto::v1;

use super::record::{self, has_ended, state, time};
use crate::output::console::Console;
use crate::output::exit::Failure;
use crate::output::{stdout, units};
use crate::spaces::request::{self, Naming};

/// Alignment of a column.
#[derive(Clone, Copy)]
enum Side {
    Left,
    Right,
}

/// Writes an aligned table. Columns without a heading and without content are left out.
fn table<const N: usize>(
    columns: [(&str, Side); N],
    rows: &[[String; N]],
    out: &mut impl Write,
) -> io::Result<()> {
    let width = |index: usize, name: &str| {
        let cells = rows.iter().map(|row| row[index].chars().count());
        cells.max().unwrap_or(0).max(name.len())
    };
    let mut widths = [0; N];
    for (index, (name, _)) in columns.iter().enumerate() {
        widths[index] = width(index, name);
    }
    let header = columns.map(|(name, _)| name.to_owned());
    for row in std::iter::once(&header).chain(rows) {
        let mut line = String::new();
        let cells = row.iter().zip(widths).zip(columns).filter(|((_, width), _)| *width > 0);
        for ((cell, width), (_, side)) in cells {
            line += &match side {
                Side::Left => format!("{cell:<width$}  "),
                Side::Right => format!("{cell:>width$}  "),
            };
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// Time since a moment, in its largest unit.
fn age(seconds: u64, now: SystemTime) -> String {
    let then = time(seconds.saturating_mul(1000));
    let age = now.duration_since(then).unwrap_or(Duration::ZERO).as_secs();
    match age {
        0..60 => format!("{age}s"),
        60..3600 => format!("{}m", age / 60),
        3600..86_400 => format!("{}h", age / 3600),
        _ => format!("{}d", age / 86_400),
    }
}

fn search(job: &v1::Job) -> String {
    let spec = record::spec(job);
    request::short(spec.space, &spec.parameters)
}

fn depth(depth: Option<u32>) -> String {
    depth.map_or("-".to_owned(), |depth| units::count(u64::from(depth)))
}

fn priority(job: &v1::Job) -> i32 {
    job.options.as_ref().map_or(0, |options| options.priority)
}

/// The table of jobs.
pub(crate) fn jobs(jobs: &[v1::Job], now: SystemTime, out: &mut impl Write) -> io::Result<()> {
    let shown = if jobs.iter().all(|job| priority(job) == 0) { "" } else { "priority" };
    let rows = jobs.iter().map(|job| {
        [
            job.id.clone(),
            state_or_paused(job).to_owned(),
            search(job),
            depth(job.depth),
            units::count(job.states),
            age(job.created, now),
            if shown.is_empty() { String::new() } else { priority(job).to_string() },
            job.name.clone(),
        ]
    });
    let rows: Vec<_> = rows.collect();
    // Without names the column has no heading either.
    let name = if jobs.iter().all(|job| job.name.is_empty()) { "" } else { "name" };
    let columns = [
        ("job", Side::Left),
        ("state", Side::Left),
        ("search", Side::Left),
        ("depth", Side::Right),
        ("states", Side::Right),
        ("age", Side::Right),
        (shown, Side::Right),
        (name, Side::Left),
    ];
    table(columns, &rows, out)?;
    for job in jobs.iter().filter(|job| is_paused(job)) {
        writeln!(out, "{} is paused{}", job.id, why(job))?;
    }
    Ok(())
}

/// Workers and unfinished jobs of a cluster.
pub(crate) fn cluster(
    url: &str,
    workers: &[v1::WorkerInfo],
    unfinished: &[v1::Job],
    now: SystemTime,
    out: &mut impl Write,
) -> io::Result<()> {
    let alive = workers.iter().filter(|worker| worker.alive).count();
    writeln!(out, "{url}: {alive} of {} workers alive", workers.len())?;
    if !workers.is_empty() {
        let rows = workers.iter().map(|worker| {
            let silence = Duration::from_millis(worker.silent_ms).as_secs_f64();
            let state = match worker.alive {
                true => "alive".to_owned(),
                false => format!("silent for {}", units::seconds(silence)),
            };
            [
                worker.number.to_string(),
                worker.name.clone(),
                state,
                worker.threads.to_string(),
                units::bytes(worker.memory_bytes),
                units::bytes(worker.rss_bytes),
                units::bytes(worker.disk_free_bytes),
                worker.address.clone(),
            ]
        });
        let columns = [
            ("worker", Side::Right),
            ("name", Side::Left),
            ("state", Side::Left),
            ("threads", Side::Right),
            ("budget", Side::Right),
            ("resident", Side::Right),
            ("disk free", Side::Right),
            ("address", Side::Left),
        ];
        table(columns, &rows.collect::<Vec<_>>(), out)?;
    }
    writeln!(out)?;
    if unfinished.is_empty() {
        return writeln!(out, "no unfinished jobs");
    }
    jobs(unfinished, now, out)
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
    let reason = Some(&job.engine_reason).filter(|reason| !reason.is_empty());
    let reason = reason.map_or(String::new(), |reason| format!(" ({reason})"));
    line("engine", &format!("{}{reason}", spec.engine.name()))?;
    line("shards", &units::count(u64::from(spec.shards)))?;
    line("options", &options(&job.options.unwrap_or_default()))?;
    let submitted = humantime::format_rfc3339_seconds(time(job.created.saturating_mul(1000)));
    line("submitted", &format!("{submitted} ({} ago)", age(job.created, now)))?;
    if let Some(ended) = job.ended {
        let then = humantime::format_rfc3339_seconds(time(ended.saturating_mul(1000)));
        line("ended", &format!("{then} ({} ago)", age(ended, now)))?;
    }
    line("workers", &units::count(u64::from(job.workers)))?;
    let mut progress = match job.depth {
        None => "no layer yet".to_owned(),
        Some(depth) => {
            let (depth, states) = (units::count(u64::from(depth)), units::count(job.layer_states));
            format!("depth {depth}, {states} states in the last layer")
        }
    };
    if let Some(layers) = job.expected_layers.filter(|_| !has_ended(job)) {
        progress += &format!(", at most {} layers", units::count(u64::from(layers)));
    }
    line("progress", &progress)?;
    line("states", &units::count(job.states))?;
    let checkpoint = job.checkpoint.map(|depth| format!("depth {}", units::count(depth.into())));
    line("checkpoint", checkpoint.as_deref().unwrap_or("none"))?;
    line("time", &units::seconds(job.seconds))?;
    if let Some(result) = &job.result {
        let naming = Naming::new(&job.id, spec.space, &spec.parameters);
        line("result", &record::summary(job, result, Some(&naming)).title)?;
        line("digest", &record::digest(result.digest))?;
    }
    if has_ended(job) {
        line("exit code", &job.exit_code.to_string())?;
    }
    Ok(())
}

/// Whether the job waits until the coordinator can go on with it.
fn is_paused(job: &v1::Job) -> bool {
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
    fn jobs_are_a_table() {
        let running =
            v1::Job { depth: Some(1041), states: 1_234_567, ..example(v1::JobState::Running) };
        let queued = v1::Job { id: "x".to_owned(), ..example(v1::JobState::Queued) };
        assert_eq!(
            text(|out| jobs(&[running.clone(), queued.clone()], now(), out)),
            "job             state    search   depth     states  age\n\
             panex-3-aaaaaa  running  panex 3  1,041  1,234,567   2h\n\
             x               queued   panex 3      -          0   2h\n"
        );
        let error = "no room".to_owned();
        let paused = v1::Job { error, ..example(v1::JobState::Waiting) };
        let table = text(|out| jobs(&[paused], now(), out));
        assert!(table.contains("  paused  "), "{table}");
        assert!(table.ends_with("\npanex-3-aaaaaa is paused: no room\n"), "{table}");
        let named = v1::Job { name: "night".to_owned(), ..queued };
        let table = text(|out| jobs(&[running, named], now(), out));
        assert!(table.lines().next().unwrap().ends_with("  age  name"), "{table}");
        assert!(table.ends_with("   2h  night\n"), "{table}");
    }

    #[test]
    fn priorities_are_shown_where_there_are_some() {
        let of = |priority| {
            let options = Some(v1::JobOptions { priority, ..v1::JobOptions::default() });
            v1::Job { options, ..example(v1::JobState::Queued) }
        };
        let listed = text(|out| jobs(&[of(0), of(-3)], now(), out));
        let last = |line: usize| listed.lines().nth(line).unwrap().split_whitespace().last();
        assert_eq!([0, 1, 2].map(last), [Some("priority"), Some("0"), Some("-3")], "{listed}");
        assert!(!text(|out| jobs(&[of(0)], now(), out)).contains("priority"));
        assert!(text(|out| job(&of(-3), now(), out)).contains("priority=-3"));
        assert!(!text(|out| job(&of(0), now(), out)).contains("priority"));
    }

    #[test]
    fn a_cluster_is_its_workers_and_unfinished_jobs() {
        let worker = |number, alive| v1::WorkerInfo {
            number,
            name: format!("host-{number}"),
            address: "http://a:1".to_owned(),
            alive,
            threads: 2,
            memory_bytes: 1 << 30,
            rss_bytes: 61 << 20,
            disk_free_bytes: 5 << 30,
            silent_ms: 42_000,
        };
        let workers = [worker(0, true), worker(1, false)];
        assert_eq!(
            text(|out| cluster("http://c:1", &workers, &[], now(), out)),
            "http://c:1: 1 of 2 workers alive\n\
             worker  name    state              threads   budget  resident  disk free  address\n     \
             0  host-0  alive                    2  1.0 GiB    61 MiB    5.0 GiB  http://a:1\n     \
             1  host-1  silent for 42.0 s        2  1.0 GiB    61 MiB    5.0 GiB  http://a:1\n\
             \n\
             no unfinished jobs\n"
        );
        let jobs = [example(v1::JobState::Running)];
        let text = text(|out| cluster("http://c:1", &[], &jobs, now(), out));
        assert!(text.starts_with("http://c:1: 0 of 0 workers alive\n\njob "), "{text}");
    }

    #[test]
    fn a_job_shows_all_details() {
        let job = v1::Job {
            name: "night".to_owned(),
            depth: Some(7),
            layer_states: 1234,
            states: 5678,
            checkpoint: Some(6),
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
             workers     3\n  \
             progress    depth 7, 1,234 states in the last layer, at most 1,095 layers\n  \
             states      5,678\n  \
             checkpoint  depth 6\n  \
             time        3m 12s\n"
        );
    }

    #[test]
    fn a_finished_job_shows_its_result() {
        let result = v1::JobResult { moves: Some(42), layers: 21, ..Default::default() };
        let job = v1::Job { result: Some(result), ..example(v1::JobState::Done) };
        let text = text(|out| super::job(&job, now(), out));
        assert!(text.contains("  result      X(3) = 42\n"), "{text}");
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
