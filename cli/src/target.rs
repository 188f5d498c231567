//! Jobs as arguments: the folder of a job, a job in a data directory, or a job of a cluster.
//!
//! Every command that accepts such a job resolves its word here. A word with a slash, `.` and `..`
//! name a folder. Any other word is, in this order, a folder that is a job's or holds a single job,
//! a job in `--data-dir`, or a job of the cluster. With `--coordinator` on the command line, it is
//! a job of the cluster.

use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command as Definition, Id};
use strata_proto::v1;
use strata_store::{JobDir, RealFs, jobs_in};

use crate::args::cluster::ClientArgs;
use crate::client::remote::Remote;
use crate::output::exit::{ExitCode, Failure};

/// The file that every job's folder has.
const MANIFEST_FILE: &str = "manifest.json";

/// A job, and where to look for it.
#[derive(Debug, Args)]
pub(crate) struct TargetArgs {
    /// Folder of a job, or of a single one; a job in --data-dir; or a job of the cluster
    #[arg(value_name = "JOB|DIR")]
    pub(crate) job: PathBuf,

    /// Where to look for it.
    #[command(flatten)]
    pub(crate) places: Places,
}

/// Where to look for jobs.
#[derive(Debug, Args)]
pub(crate) struct Places {
    /// Folder that holds a folder for each job
    #[arg(long, value_name = "DIR", default_value = "./strata-data")]
    #[arg(env = "STRATA_DATA_DIR", hide_env_values = true)]
    pub(crate) data_dir: PathBuf,

    /// The cluster.
    #[command(flatten)]
    pub(crate) client: ClientArgs,

    /// The flags of the command line: a typed `--coordinator` means that the cluster has the job.
    #[arg(skip)]
    pub(crate) typed: Typed,
}

/// Long names of the flags that are on a command line, and of those that variables give.
#[derive(Clone, Debug, Default)]
pub(crate) struct Typed {
    typed: Vec<String>,
    variables: Vec<String>,
}

impl Typed {
    /// The flags of a command.
    pub(crate) fn new(definition: &Definition, matches: &ArgMatches) -> Typed {
        let flags = |source: ValueSource| {
            let is_given = |id: &Id| matches.value_source(id.as_str()) == Some(source);
            let flags = definition.get_arguments().filter(|arg| is_given(arg.get_id()));
            flags.filter_map(Arg::get_long).map(str::to_owned).collect()
        };
        Typed { typed: flags(ValueSource::CommandLine), variables: flags(ValueSource::EnvVariable) }
    }

    /// The first of some flags that is on the command line.
    pub(crate) fn first_of<'a>(&self, flags: &[&'a str]) -> Option<&'a str> {
        flags.iter().copied().find(|flag| self.typed.iter().any(|typed| typed == flag))
    }

    /// Whether a flag is on the command line or given by a variable.
    fn is_given(&self, flag: &str) -> bool {
        self.typed.iter().chain(&self.variables).any(|given| given == flag)
    }
}

/// A job that was found.
pub(crate) enum Target<'a> {
    /// The folder of a job.
    Folder(PathBuf),
    /// A job of a cluster, as it is now.
    Cluster(Box<ClusterJob<'a>>),
}

/// A job of a cluster.
pub(crate) struct ClusterJob<'a> {
    /// The connection to the coordinator.
    pub(crate) remote: Remote<'a>,
    /// The job.
    pub(crate) job: v1::Job,
}

impl TargetArgs {
    /// Finds the job.
    ///
    /// # Errors
    /// As [`Places::find`].
    pub(crate) fn find(&self) -> Result<Target<'_>, Failure> {
        self.places.find(&self.job)
    }
}

/// Result of looking for a job in folders.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// The folder of a job.
    Folder(PathBuf),
    /// No folder has the job, but the cluster may have it. Has one text about each place that was
    /// looked at.
    No(Vec<String>),
}

