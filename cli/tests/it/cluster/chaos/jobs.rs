//! The jobs of a run: submitted, followed, resumed, and compared with searches in one process.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::inject::Target;
use super::schedule::{JOBS, Schedule};
use crate::cluster::follower::{Expected, Follower};
use crate::common::Finished;

/// Pause before a client that could not submit a job tries again.
const RETRY: Duration = Duration::from_millis(500);

/// Number of times that a job is resumed after its files were restored. Then it counts as lost.
const RESUMES: u32 = 2;

/// Layers and results of the jobs.
fn expected(index: usize) -> &'static Expected {
    static EXPECTED: OnceLock<Vec<Expected>> = OnceLock::new();
    let all = EXPECTED.get_or_init(|| {
        let solve = |line: &&str| {
            // The expected layers come from the explicit engine in one process.
            let plain = line.replace("--engine symbolic", "").replace("--engine dense", "");
            let expected = Expected::of(&plain);
            assert_eq!(expected.result["states"], states(line), "{line}");
            expected
        };
        JOBS.iter().map(solve).collect()
    });
    &all[index]
}

/// Known numbers of states: those of Panex with both symmetries, 9!/2 boards, 3^8 and 4^10
/// positions, 8! orders, and those of TopSpin up to symmetries.
fn states(line: &str) -> u64 {
    let known = [
        ("panex 6", 4_078_382),
        ("panex 5", 218_855),
        ("tiles", 181_440),
        ("hanoi 8", 6561),
        ("hanoi 10", 1_048_576),
        ("lx 8", 40_320),
        ("lrx 8", 40_320),
        ("pancake 8", 40_320),
        ("topspin 8", 1335),
    ];
    known.iter().find(|(start, _)| line.starts_with(start)).expect("it is known").1
}

/// What a client does next about a job.
enum Next {
    /// The job runs.
    Follow(Follower),
    /// The job is to be submitted, or followed again under its name.
    Submit(Instant),
    /// The job ended early, and is resumed when the faults are over.
    Resume,
    /// The result was right.
    Done,
}

/// A job under one name.
struct Job {
    name: String,
    index: usize,
    next: Next,
    /// Whether it ended while no client followed it.
    has_ended: bool,
    /// Whether it is removed, or a removal is under way.
    is_removed: bool,
    /// Its id, once it has ended early.
    id: Option<String>,
    /// How often it was resumed.
    resumes: u32,
    /// Exit codes of clients that ended early.
    codes: Vec<i32>,
}

/// A command that removes jobs, repeated until it succeeds.
struct Removal {
    line: String,
    /// The running client, or the time at which the next one starts.
    client: Result<Follower, Instant>,
}

/// All jobs of a run.
pub(super) struct Jobs<'a> {
    schedule: &'a Schedule,
    jobs: Vec<Job>,
    removals: Vec<Removal>,
    /// Number of jobs that were lost for good and replaced.
    lost: u32,
}

