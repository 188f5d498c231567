//! Properties of the Panex space, checked on plain positions.

use std::collections::HashSet;

use proptest::prelude::*;

use super::*;

fn panex(level: u8, k: u8, symmetry: SymmetryUse, centre_top: CentreTop) -> Panex {
    let s = PanexConfig::default_s(level, k);
    let config =
        PanexConfig { k, s, symmetry, centre_top, exhaust: true, ..PanexConfig::new(level) };
    Panex::new(config).unwrap()
}

fn plain_moves(position: &Position, centre_top: CentreTop) -> Vec<Position> {
    position.moves(centre_top)
}

/// Successors of a state, computed from the tables.
fn tabled_moves(space: &Panex, state: State) -> Vec<State> {
    let (index, side) = (state.narrow() >> 1, state.side());
    let class = space.class(state.region);
    let open = space.legal_moves(&class, index);
    let mut found = Vec::new();
    let moves = (0..Panex::MOVE_KINDS).filter(|mv| open.inside >> mv & 1 == 1);
    let listed: Vec<u32> = moves.map(|mv| space.neighbour(index, mv)).collect();
    let inside = space.inside_successors(&class, index);
    assert_eq!(inside.more, listed.len() > inside.first.len());
    if !inside.more {
        assert_eq!(inside.first[..listed.len()], listed);
        assert!(inside.first[listed.len()..].iter().all(|own| *own == index));
    }
    for mv in 0..Panex::MOVE_KINDS {
        if open.inside >> mv & 1 == 1 {
            let next = space.neighbour(index, mv);
            let local = space.canonicalise(&class, next << 1 | side);
            found.push(State::new(state.region, local));
        }
        if open.exits >> mv & 1 == 1 {
            let target = space.edge_target(state.region, mv.into());
            let class = space.class(target.region);
            let entered = space.transfer(index, mv.into(), target.symmetry) ^ side;
            found.push(State::new(target.region, space.canonicalise(&class, entered)));
        }
    }
    found
}

fn settings() -> impl Strategy<Value = (u8, u8, SymmetryUse, CentreTop)> {
    (
        2..=9u8,
        1..=3u8,
        prop_oneof![Just(SymmetryUse::On), Just(SymmetryUse::Off)],
        prop_oneof![Just(CentreTop::Forbid), Just(CentreTop::Allow)],
    )
}

/// A random walk from the start.
fn walk(level: u8, centre_top: CentreTop, choices: &[usize]) -> Position {
    let mut position = Position::start(level);
    for choice in choices {
        let next = plain_moves(&position, centre_top);
        position = next[choice % next.len()];
    }
    position
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn states_stand_for_their_positions(
        (level, k, symmetry, centre_top) in settings(),
        choices in prop::collection::vec(0..6usize, 0..200),
    ) {
        let space = panex(level, k, symmetry, centre_top);
        let position = walk(level, centre_top, &choices);
        let state = space.locate(&position, End::Start).unwrap();
        let back = space.position(state);
        let same_class = [position, position.image(Symmetry::BOTH)];
        match symmetry {
            SymmetryUse::On => prop_assert!(same_class.contains(&back), "{} from {}", back, position),
            SymmetryUse::Off => prop_assert_eq!(back, position),
        }
        if symmetry == SymmetryUse::On {
            for s in Symmetry::ALL {
                let image = space.locate(&position.image(s), End::Start).unwrap();
                prop_assert_eq!(image.region, state.region);
                prop_assert_eq!(image.narrow(), state.narrow() ^ space.group.side(s));
            }
        }
    }

    #[test]
    fn moves_are_those_of_the_rules(
        (level, k, symmetry, centre_top) in settings(),
        choices in prop::collection::vec(0..6usize, 0..200),
    ) {
        let space = panex(level, k, symmetry, centre_top);
        let position = walk(level, centre_top, &choices);
        let state = space.locate(&position, End::Start).unwrap();
        let mut expected: Vec<State> =
            plain_moves(&position, centre_top).iter().map(|p| space.locate(p, End::Start).unwrap()).collect();
        let mut found = tabled_moves(&space, state);
        expected.sort();
        found.sort();
        prop_assert_eq!(&found, &expected, "from {}", position);
        let other_side = tabled_moves(&space, State { local: state.local ^ 1, ..state });
        let mut flipped: Vec<State> =
            other_side.into_iter().map(|s| State { local: s.local ^ 1, ..s }).collect();
        flipped.sort();
        prop_assert_eq!(flipped, expected);
    }

    #[test]
    fn weights_are_those_of_the_positions(
        (level, k, symmetry, centre_top) in settings(),
        choices in prop::collection::vec(0..6usize, 0..200),
    ) {
        let space = panex(level, k, symmetry, centre_top);
        let position = walk(level, centre_top, &choices);
        let state = space.locate(&position, End::Start).unwrap();
        let class = space.class(state.region);
        let side = state.side() as usize;
        let index = state.narrow() >> 1;
        let region = space.region_weights(state.region)[side];
        let mut local = space.local_weights(side).images(index);
        if space.is_fixed(&class, index) {
            local[1] = Weight::ZERO;
        }
        let found = region[0] * local[0] + region[1] * local[1];
        prop_assert_eq!(found, space.weight(state));
        let mut stands_for = HashSet::from([position]);
        if symmetry == SymmetryUse::On {
            stands_for.insert(position.image(Symmetry::BOTH));
        }
        let expected: Weight = stands_for.iter().map(|p| position_weight(p, level)).sum();
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn local_parts_are_counted_without_and_with_the_centres_top_layer() {
    for (centre_top, count) in [(CentreTop::Forbid, 25_200), (CentreTop::Allow, 70_560)] {
        let space = panex(12, 3, SymmetryUse::On, centre_top);
        assert_eq!(space.indices(), count);
        for index in 0..count {
            assert_eq!(space.locals.index(space.locals.tokens(index)), Some(index));
        }
    }
}

#[test]
fn no_class_is_its_own_mirror_image() {
    let space = panex(3, 3, SymmetryUse::On, CentreTop::Forbid);
    let all = (0..space.indices()).map(|index| space.locals.tokens(index));
    let positions = all.map(|tokens| Position::join(&Position::default(), tokens));
    for position in positions.filter(|position| space.locate(position, End::Start).is_some()) {
        let mirror = position.image(Symmetry::MIRROR);
        assert!(mirror != position && mirror != position.image(Symmetry::BOTH));
    }
}

#[test]
fn levels_and_k_out_of_range_are_refused() {
    assert!(Panex::new(PanexConfig::new(0)).is_err());
    assert!(Panex::new(PanexConfig::new(15)).is_err());
    assert!(Panex::new(PanexConfig { k: 4, s: 5, ..PanexConfig::new(9) }).is_err());
    assert!(Panex::new(PanexConfig { k: 0, s: 5, ..PanexConfig::new(9) }).is_err());
    for level in 1..=14 {
        let space = Panex::new(PanexConfig::new(level)).unwrap();
        let seed = space.seeds()[0];
        assert_eq!(space.position(seed), Position::start(level));
    }
}
