//! Driver of a search, in one process or over a network: passes the plan's commands to the workers and
//! their answers back to the plan.

use std::sync::Arc;
use std::time::{Duration, Instant};

use strata_store::{CheckpointFile, LayerRecord, StoreError};

use super::machine::{Command, Input, Outcome, Plan, Publication, StopReason};
use super::refusal::Refusal;
use super::report::LayerReport;
use super::sums::Totals;

/// Number of waiting kept layers above which a checkpoint is due, since each of them holds a memory
/// mapping.
const MAX_WAITING: usize = 1024;

/// Order to all workers.
#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    /// Make layer 0.
    Seed,
    /// Load the checkpoint that the pool was made for.
    Restore,
    /// Make the layers of a window: the first one, and further ones while the pool needs no other order in
    /// between, at most up to `last`. All workers end the window at the same layer. One that is empty, has a
    /// meeting or has the goal ends it.
    Advance {
        /// Depth of the first layer.
        depth: u32,
        /// Depth at which the window ends at the latest.
        last: u32,
        /// Time until a checkpoint is due: no layer but the first is begun later.
        time: Duration,
        /// The files that the workers have shared of the layer before.
        files: Arc<[CheckpointFile]>,
    },
    /// Make the last two layers durable.
    Save {
        /// Depth of the last layer.
        depth: u32,
    },
    /// The checkpoint of this depth is durable.
    Saved {
        /// Depth of its last layer.
        depth: u32,
    },
}

/// Result of an order at one worker.
#[derive(Clone, Debug)]
pub enum Done {
    /// The worker has made or loaded its part of these layers: one, or those of a window, in order. The
    /// `seconds` of a layer of a window are from the order until the layer was complete.
    Layers(Vec<LayerReport>),
    /// The worker's part of a checkpoint is durable.
    Saved {
        /// Depth of the last layer.
        depth: u32,
        /// The files.
        records: Vec<CheckpointFile>,
    },
    /// The order is acknowledged.
    Acknowledged,
}

/// Failure of a worker pool or a checkpoint sink.
pub trait Retryable {
    /// The exhausted resource, if this is the only cause of the failure: the search can resume with more
    /// of it.
    fn exhausted(&self) -> Option<StopReason>;
}

impl Retryable for StoreError {
    fn exhausted(&self) -> Option<StopReason> {
        self.is_disk_full().then_some(StopReason::DiskFull)
    }
}

/// The workers of a search.
pub trait WorkerPool {
    /// Failure of a worker, or of the whole pool.
    type Error: Retryable;

    /// The number of workers.
    fn workers(&self) -> usize;

    /// Sends an order to all workers and waits until each has carried it out or failed. Returns a
    /// result for each worker, in the order of their numbers: this is the barrier of a search.
    ///
    /// # Errors
    /// If a worker does not answer, or if its failure leaves no layers that could be saved.
    fn run(&mut self, order: Order) -> Result<Vec<Result<Done, Self::Error>>, Self::Error>;

    /// Frees the disk space and memory of a next layer that all workers failed to make for lack of
    /// disk or memory, so that the two layers before can be saved. Returns false if this is
    /// impossible.
    ///
    /// # Errors
    /// If files cannot be removed.
    fn make_room(&mut self) -> Result<bool, Self::Error>;
}

/// Destination of layers and checkpoints, and source of stop requests.
pub trait CheckpointSink {
    /// Failure to record a layer or a checkpoint.
    type Error;

    /// Reason to stop after the layer that has just been made, if there is one.
    fn stop(&mut self, last: &LayerRecord) -> Option<StopReason>;

    /// Whether a checkpoint is due now although the interval has not passed.
    fn is_due(&mut self) -> bool {
        false
    }

    /// Search time of all runs until now, in seconds.
    fn seconds(&self) -> f64;

    /// Records a complete layer. `totals` includes it.
    ///
    /// # Errors
    /// If the layer cannot be recorded.
    fn commit(&mut self, layer: LayerRecord, totals: &Totals) -> Result<(), Self::Error>;

    /// Makes a checkpoint durable; `totals` are those of all layers committed so far.
    ///
    /// # Errors
    /// If the checkpoint cannot be made durable. The previous checkpoint then remains the last one.
    fn publish(&mut self, publication: Publication) -> Result<(), Self::Error>;

    /// Notifies that a layer was not made because of this error, an exhausted resource. The search stops
    /// with the two layers before it.
    fn abandoned(&mut self, error: &Self::Error);

