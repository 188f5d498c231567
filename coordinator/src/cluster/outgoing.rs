//! Outgoing messages to workers. Orders are built when they are sent.

use std::fmt;
use std::sync::Arc;

use strata_proto::v1;
use strata_proto::v1::order::What;
use strata_proto::v1::to_worker::Message;

use crate::entry::WorkerNumber;

/// Builds the content of an order to a worker. All workers of a session share it.
pub(crate) type MakeOrder = Arc<dyn Fn(WorkerNumber) -> What + Send + Sync>;

/// An order to a worker.
///
/// Its content is built each time it is sent. An order to prepare has the addresses of all workers:
/// building the orders to all workers at once would take memory quadratic in their number.
#[derive(Clone)]
pub(crate) struct PendingOrder {
    pub(crate) epoch: u64,
    pub(crate) number: u64,
    pub(crate) incarnation: u64,
    pub(crate) worker: WorkerNumber,
    pub(crate) what: MakeOrder,
}

impl PendingOrder {
    /// Whether an answer is one to this order.
    pub(crate) fn is_answered_by(&self, answer: &v1::Answer) -> bool {
        let own = (self.incarnation, self.epoch, self.number);
        own == (answer.incarnation, answer.epoch, answer.order)
    }

    fn into_message(self) -> v1::Order {
        let PendingOrder { epoch, number, incarnation, worker, what } = self;
        v1::Order { epoch, number, what: Some(what(worker)), incarnation }
    }
}

impl fmt::Debug for PendingOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PendingOrder { epoch, number, worker, .. } = self;
        write!(f, "order {number} of epoch {epoch} to worker {worker}")
    }
}

/// A message that waits until its connection can take it.
#[derive(Debug)]
pub(crate) enum Outgoing {
    /// An order.
    Order(PendingOrder),
    /// Anything else.
    Other(Box<Message>),
}

impl From<Message> for Outgoing {
    fn from(message: Message) -> Outgoing {
        Outgoing::Other(Box::new(message))
    }
}

impl Outgoing {
    /// Builds the message, when the connection is ready to send it.
    pub(crate) fn into_message(self) -> v1::ToWorker {
        let message = match self {
            Outgoing::Order(order) => Message::Order(order.into_message()),
            Outgoing::Other(message) => *message,
        };
        v1::ToWorker { message: Some(message) }
    }
}
