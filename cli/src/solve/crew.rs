//! The workers of this process. The first works in the driver's own thread, so that a layer costs
//! a single worker no switch of threads; each other one has a thread of its own.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;

use strata_search::{Engine, Exchange, LocalExchange};
use strata_store::{EncodeOptions, JobDir, LayerRecord, StoreError};
use strata_worker::{Keep, LayerReport, Restore, Setup, Worker};

use super::Search;
use crate::args::{KeepLayers, SolveArgs};

/// What all workers are told to do.
#[derive(Clone)]
pub(super) enum Order {
    /// Make layer 0.
    Seed,
    /// Load a checkpoint.
    Restore(Arc<Restore>),
    /// Make the next layer.
    Advance,
    /// Make the two last layers durable.
    Save,
    /// The checkpoint is durable.
    Saved,
}

/// What a worker has done.
pub(super) enum Done {
    /// It has made or loaded a layer.
    Layer(Box<LayerReport>),
    /// Its part of a checkpoint is durable.
    Saved(Vec<LayerRecord>),
    /// It has taken note.
    Noted,
}

/// A worker's answer to an order.
pub(super) struct Answer {
    /// The worker's number.
    pub(super) worker: usize,
    /// The depth of its last layer.
    pub(super) depth: u32,
    /// What became of the order.
    pub(super) done: Result<Done, StoreError>,
}

/// The workers.
pub(super) struct Crew {
    own: Worker,
    others: Vec<(Sender<Order>, JoinHandle<()>)>,
    answers: Receiver<Answer>,
}

impl Crew {
    /// Workers without any states.
    pub(super) fn new(
        search: &Search,
        engine: &Arc<Engine>,
        args: &SolveArgs,
        folder: &JobDir,
    ) -> Result<Crew, StoreError> {
        let setups: Vec<Setup> = setups(search, args, folder);
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
            let reports = reports.clone();
            let thread = std::thread::Builder::new().name(format!("worker-{}", index + 1));
            let thread = thread.spawn(move || follow(index + 1, worker, &received, &reports));
            let thread = thread.map_err(|source| StoreError::Io {
                op: "start a thread for",
                path: folder.path().to_owned(),
                source,
            });
            Ok((orders, thread?))
        });
        let others = others.collect::<Result<Vec<_>, StoreError>>()?;
        let own = workers.pop().ok_or_else(|| stopped(0, folder))?;
        Ok(Crew { own, others, answers })
    }

    /// Gives all workers an order and waits for all of them.
    pub(super) fn run(&mut self, order: &Order) -> Vec<Answer> {
        let mut waiting = 0;
        for (orders, _) in &self.others {
            // One that cannot be told has ended, and has said so.
            waiting += usize::from(orders.send(order.clone()).is_ok());
        }
        let mut answers = vec![obey(0, &mut self.own, order)];
        answers.extend(self.answers.iter().take(waiting));
        answers
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

fn setups(search: &Search, args: &SolveArgs, folder: &JobDir) -> Vec<Setup> {
    let (shards, workers) = (search.spec.shards as usize, args.workers);
    let owners: Arc<[u16]> = (0..shards).map(|shard| (shard * workers / shards) as u16).collect();
    let keep = match args.keep_layers {
        KeepLayers::All => Keep::All,
        KeepLayers::Last => Keep::Last,
        KeepLayers::Every(step) => Keep::Every(step.get()),
    };
    let setup = |worker| Setup {
        worker,
        owners: Arc::clone(&owners),
        threads: args.threads,
        budget: search.budget,
        encode: EncodeOptions::default(),
        keep,
        folder: folder.clone(),
    };
    (0..workers).map(setup).collect()
}

fn follow(number: usize, mut worker: Worker, orders: &Receiver<Order>, reports: &Sender<Answer>) {
    for order in orders {
        let answer = catch_unwind(AssertUnwindSafe(|| obey(number, &mut worker, &order)));
        let panicked = answer.is_err();
        let answer = answer.unwrap_or_else(|_| Answer {
            worker: number,
            depth: 0,
            done: Err(panic_error(number)),
        });
        if reports.send(answer).is_err() || panicked {
            return;
        }
    }
}

fn obey(number: usize, worker: &mut Worker, order: &Order) -> Answer {
    let layer = |report| Done::Layer(Box::new(report));
    let done = match order {
        Order::Seed => worker.seed().map(layer),
        Order::Restore(from) => worker.restore(from).map(layer),
        Order::Advance => worker.advance().map(layer),
        Order::Save => worker.save().map(Done::Saved),
        Order::Saved => worker.saved().map(|()| Done::Noted),
    };
    Answer { worker: number, depth: worker.depth(), done }
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
