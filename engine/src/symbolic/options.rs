//! Options of a symbolic search.

/// Resources and extent of a search.
#[derive(Copy, Clone, Debug)]
pub struct Options {
    /// Memory budget in bytes.
    pub memory: usize,
    /// Whether all layers are kept in memory, for
    /// [`Search::shortest_path`](crate::symbolic::Search::shortest_path). The search then never drops old
    /// layers to free memory.
    pub keep_layers: bool,
    /// Whether moves are counted and digests computed, which takes 40 bytes per node.
    pub digests: bool,
    /// Every `verify`-th reuse of a memoised step is verified by recomputing the step; 0 for none.
    pub verify: u32,
    /// Number of threads, of which at most two are used. The second is a helper thread that derives exit
    /// sets and digests; it takes 27 more bytes per node.
    pub threads: usize,
}
