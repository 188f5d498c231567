//! Texts of other nodes and users in logs and messages.

use std::borrow::Cow;

/// Makes a text fit for one line of a log or a message: control characters and line separators are
/// escaped.
///
/// ```
/// assert_eq!(strata_net::printable("lost\n17 INFO \u{1b}[2J"), r"lost\n17 INFO \u{1b}[2J");
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(printable("a\r\nb\tc\0\u{9b}m\u{2028}é"), r"a\r\nb\tc\u{0}\u{9b}m\u{2028}é");
        assert!(matches!(printable("état 1"), Cow::Borrowed(_)));
    }
}
