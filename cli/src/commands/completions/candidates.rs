//! Completion candidates for the word being typed: jobs of a cluster, folders of jobs, puzzles.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use clap::{Args, Command as Definition, FromArgMatches};
use clap_complete::engine::{CompletionCandidate, PathCompleter, ValueCompleter};
use strata_proto::v1;
use strata_store::{RealFs, jobs_in};

use crate::args::cluster::ClientArgs;
use crate::client::remote::Remote;
use crate::program;

/// Time limit of the call to a coordinator. It is short because the user waits.
const TIMEOUT: Duration = Duration::from_millis(800);

/// Number of jobs that are listed, newest first.
const MOST_JOBS: usize = 200;

/// The data directories in which jobs are looked for if none is given.
const DATA_DIRS: [&str; 2] = ["strata-data", "strata-worker"];

/// The puzzles of the program whose names start with the word so far.
pub(super) fn puzzles(current: &OsStr) -> Vec<CompletionCandidate> {
    let entries = program::puzzles().entries().iter();
    let entries = entries.filter(|entry| starts(entry.name, current));
    entries.map(|entry| candidate(entry.name, entry.summary)).collect()
}

/// Files, for the puzzle that is read from one. Arguments of other puzzles have no candidates.
pub(super) fn puzzle_arguments(current: &OsStr) -> Vec<CompletionCandidate> {
    if words().iter().any(|word| word == "puzzle") {
        PathCompleter::file().complete(current)
    } else {
        Vec::new()
    }
}

/// Jobs of the cluster, and folders.
pub(super) fn jobs(current: &OsStr) -> Vec<CompletionCandidate> {
    let words = words();
    let mut all = cluster_jobs(&words, current);
    all.extend(folders(current));
    all
}

/// Folders of jobs in the data directory, and any other folders.
pub(super) fn folders(current: &OsStr) -> Vec<CompletionCandidate> {
    let (words, mut all) = (words(), Vec::new());
    for folder in data_dirs(&words) {
        for job in jobs_in(&RealFs, &folder).unwrap_or_default() {
            let path = folder.join(&job);
            if path.as_os_str().as_encoded_bytes().starts_with(current.as_encoded_bytes()) {
                all.push(CompletionCandidate::new(path).help(Some("a job in a folder".into())));
            }
        }
    }
    all.extend(PathCompleter::dir().complete(current));
    all
}

/// Whether a name continues the word so far.
fn starts(name: &str, current: &OsStr) -> bool {
    name.as_bytes().starts_with(current.as_encoded_bytes())
}

fn candidate(value: &str, help: &str) -> CompletionCandidate {
    CompletionCandidate::new(value).help(Some(help.to_owned().into()))
}

/// The command line being typed, without the program's name.
fn words() -> Vec<OsString> {
    std::env::args_os().skip_while(|word| word != "--").skip(2).collect()
}

/// The data directories: that of `--data-dir DIR`, `--data-dir=DIR` or the variable, else the default ones.
fn data_dirs(words: &[OsString]) -> Vec<PathBuf> {
    let joined = |word: &OsString| word.to_str()?.strip_prefix("--data-dir=").map(OsString::from);
    let given = words.iter().enumerate().find_map(|(at, word)| {
        if word == "--data-dir" { words.get(at + 1).cloned() } else { joined(word) }
    });
    match given.or_else(|| std::env::var_os("STRATA_DATA_DIR")) {
        Some(dir) => vec![PathBuf::from(dir)],
        None => DATA_DIRS.map(PathBuf::from).to_vec(),
    }
}

/// The flags of [`ClientArgs`] among the words, with their values.
fn cluster_flags(words: &[OsString], definition: &Definition) -> Vec<OsString> {
    let mut flags = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        let Some(long) = text.strip_prefix("--") else { continue };
        let (name, value) = long.split_once('=').map_or((long, None), |(n, v)| (n, Some(v)));
        let arg = definition.get_arguments().find(|arg| arg.get_long() == Some(name));
        let Some(arg) = arg else { continue };
        flags.push(word.clone());
        if value.is_none() && arg.get_action().takes_values() {
            flags.extend(words.next().cloned());
        }
    }
    flags
}

