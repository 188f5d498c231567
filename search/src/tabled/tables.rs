//! What local parts can do, in tables shared by all threads: one for all classes, and for each
//! class which moves are open.
//!
//! Entries that are filled as they are needed are pure functions of their place, so threads may
//! fill the same one at once, and class tables may be dropped at any time.

use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use rustc_hash::FxHashMap;
use strata_space::{ClassKey, Door, Local, MAX_DOORS, Tabled, Weight};

use super::NARROW;

/// Inside moves in one row of a class table.
const ROW: usize = 4;

/// In a narrow or wide row's last slot: there are more moves than a row holds.
const MORE: [u32; 2] = [u16::MAX as u32, u32::MAX];

/// The same in all classes.
pub(super) struct Locals {
    /// Index behind each door that stays inside a region, the own one where it is none of that
    /// kind.
    doors: Box<[[u32; MAX_DOORS as usize]]>,
    /// `[side][index][2 * image + prime]`.
    pub(super) weights: [Box<[[u64; 4]]>; 2],
}

impl Locals {
    fn new<S: Tabled>(space: &S) -> Locals {
        let indices = space.indices();
        let row = |index: u32| {
            let mut row = [index; MAX_DOORS as usize];
            for door in 0..S::DOORS {
                row[usize::from(door)] = space.inside(index, door).unwrap_or(index);
            }
            row
        };
        let doors = (0..indices).map(row).collect();
        let weights = [0, 1].map(|side| {
            let weights = (0..indices).map(|index| {
                let [Weight([a, b]), Weight([c, d])] = space.local_weights(index)[side];
                [a, b, c, d]
            });
            weights.collect()
        });
        Locals { doors, weights }
    }

    fn bytes(&self) -> usize {
        let weights: usize = self.weights.iter().map(|weights| size_of_val(&**weights)).sum();
        size_of_val(&*self.doors) + weights
    }
}

/// The doors open to a local part: inside moves in the low bits, then exits.
#[derive(Copy, Clone)]
pub(super) struct Open(u16);

impl Open {
    const FILLED: u16 = 1 << 15;
    const MASK: u16 = (1 << MAX_DOORS) - 1;
    /// Number of bits of every mask: the baseline instruction set has no instruction for it.
    const COUNT: [u8; 1 << MAX_DOORS] = {
        let mut count = [0; 1 << MAX_DOORS];
        let mut mask = 0;
        while mask < count.len() {
            count[mask] = (mask as u32).count_ones() as u8;
            mask += 1;
        }
        count
    };

    #[inline(always)]
    pub(super) fn inside(self) -> u16 {
        self.0 & Self::MASK
    }

    #[inline(always)]
    pub(super) fn exits(self) -> u16 {
        self.0 >> MAX_DOORS & Self::MASK
    }

    /// Number of legal moves.
    #[inline(always)]
    pub(super) fn degree(self) -> u64 {
        let count = |mask: u16| u64::from(Self::COUNT[usize::from(mask)]);
        count(self.inside()) + count(self.exits())
    }
}

/// Inside successors by index, filled up with the own index; 0 where not yet known.
pub(super) enum Rows {
    Narrow(Box<[AtomicU64]>),
    Wide(Box<[[AtomicU64; 2]]>),
}

/// One class's table.
pub(super) struct ClassTable<S: Tabled> {
    class: S::Class,
    pub(super) rows: Rows,
    open: Box<[AtomicU16]>,
    /// Index to folded local plus one, 0 where not yet known; None where nothing is folded.
    folded: Option<Box<[AtomicU32]>>,
}

impl<S: Tabled> ClassTable<S> {
    fn new(space: &S, key: ClassKey) -> ClassTable<S> {
        let class = space.class(key);
        let indices = space.indices() as usize;
        let folded = space.folds(&class).then(|| bytemuck::zeroed_slice_box(indices));
        let rows = if indices <= NARROW {
            Rows::Narrow(bytemuck::zeroed_slice_box(indices))
        } else {
            Rows::Wide(bytemuck::zeroed_slice_box(indices))
        };
        ClassTable { class, rows, open: bytemuck::zeroed_slice_box(indices), folded }
    }

    fn bytes(&self) -> usize {
        let folded = self.folded.as_ref().map_or(0, |folded| size_of_val(&**folded));
        let rows = match &self.rows {
            Rows::Narrow(rows) => size_of_val(&**rows),
            Rows::Wide(rows) => size_of_val(&**rows),
        };
        rows + size_of_val(&*self.open) + folded
    }

