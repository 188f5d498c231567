//! Log of orders: the newest epoch, the last order and its answer.

use std::sync::{Mutex, MutexGuard, PoisonError};

use strata_proto::v1;
use tokio::sync::mpsc;

use crate::error::OrderError;

/// Identity of an epoch: its number and the incarnation of the coordinator that issued it.
///
/// Numbers are ordered within one incarnation. They repeat when a coordinator loses its journal or
/// starts with an older copy of it.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EpochId {
    /// Random number of a coordinator process; 0 before the first Welcome.
    pub(crate) incarnation: u64,
    pub(crate) number: u64,
}

impl EpochId {
    /// The epoch of an order.
    pub(crate) fn of(order: &v1::Order) -> EpochId {
        EpochId { incarnation: order.incarnation, number: order.epoch }
    }

    /// Whether the epoch is over once `newest` has begun.
    pub(crate) fn is_over(self, newest: EpochId) -> bool {
        self.incarnation != newest.incarnation || self.number < newest.number
    }
}

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
    /// The newest epoch; all others are over.
    newest: Mutex<EpochId>,
    last: Mutex<LastOrder>,
}

#[derive(Debug, Default)]
struct LastOrder {
    epoch: EpochId,
    number: u64,
    answer: Option<v1::Answer>,
    /// Messages to the coordinator, while there is a connection.
    outbound: Option<mpsc::UnboundedSender<v1::FromWorker>>,
}

impl OrderLog {
    fn last(&self) -> MutexGuard<'_, LastOrder> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The newest epoch.
    pub(crate) fn newest(&self) -> EpochId {
        *self.newest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends all epochs before this one, if it belongs to the current incarnation.
    pub(crate) fn fence(&self, epoch: EpochId) {
        let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        if !epoch.is_over(*newest) {
            *newest = epoch;
        }
    }

    /// Ends all epochs of other incarnations and drops their orders. Returns false if there were
    /// none.
    pub(crate) fn enter(&self, incarnation: u64) -> bool {
        let mut last = self.last();
        let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        if newest.incarnation == incarnation {
            return false;
        }
        let had_epochs = newest.number > 0;
        *newest = EpochId { incarnation, number: 0 };
        (last.epoch, last.number, last.answer) = (*newest, 0, None);
        had_epochs
    }

    /// Sets where answers go; `None` while there is no connection.
    pub(crate) fn set_outbound(&self, outbound: Option<mpsc::UnboundedSender<v1::FromWorker>>) {
        self.last().outbound = outbound;
    }

    /// Registers an order that has arrived.
    pub(crate) fn register(&self, order: &v1::Order) -> OrderStatus {
        let mut last = self.last();
        let epoch = EpochId::of(order);
        if epoch.is_over(self.newest()) {
            let failure = OrderError::EpochOver { epoch: order.epoch }.to_message();
            let answer = answer(epoch, order.number, v1::answer::Outcome::Failure(failure));
            return OrderStatus::Answered(Box::new(answer));
        }
        if epoch == last.epoch && order.number <= last.number {
            return match &last.answer {
                Some(answer) if answer.order == order.number => {
                    OrderStatus::Answered(Box::new(answer.clone()))
                }
                _ => OrderStatus::Running,
            };
        }
        self.fence(epoch);
        (last.epoch, last.number, last.answer) = (epoch, order.number, None);
        OrderStatus::New
    }

    /// Sends a message other than an answer. Without a connection it is lost.
    pub(crate) fn send(&self, message: v1::from_worker::Message) {
        if let Some(outbound) = &self.last().outbound {
            let _ = outbound.send(v1::FromWorker { message: Some(message) });
        }
    }

    /// Sends an answer and keeps it, in case the order is repeated.
    pub(crate) fn answer(&self, answer: v1::Answer) {
        let mut last = self.last();
        let epoch = EpochId { incarnation: answer.incarnation, number: answer.epoch };
        if (last.epoch, last.number) == (epoch, answer.order) {
            last.answer = Some(answer.clone());
        }
        if let Some(outbound) = &last.outbound {
            let message = Some(v1::from_worker::Message::Answer(answer));
            // Without a connection the coordinator repeats the order.
            let _ = outbound.send(v1::FromWorker { message });
        }
    }
}

/// The answer to an order of an epoch.
pub(crate) fn answer(epoch: EpochId, order: u64, outcome: v1::answer::Outcome) -> v1::Answer {
    let EpochId { incarnation, number } = epoch;
    v1::Answer { epoch: number, order, outcome: Some(outcome), incarnation }
}

#[cfg(test)]
mod tests {
    use strata_proto::v1::FailureKind;
    use strata_proto::v1::answer::Outcome;

    use super::*;

    fn order(epoch: u64, number: u64) -> v1::Order {
        order_of(1, epoch, number)
    }

    fn order_of(incarnation: u64, epoch: u64, number: u64) -> v1::Order {
        v1::Order { epoch, number, what: None, incarnation }
    }

    /// A worker that is connected to a coordinator of incarnation 1.
    fn log() -> OrderLog {
        let log = OrderLog::default();
        assert!(!log.enter(1));
        log
    }

    #[test]
    fn a_repeated_order_is_executed_once_and_answered_again() {
        let log = log();
        assert!(matches!(log.register(&order(3, 1)), OrderStatus::New));
        assert!(matches!(log.register(&order(3, 1)), OrderStatus::Running));
        let epoch = EpochId { incarnation: 1, number: 3 };
        let answer = answer(epoch, 1, Outcome::Noted(v1::Noted {}));
        log.answer(answer.clone());
        let OrderStatus::Answered(again) = log.register(&order(3, 1)) else {
            panic!("it was answered");
        };
        assert_eq!(*again, answer);
        assert!(matches!(log.register(&order(3, 2)), OrderStatus::New));
    }

    #[test]
    fn orders_of_older_epochs_are_fenced() {
        let log = log();
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

    #[test]
    fn orders_with_equal_numbers_differ_by_incarnation() {
        let log = log();
        assert!(matches!(log.register(&order(3, 1)), OrderStatus::New));
        let epoch = EpochId { incarnation: 1, number: 3 };
        log.answer(answer(epoch, 1, Outcome::Noted(v1::Noted {})));
        // The coordinator is back with a journal in which epoch 3 was not issued yet.
        assert!(log.enter(2));
        assert!(matches!(log.register(&order_of(2, 3, 1)), OrderStatus::New));
        // Neither a late order of the earlier incarnation nor its end changes that.
        let OrderStatus::Answered(late) = log.register(&order(9, 1)) else { panic!("it is over") };
        assert!(matches!(late.outcome, Some(Outcome::Failure(_))));
        log.fence(EpochId { incarnation: 1, number: 10 });
        assert!(matches!(log.register(&order_of(2, 3, 2)), OrderStatus::New));
        assert!(!log.enter(2));
    }
}
