//! Encoded runs: sorted runs of exits as bytes for another process.
//!
//! `docs/protocol.md` describes the bytes.

use strata_space::ExitEdge;
use strata_store::{EntryKey, LocalWidth, Result, StoreError, Word};
use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe::{CParameter, get_frame_content_size};

use super::run::MemoryRun;
use crate::explicit::engine::width_of;

/// Bytes of content at which a part of a run ends. A longer run is sent in several parts.
const CUT: usize = 2 << 20;

/// The most words of locals of an encoded batch. A longer batch is cut.
const CUT_WORDS: usize = 1 << 16;

/// The most bytes of content that a decoder accepts: `CUT`, plus the batch that reaches it.
pub const MAX_CONTENT: usize = 4 << 20;

/// Bytes of the lengths of the first three columns.
const HEAD: usize = 3 * size_of::<u32>();

/// Encodes sorted runs. Each thread uses its own encoder.
pub struct RunEncoder {
    compressor: Compressor<'static>,
    /// Four columns: keys, inverse edges, numbers of locals, and locals.
    columns: [Vec<u8>; 4],
    content: Vec<u8>,
    last: EntryKey,
    form: LocalForm,
}

/// The form in which locals are written.
#[derive(Copy, Clone, Debug)]
struct LocalForm {
    width: LocalWidth,
    /// Bytes of each local, if locals have more than one word.
    bytes: usize,
}

impl LocalForm {
    /// The form of locals below a bound.
    fn below(locals: u128) -> LocalForm {
        let bits = u128::BITS - (locals - 1).leading_zeros();
        LocalForm { width: width_of(locals), bytes: bits.div_ceil(8) as usize }
    }
}

impl std::fmt::Debug for RunEncoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunEncoder").finish_non_exhaustive()
    }
}

impl RunEncoder {
    /// An encoder with the compression level `level` of zstd, for locals below `locals`; see
    /// [`Engine::locals`](crate::explicit::Engine::locals).
    ///
    /// # Errors
    /// `Codec` if zstd rejects the level or has no memory.
    pub fn new(level: i32, locals: u128) -> Result<RunEncoder> {
        let codec = |source| StoreError::Codec { op: "set up compression for exits", source };
        let mut compressor = Compressor::new(level).map_err(codec)?;
        compressor.set_parameter(CParameter::ChecksumFlag(true)).map_err(codec)?;
        Ok(RunEncoder {
            compressor,
            columns: Default::default(),
            content: Vec::new(),
            last: EntryKey::default(),
            form: LocalForm::below(locals),
        })
    }

    /// Encodes a sorted run in one or more parts, and passes each part to `send`. The batches keep their
    /// order, inverse edges and locals; long batches are cut. An empty run has no part.
    ///
    /// # Errors
    /// `Inconsistent` if the run is not sorted, `Codec` if compression fails, and the errors of `send`.
    /// The encoder can be used again in either case.
    pub fn encode<E: From<StoreError>>(
        &mut self,
        run: &MemoryRun,
        mut send: impl FnMut(Vec<u8>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        self.clear();
        for (key, inverse, words) in run.batches() {
            for part in words.chunks(CUT_WORDS) {
                self.push(key, inverse, part)?;
                if self.columns.iter().map(Vec::len).sum::<usize>() >= CUT {
                    send(self.finish()?)?;
                }
            }
        }
        if self.columns[0].is_empty() { Ok(()) } else { send(self.finish()?) }
    }

    fn clear(&mut self) {
        self.columns.iter_mut().for_each(Vec::clear);
        self.last = EntryKey::default();
    }

    fn push(&mut self, key: EntryKey, inverse: Option<ExitEdge>, words: &[Word]) -> Result<()> {
        let [keys, inverses, counts, values] = &mut self.columns;
        let last = std::mem::replace(&mut self.last, key);
        if key < last {
            let what = format!("a run is not sorted: {key} after {last}");
            return Err(StoreError::Inconsistent { file: "exits".into(), what });
        }
        let before = if key.shard == last.shard { last.region } else { 0 };
        put(keys, u64::from(key.shard - last.shard));
        let step = key.region - before;
        put(keys, (step >> u64::BITS) as u64);
        put(keys, step as u64);
        put(inverses, inverse.map_or(0, |edge| u64::from(edge) + 1));
        let LocalForm { width, bytes } = self.form;
        put(counts, width.count(words) as u64);
        if width != LocalWidth::One {
            for local in width.locals(words) {
                values.extend_from_slice(&local.to_le_bytes()[..bytes]);
            }
            return Ok(());
        }
        let mut before = 0;
        for local in Word::locals(words) {
            let step = i64::from(*local) - i64::from(before);
            put(values, (step << 1 ^ step >> 63) as u64);
            before = *local;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<Vec<u8>> {
        self.content.clear();
        for column in &self.columns[..3] {
            self.content.extend_from_slice(&(column.len() as u32).to_le_bytes());
        }
        for column in &self.columns {
            self.content.extend_from_slice(column);
        }
        self.clear();
        let codec = |source| StoreError::Codec { op: "compress exits", source };
        self.compressor.compress(&self.content).map_err(codec)
    }
}

/// Appends a varint: seven bits per byte, low bits first.
#[inline]
fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Bounds of the exits that a worker accepts from other processes.
#[derive(Copy, Clone)]
pub struct Bounds<'a> {
    /// Whether the worker owns a shard. It is called with any number, also of shards that do not exist.
    pub owns: &'a dyn Fn(u32) -> bool,
    /// Exclusive upper bound of locals, see [`Engine::locals`](crate::explicit::Engine::locals).
    pub locals: u128,
    /// Number of exit edges, see [`Engine::exit_edges`](crate::explicit::Engine::exit_edges).
    pub exit_edges: ExitEdge,
}

impl std::fmt::Debug for Bounds<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Bounds { owns: _, locals, exit_edges } = self;
        f.debug_struct("Bounds")
            .field("locals", locals)
            .field("exit_edges", exit_edges)
            .finish_non_exhaustive()
    }
}

