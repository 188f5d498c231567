//! Version of the protocol, and ids of workers, processes and journals.

use crate::platform::Platform;

use crate::net::error::NetError;

/// Version of the protocol that this build implements.
pub const VERSION: u32 = 1;

/// A random id: 32 hexadecimal digits.
///
/// # Errors
/// [`NetError::Random`] if the operating system provides no random numbers.
pub fn random_id(platform: &dyn Platform) -> Result<String, NetError> {
    random(platform).map(id_of)
}

/// A number as an id: 32 hexadecimal digits.
#[must_use]
pub fn id_of(number: u128) -> String {
    format!("{number:032x}")
}

/// A random number other than 0, such as a coordinator's incarnation.
///
/// # Errors
/// [`NetError::Random`] if the operating system provides no random numbers.
pub fn random_number(platform: &dyn Platform) -> Result<u64, NetError> {
    random(platform).map(|number| (number as u64).max(1))
}

/// Whether a text is an id: 32 hexadecimal digits.
#[must_use]
pub fn is_id(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn random(platform: &dyn Platform) -> Result<u128, NetError> {
    platform.random().map_err(NetError::random)
}

#[cfg(test)]
mod tests {
    use crate::platform::System;
    use tokio::runtime::Handle;

    use super::*;

    #[test]
    fn an_id_has_32_hexadecimal_digits() {
        assert!(is_id(&"0aF9".repeat(8)));
        for other in ["", &"0".repeat(31), &"0".repeat(33), &"g".repeat(32), &"é".repeat(16)] {
            assert!(!is_id(other), "{other}");
        }
    }

    #[tokio::test]
    async fn random_ids_are_valid_and_differ() {
        let system = System::new(&Handle::current());
        let ids = [random_id(&*system).unwrap(), random_id(&*system).unwrap()];
        assert!(ids.iter().all(|id| is_id(id)), "{ids:?}");
        assert_ne!(ids[0], ids[1]);
        assert_ne!(random_number(&*system).unwrap(), 0);
    }
}
