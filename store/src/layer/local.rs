//! Locals of one, two or four words of 32 bits.
//!
//! Lists of decoded states are slices of [`Word`]. A wide local takes several words, low ones first.

use std::fmt::Debug;

use bytemuck::{TransparentWrapper, TransparentWrapperAlloc};

/// A word of a list of locals. A local takes [`LocalWidth::words`] of them.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq, TransparentWrapper)]
#[repr(transparent)]
pub struct Word(pub u32);

impl Word {
    /// Locals of one word as words.
    #[inline]
    #[must_use]
    pub fn of(locals: &[u32]) -> &[Word] {
        Word::wrap_slice(locals)
    }

    /// Words as locals of one word.
    #[inline]
    #[must_use]
    pub fn locals(words: &[Word]) -> &[u32] {
        Word::peel_slice(words)
    }

    /// As [`Self::of`], for a list that is owned.
    #[must_use]
    pub fn of_vec(locals: Vec<u32>) -> Vec<Word> {
        Word::wrap_vec(locals)
    }

    /// As [`Self::locals`], for a list that is owned.
    #[must_use]
    pub fn locals_vec(words: Vec<Word>) -> Vec<u32> {
        Word::peel_vec(words)
    }

    /// As [`Self::locals`].
    #[inline]
    pub(crate) fn locals_mut(words: &mut [Word]) -> &mut [u32] {
        Word::peel_slice_mut(words)
    }
}

/// The number of words that a local takes.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq, Hash)]
pub enum LocalWidth {
    /// Up to 32 bits.
    #[default]
    One,
    /// Up to 64 bits.
    Two,
    /// Up to 128 bits.
    Four,
}

impl LocalWidth {
    const ALL: [LocalWidth; 3] = [LocalWidth::One, LocalWidth::Two, LocalWidth::Four];

    /// The width for locals of `bits` bits, at most 128.
    #[must_use]
    pub fn of_bits(bits: u32) -> LocalWidth {
        let fits = |width: &LocalWidth| bits <= width.bits();
        Self::ALL.into_iter().find(fits).unwrap_or(LocalWidth::Four)
    }

    /// Number of words.
    #[inline]
    #[must_use]
    pub fn words(self) -> usize {
        match self {
            LocalWidth::One => 1,
            LocalWidth::Two => 2,
            LocalWidth::Four => 4,
        }
    }

    /// Number of bits.
    #[must_use]
    pub fn bits(self) -> u32 {
        u32::BITS * self.words() as u32
    }

    /// The code of the width in a header: the binary logarithm of the number of words.
    pub(crate) fn code(self) -> u8 {
        self.words().ilog2() as u8
    }

    /// The width with a code; None if there is none.
    pub(crate) fn of(code: u8) -> Option<LocalWidth> {
        Self::ALL.get(usize::from(code)).copied()
    }

    /// Number of locals in a slice of words.
    #[inline]
    #[must_use]
    pub fn count(self, words: &[Word]) -> usize {
        words.len() / self.words()
    }

    /// The local number `number`, counted from 0, in a slice of words.
    ///
    /// # Panics
    /// If `words` has `number` or fewer locals.
    #[inline]
    #[must_use]
    pub fn get(self, words: &[Word], number: usize) -> u128 {
        match self {
            LocalWidth::One => words[number].0.into(),
            LocalWidth::Two => u64::read(&words[2 * number..]).into(),
            LocalWidth::Four => u128::read(&words[4 * number..]),
        }
    }

    /// The locals of a slice of words.
    pub fn locals(
        self,
        words: &[Word],
    ) -> impl DoubleEndedIterator<Item = u128> + ExactSizeIterator {
        (0..self.count(words)).map(move |number| self.get(words, number))
    }

    /// Appends a local to words. Bits that do not fit are lost.
    pub fn push(self, local: u128, words: &mut Vec<Word>) {
        let all = (0..self.words()).map(|word| Word((local >> (u32::BITS * word as u32)) as u32));
        words.extend(all);
    }

    /// Whether a strictly increasing list, given as words, contains a local.
    #[must_use]
    pub fn contains(self, words: &[Word], local: u128) -> bool {
        let (mut from, mut to) = (0, self.count(words));
        while from < to {
            let middle = from.midpoint(to);
            match self.get(words, middle).cmp(&local) {
                std::cmp::Ordering::Less => from = middle + 1,
                std::cmp::Ordering::Equal => return true,
                std::cmp::Ordering::Greater => to = middle,
            }
        }
        false
    }

    /// Whether locals, given as words, increase strictly.
    #[must_use]
    pub fn is_sorted(self, words: &[Word]) -> bool {
        self.locals(words).is_sorted_by(|a, b| a < b)
    }
}

/// An integer that holds a local: `u32`, `u64` or `u128`.
pub trait LocalWord: Copy + Ord + Debug + Default + Into<u128> + Send + Sync + 'static {
    /// The width of its locals.
    const WIDTH: LocalWidth;

    /// The low bits of an integer, as many as fit.
    fn truncate(wide: u128) -> Self;

    /// The first local of a slice of words. The slice must have enough words for it.
    fn read(words: &[Word]) -> Self;

    /// Appends the words of this local.
    fn append(self, words: &mut Vec<Word>);

    /// Appends the words of several locals, given as 64-bit integers.
    fn append_all(locals: &[u64], words: &mut Vec<Word>) {
        locals.iter().for_each(|local| Self::truncate((*local).into()).append(words));
    }

    /// Number of bits, without leading zeros.
    fn length(self) -> u32;

    /// The bits from bit `from` on, as many as fit a `usize`.
    fn high(self, from: u32) -> usize;

    /// The same slice if `Self` is `u32`; otherwise None.
    fn as_narrow(_: &[Self]) -> Option<&[u32]> {
        None
    }

    /// The same list if `Self` is `u32`; otherwise None.
    fn as_narrow_mut(_: &mut Vec<Self>) -> Option<&mut Vec<u32>> {
        None
    }
}

