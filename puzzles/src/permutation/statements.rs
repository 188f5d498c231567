//! Statements of a list of permutations: how a text is split into names and bodies.
//!
//! If `;` or `,` end statements, a statement may go over several lines, as GAP breaks them. Otherwise
//! a line is a statement, unless brackets are open at its end. `#` begins a comment, and a backslash
//! at the end of a line joins it with the next one.

use std::ops::Range;

use super::error::{Place, ReadError, shortened};

/// Replacement for each of the two characters, backslash and line feed, that join lines.
pub(super) const JOIN: char = '\u{1}';

/// A text without its comments, with places.
pub(super) struct Source<'a> {
    text: &'a str,
    /// The text with blanks for comments and [`JOIN`] for joined lines. Offsets are those of `text`.
    plain: String,
    line_starts: Vec<usize>,
}

/// The separator of statements.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum End {
    Line,
    Comma,
    /// Semicolons and commas. The last statement needs one, too.
    Semicolon,
}

/// A statement by offsets in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Statement {
    /// The name, if it has one.
    pub(super) name: Option<Range<usize>>,
    /// The text after `=`, or the whole statement.
    pub(super) body: Range<usize>,
}

impl<'a> Source<'a> {
    pub(super) fn new(text: &'a str) -> Source<'a> {
        let mut plain = String::with_capacity(text.len());
        let mut line_starts = vec![0];
        let mut before = '\n';
        let mut is_comment = false;
        let mut chars = text.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            if c == '\n' {
                is_comment = false;
                line_starts.push(at + 1);
            } else if c == '#' && (before.is_whitespace() || ";,)]".contains(before)) {
                is_comment = true;
            }
            match c {
                '\\' if !is_comment && chars.next_if(|(_, next)| *next == '\n').is_some() => {
                    line_starts.push(at + 2);
                    plain.extend([JOIN, JOIN]);
                }
                _ if is_comment => plain.extend(std::iter::repeat_n(' ', c.len_utf8())),
                _ => plain.push(c),
            }
            before = c;
        }
        Source { text, plain, line_starts }
    }

    /// The place of a byte.
    pub(super) fn place(&self, offset: usize) -> Place {
        let line = self.line_starts.partition_point(|start| *start <= offset);
        let start = line.checked_sub(1).and_then(|line| self.line_starts.get(line));
        let before = self.text.get(start.copied().unwrap_or(0)..offset).unwrap_or_default();
        Place { line, column: 1 + before.chars().count() }
    }

    /// A part of the text, with blanks for comments.
    pub(super) fn part(&self, range: Range<usize>) -> &str {
        self.plain.get(range).unwrap_or_default()
    }

    /// The range without blanks at its ends.
    pub(super) fn trimmed(&self, range: Range<usize>) -> Range<usize> {
        let part = self.part(range.clone());
        let begin = range.start + part.len() - part.trim_start_matches(is_blank).len();
        begin..begin + part.trim_matches(is_blank).len()
    }

