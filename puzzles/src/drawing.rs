//! Drawings of positions: rectangles, lines and texts as an SVG document.
//!
//! The document has presentation attributes only, without style sheets, scripts or a background, so
//! that a page can embed it as it is. All drawings of a puzzle instance have the same size, so that an
//! animation can replace one by the next.

use std::fmt::Write as _;

use strata_space::DrawingTheme;

/// Colours of a theme.
#[derive(Clone, Copy)]
pub(crate) struct Palette {
    /// Tracks, pegs and frames.
    pub(crate) frame: &'static str,
    /// Letters and numbers outside of pieces.
    pub(crate) muted: &'static str,
    /// Pieces of the first kind, and the text on them.
    pub(crate) first: (&'static str, &'static str),
    /// Pieces of the second kind, and the text on them.
    pub(crate) second: (&'static str, &'static str),
}

impl Palette {
    /// The colours of a theme.
    pub(crate) fn of(theme: DrawingTheme) -> Palette {
        match theme {
            DrawingTheme::Light => Palette {
                frame: "#cbd2d9",
                muted: "#52606d",
                first: ("#2563b0", "#ffffff"),
                second: ("#f0a04b", "#2b1700"),
            },
            DrawingTheme::Dark => Palette {
                frame: "#4b5768",
                muted: "#a8b1bf",
                first: ("#60a5fa", "#0b1a30"),
                second: ("#fb923c", "#2b1700"),
            },
        }
    }
}

/// An SVG document under construction; parts are added from back to front.
pub(crate) struct Drawing {
    document: String,
}

impl Drawing {
    /// An empty drawing of a width and a height, with the position's text form as its title. The text
    /// is inserted without escaping: it is the puzzle's own text form and has no markup.
    pub(crate) fn new(width: u32, height: u32, position: &str) -> Drawing {
        let document = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\" role=\"img\" aria-label=\"{position}\" \
             font-family=\"system-ui, sans-serif\" text-anchor=\"middle\">\n\
             <title>{position}</title>\n"
        );
        Drawing { document }
    }

    /// Adds a line along a path in SVG's notation.
    pub(crate) fn line(&mut self, path: &str, width: u32, colour: &str) {
        let _ = writeln!(
            self.document,
            "<path d=\"{path}\" stroke=\"{colour}\" stroke-width=\"{width}\" \
             stroke-linecap=\"round\" fill=\"none\"/>"
        );
    }

    /// Adds a rectangle with round corners, centred on a point.
    pub(crate) fn piece(&mut self, (x, y): (u32, u32), (width, height): (u32, u32), fill: &str) {
        let (left, top) = (x - width / 2, y - height / 2);
        let _ = writeln!(
            self.document,
            "<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" rx=\"4\" \
             fill=\"{fill}\"/>"
        );
    }

    /// Adds a text centred on a point.
    pub(crate) fn text(&mut self, (x, y): (u32, u32), size: u32, fill: &str, text: &str) {
        // The base line is a third of the size below the middle of digits.
        let y = y + (size + 1) / 3;
        let _ = writeln!(
            self.document,
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" fill=\"{fill}\">{text}</text>"
        );
    }

    /// The complete document.
    pub(crate) fn finish(mut self) -> String {
        self.document.push_str("</svg>\n");
        self.document
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance, as WCAG 2 defines it.
    fn luminance(colour: &str) -> f64 {
        let part = |at: usize| u8::from_str_radix(&colour[at..at + 2], 16).unwrap();
        let linear = |part: u8| match f64::from(part) / 255.0 {
            part if part <= 0.04045 => part / 12.92,
            part => ((part + 0.055) / 1.055).powf(2.4),
        };
        0.2126 * linear(part(1)) + 0.7152 * linear(part(3)) + 0.0722 * linear(part(5))
    }

    #[test]
    fn texts_contrast_with_the_page_and_with_their_pieces() {
        let contrast = |one: &str, other: &str| {
            let (one, other) = (luminance(one), luminance(other));
            (one.max(other) + 0.05) / (one.min(other) + 0.05)
        };
        for (theme, page) in [(DrawingTheme::Light, "#ffffff"), (DrawingTheme::Dark, "#111827")] {
            let palette = Palette::of(theme);
            assert!(contrast(palette.muted, page) >= 4.5, "{theme:?}");
            for (fill, text) in [palette.first, palette.second] {
                assert!(contrast(fill, text) >= 4.5, "{theme:?} {fill} {text}");
            }
        }
    }
}
