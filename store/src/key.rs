//! The sort key of everything on disk.

/// Where a region's states are sorted in: ordered by shard, then by region.
#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Hash, Debug, Default)]
pub struct EntryKey {
    /// The shard that owns the region.
    pub shard: u32,
    /// The region's key, unique over all shards.
    pub region: u128,
}

impl EntryKey {
    /// The smallest key a shard can hold: `[start(s), start(s + 1))` is all of shard `s`.
    #[must_use]
    pub const fn start(shard: u32) -> Self {
        Self { shard, region: 0 }
    }
}

impl std::fmt::Display for EntryKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{:x}", self.shard, self.region)
    }
}
