//! Tests of the symmetries of sets of moves: known groups, and a search of all relabellings.

use crate::group::cube;

use std::collections::{BTreeSet, HashMap};

use proptest::prelude::*;
use strata_puzzles::group::{Element, GroupError, Pieces, Shape, Symmetry, SymmetryLimits};
use strata_space::{Work, WorkError};

fn all(shape: &Shape, moves: &[Element]) -> Vec<Symmetry> {
    Symmetry::all(shape, moves, &Pieces::different(shape), SymmetryLimits::default()).unwrap()
}

/// All powers of some moves but the identity.
fn powers(shape: &Shape, moves: &[Element]) -> Vec<Element> {
    let mut all = Vec::new();
    for element in moves {
        let mut power = element.clone();
        while !power.is_identity() {
            all.push(power.clone());
            power = power.times(element, shape).unwrap();
        }
    }
    all
}

fn plain(slots: usize, moves: &[Vec<u16>]) -> (Shape, Vec<Element>) {
    let shape = Shape::plain(slots).unwrap();
    let moves = moves.iter().map(|images| shape.permutation(images).unwrap()).collect();
    (shape, moves)
}

fn reversal(slots: u16, first: u16, count: u16) -> Vec<u16> {
    let from = |slot: u16| match (slot + slots - first) % slots {
        inside if inside < count => (first + count - 1 - inside) % slots,
        _ => slot,
    };
    (0..slots).map(from).collect()
}

#[test]
fn the_cube_has_48_symmetries_half_of_them_mirrors() {
    let shape = cube::cube_shape();
    let faces = cube::cube_faces(&shape);
    let moves = powers(&shape, &faces);
    assert_eq!(moves.len(), 18);
    let found = all(&shape, &moves);
    assert_eq!(found.len(), 48);
    assert_eq!(found.iter().filter(|symmetry| symmetry.is_mirror()).count(), 24);
    assert!(found[0].is_identity());
    // With quarter turns of one sense, no mirror image is left.
    let found = all(&shape, &faces);
    assert_eq!(found.len(), 24);
    assert!(!found.iter().any(Symmetry::is_mirror));
    // Two faces that touch: the edge between them has a plane and an axis.
    let two = powers(&shape, &[faces[0].clone(), faces[2].clone()]);
    assert_eq!(all(&shape, &two).len(), 4);
}

#[test]
fn families_have_their_known_symmetries() {
    for (slots, expected) in [(3, 2), (4, 2), (5, 1), (6, 1), (9, 1)] {
        let flips: Vec<_> = (2..=slots).map(|count| reversal(slots, 0, count)).collect();
        let (shape, moves) = plain(slots.into(), &flips);
        assert_eq!(all(&shape, &moves).len(), expected, "{slots} pancakes");
    }
    for slots in [5, 8, 20] {
        let shift = |by: u16| (0..slots).map(|slot| (slot + by) % slots).collect();
        let (shape, moves) =
            plain(slots.into(), &[shift(1), shift(slots - 1), reversal(slots, 0, 2)]);
        let found = all(&shape, &moves);
        assert_eq!(found.len(), 2, "LRX of {slots}");
        assert_eq!(found[1].moves(), [1, 0, 2]);
    }
    // Three neighbours of eight leave even and odd places apart: two rings of four swaps.
    for (slots, count, expected) in [(9, 3, 18), (8, 4, 16), (20, 4, 40), (8, 3, 128)] {
        let flips: Vec<_> = (0..slots).map(|first| reversal(slots, first, count)).collect();
        let (shape, moves) = plain(slots.into(), &flips);
        assert_eq!(all(&shape, &moves).len(), expected, "TopSpin {slots} {count}");
    }
}

