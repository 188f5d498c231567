//! A check by samples that the moves of a space can be undone.

use std::collections::{HashSet, VecDeque};

use crate::digest::mix;
use crate::error::SpaceError;
use crate::state::State;
use crate::state_space::StateSpace;

/// Moves of a random walk.
const WALK: usize = 64;

/// Checks about `samples` states of a space that calls its graph undirected: each must be among the
/// successors of each of its successors. Half of them are the nearest to the start, the others lie on
/// random walks from there, always the same.
///
/// A wrong space may pass, a right one never fails. Other spaces are not checked.
///
/// # Errors
/// [`SpaceError::Irreversible`] for the first move that cannot be undone.
pub fn check_reversible(space: &dyn StateSpace, samples: usize) -> Result<(), SpaceError> {
    if !space.is_undirected() || samples == 0 {
        return Ok(());
    }
    let mut check = Check { space, back: Vec::new() };
    let mut queue: VecDeque<State> = space.seeds().into();
    let mut known: HashSet<State> = queue.iter().copied().collect();
    let (mut left, mut moves) = (samples.div_ceil(2), Vec::new());
    while let Some(state) = queue.pop_front().filter(|_| left > 0) {
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
    back: Vec<State>,
}

impl Check<'_> {
    /// Appends the successors of a state, and checks them.
    fn successors(&mut self, state: State, out: &mut Vec<State>) -> Result<(), SpaceError> {
        self.space.moves(state, out);
        for next in &*out {
            self.back.clear();
            self.space.moves(*next, &mut self.back);
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
    use super::*;
    use crate::keyed::{KeySpace, Keyed, Seed};

    /// A ring. From `one_way` on no step leads back.
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
        check_reversible(&Keyed::new(Ring { length, one_way, says_so }).unwrap(), samples)
    }

    #[test]
    fn a_move_without_a_way_back_is_found() {
        assert_eq!(check(100, 100, false, 1000), Ok(()));
        // The step from 50 to 51, reached from the start by 50 steps.
        let error = check(100, 50, false, 1000).unwrap_err();
        assert_eq!(error, SpaceError::Irreversible { from: "50".into(), to: "51".into() });
        // Too few samples miss it.
        assert!(check(1000, 30, false, 20).is_ok());
        assert!(check(1000, 30, false, 2000).is_err());
    }

    #[test]
    fn a_space_that_says_so_is_not_checked() {
        assert_eq!(check(100, 50, true, 1000), Ok(()));
        assert_eq!(check(100, 50, false, 0), Ok(()));
    }
}
