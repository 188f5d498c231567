//! Tests that a space with wrong symmetries is refused.

use strata::{Engine, KeySpace, Keyed, NoNested, Search, Seed, SpaceError, Tabled, WithTables};
use strata_puzzles::panex::{Panex, PanexConfig};
use strata_puzzles::{Hanoi, NestedHanoi};
use strata_space::nested::{LeafMoves, NestedSpace, NestedState, Shift};
use strata_space::{
    EdgeTarget, ExitEdge, Finish, InsideSuccessors, LegalMoves, Local, LocalWeights, MoveKind,
    RegionKey, State, StateSpace, Weight,
};

/// A line of points from 0 to `length`. Each point is stored as itself or as another point.
struct Folded {
    length: u64,
    start: u64,
    goal: u64,
    /// The point that is stored for each.
    stored: fn(u64) -> u64,
}

impl KeySpace for Folded {
    type Key = u64;
    fn seeds(&self) -> Vec<Seed> {
        vec![Seed::start((self.stored)(self.start))]
    }
    fn key_bits(&self) -> u32 {
        5
    }
    fn successors(&self, key: u64, out: &mut Vec<u64>) {
        let next = [key.checked_sub(1), Some(key + 1).filter(|next| *next <= self.length)];
        out.extend(next.into_iter().flatten().map(self.stored));
    }
    fn goal(&self) -> Option<u64> {
        Some((self.stored)(self.goal))
    }
    fn positions(&self, key: u64) -> Option<u64> {
        Some((0..=self.length).filter(|point| (self.stored)(*point) == key).count() as u64)
    }
    fn text(&self, key: u64) -> String {
        format!("point {key}")
    }
}

without_parameters!(
    Folded,
    "folded",
    Ok(Folded { length: 20, start: 0, goal: 0, stored: |point| point })
);

/// The distance between points of a line of 21 points that is folded in the middle.
fn folded(start: u64, goal: u64) -> Result<Option<u64>, String> {
    let stored = |point: u64| point.min(20 - point);
    let search = Search::new(Folded { length: 20, start, goal, stored });
    search.run().map(|report| report.moves()).map_err(|error| error.to_string())
}

#[test]
fn symmetric_starts_and_goals_are_refused() {
    assert_eq!(folded(10, 18), Ok(Some(8)));
    assert_eq!(folded(3, 10), Ok(Some(7)));
    // 15 moves apart, and 1 move from the image of the goal.
    let error = folded(3, 18).unwrap_err();
    let expected = "point 2 stands for 2 positions, and the start point 3 for 2";
    assert!(error.contains(expected), "{error}");
}

#[test]
fn a_fold_that_is_no_symmetry_is_refused() {
    // 12 is stored as 8, and not all of its neighbours are.
    let stored = |point: u64| if point == 12 { 8 } else { point };
    let search = Search::new(Folded { length: 20, start: 10, goal: 10, stored });
    let error = search.run().unwrap_err().to_string();
    assert!(
        error.contains("a move leads from point 11 to point 8, and none leads back"),
        "{error}"
    );
}

/// The fault of a nested space.
#[derive(Copy, Clone, Debug, PartialEq)]
enum Wrong {
    Nothing,
    /// The flip does not change configurations, although it exchanges pegs in leaves, classes and moves.
    Config,
    /// The flip does not change leaves.
    Leaf,
    /// The flip does not change classes.
    Class,
    /// The flip does not change moves.
    Move,
    /// The flip moves the start.
    Start,
    /// The exchange does not change leaves.
    Exchange,
    /// The exchange is a symmetry that does not commute with the flip.
    Order,
}

/// Towers of Hanoi with four pegs and a wrong symmetry. The search ends at a meeting with the search from
/// the last peg.
struct WrongNested {
    hanoi: NestedHanoi,
    wrong: Wrong,
}

const PAIRS: [[u8; 2]; 6] = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];

fn swap(peg: u8, [a, b]: [u8; 2]) -> u8 {
    match peg {
        peg if peg == a => b,
        peg if peg == b => a,
        peg => peg,
    }
}

/// The pegs of the leaf's three discs.
fn swap_leaf(leaf: u8, pegs: [u8; 2]) -> u8 {
    (0..3).map(|disc| swap(leaf >> (2 * disc) & 3, pegs) << (2 * disc)).sum()
}

impl WrongNested {
    /// The pegs that the flip exchanges.
    fn flipped(&self) -> [u8; 2] {
        if self.wrong == Wrong::Start { [0, 1] } else { [1, 2] }
    }

    fn exchanged(&self) -> [u8; 2] {
        if self.wrong == Wrong::Order { [0, 1] } else { [0, 3] }
    }
}

