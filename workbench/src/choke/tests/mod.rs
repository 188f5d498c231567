//! Tests of choke points: complete searches, and the recursion compared with searches over
//! positions.

mod puzzle;
mod recursion;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use strata_replay::{CentreTop, Move, Position};

use super::*;

/// X(1), X(2), and so on.
const X: [u32; 13] = [3, 13, 42, 128, 343, 881, 2189, 5359, 13023, 31537, 76245, 184191, 444807];

/// Replays the moves on positions, and checks rules and goal.
fn replay(level: u8, moves: &[Move]) {
    let start = Position::start(level).unwrap();
    let moves = moves.iter().copied();
    let replay = strata_replay::replay(&start, moves, CentreTop::Forbidden, |_, _| {}).unwrap();
    assert_eq!(replay.position(), &Position::goal(level).unwrap());
}

#[test]
fn known_numbers_of_moves() {
    for (level, expected) in (1..=9).zip(X) {
        assert_eq!(Search::new(level).threads(2).least_moves(), Ok(expected));
    }
}

#[test]
fn move_lists_solve_the_puzzle() {
    for (level, expected) in (1..=8).zip(X) {
        let moves = Search::new(level).threads(2).moves().unwrap();
        assert_eq!(moves.len(), expected as usize);
        replay(level, &moves);
    }
}

#[test]
fn the_list_does_not_depend_on_threads_or_instructions() {
    let expected = Search::new(6).moves().unwrap();
    for vectors in Vectors::available() {
        let search = Search::new(6).threads(3).vectors(vectors);
        assert_eq!(search.moves().as_ref(), Ok(&expected));
    }
}

#[test]
#[ignore = "takes long"]
fn known_numbers_of_moves_to_thirteen() {
    for (level, expected) in (10..).zip(X.into_iter().skip(9)) {
        assert_eq!(Search::new(level).threads(2).least_moves(), Ok(expected));
        let moves = Search::new(level).threads(2).moves().unwrap();
        assert_eq!(moves.len(), expected as usize);
        replay(level, &moves);
    }
}

#[test]
fn levels_out_of_range_are_refused() {
    for level in [0, MAX_LEVEL + 1, u8::MAX] {
        let refused = Err(ChokeError::Level { level });
        assert_eq!(Search::new(level).least_moves(), refused);
    }
    let text = ChokeError::Level { level: 0 }.to_string();
    assert_eq!(text, "the level must be between 1 and 21, not 0");
}

#[test]
fn progress_is_reported_and_cancellation_takes_effect() {
    let seen = Mutex::new(Vec::new());
    let flag = AtomicBool::new(false);
    let report = |progress: Progress| {
        seen.lock().unwrap().push(progress);
        // The last search of level 6, after all its tables.
        flag.store(progress.level == 6, Ordering::Relaxed);
    };
    let search = Search::new(6).threads(2).on_progress(&report).cancel(&flag);
    assert_eq!(search.least_moves(), Err(ChokeError::Cancelled));
    let seen = seen.into_inner().unwrap();
    for level in 3..6 {
        let of_level: Vec<_> = seen.iter().filter(|p| p.level == level).collect();
        let classes = of_level[0].classes;
        let mut done: Vec<_> = of_level.iter().map(|p| p.done).collect();
        done.sort_unstable();
        assert!(done.into_iter().eq(0..=classes), "each table once");
    }
    assert_eq!(seen.iter().filter(|p| p.level == 6).count(), 1);
}
