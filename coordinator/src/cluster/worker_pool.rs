//! The workers of a session, over the network.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use strata_net::convert;
use strata_proto::v1;
use strata_proto::v1::FailureKind;

use super::Cluster;
use super::error::ClusterError;
use super::membership::WorkerEvent;
use strata::LayerNumbers;
use strata::{Answer, Done, Order, WorkerPool};

/// How often a waiting crew looks whether the coordinator is shutting down.
const POLL: Duration = Duration::from_millis(200);

/// What [`Order::Restore`] stands for.
pub(crate) struct RestoreOrders {
    /// The same for all workers.
    pub(crate) common: v1::Restore,
    /// Files that the history keeps, by worker.
    pub(crate) kept: HashMap<u32, Vec<String>>,
}

impl RestoreOrders {
    fn of(&self, number: u16) -> v1::Restore {
        let kept = self.kept.get(&u32::from(number)).cloned().unwrap_or_default();
        v1::Restore { kept, ..self.common.clone() }
    }
}

/// A worker's place in the plan is its place in `numbers`.
pub(crate) struct RemotePool {
    cluster: Arc<Cluster>,
    epoch: u64,
    numbers: Vec<u16>,
    names: Vec<String>,
    /// Number of the last order.
    sent: u64,
    events: Receiver<WorkerEvent>,
    restore: Option<RestoreOrders>,
    /// Whether the coordinator is shutting down and no pass is worth waiting for.
    abandon: Box<dyn Fn() -> bool + Send>,
}

impl RemotePool {
    /// Takes workers into a session. `names` are for messages, by place; `restore` is the order
    /// that [`Order::Restore`] stands for.
    pub(crate) fn new(
        cluster: Arc<Cluster>,
        epoch: u64,
        members: Vec<(u16, String)>,
        restore: Option<RestoreOrders>,
        abandon: Box<dyn Fn() -> bool + Send>,
    ) -> RemotePool {
        let (sender, events) = channel();
        let (numbers, names): (Vec<u16>, Vec<String>) = members.into_iter().unzip();
        cluster.membership.begin(epoch, numbers.clone(), sender);
        RemotePool { cluster, epoch, numbers, names, sent: 0, events, restore, abandon }
    }

    /// Makes all workers ready. `prepare` gives each worker's order.
    ///
    /// # Errors
    /// If one is lost or refuses.
    pub(crate) fn prepare(
        &mut self,
        prepare: impl Fn(u16) -> v1::Prepare,
    ) -> Result<(), ClusterError> {
        let answers = self.ask(|number| v1::order::What::Prepare(prepare(number)))?;
        answers.into_iter().try_for_each(|answer| answer.done.map(|_| ()))
    }

    /// Lets the workers go.
    pub(crate) fn release(mut self) {
        self.send(|_| v1::order::What::Release(v1::Release {}));
        self.cluster.membership.end();
    }

    fn send(&mut self, what: impl Fn(u16) -> v1::order::What) {
        self.sent += 1;
        for number in &self.numbers {
            let order =
                v1::Order { epoch: self.epoch, number: self.sent, what: Some(what(*number)) };
            self.cluster.membership.order(*number, order);
        }
    }

    /// Gives an order and waits until all have answered, or one has failed or is lost.
    fn ask(
        &mut self,
        what: impl Fn(u16) -> v1::order::What,
    ) -> Result<Vec<Answer<ClusterError>>, ClusterError> {
        self.send(what);
        let mut answers: Vec<Answer<ClusterError>> = Vec::with_capacity(self.numbers.len());
        while answers.len() < self.numbers.len() {
            let (number, answer) = match self.events.recv_timeout(POLL) {
                Ok(WorkerEvent::Answer { worker, answer }) => (worker, answer),
                Ok(WorkerEvent::Lost { worker, why }) => return Err(self.lost(worker, why)),
                Err(RecvTimeoutError::Timeout) if !(self.abandon)() => continue,
                Err(_) => return Err(ClusterError::Shutdown),
            };
            let Some(worker) = self.numbers.iter().position(|known| *known == number) else {
                continue;
            };
            let repeated = answers.iter().any(|answer| answer.worker == worker);
            if answer.order != self.sent || repeated {
                continue;
            }
            let done = self.understand(worker, answer);
            let failed = done.is_err();
            answers.push(Answer { worker, done });
            if failed {
                // The others may be waiting for this one.
                break;
            }
        }
        Ok(answers)
    }

