//! Times on the command line.

use std::time::Duration;

/// Why a time was refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DurationError {
    #[error(transparent)]
    Malformed(#[from] humantime::DurationError),
    #[error("'M' would be a month: write 'm' for minutes, or 'month'")]
    Month,
}

/// Parses a time such as `500ms` or `2m`.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, DurationError> {
    if text.contains('M') {
        return Err(DurationError::Month);
    }
    Ok(humantime::parse_duration(text)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upper_case_m_is_refused_as_ambiguous() {
        assert_eq!(parse_duration("2m").unwrap(), Duration::from_secs(120));
        assert!(parse_duration("1month").is_ok());
        assert!(matches!(parse_duration("2M"), Err(DurationError::Month)));
        assert!(matches!(parse_duration("2"), Err(DurationError::Malformed(_))));
    }
}
