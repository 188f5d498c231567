//! SVG documents of drawings.
//!
//! Only presentation attributes are used, no styles and no scripts, so that a page with a strict
//! content security policy can embed them.

use std::fmt::Write as _;

use crate::chart::Chart;
use crate::font::Weight;
use crate::image::Image;
use crate::layout;
use crate::scene::{Anchor, Item, Line, Place, Scene, Text};
use crate::theme::Colour;

/// Font families, in order of preference.
const FAMILIES: &str = "Inter, system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";

impl Chart {
    /// The chart as an SVG document, with a title and a description for screen readers.
    #[must_use]
    pub fn svg(&self, image: &Image) -> String {
        document(&layout::scene(self, image))
    }
}

/// A drawing as an SVG document.
fn document(scene: &Scene) -> String {
    let Scene { width, height, .. } = scene;
    let (title, description) = (escaped(&scene.title), escaped(&scene.description));
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" role=\"img\" aria-label=\"{description}\" \
         font-family=\"{FAMILIES}\">\n<title>{title}</title>\n<desc>{description}</desc>\n"
    );
    if let Some(background) = scene.background {
        let fill = hex(background);
        let _ = writeln!(out, "<rect width=\"{width}\" height=\"{height}\" fill=\"{fill}\"/>");
    }
    for item in &scene.items {
        write_item(&mut out, item);
    }
    out.push_str("</svg>\n");
    out
}

fn write_item(out: &mut String, item: &Item) {
    match item {
        Item::Line(line) => write_line(out, line),
        Item::Area { places, colour, opacity } => {
            let (points, fill) = (points(places), hex(*colour));
            let _ = writeln!(
                out,
                "<polygon points=\"{points}\" fill=\"{fill}\" fill-opacity=\"{opacity}\"/>"
            );
        }
        Item::Text(text) => write_text(out, text),
    }
}

fn write_line(out: &mut String, line: &Line) {
    let (points, stroke, width) = (points(&line.places), hex(line.colour), line.width);
    let dash = line.dash.map(|(dash, gap)| format!(" stroke-dasharray=\"{dash} {gap}\""));
    let _ = writeln!(
        out,
        "<polyline points=\"{points}\" fill=\"none\" stroke=\"{stroke}\" \
         stroke-width=\"{width}\" stroke-linejoin=\"round\" stroke-linecap=\"round\"{}/>",
        dash.unwrap_or_default()
    );
}

fn write_text(out: &mut String, text: &Text) {
    let anchor = match text.anchor {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
        Anchor::End => " text-anchor=\"end\"",
    };
    let weight = match text.weight {
        Weight::Regular => "",
        Weight::SemiBold => " font-weight=\"600\"",
    };
    let (x, y) = (short(text.place.0), short(text.place.1));
    let (size, fill, content) = (text.size, hex(text.colour), escaped(&text.text));
    let _ = writeln!(
        out,
        "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\"{weight}{anchor} fill=\"{fill}\">\
         {content}</text>"
    );
}

/// Places as the value of an attribute `points`.
fn points(places: &[Place]) -> String {
    let mut out = String::with_capacity(places.len() * 12);
    for (at, (x, y)) in places.iter().enumerate() {
        let gap = if at == 0 { "" } else { " " };
        let _ = write!(out, "{gap}{},{}", short(*x), short(*y));
    }
    out
}

/// A coordinate, rounded to a tenth of a pixel.
fn short(value: f64) -> f64 {
    // Adding zero turns -0 into 0.
    (value * 10.0).round() / 10.0 + 0.0
}

fn hex(Colour(red, green, blue): Colour) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// The text with its markup characters escaped. Characters that XML forbids are replaced.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for symbol in text.chars() {
        match symbol {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => out.push(' '),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            symbol if symbol.is_control() => out.push('\u{fffd}'),
            symbol => out.push(symbol),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_users_cannot_add_markup() {
        let text = escaped("<script>\"a\" & 'b'</script>\u{0}\n\u{ffff}");
        assert_eq!(text, "&lt;script&gt;&quot;a&quot; &amp; 'b'&lt;/script&gt;\u{fffd} \u{fffd}");
    }

    #[test]
    fn coordinates_are_short() {
        assert_eq!(points(&[(0.0, 1.25), (-0.04, 100.0)]), "0,1.3 0,100");
    }
}
