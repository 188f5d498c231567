//! Log of orders: the newest epoch, the last order and its answer.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use strata_proto::v1;
use tokio::sync::mpsc;

use crate::error::OrderError;

/// What to do with an order that arrives.
#[derive(Debug)]
pub(crate) enum OrderStatus {
    /// Execute it.
    New,
    /// It arrived before and is being executed.
    Running,
    /// Send this answer: it was executed before, or its epoch is over.
    Answered(Box<v1::Answer>),
}

/// The last order and its answer. Orders and answers may be repeated after a lost connection.
#[derive(Debug, Default)]
pub(crate) struct OrderLog {
    /// The greatest epoch seen; older ones are over.
    newest_epoch: AtomicU64,
    last: Mutex<LastOrder>,
}

#[derive(Debug, Default)]
struct LastOrder {
    epoch: u64,
    number: u64,
    answer: Option<v1::Answer>,
    /// Messages to the coordinator, while there is a connection.
    outbound: Option<mpsc::UnboundedSender<v1::FromWorker>>,
}

impl OrderLog {
    fn last(&self) -> MutexGuard<'_, LastOrder> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The greatest epoch seen.
    pub(crate) fn newest_epoch(&self) -> u64 {
        self.newest_epoch.load(Ordering::Acquire)
    }

    /// Ends all epochs before this one.
    pub(crate) fn fence(&self, epoch: u64) {
        self.newest_epoch.fetch_max(epoch, Ordering::AcqRel);
    }

    /// Sets where answers go; `None` while there is no connection.
    pub(crate) fn set_outbound(&self, outbound: Option<mpsc::UnboundedSender<v1::FromWorker>>) {
        self.last().outbound = outbound;
    }

    /// Registers an order that has arrived.
    pub(crate) fn register(&self, order: &v1::Order) -> OrderStatus {
        let mut last = self.last();
        if order.epoch < self.newest_epoch() {
            let failure = OrderError::EpochOver { epoch: order.epoch }.to_message();
            let outcome = Some(v1::answer::Outcome::Failure(failure));
            let answer = v1::Answer { epoch: order.epoch, order: order.number, outcome };
            return OrderStatus::Answered(Box::new(answer));
        }
        if order.epoch == last.epoch && order.number <= last.number {
            return match &last.answer {
                Some(answer) if answer.order == order.number => {
                    OrderStatus::Answered(Box::new(answer.clone()))
                }
                _ => OrderStatus::Running,
            };
        }
        self.fence(order.epoch);
        (last.epoch, last.number, last.answer) = (order.epoch, order.number, None);
        OrderStatus::New
    }

    /// Sends an answer and keeps it, in case the order is repeated.
    pub(crate) fn answer(&self, answer: v1::Answer) {
        let mut last = self.last();
        if (last.epoch, last.number) == (answer.epoch, answer.order) {
            last.answer = Some(answer.clone());
        }
        if let Some(outbound) = &last.outbound {
            let message = Some(v1::from_worker::Message::Answer(answer));
            // Without a connection the coordinator repeats the order.
            let _ = outbound.send(v1::FromWorker { message });
        }
    }
}

#[cfg(test)]
mod tests {
    use strata_proto::v1::FailureKind;
    use strata_proto::v1::answer::Outcome;

    use super::*;

    fn order(epoch: u64, number: u64) -> v1::Order {
        v1::Order { epoch, number, what: None }
    }

    #[test]
    fn a_repeated_order_is_executed_once_and_answered_again() {
        let log = OrderLog::default();
        assert!(matches!(log.register(&order(3, 1)), OrderStatus::New));
        assert!(matches!(log.register(&order(3, 1)), OrderStatus::Running));
        let outcome = Some(Outcome::Noted(v1::Noted {}));
        let answer = v1::Answer { epoch: 3, order: 1, outcome };
        log.answer(answer.clone());
        let OrderStatus::Answered(again) = log.register(&order(3, 1)) else {
            panic!("it was answered");
        };
        assert_eq!(*again, answer);
        assert!(matches!(log.register(&order(3, 2)), OrderStatus::New));
    }

    #[test]
    fn orders_of_older_epochs_are_fenced() {
        let log = OrderLog::default();
        assert!(matches!(log.register(&order(3, 1)), OrderStatus::New));
        assert!(matches!(log.register(&order(5, 1)), OrderStatus::New));
        for number in [1, 2] {
            let OrderStatus::Answered(answer) = log.register(&order(3, number)) else {
                panic!("epoch 3 is over");
            };
            let Some(Outcome::Failure(failure)) = answer.outcome else { panic!("no failure") };
            assert_eq!(failure.kind(), FailureKind::Fenced);
            assert_eq!((answer.epoch, answer.order), (3, number));
        }
    }
}
