//! Tests that a family equals a puzzle from a file with the same moves, method by method.

use strata_puzzles::permutation::{
    BurntPancake, Family, Lrx, Lx, Member, Pancake, Permutation, TopSpin,
};
use strata_space::dense::DenseSpace;
use strata_space::{
    Chain, KeySpace, Keyed, Parameter, Parameters, Puzzle, SpaceError, State, StateSpace,
};

use crate::permutation::open;

/// Pieces of the wheel whose order is the high part of a key.
const SMALL: u16 = 8;

/// Pieces of both wheels.
const PIECES: u16 = SMALL + 12;

/// Two wheels that turn one way. On the small one any neighbours can be swapped, so its rotations are
/// symmetries; on the other one only the first two.
#[derive(Debug)]
enum Wheels {}

impl Family for Wheels {
    const NAME: &'static str = "wheels";
    const SUMMARY: &'static str = "two wheels that turn one way";
    const PARAMETERS: &'static [Parameter] = Lx::PARAMETERS;

    fn slots(_: &[u32]) -> Result<u16, SpaceError> {
        Ok(PIECES)
    }

    fn moves(_: &[u32]) -> Vec<(String, Vec<(u16, u8)>)> {
        let turn = |first: u16, count: u16| {
            (0..PIECES).map(move |slot| match slot.checked_sub(first) {
                Some(at) if at < count => first + (at + 1) % count,
                _ => slot,
            })
        };
        let swap = |a: u16, b: u16| {
            (0..PIECES).map(move |slot| match slot {
                slot if slot == a => b,
                slot if slot == b => a,
                slot => slot,
            })
        };
        let name = |slot: u16| format!("s{slot}");
        let swaps = (0..SMALL).map(|slot| (name(slot), swap(slot, (slot + 1) % SMALL).collect()));
        let mut moves: Vec<(String, Vec<u16>)> = swaps.collect();
        moves.push(("A".to_owned(), turn(0, SMALL).collect()));
        moves.push(("B".to_owned(), turn(SMALL, PIECES - SMALL).collect()));
        moves.push(("X".to_owned(), swap(SMALL, SMALL + 1).collect()));
        let unturned = |from: Vec<u16>| from.into_iter().map(|slot| (slot, 0)).collect();
        moves.into_iter().map(|(name, from)| (name, unturned(from))).collect()
    }
}

/// The member of a family with these positional values.
fn member<F: Family>(values: &[u32], options: &[(&str, &str)]) -> Member<F> {
    let names = F::PARAMETERS.iter().filter(|parameter| parameter.positional);
    let values = names.zip(values).map(|(name, value)| (name.name.to_owned(), value.to_string()));
    let options = options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let given: Parameters = values.chain(options).collect();
    Member::open(&given).unwrap()
}

/// The puzzle from a file with the same moves.
fn from_file<F: Family>(values: &[u32], options: &[(&str, &str)]) -> Permutation {
    let line = |(name, parts): (String, Vec<(u16, u8)>)| {
        // A list has the slots to which pieces go.
        let mut to = vec![0; parts.len()];
        for (slot, (from, turn)) in (1..).zip(parts) {
            assert_eq!(turn, 0);
            to[usize::from(from)] = slot;
        }
        let to: Vec<String> = to.iter().map(|slot: &u16| slot.to_string()).collect();
        format!("{name} = [{}]\n", to.join(","))
    };
    let file: String = F::moves(values).into_iter().map(line).collect();
    open(&file, options).unwrap()
}

/// States of the first layers, by depth, and a walk that visits each layer.
fn walk(space: &dyn StateSpace, depth: usize) -> (Vec<State>, Vec<State>) {
    let (mut all, mut path) = (space.seeds(), vec![space.seeds()[0]]);
    for _ in 0..depth {
        let mut next = Vec::new();
        space.moves(*path.last().unwrap(), &mut next);
        path.push(*next.last().unwrap());
        all.extend(next);
    }
    (all, path)
}

/// Compares the methods of two puzzles that engines and commands use.
fn same_puzzle(family: &impl Puzzle, file: &impl Puzzle, space: &dyn StateSpace, path: &[State]) {
    let chain = Chain { from_start: path.to_vec(), from_goal: Vec::new() };
    let texts = family.positions_along(space, &chain).unwrap();
    assert_eq!(file.positions_along(space, &chain).unwrap(), texts);
    assert_eq!(texts.len(), path.len());
    let moves = family.moves_along(space, &chain).unwrap();
    assert_eq!(file.moves_along(space, &chain).unwrap(), moves);
    assert_eq!(family.moves_between(&texts), file.moves_between(&texts));
    assert_eq!(family.ends(), file.ends());
    assert_eq!(family.check_explicit(), file.check_explicit());
    assert_eq!(family.dense_size(), file.dense_size());
    let checksum = |dense: Result<std::sync::Arc<dyn DenseSpace>, SpaceError>| {
        dense.map(|dense| dense.tables().fingerprint())
    };
    assert_eq!(checksum(family.dense()), checksum(file.dense()));
}

