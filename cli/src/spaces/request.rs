//! Search requests: spaces from the command line, and names of searches and results.

use std::collections::BTreeMap;
use std::path::Path;

use strata_run::catalogue::{Entry, Parameters, Space};
use strata_space::{MAX_FILE_BYTES, Parameter, SpaceError, Values, file_value};

use crate::files;
use crate::output::events::Outcome;
use crate::output::exit::{ExitCode, Failure};
use crate::output::layer::counted;
use crate::program;
use crate::spaces::given::Given;
use crate::spaces::shipped::{self, OtherForm, Refused};

/// Why the search of the command line was refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RequestError {
    /// The space or its parameters were refused.
    #[error(transparent)]
    Space(#[from] SpaceError),
    /// A file could not be read.
    #[error("cannot read {path}: {source}")]
    File {
        /// The file.
        path: String,
        /// The reason.
        source: std::io::Error,
    },
    /// A start or goal in another form than the space's was refused.
    #[error("--{name}: {source}")]
    Position {
        /// Name of the parameter.
        name: &'static str,
        /// The reason.
        source: Refused,
    },
}

impl From<RequestError> for Failure {
    fn from(error: RequestError) -> Failure {
        match error {
            // This is decided without a search.
            RequestError::Space(SpaceError::Unsolvable { .. }) => {
                Failure::new(ExitCode::NoGoal, error)
            }
            error => Failure::usage(error),
        }
    }
}

/// Opens the space of the command line and the environment.
pub(crate) fn open(domain: &str, values: &[String], given: Vec<Given>) -> Result<Space, Failure> {
    let parameters = parameters(domain, values, given)?;
    let space = program::puzzles().open(domain, &parameters);
    Ok(space.map_err(|error| RequestError::from(with_path(error, domain, values)))?)
}

/// Names the file instead of the parameter in an error about a file's content.
fn with_path(error: SpaceError, domain: &str, values: &[String]) -> SpaceError {
    let SpaceError::File { name, line, column, why } = error else { return error };
    let entry = program::puzzles().find(domain).map_or(&[][..], |entry| entry.parameters);
    let mut positional = entry.iter().filter(|parameter| parameter.positional);
    let path = positional.position(|parameter| parameter.name == name);
    let path = path.and_then(|at| values.get(at));
    let name = path.map_or(name, |path| files::input_name(Path::new(path)));
    SpaceError::File { name, line, column, why }
}

/// Replaces names of files by their contents.
fn read_files(entry: &Entry, parameters: &mut Parameters) -> Result<(), RequestError> {
    for parameter in entry.parameters {
        let Some(value) = parameters.get_mut(parameter.name) else { continue };
        let content = match (parameter.flag.values, value.strip_prefix('@')) {
            (Values::File, _) => read_file(value)?,
            (_, Some(path)) if parameter.flag.takes_file => read_file(path)?,
            // A value of such a parameter counts as the content of a file, even if it was typed.
            (_, None) if parameter.flag.takes_file => value.clone(),
            _ => continue,
        };
        *value = file_value(&content);
    }
    Ok(())
}

/// The content of a file of limited size, or of standard input for `-`.
///
/// # Errors
/// If it cannot be read, is too long, or is not UTF-8.
pub(crate) fn read_file(path: &str) -> Result<String, RequestError> {
    let refused = |source| RequestError::File { path: files::input_name(Path::new(path)), source };
    files::read_text(Path::new(path), MAX_FILE_BYTES as u64).map_err(refused)
}

/// The parameters of a search as people see them.
pub(crate) fn shown(space: &str, parameters: &Parameters) -> Parameters {
    program::puzzles().shown(space, parameters)
}

/// Parameters of the command line and the environment.
pub(crate) fn parameters(
    domain: &str,
    values: &[String],
    mut given: Vec<Given>,
) -> Result<Parameters, RequestError> {
    let registry = program::puzzles();
    let entry = registry.find(domain)?;
    if let Some(form) = shipped::of(domain).and_then(|extras| extras.other_form.as_ref()) {
        translate(form, values, &mut given)?;
    }
    let known = |name: &str| entry.parameters.iter().any(|parameter| parameter.name == name);
    // Environment variables that do not apply to this space are ignored: they may be set for other
    // runs.
    let given = given.into_iter().filter(|given| given.typed || known(given.name));
    let flags: Vec<(&str, String)> = given.map(|given| (given.name, given.value)).collect();
    let mut parameters = registry.parameters(domain, values, &flags)?;
    read_files(entry, &mut parameters)?;
    Ok(parameters)
}

/// Rewrites start and goal in the space's own form, if they were given in the other form.
fn translate(
    form: &OtherForm,
    values: &[String],
    given: &mut Vec<Given>,
) -> Result<(), RequestError> {
    let before = given.len();
    given.retain(|given| given.name != form.flag);
    if given.len() == before {
        return Ok(());
    }
    for Given { name, value, .. } in given.iter_mut() {
        if matches!(*name, "start" | "goal") {
            let read = (form.read)(values, value);
            let read = read.map_err(|source| RequestError::Position { name, source })?;
            *value = read.unwrap_or_else(|| std::mem::take(value));
        }
    }
    Ok(())
}

