//! Tests of files that exceed limits: what is refused, what is left open, and that all work can be
//! cancelled.

use std::fmt::Write;

use strata_puzzles::permutation::{Definition, Permutation, Survey};
use strata_space::dense::DenseFolding;
use strata_space::{MAX_FILE_BYTES, Puzzle, SpaceError, Work};

use super::{open, parameters};

/// Steps of all analyses of a file together, of about a nanosecond each.
const MOST_STEPS: u64 = 5_000_000_000;

/// A file of sets of 255 pieces, of which a move cycles 8, 9 and 13. The move has the order 936, so its
/// powers are 935 moves. A power whose exponent is coprime to 936 has the same powers as the move itself.
fn powers(others: usize) -> String {
    let (sets, sizes) = (4, [8, 9, 13]);
    let mut text = "Name powers\n".to_owned();
    (0..sets).for_each(|set| writeln!(text, "Set S{set} 255 1").unwrap());
    text.push_str("Solved\nEnd\nMove m\n");
    for set in 0..sets {
        let mut pieces: Vec<usize> = (1..=255).collect();
        let mut rest = &mut pieces[..];
        for size in sizes {
            let (cycle, others) = rest.split_at_mut(size);
            cycle.rotate_left(1);
            rest = others;
        }
        let pieces: Vec<String> = pieces.iter().map(ToString::to_string).collect();
        writeln!(text, "S{set}\n{}", pieces.join(" ")).unwrap();
    }
    text.push_str("End\n");
    (0..others).for_each(|at| writeln!(text, "MoveSequence q{at}_ m{}", 936 * at + 5).unwrap());
    text
}

#[test]
fn moves_with_very_many_powers_are_refused_before_they_are_made() {
    let four = open(&powers(3), &[]).unwrap();
    // The powers of the others are those of the first.
    assert_eq!(four.move_names().count(), 935);
    let content = powers(500);
    assert!(content.len() < MAX_FILE_BYTES);
    let work = Work::default();
    let given = parameters(&content, &[]);
    let error = Permutation::open_within(&given, &work).unwrap_err();
    let expected = "file cannot have this value: its moves and their powers are more than 4112, which \
                    is 4194304 divided by the 1020 slots";
    assert_eq!(error.to_string(), expected);
    assert_eq!(work.spent(), 0);
    // As many names as the file has powers.
    let names = vec!["m"; 5000].join(",");
    let error = open(&powers(0), &[("moves", &names)]).unwrap_err();
    assert!(error.to_string().starts_with("moves cannot have this value: "), "{error}");
    assert!(error.to_string().contains("more than 4112"), "{error}");
}

/// A row of slots with two kinds of pieces, and swaps of neighbours.
fn two_kinds(slots: usize) -> String {
    let mut text = format!("Set S {slots} 1\nSolved\nS\n");
    let row = |kind: &dyn Fn(usize) -> usize| {
        let row: Vec<String> = (0..slots).map(|slot| kind(slot).to_string()).collect();
        row.join(" ")
    };
    writeln!(text, "{}\nEnd", row(&|slot| 1 + slot % 2)).unwrap();
    for at in 0..slots - 1 {
        let swapped = |slot: usize| match slot {
            slot if slot == at => at + 2,
            slot if slot == at + 1 => at + 1,
            slot => slot + 1,
        };
        writeln!(text, "Move m{at}_\nS\n{}\nEnd", row(&swapped)).unwrap();
    }
    text
}

#[test]
fn goals_that_stand_for_very_many_states_are_refused() {
    // 48,620 states match each line.
    let content = two_kinds(18);
    let goals = |lines: usize| {
        let line = vec!["?"; 18].join(" ");
        let lines: Vec<String> = (0..lines).map(|_| format!("S {line}")).collect();
        lines.join("\n")
    };
    assert!(open(&content, &[("goal", &goals(1))]).is_ok());
    let file = strata_space::file_value(&goals(100));
    let work = Work::new(10_000_000);
    let given = parameters(&content, &[("goal", &file)]);
    let error = Permutation::open_within(&given, &work).unwrap_err();
    let expected = "finding the states of the goal takes more than 10000000 steps";
    assert_eq!(error.to_string(), expected);
    assert!(work.spent() <= work.limit(), "{}", work.spent());
}

#[test]
fn cancelled_work_opens_no_puzzle_and_no_survey() {
    let work = Work::default();
    work.cancel();
    let given = parameters("(1,2,3)\n(1,2)\n", &[("inverses", "true")]);
    assert_eq!(Permutation::open_within(&given, &work).unwrap_err(), SpaceError::Cancelled);
    let definition = Definition::read("(1,2,3)\n(1,2)\n").unwrap();
    let survey = Survey::within(&definition, None, true, &work);
    assert_eq!(survey.unwrap_err(), SpaceError::Cancelled);
    assert_eq!(work.spent(), 0);
}

#[test]
fn a_space_whose_work_is_cancelled_has_no_dense_form() {
    let work = Work::default();
    let given = parameters("(1,2,3,4,5,6,7,8,9,10)\n(1,2)\n", &[("inverses", "true")]);
    let space = Permutation::open_within(&given, &work).unwrap();
    work.cancel();
    let before = work.spent();
    assert!(space.dense_size().unwrap_err().to_string().contains("cancelled"));
    assert_eq!(work.spent(), before);
}

/// The chain of a symmetric group of n points has about n² members of n slots each, and its verification
/// takes time in n⁴.
#[test]
fn analyses_of_a_large_group_end_within_their_step_limits() {
    let content: String = (1..400).map(|at| format!("({at},{})\n", at + 1)).collect();
    let work = Work::default();
    let definition = Definition::read(&content).unwrap();
    let survey = Survey::within(&definition, None, false, &work).unwrap();
    assert!((1..=MOST_STEPS).contains(&work.spent()), "{}", work.spent());
    assert!(survey.order.is_err() && !survey.is_exact, "{:?}", survey.order);
    assert!(survey.symmetries.is_err() && survey.dense.is_err());
}

#[test]
fn folding_within_its_steps_changes_nothing() {
    let content = "(1,2)\n(1,2,3)\n(1,2,3,4)\n(2,3)\n(3,4)\n";
    let options = [("inverses", "true"), ("symmetry", "on")];
    let work = Work::default();
    let given = parameters(content, &options);
    let within = Permutation::open_within(&given, &work).unwrap().dense_size().unwrap();
    assert_eq!(within, open(content, &options).unwrap().dense_size().unwrap());
    assert_ne!(within.folding, DenseFolding::Off);
    assert!(work.spent() > 0);
}
