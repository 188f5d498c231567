//! Tests of refused files and options, and of the reasons given.

use strata_space::{KeySpace, Puzzle, Seed};

use crate::permutation::open;

const RING: &str = "Set A 4 2\nMove L\nA\n2 3 4 1\n0 0 0 1\nEnd\nMove X\nA\n2 1 3 4\nEnd\n";

fn error(content: &str, options: &[(&str, &str)]) -> String {
    open(content, options).unwrap_err().to_string()
}

#[test]
fn faults_of_files_are_named_with_their_place() {
    for (content, message) in [
        (
            "Set A 4 2\nMove L\nA\n2 3 4 5\nEnd\n",
            "line 4, column 7: expected a number from 1 to 4, found '5'",
        ),
        ("Set A 4 2\nMove L\nA\n2 3 4 2\nEnd\n", "line 4, column 7: '2' appears twice"),
        (
            "Set A 4 2\nMove L\nA\n2 3 4\nEnd\n",
            "line 4, column 1: expected 4 numbers in this line, found 3",
        ),
        (
            "Set A 4 2\nMove L\nA\n2 3 4 1\n0 0 2 0\nEnd\n",
            "line 5, column 5: expected a number from 0 to 1, found '2'",
        ),
        ("Set A 4 2\nMove L\nB\n", "line 3, column 1: expected a set or 'End', found 'B'"),
        ("Set A 4 2\nMove L\nA\n2 3 4 1\n", "line 5, column 1: expected 'End'"),
        (
            "Set A 4\n",
            "line 1, column 1: expected a name, a number of pieces and a number of orientations",
        ),
        ("Set A 4 2\nSet A 4 2\n", "line 2, column 5: a second set 'A'"),
        (
            "Set A 4 2\nTurn\n",
            "line 2, column 1: expected Name, Set, Solved, StartState, Move, MoveTransformation, MoveAlias, MoveSequence or Illegal, found 'Turn'",
        ),
        (
            "Set A 4 2\nSolved\nA\n1 1 2 2\n0 ? 0 0\nEnd\n",
            "line 2, column 1: pieces 1 of A look alike, so all or none of them must have '?'",
        ),
        (
            "Set A 2 1\nMove L\nEnd\nMoveSequence S L  Q\n",
            "line 4, column 19: expected a move, found 'Q'",
        ),
        (
            "Set A 2 1\nMove L\nEnd\nMoveSequence S L T\nMoveAlias T S\n",
            "line 4, column 14: the move 'S' is defined by itself",
        ),
        ("Set A 2 1\nMove x\nEnd\n", "line 4, column 1: expected a move"),
        (
            "Set A 2 1\nMove L\nEnd\nBlock\nA\n1 2\nEnd\n",
            "line 4, column 1: Block is not supported: which moves are possible would depend on more than places of pieces",
        ),
        ("a = (1,2\n", "line 1, column 5: expected a cycle in brackets, found '(1,2'"),
        ("a = (1,2)\nb = (1,x)\n", "line 2, column 8: expected a point from 1 to 1024, found 'x'"),
        ("a = (1,2)(2,3)\n", "line 1, column 10: 2 appears twice"),
        ("a = [1,3]\n", "line 1, column 5: expected the numbers from 1 to 2 in any order"),
        ("{\"orbits\": [], }", "line 1, column 16: key must be a string"),
        (
            "{\"orbits\": [{\"orbitName\": \"A\", \"numPieces\": 0,\n \"numOrientations\": 1}]}",
            "line 1, column 45: expected a number from 1 to 1024, found '0'",
        ),
        ("{\"orbits\": []}", "line 1, column 1: expected a member 'defaultPattern'"),
        ("", "line 1, column 1: expected a permutation that moves a point"),
    ] {
        assert_eq!(error(content, &[]), format!("file: {message}"), "{content}");
    }
    assert!(error(&"#".repeat(70_000), &[]).ends_with("the file has more than 64 KiB"));
    assert!(
        error("Set A 255 1\nSet B 255 1\nSet C 255 1\nSet D 255 1\nSet E 255 1\n", &[])
            .contains("more than 1024 pieces")
    );
}

#[test]
fn impossible_options_are_refused_with_the_reason() {
    for (options, message) in [
        (&[("moves", "L,Q")][..], "moves must be names among L, X, not 'Q'"),
        (
            &[("inverses", "true")],
            "inverses cannot have this value: the moves of this format have their inverses",
        ),
        (&[("symmetry", "yes")], "symmetry must be 'off' or 'on', not 'yes'"),
        (
            &[("exhaust", "true"), ("goal", "L")],
            "exhaust cannot have this value: the search ends at the goal",
        ),
        (
            &[("start", "1 2 3 ?")],
            "start is not a state or a sequence of moves from the solved state: '?' is allowed in a goal only",
        ),
        (
            &[("start", "1 2 3")],
            "start is not a state or a sequence of moves from the solved state: A has 4 slots, and 3 numbers are given",
        ),
        (
            &[("goal", "1 2 3 3")],
            "goal is not a state or a sequence of moves from the solved state: A has piece 3 1 times",
        ),
        (
            &[("goal", "L Q")],
            "goal is not a state or a sequence of moves from the solved state: expected a move, found 'Q' (column 3)",
        ),
        (
            &[("moves", "X"), ("goal", "L")],
            "L cannot be reached from solved: no arrangement of the pieces that these moves exchange matches it",
        ),
    ] {
        assert_eq!(error(RING, options), message);
    }
    let cube = include_str!("../../../data/3x3x3.tws");
    let explicit = |text: &str| {
        let error = open(text, &[]).unwrap().check_explicit().unwrap_err();
        error.to_string()
    };
    assert!(open(cube, &[]).unwrap().check_explicit().is_ok());
    let cycle: Vec<String> = (1..=40).map(|point| point.to_string()).collect();
    let large = format!("a = ({})\nb = (1,2)\n", cycle.join(","));
    assert_eq!(explicit(&large), "keys of 160 bits do not fit: the limit is 128");
    let directed = "a = (1,2,3)\nb = (1,2)\n";
    let goals = open(directed, &[("goal", "? ? ?")]).unwrap().check_explicit().unwrap_err();
    assert!(goals.to_string().contains("takes one goal, not 6"), "{goals}");
    assert!(open(directed, &[("goal", "2 3 1")]).unwrap().check_explicit().is_ok());
    assert!(open(RING, &[]).unwrap().check_explicit().is_ok());
    assert!(
        error(directed, &[("metric", "quarter")]).contains("generators are moves as they stand")
    );
    let illegal = RING.replace("Move L", "Solved\nEnd\nIllegal A 1 1\nMove L");
    assert!(error(&illegal, &[]).ends_with("a line of the file makes it illegal"));
}

