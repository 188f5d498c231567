//! The search graph of a permutation puzzle: states by key, the selected moves, start and goals.

use std::collections::{BTreeMap, HashSet};
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};

use crate::group::Element;
use strata_space::dense::{DenseSize, DenseSpace};
use strata_space::{
    Chain, Digest, KeySpace, Seed, SpaceError, State as Stored, StateSpace, SuccessorSink, Weight,
    Work, each_successor,
};

use super::coordinates::{Coordinates, Folding};
use super::definition::{Definition, NamedElement, State};
use super::dense::{self, Numbering};
use super::goals::{SOLVED, all_goals, dictionary, goal_lines, pattern, state_error};
use super::keys::Keys;
use super::moves::{self, Inverses, Selection};
use super::orbit::orbits;
use super::symmetry::{Canonical, Codes};
use super::text;
use super::word::RankKey;

/// What the weights of states are computed from.
#[derive(Clone, Debug)]
enum Weights {
    /// The keys, if the puzzle has no dense form.
    Keys,
    /// The numbers of the dense form, and the keys of states without numbers. `all` guarantees that all
    /// states of the search have numbers.
    Numbers { numbering: Arc<Numbering>, all: bool },
}

/// A definition with moves, start and goals, as a space of keys of type `K`.
#[derive(Clone, Debug)]
pub(super) struct Graph<K> {
    definition: Definition,
    moves: Vec<NamedElement>,
    start: State,
    goals: Vec<State>,
    /// Whether the inverse of each move is a move.
    is_undirected: bool,
    inverses: Inverses,
    /// The keys of states, or the number of bits that they would need if `K` is too narrow.
    keys: Result<Keys, u64>,
    /// The symmetries by which states are identified, if `symmetry` is on.
    symmetry: Option<Canonical>,
    /// The symmetries as maps of coordinates, if keys are made of these.
    folding: Option<Folding>,
    /// Numbers of the dense form, computed at first use.
    numbering: OnceLock<Result<Arc<Numbering>, String>>,
    /// What weights are computed from, decided at first use.
    weights: OnceLock<Weights>,
    /// Slots with forbidden kinds of pieces: by kind, whether it is forbidden there.
    forbidden: Vec<(usize, Vec<bool>)>,
    /// Budget to which the steps of the numbering are charged.
    work: Work,
    key: PhantomData<fn() -> K>,
}

/// The keys of states, or the number of bits that they would need if `K` is too narrow.
///
/// # Errors
/// If there are goals, and none of them has a key.
fn keys<K: RankKey>(
    definition: &Definition,
    start: &State,
    elements: &[Element],
    goals: &[State],
) -> Result<Result<Keys, u64>, SpaceError> {
    let keys = Keys::new(definition, start, elements, K::BITS);
    let has_key = |keys: &Keys| goals.iter().any(|goal| keys.key::<K>(goal).is_some());
    match goals.first() {
        Some(goal) if keys.as_ref().is_ok_and(|keys| !has_key(keys)) => {
            Err(unreachable(definition, start, goal))
        }
        _ => Ok(keys),
    }
}

/// The symmetries as maps of coordinates; None if there are no symmetries, or keys are ranks.
fn folding(keys: &Result<Keys, u64>, symmetry: Option<&Canonical>) -> Option<Folding> {
    let coordinates = keys.as_ref().ok().and_then(Keys::coordinates);
    let used = symmetry.filter(|canonical| canonical.symmetries() > 1);
    coordinates.zip(used).and_then(|(of, used)| Folding::new(of, used))
}

