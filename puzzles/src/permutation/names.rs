//! Words: names of moves with powers, as they are read and written.
//!
//! A word is a name, directly followed by an optional power: a number, `'`, a number and `'`, or `^` and a
//! whole number. A bare name has no blanks and commas, does not begin with a bracket, colon or quotation
//! mark, and closes the brackets that it opens. Any name can be written in double quotes; a double quote
//! in it is written twice. The longest reading of a bare word is taken; a name without a power precedes
//! others of the same length. A word that could be powers of two names is refused.

use std::collections::HashMap;

use crate::group::{Element, Shape};

use super::definition::NamedElement;
use super::error::ReadError;

/// The longest name, in bytes.
pub(super) const MAX_NAME: usize = 200;

/// The longest bare word, in bytes: a name and a power.
const MAX_WORD: usize = MAX_NAME + 32;

/// Texts that have another meaning than a move as the value of an option.
const RESERVED: [&str; 4] = ["solved", "none", "all", "?"];

/// Elements by name.
pub(super) trait Names {
    /// Whether the name is defined.
    fn has(&self, name: &str) -> bool;

    /// The element of a name; None if the name is undefined.
    ///
    /// # Errors
    /// If the definition of the name is refused.
    fn element(&mut self, name: &str) -> Result<Option<Element>, ReadError>;
}

/// A name with a power.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Power {
    pub(super) name: String,
    pub(super) exponent: i64,
}

/// A word at the beginning of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// Length in bytes.
    pub(super) len: usize,
    /// The possible meanings: one power, or two.
    pub(super) readings: Vec<Power>,
}

/// The moves of a definition by name.
#[derive(Clone, Debug)]
pub(super) struct Dictionary<'a> {
    elements: HashMap<&'a str, &'a Element>,
    shape: &'a Shape,
}

/// The text of a power of a move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) text: String,
    /// The usual form, if it is not used because it would mean something else or nothing.
    pub(super) avoided: Option<String>,
}

/// The longest word at the beginning of a text that has a meaning, if there is one.
pub(super) fn word(text: &str, has: impl Fn(&str) -> bool) -> Option<Word> {
    if text.starts_with('"') {
        let (name, len) = unquoted(text)?;
        let (exponent, more) = power(&text[len..])?;
        let len = len + more;
        let is_apart = text[len..].chars().next().is_none_or(is_boundary);
        return (is_apart && has(&name))
            .then(|| Word { len, readings: vec![Power { name, exponent }] });
    }
    let lengths = bare_words(text).into_iter().rev();
    let mut words = lengths.map(|len| Word { len, readings: readings(&text[..len], &has) });
    words.find(|word| !word.readings.is_empty())
}

/// The power at the beginning of a text, 1 if there is none, and its length in bytes; None if a number
/// is too large.
pub(super) fn power(text: &str) -> Option<(i64, usize)> {
    let digits = |text: &str| text.len() - text.trim_start_matches(is_digit).len();
    if let Some(rest) = text.strip_prefix('^') {
        let sign = usize::from(rest.starts_with('-'));
        let len = digits(&rest[sign..]);
        return if len == 0 {
            Some((1, 0))
        } else {
            Some((rest[..sign + len].parse().ok()?, 1 + sign + len))
        };
    }
    let len = digits(text);
    let count: i64 = if len == 0 { 1 } else { text[..len].parse().ok()? };
    let inverse = text[len..].chars().next().filter(|c| is_apostrophe(*c));
    Some(match inverse {
        Some(c) => (-count, len + c.len_utf8()),
        None => (count, len),
    })
}

/// Lengths of the prefixes of a text that can be bare words, ascending.
fn bare_words(text: &str) -> Vec<usize> {
    let (mut lengths, mut depth) = (Vec::new(), 0_usize);
    for (at, c) in text.char_indices() {
        if depth == 0 && at > 0 && is_boundary(c) {
            lengths.push(at);
        }
        match c {
            '(' | '[' if at > 0 => depth += 1,
            ')' | ']' if depth > 0 => depth -= 1,
            '(' | '[' | ')' | ']' => return lengths,
            ':' if at == 0 => return lengths,
            c if c.is_whitespace() || c == ',' || at > MAX_WORD => return lengths,
            _ => {}
        }
    }
    if depth == 0 && !text.is_empty() {
        lengths.push(text.len());
    }
    lengths
}

/// Whether a word ends before a character.
pub(super) fn is_boundary(c: char) -> bool {
    c.is_whitespace() || "()[],:".contains(c)
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '’')
}

