//! Canonical states: the least image of a state under the symmetries of a search.
//!
//! A symmetry relabels slots and orientations such that each move becomes a move. Pieces are
//! relabelled accordingly, such that the start is fixed. States that symmetries map to one another are
//! at the same distance from the start, and from the set of goals if goals are mapped to goals.

use std::collections::{HashMap, HashSet};

use crate::group::{Element, Symmetry};
use strata_space::Work;

use super::super::definition::{Definition, State};
use super::map::{ByteMap, Codes, MOST_PLACES, Map};
use super::visible::{Alphabet, Visible};

/// Maximum number of entries of the tables of all symmetries, and of all moves, two bytes each.
const MOST_ENTRIES: usize = 4 << 20;

/// Maximum number of places of goals that are mapped, over all goals and symmetries.
const MOST_GOAL_STEPS: usize = 200_000_000;

/// The symmetries that a search uses, as maps of its states.
#[derive(Clone, Debug)]
pub(in super::super) struct Canonical {
    /// By place, its slot.
    slots: Vec<usize>,
    /// By orbit, the codes of kinds and turns.
    alphabets: Vec<Alphabet>,
    orbits: Vec<usize>,
    /// By move.
    moves: Vec<Map>,
    /// By symmetry, without the identity.
    images: Vec<Map>,
    mirrors: usize,
}

impl Visible {
    /// A map of states. `source` is the place from which a place takes its piece, and `becomes` the kind and
    /// turn there of a piece with a kind, turn and period. None if the place cannot have such a piece.
    fn map(
        &self,
        source: impl Fn(usize) -> usize,
        becomes: impl Fn(usize, (u16, u8, u8)) -> Option<(u16, u8)>,
    ) -> Option<Map> {
        let mut map = Map { sources: Vec::with_capacity(self.slots.len()), codes: Vec::new() };
        for (place, orbit) in self.orbits.iter().enumerate() {
            let from = source(place);
            map.sources.push((from as u16, map.codes.len() as u32));
            for letter in &self.alphabets[self.orbits[from]].letters {
                let (kind, turn) = becomes(place, *letter)?;
                map.codes.push(self.alphabets[*orbit].code(kind, turn)?);
            }
        }
        Some(map)
    }

    /// The map of a move. None if it takes a piece to an orbit that does not have it.
    fn of_move(&self, element: &Element) -> Option<Map> {
        let source = |place: usize| usize::from(element.images()[place]);
        self.map(source, |place, (kind, turn, period)| {
            let turn = u16::from(turn) + u16::from(element.turns()[place]);
            Some((kind, (turn % u16::from(period)) as u8))
        })
    }

    /// The map of a symmetry, with pieces relabelled such that it fixes the start.
    fn of_symmetry(&self, symmetry: &Symmetry, start: &State) -> Option<Map> {
        let images = symmetry.images();
        let mut sources = vec![0; images.len()];
        for (place, image) in images.iter().enumerate() {
            sources[usize::from(*image)] = place;
        }
        let turned = |place: usize, turn: u8| {
            let (factor, shift) = (symmetry.factors()[place], symmetry.shifts()[place]);
            u32::from(factor) * u32::from(turn) + u32::from(shift)
        };
        // By orbit and kind, the first place that has such a piece at the start.
        let mut homes = HashMap::new();
        for (place, slot) in self.slots.iter().enumerate() {
            homes.entry((self.orbits[place], start.kinds[*slot])).or_insert(place);
        }
        self.map(
            |place| sources[place],
            |place, (kind, turn, period)| {
                let from = sources[place];
                let home = *homes.get(&(self.orbits[from], kind))?;
                let (here, there) = (self.slots[home], self.slots[usize::from(images[home])]);
                let period = u32::from(period);
                // At the start, the piece becomes what is at the image of its slot.
                let at_start = turned(home, start.turns[here]) % period;
                let turn = turned(from, turn) + u32::from(start.turns[there]) + period - at_start;
                Some((start.kinds[there], (turn % period) as u8))
            },
        )
    }
}

impl Canonical {
    /// The symmetries of the moves that fix a start and map goals to goals.
    ///
    /// # Errors
    /// Why symmetries cannot be used.
    pub(in super::super) fn new(
        definition: &Definition,
        start: &State,
        moves: &[Element],
        goals: &[State],
        work: &Work,
    ) -> Result<Canonical, String> {
        let Some(visible) = Visible::new(definition, start, moves) else {
            return Err("no move changes anything that can be seen".into());
        };
        let places = visible.slots.len();
        if places > MOST_PLACES {
            return Err(format!("the moves change {places} slots, more than {MOST_PLACES}"));
        }
        let letters: usize =
            visible.orbits.iter().map(|orbit| visible.alphabets[*orbit].letters.len()).sum();
        if letters.saturating_mul(moves.len() + 1) > MOST_ENTRIES {
            return Err("the tables of its moves would be too large".into());
        }
        let symmetries =
            visible.symmetries(definition, start, work).map_err(|error| error.to_string())?;
        if letters.saturating_mul(symmetries.len()) > MOST_ENTRIES {
            return Err("the tables of its symmetries would be too large".into());
        }
        let wrong = || "a symmetry does not keep its pieces".to_owned();
        let of_moves = visible.moves.iter().map(|element| visible.of_move(element));
        let mut canonical = Canonical {
            moves: of_moves.collect::<Option<_>>().ok_or_else(wrong)?,
            slots: visible.slots.clone(),
            orbits: visible.orbits.clone(),
            alphabets: visible.alphabets.clone(),
            images: Vec::with_capacity(symmetries.len()),
            mirrors: 0,
        };
        for symmetry in symmetries.iter().filter(|symmetry| !symmetry.is_identity()) {
            canonical.images.push(visible.of_symmetry(symmetry, start).ok_or_else(wrong)?);
        }
        let kept = canonical.keep_goals(goals)?;
        let others = symmetries.iter().filter(|symmetry| !symmetry.is_identity());
        let mirrors = others.zip(&kept).filter(|(symmetry, kept)| **kept && symmetry.is_mirror());
        canonical.mirrors = mirrors.count();
        Ok(canonical)
    }

