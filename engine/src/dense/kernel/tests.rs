//! Tests of all kernels against lane maps applied lane by lane.

use strata_space::dense::{LaneMap, NO_LANE, RowStep};

use super::loops::LayerCode;
use super::{Kernel, LaneKernel};

/// A fixed sequence of words.
fn words(count: usize) -> Vec<u64> {
    (1..=count as u64).map(strata_space::mix).collect()
}

/// A map that shuffles `lanes` lanes and drops those in `dropped`.
fn shuffle(lanes: u8, seed: u64, dropped: u64) -> LaneMap {
    let mut images: Vec<u8> = (0..lanes).collect();
    images.sort_by_key(|lane| strata_space::mix(u64::from(*lane) + (seed << 8)));
    for (lane, image) in images.iter_mut().enumerate() {
        if dropped >> lane & 1 == 1 {
            *image = NO_LANE;
        }
    }
    LaneMap::new(images)
}

fn apply(map: &LaneMap, word: u64) -> u64 {
    let images = map.pairs().filter(|(lane, _)| word >> lane & 1 == 1);
    images.fold(0, |result, (_, image)| result | 1 << image)
}

fn unapply(map: &LaneMap, word: u64) -> u64 {
    let lanes = map.pairs().filter(|(_, image)| word >> image & 1 == 1);
    lanes.fold(0, |result, (lane, _)| result | 1 << lane)
}

fn maps() -> Vec<LaneMap> {
    vec![
        shuffle(64, 1, 0),
        shuffle(64, 2, 0xf0f0_0000_0000_0001),
        shuffle(48, 3, 0),
        shuffle(5, 4, 0b10),
        shuffle(64, 5, u64::MAX),
    ]
}

#[test]
fn every_kernel_applies_maps_in_both_directions() {
    let maps = maps();
    let words = words(200);
    let rows = words.len();
    // Each row goes to another one, by the maps in turn.
    let step =
        |row: usize| RowStep { row: (row * 7 % rows) as u16, map: (row % maps.len()) as u16 };
    let steps: Vec<RowStep> = (0..rows).map(step).collect();
    let (mut pushed, mut pulled) = (vec![0; rows], vec![0; rows]);
    for (row, step) in steps.iter().enumerate() {
        let (target, map) = (usize::from(step.row), &maps[usize::from(step.map)]);
        pushed[target] |= apply(map, words[row]);
        pulled[row] |= unapply(map, words[target]);
    }
    for kernel in Kernel::available() {
        let lanes = LaneKernel::new(kernel, &maps);
        let mut target = vec![0; rows];
        let sources: Vec<(u16, u64)> = (0..).zip(words.iter().copied()).collect();
        lanes.push(&sources, &steps, &mut target);
        assert_eq!(target, pushed, "{kernel:?}");
        let mut target = vec![0; rows];
        let all: Vec<u16> = (0..rows as u16).collect();
        lanes.pull(&all, &steps, &words, &mut target);
        assert_eq!(target, pulled, "{kernel:?}");
    }
}

#[test]
fn every_kernel_settles_only_lanes_that_were_not_reached() {
    let lanes = (1 << 48) - 1;
    for kernel in Kernel::available() {
        let kernel = LaneKernel::new(kernel, &maps());
        let [mut low, mut high] = [vec![0; 3], vec![0; 3]];
        let mut candidates = vec![0b0111, 0, u64::MAX];
        let first = kernel.settle(LayerCode::new(0, lanes), [&mut low, &mut high], &mut candidates);
        assert_eq!((first.states, first.words, first.open), (51, 2, 2));
        assert_eq!((&low, &high), (&vec![0b0111, 0, lanes], &vec![0; 3]));
        let mut candidates = vec![0b1101, 0b1, 0b1];
        let next = kernel.settle(LayerCode::new(1, lanes), [&mut low, &mut high], &mut candidates);
        assert_eq!((next.states, next.words, next.open), (2, 2, 2));
        assert_eq!(candidates, [0b1000, 0b1, 0]);
        assert_eq!(high, [0b1000, 0b1, 0]);
        let mut candidates = vec![u64::MAX; 3];
        let last = kernel.settle(LayerCode::new(2, lanes), [&mut low, &mut high], &mut candidates);
        assert_eq!((last.states, last.words, last.open), (44 + 47, 2, 0));
        assert_eq!((low[1] & high[1], low[1] | high[1]), (lanes & !1, lanes));
    }
}
