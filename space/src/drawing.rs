//! Themes of drawings of positions.

/// Colours of a drawing: they contrast with a light or with a dark page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrawingTheme {
    /// For a light page.
    Light,
    /// For a dark page.
    Dark,
}
