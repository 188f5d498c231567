//! Checks of the symmetries of a space: they must map moves to moves, which is tested by samples, and the
//! start or the goal must stand for one position only.

use std::collections::HashSet;

use crate::digest::mix;
use crate::error::SpaceError;
use crate::nested::{NestedSpace, NestedState, Shift, successors};
use crate::state::{Finish, Local, State};
use crate::state_space::StateSpace;
use crate::tabled::Tabled;

/// Number of states that are checked: half are the nearest to the start, the others on a random walk.
const SAMPLES: usize = 64;

/// Checks that the start or the goal stands for one position only. If both stood for several, a search
/// would find the distance between the nearest two of these positions.
///
/// # Errors
/// [`SpaceError::Conflict`] if both stand for several.
pub fn check_ends(space: &dyn StateSpace) -> Result<(), SpaceError> {
    let seeds = space.seeds();
    let (starts, mut goals): (Vec<State>, Vec<State>) =
        seeds.into_iter().partition(|seed| seed.side() == 0);
    if let Finish::State(goal) = space.finish() {
        goals.push(goal);
    }
    let folded = |states: &[State]| {
        let counted = states.iter().map(|state| (*state, space.positions(*state).unwrap_or(1)));
        counted.into_iter().find(|(_, positions)| *positions > 1)
    };
    let (Some((start, of_start)), Some((goal, of_goal))) = (folded(&starts), folded(&goals)) else {
        return Ok(());
    };
    let (start, goal) = (space.text(start), space.text(goal));
    let why = format!(
        "{goal} stands for {of_goal} positions, and the start {start} for {of_start}: symmetries must fix \
         one of them, or the nearest two of these positions end the search"
    );
    Err(SpaceError::Conflict { name: "goal".into(), why })
}

/// Samples of the states that moves reach from `starts`.
fn sample<S: Clone + Eq + std::hash::Hash>(
    starts: Vec<S>,
    mut moves: impl FnMut(&S) -> Vec<S>,
) -> Vec<S> {
    let mut known: HashSet<S> = starts.iter().cloned().collect();
    let mut states = starts;
    let mut at = 0;
    while let Some(state) = states.get(at).filter(|_| at < SAMPLES / 2).cloned() {
        states.extend(moves(&state).into_iter().filter(|next| known.insert(next.clone())));
        at += 1;
    }
    let mut walk = states.last().cloned();
    states.truncate(SAMPLES / 2);
    for step in 0..SAMPLES as u64 / 2 {
        let Some(state) = walk else { break };
        let next = moves(&state);
        walk = next.get((mix(step + 1) % next.len().max(1) as u64) as usize).cloned();
        states.push(state);
    }
    states
}

/// Checks the tables of a space at 64 states: table look-ups, followed by the symmetries that make
/// regions and local parts canonical, must find the states that [`StateSpace::moves`] returns.
///
/// # Errors
/// [`SpaceError::Tables`] for the first state for which they differ.
pub fn check_tables<S: Tabled>(space: &S) -> Result<(), SpaceError> {
    let moves = |state: &State| {
        let mut moves = Vec::new();
        space.moves(*state, &mut moves);
        moves
    };
    for state in sample(space.seeds(), moves) {
        let (mut expected, mut found) = (moves(&state), table_moves(space, state));
        expected.sort_unstable();
        found.sort_unstable();
        if found != expected {
            return Err(SpaceError::Tables { from: space.text(state) });
        }
    }
    Ok(())
}

/// The successors of a state, by look-ups in the tables.
fn table_moves<S: Tabled>(space: &S, state: State) -> Vec<State> {
    let (index, side) = ((state.local >> 1) as u32, (state.local & 1) as Local);
    let class = space.class(state.region);
    let legal = space.legal_moves(&class, index);
    let canonical = |class: &S::Class, local: Local| {
        if space.needs_canonicalising(class) { space.canonicalise(class, local) } else { local }
    };
    let mut found = Vec::new();
    for kind in 0..S::MOVE_KINDS {
        if legal.inside >> kind & 1 == 1 {
            let local = canonical(&class, space.neighbour(index, kind) << 1 | side);
            found.push(State { region: state.region, local: local.into() });
        }
        if legal.exits >> kind & 1 == 0 {
            continue;
        }
        let edge = space.exit_edge(index, kind);
        if edge >= space.first_scattering_edge() {
            space.scatter(state.region, edge, &[index << 1 | side], &mut found);
            continue;
        }
        let target = space.edge_target(state.region, edge);
        let local = space.transfer(index, edge, target.symmetry) ^ side;
        let local = canonical(&space.class(target.region), local);
        found.push(State { region: target.region, local: local.into() });
    }
    found
}

