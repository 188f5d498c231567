//! Help texts: groups of flags, and the selection of flags that `-h` shows.

use clap::{Arg, Command as Definition};

/// Headings of the flags of commands that search, besides those that their definitions have.
const HEADINGS: [(&str, &[&str]); 4] = [
    ("Job", &["name", "new", "detach", "priority"]),
    ("Search", &["dry-run", "engine", "exhaust", "symmetry", "shards", "verify", "no-digest"]),
    ("Resources", &["threads", "workers", "memory", "disk-limit", "data-dir"]),
    ("Stops and checkpoints", &["max-layers", "resume", "checkpoint-interval", "keep-layers"]),
];

/// Flags of commands that search that `-h` shows. Help of other commands shows all of theirs.
const SHORT: [&str; 12] = [
    "engine",
    "exhaust",
    "threads",
    "memory",
    "data-dir",
    "max-layers",
    "resume",
    "path",
    "name",
    "detach",
    "coordinator",
    "token-file",
];

/// Flags of many commands that only `--help` shows.
const LONG_ONLY: [&str; 12] = [
    "progress",
    "color",
    "log-format",
    "log-interval",
    "tls-ca",
    "tls-cert",
    "tls-key",
    "insecure",
    "lease",
    "worker-timeout",
    "narrow",
    "store",
];

/// Whether a command searches, and so has most of the flags.
fn searches(command: &str) -> bool {
    ["solve", "submit", "resume"].contains(&command)
}

/// The definition with the flags of commands that search under headings.
pub(crate) fn grouped(definition: Definition) -> Definition {
    definition.mut_subcommands(|command| {
        if !searches(command.get_name()) {
            return command;
        }
        command.mut_args(|arg| match heading(&arg) {
            Some(heading) if arg.get_help_heading().is_none() => arg.help_heading(heading),
            _ => arg,
        })
    })
}

fn heading(arg: &Arg) -> Option<&'static str> {
    let long = arg.get_long()?;
    let group = HEADINGS.iter().find(|(_, flags)| flags.contains(&long));
    group.map(|(heading, _)| *heading)
}

/// The definition for `-h`: the flags that are used most, without their variables.
pub(crate) fn short(definition: Definition) -> Definition {
    let name = definition.get_name().to_owned();
    definition.mut_args(short_arg).mut_subcommands(|command| short_command(command, &name))
}

fn short_command(command: Definition, parents: &str) -> Definition {
    let name = format!("{parents} {}", command.get_name());
    let searches = searches(command.get_name());
    let command = command.mut_args(|arg| {
        let is_rare = searches && arg.get_long().is_some_and(|long| !SHORT.contains(&long));
        let arg = short_arg(arg);
        if is_rare { arg.hide_short_help(true) } else { arg }
    });
    let more = format!("`{name} --help` describes all flags, their variables and the exit codes.");
    command.after_help(more).mut_subcommands(|command| short_command(command, &name))
}

fn short_arg(arg: Arg) -> Arg {
    let is_rare = arg.get_long().is_some_and(|long| LONG_ONLY.contains(&long));
    let arg = arg.hide_env(true);
    if is_rare { arg.hide_short_help(true) } else { arg }
}