    /// The current time, by which the driver decides when a checkpoint is due.
    fn now(&self) -> Instant {
        Instant::now()
    }

    /// Notifies that a checkpoint is complete, with its bytes and the time that it took.
    fn checkpointed(&mut self, depth: u32, bytes: u64, took: Duration);
}

/// Failure of a search.
#[derive(Debug)]
pub enum DriveError<E> {
    /// A worker or the sink failed.
    Failed(E),
    /// The plan refused an answer.
    Refused(Refusal),
}

impl<E> From<Refusal> for DriveError<E> {
    fn from(refusal: Refusal) -> Self {
        DriveError::Refused(refusal)
    }
}

/// Runs one search with a plan, its worker pool and its checkpoint sink.
#[derive(Debug)]
pub struct Driver<P, S> {
    plan: Plan,
    pool: P,
    sink: S,
    interval: Duration,
    last_checkpoint: Instant,
    /// Time of the last order to save.
    saving: Instant,
    /// The files that the workers have shared of the last layer.
    shared: Arc<[CheckpointFile]>,
}

impl<E, P, S> Driver<P, S>
where
    E: Retryable,
    P: WorkerPool<Error = E>,
    S: CheckpointSink<Error = E>,
{
    /// A driver that makes a checkpoint after the first layer that ends `interval` or more after the last.
    pub fn new(plan: Plan, pool: P, sink: S, interval: Duration) -> Self {
        let now = sink.now();
        let shared = Arc::default();
        Driver { plan, pool, sink, interval, last_checkpoint: now, saving: now, shared }
    }

    /// Searches until the search ends or stops.
    ///
    /// # Errors
    /// A failure of a worker or the sink, or an answer that the plan refuses. The last checkpoint remains
    /// intact.
    pub fn run(&mut self) -> Result<Outcome, DriveError<E>> {
        loop {
            match self.plan.next_command() {
                Some(Command::Seed) => self.layers(Order::Seed)?,
                Some(Command::Restore) => self.layers(Order::Restore)?,
                Some(Command::Advance { depth, last }) => {
                    let files = Arc::clone(&self.shared);
                    let time = self.interval.saturating_sub(self.since_checkpoint());
                    self.layers(Order::Advance { depth, last, time, files })?;
                }
                Some(Command::Commit(layer)) => self.commit(layer)?,
                Some(Command::Save { depth }) => self.save(depth)?,
                Some(Command::Publish(publication)) => self.publish(*publication)?,
                Some(Command::End(outcome)) => return Ok(outcome),
                None => return Err(Refusal::NotRequested { what: "lack of a command" }.into()),
            }
        }
    }

    /// Sums over the layers committed so far.
    pub fn totals(&self) -> &Totals {
        self.plan.totals()
    }

    /// The checkpoint sink.
    pub fn sink(&self) -> &S {
        &self.sink
    }

    /// The workers, once the search is over.
    pub fn into_pool(self) -> P {
        self.pool
    }

    /// The result of each worker. A missing result is an error, since the layer would look smaller.
    fn results(&mut self, order: Order) -> Result<Vec<Result<Done, E>>, DriveError<E>> {
        let results = self.pool.run(order).map_err(DriveError::Failed)?;
        let (expected, found) = (self.pool.workers(), results.len());
        if found == expected {
            Ok(results)
        } else {
            Err(Refusal::Results { expected, found }.into())
        }
    }

    /// The results of all workers, or the failure that ends the search.
    fn order(&mut self, order: Order) -> Result<Vec<Done>, DriveError<E>> {
        all_done(self.results(order)?).map_err(DriveError::Failed)
    }

    /// Lets all workers make or load layers, and passes the sums of their reports to the plan.
    fn layers(&mut self, order: Order) -> Result<(), DriveError<E>> {
        let is_next = matches!(order, Order::Advance { .. });
        let begun = self.sink.seconds();
        let results = self.results(order)?;
        let is_intact = is_next && results.iter().all(Result::is_err);
        let all = match all_done(results) {
            Ok(all) => all,
            Err(error) => return self.failed(is_intact, error),
        };
        let mut sums = sums_of_layers(all)?;
        let Some(mut sum) = sums.pop() else {
            return Err(Refusal::NotRequested { what: "answer without a layer" }.into());
        };
        let ended = self.sink.seconds();
        for mut passed in sums {
            passed.layer.seconds = (begun + passed.layer.seconds).min(ended);
            self.plan.handle(Input::PassedLayer(Box::new(passed)))?;
            while let Some(Command::Commit(layer)) = self.plan.next_command() {
                self.commit(layer)?;
            }
        }
        sum.layer.seconds = ended;
        self.shared = sum.shared.iter().cloned().collect();
        if let Some(reason) = self.sink.stop(&sum.layer) {
            self.plan.handle(Input::Stop(reason))?;
        }
        if self.since_checkpoint() >= self.interval
            || sum.waiting > MAX_WAITING
            || self.sink.is_due()
        {
            self.plan.handle(Input::CheckpointDue)?;
        }
        Ok(self.plan.handle(Input::Layer(Box::new(sum)))?)
    }

    fn since_checkpoint(&self) -> Duration {
        self.sink.now().duration_since(self.last_checkpoint)
    }

    fn commit(&mut self, layer: LayerRecord) -> Result<(), DriveError<E>> {
        self.sink.commit(layer, self.plan.totals()).map_err(DriveError::Failed)
    }

    /// Handles a layer that could not be made. If a resource is exhausted and all workers still have
    /// the two layers before it, these are saved.
    fn failed(&mut self, is_intact: bool, error: E) -> Result<(), DriveError<E>> {
        match error.exhausted().filter(|_| is_intact) {
            Some(reason) if self.pool.make_room().map_err(DriveError::Failed)? => {
                self.sink.abandoned(&error);
                Ok(self.plan.handle(Input::AbandonLayer(reason))?)
            }
            _ => Err(DriveError::Failed(error)),
        }
    }

    fn save(&mut self, depth: u32) -> Result<(), DriveError<E>> {
        self.saving = self.sink.now();
        let mut files = Vec::new();
        for done in self.order(Order::Save { depth })? {
            let Done::Saved { depth: found, records } = done else {
                return Err(Refusal::NotRequested { what: "answer to an order to save" }.into());
            };
            if found != depth {
                return Err(Refusal::WrongDepth { expected: depth, found }.into());
            }
            files.extend(records);
        }
        Ok(self.plan.handle(Input::Saved { depth, records: files })?)
    }

    fn publish(&mut self, publication: Publication) -> Result<(), DriveError<E>> {
        let depth = publication.depth;
        let bytes = publication.records.iter().map(|record| record.bytes).sum();
        self.sink.publish(publication).map_err(DriveError::Failed)?;
        self.order(Order::Saved { depth })?;
        let took = self.sink.now().duration_since(self.saving);
        self.sink.checkpointed(depth, bytes, took);
        self.last_checkpoint = self.sink.now();
        Ok(self.plan.handle(Input::Published { depth })?)
    }
}

