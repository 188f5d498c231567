//! The Panex puzzle.
//!
//! A state is three stacks of tiles, two of each level 1..=n; a tile of level l may have at most
//! l tiles above it (in the centre fewer, while its top layer is out of bounds). The region is
//! the arrangement of the tiles of levels above k, the local part where the others are.
//!
//! Symmetry: the mirror `'` and the colour swap `*` preserve moves, and `*'` fixes the towers. So
//! the search, which grows from the start only, meets whole classes {x, x*'}. A class is stored
//! as its orbit {x, x*, x', x*'} and a side bit that tells which of the orbit's two classes it
//! is; the goal being the start's mirror image, the two searches have met when both sides of one
//! orbit are reached (Manasse, Sleator, Wei, Baxter: "The Panex Puzzle", section on the program).
//!
//! Between two other positions only the symmetries are used that fix or exchange them, which
//! mostly are none: the search then grows from both, and the side bit says from which.

mod bounds;
mod free;
mod group;
mod nested;
mod numbering;
mod position;
mod puzzle;
mod route;
mod tables;
mod text;
mod tokens;

pub use bounds::upper_bound;
pub use group::End;
pub use nested::NestedPanex;
pub use position::{COLUMNS, MAX_LEVEL, MOVES, Position, Stack, Symmetry, Tile};
pub use tables::Class;
pub use text::PositionError;
pub use tokens::{CentreTop, Column, Config, Tokens};

use group::Group;
use numbering::Numbering;
use strata_space::mix;
use strata_space::{
    Chain, EdgeTarget, ExitEdge, Finish, InsideSuccessors, LegalMoves, Local, MoveKind, RegionKey,
    SpaceError, State, StateSpace, Tabled, Weight,
};
use tables::{GUARD, Tables, UNLIMITED, lanes, moves_from, pack};

/// Tiles of a region key take 5 bits each; with two separators 128 bits hold 23 tiles.
const TILE_BITS: u32 = 5;

/// How many levels a region key holds: n - k is at most this.
pub const MAX_LARGE_LEVELS: u8 = 11;

/// k is at most this: k = 3 makes 25,200 local parts (70,560 with the centre's top layer), whose
/// tables fit into the processor's cache, k = 4 would make more than a million.
pub const MAX_K: u8 = 3;

/// Whether symmetric states are identified.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum SymmetryUse {
    /// Store orbits with side bits; stop where the searches from both ends meet.
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
    /// Where the search begins, if not at the towers: a legal position of the level.
    pub start: Option<Position>,
    /// Where it ends, if not at the exchanged towers.
    pub goal: Option<Position>,
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
            start: None,
            goal: None,
        }
    }

    /// Checks level, k and s.
    ///
    /// # Errors
    /// If the level is 0, a setting is out of range, or the keys cannot hold the level.
    pub fn check(&self) -> Result<(), SpaceError> {
        let PanexConfig { level, k, s, .. } = *self;
        SpaceError::check("k", k.into(), 1, MAX_K.into())?;
        SpaceError::check("level", level.into(), 1, (k + MAX_LARGE_LEVELS).min(MAX_LEVEL).into())?;
        SpaceError::check("s", s.into(), k.into(), level.max(k).into())
    }

    /// Whether the towers are to be exchanged.
    pub fn exchanges_towers(&self) -> bool {
        self.start.is_none() && self.goal.is_none()
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
    start: Position,
    goal: Position,
    /// The symmetries by which states are identified.
    group: Group,
    locals: Numbering,
    tables: Tables,
}

