//! Assembly of a definition: limits, unique names, and moves defined by other moves.

use std::collections::HashMap;

use crate::group::{Element, Shape};

use super::definition::{Definition, Format, Illegal, NamedElement, Set, SolvedSet, State};
use super::error::{Place, ReadError, shortened};
use super::names::{MAX_NAME, Names};
use super::sequence::{self, is_rotation};

/// The largest number of slots of all sets together.
pub(super) const MAX_SLOTS: usize = 1024;

/// The largest number of moves and rotations together.
const MAX_MOVES: usize = 512;

/// The longest chain of moves in which each is defined by the next.
const MAX_CHAIN: usize = 32;

/// A definition under construction.
pub(super) struct Builder {
    format: Format,
    name: Option<String>,
    sets: Vec<Set>,
    solved: Option<(Vec<SolvedSet>, Place)>,
    moves: Vec<Source>,
    numbers: HashMap<String, usize>,
    illegal: Vec<Illegal>,
    notes: Vec<String>,
}

/// A move by name, before sequences are evaluated.
struct Source {
    name: String,
    place: Place,
    effect: Effect,
}

enum Effect {
    Element(Element),
    Sequence(String, Place),
    /// A sequence that is being evaluated.
    Open,
}

impl Builder {
    pub(super) fn new(format: Format) -> Builder {
        Builder {
            format,
            name: None,
            sets: Vec::new(),
            solved: None,
            moves: Vec::new(),
            numbers: HashMap::new(),
            illegal: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Names the puzzle.
    ///
    /// # Errors
    /// If the puzzle has a name already.
    pub(super) fn name(&mut self, name: &str, place: Place) -> Result<(), ReadError> {
        match self.name.replace(shortened(name)) {
            Some(_) => Err(place.error("a second name")),
            None => Ok(()),
        }
    }

    /// Records a part of the file that has no effect.
    pub(super) fn note(&mut self, what: &str, place: Place) {
        self.notes.push(format!("line {}: {} has no effect", place.line, shortened(what)));
    }

    pub(super) fn sets(&self) -> &[Set] {
        &self.sets
    }

    pub(super) fn set(&self, name: &str) -> Option<usize> {
        self.sets.iter().position(|set| set.name == name)
    }

    fn slots(&self) -> usize {
        self.sets.last().map_or(0, |set| set.offset + set.size)
    }

    /// Adds a set of different pieces.
    ///
    /// # Errors
    /// If the name is taken or malformed, there are moves already, or there are too many slots.
    pub(super) fn add_set(
        &mut self,
        name: &str,
        size: usize,
        orientations: u8,
        place: Place,
    ) -> Result<(), ReadError> {
        let unfit = |c: char| c.is_whitespace() || c.is_control() || ";/".contains(c);
        if name.is_empty()
            || name.starts_with(|c: char| c.is_ascii_digit() || c == '?')
            || name.contains(unfit)
        {
            let expected = "a name without blanks, ';' and '/' that does not begin with a digit";
            return Err(place.expected(expected, name));
        }
        if !self.moves.is_empty() {
            return Err(place.error("expected all sets before the moves"));
        }
        if self.set(name).is_some() {
            return Err(place.error(format!("a second set '{}'", shortened(name))));
        }
        let offset = self.slots();
        if offset + size > MAX_SLOTS {
            return Err(place.error(format!("more than {MAX_SLOTS} pieces")));
        }
        let kinds = Vec::new();
        self.sets.push(Set { name: name.to_owned(), offset, size, orientations, kinds });
        Ok(())
    }

    /// The shape of all sets.
    ///
    /// # Errors
    /// If there are no sets.
    pub(super) fn shape(&self, place: Place) -> Result<Shape, ReadError> {
        let slots = self.sets.iter().flat_map(|set| vec![set.orientations; set.size]);
        Shape::new(slots.collect()).map_err(|_| place.error("expected a set of pieces first"))
    }

    /// Sets the solved state, which has an entry for each set.
    ///
    /// # Errors
    /// If there is a solved state already.
    pub(super) fn solve(&mut self, solved: Vec<SolvedSet>, place: Place) -> Result<(), ReadError> {
        if self.solved.replace((solved, place)).is_some() {
            return Err(place.error("a second solved state"));
        }
        Ok(())
    }

    pub(super) fn is_solved(&self) -> bool {
        self.solved.is_some()
    }

    /// Adds a move or rotation.
    ///
    /// # Errors
    /// If the name is taken or malformed, or there are too many moves.
    pub(super) fn add_move(
        &mut self,
        name: &str,
        element: Element,
        place: Place,
    ) -> Result<(), ReadError> {
        self.add(name, Effect::Element(element), place)
    }

    /// Adds a move or rotation that is a sequence of others, which may be defined later.
    ///
    /// # Errors
    /// If the name is taken or malformed, or there are too many moves.
    pub(super) fn add_sequence(
        &mut self,
        name: &str,
        place: Place,
        text: &str,
        text_place: Place,
    ) -> Result<(), ReadError> {
        self.add(name, Effect::Sequence(text.to_owned(), text_place), place)
    }

    fn add(&mut self, name: &str, effect: Effect, place: Place) -> Result<(), ReadError> {
        let unfit = |c: char| c.is_whitespace() || c.is_control() || c == ',';
        if name.is_empty() || name.contains(unfit) {
            return Err(place.expected("a name without blanks and commas", name));
        }
        if name.len() > MAX_NAME {
            return Err(place.expected(&format!("a name of at most {MAX_NAME} bytes"), name));
        }
        if self.moves.len() == MAX_MOVES {
            return Err(place.error(format!("more than {MAX_MOVES} moves")));
        }
        if self.numbers.insert(name.to_owned(), self.moves.len()).is_some() {
            return Err(place.error(format!("a second move '{}'", shortened(name))));
        }
        self.moves.push(Source { name: name.to_owned(), place, effect });
        Ok(())
    }

    /// Forbids a label in a slot of a set, counted from 0. Call it after [`Self::solve`].
    ///
    /// # Errors
    /// If the set has no piece of this label.
    pub(super) fn forbid(
        &mut self,
        set: usize,
        slot: usize,
        label: u16,
        place: Place,
    ) -> Result<(), ReadError> {
        let solved = self.solved.as_ref().and_then(|(solved, _)| solved.get(set));
        let (Some(set), Some(solved)) = (self.sets.get(set), solved) else {
            return Err(place.error("expected the solved state first"));
        };
        let Some(kind) = solved.sorted_labels().iter().position(|known| *known == label) else {
            return Err(place.error(format!("no piece of {} has the number {label}", set.name)));
        };
        self.illegal.push(Illegal { slot: set.offset + slot, kind: kind as u16 });
        Ok(())
    }

    /// The complete definition. `end` is the place that errors about missing parts name.
    ///
    /// # Errors
    /// If there are no sets or moves, or a sequence cannot be evaluated.
    pub(super) fn finish(mut self, end: Place) -> Result<Definition, ReadError> {
        let shape = self.shape(end)?;
        let mut solved = State { kinds: Vec::new(), turns: Vec::new() };
        let (parts, place) = self.solved.take().unwrap_or_else(|| {
            (self.sets.iter().map(|set| SolvedSet::ordered(set, 1)).collect(), end)
        });
        for (set, part) in self.sets.iter_mut().zip(&parts) {
            set.solve(part, &mut solved).map_err(|why| place.error(why))?;
        }
        for number in 0..self.moves.len() {
            self.evaluate(number, &shape, 0)?;
        }
        let rotates = self.format != Format::Generators;
        let (mut moves, mut rotations) = (Vec::new(), Vec::new());
        for Source { name, effect, .. } in self.moves {
            let Effect::Element(element) = effect else { continue };
            let is_rotation = rotates && is_rotation(&name);
            let list = if is_rotation { &mut rotations } else { &mut moves };
            list.push(NamedElement { name, element });
        }
        if moves.is_empty() {
            return Err(end.error("expected a move"));
        }
        let name = self.name.unwrap_or_else(|| "unnamed".to_owned());
        let (format, sets, illegal, notes) = (self.format, self.sets, self.illegal, self.notes);
        Ok(Definition { name, format, sets, shape, solved, moves, rotations, illegal, notes })
    }

    /// The element of a move; evaluates its sequence first if it has one.
    fn evaluate(
        &mut self,
        number: usize,
        shape: &Shape,
        depth: usize,
    ) -> Result<Element, ReadError> {
        let source = &mut self.moves[number];
        let (text, text_place) = match std::mem::replace(&mut source.effect, Effect::Open) {
            Effect::Element(element) => {
                source.effect = Effect::Element(element.clone());
                return Ok(element);
            }
            Effect::Sequence(text, place) if depth < MAX_CHAIN => (text, place),
            Effect::Sequence(..) => {
                let why = format!("more than {MAX_CHAIN} moves are defined by each other");
                return Err(source.place.error(why));
            }
            Effect::Open => {
                let name = shortened(&source.name);
                return Err(source.place.error(format!("the move '{name}' is defined by itself")));
            }
        };
        let mut names = Evaluation { builder: self, shape, depth };
        let element = sequence::read(&text, text_place, shape, &mut names)?;
        self.moves[number].effect = Effect::Element(element.clone());
        Ok(element)
    }
}

/// The moves of a definition under construction, for a sequence at some depth.
struct Evaluation<'a> {
    builder: &'a mut Builder,
    shape: &'a Shape,
    depth: usize,
}

impl Names for Evaluation<'_> {
    fn has(&self, name: &str) -> bool {
        self.builder.numbers.contains_key(name)
    }

    fn element(&mut self, name: &str) -> Result<Option<Element>, ReadError> {
        match self.builder.numbers.get(name).copied() {
            Some(number) => self.builder.evaluate(number, self.shape, self.depth + 1).map(Some),
            None => Ok(None),
        }
    }
}