#[test]
fn symmetries_that_exceed_a_limit_are_refused() {
    let transposition = |a: u16, b: u16| {
        let mut images: Vec<u16> = (0..8).collect();
        images.swap(a.into(), b.into());
        images
    };
    let pairs: Vec<_> = (0..8)
        .flat_map(|b| (0..b).map(move |a| (a, b)))
        .map(|(a, b)| transposition(a, b))
        .collect();
    let (shape, moves) = plain(8, &pairs);
    let pieces = Pieces::different(&shape);
    let found = Symmetry::all(&shape, &moves, &pieces, SymmetryLimits::default());
    assert_eq!(found, Err(GroupError::Symmetries { limit: 1024 }));
    let limits = SymmetryLimits { steps: 10_000, ..SymmetryLimits::default() };
    let found = Symmetry::all(&shape, &moves, &pieces, limits);
    assert_eq!(found, Err(GroupError::SymmetryWork { limit: 10_000 }));
    let twice = [moves[0].clone(), moves[0].clone()];
    let found = Symmetry::all(&shape, &twice, &pieces, SymmetryLimits::default());
    assert_eq!(found, Err(GroupError::SameMove));
    let small = Pieces::different(&Shape::plain(7).unwrap());
    let found = Symmetry::all(&shape, &moves, &small, SymmetryLimits::default());
    assert_eq!(found, Err(GroupError::OtherShape));
}

#[test]
fn steps_of_a_search_for_symmetries_are_charged_to_the_work() {
    // Swaps of disjoint pairs, which all permutations of the pairs map to one another.
    let swap = |at: u16| {
        let mut images: Vec<u16> = (0..400).collect();
        images.swap(usize::from(2 * at), usize::from(2 * at + 1));
        images
    };
    let swaps: Vec<_> = (0..200).map(swap).collect();
    let (shape, moves) = plain(400, &swaps);
    let pieces = Pieces::different(&shape);
    let find = |work: &Work| {
        let limits = SymmetryLimits { symmetries: usize::MAX, ..SymmetryLimits::default() };
        Symmetry::all_within(&shape, &moves, &pieces, limits, work)
    };
    let work = Work::new(20_000_000);
    let stopped = GroupError::Stopped(WorkError::Limit { limit: work.limit() });
    assert_eq!(find(&work), Err(stopped));
    assert!(work.spent() <= work.limit());
    work.cancel();
    assert_eq!(find(&work), Err(GroupError::Stopped(WorkError::Cancelled)));
}

#[test]
fn without_moves_the_identity_is_the_only_symmetry() {
    let (shape, _) = plain(3, &[]);
    let found = all(&shape, &[]);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].images(), [0, 1, 2]);
}

#[test]
fn pieces_that_look_alike_stay_alike() {
    // A ring of four: the reflections and rotations of the adjacent swaps.
    let swaps: Vec<_> = (0..4).map(|first| reversal(4, first, 2)).collect();
    let (shape, moves) = plain(4, &swaps);
    let count = |kinds: [u32; 4], forbidden: &[(usize, usize)]| {
        let mut pieces = Pieces::new(kinds.map(|kind| (kind, 0, 1)));
        forbidden.iter().for_each(|(slot, of)| pieces.forbid(*slot, *of));
        Symmetry::all(&shape, &moves, &pieces, SymmetryLimits::default()).unwrap().len()
    };
    assert_eq!(count([1, 2, 3, 4], &[]), 8);
    assert_eq!(count([1, 1, 1, 1], &[]), 8);
    assert_eq!(count([1, 2, 1, 2], &[]), 8);
    assert_eq!(count([1, 1, 2, 2], &[]), 4);
    assert_eq!(count([1, 1, 1, 2], &[]), 2);
    assert_eq!(count([1, 2, 3, 4], &[(0, 2)]), 2);
    assert_eq!(count([1, 2, 3, 4], &[(0, 1)]), 1);
    assert_eq!(count([1, 2, 3, 4], &[(0, 2), (2, 0), (1, 3), (3, 1)]), 8);
}

/// An arrangement by slot: the kind and the turn of a piece.
type Arrangement = Vec<(u32, u8)>;

fn after(state: &Arrangement, element: &Element, periods: &HashMap<u32, u8>) -> Arrangement {
    let parts = element.images().iter().zip(element.turns());
    let moved = parts.map(|(from, turn)| {
        let (kind, old) = state[usize::from(*from)];
        (kind, (old + turn) % periods[&kind])
    });
    moved.collect()
}

