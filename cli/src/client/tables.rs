//! Tables of jobs and workers: of a cluster, and of the folders of a data directory.

use std::io::{self, Write};
use std::time::{Duration, SystemTime};

use strata_proto::v1;

use super::record::{self, has_ended};
use super::report::{age, is_paused, percent, state_or_paused, time_left, why};
use super::table::{self, Column, Kind, WIDTH};
use crate::output::events::radius;
use crate::output::exit::ExitCode;
use crate::output::units;
use crate::spaces::request;

/// How tables are written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Whether all columns are shown and no text is cut; if not, lines have at most 80 characters.
    pub(crate) wide: bool,
    /// The time, for ages.
    pub(crate) now: SystemTime,
}

impl Shape {
    fn width(self) -> Option<usize> {
        (!self.wide).then_some(WIDTH)
    }
}

/// The cell of a column that is shown in wide tables only.
fn if_wide(shape: Shape, cell: impl FnOnce() -> String) -> String {
    if shape.wide { cell() } else { String::new() }
}

fn depth(depth: Option<u32>) -> String {
    depth.map_or("-".to_owned(), |depth| units::count(u64::from(depth)))
}

/// The columns of a table of jobs.
const JOBS: [Column; 15] = [
    ("job", Kind::Cut(11)),
    ("name", Kind::Cut(6)),
    ("state", Kind::Left),
    ("engine", Kind::Cut(8)),
    ("search", Kind::Left),
    ("depth", Kind::Right),
    ("states", Kind::Right),
    ("done", Kind::Right),
    ("left", Kind::Right),
    ("states/s", Kind::Right),
    ("saved", Kind::Left),
    ("age", Kind::Right),
    ("priority", Kind::Right),
    ("workers", Kind::Left),
    ("result", Kind::Cut(13)),
];

/// The columns that are left out if lines are too long, the first one first.
const SPARE: [&str; 3] = ["age", "name", "priority"];

/// A table of the jobs of a cluster.
pub(crate) fn jobs(jobs: &[v1::Job], shape: Shape, out: &mut impl Write) -> io::Result<()> {
    let with_priority = jobs.iter().any(|job| priority(job) != 0);
    let rows: Vec<[String; 15]> = jobs.iter().map(|job| row(job, with_priority, shape)).collect();
    table::write(JOBS, &rows, (shape.width(), &SPARE), out)?;
    for job in jobs.iter().filter(|job| is_paused(job)) {
        writeln!(out, "{} is paused{}", job.id, why(job))?;
    }
    Ok(())
}

fn priority(job: &v1::Job) -> i32 {
    job.options.as_ref().map_or(0, |options| options.priority)
}

fn row(job: &v1::Job, with_priority: bool, shape: Shape) -> [String; 15] {
    let spec = record::spec(job);
    let is_running = job.state() == v1::JobState::Running;
    let if_running = |text: Option<String>| text.filter(|_| is_running).unwrap_or_default();
    let checkpoint = job.checkpoint.filter(|_| !has_ended(job)).map(|depth| {
        let depth = units::count(u64::from(depth));
        let age = job.checkpoint_at.map(|at| age(at, shape.now));
        age.map_or(depth.clone(), |age| if shape.wide { format!("{depth} ({age})") } else { age })
    });
    [
        job.id.clone(),
        job.name.clone(),
        state_or_paused(job).to_owned(),
        spec.engine.name().to_owned(),
        if_wide(shape, || request::short(spec.space, &spec.parameters)),
        depth(job.depth),
        if shape.wide { units::count(job.states) } else { units::short_count(job.states) },
        if_wide(shape, || share_done(job)),
        if_wide(shape, || if_running(time_left(job))),
        if_running(job.states_per_second.map(units::rate)),
        checkpoint.unwrap_or_default(),
        age(job.created, shape.now),
        if with_priority { priority(job).to_string() } else { String::new() },
        if_wide(shape, || job.worker_names.join(", ")),
        if shape.wide || has_ended(job) { outcome(job) } else { progress(job) },
    ]
}

/// The share of the expected work that is done; empty if it is not known or the job has ended.
fn share_done(job: &v1::Job) -> String {
    job.work_done.filter(|_| !has_ended(job)).map_or_else(String::new, percent)
}

