//! Tests of `scripts/nightly`: its steps are those of the page, and its table and exit code report
//! what ran.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use strata_checks::workspace::root;

/// A folder with the script, and other scripts that only end with an exit code.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new(scripts: &[(&str, i32)]) -> Folder {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("scripts")).unwrap();
        std::fs::create_dir(folder.path().join("bin")).unwrap();
        let script = std::fs::read(root().join("scripts/nightly")).unwrap();
        program(&folder.path().join("scripts/nightly"), &script);
        for (name, code) in scripts {
            // A command after the failed one shows whether it ended the step.
            let text = format!("#!/bin/sh\necho {name} \"$@\"\nexit {code}\n");
            program(&folder.path().join(name), text.as_bytes());
        }
        Folder(folder)
    }

    fn run(&self, args: &[&str]) -> Output {
        let folder = self.0.path();
        let path = format!("{}:{}", folder.join("bin").display(), std::env::var("PATH").unwrap());
        let mut command = Command::new(folder.join("scripts/nightly"));
        command.args(args).env("PATH", path).env_remove("CARGO_TARGET_DIR");
        command.output().unwrap()
    }
}

fn program(path: &Path, text: &[u8]) {
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
}

/// The lines of the table at the end: step, result and reason.
fn table(output: &Output) -> Vec<[String; 3]> {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    let rows = text.lines().rev().take_while(|line| !line.starts_with("step "));
    let row = |line: &str| {
        let mut words = line.split_whitespace().map(str::to_owned);
        let [step, result, seconds, unit] = [(); 4].map(|()| words.next().unwrap());
        assert!(seconds.parse::<u32>().is_ok() && unit == "s", "{line}");
        [step, result, words.collect::<Vec<_>>().join(" ")]
    };
    let mut rows: Vec<[String; 3]> = rows.map(row).collect();
    rows.reverse();
    rows
}

#[test]
fn the_table_lists_what_ran() {
    let scripts =
        [("scripts/fuzz", 0), ("scripts/simulate", 3), ("scripts/chaos", 0), ("bin/cargo", 101)];
    let folder = Folder::new(&scripts);
    // No cargo, so no Miri: a skipped step is not a failure.
    let ran = folder.run(&["miri", "chaos-tls"]);
    assert_eq!(ran.status.code(), Some(0));
    let [miri, chaos] = &table(&ran)[..] else { panic!("{ran:?}") };
    assert_eq!(miri[..2], ["miri", "skipped"]);
    assert!(miri[2].starts_with("no Miri: "), "{miri:?}");
    assert_eq!(*chaos, ["chaos-tls", "ok", ""]);
    // A failure does not keep the next step from running, and is not forgotten.
    let ran = folder.run(&["simulate", "fuzz"]);
    assert_eq!(ran.status.code(), Some(1));
    let [simulate, fuzz] = &table(&ran)[..] else { panic!("{ran:?}") };
    assert_eq!(simulate[..2], ["simulate", "failed"]);
    assert!(simulate[2].starts_with("exit 3, see "), "{simulate:?}");
    assert_eq!(*fuzz, ["fuzz", "ok", ""]);
    let log = std::fs::read_to_string(folder.0.path().join("target/nightly/simulate.log"));
    assert_eq!(log.unwrap(), "scripts/simulate --seeds 3000 --reach\n");
}

#[test]
fn a_command_that_fails_ends_its_step() {
    let folder = Folder::new(&[("scripts/soak", 0), ("bin/cargo", 101)]);
    let ran = folder.run(&["soak"]);
    assert_eq!(ran.status.code(), Some(1));
    let [soak] = &table(&ran)[..] else { panic!("{ran:?}") };
    assert_eq!(soak[..2], ["soak", "failed"]);
    assert!(soak[2].starts_with("exit 101"), "{soak:?}");
    let output = String::from_utf8(ran.stdout).unwrap();
    assert!(!output.contains("scripts/soak --jobs"), "{output}");
}

#[test]
fn an_unknown_step_is_refused() {
    let ran = Folder::new(&[]).run(&["fuzz", "nothing"]);
    assert_eq!(ran.status.code(), Some(2));
    assert!(ran.stdout.is_empty());
    let error = String::from_utf8(ran.stderr).unwrap();
    assert!(error.starts_with("unknown step nothing; the steps are: advisories "), "{error}");
}

#[test]
fn the_page_has_the_steps() {
    let ran = Folder::new(&[]).run(&["--list"]);
    let listed = String::from_utf8(ran.stdout).unwrap();
    let listed: Vec<&str> = listed.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(listed.len() > 10);
    let page = std::fs::read_to_string(root().join("docs/testing.md")).unwrap();
    let (_, section) = page.split_once("\n## Every night\n").unwrap();
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    assert_eq!(rows.collect::<Vec<_>>(), listed);
}
