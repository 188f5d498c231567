//! Plain names: job ids and file names that stay in their folder.

use crate::error::{Result, StoreError};

/// Accepts names that stay in their folder: at most 200 letters, digits, `-`, `_` and `.`, not
/// beginning with a dot. `what` says in the error what the name is for ("job id").
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
    if plain && !name.is_empty() && !name.starts_with('.') && name.len() <= 200 {
        Ok(())
    } else {
        Err(StoreError::Name { what, name: name.to_owned() })
    }
}
