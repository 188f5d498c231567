//! Dense layer files: one bit for every state of a range of blocks, in chunks of words or of gaps.
//!
//! They are layer files whose blocks are [chunks](chunk) of consecutive blocks of a dense space.
//! `docs/format.md` describes the bytes.

mod chunk;
mod encoder;
mod excerpt;
mod numbering;
mod reader;

pub use encoder::DenseEncoder;
pub use excerpt::dense_excerpt;
pub use numbering::{DENSE_ENCODING, DenseNumbering};
pub use reader::DenseReader;

#[cfg(test)]
mod tests;
