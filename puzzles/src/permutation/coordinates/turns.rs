//! The coordinate of the turns in an orbit's slots.

/// Turns of slots as digits of a number. If their sum is fixed, the last follows from the others.
#[derive(Clone, Debug)]
pub(super) struct Turns {
    slots: usize,
    orientations: u8,
    sum: Option<u8>,
    /// By coordinate, the turns.
    all: Vec<u8>,
}

impl Turns {
    /// The turns of `slots` slots. `sum` is the sum of turns, modulo the orientations, that all states have,
    /// if moves keep it. None if there are more than 2^16 values.
    pub(super) fn new(slots: usize, orientations: u8, sum: Option<u8>) -> Option<Turns> {
        let mut turns = Turns { slots, orientations, sum, all: Vec::new() };
        let size = u32::from(orientations).checked_pow(turns.digits() as u32)?;
        if size > 1 << u16::BITS {
            return None;
        }
        turns.all = (0..size).flat_map(|value| turns.unrank(value)).collect();
        Some(turns)
    }

    fn digits(&self) -> usize {
        self.slots - usize::from(self.sum.is_some())
    }

    /// Number of values.
    pub(super) fn size(&self) -> u32 {
        (self.all.len() / self.slots) as u32
    }

    /// The coordinate of turns; None if their sum is another.
    pub(super) fn rank(&self, turns: &[u8]) -> Option<u16> {
        let sum: u32 = turns.iter().map(|turn| u32::from(*turn)).sum();
        let is_possible =
            self.sum.is_none_or(|fixed| sum % u32::from(self.orientations) == u32::from(fixed));
        is_possible.then_some(self.digits_of(turns))
    }

    /// The coordinate of turns whose sum is the fixed one.
    #[inline]
    pub(super) fn digits_of(&self, turns: &[u8]) -> u16 {
        let digits = turns[..self.digits()].iter();
        digits.fold(0, |rank, turn| rank * u32::from(self.orientations) + u32::from(*turn)) as u16
    }

    /// The turns of a coordinate.
    #[inline]
    pub(super) fn of(&self, coordinate: u16) -> &[u8] {
        &self.all[usize::from(coordinate) * self.slots..][..self.slots]
    }

    fn unrank(&self, mut rank: u32) -> Vec<u8> {
        let orientations = u32::from(self.orientations);
        let (mut turns, mut sum) = (vec![0; self.slots], 0);
        for turn in turns[..self.digits()].iter_mut().rev() {
            *turn = (rank % orientations) as u8;
            sum += rank % orientations;
            rank /= orientations;
        }
        if let (Some(fixed), Some(last)) = (self.sum, turns.last_mut()) {
            *last = ((u32::from(fixed) + orientations - sum % orientations) % orientations) as u8;
        }
        turns
    }

    /// The value after a move, by value. By slot, `images` has the slot that its piece comes from, and
    /// `turned` how it is turned on the way. The move keeps the sum if it is fixed.
    pub(super) fn action(&self, images: &[u8], turned: &[u8]) -> Vec<u16> {
        let after = |turns: &[u8]| {
            let next: Vec<u8> = images
                .iter()
                .zip(turned)
                .map(|(from, turn)| {
                    let sum = u16::from(turns[usize::from(*from)]) + u16::from(*turn);
                    (sum % u16::from(self.orientations)) as u8
                })
                .collect();
            // A move keeps the sum: otherwise it would not be fixed.
            self.rank(&next).unwrap_or_default()
        };
        self.all.chunks(self.slots).map(after).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_digits_and_moves_act_on_them() {
        for (slots, orientations, sum) in
            [(8, 3, Some(0)), (5, 4, Some(3)), (12, 2, Some(1)), (6, 3, None)]
        {
            let turns = Turns::new(slots, orientations, sum).unwrap();
            let size = turns.size();
            let mut images: Vec<u8> = (0..slots as u8).collect();
            images.rotate_left(2);
            let mut turned = vec![1; slots];
            // The move must not change the sum.
            let others = (slots - 1) as u8 % orientations;
            turned[0] = (orientations - others) % orientations;
            let action = turns.action(&images, &turned);
            assert_eq!(action.len() as u32, size);
            for value in (0..size as u16).step_by(7) {
                let before = turns.of(value);
                assert_eq!(turns.rank(before), Some(value));
                let after = turns.of(action[usize::from(value)]);
                for slot in 0..slots {
                    let from = before[usize::from(images[slot])];
                    assert_eq!(after[slot], (from + turned[slot]) % orientations);
                }
            }
            let other = sum.map(|_| turns.of(0).to_vec()).map(|mut turns| {
                turns[0] = (turns[0] + 1) % orientations;
                turns
            });
            assert!(other.is_none_or(|other| turns.rank(&other).is_none()));
        }
    }
}
