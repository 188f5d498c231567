//! The graph of a search: states by rank, selected moves, start and goals.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use strata_group::Element;
use strata_space::dense::{DenseSize, DenseSpace};
use strata_space::{KeySpace, Seed, SpaceError, Weight};

use super::definition::{Definition, NamedElement, State};
use super::dense::{self, Numbering};
use super::error::Place;
use super::goals;
use super::moves::{self, Selection};
use super::ranking::{self, Orbit, Ranking};
use super::sequence::read_within;
use super::text::{self, Pattern};

/// The word for the solved state.
const SOLVED: &str = "solved";

/// A definition with moves, start and goals, as a space of keys.
#[derive(Clone, Debug)]
pub(super) struct Graph {
    definition: Definition,
    moves: Vec<NamedElement>,
    start: State,
    goals: Vec<State>,
    /// The bits that keys would have, if they are too many.
    ranking: Result<Ranking, u64>,
    /// Numbers of the dense form, once they are needed.
    numbering: OnceLock<Result<Arc<Numbering>, String>>,
    /// Whether all goals have numbers, and so all states of a search.
    all_numbered: OnceLock<bool>,
}

impl Graph {
    /// Opens a search. Without a goal it lists all states.
    ///
    /// # Errors
    /// If the moves are refused, start or goal are no states, or no state can match the goal.
    pub(super) fn new(
        definition: Definition,
        selection: Selection<'_>,
        start: Option<&str>,
        goal: Option<&str>,
    ) -> Result<Graph, SpaceError> {
        let moves = moves::select(&definition, selection)?;
        let start_text = start.unwrap_or(SOLVED);
        let start = pattern(&definition, "start", start_text)?;
        let start =
            start.state().ok_or_else(|| state_error("start", "'?' is allowed in a goal only"))?;
        if !definition.is_legal(&start) {
            return Err(state_error("start", "a line of the file makes it illegal"));
        }
        let elements: Vec<Element> = moves.iter().map(|mv| mv.element.clone()).collect();
        let goals = match goal {
            None => Vec::new(),
            Some(goal) => {
                let orbits = ranking::orbits(&definition, &start, &elements);
                let goals = all_goals(&definition, &orbits, &start, goal)?;
                if goals.is_empty() {
                    return Err(SpaceError::Unsolvable {
                        start: start_text.into(),
                        goal: goals::goal_lines(goal).join(", or "),
                        why: "no arrangement of the pieces that these moves exchange matches it"
                            .into(),
                    });
                }
                goals
            }
        };
        let ranking = Ranking::new(&definition, &start, &elements);
        let (numbering, all_numbered) = (OnceLock::new(), OnceLock::new());
        Ok(Graph { start, goals, moves, ranking, definition, numbering, all_numbered })
    }

    /// Checks that all moves have inverses, and that states have keys.
    ///
    /// # Errors
    /// If it is not so.
    pub(super) fn check_explicit(&self) -> Result<(), SpaceError> {
        moves::refuse_directed(&self.definition, &self.moves)?;
        match &self.ranking {
            Ok(_) => Ok(()),
            Err(bits) => Err(SpaceError::KeyTooWide {
                bits: u32::try_from(*bits).unwrap_or(u32::MAX),
                limit: ranking::MAX_BITS as u32,
            }),
        }
    }

    fn made(&self) -> &Result<Arc<Numbering>, String> {
        self.numbering.get_or_init(|| {
            Numbering::new(&self.definition, &self.start, &self.moves).map(Arc::new)
        })
    }

    fn numbering(&self) -> Result<&Arc<Numbering>, SpaceError> {
        self.made().as_ref().map_err(|why| dense::refused(why))
    }

    /// The size of the dense form.
    ///
    /// # Errors
    /// If there is none.
    pub(super) fn dense_size(&self) -> Result<DenseSize, SpaceError> {
        let size = self.numbering()?.size(!self.goals.is_empty());
        size.map_err(|why| dense::refused(&why))
    }