impl<K: RankKey> Graph<K> {
    /// The graph of a search. A search without a goal lists all states. With `symmetry`, states that
    /// symmetries map to one another are one state.
    ///
    /// # Errors
    /// If the moves are refused, start or goal are not states, no state can match the goal, no symmetries
    /// can be used, or the work exceeds its steps or is cancelled.
    pub(super) fn new(
        definition: Definition,
        selection: Selection<'_>,
        start: Option<&str>,
        goal: Option<&str>,
        symmetry: bool,
        work: &Work,
    ) -> Result<Graph<K>, SpaceError> {
        let moves = moves::select(&definition, selection)?;
        let start_text = start.unwrap_or(SOLVED);
        let start = pattern(&definition, &mut dictionary(&definition), "start", start_text)?;
        let start =
            start.state().ok_or_else(|| state_error("start", "'?' is allowed in a goal only"))?;
        if !definition.is_legal(&start) {
            return Err(state_error("start", "a line of the file makes it illegal"));
        }
        let elements: Vec<Element> = moves.iter().map(|mv| mv.element.clone()).collect();
        let goals = match goal {
            None => Vec::new(),
            Some(goal) => {
                let orbits = orbits(&definition, &start, &elements);
                let goals = all_goals(&definition, &orbits, &start, goal, work)?;
                if goals.is_empty() {
                    return Err(SpaceError::Unsolvable {
                        start: start_text.into(),
                        goal: goal_lines(goal).join(", or "),
                        why: "no arrangement of the pieces that these moves exchange matches it"
                            .into(),
                    });
                }
                goals
            }
        };
        let cancelled = SpaceError::unfinished("the goal");
        work.spend(0).map_err(&cancelled)?;
        let keys = keys::<K>(&definition, &start, &elements, &goals)?;
        let find = || Canonical::new(&definition, &start, &elements, &goals, work);
        let symmetry = symmetry.then(find).transpose();
        work.spend(0).map_err(&cancelled)?;
        let symmetry = symmetry.map_err(|why| symmetry_error(&why))?;
        let is_undirected = moves::directed(&definition, &moves).next().is_none();
        Ok(Graph {
            folding: folding(&keys, symmetry.as_ref()),
            is_undirected,
            inverses: selection.inverses,
            start,
            goals,
            moves,
            keys,
            symmetry,
            forbidden: forbidden(&definition),
            work: work.clone(),
            definition,
            numbering: OnceLock::new(),
            weights: OnceLock::new(),
            key: PhantomData,
        })
    }

    /// The graph with keys of another type. Moves, goals and symmetries are not computed again.
    ///
    /// # Errors
    /// If no state can match the goal.
    pub(super) fn with_keys<W: RankKey>(self) -> Result<Graph<W>, SpaceError> {
        let elements: Vec<Element> = self.moves.iter().map(|mv| mv.element.clone()).collect();
        let keys = keys::<W>(&self.definition, &self.start, &elements, &self.goals)?;
        Ok(Graph {
            folding: folding(&keys, self.symmetry.as_ref()),
            keys,
            is_undirected: self.is_undirected,
            inverses: self.inverses,
            start: self.start,
            goals: self.goals,
            moves: self.moves,
            symmetry: self.symmetry,
            forbidden: self.forbidden,
            work: self.work,
            definition: self.definition,
            numbering: self.numbering,
            weights: OnceLock::new(),
            key: PhantomData,
        })
    }

    /// Checks that states have keys, and that all moves have inverses if there are several goals.
    ///
    /// # Errors
    /// [`SpaceError::Conflict`] for several goals without all inverses, [`SpaceError::KeyTooWide`] for
    /// states without keys.
    pub(super) fn check_explicit(&self) -> Result<(), SpaceError> {
        let goals = self.goals.len();
        if !self.is_undirected && goals > 1 {
            return Err(SpaceError::Conflict {
                name: "goal".into(),
                why: format!(
                    "some moves have no inverse, so the explicit engine takes one goal, not {goals}{}",
                    if self.inverses == Inverses::Optional {
                        " (`inverses` adds them)"
                    } else {
                        ""
                    }
                ),
            });
        }
        match &self.keys {
            Ok(_) => Ok(()),
            Err(bits) => Err(SpaceError::KeyTooWide {
                bits: u32::try_from(*bits).unwrap_or(u32::MAX),
                limit: K::BITS,
            }),
        }
    }