/// The cluster that the command line and the environment name. None if they are incomplete or
/// refused.
fn cluster(words: &[OsString]) -> Option<ClientArgs> {
    let definition = ClientArgs::augment_args(Definition::new("flags").no_binary_name(true));
    let flags = cluster_flags(words, &definition);
    ClientArgs::from_arg_matches(&definition.try_get_matches_from(flags).ok()?).ok()
}

/// Ids and names of the cluster's newest jobs; for `cancel`, of those that have not ended. Empty if the
/// coordinator does not reply in time.
fn cluster_jobs(words: &[OsString], current: &OsStr) -> Vec<CompletionCandidate> {
    // Paths are not ids.
    if Path::new(current).components().count() > 1 {
        return Vec::new();
    }
    let Some(args) = cluster(words) else { return Vec::new() };
    let unfinished = words.first().is_some_and(|word| word == "cancel");
    let (sender, receiver) = mpsc::channel();
    // The process exits once the candidates are printed, which ends a thread that still waits.
    let asked = std::thread::Builder::new().spawn(move || {
        let jobs = Remote::connect(&args).and_then(|remote| remote.list(unfinished));
        // The receiver is gone if the call took too long.
        let _ = sender.send(jobs.unwrap_or_default());
    });
    let jobs = asked.ok().and_then(|_| receiver.recv_timeout(TIMEOUT).ok()).unwrap_or_default();
    let newest = jobs.iter().rev().take(MOST_JOBS);
    newest.flat_map(|job| job_candidates(job, current)).collect()
}

/// The id and the name of a job, if they continue the word so far.
fn job_candidates(job: &v1::Job, current: &OsStr) -> Vec<CompletionCandidate> {
    let state = job.state().as_str_name().trim_start_matches("JOB_STATE_").to_lowercase();
    let words = [&job.name, &job.id].into_iter().filter(|word| !word.is_empty());
    let words = words.filter(|word| starts(word, current));
    words.map(|word| candidate(word, &state)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn completion_uses_the_cluster_of_the_command_line() {
        let args = cluster(&words("status -v --coordinator http://a:1 --json --token-file t pan"));
        let args = args.unwrap();
        assert_eq!(args.coordinator, "http://a:1");
        assert_eq!(args.security.token_file, Some(PathBuf::from("t")));
        let args = cluster(&words("logs --coordinator=http://b:2 -f")).unwrap();
        assert_eq!(args.coordinator, "http://b:2");
        assert!(cluster(&words("logs --coordinator")).is_none(), "its value is not typed yet");
    }

    #[test]
    fn completion_uses_the_data_directory_of_the_command_line() {
        assert_eq!(data_dirs(&words("verify --data-dir x y")), [PathBuf::from("x")]);
        assert_eq!(data_dirs(&words("verify --data-dir=x y")), [PathBuf::from("x")]);
        assert_eq!(data_dirs(&words("verify y")), DATA_DIRS.map(PathBuf::from));
    }

    #[test]
    fn ids_and_names_that_start_with_the_typed_word_are_candidates() {
        let (id, name) = ("panex-6-abcdef".to_owned(), "paper".to_owned());
        let job = v1::Job { id, name, ..v1::Job::default() };
        let found = |current: &str| {
            let all = job_candidates(&job, OsStr::new(current));
            all.iter().map(|one| one.get_value().to_string_lossy().into_owned()).collect::<Vec<_>>()
        };
        assert_eq!(found("pa"), ["paper", "panex-6-abcdef"]);
        assert_eq!(found("pan"), ["panex-6-abcdef"]);
        assert_eq!(found("x"), Vec::<String>::new());
    }
}
