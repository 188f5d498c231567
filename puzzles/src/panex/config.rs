//! Configuration of a Panex search, and its validation.

use super::position::Position;
use super::tile::MAX_LEVEL;
use super::tokens::CentreTop;
use strata_space::SpaceError;

/// Maximum number of levels of a region key: n - k is at most this.
pub const MAX_LARGE_LEVELS: u8 = 11;

/// The largest k. With k = 3 there are 25,200 local parts (70,560 with the centre's top layer), whose
/// tables fit into the processor's cache; with k = 4 there would be more than a million.
pub const MAX_K: u8 = 3;

/// Whether symmetric states are identified.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum SymmetryUse {
    /// Store orbits with side bits; stop where the searches from both ends meet.
    On,
    /// Store every position; search from the start to the goal.
    Off,
}

/// Configuration of a search.
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
    /// The start, a legal position of the level; the towers by default.
    pub start: Option<Position>,
    /// The goal, a legal position of the level; the exchanged towers by default.
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
    /// [`SpaceError::OutOfRange`] if the level is 0 or too large for region keys, or if k or s is out of
    /// range.
    pub fn check(&self) -> Result<(), SpaceError> {
        let PanexConfig { level, k, s, .. } = *self;
        SpaceError::check("k", k.into(), 1, MAX_K.into())?;
        SpaceError::check("level", level.into(), 1, (k + MAX_LARGE_LEVELS).min(MAX_LEVEL).into())?;
        SpaceError::check("s", s.into(), k.into(), level.max(k).into())
    }

    /// Checks the numbers and both ends, and replaces ends that equal their defaults by `None`.
    pub(super) fn checked(mut self) -> Result<Checked, SpaceError> {
        self.check()?;
        let (towers, exchanged) = (Position::start(self.level), Position::goal(self.level));
        self.start = self.start.filter(|start| *start != towers);
        self.goal = self.goal.filter(|goal| *goal != exchanged);
        let (start, goal) = (self.start.unwrap_or(towers), self.goal.unwrap_or(exchanged));
        for (name, end) in [("start", &start), ("goal", &goal)] {
            check_end(name, end, &self)?;
        }
        if self.exhaust && self.goal.is_some() {
            return Err(SpaceError::Conflict {
                name: "goal".into(),
                why: "a search of the whole space has none".into(),
            });
        }
        Ok(Checked { config: self, start, goal })
    }

    /// Whether the search is from the towers to the exchanged towers.
    pub fn exchanges_towers(&self) -> bool {
        self.start.is_none() && self.goal.is_none()
    }

    /// The default of s: min(5, n - 3), but at least k and at most n.
    pub fn default_s(level: u8, k: u8) -> u8 {
        level.saturating_sub(3).min(5).max(k).min(level.max(k))
    }
}

/// A valid configuration, with both ends.
pub(super) struct Checked {
    pub(super) config: PanexConfig,
    pub(super) start: Position,
    pub(super) goal: Position,
}

/// Checks that an end is a legal position and respects the centre's top layer.
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
