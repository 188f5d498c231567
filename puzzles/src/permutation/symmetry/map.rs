//! Maps of states: moves, and symmetries.

/// Most places of a state.
pub(super) const MOST_PLACES: usize = 128;

/// A state as a code for each place: a piece and its turn. Those after the last place are 0.
pub(in super::super) type Codes = [u16; MOST_PLACES];

/// A map of states: what comes to a place is what another place has, with another code.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Map {
    /// By place, the place that it takes from, and where its codes begin.
    pub(super) sources: Vec<(u16, u32)>,
    /// The codes by place and code.
    pub(super) codes: Vec<u16>,
}

impl Map {
    /// The place that a place takes from, and what its codes become.
    fn row(&self, place: usize) -> (u16, &[u16]) {
        let (source, begin) = self.sources[place];
        let end = self.sources.get(place + 1).map_or(self.codes.len(), |(_, end)| *end as usize);
        (source, &self.codes[begin as usize..end])
    }

    /// What comes to a place.
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

    /// This map after another one.
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
