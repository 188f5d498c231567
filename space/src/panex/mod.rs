//! The Panex puzzle.
//!
//! A state is three stacks of tiles, two of each level 1..=n; a tile of level l may have at most
//! l tiles above it (in the centre fewer, while its top layer is out of bounds). The region is
//! the arrangement of the tiles of levels above k, the local part where the others are.
//!
//! Symmetry: the mirror `'` and the colour swap `*` preserve moves, and `*'` fixes the start. So
//! the search, which grows from the start only, meets whole classes {x, x*'}. A class is stored
//! as its orbit {x, x*, x', x*'} and a side bit that tells which of the orbit's two classes it
//! is; the goal being the start's mirror image, the two searches have met when both sides of one
//! orbit are reached (Manasse, Sleator, Wei, Baxter: "The Panex Puzzle", section on the program).

mod bounds;
mod class;
mod free;
mod numbering;
mod position;
mod tokens;

pub use bounds::upper_bound;
pub use class::Class;
pub use position::{COLUMNS, DOORS, MAX_LEVEL, Position, Stack, Symmetry, Tile};
pub use tokens::{CentreTop, Column, Config, Tokens};

use crate::digest::mix;
use crate::{
    ClassKey, Crossing, Door, Finish, Local, OpenDoors, RegionKey, SideWeights, SpaceError, State,
    StateSpace, Tabled, Weight,
};
use numbering::Numbering;

/// Tiles of a region key take 5 bits each; with two separators 128 bits hold 23 tiles.
const TILE_BITS: u32 = 5;

/// How many levels a region key holds: n - k is at most this.
pub const MAX_LARGE_LEVELS: u8 = 11;

/// k is at most this: a class of k = 5 would have several million local parts.
pub const MAX_K: u8 = 4;

/// Whether symmetric states are identified.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum SymmetryUse {
    /// Store orbits with side bits; stop where the two searches meet.
    On,
    /// Store every position; search from the start to the goal.
    Off,
}

/// What is searched.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct PanexConfig {
    /// Level n of the puzzle, from 1.
    pub level: u8,
    /// Tiles of levels up to k are the local part.
    pub k: u8,
    /// Tiles of levels above s choose the shard; at least k.
    pub s: u8,
    /// Whether symmetric states are identified.
    pub symmetry: SymmetryUse,
    /// Whether a tile may stand on the centre column's layer 0.
    pub centre_top: CentreTop,
    /// List the whole reachable space instead of stopping at the goal.
    pub exhaust: bool,
}

impl PanexConfig {
    /// The default k.
    pub const DEFAULT_K: u8 = 3;

    /// The default search of a level.
    pub fn new(level: u8) -> PanexConfig {
        PanexConfig {
            level,
            k: Self::DEFAULT_K,
            s: Self::default_s(level, Self::DEFAULT_K),
            symmetry: SymmetryUse::On,
            centre_top: CentreTop::Forbid,
            exhaust: false,
        }
    }

    /// The default of s: min(5, n - 3), but at least k and at most n.
    pub fn default_s(level: u8, k: u8) -> u8 {
        level.saturating_sub(3).min(5).max(k).min(level.max(k))
    }
}

/// The Panex state space.
#[derive(Debug)]
pub struct Panex {
    config: PanexConfig,
    /// Levels of the local part: k, or n where that is less.
    small: u8,
    /// The symmetries by which states are identified.
    group: &'static [Symmetry],
    locals: Numbering,
}

impl Panex {
    /// Checks a configuration.
    ///
    /// # Errors
    /// If the level is 0, a setting is out of range, or the keys cannot hold the level.
    pub fn new(config: PanexConfig) -> Result<Panex, SpaceError> {
        let PanexConfig { level, k, s, .. } = config;
        SpaceError::check("k", k.into(), 1, MAX_K.into())?;
        SpaceError::check("level", level.into(), 1, (k + MAX_LARGE_LEVELS).min(MAX_LEVEL).into())?;
        SpaceError::check("s", s.into(), k.into(), level.max(k).into())?;
        let group: &[Symmetry] = match config.symmetry {
            SymmetryUse::Off => &Symmetry::ALL[..1],
            // With both tiles of level 1 in the centre a class is its own mirror image, here
            // only; an exhaustive search does without the mirror.
            SymmetryUse::On
                if level == 1 && config.centre_top == CentreTop::Allow && config.exhaust =>
            {
                &[Symmetry::IDENTITY, Symmetry::BOTH]
            }
            SymmetryUse::On => &Symmetry::ALL,
        };
        let small = k.min(level);
        Ok(Panex { config, small, group, locals: Numbering::new(small, config.centre_top) })
    }