/// Whether images of moves map states to states, one to one, with the start fixed.
fn maps_states(
    start: &Arrangement,
    moves: &[Element],
    images: &[usize],
    periods: &HashMap<u32, u8>,
) -> bool {
    let (mut map, mut back) = (HashMap::new(), HashMap::new());
    map.insert(start.clone(), start.clone());
    back.insert(start.clone(), start.clone());
    let mut queue = vec![start.clone()];
    while let Some(state) = queue.pop() {
        let image = map[&state].clone();
        for (element, other) in moves.iter().zip(images) {
            let (next, next_image) =
                (after(&state, element, periods), after(&image, &moves[*other], periods));
            if *back.entry(next_image.clone()).or_insert_with(|| next.clone()) != next {
                return false;
            }
            let known = map.get(&next).cloned();
            if known.is_none() {
                map.insert(next.clone(), next_image.clone());
                queue.push(next);
            }
            if known.is_some_and(|known| known != next_image) {
                return false;
            }
        }
    }
    true
}

/// Images of the moves under all relabellings that keep the pieces, found by trying every relabelling.
fn by_trial(shape: &Shape, moves: &[Element], pieces: &[(u32, u8, u8)]) -> BTreeSet<Vec<usize>> {
    let slots = shape.slots();
    let orientations = shape.orientations();
    let mut found = BTreeSet::new();
    for images in permutations(slots) {
        if (0..slots).any(|slot| orientations[slot] != orientations[images[slot]]) {
            continue;
        }
        let choices: Vec<Vec<(u8, u8)>> = orientations
            .iter()
            .map(|n| {
                let factors = (1..=n - u8::from(*n > 1)).filter(|factor| gcd(*factor, *n) == 1);
                factors.flat_map(|factor| (0..*n).map(move |shift| (factor, shift))).collect()
            })
            .collect();
        for signs in product(&choices) {
            let image = |element: &Element| -> Option<usize> {
                let (mut places, mut turns) = (vec![0; slots], vec![0; slots]);
                for slot in 0..slots {
                    let n = u32::from(orientations[slot]);
                    let from = usize::from(element.images()[slot]);
                    let ((factor, shift), (other, before)) = (signs[slot], signs[from]);
                    if factor != other {
                        return None;
                    }
                    let turn = u32::from(factor) * u32::from(element.turns()[slot]);
                    let turn = (turn + u32::from(shift) + n - u32::from(before)) % n;
                    places[images[slot]] = images[from] as u16;
                    turns[images[slot]] = turn as u8;
                }
                let image = shape.element(&places, &turns).ok()?;
                moves.iter().position(|element| *element == image)
            };
            let Some(moved) = moves.iter().map(image).collect::<Option<Vec<usize>>>() else {
                continue;
            };
            if keeps(pieces, &images, &signs) {
                found.insert(moved);
            }
        }
    }
    found
}

fn keeps(pieces: &[(u32, u8, u8)], images: &[usize], signs: &[(u8, u8)]) -> bool {
    let (mut kinds, mut back) = (HashMap::new(), HashMap::new());
    pieces.iter().enumerate().all(|(slot, (kind, turn, period))| {
        let (other, there, other_period) = pieces[images[slot]];
        let n = u32::from(*period);
        let turned = u32::from(signs[slot].0) * u32::from(*turn) + u32::from(signs[slot].1);
        let rest = (u32::from(there) + n - turned % n) % n;
        *period == other_period
            && *kinds.entry(*kind).or_insert((other, rest)) == (other, rest)
            && *back.entry(other).or_insert(*kind) == *kind
    })
}

fn gcd(a: u8, b: u8) -> u8 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn permutations(count: usize) -> Vec<Vec<usize>> {
    let all = product(&vec![(0..count).collect(); count]);
    all.into_iter().filter(|p| p.iter().collect::<BTreeSet<_>>().len() == count).collect()
}

fn product<T: Copy>(choices: &[Vec<T>]) -> Vec<Vec<T>> {
    choices.iter().fold(vec![Vec::new()], |lists, choice| {
        let extend = |list: &Vec<T>| -> Vec<Vec<T>> {
            choice.iter().map(|item| [list.clone(), vec![*item]].concat()).collect()
        };
        lists.iter().flat_map(extend).collect()
    })
}