    /// The first comment before all statements that is not empty.
    pub(super) fn title(&self) -> Option<&'a str> {
        let lines = self.text.lines().map(str::trim).filter(|line| !line.is_empty());
        let mut comments = lines.map_while(|line| line.strip_prefix('#')).map(str::trim);
        comments.find(|comment| !comment.is_empty())
    }

    /// All statements.
    ///
    /// # Errors
    /// If a statement has no separator or no name although others have one.
    pub(super) fn statements(&self) -> Result<Vec<Statement>, ReadError> {
        let end = self.end();
        let mut statements = Vec::new();
        let mut offset = 0;
        while let Some(begin) = self.next_begin(offset, end) {
            let (statement, next) = self.statement(begin, end)?;
            statements.push(statement);
            offset = next;
        }
        let is_named = statements.iter().any(|statement| statement.name.is_some());
        match statements.iter().find(|statement| statement.name.is_none()) {
            Some(unnamed) if is_named => {
                let found = self.part(unnamed.body.clone());
                let expected = "a name and '=', which other permutations have";
                Err(self.place(unnamed.body.start).expected(expected, found))
            }
            _ => Ok(statements),
        }
    }

    /// The separator of the statements of this text.
    fn end(&self) -> End {
        if self.plain.contains(';') {
            return End::Semicolon;
        }
        let (mut depth, mut before) = (0_usize, ' ');
        for (at, c) in self.plain.char_indices() {
            match c {
                '(' | '[' => depth += 1,
                ')' | ']' => depth = depth.saturating_sub(1),
                ',' if depth == 0 && (")]".contains(before) || self.is_last_of_line(at)) => {
                    return End::Comma;
                }
                _ => {}
            }
            if !is_blank(c) {
                before = c;
            }
        }
        End::Line
    }

    /// Whether only blanks follow a byte in its line.
    fn is_last_of_line(&self, at: usize) -> bool {
        self.line_from(at + 1).chars().all(is_blank)
    }

    /// The rest of a line.
    fn line_from(&self, at: usize) -> &str {
        self.part(at..self.plain.len()).split('\n').next().unwrap_or_default()
    }

    /// Where the next statement begins. Empty statements between semicolons are skipped.
    fn next_begin(&self, offset: usize, end: End) -> Option<usize> {
        let skipped = |c: char| is_blank(c) || end == End::Semicolon && c == ';';
        let rest = self.part(offset..self.plain.len());
        Some(offset + rest.find(|c: char| !skipped(c))?)
    }

    /// The statement that begins at a byte, and where it ends.
    fn statement(&self, begin: usize, end: End) -> Result<(Statement, usize), ReadError> {
        let name = self.name(begin)?;
        let start = match &name {
            Some((_, start)) => *start,
            None => begin,
        };
        let name = name.map(|(name, _)| name);
        let rest = self.part(start..self.plain.len());
        let is_bare_list = !rest.trim_start_matches(is_blank).starts_with(['(', '[']);
        let mut depth = 0_usize;
        for (at, c) in rest.char_indices().map(|(at, c)| (start + at, c)) {
            let ends = match c {
                ';' => true,
                ',' if end == End::Line || depth > 0 => false,
                ',' => !is_bare_list || self.is_last_of_line(at),
                '\n' if depth > 0 => false,
                '\n' if end == End::Line => true,
                '\n' => {
                    self.check_continuation(begin, at + 1, name.is_some())?;
                    false
                }
                _ => false,
            };
            match c {
                '(' | '[' => depth += 1,
                ')' | ']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if ends {
                return Ok((Statement { name, body: self.trimmed(start..at) }, at + 1));
            }
        }
        if end == End::Semicolon {
            let why = "expected ';' after this permutation, as after others";
            return Err(self.place(begin).error(why));
        }
        let end = self.plain.len();
        Ok((Statement { name, body: self.trimmed(start..end) }, end))
    }

    /// The name of the statement that begins at a byte, and where its body begins.
    fn name(&self, begin: usize) -> Result<Option<(Range<usize>, usize)>, ReadError> {
        let line = self.line_from(begin);
        let Some(at) = line.find(['=', ';']).filter(|at| line[*at..].starts_with('=')) else {
            return Ok(None);
        };
        let before = &line[..at];
        let before = before.strip_suffix(':').unwrap_or(before).trim_end_matches(is_blank);
        if before.is_empty() || before.contains(is_blank) {
            let expected = "a name without blanks before '='";
            return Err(self.place(begin).expected(expected, before));
        }
        Ok(Some((begin..begin + before.len(), begin + at + 1)))
    }

    /// Checks that the line at an offset can continue a statement that began at `begin`.
    ///
    /// # Errors
    /// If the line looks like a statement of its own.
    fn check_continuation(
        &self,
        begin: usize,
        offset: usize,
        is_named: bool,
    ) -> Result<(), ReadError> {
        let line = self.line_from(offset);
        let text = line.trim_start_matches(is_blank);
        let at = offset + line.len() - text.len();
        let name = text.split_once('=').map(|(name, _)| name.trim_end_matches(is_blank));
        let is_own = name.is_some_and(|name| !name.contains(|c| is_blank(c) || ",;".contains(c)));
        // Without names, only indentation distinguishes a continued permutation from a missing end.
        let is_apart = self.place(at).column > self.place(begin).column;
        if is_own || text.starts_with(['(', '[']) && !is_named && !is_apart {
            let why = format!(
                "expected ';' or ',' before '{}': other permutations have an end; a line that continues \
                 one without a name begins with blanks",
                shortened(text.trim_end())
            );
            return Err(self.place(at).error(why));
        }
        Ok(())
    }
}

