//! Tests of the orders and constraints of known groups.

use crate::group::cube;

use cube::{cube_faces, cube_shape, cycles};
use strata_puzzles::group::{
    BigUint, Effort, Element, GroupError, Invariants, Shape, StabiliserChain, Term,
};
use strata_space::{Work, WorkError};

fn chain(shape: &Shape, generators: &[Element]) -> StabiliserChain {
    StabiliserChain::new(shape, generators, Effort::default()).unwrap()
}

fn order(shape: &Shape, generators: &[Element]) -> String {
    let chain = chain(shape, generators);
    assert!(chain.is_verified());
    let permitted = Invariants::of(shape, generators).permitted();
    assert_eq!(permitted % chain.order(), BigUint::from(0_u32));
    chain.order().to_string()
}

#[test]
fn the_cube_has_its_order_and_constraints() {
    let shape = cube_shape();
    let faces = cube_faces(&shape);
    assert_eq!(order(&shape, &faces), "43252003274489856000");
    let invariants = Invariants::of(&shape, &faces);
    let steps: Vec<(usize, u8)> =
        invariants.orbits.iter().map(|orbit| (orbit.slots.len(), orbit.turn_step)).collect();
    assert_eq!(steps, [(8, 3), (12, 2)]);
    assert_eq!(invariants.parities, [vec![Term::Permutation(0), Term::Permutation(1)]]);
    assert_eq!(invariants.permitted().to_string(), "43252003274489856000");
}

#[test]
fn corners_alone_have_the_order_of_the_pocket_cube_with_rotations() {
    let shape = Shape::new(vec![3; 8]).unwrap();
    let corners = cube_faces(&cube_shape());
    let corners: Vec<Element> = corners
        .iter()
        .map(|face| shape.element(&face.images()[..8], &face.turns()[..8]).unwrap())
        .collect();
    assert_eq!(order(&shape, &corners), "88179840");
}

#[test]
fn two_faces_move_thirteen_pieces() {
    let shape = cube_shape();
    let faces = cube_faces(&shape);
    let two = [faces[0].clone(), faces[2].clone()];
    assert_eq!(order(&shape, &two), "73483200");
    let squares: Vec<Element> =
        [0, 2, 4].iter().map(|face| faces[*face].power(2, &shape).unwrap()).collect();
    assert_eq!(order(&shape, &squares), "2592");
}

#[test]
fn the_mathieu_group_of_24_points() {
    // Generators of Conway and Sloane, Sphere Packings, Lattices and Groups, chapter 11: the shift,
    // the map x to 5x of the projective line over 23 elements (fixing infinity), x to -1/x, and
    // delta: x to x^3/9 on squares, 9 x^3 on the others.
    let power = |base: u64, exponent: u32| (0..exponent).fold(1, |product, _| product * base % 23);
    let shape = Shape::plain(24).unwrap();
    let map = |image: &dyn Fn(u64) -> u64| {
        let mut images: Vec<u16> = (0..23).map(|x| image(x) as u16).collect();
        let missing = (0..24).find(|slot| !images.contains(slot)).unwrap();
        images.push(missing);
        shape.permutation(&images).unwrap()
    };
    let inverse = |x: u64| power(x, 21);
    let generators = [
        map(&|x| (x + 1) % 23),
        map(&|x| 5 * 5 * x % 23),
        map(&|x| if x == 0 { 23 } else { (23 - inverse(x)) % 23 }),
        map(&|x| {
            let is_square = x == 0 || power(x, 11) == 1;
            power(x, 3) * if is_square { inverse(9) } else { 9 } % 23
        }),
    ];
    assert_eq!(order(&shape, &generators), "244823040");
    assert_eq!(order(&shape, &generators[..3]), "6072");
}

#[test]
fn symmetric_alternating_and_trivial_groups() {
    let mut factorial = BigUint::from(1_u32);
    for n in 2..=12_u16 {
        factorial *= n;
        let shape = Shape::plain(n.into()).unwrap();
        let shift: Vec<u16> = (0..n).map(|slot| (slot + 1) % n).collect();
        let mut swap: Vec<u16> = (0..n).collect();
        swap.swap(0, 1);
        let both = [shape.permutation(&shift).unwrap(), shape.permutation(&swap).unwrap()];
        assert_eq!(order(&shape, &both), factorial.to_string());
        assert_eq!(order(&shape, &both[..1]), n.to_string());
        let threes: Vec<Element> =
            (2..n).map(|third| cycles(&shape, &[&[(0, 0), (1, 0), (third, 0)]])).collect();
        let even = if n == 2 { BigUint::from(1_u32) } else { &factorial / 2_u32 };
        assert_eq!(order(&shape, &threes), even.to_string());
    }
    let shape = Shape::plain(5).unwrap();
    assert_eq!(order(&shape, &[]), "1");
    assert_eq!(order(&shape, &[shape.identity()]), "1");
}

