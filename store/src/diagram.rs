//! Diagram snapshots: the checkpoint file of a symbolic search.
//!
//! The content is a decision diagram of the last two layers, encoded by the symbolic engine. This
//! module compresses and checks it. `docs/format.md` describes the bytes.

use std::io::{self, Read};
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Result, StoreError};
use crate::fs::durable::write_durably;
use crate::fs::file_system::Fs;
use crate::layer::format::{self, END_MAGIC, FileKind, LayerHeader};

const TRAILER: usize = 40;
/// Number of trailer bytes that the seal covers.
const SEALED: usize = 24;
const ENCODING: u16 = 1;
/// Compression level of zstd.
const LEVEL: i32 = 3;

/// Length and seal of a snapshot, with which [`read_diagram_snapshot`] checks it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct SnapshotSeal {
    /// Length of the file, in bytes.
    pub bytes: u64,
    /// Checksum of the header and the trailer, which has the checksum of the content.
    pub seal: u64,
}

fn header(job: &str, depth: u32) -> Result<Vec<u8>> {
    let kind = FileKind::Diagram;
    format::header_bytes(&LayerHeader::new(kind, job, depth, ENCODING))
}

/// Writes a snapshot of a diagram durably and atomically.
///
/// # Errors
/// `Io` or `NotFound` if the file cannot be written, `Name` if the job id is longer than 255 bytes.
pub fn write_diagram_snapshot(
    fs: &dyn Fs,
    path: &Path,
    job: &str,
    depth: u32,
    content: &[u8],
) -> Result<SnapshotSeal> {
    let header = header(job, depth)?;
    let packed = zstd::bulk::compress(content, LEVEL).map_err(StoreError::io("compress", path))?;
    let mut trailer = Vec::with_capacity(TRAILER);
    let lengths = [packed.len() as u64, content.len() as u64, xxh3_64(&packed)];
    trailer.extend(lengths.into_iter().flat_map(u64::to_le_bytes));
    let seal = xxh3_64(&[&*header, &*trailer].concat());
    trailer.extend(seal.to_le_bytes());
    trailer.extend(END_MAGIC);
    let file = [header, packed, trailer].concat();
    write_durably(fs, path, &file)?;
    Ok(SnapshotSeal { bytes: file.len() as u64, seal })
}

