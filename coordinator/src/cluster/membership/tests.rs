//! Tests of membership.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use proptest::prelude::*;

use super::*;

const LEASE: Duration = Duration::from_secs(60);

fn entry(number: u16) -> WorkerEntry {
    WorkerEntry {
        number,
        id: format!("{number:032x}"),
        name: format!("w{number}"),
        address: "http://127.0.0.1:1".to_owned(),
        first_seen: 0,
        host: None,
    }
}

fn hello(instance: &str) -> v1::Hello {
    v1::Hello { instance: instance.to_owned(), ..v1::Hello::default() }
}

fn order(epoch: u64, number: u64) -> v1::Order {
    let what = Some(v1::order::What::Seed(v1::Seed {}));
    v1::Order { epoch, number, what, incarnation: 1 }
}

fn pending(worker: u16, epoch: u64, number: u64) -> PendingOrder {
    let what = Arc::new(|_| v1::order::What::Seed(v1::Seed {}));
    PendingOrder { epoch, number, incarnation: 1, worker, what }
}

fn noted(epoch: u64, order: u64) -> v1::Answer {
    let outcome = Some(v1::answer::Outcome::Noted(v1::Noted {}));
    v1::Answer { epoch, order, outcome, incarnation: 1 }
}

struct Worker {
    connection: u64,
    received: mpsc::UnboundedReceiver<Outgoing>,
}

impl Worker {
    fn connect(membership: &Membership, number: u16, instance: &str) -> Worker {
        let (outbound, received) = mpsc::unbounded_channel();
        let connection = membership.connect(entry(number), hello(instance), outbound);
        Worker { connection, received }
    }

    fn next_order(&mut self) -> Option<v1::Order> {
        match self.received.try_recv().ok()?.into_message().message? {
            v1::to_worker::Message::Order(order) => Some(order),
            _ => None,
        }
    }
}

fn session(
    membership: &Membership,
    epoch: u64,
    members: &[u16],
) -> mpsc::UnboundedReceiver<WorkerEvent> {
    let (events, received) = mpsc::unbounded_channel();
    membership.start_session(epoch, members.to_vec(), events);
    received
}

#[test]
fn an_outstanding_order_is_sent_again_after_a_reconnection_within_the_lease() {
    let membership = Membership::new(LEASE);
    let mut worker = Worker::connect(&membership, 3, "a");
    let mut events = session(&membership, 5, &[3]);
    membership.send_order(pending(3, 5, 1));
    assert_eq!(worker.next_order(), Some(order(5, 1)));
    membership.disconnect(3, worker.connection);
    let mut again = Worker::connect(&membership, 3, "a");
    assert_eq!(again.next_order(), Some(order(5, 1)));
    // Messages of the old connection are ignored.
    assert!(!membership.answer(3, worker.connection, noted(5, 1)));
    assert!(events.try_recv().is_err());
    assert!(membership.answer(3, again.connection, noted(5, 1)));
    assert!(matches!(events.try_recv(), Ok(WorkerEvent::Answer { worker: 3, .. })));
    // A repeated answer is dropped.
    assert!(membership.answer(3, again.connection, noted(5, 1)));
    assert!(events.try_recv().is_err());
}

#[test]
fn an_order_without_an_answer_is_repeated_once_a_lease() {
    let membership = Membership::new(LEASE);
    let mut worker = Worker::connect(&membership, 3, "a");
    let _events = session(&membership, 5, &[3]);
    membership.send_order(pending(3, 5, 1));
    assert_eq!(worker.next_order(), Some(order(5, 1)));
    let later = Instant::now() + 2 * LEASE;
    membership.repeat_order(3, worker.connection, Instant::now());
    membership.repeat_order(3, worker.connection + 1, later);
    assert_eq!(worker.next_order(), None);
    membership.repeat_order(3, worker.connection, later);
    membership.repeat_order(3, worker.connection, later);
    assert_eq!(worker.next_order(), Some(order(5, 1)));
    assert_eq!(worker.next_order(), None);
    membership.answer(3, worker.connection, noted(5, 1));
    membership.repeat_order(3, worker.connection, later + 2 * LEASE);
    assert_eq!(worker.next_order(), None);
}

#[test]
fn a_restarted_worker_is_lost_to_the_session() {
    let membership = Membership::new(LEASE);
    Worker::connect(&membership, 3, "a");
    let mut events = session(&membership, 5, &[3]);
    membership.send_order(pending(3, 5, 1));
    let mut other = Worker::connect(&membership, 3, "b");
    assert!(matches!(events.try_recv(), Ok(WorkerEvent::Lost { worker: 3, .. })));
    assert_eq!(other.next_order(), None);
}

