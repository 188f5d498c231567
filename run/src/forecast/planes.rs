//! Remaining time of the dense engine where a few layers find most of the space.
//!
//! A pass over a wide layer reads the planes of the whole space. So it takes about as long as the
//! pass before, whatever its states, and the question is how many passes are left. In spaces such as
//! puzzles of permutations that follows from the share of the states that is not reached yet.

use super::range::Range;

/// Share of the states below which nothing is said: the first layers take as long as it takes to
/// prepare memory and files.
const MIN_SHARE: f64 = 0.03;

/// Least growth from layer to layer of a space with few layers, early in the search.
const FAST_GROWTH: f64 = 1.6;

/// Growth is measured up to this share of the states.
const EARLY: f64 = 0.3;

/// Share of the states that is not reached, and the remaining time over that of the last layer. The
/// means of the pyraminx in memory and by parts, 12 pancakes and the 2x2x2 cube.
const PASSES: [(f64, f64); 7] = [
    (0.92, 5.4),
    (0.7, 3.5),
    (0.42, 2.5),
    (0.2, 1.7),
    (0.02, 0.85),
    (0.001, 0.45),
    (0.000_001, 0.2),
];

/// By what the estimate may be wrong.
const UNCERTAINTY: f64 = 1.3;

/// Layers of a dense search so far.
#[derive(Copy, Clone, Debug, Default)]
pub struct PlanePasses {
    /// States of the last layer.
    width: f64,
    /// Greatest growth from one layer to the next early in the search, of layers with some states.
    growth: f64,
    left: Option<Range>,
}

impl PlanePasses {
    /// Adds a layer of `width` states that took `seconds`. The layers so far have `states` of `all`.
    pub fn add(&mut self, width: u64, states: u64, all: f64, seconds: f64) {
        let (width, share) = (width as f64, states as f64 / all);
        // The first layers of any space grow fast.
        if share > 1e-3 && share < EARLY && self.width > 0.0 {
            self.growth = self.growth.max(width / self.width);
        }
        self.width = width;
        self.left = ((MIN_SHARE..=1.0).contains(&share) && self.is_fast())
            .then(|| Range::around(seconds * passes(1.0 - share), UNCERTAINTY));
    }

    /// Whether a few layers find most of the space. Only then is there an estimate.
    pub fn is_fast(&self) -> bool {
        self.growth >= FAST_GROWTH
    }

    /// Remaining time in seconds, counted from the last layer.
    pub fn left(&self) -> Option<Range> {
        self.left
    }
}

/// The remaining passes, by the share of the states that is not reached.
fn passes(unreached: f64) -> f64 {
    let (first, last) = (PASSES[0], PASSES[PASSES.len() - 1]);
    if unreached >= first.0 {
        return first.1;
    }
    let pair = PASSES.windows(2).find(|pair| unreached >= pair[1].0);
    pair.map_or(last.1, |pair| {
        let ((from, more), (to, fewer)) = (pair[0], pair[1]);
        let part = (unreached.ln() - to.ln()) / (from.ln() - to.ln());
        fewer + (more - fewer) * part
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_passes_are_left_when_fewer_states_are() {
        let shares = [1.0, 0.9, 0.5, 0.1, 0.01, 1e-4, 1e-7, 0.0];
        let passes: Vec<f64> = shares.into_iter().map(passes).collect();
        assert!(passes.is_sorted_by(|more, fewer| more >= fewer), "{passes:?}");
        assert_eq!((passes[0], passes[7]), (5.4, 0.2));
    }

    #[test]
    fn slow_spaces_have_no_estimate_by_passes() {
        let add = |growth: f64| {
            let mut passes = PlanePasses::default();
            let (mut width, mut states) = (1000.0, 1000);
            while (states as f64) < 1e6 / 2.0 {
                passes.add(width as u64, states, 1e6, 1.0);
                width *= growth;
                states += width as u64;
            }
            passes
        };
        assert!(add(1.2).left().is_none() && !add(1.2).is_fast());
        let left = add(4.0).left().expect("an estimate");
        assert!(left.low > 1.0 && left.high < 8.0, "{left:?}");
    }
}
