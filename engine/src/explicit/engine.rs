//! A space prepared for a search, with the tables and caches that all kernels share.

use std::sync::Arc;

use strata_space::{
    ExitEdge, Finish, KeySpace, Keyed, RegionKey, State, StateSpace, Tabled, check_tabled,
};
use strata_store::{EntryKey, LocalWidth};

use crate::explicit::error::{Result, check_region};
use crate::explicit::kernel::{Kernel, KernelMemory};
use crate::explicit::sparse::{Narrow, SparseKernel, Wide};
use crate::explicit::tabled::{SharedCaches, TabledKernel};

/// A space prepared for a search. All tasks of a process share one engine.
pub struct Engine {
    space: Arc<dyn StateSpace>,
    shards: u32,
    /// Exclusive upper bound of locals.
    locals: u128,
    exit_edges: ExitEdge,
    kernels: Box<dyn KernelFactory>,
}

/// Factory of the kernels of one space.
trait KernelFactory: Send + Sync {
    fn make(&self, memory: KernelMemory) -> Box<dyn Kernel>;
    fn table_bytes(&self) -> usize;
}

struct SparseFactory<S> {
    space: Arc<S>,
    shards: u32,
}

impl<S: StateSpace> KernelFactory for SparseFactory<S> {
    fn make(&self, _: KernelMemory) -> Box<dyn Kernel> {
        let (space, shards) = (self.space.clone(), self.shards);
        match LocalWidth::of_bits(space.local_bits()) {
            LocalWidth::One => Box::new(SparseKernel::<S, Narrow>::new(space, shards)),
            LocalWidth::Two => Box::new(SparseKernel::<S, Wide<u64>>::new(space, shards)),
            LocalWidth::Four => Box::new(SparseKernel::<S, Wide<u128>>::new(space, shards)),
        }
    }

    fn table_bytes(&self) -> usize {
        0
    }
}

struct TabledFactory<S: Tabled> {
    space: Arc<S>,
    shards: u32,
    shared: SharedCaches<S::Class>,
}

impl<S: Tabled> KernelFactory for TabledFactory<S> {
    fn make(&self, memory: KernelMemory) -> Box<dyn Kernel> {
        Box::new(TabledKernel::new(self.space.clone(), self.shards, memory, &self.shared))
    }

    fn table_bytes(&self) -> usize {
        self.space.table_bytes()
    }
}

impl Engine {
    /// Prepares any space: kernels compute the moves of every state. `shards` is the number of shards.
    ///
    /// # Panics
    /// If locals have more than 127 bits.
    pub fn sparse<S: StateSpace>(space: S, shards: u32) -> Engine {
        assert!(space.local_bits() < u128::BITS, "locals of {} bits", space.local_bits());
        let space = Arc::new(space);
        let kernels = Box::new(SparseFactory { space: space.clone(), shards });
        let locals = 1 << space.local_bits();
        Engine { space, shards, locals, exit_edges: 0, kernels }
    }

    /// Prepares a space whose states are integer keys.
    pub fn keyed<S: KeySpace>(space: Keyed<S>, shards: u32) -> Engine {
        Engine::sparse(space, shards)
    }

    /// Prepares a space with tables.
    ///
    /// # Panics
    /// If the space is not within the limits of [`check_tabled`]. Check spaces of unknown origin
    /// first.
    pub fn tabled<S: Tabled>(space: S, shards: u32) -> Engine {
        let checked = check_tabled(&space);
        assert!(checked.is_ok(), "{checked:?}");
        let space = Arc::new(space);
        let (locals, exit_edges) = ((2 * space.indices()).into(), space.exit_edges());
        let kernels = Box::new(TabledFactory {
            space: space.clone(),
            shards,
            shared: SharedCaches::default(),
        });
        Engine { space, shards, locals, exit_edges, kernels }
    }

    /// The states of depth 0, each with the key of its region.
    ///
    /// # Errors
    /// [`Error::ReservedRegion`](crate::explicit::Error::ReservedRegion) if a seed has the reserved region.
    pub fn seeds(&self) -> Result<Vec<(EntryKey, State)>> {
        let keyed = |seed: State| {
            check_region(&*self.space, seed)?;
            Ok((self.key(seed.region), seed))
        };
        self.space.seeds().into_iter().map(keyed).collect()
    }

    fn key(&self, region: RegionKey) -> EntryKey {
        EntryKey::in_shards(region.0, self.space.shard_hash(region), self.shards)
    }

    /// Exclusive upper bound of locals: twice the number of indices for a space with tables, otherwise two
    /// to the power of the space's `local_bits`.
    pub fn locals(&self) -> u128 {
        self.locals
    }

    /// The width of locals in files and runs.
    pub fn width(&self) -> LocalWidth {
        width_of(self.locals)
    }

    /// Number of exit edges of a region, the exclusive bound of inverse edges; 0 for a space without
    /// tables.
    pub fn exit_edges(&self) -> ExitEdge {
        self.exit_edges
    }

    /// A position that a state stands for, in the space's text form.
    pub fn text(&self, state: State) -> String {
        self.space.text(state)
    }

    /// Number of positions that a state stands for; None, for all states, if the space does not count them.
    pub fn positions(&self, state: State) -> Option<u64> {
        self.space.positions(state)
    }

    /// Whether each move can be undone by another, so that a pass needs the last two layers only.
    pub fn is_undirected(&self) -> bool {
        self.space.is_undirected()
    }

    /// How the search ends.
    pub fn finish(&self) -> Finish {
        self.space.finish()
    }

    /// Makes a kernel for one task.
    pub fn kernel(&self, memory: KernelMemory) -> Box<dyn Kernel> {
        self.kernels.make(memory)
    }

    /// Bytes of the space's tables, which all tasks share.
    pub fn table_bytes(&self) -> usize {
        self.kernels.table_bytes()
    }
}

/// The width for locals below `locals`.
pub(crate) fn width_of(locals: u128) -> LocalWidth {
    LocalWidth::of_bits(u128::BITS - (locals - 1).leading_zeros())
}
