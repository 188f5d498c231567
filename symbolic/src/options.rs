//! Options.

/// Means of a search.
#[derive(Copy, Clone, Debug)]
pub struct Options {
    /// Memory budget in bytes.
    pub memory: usize,
    /// Whether all layers are remembered, so that a way can be traced back. Nothing is collected
    /// then.
    pub keep_layers: bool,
    /// Whether moves are counted and digests are made: 40 bytes a node.
    pub digests: bool,
    /// Of so many steps from memory one is made again and compared; 0 for none.
    pub verify: u32,
    /// Threads. With two, one works out exits and digests of the nodes that the other makes, which
    /// takes 27 bytes a node more; more than two are not used.
    pub threads: usize,
}
