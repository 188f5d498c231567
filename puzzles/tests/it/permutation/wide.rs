//! Puzzles with keys of more than 128 bits, against a search of stickers that shares nothing with them.

use std::collections::HashSet;

use strata_puzzles::permutation::{RankKey, WidePermutation};
use strata_space::{Key192, KeySpace, Puzzle, SpaceError};

use crate::permutation::{open, parameters};

const CUBE: &str = include_str!("../../../data/4x4x4.tws");

/// A state of the 4x4x4 as the colour of each sticker.
type Colours = Vec<u8>;

/// A sticker of the 4x4x4: the place of its piece, with coordinates -3, -1, 1 and 3, and the axis that it
/// faces along.
type Sticker = ([i8; 3], usize);

fn stickers() -> Vec<Sticker> {
    let numbers = || [-3_i8, -1, 1, 3].into_iter();
    let places =
        numbers().flat_map(|x| numbers().flat_map(move |y| numbers().map(move |z| [x, y, z])));
    let all = places.flat_map(|place| (0..3).map(move |axis| (place, axis)));
    all.filter(|(place, axis)| place[*axis].abs() == 3).collect()
}

fn solved() -> Colours {
    let colour = |(place, axis): Sticker| 2 * axis as u8 + u8::from(place[axis] > 0);
    stickers().into_iter().map(colour).collect()
}

/// By sticker, the one that a map of stickers takes to its place.
fn sources(map: impl Fn(Sticker) -> Sticker) -> Vec<usize> {
    let all = stickers();
    let mut sources = vec![0; all.len()];
    for (from, sticker) in all.iter().enumerate() {
        let image = map(*sticker);
        sources[all.iter().position(|other| *other == image).unwrap()] = from;
    }
    sources
}

/// A quarter turn of the pieces with a coordinate.
fn quarter_turn(axis: usize, coordinate: i8) -> Vec<usize> {
    let (next, last) = ((axis + 1) % 3, (axis + 2) % 3);
    sources(|(place, faces)| {
        if place[axis] != coordinate {
            return (place, faces);
        }
        let mut turned = place;
        (turned[next], turned[last]) = (-place[last], place[next]);
        let swapped = [(axis, axis), (next, last), (last, next)];
        (turned, swapped.iter().find(|(from, _)| *from == faces).unwrap().1)
    })
}

fn after(state: &Colours, sources: &[usize]) -> Colours {
    sources.iter().map(|from| state[*from]).collect()
}

/// All turns of all twelve layers of pieces.
fn turns() -> Vec<Vec<usize>> {
    let layers = (0..3).flat_map(|axis| [-3, -1, 1, 3].map(|coordinate| (axis, coordinate)));
    let powers = layers.flat_map(|(axis, coordinate)| {
        let once = quarter_turn(axis, coordinate);
        let twice: Vec<usize> = once.iter().map(|from| once[*from]).collect();
        let thrice = twice.iter().map(|from| once[*from]).collect();
        [once, twice, thrice]
    });
    powers.collect()
}

/// The states up to a depth, by depth.
fn layers_of_stickers(depth: usize) -> Vec<Vec<Colours>> {
    let turns = turns();
    let mut known = HashSet::from([solved()]);
    let mut layers = vec![vec![solved()]];
    for _ in 0..depth {
        let last = layers.last().unwrap();
        let next = last.iter().flat_map(|state| turns.iter().map(|turn| after(state, turn)));
        let new = next.filter(|state| known.insert(state.clone())).collect();
        layers.push(new);
    }
    layers
}

/// The 96 symmetries of the moves: sources of stickers, and what colours become. 48 are those of a cube.
/// Another one changes no outer turn and exchanges each inner turn with that of the opposite face, the
/// other way round: it exchanges the two wings of an edge, and opposite pieces of a centre.
fn symmetries() -> Vec<(Vec<usize>, Vec<u8>)> {
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let all = orders.into_iter().flat_map(|order| (0..16).map(move |signs: u8| (order, signs)));
    let symmetry = |(order, signs): ([usize; 3], u8)| {
        let sources = sources(|(place, faces)| {
            let mut image = [0; 3];
            for (from, to) in order.into_iter().enumerate() {
                let is_inner = place[from].abs() == 1;
                let exchanged = is_inner && signs >> 3 == 1;
                let negative = exchanged != (signs >> to & 1 == 1);
                image[to] = if negative { -place[from] } else { place[from] };
            }
            (image, order[faces])
        });
        // Colours become such that the solved state stays.
        let (before, moved) = (solved(), after(&solved(), &sources));
        let mut colours = vec![0; 6];
        moved.iter().zip(before).for_each(|(from, to)| colours[usize::from(*from)] = to);
        (sources, colours)
    };
    all.map(symmetry).collect()
}

/// The states up to a depth, as counts of states and of positions by depth.
fn layers_of_keys<S: KeySpace>(space: &S, depth: usize) -> Vec<(usize, u64)> {
    let mut layer = vec![space.seeds()[0].key()];
    let mut known: HashSet<S::Key> = layer.iter().copied().collect();
    let mut counts = Vec::new();
    for _ in 0..=depth {
        let positions = layer.iter().map(|key| space.positions(*key).unwrap()).sum();
        counts.push((layer.len(), positions));
        let mut next = Vec::new();
        space.all_successors(&layer, &mut |key| next.push(key));
        layer = next.into_iter().filter(|key| known.insert(*key)).collect();
    }
    counts
}

