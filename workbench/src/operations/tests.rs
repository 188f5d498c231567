use proptest::prelude::*;
use strata_replay::{CentreTop, Move, Position, Tile, Word, replay};

use super::sides::{L, R};
use super::*;
use crate::formulas::Quantity;

fn operation(kind: Kind, level: u8) -> Operation {
    Task::new(kind, kind.least().map(|_| level)).unwrap().into()
}

/// Replays an operation between its ends, never through a centre-top position, and returns its
/// length.
fn replayed(operation: &Operation, ends: &Ends) -> u128 {
    let word = operation.word().unwrap();
    let end = replay(&ends.start, &*word, CentreTop::Forbidden, |_, _| {})
        .unwrap_or_else(|error| panic!("{operation}: {error}"));
    assert_eq!(end.position(), &ends.goal, "{operation}");
    assert_eq!(operation.len(), Some(u128::from(end.moves())), "{operation}");
    u128::from(end.moves())
}

fn position(text: &str) -> Position {
    text.parse().unwrap()
}

/// Replays an operation from a position, and compares the positions after given numbers of moves.
fn passes(operation: &Operation, start: &Position, checkpoints: &[(u64, &str)]) {
    let mut left = checkpoints.iter();
    let mut next = left.next();
    let word = operation.word().unwrap();
    let end = replay(start, &*word, CentreTop::Forbidden, |moves, position| {
        if let Some((_, text)) = next.filter(|(at, _)| *at == moves) {
            assert_eq!(&position.to_string(), text, "{operation} after {moves} moves");
            next = left.next();
        }
    });
    let end = end.unwrap_or_else(|error| panic!("{operation}: {error}"));
    assert_eq!(next, None, "{operation} has only {} moves", end.moves());
}

#[test]
fn every_operation_with_ends_leads_from_one_to_the_other() {
    for kind in Kind::ALL.into_iter().filter(|kind| ![Kind::Four, Kind::V].contains(kind)) {
        for level in kind.least().map_or(0..=0, |least| least..=10) {
            let left = operation(kind, level);
            for operation in [
                left.clone(),
                left.clone().mirror(),
                left.clone().inverse(),
                left.clone().star(),
                left.clone().star().mirror().inverse(),
            ] {
                let ends = operation.ends().unwrap().unwrap();
                assert_eq!(Some(replayed(&operation, &ends)), left.len());
            }
        }
    }
}

#[test]
fn lengths_are_those_of_the_formulas() {
    for (kind, quantity) in [
        (Kind::T, Quantity::T),
        (Kind::TBar, Quantity::TBar),
        (Kind::S, Quantity::S),
        (Kind::SBar, Quantity::SBar),
        (Kind::X, Quantity::U),
        (Kind::BaxterT, Quantity::BaxterT),
        (Kind::BaxterS, Quantity::BaxterS),
        (Kind::BaxterU, Quantity::BaxterU),
        (Kind::BaxterUImproved, Quantity::BaxterUImproved),
    ] {
        for n in quantity.least()..=90 {
            let len = operation(kind, n as u8).len();
            assert_eq!(len, quantity.formula(n).ok(), "{kind}_{n}");
        }
    }
    let small: Vec<_> = (1..=4).map(|n| operation(Kind::X, n).len()).collect();
    assert_eq!(small, [Some(3), Some(13), Some(42), Some(128)]);
    for (kind, len) in [(Kind::Y, 15), (Kind::YBar, 15), (Kind::Z, 15), (Kind::W, 13)] {
        assert_eq!(operation(kind, 0).len(), Some(len));
    }
}

#[test]
fn the_exchange_of_level_16_replays() {
    let exchange = operation(Kind::X, 16);
    assert_eq!(replayed(&exchange, &exchange.ends().unwrap().unwrap()), 6_260_271);
}

