//! Files of a search: layer files, spilled runs, dense layers, diagram snapshots, and the folder of a job
//! with its manifest and its history. `docs/format.md` describes every byte.
//!
//! - [`BlockEncoder`]s on several threads fill one [`LayerWriter`], whose `seal` returns a
//!   [`Layer`].
//! - A [`LayerCursor`] reads a [`KeyRange`] of a layer.
//! - [`JobDir`] is the folder of a job, [`Manifest`] its specification, state and result, [`History`] its
//!   list of layers.
//! - [`Fs`] is the interface to the file system, through which tests inject faults.
//!
//! ```
//! use strata_store::{
//!     BlockEncoder, EncodeOptions, EntryKey, FileKind, KeyRange, LayerCursor, LayerHeader,
//!     LayerTotals, LayerWriter, Word,
//! };
//!
//! let header =
//!     LayerHeader::new(FileKind::Layer, "demo", 1, 1);
//! let writer = LayerWriter::memory(header)?;
//! let mut encoder = BlockEncoder::new(EncodeOptions::default())?;
//! let key = EntryKey { shard: 0, region: 7 };
//! encoder.push(&writer, key, Word::of(&[1, 5, 8]))?;
//! let part = encoder.finish(&writer)?;
//! let totals = LayerTotals { regions: 1, states: 3, ..LayerTotals::default() };
//! let layer = writer.seal(vec![part], totals)?;
//!
//! let mut cursor = LayerCursor::new()?;
//! cursor.start(&layer, KeyRange::ALL)?;
//! assert_eq!(cursor.key(), Some(key));
//! assert_eq!(Word::locals(cursor.locals()?), [1, 5, 8]);
//! # Ok::<(), strata_store::StoreError>(())
//! ```
#![forbid(unsafe_code)]

mod buffer_pool;
mod dense;
mod diagram;
mod error;
mod fs;
mod hex;
mod holder;
mod job;
mod key;
mod layer;
mod name;

pub use buffer_pool::{BufferPool, PooledBuffer};
pub use dense::{DENSE_ENCODING, DenseEncoder, DenseNumbering, DenseReader, dense_excerpt};
pub use diagram::{
    SnapshotSeal, check_diagram_snapshot, read_diagram_snapshot, write_diagram_snapshot,
};
pub use error::{Result, StoreError};
pub use fs::{
    FaultyFs, Fs, FsFile, FsRead, RealFs, create_dir_durably, hold_temporary, is_temporary,
    is_unusable_path, open_input, open_private, open_regular, read_input, read_limited,
    remove_abandoned, write_durably,
};
pub use hex::Hex64;
pub use holder::Holder;
pub use job::{
    Checkpoint, CheckpointFile, Counters, DataDir, EngineKind, History, HistoryPrefix, HistoryView,
    JobDir, JobResult, JobSpec, KeptFile, LayerRecord, Manifest, OwnedJob, Removed, RunSettings,
    RunState, frontier_file, is_layer_file, jobs_in, layer_file, older_file, owned_jobs,
    read_history, remove_job, remove_remains, take_job,
};
pub use key::{EntryKey, KeyRange};
pub use layer::{
    BlockEncoder, BlockMeta, EncodeOptions, Excerpt, ExpectedFile, FileKind, FilePart, Layer,
    LayerCursor, LayerHeader, LayerTotals, LayerWriter, List, ListBuf, LocalWidth, LocalWord,
    MAX_ENTRY_WORDS, RecycledFile, Sample, ShardCount, ShardEntry, VerifiedCounts, Word,
};
pub use name::check_name;
pub use strata_space::{Digest, Weight};
