//! Texts from other nodes and from users, prepared for logs and messages.

use std::borrow::Cow;

use crate::net::limits;

/// Makes a text fit for one line of a log or a message: control characters and line separators are
/// escaped.
///
/// ```
/// assert_eq!(strata_proto::net::printable("lost\n17 INFO \u{1b}[2J"), r"lost\n17 INFO \u{1b}[2J");
/// ```
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    let unfit = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    if !text.contains(unfit) {
        return Cow::Borrowed(text);
    }
    let mut line = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if unfit(c) {
            line.extend(c.escape_default());
        } else {
            line.push(c);
        }
    }
    Cow::Owned(line)
}

/// Another node's text about a failure, with control characters escaped as by [`printable`]. A text of
/// more than 2,000 characters is cut, and its length is added.
#[must_use]
pub fn reported(text: &str) -> String {
    printable(&cut(text, limits::TEXT_LEN)).into_owned()
}

/// A value for an error that quotes it. A value of more than 120 characters is cut, and its length
/// is added.
///
/// ```
/// assert_eq!(strata_proto::net::shortened("dense"), "dense");
/// assert!(strata_proto::net::shortened(&"7".repeat(100_000)).ends_with("777… (100000 bytes)"));
/// ```
#[must_use]
pub fn shortened(value: &str) -> Cow<'_, str> {
    cut(value, limits::QUOTED_LEN)
}

/// A text of at most `most` characters; of a longer one, the beginning and the length in bytes.
fn cut(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}… ({} bytes)", &text[..end], text.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(printable("a\r\nb\tc\0\u{9b}m\u{2028}é"), r"a\r\nb\tc\u{0}\u{9b}m\u{2028}é");
        assert!(matches!(printable("état 1"), Cow::Borrowed(_)));
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let long = "é".repeat(100_000);
        assert_eq!(reported(&long), format!("{}… (200000 bytes)", "é".repeat(2000)));
        assert_eq!(reported("lost\n"), r"lost\n");
        assert_eq!(shortened(&long), format!("{}… (200000 bytes)", "é".repeat(120)));
        let just = "é".repeat(120);
        assert!(matches!(shortened(&just), Cow::Borrowed(text) if text == just));
    }
}
