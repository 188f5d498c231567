//! Order in which the actors of a simulation take their steps. An actor is one direction of a
//! connection, an attempt to connect, a thread, or a job of a thread pool.
//!
//! A seed chooses one of two ways:
//!
//! - [`Order::Times`]: each step takes a random time.
//! - [`Order::Priorities`]: probabilistic concurrency testing (Burckhardt et al., "A randomized scheduler with
//!   probabilistic guarantees of finding bugs", ASPLOS 2010). Each actor has a random priority. When nothing
//!   else can run, the waiting actor with the highest priority takes its step, in no time. At a few random steps
//!   the actor that takes it gets the lowest priority. So an actor may be left behind while others take
//!   thousands of steps, which random times never do.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use fastrand::Rng;

use crate::simulation::random::Random;

/// The largest exponent of the number of a step at which a priority changes.
const LOG_STEPS: u32 = 17;

/// Most steps at which a priority changes.
const CHANGES: u32 = 6;

/// Priorities at the start have this bit; those of actors that have been put last have not.
const FIRST: u64 = 1 << 63;

/// How the next step is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Times,
    Priorities,
}

/// An actor that waits for its turn.
#[derive(Debug)]
struct Waiting {
    actor: u64,
    waker: Waker,
}

#[derive(Debug, Default)]
struct State {
    actors: u64,
    /// The waiting actors by priority.
    waiting: BTreeMap<u64, Waiting>,
    /// Actors whose turn it is, which have not taken their step yet.
    chosen: BTreeSet<u64>,
    /// New priorities of actors that have been put last.
    changed: BTreeMap<u64, u64>,
    /// The steps at which a priority changes.
    changes: BTreeSet<u64>,
    steps: u64,
    /// Steps since time has passed.
    at_once: u64,
}

/// Chooses the steps of the actors of one simulation.
#[derive(Debug)]
pub(crate) struct Scheduler {
    order: Order,
    /// Most steps in no time, so that actors that never rest do not stop the clock.
    most_at_once: u64,
    state: Mutex<State>,
}

impl Scheduler {
    /// The scheduler of a seed.
    pub(crate) fn of_seed(seed: u64) -> Arc<Scheduler> {
        let mut rng = Rng::with_seed(seed.rotate_left(32) ^ 0x5eed);
        let order = if rng.bool() { Order::Times } else { Order::Priorities };
        let changes = (0..rng.u32(0..=CHANGES)).map(|_| {
            let most = 1 << rng.u32(4..=LOG_STEPS);
            rng.u64(..most)
        });
        let state = State { changes: changes.collect(), ..State::default() };
        let most_at_once = 1 << rng.u32(3..10);
        Arc::new(Scheduler { order, most_at_once, state: Mutex::new(state) })
    }

    /// A scheduler whose steps take random times.
    #[cfg(test)]
    pub(crate) fn of_times() -> Arc<Scheduler> {
        Arc::new(Scheduler { order: Order::Times, most_at_once: 1, state: Mutex::default() })
    }

    pub(crate) fn order(&self) -> Order {
        self.order
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new actor.
    pub(crate) fn actor(self: &Arc<Self>, random: &Random) -> Actor {
        let mut state = self.state();
        state.actors += 1;
        let priority = random.below(FIRST) | FIRST;
        Actor { scheduler: Arc::clone(self), number: state.actors, priority }
    }

    /// Lets the waiting actor with the highest priority take its step. The runtime calls it when nothing
    /// can run; if it then still cannot, time passes.
    pub(crate) fn choose(&self) {
        let mut state = self.state();
        let next = state.waiting.last_key_value().map(|(priority, _)| *priority);
        let next = next.filter(|_| state.at_once < self.most_at_once);
        let Some(Waiting { actor, waker }) = next.and_then(|next| state.waiting.remove(&next))
        else {
            state.at_once = 0;
            return;
        };
        state.steps += 1;
        state.at_once += 1;
        if state.changes.contains(&state.steps) {
            let last = FIRST - state.steps;
            state.changed.insert(actor, last);
        }
        state.chosen.insert(actor);
        drop(state);
        waker.wake();
    }
}

/// Something that takes steps.
#[derive(Debug)]
pub(crate) struct Actor {
    scheduler: Arc<Scheduler>,
    number: u64,
    priority: u64,
}

impl Actor {
    /// Ready when the actor may take a step. Each call that is ready is one step.
    pub(crate) fn poll_step(&self, context: &mut Context<'_>) -> Poll<()> {
        if self.scheduler.order == Order::Times {
            return Poll::Ready(());
        }
        let mut state = self.scheduler.state();
        if state.chosen.remove(&self.number) {
            return Poll::Ready(());
        }
        let priority = state.changed.get(&self.number).copied().unwrap_or(self.priority);
        let waiting = Waiting { actor: self.number, waker: context.waker().clone() };
        let replaced = state.waiting.insert(priority, waiting);
        // Wakers are dropped without the lock: a task that goes with them may own actors.
        drop(state);
        assert!(replaced.is_none_or(|other| other.actor == self.number), "equal priorities");
        Poll::Pending
    }

