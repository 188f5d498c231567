//! Parser of sequences of moves.
//!
//! A sequence consists of [words](super::names), groups `(R U)3`, commutators `[R, U]` (R U R' U') and
//! conjugates `[R: U]` (R U R'), which can have powers, too. Words and brackets are separated by blanks
//! or, outside square brackets, by commas. A `.` is a pause and is skipped.

use crate::group::{BigUint, Element, Shape};

use super::error::{Place, ReadError, shortened};
use super::names::{self, Dictionary, Names, is_boundary};

/// Maximum depth of nested brackets.
const MAX_DEPTH: usize = 16;

/// The largest power of a word or group.
pub(super) const MAX_POWER: u64 = 1_000_000;

/// Reads a sequence that begins at a place. Applied to a state, its words act from left to right.
///
/// # Errors
/// If a word has no element or two, or brackets do not match.
pub(super) fn read(
    text: &str,
    place: Place,
    shape: &Shape,
    names: &mut dyn Names,
) -> Result<Element, ReadError> {
    let mut reader = Reader { text, offset: 0, place, shape, names };
    let element = reader.sequence(0, &[','])?;
    match reader.next_char() {
        None => Ok(element),
        Some(found) => Err(reader.here().expected("a move", &found.to_string())),
    }
}

/// Reads a sequence of moves of a definition.
///
/// # Errors
/// As [`read`].
pub(super) fn read_within(
    text: &str,
    dictionary: &mut Dictionary<'_>,
) -> Result<Element, ReadError> {
    read(text, Place::START, dictionary.shape(), dictionary)
}

/// Whether twsearch treats a name as a rotation of the whole puzzle: `x`, `y`, `z`, also with a power,
/// or capital letters followed by `v`.
pub(super) fn is_rotation(name: &str) -> bool {
    if let Some(power) = name.strip_prefix(['x', 'y', 'z']) {
        return matches!(power, "" | "2" | "'");
    }
    name.strip_suffix('v').is_some_and(|face| {
        !face.is_empty() && face.bytes().all(|byte| byte == b'_' || byte.is_ascii_uppercase())
    })
}

struct Reader<'a, 'f> {
    text: &'a str,
    offset: usize,
    place: Place,
    shape: &'a Shape,
    names: &'a mut (dyn Names + 'f),
}

impl Reader<'_, '_> {
    fn here(&self) -> Place {
        self.place_of(self.offset)
    }

    fn place_of(&self, offset: usize) -> Place {
        self.place.within(self.text, offset)
    }

    fn rest(&self) -> &str {
        self.text.get(self.offset..).unwrap_or_default()
    }

