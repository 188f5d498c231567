//! Process tests of `strata plot`: text, images, JSON, comparisons and refusals.

use std::path::Path;

use crate::common::{Finished, run, solve, strata};
use tempfile::{TempDir, tempdir};

/// A data directory with one finished job.
fn job(line: &str) -> TempDir {
    let dir = tempdir().unwrap();
    let solved = run(&mut solve(dir.path(), line));
    assert_eq!(solved.code, Some(0), "{}", solved.stderr);
    dir
}

/// The id of the only job.
fn id(dir: &Path) -> String {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap());
    let mut jobs = entries.filter(|entry| entry.path().is_dir());
    jobs.next().unwrap().file_name().into_string().unwrap()
}

#[track_caller]
fn plot(code: i32, dir: &Path, line: &str) -> Finished {
    let mut command = strata("plot");
    let ran = run(command.arg(dir).args(line.split_whitespace()));
    assert_eq!(ran.code, Some(code), "{line}: {}{}", ran.stdout, ran.stderr);
    ran
}

/// A stopped job has a dashed curve of the rest; a job that is done has none.
#[test]
fn a_stopped_job_has_a_dashed_forecast_curve() {
    let dir = tempdir().unwrap();
    let stopped = run(&mut solve(dir.path(), "panex 5 --engine explicit --max-layers 100"));
    assert_eq!(stopped.code, Some(4), "{}", stopped.stderr);
    let drawn = plot(0, dir.path(), "--as svg").stdout;
    assert!(drawn.contains("(expected)"), "{drawn}");
    let times = plot(0, dir.path(), "--as svg --what time").stdout;
    assert!(!times.contains("(expected)"), "{times}");
    let done = job("panex 4 --engine explicit");
    assert!(!plot(0, done.path(), "--as svg").stdout.contains("(expected)"));
}

/// Counts of Panex 4 are known, so the chart is the same each time, except for the id.
#[test]
fn the_terminal_shows_positions_by_depth_in_80_columns() {
    let dir = job("panex 4");
    let text = |line: &str| {
        let printed = plot(0, dir.path(), line).stdout;
        let fits = |line: &str| line.contains('\u{1b}') || line.chars().count() <= 80;
        assert!(printed.lines().all(fits), "{printed}");
        printed.replace(&id(dir.path()), "panex-4")
    };
    assert_eq!(text(""), include_str!("plot/positions.txt"));
    assert_eq!(text("--log"), include_str!("plot/log.txt"));
    let coloured = text("--color always");
    assert!(coloured.contains("\u{1b}[34m") && coloured.contains("\u{1b}[0m"), "{coloured}");
    let titles = ["time", "bytes", "rate", "bytes-per-state"].map(|what| {
        let printed = text(&format!("--what {what}"));
        printed.lines().next().unwrap().to_owned()
    });
    assert_eq!(
        titles,
        [
            "panex-4: time by depth",
            "panex-4: bytes by depth",
            "panex-4: throughput over time",
            "panex-4: bytes per state by depth",
        ]
    );
}

#[test]
fn images_have_their_form_size_and_labels() {
    let dir = job("panex 4");
    let svg = dir.path().join("chart.svg");
    let ran = plot(0, dir.path(), &format!("--out {}", svg.display()));
    assert_eq!(ran.stdout, "");
    let text = std::fs::read_to_string(&svg).unwrap();
    let title = format!("{}: positions by depth", id(dir.path()));
    for label in ["viewBox=\"0 0 800 450\"", &title, ">positions<", ">depth<", ">0<", ">800<"] {
        assert!(text.contains(label), "{label} is missing in {text}");
    }
    // The same on standard output, which names no file.
    assert_eq!(plot(0, dir.path(), "--as svg").stdout, text);

    let png = dir.path().join("chart.png");
    let line = format!("--out {} --size 640x360 --theme dark --json", png.display());
    let ran = plot(0, dir.path(), &line);
    let bytes = std::fs::read(&png).unwrap();
    assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n");
    assert_eq!(bytes[16..24], [0, 0, 2, 128, 0, 0, 1, 104]);
    let event = ran.event("plot");
    assert_eq!((&event["form"], &event["bytes"]), (&"png".into(), &bytes.len().into()));
    assert_eq!(event["file"], png.to_str().unwrap());
}

#[test]
fn json_has_every_layer() {
    let dir = job("panex 4");
    let ran = plot(0, dir.path(), "--json");
    let points = ran.event("curve")["points"].clone();
    let growth = run(strata("stats --format growth").arg(dir.path())).stdout;
    let expected: Vec<serde_json::Value> = growth
        .lines()
        .map(|line| line.split(' ').map(|word| word.parse::<f64>().unwrap()).collect::<Vec<_>>())
        .map(Into::into)
        .collect();
    assert_eq!(points.as_array().unwrap(), &expected);
    let event = ran.event("plot");
    assert_eq!((&event["what"], &event["y"]["unit"]), (&"positions".into(), &"1".into()));
    assert_eq!(event["y"]["scale"], "linear");
    assert!(event.get("file").is_none());
}

#[test]
fn jobs_are_compared_in_one_chart() {
    let (dir, other) = (job("panex 4"), job("hanoi 6"));
    let line = format!("--compare {}", other.path().display());
    let text = plot(0, dir.path(), &line).stdout;
    let (one, two) = (id(dir.path()), id(other.path()));
    assert!(text.starts_with(&format!("positions by depth: {one}, {two}\n")), "{text}");
    assert!(text.contains(&format!("  {one}\n")) && text.contains(&format!("  {two}\n")), "{text}");
    let events = plot(0, dir.path(), &format!("{line} --json")).events("curve");
    assert_eq!(events.len(), 2);
}

#[test]
fn what_cannot_be_drawn_is_refused_with_its_reason() {
    let dir = job("panex 3 --engine symbolic");
    let bytes = plot(2, dir.path(), "--what bytes-per-state");
    assert!(bytes.stderr.contains(": no bytes-per-state to draw: "), "{}", bytes.stderr);
    let ending = plot(2, dir.path(), "--out chart.gif");
    assert!(ending.stderr.contains("--out chart.gif: use .svg, .png or .txt"), "{}", ending.stderr);
    let folder = plot(2, dir.path(), "--out no/such/chart.svg");
    assert!(folder.stderr.contains("--out: there is no folder no/such"), "{}", folder.stderr);
    let size = plot(2, dir.path(), "--size 10x10 --out chart.svg");
    assert!(size.stderr.contains("use 320x200 to 4096x4096"), "{}", size.stderr);
    plot(11, &dir.path().join("none"), "");
    plot(11, dir.path(), "--compare ./none");
}

/// README's picture, by the command that its caption names.
#[test]
fn the_picture_in_readme_is_what_the_program_draws() {
    let dir = job("panex 8 --engine symbolic");
    let svg = dir.path().join("panex-8.svg");
    let mut command = strata("plot");
    command.arg(dir.path()).args(["--title", "Panex 8", "--out"]).arg(&svg);
    assert_eq!(run(&mut command).code, Some(0));
    let drawn = std::fs::read_to_string(svg).unwrap();
    let picture = include_str!("../../../docs/images/panex-8.svg");
    assert!(drawn == picture, "docs/images/panex-8.svg is not what is drawn");
    assert!(drawn.contains("Highest: 2,722,154 at depth "), "twice the 1,361,077 states");
}