/// Checks all methods of a family against those of a file with its moves, with and without symmetries.
/// Returns the number of high parts with symmetries.
fn check<F: Family>(values: &[u32], options: &[(&str, &str)]) -> Option<u64> {
    let mut parts = None;
    for symmetry in ["off", "on"] {
        let options = [options, &[("symmetry", symmetry)]].concat();
        let family = Keyed::new(member::<F>(values, &options)).unwrap();
        let file = Keyed::new(from_file::<F>(values, &options)).unwrap();
        let (a, b) = (family.space(), file.space());
        assert_eq!(a.seeds(), b.seeds());
        assert_eq!(a.goal(), b.goal());
        assert_eq!(a.key_bits(), b.key_bits());
        assert_eq!(a.is_undirected(), b.is_undirected());
        assert_eq!(KeySpace::local_bits(a), KeySpace::local_bits(b));
        assert_eq!(a.high_parts(), b.high_parts(), "{} {values:?} {symmetry}", F::NAME);
        parts = a.high_parts();
        let mut keys: Vec<u128> = a.seeds().iter().map(|seed| seed.key()).collect();
        for step in 0..40 {
            let (mut ours, mut theirs) = (Vec::new(), Vec::new());
            a.successors(keys[step], &mut ours);
            b.successors(keys[step], &mut theirs);
            assert_eq!(ours, theirs);
            keys.extend(ours);
        }
        let ours = all_successors(a, &keys);
        assert_eq!(ours, all_successors(b, &keys));
        assert_eq!(a.count_successors(&keys), b.count_successors(&keys));
        assert_eq!(a.count_successors(&keys), ours.len() as u64);
        for key in &keys {
            assert_eq!(KeySpace::positions(a, *key), KeySpace::positions(b, *key));
            assert_eq!(KeySpace::text(a, *key), KeySpace::text(b, *key));
        }
        // The regions of states follow from the methods together.
        let (states, path) = walk(&family, 6);
        assert_eq!(walk(&file, 6), (states.clone(), path.clone()));
        assert_eq!(StateSpace::local_bits(&family), StateSpace::local_bits(&file));
        // The dense form of a large group takes long, and digests are computed from its numbers.
        if a.key_bits() < 20 {
            assert_eq!(a.digest(&keys), b.digest(&keys));
            same_puzzle(a, b, &family, &path);
        }
    }
    parts
}

/// The successors of all keys, in order.
fn all_successors<S: KeySpace<Key = u128>>(space: &S, keys: &[u128]) -> Vec<u128> {
    let mut found = Vec::new();
    space.all_successors(keys, &mut |key| found.push(key));
    found.sort_unstable();
    found
}

#[test]
fn a_family_is_searched_as_a_file_with_its_moves_is() {
    check::<Pancake>(&[5], &[]);
    check::<Pancake>(&[5], &[("goal", "5 4 3 2 1")]);
    check::<TopSpin>(&[7, 4], &[]);
    check::<Lrx>(&[6], &[]);
    check::<Lx>(&[6], &[]);
    check::<Lx>(&[6], &[("goal", "2 1 3 4 5 6")]);
    // Its keys are coordinates: 8! orders of the small wheel, of which 8 are symmetric.
    assert_eq!(check::<Wheels>(&[0], &[]), Some(5040));
}

#[test]
fn advice_on_inverses_is_given_only_where_they_can_be_added() {
    let (family, file) = (member::<Lx>(&[3], &[]), from_file::<Lx>(&[3], &[]));
    assert_eq!(family.advice(), None);
    assert_eq!(file.advice().unwrap(), "1 of 2 moves has no inverse; `inverses` adds them");
    let goals = [("goal", "? ? ?")];
    let why = |puzzle: &dyn Fn() -> Result<(), SpaceError>| puzzle().unwrap_err().to_string();
    let family = member::<Lx>(&[3], &goals);
    let family = why(&|| family.check_explicit());
    let file = from_file::<Lx>(&[3], &goals);
    assert_eq!(why(&|| file.check_explicit()), format!("{family} (`inverses` adds them)"));
    assert!(family.ends_with("takes one goal, not 6"), "{family}");
    assert_eq!(member::<BurntPancake>(&[3], &[]).advice(), None);
}
