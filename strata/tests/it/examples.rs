//! Tests that the examples do what their first lines describe.

use std::path::PathBuf;
use std::process::{Command, Output};

use crate::reference::search::layers_of;

/// Cargo builds examples beside the folder of test programs.
fn example(name: &str) -> Command {
    let test = std::env::current_exe().unwrap();
    let profile: PathBuf = test.ancestors().nth(2).unwrap().into();
    Command::new(profile.join("examples").join(name))
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn succeeds(name: &str, arguments: &[&str]) -> String {
    let output = example(name).args(arguments).output().unwrap();
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    stdout(&output)
}

/// Radius and states of the pancake graph of `n` by a plain search.
fn pancake_radius(n: usize) -> (usize, usize) {
    let start: Vec<usize> = (0..n).collect();
    let layers = layers_of(&[start], usize::MAX, |stack| {
        let flip = |flipped| {
            let mut flip = stack.clone();
            flip[..flipped].reverse();
            flip
        };
        (2..=n).map(flip).collect()
    });
    (layers.len() - 1, layers.iter().map(Vec::len).sum())
}

#[test]
fn a_killed_pancake_search_resumes() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().to_str().unwrap();
    let killed = example("pancake").args(["7", dir, "4"]).output().unwrap();
    assert!(!killed.status.success());
    assert!(!stdout(&killed).contains("radius"));
    let resumed = succeeds("pancake", &["7", dir]);
    assert!(resumed.starts_with("resumed from layer 4\n"), "{resumed}");
    let (radius, states) = pancake_radius(7);
    assert!(resumed.ends_with(&format!("radius {radius}, {states} states\n")), "{resumed}");
    // A finished search is not repeated, and another search does not replace it.
    assert!(succeeds("pancake", &["7", dir]).ends_with(&format!("{states} states\n")));
    let other = example("pancake").args(["6", dir]).output().unwrap();
    assert!(!other.status.success());
    let message = String::from_utf8_lossy(&other.stderr).into_owned();
    assert!(message.contains("OtherSearch"), "{message}");
    assert!(succeeds("pancake", &["7", dir]).ends_with(&format!("{states} states\n")));
}

#[test]
fn the_pancake_example_finds_the_known_radius() {
    for (n, radius) in [("1", 0), ("2", 1), ("5", 5), ("8", 9)] {
        let shown = succeeds("pancake", &[n]);
        assert!(shown.contains(&format!("radius {radius},")), "{n}: {shown}");
    }
}

#[test]
fn the_farthest_tiles_are_31_moves_away() {
    let shown = succeeds("farthest", &[]);
    assert!(shown.contains(" is 31 moves from the start:"), "{shown}");
    assert_eq!(shown.lines().last().unwrap().split(' ').count(), 31, "{shown}");
}

#[test]
fn the_bar_chart_has_a_line_a_layer() {
    let shown = succeeds("bar", &[]);
    assert!(shown.ends_with("42 moves\n"), "{shown}");
    assert_eq!(shown.lines().count(), 44, "{shown}");
}

#[test]
fn both_engines_of_the_example_find_the_same() {
    let shown = succeeds("engines", &[]);
    let found: Vec<&str> = shown
        .lines()
        .map(|line| line.split_once(": ").unwrap().1.rsplit_once(", ").unwrap().0)
        .collect();
    assert_eq!(found[0], found[1]);
    assert!(found[0].starts_with("881 moves, 4078382 states, digest "), "{shown}");
}
