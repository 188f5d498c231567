//! Version of the protocol, and the form of ids.

/// Version of the protocol that this build implements.
pub const VERSION: u32 = 1;

/// Whether a text is an id of a worker or of its process: 32 hexadecimal digits.
#[must_use]
pub fn is_id(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
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
}
