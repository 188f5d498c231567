//! A space made ready for searching: tables shared by all tasks, and a kernel for each.

use std::sync::Arc;

use strata_space::{Finish, KeySpace, Keyed, RegionKey, State, StateSpace, Tabled};
use strata_store::EntryKey;

use crate::direct::DirectKernel;
use crate::kernel::Kernel;
use crate::tabled::{Shared, TabledKernel};

/// A space made ready. Lanes of one process share one engine.
pub struct Engine {
    space: Arc<dyn StateSpace>,
    shards: u32,
    /// Exclusive bound of locals.
    locals: u32,
    kernels: Box<dyn Kernels>,
}

/// What a kernel may keep, in bytes.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct KernelMemory {
    /// For what is known of regions.
    pub regions: usize,
    /// For steps that may be met again: a share in what all kernels of the engine remember.
    pub memo: usize,
}

/// Makes kernels of one kind, whatever the type of the space.
trait Kernels: Send + Sync {
    fn make(&self, memory: KernelMemory) -> Box<dyn Kernel>;
    fn bytes(&self) -> usize;
}

struct Direct<S> {
    space: Arc<S>,
    shards: u32,
}

impl<S: StateSpace> Kernels for Direct<S> {
    fn make(&self, _: KernelMemory) -> Box<dyn Kernel> {
        Box::new(DirectKernel::new(self.space.clone(), self.shards))
    }

    fn bytes(&self) -> usize {
        0
    }
}

struct ByTables<S: Tabled> {
    space: Arc<S>,
    shards: u32,
    shared: Shared<S::Class>,
}

impl<S: Tabled> Kernels for ByTables<S> {
    fn make(&self, memory: KernelMemory) -> Box<dyn Kernel> {
        Box::new(TabledKernel::new(self.space.clone(), self.shards, memory, &self.shared))
    }

    fn bytes(&self) -> usize {
        self.space.table_bytes()
    }
}

impl Engine {
    /// Prepares any space: every state's moves are worked out when they are needed.
    pub fn direct<S: StateSpace>(space: S, shards: u32) -> Engine {
        let space = Arc::new(space);
        let kernels = Box::new(Direct { space: space.clone(), shards });
        Engine { space, shards, locals: u32::MAX, kernels }
    }

    /// Prepares a space of keys, whose locals have a known bound.
    pub fn keyed<S: KeySpace>(space: Keyed<S>, shards: u32) -> Engine {
        let locals = 2 << space.space().local_bits();
        Engine { locals, ..Engine::direct(space, shards) }
    }

    /// Prepares a space with tables.
    pub fn tabled<S: Tabled>(space: S, shards: u32) -> Engine {
        let space = Arc::new(space);
        let locals = 2 * space.indices();
        let kernels =
            Box::new(ByTables { space: space.clone(), shards, shared: Shared::default() });
        Engine { space, shards, locals, kernels }
    }

    /// The states of depth 0, each with its place.
    pub fn seeds(&self) -> Vec<(EntryKey, State)> {
        let place = |seed: State| (self.place(seed.region), seed);
        self.space.seeds().into_iter().map(place).collect()
    }

    fn place(&self, region: RegionKey) -> EntryKey {
        let shard = (self.space.shard_hash(region) % u64::from(self.shards)) as u32;
        EntryKey { shard, region: region.0 }
    }

    /// What every local is below: twice the number of indices. Of a space without tables or keys
    /// it is not known, and any is below `u32::MAX`.
    pub fn locals(&self) -> u32 {
        self.locals
    }

    /// A position that a state stands for, in the space's text form.
    pub fn text(&self, state: State) -> String {
        self.space.text(state)
    }

    /// When the search is over.
    pub fn finish(&self) -> Finish {
        self.space.finish()
    }

    /// A kernel for one task.
    pub fn kernel(&self, memory: KernelMemory) -> Box<dyn Kernel> {
        self.kernels.make(memory)
    }

    /// Bytes of the space's tables, which all tasks share.
    pub fn table_bytes(&self) -> usize {
        self.kernels.bytes()
    }
}
