//! Worker membership: registration, leases and delivery of orders.
//!
//! A worker that reconnects within its lease as the same process continues: its outstanding order
//! is sent again, and it repeats the answer to an order it has already executed. A worker that
//! reconnects as another process, or after its lease, is lost to the session.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use strata_platform::Instant;
use strata_proto::v1;
use tokio::sync::mpsc;

use crate::entry::{WorkerEntry, WorkerNumber};

/// An event that a session receives about one of its workers.
#[derive(Debug)]
pub(crate) enum WorkerEvent {
    /// The worker answered an order.
    Answer {
        /// Its number.
        worker: WorkerNumber,
        /// The answer.
        answer: v1::Answer,
    },
    /// The worker is lost.
    Lost {
        /// Its number.
        worker: WorkerNumber,
        /// The evidence.
        why: &'static str,
    },
}

/// Queue of messages to a connected worker.
pub(crate) type Outbound = mpsc::UnboundedSender<v1::ToWorker>;

#[derive(Debug)]
struct Member {
    entry: WorkerEntry,
    hello: v1::Hello,
    beat: v1::WorkerBeat,
    /// None while it is disconnected.
    outbound: Option<Outbound>,
    /// Number of its newest connection. Messages of older ones are ignored.
    connection: u64,
    last_message: Instant,
    /// Whether its lease is valid.
    alive: bool,
    /// The order that it has not answered.
    outstanding: Option<v1::Order>,
    /// Time at which that order was sent last.
    sent: Instant,
}

/// State of a worker at one moment.
#[derive(Clone, Debug)]
pub(crate) struct MemberView {
    /// Number, name and address.
    pub(crate) entry: WorkerEntry,
    /// Threads.
    pub(crate) threads: u32,
    /// Memory budget.
    pub(crate) memory_bytes: u64,
    /// Its last heartbeat.
    pub(crate) beat: v1::WorkerBeat,
    /// Whether its lease is valid.
    pub(crate) alive: bool,
    /// Time since its last message.
    pub(crate) silent: Duration,
}

#[derive(Debug, Default)]
struct State {
    members: BTreeMap<WorkerNumber, Member>,
    /// Number of connections so far.
    connections: u64,
    session: Option<Session>,
}

#[derive(Debug)]
struct Session {
    epoch: u64,
    members: Vec<WorkerNumber>,
    events: mpsc::UnboundedSender<WorkerEvent>,
}

impl State {
    fn notify_session(&self, worker: WorkerNumber, event: WorkerEvent) {
        if let Some(session) = &self.session
            && session.members.contains(&worker)
        {
            // Fails if the session is over; the event is not needed then.
            let _ = session.events.send(event);
        }
    }
}

/// All workers that connected since the start, and the session that runs.
#[derive(Debug)]
pub(crate) struct Membership {
    lease: Duration,
    state: Mutex<State>,
}

impl Membership {
    /// No members yet. `lease` is the time without a message after which a worker is lost.
    pub(crate) fn new(lease: Duration) -> Membership {
        Membership { lease, state: Mutex::default() }
    }

