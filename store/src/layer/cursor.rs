//! The cursor over a layer file: it reads the regions of a range of keys, in key order.

use std::sync::{Arc, Weak};

use xxhash_rust::xxh3::xxh3_64;
use zstd::bulk::Decompressor;

use crate::error::{Result, StoreError};
use crate::key::{EntryKey, KeyRange};
use crate::layer::columns::{COLUMNS, Content, Directory, Reader, grow};
use crate::layer::file::{Layer, LayerData};
use crate::layer::index::BlockMeta;
use crate::layer::list::{List, ListBuf};
use crate::layer::local::{LocalWidth, Word};
use crate::layer::repeats::{ListPlace, ListPlaces};
use crate::layer::source::Source;
use crate::layer::wide;

const TOO_MANY_STATES: &str = "a number of states that fits the block";

/// The kind of a decoded entry.
enum Step {
    /// A region with its whole list.
    Region,
    /// A region whose list continues in the next block.
    FirstPart,
    /// A region after the range.
    Behind,
}

/// Iterates over the regions of a layer in a range of keys.
///
/// Each thread uses one cursor for each input. A cursor keeps its buffers and its decompression context
/// from file to file.
pub struct LayerCursor {
    decompressor: Decompressor<'static>,
    data: Option<Arc<LayerData>>,
    /// Whether each region is stored once: a key repeats only where a list continues in the next block.
    strict: bool,
    width: LocalWidth,
    /// End of the range.
    to: Option<EntryKey>,
    /// Index of the block after the current one.
    next_block: usize,
    block: BlockMeta,
    /// Whether the block's last list continues in the next block.
    goes_on: bool,
    /// Buffer for the stored bytes of a block. It is freed after a large block.
    stored: Vec<u8>,
    /// The columns of the loaded block, concatenated.
    raw: Vec<u8>,
    /// The loaded block, as (file, index). It stays loaded, because the next pass may read it first.
    loaded: Option<(Weak<LayerData>, usize)>,
    /// Lengths of the columns.
    lengths: [u32; COLUMNS],
    reader: Reader,
    /// The places of the lists of the current block, as far as entries have been decoded.
    lists: ListPlaces,
    /// Regions of the current block that are not decoded yet.
    regions_left: u32,
    /// States of the current block that are not decoded yet.
    states_left: u32,
    key: Option<EntryKey>,
    /// The current region's list; without states if the list is `joined`.
    list: ListPlace,
    /// The current region's list if it has several entries; otherwise empty.
    joined: ListBuf,
    /// The words of the list's states, if `decoded`.
    locals: Vec<Word>,
    decoded: bool,
}

impl std::fmt::Debug for LayerCursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LayerCursor").field("key", &self.key).finish_non_exhaustive()
    }
}

impl LayerCursor {
    /// A cursor without a layer.
    ///
    /// # Errors
    /// `Codec` if zstd has no memory.
    pub fn new() -> Result<Self> {
        let decompressor = Decompressor::new().map_err(|source| StoreError::Codec {
            op: "set up decompression for blocks",
            source,
        })?;
        Ok(Self {
            decompressor,
            data: None,
            strict: true,
            width: LocalWidth::One,
            to: None,
            next_block: 0,
            block: BlockMeta::default(),
            goes_on: false,
            stored: Vec::new(),
            raw: Vec::new(),
            loaded: None,
            lengths: [0; COLUMNS],
            reader: Reader::default(),
            lists: ListPlaces::default(),
            regions_left: 0,
            states_left: 0,
            key: None,
            list: ListPlace::default(),
            joined: ListBuf::default(),
            locals: Vec::new(),
            decoded: false,
        })
    }

    /// Moves to the first region of `range` in a layer. The cursor holds a reference to the layer until
    /// it reaches the end of the range.
    ///
    /// # Errors
    /// `Corrupt` if the layer is dense, or a block differs from what was written; `Read` if the file cannot
    /// be read; `Io` or `NotFound` if a closed file cannot be opened. The cursor is then at the end.
    pub fn start(&mut self, layer: &Layer, range: KeyRange) -> Result<()> {
        self.stop();
        let kind = layer.header().kind;
        if kind.is_dense() {
            let expected = "a layer of lists of states";
            return Err(StoreError::corrupt(&layer.name(), 10, expected, "a dense layer"));
        }
        self.strict = kind.continues_lists();
        self.width = layer.header().width;
        self.to = range.end;
        let from = range.start;
        self.next_block =
            from.map_or(0, |from| layer.blocks().partition_point(|block| block.last < from));
        self.regions_left = 0;
        self.data = Some(layer.data().clone());
        self.next(from)
    }

    /// Key of the current region; `None` at the end.
    #[inline]
    #[must_use]
    pub fn key(&self) -> Option<EntryKey> {
        self.key
    }