/// Checks the flip of a nested space at 64 states and their moves, and the exchange if the search ends
/// at a meeting. A wrong space may pass; a correct one never fails.
///
/// # Errors
/// [`SpaceError::Asymmetric`] if a function does not commute with one of them, or if states and their
/// flips count as one and the flip does not fix the start.
pub fn check_nested<S: NestedSpace>(space: &S) -> Result<(), SpaceError> {
    let refused =
        |symmetry: &str, why| SpaceError::Asymmetric { symmetry: symmetry.to_owned(), why };
    let start = space.start();
    if space.counts_orbits() && flip(space, &start) != start {
        let why = format!(
            "it does not fix the start {}, and states that it maps to one another count as one",
            space.text(&start)
        );
        return Err(refused("flip", why));
    }
    let is_meeting = matches!(space.finish(), Finish::Meeting);
    for state in sample(vec![start], |state| successors(space, state)) {
        if let Some(what) = unlike_flip(space, &state) {
            let why = format!("at {}, {what}", space.text(&state));
            return Err(refused("flip", why));
        }
        if !is_meeting {
            continue;
        }
        if !commutes_with_exchange(space, &state) {
            let why = format!("moves from {} do not become moves", space.text(&state));
            return Err(refused("exchange", why));
        }
        if exchange(space, &flip(space, &state)) != flip(space, &exchange(space, &state)) {
            let why = format!("it does not commute with the flip at {}", space.text(&state));
            return Err(refused("exchange", why));
        }
    }
    Ok(())
}

fn flip<S: NestedSpace>(space: &S, state: &NestedState<S::Config>) -> NestedState<S::Config> {
    let configs = state.configs.iter().map(|config| space.flip_config(*config));
    NestedState { configs: configs.collect(), leaf: space.flip_leaf(state.leaf) }
}

fn exchange<S: NestedSpace>(space: &S, state: &NestedState<S::Config>) -> NestedState<S::Config> {
    let configs = state.configs.iter().map(|config| space.exchange_config(*config));
    NestedState { configs: configs.collect(), leaf: space.exchange_leaf(state.leaf) }
}

fn commutes_with_exchange<S: NestedSpace>(space: &S, state: &NestedState<S::Config>) -> bool {
    let mut found = successors(space, &exchange(space, state));
    let mut expected: Vec<_> =
        successors(space, state).iter().map(|next| exchange(space, next)).collect();
    for states in [&mut found, &mut expected] {
        states.sort_unstable_by(|a, b| (&a.configs, a.leaf).cmp(&(&b.configs, b.leaf)));
    }
    found == expected
}

/// Describes what does not commute with the flip at a state; None if everything does.
fn unlike_flip<S: NestedSpace>(space: &S, state: &NestedState<S::Config>) -> Option<&'static str> {
    let image = flip(space, state);
    if flip(space, &image) != *state {
        return Some("it is not its own inverse");
    }
    let levels = || (space.leaf_levels() + 1..=space.levels()).rev();
    let (mut class, mut image_class) = (space.root_class(), space.root_class());
    for (level, (config, flipped)) in levels().zip(state.configs.iter().zip(&image.configs)) {
        if space.flip_class(&class) != image_class {
            break;
        }
        class = space.inner_class(&class, level, *config);
        image_class = space.inner_class(&image_class, level, *flipped);
    }
    if space.flip_class(&class) != image_class {
        return Some("classes do not become the classes of configurations");
    }
    let (moves, image_moves) =
        (space.leaf_moves(&class, state.leaf), space.leaf_moves(&image_class, image.leaf));
    let inside = (0..space.leaf_states()).filter(|leaf| moves.inside >> leaf & 1 == 1);
    let exits = (0..space.move_kinds()).filter(|kind| moves.exits >> kind & 1 == 1);
    let bits = inside.map(|leaf| 1_u64.checked_shl(space.flip_leaf(leaf).into()).unwrap_or(0));
    let kinds: Vec<(u8, u8)> = exits.map(|kind| (kind, space.flip_move(kind))).collect();
    let kind_bits =
        kinds.iter().map(|(_, flipped)| 1_u16.checked_shl((*flipped).into()).unwrap_or(0));
    if bits.fold(0, |bits, bit| bits | bit) != image_moves.inside
        || kind_bits.fold(0, |bits, bit| bits | bit) != image_moves.exits
    {
        return Some("legal moves do not become legal moves");
    }
    let is_unlike = |(kind, flipped): &(u8, u8)| {
        let leaf = space.flip_leaf(space.leaf_after_exit(state.leaf, *kind));
        let pairs: Vec<_> = levels().zip(state.configs.iter().zip(&image.configs)).collect();
        space.leaf_after_exit(image.leaf, *flipped) != leaf
            || shifts_differ(space, &pairs, *kind, *flipped)
    };
    kinds.iter().any(is_unlike).then_some("the states after moves do not become one another")
}

/// A configuration and its flip.
type Pair<'a, C> = (&'a C, &'a C);

/// Whether a move and its flip disagree: their results, at the configurations and at the flipped
/// configurations, are not flips of each other. `levels` is ordered from the highest down.
fn shifts_differ<S: NestedSpace>(
    space: &S,
    levels: &[(u8, Pair<'_, S::Config>)],
    kind: u8,
    flipped: u8,
) -> bool {
    for (level, (config, image)) in levels.iter().rev() {
        let (after, is_last) = match space.shift(*level, **config, kind) {
            Shift::Inside(after) => (Shift::Inside(space.flip_config(after)), true),
            Shift::Outside(after) => (Shift::Outside(space.flip_config(after)), false),
        };
        if space.shift(*level, **image, flipped) != after {
            return true;
        }
        // The levels above do not change.
        if is_last {
            return false;
        }
    }
    false
}