    /// Hints for the user: the option that adds inverses, if some moves have none and the puzzle has the
    /// option, and the parts of the file without effect. None if there are no hints.
    pub(super) fn advice(&self) -> Option<String> {
        let advice: Vec<String> =
            self.inverses_advice().into_iter().chain(self.definition.notes.clone()).collect();
        (!advice.is_empty()).then(|| advice.join("; "))
    }

    fn inverses_advice(&self) -> Option<String> {
        if self.inverses != Inverses::Optional {
            return None;
        }
        let directed = moves::directed(&self.definition, &self.moves).count();
        let all = self.moves.len();
        let has = if directed == 1 { "has" } else { "have" };
        (directed > 0)
            .then(|| format!("{directed} of {all} moves {has} no inverse; `inverses` adds them"))
    }

    fn made(&self) -> &Result<Arc<Numbering>, String> {
        self.numbering.get_or_init(|| {
            let (definition, start) = (&self.definition, &self.start);
            Numbering::new(definition, start, &self.moves, None, &self.work).map(Arc::new)
        })
    }

    fn numbering(&self) -> Result<&Arc<Numbering>, SpaceError> {
        self.made().as_ref().map_err(|why| dense::refused(why))
    }

    /// Whether `symmetry` is on.
    pub(super) fn symmetry(&self) -> bool {
        self.symmetry.is_some()
    }

    /// The coordinates of states, if keys are made of them.
    fn coordinates(&self) -> Option<&Coordinates> {
        self.keys.as_ref().ok().and_then(Keys::coordinates)
    }

    /// The coordinates of states, with their symmetries.
    fn folding(&self) -> Option<(&Folding, &Coordinates)> {
        self.folding.as_ref().zip(self.coordinates())
    }

    /// The symmetries by which states are identified.
    fn canonical(&self) -> Option<&Canonical> {
        self.symmetry.as_ref().filter(|canonical| canonical.symmetries() > 1)
    }

    /// The size of the dense form.
    ///
    /// # Errors
    /// If there is no dense form, or no goal has numbers.
    pub(super) fn dense_size(&self) -> Result<DenseSize, SpaceError> {
        let (numbering, has_goal) = (self.numbering()?, !self.goals.is_empty());
        let size = numbering.size(&self.definition, has_goal, self.symmetry());
        let size = size.map_err(|why| dense::refused(&why))?;
        let mut reached = self.goals.iter().filter(|goal| numbering.has(&self.definition, goal));
        match (self.goals.first(), reached.next()) {
            (Some(goal), None) => Err(unreachable(&self.definition, &self.start, goal)),
            _ => Ok(size),
        }
    }

    /// The dense form.
    ///
    /// # Errors
    /// If there is no dense form, or no goal has numbers.
    pub(super) fn dense(&self) -> Result<Arc<dyn DenseSpace>, SpaceError> {
        let (numbering, goals) = (self.numbering()?, &self.goals);
        let reached: Vec<State> =
            goals.iter().filter(|goal| numbering.has(&self.definition, goal)).cloned().collect();
        if let (Some(goal), true) = (goals.first(), reached.is_empty()) {
            return Err(unreachable(&self.definition, &self.start, goal));
        }
        numbering.space(&self.definition, &reached, self.symmetry())
    }

    pub(super) fn definition(&self) -> &Definition {
        &self.definition
    }

    pub(super) fn moves(&self) -> &[NamedElement] {
        &self.moves
    }

    /// Texts of the start and of the goal, if there is one goal.
    pub(super) fn ends(&self) -> Option<[String; 2]> {
        let [goal] = &*self.goals else { return None };
        Some([self.start_text(), text::write(&self.definition, goal)])
    }

    /// Text of the start.
    pub(super) fn start_text(&self) -> String {
        text::write(&self.definition, &self.start)
    }