impl Panex {
    /// Checks a configuration.
    ///
    /// # Errors
    /// As [`PanexConfig::check`], or if an end is not a legal position of the level, is one that the
    /// centre's top layer is forbidden for, or is a goal of an exhaustive search.
    pub fn new(mut config: PanexConfig) -> Result<Panex, SpaceError> {
        config.check()?;
        let PanexConfig { level, k, .. } = config;
        let (towers, exchanged) = (Position::start(level), Position::goal(level));
        config.start = config.start.filter(|start| *start != towers);
        config.goal = config.goal.filter(|goal| *goal != exchanged);
        let (start, goal) = (config.start.unwrap_or(towers), config.goal.unwrap_or(exchanged));
        for (name, end) in [("start", &start), ("goal", &goal)] {
            check_end(name, end, &config)?;
        }
        if config.exhaust && config.goal.is_some() {
            return Err(SpaceError::Conflict {
                name: "goal".into(),
                why: "a search of the whole space has none".into(),
            });
        }
        let group = match config.symmetry {
            SymmetryUse::Off => Group::TRIVIAL,
            // With both tiles of level 1 in the centre a class is its own mirror image, here
            // only; an exhaustive search does without the mirror.
            SymmetryUse::On
                if level == 1 && config.centre_top == CentreTop::Allow && config.exhaust =>
            {
                Group::of(&start, &goal).without_exchanges()
            }
            SymmetryUse::On => Group::of(&start, &goal),
        };
        let small = k.min(level);
        let locals = Numbering::new(small, config.centre_top);
        let tables = Tables::new(&locals, small, config.centre_top, group);
        Ok(Panex { config, small, start, goal, group, locals, tables })
    }

    /// What is searched. An end that is a tower position where it is the default is None.
    pub fn config(&self) -> PanexConfig {
        self.config
    }

    /// Where the search begins.
    pub fn start(&self) -> &Position {
        &self.start
    }

    /// Where it ends.
    pub fn goal(&self) -> &Position {
        &self.goal
    }

    /// The canonical state of a position that is reached from one of the ends, or None if the
    /// position is not legal.
    pub fn locate(&self, position: &Position, from: End) -> Option<State> {
        if !position.is_legal(self.config.centre_top) {
            return None;
        }
        let (large, small) = position.split(self.small);
        let (region, symmetry) = self.canonical_region(&large);
        let index = self.locals.index(&small.image(symmetry))?;
        let side = self.group.side(symmetry) ^ from.side();
        let local = self.canonicalise(&self.class(region), index << 1 | side);
        Some(State { region, local })
    }

    /// A position the state stands for. It is reached from the start; if the state has side 1 and no
    /// symmetry exchanges the ends, from the goal.
    pub fn position(&self, state: State) -> Position {
        let large = self.arrangement(state.region);
        let position = Position::join(&large, self.locals.tokens(state.local >> 1));
        match self.group.exchange().filter(|_| state.local & 1 == 1) {
            Some(exchange) => position.image(exchange),
            None => position,
        }
    }

    /// The end that the positions of a state are reached from. Where a symmetry exchanges the ends it is
    /// the start for both sides.
    fn origin(&self, state: State) -> End {
        let goal = state.local & 1 == 1 && self.group.exchange().is_none();
        if goal { End::Goal } else { End::Start }
    }

    /// The key of an arrangement's image: columns bottom first, so that neighbours in key order
    /// differ in their topmost tiles.
    fn image_key(&self, large: &Position, symmetry: Symmetry) -> RegionKey {
        let flip = u128::from(symmetry.swaps_colours());
        let mut key = 0;
        for column in COLUMNS {
            for tile in large.columns[symmetry.column(column)].items().iter().rev() {
                let symbol = u128::from(tile.0 - 2 * self.small - 2) ^ flip;
                key = key << TILE_BITS | (symbol + 1);
            }
            if column < 2 {
                key <<= TILE_BITS;
            }
        }
        RegionKey(key)
    }

    /// Slacks of one column's large tiles, top first, as suffix minima: entry i is how many tiles
    /// may still come above the i-th tile and all deeper ones, [`UNLIMITED`] for more than there
    /// can be small ones in a column.
    fn slacks(&self, large: &Position, column: usize) -> Stack<u8> {
        let mut least = UNLIMITED;
        let mut slacks = Stack::default();
        for (above, tile) in large.columns[column].items().iter().enumerate().rev() {
            let slack = self.config.centre_top.limit(tile.level(), column) - above as u8;
            least = if slack > self.small { least } else { least.min(slack) };
            slacks.push(least);
        }
        slacks
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
        let images = self.group.iter().map(|s| (self.image_key(large, s), s));
        let identity = (self.image_key(large, Symmetry::IDENTITY), Symmetry::IDENTITY);
        images.min_by_key(|(key, _)| *key).unwrap_or(identity)
    }
}

