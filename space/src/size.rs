//! Sizes of searches, as far as they are known in advance, for forecasts.

/// Size of a search, as far as it is known before it begins.
///
/// It serves forecasts of time, memory and disk. A figure that is not known is None. The results of a
/// search never depend on these figures.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct SearchSize {
    /// Depth at which the search ends.
    pub layers: Option<u32>,
    /// States of all layers.
    pub states: Option<u64>,
    /// States of the widest layer.
    pub widest: Option<u64>,
    /// States of the layers up to a depth, as a share of all states.
    pub states_by_depth: Option<Curve>,
    /// Figures of the explicit engine.
    pub explicit: Option<ExplicitSize>,
    /// Figures of the symbolic engine.
    pub nested: Option<NestedSize>,
}

/// Speed and bytes of a search by the explicit engine.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct ExplicitSize {
    /// States per second of one thread, in wide layers.
    pub states_per_second: f64,
    /// Bytes of layer files per state.
    pub bytes_per_state: f64,
}

/// Size of a search by the symbolic engine.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct NestedSize {
    /// Nodes that the search creates, if known.
    pub nodes: Option<u64>,
    /// Time of the layers up to a depth, as a share of the total. None if it is proportional to the
    /// states.
    pub work_by_depth: Option<Curve>,
}

/// A function from a share of the depth to a share of the whole, both from 0 to 1.
///
/// Its values are given at even steps of the depth, from 0 to 1 inclusive, and ascend. Between them
/// it is linear.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Curve(pub &'static [f32]);

impl Curve {
    /// The share of the whole at `depth` of `end`. At the end it is 1.
    ///
    /// ```
    /// use strata_space::Curve;
    ///
    /// // Layers that grow with the depth.
    /// let curve = Curve(&[0.0, 0.25, 1.0]);
    /// assert_eq!(curve.at(25, 100), 0.125);
    /// assert_eq!(curve.at(100, 100), 1.0);
    /// ```
    pub fn at(&self, depth: u32, end: u32) -> f64 {
        if depth >= end {
            return 1.0;
        }
        let steps = self.0.len().saturating_sub(1);
        let place = f64::from(depth) / f64::from(end) * steps as f64;
        // Truncation is intended: the step that contains the depth.
        let step = place as usize;
        match (self.0.get(step), self.0.get(step + 1)) {
            (Some(from), Some(to)) => {
                let (from, to) = (f64::from(*from), f64::from(*to));
                from + (to - from) * (place - step as f64)
            }
            // Without values every layer counts the same.
            _ => f64::from(depth) / f64::from(end),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_is_linear_between_its_values() {
        let curve = Curve(&[0.0, 0.1, 0.4, 1.0]);
        for (depth, share) in [(0, 0.0), (15, 0.05), (30, 0.1), (45, 0.25), (75, 0.7), (90, 1.0)] {
            let found = curve.at(depth, 90);
            assert!((found - share).abs() < 1e-6, "{depth}: {found}");
        }
        assert_eq!((curve.at(91, 90), curve.at(0, 0)), (1.0, 1.0));
    }

    #[test]
    fn a_curve_without_values_is_linear() {
        assert_eq!(Curve(&[]).at(30, 120), 0.25);
    }
}
