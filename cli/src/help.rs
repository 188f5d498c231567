//! Help texts: groups of flags, and the selection of flags that `-h` shows.

use clap::{Arg, Command as Definition};

/// Headings for flags of the commands that search, unless the flag's definition has one.
const HEADINGS: [(&str, &[&str]); 4] = [
    ("Job", &["name", "new", "detach", "priority"]),
    ("Search", &["dry-run", "engine", "exhaust", "symmetry", "shards", "verify", "no-digest"]),
    ("Resources", &["threads", "workers", "memory", "disk-limit", "data-dir"]),
    ("Stops and checkpoints", &["max-layers", "resume", "checkpoint-interval", "keep-layers"]),
];

/// The flags that `-h` shows for commands that search. For other commands it shows all flags but those of
/// [`LONG_ONLY`].
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

/// Flags of all commands that `-h` leaves out.
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

/// Whether a command searches, so that it has many flags.
fn searches(command: &str) -> bool {
    ["solve", "submit", "resume"].contains(&command)
}

/// The definition with headings for the flags of commands that search.
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

/// The definition for `-h`: only the flags that are used most, and without their variables.
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
