//! Sets as machine words: iteration over bits, and sets of configurations.

/// Number of a configuration at its level.
pub(crate) type ConfigId = u8;

/// A set of configurations of one level.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Default, Debug)]
pub(crate) struct ConfigSet(pub(crate) u64);

impl ConfigSet {
    /// The configurations in ascending order.
    #[inline(always)]
    pub(crate) fn iter(self) -> impl Iterator<Item = ConfigId> + Clone {
        Bits(self.0).map(|config| config as ConfigId)
    }

    #[inline(always)]
    pub(crate) fn insert(&mut self, config: ConfigId) {
        self.0 |= 1 << config;
    }

    #[inline(always)]
    pub(crate) fn contains(self, config: ConfigId) -> bool {
        self.0 >> config & 1 == 1
    }

    /// The number of configurations of the set that are less than `config`.
    pub(crate) fn rank(self, config: ConfigId) -> usize {
        (self.0 & ((1 << config) - 1)).count_ones() as usize
    }
}

impl FromIterator<ConfigId> for ConfigSet {
    fn from_iter<I: IntoIterator<Item = ConfigId>>(configs: I) -> ConfigSet {
        let mut set = ConfigSet::default();
        configs.into_iter().for_each(|config| set.insert(config));
        set
    }
}

/// Iterator of [`bits`].
#[derive(Clone)]
struct Bits(u64);

impl Iterator for Bits {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        let next = (self.0 != 0).then(|| self.0.trailing_zeros() as usize);
        self.0 &= self.0.wrapping_sub(1);
        next
    }
}

/// The positions of the set bits of a word, lowest first.
#[inline(always)]
pub(crate) fn bits(set: u64) -> impl Iterator<Item = usize> {
    Bits(set)
}
