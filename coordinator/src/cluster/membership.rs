//! Who is there: the workers' connections, their signs of life, and the way of orders and answers.
//!
//! A worker that loses its connection and comes back within the lease as the same process goes on
//! where it was: its outstanding order is sent again, and it answers what it has done already
//! without doing it twice. A worker that comes back as another process, or not within the lease, is
//! lost to the session.

use std::collections::BTreeMap;
use std::sync::mpsc::Sender;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use strata_proto::v1;
use tokio::sync::mpsc;

use crate::entry::WorkerEntry;

/// What a session hears from its workers.
#[derive(Debug)]
pub(crate) enum WorkerEvent {
    /// An answer to an order.
    Answer {
        /// Who answers.
        worker: u16,
        /// The answer.
        answer: v1::Answer,
    },
    /// A worker has gone.
    Lost {
        /// Who.
        worker: u16,
        /// What is known of it.
        why: &'static str,
    },
}

/// The way to a connected worker.
pub(crate) type Outbound = mpsc::UnboundedSender<v1::ToWorker>;

/// A worker as the registry knows it.
#[derive(Debug)]
struct Member {
    entry: WorkerEntry,
    hello: v1::Hello,
    beat: v1::WorkerBeat,
    /// None while it is not connected.
    outbound: Option<Outbound>,
    /// Counts connections, so that the end of an old one is not taken for that of the new one.
    connection: u64,
    last_heard: Instant,
    /// Whether its lease is valid.
    alive: bool,
    /// The order that has not been answered.
    outstanding: Option<v1::Order>,
}

/// A worker as others see it.
#[derive(Clone, Debug)]
pub(crate) struct MemberView {
    /// Number, name and address.
    pub(crate) entry: WorkerEntry,
    /// Threads.
    pub(crate) threads: u32,
    /// Memory budget.
    pub(crate) memory_bytes: u64,
    /// Its last sign of life.
    pub(crate) beat: v1::WorkerBeat,
    /// Whether its lease is valid.
    pub(crate) alive: bool,
    /// Time since it was heard of.
    pub(crate) silent: Duration,
}

#[derive(Debug, Default)]
struct Inner {
    members: BTreeMap<u16, Member>,
    connections: u64,
    session: Option<Session>,
}

#[derive(Debug)]
struct Session {
    epoch: u64,
    members: Vec<u16>,
    events: Sender<WorkerEvent>,
}

impl Inner {
    fn tell_session(&self, worker: u16, event: WorkerEvent) {
        if let Some(session) = &self.session
            && session.members.contains(&worker)
        {
            // A session that is over hears nothing any more.
            let _ = session.events.send(event);
        }
    }
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Membership {
    lease: Duration,
    inner: Mutex<Inner>,
}

impl Membership {
    pub(crate) fn new(lease: Duration) -> Membership {
        Membership { lease, inner: Mutex::default() }
    }

