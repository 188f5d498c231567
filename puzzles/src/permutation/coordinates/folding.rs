//! Canonical keys under symmetry: the least of the keys of a state's images.
//!
//! The high part of a key, the region, is the order of pieces in whole orbits. Its image under a symmetry
//! depends on nothing else, so a table holds the least image of each region and the symmetries that lead
//! there: for most regions one. Only these symmetries are applied to the rest of a state.

use std::sync::OnceLock;

use strata_space::{Key, SuccessorSink};

use super::super::definition::State;
use super::super::symmetry::{ByteMap, Canonical};
use super::packing::{Coordinates, Digit, DigitForm, OrbitCoordinates};
use super::places::{MOST_PIECES, Places};

/// Symmetries of states with coordinates.
#[derive(Clone, Debug)]
pub(in super::super) struct Folding {
    moves: Vec<ByteMap>,
    /// Without the identity.
    images: Vec<ByteMap>,
    least: OnceLock<LeastRegions>,
}

/// The least image of each region, and the symmetries that lead there.
#[derive(Clone, Debug, Default)]
struct LeastRegions {
    least: Vec<u32>,
    /// By region, where its symmetries begin; the last entry is the end of the list.
    starts: Vec<u32>,
    /// Numbers of symmetries; 0 is the identity.
    symmetries: Vec<u8>,
}

/// The largest number of places of a state, and of its coordinates.
const MOST_PLACES: usize = 64;

/// Buffers of a call.
struct Scratch {
    cells: [u8; MOST_PLACES],
    at: [u16; MOST_PLACES],
}

impl Scratch {
    fn new() -> Scratch {
        Scratch { cells: [0; MOST_PLACES], at: [0; MOST_PLACES] }
    }
}

impl LeastRegions {
    #[inline]
    fn of(&self, region: usize) -> (u32, &[u8]) {
        let [start, end] = [self.starts[region], self.starts[region + 1]].map(|at| at as usize);
        (self.least[region], &self.symmetries[start..end])
    }
}

impl Folding {
    /// The folding of coordinates by symmetries. None if the image of a region depends on more than the
    /// region, or if there are too many places, coordinates, codes or symmetries.
    pub(in super::super) fn new(
        coordinates: &Coordinates,
        canonical: &Canonical,
    ) -> Option<Folding> {
        if coordinates.places() > MOST_PLACES || coordinates.count() > MOST_PLACES {
            return None;
        }
        let [moves, images] = canonical.byte_maps()?;
        let folding = Folding { moves, images, least: OnceLock::new() };
        (folding.images.len() < u8::MAX.into() && folding.keeps_regions(coordinates)?)
            .then_some(folding)
    }

    /// Whether symmetries map the orbits of a region to one another, independent of turns. None if a
    /// region does not consist of whole orbits.
    fn keeps_regions(&self, coordinates: &Coordinates) -> Option<bool> {
        let mut in_region = Vec::new();
        for orbit in &coordinates.orbits {
            let is_there = coordinates.region.iter().any(|digit| digit.is_of(orbit.places_at));
            in_region
                .resize(in_region.len() + orbit.slots.len(), is_there.then_some(orbit.period()));
        }
        for digit in &coordinates.region {
            let whole = |orbit: &OrbitCoordinates| {
                digit.is_of(orbit.places_at) && matches!(orbit.places, Places::Together { .. })
            };
            coordinates.orbits.iter().find(|orbit| whole(orbit))?;
        }
        let keeps = |map: &ByteMap| {
            in_region.iter().enumerate().all(|(place, period)| {
                let Some(period) = *period else { return true };
                let Some(from) = in_region[map.source(place)] else { return false };
                let letters = coordinates.letters_of(map.source(place)) as u8;
                (0..letters).all(|code| {
                    let untwisted = code / from * from;
                    map.code(place, code) / period == map.code(place, untwisted) / period
                })
            })
        };
        Some(self.images.iter().all(keeps))
    }

    /// Estimated number of regions that are the least of their images.
    pub(in super::super) fn regions(&self, coordinates: &Coordinates) -> u64 {
        (coordinates.regions() / (self.images.len() as u64 + 1)).max(1)
    }

    fn least(&self, coordinates: &Coordinates) -> &LeastRegions {
        self.least.get_or_init(|| {
            let regions = coordinates.regions();
            let mut found = LeastRegions::default();
            let (mut scratch, mut images) = (Scratch::new(), Vec::new());
            let mut cells = [0; MOST_PLACES];
            for region in 0..regions {
                scratch.at.fill(0);
                coordinates.unpack_region(region, 1, &mut scratch.at);
                coordinates.write_cells(&scratch.at, &mut cells);
                images.clear();
                images.push(region as u32);
                for image in &self.images {
                    image.apply(&cells, &mut scratch.cells);
                    coordinates.read_cells(&scratch.cells, &mut scratch.at, true);
                    images.push(coordinates.number(&coordinates.region, &scratch.at) as u32);
                }
                let least = images.iter().copied().min().unwrap_or_default();
                found.least.push(least);
                found.starts.push(found.symmetries.len() as u32);
                let to_least = (0..).zip(&images).filter(|(_, image)| **image == least);
                found.symmetries.extend(to_least.map(|(number, _): (u8, _)| number));
            }
            found.starts.push(found.symmetries.len() as u32);
            found
        })
    }

