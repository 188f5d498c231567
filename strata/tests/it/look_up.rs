//! Tests of look-ups: depths, numbers of shortest ways and ways equal those of a slow search of positions.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use strata::catalogue::{Registry, Space};
use strata::{
    Engine, Error, KeepLayers, KeySpace, Keyed, LookUpOptions, NoNested, Report, Search, Seed,
    SpaceError,
};
use strata_run::LookUp;
use strata_space::State;
use strata_store::{JobDir, RealFs};

type Pair<'a> = (&'a str, &'a str);
type Parameters<'a> = &'a [Pair<'a>];

const ALL: LookUpOptions = LookUpOptions { moves: true, ways: true };

/// Spaces without symmetry, with parameters that identify symmetric states of the same space.
const SPACES: [(&str, Parameters<'_>, Option<Pair<'_>>); 20] = [
    ("pancake", &[("n", "6")], None),
    ("burnt-pancake", &[("n", "4")], None),
    ("topspin", &[("n", "6"), ("k", "3")], Some(("symmetry", "on"))),
    ("lrx", &[("n", "6")], Some(("symmetry", "on"))),
    ("lx", &[("n", "6")], None),
    ("lx", &[("n", "7")], None),
    ("hanoi", &[("discs", "5"), ("exhaust", "true")], None),
    ("hanoi", &[("discs", "4"), ("pegs", "4"), ("exhaust", "true")], None),
    ("hanoi", &[("discs", "3"), ("pegs", "6"), ("exhaust", "true")], None),
    ("tiles", &[("size", "2x2"), ("exhaust", "true")], Some(("symmetry", "on"))),
    ("tiles", &[("size", "2x3"), ("exhaust", "true")], None),
    ("tiles", &[("size", "3x2"), ("exhaust", "true"), ("k", "2")], None),
    ("panex", &[("level", "2"), ("exhaust", "true"), ("symmetry", "off")], None),
    ("panex", &[("level", "3"), ("exhaust", "true"), ("symmetry", "off")], None),
    ("puzzle", &[("file", "a = (1,2,3,4,5)\\nb = (1,2)\\n"), ("inverses", "true")], None),
    ("puzzle", &[("file", "a = (1,2,3,4,5)\\nb = (1,2)\\n")], None),
    ("puzzle", &[("file", "a = (1,2,3)(4,5,6)\\nb = (3,4)\\n"), ("inverses", "true")], None),
    (
        "puzzle",
        &[("file", "a = (1,2)\\nb = (2,3)\\nc = (3,4)\\nd = (4,5)\\n")],
        Some(("symmetry", "on")),
    ),
    (
        "puzzle",
        &[("file", "a = (1,2)\\nb = (1,3)\\nc = (1,4)\\nd = (1,5)\\n")],
        Some(("symmetry", "on")),
    ),
    (
        "puzzle",
        &[("file", "a = (1,2,3,4)(5,6,7,8)\\nb = (1,5)(2,6)\\n"), ("inverses", "true")],
        None,
    ),
];

/// Depths and numbers of shortest ways of all positions, by their texts.
type Slow = BTreeMap<String, (u32, u128)>;

fn open(name: &str, parameters: Parameters<'_>) -> Space {
    let pairs = parameters.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Registry::shipped().open(name, &pairs.collect()).unwrap()
}

/// A search position by position, without engines and files.
fn slow(space: &Space) -> Slow {
    let states = space.state_space();
    let (mut known, mut layer, mut depth) = (BTreeMap::new(), BTreeMap::new(), 0);
    layer.insert(states.seeds()[0], 1_u128);
    while !layer.is_empty() {
        let (mut next, mut moves) = (BTreeMap::<State, u128>::new(), Vec::new());
        known.extend(layer.iter().map(|(state, ways)| (states.text(*state), (depth, *ways))));
        for (state, ways) in &layer {
            moves.clear();
            states.moves(*state, &mut moves);
            for to in &moves {
                *next.entry(*to).or_default() += ways;
            }
        }
        next.retain(|state, _| !known.contains_key(&states.text(*state)));
        (layer, depth) = (next, depth + 1);
    }
    known
}

/// A finished search with all layers; None if the engine does not take the space.
fn finished(name: &str, parameters: Parameters<'_>, engine: Engine) -> Option<Report> {
    let search = Search::named(name, parameters.iter().copied()).engine(engine).threads(1);
    let search = if engine == Engine::Explicit { search.shards(3) } else { search };
    search.keep_layers(KeepLayers::All).run().ok()
}

/// Compares look-ups of all positions with the slow search.
fn check(space: &Space, known: &Slow, report: &Report, has_images: bool) {
    let answers = report.look_up(ALL, known.keys()).unwrap();
    let mut replayed = 0;
    for ((text, (depth, ways)), answer) in known.iter().zip(&answers) {
        assert_eq!(answer.depth, Some(*depth), "{text}");
        assert_eq!(answer.ways, Some((*ways).into()), "{text}");
        let Some(moves) = &answer.moves else {
            assert!(has_images, "{text} has no moves");
            continue;
        };
        assert_eq!(moves.len(), *depth as usize, "{text}");
        // Sequences of moves are a notation of permutation puzzles.
        if space.name() == "puzzle" && *depth > 0 {
            assert_eq!(space.position_text(&moves.join(" ")).unwrap(), *text, "{moves:?}");
            replayed += 1;
        }
    }
    assert!(space.name() != "puzzle" || replayed > 0);
    // One at a time, and repeated.
    let one = known.keys().next_back().unwrap();
    let twice = report.look_up(ALL, [one, one]).unwrap();
    assert_eq!(twice, [answers.last().unwrap().clone(), answers.last().unwrap().clone()]);
    let depths = report.look_up(LookUpOptions::default(), known.keys()).unwrap();
    let only_depths = |(a, b): (&strata::LookUpAnswer, &strata::LookUpAnswer)| {
        a.depth == b.depth && a.ways.is_none()
    };
    assert!(depths.iter().zip(&answers).all(only_depths));
}

#[test]
fn answers_equal_those_of_a_slow_search() {
    let mut jobs = [0; 3];
    for (name, parameters, symmetric) in SPACES {
        let space = open(name, parameters);
        let known = slow(&space);
        assert!((10..=10_000).contains(&known.len()), "{name} {parameters:?}: {}", known.len());
        for (number, engine) in [Engine::Explicit, Engine::Dense].into_iter().enumerate() {
            let Some(report) = finished(name, parameters, engine) else { continue };
            check(&space, &known, &report, false);
            jobs[number] += 1;
            let with: Option<Vec<_>> =
                symmetric.map(|pair| parameters.iter().copied().chain([pair]).collect());
            if let Some(report) = with.and_then(|with| finished(name, &with, engine)) {
                check(&space, &known, &report, true);
                jobs[2] += 1;
            }
        }
    }
    assert!(jobs[0] == SPACES.len() && jobs[1] >= 10 && jobs[2] >= 4, "{jobs:?}");
}

#[test]
fn states_that_no_layer_has_are_not_reached() {
    let file = [("file", "a = (1,2,3)\\nb = (3,4,5)\\n"), ("inverses", "true")];
    for engine in [Engine::Explicit, Engine::Dense] {
        let report = finished("puzzle", &file, engine).unwrap();
        // An odd permutation.
        let answers = report.look_up(ALL, ["2 1 3 4 5", "a b"]).unwrap();
        assert_eq!(answers[0], strata::LookUpAnswer::default());
        assert_eq!((answers[1].depth, answers[1].ways.clone()), (Some(2), Some(1_u8.into())));
        for wrong in ["1 2 3 4", "a c", "? 2 3 4 5"] {
            let error = report.look_up(ALL, ["a", wrong]).unwrap_err();
            assert!(matches!(error, Error::Space(_)), "{error}");
        }
    }
}

#[test]
fn jobs_without_layers_are_refused_before_anything_is_read() {
    let search = || Search::named("pancake", [("n", "6")]).threads(1);
    for engine in [Engine::Explicit, Engine::Dense] {
        let report = search().engine(engine).keep_layers(KeepLayers::Last).run().unwrap();
        let error = report.look_up(ALL, ["wrong"]).unwrap_err();
        assert!(matches!(error, Error::LayersNotKept { .. }), "{error}");
    }
    let hanoi = Search::named("hanoi", [("discs", "4")]).engine(Engine::Symbolic).run().unwrap();
    let error = hanoi.look_up(ALL, ["wrong"]).unwrap_err();
    assert!(matches!(error, Error::LookUpEngine { .. }), "{error}");
}

#[test]
fn ways_that_exceed_the_memory_are_an_error() {
    let report = finished("pancake", &[("n", "6")], Engine::Explicit).unwrap();
    let (folder, manifest) = JobDir::open(Arc::new(RealFs), report.folder()).unwrap();
    let answer = |memory| {
        let space = open("pancake", &[("n", "6")]);
        let mut look_up = LookUp::new(&folder, &manifest, space, ALL).unwrap();
        look_up.add("4 6 2 5 1 3").unwrap();
        look_up.answer(memory)
    };
    let error = answer(1000).unwrap_err();
    assert!(matches!(error, Error::LookUpMemory { memory: 1000, .. }), "{error}");
    assert_eq!(answer(1 << 20).unwrap(), report.look_up(ALL, ["4 6 2 5 1 3"]).unwrap());
}

/// All files of a job's layers.
fn layer_files(report: &Report) -> Vec<PathBuf> {
    let entries = fs::read_dir(report.folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|end| end == "strata")).collect();
    files.sort();
    files
}

