//! Mutations of layer files and runs that get past the checksums.
//!
//! A second implementation of `docs/format.md`: it shares no code with the store.

use xxhash_rust::xxh3::xxh3_64;

use crate::fuzz::mutate;
use crate::fuzz::rng::Rng;

const HEADER: usize = 20;
const TRAILER: usize = 96;
const BLOCK: usize = 72;
const SHARD: usize = 24;
const COLUMNS: usize = 7;
const COUNTS: usize = 2;
const GAPS: usize = 4;

/// Depth, encoding and job id in a header; defaults where the header is too short.
pub(super) fn header_of(bytes: &[u8]) -> (u32, u16, String) {
    let number = |at: usize, width: usize| {
        bytes
            .get(at..at + width)
            .map_or(0, |word| word.iter().rev().fold(0, |n, b| n << 8 | u32::from(*b)))
    };
    let job = bytes.get(11).and_then(|len| bytes.get(HEADER..HEADER + usize::from(*len)));
    let job = job.map(|job| String::from_utf8_lossy(job).into_owned());
    (number(12, 4), number(16, 2) as u16, job.unwrap_or_default())
}

/// The seal in the trailer.
pub(super) fn seal_of(bytes: &[u8]) -> Option<u64> {
    let at = bytes.len().checked_sub(16)?;
    bytes[at..].first_chunk().map(|word| u64::from_le_bytes(*word))
}

fn put(bytes: &mut [u8], at: usize, word: &[u8]) {
    if let Some(place) = bytes.get_mut(at..at + word.len()) {
        place.copy_from_slice(word);
    }
}

fn get(bytes: &[u8], at: usize, width: usize) -> usize {
    let word = bytes.get(at..at.saturating_add(width)).unwrap_or_default();
    word.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte))
}

/// Length of the header according to its own fields; the input may be shorter.
fn header_len(bytes: &[u8]) -> usize {
    HEADER + bytes.get(11).map_or(0, |len| usize::from(*len))
}

/// Recomputes all checksums, from the blocks to the seal, as far as the lengths permit.
pub(super) fn reseal(bytes: &mut [u8]) {
    let Some(trailer) = bytes.len().checked_sub(TRAILER) else { return };
    let (blocks, shards) = (get(bytes, trailer + 16, 4), get(bytes, trailer + 20, 4));
    let footer = blocks.saturating_mul(BLOCK).saturating_add(shards.saturating_mul(SHARD));
    let start = trailer.checked_sub(footer).unwrap_or_else(|| get(bytes, trailer, 8).min(trailer));
    for entry in (start..trailer).step_by(BLOCK).take(blocks) {
        let (at, len) = (get(bytes, entry + 40, 8), get(bytes, entry + 48, 4));
        if let Some(block) = bytes.get(at..at.saturating_add(len)) {
            let sum = xxh3_64(block).to_le_bytes();
            put(bytes, entry + 64, &sum);
        }
    }
    let sum = xxh3_64(&bytes[start..trailer]).to_le_bytes();
    put(bytes, trailer + 24, &sum);
    let header = header_len(bytes).min(bytes.len());
    let sealed = [&bytes[..header], &bytes[trailer..trailer + 80]].concat();
    let seal = xxh3_64(&sealed).to_le_bytes();
    put(bytes, trailer + 80, &seal);
    put(bytes, trailer + 88, b"STRATAND");
}

/// A block taken apart.
#[derive(Clone, Debug)]
struct Block {
    /// Its entry in the index.
    index: Vec<u8>,
    /// The columns before compression.
    columns: [Vec<u8>; COLUMNS],
}

/// A file taken apart.
#[derive(Clone, Debug)]
struct File {
    header: Vec<u8>,
    blocks: Vec<Block>,
    shards: Vec<u8>,
    trailer: Vec<u8>,
}

fn varint(bytes: &[u8], at: &mut usize) -> Option<usize> {
    let mut number = 0;
    for shift in (0..35).step_by(7) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        number |= usize::from(byte & 127) << shift;
        if byte < 128 {
            return Some(number);
        }
    }
    None
}

