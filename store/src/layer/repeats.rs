//! Repeated lists of a block.
//!
//! Regions of one class often have the same states. So a block stores each list once, and later entries
//! refer to it by its number in the block, from 0.

use xxhash_rust::xxh3::xxh3_64;

use crate::layer::list::List;
use crate::layer::local::LocalWidth;
use crate::layer::span::Span;

/// A list in the columns of a block.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct ListPlace {
    /// The lowest bit of all states, if they share it.
    pub(crate) bit: Option<u32>,
    /// Its bytes in the columns of gaps, lows and highs.
    pub(crate) columns: [Span; 3],
}

impl ListPlace {
    /// Number of states.
    #[inline]
    pub(crate) fn count(&self) -> usize {
        self.columns[0].left()
    }

    /// The list, given the bytes of the three columns.
    #[inline]
    pub(crate) fn list<'a>(&self, width: LocalWidth, columns: [&'a [u8]; 3]) -> List<'a> {
        let [gaps, lows, highs] = self.columns;
        List {
            width,
            bit: self.bit,
            gaps: &columns[0][gaps.at..gaps.end],
            lows: &columns[1][lows.at..lows.end],
            highs: &columns[2][highs.at..highs.end],
        }
    }
}

/// The start of a list in each column, which is the end of the list before. It is small, because a block
/// has thousands of lists. 32 bits suffice, as columns have at most 2^27 bytes.
#[derive(Copy, Clone, Debug)]
struct Start {
    columns: [u32; 3],
    bit: Option<bool>,
}

/// The places of the lists of a block, by number.
#[derive(Debug, Default)]
pub(crate) struct ListPlaces {
    /// The start of each list, followed by the start of the list that comes next.
    starts: Vec<Start>,
}

impl ListPlaces {
    /// Removes all lists. The first list will begin at `columns`.
    #[inline]
    pub(crate) fn begin(&mut self, columns: [usize; 3]) {
        self.starts.clear();
        self.starts.push(Start { columns: columns.map(|at| at as u32), bit: None });
    }

    /// Adds the next list. It ends at `columns`.
    #[inline]
    pub(crate) fn add(&mut self, bit: Option<u32>, columns: [usize; 3]) {
        if let Some(start) = self.starts.last_mut() {
            start.bit = bit.map(|bit| bit != 0);
        }
        self.starts.push(Start { columns: columns.map(|at| at as u32), bit: None });
    }

    /// The list with a number; `None` if there are at most `number` lists.
    #[inline]
    pub(crate) fn get(&self, number: u32) -> Option<ListPlace> {
        let &[start, end] = self.starts.get(number as usize..)?.first_chunk()?;
        let mut columns = [Span::default(); 3];
        for ((span, at), end) in columns.iter_mut().zip(start.columns).zip(end.columns) {
            *span = Span { at: at as usize, end: end as usize };
        }
        Some(ListPlace { bit: start.bit.map(u32::from), columns })
    }

    /// Number of lists.
    fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }
}

/// Hash table of the lists in the open block of an encoder.
#[derive(Debug)]
pub(crate) struct ListTable {
    places: ListPlaces,
    /// Slots by hash, with linear probing. Their number is a power of two, and at most half are used.
    slots: Vec<Slot>,
}

/// A list in the table.
#[derive(Copy, Clone, Debug, Default)]
struct Slot {
    hash: u32,
    /// The list's number plus 1; 0 if the slot is free.
    next_number: u32,
}

/// The fewest slots of a table.
const LEAST_SLOTS: usize = 256;

/// Hash of a list, for [`ListTable`].
#[inline]
pub(crate) fn hash(list: List<'_>) -> u32 {
    let mut hash = xxh3_64(list.gaps);
    for column in [list.lows, list.highs] {
        if !column.is_empty() {
            hash = hash.rotate_left(32) ^ xxh3_64(column);
        }
    }
    hash as u32
}