#[test]
fn sinks_take_the_same_moves_in_all_variations() {
    for kind in [Kind::S, Kind::SBar, Kind::BaxterS] {
        for n in 2..=9 {
            let task = Task::new(kind, Some(n)).unwrap();
            for variation in [
                SinkVariation::Plain,
                SinkVariation::Supported,
                SinkVariation::Larger(1),
                SinkVariation::Larger(4),
            ] {
                replayed(&task.into(), &task.sink_ends(variation).unwrap());
            }
        }
    }
    let task = Task::new(Kind::SBar, Some(6)).unwrap();
    let ends = task.sink_ends(SinkVariation::Supported).unwrap();
    assert_eq!(ends.start, position("b6 / b2 b3 b4 b5 o6 / b1 o1 o2 o3 o4 o5"));
    assert_eq!(ends.goal, position("b1 b2 b3 b4 b5 / b6 o6 / o1 o2 o3 o4 o5"));
}

#[test]
fn sums_with_bar_versions_are_no_longer_than_sums_without() {
    for n in 4..=12 {
        let with_bars = operation(Kind::TBar, n - 1).len().unwrap()
            + operation(Kind::SBar, n - 1).len().unwrap();
        let without =
            operation(Kind::T, n - 1).len().unwrap() + operation(Kind::S, n - 1).len().unwrap();
        assert!(with_bars <= without);
    }
}

#[test]
fn checkpoints_of_the_exchange_of_level_3() {
    let start = Position::start(3).unwrap();
    let y = "o3 / o1 b2 b3 / b1 o2";
    let points = [
        (12, "o1 b1 b2 / o2 b3 / o3"),
        (15, "b1 b2 / o2 b3 / o3 o1"),
        (18, "o2 b1 b2 / o1 o3 b3 / -"),
        (21, "- / o1 o3 b3 / b2 b1 o2"),
        (24, "o3 o1 / b2 b3 / b1 o2"),
        (27, y),
        (42, "o1 o2 o3 / - / b1 b2 b3"),
    ];
    passes(&operation(Kind::X, 3), &start, &points);
    let y_start = position(points[0].1);
    passes(&operation(Kind::Y, 0), &y_start, &[(12, points[4].1), (15, y)]);
    let bar = [(12, points[4].1), (15, "o3 / b2 b3 / o1 b1 o2")];
    passes(&operation(Kind::YBar, 0), &y_start, &bar);
}

#[test]
fn checkpoints_of_the_exchange_of_level_4() {
    let start = Position::start(4).unwrap();
    passes(&operation(Kind::X, 4), &start, &X_4);
    let w = [
        (3, "b2 o1 o4 / b4 / o3 b1 o2 b3"),
        (6, "o3 o4 / o1 b2 b4 / b1 o2 b3"),
        (9, "o2 b1 o3 o4 / b2 b4 / o1 b3"),
        (11, "o3 o4 / b1 b2 b4 / o2 o1 b3"),
        (13, "o1 o2 o3 o4 / b1 b2 b4 / b3"),
    ];
    passes(&operation(Kind::W, 0), &position(X_4[5].1), &w);
}

const X_4: [(u64, &str); 11] = [
    (23, "o1 b1 b2 / o2 b3 b4 / o3 o4"),
    (38, "o3 / b2 b3 b4 / o1 b1 o2 o4"),
    (40, "o1 b2 o3 / b3 b4 / b1 o2 o4"),
    (42, "b1 o1 b2 o3 / o2 b3 b4 / o4"),
    (64, "o1 b2 o3 / o4 b4 / b1 o2 b3"),
    (86, "o4 / b2 o3 b4 / o1 b1 o2 b3"),
    (99, "o1 o2 o3 o4 / b1 b2 b4 / b3"),
    (107, "o1 o2 o3 o4 / b3 b4 / b1 b2"),
    (111, "o1 o2 o3 o4 / b4 b3 / b1 b2"),
    (119, "b1 o1 o2 o3 o4 / b2 b3 / b4"),
    (128, "o1 o2 o3 o4 / - / b1 b2 b3 b4"),
];

#[test]
fn three_series_of_the_exchange_swap_all_but_two_levels() {
    for (n, moves) in [(5_u8, 182), (6, 482), (7, 1216)] {
        let middle = |other: fn(u8) -> Tile, upto: u8| {
            let tiles = (3..=upto).map(|level| format!(" {}", other(level)));
            tiles.collect::<String>()
        };
        let text = format!(
            "o1 b2{} / o{n} b{n} / b1 o2{}",
            middle(Tile::orange, n - 1),
            middle(Tile::blue, n - 1)
        );
        passes(&operation(Kind::X, n), &Position::start(n).unwrap(), &[(moves, &text)]);
    }
}

