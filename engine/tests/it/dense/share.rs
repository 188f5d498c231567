//! Tests of several searches, each with a share of the blocks in memory, against one search of all.

use crate::dense::{all_layers, puzzles};

use std::convert::Infallible;
use std::ops::Range;
use std::sync::Arc;

use puzzles::{Moves, Powers};
use strata_engine::dense::{Direction, Options, Search, SearchError, ShareSearch, sources};
use strata_puzzles::{DenseHanoi, Hanoi};
use strata_space::dense::DenseSpace;
use strata_space::{LayerStats, Puzzle};

/// The blocks of each of `workers` workers: ranges of about `step` blocks, dealt in turn.
fn shares(blocks: u32, workers: usize, step: u32) -> Vec<Vec<Range<u32>>> {
    let mut shares = vec![Vec::new(); workers];
    for (index, first) in (0..blocks).step_by(step as usize).enumerate() {
        shares[index % workers].push(first..blocks.min(first + step));
    }
    shares
}

fn is_own(own: &[Range<u32>], block: u32) -> bool {
    own.iter().any(|range| range.contains(&block))
}

/// The blocks of others that lead to a share, one range for each.
fn foreign(space: &dyn DenseSpace, own: &[Range<u32>], unit: u32) -> Vec<Range<u32>> {
    let leading = sources(space, own, unit).into_iter().flatten();
    leading.filter(|block| !is_own(own, *block)).map(|block| block..block + 1).collect()
}

struct Team {
    rows: usize,
    own: Vec<Vec<Range<u32>>>,
    searches: Vec<ShareSearch>,
}

impl Team {
    fn new(space: &Arc<dyn DenseSpace>, options: &Options, own: Vec<Vec<Range<u32>>>) -> Team {
        let rows = space.tables().shape().rows as usize;
        let search = |own: &Vec<Range<u32>>| {
            let sources = foreign(&**space, own, 1);
            ShareSearch::new(space, options, own.clone(), sources).unwrap()
        };
        Team { rows, searches: own.iter().map(search).collect(), own }
    }

    /// The words of a block of the current layer, from the search that has it.
    fn words(&self, block: u32) -> &[u64] {
        let has = |(own, _): &(&Vec<Range<u32>>, _)| is_own(own, block);
        let (_, search) = self.own.iter().zip(&self.searches).find(has).unwrap();
        search.current(&(block..block + 1))
    }

    fn layer(&self, blocks: u32) -> Vec<u64> {
        (0..blocks).flat_map(|block| self.words(block)).copied().collect()
    }

    fn advance(&mut self, blocks: u32) -> LayerStats {
        let (layer, rows) = (self.layer(blocks), self.rows);
        let mut sum = LayerStats::default();
        for search in &mut self.searches {
            let stats = search.advance(|blocks, words, counts| {
                let at = blocks.start as usize * rows;
                let layer = layer[at..at + words.len()].chunks_exact(rows);
                for ((from, to), count) in layer.zip(words.chunks_exact_mut(rows)).zip(counts) {
                    // The words of a block without states are left as they are.
                    *count = from.iter().map(|word| u32::from(*word != 0)).sum();
                    if *count > 0 {
                        to.copy_from_slice(from);
                    }
                }
                Ok::<(), Infallible>(())
            });
            let Ok(stats) = stats;
            sum.add(&stats);
        }
        sum
    }
}

fn check(space: &Arc<dyn DenseSpace>) {
    let expected = all_layers(&mut Search::new(Arc::clone(space), &Options::default()).unwrap());
    let blocks = space.tables().shape().blocks;
    let directions = match space.tables().is_folded() {
        true => vec![None],
        false => vec![None, Some(Direction::Push), Some(Direction::Pull)],
    };
    for (workers, step) in [(1, blocks), (2, blocks.div_ceil(2)), (3, 1.max(blocks / 7)), (6, 1)] {
        for (index, direction) in directions.iter().enumerate() {
            let options =
                Options { threads: 1 + index, direction: *direction, ..Options::default() };
            let mut team = Team::new(space, &options, shares(blocks, workers, step));
            let mut sum = LayerStats::default();
            team.searches.iter_mut().for_each(|search| sum.add(&search.begin()));
            for (depth, layer) in expected.iter().enumerate() {
                assert_eq!(sum, *layer, "layer {depth} of {workers} workers, {options:?}");
                sum = team.advance(blocks);
            }
            assert_eq!(sum, LayerStats::default());
        }
    }
}

