//! What Strata keeps on disk: layer files and spilled runs, the block codec inside them, and a
//! job's folder with its manifest and history. `docs/format.md` describes every byte.
#![deny(unsafe_code)]

pub mod block;
mod columns;
pub mod cursor;
mod diagram;
mod error;
mod format;
pub mod fs;
mod gaps;
pub mod history;
pub mod job;
mod key;
pub mod layer;
mod list;
pub mod manifest;
mod mapping;
mod recycled;
mod sample;
mod varint;

pub use block::{BlockEncoder, BlockMeta, EncodeOptions, FilePart, ShardCount};
pub use cursor::LayerCursor;
pub use diagram::{SnapshotSeal, read_diagram_snapshot, write_diagram_snapshot};
pub use error::{Result, StoreError};
pub use format::{FileKind, LayerHeader, LayerTotals, ShardEntry};
pub use fs::{FaultyFs, Fs, FsFile, RealFs};
pub use history::{History, HistoryLine, HistoryView, KeptFile, read_history};
pub use job::{DataDir, JobDir};
pub use key::{EntryKey, KeyRange};
pub use layer::{ExpectedFile, Layer, LayerWriter, VerifiedCounts};
pub use list::{List, ListBuf};
pub use manifest::{
    Checkpoint, CheckpointFile, Counters, EngineKind, Hex64, Hex128, HistoryPrefix, JobResult,
    JobSpec, Manifest, RunState,
};
pub use mapping::Mapping;
pub use recycled::RecycledFile;
pub use sample::Sample;
