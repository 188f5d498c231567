//! Layer files and runs: sorted regions in compressed, checksummed blocks, with an index.

pub(crate) mod bits;
pub(crate) mod columns;
pub(crate) mod cursor;
pub(crate) mod encoder;
pub(crate) mod excerpt;
pub(crate) mod file;
pub(crate) mod format;
pub(crate) mod gaps;
pub(crate) mod index;
pub(crate) mod list;
pub(crate) mod local;
pub(crate) mod recycled;
pub(crate) mod repeats;
pub(crate) mod sample;
pub(crate) mod source;
pub(crate) mod span;
pub(crate) mod varint;
pub(crate) mod verify;
pub(crate) mod wide;
pub(crate) mod writer;

pub use cursor::LayerCursor;
pub use encoder::{BlockEncoder, EncodeOptions};
pub use excerpt::Excerpt;
pub use file::{ExpectedFile, Layer};
pub use format::{FileKind, LayerHeader, LayerTotals};
pub use index::{BlockMeta, FilePart, MAX_ENTRY_WORDS, ShardCount, ShardEntry};
pub use list::{List, ListBuf};
pub use local::{LocalWidth, LocalWord, Word};
pub use recycled::RecycledFile;
pub use sample::Sample;
pub use verify::VerifiedCounts;
pub use writer::LayerWriter;
