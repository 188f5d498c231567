//! Tests of forecasts against recorded searches.
//!
//! `data/layer-times` has about a hundred layers of each search: depth, states, states of all layers so
//! far, and seconds of search so far. They were recorded with one thread, while a dozen other programs
//! shared two cores; the searches of Panex 8 to 11 took 13 to 430 s.

use std::path::Path;
use std::time::Duration;

use strata::{LayerRecord, Parameters};
use strata_run::catalogue::{Registry, Space};
use strata_run::forecast::{Forecast, Range, Resources};
use strata_run::{KeepLayers, LayerEvent, Tracker};
use strata_space::file_value;
use strata_store::EngineKind;

/// A recorded search: name of the file, space and parameters, engine.
struct Recorded {
    file: &'static str,
    space: &'static str,
    parameters: &'static [(&'static str, &'static str)],
    engine: EngineKind,
    /// Share of the time after which there must be an estimate.
    estimated_from: f64,
}

const fn recorded(
    file: &'static str,
    space: &'static str,
    parameters: &'static [(&'static str, &'static str)],
    engine: EngineKind,
    estimated_from: f64,
) -> Recorded {
    Recorded { file, space, parameters, engine, estimated_from }
}

const WHOLE: (&str, &str) = ("exhaust", "true");

/// The recorded searches. There is no estimate during the first layers of the dense engine, whose time is
/// that of preparing memory and files.
const SEARCHES: [Recorded; 18] = {
    use EngineKind::{Dense, Explicit, Symbolic};
    [
        recorded("panex-8-symbolic", "panex", &[("level", "8")], Symbolic, 0.12),
        recorded("panex-9-symbolic", "panex", &[("level", "9")], Symbolic, 0.12),
        recorded("panex-10-symbolic", "panex", &[("level", "10")], Symbolic, 0.12),
        recorded("panex-11-symbolic", "panex", &[("level", "11")], Symbolic, 0.12),
        recorded("panex-8-whole-symbolic", "panex", &[("level", "8"), WHOLE], Symbolic, 0.13),
        recorded("panex-9-whole-symbolic", "panex", &[("level", "9"), WHOLE], Symbolic, 0.13),
        recorded("panex-10-whole-symbolic", "panex", &[("level", "10"), WHOLE], Symbolic, 0.13),
        recorded("panex-7-explicit", "panex", &[("level", "7")], Explicit, 0.13),
        recorded("panex-8-explicit", "panex", &[("level", "8")], Explicit, 0.13),
        recorded("panex-7-whole-explicit", "panex", &[("level", "7"), WHOLE], Explicit, 0.13),
        recorded("tiles-3x4-explicit", "tiles", &[("size", "3x4"), WHOLE], Explicit, 0.14),
        recorded("pancake-10-explicit", "pancake", &[("n", "10")], Explicit, 0.13),
        recorded("hanoi-19-3-symbolic", "hanoi", &[("discs", "19")], Symbolic, 0.13),
        recorded("hanoi-12-4-symbolic", "hanoi", &[("discs", "12"), ("pegs", "4")], Symbolic, 0.3),
        recorded("hanoi-12-4-dense", "hanoi", &[("discs", "12"), ("pegs", "4")], Dense, 0.2),
        recorded("pyraminx-dense", "puzzle", &[("file", "pyraminx.tws"), WHOLE], Dense, 0.5),
        recorded("pyraminx-parts", "puzzle", &[("file", "pyraminx.tws"), WHOLE], Dense, 0.5),
        recorded("pancake-12-dense", "pancake", &[("n", "12")], Dense, 0.5),
    ]
};

impl Recorded {
    fn open(&self) -> Space {
        let pairs = self.parameters.iter().map(|(name, value)| {
            let value = match *name {
                "file" => puzzle_file(value),
                _ => (*value).to_owned(),
            };
            ((*name).to_owned(), value)
        });
        Registry::shipped().open(self.space, &pairs.collect::<Parameters>()).unwrap()
    }

