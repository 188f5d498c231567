//! Reader of lists of permutations, one a line: cycles as GAP writes them, or lists of images.
//!
//! A permutation takes what is at point `i` to the image of `i`. It is a move as it stands: neither
//! its inverse nor its powers are added.

use super::builder::{Builder, MAX_SLOTS};
use super::definition::{Definition, Format};
use super::error::{Place, ReadError};

/// A permutation as images of the points from 1; what is not listed is fixed.
struct Permutation {
    name: String,
    place: Place,
    /// Pairs of a point and its image.
    images: Vec<(u16, u16)>,
}

/// Reads a definition.
///
/// # Errors
/// With the place of the first fault.
pub(super) fn read(text: &str) -> Result<Definition, ReadError> {
    let mut permutations = Vec::new();
    let mut title = None;
    for (number, line) in text.lines().enumerate() {
        let place = Place { line: number + 1, column: 1 };
        match line.trim().strip_prefix('#') {
            Some(comment) if permutations.is_empty() && title.is_none() => {
                title = Some(comment.trim()).filter(|comment| !comment.is_empty());
            }
            Some(_) => {}
            None if line.trim().is_empty() => {}
            None => permutations.push(permutation(line, place, permutations.len() + 1)?),
        }
    }
    let points = permutations.iter().flat_map(|permutation| &permutation.images);
    let size = points.map(|(point, image)| *point.max(image)).max().unwrap_or(0);
    let mut builder = Builder::new(Format::Generators);
    if let Some(title) = title {
        builder.name(title);
    }
    if size == 0 {
        return Err(Place::START.error("expected a permutation that moves a point"));
    }
    builder.add_set("POINTS", size.into(), 1, Place::START)?;
    let shape = builder.shape(Place::START)?;
    for Permutation { name, place, images } in permutations {
        let mut from: Vec<u16> = (0..size).collect();
        for (point, image) in images {
            from[usize::from(image) - 1] = point - 1;
        }
        let element = shape.permutation(&from);
        let element = element.map_err(|error| place.error(error.to_string()))?;
        builder.add_move(&name, element, place)?;
    }
    builder.finish(Place::at(text, text.len()))
}

/// Reads `name = permutation`, or a permutation that is named after its number.
fn permutation(line: &str, start: Place, number: usize) -> Result<Permutation, ReadError> {
    let (name, body) = match line.find('=') {
        Some(at) => (line[..at].trim().trim_end_matches(':').trim_end(), at + 1),
        None => ("", 0),
    };
    let name = if name.is_empty() { format!("g{number}") } else { name.to_owned() };
    let end = line.trim_end().trim_end_matches([';', ',']).trim_end().len();
    let body = body.min(end);
    let begin = end - line[body..end].trim_start().len();
    let (text, place) = (&line[begin..end], start.within(line, begin));
    let images = match text.chars().next() {
        Some('(') => cycles(text, place)?,
        Some(c) if c == '[' || c.is_ascii_digit() => list(text, place)?,
        Some(_) => return Err(place.expected("cycles such as (1,2,3)(4,5), or images", text)),
        None => return Err(place.error("expected cycles such as (1,2,3)(4,5), or images")),
    };
    Ok(Permutation { name, place, images })
}

/// The points of a text, separated by commas or blanks.
fn points(text: &str, place: Place) -> Result<Vec<u16>, ReadError> {
    let mut points = Vec::new();
    let mut offset = 0;
    for word in text.split([',', ' ', '\t']) {
        let at = place.within(text, offset);
        offset += word.len() + 1;
        if word.is_empty() {
            continue;
        }
        let point = word.parse().ok().filter(|point| (1..=MAX_SLOTS as u16).contains(point));
        let expected = || at.expected(&format!("a point from 1 to {MAX_SLOTS}"), word);
        points.push(point.ok_or_else(expected)?);
    }
    Ok(points)
}

fn cycles(text: &str, place: Place) -> Result<Vec<(u16, u16)>, ReadError> {
    let mut images = Vec::new();
    let mut seen = vec![false; MAX_SLOTS + 1];
    let mut offset = 0;
    while let Some(rest) = text.get(offset..).filter(|rest| !rest.is_empty()) {
        let at = place.within(text, offset);
        if rest.starts_with(char::is_whitespace) {
            offset += rest.len() - rest.trim_start().len();
            continue;
        }
        let Some((cycle, _)) = rest.strip_prefix('(').and_then(|rest| rest.split_once(')')) else {
            return Err(at.expected("a cycle in brackets", rest));
        };
        let inside = place.within(text, offset + 1);
        let cycle_points = points(cycle, inside)?;
        for (index, point) in cycle_points.iter().enumerate() {
            if std::mem::replace(&mut seen[usize::from(*point)], true) {
                return Err(at.error(format!("{point} appears twice")));
            }
            images.push((*point, cycle_points[(index + 1) % cycle_points.len()]));
        }
        offset += cycle.len() + 2;
    }
    Ok(images)
}

fn list(text: &str, place: Place) -> Result<Vec<(u16, u16)>, ReadError> {
    let (inside, shift) = match text.strip_prefix('[') {
        Some(rest) => match rest.strip_suffix(']') {
            Some(inside) => (inside, 1),
            None => return Err(place.expected("a list that ends with ']'", text)),
        },
        None => (text, 0),
    };
    let images = points(inside, place.within(text, shift))?;
    let mut sorted = images.clone();
    sorted.sort_unstable();
    if sorted.iter().zip(1..).any(|(image, point)| *image != point) {
        let why = format!("expected the numbers from 1 to {} in any order", images.len());
        return Err(place.error(why));
    }
    Ok((1..).zip(images).collect())
}
