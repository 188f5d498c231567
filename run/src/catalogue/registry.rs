//! The registry of puzzles: entries by name, and checks of names and parameters.

use std::any::TypeId;

use strata_space::{Parameter, Parameters, Puzzle, SpaceError, Work, usage};

use super::space::Space;

/// A puzzle that can be opened by name.
#[derive(Copy, Clone, Debug)]
pub struct Entry {
    /// Name in commands and job records.
    pub name: &'static str,
    /// Description in one line.
    pub summary: &'static str,
    /// Parameters, positional ones first.
    pub parameters: &'static [Parameter],
    /// Whether commands print paths as named moves.
    pub names_moves: bool,
    /// Values of parameters with which a part of a path is searched from both of its ends.
    pub both_ends: &'static [(&'static str, &'static str)],
    puzzle: TypeId,
    open: Open,
}

/// Opens a puzzle with parameters, within a budget of steps.
type Open = fn(&Parameters, &Work) -> Result<Space, SpaceError>;

impl Entry {
    /// The entry of a puzzle type.
    pub const fn of<P: Puzzle>() -> Entry {
        Entry::opened_by::<P>(|given, work| Space::new(P::open_within(given, work)?))
    }

    /// The entry of a puzzle whose parameters choose the type of its space. All types have the name and the
    /// parameters of `P`.
    pub(super) const fn opened_by<P: Puzzle>(open: Open) -> Entry {
        Entry {
            name: P::NAME,
            summary: P::SUMMARY,
            parameters: P::PARAMETERS,
            names_moves: P::NAMES_MOVES,
            both_ends: P::BOTH_ENDS,
            puzzle: TypeId::of::<P>(),
            open,
        }
    }

    /// Whether the entry opens puzzles of this type, and not another type of the same name.
    pub fn is_of<P: Puzzle>(&self) -> bool {
        self.puzzle == TypeId::of::<P>()
    }

    /// The puzzle's name with its positional parameters, such as `panex LEVEL`.
    pub fn usage(&self) -> String {
        usage(self.name, self.parameters)
    }

    /// Whether any state can be the start or the goal, so that a path can be searched in parts.
    pub fn has_ends(&self) -> bool {
        ["start", "goal"].iter().all(|name| self.check_name(name).is_ok())
    }

    fn check_name(&self, name: &str) -> Result<(), SpaceError> {
        if self.parameters.iter().any(|parameter| parameter.name == name) {
            return Ok(());
        }
        let names: Vec<&str> = self.parameters.iter().map(|parameter| parameter.name).collect();
        Err(SpaceError::UnknownParameter {
            space: self.name.into(),
            name: name.into(),
            known: names.join(", "),
        })
    }

    fn positional(&self) -> impl Iterator<Item = &'static str> {
        self.parameters.iter().filter(|parameter| parameter.positional).map(|p| p.name)
    }
}

/// The puzzles of a program, in order.
#[derive(Clone, Debug)]
pub struct Registry {
    program: String,
    entries: Vec<Entry>,
}

impl Registry {
    /// A registry of these puzzles. A later puzzle replaces an earlier one of the same name.
    pub fn new(entries: impl IntoIterator<Item = Entry>) -> Registry {
        Registry { program: "strata".to_owned(), entries: Vec::new() }.with(entries)
    }

    /// Adds puzzles. A puzzle replaces the registered one of the same name.
    #[must_use]
    pub fn with(mut self, entries: impl IntoIterator<Item = Entry>) -> Registry {
        for entry in entries {
            match self.entries.iter_mut().find(|other| other.name == entry.name) {
                Some(other) => *other = entry,
                None => self.entries.push(entry),
            }
        }
        self
    }

    /// The registry for a program of this name (by default `strata`). Errors show usage as
    /// `PROGRAM solve PUZZLE ...`.
    #[must_use]
    pub fn for_program(self, program: &str) -> Registry {
        Registry { program: program.to_owned(), ..self }
    }

    /// The program's name.
    pub fn program(&self) -> &str {
        &self.program
    }