    /// The recorded layers; the time of each is that since the one before.
    fn layers(&self) -> Vec<LayerEvent> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/layer-times");
        let text = std::fs::read_to_string(path.join(format!("{}.csv", self.file))).unwrap();
        let mut end = 0.0;
        let layer = |line: &str| {
            let fields: Vec<&str> = line.split(',').collect();
            let [depth, states, total, seconds] = fields[..] else { panic!("{line}") };
            let seconds: f64 = seconds.parse().unwrap();
            LayerEvent {
                layer: LayerRecord {
                    depth: depth.parse().unwrap(),
                    states: states.parse().unwrap(),
                    ..LayerRecord::default()
                },
                total_states: total.parse().unwrap(),
                took: seconds - std::mem::replace(&mut end, seconds),
                replayed: false,
            }
        };
        text.lines().skip(1).map(layer).collect()
    }

    fn forecast(&self) -> Forecast {
        Forecast::new(&self.open(), self.engine, None)
    }
}

fn puzzle_file(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../puzzles/data").join(name);
    file_value(&std::fs::read_to_string(path).unwrap())
}

/// Seconds of the search at each layer, and the estimate of the remaining time.
fn replay(tracker: &mut Tracker, layers: &[LayerEvent], from: f64) -> Vec<(f64, Option<Range>)> {
    let mut seconds = from;
    let mut add = |layer: &LayerEvent| {
        seconds += layer.took;
        let now = Duration::from_secs_f64(seconds);
        tracker.layer(layer, now);
        (seconds, tracker.time_left(now))
    };
    layers.iter().map(&mut add).collect()
}

/// Checks that estimates after the first tenth of the time are within a factor of 2, as long as more than
/// a hundredth of the time is left.
#[track_caller]
fn assert_within_two(file: &str, estimates: &[(f64, Option<Range>)], all: f64) {
    let slack = all / 100.0;
    for (seconds, left) in estimates.iter().filter(|(seconds, _)| *seconds >= all / 10.0) {
        let Some(left) = left else { continue };
        let (actual, middle) = (all - seconds, left.middle());
        assert!(
            middle < 2.0 * (actual + slack) && middle > (actual - slack) / 2.0,
            "{file}: {seconds:.1} of {all:.1} s: {left} expected, {actual:.1} s left"
        );
    }
}

#[test]
fn the_remaining_time_is_within_a_factor_of_two_after_a_tenth() {
    for search in &SEARCHES {
        let layers = search.layers();
        let all: f64 = layers.iter().map(|layer| layer.took).sum();
        let estimates = replay(&mut Tracker::new(search.forecast()), &layers, 0.0);
        assert_within_two(search.file, &estimates, all);
        let missing = estimates
            .iter()
            .filter(|(seconds, left)| *seconds > search.estimated_from * all && left.is_none());
        assert_eq!(missing.count(), 0, "{}: {estimates:?}", search.file);
    }
}

#[test]
fn the_remaining_time_holds_after_a_resume_and_a_rollback() {
    for search in SEARCHES.iter().filter(|search| search.engine.is_explicit()) {
        let layers = search.layers();
        let all: f64 = layers.iter().map(|layer| layer.took).sum();
        let mut done = 0.0;
        let half = layers.iter().position(|layer| {
            done += layer.took;
            done > all / 2.0
        });
        let (earlier, later) = layers.split_at(half.unwrap());
        let mut tracker = Tracker::new(search.forecast());
        let replayed = earlier.iter().map(|layer| LayerEvent { replayed: true, ..layer.clone() });
        let estimates = replay(&mut tracker, &replayed.collect::<Vec<_>>(), 0.0);
        // Before the first new layer the estimate is that of the run before.
        let (seconds, left) = estimates.last().unwrap();
        assert!(left.is_some(), "{}", search.file);
        let again = replay(&mut tracker, later, *seconds);
        assert_within_two(search.file, &again, all);
        // The second half is repeated.
        tracker.roll_back(earlier.last().map(|event| event.layer.depth));
        let again = replay(&mut tracker, later, *seconds);
        assert_within_two(search.file, &again, all);
    }
}

