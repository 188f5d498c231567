//! Tests of the facade: resume, limits, cancellation, layers, paths and refusals.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use strata::{
    Engine, KeySpace, Keyed, NoNested, Parameter, Parameters, Puzzle, Search, Seed, SpaceError,
};
use strata_puzzles::panex::{End, Panex};
use strata_run::{Error, Event, KeepLayers, ListedState, StopReason};

use crate::drive::names_in;

/// Corners of a cube of `bits` dimensions; a move goes along an edge.
struct Cube {
    bits: u32,
    /// Whether the search ends at the opposite corner, growing from both.
    opposite: bool,
    /// A corner at which the space panics.
    broken: Option<u64>,
}

impl Cube {
    fn new(bits: u32) -> Cube {
        Cube { bits, opposite: false, broken: None }
    }
}

impl KeySpace for Cube {
    type Key = u64;
    fn seeds(&self) -> Vec<Seed> {
        let mut seeds = vec![Seed::start(0)];
        seeds.extend(self.opposite.then(|| Seed::goal((1 << self.bits) - 1)));
        seeds
    }
    fn key_bits(&self) -> u32 {
        self.bits
    }
    fn successors(&self, key: u64, out: &mut Vec<u64>) {
        assert_ne!(Some(key), self.broken, "the corner is broken");
        out.extend((0..self.bits).map(|bit| key ^ (1 << bit)));
    }
    fn text(&self, key: u64) -> String {
        format!("{key:b}")
    }
}

impl Puzzle for Cube {
    type States = Keyed<Cube>;
    type Nested = NoNested;

    const NAME: &'static str = "cube";
    const SUMMARY: &'static str = "corners of a cube";
    const PARAMETERS: &'static [Parameter] = &[
        Parameter::positional("bits", "dimensions"),
        Parameter::positional("opposite", "whether to search for the opposite corner"),
    ];

    fn open(parameters: &Parameters) -> Result<Cube, SpaceError> {
        let bits = Cube::reader(parameters).number("bits")?.unwrap_or_default();
        let opposite = parameters.get("opposite").is_some_and(|value| value == "true");
        Ok(Cube { bits, opposite, broken: None })
    }
    fn parameters(&self) -> Parameters {
        let opposite = ("opposite".to_owned(), self.opposite.to_string());
        [("bits".to_owned(), self.bits.to_string()), opposite].into()
    }
}

fn cube(dir: &Path) -> Search<'static> {
    Search::new(Cube::new(12)).threads(1).data_dir(dir)
}

/// States of layer d: 12 over d.
fn binomials() -> Vec<u64> {
    let mut row = vec![1_u64];
    for d in 0..12 {
        row.push(row[d as usize] * (12 - d) / (d + 1));
    }
    row
}

#[test]
fn a_search_lists_layers_states_and_radius() {
    let mut seen = Vec::new();
    let search = Search::new(Cube::new(12)).threads(2).on_layer(|layer| seen.push(layer.states));
    let report = search.run().unwrap();
    assert_eq!((report.radius(), report.states(), report.moves()), (12, 4096, None));
    let states: Vec<u64> = report.layers().iter().map(|layer| layer.states).collect();
    assert_eq!(states, binomials());
    let last = report.layers().last().unwrap();
    let totals = report.totals();
    assert_eq!((totals.layer_states, totals.seconds), (last.states, last.seconds));
    assert!(last.seconds > 0.0);
    drop(report);
    assert_eq!(seen, binomials());
}

#[test]
fn a_temporary_folder_is_removed_with_the_report() {
    let report = Search::new(Cube::new(5)).run().unwrap();
    let folder = report.folder().to_owned();
    assert!(folder.is_dir());
    drop(report);
    assert!(!folder.exists());
}

#[test]
fn a_stopped_search_resumes_with_other_resources_to_the_same_digest() {
    let dir = tempfile::tempdir().unwrap();
    let whole = Search::new(Cube::new(12)).run().unwrap().digest();
    let stopped = cube(dir.path()).max_layers(4).run().unwrap_err();
    let reason = StopReason::MaxLayers;
    assert!(matches!(stopped, Error::Stopped { reason: r, depth: 4 } if r == reason), "{stopped}");
    let mut resumed = None;
    let search = cube(dir.path()).threads(2).workers(3).on_event(|event| {
        if let Event::Started { resumed_from, .. } = event {
            resumed = *resumed_from;
        }
    });
    let report = search.run().unwrap();
    assert_eq!((report.radius(), report.digest()), (12, whole));
    drop(report);
    assert_eq!(resumed, Some(4));
    // The result of a finished job is returned without another search.
    assert_eq!(cube(dir.path()).run().unwrap().digest(), whole);
    assert_eq!(names_in(dir.path()).len(), 2, "one job and the lock");
}

