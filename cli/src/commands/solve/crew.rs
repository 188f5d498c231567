//! The workers of this process. The first works in the driver's own thread, so that a layer costs
//! a single worker no switch of threads; each other one has a thread of its own.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;

use strata::{Answer, Done, LayerNumbers, Order};
use strata::{Budget, LayerReport, Restore, Setup, SymbolicWorker, Work, Worker};
use strata_explicit::{Engine, Exchange, LocalExchange};
use strata_store::{EncodeOptions, JobDir, StoreError};

use super::run::Search;
use crate::cli::SolveArgs;

/// The workers.
pub(super) struct Crew {
    own: Box<dyn Work>,
    others: Vec<(Sender<Order>, JoinHandle<()>)>,
    answers: Receiver<Answer<StoreError>>,
    folder: JobDir,
    /// What each worker loads, by number.
    restore: Arc<[Restore]>,
}

impl Crew {
    /// Workers without any states.
    pub(super) fn new(
        setups: Vec<Setup>,
        engine: &Arc<Engine>,
        folder: &JobDir,
        restore: Arc<[Restore]>,
    ) -> Result<Crew, StoreError> {
        let inboxes = setups.iter().map(|setup| setup.inbox().map(Arc::new));
        let inboxes = inboxes.collect::<Result<Vec<_>, _>>()?;
        let exchange: Arc<dyn Exchange> = Arc::new(LocalExchange::new(inboxes.clone()));
        let workers = setups.into_iter().zip(inboxes).map(|(setup, inbox)| {
            Worker::new(setup, Arc::clone(engine), inbox, Arc::clone(&exchange))
        });
        let mut workers = workers.collect::<Result<Vec<_>, _>>()?;
        let (reports, answers) = mpsc::channel();
        let others = workers.drain(1..).enumerate().map(|(index, worker)| {
            let (orders, received) = mpsc::channel();
            let (reports, restore) = (reports.clone(), Arc::clone(&restore));
            let thread = std::thread::Builder::new().name(format!("worker-{}", index + 1));
            let thread =
                thread.spawn(move || follow(index + 1, worker, &restore, &received, &reports));
            let thread = thread.map_err(|source| StoreError::Io {
                op: "start a thread for",
                path: folder.path().to_owned(),
                source,
            });
            Ok((orders, thread?))
        });
        let others = others.collect::<Result<Vec<_>, StoreError>>()?;
        let own = Box::new(workers.pop().ok_or_else(|| stopped(0, folder))?);
        Ok(Crew { own, others, answers, folder: folder.clone(), restore })
    }
}

impl Crew {
    /// The only worker of a symbolic search.
    pub(super) fn single(worker: SymbolicWorker, folder: &JobDir, restore: Arc<[Restore]>) -> Crew {
        let (_, answers) = mpsc::channel();
        let folder = folder.clone();
        Crew { own: Box::new(worker), others: Vec::new(), answers, folder, restore }
    }
}

impl strata::WorkerPool for Crew {
    type Error = StoreError;

    fn run(&mut self, order: Order) -> Result<Vec<Answer<StoreError>>, StoreError> {
        let mut waiting = 0;
        for (orders, _) in &self.others {
            // One that cannot be told has ended, and has said so.
            waiting += usize::from(orders.send(order).is_ok());
        }
        let mut answers = vec![obey(0, &mut *self.own, &self.restore, order)];
        answers.extend(self.answers.iter().take(waiting));
        Ok(answers)
    }

    fn make_room(&mut self) -> Result<bool, StoreError> {
        // The exits are used up: they are sent again when the job is resumed.
        self.folder.remove_others(|name| !name.starts_with("run-"))?;
        Ok(true)
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        for (orders, thread) in self.others.drain(..) {
            drop(orders);
            // A panic there has been reported as an answer.
            let _ = thread.join();
        }
    }
}

/// The worker by shard: each has its share, one after the other.
pub(super) fn owners(shards: u32, workers: usize) -> Arc<[u16]> {
    let all = shards as usize;
    (0..all).map(|shard| (shard * workers / all) as u16).collect()
}

/// What each worker is made of.
pub(super) fn setups(
    search: &Search,
    budget: Budget,
    args: &SolveArgs,
    folder: &JobDir,
) -> Vec<Setup> {
    let workers = args.workers;
    let owners = owners(search.spec.shards, workers);
    let setup = |worker| Setup {
        worker,
        owners: Arc::clone(&owners),
        threads: args.threads,
        budget,
        encode: EncodeOptions::default(),
        keep: args.keep_layers,
        folder: folder.clone(),
    };
    (0..workers).map(setup).collect()
}

fn follow(
    number: usize,
    mut worker: Worker,
    restore: &[Restore],
    orders: &Receiver<Order>,
    reports: &Sender<Answer<StoreError>>,
) {
    for order in orders {
        let answer = catch_unwind(AssertUnwindSafe(|| obey(number, &mut worker, restore, order)));
        let panicked = answer.is_err();
        let failed = |_| Answer { worker: number, done: Err(panic_error(number)) };
        if reports.send(answer.unwrap_or_else(failed)).is_err() || panicked {
            return;
        }
    }
}

fn obey(
    number: usize,
    worker: &mut dyn Work,
    restore: &[Restore],
    order: Order,
) -> Answer<StoreError> {
    let done = match order {
        Order::Seed => worker.seed().map(layer),
        Order::Restore => worker.restore(&restore[number]).map(layer),
        Order::Advance { .. } => worker.advance().map(layer),
        Order::Save { depth } => worker.save().map(|records| Done::Saved { depth, records }),
        Order::Saved { .. } => worker.saved().map(|()| Done::Acknowledged),
    };
    Answer { worker: number, done }
}

fn layer(report: LayerReport) -> Done {
    let LayerReport { depth, stats, bytes, kept, disk_bytes, disk_left, spilled_bytes, .. } =
        report;
    let numbers = LayerNumbers {
        states: stats.states,
        regions: stats.regions,
        generated: stats.generated,
        digest: stats.digest,
        odd: stats.odd,
        even: stats.even,
        found: stats.found,
        bytes,
        disk_peak: disk_bytes,
        disk_left,
        spilled: spilled_bytes,
        kept,
    };
    Done::Layer { depth, numbers: Box::new(numbers), waiting: report.waiting }
}

/// The panic has printed what happened; this says what became of it.
fn panic_error(worker: usize) -> StoreError {
    StoreError::Io {
        op: "go on with",
        path: format!("worker {worker}").into(),
        source: std::io::Error::other("it panicked"),
    }
}

fn stopped(worker: usize, folder: &JobDir) -> StoreError {
    StoreError::Io {
        op: "work in",
        path: folder.path().to_owned(),
        source: std::io::Error::other(format!("there is no worker {worker}")),
    }
}