impl NestedSpace for WrongNested {
    type Config = u8;
    type Class = u8;

    fn levels(&self) -> u8 {
        self.hanoi.levels()
    }
    fn leaf_levels(&self) -> u8 {
        self.hanoi.leaf_levels()
    }
    fn leaf_states(&self) -> u8 {
        self.hanoi.leaf_states()
    }
    fn move_kinds(&self) -> MoveKind {
        self.hanoi.move_kinds()
    }
    fn root_class(&self) -> u8 {
        self.hanoi.root_class()
    }
    fn inner_class(&self, class: &u8, level: u8, config: u8) -> u8 {
        self.hanoi.inner_class(class, level, config)
    }
    fn shift(&self, level: u8, config: u8, kind: MoveKind) -> Shift<u8> {
        self.hanoi.shift(level, config, kind)
    }
    fn leaf_moves(&self, class: &u8, leaf: u8) -> LeafMoves {
        self.hanoi.leaf_moves(class, leaf)
    }
    fn leaf_after_exit(&self, leaf: u8, kind: MoveKind) -> u8 {
        self.hanoi.leaf_after_exit(leaf, kind)
    }
    fn flip_config(&self, config: u8) -> u8 {
        if self.wrong == Wrong::Config { config } else { swap(config, self.flipped()) }
    }
    fn flip_leaf(&self, leaf: u8) -> u8 {
        if self.wrong == Wrong::Leaf { leaf } else { swap_leaf(leaf, self.flipped()) }
    }
    fn flip_class(&self, class: &u8) -> u8 {
        if self.wrong == Wrong::Class {
            return *class;
        }
        (0..4).map(|peg| (class >> peg & 1) << swap(peg, self.flipped())).sum()
    }
    fn flip_move(&self, kind: MoveKind) -> MoveKind {
        if self.wrong == Wrong::Move {
            return kind;
        }
        let mut pair = PAIRS[usize::from(kind)].map(|peg| swap(peg, self.flipped()));
        pair.sort_unstable();
        PAIRS.iter().position(|other| *other == pair).unwrap() as MoveKind
    }
    fn exchange_config(&self, config: u8) -> u8 {
        swap(config, self.exchanged())
    }
    fn exchange_leaf(&self, leaf: u8) -> u8 {
        if self.wrong == Wrong::Exchange { leaf } else { swap_leaf(leaf, self.exchanged()) }
    }
    fn config_weight(&self, level: u8, config: u8) -> Weight {
        self.hanoi.config_weight(level, config)
    }
    fn leaf_weight(&self, leaf: u8) -> Weight {
        self.hanoi.leaf_weight(leaf)
    }
    fn encode_config(&self, config: u8) -> u128 {
        self.hanoi.encode_config(config)
    }
    fn decode_config(&self, word: u128) -> Option<u8> {
        self.hanoi.decode_config(word)
    }
    fn start(&self) -> NestedState<u8> {
        self.hanoi.start()
    }
    fn finish(&self) -> Finish<NestedState<u8>> {
        Finish::Meeting
    }
    fn counts_orbits(&self) -> bool {
        true
    }
    fn text(&self, state: &NestedState<u8>) -> String {
        self.hanoi.text(state)
    }
}

/// The puzzle of the nested space. Only the explicit engine uses its keys.
struct Towers(Wrong);

impl KeySpace for Towers {
    type Key = u64;
    fn seeds(&self) -> Vec<Seed> {
        vec![Seed::start(0)]
    }
    fn key_bits(&self) -> u32 {
        1
    }
    fn successors(&self, _: u64, _: &mut Vec<u64>) {}
    fn text(&self, key: u64) -> String {
        key.to_string()
    }
}

without_parameters!(
    Towers,
    "towers",
    Ok(Towers(Wrong::Nothing)),
    Keyed<Towers>,
    WrongNested,
    fn nested(&self) -> Result<WrongNested, SpaceError> {
        let hanoi = NestedHanoi::new(Hanoi::new(6, 4, false)?)?;
        Ok(WrongNested { hanoi, wrong: self.0 })
    }
);

#[test]
fn a_wrong_symmetry_of_a_nested_form_is_refused() {
    let run = |wrong| {
        let search = Search::new(Towers(wrong)).engine(Engine::Symbolic);
        search.run().map(|report| report.moves()).map_err(|error| error.to_string())
    };
    assert_eq!(run(Wrong::Nothing), Ok(Some(17)));
    for (wrong, expected) in [
        (Wrong::Config, "the flip of the nested form is no symmetry of the search: at "),
        (Wrong::Leaf, "the flip of the nested form is no symmetry of the search: at "),
        (Wrong::Class, "classes do not become the classes of configurations"),
        (Wrong::Move, "legal moves do not become legal moves"),
        (Wrong::Start, "it does not fix the start "),
        (
            Wrong::Exchange,
            "the exchange of the nested form is no symmetry of the search: moves from ",
        ),
    ] {
        let error = run(wrong).unwrap_err();
        assert!(error.contains(expected), "{wrong:?}: {error}");
    }
}

