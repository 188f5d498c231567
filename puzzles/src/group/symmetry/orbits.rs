//! Relabellings of the orbits of some moves, move by move.

use strata_space::{Work, WorkError};

use super::conjugation::relabel;
use super::pieces::Pieces;
use crate::group::element::{Element, gcd};
use crate::group::shape::Shape;

/// Mark of a slot without an image.
const NONE: u16 = u16::MAX;

/// A move, with the slot to which each piece comes.
#[derive(Clone, Debug)]
pub(super) struct Action<'a> {
    pub(super) element: &'a Element,
    pub(super) targets: Vec<u16>,
}

/// An orbit of slots under some moves, with a spanning tree.
#[derive(Clone, Debug)]
pub(super) struct OrbitTree {
    /// The slots; the first is the root.
    slots: Vec<u16>,
    /// By slot after the first: its parent in the tree, and the move that leads from there to the slot.
    steps: Vec<(u16, usize)>,
}

impl OrbitTree {
    /// All orbits, slots that no move changes included, each with its least slot first.
    pub(super) fn all(shape: &Shape, moves: &[&Action<'_>]) -> Vec<OrbitTree> {
        let mut seen = vec![false; shape.slots()];
        let mut orbits = Vec::new();
        for root in 0..shape.slots() as u16 {
            if std::mem::replace(&mut seen[usize::from(root)], true) {
                continue;
            }
            let mut orbit = OrbitTree { slots: vec![root], steps: Vec::new() };
            let mut next = 0;
            while let Some(slot) = orbit.slots.get(next).copied() {
                for (number, action) in moves.iter().enumerate() {
                    let target = action.targets[usize::from(slot)];
                    if !std::mem::replace(&mut seen[usize::from(target)], true) {
                        orbit.slots.push(target);
                        orbit.steps.push((slot, number));
                    }
                }
                next += 1;
            }
            orbits.push(orbit);
        }
        orbits
    }
}

/// A relabelling under construction, orbit by orbit.
#[derive(Debug)]
pub(super) struct Relabelling<'a> {
    shape: &'a Shape,
    pieces: &'a Pieces,
    pub(super) images: Vec<u16>,
    pub(super) factors: Vec<u8>,
    pub(super) shifts: Vec<u8>,
    /// By slot, whether it is an image.
    used: Vec<bool>,
    /// By kind of piece, the kind that it becomes in the orbit and the number added to its turns.
    kinds: Vec<Option<(usize, u8)>>,
    /// By kind, whether it is an image in the orbit.
    used_kinds: Vec<bool>,
    /// Steps of work that are left.
    steps: u64,
    /// The caller's work.
    work: &'a Work,
    /// Steps that are not yet charged to `work`.
    unpaid: u64,
}

/// A limit was reached: that of the search (None), or that of the caller's work.
#[derive(Debug)]
pub(super) struct Exhausted(pub(super) Option<WorkError>);

/// Steps after which they are charged to the caller's work.
const UNPAID: u64 = 1 << 16;

