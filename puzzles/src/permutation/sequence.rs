//! Names of moves with powers, and sequences of moves.
//!
//! A word is a name, or a name with a power: `R2`, `R'`, `R2'`, `R^2`, `R^-1`. A sequence is words,
//! groups `(R U)3`, commutators `[R, U]` (R U R' U') and conjugates `[R: U]` (R U R'), also with
//! powers. Words are separated by blanks, or by commas outside brackets.

use strata_group::{BigUint, Element, Shape};

use super::definition::{Definition, NamedElement};
use super::error::{Place, ReadError};

/// Most brackets inside each other.
const MAX_DEPTH: usize = 16;

/// The largest power of a word or group.
const MAX_POWER: u64 = 1_000_000;

/// The element of a name without a power, if there is one.
pub(super) type Find<'a> = dyn FnMut(&str) -> Result<Option<Element>, ReadError> + 'a;

/// Reads a sequence that begins at a place. Applied to a state, its words act from left to right.
///
/// # Errors
/// If a word has no element, or brackets do not match.
pub(super) fn read(
    text: &str,
    place: Place,
    shape: &Shape,
    find: &mut Find<'_>,
) -> Result<Element, ReadError> {
    let mut reader = Reader { text, offset: 0, place, shape, find };
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
pub(super) fn read_within<'a, M: Iterator<Item = &'a NamedElement>>(
    text: &str,
    definition: &Definition,
    moves: impl Fn() -> M,
) -> Result<Element, ReadError> {
    let mut find = |name: &str| {
        let found = moves().find(|mv| mv.name == name);
        Ok(found.map(|mv| mv.element.clone()))
    };
    read(text, Place::START, &definition.shape, &mut find)
}

/// The name of a power of a move: the inverse for exponents above half of the order.
pub(super) fn power_name(name: &str, exponent: u64, order: u64) -> String {
    let (count, inverse) =
        if exponent * 2 > order { (order - exponent, true) } else { (exponent, false) };
    let ends_plainly = !name.ends_with(|c: char| c.is_ascii_digit() || c == '\'');
    match (count, inverse) {
        (1, false) => name.to_owned(),
        (1, true) if ends_plainly => format!("{name}'"),
        (_, false) if ends_plainly => format!("{name}{count}"),
        (_, true) if ends_plainly => format!("{name}{count}'"),
        (_, false) => format!("{name}^{count}"),
        (_, true) => format!("{name}^-{count}"),
    }
}

/// Whether twsearch takes a name as a rotation of the whole puzzle: `x`, `y`, `z`, also with a power,
/// or capital letters followed by `v`.
pub(super) fn is_rotation(name: &str) -> bool {
    if let Some(power) = name.strip_prefix(['x', 'y', 'z']) {
        return matches!(power, "" | "2" | "'");
    }
    name.strip_suffix('v').is_some_and(|face| {
        !face.is_empty() && face.bytes().all(|byte| byte == b'_' || byte.is_ascii_uppercase())
    })
}

/// Ways to take a word as a name and a power, the longest name first.
fn split_power(word: &str) -> Vec<(&str, i64)> {
    if let Some((name, power)) = word.rsplit_once('^') {
        return power.parse().map_or(Vec::new(), |power| vec![(name, power)]);
    }
    let (rest, sign) = match word.strip_suffix(['\'', '’']) {
        Some(rest) => (rest, -1),
        None => (word, 1),
    };
    let name = rest.trim_end_matches(|c: char| c.is_ascii_digit());
    let mut ways = Vec::new();
    if rest != word {
        ways.push((rest, sign));
    }
    if let Some(count) = rest.get(name.len()..).and_then(|digits| digits.parse::<i64>().ok()) {
        ways.push((name, sign * count));
    }
    ways
}

struct Reader<'a, 'f> {
    text: &'a str,
    offset: usize,
    place: Place,
    shape: &'a Shape,
    find: &'a mut Find<'f>,
}

impl Reader<'_, '_> {
    fn here(&self) -> Place {
        self.place.within(self.text, self.offset)
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
            self.skip(|c| c.is_whitespace() || c == '.' || blanks.contains(&c));
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
                Some(_) => self.word()?,
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
        let digits: String = self.rest().chars().take_while(char::is_ascii_digit).collect();
        let place = self.here();
        self.offset += digits.len();
        let count = match &*digits {
            "" => 1,
            digits => digits.parse().map_err(|_| place.expected("a power", digits))?,
        };
        let inverse = self.next_char().filter(|c| ['\'', '’'].contains(c));
        self.offset += inverse.map_or(0, char::len_utf8);
        self.bounded_power(&element, if inverse.is_some() { -count } else { count }, place)
    }

    fn word(&mut self) -> Result<Element, ReadError> {
        let place = self.here();
        let ends = |c: char| c.is_whitespace() || "()[],:".contains(c);
        let len = self.rest().find(ends).unwrap_or(self.rest().len());
        let word = self.rest().get(..len).unwrap_or_default().to_owned();
        self.offset += len;
        if let Some(element) = (self.find)(&word)? {
            return Ok(element);
        }
        for (name, power) in split_power(&word) {
            if let Some(element) = (self.find)(name)? {
                return self.bounded_power(&element, power, place);
            }
        }
        Err(place.expected("a move", &word))
    }

    fn bounded_power(
        &self,
        element: &Element,
        power: i64,
        place: Place,
    ) -> Result<Element, ReadError> {
        if power.unsigned_abs() > MAX_POWER {
            return Err(place.error(format!("a power above {MAX_POWER}")));
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

/// The order of a move, if it is at most `limit`.
pub(super) fn order_within(element: &Element, shape: &Shape, limit: u64) -> Option<u64> {
    let order = element.order(shape);
    if order > BigUint::from(limit) { None } else { u64::try_from(order).ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element(text: &str) -> Result<Element, String> {
        let shape = Shape::plain(4).unwrap();
        let a = shape.permutation(&[1, 2, 3, 0]).unwrap();
        let b = shape.permutation(&[1, 0, 2, 3]).unwrap();
        let mut find = |name: &str| {
            Ok(match name {
                "a" => Some(a.clone()),
                "b" | "c1" => Some(b.clone()),
                _ => None,
            })
        };
        read(text, Place::START, &shape, &mut find).map_err(|error| error.to_string())
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
        ] {
            assert_eq!(element(text), element(plain), "{text}");
        }
        assert_ne!(element("a b"), element("b a"));
    }

    #[test]
    fn faults_have_a_place() {
        let error = |text: &str| element(text).unwrap_err();
        assert_eq!(error("a d"), "line 1, column 3: expected a move, found 'd'");
        assert_eq!(error("(a b"), "line 1, column 5: expected ')', found the end");
        assert_eq!(error("[a b]"), "line 1, column 5: expected ',' or ':', found ']'");
        assert_eq!(error("a )"), "line 1, column 3: expected a move, found ')'");
        assert_eq!(error("a9999999"), "line 1, column 1: a power above 1000000");
        assert!(error(&"(".repeat(99)).contains("brackets inside each other"));
    }

    #[test]
    fn names_of_powers_are_read_back() {
        for (name, exponent, order, written) in [
            ("R", 1, 4, "R"),
            ("R", 2, 4, "R2"),
            ("R", 3, 4, "R'"),
            ("R", 4, 6, "R2'"),
            ("F1", 2, 5, "F1^2"),
            ("F1", 4, 5, "F1^-1"),
        ] {
            assert_eq!(power_name(name, exponent, order), written);
        }
        assert_eq!(split_power("R2'"), [("R2", -1), ("R", -2)]);
        assert_eq!(split_power("F1^-1"), [("F1", -1)]);
        assert_eq!(split_power("R"), []);
    }

    #[test]
    fn rotations_are_told_by_name() {
        for name in ["x", "y2", "z'", "Uv", "BL_Fv"] {
            assert!(is_rotation(name), "{name}");
        }
        for name in ["X", "x3", "v", "uv", "U", "xy"] {
            assert!(!is_rotation(name), "{name}");
        }
    }
}
