//! Remaining time of a dense search where a few layers have most of the states.
//!
//! A pass over a wide layer reads the planes of the whole space, so it takes about as long as the pass
//! before, however many states it finds. The remaining time is then the number of remaining passes. In
//! spaces such as permutation puzzles, this number follows from the share of the states that is not
//! reached yet.

use super::range::Range;

/// Share of the states below which there is no estimate: preparing memory and files dominates the time of
/// the first layers.
const MIN_SHARE: f64 = 0.03;

/// Least growth from layer to layer, early in the search, by which a space is taken to have few layers.
const FAST_GROWTH: f64 = 1.6;

/// Growth is measured up to this share of the states.
const EARLY: f64 = 0.3;

/// Pairs of the share of the states that is not reached and the remaining time in units of the last
/// layer's time: means of the pyraminx in memory and by parts, 12 pancakes and the 2x2x2 cube.
const PASSES: [(f64, f64); 7] = [
    (0.92, 5.4),
    (0.7, 3.5),
    (0.42, 2.5),
    (0.2, 1.7),
    (0.02, 0.85),
    (0.001, 0.45),
    (0.000_001, 0.2),
];

/// Factor by which the estimate may be wrong in either direction.
const UNCERTAINTY: f64 = 1.3;

/// Layers of a dense search so far.
#[derive(Copy, Clone, Debug, Default)]
pub struct PlanePasses {
    /// States of the last layer.
    width: f64,
    /// Largest growth from one layer to the next, early in the search but after the smallest layers.
    growth: f64,
    left: Option<Range>,
}

impl PlanePasses {
    /// Adds a layer of `width` states that took `seconds`. The layers so far have `states` of the `all`
    /// states of the space.
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

    /// Whether the growth indicates a space with few layers. There is an estimate only for these.
    pub fn is_fast(&self) -> bool {
        self.growth >= FAST_GROWTH
    }

    /// Remaining time in seconds, counted from the last layer.
    pub fn left(&self) -> Option<Range> {
        self.left
    }
}

/// Number of remaining passes, given the share of the states that is not reached.
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