    /// What is searched.
    pub fn config(&self) -> PanexConfig {
        self.config
    }

    /// The canonical state of a position, or None if the position is not legal.
    pub fn locate(&self, position: &Position) -> Option<State> {
        let (large, small) = position.split(self.small);
        let (region, symmetry) = self.canonical_region(&large);
        let class = self.class(self.class_key(region));
        let small = small.image(symmetry);
        if !class.allows(&small) {
            return None;
        }
        let index = self.locals.index(&small)?;
        Some(State { region, local: self.fold(&class, index << 1 | symmetry.side()) })
    }

    /// A position the state stands for.
    pub fn position(&self, state: State) -> Position {
        let large = self.arrangement(state.region);
        let position = Position::join(&large, self.locals.tokens(state.local >> 1));
        if state.local & 1 == 0 { position } else { position.image(Symmetry::MIRROR) }
    }

    /// Columns bottom first, so that neighbours in key order differ in their topmost tiles.
    fn region_key(&self, large: &Position) -> RegionKey {
        let mut key = 0;
        for column in COLUMNS {
            for tile in large.columns[column].items().iter().rev() {
                key = key << TILE_BITS | u128::from(tile.0 - 2 * self.small - 1);
            }
            if column < 2 {
                key <<= TILE_BITS;
            }
        }
        RegionKey(key)
    }

    fn arrangement(&self, region: RegionKey) -> Position {
        let symbols = 2 * u32::from(self.config.level - self.small) + 2;
        let mut large = Position::default();
        let mut column = 0;
        for at in (0..symbols).rev() {
            let symbol = (region.0 >> (TILE_BITS * at)) as u8 & 31;
            if symbol == 0 {
                column = (column + 1).min(2);
            } else {
                large.columns[column].push(Tile(symbol + 2 * self.small + 1));
            }
        }
        large
    }

    /// The least image's key, and a symmetry that leads there.
    fn canonical_region(&self, large: &Position) -> (RegionKey, Symmetry) {
        let images = self.group.iter().map(|s| (self.region_key(&large.image(*s)), *s));
        images.min_by_key(|(key, _)| *key).unwrap_or((self.region_key(large), Symmetry::IDENTITY))
    }

    fn images(&self, side: usize) -> impl Iterator<Item = Symmetry> {
        self.group.iter().copied().filter(move |s| s.side() as usize == side)
    }
}

/// The product of the weights of some levels' configurations.
fn weigh(position: &Position, levels: impl Iterator<Item = u8>) -> Weight {
    let items = |l: u8| {
        COLUMNS.map(move |c| {
            position.columns[c].items().iter().map(move |t| (t.level() <= l).then_some(*t))
        })
    };
    let weights = levels.map(|l| Weight::hash(Config::find(l, items(l)).word(l)));
    weights.fold(Weight::ONE, |product, weight| product * weight)
}

impl StateSpace for Panex {
    fn seeds(&self) -> Vec<State> {
        self.locate(&Position::start(self.config.level)).into_iter().collect()
    }

    fn finish(&self) -> Finish {
        if self.config.exhaust {
            return Finish::Exhausted;
        }
        match self.config.symmetry {
            SymmetryUse::On => Finish::Meeting,
            SymmetryUse::Off => self
                .locate(&Position::goal(self.config.level))
                .map_or(Finish::Exhausted, Finish::State),
        }
    }

    fn moves(&self, state: State, out: &mut Vec<State>) {
        let moves = self.position(state).moves(self.config.centre_top);
        out.extend(moves.iter().filter_map(|position| self.locate(position)));
    }

    fn shard_hash(&self, region: RegionKey) -> u64 {
        let large = self.arrangement(region);
        let (coarse, _) = large.split(self.config.s.max(self.small));
        let keys = Symmetry::ALL.map(|s| self.region_key(&coarse.image(s)).0);
        let least = keys.into_iter().min().unwrap_or_default();
        mix(mix(least as u64) ^ (least >> 64) as u64)
    }

