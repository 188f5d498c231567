//! Sizes and themes of images.

use std::fmt;
use std::str::FromStr;

/// How a chart is drawn as an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Image {
    /// Width and height.
    pub size: Size,
    /// Colours.
    pub theme: Theme,
    /// Whether the background is transparent, for a page with the colours of the theme.
    pub transparent: bool,
}

/// Colours of an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// Dark on white.
    #[default]
    Light,
    /// Light on dark blue-grey.
    Dark,
}

/// Width and height of an image, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    width: u32,
    height: u32,
}

/// Error of a size that is malformed, too small or too large.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SizeError {
    /// The text is not two numbers with an `x` between them.
    #[error("use WIDTHxHEIGHT, such as 800x450")]
    Form,
    /// The width or the height is out of range.
    #[error(
        "{width}x{height} pixels: use {}x{} to {most}x{most}",
        Size::LEAST.width, Size::LEAST.height, most = Size::MOST
    )]
    Range {
        /// The width given.
        width: u32,
        /// The height given.
        height: u32,
    },
}

impl Size {
    /// The smallest size on which axes and legend leave room for curves.
    pub const LEAST: Size = Size { width: 320, height: 200 };
    /// The greatest width and height.
    pub const MOST: u32 = 4_096;

    /// A size in pixels.
    ///
    /// # Errors
    /// If the width or the height is below that of [`Size::LEAST`] or above [`Size::MOST`].
    pub fn new(width: u32, height: u32) -> Result<Self, SizeError> {
        let widths = Self::LEAST.width..=Self::MOST;
        let heights = Self::LEAST.height..=Self::MOST;
        if widths.contains(&width) && heights.contains(&height) {
            Ok(Self { width, height })
        } else {
            Err(SizeError::Range { width, height })
        }
    }

    /// The width, in pixels.
    #[must_use]
    pub fn width(self) -> u32 {
        self.width
    }

    /// The height, in pixels.
    #[must_use]
    pub fn height(self) -> u32 {
        self.height
    }
}

impl Default for Size {
    fn default() -> Self {
        Self { width: 800, height: 450 }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.width, self.height)
    }
}

impl FromStr for Size {
    type Err = SizeError;

    fn from_str(text: &str) -> Result<Self, SizeError> {
        let (width, height) = text.split_once('x').ok_or(SizeError::Form)?;
        let number = |text: &str| text.parse::<u32>().map_err(|_| SizeError::Form);
        Size::new(number(width)?, number(height)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_round_trip_through_text() {
        assert_eq!("800x450".parse(), Ok(Size::default()));
        assert_eq!(Size::default().to_string(), "800x450");
        assert_eq!("800".parse::<Size>(), Err(SizeError::Form));
        assert_eq!("x450".parse::<Size>(), Err(SizeError::Form));
    }

    #[test]
    fn impossible_sizes_are_refused_with_the_limits() {
        let error = "100x450".parse::<Size>().unwrap_err();
        assert_eq!(error.to_string(), "100x450 pixels: use 320x200 to 4096x4096");
        assert!(Size::new(5_000, 450).is_err());
        assert!(Size::new(800, 100).is_err());
    }
}
