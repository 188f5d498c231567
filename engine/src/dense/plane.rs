//! Planes: a bit for every state, in large pages where the system has them.

use memmap2::MmapMut;

use crate::dense::error::SearchError;

/// A bit for every state: a word for each row of each block.
pub(crate) struct Plane {
    map: MmapMut,
    words: usize,
}

impl Plane {
    /// A plane of zeros. Pages that are never written take no memory.
    pub(crate) fn new(words: usize) -> Result<Plane, SearchError> {
        let bytes = words.saturating_mul(8);
        let map = MmapMut::map_anon(bytes)
            .map_err(|error| SearchError::Allocation { bytes, why: error.to_string() })?;
        // Rows are accessed in permuted order. If the system refuses large pages, the search is slower.
        #[cfg(target_os = "linux")]
        let _ = map.advise(memmap2::Advice::HugePage);
        Ok(Plane { map, words })
    }

    pub(crate) fn words(&self) -> &[u64] {
        &bytemuck::cast_slice(&self.map)[..self.words]
    }

    pub(crate) fn words_mut(&mut self) -> &mut [u64] {
        &mut bytemuck::cast_slice_mut(&mut self.map)[..self.words]
    }
}

/// Reads the states that were reached, as depths modulo 3 in two planes tell, from word `start` on.
pub(crate) fn read_reached([low, high]: &[Plane; 2], start: usize, words: &mut [u64]) {
    let planes = [low, high].map(|plane| &plane.words()[start..start + words.len()]);
    for ((word, low), high) in words.iter_mut().zip(planes[0]).zip(planes[1]) {
        *word = low | high;
    }
}