impl LocalWord for u32 {
    const WIDTH: LocalWidth = LocalWidth::One;

    #[inline]
    fn truncate(wide: u128) -> u32 {
        wide as u32
    }

    #[inline]
    fn read(words: &[Word]) -> u32 {
        words[0].0
    }

    #[inline]
    fn append(self, words: &mut Vec<Word>) {
        words.push(Word(self));
    }

    fn append_all(locals: &[u64], words: &mut Vec<Word>) {
        words.extend(locals.iter().map(|local| Word(*local as u32)));
    }

    #[inline]
    fn length(self) -> u32 {
        u32::BITS - self.leading_zeros()
    }

    #[inline]
    fn high(self, from: u32) -> usize {
        (self >> from) as usize
    }

    #[inline]
    fn as_narrow(locals: &[u32]) -> Option<&[u32]> {
        Some(locals)
    }

    #[inline]
    fn as_narrow_mut(locals: &mut Vec<u32>) -> Option<&mut Vec<u32>> {
        Some(locals)
    }
}

impl LocalWord for u64 {
    const WIDTH: LocalWidth = LocalWidth::Two;

    #[inline]
    fn truncate(wide: u128) -> u64 {
        wide as u64
    }

    #[inline]
    fn read(words: &[Word]) -> u64 {
        u64::from(words[0].0) | u64::from(words[1].0) << 32
    }

    #[inline]
    fn append(self, words: &mut Vec<Word>) {
        words.extend_from_slice(&[Word(self as u32), Word((self >> 32) as u32)]);
    }

    fn append_all(locals: &[u64], words: &mut Vec<Word>) {
        let start = words.len();
        words.resize(start + 2 * locals.len(), Word(0));
        for (words, local) in words[start..].as_chunks_mut().0.iter_mut().zip(locals) {
            *words = [Word(*local as u32), Word((*local >> 32) as u32)];
        }
    }

    #[inline]
    fn length(self) -> u32 {
        u64::BITS - self.leading_zeros()
    }

    #[inline]
    fn high(self, from: u32) -> usize {
        (self >> from) as usize
    }
}

impl LocalWord for u128 {
    const WIDTH: LocalWidth = LocalWidth::Four;

    #[inline]
    fn truncate(wide: u128) -> u128 {
        wide
    }

    #[inline]
    fn read(words: &[Word]) -> u128 {
        u128::from(u64::read(words)) | u128::from(u64::read(&words[2..])) << 64
    }

    #[inline]
    fn append(self, words: &mut Vec<Word>) {
        words.extend_from_slice(&[0, 32, 64, 96].map(|shift| Word((self >> shift) as u32)));
    }

    #[inline]
    fn length(self) -> u32 {
        u128::BITS - self.leading_zeros()
    }

    #[inline]
    fn high(self, from: u32) -> usize {
        (self >> from) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check<L: LocalWord>(mut locals: Vec<u128>) {
        locals.iter_mut().for_each(|local| *local = L::truncate(*local).into());
        locals.sort_unstable();
        locals.dedup();
        let (mut words, mut same) = (Vec::new(), Vec::new());
        for local in &locals {
            L::WIDTH.push(*local, &mut words);
            L::truncate(*local).append(&mut same);
        }
        assert_eq!(words, same);
        let (mut long, mut all) = (vec![Word(7)], vec![Word(7)]);
        let short: Vec<u64> = locals.iter().map(|local| *local as u64).collect();
        L::append_all(&short, &mut all);
        short.iter().for_each(|local| L::truncate((*local).into()).append(&mut long));
        assert_eq!(all, long);
        assert!(L::WIDTH.locals(&words).eq(locals.iter().copied()));
        assert!(L::WIDTH.is_sorted(&words));
        for (number, local) in locals.iter().enumerate() {
            let word = L::read(&words[number * L::WIDTH.words()..]);
            assert_eq!(word.into(), *local);
            assert_eq!(word.length(), 128 - local.leading_zeros());
            assert_eq!(word.high(9), (local >> 9) as usize);
            assert!(L::WIDTH.contains(&words, *local));
            let other = local ^ 1;
            assert_eq!(L::WIDTH.contains(&words, other), locals.contains(&other));
        }
    }

    proptest! {
        #[test]
        fn locals_round_trip(
            locals in proptest::collection::vec((any::<u128>(), 0_u32..128), 0..30),
        ) {
            let locals: Vec<u128> = locals.into_iter().map(|(local, shift)| local >> shift).collect();
            check::<u32>(locals.clone());
            check::<u64>(locals.clone());
            check::<u128>(locals);
        }
    }

    #[test]
    fn the_smallest_sufficient_width_is_chosen() {
        let widths = [1, 32, 33, 64, 65, 128].map(LocalWidth::of_bits);
        use LocalWidth::{Four, One, Two};
        assert_eq!(widths, [One, One, Two, Two, Four, Four]);
        for width in LocalWidth::ALL {
            assert_eq!(LocalWidth::of(width.code()), Some(width));
        }
        assert_eq!(LocalWidth::of(3), None);
    }
}
