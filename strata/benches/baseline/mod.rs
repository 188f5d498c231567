//! Baseline for benchmarks of the explicit engine: a plain search of the same Panex states that sorts
//! each layer's successors in memory. It has one thread and no files, and shares no code with the
//! engine.

/// A position as one number: five bits per tile, each column closed by a zero.
type Key = u128;

const TILE_BITS: u32 = 5;
const COLUMN_END: u8 = 0;
const CENTRE: usize = 1;

/// The largest level whose 2n tiles and three column ends fit a [`Key`].
const MAX_LEVEL: u8 = 11;

/// Searches Panex of level `n` from the start until the search meets its mirror image. Returns the
/// length of a shortest solution and the number of states in all layers. A position and its image
/// under "swap the side columns and the colours" count as one state.
pub(crate) fn sorted_vec_search(n: u8) -> (u32, u64) {
    assert!((1..=MAX_LEVEL).contains(&n), "level {n} does not fit a key");
    let mut before: Vec<Key> = Vec::new();
    let mut layer = vec![Position::start(n).class_key()];
    let mut successors: Vec<Key> = Vec::new();
    let mut states = 1;
    let mut depth = 0;
    loop {
        successors.clear();
        for &key in &layer {
            Position::from_key(key).expand(&mut successors);
        }
        successors.sort_unstable();
        successors.dedup();
        let next = subtract(&successors, &layer, &before);
        assert!(!next.is_empty(), "the space is connected");
        depth += 1;
        states += next.len() as u64;
        match meeting(&next, &layer) {
            Some(Meeting::Previous) => return (2 * depth - 1, states),
            Some(Meeting::Same) => return (2 * depth, states),
            None => {}
        }
        before = std::mem::replace(&mut layer, next);
    }
}

/// The keys of `sorted` that are in neither of two other sorted lists.
fn subtract(sorted: &[Key], first: &[Key], second: &[Key]) -> Vec<Key> {
    let mut first = first.iter().copied().peekable();
    let mut second = second.iter().copied().peekable();
    let mut left = Vec::new();
    for &key in sorted {
        while first.next_if(|&other| other < key).is_some() {}
        while second.next_if(|&other| other < key).is_some() {}
        if first.peek() != Some(&key) && second.peek() != Some(&key) {
            left.push(key);
        }
    }
    left
}

/// The layer in which the mirror image of the newest layer meets the search.
enum Meeting {
    /// The layer before the newest.
    Previous,
    /// The newest layer itself.
    Same,
}

fn meeting(newest: &[Key], previous: &[Key]) -> Option<Meeting> {
    let mut met = None;
    for &key in newest {
        let mirrored = Position::from_key(key).mirrored().class_key();
        if previous.binary_search(&mirrored).is_ok() {
            return Some(Meeting::Previous);
        }
        if newest.binary_search(&mirrored).is_ok() {
            met = Some(Meeting::Same);
        }
    }
    met
}

/// A column, bottom first. A tile is twice its level, plus one if it is orange. The bottom tile
/// bears at most as many tiles as its level says.
#[derive(Clone, Copy, Default)]
struct Column {
    tiles: [u8; MAX_LEVEL as usize + 1],
    height: usize,
}

impl Column {
    fn push(&mut self, tile: u8) {
        self.tiles[self.height] = tile;
        self.height += 1;
    }

    fn pop(&mut self) -> Option<u8> {
        self.height = self.height.checked_sub(1)?;
        Some(self.tiles[self.height])
    }

    fn tiles(&self) -> &[u8] {
        &self.tiles[..self.height]
    }

    /// Number of tiles that may still be put on top, so that no tile has more above it than its level.
    fn room(&self) -> u8 {
        let slack = self.tiles().iter().rev().zip(0..).map(|(&tile, above)| tile / 2 - above);
        slack.min().unwrap_or(u8::MAX)
    }
}

#[derive(Clone, Copy)]
struct Position([Column; 3]);

impl Position {
    fn start(n: u8) -> Position {
        let mut columns = [Column::default(); 3];
        for level in (1..=n).rev() {
            columns[0].push(2 * level);
            columns[2].push(2 * level + 1);
        }
        Position(columns)
    }

    fn mirrored(mut self) -> Position {
        self.0.swap(0, 2);
        self
    }

    fn from_key(mut key: Key) -> Position {
        let mut columns = [Column::default(); 3];
        for column in &mut columns {
            loop {
                let tile = (key & ((1 << TILE_BITS) - 1)) as u8;
                key >>= TILE_BITS;
                if tile == COLUMN_END {
                    break;
                }
                column.push(tile);
            }
        }
        Position(columns)
    }

    /// The smaller of the keys of the position and of its image with side columns and colours swapped.
    fn class_key(&self) -> Key {
        let [left, centre, right] = &self.0;
        pack([left, centre, right], 0).min(pack([right, centre, left], 1))
    }

    /// Appends the key of each position one legal move away.
    fn expand(mut self, successors: &mut Vec<Key>) {
        let room = self.0.map(|column| column.room());
        for from in 0..3 {
            let Some(tile) = self.0[from].pop() else {
                continue;
            };
            for (to, &room) in room.iter().enumerate() {
                // One place of the centre stays free: a tile on its top layer would block the
                // track.
                let needed = if to == CENTRE { 2 } else { 1 };
                if to != from && room >= needed {
                    self.0[to].push(tile);
                    successors.push(self.class_key());
                    self.0[to].pop();
                }
            }
            self.0[from].push(tile);
        }
    }
}

/// The key of three columns, their tiles' colours swapped if `recolour` is 1.
fn pack(columns: [&Column; 3], recolour: u8) -> Key {
    let mut key = 0;
    for column in columns.into_iter().rev() {
        key <<= TILE_BITS;
        for &tile in column.tiles().iter().rev() {
            key = key << TILE_BITS | Key::from(tile ^ recolour);
        }
    }
    key
}