    /// The dense form.
    ///
    /// # Errors
    /// If there is none, or no goal can be reached.
    pub(super) fn dense(&self) -> Result<Arc<dyn DenseSpace>, SpaceError> {
        let (numbering, goals) = (self.numbering()?, &self.goals);
        let reached: Vec<State> =
            goals.iter().filter(|goal| numbering.has(&self.definition, goal)).cloned().collect();
        if let (Some(goal), true) = (goals.first(), reached.is_empty()) {
            return Err(SpaceError::Unsolvable {
                start: self.start_text(),
                goal: text::write(&self.definition, goal),
                why: "no sequence of moves leads from one to the other".into(),
            });
        }
        numbering.space(&self.definition, &reached)
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

/// The states that match any of the goals in a parameter, without repetition.
fn all_goals(
    definition: &Definition,
    orbits: &[Orbit],
    start: &State,
    goal: &str,
) -> Result<Vec<State>, SpaceError> {
    let lines = goals::goal_lines(goal);
    if lines.is_empty() {
        return Err(state_error("goal", "the file has no goals"));
    }
    let (mut known, mut all) = (HashSet::new(), Vec::new());
    for line in &lines {
        let pattern = pattern(definition, "goal", line)?;
        let states = goals::matching(definition, orbits, start, &pattern);
        let states = states.map_err(|why| state_error("goal", &why))?;
        all.extend(states.into_iter().filter(|state| known.insert(state.clone())));
    }
    Ok(all)
}

/// A state or pattern, as text or as a sequence of moves from the solved state.
fn pattern(definition: &Definition, name: &str, given: &str) -> Result<Pattern, SpaceError> {
    let given = given.trim();
    if given == SOLVED {
        return Ok(Pattern::of(&definition.solved));
    }
    if text::is_state(definition, given) {
        return text::read(definition, given).map_err(|why| state_error(name, &why));
    }
    let all = [&*definition.moves, &*definition.rotations].concat();
    let element = read_within(given, definition, &all).map_err(|error| {
        let place = Place { line: error.line, column: error.column };
        let column = if place == Place::START {
            String::new()
        } else {
            format!(" (column {})", place.column)
        };
        state_error(name, &format!("{}{column}", error.why))
    })?;
    Ok(Pattern::of(&definition.after(&definition.solved, &element)))
}

fn state_error(name: &str, why: &str) -> SpaceError {
    let expected = "a state or a sequence of moves from the solved state";
    SpaceError::State { name: name.into(), expected: expected.into(), why: why.into() }
}

/// Without a ranking there are no keys: [`Graph::check_explicit`] refuses it.
impl KeySpace for Graph {
    fn seeds(&self) -> Vec<Seed> {
        let key = |state: &State| match &self.ranking {
            Ok(ranking) => ranking.rank(state, &self.definition.shape),
            Err(_) => Some(0),
        };
        let goals = self.goals.iter().filter_map(key).map(Seed::goal);
        key(&self.start).into_iter().map(Seed::start).chain(goals).collect()
    }

    fn key_bits(&self) -> u32 {
        self.ranking.as_ref().map_or(1, |ranking| ranking.bits().max(1))
    }

    fn successors(&self, key: u64, out: &mut Vec<u64>) {
        let Ok(ranking) = &self.ranking else { return };
        let state = ranking.state(key);
        let mut counts = Vec::new();
        for mv in &self.moves {
            let images = mv.element.images();
            let is_illegal = self
                .definition
                .illegal
                .iter()
                .any(|illegal| state.kinds[usize::from(images[illegal.slot])] == illegal.kind);
            if !is_illegal {
                out.extend(ranking.rank_after(&state, &mv.element, &mut counts));
            }
        }
    }

    /// That of the dense form, where states have numbers.
    fn weight(&self, key: u64) -> Weight {
        let (Ok(numbering), Ok(ranking)) = (self.made(), &self.ranking) else {
            return Weight::hash(key);
        };
        let all_numbered = self
            .all_numbered
            .get_or_init(|| self.goals.iter().all(|goal| numbering.has(&self.definition, goal)));
        let state = ranking.state(key);
        let weight = numbering.weight(&self.definition, &state, *all_numbered);
        weight.unwrap_or_else(|| Weight::hash(key))
    }

    fn text(&self, key: u64) -> String {
        let state = self.ranking.as_ref().map(|ranking| ranking.state(key));
        state.map_or_else(|_| String::new(), |state| text::write(&self.definition, &state))
    }
}
