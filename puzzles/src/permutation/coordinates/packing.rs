//! Keys that combine the coordinates of a state into one mixed-radix number.

use std::sync::{Arc, OnceLock};

use crate::group::{Element, Invariants, Orbit};
use strata_space::Key;

use super::super::definition::{Definition, State};
use super::super::dense;
use super::divisor::Divisor;
use super::groups::Groups;
use super::parity::Parities;
use super::places::{Action, MOST_PIECES, Places};
use super::turns::Turns;

/// Maximum number of regions: of values of the high part of a key.
const MOST_REGIONS: u64 = 1 << 16;

/// Minimum number of regions. The states of a region are searched together.
const LEAST_REGIONS: u64 = 1 << 10;

/// Maximum number of low bits of a key.
const MOST_LOCAL_BITS: u32 = 62;

/// Maximum number of entries of the tables of moves, two bytes each.
const MOST_ACTIONS: usize = 1 << 26;

/// Minimum number of bits of a key. For smaller spaces, ranks in dense regions are as good.
const LEAST_BITS: u32 = 41;

/// Keys of all states that have the pieces of a start in the same orbits. Moves may reach only a part of
/// these states.
#[derive(Clone, Debug)]
pub(in super::super) struct Coordinates {
    pub(super) start: State,
    pub(super) orbits: Vec<OrbitCoordinates>,
    pub(super) parities: Parities,
    pub(super) moves: Vec<Element>,
    /// By coordinate, the actions of all moves, once they are needed.
    pub(super) actions: OnceLock<Vec<Action>>,
    /// The digits of a key's high part, and of the low one.
    pub(super) region: Vec<Digit>,
    pub(super) local: Vec<Digit>,
    pub(super) region_bits: u32,
    pub(super) local_bits: u32,
}

/// The coordinates of an orbit.
#[derive(Clone, Debug)]
pub(super) struct OrbitCoordinates {
    pub(super) slots: Vec<usize>,
    /// By kind, the number of the piece.
    pub(super) pieces: Vec<Option<u8>>,
    pub(super) kinds: Vec<u16>,
    /// By code (piece times orientations plus turn), the piece and the turn.
    pub(super) letters: Vec<(u8, u8)>,
    pub(super) places: Places,
    pub(super) turns: Option<Turns>,
    /// The coordinate of the turns, and the first of the places.
    pub(super) turns_at: usize,
    pub(super) places_at: usize,
}

/// The actions of all moves by coordinate, and the number of one move.
pub(super) type Move<'a> = (&'a [Action], usize);

/// A digit of a key.
#[derive(Copy, Clone, Debug)]
pub(super) struct Digit {
    /// Number of its values.
    pub(super) divisor: Divisor,
    pub(super) form: DigitForm,
}

/// Meaning of a digit.
#[derive(Copy, Clone, Debug)]
pub(super) enum DigitForm {
    /// A coordinate.
    Plain { coordinate: usize },
    /// The first of an orbit's three coordinates.
    First { orbit: usize },
    /// The second and the third, given the first.
    Rest { orbit: usize },
    /// The only coordinate of an orbit's places, without its lowest bit, which follows from parities.
    Half { orbit: usize },
    /// [`Self::Rest`] without its lowest bit.
    HalfRest { orbit: usize },
}

impl Digit {
    fn new(values: u32, form: DigitForm) -> Digit {
        Digit { divisor: Divisor::new(values), form }
    }

    /// Number of its values.
    fn values(self) -> u32 {
        self.divisor.value() as u32
    }

    /// The orbit whose order the digit completes.
    fn order_of(self, orbits: &[OrbitCoordinates]) -> Option<usize> {
        match self.form {
            DigitForm::First { .. } => None,
            DigitForm::Plain { coordinate } => {
                orbits.iter().position(|orbit| orbit.places_at == coordinate)
            }
            DigitForm::Half { orbit }
            | DigitForm::Rest { orbit }
            | DigitForm::HalfRest { orbit } => Some(orbit),
        }
    }

    /// The digit without its lowest bit, if parities determine it.
    fn shortened(self, parities: &Parities, orbits: &[OrbitCoordinates]) -> Digit {
        let Some(orbit) = self.order_of(orbits).filter(|orbit| parities.has(*orbit)) else {
            return self;
        };
        let form = match self.form {
            DigitForm::Rest { .. } => DigitForm::HalfRest { orbit },
            _ => DigitForm::Half { orbit },
        };
        Digit::new(self.values() / 2, form)
    }
}

