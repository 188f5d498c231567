//! The Panex puzzle as a nested space: each level's two tiles among markers for larger ones.

use super::config::{Checked, PanexConfig, SymmetryUse};
use super::numbering::Numbering;
use super::position::Position;
use super::tile::{COLUMNS, MOVES, Symmetry, Tile};
use super::tokens::{CentreTop, Column, Config, Tokens};
use strata_space::nested::{LeafMoves, NestedSpace, NestedState, Shift};
use strata_space::{Finish, SpaceError, Weight};

/// The symmetry that fixes the towers.
const FLIP: Symmetry = Symmetry::BOTH;

/// The symmetry that exchanges the towers.
const EXCHANGE: Symmetry = Symmetry::MIRROR;

/// The Panex puzzle as a nested space. The leaf holds the tiles of level 1.
///
/// A configuration contains tiles of level 1 in place of the level's own, so equal configurations
/// of all levels are equal values.
#[derive(Debug)]
pub struct NestedPanex {
    config: PanexConfig,
    start: Position,
    goal: Position,
    leaves: Numbering,
}

/// Slack of each of a column's larger tiles, top first: how many tiles may still be put above it
/// and all deeper ones. [`UNLIMITED`] stands for slacks that never restrict a smaller tile.
type Slacks = Vec<u8>;

/// More than the number of smaller tiles.
const UNLIMITED: u8 = u8::MAX;

impl NestedPanex {
    /// The nested form of a search.
    ///
    /// # Errors
    /// Those of [`Panex::new`](super::Panex::new), and [`SpaceError::Conflict`] for a symmetric
    /// search between positions other than the towers: its layers are not sets of positions reached
    /// from one of them.
    pub fn new(config: PanexConfig) -> Result<NestedPanex, SpaceError> {
        let Checked { config, start, goal } = config.checked()?;
        if !config.exchanges_towers() && config.symmetry == SymmetryUse::On {
            return Err(SpaceError::Conflict {
                name: "symmetry".into(),
                why: "the symbolic engine searches between positions other than the towers from \
                      one end only, without symmetry"
                    .into(),
            });
        }
        Ok(NestedPanex { config, start, goal, leaves: Numbering::new(1, config.centre_top) })
    }

    /// A position, level by level; None if it is not legal.
    pub fn nest(&self, position: &Position) -> Option<NestedState<Tokens>> {
        let levels = (2..=self.config.level).rev();
        let configs = levels.map(|level| configuration(position, level)).collect();
        let leaf = self.leaves.index(&configuration(position, 1))? as u8;
        position.is_legal(self.config.centre_top).then_some(NestedState { configs, leaf })
    }

    /// Undoes [`Self::nest`].
    pub fn position(&self, state: &NestedState<Tokens>) -> Position {
        let leaf = self.leaves.tokens(state.leaf.into());
        let configs = state.configs.iter().chain([leaf]);
        let levels = (1..=self.config.level).rev();
        let nothing = Position::default();
        levels.zip(configs).fold(nothing, |large, (level, config)| add_level(&large, level, config))
    }

    /// For each column of a leaf state, whether it is legal and accepts one more small tile.
    fn has_room(&self, slacks: &[Slacks; 3], tokens: &Tokens) -> [bool; 3] {
        COLUMNS.map(|column| {
            let (mut above, mut small) = (0, 0);
            let mut larger = slacks[column].iter();
            for tile in tokens.columns[column].items() {
                match tile {
                    Some(_) if above >= self.config.centre_top.limit(1, column) => return false,
                    Some(_) => small += 1,
                    None if larger.next().is_some_and(|slack| *slack <= small) => return false,
                    None => {}
                }
                above += 1;
            }
            larger.next().is_none_or(|slack| *slack > small)
        })
    }
}

/// The tiles of a level among markers for larger ones. They are written as tiles of level 1.
fn configuration(position: &Position, level: u8) -> Tokens {
    let mut tokens = Tokens::default();
    for column in COLUMNS {
        let items = position.columns[column].items().iter().filter(|tile| tile.level() >= level);
        let items: Vec<&Tile> = items.collect();
        let tiles = items.iter().rposition(|tile| tile.level() == level).map_or(0, |at| at + 1);
        for tile in &items[..tiles] {
            let token = (tile.level() == level).then(|| Tile::new(1, tile.colour()));
            tokens.columns[column] = tokens.columns[column].with_below(token);
        }
    }
    tokens
}

/// Adds the tiles of a level, placed as `config` says, to a position of larger tiles.
fn add_level(large: &Position, level: u8, config: &Tokens) -> Position {
    let mut whole = Position::default();
    for column in COLUMNS {
        let mut rest = large.columns[column].items().iter().copied();
        for token in config.columns[column].items() {
            let tile = token.map(|tile| Tile::new(level, tile.colour()));
            if let Some(tile) = tile.or_else(|| rest.next()) {
                whole.columns[column].push_below(tile);
            }
        }
        rest.for_each(|tile| whole.columns[column].push_below(tile));
    }
    whole
}