    /// How long a silent worker counts as alive.
    pub(crate) fn lease(&self) -> Duration {
        self.lease
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A worker has connected. Returns the connection's number.
    pub(crate) fn connect(&self, entry: WorkerEntry, hello: v1::Hello, outbound: Outbound) -> u64 {
        let mut inner = self.inner();
        inner.connections += 1;
        let connection = inner.connections;
        let number = entry.number;
        let before = inner.members.remove(&number);
        let same = before.as_ref().filter(|member| member.hello.instance == hello.instance);
        // What was outstanding may have been lost on the way, or the answer.
        let outstanding = same.filter(|member| member.alive).and_then(|m| m.outstanding.clone());
        let beat = same.map(|member| member.beat).unwrap_or_default();
        if before.is_some() && same.is_none() {
            let why = "it was started anew";
            inner.tell_session(number, WorkerEvent::Lost { worker: number, why });
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
            last_heard: Instant::now(),
            alive: true,
            outstanding,
        };
        inner.members.insert(number, member);
        connection
    }

    /// A connection has ended. The worker counts as alive until its lease is over.
    pub(crate) fn disconnect(&self, number: u16, connection: u64) {
        let mut inner = self.inner();
        if let Some(member) = inner.members.get_mut(&number)
            && member.connection == connection
        {
            member.outbound = None;
        }
    }

    /// A sign of life. False if the connection is not the worker's newest.
    pub(crate) fn beat(&self, number: u16, connection: u64, beat: v1::WorkerBeat) -> bool {
        self.heard(number, connection, |member| member.beat = beat)
    }

    fn heard(&self, number: u16, connection: u64, note: impl FnOnce(&mut Member)) -> bool {
        let mut inner = self.inner();
        let Some(member) = inner.members.get_mut(&number) else { return false };
        if member.connection != connection {
            return false;
        }
        member.last_heard = Instant::now();
        member.alive = true;
        note(member);
        true
    }

    /// An answer. False if the connection is not the worker's newest.
    pub(crate) fn answer(&self, number: u16, connection: u64, answer: v1::Answer) -> bool {
        let mut fits = false;
        let known = self.heard(number, connection, |member| {
            let outstanding = member.outstanding.as_ref();
            fits = outstanding
                .is_some_and(|order| (order.epoch, order.number) == (answer.epoch, answer.order));
            if fits {
                member.outstanding = None;
            }
        });
        // An answer that nobody waits for is a late or repeated one.
        if fits {
            let inner = self.inner();
            if inner.session.as_ref().is_some_and(|session| session.epoch == answer.epoch) {
                inner.tell_session(number, WorkerEvent::Answer { worker: number, answer });
            }
        }
        known
    }

    /// Gives up workers that have by now been silent for longer than the lease.
    pub(crate) fn expire(&self, now: Instant) {
        let mut inner = self.inner();
        let mut lost = Vec::new();
        for (number, member) in &mut inner.members {
            if member.alive && now.saturating_duration_since(member.last_heard) > self.lease {
                member.alive = false;
                member.outstanding = None;
                lost.push(*number);
            }
        }
        for worker in &lost {
            let why = "it has not been heard of for longer than its lease";
            inner.tell_session(*worker, WorkerEvent::Lost { worker: *worker, why });
        }
    }

    /// Begins a session: from now on its workers' answers go to `events`, and nobody else's.
    pub(crate) fn begin(&self, epoch: u64, members: Vec<u16>, events: Sender<WorkerEvent>) {
        let mut inner = self.inner();
        for worker in &members {
            let alive = inner.members.get(worker).is_some_and(|member| member.alive);
            if !alive {
                let why = "it is not connected";
                let _ = events.send(WorkerEvent::Lost { worker: *worker, why });
            }
        }
        inner.session = Some(Session { epoch, members, events });
    }

    /// Ends the session.
    pub(crate) fn end(&self) {
        self.inner().session = None;
    }

    /// Gives a worker an order. If it is away for the moment, it gets it when it is back.
    pub(crate) fn order(&self, number: u16, order: v1::Order) {
        if let Some(member) = self.inner().members.get_mut(&number) {
            if let Some(outbound) = &member.outbound {
                let _ = outbound.send(to_worker(order.clone()));
            }
            member.outstanding = Some(order);
        }
    }

    /// All workers that have ever been seen since the start, by number.
    pub(crate) fn members(&self) -> Vec<MemberView> {
        self.inner().members.values().map(Member::view).collect()
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
            silent: self.last_heard.elapsed(),
        }
    }
}

fn to_worker(order: v1::Order) -> v1::ToWorker {
    v1::ToWorker { message: Some(v1::to_worker::Message::Order(order)) }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, channel};

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
        v1::Order { epoch, number, what: Some(v1::order::What::Seed(v1::Seed {})) }
    }

    fn noted(epoch: u64, order: u64) -> v1::Answer {
        v1::Answer { epoch, order, outcome: Some(v1::answer::Outcome::Noted(v1::Noted {})) }
    }

    struct Worker {
        connection: u64,
        received: mpsc::UnboundedReceiver<v1::ToWorker>,
    }

    impl Worker {
        fn connect(registry: &Membership, number: u16, instance: &str) -> Worker {
            let (outbound, received) = mpsc::unbounded_channel();
            let connection = registry.connect(entry(number), hello(instance), outbound);
            Worker { connection, received }
        }

        fn next_order(&mut self) -> Option<v1::Order> {
            match self.received.try_recv().ok()?.message? {
                v1::to_worker::Message::Order(order) => Some(order),
                _ => None,
            }
        }
    }

    fn session(registry: &Membership, epoch: u64, members: &[u16]) -> Receiver<WorkerEvent> {
        let (events, received) = channel();
        registry.begin(epoch, members.to_vec(), events);
        received
    }

    #[test]
    fn a_worker_that_comes_back_in_time_gets_its_order_again() {
        let registry = Membership::new(LEASE);
        let mut worker = Worker::connect(&registry, 3, "a");
        let events = session(&registry, 5, &[3]);
        registry.order(3, order(5, 1));
        assert_eq!(worker.next_order(), Some(order(5, 1)));
        registry.disconnect(3, worker.connection);
        let mut again = Worker::connect(&registry, 3, "a");
        assert_eq!(again.next_order(), Some(order(5, 1)));
        // The old connection speaks no more.
        assert!(!registry.answer(3, worker.connection, noted(5, 1)));
        assert!(events.try_recv().is_err());
        assert!(registry.answer(3, again.connection, noted(5, 1)));
        assert!(matches!(events.try_recv(), Ok(WorkerEvent::Answer { worker: 3, .. })));
        // Repeated: nobody hears it.
        assert!(registry.answer(3, again.connection, noted(5, 1)));
        assert!(events.try_recv().is_err());
    }

    #[test]
    fn a_new_process_means_the_old_one_is_lost() {
        let registry = Membership::new(LEASE);
        Worker::connect(&registry, 3, "a");
        let events = session(&registry, 5, &[3]);
        registry.order(3, order(5, 1));
        let mut other = Worker::connect(&registry, 3, "b");
        assert!(matches!(events.try_recv(), Ok(WorkerEvent::Lost { worker: 3, .. })));
        assert_eq!(other.next_order(), None);
    }

    #[test]
    fn silence_beyond_the_lease_is_loss_and_a_late_beat_a_return() {
        let registry = Membership::new(LEASE);
        let worker = Worker::connect(&registry, 3, "a");
        let events = session(&registry, 5, &[3]);
        registry.order(3, order(5, 1));
        registry.expire(Instant::now());
        assert!(events.try_recv().is_err());
        registry.expire(Instant::now() + 2 * LEASE);
        assert!(matches!(events.try_recv(), Ok(WorkerEvent::Lost { worker: 3, .. })));
        assert!(!registry.members()[0].alive);
        assert!(registry.beat(3, worker.connection, v1::WorkerBeat::default()));
        assert!(registry.members()[0].alive);
        // Its late answer is to nobody.
        assert!(registry.answer(3, worker.connection, noted(5, 1)));
        assert!(events.try_recv().is_err());
    }

    #[test]
    fn answers_of_another_epoch_are_not_heard() {
        let registry = Membership::new(LEASE);
        let worker = Worker::connect(&registry, 3, "a");
        registry.order(3, order(5, 1));
        let events = session(&registry, 6, &[3]);
        assert!(registry.answer(3, worker.connection, noted(5, 1)));
        assert!(events.try_recv().is_err());
    }

    #[test]
    fn a_session_with_an_absent_worker_hears_so_at_once() {
        let registry = Membership::new(LEASE);
        let events = session(&registry, 1, &[9]);
        assert!(matches!(events.try_recv(), Ok(WorkerEvent::Lost { worker: 9, .. })));
    }

    /// Something that happens between the coordinator and one of three workers.
    #[derive(Copy, Clone, Debug)]
    enum Happening {
        /// A session begins, with the next epoch.
        Begin,
        /// The session gives its next order to all.
        Order,
        /// A worker connects, as the same process or as a new one.
        Connect {
            worker: u16,
            anew: bool,
        },
        Disconnect {
            worker: u16,
        },
        /// All that are silent lose their leases.
        Expire,
        /// A worker answers one of the orders it was ever given, once more perhaps.
        Answer {
            worker: u16,
            which: prop::sample::Index,
            old_connection: bool,
        },
    }

    fn happening() -> impl Strategy<Value = Happening> {
        use Happening::*;
        let worker = 0..3_u16;
        prop_oneof![
            1 => Just(Begin),
            4 => Just(Order),
            3 => (worker.clone(), any::<bool>()).prop_map(|(worker, anew)| Connect { worker, anew }),
            2 => worker.clone().prop_map(|worker| Disconnect { worker }),
            1 => Just(Expire),
            8 => (worker, any::<prop::sample::Index>(), prop::bool::weighted(0.2))
                .prop_map(|(worker, which, old_connection)| Answer { worker, which, old_connection }),
        ]
    }

    /// A worker of the simulation: all it was ever told, over all its connections.
    struct Simulated {
        process: u32,
        link: Worker,
        old: u64,
        orders: Vec<v1::Order>,
    }

    struct Simulation {
        registry: Membership,
        epoch: u64,
        sent: u64,
        workers: Vec<Simulated>,
        events: Receiver<WorkerEvent>,
        /// Answers that the session has heard.
        heard: Vec<(u16, u64)>,
    }

    impl Simulation {
        fn new() -> Simulation {
            let registry = Membership::new(LEASE);
            let workers = (0..3).map(|number| Simulated {
                process: 0,
                link: Worker::connect(&registry, number, "0"),
                old: 0,
                orders: Vec::new(),
            });
            let workers = workers.collect();
            let events = session(&registry, 1, &[0, 1, 2]);
            Simulation { registry, epoch: 1, sent: 0, workers, events, heard: Vec::new() }
        }

        fn play(&mut self, happening: Happening) {
            let registry = &self.registry;
            match happening {
                Happening::Begin => {
                    self.epoch += 1;
                    self.events = session(registry, self.epoch, &[0, 1, 2]);
                    (self.sent, self.heard) = (0, Vec::new());
                }
                Happening::Order => {
                    self.sent += 1;
                    (0..3).for_each(|number| registry.order(number, order(self.epoch, self.sent)));
                }
                Happening::Connect { worker, anew } => {
                    let known = &mut self.workers[usize::from(worker)];
                    known.process += u32::from(anew);
                    known.old = known.link.connection;
                    known.link = Worker::connect(registry, worker, &known.process.to_string());
                }
                Happening::Disconnect { worker } => {
                    registry.disconnect(worker, self.workers[usize::from(worker)].link.connection);
                }
                Happening::Expire => registry.expire(Instant::now() + 2 * LEASE),
                Happening::Answer { worker, which, old_connection } => {
                    let known = &self.workers[usize::from(worker)];
                    if known.orders.is_empty() {
                        return;
                    }
                    let told = which.get(&known.orders);
                    let connection = if old_connection { known.old } else { known.link.connection };
                    registry.answer(worker, connection, noted(told.epoch, told.number));
                }
            }
        }

        /// Hears everything, and checks it.
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
                assert!(!self.heard.contains(&answered), "{answered:?} was heard twice");
                self.heard.push(answered);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// However connections come and go, whatever is late or comes again: a session hears each
        /// answer once, of its own epoch, to its last order.
        #[test]
        fn nothing_fenced_late_or_repeated_is_heard(
            happenings in prop::collection::vec(happening(), 1..60),
        ) {
            let mut simulation = Simulation::new();
            for happening in happenings {
                simulation.play(happening);
                simulation.check();
            }
            // Who is still alive gets the session's next order, and its answer is heard.
            simulation.play(Happening::Order);
            simulation.check();
            for number in 0..3 {
                let alive = simulation.registry.members()[usize::from(number)].alive;
                let connected = !simulation.workers[usize::from(number)].link.received.is_closed();
                if alive && connected {
                    let connection = simulation.workers[usize::from(number)].link.connection;
                    let answer = noted(simulation.epoch, simulation.sent);
                    assert!(simulation.registry.answer(number, connection, answer));
                    simulation.check();
                    assert!(simulation.heard.contains(&(number, simulation.sent)));
                }
            }
        }
    }
}