impl OrbitCoordinates {
    fn new(start: &State, orbit: Orbit, at: usize) -> Option<OrbitCoordinates> {
        let Orbit { slots, orientations, turn_step } = orbit;
        if slots.len() > MOST_PIECES {
            return None;
        }
        let mut kinds: Vec<u16> = slots.iter().map(|slot| start.kinds[*slot]).collect();
        kinds.sort_unstable();
        let mut pieces = vec![None; kinds.last().map_or(0, |last| usize::from(*last) + 1)];
        for (number, kind) in (0..).zip(&kinds) {
            pieces[usize::from(*kind)] = Some(number);
        }
        let sum: u32 = slots.iter().map(|slot| u32::from(start.turns[*slot])).sum();
        let sum = (sum % u32::from(orientations)) as u8;
        let fixed = (turn_step == orientations).then_some(sum);
        let turns = match orientations {
            1 => None,
            _ => Some(Turns::new(slots.len(), orientations, fixed)?),
        };
        let (places, turns_at) = (Places::new(slots.len()), at);
        let places_at = at + usize::from(turns.is_some());
        let letters = (0..slots.len() as u8).flat_map(|p| (0..orientations).map(move |t| (p, t)));
        let letters: Vec<(u8, u8)> = letters.collect();
        // Their number, too, has to fit a byte.
        (letters.len() <= u8::MAX.into()).then_some(OrbitCoordinates {
            slots,
            pieces,
            kinds,
            letters,
            places,
            turns,
            turns_at,
            places_at,
        })
    }

    /// Orientations of a piece.
    pub(super) fn period(&self) -> u8 {
        (self.letters.len() / self.slots.len()) as u8
    }

    /// The coordinate after the last one of the orbit.
    pub(super) fn end(&self) -> usize {
        self.places_at + self.places.count()
    }

    /// Values of all coordinates.
    fn values(&self) -> usize {
        self.places.values() + self.turns.as_ref().map_or(0, |turns| turns.size() as usize)
    }

    /// Appends the actions of moves on the coordinates, in their order.
    fn act(&self, moves: &[Element], actions: &mut Vec<Action>) {
        let number =
            |slot: u16| self.slots.partition_point(|other| *other < usize::from(slot)) as u8;
        let of_move = |element: &Element| {
            self.slots.iter().map(|slot| number(element.images()[*slot])).collect()
        };
        let images: Vec<Vec<u8>> = moves.iter().map(of_move).collect();
        if let Some(turns) = &self.turns {
            let action = |(images, element): (&Vec<u8>, &Element)| {
                let turned: Vec<u8> =
                    self.slots.iter().map(|slot| element.turns()[*slot]).collect();
                turns.action(images, &turned)
            };
            actions.push(Arc::new(images.iter().zip(moves).map(action).collect()));
        }
        actions.extend(self.places.actions(&images));
    }

    /// Writes the orbit's coordinates of a state. None if it has other pieces or another sum of turns.
    pub(super) fn read(&self, state: &State, coordinates: &mut [u16]) -> Option<()> {
        let piece = |slot: &usize| *self.pieces.get(usize::from(*state.kinds.get(*slot)?))?;
        let pieces: Vec<u8> = self.slots.iter().map(piece).collect::<Option<_>>()?;
        let mut seen = pieces.clone();
        seen.sort_unstable();
        if !seen.iter().copied().eq(0..pieces.len() as u8) {
            return None;
        }
        if let Some(turns) = &self.turns {
            let all: Vec<u8> = self.slots.iter().map(|slot| state.turns[*slot]).collect();
            coordinates[self.turns_at] = turns.rank(&all)?;
        }
        self.places.write_coordinates(&pieces, &mut coordinates[self.places_at..]);
        Some(())
    }

    fn write(&self, coordinates: &[u16], state: &mut State) {
        let mut pieces = vec![0; self.slots.len()];
        self.places.write_pieces(&coordinates[self.places_at..self.end()], &mut pieces);
        for (slot, piece) in self.slots.iter().zip(pieces) {
            state.kinds[*slot] = self.kinds[usize::from(piece)];
        }
        if let Some(turns) = &self.turns {
            let turns = turns.of(coordinates[self.turns_at]);
            self.slots.iter().zip(turns).for_each(|(slot, turn)| state.turns[*slot] = *turn);
        }
    }

