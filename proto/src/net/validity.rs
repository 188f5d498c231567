//! Expiry of a certificate, read from its DER encoding.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Tags of DER.
const SEQUENCE: u8 = 0x30;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
/// Tag of the version of a certificate, an optional value.
const VERSION: u8 = 0xa0;

/// The time after which a certificate in DER is not valid; `None` if it is malformed.
pub(crate) fn valid_until(certificate: &[u8]) -> Option<SystemTime> {
    let mut certificate = Der(certificate);
    let mut content = Der(certificate.take_content(SEQUENCE)?);
    let mut content = Der(content.take_content(SEQUENCE)?);
    if content.0.first() == Some(&VERSION) {
        content.take()?;
    }
    // Serial number, algorithm of the signature, and issuer.
    for _ in 0..3 {
        content.take()?;
    }
    let mut validity = Der(content.take_content(SEQUENCE)?);
    validity.take()?;
    let (tag, time) = validity.take()?;
    match tag {
        UTC_TIME => {
            let (year, rest) = digits(time, 2)?;
            // RFC 5280: from 1950 to 2049.
            seconds(if year < 50 { 2000 + year } else { 1900 + year }, rest)
        }
        GENERALIZED_TIME => {
            let (year, rest) = digits(time, 4)?;
            seconds(year, rest)
        }
        _ => None,
    }
}

/// Values in DER that have not been read yet.
struct Der<'a>(&'a [u8]);

impl<'a> Der<'a> {
    /// The tag and the content of the next value.
    fn take(&mut self) -> Option<(u8, &'a [u8])> {
        let [tag, first, rest @ ..] = self.0 else { return None };
        let (len, rest) = match first.checked_sub(0x80) {
            None => (usize::from(*first), rest),
            Some(bytes) => {
                let (len, rest) = rest.split_at_checked(bytes.into())?;
                let len = (1..=4).contains(&len.len()).then_some(len)?;
                (len.iter().fold(0, |len, byte| len << 8 | usize::from(*byte)), rest)
            }
        };
        let (content, rest) = rest.split_at_checked(len)?;
        self.0 = rest;
        Some((*tag, content))
    }

    /// The content of the next value, which has this tag.
    fn take_content(&mut self, tag: u8) -> Option<&'a [u8]> {
        self.take().filter(|(found, _)| *found == tag).map(|(_, content)| content)
    }
}

/// Parses the first `count` characters as a number. Returns it and the rest.
fn digits(text: &[u8], count: usize) -> Option<(u32, &[u8])> {
    let (digits, rest) = text.split_at_checked(count)?;
    let number = digits.iter().try_fold(0, |number, digit| {
        digit.is_ascii_digit().then(|| 10 * number + u32::from(digit - b'0'))
    });
    Some((number?, rest))
}

/// The time of `year` and of `rest`, which is `MMDDHHMMSSZ`. Times before 1970 become the beginning
/// of 1970.
fn seconds(year: u32, rest: &[u8]) -> Option<SystemTime> {
    let mut parts = [0; 5];
    let mut rest = rest;
    for part in &mut parts {
        (*part, rest) = digits(rest, 2)?;
    }
    let [month, day, hour, minute, second] = parts;
    if rest != b"Z" || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // Days since 1970-01-01, with years that begin in March.
    let (year, month) = match month {
        1 | 2 => (i64::from(year) - 1, i64::from(month) + 9),
        _ => (i64::from(year), i64::from(month) - 3),
    };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let days = 365 * year + leap_days + (153 * month + 2) / 5 + i64::from(day) - 1 - 719_468;
    let seconds = 86_400 * days + i64::from(3600 * hour + 60 * minute + second);
    Some(UNIX_EPOCH + Duration::from_secs(seconds.try_into().unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    use super::*;

    fn certificate(year: i32, month: u8, day: u8) -> Vec<u8> {
        let mut params = CertificateParams::new(vec!["node".to_owned()]).unwrap();
        params.not_after = date_time_ymd(year, month, day);
        params.self_signed(&KeyPair::generate().unwrap()).unwrap().der().to_vec()
    }

    #[test]
    fn the_expiry_of_a_certificate_is_read() {
        // Before and after 2050 the form of the time differs.
        for (year, month, day) in [
            (1999, 12, 31),
            (2000, 2, 29),
            (2026, 1, 1),
            (2049, 12, 31),
            (2050, 1, 1),
            (2400, 3, 1),
        ] {
            let found = valid_until(&certificate(year, month, day)).unwrap();
            let date = httpdate::HttpDate::from(found).to_string();
            let expected = date_time_ymd(year, month, day).unix_timestamp();
            let seconds = found.duration_since(UNIX_EPOCH).unwrap().as_secs();
            assert_eq!(seconds, u64::try_from(expected).unwrap(), "{date}");
        }
        assert_eq!(valid_until(&certificate(1965, 6, 1)), Some(UNIX_EPOCH));
    }

    #[test]
    fn truncated_and_damaged_certificates_have_no_expiry() {
        let whole = certificate(2030, 5, 6);
        for len in 0..whole.len() {
            assert_eq!(valid_until(&whole[..len]), None, "{len}");
        }
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 0xff;
            // It must not panic.
            let _ = valid_until(&changed);
        }
    }
}
