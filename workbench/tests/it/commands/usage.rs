//! Command line of the process: names of the commands, usage errors, completions and manual pages.

use tempfile::tempdir;

use super::{expect, refused, strata};

#[test]
fn a_line_without_a_command_is_a_command_of_panex() {
    let bound = expect(0, &mut strata("panex bound 7")).stdout;
    assert_eq!(expect(0, &mut strata("bound 7")).stdout, bound);
    let json = expect(0, &mut strata("--json --progress none panex bound 7")).stdout;
    assert_eq!(expect(0, &mut strata("--progress none --json bound 7")).stdout, json);
    let version = expect(0, &mut strata("--version")).stdout;
    assert_eq!(version, format!("strata-panex {}\n", env!("CARGO_PKG_VERSION")));
    assert!(expect(2, &mut strata("")).stderr.contains("Usage: strata panex [OPTIONS] <COMMAND>"));
}

#[test]
fn usage_errors_name_the_commands_of_strata() {
    for (line, message) in [
        ("--quiet bound --bogus", "see 'strata panex bound --help'"),
        ("tiles chek", "see 'strata tiles --help'"),
        ("drow", "a similar subcommand exists: 'draw'; see 'strata panex --help'"),
    ] {
        refused(&mut strata(line), message);
    }
    let variable = "(from the environment variable STRATA_THREADS)";
    refused(strata("choke 3").env("STRATA_THREADS", "zero"), variable);
}

#[test]
fn help_names_the_commands_of_strata() {
    for (line, usage) in [
        ("--help", "Usage: strata panex [OPTIONS] <COMMAND>"),
        ("op -h", "`strata panex op --help` describes all flags"),
        ("panex help op", "Usage: strata panex op [OPTIONS] <NAME> [LEVEL]"),
        ("tiles walk --help", "Usage: strata tiles walk [OPTIONS] <RxC> <START>"),
    ] {
        let help = expect(0, &mut strata(line)).stdout;
        assert!(help.contains(usage), "{line}: {help}");
    }
}

/// The line after `--` is what a shell passes on, and the index is that of the typed word.
#[test]
fn commands_and_flags_are_completed() {
    for (line, found) in [
        ("strata panex pro", "prove"),
        ("strata --json panex op X 5 --varia", "--variation"),
        ("strata panex draw x --as s", "svg"),
        ("strata tiles wa", "walk"),
    ] {
        let mut command = strata("--");
        let words = line.split(' ');
        let index = words.clone().count() - 1;
        command.args(words).env("STRATA_COMPLETE", "bash");
        command.env("_CLAP_COMPLETE_INDEX", index.to_string()).env("_CLAP_COMPLETE_COMP_TYPE", "9");
        command.env("_CLAP_IFS", "\n");
        assert_eq!(expect(0, &mut command).stdout.trim(), found, "{line}");
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = tempdir().unwrap();
    let event = expect(0, strata("man --json").arg(folder.path())).event("manual");
    let pages: Vec<&str> =
        event["pages"].as_array().unwrap().iter().flat_map(|page| page.as_str()).collect();
    for page in ["strata-panex.1", "strata-panex-op.1", "strata-tiles.1", "strata-tiles-walk.1"] {
        assert!(pages.contains(&page), "{page}: {pages:?}");
    }
    for page in pages {
        let text = std::fs::read_to_string(folder.path().join(page)).unwrap();
        assert!(text.contains(&format!(".TH {} 1 ", page.strip_suffix(".1").unwrap())), "{page}");
    }
}