    /// The text of a state, given as text or as a sequence of moves from the solved state.
    ///
    /// # Errors
    /// If it is neither, or leaves something open.
    pub(super) fn position_text(&self, given: &str) -> Result<String, SpaceError> {
        let mut dictionary = dictionary(&self.definition);
        let state = pattern(&self.definition, &mut dictionary, "state", given)?.state();
        let state = state.ok_or_else(|| state_error("state", "'?' is allowed in a goal only"))?;
        Ok(text::write(&self.definition, &state))
    }

    /// Names of the moves between states in text form.
    pub(super) fn moves_between(&self, path: &[String]) -> Option<Vec<String>> {
        let states = path.iter().map(|state| text::read(&self.definition, state).ok()?.state());
        let states = states.collect::<Option<Vec<State>>>()?;
        let name = |pair: &[State]| {
            let leads =
                |mv: &&NamedElement| self.definition.after(&pair[0], &mv.element) == pair[1];
            self.moves.iter().find(leads).map(|mv| mv.name.clone())
        };
        states.windows(2).map(name).collect()
    }
}

/// Searches with symmetries.
impl<K: RankKey> Graph<K> {
    /// The key of a state: the same for all states that symmetries map to one another.
    fn key(&self, state: &State) -> Option<K> {
        let keys = self.keys.as_ref().ok()?;
        let key = keys.key(state);
        // Codes are defined for states that have a key.
        let (Some(canonical), Some(_)) = (self.canonical(), key) else {
            return key;
        };
        if let Some((folding, coordinates)) = self.folding() {
            return folding.key_of(coordinates, state);
        }
        let mut least = state.clone();
        canonical.write(&canonical.least(&canonical.codes(state)), &mut least);
        keys.key(&least)
    }

    fn is_illegal_after(&self, state: &State, element: &Element) -> bool {
        let from = |slot: usize| usize::from(element.images()[slot]);
        let is_one = |kinds: &[bool], kind: u16| kinds.get(usize::from(kind)) == Some(&true);
        self.forbidden.iter().any(|(slot, kinds)| is_one(kinds, state.kinds[from(*slot)]))
    }

    fn canonical_successors(
        &self,
        (keys, canonical): (&Keys, &Canonical),
        key: K,
        out: &mut Vec<K>,
    ) {
        let state = keys.state(key);
        let (codes, mut next, mut counts) = (canonical.codes(&state), state.clone(), Vec::new());
        for (number, mv) in self.moves.iter().enumerate() {
            if !self.is_illegal_after(&state, &mv.element) {
                let least = canonical.least(&canonical.after(&codes, number));
                canonical.write(&least, &mut next);
                out.extend(keys.key_of::<K>(&next, &mut counts));
            }
        }
    }

    /// The states that a key stands for.
    fn positions(&self, keys: &Keys, key: K) -> Vec<(K, State)> {
        let state = keys.state(key);
        let Some(canonical) = self.canonical() else { return vec![(key, state)] };
        let mut counts = Vec::new();
        let with_key = |codes: &Codes| {
            let mut image = state.clone();
            canonical.write(codes, &mut image);
            Some((keys.key_of(&image, &mut counts)?, image))
        };
        canonical.orbit(&canonical.codes(&state)).iter().filter_map(with_key).collect()
    }

    /// Number of states that a key stands for. Out of line, since most searches have no symmetries.
    #[inline(never)]
    fn count_positions(&self, canonical: &Canonical, key: K) -> u64 {
        match (self.folding(), &self.keys) {
            (Some((folding, coordinates)), _) => folding.positions(coordinates, key),
            (None, Ok(keys)) => canonical.positions(&canonical.codes(&keys.state(key))),
            (None, Err(_)) => 1,
        }
    }

    fn find_weights(&self) -> Weights {
        let Some(numbering) = self.made().as_ref().ok().filter(|numbering| numbering.is_dense())
        else {
            return Weights::Keys;
        };
        let all = self.goals.iter().all(|goal| numbering.has(&self.definition, goal));
        Weights::Numbers { numbering: Arc::clone(numbering), all }
    }

