//! Numbering of local parts: the places of tiles 1 to k among the tiles, and the blank's place.
//!
//! Digit t is the number of greater tiles that come before tile t. The sum of all digits of a
//! position, those of the large tiles included, is its number of inversions, whose parity no move
//! changes. So a region has local parts of one parity only, and these have neighbouring numbers.
//! The blank's place is the lowest digit: a move along the order changes the number by one.

/// The numbering for a number of tiles and of small ones among them.
#[derive(Copy, Clone, Debug)]
pub(super) struct Numbering {
    tiles: u8,
    small: u8,
}

impl Numbering {
    pub(super) fn new(tiles: u8, small: u8) -> Numbering {
        Numbering { tiles, small }
    }

    /// Number of values of the last digit for one parity.
    fn half(self) -> u32 {
        (u32::from(self.tiles - self.small) + 1).div_ceil(2)
    }

    /// Number of arrangements of all small tiles but the last.
    fn prefixes(self) -> u32 {
        (1..self.small).map(|t| u32::from(self.tiles + 1 - t)).product()
    }

    /// Number of indices. Some have no local part.
    pub(super) fn len(self) -> u32 {
        2 * self.prefixes() * self.half() * self.squares()
    }

    fn squares(self) -> u32 {
        u32::from(self.tiles) + 1
    }

    /// The index of digits, from tile 1 on, and of the blank's place.
    pub(super) fn index(self, digits: &[u8], blank: u8) -> u32 {
        let parity = digits.iter().map(|digit| u32::from(*digit)).sum::<u32>() & 1;
        let (mut number, last) = (parity, usize::from(self.small - 1));
        for (radix, digit) in (1..=self.tiles).rev().zip(&digits[..last]) {
            number = number * u32::from(radix) + u32::from(*digit);
        }
        number = number * self.half() + u32::from(digits[last]) / 2;
        number * self.squares() + u32::from(blank)
    }

    /// Digits and the blank's place; None for an index without a local part.
    pub(super) fn digits(self, index: u32) -> Option<(Vec<u8>, u8)> {
        let blank = index % self.squares();
        let number = index / self.squares();
        let (mut rest, last) = (number / self.half(), 2 * (number % self.half()));
        let mut digits = Vec::new();
        for t in (1..self.small).rev() {
            let radix = u32::from(self.tiles + 1 - t);
            digits.push((rest % radix) as u8);
            rest /= radix;
        }
        digits.reverse();
        let sum: u32 = digits.iter().map(|digit| u32::from(*digit)).sum();
        let last = last + ((sum ^ rest) & 1);
        digits.push(last as u8);
        (last <= u32::from(self.tiles - self.small)).then_some((digits, blank as u8))
    }

    /// The places of the blank and of tiles 1 to k among all squares; None for an index without a
    /// local part.
    pub(super) fn places(self, index: u32) -> Option<Vec<u8>> {
        let (digits, blank) = self.digits(index)?;
        let others = vec![self.tiles + 1; (self.tiles - self.small).into()];
        let mut reading = insert(&digits, &others);
        reading.insert(blank.into(), 0);
        let place = |tile: u8| reading.iter().position(|at| *at == tile).map(|at| at as u8);
        (0..=self.small).map(place).collect()
    }
}

/// The digits of an order of tiles, for tiles 1 to `small`.
pub(super) fn digits(order: &[u8], small: u8) -> Vec<u8> {
    let digit = |tile: u8| {
        let before = order.iter().take_while(|at| **at != tile);
        before.filter(|at| **at > tile).count() as u8
    };
    (1..=small).map(digit).collect()
}

/// Inserts tiles 1, 2, … into an order of greater tiles, at the places that their digits give.
pub(super) fn insert(digits: &[u8], large: &[u8]) -> Vec<u8> {
    let mut order = large.to_vec();
    for (at, digit) in digits.iter().enumerate().rev() {
        order.insert((*digit).into(), at as u8 + 1);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_local_parts_correspond() {
        for (tiles, small) in [(3, 1), (3, 3), (5, 2), (8, 3), (11, 3)] {
            let numbering = Numbering::new(tiles, small);
            let large: Vec<u8> = (small + 1..=tiles).collect();
            let mut parts = 0;
            for index in 0..numbering.len() {
                let Some((digits, blank)) = numbering.digits(index) else { continue };
                assert_eq!(numbering.index(&digits, blank), index);
                assert_eq!(super::digits(&insert(&digits, &large), small), digits);
                let parity = digits.iter().map(|digit| u32::from(*digit)).sum::<u32>() & 1;
                assert_eq!(index >= numbering.len() / 2, parity == 1, "{digits:?}");
                parts += 1;
            }
            let arrangements: u32 = (0..small).map(|t| u32::from(tiles - t)).product();
            assert_eq!(parts, arrangements * (u32::from(tiles) + 1));
        }
    }
}