/// Decodes runs from other processes.
pub(crate) struct RunDecoder {
    decompressor: Decompressor<'static>,
    content: Vec<u8>,
    batch: Vec<Word>,
}

impl std::fmt::Debug for RunDecoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunDecoder").finish_non_exhaustive()
    }
}

/// An error in an encoded run, as (expected, found).
type Wrong = (String, String);

impl RunDecoder {
    pub(crate) fn new() -> Result<RunDecoder> {
        let codec = |source| StoreError::Codec { op: "set up decompression of exits", source };
        let decompressor = Decompressor::new().map_err(codec)?;
        Ok(RunDecoder { decompressor, content: Vec::new(), batch: Vec::new() })
    }

    /// Adds the batches of an encoded run to `run`. If `run` was empty, it is then sorted. `name` is the
    /// name of the bytes in messages.
    ///
    /// # Errors
    /// `Corrupt` at the first deviation from the form or from `bounds`. `run` may then have some of the
    /// batches.
    pub(crate) fn decode(
        &mut self,
        bytes: &[u8],
        name: &str,
        bounds: &Bounds<'_>,
        run: &mut MemoryRun,
    ) -> Result<()> {
        let corrupt = |(expected, found)| StoreError::Corrupt {
            file: name.into(),
            offset: 0,
            expected,
            found,
        };
        self.unpack(bytes).map_err(corrupt)?;
        let columns = columns(&self.content).ok_or_else(|| {
            corrupt(("four columns".to_owned(), format!("{} bytes", self.content.len())))
        })?;
        self.batch.clear();
        read(columns, &mut self.batch, bounds, run).map_err(corrupt)
    }

    fn unpack(&mut self, bytes: &[u8]) -> std::result::Result<(), Wrong> {
        let frame = |found: String| ("a zstd frame".to_owned(), found);
        let length = get_frame_content_size(bytes).map_err(|error| frame(error.to_string()))?;
        let length = length.ok_or_else(|| frame("one without a length".to_owned()))?;
        if length > MAX_CONTENT as u64 {
            return Err((format!("at most {MAX_CONTENT} bytes of exits"), length.to_string()));
        }
        self.content.clear();
        self.content.reserve(length as usize);
        let unpacked = self.decompressor.decompress_to_buffer(bytes, &mut self.content);
        let unpacked = unpacked.map_err(|error| frame(error.to_string()))?;
        if unpacked as u64 == length {
            Ok(())
        } else {
            Err((format!("{length} bytes of exits"), unpacked.to_string()))
        }
    }
}

/// Splits a content into its four columns; None if it is too short.
fn columns(content: &[u8]) -> Option<[Column<'_>; 4]> {
    let (head, mut rest) = content.split_at_checked(HEAD)?;
    let mut columns = [Column(&[]); 4];
    for (length, column) in head.as_chunks().0.iter().zip(&mut columns) {
        let (bytes, after) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        (*column, rest) = (Column(bytes), after);
    }
    columns[3] = Column(rest);
    Some(columns)
}