/// The sums of the workers' reports, layer by layer.
///
/// # Errors
/// If the workers have made different layers, or the answer of one is not about layers.
fn sums_of_layers(all: Vec<Done>) -> Result<Vec<LayerReport>, Refusal> {
    let mut by_worker = Vec::with_capacity(all.len());
    for done in all {
        let Done::Layers(reports) = done else {
            return Err(Refusal::NotRequested { what: "answer to an order that makes a layer" });
        };
        by_worker.push(reports.into_iter());
    }
    let layers = by_worker.first().map_or(0, ExactSizeIterator::len);
    if let Some(other) = by_worker.iter().find(|reports| reports.len() != layers) {
        return Err(Refusal::DifferentEnds { one: layers, other: other.len() });
    }
    (0..layers).map(|_| LayerReport::sum(by_worker.iter_mut().filter_map(Iterator::next))).collect()
}

/// Results of all workers, or the most severe failure. An exhausted resource is the least severe.
fn all_done<E: Retryable>(results: Vec<Result<Done, E>>) -> Result<Vec<Done>, E> {
    let mut all = Vec::with_capacity(results.len());
    let mut worst: Option<E> = None;
    for done in results {
        match done {
            Ok(done) => all.push(done),
            Err(error) => {
                let is_worse =
                    |worst: &E| worst.exhausted().is_some() && error.exhausted().is_none();
                if worst.as_ref().is_none_or(is_worse) {
                    worst = Some(error);
                }
            }
        }
    }
    worst.map_or(Ok(all), Err)
}

#[cfg(test)]
mod tests {
    use strata_space::{Finish, LayerStats};
    use strata_store::EngineKind;

    use super::*;
    use crate::plan::machine::{PlanOptions, Start};

    #[derive(Debug, PartialEq)]
    enum Failure {
        Full,
        Damaged,
    }

    impl Retryable for Failure {
        fn exhausted(&self) -> Option<StopReason> {
            (*self == Failure::Full).then_some(StopReason::DiskFull)
        }
    }