impl<'a> Relabelling<'a> {
    pub(super) fn new(
        shape: &'a Shape,
        pieces: &'a Pieces,
        steps: u64,
        work: &'a Work,
    ) -> Relabelling<'a> {
        let slots = shape.slots();
        Relabelling {
            shape,
            pieces,
            images: vec![NONE; slots],
            factors: vec![1; slots],
            shifts: vec![0; slots],
            used: vec![false; slots],
            kinds: vec![None; slots],
            used_kinds: vec![false; slots],
            steps,
            work,
            unpaid: 0,
        }
    }

    /// Counts steps of work.
    pub(super) fn work(&mut self, steps: usize) -> Result<(), Exhausted> {
        self.steps = self.steps.checked_sub(steps as u64).ok_or(Exhausted(None))?;
        self.unpaid += steps as u64;
        if self.unpaid >= UNPAID {
            let unpaid = std::mem::take(&mut self.unpaid);
            self.work.spend(unpaid).map_err(|error| Exhausted(Some(error)))?;
        }
        Ok(())
    }

    /// Finds a relabelling of all orbits under which each move becomes its image in `pairs`. Returns whether
    /// there is one. `is_last` is set if the orbits are those of all moves.
    ///
    /// Each orbit is mapped to the first unused orbit that fits. Whether one orbit fits another is an
    /// equivalence relation, so there is no backtracking.
    pub(super) fn find(
        &mut self,
        orbits: &[OrbitTree],
        pairs: &[(&Action<'_>, &Action<'_>)],
        is_last: bool,
    ) -> Result<bool, Exhausted> {
        self.images.fill(NONE);
        self.used.fill(false);
        for orbit in orbits {
            if !self.place(orbit, pairs, is_last)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Relabels an orbit. The identity is tried first.
    fn place(
        &mut self,
        orbit: &OrbitTree,
        pairs: &[(&Action<'_>, &Action<'_>)],
        is_last: bool,
    ) -> Result<bool, Exhausted> {
        let root = usize::from(orbit.slots[0]);
        let orientations = self.shape.orientations()[root];
        let others = (0..self.shape.slots()).filter(|slot| *slot != root);
        for image in std::iter::once(root).chain(others) {
            self.work(1)?;
            if self.used[image] || self.shape.orientations()[image] != orientations {
                continue;
            }
            let units = (2..orientations).filter(|f| gcd((*f).into(), orientations.into()) == 1);
            for factor in std::iter::once(1).chain(units) {
                if self.carry(orbit, (image, factor), pairs)?
                    && self.keeps_pieces(orbit, is_last)?
                {
                    return Ok(true);
                }
                self.clear(orbit);
            }
        }
        Ok(false)
    }

    fn clear(&mut self, orbit: &OrbitTree) {
        for slot in &orbit.slots {
            let image = std::mem::replace(&mut self.images[usize::from(*slot)], NONE);
            if let Some(used) = self.used.get_mut(usize::from(image)) {
                *used = false;
            }
        }
    }

    fn set(&mut self, slot: usize, image: u16, shift: u8, factor: u8) -> bool {
        if std::mem::replace(&mut self.used[usize::from(image)], true) {
            return false;
        }
        self.images[slot] = image;
        self.shifts[slot] = shift;
        self.factors[slot] = factor;
        true
    }

    /// Derives the images of all slots of an orbit from that of the root, along the moves. Returns whether
    /// every move of the orbit becomes its image.
    fn carry(
        &mut self,
        orbit: &OrbitTree,
        (image, factor): (usize, u8),
        pairs: &[(&Action<'_>, &Action<'_>)],
    ) -> Result<bool, Exhausted> {
        let root = usize::from(orbit.slots[0]);
        let orientations = self.shape.orientations()[root];
        self.work(1)?;
        // The shift of the root is free: adding the same number to all turns of an orbit changes no move.
        self.set(root, image as u16, 0, factor);
        for (slot, (from, number)) in orbit.slots.iter().skip(1).zip(&orbit.steps) {
            self.work(1)?;
            let (slot, from) = (usize::from(*slot), usize::from(*from));
            let (action, other) = pairs[*number];
            let image = other.targets[usize::from(self.images[from])];
            let wanted = other.element.turns()[usize::from(image)];
            let turned = (factor, action.element.turns()[slot]);
            // wanted = factor · turn + shift - the shift of `from`.
            let without = relabel(turned, (0, self.shifts[from]), orientations);
            let shift = relabel((1, wanted), (0, without), orientations);
            if !self.set(slot, image, shift, factor) {
                return Ok(false);
            }
        }
        for (action, other) in pairs {
            self.work(orbit.slots.len())?;
            for slot in orbit.slots.iter().map(|slot| usize::from(*slot)) {
                let from = usize::from(action.element.images()[slot]);
                let image = usize::from(self.images[slot]);
                let turned = (factor, action.element.turns()[slot]);
                let turn = relabel(turned, (self.shifts[slot], self.shifts[from]), orientations);
                if other.element.images()[image] != self.images[from]
                    || other.element.turns()[image] != turn
                {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Whether pieces of the same kind in the orbit become pieces of the same kind, turned alike, and
    /// whether forbidden pieces become forbidden ones (only checked if `is_last`).
    fn keeps_pieces(&mut self, orbit: &OrbitTree, is_last: bool) -> Result<bool, Exhausted> {
        let forbidden = orbit.slots.iter().map(|slot| self.pieces.forbidden((*slot).into()).len());
        self.work(2 * orbit.slots.len() + if is_last { forbidden.sum() } else { 0 })?;
        let slots = || orbit.slots.iter().map(|slot| usize::from(*slot));
        let keeps = slots().all(|slot| self.keeps_piece(slot))
            && (!is_last || slots().all(|slot| self.keeps_forbidden(slot)));
        for slot in slots() {
            if let Some((kind, _)) = self.kinds[self.pieces.kind(slot)].take() {
                self.used_kinds[kind] = false;
            }
        }
        Ok(keeps)
    }

    fn keeps_piece(&mut self, slot: usize) -> bool {
        let (pieces, image) = (self.pieces, usize::from(self.images[slot]));
        let period = pieces.period(slot);
        if pieces.period(image) != period {
            return false;
        }
        // The turn by which the image of this piece becomes the piece in the image of the slot.
        let moved =
            relabel((self.factors[slot], pieces.turn(slot)), (self.shifts[slot], 0), period);
        let becomes = (pieces.kind(image), relabel((1, pieces.turn(image)), (0, moved), period));
        match self.kinds[pieces.kind(slot)] {
            Some(known) => known == becomes,
            None => {
                self.kinds[pieces.kind(slot)] = Some(becomes);
                !std::mem::replace(&mut self.used_kinds[becomes.0], true)
            }
        }
    }

    /// Whether the kinds forbidden in a slot become those forbidden in its image. Kinds that the orbit does
    /// not have are ignored.
    fn keeps_forbidden(&self, slot: usize) -> bool {
        let becomes = |kind: &usize| self.kinds[*kind].map(|(kind, _)| kind);
        let (there, here) = (usize::from(self.images[slot]), self.pieces.forbidden(slot));
        let mut images: Vec<usize> = here.iter().filter_map(becomes).collect();
        images.sort_unstable();
        let expected = self.pieces.forbidden(there).iter().filter(|kind| self.used_kinds[**kind]);
        images.iter().eq(expected)
    }
}
