//! Reader of definitions in any format, which it recognises from the content.

use strata_space::{MAX_FILE_BYTES, with_line_feeds};

use super::definition::Definition;
use super::error::{Place, ReadError};
use super::lines::Lines;
use super::{generators, kpuzzle, ksolve, tws};

/// Commands with which a `.tws` or `.def` file can begin.
const COMMANDS: [&str; 4] = ["Name", "Set", "Solved", "Move"];

impl Definition {
    /// Reads a definition. The format follows from the content: an object is KPuzzle JSON; a text
    /// that begins with a command is a `.tws` file, or a `.def` file if it has commands of ksolve+;
    /// anything else is a list of permutations. Lines end with a line feed, a carriage return or both.
    ///
    /// # Errors
    /// With the place of the first fault.
    pub fn read(text: &str) -> Result<Definition, ReadError> {
        if text.len() > MAX_FILE_BYTES {
            let kibibytes = MAX_FILE_BYTES >> 10;
            return Err(Place::START.error(format!("the file has more than {kibibytes} KiB")));
        }
        let text = text.trim_start_matches('\u{feff}');
        let text = &*with_line_feeds(text);
        let is_refused = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
        if let Some((at, c)) = text.char_indices().find(|(_, c)| is_refused(*c)) {
            let why = format!("a control character (U+{:04X})", u32::from(c));
            return Err(Place::at(text, at).error(why));
        }
        if text.trim_start().starts_with('{') {
            return kpuzzle::read(text);
        }
        let mut first_words =
            Lines::new(text).map(|line| (line.first.text, line.rest.first().map(|word| word.text)));
        let is_command = |(word, next): (&str, Option<&str>)| {
            let is_name = next.is_some_and(|next| next.starts_with('=') || next.starts_with(":="));
            (COMMANDS.contains(&word) || ksolve::has_command(word)) && !is_name
        };
        if !first_words.next().is_some_and(is_command) {
            return generators::read(text);
        }
        if first_words.any(|(word, next)| next.is_none() && ksolve::has_command(word)) {
            return ksolve::read(text);
        }
        tws::read(text)
    }
}
