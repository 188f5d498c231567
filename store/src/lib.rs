//! What Strata keeps on disk: layer files and spilled runs, the block codec inside them, and a
//! job's folder with its manifest and history. `docs/format.md` describes every byte.
#![deny(unsafe_code)]

pub mod block;
mod columns;
pub mod cursor;
mod error;
mod format;
mod frontier;
pub mod fs;
mod gaps;
pub mod history;
pub mod job;
mod key;
pub mod layer;
mod list;
pub mod manifest;
mod mapping;
mod sample;
mod spare;
mod varint;

pub use block::{BlockEncoder, BlockMeta, EncodeOptions, Part, ShardCount};
pub use cursor::LayerCursor;
pub use error::{Result, StoreError};
pub use format::{FileKind, LayerHeader, LayerTotals, ShardEntry};
pub use frontier::{SealedFrontier, read_frontier, write_frontier};
pub use fs::{FaultyFs, Fs, FsFile, RealFs};
pub use history::{History, HistoryView, KeptFile, LayerLine, read_history};
pub use job::{DataDir, JobDir};
pub use key::EntryKey;
pub use layer::{Expect, Layer, LayerWriter, Recount};
pub use list::{List, ListBuf};
pub use manifest::{
    Checkpoint, Counters, EngineKind, Hex64, Hex128, HistoryRecord, JobResult, JobSpec, JobState,
    LayerRecord, Manifest,
};
pub use mapping::Mapping;
pub use sample::Sample;
pub use spare::Spare;
