//! Clusters under schedules of faults, each made from a seed: `scripts/chaos`.
//!
//! Every job ends with the layers and the result of a search in one process, or with an exit code
//! that `docs/recovery.md` lists for a fault of the run. Jobs that end early are resumed after the
//! faults, and then end with the right result.

mod damage;
mod fault;
mod inject;
mod jobs;
mod schedule;

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use fault::{Fault, Node, workers};
use inject::Target;
use jobs::Jobs;
use schedule::Schedule;

use crate::cluster::harness::eventually;
use crate::cluster::removal::folders;
use crate::common::expect;

/// Interval of the loop that injects faults.
const TICK: Duration = Duration::from_millis(20);

/// Time after the last fault within which all jobs must end with the right result.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Statistics of all runs.
#[derive(Default)]
struct Figures {
    faults: BTreeMap<String, u32>,
    effects: BTreeMap<String, u32>,
    ends: BTreeMap<String, u32>,
    notes: BTreeMap<String, u32>,
}

/// Runs a schedule to its end.
fn run(schedule: &Schedule, target: &mut Target, jobs: &mut Jobs) {
    jobs.supply();
    jobs.poll(target);
    jobs.until_running();
    let begun = Instant::now();
    let mut timeline = timeline(schedule);
    while let Some((at, number, is_end)) = timeline.pop() {
        while begun.elapsed() < at {
            jobs.poll(target);
            jobs.supply();
            target.check();
            std::thread::sleep(TICK);
        }
        let fault = &schedule.events[number].fault;
        match (fault, is_end) {
            (Fault::RemovedJob { place }, false) => jobs.remove(*place, target),
            (Fault::Collected, false) => jobs.collect(target),
            (_, true) => target.end(number, fault),
            (_, false) => target.begin(number, fault),
        }
    }
    let healed = Instant::now();
    while !(jobs.are_done() && target.is_whole()) {
        assert!(healed.elapsed() < TIMEOUT, "no end {TIMEOUT:?} after the last fault");
        jobs.poll(target);
        jobs.resume(target);
        target.check();
        std::thread::sleep(TICK);
    }
    // The cluster still serves jobs.
    let ran = expect(0, &mut target.cluster.client("submit hanoi 6 --exhaust --json --quiet"));
    assert_eq!(ran.event("result")["states"], 729, "{}", ran.stdout);
    if !schedule.loses_jobs() {
        remove_all(target);
    }
    target.check();
}

/// Removes all jobs, and asserts that nothing of them is left.
fn remove_all(target: &Target) {
    let cluster = &target.cluster;
    let gc = "gc --older-than 0s --state done,failed,cancelled,stopped";
    expect(0, &mut cluster.client(gc));
    let listed = expect(0, &mut cluster.client("list --json")).events("job_status");
    assert!(listed.is_empty(), "{listed:?}");
    for name in workers().map(Node::name) {
        eventually(&format!("{name} has no folder of a job"), || {
            folders(cluster, &name).is_empty()
        });
    }
}

/// Starts and ends of the faults, the last one first: time, number of the fault, and whether it is
/// the end.
fn timeline(schedule: &Schedule) -> Vec<(Duration, usize, bool)> {
    let events = schedule.events.iter().enumerate();
    let mut timeline: Vec<_> = events
        .flat_map(|(number, event)| {
            [(event.at, number, false), (event.at + event.lasts, number, true)]
        })
        .collect();
    timeline.sort();
    timeline.reverse();
    timeline
}

/// Runs the schedule of a seed. Prints what is needed to find the cause of a failure.
fn run_seed(seed: u64, is_tls: bool, figures: &mut Figures) -> bool {
    let schedule = Schedule::of(seed);
    print!("{schedule}");
    let begun = Instant::now();
    let mut target = Target::start(&schedule, is_tls);
    let mut jobs = Jobs::new(&schedule);
    let ran = catch_unwind(AssertUnwindSafe(|| run(&schedule, &mut target, &mut jobs)));
    for event in &schedule.events {
        *figures.faults.entry(event.fault.kind()).or_default() += 1;
    }
    for note in &target.notes {
        println!("  {note}");
        let what = note.split_once(": ").map_or(&**note, |(_, what)| what);
        *figures.notes.entry(what.to_owned()).or_default() += 1;
    }
    target.count(&mut figures.effects);
    if let Err(panic) = &ran {
        println!("FAILED: {}", message(&**panic));
        print!("{}", jobs.describe());
        println!("logs and data: {}", target.cluster.keep().display());
        println!(
            "again: scripts/chaos --runs 1 --seed {seed}{}",
            if is_tls { " --tls" } else { "" }
        );
        return false;
    }
    jobs.count(&mut figures.ends);
    let (faults, seconds) = (schedule.events.len(), begun.elapsed().as_secs_f64());
    println!("seed {seed}: ok, {faults} faults, {seconds:.1} s");
    true
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref().copied()).unwrap_or("a panic without a message")
}

/// A variable of the environment, which `scripts/chaos` sets.
fn variable(name: &str, default: u64) -> u64 {
    let value = std::env::var(name).ok();
    value.map_or(default, |value| value.parse().unwrap_or_else(|_| panic!("{name}: {value}")))
}

#[test]
#[ignore = "takes minutes: scripts/chaos"]
fn seeded_faults_change_no_layer_and_no_result() {
    let (runs, first) = (variable("CHAOS_RUNS", 1), variable("CHAOS_SEED", 1));
    let is_tls = variable("CHAOS_TLS", 0) == 1;
    let mut figures = Figures::default();
    let begun = Instant::now();
    let seeds = first..first + runs;
    let failed: Vec<u64> = seeds.filter(|seed| !run_seed(*seed, is_tls, &mut figures)).collect();
    println!("\n{runs} runs in {:.0} s, {} failed", begun.elapsed().as_secs_f64(), failed.len());
    println!("{} faults", figures.faults.values().sum::<u32>());
    for (title, counts) in [
        ("faults", &figures.faults),
        ("effects", &figures.effects),
        ("jobs", &figures.ends),
        ("notes", &figures.notes),
    ] {
        println!("{title}:");
        counts.iter().for_each(|(what, count)| println!("  {count:>5}  {what}"));
    }
    assert!(failed.is_empty(), "failed seeds: {failed:?}");
}