#[test]
fn v_replaces_eighteen_moves_between_its_two_operations_by_nineteen() {
    for n in 5..=9 {
        let plain = L.t_bar(n - 1).inverse() + R.s_bar(n).inverse();
        let (plain, v) = (plain.word().unwrap(), operation(Kind::V, n).word().unwrap());
        assert_eq!(v.len(), plain.len() + 1);
        let before = L.t_bar(n - 1).len().unwrap() as usize - 9;
        assert_eq!(v[..before], plain[..before]);
        assert_eq!(v[before + 19..], plain[before + 18..]);
        let border = (L.t_bar(3).inverse() + R.t_bar(3)).word().unwrap();
        assert_eq!(plain[before..before + 18], *border);
        let w = operation(Kind::W, 0).word().unwrap();
        assert_eq!(v[before..before + 13], *w);
    }
}

#[test]
fn cancelling_moves_in_the_simplified_exchange_does_not_give_the_improved_one() {
    let uncancelled = |word: Word| {
        let mut left: Vec<Move> = Vec::new();
        for mv in word.iter() {
            if left.last() == Some(&mv.inverse()) {
                left.pop();
            } else {
                left.push(*mv);
            }
        }
        left.len()
    };
    let lengths: Vec<usize> =
        (3..=6).map(|n| uncancelled(operation(Kind::BaxterU, n).word().unwrap())).collect();
    assert_eq!(lengths, [45, 135, 361, 917], "Baxter's U' are 43, 131, 348, 886");
}

#[test]
fn formulas_print_as_the_paper_has_them() {
    let formula = |kind, level| Operation::sequence(operation(kind, level).parts()).to_string();
    assert_eq!(formula(Kind::TBar, 6), "L Tbar_5 + L Sbar_5 + 4 + L Tbar_4");
    assert_eq!(formula(Kind::S, 6), "L S_5 + 4 + L Sbar_5^-1 + L Tbar_4^-1");
    assert_eq!(formula(Kind::X, 3), "L Tbar_2 + L Sbar_3 + R Tbar_2 + Y + Z");
    assert_eq!(
        formula(Kind::X, 4),
        "L Tbar_3 + L Sbar_3 + 4 + R Tbar_2 + Ybar + L Tbar_2^-1 + R Tbar_2 + R Sbar_4 \
         + L Sbar_4^-1 + W + R S_3 + 4 + R Sbar_3^-1 + R Tbar_3^-1"
    );
    assert_eq!(
        formula(Kind::X, 6),
        "L Tbar_5 + L Sbar_5 + 4 + R Tbar_4 + R Sbar_5 + L Sbar_5^-1 + C_4 + L Tbar_2^-1 \
         + R Tbar_2 + Ybar + L Tbar_2^-1 + R Tbar_2 + R Sbar_6 + L Sbar_6^-1 + V_6 + R Tbar_5^-1"
    );
    assert_eq!(
        formula(Kind::BaxterU, 4),
        "R Baxter-T_3 + R Baxter-S_4 + L Baxter-T_3 + L Baxter-S_4 + R Baxter-S_4^-1 \
         + Baxter-Z_1 + Baxter-Z_2 + L Baxter-S_3 + R Baxter-S_3^-1 + R Baxter-T_2^-1 + 4 \
         + L Baxter-S_3^-1 + L Baxter-T_3^-1"
    );
    let backwards = operation(Kind::T, 4).mirror().inverse();
    let parts: Vec<String> = backwards.parts().iter().map(Operation::to_string).collect();
    assert_eq!(parts, ["R T_2^-1", "4'^-1", "R Sbar_3^-1", "R Tbar_3^-1"]);
    assert_eq!(operation(Kind::X, 9).star().mirror().to_string(), "X_9'*");
    let part = operation(Kind::W, 0).without_last(3).inverse();
    assert_eq!(part.to_string(), "(W without its last 3)^-1");
}