/// The ways to read all of a bare word as a name and a power.
fn readings(word: &str, has: &impl Fn(&str) -> bool) -> Vec<Power> {
    if has(word) {
        return vec![Power { name: word.to_owned(), exponent: 1 }];
    }
    let mut starts = Vec::new();
    if let Some(caret) = word.rfind('^') {
        starts.push(caret);
    }
    let rest = word.strip_suffix(is_apostrophe).unwrap_or(word);
    starts.push(rest.len());
    starts.push(rest.trim_end_matches(is_digit).len());
    starts.dedup();
    let read = |start: usize| {
        let (name, rest) = word.split_at(start);
        let (exponent, len) = power(rest)?;
        let is_all = len == rest.len() && len > 0;
        (is_all && has(name)).then(|| Power { name: name.to_owned(), exponent })
    };
    starts.into_iter().filter_map(read).collect()
}

/// The name in quotes at the beginning of a text, and its length with the quotes.
fn unquoted(text: &str) -> Option<(String, usize)> {
    let mut name = String::new();
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if c == '"' && chars.next_if(|(_, next)| *next == '"').is_none() {
            return Some((name, at + 1));
        }
        name.push(c);
    }
    None
}

impl Power {
    /// The ways to write the power: the usual form, with `^`, in quotes.
    fn forms(&self) -> Vec<String> {
        let Power { name, exponent } = self;
        let count = exponent.unsigned_abs();
        let number = if count == 1 { String::new() } else { count.to_string() };
        let short = if *exponent < 0 { format!("{number}'") } else { number };
        let quoted = format!("\"{}\"{short}", name.replace('"', "\"\""));
        let is_plain = !name.ends_with(|c| is_digit(c) || is_apostrophe(c));
        let mut forms = Vec::new();
        if is_plain || *exponent == 1 {
            forms.push(format!("{name}{short}"));
        }
        if *exponent != 1 {
            forms.push(format!("{name}^{exponent}"));
        }
        forms.push(quoted);
        forms
    }
}

impl<'a> Dictionary<'a> {
    /// A dictionary of some moves.
    pub(super) fn new(
        moves: impl IntoIterator<Item = &'a NamedElement>,
        shape: &'a Shape,
    ) -> Dictionary<'a> {
        let elements = moves.into_iter().map(|mv| (&*mv.name, &mv.element)).collect();
        Dictionary { elements, shape }
    }

    pub(super) fn shape(&self) -> &'a Shape {
        self.shape
    }

    /// The meaning of a text that is one word.
    ///
    /// # Errors
    /// Both meanings if there are two; an empty list if the text is not a word.
    pub(super) fn word(&self, text: &str) -> Result<Power, Vec<String>> {
        let word = word(text, |name| self.elements.contains_key(name));
        let mut readings =
            word.filter(|word| word.len == text.len()).map_or(Vec::new(), |word| word.readings);
        match readings.pop() {
            Some(last) if readings.iter().all(|other| self.is_same(other, &last)) => Ok(last),
            Some(last) => {
                let both = readings.into_iter().chain([last]);
                Err(both.map(|power| self.written(&power).text).collect())
            }
            None => Err(Vec::new()),
        }
    }

    /// The text of a power of a move, which [`Self::word`] reads as this power.
    pub(super) fn written(&self, power: &Power) -> Written {
        let forms = power.forms();
        let is_read = |form: &&String| {
            let word = word(form, |name| self.elements.contains_key(name));
            let word = word.filter(|word| word.len == form.len() && !is_reserved(form));
            word.is_some_and(|word| word.readings.iter().all(|other| self.is_same(other, power)))
        };
        let text = forms.iter().find(is_read).or(forms.last()).cloned().unwrap_or_default();
        let usual = forms.into_iter().next().filter(|usual| *usual != text);
        Written { text, avoided: usual }
    }

    /// The element of a power of a move.
    pub(super) fn power(&self, power: &Power) -> Option<Element> {
        let element = self.elements.get(&*power.name)?;
        let inverse = if power.exponent < 0 { element.inverse(self.shape) } else { None };
        let element = inverse.as_ref().unwrap_or(element);
        element.power(power.exponent.unsigned_abs(), self.shape)
    }

    fn is_same(&self, one: &Power, other: &Power) -> bool {
        one == other || self.power(one) == self.power(other)
    }
}

impl Names for Dictionary<'_> {
    fn has(&self, name: &str) -> bool {
        self.elements.contains_key(name)
    }

    fn element(&mut self, name: &str) -> Result<Option<Element>, ReadError> {
        Ok(self.elements.get(name).map(|element| (*element).clone()))
    }
}

/// Whether a text at the beginning of an option's value has another meaning than a move.
fn is_reserved(text: &str) -> bool {
    RESERVED.contains(&text) || text.starts_with(['@', '#', '-']) || text.chars().all(is_digit)
}
