//! Tests of folded blocks against all states: depths, counts and paths of small puzzles.

use strata_puzzles::group::{
    Effort, Element, FoldedNumbering, GroupError, GroupOptions, GroupSpace, Pieces, Shape,
    StabiliserChain, Symmetry, SymmetryLimits,
};
use strata_space::Work;
use strata_space::dense::{DenseSpace, DenseState, DenseTables};

/// Not reached.
const OPEN: u8 = u8::MAX;

struct Puzzle {
    shape: Shape,
    moves: Vec<Element>,
}

/// The generators, with all their powers or alone.
fn puzzle(shape: Shape, generators: &[Element], powers: bool) -> Puzzle {
    let mut moves = Vec::new();
    for generator in generators {
        let mut power = generator.clone();
        while !power.is_identity() {
            moves.push(power.clone());
            power = if powers { power.times(generator, &shape).unwrap() } else { shape.identity() };
        }
    }
    Puzzle { shape, moves }
}

impl Puzzle {
    fn chain(&self) -> StabiliserChain {
        StabiliserChain::new(&self.shape, &self.moves, Effort::default()).unwrap()
    }

    fn symmetries(&self) -> Vec<Symmetry> {
        let (pieces, limits) = (Pieces::different(&self.shape), SymmetryLimits::default());
        Symmetry::all(&self.shape, &self.moves, &pieces, limits).unwrap()
    }

    fn folded(&self) -> FoldedNumbering {
        let (chain, symmetries) = (self.chain(), self.symmetries());
        let best = FoldedNumbering::best(&chain, &self.moves, &symmetries, &Work::unlimited());
        best.unwrap().unwrap()
    }

    fn plain(&self) -> GroupSpace {
        GroupSpace::new(&self.chain(), &self.moves, &GroupOptions::default()).unwrap()
    }
}

/// Turns of the eight corners of a cube by its six faces, without or with their twists.
fn corners(orientations: u8) -> Puzzle {
    let shape = Shape::new(vec![orientations; 8]).unwrap();
    // U D F B R L of puzzles/data/2x2x2.tws.
    let faces: [([u16; 8], [u8; 8]); 6] = [
        ([1, 2, 3, 0, 4, 5, 6, 7], [0; 8]),
        ([0, 1, 2, 3, 5, 6, 7, 4], [0; 8]),
        ([3, 1, 2, 5, 0, 4, 6, 7], [1, 0, 0, 2, 2, 1, 0, 0]),
        ([0, 7, 1, 3, 4, 5, 2, 6], [0, 2, 1, 0, 0, 0, 2, 1]),
        ([4, 0, 2, 3, 7, 5, 6, 1], [2, 1, 0, 0, 1, 0, 0, 2]),
        ([0, 1, 6, 2, 4, 3, 5, 7], [0, 0, 2, 1, 0, 2, 1, 0]),
    ];
    let turns = |turns: [u8; 8]| turns.map(|turn| turn % orientations);
    let faces = faces.map(|(images, given)| shape.element(&images, &turns(given)).unwrap());
    puzzle(shape, &faces, true)
}

/// Turns of the corners of a skewb, without its centres; in one sense only unless `powers` is set.
fn skewb(powers: bool) -> Puzzle {
    let shape = Shape::new(vec![3; 8]).unwrap();
    let rows: [([u16; 8], [u8; 8]); 8] = [
        ([0, 1, 2, 3, 5, 6, 4, 7], [1, 0, 0, 0, 2, 2, 2, 0]),
        ([3, 0, 2, 1, 4, 5, 6, 7], [2, 2, 0, 2, 1, 0, 0, 0]),
        ([0, 1, 2, 3, 7, 4, 6, 5], [0, 1, 0, 0, 2, 2, 0, 2]),
        ([1, 2, 0, 3, 4, 5, 6, 7], [2, 2, 2, 0, 0, 1, 0, 0]),
        ([2, 1, 3, 0, 4, 5, 6, 7], [2, 0, 2, 2, 0, 0, 1, 0]),
        ([0, 1, 2, 3, 4, 7, 5, 6], [0, 0, 1, 0, 0, 2, 2, 2]),
        ([0, 3, 1, 2, 4, 5, 6, 7], [0, 2, 2, 2, 0, 0, 0, 1]),
        ([0, 1, 2, 3, 6, 5, 7, 4], [0, 0, 0, 1, 2, 0, 2, 2]),
    ];
    let turns = rows.map(|(images, twists)| shape.element(&images, &twists).unwrap());
    puzzle(shape, &turns, powers)
}

/// Swaps of neighbours on several rings, which a rotation maps to one another.
fn rings(rings: u16, slots: u16) -> Puzzle {
    let shape = Shape::plain((rings * slots).into()).unwrap();
    let swap = |ring: u16, slot: u16| {
        let mut images: Vec<u16> = (0..rings * slots).collect();
        let at = |slot: u16| usize::from(ring * slots + slot % slots);
        images.swap(at(slot), at(slot + 1));
        shape.permutation(&images).unwrap()
    };
    let swaps = (0..rings).flat_map(|ring| (0..slots).map(move |slot| (ring, slot)));
    let swaps: Vec<Element> = swaps.map(|(ring, slot)| swap(ring, slot)).collect();
    puzzle(shape, &swaps, true)
}