#[test]
fn searches_to_an_unknown_goal_have_no_estimate() {
    const PANEX: &[(&str, &str)] = &[("level", "2"), ("start", "b2 / o1 / b1 o2")];
    const TILES: &[(&str, &str)] = &[("size", "3x4")];
    for search in [
        recorded("", "panex", PANEX, EngineKind::Symbolic, 0.0),
        recorded("", "tiles", TILES, EngineKind::Explicit, 0.0),
    ] {
        let forecast = search.forecast();
        assert_eq!((forecast.states(), forecast.share_of_work(2, 10, 20)), (None, None));
        let resources = Resources { threads: 2, memory: 1 << 30, keep: KeepLayers::Last };
        let expected = forecast.expected(&resources);
        assert_eq!((expected.seconds, expected.states), (None, None));
        assert!(expected.is_unknown() && !expected.is_large());
    }
}

#[test]
fn a_symbolic_search_is_expected_to_stay_within_its_budget() {
    let parameters = [("level".to_owned(), "12".to_owned())].into();
    let space = Registry::shipped().open("panex", &parameters).unwrap();
    let expected = |memory| {
        let resources = Resources { threads: 1, memory, keep: KeepLayers::Last };
        let forecast = Forecast::new(&space, EngineKind::Symbolic, None);
        forecast.expected(&resources).memory_bytes.unwrap()
    };
    assert_eq!(expected(1 << 30), 1 << 30);
    let whole = expected(u64::MAX);
    assert!((4 << 30..16 << 30).contains(&whole), "{whole}");
}

/// The measured costs are those of `docs/benchmarks.md` and `docs/symbolic.md`.
#[test]
fn expected_costs_are_those_that_were_measured() {
    let expected = |level: &str, engine, threads| {
        let parameters = [("level".to_owned(), level.to_owned())].into();
        let space = Registry::shipped().open("panex", &parameters).unwrap();
        let resources = Resources { threads, memory: u64::MAX, keep: KeepLayers::Last };
        Forecast::new(&space, engine, None).expected(&resources)
    };
    let measured = [
        ("8", EngineKind::Explicit, 1, 34.0, None),
        ("8", EngineKind::Explicit, 2, 17.0, None),
        ("9", EngineKind::Explicit, 2, 299.0, None),
        ("8", EngineKind::SymbolicLean, 1, 2.0, Some(88)),
        ("9", EngineKind::SymbolicLean, 1, 7.0, Some(241)),
        ("9", EngineKind::Symbolic, 2, 5.9, Some(406)),
        ("10", EngineKind::Symbolic, 2, 18.5, None),
        ("10", EngineKind::SymbolicLean, 1, 24.0, Some(677)),
        ("12", EngineKind::SymbolicLean, 1, 208.0, Some(5018)),
        ("13", EngineKind::SymbolicLean, 1, 660.0, Some(13_312)),
    ];
    for (level, engine, threads, seconds, mebibytes) in measured {
        let found = expected(level, engine, threads);
        let range = found.seconds.unwrap();
        assert!(range.low < seconds && seconds < range.high, "{level} {engine:?}: {range:?}");
        if let Some(mebibytes) = mebibytes {
            let ratio = found.memory_bytes.unwrap() as f64 / (f64::from(mebibytes) * 1048576.0);
            assert!((0.85..1.2).contains(&ratio), "{level} {engine:?}: {ratio}");
        }
        assert_eq!(found.is_large(), seconds > 60.0, "{level} {engine:?}");
    }
    // At the speed of level 9, level 10 takes 1 h 35 min, and 145 MiB for its widest layers.
    let explicit = expected("10", EngineKind::Explicit, 2).seconds.unwrap();
    assert!(explicit.low < 5700.0 && 5700.0 < explicit.high, "{explicit:?}");
}
