//! Worker pool of one process.
//!
//! Explicit workers share the threads of the pool, usually at most one per processor, since separate
//! threads for each worker would wait for each other. The driver's thread is one of the pool's, so a
//! narrow layer costs no thread switch.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::available_parallelism;

use strata_engine::explicit::{Engine, Exchange, LocalExchange, Pass};
use strata_store::JobDir;

use super::error::{Result, WorkerError};
use super::part::{Found, PassPart};
use super::restore::Restore;
use super::threads::Threads;
use super::work::Work;
use super::worker::{Setup, Worker};
use crate::plan::driver::{Done, Order, WorkerPool};
use crate::plan::report::LayerReport;

/// Workers of one process.
pub(crate) struct LocalPool {
    workers: Workers,
    threads: Arc<Threads>,
    folder: JobDir,
    /// The checkpoint files of each worker, by worker number.
    restore: Arc<[Restore]>,
}

enum Workers {
    /// Workers of the explicit engine, whose passes over a layer run together, in steps.
    Explicit(Vec<Worker>),
    /// Workers of other engines. Each is called on a thread of the pool and has further threads of its own.
    Others(Vec<Box<dyn Work>>),
}

impl LocalPool {
    /// Explicit workers without states, one for each setup.
    ///
    /// # Errors
    /// If a thread cannot be started or a compression context cannot be allocated.
    pub(crate) fn explicit(
        setups: Vec<Setup>,
        engine: &Arc<Engine>,
        folder: &JobDir,
        restore: Arc<[Restore]>,
    ) -> Result<LocalPool> {
        let inboxes = setups.iter().map(|setup| setup.inbox().map(Arc::new));
        let inboxes = inboxes.collect::<Result<Vec<_>>>()?;
        let exchange: Arc<dyn Exchange> = Arc::new(LocalExchange::new(inboxes.clone()));
        let threads = Arc::new(Threads::new(threads(&setups))?);
        let workers = setups.into_iter().zip(inboxes).map(|(setup, inbox)| {
            let (engine, exchange) = (Arc::clone(engine), Arc::clone(&exchange));
            Worker::on_threads(setup, engine, inbox, exchange, Arc::clone(&threads))
        });
        let workers = Workers::Explicit(workers.collect::<Result<_>>()?);
        Ok(LocalPool { workers, threads, folder: folder.clone(), restore })
    }

    /// Workers of another engine, by number.
    ///
    /// # Errors
    /// If a thread cannot be started.
    pub(crate) fn new(
        workers: Vec<Box<dyn Work>>,
        folder: &JobDir,
        restore: Arc<[Restore]>,
    ) -> Result<LocalPool> {
        let threads = Arc::new(Threads::new(workers.len().max(1))?);
        let workers = Workers::Others(workers);
        Ok(LocalPool { workers, threads, folder: folder.clone(), restore })
    }
}

impl WorkerPool for LocalPool {
    type Error = WorkerError;

    fn workers(&self) -> usize {
        match &self.workers {
            Workers::Explicit(workers) => workers.len(),
            Workers::Others(workers) => workers.len(),
        }
    }

    fn run(&mut self, order: Order) -> Result<Vec<Result<Done>>> {
        let (threads, restore) = (&*self.threads, &*self.restore);
        let workers: Vec<&mut dyn Work> = match &mut self.workers {
            Workers::Explicit(workers) if matches!(order, Order::Advance { .. }) => {
                return Ok(advance(workers, threads));
            }
            Workers::Explicit(workers) => workers.iter_mut().map(|worker| worker as _).collect(),
            Workers::Others(workers) => {
                workers.iter_mut().map(|worker| &mut **worker as _).collect()
            }
        };
        Ok(execute_all(workers, threads, restore, &order))
    }

    fn make_room(&mut self) -> Result<bool> {
        // The exits are consumed, so their files can go: a resumed job sends the exits again.
        self.folder.remove_others(|name| !name.starts_with("run-"))?;
        Ok(true)
    }
}

/// The number of threads for all workers: at most as many as processors, unless a single worker is set to
/// have more.
fn threads(setups: &[Setup]) -> usize {
    let processors = available_parallelism().map_or(1, usize::from);
    let most = setups.iter().map(|setup| setup.threads).max().unwrap_or(1).max(processors);
    setups.iter().map(|setup| setup.threads).sum::<usize>().clamp(1, most)
}

/// Makes the next layer of all workers.
fn advance(workers: &mut [Worker], threads: &Threads) -> Vec<Result<Done>> {
    let begin = |(number, worker): (usize, &mut Worker)| caught(number, || worker.begin());
    let passes: Vec<Result<Pass>> = workers.iter_mut().enumerate().map(begin).collect();
    let mut parts: Vec<Vec<PassPart<'_>>> = Vec::new();
    for (worker, pass) in workers.iter_mut().zip(&passes) {
        parts.push(pass.as_ref().map_or_else(|_| Vec::new(), |pass| worker.parts(pass)));
    }
    threads.run(parts.iter_mut().flatten());
    let found = |(number, parts): (usize, Vec<PassPart<'_>>)| {
        caught(number, || parts.into_iter().filter_map(PassPart::found).collect())
    };
    let found: Vec<Result<Vec<Found>>> = parts.into_iter().enumerate().map(found).collect();
    let ends = workers.iter_mut().zip(passes).zip(found).enumerate();
    let done = |(number, ((worker, pass), found)): (usize, ((&mut Worker, _), _))| {
        caught(number, || Ok(layer(worker.finish(pass?, found?)?)))
    };
    ends.map(done).collect()
}

/// Executes an order at all workers, each on a thread.
fn execute_all(
    mut workers: Vec<&mut dyn Work>,
    threads: &Threads,
    restore: &[Restore],
    order: &Order,
) -> Vec<Result<Done>> {
    let numbers: Vec<usize> = (0..workers.len()).collect();
    threads.each(&mut workers, &numbers, |worker, number| {
        caught(number, || execute(&mut **worker, restore.get(number), order))
    })
}

/// Executes the work of a worker; a panic becomes an error.
fn caught<T>(worker: usize, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let done = catch_unwind(AssertUnwindSafe(work));
    done.unwrap_or(Err(WorkerError::Panicked { worker }))
}

fn execute(worker: &mut dyn Work, restore: Option<&Restore>, order: &Order) -> Result<Done> {
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
    Done::Layers(vec![report])
}
