//! Parts of texts in messages.

use std::borrow::Cow;

/// Characters of a parameter's value that an error repeats.
pub const VALUE_CHARS: usize = 200;

/// The begin of a text with at most `most` characters, and `…` if there are more.
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
