//! Lists of moves and their text forms: letters, and the paper's `(RRRDDDLLLUUU)2R`.

use std::fmt;
use std::ops::Deref;
use std::str::FromStr;

use crate::tiles::moves::Move;

/// A list of moves. Text form: letters; a part in parentheses is repeated by the number after it.
/// `{:#}` writes repetitions in this form.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Word(Vec<Move>);

/// Error of a text that is not a list of moves.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WordError {
    /// A character that is not a move.
    #[error("character {at}: '{found}' is not one of U, R, D, L and (…)NUMBER")]
    Letter {
        /// Place of the character, from 1.
        at: usize,
        /// The character.
        found: char,
    },
    /// Parentheses that do not match or are nested.
    #[error("character {at}: this parenthesis has no match")]
    Parenthesis {
        /// Place of the character, from 1.
        at: usize,
    },
    /// A repetition without a number.
    #[error("character {at}: ')' must be followed by a number of repetitions")]
    Count {
        /// Place of the character, from 1.
        at: usize,
    },
    /// More moves than [`Word::MOST`].
    #[error("more than {} moves", Word::MOST)]
    Long,
}

/// The shortest repeated part that is written in parentheses: a closed walk has at least four
/// moves.
const SHORTEST: usize = 4;

/// The longest repeated part: enough for the walk around the largest board.
const LONGEST: usize = 64;

impl Word {
    /// Limit of the moves of a word that is read, repetitions expanded.
    pub const MOST: usize = 10_000_000;

    fn push_all(&mut self, part: &[Move], times: usize) -> Result<(), WordError> {
        if part.len().saturating_mul(times) > Word::MOST - self.0.len().min(Word::MOST) {
            return Err(WordError::Long);
        }
        // An empty part may be repeated any number of times.
        if !part.is_empty() {
            (0..times).for_each(|_| self.0.extend_from_slice(part));
        }
        Ok(())
    }
}

impl From<Vec<Move>> for Word {
    fn from(moves: Vec<Move>) -> Word {
        Word(moves)
    }
}

impl Deref for Word {
    type Target = [Move];

    fn deref(&self) -> &[Move] {
        &self.0
    }
}

impl FromStr for Word {
    type Err = WordError;

    fn from_str(text: &str) -> Result<Word, WordError> {
        let mut word = Word::default();
        let mut group: Option<(usize, Vec<Move>)> = None;
        let mut characters = text.chars().enumerate().map(|(at, c)| (at + 1, c)).peekable();
        while let Some((at, found)) = characters.next() {
            match (found, group.take()) {
                (blank, open) if blank.is_whitespace() => group = open,
                ('(', None) => group = Some((at, Vec::new())),
                (')', Some((_, part))) => {
                    let mut times = None;
                    while let Some((_, digit)) = characters.next_if(|(_, c)| c.is_ascii_digit()) {
                        let digit = digit as usize - '0' as usize;
                        times =
                            Some(times.unwrap_or(0usize).saturating_mul(10).saturating_add(digit));
                    }
                    word.push_all(&part, times.ok_or(WordError::Count { at })?)?;
                }
                ('(' | ')', _) => return Err(WordError::Parenthesis { at }),
                (letter, open) => {
                    let mv = Move::from_letter(letter);
                    let mv = mv.ok_or(WordError::Letter { at, found: letter })?;
                    match open {
                        Some((from, mut part)) => {
                            part.push(mv);
                            group = Some((from, part));
                        }
                        None => word.push_all(&[mv], 1)?,
                    }
                }
            }
        }
        match group {
            Some((at, _)) => Err(WordError::Parenthesis { at }),
            None => Ok(word),
        }
    }
}

/// The repetition at the beginning of a list that covers most of it: length of the repeated part,
/// and number of times.
fn repetition(moves: &[Move]) -> Option<(usize, usize)> {
    let times = |length: usize| {
        let parts = moves.chunks_exact(length);
        parts.take_while(|part| *part == &moves[..length]).count()
    };
    (SHORTEST..=LONGEST.min(moves.len() / 2))
        .map(|length| (length, times(length)))
        .filter(|(_, times)| *times > 1)
        // Of those that cover the same, the shortest.
        .max_by_key(|(length, times)| (length * times, usize::MAX - length))
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letters = |moves: &[Move]| moves.iter().map(|mv| mv.letter()).collect::<String>();
        if !f.alternate() {
            return f.write_str(&letters(self));
        }
        let mut rest: &[Move] = self;
        while let Some(first) = rest.first() {
            let length = match repetition(rest) {
                Some((length, times)) => {
                    write!(f, "({}){times}", letters(&rest[..length]))?;
                    length * times
                }
                None => {
                    write!(f, "{first}")?;
                    1
                }
            };
            rest = &rest[length..];
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn repetitions_are_read_and_written() {
        let word: Word = "(RRRDDDLLLUUU)2R".parse().unwrap();
        assert_eq!(word.to_string(), "RRRDDDLLLUUURRRDDDLLLUUUR");
        assert_eq!(format!("{word:#}"), "(RRRDDDLLLUUU)2R");
        let word: Word = "RR(DDDLLUUURR)3DDDLLUUUR".parse().unwrap();
        assert_eq!(format!("{word:#}"), "(RRDDDLLUUU)4R");
        assert_eq!(format!("{:#}", "UUURRRDL".parse::<Word>().unwrap()), "UUURRRDL");
        assert_eq!("ULD (RU)0 L".parse::<Word>().unwrap().to_string(), "ULDL");
    }

    /// Repeating it one by one would take centuries.
    #[test]
    fn an_empty_part_is_repeated_at_once() {
        assert_eq!("U()18446744073709551615D".parse::<Word>().unwrap().to_string(), "UD");
    }

    #[test]
    fn errors_name_the_character_and_the_reason() {
        let error = |text: &str| text.parse::<Word>().unwrap_err().to_string();
        assert_eq!(error("UXD"), "character 2: 'X' is not one of U, R, D, L and (…)NUMBER");
        assert_eq!(error("U(D"), "character 2: this parenthesis has no match");
        assert_eq!(error("U(D(L)2)2"), "character 4: this parenthesis has no match");
        assert_eq!(error("U)2"), "character 2: this parenthesis has no match");
        assert_eq!(error("(UR)D"), "character 4: ')' must be followed by a number of repetitions");
        assert_eq!(error("(URDL)99999999999999999999999"), "more than 10000000 moves");
        assert_eq!(error("(UR)5000000U"), "more than 10000000 moves");
    }

    proptest! {
        #[test]
        fn plain_and_repeated_forms_are_the_same_moves(parts in prop::collection::vec((prop::collection::vec(0..4usize, 1..9), 1..5usize), 0..9)) {
            let moves = parts.iter().flat_map(|(part, times)| part.repeat(*times));
            let word = Word::from(moves.map(|mv| Move::ALL[mv]).collect::<Vec<_>>());
            prop_assert_eq!(&word.to_string().parse::<Word>().unwrap(), &word);
            prop_assert_eq!(&format!("{word:#}").parse::<Word>().unwrap(), &word);
        }
    }
}
