//! A space made ready for searching: tables shared by all lanes, and a kernel for each.

use std::sync::Arc;

use strata_space::{Finish, RegionKey, Space, State, StateSpace, Tabled};
use strata_store::EntryKey;

use crate::direct::DirectKernel;
use crate::kernel::Kernel;
use crate::tabled::{TabledKernel, Tables};

/// A space and its tables. Lanes of one process share one engine.
pub struct Engine {
    space: Arc<dyn StateSpace>,
    shards: u32,
    kernels: Box<dyn Kernels>,
}

/// What differs between types of spaces, behind one interface.
trait Kernels: Send + Sync {
    fn make(&self, cache_bytes: usize) -> Box<dyn Kernel>;
    fn trim(&self) {}
    fn bytes(&self) -> usize {
        0
    }
}

struct Direct<S> {
    space: Arc<S>,
    shards: u32,
}

impl<S: StateSpace> Kernels for Direct<S> {
    fn make(&self, _: usize) -> Box<dyn Kernel> {
        Box::new(DirectKernel::new(self.space.clone(), self.shards))
    }
}

impl<S: Tabled> Kernels for Arc<Tables<S>> {
    fn make(&self, cache_bytes: usize) -> Box<dyn Kernel> {
        Box::new(TabledKernel::new(self.clone(), cache_bytes))
    }

    fn trim(&self) {
        Tables::trim(self);
    }

    fn bytes(&self) -> usize {
        Tables::bytes(self)
    }
}

impl Engine {
    /// Prepares one of the spaces of the catalogue. Tables may take `table_bytes`.
    pub fn open(space: Space, shards: u32, table_bytes: usize) -> Engine {
        match space {
            Space::Panex(panex) => Engine::tabled(panex, shards, table_bytes),
            Space::Hanoi(hanoi) => Engine::direct(hanoi, shards),
        }
    }

    /// Prepares any space: every state's moves are worked out when they are needed.
    pub fn direct<S: StateSpace>(space: S, shards: u32) -> Engine {
        let space = Arc::new(space);
        Engine { space: space.clone(), shards, kernels: Box::new(Direct { space, shards }) }
    }

    /// Prepares a space with tables, which may take `table_bytes`.
    pub fn tabled<S: Tabled>(space: S, shards: u32, table_bytes: usize) -> Engine {
        let space = Arc::new(space);
        let tables = Arc::new(Tables::new(space.clone(), shards, table_bytes));
        Engine { space, shards, kernels: Box::new(tables) }
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

    /// When the search is over.
    pub fn finish(&self) -> Finish {
        self.space.finish()
    }

    /// A kernel for one lane; its cache of regions may take `cache_bytes`.
    pub fn kernel(&self, cache_bytes: usize) -> Box<dyn Kernel> {
        self.kernels.make(cache_bytes)
    }

    /// Keeps the tables within their share; called between passes.
    pub fn trim(&self) {
        self.kernels.trim();
    }

    /// Bytes of all tables.
    pub fn table_bytes(&self) -> usize {
        self.kernels.bytes()
    }
}
