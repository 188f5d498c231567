//! The seven columns of a block before compression: heads, symbols, counts, repeats, gaps, lows and
//! highs of its entries, each stored separately.
//!
//! Columns compress better than interleaved regions, and a reader can skip regions without decoding
//! their lists.

use crate::key::EntryKey;
use crate::layer::gaps::Lists;
use crate::layer::list::List;
use crate::layer::repeats::{ListTable, hash};
use crate::layer::span::Span;
use crate::layer::varint;

/// Number of columns: heads, symbols, counts, repeats, gaps, lows, highs.
pub(crate) const COLUMNS: usize = 7;
/// Greatest length of a block's directory, with its length byte: two varints for each column, of at most
/// four bytes, as lengths are at most 2^27.
pub(crate) const MAX_DIRECTORY: usize = COLUMNS * 2 * 4 + 1;

/// Region keys are split into symbols of this many bits. Keys are often packed from small numbers,
/// and compression finds repetitions only at byte boundaries.
const SYMBOL_BITS: u32 = 5;
const MAX_SYMBOLS: usize = 128_usize.div_ceil(SYMBOL_BITS as usize);
/// Bit of a head: the region is in another shard than the region before.
const NEW_SHARD: u8 = 0x80;
/// Codes in the column of counts: a list without a common lowest bit, and a repeated list. Greater codes
/// are `count << 1 | bit`, for a list with a common lowest bit.
const MIXED: u32 = 0;
const REPEATED: u32 = 1;

/// Columns being filled.
#[derive(Debug)]
pub(crate) struct Columns {
    heads: Vec<u8>,
    symbols: Vec<u8>,
    counts: Vec<u8>,
    repeats: Vec<u8>,
    gaps: Vec<u8>,
    lows: Vec<u8>,
    highs: Vec<u8>,
    /// The lists in the last three columns.
    lists: ListTable,
}

impl Columns {
    /// Empty columns with room for `gaps` states.
    pub(crate) fn new(gaps: usize) -> Self {
        Self {
            heads: Vec::new(),
            symbols: Vec::new(),
            counts: Vec::new(),
            repeats: Vec::new(),
            gaps: Vec::with_capacity(gaps),
            lows: Vec::new(),
            highs: Vec::new(),
            lists: ListTable::new(),
        }
    }

    /// Adds a region. `before` is the key of the region before, or (0, 0) for the first of a block.
    #[inline]
    pub(crate) fn push(&mut self, before: EntryKey, key: EntryKey, list: List<'_>) {
        self.push_key(before, key);
        let hash = hash(list);
        match self.lists.find(hash, list, [&self.gaps, &self.lows, &self.highs]) {
            Some(number) => {
                varint::put(&mut self.counts, REPEATED);
                varint::put(&mut self.repeats, number);
            }
            None => self.push_list(hash, list),
        }
    }

    fn push_list(&mut self, hash: u32, list: List<'_>) {
        let count = list.len() as u32;
        match list.bit {
            Some(bit) => varint::put(&mut self.counts, count << 1 | bit),
            None => {
                varint::put(&mut self.counts, MIXED);
                varint::put(&mut self.counts, count);
            }
        }
        self.gaps.extend_from_slice(list.gaps);
        self.lows.extend_from_slice(list.lows);
        self.highs.extend_from_slice(list.highs);
        let lengths = [self.gaps.len(), self.lows.len(), self.highs.len()];
        self.lists.add(hash, list.bit, lengths);
    }

    #[inline]
    fn push_key(&mut self, before: EntryKey, key: EntryKey) {
        let step = key.shard - before.shard;
        let base = if step == 0 { before.region } else { 0 };
        let differ = u128::BITS - (key.region ^ base).leading_zeros();
        let count = differ.div_ceil(SYMBOL_BITS) as usize;
        if step == 0 {
            self.heads.push(count as u8);
        } else {
            self.heads.push(count as u8 | NEW_SHARD);
            varint::put(&mut self.heads, step);
        }
        let mut symbols = [0; MAX_SYMBOLS];
        let mut rest = key.region;
        for symbol in symbols[..count].iter_mut().rev() {
            *symbol = rest as u8 & ((1 << SYMBOL_BITS) - 1);
            rest >>= SYMBOL_BITS;
        }
        self.symbols.extend_from_slice(&symbols[..count]);
    }

    /// The columns, in their order in the block.
    pub(crate) fn all(&self) -> [&[u8]; COLUMNS] {
        let Self { heads, symbols, counts, repeats, gaps, lows, highs, lists: _ } = self;
        [heads, symbols, counts, repeats, gaps, lows, highs]
    }

    /// Bytes in all columns.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.all().iter().map(|column| column.len()).sum()
    }

    pub(crate) fn clear(&mut self) {
        let Self { heads, symbols, counts, repeats, gaps, lows, highs, lists } = self;
        for column in [heads, symbols, counts, repeats, gaps, lows, highs] {
            column.clear();
        }
        lists.clear();
    }
}

