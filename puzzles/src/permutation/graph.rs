//! The graph of a search: states by rank, selected moves, start and goals.

use std::sync::{Arc, OnceLock};

use strata_group::Element;
use strata_space::dense::{DenseSize, DenseSpace};
use strata_space::{KeySpace, Seed, SpaceError, Weight};

use super::definition::{Definition, NamedElement, State};
use super::dense::{self, Numbering};
use super::error::Place;
use super::goals;
use super::moves::{self, Selection};
use super::ranking::Ranking;
use super::sequence::read_within;
use super::text::{self, Pattern};

/// The word for the solved state.
const SOLVED: &str = "solved";

/// A definition with moves, start and goals, as a space of keys.
#[derive(Clone, Debug)]
pub(super) struct Graph {
    definition: Definition,
    moves: Vec<NamedElement>,
    ranking: Ranking,
    start: u64,
    goals: Vec<u64>,
    /// Numbers of the dense form, once they are needed.
    numbering: OnceLock<Result<Arc<Numbering>, String>>,
    /// Whether all goals have numbers, and so all states of a search.
    all_numbered: OnceLock<bool>,
}

impl Graph {
    /// Opens a search. Without a goal it lists all states.
    ///
    /// # Errors
    /// If the moves are refused, start or goal are no states, no state can match the goal, or keys
    /// have more than 63 bits.
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
        let ranking = Ranking::new(&definition, &start, &elements).map_err(|bits| {
            let bits = u32::try_from(bits).unwrap_or(u32::MAX);
            SpaceError::KeyTooWide { bits, limit: super::ranking::MAX_BITS as u32 }
        })?;
        let key = |state: &State| ranking.rank(state, &definition.shape);
        let start_key = key(&start).ok_or_else(|| state_error("start", "it has no rank"))?;
        let goals = match goal {
            None => Vec::new(),
            Some(goal) => {
                let pattern = pattern(&definition, "goal", goal)?;
                let states = goals::matching(&definition, &ranking, &start, &pattern)
                    .map_err(|why| state_error("goal", &why))?;
                let goals: Vec<u64> = states.iter().filter_map(key).collect();
                if goals.is_empty() {
                    return Err(SpaceError::Unsolvable {
                        start: start_text.into(),
                        goal: goal.into(),
                        why: "no arrangement of the pieces that these moves exchange matches it"
                            .into(),
                    });
                }
                goals
            }
        };
        let (numbering, all_numbered) = (OnceLock::new(), OnceLock::new());
        Ok(Graph { start: start_key, goals, moves, ranking, definition, numbering, all_numbered })
    }

    fn made(&self) -> &Result<Arc<Numbering>, String> {
        let start = || self.ranking.state(self.start);
        self.numbering
            .get_or_init(|| Numbering::new(&self.definition, &start(), &self.moves).map(Arc::new))
    }

    fn numbering(&self) -> Result<&Arc<Numbering>, SpaceError> {
        self.made().as_ref().map_err(|why| dense::refused(why))
    }

    fn goal_states(&self) -> Vec<State> {
        self.goals.iter().map(|goal| self.ranking.state(*goal)).collect()
    }

    /// The size of the dense form.
    ///
    /// # Errors
    /// If there is none.
    pub(super) fn dense_size(&self) -> Result<DenseSize, SpaceError> {
        self.numbering()?.size()
    }

    /// The dense form.
    ///
    /// # Errors
    /// If there is none, or no goal can be reached.
    pub(super) fn dense(&self) -> Result<Arc<dyn DenseSpace>, SpaceError> {
        let (numbering, goals) = (self.numbering()?, self.goal_states());
        numbering.size()?;
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
        Some([self.text(self.start), self.text(*goal)])
    }

    /// Text of the start.
    pub(super) fn start_text(&self) -> String {
        self.text(self.start)
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

impl KeySpace for Graph {
    fn seeds(&self) -> Vec<Seed> {
        let goals = self.goals.iter().map(|goal| Seed::goal(*goal));
        std::iter::once(Seed::start(self.start)).chain(goals).collect()
    }

    fn key_bits(&self) -> u32 {
        self.ranking.bits().max(1)
    }

    fn successors(&self, key: u64, out: &mut Vec<u64>) {
        let state = self.ranking.state(key);
        let mut counts = Vec::new();
        for mv in &self.moves {
            let images = mv.element.images();
            let is_illegal = self
                .definition
                .illegal
                .iter()
                .any(|illegal| state.kinds[usize::from(images[illegal.slot])] == illegal.kind);
            if !is_illegal {
                out.extend(self.ranking.rank_after(&state, &mv.element, &mut counts));
            }
        }
    }

    /// That of the dense form, where states have numbers.
    fn weight(&self, key: u64) -> Weight {
        let Ok(numbering) = self.made() else { return Weight::hash(key) };
        let all_numbered = self.all_numbered.get_or_init(|| {
            self.goal_states().iter().all(|goal| numbering.has(&self.definition, goal))
        });
        let state = self.ranking.state(key);
        let weight = numbering.weight(&self.definition, &state, *all_numbered);
        weight.unwrap_or_else(|| Weight::hash(key))
    }

    fn text(&self, key: u64) -> String {
        text::write(&self.definition, &self.ranking.state(key))
    }
}