    /// Time without a message after which a worker is lost.
    pub(crate) fn lease(&self) -> Duration {
        self.lease
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a new connection of a worker, and sends its outstanding order again if it is the
    /// same process within its lease. Returns the connection's number.
    pub(crate) fn connect(&self, entry: WorkerEntry, hello: v1::Hello, outbound: Outbound) -> u64 {
        let mut state = self.state();
        state.connections += 1;
        let connection = state.connections;
        let number = entry.number;
        let before = state.members.remove(&number);
        let same = before.as_ref().filter(|member| member.hello.instance == hello.instance);
        // The order or its answer may have been lost with the connection.
        let outstanding = same.filter(|member| member.alive).and_then(|m| m.outstanding.clone());
        let beat = same.map(|member| member.beat).unwrap_or_default();
        if before.is_some() && same.is_none() {
            let why = "it was restarted";
            state.notify_session(number, WorkerEvent::Lost { worker: number, why });
        }
        if let Some(order) = &outstanding {
            let _ = outbound.send(to_worker(order.clone()));
        }
        let member = Member {
            entry,
            hello,
            beat,
            outbound: Some(outbound),
            connection,
            last_message: Instant::now(),
            alive: true,
            outstanding,
            sent: Instant::now(),
        };
        state.members.insert(number, member);
        connection
    }

    /// Ends a connection. The worker's lease continues.
    pub(crate) fn disconnect(&self, number: WorkerNumber, connection: u64) {
        let mut state = self.state();
        if let Some(member) = state.members.get_mut(&number)
            && member.connection == connection
        {
            member.outbound = None;
        }
    }

    /// Records a heartbeat. False if the connection is not the worker's newest.
    pub(crate) fn heartbeat(
        &self,
        number: WorkerNumber,
        connection: u64,
        beat: v1::WorkerBeat,
    ) -> bool {
        self.renew(number, connection, |member| member.beat = beat)
    }

    /// Renews a lease and updates the member. False if the connection is not the worker's newest.
    fn renew(
        &self,
        number: WorkerNumber,
        connection: u64,
        update: impl FnOnce(&mut Member),
    ) -> bool {
        let mut state = self.state();
        let Some(member) = state.members.get_mut(&number) else { return false };
        if member.connection != connection {
            return false;
        }
        member.last_message = Instant::now();
        member.alive = true;
        update(member);
        true
    }

    /// Forwards an answer to the session. False if the connection is not the worker's newest.
    pub(crate) fn answer(&self, number: WorkerNumber, connection: u64, answer: v1::Answer) -> bool {
        let mut fits = false;
        let is_current = self.renew(number, connection, |member| {
            let outstanding = member.outstanding.as_ref();
            let given = (answer.incarnation, answer.epoch, answer.order);
            fits = outstanding
                .is_some_and(|order| (order.incarnation, order.epoch, order.number) == given);
            if fits {
                member.outstanding = None;
            }
        });
        // Late and repeated answers do not fit, and are dropped.
        if fits {
            let state = self.state();
            if state.session.as_ref().is_some_and(|session| session.epoch == answer.epoch) {
                state.notify_session(number, WorkerEvent::Answer { worker: number, answer });
            }
        }
        is_current
    }

    /// Ends the leases of workers whose last message is older than the lease at `now`.
    pub(crate) fn expire(&self, now: Instant) {
        let mut state = self.state();
        let mut lost = Vec::new();
        for (number, member) in &mut state.members {
            if member.alive && now.saturating_duration_since(member.last_message) > self.lease {
                member.alive = false;
                member.outstanding = None;
                lost.push(*number);
            }
        }
        for worker in &lost {
            let why = "it has sent no message for longer than its lease";
            state.notify_session(*worker, WorkerEvent::Lost { worker: *worker, why });
        }
    }

    /// Starts a session, which replaces the one before. Events about its workers go to `events`.
    pub(crate) fn start_session(
        &self,
        epoch: u64,
        members: Vec<WorkerNumber>,
        events: mpsc::UnboundedSender<WorkerEvent>,
    ) {
        let mut state = self.state();
        for worker in &members {
            let alive = state.members.get(worker).is_some_and(|member| member.alive);
            if !alive {
                let why = "it is not connected";
                let _ = events.send(WorkerEvent::Lost { worker: *worker, why });
            }
        }
        state.session = Some(Session { epoch, members, events });
    }

    /// Ends the session.
    pub(crate) fn end_session(&self) {
        self.state().session = None;
    }

    /// Sends an order to a worker, now or when it reconnects.
    pub(crate) fn send_order(&self, number: WorkerNumber, order: v1::Order) {
        if let Some(member) = self.state().members.get_mut(&number) {
            if let Some(outbound) = &member.outbound {
                let _ = outbound.send(to_worker(order.clone()));
            }
            member.outstanding = Some(order);
            member.sent = Instant::now();
        }
    }

    /// Sends a worker's outstanding order again over a connection if it was sent longer than a
    /// lease before `now`. On a link without TLS, a damaged frame can be lost without an error, and
    /// with it an order or its answer. The worker executes an order once and repeats its answer.
    pub(crate) fn repeat_order(&self, number: WorkerNumber, connection: u64, now: Instant) {
        let mut state = self.state();
        let Some(member) = state.members.get_mut(&number) else { return };
        let is_due = now.saturating_duration_since(member.sent) > self.lease;
        if member.connection != connection || !is_due {
            return;
        }
        if let (Some(order), Some(outbound)) = (&member.outstanding, &member.outbound) {
            let _ = outbound.send(to_worker(order.clone()));
            member.sent = now;
        }
    }

    /// All workers that connected since the start, by number.
    pub(crate) fn members(&self) -> Vec<MemberView> {
        self.state().members.values().map(Member::view).collect()
    }

    /// Numbers of the workers with a valid lease that are not leaving, ascending.
    pub(crate) fn available(&self) -> Vec<WorkerNumber> {
        let state = self.state();
        let available = state.members.iter().filter(|(_, m)| m.alive && !m.beat.leaving);
        available.map(|(number, _)| *number).collect()
    }
}

impl Member {
    fn view(&self) -> MemberView {
        MemberView {
            entry: self.entry.clone(),
            threads: self.hello.threads,
            memory_bytes: self.hello.memory_bytes,
            beat: self.beat,
            alive: self.alive,
            silent: self.last_message.elapsed(),
        }
    }
}

fn to_worker(order: v1::Order) -> v1::ToWorker {
    v1::ToWorker { message: Some(v1::to_worker::Message::Order(order)) }
}

#[cfg(test)]
mod tests {
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
        }
    }

    fn hello(instance: &str) -> v1::Hello {
        v1::Hello { instance: instance.to_owned(), ..v1::Hello::default() }
    }

    fn order(epoch: u64, number: u64) -> v1::Order {
        let what = Some(v1::order::What::Seed(v1::Seed {}));
        v1::Order { epoch, number, what, incarnation: 1 }
    }

    fn noted(epoch: u64, order: u64) -> v1::Answer {
        let outcome = Some(v1::answer::Outcome::Noted(v1::Noted {}));
        v1::Answer { epoch, order, outcome, incarnation: 1 }
    }

    struct Worker {
        connection: u64,
        received: mpsc::UnboundedReceiver<v1::ToWorker>,
    }

    impl Worker {
        fn connect(membership: &Membership, number: u16, instance: &str) -> Worker {
            let (outbound, received) = mpsc::unbounded_channel();
            let connection = membership.connect(entry(number), hello(instance), outbound);
            Worker { connection, received }
        }

        fn next_order(&mut self) -> Option<v1::Order> {
            match self.received.try_recv().ok()?.message? {
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
        membership.send_order(3, order(5, 1));
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
        membership.send_order(3, order(5, 1));
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
        membership.send_order(3, order(5, 1));
        let mut other = Worker::connect(&membership, 3, "b");
        assert!(matches!(events.try_recv(), Ok(WorkerEvent::Lost { worker: 3, .. })));
        assert_eq!(other.next_order(), None);
    }

    #[test]
    fn a_lease_ends_without_messages_and_is_renewed_by_a_late_heartbeat() {
        let membership = Membership::new(LEASE);
        let worker = Worker::connect(&membership, 3, "a");
        let mut events = session(&membership, 5, &[3]);
        membership.send_order(3, order(5, 1));
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
        membership.send_order(3, order(5, 1));
        let mut events = session(&membership, 6, &[3]);
        assert!(membership.answer(3, worker.connection, noted(5, 1)));
        assert!(events.try_recv().is_err());
    }

    #[test]
    fn answers_of_another_incarnation_are_dropped() {
        let membership = Membership::new(LEASE);
        let worker = Worker::connect(&membership, 3, "a");
        let mut events = session(&membership, 5, &[3]);
        membership.send_order(3, order(5, 1));
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
                    self.epoch += 1;
                    self.events = session(membership, self.epoch, &[0, 1, 2]);
                    (self.sent, self.answers) = (0, Vec::new());
                }
                Step::Order => {
                    self.sent += 1;
                    (0..3).for_each(|number| {
                        membership.send_order(number, order(self.epoch, self.sent))
                    });
                }
                Step::Connect { worker, restarted } => {
                    let known = &mut self.workers[usize::from(worker)];
                    known.process += u32::from(restarted);
                    known.old = known.link.connection;
                    known.link = Worker::connect(membership, worker, &known.process.to_string());
                }
                Step::Disconnect { worker } => {
                    membership
                        .disconnect(worker, self.workers[usize::from(worker)].link.connection);
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
}
