//! Shortest clockwise solutions, compared with a plain search, and the longest of them.

use std::collections::{HashMap, HashSet, VecDeque};

use strata_replay::tiles::{
    Board, Choices, Clockwise, Level, Move, Shape, Turn, Word, check, choice_squares, follow,
};

fn shape(text: &str) -> Shape {
    text.parse().unwrap()
}

/// All boards from which the goal can be reached, found by a plain search.
fn reachable(shape: Shape) -> HashSet<Board> {
    let mut seen = HashSet::from([Board::goal(shape)]);
    let mut waiting = vec![Board::goal(shape)];
    while let Some(board) = waiting.pop() {
        for mv in Move::ALL {
            let mut next = board.clone();
            if next.step(mv) && seen.insert(next.clone()) {
                waiting.push(next);
            }
        }
    }
    seen
}

fn levels(text: &str, choices: Choices) -> Vec<Level> {
    let goal = Board::goal(shape(text));
    let mut search = Clockwise::new(&goal, choices, false, u64::MAX).unwrap();
    std::iter::from_fn(|| search.advance()).collect()
}

/// The greatest distance, the number of boards at it, and the number of all boards.
fn longest(text: &str, choices: Choices) -> (u32, u64, u64) {
    let levels = levels(text, choices);
    let last = levels.iter().rev().find(|level| level.boards > 0).unwrap();
    (last.depth, last.boards, levels.iter().map(|level| level.boards).sum())
}

/// A table cell as `docs/tiles.md` has it.
fn cell((depth, boards, all): (u32, u64, u64), solvable: u64) -> String {
    let some = if all == solvable { String::new() } else { format!(", {all} boards") };
    format!("{depth} ({boards}){some}")
}

#[test]
fn the_longest_shortest_solutions_are_those_of_the_page() {
    let page = include_str!("../../../../docs/tiles.md");
    for (text, solvable, any, [clockwise, limited, bottom]) in [
        ("2x2", 12, 6, ["10 (1)", "10 (1)", "10 (1)"]),
        ("2x3", 360, 21, ["31 (1)", "44 (1)", "44 (1)"]),
        // With two columns the bottom row has no square between its corners.
        ("3x2", 360, 21, ["30 (1)", "43 (1)", "29 (1), 40 boards"]),
        ("2x4", 20_160, 36, ["45 (6)", "77 (1)", "77 (1)"]),
        ("4x2", 20_160, 36, ["44 (6)", "76 (1)", "55 (1), 84 boards"]),
        ("3x3", 181_440, 31, ["46 (9)", "150 (2)", "150 (2)"]),
        ("2x5", 1_814_400, 55, ["68 (1)", "120 (1)", "120 (1)"]),
        ("5x2", 1_814_400, 55, ["67 (1)", "119 (1)", "89 (1), 144 boards"]),
    ] {
        let found = [Choices::Free, Choices::Side, Choices::Bottom]
            .map(|choices| cell(longest(text, choices), solvable));
        assert_eq!(found, [clockwise, limited, bottom], "{text}");
        let row = format!("\n| {text} | {any} | {} |\n", found.join(" | "));
        assert!(page.contains(&row), "no row {row}");
    }
}

/// Whether the paper's rules allow a move after another, written down by cases.
fn may_follow(shape: Shape, square: usize, before: Move, next: Move, choices: &[usize]) -> bool {
    let (rows, columns) = (shape.rows(), shape.columns());
    let (row, column) = ((square - 1) / columns, (square - 1) % columns);
    let at_edge = match before {
        Move::Up => row == 0,
        Move::Down => row == rows - 1,
        Move::Left => column == 0,
        Move::Right => column == columns - 1,
    };
    match next.turn_from(before) {
        Turn::Straight => true,
        Turn::Clockwise => at_edge || (before == Move::Left && choices.contains(&square)),
        Turn::Back | Turn::Counterclockwise => false,
    }
}

/// Distances of all boards by a plain search forwards from each.
fn plain(shape: Shape, choices: &[usize], free: bool) -> HashMap<Board, u32> {
    let goal = Board::goal(shape);
    let distance = |start: &Board| {
        let mut seen = HashSet::new();
        let mut queue = VecDeque::from([(start.clone(), None, 0)]);
        while let Some((board, before, depth)) = queue.pop_front() {
            if board == goal {
                return Some(depth);
            }
            for mv in Move::ALL {
                let allowed = before.is_none_or(|before| match mv.turn_from(before) {
                    Turn::Straight | Turn::Clockwise if free => true,
                    _ => may_follow(shape, board.blank(), before, mv, choices),
                });
                let mut next = board.clone();
                if allowed && next.step(mv) && seen.insert((next.clone(), mv)) {
                    queue.push_back((next, Some(mv), depth + 1));
                }
            }
        }
        None
    };
    reachable(shape).into_iter().filter_map(|start| distance(&start).map(|d| (start, d))).collect()
}