    fn next_char(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip(&mut self, skipped: impl Fn(char) -> bool) {
        let rest = self.rest();
        self.offset += rest.len() - rest.trim_start_matches(skipped).len();
    }

    /// Words up to a closing bracket, a separator of brackets, or the end.
    fn sequence(&mut self, depth: usize, blanks: &[char]) -> Result<Element, ReadError> {
        let mut product = self.shape.identity();
        loop {
            self.skip(|c| c.is_whitespace() || blanks.contains(&c));
            let factor = match self.next_char() {
                None | Some(')' | ']' | ',' | ':') => return Ok(product),
                Some('(' | '[') if depth == MAX_DEPTH => {
                    let why = format!("more than {MAX_DEPTH} brackets inside each other");
                    return Err(self.here().error(why));
                }
                Some('(') => {
                    self.offset += 1;
                    let group = self.sequence(depth + 1, &[','])?;
                    self.close(')')?;
                    self.powered(group)?
                }
                Some('[') => {
                    self.offset += 1;
                    let pair = self.pair(depth + 1)?;
                    self.powered(pair)?
                }
                Some(found) => match self.word()? {
                    Some(element) => element,
                    // A pause.
                    None if found == '.' => {
                        self.offset += 1;
                        continue;
                    }
                    None => return Err(self.no_word()),
                },
            };
            product = self.times(&product, &factor)?;
        }
    }

    /// A commutator or conjugate, after its opening bracket.
    fn pair(&mut self, depth: usize) -> Result<Element, ReadError> {
        let first = self.sequence(depth, &[])?;
        let is_commutator = match self.next_char() {
            Some(',') => true,
            Some(':') => false,
            found => return Err(self.expected_char("',' or ':'", found)),
        };
        self.offset += 1;
        let second = self.sequence(depth, &[])?;
        self.close(']')?;
        let both = self.times(&first, &second)?;
        let mut product = self.times(&both, &self.power(&first, -1)?)?;
        if is_commutator {
            product = self.times(&product, &self.power(&second, -1)?)?;
        }
        Ok(product)
    }

    fn close(&mut self, bracket: char) -> Result<(), ReadError> {
        if self.next_char() == Some(bracket) {
            self.offset += 1;
            return Ok(());
        }
        let expected = format!("'{bracket}'");
        Err(self.expected_char(&expected, self.next_char()))
    }

    fn expected_char(&self, expected: &str, found: Option<char>) -> ReadError {
        match found {
            Some(found) => self.here().expected(expected, &found.to_string()),
            None => self.here().error(format!("expected {expected}, found the end")),
        }
    }

    /// The power that follows a closing bracket.
    fn powered(&mut self, element: Element) -> Result<Element, ReadError> {
        let begin = self.offset;
        let Some((power, len)) = names::power(self.rest()) else {
            return Err(self.here().error(format!("a power above {MAX_POWER}")));
        };
        self.offset += len;
        if let Some(found) = self.next_char().filter(|c| !is_boundary(*c)) {
            let expected = "a power, a blank or a bracket";
            return Err(self.here().expected(expected, &found.to_string()));
        }
        self.bounded_power(&element, power, begin)
    }

    /// The element of the word that begins here, if there is one.
    fn word(&mut self) -> Result<Option<Element>, ReadError> {
        let Some(word) = names::word(self.rest(), |name| self.names.has(name)) else {
            return Ok(None);
        };
        let mut found: Option<Element> = None;
        for names::Power { name, exponent } in &word.readings {
            let Some(element) = self.names.element(name)? else { continue };
            let element = self.bounded_power(&element, *exponent, self.offset)?;
            if found.as_ref().is_some_and(|found| *found != element) {
                let text = self.rest().get(..word.len).unwrap_or_default();
                return Err(self.here().error(ambiguous(text, &word.readings)));
            }
            found = Some(element);
        }
        self.offset += word.len;
        Ok(found)
    }

    fn no_word(&self) -> ReadError {
        let rest = self.rest();
        let len = rest.find(is_boundary).unwrap_or(rest.len());
        self.here().expected("a move", rest.get(..len).unwrap_or_default())
    }

    fn bounded_power(
        &self,
        element: &Element,
        power: i64,
        offset: usize,
    ) -> Result<Element, ReadError> {
        if power.unsigned_abs() > MAX_POWER {
            return Err(self.place_of(offset).error(format!("a power above {MAX_POWER}")));
        }
        self.power(element, power)
    }

    fn power(&self, element: &Element, power: i64) -> Result<Element, ReadError> {
        let inverse = if power < 0 { element.inverse(self.shape) } else { None };
        let result = inverse.as_ref().unwrap_or(element).power(power.unsigned_abs(), self.shape);
        result.ok_or_else(|| self.mismatch())
    }

    fn times(&self, first: &Element, second: &Element) -> Result<Element, ReadError> {
        first.times(second, self.shape).ok_or_else(|| self.mismatch())
    }

    fn mismatch(&self) -> ReadError {
        self.here().error("a move of another shape")
    }
}

/// The error message for a word that could be powers of two names.
pub(super) fn ambiguous(word: &str, readings: &[names::Power]) -> String {
    let forms: Vec<String> =
        readings.iter().map(|power| format!("{}^{}", power.name, power.exponent)).collect();
    format!("'{}' could be {}: write which one is meant", shortened(word), forms.join(" or "))
}

/// The order of a move, if it is at most `limit`.
pub(super) fn order_within(element: &Element, shape: &Shape, limit: u64) -> Option<u64> {
    let order = element.order(shape);
    if order > BigUint::from(limit) { None } else { u64::try_from(order).ok() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::permutation::definition::NamedElement;

    fn element(text: &str) -> Result<Element, String> {
        let shape = Shape::plain(4).unwrap();
        let a = shape.permutation(&[1, 2, 3, 0]).unwrap();
        let b = shape.permutation(&[1, 0, 2, 3]).unwrap();
        let moves =
            [("a", &a), ("b", &b), ("c1", &b), ("R[1..2]", &a), ("[U]", &b), ("d", &b), ("d2", &a)];
        let moves = moves.map(|(name, element)| NamedElement {
            name: name.to_owned(),
            element: element.clone(),
        });
        let mut names = Dictionary::new(&moves, &shape);
        read_within(text, &mut names).map_err(|error| error.to_string())
    }

    #[test]
    fn sequences_are_products() {
        for (text, plain) in [
            ("a2", "a a"),
            ("a'", "a a a"),
            ("a2'", "a, a"),
            ("a^-1", "a3"),
            ("(a b)2", "a b a b"),
            ("[a, b]", "a b a' b'"),
            ("[a: b]2", "a b b a'"),
            ("[[a: b], a]'", "a a b' a' a' a b a'"),
            ("c1^2", ""),
            ("c1 . c1'", "b b"),
            ("(a b)^-1 (a b)'", "b a' b a'"),
            ("R[1..2]2", "a a"),
            ("[R[1..2]: \"[U]\"]'", "[a: b]"),
            ("\"a\"2'", "a' a'"),
            ("d2 d^2", "a"),
        ] {
            assert_eq!(element(text), element(plain), "{text}");
        }
        assert_ne!(element("a b"), element("b a"));
    }

    #[test]
    fn errors_have_the_place_of_the_fault() {
        let error = |text: &str| element(text).unwrap_err();
        assert_eq!(error("a e"), "line 1, column 3: expected a move, found 'e'");
        assert_eq!(
            error("a d2'"),
            "line 1, column 3: 'd2'' could be d2^-1 or d^-2: write which one is meant"
        );
        assert_eq!(
            error("(a)2b"),
            "line 1, column 5: expected a power, a blank or a bracket, found 'b'"
        );
        assert_eq!(error("\"a"), "line 1, column 1: expected a move, found '\"a'");
        assert_eq!(error("(a b"), "line 1, column 5: expected ')', found the end");
        assert_eq!(error("[a b]"), "line 1, column 5: expected ',' or ':', found ']'");
        assert_eq!(error("a )"), "line 1, column 3: expected a move, found ')'");
        assert_eq!(error("a9999999"), "line 1, column 1: a power above 1000000");
        assert!(error(&"(".repeat(99)).contains("brackets inside each other"));
    }

    #[test]
    fn rotations_are_recognised_by_name() {
        for name in ["x", "y2", "z'", "Uv", "BL_Fv"] {
            assert!(is_rotation(name), "{name}");
        }
        for name in ["X", "x3", "v", "uv", "U", "xy"] {
            assert!(!is_rotation(name), "{name}");
        }
    }
}
