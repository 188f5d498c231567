//! Drawings: lines, areas and texts, independent of the image format.

use crate::font::Weight;
use crate::theme::Colour;

/// A place in pixels from the upper left corner.
pub(crate) type Place = (f64, f64);

/// What to draw, from the back to the front.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// Title for screen readers.
    pub(crate) title: String,
    /// Description for screen readers.
    pub(crate) description: String,
    /// Colour of the background; none if it is transparent.
    pub(crate) background: Option<Colour>,
    pub(crate) items: Vec<Item>,
}

/// A part of a drawing.
#[derive(Clone, Debug)]
pub(crate) enum Item {
    /// A line through places.
    Line(Line),
    /// A filled polygon.
    Area {
        /// Its corners.
        places: Vec<Place>,
        /// Its colour.
        colour: Colour,
        /// Opacity, from 0 (invisible) to 1.
        opacity: f64,
    },
    /// A text.
    Text(Text),
}

/// A line through places.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) places: Vec<Place>,
    pub(crate) colour: Colour,
    pub(crate) width: f64,
    /// Lengths of dashes and of the gaps between them.
    pub(crate) dash: Option<(f64, f64)>,
}

/// A text of one line.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    pub(crate) text: String,
    /// Place of the anchor on the base line.
    pub(crate) place: Place,
    pub(crate) anchor: Anchor,
    pub(crate) size: f64,
    pub(crate) weight: Weight,
    pub(crate) colour: Colour,
}

/// The point of a text that lies at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

impl Text {
    /// The left end of the text, in pixels.
    pub(crate) fn left(&self) -> f64 {
        let width = self.width();
        match self.anchor {
            Anchor::Start => self.place.0,
            Anchor::Middle => self.place.0 - width / 2.0,
            Anchor::End => self.place.0 - width,
        }
    }

    /// The width of the text in the shipped font, in pixels.
    pub(crate) fn width(&self) -> f64 {
        crate::font::width(&self.text, self.size, self.weight)
    }
}
