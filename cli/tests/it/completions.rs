//! Completions in a real bash: of commands, flags, puzzles, jobs of a cluster and folders; and the
//! manual pages.

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::client::fake::{Fake, Script, done};
use crate::common::{Finished, expect, only_job, solve, strata};
use tempfile::tempdir;

/// The candidates of bash for the last word of a line, in a folder. Asserts that nothing is
/// printed.
fn complete(folder: &Path, line: &str) -> Vec<String> {
    let script = r#"
source <(strata completions bash) || exit 1
COMP_WORDS=($1)
[[ $1 != *" " ]] || COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_TYPE=9
complete -p strata >/dev/null || exit 2
_clap_complete_strata strata "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
[[ ${#COMPREPLY[@]} -eq 0 ]] || printf '%s\n' "${COMPREPLY[@]}"
"#;
    let program = strata("").get_program().to_owned();
    let programs = [Path::new(&program).parent().unwrap().to_owned()];
    let old = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(programs.into_iter().chain(std::env::split_paths(&old)));
    let mut bash = Command::new("bash");
    for (name, _) in std::env::vars_os().filter(|(n, _)| n.to_string_lossy().starts_with("STRATA_"))
    {
        bash.env_remove(name);
    }
    bash.args(["-c", script, "bash", line]).current_dir(folder).env("PATH", path.unwrap());
    let ran = Finished::of(bash.output().unwrap());
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{line}: {}", ran.stdout);
    ran.stdout.lines().map(|line| line.trim_end().to_owned()).collect()
}

#[test]
fn commands_flags_values_puzzles_and_files_are_completed() {
    let folder = tempdir().unwrap();
    std::fs::write(folder.path().join("cube.tws"), "").unwrap();
    let complete = |line: &str| complete(folder.path(), line);
    assert_eq!(complete("strata sol"), ["solve"]);
    assert_eq!(complete("strata solve pan"), ["panex", "pancake"]);
    assert!(complete("strata submit ").contains(&"hanoi".to_owned()));
    assert_eq!(complete("strata solve panex 6 --max-l"), ["--max-layers"]);
    let engines = complete("strata solve panex 6 --engine sym");
    assert_eq!(engines, ["symbolic", "symbolic-lean"]);
    assert_eq!(complete("strata solve puzzle cu"), ["cube.tws"]);
    assert_eq!(complete("strata no-such-command x"), Vec::<String>::new());
}

#[test]
fn jobs_of_the_cluster_are_completed() {
    let folder = tempdir().unwrap();
    let named = strata_proto::v1::Job { name: "paper".to_owned(), ..done(2) };
    let fake = Fake::start(Script { jobs: vec![named], ..Script::default() });
    for command in ["status", "watch", "logs -f", "resume", "stats", "path"] {
        let line = format!("strata {command} --coordinator {} pa", fake.url());
        let mut found = complete(folder.path(), &line);
        found.sort();
        assert_eq!(found, ["panex-3-aaaaaa", "paper"], "{line}");
    }
}

#[test]
fn completion_gives_up_silently_when_the_coordinator_is_unreachable() {
    let folder = tempdir().unwrap();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for address in [silent.local_addr().unwrap(), closed] {
        let start = Instant::now();
        let line = format!("strata status --coordinator http://{address} pa");
        assert_eq!(complete(folder.path(), &line), Vec::<String>::new());
        assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    }
    let line = "strata status --token-file no/such/file pa";
    assert_eq!(complete(folder.path(), line), Vec::<String>::new());
}

#[test]
fn folders_of_jobs_are_completed() {
    let folder = tempdir().unwrap();
    let data = folder.path().join("strata-data");
    expect(0, &mut solve(&data, "hanoi 3"));
    let job = only_job(&data);
    let job = format!("strata-data/{}", job.file_name().unwrap().to_str().unwrap());
    for line in ["strata verify strata-data/h", "strata layer strata-data/h"] {
        assert!(complete(folder.path(), line).contains(&job), "{line}");
    }
    std::fs::rename(&data, folder.path().join("other")).unwrap();
    let job = job.replace("strata-data", "other");
    let found = complete(folder.path(), "strata verify ot");
    assert!(found.iter().any(|word| word.starts_with("other")), "{found:?} for {job}");
}

#[test]
fn all_shells_have_a_script() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = expect(0, &mut strata(&format!("completions {shell}"))).stdout;
        assert!(script.contains("STRATA_COMPLETE") && script.contains("strata"), "{shell}");
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = tempdir().unwrap();
    let ran = expect(0, strata("man --json").arg(folder.path().join("man")));
    let event = ran.event("manual");
    let pages: Vec<&str> =
        event["pages"].as_array().unwrap().iter().flat_map(|p| p.as_str()).collect();
    for page in ["strata.1", "strata-solve.1", "strata-puzzle-info.1", "strata-man.1"] {
        assert!(pages.contains(&page), "{page}: {pages:?}");
    }
    assert!(!pages.contains(&"strata-panex.1"), "it is written by that program: {pages:?}");
    let has_groff = Command::new("groff").arg("--version").output().is_ok();
    for page in &pages {
        let file = folder.path().join("man").join(page);
        let text = std::fs::read_to_string(&file).unwrap();
        let name = page.strip_suffix(".1").unwrap();
        assert!(text.contains(&format!(".TH {name} 1 ")), "{page}");
        assert!(text.contains(".SH NAME") && text.contains(".SH SYNOPSIS"), "{page}");
        if has_groff {
            let ran =
                Command::new("groff").args(["-Kutf8", "-man", "-Tutf8", "-ww"]).arg(&file).output();
            let ran = Finished::of(ran.unwrap());
            assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{page}");
        }
    }
}