/// Suffix minima of the slacks that can restrict a small tile. A small tile has at most `limit`
/// tiles above it. At most `limit + 1` small tiles are therefore above a larger one, and at most
/// `limit` larger tiles above them.
fn least_slacks(mut slacks: Slacks, limit: u8) -> Slacks {
    let mut least = UNLIMITED;
    for slack in slacks.iter_mut().rev() {
        least = if *slack > limit { least } else { least.min(*slack) };
        *slack = least;
    }
    slacks.truncate(usize::from(limit) + 1);
    slacks
}

impl NestedSpace for NestedPanex {
    type Config = Tokens;

    /// For each column its larger tiles.
    type Class = [Slacks; 3];

    fn levels(&self) -> u8 {
        self.config.level
    }

    fn leaf_levels(&self) -> u8 {
        1
    }

    fn leaf_states(&self) -> u8 {
        self.leaves.len() as u8
    }

    fn move_kinds(&self) -> u8 {
        MOVES.len() as u8
    }

    fn root_class(&self) -> [Slacks; 3] {
        Default::default()
    }

    fn inner_class(&self, class: &[Slacks; 3], level: u8, config: Tokens) -> [Slacks; 3] {
        COLUMNS.map(|column| {
            let mut larger = class[column].iter();
            let mut slacks = Slacks::new();
            let mut own = 0;
            // More tiles than the slack are not legal.
            let lowered = |slack: u8, own: u8| match slack {
                UNLIMITED => UNLIMITED,
                slack => slack.saturating_sub(own),
            };
            for token in config.columns[column].items() {
                if token.is_some() {
                    let limit = self.config.centre_top.limit(level, column);
                    slacks.push(limit.saturating_sub(slacks.len() as u8));
                    own += 1;
                } else if let Some(slack) = larger.next() {
                    slacks.push(lowered(*slack, own));
                }
            }
            slacks.extend(larger.map(|slack| lowered(*slack, own)));
            least_slacks(slacks, self.config.centre_top.limit(level - 1, column))
        })
    }

    fn shift(&self, _: u8, config: Tokens, mv: u8) -> Shift<Tokens> {
        let (from, to) = MOVES[usize::from(mv)];
        match config.move_tile(from, to) {
            Some(moved) => Shift::Inside(moved),
            None => Shift::Outside(config.move_marker(from, to)),
        }
    }

    fn leaf_moves(&self, class: &[Slacks; 3], leaf: u8) -> LeafMoves {
        let tokens = self.leaves.tokens(leaf.into());
        let room = self.has_room(class, tokens);
        let track = self.config.centre_top == CentreTop::Forbid || room[1];
        let mut moves = LeafMoves::default();
        for (mv, (from, to)) in MOVES.into_iter().enumerate() {
            if !room[to] || !track && from != 1 && to != 1 {
                continue;
            }
            match tokens.move_tile(from, to) {
                Some(moved) => {
                    let moved = self.leaves.index(&moved);
                    moves.inside |= moved.map_or(0, |leaf| 1 << leaf);
                }
                None => moves.exits |= u16::from(!class[from].is_empty()) << mv,
            }
        }
        moves
    }

    fn leaf_after_exit(&self, leaf: u8, mv: u8) -> u8 {
        let (from, to) = MOVES[usize::from(mv)];
        let moved = self.leaves.tokens(leaf.into()).move_marker(from, to);
        self.leaves.index(&moved).map_or(leaf, |leaf| leaf as u8)
    }

    fn flip_config(&self, config: Tokens) -> Tokens {
        config.image(FLIP)
    }

    fn flip_leaf(&self, leaf: u8) -> u8 {
        image_of_leaf(&self.leaves, leaf, FLIP)
    }

    fn flip_class(&self, class: &[Slacks; 3]) -> [Slacks; 3] {
        COLUMNS.map(|column| class[FLIP.column(column)].clone())
    }

    fn flip_move(&self, mv: u8) -> u8 {
        let (from, to) = MOVES[usize::from(mv)];
        let flipped = (FLIP.column(from), FLIP.column(to));
        MOVES.iter().position(|mv| *mv == flipped).map_or(mv, |mv| mv as u8)
    }

    fn exchange_config(&self, config: Tokens) -> Tokens {
        config.image(EXCHANGE)
    }

    fn exchange_leaf(&self, leaf: u8) -> u8 {
        image_of_leaf(&self.leaves, leaf, EXCHANGE)
    }

    fn config_weight(&self, level: u8, config: Tokens) -> Weight {
        let config = Config::find(1, config.columns.map(Column::items));
        Weight::hash(config.word(level))
    }

    fn leaf_weight(&self, leaf: u8) -> Weight {
        self.config_weight(1, *self.leaves.tokens(leaf.into()))
    }

    fn encode_config(&self, config: Tokens) -> u128 {
        config.word()
    }

    fn decode_config(&self, word: u128) -> Option<Tokens> {
        Tokens::of_word(word)
    }

    fn start(&self) -> NestedState<Tokens> {
        // The ends have been checked to be legal.
        self.nest(&self.start).unwrap_or(NestedState { configs: Vec::new(), leaf: 0 })
    }