impl Places {
    /// Finds a job.
    ///
    /// # Errors
    /// `NoSuchJob` if there is none, `Usage` if the word means several jobs, `Unreachable` if the
    /// cluster cannot be reached and no folder has the job; other errors of the call to the
    /// cluster.
    pub(crate) fn find(&self, word: &Path) -> Result<Target<'_>, Failure> {
        match self.look_for(word)? {
            Found::Folder(folder) => Ok(Target::Folder(folder)),
            Found::No(looked) => {
                let remote = self.connect(word, &looked)?;
                let job = remote.status(&word.to_string_lossy());
                let job = job.map_err(|failure| self.not_found(word, &looked, failure))?;
                Ok(Target::Cluster(Box::new(ClusterJob { remote, job })))
            }
        }
    }

    /// Connects to the cluster, after no folder had the job.
    ///
    /// # Errors
    /// `NoSuchJob` if the coordinator's address is the default one and there is no coordinator:
    /// then the word means a folder. `Unreachable` if the address was given.
    pub(crate) fn connect(&self, word: &Path, looked: &[String]) -> Result<Remote<'_>, Failure> {
        Remote::connect(&self.client).map_err(|failure| {
            let is_meant = self.typed.is_given("coordinator");
            if failure.code != ExitCode::Unreachable || is_meant || looked.is_empty() {
                return self.not_found(word, looked, failure);
            }
            let no_coordinator = format!("there is no coordinator at {}", self.client.coordinator);
            let places = [looked, &[no_coordinator]].concat().join(", ");
            Failure::new(ExitCode::NoSuchJob, format!("no such job: {places}"))
        })
    }

    /// Looks for a job in folders.
    ///
    /// # Errors
    /// `NoSuchJob` if the word can only mean a folder and there is none, `Usage` if the word means
    /// several jobs.
    pub(crate) fn look_for(&self, word: &Path) -> Result<Found, Failure> {
        let name = match word.to_str() {
            Some(name) if !is_path(name) => name,
            _ => return folder_of_path(word).map(Found::Folder),
        };
        if self.is_cluster() {
            return Ok(Found::No(Vec::new()));
        }
        let mut looked = vec![match word.is_dir() {
            true => match content(word)? {
                Content::Job => return Ok(Found::Folder(canonical(word)?)),
                Content::Jobs(jobs) if !jobs.is_empty() => {
                    return only(word, &jobs).map(Found::Folder);
                }
                Content::Jobs(_) => format!("there is no job in the folder {name}"),
                Content::Part => format!("the folder {name} is a worker's part of a job"),
            },
            false => format!("there is no folder {name}"),
        }];
        let shown = self.data_dir.display();
        match matching(&self.data_dir, name)? {
            Matching::One(job) => return Ok(Found::Folder(canonical(&self.data_dir.join(job))?)),
            Matching::None => looked.push(format!("no job {name} in {shown}")),
            Matching::NoFolder => looked.push(format!("there is no folder {shown}")),
        }
        Ok(Found::No(looked))
    }

    /// Looks for a job to be removed. A folder is meant by a path, by the name of a file or folder
    /// in the working directory, and by the whole id of a job in the data directory. Whether it is
    /// a job's folder is not checked.
    pub(crate) fn look_for_id(&self, word: &Path) -> Result<Found, Failure> {
        let name = match word.to_str() {
            Some(name) if !is_path(name) => name,
            _ => return Ok(Found::Folder(word.to_owned())),
        };
        if self.is_cluster() {
            return Ok(Found::No(Vec::new()));
        }
        if word.symlink_metadata().is_ok() {
            return Ok(Found::Folder(word.to_owned()));
        }
        let job = self.data_dir.join(name);
        if job.join(MANIFEST_FILE).exists() {
            return Ok(Found::Folder(job));
        }
        let job = format!("no job with the id {name} in {}", self.data_dir.display());
        Ok(Found::No(vec![format!("there is no folder {name}"), job]))
    }

    /// Whether a word that is not a path can only name a job of the cluster.
    fn is_cluster(&self) -> bool {
        self.typed.first_of(&["coordinator"]).is_some()
    }

    /// The failure of a call to the cluster for a job that no folder has, with the places that were
    /// looked at.
    pub(crate) fn not_found(&self, word: &Path, looked: &[String], failure: Failure) -> Failure {
        let (url, word) = (&self.client.coordinator, word.display());
        let mut places = looked.to_vec();
        match failure.code {
            ExitCode::NoSuchJob => places.push(format!("the cluster at {url} has no job {word}")),
            // The messages of other failures name the address.
            _ if looked.is_empty() => return failure,
            // The cluster may have the job.
            code => {
                let places = places.join(", ");
                return Failure::new(code, format!("{places}, and {failure}"));
            }
        }
        Failure::new(failure.code, format!("no such job: {}", places.join(", ")))
    }
}