/// Depths of all states by their numbers, from the start, by pulling alone.
fn depths(tables: &DenseTables) -> Vec<u8> {
    let shape = tables.shape();
    let mut depths = vec![OPEN; shape.states() as usize];
    depths[shape.number(tables.start()) as usize] = 0;
    for depth in 1.. {
        let is_next = |number: &u64| {
            let state = shape.state(*number).unwrap();
            depths[*number as usize] == OPEN
                && tables
                    .predecessors(state)
                    .any(|(_, before)| depths[shape.number(before) as usize] == depth - 1)
        };
        let next: Vec<u64> = (0..shape.states()).filter(is_next).collect();
        if next.is_empty() {
            return depths;
        }
        next.into_iter().for_each(|number| depths[number as usize] = depth);
    }
    unreachable!()
}

/// Positions by depth.
fn counts(tables: &DenseTables, depths: &[u8]) -> Vec<u64> {
    let last = depths.iter().max().copied().unwrap();
    let mut counts = vec![0; usize::from(last) + 1];
    for (number, depth) in (0..).zip(depths) {
        let state = tables.shape().state(number).unwrap();
        counts[usize::from(*depth)] += tables.multiplicity(state.block);
    }
    counts
}

/// Compares each state's depth with the plain numbering's. Returns the symmetries that are used and the
/// positions by depth.
#[track_caller]
fn check(puzzle: &Puzzle) -> (usize, Vec<u64>) {
    let (plain, folded) = (puzzle.plain(), puzzle.folded());
    let tables = folded.tables(&puzzle.moves, &GroupOptions::default()).unwrap();
    assert!(tables.is_folded() && !plain.tables().is_folded());
    let shape = folded.shape();
    assert_eq!(tables.shape(), shape);
    assert!(shape.states() < plain.tables().shape().states());
    let size = folded.size(puzzle.moves.len(), tables.is_undirected());
    assert!(tables.bytes() as u64 <= size.table_bytes, "{} {size:?}", tables.bytes());
    assert!(tables.maps().len() as u32 <= size.maps);
    let (expected, found) = (depths(plain.tables()), depths(&tables));
    for (number, depth) in (0..).zip(&expected) {
        let element = plain.element(plain.tables().shape().state(number).unwrap()).unwrap();
        let state = folded.state(&element).unwrap();
        assert_eq!(found[shape.number(state) as usize], *depth, "{number}");
    }
    for number in 0..shape.states() {
        let state = shape.state(number).unwrap();
        assert_eq!(folded.state(&folded.element(state).unwrap()), Some(state));
    }
    let counted = counts(&tables, &found);
    assert_eq!(counted, counts(plain.tables(), &expected));
    check_paths(puzzle, (&folded, &tables), &found);
    check_orbits(puzzle, (&plain, &expected), (&folded, &found));
    (folded.symmetries(), counted)
}

/// Orbits by depth, from the positions that symmetries fix.
fn orbits(tables: &DenseTables, depths: &[u8]) -> Vec<u64> {
    let shape = tables.shape();
    let (rows, lanes) = (shape.rows as usize, shape.lanes as usize);
    let mut sums = counts(tables, depths);
    for (depth, sum) in (0..).zip(&mut sums) {
        for (block, depths) in (0..).zip(depths.chunks(rows * lanes)) {
            let word = |row: &[u8]| -> u64 {
                let lanes = row.iter().enumerate().filter(|(_, found)| **found == depth);
                lanes.map(|(lane, _)| 1_u64 << lane).sum()
            };
            *sum += tables.count_fixed(block, &depths.chunks(lanes).map(word).collect::<Vec<_>>());
        }
    }
    let symmetries = u64::from(tables.symmetries().unwrap().get());
    assert!(sums.iter().all(|sum| sum.is_multiple_of(symmetries)), "{sums:?}");
    sums.into_iter().map(|sum| sum / symmetries).collect()
}

/// Compares the orbits of all symmetries in each layer, folded and not, with the least images of all
/// members.
fn check_orbits(
    puzzle: &Puzzle,
    (plain, plain_depths): (&GroupSpace, &[u8]),
    (folded, folded_depths): (&FoldedNumbering, &[u8]),
) {
    let symmetries = puzzle.symmetries();
    let shape = plain.tables().shape();
    let mut expected = vec![0; 1 + usize::from(*plain_depths.iter().max().unwrap())];
    for (number, depth) in (0..).zip(plain_depths) {
        let element = plain.element(shape.state(number).unwrap()).unwrap();
        let mut images = symmetries.iter().map(|s| s.conjugate(&element, &puzzle.shape).unwrap());
        expected[usize::from(*depth)] += u64::from(images.all(|image| image >= element));
    }
    let options = GroupOptions { symmetries, ..GroupOptions::default() };
    let all = GroupSpace::new(&puzzle.chain(), &puzzle.moves, &options).unwrap();
    assert_eq!(orbits(all.tables(), plain_depths), expected);
    assert_eq!(all.tables().fingerprint(), plain.tables().fingerprint());
    let tables = folded.tables(&puzzle.moves, &options).unwrap();
    assert_eq!(orbits(&tables, folded_depths), expected);
    assert_eq!(plain.tables().symmetries(), None);
}