    fn finish(&self) -> Finish<NestedState<Tokens>> {
        match (self.config.exhaust, self.config.symmetry) {
            (true, _) => Finish::Exhausted,
            (false, SymmetryUse::On) => Finish::Meeting,
            (false, SymmetryUse::Off) => {
                self.nest(&self.goal).map_or(Finish::Exhausted, Finish::State)
            }
        }
    }

    fn counts_orbits(&self) -> bool {
        self.config.symmetry == SymmetryUse::On
    }

    fn text(&self, state: &NestedState<Tokens>) -> String {
        self.position(state).to_string()
    }

    fn is_orbit_representative(&self, state: &NestedState<Tokens>) -> bool {
        let position = self.position(state);
        !self.counts_orbits() || position.to_string() <= position.image(FLIP).to_string()
    }
}

fn image_of_leaf(leaves: &Numbering, leaf: u8, symmetry: Symmetry) -> u8 {
    let image = leaves.tokens(leaf.into()).image(symmetry);
    leaves.index(&image).map_or(leaf, |leaf| leaf as u8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panex::state_space::{Panex, position_weight};
    use strata_space::nested::successors;

    fn space(level: u8, centre_top: CentreTop) -> NestedPanex {
        NestedPanex::new(PanexConfig { centre_top, ..PanexConfig::new(level) }).unwrap()
    }

    #[test]
    fn ends_are_checked_as_those_of_the_tabled_space() {
        let off = PanexConfig { symmetry: SymmetryUse::Off, ..PanexConfig::new(3) };
        let towers = Some(Position::start(3));
        let (illegal, exchanged) = (Some(Position::start(2)), Some(Position::goal(3)));
        for (config, accepted) in [
            (PanexConfig { start: towers, ..PanexConfig::new(3) }, true),
            (PanexConfig { goal: exchanged, exhaust: true, ..PanexConfig::new(3) }, true),
            (PanexConfig { start: illegal, ..off }, false),
            (PanexConfig { goal: illegal, ..off }, false),
            (PanexConfig { goal: towers, exhaust: true, ..off }, false),
        ] {
            let (nested, tabled) = (NestedPanex::new(config).err(), Panex::new(config).err());
            assert_eq!((nested.is_none(), &nested), (accepted, &tabled));
        }
    }

    #[test]
    fn the_class_below_an_illegal_configuration_has_no_slack() {
        let space = space(4, CentreTop::Forbid);
        let column = [Some(Tile::new(1, 0)), Some(Tile::new(1, 1)), None]
            .into_iter()
            .fold(Default::default(), crate::panex::Column::with_below);
        let config = Tokens { columns: [column, Default::default(), Default::default()] };
        let mut class = space.root_class();
        class[0].push(1);
        assert_eq!(space.inner_class(&class, 3, config)[0][2], 0);
    }

    #[test]
    fn nested_moves_are_those_of_positions() {
        for (level, centre_top) in [
            (1, CentreTop::Forbid),
            (3, CentreTop::Forbid),
            (3, CentreTop::Allow),
            (4, CentreTop::Forbid),
        ] {
            let space = space(level, centre_top);
            let mut known = std::collections::HashSet::from([Position::start(level).to_string()]);
            let mut waiting = vec![Position::start(level)];
            while let Some(position) = waiting.pop() {
                let nested = space.nest(&position).unwrap();
                assert_eq!(space.position(&nested), position);
                let mut found: Vec<String> =
                    successors(&space, &nested).iter().map(|next| space.text(next)).collect();
                let next = position.moves(centre_top);
                let mut expected: Vec<String> = next.iter().map(ToString::to_string).collect();
                found.sort();
                expected.sort();
                assert_eq!(found, expected, "from {position}");
                waiting.extend(next.into_iter().filter(|next| known.insert(next.to_string())));
            }
            assert!(known.len() > 3);
        }
    }

    #[test]
    fn symmetries_weights_and_words_agree_with_positions() {
        let space = space(5, CentreTop::Forbid);
        let mut position = Position::start(5);
        for step in 0..400 {
            let nested = space.nest(&position).unwrap();
            let mapped = |config: fn(&NestedPanex, Tokens) -> Tokens, leaf: u8| NestedState {
                configs: nested.configs.iter().map(|c| config(&space, *c)).collect(),
                leaf,
            };
            let flip = mapped(NestedSpace::flip_config, space.flip_leaf(nested.leaf));
            assert_eq!(space.position(&flip), position.image(FLIP));
            let exchanged = mapped(NestedSpace::exchange_config, space.exchange_leaf(nested.leaf));
            assert_eq!(space.position(&exchanged), position.image(EXCHANGE));
            let levels = (2..=5).rev().zip(&nested.configs);
            let weight = levels.fold(space.leaf_weight(nested.leaf), |weight, (level, config)| {
                assert_eq!(space.decode_config(space.encode_config(*config)), Some(*config));
                weight * space.config_weight(level, *config)
            });
            assert_eq!(weight, position_weight(&position, 5));
            let next = position.moves(CentreTop::Forbid);
            position = next[(step * 7 + step / 5) % next.len()];
        }
    }
}