/// Panex with tables in which one part may be wrong: a symmetry, or the canonical form of local parts.
struct WrongTables {
    panex: Panex,
    wrong: WrongTable,
}

#[derive(Copy, Clone, Debug, PartialEq)]
enum WrongTable {
    Nothing,
    Symmetry,
    Canonical,
}

impl StateSpace for WrongTables {
    fn seeds(&self) -> Vec<State> {
        self.panex.seeds()
    }
    fn finish(&self) -> Finish {
        self.panex.finish()
    }
    fn moves(&self, state: State, out: &mut Vec<State>) {
        self.panex.moves(state, out);
    }
    fn shard_hash(&self, region: RegionKey) -> u64 {
        self.panex.shard_hash(region)
    }
    fn weight(&self, state: State) -> Weight {
        self.panex.weight(state)
    }
    fn positions(&self, state: State) -> Option<u64> {
        self.panex.positions(state)
    }
    fn text(&self, state: State) -> String {
        self.panex.text(state)
    }
}

impl Tabled for WrongTables {
    const MOVE_KINDS: MoveKind = Panex::MOVE_KINDS;
    type Class = <Panex as Tabled>::Class;

    fn indices(&self) -> u32 {
        self.panex.indices()
    }
    fn class(&self, region: RegionKey) -> Self::Class {
        self.panex.class(region)
    }
    fn legal_moves(&self, class: &Self::Class, index: u32) -> LegalMoves {
        self.panex.legal_moves(class, index)
    }
    fn inside_successors(&self, class: &Self::Class, index: u32) -> InsideSuccessors {
        self.panex.inside_successors(class, index)
    }
    fn links(&self, class: &Self::Class) -> Option<&[u64]> {
        self.panex.links(class)
    }
    fn neighbour(&self, index: u32, kind: MoveKind) -> u32 {
        self.panex.neighbour(index, kind)
    }
    fn transfer(&self, index: u32, edge: ExitEdge, symmetry: u8) -> Local {
        let symmetry = if self.wrong == WrongTable::Symmetry { 0 } else { symmetry };
        self.panex.transfer(index, edge, symmetry)
    }
    fn inverse_exit(&self, edge: ExitEdge, symmetry: u8) -> Option<ExitEdge> {
        self.panex.inverse_exit(edge, symmetry)
    }
    fn needs_canonicalising(&self, class: &Self::Class) -> bool {
        self.wrong != WrongTable::Canonical && self.panex.needs_canonicalising(class)
    }
    fn canonicalise(&self, class: &Self::Class, local: Local) -> Local {
        self.panex.canonicalise(class, local)
    }
    fn is_fixed(&self, class: &Self::Class, index: u32) -> bool {
        self.panex.is_fixed(class, index)
    }
    fn edge_target(&self, region: RegionKey, edge: ExitEdge) -> EdgeTarget {
        self.panex.edge_target(region, edge)
    }
    fn region_weights(&self, region: RegionKey) -> [[Weight; 2]; 2] {
        self.panex.region_weights(region)
    }
    fn local_weights(&self, side: usize) -> LocalWeights<'_> {
        self.panex.local_weights(side)
    }
    fn table_bytes(&self) -> usize {
        self.panex.table_bytes()
    }
}

without_parameters!(
    WrongTables,
    "wrong-tables",
    WrongTables::new(WrongTable::Nothing),
    WithTables<WrongTables>,
    NoNested,
);

impl WrongTables {
    fn new(wrong: WrongTable) -> Result<WrongTables, SpaceError> {
        let panex = Panex::new(PanexConfig { k: 1, s: 1, ..PanexConfig::new(3) })?;
        Ok(WrongTables { panex, wrong })
    }
}

#[test]
fn wrong_symmetries_in_tables_are_refused() {
    let run = |wrong| {
        let search = Search::new(WrongTables::new(wrong).unwrap()).threads(1);
        search.run().map(|report| report.moves()).map_err(|error| error.to_string())
    };
    assert_eq!(run(WrongTable::Nothing), Ok(Some(42)));
    for wrong in [WrongTable::Symmetry, WrongTable::Canonical] {
        let error = run(wrong).unwrap_err();
        let expected = "look-ups in the tables of the space lead to other states than its moves";
        assert!(error.contains(expected), "{wrong:?}: {error}");
    }
}