/// The configuration of one level of a position.
fn config(position: &Position, level: u8) -> Config {
    let larger = |tile: &Tile| (tile.level() <= level).then_some(*tile);
    Config::find(level, position.columns.each_ref().map(|c| c.items().iter().map(larger)))
}

/// A position's weight: the product of the weights of its levels' configurations.
fn weigh(position: &Position, level: u8) -> Weight {
    let levels = (1..=level).map(|l| Weight::hash(config(position, l).word(l)));
    levels.fold(Weight::ONE, |product, level| product * level)
}

/// What the weight of a position is multiplied with, so that a digest tells from which end it was
/// reached.
fn origin_weight(origin: End) -> Weight {
    match origin {
        End::Start => Weight::ONE,
        // No configuration has this word: its last byte is 0.
        End::Goal => Weight::hash(1),
    }
}

fn check_end(name: &str, end: &Position, config: &PanexConfig) -> Result<(), SpaceError> {
    let text = end.to_string();
    Position::parse(config.level, &text).map_err(|error| SpaceError::State {
        name: name.into(),
        expected: "a legal position".into(),
        why: error.to_string(),
    })?;
    if config.centre_top == CentreTop::Forbid && end.uses_centre_top() {
        return Err(SpaceError::Conflict {
            name: name.into(),
            why: format!("{text} has a tile on the centre's top layer, which is forbidden"),
        });
    }
    Ok(())
}

impl StateSpace for Panex {
    fn seeds(&self) -> Vec<State> {
        let start = self.locate(&self.start, End::Start);
        let both = self.finish() == Finish::Meeting;
        // The same state if a symmetry exchanges the ends.
        let goal = both.then(|| self.locate(&self.goal, End::Goal)).flatten();
        start.into_iter().chain(goal.filter(|goal| Some(*goal) != start)).collect()
    }

    fn finish(&self) -> Finish {
        if self.config.exhaust {
            return Finish::Exhausted;
        }
        match self.config.symmetry {
            SymmetryUse::On => Finish::Meeting,
            SymmetryUse::Off => {
                self.locate(&self.goal, End::Start).map_or(Finish::Exhausted, Finish::State)
            }
        }
    }

    fn moves(&self, state: State, out: &mut Vec<State>) {
        let moves = self.position(state).moves(self.config.centre_top);
        let origin = self.origin(state);
        out.extend(moves.iter().filter_map(|position| self.locate(position, origin)));
    }

    fn shard_hash(&self, region: RegionKey) -> u64 {
        let large = self.arrangement(region);
        let (coarse, _) = large.split(self.config.s.max(self.small));
        let keys = Symmetry::ALL.map(|s| self.image_key(&coarse, s).0);
        let least = keys.into_iter().min().unwrap_or_default();
        mix(mix(least as u64) ^ (least >> 64) as u64)
    }

    fn weight(&self, state: State) -> Weight {
        let position = self.position(state);
        let other = self.group.fixing().map(|s| position.image(s));
        let other = other.filter(|other| *other != position);
        let second = other.map_or(Weight::ZERO, |other| weigh(&other, self.config.level));
        (weigh(&position, self.config.level) + second) * origin_weight(self.origin(state))
    }

    /// The first in the order of their texts of the positions reached from one end.
    fn text(&self, state: State) -> String {
        let position = self.position(state);
        let other = self.group.fixing().map(|s| position.image(s).to_string());
        other.into_iter().fold(position.to_string(), String::min)
    }
}

impl Tabled for Panex {
    const MOVE_KINDS: MoveKind = MOVES.len() as MoveKind;

    type Class = Class;

    fn indices(&self) -> u32 {
        self.locals.len()
    }