/// Short form of a search: the space, its arguments, and parameters that are not default, as in
/// `panex 7 k=2`.
pub(crate) fn short(space: &str, parameters: &BTreeMap<String, String>) -> String {
    let mut words = vec![space.to_owned()];
    let registry = program::puzzles();
    let Ok(entry) = registry.find(space) else {
        // The coordinator may be newer and have more spaces.
        words.extend(parameters.iter().map(|(name, value)| format!("{name}={value}")));
        return words.join(" ");
    };
    for parameter in entry.parameters {
        let Some(value) = parameters.get(parameter.name) else { continue };
        match parameter.default {
            _ if parameter.positional => words.push(parameter.shown(value)),
            // A default that contains a space describes a value computed from the other parameters.
            Some(default) if default.contains(' ') || default == value => {}
            _ => words.push(format!("{}={value}", parameter.name)),
        }
    }
    words.join(" ")
}

/// Whether a search has a goal. If the space cannot be opened here, its parameters decide.
pub(crate) fn has_goal(space: &str, parameters: &BTreeMap<String, String>) -> bool {
    program::puzzles()
        .open(space, parameters)
        .map_or_else(|_| !Parameter::EXHAUST.is_on(parameters), |space| space.has_goal())
}

/// Names of a search and its result.
pub(crate) struct Naming {
    /// Space and size as one word.
    pub(crate) label: String,
    /// Name of the length of a shortest solution.
    distance: String,
    /// Whether there is a goal: without one, the whole space is searched.
    pub(crate) has_goal: bool,
    /// Whether the space counts positions.
    counts: bool,
}

impl Naming {
    /// Names from the space; a space that cannot be opened here is named after the job.
    pub(crate) fn new(job: &str, space: &str, parameters: &BTreeMap<String, String>) -> Naming {
        match program::puzzles().open(space, parameters) {
            Ok(space) => Naming::of(&space, None),
            Err(_) => Naming {
                label: job.to_owned(),
                distance: format!("distance({job})"),
                has_goal: !Parameter::EXHAUST.is_on(parameters),
                counts: false,
            },
        }
    }

    /// Names from the space, with start and goal in `form` if one is given.
    pub(crate) fn of(space: &Space, form: Option<&OtherForm>) -> Naming {
        let own_name = space.distance_name();
        // The distance between the default ends has a name of its own, such as X(6).
        let form = form.filter(|_| own_name.starts_with("distance("));
        let distance = form.zip(space.ends()).and_then(|(form, [start, goal])| {
            Some(format!("distance({} to {})", (form.show)(&start)?, (form.show)(&goal)?))
        });
        let distance = distance.unwrap_or(own_name);
        let states = space.state_space();
        let counts = states.seeds().first().is_some_and(|seed| states.positions(*seed).is_some());
        Naming { label: space.label(), distance, has_goal: space.has_goal(), counts }
    }

    /// The positions of a layer; None if they are not counted. A count of 0 is kept if the space
    /// counts positions.
    pub(crate) fn positions(&self, positions: u64, states: u64) -> Option<u64> {
        counted(positions, states).or(self.counts.then_some(positions))
    }

    /// The result in one line, with the greatest depth of a position if it is known. `exhaust` tells
    /// whether the whole space was asked for.
    pub(crate) fn title(
        &self,
        outcome: Outcome,
        moves: Option<u64>,
        radius: Option<u32>,
        exhaust: bool,
    ) -> String {
        let label = &self.label;
        let radius = radius.map_or_else(String::new, |radius| format!(", radius {radius}"));
        match (outcome, moves) {
            (Outcome::NoGoal, _) => {
                format!("{label}: the goal cannot be reached{radius}")
            }
            (_, Some(moves)) => format!("{} = {moves}", self.distance),
            (_, None) if exhaust => format!("{label}: whole space{radius}"),
            (_, None) => format!("{label}: no goal given, whole space{radius}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn short_forms_of_searches() {
        let open = |values: &[&str]| {
            let values: Vec<String> = values.iter().map(ToString::to_string).collect();
            open("panex", &values, Vec::new()).unwrap().parameters()
        };
        assert_eq!(short("panex", &open(&["6"])), "panex 6");
        let odd = parameters(&[("discs", "5"), ("pegs", "4"), ("exhaust", "true")]);
        assert_eq!(short("hanoi", &odd), "hanoi 5 pegs=4 exhaust=true");
        assert_eq!(short("chess", &parameters(&[("board", "8")])), "chess board=8");
    }

    #[test]
    fn variables_of_other_spaces_are_ignored() {
        let given = |typed| vec![Given { name: "pegs", value: "4".to_owned(), typed }];
        assert!(open("panex", &["3".to_owned()], given(false)).is_ok());
        let error = open("panex", &["3".to_owned()], given(true)).unwrap_err();
        assert!(error.to_string().contains("panex has no parameter 'pegs'"), "{error}");
    }

    #[test]
    fn titles_of_results() {
        let panex = Naming::new("job", "panex", &parameters(&[("level", "3")]));
        assert_eq!(panex.title(Outcome::Goal, Some(42), Some(21), false), "X(3) = 42");
        assert_eq!(
            panex.title(Outcome::Exhausted, None, Some(9), true),
            "panex-3: whole space, radius 9"
        );
        let without = panex.title(Outcome::Exhausted, None, Some(9), false);
        assert_eq!(without, "panex-3: no goal given, whole space, radius 9");
        let unknown = panex.title(Outcome::Exhausted, None, None, true);
        assert_eq!(unknown, "panex-3: whole space");
        assert!(panex.has_goal);
        let title = Naming::new("job", "chess", &parameters(&[]));
        assert_eq!(title.title(Outcome::Goal, Some(7), None, false), "distance(job) = 7");
    }
}