    fn weight_of_positions(&self, weights: &Weights, key: K) -> Weight {
        let Ok(keys) = &self.keys else { return key.weight() };
        let weight = |(key, state): &(K, State)| match weights {
            Weights::Keys => key.weight(),
            Weights::Numbers { numbering, all } => {
                let weight = numbering.weight(&self.definition, state, *all);
                weight.unwrap_or_else(|| key.weight())
            }
        };
        self.positions(keys, key).iter().map(weight).sum()
    }

    /// The states of a path along a chain of stored states, in text form. For each stored state, the path
    /// visits that state or one of its images. The images are chosen such that one state is visited itself:
    /// the last of `chain.from_start`, or the start where some moves have no inverse.
    pub(super) fn positions_along(
        &self,
        space: &dyn StateSpace,
        chain: &Chain,
    ) -> Option<Vec<String>> {
        let read =
            |stored: &Stored| text::read(&self.definition, &space.text(*stored)).ok()?.state();
        let back = |stored: &[Stored]| stored.iter().rev().map(read).collect::<Option<Vec<_>>>();
        if !self.is_undirected {
            let like = chain.from_start.get(1..).unwrap_or_default().iter().map(read);
            let mut path = vec![self.start.clone()];
            path.extend(self.walk(&self.start, &like.collect::<Option<Vec<_>>>()?)?);
            return Some(path.iter().map(|state| text::write(&self.definition, state)).collect());
        }
        let (from_start, from_goal) = (back(&chain.from_start)?, back(&chain.from_goal)?);
        let Some((met, to_start)) = from_start.split_first() else { return Some(Vec::new()) };
        let to_goal = from_goal.get(1..).unwrap_or_default();
        let mut path = self.walk(met, to_start)?;
        path.reverse();
        path.push(met.clone());
        path.extend(self.walk(met, to_goal)?);
        Some(path.iter().map(|state| text::write(&self.definition, state)).collect())
    }

    /// A path from a state whose further states have the keys of `like`, in this order.
    fn walk(&self, from: &State, like: &[State]) -> Option<Vec<State>> {
        let mut path: Vec<State> = Vec::with_capacity(like.len());
        for wanted in like {
            let key = self.key(wanted);
            let last = path.last().unwrap_or(from);
            let legal = self.moves.iter().filter(|mv| !self.is_illegal_after(last, &mv.element));
            let mut next = legal.map(|mv| self.definition.after(last, &mv.element));
            let next = next.find(|next| self.key(next) == key)?;
            path.push(next);
        }
        Some(path)
    }
}

/// Slots with forbidden kinds of pieces: by kind, whether it is forbidden there.
fn forbidden(definition: &Definition) -> Vec<(usize, Vec<bool>)> {
    let mut by_slot: BTreeMap<usize, Vec<bool>> = BTreeMap::new();
    for illegal in &definition.illegal {
        let (kinds, kind) = (by_slot.entry(illegal.slot).or_default(), usize::from(illegal.kind));
        kinds.resize(kinds.len().max(kind + 1), false);
        kinds[kind] = true;
    }
    by_slot.into_iter().collect()
}

fn unreachable(definition: &Definition, start: &State, goal: &State) -> SpaceError {
    SpaceError::Unsolvable {
        start: text::write(definition, start),
        goal: text::write(definition, goal),
        why: "no sequence of moves leads from one to the other".into(),
    }
}

fn symmetry_error(why: &str) -> SpaceError {
    SpaceError::Conflict { name: "symmetry".into(), why: why.into() }
}

/// A graph whose states have no keys is refused by [`Graph::check_explicit`].
#[deny(clippy::missing_trait_methods)]
impl<K: RankKey> KeySpace for Graph<K> {
    type Key = K;

