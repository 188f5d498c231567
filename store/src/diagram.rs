//! Diagram snapshots: the checkpoint file of a symbolic search.
//!
//! The content is a decision diagram of the last two layers, which the symbolic engine encodes. This
//! module compresses and checks the content. `docs/format.md` describes the bytes.

use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;
use zstd::bulk::Decompressor;
use zstd::stream::read::Decoder;
use zstd::zstd_safe::{find_frame_compressed_size, get_frame_content_size};

use crate::error::{Result, StoreError};
use crate::fs::durable::write_durably;
use crate::fs::file_system::Fs;
use crate::fs::reading::read_exact;
use crate::layer::format::{self, END_MAGIC, FileKind, LayerHeader};

const TRAILER: usize = 40;
/// Number of trailer bytes that the seal covers.
const SEALED: usize = 24;
const ENCODING: u16 = 1;
/// Compression level of zstd.
const LEVEL: i32 = 3;
/// Binary logarithm of the greatest window that a check accepts, which is 4 times the window of [`LEVEL`].
const WINDOW_LOG: u32 = 23;

/// Length and seal of a snapshot, with which [`read_diagram_snapshot`] checks it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct SnapshotSeal {
    /// Length of the file, in bytes.
    pub bytes: u64,
    /// Checksum of the header and the trailer. The trailer contains the checksum of the content.
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

/// Reads a snapshot and checks every byte of it. Returns its content. `limit` is the greatest length of
/// the content before compression, in bytes. A file that states a greater length is not decompressed. A
/// file that is itself too long for such a content is not even read.
///
/// # Errors
/// `NotFound`, `Io`, `Read`, `TooLarge`, or `Corrupt` if the file is damaged or is not the expected one;
/// `Name` if the job id is longer than 255 bytes.
pub fn read_diagram_snapshot(
    fs: &dyn Fs,
    path: &Path,
    job: &str,
    depth: u32,
    expected: SnapshotSeal,
    limit: u64,
) -> Result<Vec<u8>> {
    let packed = Packed::read(fs, path, job, depth, expected, limit)?;
    let Ok(len) = usize::try_from(packed.len) else { return Err(packed.too_large(path, limit)) };
    let mut content = Vec::new();
    if content.try_reserve_exact(len).is_err() {
        return Err(packed.too_large(path, limit));
    }
    let done = Decompressor::new().and_then(|mut decompressor| {
        decompressor.decompress_to_buffer(packed.frame(), &mut content)
    });
    packed.check_length(path, done.map(|done| done as u64))?;
    Ok(content)
}

/// Checks every byte of a snapshot, without holding the decompressed content in memory.
///
/// # Errors
/// Those of [`read_diagram_snapshot`], except `TooLarge`.
pub fn check_diagram_snapshot(
    fs: &dyn Fs,
    path: &Path,
    job: &str,
    depth: u32,
    expected: SnapshotSeal,
) -> Result<()> {
    let packed = Packed::read(fs, path, job, depth, expected, u64::MAX)?;
    let unpack = || {
        let mut decoder = Decoder::with_buffer(packed.frame())?.single_frame();
        decoder.window_log_max(WINDOW_LOG)?;
        io::copy(&mut decoder.take(packed.len.saturating_add(1)), &mut io::sink())
    };
    packed.check_length(path, unpack())
}

/// A compressed file whose checksums and lengths have been checked.
struct Packed {
    file: Vec<u8>,
    /// Position of the frame in the file.
    range: Range<usize>,
    /// Bytes before compression, as the trailer and the frame state them.
    len: u64,
}

