//! Worker membership: registration, leases and delivery of orders.
//!
//! A worker that reconnects within its lease as the same process continues: its outstanding order
//! is sent again, and it repeats the answer to an order it has already executed. A worker that
//! reconnects as another process, or after its lease, is lost to the session.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use strata_proto::platform::Instant;
use strata_proto::v1;
use tokio::sync::mpsc;

use super::outgoing::{Outgoing, PendingOrder};
use crate::entry::{WorkerEntry, WorkerNumber};

/// An event that a session receives about one of its workers.
#[derive(Debug)]
pub(crate) enum WorkerEvent {
    /// The worker answered an order.
    Answer {
        /// Its number.
        worker: WorkerNumber,
        /// The answer.
        answer: Box<v1::Answer>,
    },
    /// The worker is lost.
    Lost {
        /// Its number.
        worker: WorkerNumber,
        /// The evidence.
        why: &'static str,
    },
    /// Two processes present the worker's identity, and replace each other.
    Copied {
        /// Its number.
        worker: WorkerNumber,
    },
}

/// Number of returns of replaced processes that proves that two running processes have one
/// identity. A single return can be the late connection of a process that has ended.
const RETURNS_OF_A_COPY: usize = 2;

/// Most replaced processes that are kept for a worker; beyond this, the oldest is dropped.
const MAX_REPLACED: usize = 8;

/// Queue of messages to a connected worker.
pub(crate) type Outbound = mpsc::UnboundedSender<Outgoing>;

#[derive(Debug)]
struct Member {
    entry: WorkerEntry,
    hello: v1::Hello,
    beat: v1::WorkerBeat,
    /// `None` while the worker is disconnected.
    outbound: Option<Outbound>,
    /// Number of its newest connection. Messages of older ones are ignored.
    connection: u64,
    last_message: Instant,
    /// Whether its lease is valid.
    alive: bool,
    /// The order that it has not answered.
    outstanding: Option<PendingOrder>,
    /// Time at which the outstanding order was last sent.
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
    /// Its machine, if it has described it.
    pub(crate) machine: Option<v1::Machine>,
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
    /// The running sessions. A worker is a member of one at most.
    sessions: Vec<Session>,
    /// Names of the workers that registered since the start.
    names: BTreeMap<WorkerNumber, String>,
    /// Processes of workers that others have replaced since the start.
    replaced: BTreeMap<WorkerNumber, Replaced>,
}

/// Processes of one worker that others have replaced.
#[derive(Debug, Default)]
struct Replaced {
    /// Instance ids, the newest last; at most [`MAX_REPLACED`].
    instances: VecDeque<String>,
    /// How often a replaced process has returned and replaced one that was still connected.
    returns: usize,
}

impl Replaced {
    fn add(&mut self, instance: &str) {
        if !self.instances.iter().any(|known| known == instance) {
            self.instances.push_back(instance.to_owned());
        }
        if self.instances.len() > MAX_REPLACED {
            self.instances.pop_front();
        }
    }
}

#[derive(Debug)]
struct Session {
    epoch: u64,
    /// Ascending.
    members: Vec<WorkerNumber>,
    events: mpsc::UnboundedSender<WorkerEvent>,
}

impl State {
    fn notify_session(&self, worker: WorkerNumber, event: WorkerEvent) {
        if let Some(session) = self.session_of(worker) {
            // Sending fails if the session is over; then the event is not needed.
            let _ = session.events.send(event);
        }
    }

    fn session_of(&self, worker: WorkerNumber) -> Option<&Session> {
        self.sessions.iter().find(|session| session.members.binary_search(&worker).is_ok())
    }
}

