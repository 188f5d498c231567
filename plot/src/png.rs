//! PNG files of drawings.

use ab_glyph::OutlineCurve;
use tiny_skia::{
    Color, FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, Stroke, StrokeDash,
    Transform,
};

use crate::chart::Chart;
use crate::font;
use crate::image::Image;
use crate::layout;
use crate::scene::{Item, Line, Place, Scene, Text};
use crate::theme::Colour;

/// Error of making a PNG file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PngError {
    /// No memory for the pixels.
    #[error("no memory for an image of {width}x{height} pixels")]
    Memory {
        /// Width of the image.
        width: u32,
        /// Height of the image.
        height: u32,
    },
    /// The encoder failed.
    #[error("cannot encode the image: {0}")]
    Encoding(String),
}

impl Chart {
    /// The chart as a PNG file.
    ///
    /// # Errors
    /// If memory is short, or the encoder fails.
    pub fn png(&self, image: &Image) -> Result<Vec<u8>, PngError> {
        encode(&layout::scene(self, image))
    }
}

fn encode(scene: &Scene) -> Result<Vec<u8>, PngError> {
    let Scene { width, height, .. } = *scene;
    let mut pixels = Pixmap::new(width, height).ok_or(PngError::Memory { width, height })?;
    if let Some(Colour(red, green, blue)) = scene.background {
        pixels.fill(Color::from_rgba8(red, green, blue, 255));
    }
    for item in &scene.items {
        match item {
            Item::Line(line) => draw_line(&mut pixels, line),
            Item::Area { places, colour, opacity } => {
                let path = polygon(places, true);
                fill(&mut pixels, path, &paint(*colour, *opacity));
            }
            Item::Text(text) => draw_text(&mut pixels, text),
        }
    }
    pixels.encode_png().map_err(|error| PngError::Encoding(error.to_string()))
}

fn paint(Colour(red, green, blue): Colour, opacity: f64) -> Paint<'static> {
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color_rgba8(red, green, blue, (opacity.clamp(0.0, 1.0) * 255.0).round() as u8);
    paint
}

/// A path through the places; none if there are fewer than two.
fn polygon(places: &[Place], close: bool) -> Option<Path> {
    let mut path = PathBuilder::new();
    for (at, (x, y)) in places.iter().enumerate() {
        let (x, y) = (*x as f32, *y as f32);
        if at == 0 { path.move_to(x, y) } else { path.line_to(x, y) }
    }
    if close {
        path.close();
    }
    path.finish()
}

fn fill(pixels: &mut Pixmap, path: Option<Path>, paint: &Paint<'_>) {
    if let Some(path) = path {
        pixels.fill_path(&path, paint, FillRule::Winding, Transform::identity(), None);
    }
}

fn draw_line(pixels: &mut Pixmap, line: &Line) {
    let stroke = Stroke {
        width: line.width as f32,
        line_cap: LineCap::Round,
        line_join: LineJoin::Round,
        dash: line.dash.and_then(|(dash, gap)| StrokeDash::new(vec![dash as f32, gap as f32], 0.0)),
        ..Stroke::default()
    };
    if let Some(path) = polygon(&line.places, false) {
        let paint = paint(line.colour, 1.0);
        pixels.stroke_path(&path, &paint, &stroke, Transform::identity(), None);
    }
}

fn draw_text(pixels: &mut Pixmap, text: &Text) {
    let mut path = PathBuilder::new();
    for glyph in font::outlines(&text.text, text.left(), text.size, text.weight) {
        let place = |point: ab_glyph::Point| {
            let x = glyph.x + f64::from(point.x) * glyph.per_unit;
            // The vertical axis of a font points up, that of an image down.
            let y = text.place.1 - f64::from(point.y) * glyph.per_unit;
            (x as f32, y as f32)
        };
        let mut end = None;
        for curve in &glyph.curves {
            let start = match curve {
                OutlineCurve::Line(a, _)
                | OutlineCurve::Quad(a, ..)
                | OutlineCurve::Cubic(a, ..) => place(*a),
            };
            // A curve that does not begin at the end of the previous one starts a new contour.
            if end != Some(start) {
                path.move_to(start.0, start.1);
            }
            let last = match curve {
                OutlineCurve::Line(_, b) => {
                    let b = place(*b);
                    path.line_to(b.0, b.1);
                    b
                }
                OutlineCurve::Quad(_, b, c) => {
                    let (b, c) = (place(*b), place(*c));
                    path.quad_to(b.0, b.1, c.0, c.1);
                    c
                }
                OutlineCurve::Cubic(_, b, c, d) => {
                    let (b, c, d) = (place(*b), place(*c), place(*d));
                    path.cubic_to(b.0, b.1, c.0, c.1, d.0, d.1);
                    d
                }
            };
            end = Some(last);
        }
    }
    fill(pixels, path.finish(), &paint(text.colour, 1.0));
}