    fn weight(&self, state: State) -> Weight {
        let levels = 1..=self.config.level;
        let position = self.position(state);
        let other = position.image(Symmetry::BOTH);
        let both = self.group.contains(&Symmetry::BOTH) && other != position;
        let second = if both { weigh(&other, levels.clone()) } else { Weight::ZERO };
        weigh(&position, levels) + second
    }

    fn text(&self, state: State) -> String {
        self.position(state).to_string()
    }
}

impl Tabled for Panex {
    const DOORS: Door = DOORS.len() as Door;
    const SYMMETRIES: u8 = Symmetry::ALL.len() as u8;

    type Class = Class;

    fn indices(&self) -> u32 {
        self.locals.len()
    }

    fn inside(&self, index: u32, door: Door) -> Option<u32> {
        let (from, to) = DOORS[usize::from(door)];
        self.locals.index(&self.locals.tokens(index).move_tile(from, to)?)
    }

    fn carry(&self, index: u32, door: Door, symmetry: u8) -> Local {
        let symmetry = Symmetry::from_number(symmetry);
        let (from, to) = DOORS[usize::from(door)];
        let tokens = self.locals.tokens(index).move_marker(from, to).image(symmetry);
        let index = self.locals.index(&tokens);
        debug_assert!(index.is_some(), "a legal exit enters a legal local part");
        index.unwrap_or_default() << 1 | symmetry.side()
    }

    fn class_key(&self, region: RegionKey) -> ClassKey {
        let large = self.arrangement(region);
        let fixing = self.group.iter().filter(|s| self.region_key(&large.image(**s)) == region);
        let stabiliser = fixing.fold(0, |bits, s| bits | 1 << s.number());
        Class::key(&large, self.small, self.config.centre_top, stabiliser)
    }

    fn class(&self, key: ClassKey) -> Class {
        Class::new(key, self.small, self.config.centre_top)
    }

    fn open(&self, class: &Class, index: u32) -> OpenDoors {
        class.open_doors(self.locals.tokens(index))
    }

    fn folds(&self, class: &Class) -> bool {
        class.is_symmetric()
    }

    /// The smallest local over the symmetries that fix the region.
    fn fold(&self, class: &Class, local: Local) -> Local {
        let tokens = self.locals.tokens(local >> 1);
        let image = |s: Symmetry| Some(self.locals.index(&tokens.image(s))? << 1 | s.side());
        let folded = class.stabiliser().filter_map(image).min();
        folded.map_or(local, |folded| folded ^ local & 1)
    }

    fn is_fixed(&self, class: &Class, index: u32) -> bool {
        let tokens = self.locals.tokens(index);
        let mut symmetries = class.stabiliser();
        symmetries.any(|s| s == Symmetry::BOTH) && tokens.image(Symmetry::BOTH) == *tokens
    }

    fn crossing(&self, region: RegionKey, door: Door) -> Crossing {
        let mut large = self.arrangement(region);
        let (from, to) = DOORS[usize::from(door)];
        if let Some(tile) = large.columns[from].pop() {
            large.columns[to].push(tile);
        }
        let (target, symmetry) = self.canonical_region(&large);
        Crossing { target, symmetry: symmetry.number() }
    }

    fn region_weights(&self, region: RegionKey) -> SideWeights {
        let large = self.arrangement(region);
        side_weights(|side| {
            let images = self.images(side);
            images.map(|s| weigh(&large.image(s), self.small + 1..=self.config.level)).collect()
        })
    }

    fn local_weights(&self, index: u32) -> SideWeights {
        let tokens = self.locals.tokens(index);
        let config = |l| (l, Config::find(l, tokens.columns.map(Column::items)));
        let configs: Vec<(u8, Config)> = (1..=self.small).map(config).collect();
        side_weights(|side| {
            let weight = |s: Symmetry| {
                let weights =
                    configs.iter().map(|(l, config)| Weight::hash(config.image(s).word(*l)));
                weights.fold(Weight::ONE, |product, weight| product * weight)
            };
            self.images(side).map(weight).collect()
        })
    }

    fn bytes(&self) -> usize {
        self.locals.bytes()
    }
}

fn side_weights(weights: impl Fn(usize) -> Vec<Weight>) -> SideWeights {
    [0, 1].map(|side| {
        let mut images = [Weight::ZERO; 2];
        for (slot, weight) in images.iter_mut().zip(weights(side)) {
            *slot = weight;
        }
        images
    })
}

#[cfg(test)]
mod tests;
