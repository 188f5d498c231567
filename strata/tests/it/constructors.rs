//! Tests that a search of a puzzle value and one of a registered puzzle agree on layers, resume and paths.

use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::sync::Arc;

use strata::{Engine, LayerRecord, Parameters, Puzzle, Report, Search};
use strata_puzzles::Hanoi;
use strata_puzzles::panex::Panex;
use strata_puzzles::tiles::Tiles;
use strata_run::catalogue::{Entry, Registry};
use strata_run::{Error, KeepLayers, ListedState, Moves};

/// Two ways to open a search of one puzzle.
struct Ways<P> {
    parameters: Parameters,
    puzzle: PhantomData<P>,
}

impl<P: Puzzle> Ways<P> {
    fn new(parameters: &[(&str, &str)]) -> Ways<P> {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Ways { parameters: parameters.iter().map(owned).collect(), puzzle: PhantomData }
    }

    fn constructed(&self) -> Search<'static> {
        Search::new(P::open(&self.parameters).unwrap()).threads(1)
    }

    fn registered(&self) -> Search<'static> {
        let registry = Arc::new(Registry::new([Entry::of::<P>()]));
        Search::registered(registry, P::NAME, &self.parameters).threads(1)
    }

    /// Compares layers, resume and paths of the two ways with one engine.
    fn agree(&self, engine: Engine) {
        let (one, two) = (self.constructed().engine(engine), self.registered().engine(engine));
        let (one, two) = (one.run().unwrap(), two.run().unwrap());
        assert_eq!(one.moves(), two.moves());
        let layers = figures(&one);
        assert_eq!(layers, figures(&two), "{} {engine:?}", P::NAME);
        for searches in
            [[Self::constructed, Self::registered], [Self::registered, Self::constructed]]
        {
            let dir = tempfile::tempdir().unwrap();
            let [first, second] = searches.map(|way| way(self).engine(engine).data_dir(dir.path()));
            let stopped = first.max_layers(one.radius() / 2).run().unwrap_err();
            assert!(matches!(stopped, Error::Stopped { .. }), "{stopped}");
            assert_eq!(figures(&second.run().unwrap()), layers, "resumed, {} {engine:?}", P::NAME);
        }
    }

    /// Compares paths to the states of every layer, traced back through kept layers, and to the
    /// goal.
    fn agree_on_paths(&self) {
        let keep = |search: Search<'static>| search.keep_layers(KeepLayers::All).run().unwrap();
        let (one, two) = (keep(self.constructed()), keep(self.registered()));
        assert_eq!(one.path().ok(), two.path().ok());
        if let Some(moves) = one.moves() {
            assert_eq!(one.path().unwrap().len() as u64, moves, "{}", P::NAME);
        }
        for depth in 0..=one.radius() {
            let states = some_states(&one, depth);
            assert_eq!(states, some_states(&two, depth));
            let mut found = 0;
            for state in &states {
                let (way, other) = (path_to(&one, state), path_to(&two, state));
                assert_eq!(way, other, "{} at depth {depth}", P::NAME);
                if let Some(way) = way {
                    assert_eq!(way.len() as u32, depth, "{}", P::NAME);
                    found += 1;
                }
            }
            // In a search from both ends, states on the goal's side have no path from the start.
            assert!(found > 0, "{} has no path to depth {depth}: {states:?}", P::NAME);
        }
    }
}

/// States, moves and digest of every layer.
fn figures(report: &Report) -> Vec<(u64, u64, String)> {
    let of = |layer: &LayerRecord| (layer.states, layer.generated, layer.digest.to_string());
    report.layers().iter().map(of).collect()
}

/// Some states of a layer, evenly spaced.
fn some_states(report: &Report, depth: u32) -> Vec<ListedState> {
    let mut found = Vec::new();
    let visit = &mut |listed: ListedState| {
        found.push(listed);
        ControlFlow::Continue(())
    };
    report.layer(depth).unwrap().sample(16, visit).unwrap();
    found
}

fn path_to(report: &Report, state: &ListedState) -> Option<Moves> {
    match report.path_to(state) {
        Ok(moves) => Some(moves),
        Err(Error::NoPath(_)) => None,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_puzzle_of_keys() {
    for (parameters, engines) in [
        (&[("discs", "5"), ("pegs", "3")][..], &[Engine::Explicit, Engine::Symbolic][..]),
        (&[("discs", "5"), ("pegs", "4")], &[Engine::Auto, Engine::Dense]),
        (&[("discs", "4"), ("exhaust", "true")], &[Engine::Auto, Engine::Explicit]),
    ] {
        let ways = Ways::<Hanoi>::new(parameters);
        engines.iter().for_each(|engine| ways.agree(*engine));
        ways.agree_on_paths();
    }
}

#[test]
fn a_puzzle_with_tables() {
    for parameters in [
        &[("size", "2x3"), ("exhaust", "true")][..],
        &[("size", "3x3"), ("start", START), ("k", "2")],
    ] {
        let ways = Ways::<Tiles>::new(parameters);
        ways.agree(Engine::Auto);
        ways.agree_on_paths();
    }
    let refused = Ways::<Tiles>::new(&[("size", "2x3")]).constructed().engine(Engine::Symbolic);
    let refused = refused.run().unwrap_err();
    assert!(refused.to_string().contains("nested form"), "{refused}");
}

/// A board that is not symmetric to the sorted one.
const START: &str = "8 6 7 / 2 5 4 / 3 _ 1";

#[test]
fn a_puzzle_with_tables_and_a_nested_form() {
    let ways = Ways::<Panex>::new(&[("level", "3"), ("k", "1")]);
    for engine in [Engine::Auto, Engine::Explicit, Engine::Symbolic] {
        ways.agree(engine);
    }
    ways.agree_on_paths();
    let symbolic = ways.constructed().engine(Engine::Symbolic).run().unwrap();
    assert_eq!(symbolic.path().unwrap().len(), 42);
}
