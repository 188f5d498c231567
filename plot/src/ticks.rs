//! Ticks of axes.

use crate::chart::Scale;
use crate::projection::Projection;
use crate::unit::Unit;

/// A labelled place of an axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    /// Place from 0 to 1.
    pub(crate) place: f64,
    pub(crate) label: String,
}

/// The largest set of round ticks that `fits` accepts, with about `most` ticks or fewer.
///
/// Empty if no set is accepted.
pub(crate) fn ticks(
    projection: &Projection,
    unit: Unit,
    most: usize,
    fits: impl Fn(&[Tick]) -> bool,
) -> Vec<Tick> {
    let candidates = (1..=most.max(1)).rev().map(|number| match projection.scale() {
        Scale::Linear => linear(projection, unit, number),
        Scale::Log => logarithmic(projection, unit, number),
    });
    let mut candidates = candidates.filter(|ticks| fits(ticks));
    candidates.next().unwrap_or_default()
}

/// Multiples of a round step, about `number` of them.
fn linear(projection: &Projection, unit: Unit, number: usize) -> Vec<Tick> {
    let Projection { low, high, .. } = *projection;
    let step = unit.step((high - low) / number as f64);
    let first = (low / step - 1e-9).ceil();
    let count = ((high / step + 1e-9).floor() - first + 1.0).clamp(0.0, 100.0) as u32;
    let values = (0..count).map(|at| (first + f64::from(at)) * step);
    let tick = |value| Tick { place: projection.place(value), label: unit.tick(value, step) };
    values.map(tick).collect()
}

/// Powers, at most `number` of them; linear ticks if that leaves fewer than two powers.
fn logarithmic(projection: &Projection, unit: Unit, number: usize) -> Vec<Tick> {
    let Projection { low, high, .. } = *projection;
    let powers = unit.powers(low, high);
    let every = powers.len().div_ceil(number);
    let every = preferred(unit, every);
    // Round prefixes, such as 1 k and 1 M, get the labels.
    let first = powers.first().map_or(0, |power| power.log10().round().abs() as usize);
    let skipped = match unit {
        Unit::Count | Unit::PerSecond if every > 1 => (every - first % every) % every,
        _ => 0,
    };
    let chosen: Vec<f64> = powers.into_iter().skip(skipped).step_by(every.max(1)).collect();
    if chosen.len() < 2 {
        let linear = linear(projection, unit, number);
        return linear.into_iter().filter(|tick| (0.0..=1.0).contains(&tick.place)).collect();
    }
    let tick = |value| Tick { place: projection.place(value), label: unit.tick(value, value) };
    chosen.into_iter().map(tick).collect()
}

/// The smallest distance between labelled powers that is at least `every` and gives round labels;
/// `every` itself if there is none.
fn preferred(unit: Unit, every: usize) -> usize {
    let distances: &[usize] = match unit {
        Unit::Bytes => &[1, 2, 5, 10, 20, 30],
        Unit::Count | Unit::PerSecond => &[1, 3, 6, 9],
        Unit::Number | Unit::Seconds | Unit::Ratio => &[1, 2, 3, 4, 5],
    };
    distances.iter().copied().find(|distance| *distance >= every).unwrap_or(every)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::chart::tests::sample;

    fn labels(scale: Scale, values: &[f64], most: usize) -> Vec<String> {
        let (_, y) = Projection::of(&sample(scale, values));
        let ticks = ticks(&y, Unit::Count, most, |_| true);
        ticks.into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn linear_ticks_are_round() {
        assert_eq!(labels(Scale::Linear, &[1_361_077.0], 5), ["0", "500 k", "1 M"]);
        assert_eq!(labels(Scale::Linear, &[3.0], 6), ["0", "1", "2", "3"]);
    }

    #[test]
    fn logarithmic_ticks_are_powers() {
        assert_eq!(labels(Scale::Log, &[1.0, 700.0], 5), ["1", "10", "100"]);
        let wide = labels(Scale::Log, &[1.0, 3e12], 6);
        assert_eq!(wide, ["1", "1 k", "1 M", "1 G", "1 T"]);
        assert_eq!(labels(Scale::Log, &[50.0, 3e9], 4), ["1 k", "1 M", "1 G"]);
    }

    #[test]
    fn a_narrow_logarithmic_range_has_linear_ticks() {
        assert_eq!(labels(Scale::Log, &[200.0, 500.0], 4), ["200", "300", "400", "500"]);
    }

    proptest! {
        #[test]
        fn ticks_are_on_the_axis_and_at_most_a_few(
            low in 1e-6_f64..1e6,
            ratio in 1.0_f64..1e15,
            most in 2_usize..12,
            log: bool,
            unit in 0_usize..6,
        ) {
            let units = [
                Unit::Number, Unit::Count, Unit::PerSecond, Unit::Seconds, Unit::Bytes, Unit::Ratio,
            ];
            let scale = if log { Scale::Log } else { Scale::Linear };
            let (_, y) = Projection::of(&sample(scale, &[low, low * ratio]));
            let ticks = ticks(&y, units[unit], most, |_| true);
            prop_assert!(ticks.len() <= most + 2, "{ticks:?}");
            for tick in &ticks {
                prop_assert!((-1e-6..=1.0 + 1e-6).contains(&tick.place), "{ticks:?}");
            }
            for pair in ticks.windows(2) {
                prop_assert!(pair[0].place < pair[1].place, "{ticks:?}");
                prop_assert!(pair[0].label != pair[1].label, "{ticks:?}");
            }
        }
    }
}