#[test]
fn processes_that_replace_each_other_have_one_identity() {
    let membership = Membership::new(LEASE);
    Worker::connect(&membership, 3, "a");
    let mut events = session(&membership, 5, &[3]);
    let mut next = |instance| {
        Worker::connect(&membership, 3, instance);
        events.try_recv().unwrap()
    };
    // The first return may be a late connection of a process that has ended.
    for instance in ["b", "a"] {
        assert!(matches!(next(instance), WorkerEvent::Lost { worker: 3, .. }), "{instance}");
    }
    assert!(matches!(next("b"), WorkerEvent::Copied { worker: 3 }));
    assert!(matches!(next("a"), WorkerEvent::Copied { worker: 3 }));
    // After the end of one, the other takes over.
    membership.forget_replaced();
    assert!(matches!(next("b"), WorkerEvent::Lost { worker: 3, .. }));
    // A new process may take over from either.
    assert!(matches!(next("c"), WorkerEvent::Lost { worker: 3, .. }));
}

#[test]
fn a_process_takes_over_from_its_copy_that_has_ended() {
    let membership = Membership::new(LEASE);
    for instance in ["a", "b", "a"] {
        Worker::connect(&membership, 3, instance);
    }
    let copy = Worker::connect(&membership, 3, "b");
    membership.disconnect(3, copy.connection);
    let mut events = session(&membership, 5, &[3]);
    Worker::connect(&membership, 3, "a");
    assert!(matches!(events.try_recv(), Ok(WorkerEvent::Lost { worker: 3, .. })));
}

#[test]
fn a_lease_ends_without_messages_and_is_renewed_by_a_late_heartbeat() {
    let membership = Membership::new(LEASE);
    let worker = Worker::connect(&membership, 3, "a");
    let mut events = session(&membership, 5, &[3]);
    membership.send_order(pending(3, 5, 1));
    membership.expire(Instant::now());
    assert!(events.try_recv().is_err());
    membership.expire(Instant::now() + 2 * LEASE);
    assert!(matches!(events.try_recv(), Ok(WorkerEvent::Lost { worker: 3, .. })));
    assert!(!membership.members()[0].alive);
    assert!(membership.heartbeat(3, worker.connection, v1::WorkerBeat::default()));
    assert!(membership.members()[0].alive);
    // Its late answer is dropped.
    assert!(membership.answer(3, worker.connection, noted(5, 1)));
    assert!(events.try_recv().is_err());
}

#[test]
fn answers_of_another_epoch_are_dropped() {
    let membership = Membership::new(LEASE);
    let worker = Worker::connect(&membership, 3, "a");
    membership.send_order(pending(3, 5, 1));
    let mut events = session(&membership, 6, &[3]);
    assert!(membership.answer(3, worker.connection, noted(5, 1)));
    assert!(events.try_recv().is_err());
}

#[test]
fn answers_of_another_incarnation_are_dropped() {
    let membership = Membership::new(LEASE);
    let worker = Worker::connect(&membership, 3, "a");
    let mut events = session(&membership, 5, &[3]);
    membership.send_order(pending(3, 5, 1));
    let late = v1::Answer { incarnation: 2, ..noted(5, 1) };
    assert!(membership.answer(3, worker.connection, late));
    assert!(events.try_recv().is_err());
    assert!(membership.answer(3, worker.connection, noted(5, 1)));
    assert!(matches!(events.try_recv(), Ok(WorkerEvent::Answer { worker: 3, .. })));
}

#[test]
fn a_session_with_an_absent_worker_loses_it_at_once() {
    let membership = Membership::new(LEASE);
    let mut events = session(&membership, 1, &[9]);
    assert!(matches!(events.try_recv(), Ok(WorkerEvent::Lost { worker: 9, .. })));
}

#[test]
fn a_worker_that_is_renamed_before_it_connects_has_the_new_name() {
    let membership = Membership::new(LEASE);
    let renamed = |number, name: &str| WorkerEntry { name: name.to_owned(), ..entry(number) };
    membership.set_names([&entry(0)]);
    membership.set_names([&renamed(0, "box:1"), &renamed(1, "box:2")]);
    Worker::connect(&membership, 0, "a");
    Worker::connect(&membership, 1, "a");
    membership.set_names([&renamed(1, "box:3")]);
    let names: Vec<String> =
        membership.members().into_iter().map(|member| member.entry.name).collect();
    assert_eq!(names, ["box:1", "box:3"]);
    assert_eq!([0, 1, 7].map(|number| membership.name(number)), ["box:1", "box:3", "number 7"]);
}