/// Checks that paths to images of some states begin at the start and have one move per step.
fn check_paths(puzzle: &Puzzle, (folded, tables): (&FoldedNumbering, &DenseTables), depths: &[u8]) {
    let (shape, symmetries) = (tables.shape(), puzzle.symmetries());
    for number in (0..shape.states()).step_by(1 + shape.states() as usize / 50) {
        let mut path = vec![shape.state(number).unwrap()];
        let depth_of = |state: DenseState| depths[shape.number(state) as usize];
        let depth = depth_of(path[0]);
        for depth in (0..depth).rev() {
            let mut before = tables.predecessors(path[path.len() - 1]).map(|(_, state)| state);
            path.push(before.find(|state| depth_of(*state) == depth).unwrap());
        }
        path.reverse();
        let stored = folded.element(path[path.len() - 1]).unwrap();
        let symmetry = &symmetries[number as usize % symmetries.len()];
        let image = symmetry.conjugate(&stored, &puzzle.shape).unwrap();
        // The image may be one under a symmetry that is not used.
        let end = if folded.state(&image) == folded.state(&stored) { image } else { stored };
        let members = folded.unfold(&puzzle.moves, &path, &end).unwrap();
        assert_eq!(members.len(), usize::from(depth) + 1);
        assert!(members[0].is_identity() && members[usize::from(depth)] == end);
        for pair in members.windows(2) {
            let next = |mv: &Element| pair[0].times(mv, &puzzle.shape).unwrap() == pair[1];
            assert!(puzzle.moves.iter().any(next));
        }
        // Another end, or a path of another state.
        if depth > 0 {
            assert_eq!(folded.unfold(&puzzle.moves, &path, &puzzle.shape.identity()), None);
            assert_eq!(folded.unfold(&puzzle.moves, &path[1..], &end), None);
        }
    }
}

#[test]
fn corners_of_a_cube_have_the_depths_of_all_states() {
    let puzzle = corners(1);
    assert_eq!(puzzle.symmetries().len(), 48);
    let (symmetries, counts) = check(&puzzle);
    assert!(symmetries > 6, "{symmetries}");
    assert_eq!(counts.iter().sum::<u64>(), 40_320);
}

#[test]
fn twisted_corners_have_the_depths_of_all_states() {
    let puzzle = skewb(true);
    assert_eq!(puzzle.symmetries().len(), 48);
    let (symmetries, counts) = check(&puzzle);
    assert!(symmetries >= 12, "{symmetries}");
    assert_eq!(counts.iter().sum::<u64>(), 104_976);
}

#[test]
fn moves_without_inverses_have_the_depths_of_all_states() {
    let puzzle = skewb(false);
    assert_eq!(puzzle.symmetries().len(), 24);
    let (symmetries, _) = check(&puzzle);
    assert!(symmetries > 1, "{symmetries}");
}

#[test]
fn rings_have_the_depths_of_all_states() {
    for (count, slots) in [(1, 8), (2, 4), (2, 5)] {
        let (symmetries, counts) = check(&rings(count, slots));
        assert!(symmetries > 1, "{symmetries}");
        let factorial: u64 = (1..=u64::from(slots)).product();
        assert_eq!(counts.iter().sum::<u64>(), factorial.pow(count.into()));
    }
}

#[test]
fn a_cube_of_88_million_states_is_stored_as_few_words() {
    let puzzle = corners(3);
    let folded = puzzle.folded();
    let shape = folded.shape();
    let plain = puzzle.plain().tables().shape();
    assert!(shape.words() * 8 < plain.words(), "{shape:?}");
    // The result is the same every time.
    assert_eq!(puzzle.folded().shape(), shape);
}

#[test]
fn missing_symmetries_another_start_and_a_memory_limit_are_refused() {
    let shape = Shape::plain(5).unwrap();
    let flips = [[1, 0, 2, 3, 4], [2, 1, 0, 3, 4], [3, 2, 1, 0, 4], [4, 3, 2, 1, 0]];
    let flips = flips.map(|images| shape.permutation(&images).unwrap());
    let pancakes = puzzle(shape, &flips, true);
    let (chain, symmetries) = (pancakes.chain(), pancakes.symmetries());
    let none = FoldedNumbering::best(&chain, &pancakes.moves, &symmetries, &Work::unlimited());
    assert!(none.unwrap().is_none());
    let puzzle = corners(1);
    let options = GroupOptions { start: Some(puzzle.moves[0].clone()), ..GroupOptions::default() };
    let error = puzzle.folded().tables(&puzzle.moves, &options).unwrap_err();
    assert!(matches!(error, GroupError::NotMember { .. }), "{error}");
    let options = GroupOptions { table_bytes: 1000, ..GroupOptions::default() };
    let error = puzzle.folded().tables(&puzzle.moves, &options).unwrap_err();
    assert!(matches!(error, GroupError::TableMemory { .. }), "{error}");
}
