//! The certificate that X(n) = U(n), and the moves that its grammar makes.

use std::collections::BTreeMap;
use std::thread;

use strata_panex::formulas::Quantity;
use strata_panex::proof::{certificate, exchange_word};
use strata_replay::{CentreTop, Position, replay};

/// Number of lines of a part that begin with each word.
fn lines_by_word(part: &str) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for word in part.lines().filter_map(|line| line.split(' ').next()) {
        *counts.entry(word).or_default() += 1;
    }
    counts
}

#[test]
fn the_certificate_has_the_expected_parts() {
    let text = certificate().unwrap();
    let body = text.strip_prefix("strata-panex-proof 1\nlower\n").unwrap();
    let (lower, upper) = body.split_once("\nupper\n").unwrap();
    let upper = upper.strip_suffix("\nend\n").unwrap();
    let expected = [
        ("class", 68),
        ("form", 499),
        ("node", 3473),
        ("row", 753),
        ("sig", 1574),
        ("start", 1),
        ("top", 1),
        ("weight", 1),
        ("weights", 1),
    ];
    assert!(lines_by_word(lower).into_iter().eq(expected));
    let expected = [("form", 21), ("rule", 3112), ("segment", 1556), ("start", 1), ("top-rule", 2)];
    assert!(lines_by_word(upper).into_iter().eq(expected));
    assert!(lower.starts_with("start 4\nweights 0 1 5\nweight -784 336 0 -64 0\n"));
    assert!(upper.starts_with("start 6\n"));
    assert!(text.is_ascii() && !text.contains("  ") && !text.contains(" \n"));
}

#[test]
fn the_certificate_has_the_same_bytes_every_time() {
    let other = thread::spawn(|| certificate().unwrap());
    assert!(certificate().unwrap() == other.join().unwrap());
}

/// Replays the exchange of a level by the rules of the puzzle.
fn check_exchange(level: u8) {
    let word = exchange_word(level.into()).unwrap();
    assert_eq!(Ok(word.len() as u128), Quantity::U.formula(level.into()), "U({level})");
    let start = Position::start(level).unwrap();
    let end = replay(&start, &*word, CentreTop::Forbidden, |_, _| {}).unwrap();
    assert_eq!(end.into_position(), Position::goal(level).unwrap());
}

#[test]
fn words_of_the_grammar_exchange_the_towers_of_7_to_15() {
    (7..=15).for_each(check_exchange);
}

#[test]
fn levels_without_rules_have_no_words() {
    for level in [0, 6, 22] {
        let error = exchange_word(level).unwrap_err();
        assert_eq!(error.to_string(), format!("the level must be between 7 and 21, not {level}"));
    }
}
