//! Check, by samples, that the moves of a space can be undone.

use std::collections::{HashSet, VecDeque};

use crate::digest::mix;
use crate::error::SpaceError;
use crate::state::State;
use crate::state_space::StateSpace;
use crate::work::{Work, WorkError};

/// Moves of a random walk.
const WALK: usize = 64;

/// The most successors that a check computes per sample: it checks fewer states of a space with very many
/// moves.
const SUCCESSORS: u64 = 1 << 14;

/// Checks about `samples` states of a space that declares its edges undirected: each must be among the
/// successors of each of its successors.
///
/// Half of the states are the nearest to the start. The others lie on random walks from neighbours of these,
/// which are the same in each call. The check ends early after 2^14 successors per sample, or when `work` is
/// cancelled; it spends no steps of `work`. A wrong space may pass; a correct one never fails. A space
/// that declares moves which cannot be undone is not checked.
///
/// # Errors
/// [`SpaceError::Irreversible`] for the first move that cannot be undone; [`SpaceError::Cancelled`].
pub fn check_reversible(
    space: &dyn StateSpace,
    samples: usize,
    work: &Work,
) -> Result<(), SpaceError> {
    if !space.is_undirected() || samples == 0 {
        return Ok(());
    }
    let mut check = Check { space, work, left: samples as u64 * SUCCESSORS, back: Vec::new() };
    let mut queue: VecDeque<State> = space.seeds().into();
    let mut known: HashSet<State> = queue.iter().copied().collect();
    let (mut left, mut moves) = (samples.div_ceil(2), Vec::new());
    while let Some(state) = queue.pop_front().filter(|_| left > 0 && check.left > 0) {
        left -= 1;
        check.successors(state, &mut moves)?;
        queue.extend(moves.drain(..).filter(|next| known.insert(*next)));
    }
    // What is left in the queue are the farthest states so far.
    let starts: Vec<State> = queue.into();
    if starts.is_empty() {
        return Ok(());
    }
    let mut random = 1;
    for step in 0..samples / 2 {
        if check.left == 0 {
            break;
        }
        if step % WALK == 0 {
            moves.clear();
            random = mix(random + 1);
            moves.push(starts[(random % starts.len() as u64) as usize]);
        }
        random = mix(random + 1);
        let Some(at) = moves.get((random % moves.len().max(1) as u64) as usize).copied() else {
            continue;
        };
        moves.clear();
        check.successors(at, &mut moves)?;
    }
    Ok(())
}

struct Check<'a> {
    space: &'a dyn StateSpace,
    work: &'a Work,
    /// Number of successors that may still be computed.
    left: u64,
    back: Vec<State>,
}

impl Check<'_> {
    /// Appends the successors of a state, and checks them until the limit of successors is reached.
    fn successors(&mut self, state: State, out: &mut Vec<State>) -> Result<(), SpaceError> {
        self.space.moves(state, out);
        for next in &*out {
            if self.left == 0 {
                return Ok(());
            }
            if self.work.spend(0) == Err(WorkError::Cancelled) {
                return Err(SpaceError::Cancelled);
            }
            self.back.clear();
            self.space.moves(*next, &mut self.back);
            self.left = self.left.saturating_sub(self.back.len() as u64);
            if !self.back.contains(&state) {
                let (from, to) = (self.space.text(state), self.space.text(*next));
                return Err(SpaceError::Irreversible { from, to });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use crate::keyed::{KeySpace, Keyed, Seed};

    /// A ring of `length` keys. After the key `one_way`, no move leads back.
    struct Ring {
        length: u64,
        one_way: u64,
        says_so: bool,
    }

    impl KeySpace for Ring {
        type Key = u64;
        fn seeds(&self) -> Vec<Seed> {
            vec![Seed::start(0)]
        }
        fn key_bits(&self) -> u32 {
            20
        }
        fn successors(&self, key: u64, out: &mut Vec<u64>) {
            out.push((key + 1) % self.length);
            if key <= self.one_way {
                out.push((key + self.length - 1) % self.length);
            }
        }
        fn is_undirected(&self) -> bool {
            !self.says_so
        }
        fn text(&self, key: u64) -> String {
            key.to_string()
        }
    }

    fn check(length: u64, one_way: u64, says_so: bool, samples: usize) -> Result<(), SpaceError> {
        let space = Keyed::new(Ring { length, one_way, says_so }).unwrap();
        check_reversible(&space, samples, &Work::default())
    }

    /// A complete graph of `states` states. It counts the calls of `successors`.
    struct Complete {
        states: u64,
        asked: AtomicU64,
    }

    impl KeySpace for Complete {
        type Key = u64;
        fn seeds(&self) -> Vec<Seed> {
            vec![Seed::start(0)]
        }
        fn key_bits(&self) -> u32 {
            20
        }
        fn successors(&self, _: u64, out: &mut Vec<u64>) {
            self.asked.fetch_add(1, Ordering::Relaxed);
            out.extend(0..self.states);
        }
        fn text(&self, key: u64) -> String {
            key.to_string()
        }
    }

    #[test]
    fn a_check_ends_at_the_limit_of_successors_and_when_it_is_cancelled() {
        let states = 5000;
        let space = Keyed::new(Complete { states, asked: AtomicU64::new(0) }).unwrap();
        assert_eq!(check_reversible(&space, 64, &Work::default()), Ok(()));
        let asked = space.space().asked.swap(0, Ordering::Relaxed);
        assert!((1..=64 * SUCCESSORS / states + 3).contains(&asked), "{asked}");
        let work = Work::default();
        work.cancel();
        assert_eq!(check_reversible(&space, 64, &work), Err(SpaceError::Cancelled));
        assert_eq!(space.space().asked.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_move_that_cannot_be_undone_is_found() {
        assert_eq!(check(100, 100, false, 1000), Ok(()));
        // The step from 50 to 51, reached from the start by 50 steps.
        let error = check(100, 50, false, 1000).unwrap_err();
        assert_eq!(error, SpaceError::Irreversible { from: "50".into(), to: "51".into() });
        // Too few samples miss it.
        assert!(check(1000, 30, false, 20).is_ok());
        assert!(check(1000, 30, false, 2000).is_err());
    }

    #[test]
    fn a_space_with_directed_edges_is_not_checked() {
        assert_eq!(check(100, 50, true, 1000), Ok(()));
        assert_eq!(check(100, 50, false, 0), Ok(()));
    }
}