/// Whether a character separates words.
pub(super) fn is_blank(c: char) -> bool {
    c.is_whitespace() || c == JOIN
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Result<Vec<(String, String)>, String> {
        let source = Source::new(text);
        let statements = source.statements().map_err(|error| error.to_string())?;
        let part = |range: Range<usize>| source.part(range).replace(JOIN, "");
        let texts = statements
            .into_iter()
            .map(|statement| (statement.name.map_or_else(String::new, part), part(statement.body)));
        Ok(texts.collect())
    }

    #[test]
    fn the_separator_of_statements_follows_from_the_text() {
        let two = |first: &str, second: &str| {
            Ok(vec![(String::new(), first.to_owned()), (String::new(), second.to_owned())])
        };
        for (text, first, second) in [
            ("(1,2)\n(3,4)\n", "(1,2)", "(3,4)"),
            ("(1,2),\n(3,4)\n", "(1,2)", "(3,4)"),
            ("(1,2), (3,4)", "(1,2)", "(3,4)"),
            ("(1,2)\n  (5,6),\n(3,4)\n", "(1,2)\n  (5,6)", "(3,4)"),
            ("(1,2)\n  (5,6);\n(3,4);", "(1,2)\n  (5,6)", "(3,4)"),
            (";(1,2);;# end\n\n(3,4);;", "(1,2)", "(3,4)"),
            ("(1,2,\n3)\n(3,4)\n", "(1,2,\n3)", "(3,4)"),
            ("(1,2)\\\n(5,6)\n(3,4)\n", "(1,2)(5,6)", "(3,4)"),
            ("2,1\n1,2\n", "2,1", "1,2"),
            ("2,1,\n1,2,\n", "2,1", "1,2"),
            ("2,1;1,2;", "2,1", "1,2"),
        ] {
            assert_eq!(split(text), two(first, second), "{text}");
        }
    }

    #[test]
    fn names_are_before_the_first_equals_sign() {
        let named = |name: &str, body: &str| (name.to_owned(), body.to_owned());
        assert_eq!(
            split("a:=(1,2)\n(3,4); R[1..2] = (5,6);#=\n"),
            Ok(vec![named("a", "(1,2)\n(3,4)"), named("R[1..2]", "(5,6)")])
        );
        assert_eq!(split("F# = (1,2) # =\n"), Ok(vec![named("F#", "(1,2)")]));
    }

    #[test]
    fn unclear_ends_of_statements_are_refused() {
        for (text, place) in [
            ("a=(1,2);\nb=(2,3)\n", "line 2, column 1: expected ';' after"),
            ("a=(1,2)\nb=(2,3);\n", "line 2, column 1: expected ';' or ',' before 'b=(2,3);'"),
            ("(1,2)\n(3,4);\n(5,6);\n", "line 2, column 1: expected ';' or ',' before '(3,4);'"),
            ("(1,2),\n(3,4)\n(5,6),\n", "line 3, column 1: expected ';' or ',' before '(5,6),'"),
            ("a=(1,2)\n(3,4)\n", "line 2, column 1: expected a name and '='"),
            ("a=(1,2);\n (3,4);\n", "line 2, column 2: expected a name and '='"),
            ("=(1,2)\n", "line 1, column 1: expected a name without blanks"),
            (
                "a b=(1,2)\n",
                "line 1, column 1: expected a name without blanks before '=', found 'a b'",
            ),
        ] {
            let error = split(text).unwrap_err();
            assert!(error.starts_with(place), "{text}: {error}");
        }
    }

    #[test]
    fn places_are_those_of_the_text() {
        let source = Source::new("é # ü\\\n\nab\\\ncd");
        assert_eq!(source.place(0), Place { line: 1, column: 1 });
        assert_eq!(source.place("é # ü\\\n\nab\\\nc".len()), Place { line: 4, column: 2 });
        assert_eq!(source.place("é # ü\\\n\na".len()), Place { line: 3, column: 2 });
        assert_eq!(source.part(0..8).trim_end(), "é");
    }
}
