//! Known sizes of Panex searches.

use strata_space::{ExplicitSize, NestedSize, SearchSize};

use super::bounds::upper_bound;
use super::config::{PanexConfig, SymmetryUse};
use super::curves::{ONE_SIDED_STATES, STATES, WHOLE_STATES, WHOLE_WORK, WORK};
use super::tokens::CentreTop;

/// A search of one level.
#[derive(Copy, Clone)]
struct Counted {
    depth: u32,
    states: f64,
    widest: f64,
}

const fn counted(depth: u32, states: u64, widest: u64) -> Counted {
    Counted { depth, states: states as f64, widest: widest as f64 }
}

/// Exchanges with symmetry, by level from 1, without the centre's top layer, as the engines counted
/// them; the widest layers of levels 11 and 12 are rounded.
const EXCHANGES: [Counted; 13] = [
    counted(2, 4, 2),
    counted(7, 45, 10),
    counted(21, 626, 63),
    counted(64, 11_620, 411),
    counted(172, 218_855, 3_158),
    counted(441, 4_078_382, 23_273),
    counted(1_095, 76_119_619, 180_126),
    counted(2_680, 1_425_792_621, 1_361_077),
    counted(6_512, 26_759_238_784, 10_578_363),
    counted(15_769, 502_762_246_806, 83_201_059),
    counted(38_123, 9_451_636_027_802, 650_000_000),
    counted(92_096, 177_738_129_206_518, 5_100_000_000),
    counted(222_404, 3_342_858_273_137_941, 39_914_440_389),
];

/// Whole spaces with symmetry, by level from 1, without the centre's top layer.
const WHOLE: [Counted; 10] = [
    counted(3, 6, 2),
    counted(13, 82, 10),
    counted(44, 1_536, 63),
    counted(137, 29_336, 412),
    counted(377, 555_584, 3_158),
    counted(964, 10_475_616, 23_273),
    counted(2_384, 197_203_072, 180_126),
    counted(5_820, 3_710_370_688, 1_361_077),
    counted(14_128, 69_798_594_048, 10_578_363),
    counted(34_196, 1_312_962_527_744, 83_201_059),
];

/// Growth of states and of the widest layer from level to level, beyond the last counted one.
const GROWTH: (f64, f64) = (18.81, 7.83);

/// Growth of the depth of whole spaces from level to level. The true growth falls slowly, so predicted
/// depths are too large; the layers in excess are the last ones, which have few states.
const DEPTH_GROWTH: f64 = 2.42;

/// Share of the positions that an exchange without symmetry reaches: all but the last layers.
/// Counted at level 6.
const ONE_SIDED_SHARE: f64 = 0.987;

/// Factor of the number of states with the centre's top layer. Counted at levels 6 and 7.
const CENTRE_TOP: f64 = 1.706;

/// Nodes that the symbolic engine creates, by level from 1; those of 5 to 7 are interpolated, and
/// that of 13 follows from its memory.
const NODES: [f64; 13] = [
    100.0, 300.0, 900.0, 2_916.0, 12e3, 51e3, 216e3, 912e3, 2.758e6, 8.027e6, 22.05e6, 58.72e6,
    156e6,
];

/// Growth of the nodes beyond the last level.
const NODE_GROWTH: f64 = 2.66;

/// Nodes of a whole space over those of an exchange, from the times of levels 8 and 9.
const WHOLE_NODES: f64 = 1.2;

/// The size of the search that a configuration describes; all fields are None for a search between
/// positions other than the towers.
pub(super) fn search_size(config: &PanexConfig) -> SearchSize {
    if !config.exchanges_towers() {
        return SearchSize::default();
    }
    let PanexConfig { level, exhaust, .. } = *config;
    let is_symmetric = config.symmetry == SymmetryUse::On;
    let (search, states_by_depth, work_by_depth) = match (exhaust, is_symmetric) {
        (true, true) => (whole(level), WHOLE_STATES, WHOLE_WORK),
        (true, false) => (positions(level, 1.0), WHOLE_STATES, WHOLE_WORK),
        (false, true) => (exchange(level), STATES, WORK),
        (false, false) => (positions(level, ONE_SIDED_SHARE), ONE_SIDED_STATES, WORK),
    };
    let (top, deeper) = match config.centre_top {
        // The whole space of level 6 is deeper by one layer.
        CentreTop::Allow => (CENTRE_TOP, u32::from(exhaust)),
        CentreTop::Forbid => (1.0, 0),
    };
    let bound = upper_bound(level).filter(|_| !exhaust);
    let bound = bound.map(|moves| if is_symmetric { moves.div_ceil(2) } else { moves });
    let depth = bound.map_or(search.depth, |bound| bound as u32);
    let more_nodes = if exhaust { WHOLE_NODES } else { 1.0 };
    let nested = NestedSize {
        nodes: Some((nodes(level) * more_nodes) as u64),
        work_by_depth: Some(work_by_depth),
    };
    SearchSize {
        layers: Some(depth + deeper),
        states: Some((search.states * top).round() as u64),
        widest: Some((search.widest * top).round() as u64),
        states_by_depth: Some(states_by_depth),
        explicit: Some(explicit(level)),
        // The shape of its times without symmetry was not recorded.
        nested: Some(nested).filter(|_| is_symmetric),
    }
}

