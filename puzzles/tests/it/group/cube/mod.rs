//! Face turns of the cube, for tests.

use strata_puzzles::group::{Element, Shape};

/// A move of pieces in cycles: each slot of a cycle takes the piece of the one before it, turned.
pub(crate) fn cycles(shape: &Shape, cycles: &[&[(u16, u8)]]) -> Element {
    let mut images: Vec<u16> = (0..shape.slots() as u16).collect();
    let mut turns = vec![0; shape.slots()];
    for cycle in cycles {
        for (at, (slot, turn)) in cycle.iter().enumerate() {
            let before = cycle[(at + cycle.len() - 1) % cycle.len()].0;
            images[usize::from(*slot)] = before;
            turns[usize::from(*slot)] = *turn;
        }
    }
    shape.element(&images, &turns).unwrap()
}

/// Face turns of the cube: corners 0 to 7 (UFR UBR UBL UFL, DFR DFL DBL DBR), then edges 8 to 19
/// (UF UR UB UL, DF DR DB DL, FR FL BR BL). A corner's turn is 0 if its U or D sticker is up or down.
pub(crate) fn cube_faces(shape: &Shape) -> Vec<Element> {
    let turn = |corners: [(u16, u8); 4], edges: [u16; 4], flip: u8| {
        let edges = edges.map(|edge| (8 + edge, flip));
        cycles(shape, &[&corners, &edges])
    };
    vec![
        turn([(0, 0), (3, 0), (2, 0), (1, 0)], [0, 3, 2, 1], 0),
        turn([(4, 0), (7, 0), (6, 0), (5, 0)], [4, 5, 6, 7], 0),
        turn([(0, 2), (1, 1), (7, 2), (4, 1)], [1, 10, 5, 8], 0),
        turn([(2, 2), (3, 1), (5, 2), (6, 1)], [3, 9, 7, 11], 0),
        turn([(3, 2), (0, 1), (4, 2), (5, 1)], [0, 8, 4, 9], 1),
        turn([(1, 2), (2, 1), (6, 2), (7, 1)], [2, 11, 6, 10], 1),
    ]
}

pub(crate) fn cube_shape() -> Shape {
    Shape::new([vec![3; 8], vec![2; 12]].concat()).unwrap()
}