impl Packed {
    fn read(
        fs: &dyn Fs,
        path: &Path,
        job: &str,
        depth: u32,
        expected: SnapshotSeal,
        limit: u64,
    ) -> Result<Packed> {
        let corrupt = |at: usize, what: &str, found: &str| {
            StoreError::corrupt(path, at as u64, what.to_owned(), found.to_owned())
        };
        let header = header(job, depth)?;
        let reader = fs.open_read(path).map_err(StoreError::io("open", path))?;
        let size = reader.size().map_err(StoreError::io("read", path))?;
        if size != expected.bytes {
            return Err(corrupt(0, &format!("{} bytes", expected.bytes), &size.to_string()));
        }
        if size > longest(limit).saturating_add((header.len() + TRAILER) as u64) {
            return Err(StoreError::TooLarge { file: path.to_path_buf(), bytes: size, limit });
        }
        let mut file = vec![0; size as usize];
        read_exact(&*reader, &|| path.to_path_buf(), 0, &mut file)?;
        if !file.starts_with(&header) {
            let what = format!("the header of a diagram snapshot of job {job:?} at depth {depth}");
            return Err(corrupt(0, &what, "another one"));
        }
        let Some(end) = file.len().checked_sub(TRAILER).filter(|end| *end >= header.len()) else {
            let at = file.len().saturating_sub(TRAILER);
            return Err(corrupt(at, "a trailer", "a file that is too short"));
        };
        let range = header.len()..end;
        let (packed, trailer) = (&file[range.clone()], &file[end..]);
        let word =
            |i: usize| trailer[8 * i..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
        let seal = xxh3_64(&[&*header, &trailer[..SEALED]].concat());
        if [seal, word(3)] != [expected.seal; 2] || trailer[SEALED + 8..] != END_MAGIC {
            let found = format!("{seal:016x}, recorded as {:016x}", word(3));
            return Err(corrupt(end, &format!("the seal {:016x}", expected.seal), &found));
        }
        let (len, checksum) = (word(1), xxh3_64(packed));
        if packed.len() as u64 != word(0) || checksum != word(2) {
            let what = format!("{} bytes with the checksum {:016x}", word(0), word(2));
            let found = format!("{} with {checksum:016x}", packed.len());
            return Err(corrupt(range.start, &what, &found));
        }
        if find_frame_compressed_size(packed) != Ok(packed.len())
            || !matches!(get_frame_content_size(packed), Ok(Some(stated)) if stated == len)
        {
            let what = format!("one frame of {len} bytes before compression");
            return Err(corrupt(range.start, &what, "another one"));
        }
        let packed = Packed { file, range, len };
        if len > limit { Err(packed.too_large(path, limit)) } else { Ok(packed) }
    }

    fn frame(&self) -> &[u8] {
        &self.file[self.range.clone()]
    }

    fn too_large(&self, path: &Path, limit: u64) -> StoreError {
        StoreError::TooLarge { file: path.to_path_buf(), bytes: self.len, limit }
    }

    /// Checks the length of the decompressed content.
    fn check_length(&self, path: &Path, found: io::Result<u64>) -> Result<()> {
        let found = match found {
            Ok(found) if found == self.len => return Ok(()),
            Ok(found) => format!("{found} bytes or more"),
            Err(error) => error.to_string(),
        };
        let expected = format!("a diagram of {} bytes", self.len);
        Err(StoreError::corrupt(path, self.range.start as u64, expected, found))
    }
}

/// Upper bound of the length of a frame with `limit` bytes of content: incompressible data grows by 1/256,
/// and the bound allows twice that.
fn longest(limit: u64) -> u64 {
    limit.saturating_add(limit / 128).saturating_add(64 << 10)
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;
    use crate::fs::faulty::FaultyFs;
    use crate::fs::real::RealFs;

    /// A file with a valid seal, whose frame need not have `len` bytes before compression.
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
        // A frame that states 2^60 bytes of content, in the 8 bytes after magic number and descriptor.
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
            (&huge, 1000, false),
        ] {
            let (file, sealed) = sealed_file(packed, len);
            std::fs::write(&path, &file).unwrap();
            let read = read_diagram_snapshot(&RealFs, &path, "job", 7, sealed, 1 << 20);
            let checked = check_diagram_snapshot(&RealFs, &path, "job", 7, sealed);
            match is_right {
                true => {
                    assert_eq!(read.unwrap(), [7; 1000]);
                    checked.unwrap();
                }
                false => {
                    assert!(matches!(read, Err(StoreError::Corrupt { .. })), "{len}: {read:?}");
                    assert!(matches!(checked, Err(StoreError::Corrupt { .. })), "{len}");
                }
            }
        }
        // No memory is reserved for a length that a frame merely states.
        let (file, sealed) = sealed_file(&huge, 1 << 60);
        std::fs::write(&path, &file).unwrap();
        for limit in [1 << 20, u64::MAX] {
            let read = read_diagram_snapshot(&RealFs, &path, "job", 7, sealed, limit);
            let Err(StoreError::TooLarge { bytes, .. }) = read else { panic!("{read:?}") };
            assert_eq!(bytes, 1 << 60);
        }
        let checked = check_diagram_snapshot(&RealFs, &path, "job", 7, sealed);
        assert!(matches!(checked, Err(StoreError::Corrupt { .. })), "{checked:?}");
    }

    #[test]
    fn a_snapshot_beyond_the_limit_is_not_decompressed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("diagram");
        // 256 MiB in a few kilobytes.
        let len = 256_u64 << 20;
        let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), LEVEL).unwrap();
        encoder.set_pledged_src_size(Some(len)).unwrap();
        encoder.include_contentsize(true).unwrap();
        io::copy(&mut io::repeat(0).take(len), &mut encoder).unwrap();
        let (file, sealed) = sealed_file(&encoder.finish().unwrap(), len);
        std::fs::write(&path, &file).unwrap();
        assert!(file.len() < 64 << 10, "{}", file.len());
        let before = peak_kib();
        let read = read_diagram_snapshot(&RealFs, &path, "job", 7, sealed, len - 1);
        assert!(matches!(read, Err(StoreError::TooLarge { .. })), "{read:?}");
        check_diagram_snapshot(&RealFs, &path, "job", 7, sealed).unwrap();
        let grown = peak_kib() - before;
        assert!(grown < 128 << 10, "{grown} KiB for a snapshot that is not decompressed");
    }

    #[test]
    fn a_file_longer_than_the_limit_permits_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let (fs, path) = (FaultyFs::new(), dir.path().join("diagram"));
        let (limit, extra) = (1 << 20, (header("job", 7).unwrap().len() + TRAILER) as u64);
        fs.fail_reads_at("diagram", 0);
        for (len, is_read) in [(longest(limit), true), (longest(limit) + 1, false)] {
            let bytes = len + extra;
            File::create(&path).unwrap().set_len(bytes).unwrap();
            let sealed = SnapshotSeal { bytes, seal: 0 };
            let read = read_diagram_snapshot(&fs, &path, "job", 7, sealed, limit);
            match is_read {
                true => assert!(matches!(read, Err(StoreError::Read { .. })), "{read:?}"),
                false => assert!(matches!(read, Err(StoreError::TooLarge { .. })), "{read:?}"),
            }
        }
    }

    /// Peak of the resident memory of this process, in KiB.
    fn peak_kib() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }

    #[test]
    fn every_damaged_byte_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("diagram");
        let content: Vec<u8> = (0..2000u32).map(|i| (i * i % 251) as u8).collect();
        let sealed = write_diagram_snapshot(&RealFs, &path, "job", 7, &content).unwrap();
        let read = |job, depth| {
            let checked = check_diagram_snapshot(&RealFs, &path, job, depth, sealed);
            let read = read_diagram_snapshot(&RealFs, &path, job, depth, sealed, 2000);
            assert_eq!(checked.is_ok(), read.is_ok(), "{checked:?} {read:?}");
            read
        };
        let less = read_diagram_snapshot(&RealFs, &path, "job", 7, sealed, 1999);
        assert!(matches!(less, Err(StoreError::TooLarge { bytes: 2000, limit: 1999, .. })));
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

    #[test]
    fn a_snapshot_that_cannot_be_read_is_an_error_with_file_and_offset() {
        let dir = tempfile::tempdir().unwrap();
        let (fs, path) = (FaultyFs::new(), dir.path().join("diagram"));
        let sealed = write_diagram_snapshot(&fs, &path, "job", 7, &[7; 100]).unwrap();
        let read = || read_diagram_snapshot(&fs, &path, "job", 7, sealed, 100);
        fs.fail_reads_at("diagram", sealed.bytes - 1);
        let Err(StoreError::Read { path: named, source, .. }) = read() else { panic!() };
        assert_eq!((named, source.raw_os_error()), (path.clone(), Some(5)));
        fs.heal();
        for len in 0..sealed.bytes {
            fs.cut_reads_at("diagram", len);
            let Err(StoreError::Corrupt { file, found, .. }) = read() else { panic!("{len}") };
            assert_eq!((file, found), (path.clone(), format!("{len}, then the end of the file")));
        }
        fs.heal();
        assert_eq!(read().unwrap(), [7; 100]);
    }
}
