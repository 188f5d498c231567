//! Comparison of the sessions in `docs/panex.md` with the output of the commands.

#![allow(clippy::unwrap_used)] // clippy.toml allows it in tests, but not in their helpers

mod common;

use std::path::Path;
use std::process::Command;

use common::{Finished, strata};
use tempfile::tempdir;

const PAGE: &str = include_str!("../../docs/panex.md");

/// Whether a line is as shown, where `…` stands for anything.
fn is_like(line: &str, shown: &str) -> bool {
    let Some((before, after)) = shown.split_once('…') else { return line == shown };
    line.strip_prefix(before).is_some_and(|rest| {
        let ends = (0..=rest.len()).filter(|at| rest.is_char_boundary(*at));
        ends.map(|at| &rest[at..]).any(|rest| is_like(rest, after))
    })
}

/// Whether an output is as shown, where a line `…` stands for any number of lines.
fn is_shown(output: &[&str], shown: &[&str]) -> bool {
    match (output, shown) {
        (_, ["…", shown @ ..]) => (0..=output.len()).any(|from| is_shown(&output[from..], shown)),
        ([line, output @ ..], [like, shown @ ..]) => is_like(line, like) && is_shown(output, shown),
        (output, shown) => output.is_empty() && shown.is_empty(),
    }
}

/// Runs a line of shell without progress and logs.
fn sh(line: &str, dir: &Path) -> Finished {
    let program = strata("").get_program().to_owned();
    let programs = Path::new(&program).parent().unwrap().to_owned();
    let old = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([programs].into_iter().chain(std::env::split_paths(&old)));
    let mut command = Command::new("sh");
    for (name, _) in std::env::vars_os().filter(|(n, _)| n.to_string_lossy().starts_with("STRATA_"))
    {
        command.env_remove(name);
    }
    command.args(["-c", line]).current_dir(dir).env("PATH", path.unwrap());
    command.env("STRATA_QUIET", "1").env("STRATA_PROGRESS", "none");
    Finished::of(command.output().unwrap())
}

#[test]
fn the_page_shows_the_output_of_the_commands() {
    let dir = tempdir().unwrap();
    let mut commands = 0;
    for block in PAGE.split("```console\n").skip(1) {
        let (block, _) = block.split_once("\n```").unwrap();
        for example in block.strip_prefix("$ ").unwrap().split("\n$ ") {
            let (line, shown) = example.split_once('\n').unwrap_or((example, ""));
            let ran = sh(line, dir.path());
            let printed = format!("{}{}", ran.stdout, ran.stderr);
            let (output, shown): (Vec<_>, Vec<_>) =
                (printed.lines().collect(), shown.lines().collect());
            assert!(is_shown(&output, &shown), "$ {line}\n{printed}");
            commands += 1;
        }
    }
    assert!(commands >= 12, "found {commands}");
}

#[test]
fn an_ellipsis_matches_anything_and_other_text_itself() {
    assert!(is_like("a b c", "a b c") && is_like("a b c", "a … c") && is_like("a b c", "a …"));
    assert!(!is_like("a b c", "a b") && !is_like("a b c", "a … d") && !is_like("a b c d", "a … c"));
    assert!(is_shown(&["a", "b", "c"], &["a", "…", "c"]) && is_shown(&["a"], &["a", "…"]));
    assert!(!is_shown(&["a", "b"], &["a"]) && !is_shown(&["a"], &["a", "b"]));
    assert!(!is_shown(&["a", "b", "c"], &["a", "…", "d"]));
}
