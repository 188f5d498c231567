//! Flags of state spaces, made from the parameters of the puzzles in the registry.

use std::collections::BTreeMap;

use clap::builder::{BoolishValueParser, PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use strata_space::Values;

use crate::args::line::SolveLine;
use crate::program;
use crate::program::flags::{COMMON, SharedFlag};
use crate::spaces::given::Given;
use crate::spaces::shipped::{self, OtherForm};

/// Heading of the flags of particular state spaces in help texts.
const HEADING: &str = "State spaces";

/// Values of the flags that commands list among their own, such as `--symmetry`.
#[derive(Clone, Debug, Default)]
pub(crate) struct CommonFlags(BTreeMap<&'static str, String>);

/// Values of the flags of particular state spaces.
#[derive(Clone, Debug, Default)]
pub(crate) struct DomainArgs {
    values: BTreeMap<&'static str, String>,
    /// The other form of start and goal, if its flag was given.
    pub(crate) form: Option<&'static OtherForm>,
}

fn own_flags() -> impl Iterator<Item = &'static SharedFlag> {
    program::flags().iter().filter(|flag| !COMMON.contains(&flag.name))
}

fn common_flags() -> impl Iterator<Item = &'static SharedFlag> {
    COMMON.iter().filter_map(|name| program::flags().iter().find(|flag| flag.name == *name))
}

impl DomainArgs {
    /// The given parameters, those of the common flags included.
    pub(crate) fn given(&self, common: &CommonFlags, line: &SolveLine) -> Vec<Given> {
        let own = own_flags().filter_map(|flag| Some((flag, self.values.get(flag.name)?)));
        let common = common_flags().filter_map(|flag| Some((flag, common.0.get(flag.name)?)));
        let given = own.chain(common).map(|(flag, value)| Given {
            name: flag.name,
            value: value.clone(),
            typed: line.typed(flag.long),
        });
        let form = self.form.map(|form| Given {
            name: form.flag,
            value: "true".to_owned(),
            typed: line.typed(form.flag),
        });
        given.chain(form).collect()
    }
}

impl Args for CommonFlags {
    fn augment_args(command: Command) -> Command {
        common_flags().fold(command, |command, flag| command.arg(arg(flag)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for CommonFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<CommonFlags, clap::Error> {
        Ok(CommonFlags(values(common_flags(), matches)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0.extend(values(common_flags(), matches));
        Ok(())
    }
}

impl Args for DomainArgs {
    fn augment_args(command: Command) -> Command {
        let mut command = command;
        let mut forms = shipped::other_forms();
        let mut before: Option<&SharedFlag> = None;
        for flag in own_flags() {
            // The flag of a form comes after the first flags of its puzzle.
            let ended =
                |puzzle: &str| before.is_some_and(|f| f.is_of(puzzle)) && !flag.is_of(puzzle);
            for (_, form) in forms.extract_if(.., |(puzzle, _)| ended(puzzle)) {
                command = command.arg(form_arg(form));
            }
            command = command.arg(arg(flag).help_heading(HEADING));
            before = Some(flag);
        }
        command.args(forms.into_iter().map(|(_, form)| form_arg(form)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for DomainArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<DomainArgs, clap::Error> {
        Ok(DomainArgs { values: values(own_flags(), matches), form: form(matches) })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.values.extend(values(own_flags(), matches));
        self.form = self.form.or(form(matches));
        Ok(())
    }
}

/// The form of start and goal whose flag was given.
fn form(matches: &ArgMatches) -> Option<&'static OtherForm> {
    let forms = shipped::other_forms();
    forms.into_iter().map(|(_, form)| form).find(|form| matches.get_flag(form.flag))
}

/// The definition of a form's flag.
fn form_arg(form: &'static OtherForm) -> Arg {
    let arg = Arg::new(form.flag).long(form.flag).help(form.help).help_heading(HEADING);
    let arg = arg.action(ArgAction::SetTrue).value_parser(BoolishValueParser::new());
    arg.env(form.variable).hide_env_values(true)
}

/// The definition of a flag.
fn arg(flag: &'static SharedFlag) -> Arg {
    let arg = Arg::new(flag.id).long(flag.long).help(flag.help.as_str());
    let arg = arg.env(flag.variable).hide_env_values(true);
    let arg = flag.short.map_or(arg.clone(), |short| arg.short(short));
    let arg = flag.alias.map_or(arg.clone(), |alias| arg.visible_alias(alias));
    let arg = match flag.values {
        Values::Switch => {
            return arg.action(ArgAction::SetTrue).value_parser(BoolishValueParser::new());
        }
        Values::Word | Values::File => arg,
        Values::State => arg.allow_hyphen_values(true),
        Values::Number => {
            let number = clap::builder::RangedI64ValueParser::<u32>::new();
            arg.value_parser(number.map(|number| number.to_string()))
        }
        Values::OneOf(words) => {
            let words = words.iter().map(|(word, help)| PossibleValue::new(*word).help(*help));
            arg.value_parser(PossibleValuesParser::new(words))
        }
    };
    arg.value_name(flag.value_name).action(ArgAction::Set)
}

fn values(
    flags: impl Iterator<Item = &'static SharedFlag>,
    matches: &ArgMatches,
) -> BTreeMap<&'static str, String> {
    let value = |flag: &SharedFlag| match flag.values {
        Values::Switch => matches.get_flag(flag.id).then(|| "true".to_owned()),
        _ => matches.get_one::<String>(flag.id).cloned(),
    };
    flags.filter_map(|flag| Some((flag.name, value(flag)?))).collect()
}
