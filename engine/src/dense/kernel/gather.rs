//! Lane maps as each kernel stores them: for each bit of the result, the bit of the word to take.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

use strata_space::dense::LaneMap;

/// For each bit of the result, the bit of the word that it copies; None if it is 0.
pub(super) type Sources = [Option<u8>; 64];

/// Direction in which a lane map is applied.
#[derive(Copy, Clone)]
pub(super) enum MapDirection {
    /// Forwards: bit `map(l)` of the result is bit `l` of the word.
    Sources,
    /// Backwards: bit `l` of the result is bit `map(l)` of the word.
    Images,
}

impl MapDirection {
    pub(super) fn sources(self, map: &LaneMap) -> Sources {
        let mut sources = [None; 64];
        for (lane, image) in map.pairs() {
            let (bit, source) = match self {
                MapDirection::Sources => (image, lane),
                MapDirection::Images => (lane, image),
            };
            sources[usize::from(bit)] = Some(source);
        }
        sources
    }
}

/// For each byte of the word and each value of the byte, the bits of the result.
pub(super) struct ByteMap([[u64; 256]; 8]);

impl ByteMap {
    pub(super) fn new(sources: &Sources) -> ByteMap {
        let mut bytes = [[0; 256]; 8];
        for (bit, source) in sources.iter().enumerate() {
            let Some(source) = source else { continue };
            for (value, result) in bytes[usize::from(source / 8)].iter_mut().enumerate() {
                *result |= u64::from(value >> (source % 8) & 1 == 1) << bit;
            }
        }
        ByteMap(bytes)
    }

    #[inline(always)]
    pub(super) fn gather(&self, word: u64) -> u64 {
        let bytes = self.0.iter().zip(word.to_le_bytes());
        bytes.fold(0, |result, (table, byte)| result | table[usize::from(byte)])
    }
}

/// For each bit of the result, the byte of the word and the bit in that byte.
#[cfg(target_arch = "x86_64")]
#[repr(align(64))]
pub(super) struct Avx2Map {
    bytes: [u8; 64],
    bits: [u8; 64],
}

#[cfg(target_arch = "x86_64")]
impl Avx2Map {
    pub(super) fn new(sources: &Sources) -> Avx2Map {
        Avx2Map {
            bytes: sources.map(|source| source.unwrap_or(0) / 8),
            bits: sources.map(|source| source.map_or(0, |source| 1 << (source % 8))),
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn gather(&self, word: u64) -> u64 {
        let word = _mm256_set1_epi64x(word as i64);
        let clear = |half: usize| {
            // SAFETY: each half is 32 bytes of an array of 64.
            let (bytes, bits) = unsafe {
                (
                    _mm256_loadu_si256(self.bytes.as_ptr().add(32 * half).cast()),
                    _mm256_loadu_si256(self.bits.as_ptr().add(32 * half).cast()),
                )
            };
            let selected = _mm256_and_si256(_mm256_shuffle_epi8(word, bytes), bits);
            let clear = _mm256_cmpeq_epi8(selected, _mm256_setzero_si256());
            u64::from(_mm256_movemask_epi8(clear) as u32)
        };
        !(clear(0) | clear(1) << 32)
    }
}

/// For each bit of the result, the bit of the word; and a mask of the bits that copy one.
#[cfg(target_arch = "x86_64")]
#[repr(align(64))]
pub(super) struct Avx512Map {
    bits: [u8; 64],
    mask: u64,
}

#[cfg(target_arch = "x86_64")]
impl Avx512Map {
    pub(super) fn new(sources: &Sources) -> Avx512Map {
        let mask = (0..)
            .zip(sources)
            .fold(0, |mask, (bit, source)| mask | u64::from(source.is_some()) << bit);
        Avx512Map { bits: sources.map(|source| source.unwrap_or(0)), mask }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512bitalg")]
    pub(super) fn gather(&self, word: u64) -> u64 {
        // SAFETY: the array has 64 bytes.
        let bits = unsafe { _mm512_loadu_si512(self.bits.as_ptr().cast()) };
        _mm512_bitshuffle_epi64_mask(_mm512_set1_epi64(word as i64), bits) & self.mask
    }
}