    /// Visits the low part of the key of each image of a state in the least region.
    #[inline]
    fn lows(
        &self,
        coordinates: &Coordinates,
        symmetries: &[u8],
        cells: &[u8],
        scratch: &mut Scratch,
        mut visit: impl FnMut(u64),
    ) {
        for symmetry in symmetries {
            let image = match symmetry.checked_sub(1) {
                None => cells,
                Some(number) => {
                    self.images[usize::from(number)].apply(cells, &mut scratch.cells);
                    &scratch.cells
                }
            };
            coordinates.read_cells(image, &mut scratch.at, false);
            visit(coordinates.number(&coordinates.local, &scratch.at));
        }
    }

    #[inline]
    fn least_key<K: Key>(
        &self,
        coordinates: &Coordinates,
        region: usize,
        cells: &[u8],
        scratch: &mut Scratch,
    ) -> K {
        let (high, symmetries) = self.least(coordinates).of(region);
        let mut least = u64::MAX;
        self.lows(coordinates, symmetries, cells, scratch, |low| least = least.min(low));
        coordinates.join(high.into(), least)
    }

    /// The canonical key of a state: the least key of its images. None as for [`Coordinates::key_of`].
    pub(in super::super) fn key_of<K: Key>(
        &self,
        coordinates: &Coordinates,
        state: &State,
    ) -> Option<K> {
        let (mut scratch, mut cells) = (Scratch::new(), [0; MOST_PLACES]);
        coordinates.orbits.iter().try_for_each(|orbit| orbit.read(state, &mut scratch.at))?;
        coordinates.write_cells(&scratch.at, &mut cells);
        let region = coordinates.number(&coordinates.region, &scratch.at) as usize;
        Some(self.least_key(coordinates, region, &cells, &mut scratch))
    }

    /// Number of states that a key stands for.
    pub(in super::super) fn positions<K: Key>(&self, coordinates: &Coordinates, key: K) -> u64 {
        let (region, own) = coordinates.split(key);
        let (_, symmetries) = self.least(coordinates).of(region as usize);
        if symmetries.len() == 1 {
            return self.images.len() as u64 + 1;
        }
        let (mut scratch, mut cells, mut fixing) = (Scratch::new(), [0; MOST_PLACES], 0);
        coordinates.unpack(region, &mut [own], &mut scratch.at);
        coordinates.write_cells(&scratch.at, &mut cells);
        self.lows(coordinates, symmetries, &cells, &mut scratch, |low| {
            fixing += u64::from(low == own)
        });
        (self.images.len() as u64 + 1) / fixing.max(1)
    }

    /// Passes the canonical key of each successor of each key of a list to `to`.
    pub(in super::super) fn successors<K: Key>(
        &self,
        coordinates: &Coordinates,
        keys: &[K],
        to: &mut impl SuccessorSink<K>,
    ) {
        let (mut scratch, mut at) = (Scratch::new(), [0; MOST_PLACES]);
        let (mut cells, mut next) = ([0; MOST_PLACES], [0; MOST_PLACES]);
        let actions = coordinates.actions();
        for key in keys {
            let (region, low) = coordinates.split(*key);
            coordinates.unpack(region, &mut [low], &mut at);
            coordinates.write_cells(&at, &mut cells);
            for (mv, map) in self.moves.iter().enumerate() {
                let region = coordinates.region_after((actions, mv), &at, 1);
                map.apply(&cells, &mut next);
                to.add(self.least_key(coordinates, region as usize, &next, &mut scratch));
            }
        }
    }
}

impl Digit {
    /// Whether the digit is the plain value of the coordinate with this number.
    fn is_of(&self, number: usize) -> bool {
        matches!(self.form, DigitForm::Plain { coordinate } if coordinate == number)
    }
}

/// States as a code for each place: the piece's number times its orientations, plus its turn.
impl Coordinates {
    /// Number of places.
    fn places(&self) -> usize {
        self.orbits.iter().map(|orbit| orbit.slots.len()).sum()
    }

    /// Number of the codes of a place.
    fn letters_of(&self, place: usize) -> usize {
        let mut end = 0;
        let orbit = self.orbits.iter().find(|orbit| {
            end += orbit.slots.len();
            place < end
        });
        orbit.map_or(0, |orbit| orbit.slots.len() * usize::from(orbit.period()))
    }

    #[inline]
    fn write_cells(&self, at: &[u16], cells: &mut [u8]) {
        let mut rest = cells;
        for orbit in &self.orbits {
            let (own, others) = rest.split_at_mut(orbit.slots.len());
            rest = others;
            orbit.places.write_pieces(&at[orbit.places_at..orbit.end()], own);
            own.iter_mut().for_each(|cell| *cell *= orbit.period());
            if let Some(turns) = &orbit.turns {
                let turns = turns.of(at[orbit.turns_at]);
                own.iter_mut().zip(turns).for_each(|(cell, turn)| *cell += turn);
            }
        }
    }

    /// Writes the coordinates of cells: those of the region if `of_region`, otherwise the rest.
    #[inline]
    fn read_cells(&self, cells: &[u8], at: &mut [u16], of_region: bool) {
        let mut rest = cells;
        let (mut pieces, mut turned) = ([0; MOST_PIECES], [0; MOST_PIECES]);
        for orbit in &self.orbits {
            let (own, others) = rest.split_at(orbit.slots.len());
            rest = others;
            for ((piece, turn), cell) in pieces.iter_mut().zip(&mut turned).zip(own) {
                (*piece, *turn) = orbit.letters[usize::from(*cell)];
            }
            if self.region.iter().any(|digit| digit.is_of(orbit.places_at)) == of_region {
                orbit.places.write_coordinates(&pieces[..own.len()], &mut at[orbit.places_at..]);
            }
            if let Some(turns) = orbit.turns.as_ref().filter(|_| !of_region) {
                at[orbit.turns_at] = turns.digits_of(&turned[..own.len()]);
            }
        }
    }
}
