//! LEB128 varints of 32-bit numbers, in their shortest form.
//!
//! The decoder never reads past its input and reports malformed input as `None`.

/// Appends `value` to `out`.
#[inline]
pub(crate) fn put(out: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Reads a varint at `raw[*pos..]` and advances `pos`.
#[inline]
pub(crate) fn get(raw: &[u8], pos: &mut usize) -> Option<u32> {
    let first = *raw.get(*pos)?;
    *pos += 1;
    if first < 0x80 {
        return Some(u32::from(first));
    }
    let mut value = u32::from(first & 0x7f);
    for shift in [7, 14, 21, 28] {
        let byte = *raw.get(*pos)?;
        *pos += 1;
        value |= u32::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            // Only the shortest form is valid, so that each value has one encoding.
            return (byte != 0 && (shift < 28 || byte < 0x10)).then_some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_round_trip(value: u32, shift in 0_u32..32) {
            let value = value >> shift;
            let mut out = Vec::new();
            put(&mut out, value);
            let mut pos = 0;
            prop_assert_eq!(get(&out, &mut pos), Some(value));
            prop_assert_eq!(pos, out.len());
        }

        #[test]
        fn garbage_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..10)) {
            let mut pos = 0;
            if let Some(value) = get(&bytes, &mut pos) {
                let mut again = Vec::new();
                put(&mut again, value);
                prop_assert_eq!(&bytes[..pos], &again[..]);
            }
        }
    }
}