/// Index of a level in a table of levels from 1, and the number of levels by which it is beyond the table.
fn index(level: u8, len: usize) -> (usize, i32) {
    let index = usize::from(level.max(1)) - 1;
    let last = index.min(len - 1);
    (last, (index - last) as i32)
}

/// An exchange with symmetry.
fn exchange(level: u8) -> Counted {
    let (index, more) = index(level, EXCHANGES.len());
    grown(EXCHANGES[index], more)
}

/// The whole space with symmetry.
fn whole(level: u8) -> Counted {
    let (index, more) = index(level, WHOLE.len());
    grown(WHOLE[index], more)
}

/// A share of the positions of the whole space, two for each class.
fn positions(level: u8, share: f64) -> Counted {
    let Counted { depth, states, widest } = whole(level);
    Counted { depth, states: 2.0 * share * states, widest: 2.0 * widest }
}

/// The search `more` levels above a counted one.
fn grown(counted: Counted, more: i32) -> Counted {
    let Counted { depth, states, widest } = counted;
    Counted {
        depth: (f64::from(depth) * DEPTH_GROWTH.powi(more)) as u32,
        states: states * GROWTH.0.powi(more),
        widest: widest * GROWTH.1.powi(more),
    }
}

fn nodes(level: u8) -> f64 {
    let (index, more) = index(level, NODES.len());
    NODES[index] * NODE_GROWTH.powi(more)
}

/// Speed and bytes of the explicit engine, measured on a machine with two cores
/// (docs/benchmarks.md).
fn explicit(level: u8) -> ExplicitSize {
    let (states_per_second, bytes_per_state) = match level {
        0..=5 => (4e6, 1.4),
        6 => (13e6, 0.85),
        7 => (37e6, 0.45),
        8 => (42e6, 0.34),
        _ => (44e6, 0.35),
    };
    ExplicitSize { states_per_second, bytes_per_state }
}

#[cfg(test)]
mod tests {
    use strata_space::Curve;

    use super::super::position::Position;
    use super::*;

    fn size(level: u8, change: impl FnOnce(&mut PanexConfig)) -> SearchSize {
        let mut config = PanexConfig::new(level);
        change(&mut config);
        search_size(&config)
    }

    /// Checks that a figure is within one per cent of the counted one.
    #[track_caller]
    fn assert_near(found: Option<u64>, counted: u64) {
        let ratio = found.expect("a figure") as f64 / counted as f64;
        assert!((ratio - 1.0).abs() <= 0.01, "{found:?}, not {counted}");
    }

    #[test]
    fn exchanges_have_the_counted_sizes() {
        for level in 1..=13_u8 {
            let size = size(level, |_| ());
            let counted = EXCHANGES[usize::from(level) - 1];
            assert_eq!(size.layers, Some(counted.depth), "{level}");
            assert_eq!(size.states, Some(counted.states as u64), "{level}");
        }
        // Levels that have not been searched continue the growth of the last ones.
        assert_eq!(size(14, |_| ()).layers, Some(537_001));
        assert_near(size(14, |_| ()).states, 62_879_163_000_000_000);
    }

    #[test]
    fn other_searches_of_the_towers_have_the_counted_sizes() {
        let whole = size(6, |config| config.exhaust = true);
        assert_eq!((whole.layers, whole.states), (Some(964), Some(10_475_616)));
        let off = |level| size(level, |config| config.symmetry = SymmetryUse::Off);
        assert_eq!(off(6).layers, Some(881));
        assert_near(off(6).states, 20_685_100);
        assert_near(off(5).states, 1_090_936);
        let all = size(4, |config| {
            (config.exhaust, config.symmetry) = (true, SymmetryUse::Off);
        });
        assert_eq!((all.layers, all.states), (Some(137), Some(58_672)));
        let top = size(7, |config| config.centre_top = CentreTop::Allow);
        assert_near(top.states, 129_878_979);
        let top = size(6, |config| {
            (config.exhaust, config.centre_top) = (true, CentreTop::Allow);
        });
        assert_eq!(top.layers, Some(965));
        assert_near(top.states, 17_867_808);
    }

    #[test]
    fn sizes_of_searches_between_other_positions_are_unknown() {
        let other = size(4, |config| config.start = Some(Position::goal(4)));
        assert_eq!(other, SearchSize::default());
    }

    #[test]
    fn curves_ascend_from_0_to_1() {
        for Curve(values) in [STATES, WHOLE_STATES, ONE_SIDED_STATES, WORK, WHOLE_WORK] {
            assert!(values.is_sorted(), "{values:?}");
            assert_eq!((values.first(), values.last()), (Some(&0.0), Some(&1.0)));
        }
    }
}