    fn class(&self, region: RegionKey) -> Class {
        let large = self.arrangement(region);
        let fixing = self.group.iter().filter(|s| self.image_key(&large, *s) == region);
        let mut class = Class {
            supply: GUARD,
            from_large: moves_from(large.columns.map(|column| !column.items().is_empty())),
            stabiliser: fixing.fold(0, |bits, s| bits | 1 << s.number()),
        };
        for column in COLUMNS {
            let slacks = self.slacks(&large, column);
            for lane in lanes() {
                let slack = slacks.items().get(lane).copied().unwrap_or(UNLIMITED);
                class.supply |= pack(column, lane, slack.min(UNLIMITED));
            }
        }
        class
    }

    #[inline(always)]
    fn legal_moves(&self, class: &Class, index: u32) -> LegalMoves {
        self.tables.legal_moves(class, index as usize)
    }

    #[inline(always)]
    fn inside_successors(&self, class: &Class, index: u32) -> InsideSuccessors {
        let (first, more) = self.tables.row(class, index as usize);
        InsideSuccessors { first, more }
    }

    fn neighbour(&self, index: u32, mv: MoveKind) -> u32 {
        self.tables.neighbours(index as usize)[usize::from(mv)]
    }

    #[inline(always)]
    fn transfer(&self, index: u32, edge: ExitEdge, symmetry: u8) -> Local {
        self.tables.carried(index, edge.into(), Symmetry::from_number(symmetry))
    }

    fn inverse_exit(&self, edge: ExitEdge, symmetry: u8) -> Option<ExitEdge> {
        let symmetry = Symmetry::from_number(symmetry);
        let (from, to) = MOVES[usize::from(edge)];
        let back = (symmetry.column(to), symmetry.column(from));
        MOVES.iter().position(|mv| *mv == back).map(|mv| mv as ExitEdge)
    }

    #[inline(always)]
    fn needs_canonicalising(&self, class: &Class) -> bool {
        class.is_symmetric()
    }

    /// The smallest local over the symmetries that fix the region.
    fn canonicalise(&self, class: &Class, local: Local) -> Local {
        let image = |s: Symmetry| self.tables.image(local >> 1, s);
        class.stabiliser().map(image).min().map_or(local, |least| least ^ local & 1)
    }

    fn is_fixed(&self, class: &Class, index: u32) -> bool {
        let mut symmetries = class.stabiliser().filter(|s| *s != Symmetry::IDENTITY);
        symmetries.any(|s| self.tables.image(index, s) == index << 1)
    }

    fn edge_target(&self, region: RegionKey, edge: ExitEdge) -> EdgeTarget {
        let mut large = self.arrangement(region);
        let (from, to) = MOVES[usize::from(edge)];
        if let Some(tile) = large.columns[from].pop() {
            large.columns[to].push(tile);
        }
        let (region, symmetry) = self.canonical_region(&large);
        EdgeTarget { region, symmetry: symmetry.number() }
    }

    fn region_weights(&self, region: RegionKey) -> [[Weight; 2]; 2] {
        let large = self.arrangement(region);
        let levels = self.small + 1..=self.config.level;
        let configs: Vec<(u8, Config)> = levels.map(|l| (l, config(&large, l))).collect();
        let mut weights = [[Weight::ZERO; 2]; 2];
        for (side, images) in weights.iter_mut().enumerate() {
            let origin = self.origin(State { region, local: side as Local });
            for (weight, symmetry) in images.iter_mut().zip(self.group.images(side)) {
                let levels = configs.iter().map(|(l, c)| Weight::hash(c.image(symmetry).word(*l)));
                *weight = levels.fold(origin_weight(origin), |product, level| product * level);
            }
        }
        weights
    }

    #[inline(always)]
    fn local_weights(&self, side: usize) -> &[[Weight; 2]] {
        self.tables.weights(side)
    }

    fn table_bytes(&self) -> usize {
        self.locals.bytes() + self.tables.bytes()
    }
}

#[cfg(test)]
mod tests;
