//! Simulates clusters with the faults of many seeds, or repeats one seed with its log.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};

use clap::Parser;
use strata_testing::simulation::{self, Reached};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Simulates clusters under faults. Ends with 1 if one of them went wrong.
#[derive(Parser)]
struct Args {
    /// Number of seeds.
    #[arg(long, default_value_t = 1)]
    seeds: u64,
    /// The first seed.
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// Threads, with a cluster each.
    #[arg(long, default_value_t = std::thread::available_parallelism().map_or(1, usize::from))]
    threads: usize,
    /// Ends after the first run that goes wrong.
    #[arg(long)]
    until_failure: bool,
    /// Ends with 1, too, if a rare state is reached by none of the runs.
    #[arg(long)]
    reach: bool,
    /// Writes what nodes log, such as `info` or `strata_worker=debug`.
    #[arg(long)]
    log: Option<Targets>,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let reached = Reached::default();
    let log = args.log.clone().map(|filter| {
        tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_filter(filter)
    });
    let counts = reached.clone().with_filter(Reached::filter());
    tracing_subscriber::registry().with(counts).with(log).init();
    let (next, failed) = (AtomicU64::new(args.from), AtomicU64::new(0));
    let (together, by_priority) = (AtomicU64::new(0), AtomicU64::new(0));
    let faults = Mutex::new(BTreeMap::<String, u32>::new());
    let simulate = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            let is_over = args.until_failure && failed.load(Ordering::Relaxed) > 0;
            if is_over || seed >= args.from + args.seeds {
                return;
            }
            match simulation::run(seed) {
                Ok(outcome) => {
                    if args.seeds == 1 {
                        println!("{outcome:?}");
                    }
                    together.fetch_add(u64::from(outcome.together > 1), Ordering::Relaxed);
                    by_priority.fetch_add(outcome.by_priority.into(), Ordering::Relaxed);
                    let mut sums = faults.lock().unwrap_or_else(PoisonError::into_inner);
                    for (kind, count) in outcome.faults {
                        *sums.entry(kind).or_default() += count;
                    }
                }
                Err(violation) => {
                    failed.fetch_add(1, Ordering::Relaxed);
                    println!("{violation}");
                }
            }
        }
    };
    std::thread::scope(|scope| (0..args.threads).for_each(|_| drop(scope.spawn(simulate))));
    let faults = faults.lock().unwrap_or_else(PoisonError::into_inner);
    let failed = failed.load(Ordering::Relaxed);
    println!(
        "{} seeds, {failed} failed; {} with jobs beside others, {} by priorities; faults: {faults:?}",
        args.seeds,
        together.into_inner(),
        by_priority.into_inner(),
    );
    println!("rare states: {:?}", reached.counts().collect::<BTreeMap<_, _>>());
    let missing: Vec<_> = reached.missing().collect();
    if args.reach && !missing.is_empty() {
        println!("not reached: {missing:?}");
    }
    let is_ok = failed == 0 && (!args.reach || missing.is_empty());
    if is_ok { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
