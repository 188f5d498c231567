//! Tests of the group axioms, for arbitrary shapes and elements.

use proptest::prelude::*;
use strata_puzzles::group::{BigUint, Effort, Element, Invariants, Shape, StabiliserChain};

/// Slots in blocks of equal orientations.
fn shapes() -> impl Strategy<Value = Vec<(usize, u8)>> {
    prop::collection::vec((1..6_usize, 1..6_u8), 1..4)
}

fn elements(blocks: Vec<(usize, u8)>, count: usize) -> impl Strategy<Value = Vec<Element>> {
    let mut one = Just((Vec::new(), Vec::new())).boxed();
    for (slots, orientations) in blocks.clone() {
        let block = (
            Just((0..slots as u16).collect::<Vec<u16>>()).prop_shuffle(),
            prop::collection::vec(0..orientations, slots),
        );
        one = (one, block)
            .prop_map(|((mut images, mut turns), (more, more_turns))| {
                let offset = images.len() as u16;
                images.extend(more.into_iter().map(|image| offset + image));
                turns.extend(more_turns);
                (images, turns)
            })
            .boxed();
    }
    let shape = shape(&blocks);
    let one = one.prop_map(move |(images, turns)| shape.element(&images, &turns).unwrap());
    prop::collection::vec(one, count)
}

fn shape(blocks: &[(usize, u8)]) -> Shape {
    let slots = blocks.iter().flat_map(|(slots, orientations)| vec![*orientations; *slots]);
    Shape::new(slots.collect()).unwrap()
}

fn cases(count: usize) -> impl Strategy<Value = (Shape, Vec<Element>)> {
    shapes().prop_flat_map(move |blocks| (Just(shape(&blocks)), elements(blocks, count)))
}

proptest! {
    #[test]
    fn products_are_associative((shape, elements) in cases(3)) {
        let [a, b, c] = &elements[..] else { unreachable!() };
        let left = a.times(b, &shape).unwrap().times(c, &shape);
        let right = a.times(&b.times(c, &shape).unwrap(), &shape);
        prop_assert_eq!(left, right);
    }

    #[test]
    fn the_identity_is_neutral_and_inverses_cancel((shape, elements) in cases(1)) {
        let element = &elements[0];
        let (one, inverse) = (shape.identity(), element.inverse(&shape).unwrap());
        prop_assert_eq!(element.times(&one, &shape), Some(element.clone()));
        prop_assert_eq!(one.times(element, &shape), Some(element.clone()));
        prop_assert_eq!(element.times(&inverse, &shape), Some(one.clone()));
        prop_assert_eq!(inverse.times(element, &shape), Some(one));
    }

    #[test]
    fn exponents_add_modulo_the_order((shape, elements) in cases(1), a in 0..50_u64, b in 0..50_u64) {
        let element = &elements[0];
        let power = |exponent| element.power(exponent, &shape).unwrap();
        prop_assert_eq!(power(a).times(&power(b), &shape), Some(power(a + b)));
        let order: u64 = element.order(&shape).try_into().unwrap();
        prop_assert!(power(order).is_identity());
        let is_less = |divisor: &u64| order.is_multiple_of(*divisor) && power(order / divisor).is_identity();
        prop_assert_eq!((2..=order).find(is_less), None);
    }

    /// The order equals the number of elements that a plain closure finds.
    #[test]
    fn orders_equal_the_sizes_of_closures((shape, generators) in cases(2)) {
        let chain = StabiliserChain::new(&shape, &generators, Effort::default()).unwrap();
        prop_assert!(chain.is_verified());
        let mut known = std::collections::HashSet::from([shape.identity()]);
        let mut open: Vec<Element> = vec![shape.identity()];
        while let Some(element) = open.pop() {
            for generator in &generators {
                let next = element.times(generator, &shape).unwrap();
                if known.len() < 5000 && known.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
        if known.len() < 5000 {
            prop_assert_eq!(chain.order(), BigUint::from(known.len()));
        } else {
            prop_assert!(chain.order() >= BigUint::from(5000_u32));
        }
        prop_assert!(known.iter().take(100).all(|element| chain.contains(element)));
        let permitted = Invariants::of(&shape, &generators).permitted();
        prop_assert_eq!(permitted % chain.order(), BigUint::from(0_u32));
    }
}
