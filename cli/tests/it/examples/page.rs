//! Examples of a page: fenced blocks, their commands and the output that they show.

use std::time::Duration;

/// How a block is run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Run by a test.
    None,
    /// Run by `scripts/long-examples`: it takes a minute or more.
    Long,
    /// Run by this script, which provides what the block needs, such as Docker.
    Script(String),
}

/// A block of commands.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// Line of the page where it starts.
    pub(crate) line: usize,
    pub(crate) mark: Mark,
    pub(crate) commands: Vec<Command>,
}

/// A command of a block.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Command {
    pub(crate) line: usize,
    /// The text for a shell.
    pub(crate) text: String,
    /// The lines that the page shows as its output. None in a block without outputs.
    pub(crate) shown: Option<Vec<String>>,
}

impl Command {
    /// When the command is interrupted, by its comment `# Ctrl-C after 1.5 s`.
    pub(crate) fn interrupt(&self) -> Option<Duration> {
        let (_, after) = self.text.split_once("# Ctrl-C after ")?;
        after.trim().strip_suffix(" s")?.parse().ok().map(Duration::from_secs_f64)
    }

    /// Whether it is a node of a cluster, which runs until the block ends.
    pub(crate) fn is_node(&self) -> bool {
        ["strata coordinator", "strata worker"].iter().any(|node| self.text.starts_with(node))
    }
}

/// The blocks `console` and `sh` of a page.
///
/// # Errors
/// The line of a block whose mark is unknown, or that does not start with a command.
pub(crate) fn blocks(text: &str) -> Result<Vec<Block>, String> {
    let mut blocks = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        let Some(info) = line.strip_prefix("```") else { continue };
        let body = lines.by_ref().take_while(|(_, line)| *line != "```");
        let body: Vec<(usize, &str)> = body.map(|(at, line)| (at + 1, line)).collect();
        let words: Vec<&str> = info.split_whitespace().collect();
        let (kind, mark) = match words[..] {
            [kind @ ("console" | "sh")] => (kind, Mark::None),
            [kind @ ("console" | "sh"), "long"] => (kind, Mark::Long),
            [kind @ ("console" | "sh"), mark] if mark.starts_with("script=") => {
                (kind, Mark::Script(mark["script=".len()..].to_owned()))
            }
            ["console" | "sh", ..] => return Err(format!("line {}: unknown mark: {info}", at + 1)),
            _ => continue,
        };
        let commands = if kind == "console" { session(&body) } else { script(&body) };
        let commands = commands.ok_or_else(|| format!("line {}: no command first", at + 1))?;
        blocks.push(Block { line: at + 1, mark, commands });
    }
    Ok(blocks)
}

/// Commands after `$`, each with its output. None if the first line is not a command.
fn session(body: &[(usize, &str)]) -> Option<Vec<Command>> {
    let mut commands: Vec<Command> = Vec::new();
    let mut continues = false;
    for (line, text) in body {
        if let Some(text) = text.strip_prefix("$ ") {
            let shown = Some(Vec::new());
            commands.push(Command { line: *line, text: text.to_owned(), shown });
        } else if continues {
            let command = commands.last_mut()?;
            command.text += "\n";
            command.text += text;
        } else {
            commands.last_mut()?.shown.as_mut()?.push((*text).to_owned());
            continue;
        }
        continues = text.ends_with('\\');
    }
    Some(commands)
}

/// Commands of a script: each node of a cluster is one command, and so are the lines between two
/// nodes. No outputs are shown.
fn script(body: &[(usize, &str)]) -> Option<Vec<Command>> {
    let mut commands: Vec<Command> = Vec::new();
    for (line, text) in body {
        let command = Command { line: *line, text: (*text).to_owned(), shown: None };
        match commands.last_mut() {
            Some(last) if !command.is_node() && !last.is_node() => {
                last.text += "\n";
                last.text += text;
            }
            _ => commands.push(command),
        }
    }
    (!commands.is_empty()).then_some(commands)
}

#[test]
fn blocks_have_marks_commands_and_outputs() {
    let text = "```console\n$ a \\\n  b   # Ctrl-C after 1.5 s\nx\n$ c\n```\n```rust\n$ d\n```\n\
                ```sh script=scripts/e\nstrata worker\nf\ng\n```\n```console long\n$ h\n```\n";
    let blocks = blocks(text).unwrap();
    let marks: Vec<_> = blocks.iter().map(|block| (block.line, &block.mark)).collect();
    let script = Mark::Script("scripts/e".to_owned());
    assert_eq!(marks, [(1, &Mark::None), (10, &script), (15, &Mark::Long)]);
    let texts: Vec<_> = blocks.iter().flat_map(|block| &block.commands).collect();
    let (shown, texts): (Vec<_>, Vec<_>) =
        texts.iter().map(|command| (command.shown.as_deref(), &*command.text)).unzip();
    assert_eq!(texts, ["a \\\n  b   # Ctrl-C after 1.5 s", "c", "strata worker", "f\ng", "h"]);
    assert_eq!(shown, [Some(&["x".to_owned()][..]), Some(&[]), None, None, Some(&[])]);
    assert_eq!(blocks[0].commands[0].interrupt(), Some(Duration::from_millis(1500)));
    assert_eq!(blocks[0].commands[1].interrupt(), None);
}

#[test]
fn malformed_blocks_are_refused() {
    assert_eq!(
        blocks("\n```console slow\n$ a\n```\n").unwrap_err(),
        "line 2: unknown mark: console slow"
    );
    assert_eq!(blocks("```console\na\n```\n").unwrap_err(), "line 1: no command first");
}