/// What the job waits for, or else the share of the expected work that is done and the upper end of the
/// expected time left.
fn progress(job: &v1::Job) -> String {
    if !job.waiting_for.is_empty() {
        return format!("for {}", job.waiting_for.join(", "));
    }
    let is_running = job.state() == v1::JobState::Running;
    let left = job.eta_high_seconds.filter(|_| is_running);
    let left = left.map(|left| format!("{} left", units::short_time(left)));
    let parts = [Some(share_done(job)).filter(|share| !share.is_empty()), left];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The result of a job, or why it ended without one.
fn outcome(job: &v1::Job) -> String {
    match &job.result {
        Some(v1::JobResult { moves: Some(moves), .. }) => format!("{} moves", units::count(*moves)),
        Some(_) if job.exit_code == ExitCode::NoGoal as u32 => NO_GOAL.to_owned(),
        Some(result) => extent(result.layers, result.states, result.positions),
        None if has_ended(job) => job.error.clone(),
        None => String::new(),
    }
}

/// The result of a search of the whole space that did not find the goal.
pub(crate) const NO_GOAL: &str = "no goal";

/// The extent of a searched space: its radius or, if the greatest depth is not the radius, its
/// positions.
pub(crate) fn extent(layers: u32, states: u64, positions: u64) -> String {
    match radius(layers, states, positions) {
        Some(radius) => format!("radius {}", units::count(u64::from(radius))),
        None => format!("{} positions", units::count(positions)),
    }
}

/// Workers and unfinished jobs of a cluster.
pub(crate) fn cluster(
    url: &str,
    workers: &[v1::WorkerInfo],
    unfinished: &[v1::Job],
    shape: Shape,
    out: &mut impl Write,
) -> io::Result<()> {
    const WORKERS: [Column; 8] = [
        ("worker", Kind::Right),
        ("name", Kind::Cut(8)),
        ("state", Kind::Left),
        ("threads", Kind::Right),
        ("budget", Kind::Right),
        ("resident", Kind::Right),
        ("disk free", Kind::Right),
        ("address", Kind::Left),
    ];
    let alive = workers.iter().filter(|worker| worker.alive).count();
    writeln!(out, "{url}: {alive} of {} workers alive", workers.len())?;
    if !workers.is_empty() {
        let rows = workers.iter().map(|worker| {
            let silence = Duration::from_millis(worker.silent_ms).as_secs_f64();
            let state = match (worker.alive, worker.leaving) {
                (true, true) => "leaving".to_owned(),
                (true, false) => "alive".to_owned(),
                (false, true) => "stopped".to_owned(),
                (false, false) => format!("silent for {}", units::seconds(silence)),
            };
            [
                worker.number.to_string(),
                worker.name.clone(),
                state,
                worker.threads.to_string(),
                units::bytes(worker.memory_bytes),
                units::bytes(worker.rss_bytes),
                units::bytes(worker.disk_free_bytes),
                if_wide(shape, || worker.address.clone()),
            ]
        });
        table::write(WORKERS, &rows.collect::<Vec<_>>(), (shape.width(), &[]), out)?;
    }
    writeln!(out)?;
    if unfinished.is_empty() {
        return writeln!(out, "no unfinished jobs");
    }
    jobs(unfinished, shape, out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::record::tests::job as example;
    use crate::client::record::time;

    fn text(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn shape(wide: bool) -> Shape {
        Shape { wide, now: time((1_795_266_000 + 7200) * 1000) }
    }

    fn running() -> v1::Job {
        v1::Job {
            depth: Some(1041),
            states: 1_425_792_621,
            workers: 2,
            worker_names: ["host-1:7071", "host-2"].map(str::to_owned).to_vec(),
            checkpoint: Some(1029),
            checkpoint_at: Some(1_795_266_000 + 7188),
            work_done: Some(0.429),
            eta_low_seconds: Some(200.0),
            eta_high_seconds: Some(500.0),
            states_per_second: Some(19.4e6),
            ..example(v1::JobState::Running)
        }
    }

    #[test]
    fn running_jobs_show_their_progress() {
        let queued = v1::Job { id: "x".to_owned(), ..example(v1::JobState::Queued) };
        assert_eq!(
            text(|out| jobs(&[running(), queued], shape(false), out)),
            "job             state    engine    depth  states  states/s  saved  result\n\
             panex-3-aaaaaa  running  explicit  1,041  1.43e9    19.4 M  12s    42 %, 8m left\n\
             x               queued   explicit      -       0\n"
        );
        let wide = text(|out| jobs(&[running()], shape(true), out));
        for cell in ["panex 3", "1,425,792,621", "3m to 8m", "1,029 (12s)", "host-1:7071, host-2"] {
            assert!(wide.contains(cell), "{cell}: {wide}");
        }
    }

    #[test]
    fn ended_jobs_show_their_results_and_reasons() {
        let result = |moves| {
            let result = v1::JobResult { moves, layers: 21, ..Default::default() };
            v1::Job { result: Some(result), ..running() }
        };
        let done = |moves| v1::Job { state: v1::JobState::Done.into(), ..result(moves) };
        let error =
            "worker host-2 is lost and holds files of the checkpoint of layer 1,029".to_owned();
        let failed = v1::Job { error, ..example(v1::JobState::Failed) };
        let without_goal = v1::Job { exit_code: ExitCode::NoGoal as u32, ..done(None) };
        let ended = [done(Some(42)), done(None), failed, without_goal];
        let table = text(|out| jobs(&ended, shape(false), out));
        let lines: Vec<&str> = table.lines().collect();
        // Columns that only running jobs fill are left out.
        assert_eq!(lines[0], "job             state   engine    depth  states  age  result");
        assert!(
            lines[1].ends_with("2h  42 moves") && lines[2].ends_with("2h  radius 21"),
            "{table}"
        );
        assert!(lines[3].contains("2h  worker host-2") && lines[3].ends_with('…'), "{table}");
        assert!(lines[4].ends_with("2h  no goal"), "{table}");
    }

    #[test]
    fn lines_have_at_most_80_characters() {
        let long = v1::Job {
            id: "puzzle-of-a-long-name-and-many-pieces-aaaaaa".to_owned(),
            name: "a-name-of-64-characters-".repeat(3)[..64].to_owned(),
            spec: running()
                .spec
                .map(|spec| v1::JobSpec { engine: "symbolic-lean".to_owned(), ..spec }),
            states_per_second: Some(423e6),
            depth: Some(15_769),
            ..running()
        };
        let ended = v1::Job { error: "x".repeat(200), ..example(v1::JobState::Cancelled) };
        let table = text(|out| jobs(&[long.clone(), ended.clone()], shape(false), out));
        let width = table.lines().map(|line| line.chars().count()).max();
        assert!(width <= Some(WIDTH), "{width:?}: {table}");
        let table = text(|out| jobs(std::slice::from_ref(&long), shape(false), out));
        assert!(table.lines().all(|line| line.chars().count() <= WIDTH), "{table}");
        let wide = text(|out| jobs(&[long, ended], shape(true), out));
        assert!(wide.contains("many-pieces-aaaaaa") && wide.contains(&"x".repeat(200)), "{wide}");
    }

    #[test]
    fn the_priority_column_appears_if_a_priority_is_set() {
        let of = |priority| {
            let options = Some(v1::JobOptions { priority, ..v1::JobOptions::default() });
            v1::Job { options, ..example(v1::JobState::Queued) }
        };
        let listed = text(|out| jobs(&[of(0), of(-3)], shape(false), out));
        let last = |line: usize| listed.lines().nth(line).unwrap().split_whitespace().last();
        assert_eq!([0, 1, 2].map(last), [Some("priority"), Some("0"), Some("-3")], "{listed}");
        assert!(!text(|out| jobs(&[of(0)], shape(false), out)).contains("priority"));
    }

    #[test]
    fn paused_jobs_say_why() {
        let waiting =
            v1::Job { waiting_for: vec!["w2".to_owned()], ..example(v1::JobState::Waiting) };
        assert!(text(|out| jobs(&[waiting], shape(false), out)).contains("  for w2\n"));
        let paused = v1::Job { error: "no room".to_owned(), ..example(v1::JobState::Waiting) };
        let table = text(|out| jobs(&[paused], shape(false), out));
        assert!(table.contains("  paused  "), "{table}");
        assert!(table.ends_with("\npanex-3-aaaaaa is paused: no room\n"), "{table}");
    }

    #[test]
    fn the_cluster_view_lists_workers_and_unfinished_jobs() {
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
            leaving: false,
            machine: None,
        };
        let workers = [worker(0, true), worker(1, false)];
        for (alive, state) in [(true, "  leaving  "), (false, "  stopped  ")] {
            let gone = [v1::WorkerInfo { leaving: true, ..worker(0, alive) }];
            let text = text(|out| cluster("http://c:1", &gone, &[], shape(false), out));
            assert!(text.contains(state), "{text}");
        }
        assert_eq!(
            text(|out| cluster("http://c:1", &workers, &[], shape(false), out)),
            "http://c:1: 1 of 2 workers alive\n\
             worker  name    state              threads   budget  resident  disk free\n     \
             0  host-0  alive                    2  1.0 GiB    61 MiB    5.0 GiB\n     \
             1  host-1  silent for 42.0 s        2  1.0 GiB    61 MiB    5.0 GiB\n\
             \n\
             no unfinished jobs\n"
        );
        let table = text(|out| cluster("http://c:1", &workers, &[], shape(true), out));
        assert!(table.contains("http://a:1\n"), "{table}");
        let jobs = [example(v1::JobState::Running)];
        let text = text(|out| cluster("http://c:1", &[], &jobs, shape(false), out));
        assert!(text.starts_with("http://c:1: 0 of 0 workers alive\n\njob "), "{text}");
    }
}
