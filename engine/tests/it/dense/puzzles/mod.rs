//! Small permutation puzzles for tests and benchmarks, defined by rules and by geometry.
#![allow(clippy::unwrap_used)] // clippy.toml allows it in tests, but not in their helpers
#![allow(dead_code)] // each program uses some of them

use std::collections::BTreeSet;
use std::sync::Arc;

use strata_puzzles::group::{Effort, Element, GroupOptions, GroupSpace, Shape, StabiliserChain};
use strata_puzzles::permutation::Permutation;
use strata_space::dense::DenseSpace;
use strata_space::{Puzzle, file_value};

/// Moves of pieces in slots.
#[derive(Clone)]
pub(crate) struct Moves {
    pub(crate) shape: Shape,
    pub(crate) moves: Vec<Element>,
}

/// The powers of a generator that are moves.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(crate) enum Powers {
    /// The generator alone.
    One,
    /// The generator and its inverse.
    Quarter,
    /// All powers but the identity.
    All,
}

impl Moves {
    pub(crate) fn new(shape: Shape, generators: &[Element], powers: Powers) -> Moves {
        let mut moves = Vec::new();
        for generator in generators {
            let mut all = vec![generator.clone()];
            loop {
                let next = all.last().unwrap().times(generator, &shape).unwrap();
                if next.is_identity() {
                    break;
                }
                all.push(next);
            }
            match powers {
                Powers::One => all.truncate(1),
                Powers::Quarter if all.len() > 2 => drop(all.drain(1..all.len() - 1)),
                _ => {}
            }
            moves.extend(all);
        }
        Moves { shape, moves }
    }

    pub(crate) fn space(&self) -> Arc<GroupSpace> {
        self.space_with(&GroupOptions::default())
    }

    /// The space with steps of blocks as products of factors, if these are smaller than the full table.
    pub(crate) fn factored_space(&self) -> Arc<GroupSpace> {
        self.space_with(&GroupOptions { full_bytes: 0, ..GroupOptions::default() })
    }

    fn space_with(&self, options: &GroupOptions) -> Arc<GroupSpace> {
        let chain = StabiliserChain::new(&self.shape, &self.moves, Effort::default()).unwrap();
        Arc::new(GroupSpace::new(&chain, &self.moves, options).unwrap())
    }
}

/// The dense form of a puzzle of a file in `puzzles/data`, with or without folded blocks.
pub(crate) fn from_file(name: &str, is_folded: bool) -> Arc<dyn DenseSpace> {
    open_file(name, &[("symmetry", if is_folded { "on" } else { "off" })]).dense().unwrap()
}

/// The puzzle of a file in `puzzles/data`.
pub(crate) fn open_file(name: &str, options: &[(&str, &str)]) -> Permutation {
    let path = format!("{}/../puzzles/data/{name}.tws", env!("CARGO_MANIFEST_DIR"));
    let file = file_value(&std::fs::read_to_string(path).unwrap());
    let given = [&[("file", file.as_str())], options].concat();
    let given = given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Permutation::open(&given.collect()).unwrap()
}

/// Reversals of the first slots of a row.
pub(crate) fn pancake(slots: u16) -> Moves {
    let shape = Shape::plain(slots.into()).unwrap();
    let flip = |size: u16| (0..size).rev().chain(size..slots).collect::<Vec<_>>();
    let flips: Vec<_> = (2..=slots).map(|size| shape.permutation(&flip(size)).unwrap()).collect();
    Moves::new(shape, &flips, Powers::All)
}

/// Reversals of the first slots of a row, which turn over the pieces that they move.
pub(crate) fn burnt_pancake(slots: u16) -> Moves {
    let shape = Shape::new(vec![2; slots.into()]).unwrap();
    let flip = |size: u16| {
        let images: Vec<u16> = (0..size).rev().chain(size..slots).collect();
        let turns: Vec<u8> = (0..slots).map(|slot| u8::from(slot < size)).collect();
        shape.element(&images, &turns).unwrap()
    };
    let flips: Vec<_> = (1..=slots).map(flip).collect();
    Moves::new(shape, &flips, Powers::All)
}

/// A rotation of all slots, and the exchange of the first two.
pub(crate) fn rotation_and_swap(slots: u16, powers: Powers) -> Moves {
    let shape = Shape::plain(slots.into()).unwrap();
    let rotation: Vec<u16> = (1..slots).chain([0]).collect();
    let swap: Vec<u16> = [1, 0].into_iter().chain(2..slots).collect();
    let generators = [rotation, swap].map(|images| shape.permutation(&images).unwrap());
    Moves::new(shape, &generators, powers)
}

/// A rotation of all slots, and the reversal of the first ones.
pub(crate) fn top_spin(slots: u16, size: u16) -> Moves {
    let shape = Shape::plain(slots.into()).unwrap();
    let rotation: Vec<u16> = (1..slots).chain([0]).collect();
    let flip: Vec<u16> = (0..size).rev().chain(size..slots).collect();
    let generators = [rotation, flip].map(|images| shape.permutation(&images).unwrap());
    Moves::new(shape, &generators, Powers::Quarter)
}

type Vector = [i8; 3];

/// An axis, and a predicate of the pieces that turn about it, by kind and place.
type Turn = (Vector, Box<dyn Fn(u8, Vector) -> bool>);

/// A sticker: its kind, the place of its piece, and the direction that it faces. The kind distinguishes
/// pieces at one place.
type Sticker = (u8, Vector, Vector);