    /// Whether the pieces of one of the states in columns are an odd permutation.
    #[inline(always)]
    pub(super) fn is_odd(&self, columns: &[u16], state: usize, states: usize) -> bool {
        let at = |number: usize| columns[(self.places_at + number) * states + state];
        match &self.places {
            Places::Together { odd, .. } => odd[usize::from(at(0))],
            Places::Groups(groups) => groups.is_odd([at(0), at(1), at(2)]),
        }
    }
}

impl Coordinates {
    /// Coordinates of the states reachable from a start. None if the space is so small that ranks are as
    /// good, if pieces look alike, if states are illegal, or if an orbit or a table exceeds a limit.
    pub(in super::super) fn new(
        definition: &Definition,
        start: &State,
        moves: &[Element],
    ) -> Option<Coordinates> {
        if !definition.illegal.is_empty() || !dense::all_differ(definition, start, moves) {
            return None;
        }
        let found = Invariants::of(&definition.shape, moves);
        let mut orbits: Vec<OrbitCoordinates> = Vec::new();
        for orbit in &found.orbits {
            let at = orbits.last().map_or(0, OrbitCoordinates::end);
            orbits.push(OrbitCoordinates::new(start, orbit.clone(), at)?);
        }
        let values: usize = orbits.iter().map(OrbitCoordinates::values).sum();
        if values.saturating_mul(moves.len()) > MOST_ACTIONS {
            return None;
        }
        let (region, local) = digits(&orbits)?;
        let mut at_start = vec![0; orbits.last()?.end()];
        orbits.iter().try_for_each(|orbit| orbit.read(start, &mut at_start))?;
        let ordered: Vec<usize> =
            local.iter().filter_map(|digit| digit.order_of(&orbits)).collect();
        let is_odd = |orbit: usize| orbits[orbit].is_odd(&at_start, 0, 1);
        let parities = Parities::new(&found.parities, &ordered, is_odd);
        let local: Vec<Digit> =
            local.into_iter().map(|digit| digit.shortened(&parities, &orbits)).collect();
        let (region_bits, local_bits) = (bits_of(&region)?, bits_of(&local)?);
        let fits = local_bits <= MOST_LOCAL_BITS && region_bits + local_bits >= LEAST_BITS;
        fits.then(|| Coordinates {
            start: start.clone(),
            orbits,
            parities,
            moves: moves.to_vec(),
            actions: OnceLock::new(),
            region,
            local,
            region_bits,
            local_bits,
        })
    }

    /// Number of coordinates.
    pub(super) fn count(&self) -> usize {
        self.orbits.last().map_or(0, OrbitCoordinates::end)
    }

    pub(super) fn actions(&self) -> &[Action] {
        self.actions.get_or_init(|| {
            let mut actions = Vec::with_capacity(self.count());
            self.orbits.iter().for_each(|orbit| orbit.act(&self.moves, &mut actions));
            actions
        })
    }

    /// Bits of a key.
    pub(in super::super) fn bits(&self) -> u32 {
        self.region_bits + self.local_bits
    }

    /// The number of regions: of values of the high part of a key.
    pub(super) fn regions(&self) -> u64 {
        self.region.iter().map(|digit| digit.divisor.value()).product()
    }

    /// Low bits of a key, which are not part of the region.
    pub(in super::super) fn local_bits(&self) -> u32 {
        self.local_bits
    }

    /// The key of a state reachable from the start. None if the state has other pieces in an orbit, or
    /// another sum of turns.
    pub(in super::super) fn key_of<K: Key>(&self, state: &State) -> Option<K> {
        let mut at = vec![0; self.count()];
        self.orbits.iter().try_for_each(|orbit| orbit.read(state, &mut at))?;
        let [high, low] = [&self.region, &self.local].map(|digits| self.number(digits, &at));
        Some(self.join(high, low))
    }

    /// The state of a key.
    pub(in super::super) fn state<K: Key>(&self, key: K) -> State {
        let mut at = vec![0; self.count()];
        let (high, low) = self.split(key);
        self.unpack(high, &mut [low], &mut at);
        let mut state = self.start.clone();
        self.orbits.iter().for_each(|orbit| orbit.write(&at, &mut state));
        state
    }

