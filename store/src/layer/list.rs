//! Encoded lists of states, which can be copied between files without decoding.

use crate::layer::gaps;

/// A strictly increasing list of states, encoded. Equal lists have equal bytes.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct List<'a> {
    /// The lowest bit of all states, if they share it.
    pub bit: Option<u32>,
    /// One byte for each state: its gap to the state before, see `docs/format.md`.
    pub gaps: &'a [u8],
    /// The low bytes of long gaps.
    pub lows: &'a [u8],
    /// The remaining high parts of very long gaps.
    pub highs: &'a [u8],
}

impl List<'_> {
    /// The empty list.
    pub const EMPTY: List<'static> = List { bit: None, gaps: &[], lows: &[], highs: &[] };

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

    /// Decodes the states into `states`, replacing its content; `None` if the bytes are not a list.
    #[must_use]
    pub fn decode(&self, states: &mut Vec<u32>) -> Option<()> {
        states.resize(self.len() + gaps::SLACK, 0);
        gaps::get_list(self.bit, [self.gaps, self.lows, self.highs], states)?;
        states.truncate(self.len());
        Some(())
    }
}

/// Buffer for encoding lists, one at a time.
#[derive(Clone, Debug, Default)]
pub struct ListBuf {
    bit: Option<u32>,
    /// Longer than the list.
    gaps: Vec<u8>,
    /// Number of states.
    len: usize,
    lows: Vec<u8>,
    highs: Vec<u8>,
}

impl ListBuf {
    /// Encodes a strictly increasing list, replacing the one before.
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
    fn lists_round_trip_in_a_reused_buffer() {
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