impl<'a> Jobs<'a> {
    /// A run without jobs so far.
    pub(super) fn new(schedule: &'a Schedule) -> Jobs<'a> {
        Jobs { schedule, jobs: Vec::new(), removals: Vec::new(), lost: 0 }
    }

    /// Another job, to be submitted at once.
    fn add(&mut self, index: usize) {
        let name = format!("chaos-{}", self.jobs.len() as u32 + self.lost + 1);
        let next = Next::Submit(Instant::now());
        let (has_ended, is_removed, id, codes) = (false, false, None, Vec::new());
        self.jobs.push(Job { name, index, next, has_ended, is_removed, id, resumes: 0, codes });
    }

    /// Removes a job that the coordinator has accepted, even if it runs.
    pub(super) fn remove(&mut self, place: u64, target: &mut Target) {
        let is_known = |job: &&mut Job| !job.is_removed && job.known_id().is_some();
        let mut known: Vec<&mut Job> = self.jobs.iter_mut().filter(is_known).collect();
        if known.is_empty() {
            target.notes.push("no job to remove".to_owned());
            return;
        }
        let job = known.swap_remove(place as usize % known.len());
        job.is_removed = true;
        let line = format!("rm --force {}", job.known_id().expect("it is known"));
        if matches!(job.next, Next::Resume | Next::Submit(_)) {
            job.next = Next::Done;
        }
        self.run_removal(line, target);
    }

    /// Removes all jobs that are done.
    pub(super) fn collect(&mut self, target: &Target) {
        self.run_removal("gc --older-than 0s --state done".to_owned(), target);
    }

    fn run_removal(&mut self, line: String, target: &Target) {
        let client = Ok(target.cluster.follow(&line));
        self.removals.push(Removal { line, client });
    }

    /// Keeps some jobs in the queue.
    pub(super) fn supply(&mut self) {
        let is_busy = |job: &&Job| matches!(job.next, Next::Follow(_) | Next::Submit(_));
        while self.jobs.iter().filter(is_busy).count() < self.schedule.at_once {
            let number = self.jobs.len() % self.schedule.jobs.len();
            self.add(self.schedule.jobs[number]);
        }
    }

    /// Waits for the first layers of the first job.
    pub(super) fn until_running(&self) {
        if let Some(Job { next: Next::Follow(follower), .. }) = self.jobs.first() {
            follower.until_depth(3);
        }
    }

    /// Starts clients that are due, and handles those that have ended.
    pub(super) fn poll(&mut self, target: &Target) {
        let schedule = self.schedule;
        for job in &mut self.jobs {
            job.next = match std::mem::replace(&mut job.next, Next::Done) {
                Next::Submit(at) if Instant::now() >= at => {
                    let line = match job.has_ended {
                        true => format!("watch {}", job.name),
                        false => format!("submit {} --name {}", JOBS[job.index], job.name),
                    };
                    Next::Follow(target.cluster.follow(&line))
                }
                Next::Follow(mut follower) => match follower.is_running() {
                    true => Next::Follow(follower),
                    false => job.ended(&follower.finish(), schedule),
                },
                next => next,
            };
        }
        self.removals.retain_mut(|removal| !removal.is_over(target));
    }

    /// Whether all results were right and all removals have succeeded.
    pub(super) fn are_done(&self) -> bool {
        self.removals.is_empty() && self.jobs.iter().all(|job| matches!(job.next, Next::Done))
    }

    /// Resumes jobs that ended early, after the faults.
    pub(super) fn resume(&mut self, target: &Target) {
        let mut again = Vec::new();
        for job in &mut self.jobs {
            if !matches!(job.next, Next::Resume) {
                continue;
            }
            if job.resumes == RESUMES {
                assert!(
                    self.schedule.loses_jobs(),
                    "{} cannot be resumed: {:?}",
                    job.name,
                    job.codes
                );
                again.push(job.index);
                job.next = Next::Done;
                continue;
            }
            job.resumes += 1;
            if let Some(id) = &job.id {
                target.backups.restore(id);
            }
            job.next = Next::Follow(target.cluster.follow(&format!("resume {}", job.name)));
        }
        self.lost += again.len() as u32;
        again.into_iter().for_each(|index| self.add(index));
    }

    /// Counts how jobs ended: `done`, and the exit codes before.
    pub(super) fn count(&self, ends: &mut BTreeMap<String, u32>) {
        let mut add = |end: String, count: u32| *ends.entry(end).or_default() += count;
        for job in &self.jobs {
            for code in &job.codes {
                add(format!("exit code {code}, then resumed or submitted again"), 1);
            }
        }
        let removed = self.jobs.iter().filter(|job| job.is_removed).count() as u32;
        add("lost, submitted again as another job".to_owned(), self.lost);
        add("removed".to_owned(), removed);
        add("done, all layers right".to_owned(), self.jobs.len() as u32 - self.lost - removed);
        for job in self.jobs.iter().filter(|job| !job.is_removed) {
            add(format!("done: {}", JOBS[job.index]), 1);
        }
    }

    /// The state of each job, for a report.
    pub(super) fn describe(&self) -> String {
        let describe = |job: &Job| {
            let next = match &job.next {
                Next::Follow(follower) => format!("followed: {}", follower.tail()),
                Next::Submit(_) => "to be submitted".to_owned(),
                Next::Resume => "to be resumed".to_owned(),
                Next::Done => "done".to_owned(),
            };
            format!("  {} ({}), codes {:?}: {next}\n", job.name, JOBS[job.index], job.codes)
        };
        let removals = self.removals.iter().map(|removal| format!("  pending: {}\n", removal.line));
        self.jobs.iter().map(describe).chain(removals).collect()
    }
}

impl Removal {
    /// Handles the end of the client, and starts the next one when it is due. Returns whether the
    /// command has succeeded.
    fn is_over(&mut self, target: &Target) -> bool {
        let is_due = match &mut self.client {
            Ok(client) => !client.is_running(),
            Err(at) => Instant::now() >= *at,
        };
        if !is_due {
            return false;
        }
        let retry = Err(Instant::now() + RETRY);
        match std::mem::replace(&mut self.client, retry) {
            Err(_) => self.client = Ok(target.cluster.follow(&self.line)),
            Ok(client) => {
                let ran = client.finish();
                // 11: an earlier attempt, or the collection, has removed it. Otherwise the
                // coordinator was down, or its disk full.
                let code = ran.code.expect("the client was not killed");
                assert!([0, 4, 10, 11].contains(&code), "{}: {}", self.line, ran.stderr);
                return code == 0 || code == 11;
            }
        }
        false
    }
}

impl Job {
    /// Its id, if a client has shown it.
    fn known_id(&self) -> Option<String> {
        let Next::Follow(follower) = &self.next else { return self.id.clone() };
        let shown = Finished { code: None, stdout: follower.seen(), stderr: String::new() };
        id_of(&shown).or_else(|| self.id.clone())
    }

    /// Checks how a client ended. Every end but the right result must be permitted by a fault.
    fn ended(&mut self, ran: &Finished, schedule: &Schedule) -> Next {
        let code = ran.code.expect("the client was not killed");
        self.id = id_of(ran).or(self.id.take());
        let again = || Next::Submit(Instant::now() + RETRY);
        let last = ran.stderr.lines().last().unwrap_or_default();
        match code {
            0 => {
                expected(self.index).assert_printed(ran);
                return Next::Done;
            }
            // 4: it was cancelled. 2: it had ended when the client began.
            2 | 4 | 10 | 11 if self.is_removed => {
                expected(self.index).assert_prefix(ran);
                return Next::Done;
            }
            // The coordinator was down, or its disk full, when the client began.
            10 => return again(),
            4 if last.contains("is full: cannot write the journal") => {
                assert!(schedule.fills(super::fault::Node::Coordinator), "{last}");
                return again();
            }
            2 if last.contains("which has ended") => {
                self.has_ended = true;
                return again();
            }
            // A restored journal may have another state of the job: it is followed by its name.
            2 if last.contains("cannot be resumed") && schedule.loses_jobs() => return again(),
            _ => {}
        }
        self.codes.push(code);
        self.has_ended = false;
        assert!(schedule.permits(code), "{} ended with {code}: {}", self.name, ran.stderr);
        // The layers before the end must be right, too.
        expected(self.index).assert_prefix(ran);
        if code == 11 { again() } else { Next::Resume }
    }
}

/// The job's id, from what its client has printed.
fn id_of(ran: &Finished) -> Option<String> {
    ran.events("job").first().and_then(|job| job["job"].as_str().map(str::to_owned))
}
