//! Tests of searches with and without a goal.

use strata_run::catalogue::{Entry, KeySpace, Registry, Seed};

/// Ten points in a line, without a goal.
struct Line;

impl KeySpace for Line {
    type Key = u64;
    fn seeds(&self) -> Vec<Seed> {
        vec![Seed::start(0)]
    }

    fn key_bits(&self) -> u32 {
        4
    }

    fn successors(&self, key: u64, out: &mut Vec<u64>) {
        out.extend(
            [key.checked_sub(1), Some(key + 1).filter(|key| *key < 10)].into_iter().flatten(),
        );
    }

    fn text(&self, key: u64) -> String {
        key.to_string()
    }
}

without_parameters!(Line, "line", Ok(Line));

#[test]
fn a_search_has_a_goal_unless_none_is_given_or_the_whole_space_is_asked_for() {
    let puzzles = Registry::shipped().with([Entry::of::<Line>()]);
    let has_goal = |name: &str, values: &[&str], exhaust: bool| {
        let values: Vec<String> = values.iter().map(ToString::to_string).collect();
        let flags: Vec<(&str, String)> =
            if exhaust { vec![("exhaust", "true".to_owned())] } else { Vec::new() };
        let parameters = puzzles.parameters(name, &values, &flags).unwrap();
        puzzles.open(name, &parameters).unwrap().has_goal()
    };
    assert!(!has_goal("line", &[], false));
    for (name, value) in [("panex", "3"), ("hanoi", "3"), ("tiles", "2x3")] {
        assert!(has_goal(name, &[value], false), "{name}");
        assert!(!has_goal(name, &[value], true), "{name}");
    }
}