const AXES: [Vector; 6] = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]];
const CORNERS: [Vector; 8] = [
    [1, 1, 1],
    [1, 1, -1],
    [1, -1, 1],
    [1, -1, -1],
    [-1, 1, 1],
    [-1, 1, -1],
    [-1, -1, 1],
    [-1, -1, -1],
];
/// Every other corner of a cube.
const TETRAHEDRON: [Vector; 4] = [[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]];

fn dot(a: Vector, b: Vector) -> i8 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Turns a vector by 90 degrees about an axis, or by 120 degrees about a corner.
fn turn(axis: Vector, v: Vector) -> Vector {
    if dot(axis, axis) == 1 {
        let along = dot(axis, v);
        let cross = [0, 1, 2].map(|i: usize| {
            axis[(i + 1) % 3] * v[(i + 2) % 3] - axis[(i + 2) % 3] * v[(i + 1) % 3]
        });
        return [0, 1, 2].map(|i: usize| axis[i] * along + cross[i]);
    }
    [0, 1, 2].map(|i: usize| axis[i] * axis[(i + 2) % 3] * v[(i + 2) % 3])
}

/// A puzzle whose generators turn the chosen stickers about an axis.
fn geometric(stickers: &BTreeSet<Sticker>, turns: &[Turn], powers: Powers) -> Moves {
    let slots: Vec<Sticker> = stickers.iter().copied().collect();
    let shape = Shape::plain(slots.len()).unwrap();
    let slot = |sticker: Sticker| slots.binary_search(&sticker).unwrap();
    let generators: Vec<Element> = turns
        .iter()
        .map(|(axis, is_turned)| {
            let mut images: Vec<u16> = (0..slots.len() as u16).collect();
            for (from, (kind, place, face)) in slots.iter().enumerate() {
                if is_turned(*kind, *place) {
                    images[slot((*kind, turn(*axis, *place), turn(*axis, *face)))] = from as u16;
                }
            }
            shape.permutation(&images).unwrap()
        })
        .collect();
    Moves::new(shape, &generators, powers)
}

fn cube_corners() -> BTreeSet<Sticker> {
    let corners = CORNERS.into_iter();
    corners
        .flat_map(|corner| {
            let faces = AXES.into_iter().filter(move |face| dot(*face, corner) > 0);
            faces.map(move |face| (0, corner, face))
        })
        .collect()
}

/// The 2x2x2 cube with turns of these faces: 3 of them fix a corner.
pub(crate) fn cube2(faces: usize, powers: Powers) -> Moves {
    let chosen = [0, 2, 4, 1, 3, 5].map(|axis: usize| AXES[axis]);
    let turns: Vec<Turn> = chosen[..faces].iter().map(|axis| half(*axis)).collect();
    geometric(&cube_corners(), &turns, powers)
}

/// A cube cut through its middle across each diagonal.
pub(crate) fn skewb() -> Moves {
    let mut stickers = cube_corners();
    stickers.extend(AXES.map(|axis| (1, axis, axis)));
    half_turns(&stickers)
}

/// An octahedron cut through its middle parallel to each pair of faces.
pub(crate) fn skewb_diamond() -> Moves {
    let vertices = AXES.into_iter().flat_map(|vertex| {
        let faces = CORNERS.into_iter().filter(move |face| dot(*face, vertex) > 0);
        faces.map(move |face| (0, vertex, face))
    });
    half_turns(&vertices.chain(CORNERS.map(|face| (1, face, face))).collect())
}

/// A turn of the half of the pieces that is nearer to this end of the axis.
fn half(axis: Vector) -> Turn {
    (axis, Box::new(move |_, place| dot(place, axis) > 0))
}

/// Turns of the half of the pieces at each corner of a cube.
fn half_turns(stickers: &BTreeSet<Sticker>) -> Moves {
    geometric(stickers, &CORNERS.map(half), Powers::All)
}

/// Twelve edges of a cube. A move cycles the three edges at a corner.
pub(crate) fn dino() -> Moves {
    let edges = CORNERS.into_iter().flat_map(|corner| {
        (0..3).map(move |axis| {
            let mut edge = corner;
            edge[axis] = 0;
            (0, edge, edge)
        })
    });
    let near = |axis: Vector| -> Turn { (axis, Box::new(move |_, place| dot(place, axis) == 2)) };
    geometric(&edges.collect(), &CORNERS.map(near), Powers::All)
}

/// A tetrahedron with tips (kind 0), pieces below them (1) and edges (2): turns of each tip, and of
/// the layer of each face.
pub(crate) fn pyraminx() -> Moves {
    let mut stickers = BTreeSet::new();
    for vertex in TETRAHEDRON {
        for face in TETRAHEDRON {
            if face != vertex {
                stickers.extend([(0, vertex, face), (1, vertex, face)]);
            }
        }
    }
    for edge in AXES {
        let faces = TETRAHEDRON.into_iter().filter(|face| dot(*face, edge) < 0);
        stickers.extend(faces.map(|face| (2, edge, face)));
    }
    let tip =
        |axis: Vector| -> Turn { (axis, Box::new(move |kind, place| kind == 0 && place == axis)) };
    let layer = |axis: Vector| -> Turn { (axis, Box::new(move |_, place| dot(place, axis) < 0)) };
    let turns: Vec<Turn> =
        TETRAHEDRON.into_iter().map(tip).chain(TETRAHEDRON.into_iter().map(layer)).collect();
    geometric(&stickers, &turns, Powers::All)
}
