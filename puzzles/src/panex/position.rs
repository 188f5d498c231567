//! Positions as three stacks of tiles: rules, symmetries and the text form.

use std::fmt;

use super::tokens::{CentreTop, Tokens};

/// The highest level any encoding here holds.
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

    /// 0..4.
    pub fn number(self) -> u8 {
        self.0
    }

    /// The symmetry with that [`Self::number`].
    pub fn from_number(number: u8) -> Symmetry {
        Symmetry(number & 3)
    }

    /// One after the other, in either order.
    #[must_use]
    pub fn then(self, other: Symmetry) -> Symmetry {
        Symmetry(self.0 ^ other.0)
    }

    /// Where a column goes.
    pub fn column(self, column: usize) -> usize {
        if self.0 & 1 == 0 { column } else { 2 - column }
    }

    /// Whether the colours are swapped.
    pub fn swaps_colours(self) -> bool {
        self.0 & 2 != 0
    }
}

/// Three stacks of tiles: L, C, R.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Position {
    /// L, C and R, top first.
    pub columns: [Stack<Tile>; 3],
}

impl Position {
    /// The blue tower 1..=level on L, the orange one on R.
    pub fn start(level: u8) -> Position {
        let mut position = Position::default();
        for l in 1..=level {
            position.columns[0].push_below(Tile::new(l, 0));
            position.columns[2].push_below(Tile::new(l, 1));
        }
        position
    }

    /// The start with the colours exchanged.
    pub fn goal(level: u8) -> Position {
        Position::start(level).image(Symmetry::STAR)
    }

    /// The image under a symmetry.
    #[must_use]
    pub fn image(&self, symmetry: Symmetry) -> Position {
        let mut image = Position::default();
        for column in COLUMNS {
            let stack = self.columns[symmetry.column(column)];
            image.columns[column] =
                if symmetry.swaps_colours() { stack.map(Tile::swapped) } else { stack };
        }
        image
    }

    /// Whether every tile has few enough above it.
    pub fn is_legal(&self, centre_top: CentreTop) -> bool {
        COLUMNS.into_iter().all(|column| {
            let mut tiles = (0..).zip(self.columns[column].items());
            tiles.all(|(above, tile)| above <= centre_top.limit(tile.level(), column))
        })
    }

    /// The positions behind all legal moves.
    pub fn moves(&self, centre_top: CentreTop) -> Vec<Position> {
        MOVES.into_iter().filter_map(|mv| self.moved(mv, centre_top)).collect()
    }

    /// The position behind one move, if it is legal.
    pub fn moved(&self, (from, to): (usize, usize), centre_top: CentreTop) -> Option<Position> {
        // A tile with as many tiles above it as its level stands in a column that is full up to
        // the track; in the centre that cuts L off from R.
        let mut centre = (0..).zip(self.columns[CENTRE].items());
        let blocked = centre.any(|(above, tile): (u8, _)| above == tile.level());
        if blocked && from != CENTRE && to != CENTRE {
            return None;
        }
        let mut next = *self;
        let tile = next.columns[from].pop()?;
        next.columns[to].push(tile);
        next.is_legal(centre_top).then_some(next)
    }

    /// The position in two parts: tiles of a level above `k`, and where the others are among
    /// them (a marker for each larger tile that has a smaller one below it).
    pub fn split(&self, k: u8) -> (Position, Tokens) {
        let mut large = Position::default();
        let mut small = Tokens::default();
        for column in COLUMNS {
            let items = self.columns[column].items();
            let lowest = items.iter().rposition(|tile| tile.level() <= k);
            for (at, tile) in items.iter().enumerate() {
                let is_small = tile.level() <= k;
                if !is_small {
                    large.columns[column].push_below(*tile);
                }
                if lowest.is_some_and(|lowest| at <= lowest) {
                    let token = is_small.then_some(*tile);
                    small.columns[column] = small.columns[column].with_below(token);
                }
            }
        }
        (large, small)
    }

    /// Undoes [`Self::split`].
    pub fn join(large: &Position, small: &Tokens) -> Position {
        let mut whole = Position::default();
        for column in COLUMNS {
            let mut rest = large.columns[column].items().iter();
            for tile in small.columns[column].items() {
                if let Some(tile) = tile.or_else(|| rest.next().copied()) {
                    whole.columns[column].push_below(tile);
                }
            }
            for tile in rest {
                whole.columns[column].push_below(*tile);
            }
        }
        whole
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (column, stack) in self.columns.iter().enumerate() {
            if column > 0 {
                f.write_str(" / ")?;
            }
            if stack.items().is_empty() {
                f.write_str("-")?;
            }
            for (at, tile) in stack.items().iter().enumerate() {
                write!(f, "{}{tile}", if at > 0 { " " } else { "" })?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn start_reads_as_in_the_docs() {
        assert_eq!(Position::start(3).to_string(), "b1 b2 b3 / - / o1 o2 o3");
        assert_eq!(Position::goal(2).to_string(), "o1 o2 / - / b1 b2");
    }

    #[test]
    fn symmetries_form_the_klein_group() {
        let start = Position::start(4);
        assert_eq!(start.image(Symmetry::BOTH), start);
        assert_eq!(start.image(Symmetry::MIRROR), Position::goal(4));
        for a in Symmetry::ALL {
            assert_eq!(a.then(a), Symmetry::IDENTITY);
            for b in Symmetry::ALL {
                assert_eq!(start.image(a).image(b), start.image(a.then(b)));
            }
        }
    }

    #[test]
    fn splitting_loses_nothing() {
        let mut position = Position::start(5);
        // b1..b3 to the right, b4 over them, b2 back: small tiles under large ones.
        for (from, to) in [(0, 2), (0, 1), (2, 0), (2, 0), (0, 1)] {
            let tile = position.columns[from].pop().unwrap();
            position.columns[to].push(tile);
        }
        for k in 0..=5 {
            let (large, small) = position.split(k);
            assert_eq!(Position::join(&large, &small), position, "k = {k}");
        }
    }
}
