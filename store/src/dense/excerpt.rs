//! The bytes of a dense layer's file that have the states of some blocks.

use std::ops::Range;

use super::reader::chunks_near;
use crate::layer::file::Layer;
use crate::layer::format::{HEADER_MOST, TRAILER};

/// The byte ranges of a file that a reader of some blocks needs: the header, the index, and the chunks that
/// overlap the ranges of blocks. Neighbouring chunks are one range.
#[must_use]
pub fn dense_excerpt(layer: &Layer, blocks: &[Range<u32>]) -> Vec<Range<u64>> {
    let len = layer.file_bytes();
    let ends = layer.blocks().iter().map(|chunk| chunk.offset + u64::from(chunk.stored_len));
    let index = ends.max().unwrap_or(len.saturating_sub(TRAILER as u64 + HEADER_MOST));
    let mut ranges = vec![0..HEADER_MOST.min(len), index..len];
    let near = blocks.iter().flat_map(|blocks| chunks_near(layer, blocks));
    let mut chunks: Vec<Range<u64>> =
        near.map(|chunk| chunk.offset..chunk.offset + u64::from(chunk.stored_len)).collect();
    // A chunk may overlap several ranges.
    chunks.sort_unstable_by_key(|range| range.start);
    chunks.dedup();
    for chunk in chunks {
        match ranges[2..].last_mut() {
            Some(last) if last.end == chunk.start => last.end = chunk.end,
            _ => ranges.push(chunk),
        }
    }
    ranges
}