#[test]
fn a_sequence_as_an_end_equals_the_state_it_leads_to() {
    let by_moves = open(RING, &[("start", "L X"), ("goal", "L2'")]).unwrap();
    let [start, goal] = by_moves.ends().unwrap();
    assert_eq!((start.as_str(), goal.as_str()), ("3 2 4 1 / 0 0 1 0", "3 4 1 2 / 1 0 0 1"));
    let by_states = open(RING, &[("start", &*start), ("goal", &*goal)]).unwrap();
    assert_eq!(by_states.parameters(), by_moves.parameters());
    assert_eq!(by_states.seeds(), by_moves.seeds());
    let path = [start, "2 3 4 1 / 0 0 1 0".to_owned()];
    assert_eq!(by_moves.moves_between(&path), Some(vec!["X".to_owned()]));
    let apart = [path[1].clone(), goal, path[0].clone()];
    assert_eq!(by_moves.moves_between(&apart), None);
}

#[test]
fn an_open_goal_stands_for_all_states_that_match() {
    let goals = |options: &[(&str, &str)]| {
        let seeds = open(RING, options).unwrap().seeds();
        seeds.into_iter().skip(1).collect::<Vec<Seed<u128>>>().len()
    };
    // The sum of turns is not fixed.
    assert_eq!(goals(&[("goal", "? ? ? ? / ? ? ? ?")]), 24 * 16);
    assert_eq!(goals(&[("goal", "? ? 1 ? / 0 0 ? 1")]), 6 * 2);
    assert_eq!(goals(&[("goal", "4 3 2 1 / ? 0 0 0")]), 2);
    assert_eq!(goals(&[("goal", "? ? 3 4"), ("moves", "X")]), 2);
    let many = error(
        include_str!("../../../data/2x2x2.tws"),
        &[("goal", "? ? ? ? ? ? ? ? / ? ? ? ? ? ? ? ?")],
    );
    assert!(many.contains("more than 100000 states match it"), "{many}");
}

#[test]
fn repeated_late_and_incomplete_parts_are_refused() {
    for (content, message) in [
        ("Name a\nSet A 4 2\nName b\n", "line 3, column 1: a second name"),
        (
            "Set A 2 1\nMove L\nA\n2 1\nEnd\nSet B 2 1\n",
            "line 6, column 5: expected all sets before the moves",
        ),
        (
            "{\"orbits\": [{\"orbitName\": \"A\", \"numPieces\": 2, \"numOrientations\": 1}],\n \"defaultPattern\": \
             {\"A\": {\"orientationMod\": [1]}}}",
            "line 2, column 45: expected 2 numbers, found 1",
        ),
    ] {
        assert_eq!(error(content, &[]), format!("file: {message}"), "{content}");
    }
    for (options, message) in [
        (
            &[("start", "1 2 3 4 /")][..],
            "start is not a state or a sequence of moves from the solved state: A has no turns after '/'",
        ),
        (
            &[("goal", "1 2 +3 4")],
            "goal is not a state or a sequence of moves from the solved state: A has no piece '+3'",
        ),
        (
            &[("start", " ")],
            "start is not a state or a sequence of moves from the solved state: it is empty",
        ),
        (
            &[("goal", "")],
            "goal is not a state or a sequence of moves from the solved state: it has no goals",
        ),
    ] {
        assert_eq!(error(RING, options), message);
    }
}

#[test]
fn parts_of_a_file_without_effect_are_named() {
    let ksolve = RING.replace("Move X", "Ignore\nA\n0 0 1 1\nEnd\nMove X");
    assert_eq!(open(&ksolve, &[]).unwrap().advice().unwrap(), "line 7: Ignore has no effect");
    let orbits = "{\"orbits\": [{\"orbitName\": \"A\", \"numPieces\": 2, \"numOrientations\": 1}],";
    let kpuzzle = format!(
        "{orbits}\n\"defaultPattern\": {{}}, \"derivedMove\": {{}},\n\"moves\": {{\"L\": {{\"A\": {{\"permutation\": [1, 0]}}}}}}}}"
    );
    let advice = open(&kpuzzle, &[]).unwrap().advice().unwrap();
    assert_eq!(advice, "line 2: the member 'derivedMove' has no effect");
}

#[test]
fn an_error_about_moves_that_change_nothing_names_the_parameter() {
    let list = "a = [1,2,3]\nb = (1,2)\n";
    assert_eq!(
        error(list, &[("moves", "a")]),
        "moves cannot have this value: no move changes anything"
    );
    assert_eq!(
        error("a = [1,2,3]\n", &[]),
        "file cannot have this value: no move changes anything"
    );
}
