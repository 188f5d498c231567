//! The space by numbers: configurations, classes, leaf states.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use strata_space::nested::{MAX_MOVES, NestedSpace, Row, Shift};

use crate::error::StepError;
use crate::index::bits::{ConfigId, bits};
use crate::index::leaves::Leaves;
use crate::index::shared::{ConfigEntry, INSIDE, Known, Level, Moved, UNKNOWN};

/// The most configurations of a level: sets of them are words.
const MOST_CONFIGS: usize = 64;

/// Classes are numbered in so many bits.
const CLASS_BITS: u32 = 21;

/// A class's number.
pub(crate) type ClassId = u32;

struct ClassEntry<C> {
    class: C,
    level: u8,
    flip: ClassId,
    /// By configuration.
    inner: Vec<Option<ClassId>>,
    /// By leaf state; empty above the leaf.
    rows: Box<[Row]>,
}

/// Numbers of configurations and classes, given in the order in which they are met.
pub(crate) struct Levels<S: NestedSpace> {
    pub(crate) space: Arc<S>,
    /// Shared with a second thread, which may still read what was known before.
    pub(crate) known: Arc<Known<S::Config>>,
    classes: Vec<ClassEntry<S::Class>>,
    class_numbers: FxHashMap<(u8, S::Class), ClassId>,
}

impl<S: NestedSpace> Levels<S> {
    pub(crate) fn new(space: Arc<S>) -> Levels<S> {
        let leaves = 0..space.leaf_states();
        let leave = |leaf| {
            let mut after = [0; MAX_MOVES as usize];
            (0..space.moves()).for_each(|mv| after[usize::from(mv)] = space.leave(leaf, mv));
            after
        };
        let weights = |leaf| [leaf, space.flip_leaf(leaf)].map(|leaf| space.leaf_weight(leaf));
        let flip_mask = |mask: u16| {
            let flips = bits(mask.into()).map(|mv| space.flip_move(mv as u8));
            flips.fold(0, |mask, mv| mask | 1 << mv)
        };
        let known = Known {
            leaves: Leaves {
                flip: leaves.clone().map(|leaf| space.flip_leaf(leaf)).collect(),
                exchange: leaves.clone().map(|leaf| space.exchange_leaf(leaf)).collect(),
                leave: leaves.clone().map(leave).collect(),
                weights: leaves.map(weights).collect(),
            },
            levels: (0..=space.levels())
                .map(|_| Level {
                    entries: Vec::new(),
                    shifts: Vec::new(),
                    numbers: FxHashMap::default(),
                })
                .collect(),
            flipped_move: std::array::from_fn(|mv| match mv < space.moves().into() {
                true => space.flip_move(mv as u8),
                false => 0,
            }),
            flipped_moves: (0..1 << space.moves()).map(flip_mask).collect(),
        };
        Levels {
            known: Arc::new(known),
            classes: Vec::new(),
            class_numbers: FxHashMap::default(),
            space,
        }
    }

    /// The lowest level with nodes: the leaf's.
    pub(crate) fn leaf(&self) -> u8 {
        self.space.leaf_levels()
    }

    pub(crate) fn top(&self) -> u8 {
        self.space.levels()
    }

    #[inline(always)]
    pub(crate) fn flip_moves(&self, mask: u16) -> u16 {
        self.known.flip_moves(mask)
    }

    #[inline(always)]
    pub(crate) fn config(&self, level: u8, config: ConfigId) -> &ConfigEntry<S::Config> {
        self.known.config(level, config)
    }

    /// Leaf states: what does not depend on the class.
    #[inline(always)]
    pub(crate) fn leaves(&self) -> &Leaves {
        &self.known.leaves
    }

    pub(crate) fn known(&self, level: u8, config: S::Config) -> Option<ConfigId> {
        self.known.levels[usize::from(level)].numbers.get(&config).copied()
    }