    /// The doors open to an index.
    #[inline(always)]
    pub(super) fn open(&self, index: usize, tables: &Tables<S>) -> Open {
        match self.open[index].load(Ordering::Relaxed) {
            0 => self.fill_open(index, tables),
            open => Open(open),
        }
    }

    #[cold]
    #[inline(never)]
    fn fill_open(&self, index: usize, tables: &Tables<S>) -> Open {
        let doors = tables.space.open(&self.class, index as u32);
        let open = u16::from(doors.inside) | u16::from(doors.exits) << MAX_DOORS | Open::FILLED;
        self.open[index].store(open, Ordering::Relaxed);
        Open(open)
    }

    /// The inside successors of an index.
    pub(super) fn inside(&self, index: usize, tables: &Tables<S>) -> impl Iterator<Item = u32> {
        let open = self.open(index, tables).inside();
        let doors = tables.locals.doors[index];
        (0..usize::from(S::DOORS))
            .filter(move |door| open >> door & 1 == 1)
            .map(move |door| doors[door])
    }

    /// Calls `visit` for the inside successors of an index, and perhaps for the index itself.
    #[inline(always)]
    pub(super) fn for_inside(&self, index: usize, tables: &Tables<S>, mut visit: impl FnMut(u32)) {
        let row = match &self.rows {
            Rows::Narrow(rows) => {
                let row = match rows[index].load(Ordering::Relaxed) {
                    0 => self.fill_row(index, tables)[0],
                    row => row,
                };
                [0, 16, 32, 48].map(|shift| u32::from((row >> shift) as u16))
            }
            Rows::Wide(rows) => {
                let row = match [0, 1].map(|half: usize| rows[index][half].load(Ordering::Relaxed))
                {
                    [0, _] | [_, 0] => self.fill_row(index, tables),
                    row => row,
                };
                [row[0] as u32, (row[0] >> 32) as u32, row[1] as u32, (row[1] >> 32) as u32]
            }
        };
        if MORE.contains(&row[ROW - 1]) {
            self.inside(index, tables).for_each(visit);
        } else {
            row.into_iter().for_each(&mut visit);
        }
    }

    /// Works out a row: in the first word if it is narrow, in both if it is wide.
    #[cold]
    #[inline(never)]
    fn fill_row(&self, index: usize, tables: &Tables<S>) -> [u64; 2] {
        let is_wide = matches!(self.rows, Rows::Wide(_));
        let mut row = [index as u32; ROW];
        let mut count = 0;
        for next in self.inside(index, tables) {
            match row.get_mut(count) {
                Some(slot) => *slot = next,
                None => row[ROW - 1] = MORE[usize::from(is_wide)],
            }
            count += 1;
        }
        let join = |low: u32, high: u32, bits: u32| u64::from(low) | u64::from(high) << bits;
        match &self.rows {
            Rows::Narrow(rows) => {
                let halves = [join(row[0], row[1], 16), join(row[2], row[3], 16)];
                let word = halves[0] | halves[1] << 32;
                rows[index].store(word, Ordering::Relaxed);
                [word, 0]
            }
            Rows::Wide(rows) => {
                let words = [join(row[0], row[1], 32), join(row[2], row[3], 32)];
                rows[index]
                    .iter()
                    .zip(words)
                    .for_each(|(slot, word)| slot.store(word, Ordering::Relaxed));
                words
            }
        }
    }

    /// Whether locals have to be folded.
    #[inline(always)]
    pub(super) fn folds(&self) -> bool {
        self.folded.is_some()
    }

    /// The canonical image of a local.
    #[inline]
    pub(super) fn fold(&self, local: Local, space: &S) -> Local {
        let Some(folded) = &self.folded else { return local };
        let slot = &folded[(local >> 1) as usize];
        let known = match slot.load(Ordering::Relaxed) {
            0 => {
                let image = space.fold(&self.class, local & !1);
                slot.store(image + 1, Ordering::Relaxed);
                image
            }
            known => known - 1,
        };
        known ^ local & 1
    }

    /// Whether both images of the index's sides are one position.
    pub(super) fn is_fixed(&self, index: usize, space: &S) -> bool {
        self.folds() && space.is_fixed(&self.class, index as u32)
    }
}

/// Where locals of side 0 enter the next region, plus one; 0 where not yet known.
enum Carried {
    Narrow(Box<[AtomicU16]>),
    Wide(Box<[AtomicU32]>),
}

