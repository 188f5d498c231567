//! Tiles, stacks of them, columns, moves and symmetries.

use std::fmt;

/// The highest level of all encodings.
pub const MAX_LEVEL: u8 = 15;

const DEPTH: usize = 2 * MAX_LEVEL as usize;

/// The three columns.
pub const COLUMNS: [usize; 3] = [0, 1, 2];

/// The six moves between columns, `(from, to)`; the index is the move kind.
pub const MOVES: [(usize, usize); 6] = [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)];

/// The centre column.
pub(super) const CENTRE: usize = 1;

/// A tile: `2 * level + colour`, blue 0 and orange 1.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Tile(pub u8);

impl Tile {
    /// The tile of a level (from 1) and a colour (blue 0, orange 1).
    pub fn new(level: u8, colour: u8) -> Tile {
        Tile(2 * level + colour)
    }

    /// Level, from 1.
    pub fn level(self) -> u8 {
        self.0 >> 1
    }

    /// Blue 0, orange 1.
    pub fn colour(self) -> u8 {
        self.0 & 1
    }

    /// The tile of the other colour.
    #[must_use]
    pub fn swapped(self) -> Tile {
        Tile(self.0 ^ 1)
    }
}

impl fmt::Display for Tile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", ["b", "o"][self.colour() as usize], self.level())
    }
}

/// A stack of items, top first, at most 30.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct Stack<T> {
    len: u8,
    items: [T; DEPTH],
}

impl<T: Copy + Default> Default for Stack<T> {
    fn default() -> Self {
        Stack { len: 0, items: [T::default(); DEPTH] }
    }
}

impl<T: Copy + Default> Stack<T> {
    /// Items, top first.
    pub fn items(&self) -> &[T] {
        &self.items[..self.len as usize]
    }

    /// Puts an item on top.
    pub fn push(&mut self, item: T) {
        self.items.copy_within(..self.len as usize, 1);
        self.items[0] = item;
        self.len += 1;
    }

    /// Puts an item below all others.
    pub fn push_below(&mut self, item: T) {
        self.items[self.len as usize] = item;
        self.len += 1;
    }

    /// Takes the top item away.
    pub fn pop(&mut self) -> Option<T> {
        let top = *self.items().first()?;
        self.items.copy_within(1..self.len as usize, 0);
        self.len -= 1;
        self.items[self.len as usize] = T::default();
        Some(top)
    }

    /// The same stack with every item changed.
    #[must_use]
    pub fn map(&self, change: impl Fn(T) -> T) -> Self {
        let mut mapped = *self;
        for item in &mut mapped.items[..self.len as usize] {
            *item = change(*item);
        }
        mapped
    }
}

/// A symmetry of the puzzle: identity, mirror `'` (swap the columns L and R), star `*` (swap the
/// colours), or both. They commute, and each is its own inverse.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Symmetry(u8);

impl Symmetry {
    /// Nothing changes.
    pub const IDENTITY: Symmetry = Symmetry(0);
    /// `'`: the columns L and R swapped.
    pub const MIRROR: Symmetry = Symmetry(1);
    /// `*`: the colours swapped.
    pub const STAR: Symmetry = Symmetry(2);
    /// `*'`: the symmetry that fixes the towers.
    pub const BOTH: Symmetry = Symmetry(3);
    /// All four.
    pub const ALL: [Symmetry; 4] = [Self::IDENTITY, Self::MIRROR, Self::STAR, Self::BOTH];

    /// The number of the symmetry, 0 to 3.
    pub fn number(self) -> u8 {
        self.0
    }

    /// The symmetry with that [`Self::number`].
    pub fn from_number(number: u8) -> Symmetry {
        Symmetry(number & 3)
    }

    /// Both symmetries, one after the other in either order.
    #[must_use]
    pub fn then(self, other: Symmetry) -> Symmetry {
        Symmetry(self.0 ^ other.0)
    }

    /// The image of a column.
    pub fn column(self, column: usize) -> usize {
        if self.0 & 1 == 0 { column } else { 2 - column }
    }

    /// Whether the colours are swapped.
    pub fn swaps_colours(self) -> bool {
        self.0 & 2 != 0
    }
}
