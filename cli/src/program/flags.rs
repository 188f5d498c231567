//! Flags that puzzles share: one per parameter name, checked for conflicts.

use strata_run::catalogue::Registry;
use strata_space::{Parameter, Values};

/// The long name of the flag for a setting that a library names, or for a parameter of a puzzle.
pub(crate) fn flag_of(setting: &str) -> String {
    match setting {
        "s" => "locality".to_owned(),
        setting => setting.replace('_', "-"),
    }
}

/// Parameters that commands list among their own flags, in this order.
pub(crate) const COMMON: [&str; 2] = ["exhaust", "symmetry"];

/// The flag of all parameters with one name.
#[derive(Debug)]
pub(crate) struct SharedFlag {
    /// The parameters' name.
    pub(crate) name: &'static str,
    /// Id in the definition of a command.
    pub(crate) id: &'static str,
    /// Long name.
    pub(crate) long: &'static str,
    /// Short name.
    pub(crate) short: Option<char>,
    /// A second long name.
    pub(crate) alias: Option<&'static str>,
    /// Environment variable.
    pub(crate) variable: &'static str,
    /// Placeholder of the value.
    pub(crate) value_name: &'static str,
    /// Values that every puzzle accepts.
    pub(crate) values: Values,
    /// Help for all puzzles.
    pub(crate) help: String,
    puzzles: Vec<&'static str>,
}

impl SharedFlag {
    /// Whether a puzzle has a parameter with this flag.
    pub(crate) fn is_of(&self, puzzle: &str) -> bool {
        self.puzzles.contains(&puzzle)
    }
}

/// Conflicts between the flags of a program's puzzles.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FlagError {
    /// Two parameters have the same name but different flags, short names, aliases or switches.
    #[error(
        "the puzzles {first} and {second} both have a parameter '{name}', with another flag, \
         short name or switch"
    )]
    Differs {
        /// The name.
        name: &'static str,
        /// A puzzle with a parameter of that name.
        first: &'static str,
        /// Another puzzle with a parameter of that name.
        second: &'static str,
    },
    /// Two parameters, or a parameter and a command, have the same flag.
    #[error("parameter '{name}' of puzzle {puzzle} cannot have the flag {flag}: it is taken")]
    Taken {
        /// The parameter's name.
        name: &'static str,
        /// Its puzzle.
        puzzle: &'static str,
        /// The flag.
        flag: String,
    },
}

