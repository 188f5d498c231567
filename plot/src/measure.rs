//! Widths of texts, with a margin for viewers whose font is wider than the shipped one.

use crate::font::{self, Weight};

/// Size of labels and legends, in pixels.
pub(crate) const LABEL: f64 = 12.0;
/// Factor by which a viewer's font may be wider than the shipped one.
const SLACK: f64 = 1.08;

/// Width of a text including that margin, in the unit of `size`.
pub(crate) fn measured(text: &str, size: f64, weight: Weight) -> f64 {
    font::width(text, size, weight) * SLACK
}

/// The text, shortened with an ellipsis to fit a width. Empty if not even the ellipsis fits.
pub(crate) fn cut(text: &str, size: f64, weight: Weight, width: f64) -> String {
    if measured(text, size, weight) <= width {
        return text.to_owned();
    }
    let mut kept: Vec<char> = text.chars().collect();
    while kept.pop().is_some() {
        let shown: String = kept.iter().chain(&['…']).collect();
        if measured(&shown, size, weight) <= width {
            return shown;
        }
    }
    String::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut() {
        let title = "a very long name of a job ".repeat(20);
        let shown = cut(&title, 16.0, Weight::SemiBold, 300.0);
        assert!(shown.ends_with('…') && shown.starts_with("a very long"), "{shown}");
        assert!(measured(&shown, 16.0, Weight::SemiBold) <= 300.0);
        assert_eq!(cut("short", 16.0, Weight::SemiBold, 300.0), "short");
        assert_eq!(cut("short", 16.0, Weight::SemiBold, 1.0), "");
    }
}
