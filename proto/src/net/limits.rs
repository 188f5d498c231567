//! Limits of messages, connections and requests.
//!
//! Both ends use these numbers, so neither sends what the other refuses. `docs/protocol.md` lists
//! them.

use std::time::Duration;

/// Bytes of a message between coordinator and workers, or between clients and coordinator.
pub const MESSAGE_BYTES: usize = 4 << 20;

/// Bytes of a message between workers: a batch of exits.
pub const BATCH_BYTES: usize = 64 << 20;

/// Bytes of a file in one message.
pub const CHUNK_BYTES: usize = 1 << 20;

/// Calls open at a time on one connection.
pub const STREAMS: u32 = 256;

/// Length of the name of a job, a worker, a state space or a parameter, in bytes.
pub const NAME_LEN: usize = 64;

/// Parameters of a state space.
pub const PARAMETERS: usize = 64;

/// Length of a parameter's value, in bytes: the content of a file of 64 KiB, with escapes.
pub const PARAMETER_LEN: usize = 128 << 10;

/// Bytes of a PEM file.
pub(crate) const PEM_BYTES: u64 = 1 << 20;

/// Workers of a cluster. Their numbers are below this.
pub const WORKERS: u32 = 4096;

/// Layers of a job whose files a worker keeps. The names of so many files fit its memory.
pub const KEPT_LAYERS: u64 = 1 << 22;

/// Removed jobs of which workers may still hold files, at most.
pub const TOMBSTONES: usize = 1 << 14;

/// Removed jobs in one message to a worker.
pub const REMOVALS: usize = 1024;

/// Exclusive bound of the newest epoch that a worker reports. The coordinator's next epoch is greater
/// than the reported one.
pub const EPOCHS: u64 = 1 << 48;

/// Exclusive bound of counts and lengths of one worker's part of a layer: sums over all workers do
/// not overflow.
pub const PART_COUNT: u64 = 1 << 48;

/// Exclusive bound of counts and lengths of a whole layer.
pub const LAYER_COUNT: u64 = PART_COUNT * WORKERS as u64;

/// Longest time from a connection to its first authorised call or HTTP request.
pub const FIRST_CALL: Duration = Duration::from_secs(10);

/// Connections of a gRPC listener at a time that have had no authorised call.
pub const UNAUTHORIZED: usize = 256;

/// Connections to the HTTP port at a time that have had no authorised request. The limit of all
/// connections to the port is twice this number.
pub const HTTP_CONNECTIONS: usize = 128;

/// Longest time to connect: name lookup, TCP and TLS together.
pub(crate) const CONNECT: Duration = Duration::from_secs(5);

/// A connection that is silent for this long is probed, and dropped if the probe is not answered
/// in the same time. Without probes, a peer that lost power would never be detected.
pub const KEEPALIVE: Duration = Duration::from_secs(10);

/// Time after which a connection of frames ends if nothing has come over it. Its other end sends an empty frame
/// after [`KEEPALIVE`].
pub const SILENCE: Duration = Duration::from_secs(30);

/// Minimum rate of a file or a batch from another node, in bytes a second, averaged over a window such
/// as the lease. A node that sends less is treated like one that sends nothing.
pub const BYTES_PER_SECOND: u32 = 64 << 10;

/// Longest reason of another node that a message or a log repeats, in characters.
pub(crate) const TEXT_LEN: usize = 2000;

/// Longest value of another node that an error quotes, in characters.
pub(crate) const QUOTED_LEN: usize = 120;

/// Bytes in flight of one call that the receiver has not read. More would accumulate outside the
/// memory budget.
pub(crate) const STREAM_WINDOW: u32 = 1 << 20;

/// Most bytes of a frame of HTTP/2: a piece of a file is sent as one.
pub(crate) const FRAME: u32 = 1 << 17;

/// Bytes in flight on one connection.
pub(crate) const CONNECTION_WINDOW: u32 = 2 << 20;