    /// The region of the first state after a move. `states` is the number of states in the columns.
    #[inline]
    pub(super) fn region_after(
        &self,
        (actions, mv): Move<'_>,
        coordinates: &[u16],
        states: usize,
    ) -> u64 {
        let after = |coordinate: usize| {
            actions[coordinate][mv][usize::from(coordinates[coordinate * states])]
        };
        self.region.iter().fold(0, |number, digit| {
            let value = match digit.form {
                DigitForm::Plain { coordinate } => after(coordinate).into(),
                form => self.first_of(form, after),
            };
            number * digit.divisor.value() + u64::from(value)
        })
    }

    /// The value of the digit [`DigitForm::First`].
    fn first_of(&self, form: DigitForm, coordinate: impl Fn(usize) -> u16) -> u32 {
        let DigitForm::First { orbit } = form else { return 0 };
        match self.groups(orbit) {
            (first, Some(groups)) => groups.numbering().of_first(coordinate(first)),
            (_, None) => 0,
        }
    }

    /// The number with these digits.
    #[inline]
    pub(super) fn number(&self, digits: &[Digit], at: &[u16]) -> u64 {
        digits.iter().fold(0, |number, digit| {
            number * digit.divisor.value() + u64::from(self.value(digit.form, at))
        })
    }

    /// The high and the low part of a key.
    #[inline]
    pub(super) fn split<K: Key>(&self, key: K) -> (u64, u64) {
        let (high, low) = key.split(self.local_bits);
        (high as u64, low as u64)
    }

    /// The key of these parts.
    #[inline]
    pub(super) fn join<K: Key>(&self, high: u64, low: u64) -> K {
        K::join(high.into(), low.into(), self.local_bits)
    }

    /// The first coordinate of an orbit's places, and the groups of its pieces if they are in groups.
    #[inline]
    pub(super) fn groups(&self, orbit: usize) -> (usize, Option<&Groups>) {
        let OrbitCoordinates { places, places_at, .. } = &self.orbits[orbit];
        match places {
            Places::Together { .. } => (*places_at, None),
            Places::Groups(groups) => (*places_at, Some(groups)),
        }
    }

    /// The value of a digit.
    fn value(&self, form: DigitForm, at: &[u16]) -> u32 {
        match form {
            DigitForm::Plain { coordinate } => at[coordinate].into(),
            DigitForm::Half { orbit } => u32::from(at[self.orbits[orbit].places_at]) >> 1,
            DigitForm::HalfRest { orbit } => self.value(DigitForm::Rest { orbit }, at) >> 1,
            DigitForm::First { .. } => self.first_of(form, |first| at[first]),
            DigitForm::Rest { orbit } => match self.groups(orbit) {
                (first, Some(groups)) => {
                    groups.numbering().of_rest(at[first], at[first + 1], at[first + 2])
                }
                (_, None) => 0,
            },
        }
    }
}

/// The digits of the high and of the low part of keys. None if there are too few regions.
fn digits(orbits: &[OrbitCoordinates]) -> Option<(Vec<Digit>, Vec<Digit>)> {
    let (mut free, mut local) = (Vec::new(), Vec::new());
    for (orbit, coordinates) in orbits.iter().enumerate() {
        if let Some(values) = coordinates.turns.as_ref().map(Turns::size) {
            let form = DigitForm::Plain { coordinate: coordinates.turns_at };
            free.push(Digit::new(values, form));
        }
        match &coordinates.places {
            Places::Together { odd, .. } => {
                let form = DigitForm::Plain { coordinate: coordinates.places_at };
                free.push(Digit::new(odd.len() as u32, form));
            }
            Places::Groups(groups) => {
                let (first, rest) = (DigitForm::First { orbit }, DigitForm::Rest { orbit });
                free.push(Digit::new(groups.form.firsts(), first));
                local.push(Digit::new(groups.form.rest(), rest));
            }
        }
    }
    // The largest first, as many as fit.
    free.sort_by_key(|digit| std::cmp::Reverse(digit.values()));
    let (mut regions, mut region) = (1, Vec::new());
    for digit in free {
        if regions * digit.divisor.value() <= MOST_REGIONS {
            regions *= digit.divisor.value();
            region.push(digit);
        } else {
            local.push(digit);
        }
    }
    (regions >= LEAST_REGIONS).then_some((region, local))
}

/// Bits of the numbers with these digits; None beyond 64.
fn bits_of(digits: &[Digit]) -> Option<u32> {
    let mut values = digits.iter().map(|digit| digit.divisor.value());
    let all = values.try_fold(1_u64, u64::checked_mul)?;
    Some((u64::BITS - (all - 1).leading_zeros()).max(1))
}