    /// All puzzles.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The puzzle of a name.
    ///
    /// # Errors
    /// [`SpaceError::UnknownSpace`], which lists the registered names.
    pub fn find(&self, name: &str) -> Result<&Entry, SpaceError> {
        self.entries.iter().find(|entry| entry.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.entries.iter().map(|entry| entry.name).collect();
            SpaceError::UnknownSpace { name: name.into(), known: names.join(", ") }
        })
    }

    /// The parameters of a puzzle from the values given by position and those given by flag.
    ///
    /// # Errors
    /// If there is no such puzzle, there are too few or too many values, or it has no such flag.
    pub fn parameters(
        &self,
        name: &str,
        positional: &[String],
        flags: &[(&str, String)],
    ) -> Result<Parameters, SpaceError> {
        let entry = self.find(name)?;
        let names: Vec<&str> = entry.positional().collect();
        if positional.len() != names.len() {
            let expected = match &*names {
                [] => format!("no arguments ({} given)", positional.len()),
                names => format!("{} ({} given)", names.join(", "), positional.len()),
            };
            return Err(self.misused(entry, expected));
        }
        let mut given: Parameters =
            names.iter().map(ToString::to_string).zip(positional.iter().cloned()).collect();
        for (name, value) in flags {
            entry.check_name(name)?;
            given.insert((*name).into(), value.clone());
        }
        Ok(given)
    }

    /// Opens the space of a puzzle; missing parameters take their defaults.
    ///
    /// # Errors
    /// If the name, a parameter or a value is wrong, or a parameter without a default is missing.
    pub fn open(&self, name: &str, parameters: &Parameters) -> Result<Space, SpaceError> {
        self.open_within(name, parameters, &Work::default())
    }

    /// As [`Self::open`], within a budget of steps. The budget also covers the steps that the space takes
    /// later to compute the size of its dense form. The work can be cancelled from another thread.
    ///
    /// # Errors
    /// As [`Self::open`]; [`SpaceError::TooMuchWork`] or [`SpaceError::Cancelled`].
    pub fn open_within(
        &self,
        name: &str,
        parameters: &Parameters,
        work: &Work,
    ) -> Result<Space, SpaceError> {
        let entry = self.find(name)?;
        parameters.keys().try_for_each(|name| entry.check_name(name))?;
        match entry.positional().find(|name| !parameters.contains_key(*name)) {
            Some(missing) => Err(self.misused(entry, missing.to_owned())),
            None => (entry.open)(parameters, work),
        }
    }

    /// The parameters of a puzzle for display: hashes instead of the contents of files.
    pub fn shown(&self, name: &str, parameters: &Parameters) -> Parameters {
        let known = self.find(name).map_or(&[][..], |entry| entry.parameters);
        let shown = parameters.iter().map(|(name, value)| {
            let parameter = known.iter().find(|parameter| parameter.name == name);
            (name.clone(), parameter.map_or_else(|| value.clone(), |known| known.shown(value)))
        });
        shown.collect()
    }

    fn misused(&self, entry: &Entry, expected: String) -> SpaceError {
        let usage = format!("{} solve {}", self.program, entry.usage());
        SpaceError::Arguments { space: entry.name.into(), expected, usage }
    }
}

#[cfg(test)]
mod tests {
    use strata_space::{KeySpace, Keyed, NoNested, Seed};

    use super::*;

    /// A walk on a line.
    struct Line {
        last: u32,
    }

    impl KeySpace for Line {
        type Key = u64;
        fn seeds(&self) -> Vec<Seed> {
            vec![Seed::start(0)]
        }
        fn key_bits(&self) -> u32 {
            32
        }
        fn successors(&self, key: u64, out: &mut Vec<u64>) {
            out.extend(key.checked_sub(1));
            out.extend((key < self.last.into()).then_some(key + 1));
        }
        fn text(&self, key: u64) -> String {
            key.to_string()
        }
    }

    impl Puzzle for Line {
        type States = Keyed<Line>;
        type Nested = NoNested;

        const NAME: &'static str = "line";
        const SUMMARY: &'static str = "a walk on a line";
        const PARAMETERS: &'static [Parameter] = &[Parameter::positional("last", "the last")];

        fn open(parameters: &Parameters) -> Result<Line, SpaceError> {
            Ok(Line { last: Line::reader(parameters).number("last")?.unwrap_or(1) })
        }

        fn parameters(&self) -> Parameters {
            [("last".to_owned(), self.last.to_string())].into()
        }
    }

    struct Other(Line);

    impl KeySpace for Other {
        type Key = u64;
        fn seeds(&self) -> Vec<Seed> {
            self.0.seeds()
        }
        fn key_bits(&self) -> u32 {
            65
        }
        fn successors(&self, key: u64, out: &mut Vec<u64>) {
            self.0.successors(key, out);
        }
        fn text(&self, key: u64) -> String {
            self.0.text(key)
        }
    }

    impl Puzzle for Other {
        type States = Keyed<Other>;
        type Nested = NoNested;

        const NAME: &'static str = "line";
        const SUMMARY: &'static str = "too wide a line";
        const PARAMETERS: &'static [Parameter] = &[];

        fn open(_: &Parameters) -> Result<Other, SpaceError> {
            Ok(Other(Line { last: 1 }))
        }

        fn parameters(&self) -> Parameters {
            Parameters::new()
        }
    }

    #[test]
    fn a_puzzle_is_opened_by_name() {
        let registry = Registry::new([Entry::of::<Line>()]).for_program("walk");
        let given = registry.parameters("line", &["7".to_owned()], &[]).unwrap();
        let space = registry.open("line", &given).unwrap();
        assert_eq!((space.label().as_str(), space.parameters()), ("line-7", given));
        let missing = registry.open("line", &Parameters::new()).unwrap_err();
        assert_eq!(missing.to_string(), "line takes last: walk solve line LAST");
        let unknown = registry.open("panex", &Parameters::new()).unwrap_err();
        assert_eq!(unknown.to_string(), "unknown space 'panex' (known: line)");
    }

    #[test]
    fn an_entry_replaces_another_of_the_same_name() {
        let registry = Registry::new([Entry::of::<Line>()]).with([Entry::of::<Other>()]);
        assert_eq!(registry.entries().len(), 1);
        let entry = registry.find("line").unwrap();
        assert_eq!(entry.summary, Other::SUMMARY);
        assert!(entry.is_of::<Other>() && !entry.is_of::<Line>());
        let error = registry.parameters("line", &["7".to_owned()], &[]).unwrap_err();
        assert_eq!(error.to_string(), "line takes no arguments (1 given): strata solve line");
        let error = registry.open("line", &Parameters::new()).unwrap_err();
        assert_eq!(error, SpaceError::KeyTooWide { bits: 65, limit: 64 });
    }
}
