//! Maps of states, as tables: the moves and symmetries of a search.

/// Maximum number of places of a state.
pub(super) const MOST_PLACES: usize = 128;

/// A state as a code for each place: a piece and its turn. Entries after the last place are 0.
pub(in super::super) type Codes = [u16; MOST_PLACES];

/// A map of states: each place takes the code of its source place and recodes it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Map {
    /// By place, the source place, and where the place's part of `codes` begins.
    pub(super) sources: Vec<(u16, u32)>,
    /// By place and code of the source place, the code after the map.
    pub(super) codes: Vec<u16>,
}

impl Map {
    /// The source of a place, and by code of the source the code after the map.
    fn row(&self, place: usize) -> (u16, &[u16]) {
        let (source, begin) = self.sources[place];
        let end = self.sources.get(place + 1).map_or(self.codes.len(), |(_, end)| *end as usize);
        (source, &self.codes[begin as usize..end])
    }

    /// The code of a place after the map.
    pub(super) fn at(&self, place: usize, codes: &Codes) -> u16 {
        let (source, first) = self.sources[place];
        self.codes[first as usize + usize::from(codes[usize::from(source)])]
    }

    pub(super) fn apply(&self, codes: &Codes) -> Codes {
        let mut image = [0; MOST_PLACES];
        for (place, code) in image.iter_mut().enumerate().take(self.sources.len()) {
            *code = self.at(place, codes);
        }
        image
    }

    /// The product of two maps: `first`, then this one.
    pub(super) fn after(&self, first: &Map) -> Map {
        let mut product =
            Map { sources: Vec::with_capacity(self.sources.len()), codes: Vec::new() };
        for (middle, own) in &self.sources {
            let (source, codes) = first.row(usize::from(*middle));
            product.sources.push((source, product.codes.len() as u32));
            product
                .codes
                .extend(codes.iter().map(|code| self.codes[*own as usize + usize::from(*code)]));
        }
        product
    }

    /// Whether every state is mapped to itself.
    pub(super) fn is_identity(&self) -> bool {
        let count = self.sources.len();
        (0..count).all(|place| {
            let (source, codes) = self.row(place);
            usize::from(source) == place && (0..).zip(codes).all(|(code, image)| code == *image)
        })
    }
}

/// A map of states with few places and codes, which are one byte each.
#[derive(Clone, Debug)]
pub(in super::super) struct ByteMap {
    /// By place, the source place.
    sources: Vec<u8>,
    /// By place and code of the source place, the code after the map; the same number of codes per place.
    codes: Vec<u8>,
    stride: usize,
}

impl Map {
    /// The map with bytes; None if there are too many places or codes.
    pub(super) fn bytes(&self) -> Option<ByteMap> {
        let rows: Vec<(u16, &[u16])> =
            (0..self.sources.len()).map(|place| self.row(place)).collect();
        let stride = rows.iter().map(|(_, codes)| codes.len()).max()?;
        let mut map = ByteMap { sources: Vec::new(), codes: Vec::new(), stride };
        for (source, codes) in rows {
            map.sources.push(u8::try_from(source).ok()?);
            for code in codes {
                map.codes.push(u8::try_from(*code).ok()?);
            }
            map.codes.resize(map.sources.len() * stride, 0);
        }
        Some(map)
    }
}

impl ByteMap {
    /// The source of a place.
    pub(in super::super) fn source(&self, place: usize) -> usize {
        self.sources[place].into()
    }

    /// The code of a place after the map, given the code of its source.
    #[inline]
    pub(in super::super) fn code(&self, place: usize, code: u8) -> u8 {
        self.codes[place * self.stride + usize::from(code)]
    }

    /// Writes the image of a state.
    #[inline]
    pub(in super::super) fn apply(&self, from: &[u8], to: &mut [u8]) {
        let places = to.iter_mut().zip(&self.sources).zip(self.codes.chunks_exact(self.stride));
        for ((to, source), codes) in places {
            *to = codes[usize::from(from[usize::from(*source)])];
        }
    }
}