#[test]
fn turns_alone_form_a_group() {
    let shape = Shape::new(vec![6, 4]).unwrap();
    let turn = |turns: &[u8]| shape.element(&[0, 1], turns).unwrap();
    assert_eq!(order(&shape, &[turn(&[2, 0])]), "3");
    assert_eq!(order(&shape, &[turn(&[1, 1])]), "12");
    assert_eq!(order(&shape, &[turn(&[1, 1]), turn(&[0, 2])]), "12");
    let invariants = Invariants::of(&shape, &[turn(&[1, 1]), turn(&[2, 0])]);
    assert_eq!(invariants.parities, [vec![Term::Turns(0), Term::Turns(1)]]);
    assert_eq!(invariants.permitted(), BigUint::from(12_u32));
}

#[test]
fn a_chain_contains_members_and_no_other_elements() {
    let shape = cube_shape();
    let faces = cube_faces(&shape);
    let chain = chain(&shape, &faces);
    let word = [0, 2, 4, 1, 3, 5, 0, 0, 4, 2, 2, 1];
    let product = word
        .iter()
        .fold(shape.identity(), |product, face| product.times(&faces[*face], &shape).unwrap());
    assert!(chain.contains(&product));
    assert!(!chain.contains(&cycles(&shape, &[&[(0, 1)]])));
    assert!(!chain.contains(&cycles(&shape, &[&[(0, 0), (1, 0)]])));
    assert!(chain.contains(&cycles(&shape, &[&[(0, 1)], &[(5, 2)]])));
    assert!(!chain.contains(&Shape::plain(3).unwrap().identity()));
}

#[test]
fn transversals_bring_each_point_to_the_base_slot() {
    let shape = cube_shape();
    let faces = cube_faces(&shape);
    let chain = chain(&shape, &faces);
    for (at, level) in chain.levels().iter().enumerate() {
        for representative in level.representatives() {
            let (image, turn) =
                (representative.images()[level.base()], representative.turns()[level.base()]);
            assert_eq!(level.representative(image, turn), Some(representative));
            let before = &chain.levels()[..at];
            assert!(before.iter().all(|earlier| representative.fixes(earlier.base())));
            assert!(chain.contains(representative));
        }
    }
}

#[test]
fn all_steps_of_a_chain_are_charged_to_the_work() {
    let shape = cube_shape();
    let faces = cube_faces(&shape);
    let build = |work: &Work| StabiliserChain::within(&shape, &faces, Effort::default(), work);
    let whole = Work::unlimited();
    let chain = build(&whole).unwrap();
    // Each Schreier generator takes a product, also if it is the identity: one for each representative of
    // a level and strong generator, of which there are at least as many as faces.
    let representatives: usize = chain.levels().iter().map(|level| level.len()).sum();
    let least = (representatives * shape.slots()) as u64;
    assert!(whole.spent() > least, "{} of {least}", whole.spent());
    let half = Work::new(whole.spent() / 2);
    let stopped = GroupError::Stopped(WorkError::Limit { limit: half.limit() });
    assert_eq!(build(&half).unwrap_err(), stopped);
    assert!(half.spent() <= half.limit());
    half.cancel();
    assert_eq!(build(&half).unwrap_err(), GroupError::Stopped(WorkError::Cancelled));
}

#[test]
fn chains_beyond_their_limits_are_refused_or_unverified() {
    let shape = cube_shape();
    let faces = cube_faces(&shape);
    let build = |effort| StabiliserChain::new(&shape, &faces, effort);
    let plenty = Effort::default();
    assert!(build(Effort { bytes: 10_000, ..plenty }).is_err());
    assert!(build(Effort { steps: 1000, ..plenty }).is_err());
    // Enough to find the chain, not to verify it.
    let unverified = (12..32).find_map(|bits| {
        let chain = build(Effort { steps: 1 << bits, ..plenty }).ok()?;
        (!chain.is_verified()).then(|| chain.order().to_string())
    });
    assert_eq!(unverified.as_deref(), Some("43252003274489856000"));
}