#[test]
fn a_session_receives_events_of_its_own_workers_only() {
    let membership = Membership::new(LEASE);
    let workers = [0, 1, 2].map(|number| Worker::connect(&membership, number, "a"));
    let mut wide = session(&membership, 1, &[0, 2]);
    let mut single = session(&membership, 2, &[1]);
    membership.send_order(pending(0, 1, 1));
    membership.send_order(pending(1, 2, 1));
    assert!(membership.answer(1, workers[1].connection, noted(2, 1)));
    assert!(matches!(single.try_recv(), Ok(WorkerEvent::Answer { worker: 1, .. })));
    assert!(membership.answer(0, workers[0].connection, noted(1, 1)));
    assert!(matches!(wide.try_recv(), Ok(WorkerEvent::Answer { worker: 0, .. })));
    Worker::connect(&membership, 2, "b");
    assert!(matches!(wide.try_recv(), Ok(WorkerEvent::Lost { worker: 2, .. })));
    assert!(single.try_recv().is_err());
    // Worker 2 is in a later session of the other job now.
    membership.end_session(1);
    let mut wide = session(&membership, 3, &[0]);
    membership.end_session(2);
    let mut single = session(&membership, 4, &[1, 2]);
    Worker::connect(&membership, 2, "c");
    assert!(matches!(single.try_recv(), Ok(WorkerEvent::Lost { worker: 2, .. })));
    assert!(wide.try_recv().is_err());
}

/// An event between the coordinator and one of three workers.
#[derive(Copy, Clone, Debug)]
enum Step {
    /// A session begins, with the next epoch.
    Begin,
    /// The session sends its next order to all workers.
    Order,
    /// A worker connects, as the same process or as a restarted one.
    Connect {
        worker: u16,
        restarted: bool,
    },
    Disconnect {
        worker: u16,
    },
    /// All leases end.
    Expire,
    /// A worker answers one of the orders it has received; it may have answered it before.
    Answer {
        worker: u16,
        which: prop::sample::Index,
        old_connection: bool,
    },
}

fn step() -> impl Strategy<Value = Step> {
    use Step::*;
    let worker = 0..3_u16;
    prop_oneof![
        1 => Just(Begin),
        4 => Just(Order),
        3 => (worker.clone(), any::<bool>()).prop_map(|(worker, restarted)| Connect { worker, restarted }),
        2 => worker.clone().prop_map(|worker| Disconnect { worker }),
        1 => Just(Expire),
        8 => (worker, any::<prop::sample::Index>(), prop::bool::weighted(0.2))
            .prop_map(|(worker, which, old_connection)| Answer { worker, which, old_connection }),
    ]
}

/// A simulated worker, with the orders of all its connections.
struct Simulated {
    process: u32,
    link: Worker,
    old: u64,
    orders: Vec<v1::Order>,
}

struct Simulation {
    membership: Membership,
    epoch: u64,
    sent: u64,
    workers: Vec<Simulated>,
    events: mpsc::UnboundedReceiver<WorkerEvent>,
    /// Answers that the session received.
    answers: Vec<(u16, u64)>,
}

impl Simulation {
    fn new() -> Simulation {
        let membership = Membership::new(LEASE);
        let workers = (0..3).map(|number| Simulated {
            process: 0,
            link: Worker::connect(&membership, number, "0"),
            old: 0,
            orders: Vec::new(),
        });
        let workers = workers.collect();
        let events = session(&membership, 1, &[0, 1, 2]);
        Simulation { membership, epoch: 1, sent: 0, workers, events, answers: Vec::new() }
    }

    fn apply(&mut self, step: Step) {
        let membership = &self.membership;
        match step {
            Step::Begin => {
                membership.end_session(self.epoch);
                self.epoch += 1;
                self.events = session(membership, self.epoch, &[0, 1, 2]);
                (self.sent, self.answers) = (0, Vec::new());
            }
            Step::Order => {
                self.sent += 1;
                (0..3).for_each(|number| {
                    membership.send_order(pending(number, self.epoch, self.sent))
                });
            }
            Step::Connect { worker, restarted } => {
                let known = &mut self.workers[usize::from(worker)];
                known.process += u32::from(restarted);
                known.old = known.link.connection;
                known.link = Worker::connect(membership, worker, &known.process.to_string());
            }
            Step::Disconnect { worker } => {
                membership.disconnect(worker, self.workers[usize::from(worker)].link.connection);
            }
            Step::Expire => membership.expire(Instant::now() + 2 * LEASE),
            Step::Answer { worker, which, old_connection } => {
                let known = &self.workers[usize::from(worker)];
                if known.orders.is_empty() {
                    return;
                }
                let order = which.get(&known.orders);
                let connection = if old_connection { known.old } else { known.link.connection };
                membership.answer(worker, connection, noted(order.epoch, order.number));
            }
        }
    }

