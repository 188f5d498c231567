//! Colours of the themes.

use crate::chart::MarkKind;
use crate::image::Theme;

/// A colour: red, green, blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Colour(pub(crate) u8, pub(crate) u8, pub(crate) u8);

/// The colours of a theme.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Palette {
    pub(crate) background: Colour,
    /// Titles and legends.
    pub(crate) text: Colour,
    /// Labels of axes and ticks.
    pub(crate) muted: Colour,
    pub(crate) axis: Colour,
    pub(crate) grid: Colour,
    /// Colours of curves. They repeat after the last one.
    pub(crate) curves: [Colour; 4],
    checkpoint: Colour,
    rollback: Colour,
    resume: Colour,
}

const LIGHT: Palette = Palette {
    background: Colour(0xff, 0xff, 0xff),
    text: Colour(0x1f, 0x29, 0x33),
    muted: Colour(0x52, 0x60, 0x6d),
    axis: Colour(0x7b, 0x87, 0x94),
    grid: Colour(0xe4, 0xe7, 0xeb),
    curves: [
        Colour(0x1f, 0x6f, 0xeb),
        Colour(0xc2, 0x41, 0x0c),
        Colour(0x15, 0x80, 0x3d),
        Colour(0x7e, 0x22, 0xce),
    ],
    checkpoint: Colour(0x52, 0x60, 0x6d),
    rollback: Colour(0xb9, 0x1c, 0x1c),
    resume: Colour(0x15, 0x80, 0x3d),
};

const DARK: Palette = Palette {
    background: Colour(0x11, 0x18, 0x27),
    text: Colour(0xf3, 0xf4, 0xf6),
    muted: Colour(0xa8, 0xb1, 0xbf),
    axis: Colour(0x6b, 0x76, 0x87),
    grid: Colour(0x26, 0x30, 0x41),
    curves: [
        Colour(0x60, 0xa5, 0xfa),
        Colour(0xfb, 0x92, 0x3c),
        Colour(0x4a, 0xde, 0x80),
        Colour(0xc0, 0x84, 0xfc),
    ],
    checkpoint: Colour(0xa8, 0xb1, 0xbf),
    rollback: Colour(0xf8, 0x71, 0x71),
    resume: Colour(0x4a, 0xde, 0x80),
};

impl Palette {
    /// The colours of a theme.
    pub(crate) fn of(theme: Theme) -> &'static Palette {
        match theme {
            Theme::Light => &LIGHT,
            Theme::Dark => &DARK,
        }
    }

    /// The colour of the curve with this number.
    pub(crate) fn curve(&self, number: usize) -> Colour {
        self.curves[number % self.curves.len()]
    }

    /// The colour of a mark.
    pub(crate) fn mark(&self, kind: MarkKind) -> Colour {
        match kind {
            MarkKind::Checkpoint => self.checkpoint,
            MarkKind::Rollback => self.rollback,
            MarkKind::Resume => self.resume,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance, as WCAG 2 defines it.
    fn luminance(Colour(red, green, blue): Colour) -> f64 {
        let linear = |part: u8| match f64::from(part) / 255.0 {
            part if part <= 0.04045 => part / 12.92,
            part => ((part + 0.055) / 1.055).powf(2.4),
        };
        0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
    }

    fn contrast(one: Colour, other: Colour) -> f64 {
        let (one, other) = (luminance(one), luminance(other));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    #[test]
    fn text_and_curves_stand_out_from_the_background() {
        for theme in [Theme::Light, Theme::Dark] {
            let palette = Palette::of(theme);
            for text in [palette.text, palette.muted] {
                assert!(contrast(text, palette.background) >= 4.5, "{theme:?} {text:?}");
            }
            let marks = MarkKind::ALL.map(|kind| palette.mark(kind));
            for drawn in palette.curves.into_iter().chain(marks).chain([palette.axis]) {
                assert!(contrast(drawn, palette.background) >= 3.0, "{theme:?} {drawn:?}");
            }
        }
    }
}