/// Reads a snapshot and checks every byte of it.
///
/// # Errors
/// `NotFound`, `Io`, or `Corrupt` if the file is damaged or is not the expected one; `Name` if the
/// job id is longer than 255 bytes.
pub fn read_diagram_snapshot(
    fs: &dyn Fs,
    path: &Path,
    job: &str,
    depth: u32,
    expected: SnapshotSeal,
) -> Result<Vec<u8>> {
    let corrupt = |at: usize, what: &str, found: &str| {
        StoreError::corrupt(path, at as u64, what.to_owned(), found.to_owned())
    };
    let bytes = fs.read(path).map_err(StoreError::io("read", path))?;
    if bytes.len() as u64 != expected.bytes {
        return Err(corrupt(0, &format!("{} bytes", expected.bytes), &bytes.len().to_string()));
    }
    let header = header(job, depth)?;
    if !bytes.starts_with(&header) {
        let what = format!("the header of a diagram snapshot of job {job:?} at depth {depth}");
        return Err(corrupt(0, &what, "another one"));
    }
    let at = bytes.len().saturating_sub(TRAILER);
    let Some((packed, trailer)) = bytes[header.len()..]
        .len()
        .checked_sub(TRAILER)
        .map(|len| bytes[header.len()..].split_at(len))
    else {
        return Err(corrupt(0, "a trailer", "a file that is too short"));
    };
    let word =
        |i: usize| trailer[8 * i..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
    let seal = xxh3_64(&[&*header, &trailer[..SEALED]].concat());
    if [seal, word(3)] != [expected.seal; 2] || trailer[SEALED + 8..] != END_MAGIC {
        let found = format!("{seal:016x}, recorded as {:016x}", word(3));
        return Err(corrupt(at, &format!("the seal {:016x}", expected.seal), &found));
    }
    let checksum = xxh3_64(packed);
    if packed.len() as u64 != word(0) || checksum != word(2) {
        let what = format!("{} bytes with the checksum {:016x}", word(0), word(2));
        return Err(corrupt(
            header.len(),
            &what,
            &format!("{} with {checksum:016x}", packed.len()),
        ));
    }
    let content = decompress(packed, word(1));
    let content =
        content.map_err(|error| corrupt(header.len(), "a diagram", &error.to_string()))?;
    if content.len() as u64 == word(1) {
        return Ok(content);
    }
    let found = format!("at least {} bytes", content.len());
    Err(corrupt(header.len(), &format!("a diagram of {} bytes", word(1)), &found))
}

/// Decompresses one frame, up to a byte more than `len`. Memory grows with what the frame holds, not
/// with what lengths say.
fn decompress(packed: &[u8], len: u64) -> io::Result<Vec<u8>> {
    let mut decoder = zstd::stream::read::Decoder::with_buffer(packed)?.single_frame();
    let mut content = Vec::new();
    decoder.by_ref().take(len.saturating_add(1)).read_to_end(&mut content)?;
    match decoder.finish().len() {
        0 => Ok(content),
        rest => Err(io::Error::other(format!("{rest} bytes after the frame"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::real::RealFs;

    /// A file with a frame and a length before compression that need not agree.
    fn sealed_file(packed: &[u8], len: u64) -> (Vec<u8>, SnapshotSeal) {
        let header = header("job", 7).unwrap();
        let mut trailer = Vec::new();
        let words = [packed.len() as u64, len, xxh3_64(packed)];
        trailer.extend(words.into_iter().flat_map(u64::to_le_bytes));
        let seal = xxh3_64(&[&*header, &*trailer].concat());
        trailer.extend(seal.to_le_bytes());
        trailer.extend(END_MAGIC);
        let file = [&*header, packed, &trailer].concat();
        let sealed = SnapshotSeal { bytes: file.len() as u64, seal };
        (file, sealed)
    }

    #[test]
    fn the_length_before_compression_is_checked() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("diagram");
        let packed = zstd::bulk::compress(&[7; 1000], LEVEL).unwrap();
        let twice = [&*packed, &*packed].concat();
        // A frame that says it holds 2^60 bytes, in the 8 bytes after magic number and descriptor.
        let mut huge = vec![0x28, 0xb5, 0x2f, 0xfd, 0xe0];
        huge.extend((1_u64 << 60).to_le_bytes());
        huge.extend([1, 0, 0]);
        for (packed, len, is_right) in [
            (&packed, 1000, true),
            (&packed, 999, false),
            (&packed, 1001, false),
            (&packed, u64::MAX, false),
            (&twice, 1000, false),
            (&twice, 2000, false),
            (&huge, 1 << 60, false),
        ] {
            let (file, sealed) = sealed_file(packed, len);
            std::fs::write(&path, &file).unwrap();
            let read = read_diagram_snapshot(&RealFs, &path, "job", 7, sealed);
            match is_right {
                true => assert_eq!(read.unwrap(), [7; 1000]),
                false => {
                    assert!(matches!(read, Err(StoreError::Corrupt { .. })), "{len}: {read:?}")
                }
            }
        }
    }

    #[test]
    fn every_damaged_byte_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("diagram");
        let content: Vec<u8> = (0..2000u32).map(|i| (i * i % 251) as u8).collect();
        let sealed = write_diagram_snapshot(&RealFs, &path, "job", 7, &content).unwrap();
        let read = |job, depth| read_diagram_snapshot(&RealFs, &path, job, depth, sealed);
        assert_eq!(read("job", 7).unwrap(), content);
        assert!(read("jab", 7).is_err() && read("job", 8).is_err());
        let whole = std::fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1 << (at % 8);
            std::fs::write(&path, &damaged).unwrap();
            assert!(matches!(read("job", 7), Err(StoreError::Corrupt { .. })), "byte {at}");
        }
        std::fs::write(&path, &whole[..30]).unwrap();
        assert!(read("job", 7).is_err());
        std::fs::remove_file(&path).unwrap();
        assert!(matches!(read("job", 7), Err(StoreError::NotFound { .. })));
    }
}
