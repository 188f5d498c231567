//! Kernels: permutations of the bits of many words, for the instructions of different processors.
//!
//! Two things are unsafe: calls of functions compiled for instructions that a processor may lack, and
//! loads of vectors. All table accesses are bounds-checked.
#![allow(unsafe_code)]

mod gather;
mod loops;

use strata_space::dense::{LaneMap, RowStep};

use crate::dense::error::SearchError;
#[cfg(target_arch = "x86_64")]
use gather::{Avx2Map, Avx512Map};
use gather::{ByteMap, MapDirection};
pub(crate) use loops::{LayerCode, Settled};

/// The instructions that permute bits.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// Eight table accesses for each word. Runs everywhere.
    Portable,
    /// Shuffles and comparisons of 32 bytes at a time (AVX2).
    Avx2,
    /// One instruction for each word: VPSHUFBITQMB (AVX-512 BITALG).
    Avx512,
}

impl Kernel {
    /// The kernels that this processor supports, the fastest first.
    pub fn available() -> Vec<Kernel> {
        let all = [Kernel::Avx512, Kernel::Avx2, Kernel::Portable];
        all.into_iter().filter(|kernel| kernel.is_available()).collect()
    }

    /// The chosen kernel, or the fastest one.
    pub(crate) fn choose(chosen: Option<Kernel>) -> Result<Kernel, SearchError> {
        let fastest = || Kernel::available().first().copied().unwrap_or(Kernel::Portable);
        let kernel = chosen.unwrap_or_else(fastest);
        if kernel.is_available() { Ok(kernel) } else { Err(SearchError::Kernel(kernel.name())) }
    }

    /// Bytes that a search with the fastest kernel of this processor needs for each lane map.
    pub fn map_bytes() -> usize {
        Kernel::choose(None).map_or(0, |kernel| LaneKernel::bytes(kernel, 1))
    }

    #[cfg(target_arch = "x86_64")]
    fn is_available(self) -> bool {
        match self {
            Kernel::Portable => true,
            Kernel::Avx2 => {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("popcnt")
                    && is_x86_feature_detected!("bmi1")
                    && is_x86_feature_detected!("bmi2")
            }
            Kernel::Avx512 => {
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512bitalg")
                    && is_x86_feature_detected!("avx512vpopcntdq")
                    && Kernel::Avx2.is_available()
            }
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn is_available(self) -> bool {
        self == Kernel::Portable
    }

    fn name(self) -> &'static str {
        match self {
            Kernel::Portable => "portable instructions",
            Kernel::Avx2 => "AVX2",
            Kernel::Avx512 => "AVX-512 BITALG",
        }
    }
}

/// The lane maps of a space in the form that a kernel reads, in both directions.
pub(crate) struct LaneKernel {
    sources: Maps,
    images: Maps,
}

/// Lane maps of one direction. A variant exists only if the processor has its instructions.
enum Maps {
    Portable(Vec<ByteMap>),
    #[cfg(target_arch = "x86_64")]
    Avx2(Vec<Avx2Map>),
    #[cfg(target_arch = "x86_64")]
    Avx512(Vec<Avx512Map>),
}

impl LaneKernel {
    /// The maps for a kernel, which the processor must support.
    pub(crate) fn new(kernel: Kernel, maps: &[LaneMap]) -> LaneKernel {
        let new = |direction| Maps::new(kernel, maps, direction);
        LaneKernel { sources: new(MapDirection::Sources), images: new(MapDirection::Images) }
    }

    /// Bytes of `maps` lane maps for a kernel.
    pub(crate) fn bytes(kernel: Kernel, maps: usize) -> usize {
        let one = match kernel {
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 => size_of::<Avx512Map>(),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 => size_of::<Avx2Map>(),
            _ => size_of::<ByteMap>(),
        };
        2 * maps * one
    }

