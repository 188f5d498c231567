//! Plain names: job ids and file names that stay in their folder.

use crate::error::{Result, StoreError};

/// Longest name, in bytes.
const MAX_LEN: usize = 200;

/// Checks that a name stays in its folder: it must have 1 to 200 letters, digits, `-`, `_` and `.`, and
/// must not begin with a dot. `what` is the use of the name in the error ("job id").
///
/// # Errors
/// `Name` for any other name.
///
/// ```
/// assert!(strata_store::check_name("job id", "panex-8").is_ok());
/// assert!(strata_store::check_name("job id", "../panex-8").is_err());
/// ```
pub fn check_name(what: &'static str, name: &str) -> Result<()> {
    let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b));
    if plain && !name.is_empty() && !name.starts_with('.') && name.len() <= MAX_LEN {
        Ok(())
    } else {
        Err(StoreError::Name { what, name: quoted(name) })
    }
}

/// A refused name in quotes for the error: at most its first 200 characters, and "…" if there are more.
fn quoted(name: &str) -> String {
    match name.char_indices().nth(MAX_LEN) {
        None => name.to_owned(),
        Some((end, _)) => format!("{}…", &name[..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_quotes_a_part_of_a_long_name() {
        let error = check_name("job id", &"é".repeat(100_000)).unwrap_err().to_string();
        assert_eq!(error, format!("\"{}…\" is not a valid job id", "é".repeat(MAX_LEN)));
        let error = check_name("job id", "..").unwrap_err().to_string();
        assert_eq!(error, "\"..\" is not a valid job id");
    }
}