/// Orientations, moves by the number of a permutation and turns, and pieces by kind, turn and whether
/// their turn is open.
type Case = (Vec<u8>, Vec<(usize, Vec<u8>)>, Vec<(u32, u8, bool)>);

fn case() -> impl Strategy<Value = Case> {
    let shapes = prop_oneof![
        Just(vec![1; 5]),
        Just(vec![2; 4]),
        Just(vec![3; 3]),
        Just(vec![2, 2, 1, 1, 1]),
        Just(vec![3, 3, 2, 2]),
        Just(vec![4, 4]),
    ];
    shapes.prop_flat_map(|shape| {
        let slots = shape.len();
        let turns = prop::collection::vec(0..4_u8, slots);
        let moves = prop::collection::vec((0..120_usize, turns), 1..4);
        let pieces = prop::collection::vec((0..3_u32, 0..4_u8, any::<bool>()), slots);
        (Just(shape), moves, pieces)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_symmetries_are_those_found_by_trial((orientations, moves, pieces) in case()) {
        let shape = Shape::new(orientations.clone()).unwrap();
        let slots = shape.slots();
        let valid: Vec<Vec<usize>> = permutations(slots).into_iter().filter(|images| {
            (0..slots).all(|slot| orientations[slot] == orientations[images[slot]])
        }).collect();
        let mut elements: Vec<Element> = moves.iter().map(|(number, turns)| {
            let images: Vec<u16> =
                valid[number % valid.len()].iter().map(|image| *image as u16).collect();
            let turns: Vec<u8> =
                turns.iter().zip(&orientations).map(|(turn, n)| turn % n).collect();
            shape.element(&images, &turns).unwrap()
        }).collect();
        for element in elements.clone() {
            elements.push(element.inverse(&shape).unwrap());
        }
        elements.sort();
        elements.dedup();
        // Kinds differ between orientations, and pieces of a kind have the same period.
        let pieces: Vec<(u32, u8, u8)> = pieces.iter().zip(&orientations)
            .map(|((kind, turn, is_open), n)| {
                let kind = kind + 3 * u32::from(*n);
                let period = if *is_open && kind % 2 == 0 || kind % 3 == 2 { 1 } else { *n };
                (kind, turn % period, period)
            })
            .collect();
        let first: HashMap<u32, u8> = pieces.iter().rev().map(|p| (p.0, p.2)).collect();
        let pieces: Vec<_> =
            pieces.into_iter().map(|(k, turn, _)| (k, turn % first[&k], first[&k])).collect();
        let limits = SymmetryLimits::default();
        let found = Symmetry::all(&shape, &elements, &Pieces::new(pieces.clone()), limits).unwrap();
        prop_assert!(found[0].is_identity());
        let distinct: BTreeSet<Vec<usize>> =
            found.iter().map(|symmetry| symmetry.moves().to_vec()).collect();
        prop_assert_eq!(distinct.len(), found.len());
        // Every symmetry found maps moves to moves, and states to states.
        let start: Arrangement = pieces.iter().map(|(kind, turn, _)| (*kind, *turn)).collect();
        for symmetry in &found {
            for (element, image) in elements.iter().zip(symmetry.moves()) {
                prop_assert_eq!(symmetry.conjugate(element, &shape).unwrap(), elements[*image].clone());
            }
            prop_assert!(maps_states(&start, &elements, symmetry.moves(), &first));
        }
        // No symmetry is missing. The trial keeps kinds everywhere, although this is needed only within
        // orbits.
        let by_trial = by_trial(&shape, &elements, &pieces);
        prop_assert!(by_trial.is_subset(&distinct), "{:?} {:?}", by_trial, distinct);
        let different: Vec<_> = orientations.iter().zip(0..).map(|(n, kind)| (kind, 0, *n)).collect();
        let expected = self::by_trial(&shape, &elements, &different);
        let found: BTreeSet<Vec<usize>> =
            all(&shape, &elements).iter().map(|symmetry| symmetry.moves().to_vec()).collect();
        prop_assert_eq!(found, expected);
    }
}