    /// The number of a configuration, a new one if it is met for the first time. Its images have
    /// numbers, too.
    pub(crate) fn number(&mut self, level: u8, config: S::Config) -> Result<ConfigId, StepError> {
        if let Some(number) = self.known(level, config) {
            return Ok(number);
        }
        let (flip, exchange) = (self.space.flip_config(config), self.space.exchange_config(config));
        let weights = [config, flip].map(|config| self.space.weight(level, config));
        let known = self.level(level);
        if known.entries.len() >= MOST_CONFIGS {
            let what = "configurations of a level";
            return Err(StepError::TooMany { what, limit: MOST_CONFIGS });
        }
        let number = known.entries.len() as ConfigId;
        known.numbers.insert(config, number);
        known.entries.push(ConfigEntry { config, flip: 0, exchange: 0, weights });
        known.shifts.push([UNKNOWN; MAX_MOVES as usize]);
        let flip = self.number(level, flip)?;
        let exchange = self.number(level, exchange)?;
        let entry = &mut self.level(level).entries[usize::from(number)];
        (entry.flip, entry.exchange) = (flip, exchange);
        Ok(number)
    }

    /// A level's configurations, to be changed.
    fn level(&mut self, level: u8) -> &mut Level<S::Config> {
        &mut Arc::make_mut(&mut self.known).levels[usize::from(level)]
    }

    #[inline(always)]
    pub(crate) fn shift(
        &mut self,
        level: u8,
        config: ConfigId,
        mv: usize,
    ) -> Result<Moved, StepError> {
        match self.known.shift(level, config, mv) {
            Some(moved) => Ok(moved),
            None => self.find_shift(level, config, mv),
        }
    }

    #[cold]
    fn find_shift(&mut self, level: u8, config: ConfigId, mv: usize) -> Result<Moved, StepError> {
        let from = self.config(level, config).config;
        let moved = match self.space.shift(level, from, mv as u8) {
            Shift::Inside(to) => Moved::Inside(self.number(level, to)?),
            Shift::Outside(to) => Moved::Outside(self.number(level, to)?),
        };
        let code = match moved {
            Moved::Inside(to) => to | INSIDE,
            Moved::Outside(to) => to,
        };
        self.level(level).shifts[usize::from(config)][mv] = code;
        Ok(moved)
    }

    /// The class of everything.
    pub(crate) fn root(&mut self) -> Result<ClassId, StepError> {
        self.class(self.top(), self.space.root())
    }

    #[inline(always)]
    pub(crate) fn inner(&mut self, class: ClassId, config: ConfigId) -> Result<ClassId, StepError> {
        match self.classes[class as usize].inner.get(usize::from(config)) {
            Some(Some(inner)) => Ok(*inner),
            _ => self.find_inner(class, config),
        }
    }

    #[cold]
    fn find_inner(&mut self, class: ClassId, config: ConfigId) -> Result<ClassId, StepError> {
        let entry = &self.classes[class as usize];
        let level = entry.level;
        let inner = self.space.inner(&entry.class, level, self.config(level, config).config);
        let number = self.class(level - 1, inner)?;
        let known = &mut self.classes[class as usize].inner;
        let at = usize::from(config);
        known.resize(known.len().max(at + 1), None);
        known[at] = Some(number);
        Ok(number)
    }

    #[inline(always)]
    pub(crate) fn flip_class(&self, class: ClassId) -> ClassId {
        self.classes[class as usize].flip
    }

    #[inline(always)]
    pub(crate) fn row(&self, class: ClassId, leaf: usize) -> Row {
        self.classes[class as usize].rows[leaf]
    }

    /// Legal moves of a leaf state.
    pub(crate) fn degree(&self, class: ClassId, leaf: usize) -> u64 {
        let Row { inside, exits } = self.row(class, leaf);
        u64::from(inside.count_ones() + exits.count_ones())
    }

    /// Number of classes met so far.
    pub(crate) fn classes(&self) -> usize {
        self.classes.len()
    }

    fn class(&mut self, level: u8, class: S::Class) -> Result<ClassId, StepError> {
        let key = (level, class);
        if let Some(number) = self.class_numbers.get(&key) {
            return Ok(*number);
        }
        let most = 1 << CLASS_BITS;
        if self.classes.len() >= most {
            return Err(StepError::TooMany { what: "classes", limit: most });
        }
        let number = self.classes.len() as ClassId;
        let class = key.1.clone();
        let flip = self.space.flip_class(&class);
        let leaves = if level == self.leaf() { self.space.leaf_states() } else { 0 };
        let rows = (0..leaves).map(|leaf| self.space.row(&class, leaf)).collect();
        self.class_numbers.insert(key, number);
        self.classes.push(ClassEntry { class, level, flip: number, inner: Vec::new(), rows });
        let flip = self.class(level, flip)?;
        self.classes[number as usize].flip = flip;
        Ok(number)
    }
}
