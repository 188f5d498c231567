//! Index of a space: numbers of configurations and classes, in the order of discovery.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use strata_space::nested::{LeafMoves, MAX_MOVE_KINDS, NestedSpace, Shift};

use crate::symbolic::error::StepError;
use crate::symbolic::index::bits::{ConfigId, bits};
use crate::symbolic::index::leaves::LeafTable;
use crate::symbolic::index::shared::{ConfigInfo, INSIDE, LevelConfigs, SharedIndex, UNKNOWN};

/// The most configurations per level: a set of them is a word.
const MAX_CONFIGS: usize = 64;

/// Bits of a class number.
const CLASS_BITS: u32 = 21;

/// Number of a class.
pub(crate) type ClassId = u32;

/// A class, its flip, its inner classes and its leaf moves.
struct ClassInfo<C> {
    class: C,
    level: u8,
    flip: ClassId,
    /// The class below each configuration, as far as computed.
    inner: Vec<Option<ClassId>>,
    /// The legal moves, by leaf state; empty above the leaf.
    leaf_moves: Box<[LeafMoves]>,
}

/// The space, with the numbers assigned so far.
pub(crate) struct SpaceIndex<S: NestedSpace> {
    pub(crate) space: Arc<S>,
    /// Copied on write while the helper thread reads an older version.
    pub(crate) shared: Arc<SharedIndex<S::Config>>,
    classes: Vec<ClassInfo<S::Class>>,
    class_numbers: FxHashMap<(u8, S::Class), ClassId>,
}

impl<S: NestedSpace> SpaceIndex<S> {
    pub(crate) fn new(space: Arc<S>) -> SpaceIndex<S> {
        let leaves = 0..space.leaf_states();
        let after_exit = |leaf| {
            let mut after = [0; MAX_MOVE_KINDS as usize];
            (0..space.move_kinds())
                .for_each(|kind| after[usize::from(kind)] = space.leaf_after_exit(leaf, kind));
            after
        };
        let weights = |leaf| [leaf, space.flip_leaf(leaf)].map(|leaf| space.leaf_weight(leaf));
        let flip_mask = |mask: u16| {
            let flips = bits(mask.into()).map(|kind| space.flip_move(kind as u8));
            flips.fold(0, |mask, kind| mask | 1 << kind)
        };
        let shared = SharedIndex {
            leaves: LeafTable {
                flip: leaves.clone().map(|leaf| space.flip_leaf(leaf)).collect(),
                exchange: leaves.clone().map(|leaf| space.exchange_leaf(leaf)).collect(),
                after_exit: leaves.clone().map(after_exit).collect(),
                weights: leaves.map(weights).collect(),
            },
            levels: (0..=space.levels())
                .map(|_| LevelConfigs {
                    entries: Vec::new(),
                    shifts: Vec::new(),
                    numbers: FxHashMap::default(),
                })
                .collect(),
            flipped_move: std::array::from_fn(|kind| match kind < space.move_kinds().into() {
                true => space.flip_move(kind as u8),
                false => 0,
            }),
            flipped_moves: (0..1 << space.move_kinds()).map(flip_mask).collect(),
        };
        SpaceIndex {
            shared: Arc::new(shared),
            classes: Vec::new(),
            class_numbers: FxHashMap::default(),
            space,
        }
    }

    /// The lowest level with nodes.
    pub(crate) fn leaf_level(&self) -> u8 {
        self.space.leaf_levels()
    }

    pub(crate) fn top_level(&self) -> u8 {
        self.space.levels()
    }

    #[inline(always)]
    pub(crate) fn flip_moves(&self, mask: u16) -> u16 {
        self.shared.flip_moves(mask)
    }

    #[inline(always)]
    pub(crate) fn config(&self, level: u8, config: ConfigId) -> &ConfigInfo<S::Config> {
        self.shared.config(level, config)
    }

    /// Tables of the leaf states.
    #[inline(always)]
    pub(crate) fn leaves(&self) -> &LeafTable {
        &self.shared.leaves
    }

    pub(crate) fn find_config(&self, level: u8, config: S::Config) -> Option<ConfigId> {
        self.shared.levels[usize::from(level)].numbers.get(&config).copied()
    }

    /// The number of a configuration. A new configuration is numbered together with its images.
    ///
    /// # Errors
    /// [`StepError::TooMany`] at the limit of a level.
    pub(crate) fn number_config(
        &mut self,
        level: u8,
        config: S::Config,
    ) -> Result<ConfigId, StepError> {
        if let Some(number) = self.find_config(level, config) {
            return Ok(number);
        }
        let (flip, exchange) = (self.space.flip_config(config), self.space.exchange_config(config));
        let weights = [config, flip].map(|config| self.space.config_weight(level, config));
        let configs = self.level_mut(level);
        if configs.entries.len() >= MAX_CONFIGS {
            let what = "configurations of a level";
            return Err(StepError::TooMany { what, limit: MAX_CONFIGS });
        }
        let number = configs.entries.len() as ConfigId;
        configs.numbers.insert(config, number);
        configs.entries.push(ConfigInfo { config, flip: 0, exchange: 0, weights });
        configs.shifts.push([UNKNOWN; MAX_MOVE_KINDS as usize]);
        let flip = self.number_config(level, flip)?;
        let exchange = self.number_config(level, exchange)?;
        let entry = &mut self.level_mut(level).entries[usize::from(number)];
        (entry.flip, entry.exchange) = (flip, exchange);
        Ok(number)
    }