#[test]
fn a_cancelled_search_stops_with_a_checkpoint() {
    let dir = tempfile::tempdir().unwrap();
    let search = cube(dir.path());
    let token = search.cancel_token();
    let search = search.on_layer(|layer| {
        if layer.depth == 3 {
            token.cancel();
        }
    });
    let stopped = search.run().unwrap_err();
    let Error::Stopped { reason: StopReason::Interrupted, depth } = stopped else {
        panic!("{stopped}");
    };
    assert!((3..=4).contains(&depth), "{depth}");
    assert_eq!(cube(dir.path()).run().unwrap().states(), 4096);
}

#[test]
fn another_search_in_the_folder_is_refused_and_nothing_changes() {
    let dir = tempfile::tempdir().unwrap();
    cube(dir.path()).max_layers(2).run().unwrap_err();
    let before = names_in(dir.path());
    let other = Search::new(Cube::new(11)).data_dir(dir.path()).run().unwrap_err();
    assert!(matches!(other, Error::OtherSearch { .. }), "{other}");
    assert!(other.to_string().contains("bits is 12 in job cube-12-false-"), "{other}");
    let puzzle = Search::named("hanoi", [("discs", "3")]).data_dir(dir.path()).run().unwrap_err();
    assert!(matches!(puzzle, Error::OtherSearch { .. }), "{puzzle}");
    assert_eq!(names_in(dir.path()), before);
    assert_eq!(cube(dir.path()).run().unwrap().states(), 4096);
}

#[test]
fn a_search_takes_engine_and_shards_of_its_job() {
    let dir = tempfile::tempdir().unwrap();
    let hanoi = || Search::named("hanoi", [("discs", "6")]).data_dir(dir.path()).threads(1);
    let stopped = hanoi().shards(7).max_layers(9).run().unwrap_err();
    assert!(matches!(stopped, Error::Stopped { .. }), "{stopped}");
    assert_eq!(hanoi().run().unwrap().moves(), Some(63));
    let other = hanoi().shards(8).run().unwrap_err();
    assert!(other.to_string().contains("shards is 7"), "{other}");
}

#[test]
fn errors_for_invalid_values_name_the_option() {
    let refused = |search: Search<'_>, option: &str| {
        let error = search.run().unwrap_err();
        let named = match &error {
            Error::Option { option, .. } | Error::Unsupported { setting: option, .. } => *option,
            other => panic!("{other}"),
        };
        assert_eq!(named, option, "{error}");
    };
    refused(Search::new(Cube::new(4)).threads(0), "threads");
    refused(Search::new(Cube::new(4)).workers(0), "workers");
    refused(Search::new(Cube::new(4)).workers(9).shards(8), "workers");
    refused(Search::new(Cube::new(4)).shards(0), "shards");
    refused(Search::new(Cube::new(4)).memory("much"), "memory");
    refused(Search::new(Cube::new(4)).memory("1MiB"), "memory");
    refused(Search::new(Cube::new(4)).disk_limit("-1"), "disk_limit");
    let symbolic = || Search::named("panex", [("level", "3")]).engine(Engine::Symbolic);
    refused(symbolic().keep_layers(KeepLayers::All), "keep_layers");
    refused(symbolic().memory("1KiB"), "memory");
    let error = Search::new(Cube::new(65)).run().unwrap_err();
    assert!(matches!(error, Error::Space(_)), "{error}");
    let error = Search::named("chess", []).run().unwrap_err();
    assert!(error.to_string().contains("unknown space 'chess'"), "{error}");
    let error = Search::new(Cube::new(4)).engine(Engine::Symbolic).run().unwrap_err();
    assert!(error.to_string().contains("nested form"), "{error}");
}

#[test]
fn the_error_for_a_path_without_kept_layers_names_the_setting() {
    let report = Search::new(Cube::new(6)).run().unwrap();
    let state = any(&report, 6);
    let error = report.path_to(&state).unwrap_err();
    assert!(error.to_string().contains("`keep_layers` all"), "{error}");
    assert!(matches!(report.path().unwrap_err(), Error::NoPath(_)));
    let error = report.layer(2).err().unwrap();
    assert!(matches!(error, Error::LayerNotHeld { depth: 2, .. }), "{error}");
    assert!(matches!(report.layer(7).err().unwrap(), Error::NoLayer { depth: 7, last: 6 }));
}

