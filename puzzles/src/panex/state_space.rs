//! The Panex state space: regions, locals, and their tables.

use super::config::{Checked, PanexConfig, SymmetryUse};
use super::numbering::Numbering;
use super::position::Position;
use super::symmetries::{End, Group};
use super::tables::{Class, GUARD, Tables, UNLIMITED, fields, moves_from, pack};
use super::tile::{COLUMNS, MOVES, Stack, Symmetry, Tile};
use super::tokens::{CentreTop, Config};
use strata_space::mix;
use strata_space::{
    EdgeTarget, ExitEdge, Finish, InsideSuccessors, LegalMoves, Local, LocalWeights, MoveKind,
    RegionKey, SpaceError, State, StateSpace, Tabled, Weight,
};

/// Tiles of a region key take 5 bits each; with two separators 128 bits hold 23 tiles.
const TILE_BITS: u32 = 5;

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
    /// The state space of a configuration, with its tables.
    ///
    /// # Errors
    /// Those of [`PanexConfig::check`]; [`SpaceError::State`] if an end is not a legal position of
    /// the level; [`SpaceError::Conflict`] if an end uses the centre's top layer while it is
    /// forbidden, or if an exhaustive search has a goal.
    pub fn new(config: PanexConfig) -> Result<Panex, SpaceError> {
        let Checked { config, start, goal } = config.checked()?;
        let PanexConfig { level, k, .. } = config;
        let group = match config.symmetry {
            SymmetryUse::Off => Group::TRIVIAL,
            // At level 1 with the centre's top layer a class can be its own mirror image, with both
            // tiles in the centre. An exhaustive search then omits the mirror.
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

    /// The configuration. An end that equals its default is `None`.
    pub fn config(&self) -> PanexConfig {
        self.config
    }

    /// The start of the search.
    pub fn start(&self) -> &Position {
        &self.start
    }

    /// The goal of the search.
    pub fn goal(&self) -> &Position {
        &self.goal
    }

    /// The canonical state of a position reached from the end `from`; None if the position is illegal.
    pub fn locate(&self, position: &Position, from: End) -> Option<State> {
        if !position.is_legal(self.config.centre_top) {
            return None;
        }
        let (large, small) = position.split(self.small);
        let (region, symmetry) = self.canonical_region(&large);
        let index = self.locals.index(&small.image(symmetry))?;
        let side = self.group.side(symmetry) ^ from.side();
        let local = self.canonicalise(&self.class(region), index << 1 | side);
        Some(State::new(region, local))
    }

    /// One of the positions that the state stands for. It is reached from the start, except that a
    /// state with side 1 is reached from the goal where no symmetry exchanges the ends.
    pub fn position(&self, state: State) -> Position {
        let large = self.arrangement(state.region);
        let position = Position::join(&large, self.locals.tokens(state.narrow() >> 1));
        match self.group.exchange().filter(|_| state.side() == 1) {
            Some(exchange) => position.image(exchange),
            None => position,
        }
    }

    /// The end that the positions of a state are reached from. Where a symmetry exchanges the ends it is
    /// the start for both sides.
    fn origin(&self, state: State) -> End {
        let goal = state.side() == 1 && self.group.exchange().is_none();
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

    /// Slack of each large tile of a column, top first: how many tiles may still be put above it
    /// and all deeper ones. [`UNLIMITED`] if that exceeds the number of small tiles in a column.
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
pub(super) fn position_weight(position: &Position, level: u8) -> Weight {
    let levels = (1..=level).map(|l| Weight::hash(config(position, l).word(l)));
    levels.fold(Weight::ONE, |product, level| product * level)
}

/// Factor of a position's weight for the end from which it was reached, so that the two ends have
/// different digests.
fn origin_weight(origin: End) -> Weight {
    match origin {
        End::Start => Weight::ONE,
        // No configuration has this word: its last byte is 0.
        End::Goal => Weight::hash(1),
    }
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
        let second = other.map_or(Weight::ZERO, |other| position_weight(&other, self.config.level));
        (position_weight(&position, self.config.level) + second) * origin_weight(self.origin(state))
    }

    fn positions(&self, state: State) -> Option<u64> {
        let position = self.position(state);
        let other = self.group.fixing().map(|s| position.image(s));
        Some(1 + u64::from(other.is_some_and(|other| other != position)))
    }

    /// Of the positions that the state stands for, reached from one end, the one whose text sorts
    /// first.
    fn text(&self, state: State) -> String {
        let position = self.position(state);
        let other = self.group.fixing().map(|s| position.image(s).to_string());
        other.into_iter().fold(position.to_string(), String::min)
    }

    fn parse(&self, text: &str) -> Option<State> {
        self.locate(&Position::parse(self.config.level, text).ok()?, End::Start)
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
            for field in fields() {
                let slack = slacks.items().get(field).copied().unwrap_or(UNLIMITED);
                class.supply |= pack(column, field, slack.min(UNLIMITED));
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
            let origin = self.origin(State::new(region, side as Local));
            for (weight, symmetry) in images.iter_mut().zip(self.group.images(side)) {
                let levels = configs.iter().map(|(l, c)| Weight::hash(c.image(symmetry).word(*l)));
                *weight = levels.fold(origin_weight(origin), |product, level| product * level);
            }
        }
        weights
    }

    #[inline(always)]
    fn local_weights(&self, side: usize) -> LocalWeights<'_> {
        LocalWeights::Two(self.tables.weights(side))
    }

    fn table_bytes(&self) -> usize {
        self.locals.bytes() + self.tables.bytes()
    }
}

#[cfg(test)]
mod tests;