fn put_varint(out: &mut Vec<u8>, mut number: usize) {
    while number >= 128 {
        out.push(number as u8 | 128);
        number >>= 7;
    }
    out.push(number as u8);
}

fn columns(block: &[u8]) -> Option<[Vec<u8>; COLUMNS]> {
    let (len, rest) = block.split_last()?;
    let (data, directory) = rest.split_at_checked(rest.len().checked_sub(usize::from(*len))?)?;
    let (mut at, mut from) = (0, 0_usize);
    let mut columns: [Vec<u8>; COLUMNS] = Default::default();
    for column in &mut columns {
        let (raw, stored) = (varint(directory, &mut at)?, varint(directory, &mut at)?);
        let bytes = data.get(from..from.checked_add(stored)?)?;
        from += stored;
        *column = if raw == stored {
            bytes.to_vec()
        } else {
            zstd::bulk::decompress(bytes, raw.min(mutate::MAX_LEN)).ok()?
        };
    }
    Some(columns)
}

fn take_apart(bytes: &[u8]) -> Option<File> {
    let trailer = bytes.len().checked_sub(TRAILER)?;
    let header = bytes.get(..header_len(bytes))?.to_vec();
    let (blocks, shards) = (get(bytes, trailer + 16, 4), get(bytes, trailer + 20, 4));
    let shards_at = trailer.checked_sub(shards.checked_mul(SHARD)?)?;
    let start = shards_at.checked_sub(blocks.checked_mul(BLOCK)?)?;
    let block = |entry: usize| {
        let (at, len) = (get(bytes, entry + 40, 8), get(bytes, entry + 48, 4));
        let columns = columns(bytes.get(at..at.checked_add(len)?)?)?;
        Some(Block { index: bytes[entry..entry + BLOCK].to_vec(), columns })
    };
    let blocks = (start..shards_at).step_by(BLOCK).map(block).collect::<Option<_>>()?;
    Some(File {
        header,
        blocks,
        shards: bytes[shards_at..trailer].to_vec(),
        trailer: bytes[trailer..].to_vec(),
    })
}

/// Assembles the file, with uncompressed columns and an index that agrees with them. With `sums`
/// the totals agree, too; otherwise they stay as they are.
fn assemble(file: &File, sums: bool) -> Vec<u8> {
    let mut bytes = file.header.clone();
    let mut index = Vec::new();
    let mut totals = [0_u64; 2];
    let mut last_key = Vec::new();
    for block in &file.blocks {
        let (at, mut directory) = (bytes.len(), Vec::new());
        for column in &block.columns {
            bytes.extend_from_slice(column);
            put_varint(&mut directory, column.len());
            put_varint(&mut directory, column.len());
        }
        let raw = bytes.len() - at;
        directory.push(directory.len() as u8);
        bytes.extend_from_slice(&directory);
        let mut entry = block.index.clone();
        put(&mut entry, 40, &(at as u64).to_le_bytes());
        put(&mut entry, 48, &((bytes.len() - at) as u32).to_le_bytes());
        put(&mut entry, 52, &(raw as u32).to_le_bytes());
        // A list that continues in the next block is counted as one region.
        let continues = u64::from(last_key == entry[..20]);
        last_key = entry[20..40].to_vec();
        totals[0] = totals[0].wrapping_add(get(&entry, 56, 4) as u64).wrapping_sub(continues);
        totals[1] += get(&entry, 60, 4) as u64;
        index.extend_from_slice(&entry);
    }
    let footer = bytes.len();
    let mut trailer = file.trailer.clone();
    put(&mut trailer, 0, &(footer as u64).to_le_bytes());
    put(&mut trailer, 16, &(file.blocks.len() as u32).to_le_bytes());
    put(&mut trailer, 20, &((file.shards.len() / SHARD) as u32).to_le_bytes());
    let mut shards = file.shards.clone();
    if sums {
        put(&mut trailer, 32, &totals[0].to_le_bytes());
        put(&mut trailer, 40, &totals[1].to_le_bytes());
        // In a file of one shard, the shard's counts agree, too.
        if shards.len() == SHARD {
            put(&mut shards, 8, &totals[0].to_le_bytes());
            put(&mut shards, 16, &totals[1].to_le_bytes());
        }
    }
    bytes.extend_from_slice(&index);
    bytes.extend_from_slice(&shards);
    let len = (bytes.len() + trailer.len()) as u64;
    put(&mut trailer, 8, &len.to_le_bytes());
    bytes.extend_from_slice(&trailer);
    reseal(&mut bytes);
    bytes
}