    /// Time before a step: random, up to `most`, unless priorities decide.
    pub(crate) fn delay(&self, random: &Random, most: Duration) -> Duration {
        match self.scheduler.order {
            Order::Times => random.time(most),
            Order::Priorities => Duration::ZERO,
        }
    }

    /// Waits until the actor may take a step, which it does not before `delay` has passed.
    pub(crate) async fn step_after(&self, delay: Duration) {
        tokio::time::sleep(delay).await;
        std::future::poll_fn(|context| self.poll_step(context)).await;
    }
}

impl Drop for Actor {
    fn drop(&mut self) {
        let mut state = self.scheduler.state();
        let own = state.waiting.extract_if(.., |_, waiting| waiting.actor == self.number);
        let own: Vec<_> = own.collect();
        state.chosen.remove(&self.number);
        state.changed.remove(&self.number);
        drop(state);
        drop(own);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::world::World;

    /// Runs actors, made by `run`, by their priorities.
    fn simulate<F: Future>(
        changes: impl IntoIterator<Item = u64>,
        run: impl FnOnce(Arc<World>) -> F,
    ) -> F::Output {
        let state = State { changes: changes.into_iter().collect(), ..State::default() };
        let (order, state) = (Order::Priorities, Mutex::new(state));
        let scheduler = Arc::new(Scheduler { order, most_at_once: 20, state });
        let hook = Arc::clone(&scheduler);
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_time().start_paused(true).on_thread_park(move || hook.choose());
        let runtime = builder.build().unwrap();
        runtime.block_on(async { run(World::new(7, &scheduler)).await })
    }

    /// The order of the steps of four actors that each take three.
    fn steps(changes: impl IntoIterator<Item = u64>) -> Vec<usize> {
        let order = Arc::new(Mutex::new(Vec::new()));
        simulate(changes, async |world| {
            let actors = (0..4).map(|number| (number, world.scheduler.actor(&world.random)));
            let tasks = actors.map(|(number, actor)| {
                let order = Arc::clone(&order);
                tokio::spawn(async move {
                    for _ in 0..3 {
                        actor.step_after(Duration::ZERO).await;
                        order.lock().unwrap().push(number);
                    }
                })
            });
            for task in tasks.collect::<Vec<_>>() {
                task.await.unwrap();
            }
            assert!(world.now().is_zero(), "steps take no time");
        });
        let order = order.lock().unwrap();
        order.clone()
    }

    #[test]
    fn actors_take_their_steps_by_priority() {
        let order = steps([]);
        let blocks: Vec<&[usize]> = order.chunks(3).collect();
        assert!(blocks.iter().all(|block| block.iter().all(|actor| *actor == block[0])));
        assert_eq!(order.len(), 12);
    }

    #[test]
    fn an_actor_whose_priority_changes_is_the_last() {
        let first = steps([])[0];
        let order = steps([1]);
        assert_eq!(order[0], first);
        assert_eq!(order[10..], [first; 2]);
        assert_eq!(order, steps([1]));
    }

    #[test]
    fn an_actor_that_never_rests_does_not_stop_the_clock() {
        simulate([], async |world| {
            let actor = world.scheduler.actor(&world.random);
            let busy = async {
                loop {
                    actor.step_after(Duration::ZERO).await;
                }
            };
            let end = tokio::time::timeout(Duration::from_secs(1), busy).await;
            assert!(end.is_err());
        });
    }
}
