//! Options of a search.

/// Resources and extent of a search.
#[derive(Copy, Clone, Debug)]
pub struct Options {
    /// Memory budget in bytes.
    pub memory: usize,
    /// Keeps all layers in memory, for [`Search::shortest_path`](crate::symbolic::Search::shortest_path). The
    /// search then never drops old layers to free memory.
    pub keep_layers: bool,
    /// Counts moves and computes digests. Takes 40 bytes per node.
    pub digests: bool,
    /// Every `verify`-th memoised step is recomputed and compared; 0 for none.
    pub verify: u32,
    /// Number of threads. With two or more, one helper thread derives exit sets and digests, which
    /// takes 27 more bytes per node. More than two are not used.
    pub threads: usize,
}