/// The flags of all parameters of a registry that are not positional, in the registry's order.
///
/// # Errors
/// If two parameters of one name differ in flag, short name, alias or switch, or two of different
/// names have the same flag.
pub(crate) fn shared(registry: &Registry) -> Result<Vec<SharedFlag>, FlagError> {
    let mut groups: Vec<Vec<(&'static str, Parameter)>> = Vec::new();
    for entry in registry.entries() {
        for parameter in entry.parameters.iter().filter(|parameter| !parameter.positional) {
            match groups.iter_mut().find(|group| group[0].1.name == parameter.name) {
                Some(group) => {
                    let (first, other) = group[0];
                    if shared_form(&other) != shared_form(parameter) {
                        let (name, second) = (parameter.name, entry.name);
                        return Err(FlagError::Differs { name, first, second });
                    }
                    group.push((entry.name, *parameter));
                }
                None => groups.push(vec![(entry.name, *parameter)]),
            }
        }
    }
    let mut taken = Vec::new();
    for group in &groups {
        let (puzzle, parameter) = group[0];
        for flag in flag_forms(&parameter) {
            if taken.contains(&flag) {
                return Err(FlagError::Taken { name: parameter.name, puzzle, flag });
            }
            taken.push(flag);
        }
    }
    Ok(groups.iter().map(|group| merge(group)).collect())
}

/// Checks that none of the flags is one of a command, `--help` and `-h` included.
///
/// # Errors
/// [`FlagError::Taken`].
pub(crate) fn check(flags: &[SharedFlag], command: &clap::Command) -> Result<(), FlagError> {
    let mut taken = vec!["--help".to_owned(), "-h".to_owned()];
    for arg in
        command.get_arguments().filter(|arg| flags.iter().all(|flag| *arg.get_id() != flag.id))
    {
        let aliases = arg.get_visible_aliases().unwrap_or_default();
        let longs = arg.get_long().into_iter().chain(aliases);
        taken.extend(longs.map(|long| format!("--{long}")));
        taken.extend(arg.get_short().map(|short| format!("-{short}")));
    }
    for flag in flags {
        let longs = [Some(flag.long), flag.alias].into_iter().flatten();
        let names = longs.map(|long| format!("--{long}"));
        let mut names = names.chain(flag.short.map(|short| format!("-{short}")));
        if let Some(name) = names.find(|name| taken.contains(name)) {
            let puzzle = flag.puzzles.first().copied().unwrap_or_default();
            return Err(FlagError::Taken { name: flag.name, puzzle, flag: name });
        }
    }
    Ok(())
}

/// The flags of a parameter, and whether it is a switch. Parameters of one name must agree in them.
fn shared_form(parameter: &Parameter) -> (Vec<String>, bool) {
    (flag_forms(parameter), parameter.flag.values == Values::Switch)
}

/// The long name, alias and short name of a parameter's flag, with dashes.
fn flag_forms(parameter: &Parameter) -> Vec<String> {
    let longs = [Some(parameter.long_flag()), parameter.flag.alias].into_iter().flatten();
    let longs = longs.map(|long| format!("--{long}"));
    longs.chain(parameter.flag.short.map(|short| format!("-{short}"))).collect()
}

fn merge(group: &[(&'static str, Parameter)]) -> SharedFlag {
    let (_, first) = group[0];
    let long = first.long_flag();
    let same = |value: fn(&Parameter) -> Values| {
        group.iter().all(|(_, other)| value(other) == value(&first))
    };
    let same_name = group.iter().all(|(_, other)| other.flag.value_name == first.flag.value_name);
    SharedFlag {
        name: first.name,
        // Leaked: the flags are made once and last as long as the program.
        id: Box::leak(format!("parameter-{}", first.name).into_boxed_str()),
        long,
        short: first.flag.short,
        alias: first.flag.alias,
        variable: Box::leak(variable(long).into_boxed_str()),
        value_name: if same_name { first.flag.value_name } else { "VALUE" },
        // Each puzzle parses its own values; only a kind that all puzzles share is checked here.
        values: if same(|parameter| parameter.flag.values) {
            first.flag.values
        } else {
            Values::Word
        },
        help: help(group),
        puzzles: group.iter().map(|(puzzle, _)| *puzzle).collect(),
    }
}

/// The environment variable of a flag.
fn variable(long: &str) -> String {
    format!("STRATA_{}", long.to_uppercase().replace('-', "_"))
}

/// The help texts of all puzzles, each prefixed with its puzzles' names unless the text is general.
fn help(group: &[(&'static str, Parameter)]) -> String {
    let mut texts: Vec<(Vec<&str>, &str)> = Vec::new();
    for (puzzle, parameter) in group {
        let text = parameter.flag.help.unwrap_or(parameter.help);
        match texts.iter_mut().find(|(_, other)| *other == text) {
            Some((puzzles, _)) => puzzles.push(puzzle),
            None => texts.push((vec![puzzle], text)),
        }
    }
    let general = group.iter().all(|(_, parameter)| parameter.flag.general);
    let mut help = match &*texts {
        [(_, text)] if general => (*text).to_owned(),
        texts => {
            let texts =
                texts.iter().map(|(puzzles, text)| format!("{}: {text}", puzzles.join(", ")));
            texts.collect::<Vec<_>>().join("; ")
        }
    };
    let example = |(puzzle, parameter): &(&str, Parameter)| {
        Some(format!("{} ({puzzle})", parameter.flag.example?))
    };
    let examples: Vec<String> = group.iter().filter_map(example).collect();
    if !examples.is_empty() {
        help += &format!(", such as {}", examples.join(" or "));
    }
    help
}

#[cfg(test)]
mod tests {
    use strata_run::catalogue::{
        Entry, KeySpace, Keyed, NoNested, Parameters, Puzzle, Seed, SpaceError,
    };

    use super::*;

    /// A puzzle of one state; `N` tells several apart.
    struct Dot<const N: usize>;

    const NAMES: [&str; 5] = ["zero", "one", "two", "three", "four"];

    const SETS: [&[Parameter]; 5] = [
        &[Parameter::optional("pegs", "3", "posts").number().value_name("P")],
        &[Parameter::optional("pegs", "3", "posts").long("posts")],
        &[Parameter::optional("size", "3", "how large").short('k')],
        &[Parameter::optional("memory", "3", "how much is remembered")],
        &[Parameter::optional("symmetry", "none", "none or all"), Parameter::EXHAUST],
    ];

    impl<const N: usize> KeySpace for Dot<N> {
        type Key = u64;
        fn seeds(&self) -> Vec<Seed> {
            vec![Seed::start(0)]
        }
        fn key_bits(&self) -> u32 {
            1
        }
        fn successors(&self, _: u64, _: &mut Vec<u64>) {}
        fn text(&self, key: u64) -> String {
            key.to_string()
        }
    }

    impl<const N: usize> Puzzle for Dot<N> {
        type States = Keyed<Dot<N>>;
        type Nested = NoNested;

        const NAME: &'static str = NAMES[N];
        const SUMMARY: &'static str = "a dot";
        const PARAMETERS: &'static [Parameter] = SETS[N];

        fn open(_: &Parameters) -> Result<Dot<N>, SpaceError> {
            Ok(Dot)
        }

        fn parameters(&self) -> Parameters {
            Parameters::new()
        }
    }

    fn with<const N: usize>() -> Result<Vec<SharedFlag>, FlagError> {
        shared(&Registry::shipped().with([Entry::of::<Dot<N>>()]))
    }

    fn flag<'a>(flags: &'a [SharedFlag], name: &str) -> &'a SharedFlag {
        flags.iter().find(|flag| flag.name == name).unwrap()
    }

    #[test]
    fn help_names_the_puzzles() {
        let flags = with::<0>().unwrap();
        assert_eq!(
            flag(&flags, "k").help,
            "panex: tiles of levels up to N move inside a region; tiles: those with numbers up to N"
        );
        assert_eq!(
            flag(&flags, "start").help,
            "The position to begin with, such as 'b2 / - / o1 b1 o2' (panex) or '1 2 / _ 3' (tiles)"
        );
        assert_eq!(flag(&flags, "goal").help, "The position to end with, in the same form");
        assert_eq!(flag(&flags, "pegs").help, "hanoi: pegs; zero: posts");
        assert_eq!(flag(&flags, "s").variable, "STRATA_LOCALITY");
    }

    #[test]
    fn conflicting_flags_of_puzzles_are_refused() {
        let error = with::<1>().unwrap_err();
        assert_eq!(error, FlagError::Differs { name: "pegs", first: "hanoi", second: "one" });
        let error = with::<2>().unwrap_err().to_string();
        assert_eq!(error, "parameter 'size' of puzzle two cannot have the flag -k: it is taken");
    }

    #[test]
    fn value_kinds_that_differ_between_puzzles_become_plain_words() {
        let flags = with::<4>().unwrap();
        assert_eq!(flag(&flags, "symmetry").values, Values::Word);
        assert!(flag(&flags, "symmetry").help.ends_with("; four: none or all"));
        assert!(flag(&flags, "exhaust").is_of("four"));
    }

    #[test]
    fn a_puzzle_flag_that_a_command_has_is_refused() {
        let command = clap::Command::new("solve").arg(clap::Arg::new("memory").long("memory"));
        assert_eq!(check(&with::<0>().unwrap(), &command), Ok(()));
        let error = check(&with::<3>().unwrap(), &command).unwrap_err().to_string();
        assert_eq!(
            error,
            "parameter 'memory' of puzzle three cannot have the flag --memory: it is taken"
        );
    }
}