/// Reads batches from columns into a run, and checks each number.
fn read(
    [mut keys, mut inverses, mut counts, mut values]: [Column<'_>; 4],
    batch: &mut Vec<Word>,
    bounds: &Bounds<'_>,
    run: &mut MemoryRun,
) -> std::result::Result<(), Wrong> {
    let ends = || ("another batch".to_owned(), "the end of a column".to_owned());
    let wrong = |expected: String, found: &dyn std::fmt::Display| (expected, found.to_string());
    let form = LocalForm::below(bounds.locals);
    let mut last = EntryKey::default();
    while !keys.0.is_empty() {
        let step = keys.number().ok_or_else(ends)?;
        let shard = u64::from(last.shard) + step;
        let shard = u32::try_from(shard).ok().filter(|shard| (bounds.owns)(*shard));
        let shard = shard.ok_or_else(|| {
            wrong("own shards".to_owned(), &format!("shard {}", u64::from(last.shard) + step))
        })?;
        let before = if shard == last.shard { last.region } else { 0 };
        let (high, low) = keys.number().zip(keys.number()).ok_or_else(ends)?;
        let region = before.checked_add(u128::from(high) << u64::BITS | u128::from(low));
        // The greatest key is reserved.
        let region = region.filter(|region| *region < u128::MAX);
        let region = region.ok_or_else(|| wrong("a region".to_owned(), &"a greater number"))?;
        last = EntryKey { shard, region };

        let inverse = inverses.number().ok_or_else(ends)?.checked_sub(1);
        if let Some(edge) = inverse.filter(|edge| *edge >= u64::from(bounds.exit_edges)) {
            return Err(wrong(format!("exit edges below {}", bounds.exit_edges), &edge));
        }
        let count = counts.number().ok_or_else(ends)?;
        if count == 0 || count > values.0.len() as u64 {
            return Err(wrong(format!("1 to {} exits", values.0.len()), &count));
        }
        batch.clear();
        let read = match form.width {
            LocalWidth::One => read_narrow(&mut values, count, bounds.locals, batch),
            _ => read_wide(&mut values, count, form, bounds.locals, batch),
        };
        read.map_err(|found| match found {
            Some(local) => wrong(
                format!("locals below {}", bounds.locals),
                &format!("{local} in region {last}"),
            ),
            None => ends(),
        })?;
        run.push(last, inverse.map(|edge| edge as ExitEdge), batch);
    }
    let rest = inverses.0.len() + counts.0.len() + values.0.len();
    if rest == 0 { Ok(()) } else { Err(wrong("the end".to_owned(), &format!("{rest} bytes"))) }
}

/// Reads locals of one word. On failure, returns the local that is out of bounds, or None if the column
/// ends.
fn read_narrow(
    values: &mut Column<'_>,
    count: u64,
    bound: u128,
    batch: &mut Vec<Word>,
) -> std::result::Result<(), Option<String>> {
    let bound = bound as i64;
    let mut local = 0_i64;
    for _ in 0..count {
        let step = values.number().ok_or(None)?;
        local = local.wrapping_add((step >> 1) as i64 ^ -((step & 1) as i64));
        if !(0..bound).contains(&local) {
            return Err(Some(local.to_string()));
        }
        batch.push(Word(local as u32));
    }
    Ok(())
}

/// As [`read_narrow`], for locals of several words.
fn read_wide(
    values: &mut Column<'_>,
    count: u64,
    form: LocalForm,
    bound: u128,
    batch: &mut Vec<Word>,
) -> std::result::Result<(), Option<String>> {
    for _ in 0..count {
        let (bytes, rest) = values.0.split_at_checked(form.bytes).ok_or(None)?;
        values.0 = rest;
        let mut all = [0; size_of::<u128>()];
        all[..bytes.len()].copy_from_slice(bytes);
        let local = u128::from_le_bytes(all);
        if local >= bound {
            return Err(Some(local.to_string()));
        }
        form.width.push(local, batch);
    }
    Ok(())
}

/// The unread rest of a column.
#[derive(Copy, Clone)]
struct Column<'a>(&'a [u8]);

impl Column<'_> {
    #[inline]
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    /// The next varint; None at the end of the column, or if it exceeds 64 bits.
    #[inline]
    fn number(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7F);
            if bits << shift >> shift != bits {
                return None;
            }
            value |= bits << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn varints_round_trip(first: u64, second: u64) {
            let mut bytes = Vec::new();
            put(&mut bytes, first);
            put(&mut bytes, second);
            let mut column = Column(&bytes);
            prop_assert_eq!((column.number(), column.number()), (Some(first), Some(second)));
            prop_assert!(column.0.is_empty());
        }
    }

    #[test]
    fn unfinished_and_overlong_varints_are_refused() {
        for bytes in [&[][..], &[0x80], &[0xFF; 9], &[0xFF; 10], &[0xFF; 30]] {
            assert_eq!(Column(bytes).number(), None, "{bytes:?}");
        }
        let mut greatest = vec![0xFF; 9];
        greatest.push(1);
        assert_eq!(Column(&greatest).number(), Some(u64::MAX));
        greatest[9] = 2;
        assert_eq!(Column(&greatest).number(), None);
    }
}
