//! `strata domains`: the state spaces and their parameters.

use std::io::{self, Write};

use serde::Serialize;
use strata_run::catalogue::Parameter;

use crate::output::console::Console;
use crate::output::exit::{ExitCode, Failure};
use crate::output::json::write_line;
use crate::output::stdout;
use crate::program;

/// Runs `strata domains`.
pub(crate) fn run(console: &Console) -> Result<ExitCode, Failure> {
    stdout::print(|out| if console.json { json(out) } else { text(out) })?;
    Ok(ExitCode::Done)
}

/// How a parameter is written on the command line.
fn spelling(parameter: &Parameter) -> String {
    if parameter.positional {
        return parameter.name.to_uppercase();
    }
    let long = parameter.long_flag();
    parameter.flag.short.map_or(format!("--{long}"), |short| format!("-{short}, --{long}"))
}

fn text(out: &mut impl Write) -> io::Result<()> {
    for (index, domain) in program::puzzles().entries().iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{}  {}", domain.name, domain.summary)?;
        writeln!(out, "  {} solve {}", program::name(), domain.usage())?;
        let width = domain.parameters.iter().map(|p| spelling(p).len()).max().unwrap_or(0);
        for parameter in domain.parameters {
            let default = parameter.default.map_or(String::new(), |d| format!(" [default: {d}]"));
            writeln!(out, "    {:width$}  {}{default}", spelling(parameter), parameter.help)?;
        }
    }
    Ok(())
}

fn json(out: &mut impl Write) -> io::Result<()> {
    #[derive(Serialize)]
    struct Line<'a> {
        name: &'a str,
        summary: &'a str,
        usage: String,
        parameters: Vec<Entry<'a>>,
    }
    #[derive(Serialize)]
    struct Entry<'a> {
        name: &'a str,
        positional: bool,
        default: Option<&'a str>,
        help: &'a str,
    }
    for domain in program::puzzles().entries() {
        let parameters = domain.parameters.iter().map(|p| Entry {
            name: p.name,
            positional: p.positional,
            default: p.default,
            help: p.help,
        });
        let line = Line {
            name: domain.name,
            summary: domain.summary,
            usage: domain.usage(),
            parameters: parameters.collect(),
        };
        write_line("domain", &line, out)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn every_flag_in_the_list_of_spaces_is_a_flag_of_solve() {
        let mut root = Cli::command();
        root.build();
        let solve = root.find_subcommand("solve").unwrap();
        let flags: Vec<String> = solve
            .get_arguments()
            .filter_map(|arg| arg.get_long())
            .map(|long| format!("--{long}"))
            .collect();
        for parameter in program::puzzles().entries().iter().flat_map(|domain| domain.parameters) {
            let shown = spelling(parameter);
            let flag = shown.rsplit(' ').next().unwrap();
            assert!(parameter.positional || flags.iter().any(|f| f == flag), "{shown}");
        }
    }

    #[test]
    fn both_forms_name_every_space() {
        let (mut plain, mut lines) = (Vec::new(), Vec::new());
        text(&mut plain).unwrap();
        json(&mut lines).unwrap();
        let (plain, lines) = (String::from_utf8(plain).unwrap(), String::from_utf8(lines).unwrap());
        assert_eq!(lines.lines().count(), program::puzzles().entries().len());
        for domain in program::puzzles().entries() {
            assert!(plain.contains(domain.summary) && lines.contains(domain.summary));
        }
    }
}
