//! Commands that are programs of their own: which program runs and with which arguments, and the
//! error without one.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::{expect, refused, strata};
use tempfile::{TempDir, tempdir};

/// Prints its name, its arguments and a variable.
const SCRIPT: &str = "#!/bin/sh\necho \"$0: $* ($STRATA_MEMORY)\"; exit 7\n";

/// Writes an executable script through another process. A file that this process has open for
/// writing, and that a process of another test inherits at that moment, could not be executed.
fn script(file: &Path) {
    let line = r#"printf %s "$1" >"$2" && chmod 755 "$2""#;
    let mut shell = Command::new("sh");
    shell.args(["-c", line, "sh", SCRIPT]).arg(file);
    assert!(shell.status().unwrap().success());
}

/// A folder with a copy of the program, beside which there is no other, and an empty folder as `PATH`.
struct Installed {
    folder: TempDir,
    path: TempDir,
}

impl Installed {
    fn new() -> Installed {
        // On the file system of the program, so that the copy can be a link.
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let installed = Installed { folder, path: tempdir().unwrap() };
        let mut copy = Command::new("sh");
        copy.args(["-c", r#"cp -l "$1" "$2" 2>/dev/null || cp "$1" "$2""#, "sh"]);
        copy.arg(strata("").get_program()).arg(installed.beside("strata"));
        assert!(copy.status().unwrap().success());
        installed
    }

    fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn strata(&self, line: &str) -> Command {
        let mut command = Command::new(self.beside("strata"));
        command.args(line.split_whitespace()).env_clear().env("PATH", self.path.path());
        command
    }
}

#[test]
fn an_unknown_command_runs_the_program_in_path_with_all_arguments() {
    let folder = tempdir().unwrap();
    let program = folder.path().join("strata-x-tool");
    script(&program);
    let old = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(folder.path().to_owned()).chain(std::env::split_paths(&old));
    let mut command = strata("--progress none x-tool a --memory 1 -- --json");
    command.env("PATH", std::env::join_paths(folders).unwrap()).env("STRATA_MEMORY", "3GiB");
    let ran = expect(7, &mut command);
    let line = format!("{}: --progress none a --memory 1 -- --json (3GiB)\n", program.display());
    assert_eq!((ran.stdout, ran.stderr), (line, String::new()));
}

#[test]
fn panex_and_tiles_run_the_program_beside_strata_before_one_in_path() {
    let installed = Installed::new();
    let (beside, in_path) =
        (installed.beside("strata-panex"), installed.path.path().join("strata-panex"));
    script(&in_path);
    let prints = |line: &str, program: &Path, arguments: &str| {
        let ran = expect(7, &mut installed.strata(line));
        assert_eq!(ran.stdout, format!("{}: {arguments} ()\n", program.display()), "{line}");
    };
    prints("panex op X 5", &in_path, "op X 5");
    script(&beside);
    prints("--json panex op X 5", &beside, "--json op X 5");
    prints("-q tiles check", &beside, "tiles -q check");
    prints("panex --help", &beside, "--help");
    prints("help panex op", &beside, "op --help");
    prints("help tiles", &beside, "tiles --help");
    // A shell's request for completions, too.
    let mut request = installed.strata("-- strata tiles wa");
    let ran = expect(7, request.env("STRATA_COMPLETE", "bash"));
    assert!(ran.stdout.ends_with("strata-panex: -- strata tiles wa ()\n"), "{}", ran.stdout);
}

#[test]
fn a_missing_program_is_named_with_the_places_and_the_way_to_get_it() {
    let installed = Installed::new();
    for (line, name) in
        [("panex op X", "panex"), ("--json tiles", "tiles"), ("help panex", "panex")]
    {
        let message = refused(&mut installed.strata(line), "strata-panex");
        assert!(message.starts_with(&format!("error: the command '{name}' is the")), "{message}");
        let places =
            format!("is not in {} or in a folder of PATH", installed.folder.path().display());
        assert!(message.contains(&places), "{message}");
        assert!(
            message.ends_with("'cargo build --release -p strata-panex' builds it\n"),
            "{message}"
        );
    }
}

#[test]
fn a_word_without_a_program_is_a_usage_error_with_a_suggestion() {
    let installed = Installed::new();
    // Neither a program: a folder, and a file that is not executable.
    std::fs::create_dir(installed.beside("strata-slove")).unwrap();
    std::fs::write(installed.beside("strata-pannex"), SCRIPT).unwrap();
    for (word, similar) in [("slove", "solve"), ("pannex", "panex")] {
        let message = refused(&mut installed.strata(word), "a similar subcommand exists");
        assert!(
            message.starts_with(&format!("error: unrecognized subcommand '{word}'")),
            "{message}"
        );
        assert!(message.contains(&format!("'{similar}'")), "{message}");
    }
}

#[test]
fn built_in_commands_never_run_another_program() {
    let installed = Installed::new();
    script(&installed.beside("strata-domains"));
    script(&installed.beside("strata-help"));
    for line in ["domains", "help domains", "help", "--help"] {
        expect(0, &mut installed.strata(line));
    }
}

#[test]
fn a_file_that_cannot_run_is_an_error() {
    let installed = Installed::new();
    let file = installed.beside("strata-broken");
    let mut shell = Command::new("sh");
    shell.args(["-c", r#"printf '#!/no/such/shell\n' >"$1" && chmod 755 "$1""#, "sh"]).arg(&file);
    assert!(shell.stdin(Stdio::null()).status().unwrap().success());
    refused(&mut installed.strata("broken"), &format!("cannot run {}: ", file.display()));
}