    /// The configurations of a level, for changes.
    fn level_mut(&mut self, level: u8) -> &mut LevelConfigs<S::Config> {
        &mut Arc::make_mut(&mut self.shared).levels[usize::from(level)]
    }

    /// The shift of a configuration by a move kind. It is computed when first needed.
    ///
    /// # Errors
    /// [`StepError::TooMany`] if a new configuration cannot be numbered.
    #[inline(always)]
    pub(crate) fn shift(
        &mut self,
        level: u8,
        config: ConfigId,
        kind: usize,
    ) -> Result<Shift<ConfigId>, StepError> {
        match self.shared.shift(level, config, kind) {
            Some(moved) => Ok(moved),
            None => self.find_shift(level, config, kind),
        }
    }

    #[cold]
    fn find_shift(
        &mut self,
        level: u8,
        config: ConfigId,
        kind: usize,
    ) -> Result<Shift<ConfigId>, StepError> {
        let from = self.config(level, config).config;
        let moved = match self.space.shift(level, from, kind as u8) {
            Shift::Inside(to) => Shift::Inside(self.number_config(level, to)?),
            Shift::Outside(to) => Shift::Outside(self.number_config(level, to)?),
        };
        let code = match moved {
            Shift::Inside(to) => to | INSIDE,
            Shift::Outside(to) => to,
        };
        self.level_mut(level).shifts[usize::from(config)][kind] = code;
        Ok(moved)
    }

    /// The class of the top node.
    pub(crate) fn root_class(&mut self) -> Result<ClassId, StepError> {
        self.number_class(self.top_level(), self.space.root_class())
    }

    /// The class below a configuration of a class. It is computed when first needed.
    ///
    /// # Errors
    /// [`StepError::TooMany`] if a new class cannot be numbered.
    #[inline(always)]
    pub(crate) fn inner_class(
        &mut self,
        class: ClassId,
        config: ConfigId,
    ) -> Result<ClassId, StepError> {
        match self.classes[class as usize].inner.get(usize::from(config)) {
            Some(Some(inner)) => Ok(*inner),
            _ => self.find_inner_class(class, config),
        }
    }

    #[cold]
    fn find_inner_class(&mut self, class: ClassId, config: ConfigId) -> Result<ClassId, StepError> {
        let entry = &self.classes[class as usize];
        let level = entry.level;
        let inner = self.space.inner_class(&entry.class, level, self.config(level, config).config);
        let number = self.number_class(level - 1, inner)?;
        let classes = &mut self.classes[class as usize].inner;
        let at = usize::from(config);
        classes.resize(classes.len().max(at + 1), None);
        classes[at] = Some(number);
        Ok(number)
    }

    #[inline(always)]
    pub(crate) fn flip_class(&self, class: ClassId) -> ClassId {
        self.classes[class as usize].flip
    }

    #[inline(always)]
    pub(crate) fn leaf_moves(&self, class: ClassId, leaf: usize) -> LeafMoves {
        self.classes[class as usize].leaf_moves[leaf]
    }

    /// Number of legal moves of a leaf state.
    pub(crate) fn degree(&self, class: ClassId, leaf: usize) -> u64 {
        let LeafMoves { inside, exits } = self.leaf_moves(class, leaf);
        u64::from(inside.count_ones() + exits.count_ones())
    }

    /// Number of classes so far.
    pub(crate) fn class_count(&self) -> usize {
        self.classes.len()
    }

    fn number_class(&mut self, level: u8, class: S::Class) -> Result<ClassId, StepError> {
        let key = (level, class);
        if let Some(number) = self.class_numbers.get(&key) {
            return Ok(*number);
        }
        let limit = 1 << CLASS_BITS;
        if self.classes.len() >= limit {
            return Err(StepError::TooMany { what: "classes", limit });
        }
        let number = self.classes.len() as ClassId;
        let class = key.1.clone();
        let flip = self.space.flip_class(&class);
        let leaves = if level == self.leaf_level() { self.space.leaf_states() } else { 0 };
        let leaf_moves = (0..leaves).map(|leaf| self.space.leaf_moves(&class, leaf)).collect();
        self.class_numbers.insert(key, number);
        self.classes.push(ClassInfo { class, level, flip: number, inner: Vec::new(), leaf_moves });
        let flip = self.number_class(level, flip)?;
        self.classes[number as usize].flip = flip;
        Ok(number)
    }
}