/// Changes a file: its bytes, with or without new checksums, or its parts.
pub(super) fn mutate_file(input: &mut Vec<u8>, other: &[u8], rng: &mut Rng) {
    let parts = take_apart(input).filter(|_| !rng.once_in(3));
    let Some(mut file) = parts else {
        mutate::bytes(input, other, rng);
        if !rng.once_in(3) {
            reseal(input);
        }
        return;
    };
    for _ in 0..mutate::changes(rng) {
        change_part(&mut file, other, rng);
    }
    *input = assemble(&file, !rng.once_in(6));
    if rng.once_in(8) {
        mutate::number(input, rng);
        reseal(input);
    }
}

fn change_part(file: &mut File, other: &[u8], rng: &mut Rng) {
    let blocks = file.blocks.len();
    match rng.below(10) {
        0 => mutate::bytes(&mut file.header, other, rng),
        1 => mutate::number(&mut file.trailer[32..80], rng),
        2 if !file.shards.is_empty() => mutate::number(&mut file.shards, rng),
        3 if blocks > 1 => {
            let (a, b) = (rng.below(blocks), rng.below(blocks));
            file.blocks.swap(a, b);
        }
        4 if blocks > 0 && blocks < 100 => {
            let copied = rng.pick(&file.blocks).clone();
            file.blocks.insert(rng.below(blocks + 1), copied);
        }
        5 if blocks > 0 => mutate::number(&mut file.blocks[rng.below(blocks)].index, rng),
        _ if blocks > 0 => {
            let block = &mut file.blocks[rng.below(blocks)];
            let column = &mut block.columns[rng.below(COLUMNS)];
            match rng.below(3) {
                0 => mutate::bytes(column, other, rng),
                1 if !column.is_empty() => {
                    let at = rng.below(column.len());
                    column[at] = column[at].wrapping_add(rng.bits() as u8 % 5).wrapping_sub(2);
                }
                // One more or one less state, in the list and in the counts.
                _ => add_state(block, rng),
            }
        }
        _ => {}
    }
}

/// Appends or removes a gap of a list, and changes the number of states in the index accordingly.
fn add_state(block: &mut Block, rng: &mut Rng) {
    let more = rng.once_in(2);
    let gaps = &mut block.columns[GAPS];
    if more {
        gaps.insert(rng.below(gaps.len() + 1), rng.bits() as u8 % 192);
    } else {
        gaps.pop();
    }
    let counts = &mut block.columns[COUNTS];
    if let Some(at) = counts.len().checked_sub(1) {
        counts[at] = if more { counts[at].wrapping_add(2) } else { counts[at].wrapping_sub(2) };
    }
    let states = get(&block.index, 60, 4);
    let states = if more { states + 1 } else { states.saturating_sub(1) } as u32;
    put(&mut block.index, 60, &states.to_le_bytes());
}

/// The bytes of a file after it is taken apart and assembled once and twice; both must be equal.
#[cfg(test)]
pub(super) fn assembled_twice(bytes: &[u8]) -> Option<[Vec<u8>; 2]> {
    let once = assemble(&take_apart(bytes)?, true);
    let twice = assemble(&take_apart(&once)?, true);
    Some([once, twice])
}
