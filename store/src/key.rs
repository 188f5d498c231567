//! Sort keys of entries, and ranges of them.

/// Sort key of a region in every file: ordered by shard, then by region.
#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Hash, Debug, Default)]
pub struct EntryKey {
    /// The shard that owns the region.
    pub shard: u32,
    /// The region's key, unique over all shards.
    pub region: u128,
}

impl EntryKey {
    /// The smallest key of a shard. Shard `s` is the range from `start(s)` to `start(s + 1)`.
    #[must_use]
    pub const fn start(shard: u32) -> Self {
        Self { shard, region: 0 }
    }

    /// The key of a region in a job of `shards` shards; `hash` is the region's shard hash.
    ///
    /// ```
    /// use strata_store::EntryKey;
    ///
    /// assert_eq!(EntryKey::in_shards(5, 10, 4), EntryKey { shard: 2, region: 5 });
    /// ```
    ///
    /// # Panics
    /// If there are no shards.
    #[must_use]
    #[inline]
    pub const fn in_shards(region: u128, hash: u64, shards: u32) -> Self {
        Self { shard: (hash % shards as u64) as u32, region }
    }
}

impl std::fmt::Display for EntryKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{:x}", self.shard, self.region)
    }
}

/// A half-open range of keys; a bound of None does not limit it.
///
/// ```
/// use strata_store::{EntryKey, KeyRange};
///
/// let middle = EntryKey::start(2);
/// let [low, high] = [KeyRange::to(middle), KeyRange::from(middle)];
/// assert!(high.contains(middle) && !low.contains(middle));
/// assert!(KeyRange::ALL.contains(EntryKey::default()));
/// ```
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Default)]
pub struct KeyRange {
    /// The first key that may be in the range.
    pub start: Option<EntryKey>,
    /// The first key after the range.
    pub end: Option<EntryKey>,
}

impl KeyRange {
    /// Every key.
    pub const ALL: KeyRange = KeyRange { start: None, end: None };

    /// The keys from `start` on.
    #[must_use]
    pub const fn from(start: EntryKey) -> Self {
        Self { start: Some(start), end: None }
    }

    /// The keys below `end`.
    #[must_use]
    pub const fn to(end: EntryKey) -> Self {
        Self { start: None, end: Some(end) }
    }

    /// The keys from `start` on and below `end`.
    #[must_use]
    pub const fn between(start: EntryKey, end: EntryKey) -> Self {
        Self { start: Some(start), end: Some(end) }
    }

    /// Splits this range at `keys`, which must increase. The parts are in order, one more than keys.
    pub fn split(self, keys: &[EntryKey]) -> impl Iterator<Item = KeyRange> {
        let starts = std::iter::once(self.start).chain(keys.iter().copied().map(Some));
        let ends = keys.iter().copied().map(Some).chain(std::iter::once(self.end));
        starts.zip(ends).map(|(start, end)| KeyRange { start, end })
    }

    /// Whether a key is in the range.
    #[must_use]
    pub fn contains(&self, key: EntryKey) -> bool {
        self.start.is_none_or(|start| start <= key) && self.end.is_none_or(|end| key < end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_ranges_cover_every_key_once() {
        let keys = [2, 5, 9].map(EntryKey::start);
        let parts: Vec<KeyRange> = KeyRange::ALL.split(&keys).collect();
        assert_eq!((parts.len(), parts[0]), (4, KeyRange::to(keys[0])));
        assert_eq!(
            (parts[1], parts[3]),
            (KeyRange::between(keys[0], keys[1]), KeyRange::from(keys[2]))
        );
        for shard in 0..12 {
            let key = EntryKey::start(shard);
            assert_eq!(parts.iter().filter(|part| part.contains(key)).count(), 1);
        }
        assert_eq!(
            KeyRange::from(keys[0]).split(&[]).collect::<Vec<_>>(),
            [KeyRange::from(keys[0])]
        );
    }
}
