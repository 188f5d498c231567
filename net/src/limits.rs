//! What a message, a connection and a request may have at most. Both ends use these numbers, so
//! that neither sends what the other refuses.

use std::time::Duration;

/// Greatest message between coordinator and workers, and between clients and coordinator.
pub const MESSAGE_BYTES: usize = 4 << 20;

/// Greatest message between workers: a batch of exits.
pub const BATCH_BYTES: usize = 64 << 20;

/// Most bytes of a file in one message.
pub const CHUNK_BYTES: usize = 1 << 20;

/// Most calls that one connection may have open at a time.
pub const STREAMS: u32 = 256;

/// Longest name of a job, a state space or a parameter.
pub const NAME_LEN: usize = 64;

/// Most parameters of a state space.
pub const PARAMETERS: usize = 64;

/// Longest value of a parameter, in bytes.
pub const PARAMETER_LEN: usize = 256;

/// Workers of a cluster: their numbers are below this.
pub const WORKERS: u32 = 4096;

/// Counts and lengths of one worker's part of a layer are below this, so that sums over all workers
/// cannot overflow.
pub const PART_COUNT: u64 = 1 << 48;

/// Counts and lengths of a whole layer are below this.
pub const LAYER_COUNT: u64 = PART_COUNT * WORKERS as u64;

/// How long a connection may take to come about: name look-up, TCP and TLS together.
pub(crate) const CONNECT: Duration = Duration::from_secs(5);

/// A connection on which nothing was heard for so long is probed, and given up if the probe is not
/// answered in the same time: a peer that lost power would otherwise never be missed.
pub(crate) const KEEPALIVE: Duration = Duration::from_secs(10);

/// Bytes that may be under way in one call before the receiver has taken them. More would only pile
/// up outside of the memory budget.
pub(crate) const STREAM_WINDOW: u32 = 1 << 20;

/// Bytes that may be under way on one connection.
pub(crate) const CONNECTION_WINDOW: u32 = 2 << 20;