    #[test]
    fn an_unrecoverable_failure_takes_precedence_over_an_exhausted_resource() {
        let full = || Err(Failure::Full);
        let damaged = || Err(Failure::Damaged);
        for order in [[full(), damaged()], [damaged(), full()]] {
            assert_eq!(all_done(order.into()).unwrap_err(), Failure::Damaged);
        }
        let mixed = [Ok(Done::Acknowledged), full(), full()];
        assert_eq!(all_done(mixed.into()).unwrap_err(), Failure::Full);
        let done = vec![Ok::<_, Failure>(Done::Acknowledged), Ok(Done::Acknowledged)];
        assert_eq!(all_done(done).unwrap().len(), 2);
    }

    /// Workers whose disk is full from layer 1 on. Only the first of them answers.
    struct FullPool {
        workers: usize,
    }

    impl WorkerPool for FullPool {
        type Error = Failure;

        fn workers(&self) -> usize {
            self.workers
        }

        fn run(&mut self, order: Order) -> Result<Vec<Result<Done, Failure>>, Failure> {
            let stats = LayerStats {
                states: 1,
                positions: 1,
                generated: 2,
                regions: 1,
                ..Default::default()
            };
            Ok(vec![match order {
                Order::Seed => Ok(Done::Layers(vec![LayerReport::of(0, &stats)])),
                Order::Advance { .. } => Err(Failure::Full),
                _ => Err(Failure::Damaged),
            }])
        }

        fn make_room(&mut self) -> Result<bool, Failure> {
            Ok(true)
        }
    }

    /// The errors because of which layers were abandoned.
    #[derive(Default)]
    struct Abandoned(Vec<String>);

    impl CheckpointSink for Abandoned {
        type Error = Failure;

        fn stop(&mut self, _: &LayerRecord) -> Option<StopReason> {
            None
        }

        fn seconds(&self) -> f64 {
            1.5
        }

        fn commit(&mut self, layer: LayerRecord, totals: &Totals) -> Result<(), Failure> {
            assert_eq!((layer.seconds, totals.seconds), (1.5, 1.5));
            Ok(())
        }

        fn publish(&mut self, _: Publication) -> Result<(), Failure> {
            Ok(())
        }

        fn abandoned(&mut self, error: &Failure) {
            self.0.push(format!("{error:?}"));
        }

        fn checkpointed(&mut self, _: u32, _: u64, _: Duration) {}
    }

    fn driver(workers: usize) -> Driver<FullPool, Abandoned> {
        let options = PlanOptions {
            rule: Finish::Exhausted,
            max_layers: None,
            disk_limit: None,
            engine: EngineKind::Explicit,
            is_directed: false,
            is_folded: false,
            states_are_orbits: false,
        };
        let plan = Plan::new(options, Start::Seeds);
        let pool = FullPool { workers };
        Driver::new(plan, pool, Abandoned::default(), Duration::from_secs(60))
    }

    #[test]
    fn a_layer_without_the_part_of_a_worker_is_refused() {
        let ended = driver(2).run();
        let refusal = Refusal::Results { expected: 2, found: 1 };
        assert!(matches!(ended, Err(DriveError::Refused(found)) if found == refusal));
    }

    #[test]
    fn layers_are_summed_by_depth_and_workers_must_end_at_the_same_one() {
        let stats = LayerStats { states: 1, ..LayerStats::default() };
        let window = |depths: std::ops::Range<u32>| {
            Done::Layers(depths.map(|depth| LayerReport::of(depth, &stats)).collect())
        };
        let sums = sums_of_layers(vec![window(3..6), window(3..6)]).unwrap();
        let found: Vec<_> = sums.iter().map(|sum| (sum.layer.depth, sum.layer.states)).collect();
        assert_eq!(found, [(3, 2), (4, 2), (5, 2)]);
        let different = sums_of_layers(vec![window(3..6), window(3..5)]);
        assert_eq!(different, Err(Refusal::DifferentEnds { one: 3, other: 2 }));
        let shifted = sums_of_layers(vec![window(3..5), window(4..6)]);
        assert_eq!(shifted, Err(Refusal::WrongDepth { expected: 3, found: 4 }));
    }

    #[test]
    fn the_error_of_an_abandoned_layer_is_reported() {
        let mut driver = driver(1);
        // The two layers before cannot be saved here.
        let ended = driver.run();
        assert!(matches!(ended, Err(DriveError::Failed(Failure::Damaged))), "{ended:?}");
        assert_eq!(driver.sink().0, ["Full"]);
    }
}
