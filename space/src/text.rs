//! Shortening of long texts in messages.

use std::borrow::Cow;

/// The most characters of a parameter's value that an error message quotes.
pub const VALUE_CHARS: usize = 200;

/// The first `most` characters of a text, followed by `…` if there are more.
///
/// ```
/// assert_eq!(strata_space::shortened("état", 4), "état");
/// assert_eq!(strata_space::shortened("états", 4), "état…");
/// ```
pub fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()).into(),
        None => text.into(),
    }
}
