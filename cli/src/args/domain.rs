//! Flags of state spaces, made from the parameters of the puzzles in the registry.

use std::collections::BTreeMap;

use clap::builder::{BoolishValueParser, PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use strata_space::Values;

use crate::args::flags::{COMMON, SharedFlag};
use crate::args::line::SolveLine;
use crate::spaces::program;

/// Heading of the flags of particular state spaces in help texts.
const HEADING: &str = "State spaces";

/// Id of `--gold`, which is not a parameter: it selects the form of Panex positions.
const GOLD: &str = "gold";

/// Given flags among those that commands list as their own.
#[derive(Clone, Debug, Default)]
pub(crate) struct CommonFlags(BTreeMap<&'static str, String>);

/// Given flags among those that only some state spaces have.
#[derive(Clone, Debug, Default)]
pub(crate) struct DomainArgs {
    values: BTreeMap<&'static str, String>,
    /// Positions are those of Panex Gold.
    pub(crate) gold: bool,
}

/// A parameter of a state space as it was given.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Given {
    /// The parameter's name.
    pub(crate) name: &'static str,
    /// Its value.
    pub(crate) value: String,
    /// Whether it was given on the command line. A value from an environment variable may be meant
    /// for other runs, so it is ignored where it does not apply.
    pub(crate) typed: bool,
}

fn own_flags() -> impl Iterator<Item = &'static SharedFlag> {
    program::flags().iter().filter(|flag| !COMMON.contains(&flag.name))
}

fn common_flags() -> impl Iterator<Item = &'static SharedFlag> {
    COMMON.iter().filter_map(|name| program::flags().iter().find(|flag| flag.name == *name))
}

impl DomainArgs {
    /// The value of a parameter, if it was given.
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// The given flags, common flags included.
    pub(crate) fn given(&self, common: &CommonFlags, line: &SolveLine) -> Vec<Given> {
        let gold = Given { name: GOLD, value: "true".to_owned(), typed: line.typed(GOLD) };
        let own = own_flags().filter_map(|flag| Some((flag, self.values.get(flag.name)?)));
        let common = common_flags().filter_map(|flag| Some((flag, common.0.get(flag.name)?)));
        let given = own.chain(common).map(|(flag, value)| Given {
            name: flag.name,
            value: value.clone(),
            typed: line.typed(flag.long),
        });
        given.chain(self.gold.then_some(gold)).collect()
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
        let (mut command, mut with_gold) = (command, false);
        let has_panex = own_flags().any(|flag| flag.is_of("panex"));
        for flag in own_flags() {
            if has_panex && !with_gold && !flag.is_of("panex") {
                command = command.arg(gold());
                with_gold = true;
            }
            command = command.arg(arg(flag).help_heading(HEADING));
        }
        if with_gold { command } else { command.arg(gold().hide(!has_panex)) }
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for DomainArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<DomainArgs, clap::Error> {
        Ok(DomainArgs { values: values(own_flags(), matches), gold: matches.get_flag(GOLD) })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.values.extend(values(own_flags(), matches));
        self.gold |= matches.get_flag(GOLD);
        Ok(())
    }
}

fn gold() -> Arg {
    let help = "panex: --start and --goal are positions of Panex Gold, as 'b b / - / o o'; moves \
                and positions are shown without levels";
    let arg = Arg::new(GOLD).long(GOLD).help(help).help_heading(HEADING);
    let arg = arg.action(ArgAction::SetTrue).value_parser(BoolishValueParser::new());
    arg.env("STRATA_GOLD").hide_env_values(true)
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
        Values::Word => arg,
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
