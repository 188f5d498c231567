//! Errors of reading a definition, with the place in the text.

/// Why a text is not a definition of a puzzle.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {why}")]
pub struct ReadError {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The fault, as a phrase: usually what was expected and what was found.
    pub why: String,
}

/// A place in a text.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) line: usize,
    pub(super) column: usize,
}

/// The longest part of the text that an error quotes, in characters.
const QUOTED: usize = 40;

impl Place {
    /// The beginning of the text.
    pub(super) const START: Place = Place { line: 1, column: 1 };

    /// The place of a byte of a text.
    pub(super) fn at(text: &str, offset: usize) -> Place {
        let before = text.get(..offset).unwrap_or(text);
        let line = before.rfind('\n').map_or(0, |newline| newline + 1);
        Place {
            line: 1 + before.matches('\n').count(),
            column: 1 + before.get(line..).unwrap_or_default().chars().count(),
        }
    }

    /// The place of a byte of a part of the text that begins here.
    pub(super) fn within(self, part: &str, offset: usize) -> Place {
        let inner = Place::at(part, offset);
        match inner.line {
            1 => Place { line: self.line, column: self.column + inner.column - 1 },
            line => Place { line: self.line + line - 1, column: inner.column },
        }
    }

    /// An error at this place.
    pub(super) fn error(self, why: impl Into<String>) -> ReadError {
        ReadError { line: self.line, column: self.column, why: why.into() }
    }

    /// An error that names what was expected and what is there.
    pub(super) fn expected(self, expected: &str, found: &str) -> ReadError {
        self.error(format!("expected {expected}, found '{}'", shortened(found)))
    }
}

/// The beginning of a text, without control characters.
pub(super) fn shortened(text: &str) -> String {
    let begin = strata_space::shortened(text, QUOTED);
    begin.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_lines_and_characters() {
        assert_eq!(Place::at("ab\ncé d", 7), Place { line: 2, column: 4 });
        assert_eq!(Place { line: 3, column: 5 }.within("ab", 1), Place { line: 3, column: 6 });
        assert_eq!(Place { line: 3, column: 5 }.within("a\nb", 2), Place { line: 4, column: 1 });
    }

    #[test]
    fn long_texts_are_shortened() {
        assert_eq!(shortened("a\tb"), "a b");
        assert_eq!(shortened(&"x".repeat(50)).chars().count(), QUOTED + 1);
    }
}
