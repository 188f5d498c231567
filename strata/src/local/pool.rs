//! Worker pool of one process.
//!
//! The first worker runs on the driver's own thread, so a layer costs a single worker no thread
//! switch. Every other worker has its own thread.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;

use strata_explicit::{Engine, Exchange, LocalExchange};
use strata_store::JobDir;

use super::error::WorkerError;
use super::restore::Restore;
use super::work::Work;
use super::worker::{LayerReport, Setup, Worker};
use crate::plan::driver::{Answer, Done, Order, WorkerPool};
use crate::plan::sums::LayerPart;

/// Workers of one process.
pub(crate) struct LocalPool {
    first: Box<dyn Work>,
    others: Vec<(Sender<Order>, JoinHandle<()>)>,
    answers: Receiver<Answer<WorkerError>>,
    folder: JobDir,
    /// The checkpoint files of each worker, by worker number.
    restore: Arc<[Restore]>,
}

impl LocalPool {
    /// Explicit workers without states, one for each setup.
    ///
    /// # Errors
    /// If a thread cannot be started or memory for compression cannot be had.
    pub(crate) fn explicit(
        setups: Vec<Setup>,
        engine: &Arc<Engine>,
        folder: &JobDir,
        restore: Arc<[Restore]>,
    ) -> Result<LocalPool, WorkerError> {
        let inboxes = setups.iter().map(|setup| setup.inbox().map(Arc::new));
        let inboxes = inboxes.collect::<Result<Vec<_>, _>>()?;
        let exchange: Arc<dyn Exchange> = Arc::new(LocalExchange::new(inboxes.clone()));
        let workers = setups.into_iter().zip(inboxes).map(|(setup, inbox)| {
            Worker::new(setup, Arc::clone(engine), inbox, Arc::clone(&exchange))
                .map(|worker| Box::new(worker) as Box<dyn Work>)
        });
        LocalPool::new(workers.collect::<Result<Vec<_>, _>>()?, folder, restore)
    }

    /// Workers of one engine, by number.
    ///
    /// # Errors
    /// If there is none, or a thread cannot be started.
    pub(crate) fn new(
        workers: Vec<Box<dyn Work>>,
        folder: &JobDir,
        restore: Arc<[Restore]>,
    ) -> Result<LocalPool, WorkerError> {
        let (reports, answers) = mpsc::channel();
        let mut workers = workers.into_iter();
        let first = workers.next().ok_or(WorkerError::Ended { worker: 0 })?;
        let mut others = Vec::new();
        for (number, worker) in (1..).zip(workers) {
            let (orders, received) = mpsc::channel();
            let (reports, restore) = (reports.clone(), Arc::clone(&restore));
            let thread = std::thread::Builder::new()
                .name(format!("worker-{number}"))
                .spawn(move || run_loop(number, worker, &restore, &received, &reports))
                .map_err(|source| WorkerError::Thread { worker: number, source })?;
            others.push((orders, thread));
        }
        Ok(LocalPool { first, others, answers, folder: folder.clone(), restore })
    }
}

impl WorkerPool for LocalPool {
    type Error = WorkerError;

    fn run(&mut self, order: Order) -> Result<Vec<Answer<WorkerError>>, WorkerError> {
        let mut awaited = 0;
        for (index, (orders, _)) in self.others.iter().enumerate() {
            orders.send(order.clone()).map_err(|_| WorkerError::Ended { worker: index + 1 })?;
            awaited += 1;
        }
        let mut answers = vec![execute_caught(0, &mut *self.first, &self.restore, &order)];
        answers.extend(self.answers.iter().take(awaited));
        Ok(answers)
    }

    fn make_room(&mut self) -> Result<bool, WorkerError> {
        // The exits are used up: a resumed job sends them again.
        self.folder.remove_others(|name| !name.starts_with("run-"))?;
        Ok(true)
    }
}

impl Drop for LocalPool {
    fn drop(&mut self) {
        for (orders, thread) in self.others.drain(..) {
            drop(orders);
            // A panic there has been reported as an answer.
            let _ = thread.join();
        }
    }
}

fn run_loop(
    number: usize,
    mut worker: Box<dyn Work>,
    restore: &[Restore],
    orders: &Receiver<Order>,
    reports: &Sender<Answer<WorkerError>>,
) {
    for order in orders {
        let answer = execute_caught(number, &mut *worker, restore, &order);
        let panicked = matches!(answer.done, Err(WorkerError::Panicked { .. }));
        if reports.send(answer).is_err() || panicked {
            return;
        }
    }
}

/// Executes an order; a panic becomes the worker's answer.
fn execute_caught(
    number: usize,
    worker: &mut dyn Work,
    restore: &[Restore],
    order: &Order,
) -> Answer<WorkerError> {
    let done = catch_unwind(AssertUnwindSafe(|| execute(worker, restore.get(number), order)));
    let done = done.unwrap_or(Err(WorkerError::Panicked { worker: number }));
    Answer { worker: number, done }
}

fn execute(
    worker: &mut dyn Work,
    restore: Option<&Restore>,
    order: &Order,
) -> Result<Done, WorkerError> {
    Ok(match order {
        Order::Seed => layer(worker.seed()?),
        Order::Restore => layer(worker.restore(restore.ok_or(WorkerError::NoCheckpoint)?)?),
        Order::Advance { files, .. } => layer(worker.advance(files)?),
        Order::Save { depth } => Done::Saved { depth: *depth, records: worker.save()? },
        Order::Saved { .. } => {
            worker.saved()?;
            Done::Acknowledged
        }
    })
}

fn layer(report: LayerReport) -> Done {
    let LayerReport { depth, stats, bytes, kept, shared, waiting, .. } = report;
    let part = LayerPart {
        stats,
        bytes,
        disk_peak: report.disk_bytes,
        disk_left: report.disk_left,
        spilled: report.spilled_bytes,
        kept,
        shared: shared.map(Box::new),
    };
    Done::Layer { depth, part: Box::new(part), waiting }
}