impl ListTable {
    /// A table without lists.
    pub(crate) fn new() -> Self {
        let mut table = Self { places: ListPlaces::default(), slots: Vec::new() };
        table.clear();
        table
    }

    /// Removes all lists, in time proportional to their number.
    pub(crate) fn clear(&mut self) {
        let slots = if 8 * self.places.len() < self.slots.len() {
            LEAST_SLOTS
        } else {
            self.slots.len().max(LEAST_SLOTS)
        };
        self.slots.clear();
        self.slots.resize(slots, Slot::default());
        self.places.begin([0; 3]);
    }

    /// The number of an equal list, if there is one. `columns` are the block's columns of gaps, lows and
    /// highs.
    #[inline]
    pub(crate) fn find(&self, hash: u32, list: List<'_>, columns: [&[u8]; 3]) -> Option<u32> {
        let mut at = self.first(hash);
        while let Some(number) = self.slots[at].next_number.checked_sub(1) {
            if self.slots[at].hash == hash
                && self
                    .places
                    .get(number)
                    .is_some_and(|place| place.list(list.width, columns) == list)
            {
                return Some(number);
            }
            at = self.after(at);
        }
        None
    }

    /// Adds a list that is not in the table. Its bytes have been added to the columns, whose lengths are
    /// now `columns`.
    pub(crate) fn add(&mut self, hash: u32, bit: Option<u32>, columns: [usize; 3]) {
        self.places.add(bit, columns);
        let lists = self.places.len();
        if 2 * lists > self.slots.len() {
            let more = vec![Slot::default(); 2 * self.slots.len()];
            let slots = std::mem::replace(&mut self.slots, more);
            slots.into_iter().filter(|slot| slot.next_number != 0).for_each(|slot| self.put(slot));
        }
        self.put(Slot { hash, next_number: lists as u32 });
    }

    fn put(&mut self, slot: Slot) {
        let mut at = self.first(slot.hash);
        while self.slots[at].next_number != 0 {
            at = self.after(at);
        }
        self.slots[at] = slot;
    }

    #[inline]
    fn first(&self, hash: u32) -> usize {
        hash as usize & (self.slots.len() - 1)
    }

    #[inline]
    fn after(&self, at: usize) -> usize {
        (at + 1) & (self.slots.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layer::list::ListBuf;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_list_is_found_if_and_only_if_it_was_added(
            numbers in proptest::collection::vec(0_u32..900, 0..1000), same_hash: bool,
        ) {
            let mut table = ListTable::new();
            let (mut buffer, mut places) = (ListBuf::default(), ListPlaces::default());
            let mut columns = [const { Vec::<u8>::new() }; 3];
            for _ in 0..2 {
                columns.iter_mut().for_each(Vec::clear);
                table.clear();
                places.begin([0; 3]);
                let mut seen = Vec::new();
                for number in &numbers {
                    // Equal gaps with different lows, and equal columns with different bits.
                    let first = number / 2 * 256 + number % 2;
                    let list = buffer.encode(&[first, first + 2, first + 2000]);
                    let hash = if same_hash { 7 } else { hash(list) };
                    let bytes = columns.each_ref().map(|column| &column[..]);
                    let found = table.find(hash, list, bytes);
                    let known = seen.iter().position(|known| known == number);
                    prop_assert_eq!(found, known.map(|known| known as u32));
                    if let Some(place) = found.and_then(|found| places.get(found)) {
                        prop_assert_eq!(place.list(list.width, bytes), list);
                        continue;
                    }
                    seen.push(*number);
                    for (column, more) in columns.iter_mut().zip([list.gaps, list.lows, list.highs]) {
                        column.extend_from_slice(more);
                    }
                    let lengths = columns.each_ref().map(Vec::len);
                    table.add(hash, list.bit, lengths);
                    places.add(list.bit, lengths);
                }
                let end = seen.len() as u32;
                prop_assert!(places.get(end).is_none());
                prop_assert!(places.get(u32::MAX).is_none());
            }
        }
    }
}