/// Extends `buffer` to at least `len` bytes and keeps the first `used` bytes. The operating system zeroes
/// new memory, and unused pages cost nothing.
#[cold]
pub(crate) fn grow(buffer: &mut Vec<u8>, used: usize, len: usize) {
    const STEP: usize = 16 << 10;
    if used == 0 {
        // Frees the old buffer before the new one is allocated.
        *buffer = Vec::new();
    }
    let mut larger = vec![0; len.next_multiple_of(STEP)];
    larger[..used].copy_from_slice(&buffer[..used]);
    *buffer = larger;
}

/// Reader of a block's columns.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Reader {
    heads: Span,
    symbols: Span,
    counts: Span,
    repeats: Span,
    pub(crate) lists: Lists,
}

/// Reference of an entry to its list.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub(crate) enum Content {
    /// The next list of the columns, with `count` states; `bit` is their common lowest bit, if any.
    New { count: u32, bit: Option<u32> },
    /// An earlier list of the block, by its number.
    Repeated(u32),
}

impl Reader {
    /// A reader at the start of concatenated columns of these lengths.
    pub(crate) fn new(lengths: [u32; COLUMNS]) -> Self {
        let mut end = 0;
        let [heads, symbols, counts, repeats, gaps, lows, highs] = lengths.map(|len| {
            let at = end;
            end += len as usize;
            Span { at, end }
        });
        Self { heads, symbols, counts, repeats, lists: Lists { gaps, lows, highs } }
    }

    /// Reads the next region's key. `raw` holds the columns.
    #[inline]
    pub(crate) fn key(&mut self, raw: &[u8], before: EntryKey) -> Result<EntryKey, &'static str> {
        let head = self.heads.take(1).and_then(|at| raw.get(at)).ok_or("a head")?;
        let count = usize::from(head & !NEW_SHARD);
        if count > MAX_SYMBOLS {
            return Err("a number of symbols");
        }
        let base = if head & NEW_SHARD == 0 {
            before
        } else {
            let step = self.heads.varint(raw).filter(|&step| step > 0).ok_or("a shard")?;
            EntryKey::start(before.shard.checked_add(step).ok_or("a shard in range")?)
        };
        let start = self.symbols.take(count).ok_or("a region key")?;
        let symbols = raw.get(start..start + count).ok_or("a region key")?;
        let bits = SYMBOL_BITS * count as u32;
        let (mut low, mut seen) = (0, 0);
        for &symbol in symbols {
            low = low << SYMBOL_BITS | u128::from(symbol);
            seen |= symbol;
        }
        if seen >> SYMBOL_BITS != 0 {
            return Err("symbols of five bits");
        }
        // If there are all 26 symbols, the first has only three bits.
        if bits > u128::BITS && symbols[0] >> (SYMBOL_BITS - (bits - u128::BITS)) != 0 {
            return Err("a region key in range");
        }
        let same = u128::MAX.checked_shl(bits).unwrap_or(0);
        Ok(EntryKey { shard: base.shard, region: base.region & same | low })
    }

    /// Reads the next region's reference to its list.
    #[inline]
    pub(crate) fn content(&mut self, raw: &[u8]) -> Option<Content> {
        Some(match self.counts.varint(raw)? {
            MIXED => Content::New { count: self.counts.varint(raw)?, bit: None },
            REPEATED => Content::Repeated(self.repeats.varint(raw)?),
            code => Content::New { count: code >> 1, bit: Some(code & 1) },
        })
    }

    /// Whether all columns have been read.
    pub(crate) fn at_end(&self) -> bool {
        let Lists { gaps, lows, highs } = self.lists;
        [self.heads, self.symbols, self.counts, self.repeats, gaps, lows, highs]
            .iter()
            .all(|span| span.at == span.end)
    }
}

/// The directory at the end of a block: the length and the stored length of each column.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Directory {
    pub(crate) raw: [u32; COLUMNS],
    pub(crate) stored: [u32; COLUMNS],
}