#[test]
fn damaged_and_missing_files_are_errors() {
    for engine in [Engine::Explicit, Engine::Dense] {
        let report = finished("pancake", &[("n", "7")], engine).unwrap();
        let all = slow(&open("pancake", &[("n", "7")])).into_keys();
        let states: Vec<String> = all.step_by(20).collect();
        let right = report.look_up(ALL, &states).unwrap();
        let (mut noticed, files) = (0, layer_files(&report));
        for file in &files {
            let content = fs::read(file).unwrap();
            for place in (0..content.len()).step_by(content.len() / 7 + 1) {
                let mut damaged = content.clone();
                damaged[place] ^= 4;
                fs::write(file, damaged).unwrap();
                match report.look_up(ALL, &states) {
                    Err(Error::Store(_) | Error::Engine(_)) => noticed += 1,
                    Err(error) => panic!("{error}"),
                    Ok(answers) => assert_eq!(answers, right),
                }
            }
            fs::write(file, content).unwrap();
        }
        assert!(noticed >= files.len(), "{noticed} of {} files", files.len());
        fs::remove_file(&files[0]).unwrap();
        assert!(matches!(report.look_up(ALL, &states), Err(Error::Store(_))));
    }
}

/// Two states of a puzzle that reads positions, but no texts of its states.
struct Half;

impl KeySpace for Half {
    type Key = u64;

    fn seeds(&self) -> Vec<Seed> {
        vec![Seed::start(0)]
    }
    fn key_bits(&self) -> u32 {
        1
    }
    fn successors(&self, key: u64, out: &mut Vec<u64>) {
        out.push(1 - key);
    }
    fn text(&self, key: u64) -> String {
        key.to_string()
    }
}

without_parameters!(
    Half,
    "half",
    Ok(Half),
    Keyed<Half>,
    NoNested,
    fn position_text(&self, given: &str) -> Result<String, SpaceError> {
        Ok(given.to_owned())
    }
);

/// Otherwise every state would be said not to be reached.
#[test]
fn a_puzzle_that_does_not_read_texts_of_its_states_is_refused() {
    let search = Search::new(Half).engine(Engine::Explicit).threads(1);
    let report = search.keep_layers(KeepLayers::All).run().unwrap();
    let error = report.look_up(LookUpOptions::default(), ["1"]).unwrap_err();
    assert_eq!(error.to_string(), "half does not read texts of its states");
}