/// A puzzle with wide keys, made of one whose keys were too narrow.
fn open_wide(content: &str, options: &[(&str, &str)]) -> WidePermutation {
    let puzzle = open(content, options).unwrap().with_keys::<Key192>().unwrap();
    puzzle.check_explicit().unwrap();
    let parsed = WidePermutation::open(&parameters(content, options)).unwrap();
    assert_eq!((puzzle.seeds(), puzzle.key_bits()), (parsed.seeds(), parsed.key_bits()));
    assert_eq!(puzzle.parameters(), parsed.parameters());
    puzzle
}

#[test]
fn the_cube_of_four_has_the_layers_of_its_stickers() {
    let narrow = open(CUBE, &[]).unwrap();
    let error = narrow.check_explicit().unwrap_err();
    assert_eq!(error, SpaceError::KeyTooWide { bits: 157, limit: 128 });
    let puzzle = open_wide(CUBE, &[]);
    assert_eq!(puzzle.key_bits(), 157);
    let counts = layers_of_stickers(3).iter().map(Vec::len).collect::<Vec<_>>();
    assert_eq!(counts, [1, 36, 1026, 28_812]);
    let found = layers_of_keys(&puzzle, 3);
    assert!(found.into_iter().eq(counts.into_iter().map(|count| (count, count as u64))));
}

#[test]
fn symmetric_states_of_the_cube_of_four_are_identified() {
    let (layers, symmetries) = (layers_of_stickers(2), symmetries());
    let least = |state: &Colours| {
        let image = |(sources, colours): &(Vec<usize>, Vec<u8>)| -> Colours {
            sources.iter().map(|from| colours[usize::from(state[*from])]).collect()
        };
        symmetries.iter().map(image).min().unwrap()
    };
    let orbits = layers.iter().map(|layer| {
        let orbits: HashSet<Colours> = layer.iter().map(least).collect();
        (orbits.len(), layer.len() as u64)
    });
    let puzzle = open_wide(CUBE, &[("symmetry", "on")]);
    let orbits: Vec<(usize, u64)> = orbits.collect();
    assert_eq!(layers_of_keys(&puzzle, 2), orbits);
}

/// Keys of a puzzle along a walk: states are read back, and equal keys are those of equal states.
fn check_walk<K: RankKey>(content: &str, bits: u32) {
    let open = |options: &[(&str, &str)]| {
        strata_puzzles::permutation::PermutationPuzzle::<K>::open(&parameters(content, options))
            .unwrap()
    };
    let puzzle = open(&[("metric", "quarter")]);
    assert_eq!(puzzle.key_bits(), bits);
    let (mut key, mut texts) = (puzzle.seeds()[0].key(), HashSet::new());
    let mut keys = HashSet::new();
    for step in 0..100_u64 {
        let text = puzzle.text(key);
        let start = [("start", &*text), ("metric", "quarter")];
        assert_eq!(open(&start).seeds()[0].key(), key, "{text}");
        assert_eq!(keys.insert(key), texts.insert(text));
        let mut next = Vec::new();
        puzzle.successors(key, &mut next);
        key = next[(strata_space::mix(step) % next.len() as u64) as usize];
    }
    assert!(keys.len() > 60);
}

/// A cycle of all slots and another order of them, for each set.
fn cycles(sets: &[(usize, usize)]) -> String {
    let mut text = String::new();
    let row = |numbers: &mut dyn Iterator<Item = usize>| {
        numbers.map(|number| number.to_string()).collect::<Vec<_>>().join(" ")
    };
    for (number, (size, _)) in sets.iter().enumerate() {
        text += &format!("Set S{number} {size} 1\n");
    }
    text += "Solved\n";
    for (number, (size, alike)) in sets.iter().enumerate() {
        text += &format!("S{number}\n{}\n", row(&mut (0..*size).map(|piece| piece / alike + 1)));
    }
    text += "End\n";
    for (number, (size, _)) in sets.iter().enumerate() {
        let cycle = row(&mut (1..=*size).map(|slot| slot % size + 1));
        let mut mixed: Vec<usize> = (1..=*size).collect();
        mixed.sort_by_key(|slot| strata_space::mix(*slot as u64));
        for (name, slots) in [("C", cycle), ("M", row(&mut mixed.into_iter()))] {
            text += &format!("Move {name}{number}v\nS{number}\n{slots}\nEnd\n");
        }
    }
    text
}

#[test]
fn ranks_of_more_than_128_bits_are_read_back() {
    use strata_space::Key192;
    // 40! and 46! have 160 and 192 bits; the widest orbit is not the first.
    check_walk::<Key192>(&cycles(&[(40, 1)]), 160);
    check_walk::<Key192>(&cycles(&[(46, 1)]), 192);
    check_walk::<Key192>(&cycles(&[(8, 1), (40, 1)]), 175);
    check_walk::<Key192>(&cycles(&[(40, 1), (8, 1)]), 175);
    // Pieces that look alike.
    check_walk::<Key192>(&cycles(&[(54, 3)]), 191);
    check_walk::<Key192>(&cycles(&[(30, 1), (30, 3)]), 190);
    // Short ones, too.
    check_walk::<Key192>(&cycles(&[(9, 1), (20, 2)]), 70);
    check_walk::<u128>(&cycles(&[(30, 1), (9, 1)]), 127);
}