    /// Removes the symmetries that do not map goals to goals. Returns which are kept.
    fn keep_goals(&mut self, goals: &[State]) -> Result<Vec<bool>, String> {
        if goals.is_empty() {
            return Ok(vec![true; self.images.len()]);
        }
        let steps = goals.len().saturating_mul(self.slots.len());
        if steps.saturating_mul(self.images.len()) > MOST_GOAL_STEPS {
            return Err(format!("{} goals take too long to compare", goals.len()));
        }
        let goals: HashSet<Codes> = goals.iter().map(|goal| self.codes(goal)).collect();
        let keeps = |map: &Map| goals.iter().all(|goal| goals.contains(&map.apply(goal)));
        let kept: Vec<bool> = self.images.iter().map(keeps).collect();
        let mut each = kept.iter();
        self.images.retain(|_| each.next().is_some_and(|kept| *kept));
        // On states reachable from the start, the maps are a group. Goals may be unreachable.
        if self.is_group() {
            Ok(kept)
        } else {
            Err("its symmetries are no group on states that moves do not reach".into())
        }
    }

    /// Whether the maps, with the identity, are closed under products.
    fn is_group(&self) -> bool {
        let all: HashSet<&Map> = self.images.iter().collect();
        let mut generators: Vec<&Map> = Vec::new();
        let mut reached: HashSet<Map> = HashSet::new();
        for map in &self.images {
            if reached.contains(map) {
                continue;
            }
            generators.push(map);
            let mut queue: Vec<Map> = vec![map.clone()];
            queue.extend(reached.iter().map(|known| map.after(known)));
            while let Some(next) = queue.pop() {
                if !all.contains(&next) {
                    if next.is_identity() {
                        continue;
                    }
                    return false;
                }
                if reached.insert(next.clone()) {
                    queue.extend(generators.iter().map(|generator| generator.after(&next)));
                }
            }
        }
        true
    }

    /// The maps of the moves, and of the symmetries without the identity, as byte maps. None if there are
    /// too many places or codes.
    pub(in super::super) fn byte_maps(&self) -> Option<[Vec<ByteMap>; 2]> {
        let bytes = |maps: &[Map]| maps.iter().map(Map::bytes).collect::<Option<Vec<_>>>();
        Some([bytes(&self.moves)?, bytes(&self.images)?])
    }

    /// The number of symmetries, the identity included.
    pub(in super::super) fn symmetries(&self) -> usize {
        self.images.len() + 1
    }

    /// The number of symmetries that reverse the sense of turns.
    pub(in super::super) fn mirrors(&self) -> usize {
        self.mirrors
    }

    /// The codes of a state with the pieces of the start in the same orbits.
    pub(in super::super) fn codes(&self, state: &State) -> Codes {
        let mut codes = [0; MOST_PLACES];
        for ((code, slot), orbit) in codes.iter_mut().zip(&self.slots).zip(&self.orbits) {
            let found = self.alphabets[*orbit].code(state.kinds[*slot], state.turns[*slot]);
            *code = found.unwrap_or_default();
        }
        codes
    }

    /// Writes the pieces of codes to a state. Its slots that are no places keep their pieces.
    pub(in super::super) fn write(&self, codes: &Codes, state: &mut State) {
        for ((code, slot), orbit) in codes.iter().zip(&self.slots).zip(&self.orbits) {
            let (kind, turn, _) = self.alphabets[*orbit].letters[usize::from(*code)];
            state.kinds[*slot] = kind;
            state.turns[*slot] = turn;
        }
    }

    /// The codes after the move of a number.
    pub(in super::super) fn after(&self, codes: &Codes, number: usize) -> Codes {
        self.moves[number].apply(codes)
    }

    /// The least of the images of codes.
    pub(in super::super) fn least(&self, codes: &Codes) -> Codes {
        let mut least = *codes;
        for map in &self.images {
            for place in 0..self.slots.len() {
                let code = map.at(place, codes);
                if code > least[place] {
                    break;
                }
                if code < least[place] {
                    least[place] = code;
                    let rest = least.iter_mut().enumerate().take(self.slots.len());
                    rest.skip(place + 1).for_each(|(place, code)| *code = map.at(place, codes));
                    break;
                }
            }
        }
        least
    }

    /// The number of different images of codes.
    pub(in super::super) fn positions(&self, codes: &Codes) -> u64 {
        let fixes = |map: &&Map| (0..self.slots.len()).all(|p| map.at(p, codes) == codes[p]);
        let fixing = 1 + self.images.iter().filter(fixes).count();
        (self.symmetries() / fixing) as u64
    }

    /// The different images of codes, the codes themselves first.
    pub(in super::super) fn orbit(&self, codes: &Codes) -> Vec<Codes> {
        let mut known = HashSet::from([*codes]);
        let mut orbit = vec![*codes];
        let images = self.images.iter().map(|map| map.apply(codes));
        orbit.extend(images.filter(|image| known.insert(*image)));
        orbit
    }
}
