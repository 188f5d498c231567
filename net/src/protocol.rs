//! Version of the protocol, and ids of workers, processes and journals.

use crate::error::NetError;

/// Version of the protocol that this build implements.
pub const VERSION: u32 = 2;

/// A random id: 32 hexadecimal digits.
///
/// # Errors
/// [`NetError::Random`] if the operating system provides no random numbers.
pub fn random_id() -> Result<String, NetError> {
    random().map(|number: u128| format!("{number:032x}"))
}

/// A random number other than 0, such as a coordinator's incarnation.
///
/// # Errors
/// [`NetError::Random`] if the operating system provides no random numbers.
pub fn random_number() -> Result<u64, NetError> {
    random().map(|number| (number as u64).max(1))
}

/// Whether a text is an id: 32 hexadecimal digits.
#[must_use]
pub fn is_id(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn random() -> Result<u128, NetError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| NetError::Random { why: error.to_string() })?;
    Ok(u128::from_le_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_32_hexadecimal_digits() {
        assert!(is_id(&"0aF9".repeat(8)));
        for other in ["", &"0".repeat(31), &"0".repeat(33), &"g".repeat(32), &"é".repeat(16)] {
            assert!(!is_id(other), "{other}");
        }
    }

    #[test]
    fn random_ids_are_ids_and_differ() {
        let ids = [random_id().unwrap(), random_id().unwrap()];
        assert!(ids.iter().all(|id| is_id(id)), "{ids:?}");
        assert_ne!(ids[0], ids[1]);
        assert_ne!(random_number().unwrap(), 0);
    }
}
