//! Inner loops of push, pull and settle, compiled once for each kernel.

use strata_space::dense::RowStep;

/// Marks of a layer in the planes of depths: the two bits of a state are 0 if it was not reached, and
/// otherwise its depth modulo 3, plus 1.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct LayerCode {
    bits: [u64; 2],
    lanes: u64,
}

impl LayerCode {
    /// The marks of a depth. `lanes` is the mask of the lanes of a row.
    pub(crate) fn new(depth: u32, lanes: u64) -> LayerCode {
        let code = depth % 3 + 1;
        LayerCode { bits: [0, 1].map(|bit| if code >> bit & 1 == 1 { u64::MAX } else { 0 }), lanes }
    }

    /// No marks: the planes stay unchanged.
    pub(crate) fn unmarked(lanes: u64) -> LayerCode {
        LayerCode { bits: [0; 2], lanes }
    }
}

/// Figures of the new states of a block.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct Settled {
    /// Number of new states.
    pub(crate) states: u32,
    /// Number of words with new states.
    pub(crate) words: u32,
    /// Number of words with states that are still not reached.
    pub(crate) open: u32,
}

#[inline(always)]
pub(super) fn push(
    words: &[(u16, u64)],
    steps: &[RowStep],
    target: &mut [u64],
    gather: impl Fn(u64, usize) -> u64,
) {
    for (row, word) in words {
        let step = steps[usize::from(*row)];
        target[usize::from(step.row)] |= gather(*word, usize::from(step.map));
    }
}

#[inline(always)]
pub(super) fn pull(
    rows: &[u16],
    steps: &[RowStep],
    source: &[u64],
    target: &mut [u64],
    gather: impl Fn(u64, usize) -> u64,
) {
    for row in rows {
        let step = steps[usize::from(*row)];
        target[usize::from(*row)] |= gather(source[usize::from(step.row)], usize::from(step.map));
    }
}

#[inline(always)]
pub(super) fn settle(code: LayerCode, planes: [&mut [u64]; 2], candidates: &mut [u64]) -> Settled {
    let [low, high] = planes;
    let [low_code, high_code] = code.bits;
    let (mut states, mut words, mut open) = (0, 0, 0);
    for ((low, high), candidate) in low.iter_mut().zip(high).zip(candidates) {
        let left = !(*low | *high) & code.lanes;
        let new = *candidate & left;
        *low |= new & low_code;
        *high |= new & high_code;
        *candidate = new;
        states += u64::from(new.count_ones());
        words += u64::from(new != 0);
        open += u64::from(left != new);
    }
    Settled { states: states as u32, words: words as u32, open: open as u32 }
}