fn any(report: &strata::Report, depth: u32) -> ListedState {
    let mut found = None;
    let visit = &mut |state| {
        found = Some(state);
        ControlFlow::Break(())
    };
    report.layer(depth).unwrap().visit(visit).unwrap();
    found.unwrap()
}

#[test]
fn paths_lead_to_listed_states() {
    let report = Search::new(Cube::new(9)).keep_layers(KeepLayers::All).run().unwrap();
    for depth in 0..=9 {
        let layer = report.layer(depth).unwrap();
        assert_eq!(layer.states(), report.layers()[depth as usize].states);
        let (mut listed, mut sampled) = (0, 0);
        layer
            .visit(&mut |state| {
                assert_eq!(state.text.bytes().filter(|b| *b == b'1').count() as u32, depth);
                listed += 1;
                ControlFlow::Continue(())
            })
            .unwrap();
        assert_eq!(listed, layer.states());
        layer
            .sample(3, &mut |_| {
                sampled += 1;
                ControlFlow::Continue(())
            })
            .unwrap();
        assert!((1..=3).contains(&sampled), "{sampled}");
        let state = any(&report, depth);
        let path = report.path_to(&state).unwrap();
        assert_eq!(path.len() as u32, depth);
        assert_eq!(path.last().cloned().unwrap_or("0".to_owned()), state.text);
    }
}

#[test]
fn searches_from_both_ends_have_paths_on_the_side_of_the_start() {
    let puzzle = Cube { opposite: true, ..Cube::new(7) };
    let report = Search::new(puzzle).keep_layers(KeepLayers::All).run().unwrap();
    assert_eq!(report.moves(), Some(7));
    let (mut near, mut far) = (0, 0);
    let layer = report.layer(2).unwrap();
    layer
        .visit(&mut |listed| {
            let ones = listed.text.bytes().filter(|b| *b == b'1').count();
            match report.path_to(&listed) {
                Ok(path) => {
                    assert_eq!((path.len(), ones), (2, 2));
                    near += 1;
                }
                Err(error) => {
                    assert!(matches!(error, Error::NoPath(_)), "{error}");
                    assert_eq!(ones, 5);
                    far += 1;
                }
            }
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!((near, far), (21, 21));
}

#[test]
fn a_path_to_symmetric_positions_leads_to_one_of_them() {
    let parameters = [("level", "3"), ("k", "1")];
    let keep = Search::named("panex", parameters).keep_layers(KeepLayers::All);
    let report = keep.threads(1).run().unwrap();
    let owned = parameters.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let panex = Panex::open(&owned.into()).unwrap();
    for depth in 0..=report.radius() {
        let listed = any(&report, depth);
        let path = report.path_to(&listed).unwrap();
        assert_eq!(path.len() as u32, depth);
        let end = path.iter().fold(*panex.start(), |at, name| {
            let column = |name: &str| "LCR".find(name).unwrap();
            let (from, to) = name.split_at(1);
            at.moved((column(from), column(to)), panex.config().centre_top).unwrap()
        });
        assert_eq!(panex.locate(&end, End::Start), listed.state, "depth {depth}");
    }
}

#[test]
fn both_engines_find_paths_of_shipped_puzzles() {
    for engine in [Engine::Explicit, Engine::Symbolic] {
        let report = Search::named("panex", [("level", "3")]).engine(engine).run().unwrap();
        assert_eq!(report.path().unwrap().len() as u64, report.moves().unwrap(), "{engine:?}");
    }
    let tiles = [("size", "2x3"), ("start", "5 4 / 3 2 / _ 1")];
    let error = Search::named("tiles", tiles).run().unwrap_err();
    assert!(matches!(error, Error::Space(_)), "{error}");
    let tiles = Search::named("tiles", [("size", "3x3"), ("start", "8 7 6 / 5 4 3 / 2 1 _")]);
    let report = tiles.checkpoint_interval(Duration::ZERO).run().unwrap();
    assert_eq!(report.path().unwrap().len() as u64, report.moves().unwrap());
}

#[test]
fn a_panic_of_one_worker_ends_the_search_with_an_error() {
    for (workers, threads) in [(1, 1), (1, 2), (3, 1), (3, 2)] {
        let cube = Cube { broken: Some(0x7070), ..Cube::new(16) };
        let search = Search::new(cube).workers(workers).threads(threads);
        let error = search.run().unwrap_err();
        assert!(error.to_string().contains("panicked"), "{workers} x {threads}: {error}");
    }
}
