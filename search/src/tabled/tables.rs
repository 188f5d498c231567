//! What local parts can do, in tables shared by all threads: one for all classes, and for each
//! class which moves are open.
//!
//! Entries that are filled as they are needed are pure functions of their place, so threads may
//! fill the same one at once, and class tables may be dropped at any time.

use std::sync::atomic::{AtomicU16, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use rustc_hash::FxHashMap;
use strata_space::{ClassKey, Door, Local, MAX_DOORS, Tabled, Weight};

use super::NARROW;

/// Slots of a row: a power of two, so that rows do not straddle cache lines.
const ROW: usize = 8;

/// Where every local part's moves lead inside a region: per index and door the local that side 0
/// reaches, its own local where the door is none of that kind.
pub(super) enum Rows {
    Narrow(Box<[[u16; ROW]]>),
    Wide(Box<[[u32; ROW]]>),
}

/// The same in all classes.
pub(super) struct Locals {
    pub(super) rows: Rows,
    /// `[index][side][2 * image + prime]`.
    pub(super) weights: Box<[[[u64; 4]; 2]]>,
}

impl Locals {
    fn new<S: Tabled>(space: &S) -> Locals {
        let indices = space.indices();
        let row = |index: u32| {
            let mut row = [2 * index; ROW];
            for door in 0..S::DOORS {
                row[usize::from(door)] =
                    space.inside(index, door).map_or(2 * index, |next| 2 * next);
            }
            row
        };
        let rows = if 2 * indices as usize <= NARROW {
            Rows::Narrow((0..indices).map(|index| row(index).map(|local| local as u16)).collect())
        } else {
            Rows::Wide((0..indices).map(row).collect())
        };
        let weights = (0..indices).map(|index| {
            let sides = space.local_weights(index);
            sides.map(|[Weight([a, b]), Weight([c, d])]| [a, b, c, d])
        });
        Locals { rows, weights: weights.collect() }
    }

    fn bytes(&self) -> usize {
        let rows = match &self.rows {
            Rows::Narrow(rows) => size_of_val(&**rows),
            Rows::Wide(rows) => size_of_val(&**rows),
        };
        rows + size_of_val(&*self.weights)
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

/// One class's table.
pub(super) struct ClassTable<S: Tabled> {
    class: S::Class,
    open: Box<[AtomicU16]>,
    /// Index to folded local plus one, 0 where not yet known; None where nothing is folded.
    folded: Option<Box<[AtomicU32]>>,
}

impl<S: Tabled> ClassTable<S> {
    fn new(space: &S, key: ClassKey) -> ClassTable<S> {
        let class = space.class(key);
        let indices = space.indices() as usize;
        let folded = space.folds(&class).then(|| bytemuck::zeroed_slice_box(indices));
        ClassTable { class, open: bytemuck::zeroed_slice_box(indices), folded }
    }

    fn bytes(&self) -> usize {
        let folded = self.folded.as_ref().map_or(0, |folded| size_of_val(&**folded));
        size_of_val(&*self.open) + folded
    }

    /// The doors open to an index.
    #[inline(always)]
    pub(super) fn open(&self, index: usize, space: &S) -> Open {
        match self.open[index].load(Ordering::Relaxed) {
            0 => self.fill(index, space),
            open => Open(open),
        }
    }

    #[cold]
    #[inline(never)]
    fn fill(&self, index: usize, space: &S) -> Open {
        let doors = space.open(&self.class, index as u32);
        let open = u16::from(doors.inside) | u16::from(doors.exits) << MAX_DOORS | Open::FILLED;
        self.open[index].store(open, Ordering::Relaxed);
        Open(open)
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
        let narrow = matches!(locals.rows, Rows::Narrow(_));
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