/// Goes on from a middle layer with those that the search needs.
fn check_resumed(space: &Arc<dyn DenseSpace>) {
    let expected = all_layers(&mut Search::new(Arc::clone(space), &Options::default()).unwrap());
    let blocks = space.tables().shape().blocks;
    let new = || Team::new(space, &Options::default(), shares(blocks, 3, 1.max(blocks / 7)));
    let mut team = new();
    team.searches.iter_mut().for_each(|search| {
        search.begin();
    });
    let mut layers = vec![team.layer(blocks)];
    let last = expected.len() / 2;
    for _ in 0..last {
        team.advance(blocks);
        layers.push(team.layer(blocks));
    }
    let from = if space.tables().is_undirected() { last - 1 } else { 0 };
    let mut team = new();
    let rows = team.rows;
    for (own, search) in team.own.iter().zip(&mut team.searches) {
        search.resume(last as u32);
        for (depth, layer) in layers.iter().enumerate().skip(from) {
            for blocks in own {
                let words = &layer[blocks.start as usize * rows..blocks.end as usize * rows];
                search.add(depth as u32, blocks.start, words).unwrap();
            }
        }
    }
    for layer in &expected[last + 1..] {
        assert_eq!(team.advance(blocks), *layer);
    }
}

#[test]
fn layers_of_shares_add_up_to_those_of_one_search() {
    let hanoi: Arc<dyn DenseSpace> =
        Arc::new(DenseHanoi::new(Hanoi::new(9, 4, false).unwrap()).unwrap());
    let folded = [("symmetry", "on")];
    let folded = puzzles::open_file("skewb-diamond", &folded).dense().unwrap();
    assert!(folded.tables().is_folded());
    for space in [puzzles::pancake(9).space() as Arc<dyn DenseSpace>, hanoi, folded] {
        check(&space);
        check_resumed(&space);
    }
    check(&(puzzles::pancake(9).factored_space() as Arc<dyn DenseSpace>));
}

#[test]
fn layers_of_shares_with_directed_moves_add_up_to_those_of_one_search() {
    let flips = puzzles::pancake(9);
    let rotation: Vec<u16> = (1..9).chain([0]).collect();
    let rotation = flips.shape.permutation(&rotation).unwrap();
    let moves = Moves::new(flips.shape.clone(), &[rotation, flips.moves[0].clone()], Powers::One);
    let space = moves.space() as Arc<dyn DenseSpace>;
    assert!(!space.tables().is_undirected());
    check(&space);
    check_resumed(&space);
}

#[test]
fn a_share_needs_at_most_as_many_blocks_as_it_has_moves() {
    let space: Arc<dyn DenseSpace> = puzzles::pancake(10).space();
    let blocks = space.tables().shape().blocks;
    let (own, moves) = (vec![3..4, 100..102], space.tables().moves().moves);
    let needed = foreign(&*space, &own, 1).len();
    assert!((1..=3 * moves).contains(&needed), "{needed} of {blocks} blocks");
    // Coarser ranges cover the exact ones.
    let coarse: Vec<u32> = sources(&*space, &own, 8).into_iter().flatten().collect();
    let exact = sources(&*space, &own, 1).into_iter().flatten();
    assert!(exact.clone().all(|block| coarse.contains(&block)) && exact.count() < coarse.len());
}

#[test]
fn states_that_cannot_be_in_a_share_are_refused() {
    let space: Arc<dyn DenseSpace> = puzzles::pancake(9).space();
    let own = Vec::from([0..1, 1..2]);
    let options = Options::default();
    let mut search = ShareSearch::new(&space, &options, own.clone(), Vec::new()).unwrap();
    let mut words = vec![0; space.tables().shape().rows as usize];
    words[1] = 1;
    search.resume(3);
    search.add(2, 1, &words).unwrap();
    assert_eq!(search.add(3, 1, &words), Err(SearchError::Repeated { depth: 3 }));
    assert_eq!(search.add(3, 2, &words), Err(SearchError::NotOwn { block: 2 }));
    let needed = ShareSearch::needed_bytes(&*space, &options, (&own, &[])).unwrap();
    let options = Options { memory: needed - 1, ..options };
    let refused = ShareSearch::new(&space, &options, own, Vec::new());
    assert!(matches!(refused, Err(SearchError::Budget { .. })), "{refused:?}");
}
