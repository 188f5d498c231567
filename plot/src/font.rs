//! The shipped font: widths for the layout, outlines for PNG files.

use std::sync::LazyLock;

use ab_glyph::{Font as _, FontRef, GlyphId, OutlineCurve};

/// Weight of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    Regular,
    SemiBold,
}

/// A part of Inter, under the licence in `fonts/OFL.txt`.
static REGULAR: LazyLock<Option<FontRef<'static>>> =
    LazyLock::new(|| FontRef::try_from_slice(include_bytes!("../fonts/Inter-Regular.otf")).ok());
static SEMI_BOLD: LazyLock<Option<FontRef<'static>>> =
    LazyLock::new(|| FontRef::try_from_slice(include_bytes!("../fonts/Inter-SemiBold.otf")).ok());

/// The shipped font of a weight; none if it cannot be parsed, which a test rules out.
fn font(weight: Weight) -> Option<&'static FontRef<'static>> {
    match weight {
        Weight::Regular => REGULAR.as_ref(),
        Weight::SemiBold => SEMI_BOLD.as_ref(),
    }
}

/// Width of a text, in the unit of `size`.
pub(crate) fn width(text: &str, size: f64, weight: Weight) -> f64 {
    let Some(font) = font(weight) else { return 0.0 };
    let per_unit = size / units(font);
    let (mut width, mut before) = (0.0, None);
    for symbol in text.chars() {
        let glyph = font.glyph_id(symbol);
        width += kern(font, &mut before, glyph) + f64::from(font.h_advance_unscaled(glyph));
    }
    width * per_unit
}

/// Outline of a glyph, the place of its origin, and pixels per unit of the font.
pub(crate) struct PlacedGlyph {
    pub(crate) curves: Vec<OutlineCurve>,
    pub(crate) x: f64,
    pub(crate) per_unit: f64,
}

/// The outlines of a text whose first glyph starts at `x`.
pub(crate) fn outlines(text: &str, x: f64, size: f64, weight: Weight) -> Vec<PlacedGlyph> {
    let Some(font) = font(weight) else { return Vec::new() };
    let per_unit = size / units(font);
    let (mut at, mut before) = (x, None);
    let mut placed = Vec::new();
    for symbol in text.chars() {
        let glyph = font.glyph_id(symbol);
        at += kern(font, &mut before, glyph) * per_unit;
        // Spaces have no outline.
        if let Some(outline) = font.outline(glyph) {
            placed.push(PlacedGlyph { curves: outline.curves, x: at, per_unit });
        }
        at += f64::from(font.h_advance_unscaled(glyph)) * per_unit;
    }
    placed
}

/// Units of the font per em.
fn units(font: &FontRef<'_>) -> f64 {
    f64::from(font.units_per_em().unwrap_or(1_000.0))
}

/// Kerning between a glyph and `before`, in units of the font. `before` becomes the glyph.
fn kern(font: &FontRef<'_>, before: &mut Option<GlyphId>, glyph: GlyphId) -> f64 {
    let before = before.replace(glyph);
    before.map_or(0.0, |before| f64::from(font.kern_unscaled(before, glyph)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::Unit;

    #[test]
    fn both_fonts_can_be_read() {
        for weight in [Weight::Regular, Weight::SemiBold] {
            assert!(font(weight).is_some(), "{weight:?}");
            assert!(outlines("Aé µ", 0.0, 12.0, weight).len() == 3, "{weight:?}");
        }
    }

    #[test]
    fn labels_have_all_their_glyphs() {
        let font = font(Weight::Regular).unwrap();
        let missing = font.glyph_id('\u{1f600}');
        let labels = [
            Unit::Count.tick(1e18, 1e18),
            Unit::Seconds.tick(2e-6, 1e-6),
            Unit::Bytes.tick(65_536.0, 1_024.0),
            "positions/s: 0123456789 (expected) panex-6-abcxyz, ABCDEFGHIJKLMNOPQRSTUVWXYZ".into(),
        ];
        for symbol in labels.concat().chars() {
            assert_ne!(font.glyph_id(symbol), missing, "{symbol}");
        }
    }

    #[test]
    fn widths_grow_with_size_and_text() {
        let short = width("10", 12.0, Weight::Regular);
        assert!(short > 10.0 && short < 20.0, "{short}");
        assert!(width("10", 24.0, Weight::Regular) > 1.9 * short);
        assert!(width("10 M", 12.0, Weight::Regular) > short);
    }
}