impl Directory {
    /// Encodes the directory into `out`, which is emptied first.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.clear();
        for (raw, stored) in self.raw.iter().zip(&self.stored) {
            varint::put(out, *raw);
            varint::put(out, *stored);
        }
        out.push(out.len() as u8);
    }

    /// Reads the directory of a stored block and checks that the columns fill the block and have
    /// `raw_len` bytes together.
    pub(crate) fn read(block: &[u8], raw_len: u32) -> Option<Self> {
        let (&len, before) = block.split_last()?;
        let columns = before.len().checked_sub(usize::from(len))?;
        let listed = &before[columns..];
        let (mut directory, mut pos) = (Self::default(), 0);
        let (mut raw_sum, mut stored_sum) = (0_u64, 0_u64);
        for (raw, stored) in directory.raw.iter_mut().zip(&mut directory.stored) {
            (*raw, *stored) = (varint::get(listed, &mut pos)?, varint::get(listed, &mut pos)?);
            if stored > raw {
                return None;
            }
            raw_sum += u64::from(*raw);
            stored_sum += u64::from(*stored);
        }
        let whole =
            pos == listed.len() && raw_sum == u64::from(raw_len) && stored_sum == columns as u64;
        whole.then_some(directory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layer::list::ListBuf;
    use proptest::prelude::*;

    fn key() -> impl Strategy<Value = EntryKey> {
        (prop_oneof![0_u32..3, any::<u32>()], any::<u128>(), 0_u32..128)
            .prop_map(|(shard, region, shift)| EntryKey { shard, region: region >> shift })
    }

    fn reader(columns: [&[u8]; COLUMNS]) -> (Vec<u8>, Reader) {
        let raw = [&columns.concat()[..], &[0xff; 8]].concat();
        (raw, Reader::new(columns.map(|column| column.len() as u32)))
    }

    proptest! {
        #[test]
        fn regions_round_trip(
            regions in proptest::collection::btree_map(key(), 0_usize..4, 1..50),
            lists: [[u32; 3]; 4],
        ) {
            let lists = lists.map(std::collections::BTreeSet::from);
            let lists = lists.map(|list| list.into_iter().collect::<Vec<u32>>());
            let mut list = ListBuf::default();
            let mut columns = Columns::new(10);
            let mut before = EntryKey::default();
            for (key, number) in &regions {
                columns.push(before, *key, list.encode(&lists[*number]));
                before = *key;
            }
            let (raw, mut reader) = reader(columns.all());
            prop_assert_eq!(columns.len() + 8, raw.len());
            let mut before = EntryKey::default();
            let mut seen: Vec<&[u32]> = Vec::new();
            for (key, number) in &regions {
                prop_assert_eq!(reader.key(&raw, before), Ok(*key));
                let wanted = &lists[*number][..];
                match reader.content(&raw).unwrap() {
                    Content::New { count, bit } => {
                        prop_assert!(!seen.contains(&wanted));
                        seen.push(wanted);
                        let spans = reader.lists.take(&raw, count as usize).unwrap();
                        let [gaps, lows, highs] = spans.map(|span| &raw[span.at..span.end]);
                        prop_assert_eq!(List { bit, gaps, lows, highs, ..List::EMPTY }, list.encode(wanted));
                    }
                    Content::Repeated(number) => prop_assert_eq!(seen[number as usize], wanted),
                }
                before = *key;
            }
            prop_assert!(reader.at_end());
        }

        #[test]
        fn garbage_never_panics(
            heads in proptest::collection::vec(prop_oneof![any::<u8>(), 0_u8..27], 0..20),
            symbols in proptest::collection::vec(prop_oneof![1 => any::<u8>(), 50 => 0_u8..32], 0..200),
            counts in proptest::collection::vec(any::<u8>(), 0..20),
            repeats in proptest::collection::vec(any::<u8>(), 0..20),
            before in key(),
        ) {
            let columns: [&[u8]; COLUMNS] =
                [&heads, &symbols, &counts, &repeats, &[], &[], &[]];
            let (raw, mut reader) = reader(columns);
            while let Ok(key) = reader.key(&raw, before) {
                prop_assert!(key.shard >= before.shard);
                let _ = reader.content(&raw);
            }
        }

        #[test]
        fn directories_round_trip(
            lengths in proptest::array::uniform7((0_u32..1 << 24, any::<bool>())),
        ) {
            let raw = lengths.map(|(len, _)| len);
            let stored = lengths.map(|(len, small)| if small { len % 300 } else { len.min(1000) });
            let (directory, mut bytes) = (Directory { raw, stored }, Vec::new());
            directory.write(&mut bytes);
            prop_assert!(bytes.len() <= MAX_DIRECTORY);
            let block = [&vec![7; stored.iter().sum::<u32>() as usize][..], &bytes].concat();
            let sum = raw.iter().sum();
            prop_assert_eq!(Directory::read(&block, sum), Some(directory));
            prop_assert_eq!(Directory::read(&block, sum + 1), None);
            prop_assert_eq!(Directory::read(&[&[7], &block[..]].concat(), sum), None);
            prop_assert_eq!(Directory::read(&bytes[1..], sum), None);
        }

        #[test]
        fn directories_of_garbage_never_panic(
            block in proptest::collection::vec(0_u8..20, 0..20), raw_len in 0_u32..100,
        ) {
            if let Some(directory) = Directory::read(&block, raw_len) {
                prop_assert_eq!(directory.raw.iter().sum::<u32>(), raw_len);
                prop_assert!(directory.stored.iter().sum::<u32>() < block.len() as u32);
            }
        }
    }

    #[test]
    fn a_region_key_of_more_than_128_bits_is_refused() {
        let symbols = [31; MAX_SYMBOLS];
        for (first, wanted) in [(7, Ok(u128::MAX)), (8, Err("a region key in range"))] {
            let mut symbols = symbols;
            symbols[0] = first;
            let (raw, mut reader) = reader([&[26], &symbols, &[], &[], &[], &[], &[]]);
            let found = reader.key(&raw, EntryKey::default()).map(|key| key.region);
            assert_eq!(found, wanted);
        }
    }
}
