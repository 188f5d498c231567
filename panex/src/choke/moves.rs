//! Moves of the puzzle, a byte each.

/// A move of the top tile of one column onto another. Columns are 0 (L), 1 (C) and 2 (R).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Move(u8);

impl Move {
    /// All six moves.
    pub const ALL: [Self; 6] = [
        Self::new(0, 1),
        Self::new(0, 2),
        Self::new(1, 0),
        Self::new(1, 2),
        Self::new(2, 0),
        Self::new(2, 1),
    ];

    const fn new(from: u8, to: u8) -> Self {
        Self(from * 3 + to)
    }

    /// The column the tile leaves.
    pub fn from(self) -> usize {
        usize::from(self.0 / 3)
    }

    /// The column the tile is put on.
    pub fn to(self) -> usize {
        usize::from(self.0 % 3)
    }

    /// The same move with L and R exchanged.
    pub fn mirror(self) -> Self {
        Self(8 - self.0)
    }

    /// The move that undoes this one.
    pub fn reverse(self) -> Self {
        Self::new(self.0 % 3, self.0 / 3)
    }
}

impl std::fmt::Debug for Move {
    /// The two columns, such as `LC`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = |column: usize| ["L", "C", "R"][column];
        write!(f, "{}{}", name(self.from()), name(self.to()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mirror_and_reverse() {
        for m in Move::ALL {
            assert_ne!(m.from(), m.to());
            assert_eq!((m.reverse().from(), m.reverse().to()), (m.to(), m.from()));
            assert_eq!((m.mirror().from(), m.mirror().to()), (2 - m.from(), 2 - m.to()));
        }
        assert_eq!(format!("{:?}", Move::ALL), "[LC, LR, CL, CR, RL, RC]");
    }
}
