//! Themes of drawings of positions.

/// Colours of a drawing: those that stand out on a light or on a dark page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrawingTheme {
    /// For a light page.
    Light,
    /// For a dark page.
    Dark,
}
