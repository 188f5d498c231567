//! A region's states as they stand in a file: what is only passed on need not be decoded.

use crate::gaps;

/// A strictly increasing list of states, encoded. Equal lists have equal bytes.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct List<'a> {
    /// The lowest bit of all states, if they have the same.
    pub bit: Option<u32>,
    /// The three columns' bytes, see docs/format.md: the first has one for each state.
    pub gaps: &'a [u8],
    /// The low bytes of long gaps.
    pub lows: &'a [u8],
    /// What remains of very long gaps.
    pub highs: &'a [u8],
}

impl List<'_> {
    /// No states.
    pub const EMPTY: List<'static> = List { bit: None, gaps: &[], lows: &[], highs: &[] };

    /// Number of states.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.gaps.len()
    }

    /// Whether there are none.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.gaps.is_empty()
    }

    /// Puts the states into `states`; None if the bytes are no list.
    #[must_use]
    pub fn decode(&self, states: &mut Vec<u32>) -> Option<()> {
        states.resize(self.len() + gaps::SLACK, 0);
        gaps::get_list(*self, states)?;
        states.truncate(self.len());
        Some(())
    }
}

/// Memory in which lists are encoded, one at a time.
#[derive(Clone, Debug, Default)]
pub struct ListBuf {
    bit: Option<u32>,
    /// Longer than the list.
    gaps: Vec<u8>,
    len: usize,
    lows: Vec<u8>,
    highs: Vec<u8>,
}

impl ListBuf {
    /// Encodes a strictly increasing list, in place of the one before.
    #[inline]
    pub fn encode(&mut self, states: &[u32]) -> List<'_> {
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

    /// The list that was encoded last.
    #[inline]
    #[must_use]
    pub fn list(&self) -> List<'_> {
        let gaps = &self.gaps[..self.len];
        List { bit: self.bit, gaps, lows: &self.lows, highs: &self.highs }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_round_trip_in_memory_that_is_reused() {
        let (mut buffer, mut found) = (ListBuf::default(), Vec::new());
        for states in [&[2, 4, 40_000_000][..], &[1], &[0, 1, 2, 70_000], &[7, 9]] {
            let list = buffer.encode(states);
            assert_eq!((list.len(), list.decode(&mut found)), (states.len(), Some(())));
            assert_eq!(found, states);
        }
        assert!(List::EMPTY.is_empty());
        let torn = List { lows: &[], ..buffer.encode(&[9, 70_000]) };
        assert_eq!(torn.decode(&mut found), None);
    }
}