#[test]
fn tasks_that_do_not_exist_get_precise_messages() {
    let fails = |kind, level| Task::new(kind, level).unwrap_err().to_string();
    assert_eq!(fails(Kind::S, Some(1)), "S_1 is not defined: S has the levels 2 to 99");
    assert_eq!(fails(Kind::X, Some(100)), "X_100 is not defined: X has the levels 1 to 99");
    assert_eq!(fails(Kind::V, None), "V needs a level, 5 to 99");
    assert_eq!(fails(Kind::Y, Some(3)), "Y has no level: it is one fixed list of moves");
    let unknown = "Q".parse::<Kind>().unwrap_err().to_string();
    assert!(unknown.starts_with("unknown operation 'Q' (known: T, Tbar, S, Sbar, 4, C, X, "));
    for kind in Kind::ALL {
        assert_eq!(kind.name().to_lowercase().parse(), Ok(kind));
    }
    let long = operation(Kind::X, 40).word().unwrap_err().to_string();
    assert_eq!(long, "a list of 9620964235986159 moves would be too long, 1073741824 are the most");
    let task = Task::new(Kind::S, Some(90)).unwrap();
    assert!(task.sink_ends(SinkVariation::Larger(9)).is_ok());
    assert!(task.sink_ends(SinkVariation::Larger(10)).is_err());
    assert!(task.sink_ends(SinkVariation::Larger(0)).is_err());
    let tower = Task::new(Kind::T, Some(5)).unwrap();
    let error = tower.sink_ends(SinkVariation::Plain).unwrap_err().to_string();
    assert_eq!(error, "T_5 has no such variation: only S and S-bar have variations");
}

fn any_word() -> impl Strategy<Value = Word> {
    let moves = prop::collection::vec(prop::sample::select(&Move::ALL[..]), 0..60);
    moves.prop_map(|moves| moves.into_iter().collect())
}

fn any_operation() -> impl Strategy<Value = Operation> {
    let leaf = prop_oneof![
        any_word().prop_map(Operation::from),
        (prop::sample::select(&Kind::ALL[..]), 0..2_u8)
            .prop_map(|(kind, more)| { operation(kind, kind.least().unwrap_or(0) + more) }),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Operation::sequence),
            inner.clone().prop_map(Operation::inverse),
            inner.clone().prop_map(Operation::mirror),
            inner.clone().prop_map(Operation::star),
            (inner.clone(), 0..9_u32).prop_map(|(whole, cut)| whole.without_first(cut)),
            (inner, 0..9_u32).prop_map(|(whole, cut)| whole.without_last(cut)),
        ]
    })
}

proptest! {
    #[test]
    fn operations_compose_as_their_words_do(
        a in any_operation(),
        b in any_operation(),
        cut in 0..20_u32,
    ) {
        let (word, other) = (a.word().unwrap(), b.word().unwrap());
        prop_assert_eq!(a.len(), Some(word.len() as u128));
        prop_assert_eq!(a.is_empty(), word.is_empty());
        prop_assert_eq!(a.clone().inverse().word().unwrap(), word.inverse());
        prop_assert_eq!(a.clone().mirror().word().unwrap(), word.mirror());
        prop_assert_eq!(&a.clone().star().word().unwrap(), &word);
        let sum = a.clone() + b;
        prop_assert_eq!(&sum.word().unwrap(), &(word.clone() + &other));
        prop_assert_eq!(sum.clone().inverse().word().unwrap(), other.inverse() + &word.inverse());
        let cut_at = (cut as usize).min(word.len());
        prop_assert_eq!(&a.clone().without_first(cut).word().unwrap()[..], &word[cut_at..]);
        prop_assert_eq!(&a.clone().without_last(cut).word().unwrap()[..], &word[..word.len() - cut_at]);
        for operation in [a, sum] {
            let parts = operation.parts();
            if !parts.is_empty() {
                prop_assert_eq!(Operation::sequence(parts).word().unwrap(), operation.word().unwrap());
            }
        }
    }
}