    fn seeds(&self) -> Vec<Seed<K>> {
        let key = |state: &State| match &self.keys {
            Ok(_) => self.key(state),
            Err(_) => Some(K::small(0)),
        };
        let mut known = HashSet::new();
        // A search from the goals needs inverses. Otherwise the goal is that of `goal`.
        let goals = self.goals.iter().filter(|_| self.is_undirected).filter_map(key);
        let goals = goals.filter(|key| known.insert(*key));
        key(&self.start).into_iter().map(Seed::start).chain(goals.map(Seed::goal)).collect()
    }

    fn goal(&self) -> Option<K> {
        self.goals.first().filter(|_| !self.is_undirected).and_then(|goal| self.key(goal))
    }

    fn is_undirected(&self) -> bool {
        self.is_undirected
    }

    fn key_bits(&self) -> u32 {
        self.keys.as_ref().map_or(1, |keys| keys.bits().max(1))
    }

    fn local_bits(&self) -> Option<u32> {
        // Without a folding, images of a state may be in any region.
        let keeps_regions = self.canonical().is_none() || self.folding.is_some();
        self.coordinates().filter(|_| keeps_regions).map(Coordinates::local_bits)
    }

    fn high_parts(&self) -> Option<u64> {
        self.folding().map(|(folding, coordinates)| folding.regions(coordinates))
    }

    fn successors(&self, key: K, out: &mut Vec<K>) {
        let Ok(keys) = &self.keys else { return };
        if let Some((folding, coordinates)) = self.folding() {
            return folding.successors(coordinates, &[key], &mut |next| out.push(next));
        }
        if let Some(canonical) = self.canonical() {
            return self.canonical_successors((keys, canonical), key, out);
        }
        match keys {
            Keys::Coordinates(coordinates) => {
                coordinates.successors(&[key], &mut |next| out.push(next));
            }
            Keys::Ranks(ranking) => {
                let (state, mut counts) = (ranking.state(key), Vec::new());
                for mv in &self.moves {
                    if !self.is_illegal_after(&state, &mv.element) {
                        out.extend(ranking.rank_after::<K>(&state, &mv.element, &mut counts));
                    }
                }
            }
        }
    }

    fn all_successors(&self, keys: &[K], to: &mut impl SuccessorSink<K>) {
        match (self.folding(), self.canonical(), self.coordinates()) {
            (Some((folding, coordinates)), ..) => folding.successors(coordinates, keys, to),
            (None, None, Some(coordinates)) => coordinates.successors(keys, to),
            _ => each_successor(self, keys, to),
        }
    }

    fn count_successors(&self, keys: &[K]) -> u64 {
        if self.definition.illegal.is_empty() {
            return keys.len() as u64 * self.moves.len() as u64;
        }
        let mut count = 0;
        self.all_successors(keys, &mut |_: K| count += 1);
        count
    }

    /// Digest of all states that the keys stand for: equal to that of the dense form if there is one,
    /// otherwise computed from keys. With folding, a digest of keys counts one state per key.
    fn digest(&self, keys: &[K]) -> Digest {
        let weights = self.weights.get_or_init(|| self.find_weights());
        // With folding, one state per key: computing all images would take longer than the search.
        let is_of_keys = self.canonical().is_none() || self.folding.is_some();
        match weights {
            Weights::Keys if is_of_keys => K::digest(keys),
            _ => keys.iter().map(|key| self.weight_of_positions(weights, *key)).sum(),
        }
    }

    #[inline]
    fn positions(&self, key: K) -> Option<u64> {
        Some(self.canonical().map_or(1, |canonical| self.count_positions(canonical, key)))
    }

    fn text(&self, key: K) -> String {
        let state = self.keys.as_ref().map(|keys| keys.state(key));
        state.map_or_else(|_| String::new(), |state| text::write(&self.definition, &state))
    }

    fn parse(&self, text: &str) -> Option<K> {
        self.key(&text::read(&self.definition, text).ok()?.state()?)
    }
}
