//! Encoded lists of states, which can be copied between files without decoding.

use crate::layer::local::{LocalWidth, LocalWord, Word};
use crate::layer::{bits, gaps, wide};

/// A strictly increasing list of states, encoded. Equal lists have equal bytes.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct List<'a> {
    /// The width of the locals.
    pub width: LocalWidth,
    /// The lowest bit of all states, if they share it.
    pub bit: Option<u32>,
    /// One byte for each state: the gap to the state before, or the high part of the gap. See
    /// `docs/format.md`.
    pub gaps: &'a [u8],
    /// The low bytes of long gaps; of wide locals, the low bits of all gaps.
    pub lows: &'a [u8],
    /// The remaining high parts of very long gaps.
    pub highs: &'a [u8],
}

impl List<'_> {
    /// The empty list.
    pub const EMPTY: List<'static> =
        List { width: LocalWidth::One, bit: None, gaps: &[], lows: &[], highs: &[] };

    /// Number of states.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.gaps.len()
    }

    /// Whether there are no states.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.gaps.is_empty()
    }

    /// Decodes the states into `words`, replacing its content; `None` if the bytes are not a list.
    #[must_use]
    pub fn decode(&self, words: &mut Vec<Word>) -> Option<()> {
        match self.width {
            LocalWidth::One => {
                words.resize(self.len() + gaps::SLACK, Word::default());
                gaps::get_list(self.bit, self.columns(), Word::locals_mut(words))?;
                words.truncate(self.len());
                Some(())
            }
            LocalWidth::Two => self.decode_words::<u64>(words),
            LocalWidth::Four => self.decode_words::<u128>(words),
        }
    }

    fn decode_words<L: LocalWord>(&self, words: &mut Vec<Word>) -> Option<()> {
        words.clear();
        words.reserve(self.len() * L::WIDTH.words());
        wide::get_list(self.bit, self.columns(), |local: L| local.append(words))
    }

    /// Decodes the states into `locals`, replacing its content; `None` if the bytes are not a list, or
    /// `L` does not have the width of the list.
    #[must_use]
    pub fn decode_locals<L: LocalWord>(&self, locals: &mut Vec<L>) -> Option<()> {
        locals.clear();
        if self.is_empty() {
            return Some(());
        }
        if self.width != L::WIDTH {
            return None;
        }
        if let Some(locals) = L::as_narrow_mut(locals) {
            locals.resize(self.len() + gaps::SLACK, 0);
            gaps::get_list(self.bit, self.columns(), locals)?;
            locals.truncate(self.len());
            return Some(());
        }
        locals.reserve(self.len());
        wide::get_list(self.bit, self.columns(), |local| locals.push(local))
    }

    /// Clears the states in a bit set, which is faster than decoding them; `None` if the bytes are not a
    /// list of locals of one word. Bit n of the set stands for the state n, or, if the states share the
    /// lowest bit, for the state whose other bits are n. States beyond the set are ignored.
    #[must_use]
    pub fn clear(&self, set: &mut [u64]) -> Option<()> {
        match self.width {
            LocalWidth::One => bits::clear(self.bit, self.columns(), set),
            LocalWidth::Two | LocalWidth::Four => None,
        }
    }

    fn columns(&self) -> [&[u8]; 3] {
        [self.gaps, self.lows, self.highs]
    }
}

/// Buffer for encoding lists, one at a time.
#[derive(Clone, Debug, Default)]
pub struct ListBuf {
    width: LocalWidth,
    bit: Option<u32>,
    /// The gaps, in the first `len` bytes.
    gaps: Vec<u8>,
    /// Number of states.
    len: usize,
    lows: Vec<u8>,
    highs: Vec<u8>,
}

impl ListBuf {
    /// Encodes a strictly increasing list of locals of one word. It replaces the list in the buffer.
    #[inline]
    pub fn encode(&mut self, states: &[u32]) -> List<'_> {
        self.width = LocalWidth::One;
        let room = states.len() + gaps::SLACK;
        if self.gaps.len() < room {
            self.gaps.resize(room, 0);
        }
        self.lows.clear();
        self.highs.clear();
        self.len = states.len();
        self.bit = gaps::common_bit(states);
        let bytes = &mut self.gaps[..room];
        gaps::put_list(states, self.bit.is_some(), bytes, &mut self.lows, &mut self.highs);
        self.list()
    }

    /// Encodes a strictly increasing list. It replaces the list in the buffer.
    pub fn encode_locals<L: LocalWord>(&mut self, locals: &[L]) -> List<'_> {
        if let Some(locals) = L::as_narrow(locals) {
            return self.encode(locals);
        }
        self.width = L::WIDTH;
        if self.gaps.len() < locals.len() {
            self.gaps.resize(locals.len(), 0);
        }
        self.lows.clear();
        self.highs.clear();
        self.len = locals.len();
        self.bit = wide::common_bit(locals);
        let (common, bytes) = (self.bit.is_some(), &mut self.gaps[..locals.len()]);
        wide::put_list(locals, common, bytes, &mut self.lows, &mut self.highs);
        self.list()
    }

    /// Encodes a strictly increasing list of locals, given as words. It replaces the list in the buffer.
    pub fn encode_words(&mut self, width: LocalWidth, words: &[Word]) -> List<'_> {
        fn locals<L: LocalWord>(words: &[Word]) -> Vec<L> {
            words.chunks_exact(L::WIDTH.words()).map(L::read).collect()
        }
        match width {
            LocalWidth::One => self.encode(Word::locals(words)),
            LocalWidth::Two => self.encode_locals(&locals::<u64>(words)),
            LocalWidth::Four => self.encode_locals(&locals::<u128>(words)),
        }
    }

    /// The list that was encoded last.
    #[inline]
    #[must_use]
    pub fn list(&self) -> List<'_> {
        let gaps = &self.gaps[..self.len];
        List { width: self.width, bit: self.bit, gaps, lows: &self.lows, highs: &self.highs }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_round_trip_in_a_reused_buffer() {
        let (mut buffer, mut found) = (ListBuf::default(), Vec::new());
        for states in [&[2, 4, 40_000_000][..], &[1], &[0, 1, 2, 70_000], &[7, 9]] {
            let list = buffer.encode(states);
            assert_eq!((list.len(), list.decode(&mut found)), (states.len(), Some(())));
            assert_eq!(Word::locals(&found), states);
        }
        for locals in [&[2_u64, 4, 1 << 50][..], &[1], &[0, 1, 2, u64::MAX]] {
            let list = buffer.encode_locals(locals);
            let mut wide: Vec<u64> = Vec::new();
            assert_eq!((list.len(), list.decode_locals(&mut wide)), (locals.len(), Some(())));
            assert_eq!(wide, locals);
            assert_eq!(list.decode_locals(&mut Vec::<u128>::new()), None);
            assert_eq!(list.decode(&mut found), Some(()));
            assert!(list.width.locals(&found).eq(locals.iter().map(|local| u128::from(*local))));
            let mut again = ListBuf::default();
            assert_eq!(again.encode_words(list.width, &found), list);
        }
        assert!(List::EMPTY.is_empty());
        let torn = List { lows: &[], ..buffer.encode(&[9, 70_000]) };
        assert_eq!(torn.decode(&mut found), None);
    }
}