/// Whether a word can only be the path of a folder.
pub(crate) fn is_path(word: &str) -> bool {
    word.contains('/') || word == "." || word == ".."
}

/// What a folder holds.
enum Content {
    /// It is the folder of a job.
    Job,
    /// It is the folder of a cluster's job at one of its workers.
    Part,
    /// Ids of the jobs in it.
    Jobs(Vec<String>),
}

fn content(dir: &Path) -> Result<Content, Failure> {
    if [MANIFEST_FILE, "history.jsonl"].iter().any(|file| dir.join(file).exists()) {
        return Ok(Content::Job);
    }
    let full = canonical(dir)?;
    if let (Some(data_dir), Some(job)) = (full.parent(), full.file_name().and_then(|n| n.to_str()))
        && JobDir::owner_of(&RealFs, data_dir, job).is_ok_and(|owner| owner.is_some())
    {
        return Ok(Content::Part);
    }
    Ok(Content::Jobs(jobs_in(&RealFs, dir)?))
}

/// The job folder that a path means: itself, the only job in it, or the only job beside it whose id
/// begins with the last part of the path.
fn folder_of_path(path: &Path) -> Result<PathBuf, Failure> {
    let shown = path.display();
    let missing = |why: String| Failure::new(ExitCode::NoSuchJob, format!("no such job: {why}"));
    if path.is_dir() {
        return match content(path)? {
            Content::Job => canonical(path),
            Content::Jobs(jobs) => only(path, &jobs),
            Content::Part => Err(missing(format!(
                "the folder {shown} is a worker's part of a job; ask the cluster for the job"
            ))),
        };
    }
    if path.symlink_metadata().is_ok() {
        return Err(missing(format!("{shown} is no folder")));
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let name = path.file_name().and_then(|name| name.to_str());
    if let (Some(parent), Some(name)) = (parent, name)
        && let Matching::One(job) = matching(parent, name)?
    {
        return canonical(&parent.join(job));
    }
    Err(missing(format!("there is no folder {shown}")))
}

/// The folder of the only job of a data directory.
fn only(dir: &Path, jobs: &[String]) -> Result<PathBuf, Failure> {
    let shown = dir.display();
    match jobs {
        [job] => canonical(&dir.join(job)),
        [] => {
            let message = format!("no such job: there is no job in the folder {shown}");
            Err(Failure::new(ExitCode::NoSuchJob, message))
        }
        jobs => {
            let jobs = jobs.join(", ");
            Err(Failure::usage(format!("{shown} holds several jobs, name one: {jobs}")))
        }
    }
}

/// The job of a data directory that a name means.
enum Matching {
    One(String),
    None,
    /// There is no such data directory.
    NoFolder,
}

/// The job with this id, or else the only one whose id begins with it.
fn matching(data_dir: &Path, name: &str) -> Result<Matching, Failure> {
    if !data_dir.is_dir() {
        return Ok(Matching::NoFolder);
    }
    let jobs = jobs_in(&RealFs, data_dir)?;
    if jobs.iter().any(|job| job == name) {
        return Ok(Matching::One(name.to_owned()));
    }
    let mut jobs: Vec<String> = jobs.into_iter().filter(|job| job.starts_with(name)).collect();
    match jobs.len() {
        0 => Ok(Matching::None),
        1 => Ok(Matching::One(jobs.remove(0))),
        _ => {
            let (dir, jobs) = (data_dir.display(), jobs.join(", "));
            Err(Failure::usage(format!("{name} means several jobs in {dir}, name one: {jobs}")))
        }
    }
}

/// The absolute path, which ends with the job's id even for `.`.
fn canonical(dir: &Path) -> Result<PathBuf, Failure> {
    let missing = |error| Failure::new(ExitCode::NoSuchJob, format!("{}: {error}", dir.display()));
    dir.canonicalize().map_err(missing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::cluster::SecurityArgs;

    /// A data directory with jobs, which have empty manifests.
    fn data_dir(jobs: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for job in jobs {
            std::fs::create_dir(dir.path().join(job)).unwrap();
            std::fs::write(dir.path().join(job).join("manifest.json"), "").unwrap();
        }
        dir
    }

    fn places(data_dir: &Path, typed: &[&str]) -> Places {
        let typed = typed.iter().map(ToString::to_string).collect();
        let typed = Typed { typed, variables: Vec::new() };
        let client =
            ClientArgs { coordinator: "http://c:1".to_owned(), security: SecurityArgs::default() };
        Places { data_dir: data_dir.to_owned(), client, typed }
    }

    fn found(places: &Places, word: impl AsRef<Path>) -> Result<PathBuf, String> {
        match places.look_for(word.as_ref()) {
            Ok(Found::Folder(folder)) => Ok(folder),
            Ok(Found::No(looked)) => Err(format!("cluster: {}", looked.join(", "))),
            Err(failure) => Err(format!("{:?}: {failure}", failure.code)),
        }
    }

    #[test]
    fn a_path_names_a_job_its_data_directory_or_a_prefix_of_its_id() {
        let dir = data_dir(&["panex-3-aaaaaa", "panex-4-bbbbbb"]);
        let single = data_dir(&["hanoi-4-cccccc"]);
        let places = places(Path::new("no/such"), &[]);
        let path =
            |dir: &tempfile::TempDir, job: &str| dir.path().canonicalize().unwrap().join(job);
        let job = path(&dir, "panex-4-bbbbbb");
        assert_eq!(found(&places, &job), Ok(job.clone()));
        assert_eq!(found(&places, dir.path().join("panex-4")), Ok(job));
        assert_eq!(found(&places, single.path()), Ok(path(&single, "hanoi-4-cccccc")));
        let several = found(&places, dir.path()).unwrap_err();
        assert!(several.starts_with("Usage: "), "{several}");
        assert!(several.ends_with("name one: panex-3-aaaaaa, panex-4-bbbbbb"), "{several}");
        let several = found(&places, dir.path().join("panex")).unwrap_err();
        assert!(several.starts_with("Usage: panex means several jobs in "), "{several}");
        let missing = found(&places, dir.path().join("tiles")).unwrap_err();
        let shown = dir.path().display();
        assert_eq!(missing, format!("NoSuchJob: no such job: there is no folder {shown}/tiles"));
        let empty = tempfile::tempdir().unwrap();
        let none = found(&places, empty.path()).unwrap_err();
        assert!(
            none.starts_with("NoSuchJob: no such job: there is no job in the folder "),
            "{none}"
        );
        let file = found(&places, dir.path().join("panex-3-aaaaaa/manifest.json")).unwrap_err();
        assert!(file.ends_with("manifest.json is no folder"), "{file}");
    }

    #[test]
    fn a_word_is_looked_up_in_the_data_directory_and_then_in_the_cluster() {
        let dir = data_dir(&["panex-3", "panex-3-aaaaaa", "panex-4-bbbbbb"]);
        let places = places(dir.path(), &[]);
        let path = |job: &str| Ok(dir.path().canonicalize().unwrap().join(job));
        assert_eq!(found(&places, "panex-4"), path("panex-4-bbbbbb"));
        // A whole id wins over longer ones.
        assert_eq!(found(&places, "panex-3"), path("panex-3"));
        let several = found(&places, "panex").unwrap_err();
        assert!(several.starts_with("Usage: "), "{several}");
        let shown = dir.path().display();
        assert_eq!(
            found(&places, "tiles"),
            Err(format!("cluster: there is no folder tiles, no job tiles in {shown}"))
        );
        // The tests run in the folder of the crate, whose src holds no job.
        assert_eq!(
            found(&places, "src"),
            Err(format!("cluster: there is no job in the folder src, no job src in {shown}"))
        );
    }

    #[test]
    fn a_typed_coordinator_restricts_the_lookup_to_the_cluster() {
        let dir = data_dir(&["panex-3-aaaaaa"]);
        let shown = dir.path().display();
        let cluster = places(dir.path(), &["coordinator"]);
        assert_eq!(found(&cluster, "panex-3-aaaaaa"), Err("cluster: ".to_owned()));
        assert!(found(&cluster, dir.path()).is_ok());
        let missing = places(&dir.path().join("none"), &[]);
        let looked = found(&missing, "panex-3").unwrap_err();
        assert_eq!(
            looked,
            format!("cluster: there is no folder panex-3, there is no folder {shown}/none")
        );
    }

    #[test]
    fn a_workers_part_of_a_job_is_not_a_job_folder() {
        let dir = tempfile::tempdir().unwrap();
        let part = dir.path().join("panex-3-aaaaaa");
        std::fs::create_dir(&part).unwrap();
        std::fs::write(part.join("journal-id"), "0".repeat(32)).unwrap();
        let message = found(&places(dir.path(), &[]), &part).unwrap_err();
        assert!(message.contains("is a worker's part of a job"), "{message}");
    }

    #[test]
    fn only_a_whole_id_names_a_job_to_be_removed() {
        let dir = data_dir(&["panex-3-aaaaaa"]);
        let look_for = |scope, word: &str| match places(dir.path(), scope)
            .look_for_id(Path::new(word))
            .unwrap()
        {
            Found::Folder(folder) => folder.display().to_string(),
            Found::No(looked) => format!("cluster after {}", looked.len()),
        };
        let job = dir.path().join("panex-3-aaaaaa").display().to_string();
        assert_eq!(look_for(&[], "panex-3-aaaaaa"), job);
        assert_eq!(look_for(&[], "panex-3"), "cluster after 2");
        assert_eq!(look_for(&["coordinator"], "panex-3-aaaaaa"), "cluster after 0");
        // What exists is never taken for a job of the cluster.
        assert_eq!(look_for(&[], "src"), "src");
    }

    #[test]
    fn a_failure_names_all_places_that_were_looked_at() {
        let places = places(Path::new("d"), &[]);
        let looked = ["there is no folder j".to_owned(), "no job j in d".to_owned()];
        let failure = Failure::new(ExitCode::NoSuchJob, "no job j");
        let failure = places.not_found(Path::new("j"), &looked, failure);
        assert_eq!(
            failure.to_string(),
            "no such job: there is no folder j, no job j in d, the cluster at http://c:1 has no job j"
        );
        let lost = || Failure::new(ExitCode::Unreachable, "http://c:1 cannot be reached");
        let failure = places.not_found(Path::new("j"), &looked, lost());
        assert_eq!(failure.code, ExitCode::Unreachable);
        let text = "there is no folder j, no job j in d, and http://c:1 cannot be reached";
        assert_eq!(failure.to_string(), text);
        let failure = places.not_found(Path::new("j"), &[], lost());
        assert_eq!(failure.to_string(), "http://c:1 cannot be reached");
    }

    #[test]
    fn an_unreachable_coordinator_means_no_such_job_unless_it_was_named() {
        // A port that was free a moment ago.
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let dir = data_dir(&["panex-3-aaaaaa"]);
        let find = |typed: &[&str], variables: &[&str]| {
            let mut places = places(dir.path(), typed);
            places.client.coordinator = format!("http://{free}");
            places.typed.variables = variables.iter().map(ToString::to_string).collect();
            match places.find(Path::new("typo")) {
                Err(failure) => (failure.code, failure.to_string()),
                Ok(_) => panic!("there is no such job"),
            }
        };
        let shown = dir.path().display();
        let (code, text) = find(&[], &[]);
        let nowhere = format!("there is no folder typo, no job typo in {shown}");
        assert_eq!(
            text,
            format!("no such job: {nowhere}, there is no coordinator at http://{free}")
        );
        assert_eq!(code, ExitCode::NoSuchJob);
        let (code, text) = find(&[], &["coordinator"]);
        let cluster = format!("{nowhere}, and cannot reach http://{free}");
        assert!(text.starts_with(&cluster) && !text.contains("transport"), "{text}");
        assert_eq!(code, ExitCode::Unreachable);
        let (code, text) = find(&["coordinator"], &[]);
        assert!(!text.contains("no folder") && !text.contains("transport"), "{text}");
        assert_eq!(code, ExitCode::Unreachable);
    }
}