    /// The current region's states, encoded; empty at the end.
    #[inline]
    #[must_use]
    pub fn list(&self) -> List<'_> {
        match self.list.count() {
            0 => self.joined.list(),
            _ => self.list.list(self.width, [&self.raw; 3]),
        }
    }

    /// The width of the layer's locals.
    #[inline]
    #[must_use]
    pub fn width(&self) -> LocalWidth {
        self.width
    }

    /// The words of the current region's states, which increase strictly; empty at the end.
    ///
    /// # Errors
    /// `Corrupt` if they differ from what was written; the cursor is then at the end.
    #[inline]
    pub fn locals(&mut self) -> Result<&[Word]> {
        if !self.decoded {
            let mut locals = std::mem::take(&mut self.locals);
            let found = self.list().decode(&mut locals);
            self.locals = locals;
            if found.is_none() {
                return Err(self.malformed("a list of states"));
            }
            self.decoded = true;
        }
        Ok(&self.locals)
    }

    /// Moves to the next region; does nothing at the end.
    ///
    /// # Errors
    /// `Corrupt` if a block differs from what was written, `Read` if the file cannot be read, `Io` or
    /// `NotFound` if a closed file cannot be opened. The cursor is then at the end.
    #[inline]
    pub fn advance(&mut self) -> Result<()> {
        self.next(None)
    }

    /// Moves to the next region, or to the first region from `from` on, which must be in the next block.
    #[inline]
    fn next(&mut self, from: Option<EntryKey>) -> Result<()> {
        if self.regions_left == 0 && !self.load_block()? {
            return Ok(());
        }
        match self.decode(from) {
            Ok(Step::Region) => Ok(()),
            Ok(Step::FirstPart) => self.join(),
            Ok(Step::Behind) => {
                self.stop();
                Ok(())
            }
            Err(what) => Err(self.malformed(what)),
        }
    }

    /// Joins the entries of the current region's list, which continues in the next block.
    #[cold]
    fn join(&mut self) -> Result<()> {
        let (mut words, mut part) = (Vec::new(), std::mem::take(&mut self.locals));
        loop {
            if self.list().decode(&mut part).is_none() {
                return Err(self.malformed("a list of states"));
            }
            let last = self.width.locals(&words).next_back();
            if last.is_some_and(|last| last >= self.width.get(&part, 0)) {
                return Err(self.malformed("states above those of the block before"));
            }
            words.extend_from_slice(&part);
            if self.regions_left > 0 || !self.goes_on {
                break;
            }
            if !self.load_block()? {
                return Err(self.malformed("the rest of a list"));
            }
            if let Err(what) = self.decode_entry().and_then(|_| self.check_end()) {
                return Err(self.malformed(what));
            }
        }
        self.locals = part;
        self.joined.encode_words(self.width, &words);
        self.list = ListPlace::default();
        Ok(())
    }

    /// Moves to the end and drops the layer.
    pub fn stop(&mut self) {
        self.data = None;
        self.key = None;
        self.list = ListPlace::default();
        self.joined = ListBuf::default();
        self.decoded = false;
        self.regions_left = 0;
    }

    /// Decodes the block's next entry, or its first entry from `from` on.
    #[inline]
    fn decode(&mut self, from: Option<EntryKey>) -> std::result::Result<Step, &'static str> {
        let mut key = self.decode_entry()?;
        while from.is_some_and(|from| key < from) {
            if self.regions_left == 0 {
                return Err("the last key that the index names");
            }
            key = self.decode_entry()?;
        }
        if self.to.is_some_and(|to| key >= to) {
            return Ok(Step::Behind);
        }
        self.decoded = false;
        self.check_end()?;
        Ok(if self.regions_left == 0 && self.goes_on { Step::FirstPart } else { Step::Region })
    }

    /// After the block's last entry: checks its key, and that all states and columns have been read.
    #[inline]
    fn check_end(&self) -> std::result::Result<(), &'static str> {
        if self.regions_left == 0 {
            if self.states_left != 0 || !self.reader.at_end() {
                return Err("as many states as the index says");
            }
            if self.key != Some(self.block.last) {
                return Err("the last key that the index names");
            }
        }
        Ok(())
    }

    /// Decodes the next region's key, and finds its list.
    #[inline]
    fn decode_entry(&mut self) -> std::result::Result<EntryKey, &'static str> {
        let key = self.decode_key()?;
        self.list = match self.reader.content(&self.raw).ok_or("a number of states")? {
            Content::New { count, bit } => self.take_list(count, bit)?,
            Content::Repeated(number) => self.lists.get(number).ok_or("a list of the block")?,
        };
        let count = self.list.count() as u32;
        if count > self.states_left {
            return Err(TOO_MANY_STATES);
        }
        self.states_left -= count;
        self.regions_left -= 1;
        self.key = Some(key);
        Ok(key)
    }

    /// Takes the next list of the columns.
    #[inline]
    fn take_list(
        &mut self,
        count: u32,
        bit: Option<u32>,
    ) -> std::result::Result<ListPlace, &'static str> {
        let lists = &mut self.reader.lists;
        // The count is checked against the column before memory is reserved for it.
        if count == 0 || count as usize > lists.gaps.left() {
            return Err(TOO_MANY_STATES);
        }
        let columns = match self.width {
            LocalWidth::One => lists.take(&self.raw, count as usize),
            _ => wide::take(lists, &self.raw, count as usize),
        };
        let columns = columns.ok_or("a list of states")?;
        self.lists.add(bit, columns.map(|span| span.end));
        Ok(ListPlace { bit, columns })
    }

    /// Decodes the next region's key.
    #[inline]
    fn decode_key(&mut self) -> std::result::Result<EntryKey, &'static str> {
        if self.regions_left == self.block.regions {
            let key = self.reader.key(&self.raw, EntryKey::default())?;
            if key != self.block.first {
                return Err("the first key that the index names");
            }
            Ok(key)
        } else {
            let before = self.key.unwrap_or_default();
            let key = self.reader.key(&self.raw, before)?;
            if key < before || (key == before && self.strict) {
                return Err("a greater region key");
            }
            Ok(key)
        }
    }

    /// Loads the next block. If it is after the range, or there is none, moves to the end and returns
    /// false.
    fn load_block(&mut self) -> Result<bool> {
        let Some(data) = self.data.clone() else {
            return Ok(false);
        };
        let Some(block) = data.layout.blocks.get(self.next_block).copied() else {
            self.stop();
            return Ok(false);
        };
        if self.to.is_some_and(|to| block.first >= to) {
            self.stop();
            return Ok(false);
        }
        self.block = block;
        let next = data.layout.blocks.get(self.next_block + 1);
        self.goes_on = self.strict && next.is_some_and(|next| next.follows(&block));
        self.joined = ListBuf::default();
        let is_loaded = |(file, at): &(Weak<LayerData>, usize)| {
            *at == self.next_block && std::ptr::eq(file.as_ptr(), Arc::as_ptr(&data))
        };
        if !self.loaded.as_ref().is_some_and(is_loaded) {
            self.loaded = None;
            if let Err(error) = self.unpack(&data) {
                self.stop();
                return Err(error);
            }
            Source::trim(&mut self.stored);
            self.loaded = Some((Arc::downgrade(&data), self.next_block));
        }
        self.reader = Reader::new(self.lengths);
        self.lists.begin(self.reader.lists.starts());
        self.next_block += 1;
        self.regions_left = block.regions;
        self.states_left = block.states;
        Ok(true)
    }

    /// Reads, checks and decompresses the current block.
    fn unpack(&mut self, data: &LayerData) -> Result<()> {
        let block = self.block;
        let wrong = |expected: String, found: String| {
            StoreError::corrupt(&data.source.name(), block.offset, expected, found)
        };
        let len = block.stored_len as usize;
        let stored = data.source.read(block.offset, len, &mut self.stored)?;
        let checksum = xxh3_64(stored);
        if checksum != block.checksum {
            return Err(wrong(
                format!("block checksum {:016x}", block.checksum),
                format!("{checksum:016x}"),
            ));
        }
        let raw_len = block.raw_len as usize;
        let Some(directory) = Directory::read(stored, block.raw_len) else {
            return Err(wrong(format!("columns of {raw_len} bytes"), "others".to_owned()));
        };
        if self.raw.len() < raw_len {
            grow(&mut self.raw, 0, raw_len);
        }
        let (mut rest, mut target) = (stored, &mut self.raw[..raw_len]);
        for (raw, len) in directory.raw.into_iter().zip(directory.stored) {
            let (column, others) = rest.split_at(len as usize);
            let (place, places) = target.split_at_mut(raw as usize);
            if raw == len {
                place.copy_from_slice(column);
            } else {
                match self.decompressor.decompress_to_buffer(column, place) {
                    Ok(len) if len == raw as usize => {}
                    Ok(len) => {
                        return Err(wrong(format!("a column of {raw} bytes"), format!("{len}")));
                    }
                    Err(error) => return Err(wrong("a zstd frame".to_owned(), error.to_string())),
                }
            }
            (rest, target) = (others, places);
        }
        self.lengths = directory.raw;
        Ok(())
    }

    #[cold]
    fn malformed(&mut self, what: &str) -> StoreError {
        let file = self.data.as_ref().map(|data| data.source.name()).unwrap_or_default();
        let left = self.regions_left;
        let found = format!("a malformed region, {left} before the end of the block");
        let error = StoreError::corrupt(&file, self.block.offset, what, found);
        self.stop();
        error
    }
}