/// All workers that connected since the start, and the sessions that run.
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

    /// Sets the names of workers, which may be connected or not.
    pub(crate) fn set_names<'a>(&self, workers: impl IntoIterator<Item = &'a WorkerEntry>) {
        let mut state = self.state();
        for WorkerEntry { number, name, .. } in workers {
            state.names.insert(*number, name.clone());
            if let Some(member) = state.members.get_mut(number) {
                member.entry.name.clone_from(name);
            }
        }
    }

    /// The name of a worker that has registered since the start, else its number.
    pub(crate) fn name(&self, number: WorkerNumber) -> String {
        let name = self.state().names.get(&number).cloned();
        name.unwrap_or_else(|| format!("number {number}"))
    }

    /// Sets a worker's peak memory in its epoch, in bytes. It replaces the peak of the last
    /// heartbeat, which may be from before the epoch.
    pub(crate) fn set_peak(&self, worker: WorkerNumber, bytes: u64) {
        if let Some(member) = self.state().members.get_mut(&worker) {
            member.beat.peak_rss_bytes = bytes;
        }
    }

    /// Registers a new connection of a worker, and sends its outstanding order again if it is the
    /// same process within its lease. Returns the connection's number.
    pub(crate) fn connect(
        &self,
        mut entry: WorkerEntry,
        hello: v1::Hello,
        outbound: Outbound,
    ) -> u64 {
        let mut state = self.state();
        // The name may have changed since: another worker may have registered.
        if let Some(name) = state.names.get(&entry.number) {
            entry.name.clone_from(name);
        }
        state.connections += 1;
        let connection = state.connections;
        let number = entry.number;
        let before = state.members.remove(&number);
        let same = before.as_ref().filter(|member| member.hello.instance == hello.instance);
        // The order or its answer may have been lost with the connection.
        let outstanding = same.filter(|member| member.alive).and_then(|m| m.outstanding.clone());
        let beat = same.map(|member| member.beat).unwrap_or_default();
        if let (Some(before), None) = (&before, same) {
            let replaced = state.replaced.entry(number).or_default();
            let is_connected = before.outbound.is_some();
            let returns = is_connected && replaced.instances.contains(&hello.instance);
            replaced.returns += usize::from(returns);
            let is_copied = returns && replaced.returns >= RETURNS_OF_A_COPY;
            replaced.add(&before.hello.instance);
            let event = if is_copied {
                WorkerEvent::Copied { worker: number }
            } else {
                WorkerEvent::Lost { worker: number, why: "it was restarted" }
            };
            state.notify_session(number, event);
        }
        if let Some(order) = &outstanding {
            let _ = outbound.send(Outgoing::Order(order.clone()));
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

    /// Clears the record of replaced processes, when a job is started. The user may have ended a
    /// copy just before that, and the other process may connect while the copy's connection still
    /// seems open.
    pub(crate) fn forget_replaced(&self) {
        self.state().replaced.clear();
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

    /// Records a heartbeat. Returns false if the connection is not the worker's newest.
    pub(crate) fn heartbeat(
        &self,
        number: WorkerNumber,
        connection: u64,
        beat: v1::WorkerBeat,
    ) -> bool {
        self.renew(number, connection, |member| member.beat = beat)
    }

    /// Renews a lease and updates the member. Returns false if the connection is not the worker's
    /// newest.
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

    /// Forwards an answer to the session. Returns false if the connection is not the worker's
    /// newest.
    pub(crate) fn answer(&self, number: WorkerNumber, connection: u64, answer: v1::Answer) -> bool {
        let mut fits = false;
        let is_current = self.renew(number, connection, |member| {
            fits = member.outstanding.as_ref().is_some_and(|order| order.is_answered_by(&answer));
            if fits {
                member.outstanding = None;
            }
        });
        // Late and repeated answers do not fit, and are dropped.
        if fits {
            let state = self.state();
            if state.session_of(number).is_some_and(|session| session.epoch == answer.epoch) {
                state.notify_session(
                    number,
                    WorkerEvent::Answer { worker: number, answer: Box::new(answer) },
                );
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

    /// Starts a session of workers that are in no other. Events about them go to `events`.
    pub(crate) fn start_session(
        &self,
        epoch: u64,
        mut members: Vec<WorkerNumber>,
        events: mpsc::UnboundedSender<WorkerEvent>,
    ) {
        members.sort_unstable();
        let mut state = self.state();
        for worker in &members {
            let alive = state.members.get(worker).is_some_and(|member| member.alive);
            if !alive {
                let why = "it is not connected";
                let _ = events.send(WorkerEvent::Lost { worker: *worker, why });
            }
        }
        state.sessions.push(Session { epoch, members, events });
    }

    /// Ends the session with this epoch.
    pub(crate) fn end_session(&self, epoch: u64) {
        self.state().sessions.retain(|session| session.epoch != epoch);
    }

    /// Sends an order to a worker, now or when it reconnects.
    pub(crate) fn send_order(&self, order: PendingOrder) {
        if let Some(member) = self.state().members.get_mut(&order.worker) {
            if let Some(outbound) = &member.outbound {
                let _ = outbound.send(Outgoing::Order(order.clone()));
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
            let _ = outbound.send(Outgoing::Order(order.clone()));
            member.sent = now;
        }
    }

    /// Sends a worker a message other than an order. It is lost if the worker is disconnected.
    pub(crate) fn send(&self, number: WorkerNumber, message: v1::to_worker::Message) {
        let state = self.state();
        if let Some(outbound) = state.members.get(&number).and_then(|m| m.outbound.as_ref()) {
            let _ = outbound.send(message.into());
        }
    }

    /// Numbers of the workers with a connection, ascending.
    pub(crate) fn connected(&self) -> Vec<WorkerNumber> {
        let state = self.state();
        let connected = state.members.iter().filter(|(_, member)| member.outbound.is_some());
        connected.map(|(number, _)| *number).collect()
    }

    /// All workers that connected since the start, by number.
    pub(crate) fn members(&self) -> Vec<MemberView> {
        self.state().members.values().map(Member::view).collect()
    }

    /// Whether a worker is leaving and in no session. It will be in no later session, because
    /// sessions start only with workers that are not leaving.
    pub(crate) fn has_left_sessions(&self, number: WorkerNumber) -> bool {
        let state = self.state();
        let is_leaving = |member: &Member| member.beat.leaving;
        state.members.get(&number).is_some_and(is_leaving) && state.session_of(number).is_none()
    }

    /// Whether a worker's lease is valid.
    pub(crate) fn is_alive(&self, number: WorkerNumber) -> bool {
        self.state().members.get(&number).is_some_and(|member| member.alive)
    }

    /// Workers with a valid lease that are not leaving and in no session, by number.
    pub(crate) fn idle(&self) -> Vec<MemberView> {
        let state = self.state();
        let in_session = |number: &WorkerNumber| state.session_of(*number).is_some();
        let idle = state
            .members
            .iter()
            .filter(|(number, member)| member.alive && !member.beat.leaving && !in_session(number));
        idle.map(|(_, member)| member.view()).collect()
    }

    /// Numbers of the workers with a valid lease that are not leaving, ascending.
    pub(crate) fn available(&self) -> Vec<WorkerNumber> {
        self.alive(|beat| !beat.leaving)
    }

    /// Numbers of the workers with a valid lease that are leaving, ascending.
    pub(crate) fn leaving(&self) -> Vec<WorkerNumber> {
        self.alive(|beat| beat.leaving)
    }

    /// Numbers of the workers with a valid lease, ascending.
    pub(crate) fn present(&self) -> Vec<WorkerNumber> {
        self.alive(|_| true)
    }

    fn alive(&self, which: impl Fn(&v1::WorkerBeat) -> bool) -> Vec<WorkerNumber> {
        let state = self.state();
        let alive = state.members.iter().filter(|(_, member)| member.alive && which(&member.beat));
        alive.map(|(number, _)| *number).collect()
    }

    /// The fewest threads of a worker, among the workers with a valid lease that are not leaving; 1
    /// if there is none.
    pub(crate) fn least_threads(&self) -> u32 {
        let state = self.state();
        let available = state.members.values().filter(|m| m.alive && !m.beat.leaving);
        available.map(|member| member.hello.threads).min().unwrap_or(1).max(1)
    }
}

impl Member {
    fn view(&self) -> MemberView {
        MemberView {
            entry: self.entry.clone(),
            threads: self.hello.threads,
            memory_bytes: self.hello.memory_bytes,
            machine: self.hello.machine.clone(),
            beat: self.beat,
            alive: self.alive,
            silent: self.last_message.elapsed(),
        }
    }
}

#[cfg(test)]
mod tests;