    /// Adds the successors of a block's words to the block `target`: for each row and word,
    /// `target[step.row] |= map(word)`.
    ///
    /// # Panics
    /// If a row or a map is out of range.
    #[inline]
    pub(crate) fn push(&self, words: &[(u16, u64)], steps: &[RowStep], target: &mut [u64]) {
        match &self.sources {
            Maps::Portable(maps) => {
                loops::push(words, steps, target, |word, map| maps[map].gather(word));
            }
            // SAFETY: the variant exists only if the processor has the instructions.
            #[cfg(target_arch = "x86_64")]
            Maps::Avx2(maps) => unsafe { push_avx2(maps, words, steps, target) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Maps::Avx512(maps) => unsafe { push_avx512(maps, words, steps, target) },
        }
    }

    /// Adds to a block the states that have an image among the states of the block `source`: for each of
    /// `rows`, `target[row] |= map⁻¹(source[step.row])`.
    ///
    /// # Panics
    /// If a row or a map is out of range.
    #[inline]
    pub(crate) fn pull(&self, rows: &[u16], steps: &[RowStep], source: &[u64], target: &mut [u64]) {
        match &self.images {
            Maps::Portable(maps) => {
                loops::pull(rows, steps, source, target, |word, map| maps[map].gather(word));
            }
            // SAFETY: the variant exists only if the processor has the instructions.
            #[cfg(target_arch = "x86_64")]
            Maps::Avx2(maps) => unsafe { pull_avx2(maps, rows, steps, source, target) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Maps::Avx512(maps) => unsafe { pull_avx512(maps, rows, steps, source, target) },
        }
    }

    /// Keeps the candidates of a block that were not reached before, and marks them in the planes.
    #[inline]
    pub(crate) fn settle(
        &self,
        code: LayerCode,
        planes: [&mut [u64]; 2],
        candidates: &mut [u64],
    ) -> Settled {
        match &self.images {
            Maps::Portable(_) => loops::settle(code, planes, candidates),
            // SAFETY: the variant exists only if the processor has the instructions.
            #[cfg(target_arch = "x86_64")]
            Maps::Avx2(_) => unsafe { settle_avx2(code, planes, candidates) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Maps::Avx512(_) => unsafe { settle_avx512(code, planes, candidates) },
        }
    }
}

impl Maps {
    fn new(kernel: Kernel, maps: &[LaneMap], direction: MapDirection) -> Maps {
        let sources = maps.iter().map(|map| direction.sources(map));
        match kernel {
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 => {
                Maps::Avx512(sources.map(|sources| Avx512Map::new(&sources)).collect())
            }
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 => Maps::Avx2(sources.map(|sources| Avx2Map::new(&sources)).collect()),
            _ => Maps::Portable(sources.map(|sources| ByteMap::new(&sources)).collect()),
        }
    }
}

/// Compiles the loops for the instructions of a kernel.
#[cfg(target_arch = "x86_64")]
macro_rules! loops_with {
    ($features:literal, $map:ty, $push:ident, $pull:ident, $settle:ident) => {
        #[target_feature(enable = $features)]
        fn $push(maps: &[$map], words: &[(u16, u64)], steps: &[RowStep], target: &mut [u64]) {
            loops::push(words, steps, target, |word, map| maps[map].gather(word));
        }

        #[target_feature(enable = $features)]
        fn $pull(
            maps: &[$map],
            rows: &[u16],
            steps: &[RowStep],
            source: &[u64],
            target: &mut [u64],
        ) {
            loops::pull(rows, steps, source, target, |word, map| maps[map].gather(word));
        }

        #[target_feature(enable = $features)]
        fn $settle(code: LayerCode, planes: [&mut [u64]; 2], candidates: &mut [u64]) -> Settled {
            loops::settle(code, planes, candidates)
        }
    };
}

#[cfg(target_arch = "x86_64")]
loops_with!("avx2,popcnt,bmi1,bmi2", Avx2Map, push_avx2, pull_avx2, settle_avx2);

#[cfg(target_arch = "x86_64")]
loops_with!(
    "avx512f,avx512bw,avx512bitalg,avx512vpopcntdq,avx2,popcnt,bmi1,bmi2",
    Avx512Map,
    push_avx512,
    pull_avx512,
    settle_avx512
);

#[cfg(test)]
mod tests;