    /// Receives all messages and checks them.
    fn check(&mut self) {
        for worker in &mut self.workers {
            while let Some(order) = worker.link.next_order() {
                worker.orders.push(order);
            }
        }
        while let Ok(event) = self.events.try_recv() {
            let WorkerEvent::Answer { worker, answer } = event else { continue };
            assert_eq!(answer.epoch, self.epoch, "an answer of a fenced epoch");
            assert_eq!(answer.order, self.sent, "an answer to an order that was replaced");
            let answered = (worker, answer.order);
            assert!(!self.answers.contains(&answered), "{answered:?} was received twice");
            self.answers.push(answered);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Over any sequence of reconnections and late or repeated messages, a session receives
    /// each answer once, of its own epoch, to its last order.
    #[test]
    fn late_repeated_and_fenced_answers_are_dropped(
        steps in prop::collection::vec(step(), 1..60),
    ) {
        let mut simulation = Simulation::new();
        for step in steps {
            simulation.apply(step);
            simulation.check();
        }
        // Live workers get the session's next order, and their answers arrive.
        simulation.apply(Step::Order);
        simulation.check();
        for number in 0..3 {
            let alive = simulation.membership.members()[usize::from(number)].alive;
            let connected = !simulation.workers[usize::from(number)].link.received.is_closed();
            if alive && connected {
                let connection = simulation.workers[usize::from(number)].link.connection;
                let answer = noted(simulation.epoch, simulation.sent);
                assert!(simulation.membership.answer(number, connection, answer));
                simulation.check();
                assert!(simulation.answers.contains(&(number, simulation.sent)));
            }
        }
    }
}

#[test]
fn a_leaving_worker_has_left_once_it_is_in_no_session() {
    let membership = Membership::new(LEASE);
    let worker = Worker::connect(&membership, 0, "a");
    assert!(!membership.has_left_sessions(0));
    let _events = session(&membership, 1, &[0]);
    let leaving = v1::WorkerBeat { leaving: true, ..v1::WorkerBeat::default() };
    assert!(membership.heartbeat(0, worker.connection, leaving));
    assert!(!membership.has_left_sessions(0), "a checkpoint may need it");
    membership.end_session(1);
    assert!(membership.has_left_sessions(0));
}

#[test]
fn a_worker_is_idle_if_it_is_not_leaving_and_in_no_session() {
    let membership = Membership::new(LEASE);
    let workers = [0, 1, 2].map(|number| Worker::connect(&membership, number, "a"));
    let idle = || membership.idle().iter().map(|member| member.entry.number).collect::<Vec<_>>();
    assert_eq!(idle(), [0, 1, 2]);
    let _events = session(&membership, 1, &[1]);
    let leaving = v1::WorkerBeat { leaving: true, ..v1::WorkerBeat::default() };
    assert!(membership.heartbeat(2, workers[2].connection, leaving));
    assert_eq!(idle(), [0]);
    membership.expire(Instant::now() + 2 * LEASE);
    assert!(idle().is_empty());
}

#[test]
fn an_order_is_built_when_it_is_sent() {
    let membership = Membership::new(LEASE);
    let mut workers = [0, 1, 2].map(|number| Worker::connect(&membership, number, "a"));
    let made = Arc::new(AtomicU32::new(0));
    for worker in 0..3 {
        let made = Arc::clone(&made);
        let what = Arc::new(move |number: u16| {
            made.fetch_add(1, Ordering::Relaxed);
            v1::order::What::Save(v1::Save { depth: number.into() })
        });
        let (epoch, number, incarnation) = (5, 1, 1);
        membership.send_order(PendingOrder { epoch, number, incarnation, worker, what });
    }
    assert_eq!(made.load(Ordering::Relaxed), 0);
    let sent = workers[2].next_order().and_then(|order| order.what);
    assert_eq!(sent, Some(v1::order::What::Save(v1::Save { depth: 2 })));
    assert_eq!(made.load(Ordering::Relaxed), 1);
}