    fn lost(&self, number: u16, why: &str) -> ClusterError {
        let place = self.numbers.iter().position(|known| *known == number);
        let name = place.map_or_else(|| number.to_string(), |place| self.names[place].clone());
        ClusterError::Lost { worker: number, name, why: why.to_owned() }
    }

    fn understand(&self, worker: usize, answer: v1::Answer) -> Result<Done, ClusterError> {
        let name = &self.names[worker];
        match answer.outcome {
            Some(v1::answer::Outcome::Layer(report)) => {
                let (depth, waiting) = (report.depth, report.waiting as usize);
                let numbers = numbers(report).map_err(ClusterError::malformed(name))?;
                Ok(Done::Layer { depth, numbers: Box::new(numbers), waiting })
            }
            Some(v1::answer::Outcome::Saved(saved)) => {
                let files = saved.files.into_iter().map(convert::file_from);
                let records = files.collect::<Result<Vec<_>, _>>();
                let records = records.map_err(ClusterError::malformed(name))?;
                let own = u32::from(self.numbers[worker]);
                if let Some(strange) = records.iter().find(|record| record.worker != own) {
                    let why = format!("a file of worker {}", strange.worker);
                    return Err(ClusterError::Malformed { name: name.clone(), why });
                }
                Ok(Done::Saved { depth: saved.depth, records })
            }
            Some(v1::answer::Outcome::Noted(_)) => Ok(Done::Acknowledged),
            Some(v1::answer::Outcome::Failure(failure)) => Err(ClusterError::Failed {
                worker: self.numbers[worker],
                name: name.clone(),
                kind: failure.kind(),
                message: failure.message,
            }),
            None => {
                let why = "an answer without an outcome".to_owned();
                Err(ClusterError::Malformed { name: name.clone(), why })
            }
        }
    }
}

fn numbers(report: v1::LayerReport) -> Result<LayerNumbers, convert::ConvertError> {
    Ok(LayerNumbers {
        states: report.states,
        regions: report.regions,
        generated: report.generated,
        digest: convert::digest_from(report.digest)?,
        odd: report.met_odd,
        even: report.met_even,
        found: report.found,
        bytes: report.bytes,
        disk_peak: report.disk_peak_bytes,
        disk_left: report.disk_left_bytes,
        spilled: report.spilled_bytes,
        kept: report.kept.map(convert::kept_from).transpose()?,
    })
}

impl WorkerPool for RemotePool {
    type Error = ClusterError;

    fn run(&mut self, order: Order) -> Result<Vec<Answer<ClusterError>>, ClusterError> {
        use v1::order::What;
        let what = match order {
            Order::Seed => What::Seed(v1::Seed {}),
            Order::Restore => {
                let restore = self.restore.take();
                let of = |number| restore.as_ref().map(|r| r.of(number)).unwrap_or_default();
                return self.ask(|number| What::Restore(of(number)));
            }
            Order::Advance { depth } => What::Advance(v1::Advance { depth }),
            Order::Save { depth } => What::Save(v1::Save { depth }),
            Order::Saved { depth } => What::Saved(v1::Saved { depth }),
        };
        self.ask(|_| what.clone())
    }

    /// Workers that have not failed have used up their exits: the checkpoint before is the place to
    /// go back to.
    fn make_room(&mut self) -> Result<bool, ClusterError> {
        Ok(false)
    }
}

/// Whether a session that ended so can be tried again from the last checkpoint.
pub(crate) fn is_passing(error: &ClusterError) -> bool {
    match error {
        ClusterError::Lost { .. } => true,
        ClusterError::Failed { kind, .. } => {
            matches!(kind, FailureKind::Peer | FailureKind::Fenced)
        }
        ClusterError::Malformed { .. } | ClusterError::Journal(_) | ClusterError::Shutdown => false,
    }
}