/// All tables of one process.
pub(crate) struct Tables<S: Tabled> {
    pub(super) space: Arc<S>,
    pub(super) shards: u32,
    pub(super) locals: Locals,
    /// By door and symmetry.
    carried: Vec<Carried>,
    fixed_bytes: usize,
    classes: RwLock<FxHashMap<ClassKey, Arc<ClassTable<S>>>>,
    class_bytes: AtomicUsize,
    limit: usize,
    generation: AtomicUsize,
}

impl<S: Tabled> Tables<S> {
    /// Makes the tables that all classes share. All tables together may take `limit` bytes.
    pub(crate) fn new(space: Arc<S>, shards: u32, limit: usize) -> Tables<S> {
        assert!(S::DOORS <= MAX_DOORS, "a space has at most {MAX_DOORS} doors");
        let indices = space.indices() as usize;
        let locals = Locals::new(&*space);
        let narrow = indices <= NARROW;
        let carried = (0..usize::from(S::DOORS) * usize::from(S::SYMMETRIES)).map(|_| {
            if narrow {
                Carried::Narrow(bytemuck::zeroed_slice_box(indices))
            } else {
                Carried::Wide(bytemuck::zeroed_slice_box(indices))
            }
        });
        let carried: Vec<Carried> = carried.collect();
        let cell = if narrow { 2 } else { 4 };
        Tables {
            fixed_bytes: space.bytes() + locals.bytes() + carried.len() * indices * cell,
            shards,
            locals,
            carried,
            classes: RwLock::default(),
            class_bytes: AtomicUsize::new(0),
            limit,
            generation: AtomicUsize::new(0),
            space,
        }
    }

    /// Bytes of all tables.
    pub(crate) fn bytes(&self) -> usize {
        self.fixed_bytes + self.class_bytes.load(Ordering::Relaxed)
    }

    /// Drops all class tables if they have outgrown their share. Called between passes; kernels
    /// drop their references when the next one begins.
    pub(crate) fn trim(&self) {
        if self.bytes() <= self.limit {
            return;
        }
        self.classes.write().unwrap_or_else(PoisonError::into_inner).clear();
        self.class_bytes.store(0, Ordering::Relaxed);
        self.generation.fetch_add(1, Ordering::Relaxed);
    }

    /// Changes whenever all class tables have been dropped.
    pub(super) fn generation(&self) -> usize {
        self.generation.load(Ordering::Relaxed)
    }

    pub(super) fn class(&self, key: ClassKey) -> Arc<ClassTable<S>> {
        let classes = self.classes.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(table) = classes.get(&key) {
            return table.clone();
        }
        drop(classes);
        let table = Arc::new(ClassTable::new(&*self.space, key));
        let mut classes = self.classes.write().unwrap_or_else(PoisonError::into_inner);
        let entry = classes.entry(key).or_insert_with(|| {
            self.class_bytes.fetch_add(table.bytes(), Ordering::Relaxed);
            table
        });
        entry.clone()
    }

    /// Appends the locals with which some locals enter the region behind a door.
    #[inline]
    pub(super) fn carry(&self, door: Door, symmetry: u8, leaving: &[Local], out: &mut Vec<Local>) {
        let table = usize::from(door) * usize::from(S::SYMMETRIES) + usize::from(symmetry);
        let compute = |index: usize| self.compute(index, door, symmetry);
        match &self.carried[table] {
            Carried::Narrow(carried) => out.extend(leaving.iter().map(|local| {
                let index = (local >> 1) as usize;
                let known = match carried[index].load(Ordering::Relaxed) {
                    0 => {
                        let entered = compute(index);
                        carried[index].store(entered as u16 + 1, Ordering::Relaxed);
                        entered
                    }
                    known => u32::from(known - 1),
                };
                known ^ local & 1
            })),
            Carried::Wide(carried) => out.extend(leaving.iter().map(|local| {
                let index = (local >> 1) as usize;
                let known = match carried[index].load(Ordering::Relaxed) {
                    0 => {
                        let entered = compute(index);
                        carried[index].store(entered + 1, Ordering::Relaxed);
                        entered
                    }
                    known => known - 1,
                };
                known ^ local & 1
            })),
        }
    }

    #[cold]
    #[inline(never)]
    fn compute(&self, index: usize, door: Door, symmetry: u8) -> Local {
        self.space.carry(index as u32, door, symmetry)
    }
}
