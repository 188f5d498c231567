//! Tests that a space forwards every method of its puzzle.

use std::sync::Arc;

use strata_run::catalogue::{Entry, Registry, Space};
use strata_space::dense::{DenseFolding, DenseShape, DenseSize, DenseSpace};
use strata_space::{
    Chain, Curve, DrawingTheme, Finish, KeySpace, Keyed, NestedSize, NoNested, Parameter,
    ParameterReader, Parameters, Puzzle, SearchSize, Seed, SpaceError, StateSpace, Work,
};

/// A path of ten states, with edges in both directions if `both` is set. Every method but `reader` returns a
/// value other than its default.
#[derive(Debug)]
struct Told {
    both: bool,
}

/// Steps that opening the puzzle takes from the budget.
const OPENING_STEPS: u64 = 9;

const BOTH_ENDS: &[(&str, &str)] = &[("both", "true")];

fn refused(why: &str) -> SpaceError {
    SpaceError::NoForm { why: why.to_owned() }
}

fn dense_size() -> DenseSize {
    let shape = DenseShape { blocks: 5, rows: 2, lanes: 1 };
    DenseSize {
        states: 10,
        shape,
        table_bytes: 7,
        folding: DenseFolding::Unused,
        is_undirected: false,
        has_goal: true,
    }
}

fn search_size() -> SearchSize {
    let work_by_depth = Some(Curve(&[0.0, 1.0]));
    SearchSize {
        layers: Some(9),
        states: Some(10),
        nested: Some(NestedSize { nodes: Some(3), work_by_depth }),
        ..SearchSize::default()
    }
}

#[deny(clippy::missing_trait_methods)]
impl Puzzle for Told {
    type States = Keyed<Told>;
    type Nested = NoNested;

    const NAME: &'static str = "told";
    const SUMMARY: &'static str = "a path that says everything itself";
    const PARAMETERS: &'static [Parameter] = &[Parameter::optional("both", "false", "any")];
    const NAMES_MOVES: bool = false;
    const BOTH_ENDS: &'static [(&'static str, &'static str)] = BOTH_ENDS;

    fn open(parameters: &Parameters) -> Result<Told, SpaceError> {
        Ok(Told { both: Told::reader(parameters).switch("both")? })
    }
    fn open_within(parameters: &Parameters, work: &Work) -> Result<Told, SpaceError> {
        work.spend(OPENING_STEPS).map_err(SpaceError::unfinished("opening"))?;
        Told::open(parameters)
    }
    fn parameters(&self) -> Parameters {
        [("both".to_owned(), self.both.to_string())].into()
    }
    fn label(&self) -> String {
        "a-label".into()
    }
    fn distance_name(&self) -> String {
        "a distance".into()
    }
    fn search_size(&self) -> SearchSize {
        search_size()
    }
    fn ends(&self) -> Option<[String; 2]> {
        Some(["first".into(), "last".into()])
    }
    fn moves_along(&self, space: &dyn StateSpace, chain: &Chain) -> Option<Vec<String>> {
        Some(chain.from_start.iter().map(|state| format!("to {}", space.text(*state))).collect())
    }
    fn positions_along(&self, space: &dyn StateSpace, chain: &Chain) -> Option<Vec<String>> {
        Some(chain.from_start.iter().map(|state| format!("at {}", space.text(*state))).collect())
    }
    fn moves_between(&self, path: &[String]) -> Option<Vec<String>> {
        Some(path.iter().map(|text| format!("via {text}")).collect())
    }
    fn position_text(&self, given: &str) -> Result<String, SpaceError> {
        Ok(format!("read {given}"))
    }
    fn drawing(&self, position: &str, theme: DrawingTheme) -> Option<String> {
        Some(format!("<svg>{position} {theme:?}</svg>"))
    }
    fn nested(&self) -> Result<NoNested, SpaceError> {
        Err(refused("not nested"))
    }
    fn check_explicit(&self) -> Result<(), SpaceError> {
        Err(refused("not explicit"))
    }
    fn advice(&self) -> Option<String> {
        Some("walk back".into())
    }
    fn dense_size(&self) -> Result<DenseSize, SpaceError> {
        Ok(dense_size())
    }
    fn dense(&self) -> Result<Arc<dyn DenseSpace>, SpaceError> {
        Err(refused("not dense"))
    }
    fn reader(parameters: &Parameters) -> ParameterReader<'_> {
        ParameterReader::new(Self::NAME, Self::PARAMETERS, parameters)
    }
}

impl KeySpace for Told {
    type Key = u64;

    fn seeds(&self) -> Vec<Seed> {
        vec![Seed::start(0)]
    }
    fn key_bits(&self) -> u32 {
        4
    }
    fn goal(&self) -> Option<u64> {
        Some(9)
    }
    fn is_undirected(&self) -> bool {
        self.both
    }
    fn successors(&self, key: u64, out: &mut Vec<u64>) {
        out.extend((key < 9).then_some(key + 1));
        out.extend(key.checked_sub(1).filter(|_| self.both));
    }
    fn text(&self, key: u64) -> String {
        key.to_string()
    }
}

#[test]
fn a_space_forwards_every_method_to_its_puzzle() {
    for both in [false, true] {
        let space = Space::new(Told { both }).unwrap();
        let start = space.state_space().seeds();
        assert_eq!(
            (space.name(), space.label(), space.distance_name()),
            ("told", "a-label".into(), "a distance".into())
        );
        assert_eq!(space.parameters(), Told { both }.parameters());
        assert_eq!((space.search_size(), space.expected_layers()), (search_size(), Some(9)));
        assert_eq!(space.ends(), Some(["first".into(), "last".into()]));
        assert_eq!((space.both_ends(), space.names_moves()), (BOTH_ENDS, false));
        let chain = Chain { from_start: start.clone(), from_goal: Vec::new() };
        assert_eq!(space.moves(&chain), Some(vec!["to 0".into()]));
        assert_eq!(space.positions(&chain), Some(vec!["at 0".into()]));
        assert_eq!(space.moves_between(&["5".into()]), Some(vec!["via 5".into()]));
        assert_eq!(space.position_text("5"), Ok("read 5".into()));
        let drawing = space.drawing("5", DrawingTheme::Dark).unwrap();
        assert_eq!(drawing, "<svg>5 Dark</svg>");
        assert_eq!(space.check_explicit(), Err(refused("not explicit")));
        assert_eq!(space.advice(), Some("walk back".into()));
        assert_eq!(space.dense_size(), Ok(dense_size()));
        assert_eq!(space.dense().unwrap_err(), refused("not dense"));
        let nested = space.nested().unwrap_err();
        assert_eq!(nested == refused("not nested"), both, "{nested}");
        assert_eq!(space.state_space().is_undirected(), both);
        assert!(matches!(space.finish(), Finish::State(_)) && space.has_goal());
        let finish = space.finish();
        let engine = space.engine(1);
        assert_eq!((engine.is_undirected(), engine.finish()), (both, finish));
        assert_eq!(engine.text(start[0]), "0");
    }
}

#[test]
fn opening_a_puzzle_is_charged_to_the_work() {
    let registry = Registry::new(vec![Entry::of::<Told>()]);
    let work = Work::new(OPENING_STEPS);
    let open = || registry.open_within(Told::NAME, &Parameters::new(), &work);
    assert_eq!(open().unwrap().name(), Told::NAME);
    assert_eq!(work.spent(), OPENING_STEPS);
    assert!(matches!(open(), Err(SpaceError::TooMuchWork { .. })));
}
