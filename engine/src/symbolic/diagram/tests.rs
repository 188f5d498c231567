//! Property tests: steps of arbitrary sets of states, compared with plain sets.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use proptest::prelude::*;
use strata_puzzles::panex::{CentreTop, NestedPanex, PanexConfig, Position, Symmetry, Tokens};
use strata_space::nested::{NestedSpace, NestedState};

use crate::symbolic::diagram::arena::Diagram;
use crate::symbolic::diagram::meeting::meets_itself;
use crate::symbolic::error::StepError;
use crate::symbolic::index::bits::{ConfigId, ConfigSet};
use crate::symbolic::index::space::ClassId;
use crate::symbolic::node::record::LeafSets;
use crate::symbolic::node::reference::Ref;
use crate::symbolic::options::Options;

type State = NestedState<Tokens>;

/// States, and whether each is current or previous.
type Layers = Vec<(State, bool)>;

const LEVEL: u8 = 4;

/// Builds the node of some states, from the configuration at index `at` on.
fn build(
    diagram: &mut Diagram<NestedPanex>,
    level: u8,
    class: ClassId,
    at: usize,
    states: &[(State, bool)],
) -> Ref {
    if level == diagram.index.leaf_level() {
        let set = |current| {
            let leaves = states.iter().filter(|(_, is_current)| *is_current == current);
            leaves.fold(0, |set, (state, _)| set | 1 << state.leaf)
        };
        let sets = LeafSets { current: set(true), previous: set(false) };
        return diagram.intern_leaf(class, sets).unwrap();
    }
    let mut below: BTreeMap<ConfigId, Layers> = BTreeMap::new();
    for (state, current) in states {
        let config = diagram.index.number_config(level, state.configs[at]).unwrap();
        below.entry(config).or_default().push((state.clone(), *current));
    }
    let base = diagram.child_words.len();
    let configs: ConfigSet = below.keys().copied().collect();
    for (config, states) in below {
        let inner = diagram.index.inner_class(class, config).unwrap();
        let set = build(diagram, level - 1, inner, at + 1, &states);
        diagram.child_words.push(set.word());
    }
    diagram.intern(level, class, configs, base).unwrap()
}

fn current(diagram: &Diagram<NestedPanex>, top: Ref) -> HashSet<String> {
    let mut texts = HashSet::new();
    let _: ControlFlow<()> = diagram.visit(top, &mut |state| {
        assert!(texts.insert(diagram.index.space.text(state)), "a state comes twice");
        ControlFlow::Continue(())
    });
    texts
}

/// The position after a walk that picks moves by number.
fn walk(steps: &[u8]) -> Position {
    steps.iter().fold(Position::start(LEVEL), |position, step| {
        let next = position.moves(CentreTop::Forbid);
        next[usize::from(*step) % next.len()]
    })
}

fn positions() -> impl Strategy<Value = Vec<(Position, bool)>> {
    let steps = prop::collection::vec(any::<u8>(), 0..60);
    let one = (steps, any::<bool>()).prop_map(|(steps, current)| (walk(&steps), current));
    prop::collection::vec(one, 1..40)
}

fn options(threads: usize) -> Options {
    Options { memory: 1 << 30, keep_layers: false, digests: true, verify: 0, threads }
}

proptest! {
    #[test]
    fn steps_of_arbitrary_sets_equal_those_of_plain_sets(
        drawn in positions(),
        again in any::<bool>(),
        threads in 1..=2usize,
    ) {
        let space = Arc::new(NestedPanex::new(PanexConfig::new(LEVEL)).unwrap());
        let mut diagram = Diagram::new(Arc::clone(&space), options(threads));
        let plain = |wanted: bool| -> HashSet<String> {
            let own = drawn.iter().filter(|(_, current)| *current == wanted);
            own.map(|(position, _)| position.to_string()).collect()
        };
        let (now, before) = (plain(true), plain(false));
        let before: HashSet<String> = before.difference(&now).cloned().collect();
        let is_kept = |position: &Position, current: bool| {
            current || before.contains(&position.to_string())
        };
        let states: Layers = drawn
            .iter()
            .filter(|(position, current)| is_kept(position, *current))
            .map(|(position, current)| (space.nest(position).unwrap(), *current))
            .collect();
        let class = diagram.index.root_class().unwrap();
        let top = build(&mut diagram, LEVEL, class, 0, &states);
        diagram.finish_layer(top).unwrap();
        prop_assert_eq!(current(&diagram, top), now.clone());
        prop_assert_eq!(diagram.states(top), now.len() as u64);

        let moves = drawn.iter().filter(|(_, current)| *current);
        let moves: Vec<Position> =
            moves.flat_map(|(position, _)| position.moves(CentreTop::Forbid)).collect();
        let expected: HashSet<String> = moves
            .iter()
            .map(ToString::to_string)
            .filter(|text| !now.contains(text) && !before.contains(text))
            .collect();
        let next = diagram.step_top(top).unwrap();
        prop_assert_eq!(current(&diagram, next), expected.clone());
        if again {
            // The memoised step, and the step of the flip.
            prop_assert_eq!(diagram.step_top(top).unwrap(), next);
            prop_assert_eq!(diagram.step_top(top.flip()).unwrap(), next.flip());
        }

        // A memoised step is compared with its recomputation.
        diagram.verify_interval = 1;
        prop_assert_eq!(diagram.step_top(top), Ok(next));
        if next != top && !now.is_empty() {
            diagram.nodes[top.id()].next = top.flip_if(top.is_flipped()).word();
            let wrong = diagram.step_top(top);
            prop_assert_eq!(wrong, Err(StepError::Mismatch { level: LEVEL }));
        }

        let exchanged = |text: &str| {
            Position::parse(LEVEL, text).unwrap().image(Symmetry::MIRROR).to_string()
        };
        let meeting = meets_itself(&diagram, next);
        prop_assert_eq!(meeting.even, expected.iter().any(|text| expected.contains(&exchanged(text))));
        prop_assert_eq!(meeting.odd, expected.iter().any(|text| now.contains(&exchanged(text))));
    }
}