#[test]
fn distances_are_those_of_a_plain_search_and_walks_keep_the_rules() {
    for (text, choices) in [("2x2", Choices::Free), ("2x3", Choices::Free), ("2x3", Choices::Side)]
    {
        let shape = shape(text);
        let free = choices == Choices::Free;
        let expected = plain(shape, &choice_squares(shape), free);
        let mut search = Clockwise::new(&Board::goal(shape), choices, true, u64::MAX).unwrap();
        let mut counts = HashMap::new();
        while let Some(level) = search.advance() {
            for (board, distance) in &expected {
                assert_eq!(search.reaches(board), *distance <= level.depth, "{board}");
            }
            counts.insert(level.depth, level.boards);
        }
        for (board, distance) in &expected {
            let walk: Word = search.walk(board).unwrap();
            assert_eq!(walk.len(), *distance as usize, "{board}");
            assert_eq!(follow(board, &walk, choices).unwrap(), Board::goal(shape));
            if !free && !walk.is_empty() {
                let rule = |pair: &[Move]| pair[1].turn_from(pair[0]);
                assert!(
                    walk.windows(2)
                        .all(|pair| { matches!(rule(pair), Turn::Straight | Turn::Clockwise) })
                );
                let walked = check(board, &walk).unwrap();
                assert!(walked.choices.iter().all(|c| choice_squares(shape).contains(c)));
            }
            *counts.get_mut(distance).unwrap() -= 1;
        }
        assert!(counts.values().all(|left| *left == 0), "{text}");
    }
}

#[test]
fn walks_that_break_a_rule_are_refused() {
    let start: Board = "1 2 3 / 4 5 6 / 7 8 _".parse().unwrap();
    for (text, choices, expected) in [
        ("LULU", Choices::Free, "move 3, L: not straight and not clockwise"),
        ("LR", Choices::Free, "move 2, R: not straight and not clockwise"),
        ("LLL", Choices::Free, "move 3, L: the blank is at the edge, on square 7"),
        ("ULU", Choices::Free, "move 2, L: not straight and not clockwise"),
        ("UURR", Choices::Free, "move 3, R: the blank is at the edge, on square 3"),
        ("LLUR", Choices::Side, "move 4, R: the blank turns on square 4, where it has no choice"),
    ] {
        let walk: Word = text.parse().unwrap();
        let error = follow(&start, &walk, choices).unwrap_err().to_string();
        assert_eq!(error, expected, "{text}");
    }
    let end = |text: &str, choices| {
        let walk: Word = text.parse().unwrap();
        follow(&start, &walk, choices).map(|board| board.to_string())
    };
    // The middle of the bottom row leaves a choice.
    assert_eq!(end("LU", Choices::Side).unwrap(), "1 2 3 / 4 _ 6 / 7 5 8");
    assert_eq!(end("LLURD", Choices::Free).unwrap(), "1 2 3 / 5 7 6 / 4 _ 8");
}

#[test]
fn a_search_from_any_goal() {
    let goal: Board = "3 _ 1 / 2 5 4".parse().unwrap();
    let mut search = Clockwise::new(&goal, Choices::Free, true, u64::MAX).unwrap();
    let boards: u64 = std::iter::from_fn(|| search.advance()).map(|level| level.boards).sum();
    assert_eq!(boards, 360);
    // One transposition away: out of reach.
    let other: Board = "_ 3 1 / 2 5 4".parse().unwrap();
    let odd: Board = "3 _ 1 / 5 2 4".parse().unwrap();
    assert!(search.reaches(&other) && !search.reaches(&odd));
    let walk = search.walk(&other).unwrap();
    assert_eq!(walk.to_string(), "R");
}

#[test]
fn searches_that_exceed_the_memory_limit_are_refused() {
    let error = |text: &str, memory: u64| {
        let goal = Board::goal(shape(text));
        Clockwise::new(&goal, Choices::Free, false, memory).unwrap_err().to_string()
    };
    let expected = "a clockwise search of a 3x3 board would need 483840 bytes of memory";
    assert_eq!(error("3x3", 483_839), expected);
    assert!(Clockwise::new(&Board::goal(shape("3x3")), Choices::Free, false, 483_840).is_ok());
    assert!(error("4x5", u64::MAX).contains("more than 2^64 bytes"));
    assert!(error("4x4", 1 << 40).contains("15692092416000 bytes"));
}
