//! Lines and words of a text with their places, for `.tws` and `.def` files.

use super::error::{Place, ReadError};

/// A word with its place.
#[derive(Copy, Clone, Debug)]
pub(super) struct Word<'a> {
    pub(super) text: &'a str,
    pub(super) place: Place,
}

/// A line with at least one word.
#[derive(Clone, Debug)]
pub(super) struct Line<'a> {
    pub(super) first: Word<'a>,
    pub(super) rest: Vec<Word<'a>>,
}

/// The lines of a text, without empty ones and comments.
#[derive(Clone, Debug)]
pub(super) struct Lines<'a> {
    lines: std::iter::Peekable<std::vec::IntoIter<Line<'a>>>,
    end: Place,
}

impl<'a> Word<'a> {
    /// The word as a number from `low` to `high`.
    ///
    /// # Errors
    /// If the word is not a number in this range.
    pub(super) fn number(&self, low: u16, high: u16) -> Result<u16, ReadError> {
        let digits = self.text.bytes().all(|byte| byte.is_ascii_digit());
        let number =
            self.text.parse().ok().filter(|number| digits && (low..=high).contains(number));
        let expected = || self.place.expected(&format!("a number from {low} to {high}"), self.text);
        number.ok_or_else(expected)
    }
}

impl<'a> Line<'a> {
    /// The words after the first, which must be `N`.
    ///
    /// # Errors
    /// If there are fewer or more; `expected` describes the words.
    pub(super) fn arguments<const N: usize>(
        &self,
        expected: &str,
    ) -> Result<[Word<'a>; N], ReadError> {
        if let Some(more) = self.rest.get(N) {
            return Err(more.place.expected("the end of the line", more.text));
        }
        let missing = |_| self.first.place.error(format!("expected {expected}"));
        <[Word<'a>; N]>::try_from(self.rest.clone()).map_err(missing)
    }

    /// All words.
    pub(super) fn words(&self) -> impl Iterator<Item = &Word<'a>> {
        std::iter::once(&self.first).chain(&self.rest)
    }
}

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a str) -> Lines<'a> {
        let lines: Vec<Line<'a>> =
            text.lines().enumerate().filter_map(|(number, line)| split(number + 1, line)).collect();
        Lines { lines: lines.into_iter().peekable(), end: Place::at(text, text.len()) }
    }

    /// The place after the text.
    pub(super) fn end(&self) -> Place {
        self.end
    }

    /// The next line, if its first word is a number or `?`.
    pub(super) fn next_row(&mut self) -> Option<Line<'a>> {
        let is_row =
            |line: &Line<'a>| line.first.text.starts_with(|c: char| c.is_ascii_digit() || c == '?');
        self.lines.next_if(is_row)
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        self.lines.next()
    }
}

/// The words of a line, unless it is empty or a comment.
fn split(number: usize, line: &str) -> Option<Line<'_>> {
    let mut words = Vec::new();
    let (mut column, mut rest) = (1, line);
    loop {
        let blank = rest.len() - rest.trim_start().len();
        column += rest[..blank].chars().count();
        rest = rest.trim_start();
        if rest.is_empty() {
            break;
        }
        let text = &rest[..rest.find(char::is_whitespace).unwrap_or(rest.len())];
        words.push(Word { text, place: Place { line: number, column } });
        column += text.chars().count();
        rest = &rest[text.len()..];
    }
    let rest = words.split_off(words.len().min(1));
    let first = words.pop().filter(|word| !word.text.starts_with('#'))?;
    Some(Line { first, rest })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_their_line_and_column() {
        let mut lines = Lines::new("# a comment\n\n  é  12\r\nx\n");
        let line = lines.next().unwrap();
        let places: Vec<(&str, Place)> = line.words().map(|word| (word.text, word.place)).collect();
        let at = |line, column| Place { line, column };
        assert_eq!(places, [("é", at(3, 3)), ("12", at(3, 6))]);
        assert_eq!(line.rest[0].number(1, 20), Ok(12));
        let error = line.rest[0].number(1, 8).unwrap_err().to_string();
        assert_eq!(error, "line 3, column 6: expected a number from 1 to 8, found '12'");
        assert_eq!(lines.next().map(|line| line.first.text), Some("x"));
        assert!(lines.next().is_none());
    }
}
