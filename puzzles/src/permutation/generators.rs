//! Reader of lists of permutations: cycles as GAP writes them, or lists of images.
//!
//! A permutation moves the piece at point `i` to the image of `i`. Each permutation is one move: neither
//! its inverse nor its powers are added.

use std::ops::Range;

use super::builder::{Builder, MAX_SLOTS};
use super::definition::{Definition, Format};
use super::error::{Place, ReadError};
use super::statements::{JOIN, Source, Statement, is_blank};

/// Pairs of a point and its image, from 1. Points that are not listed are fixed.
type Images = Vec<(u16, u16)>;

/// Reads a definition.
///
/// # Errors
/// With the place of the first fault.
pub(super) fn read(text: &str) -> Result<Definition, ReadError> {
    let source = Source::new(text);
    let statements = source.statements()?;
    let images = statements.iter().map(|statement| permutation(&source, statement));
    let images = images.collect::<Result<Vec<Images>, ReadError>>()?;
    let points = images.iter().flatten();
    let size = points.map(|(point, image)| *point.max(image)).max().unwrap_or(0);
    let mut builder = Builder::new(Format::Generators);
    if let Some(title) = source.title() {
        builder.name(title, Place::START)?;
    }
    if size == 0 {
        return Err(Place::START.error("expected a permutation that moves a point"));
    }
    builder.add_set("POINTS", size.into(), 1, Place::START)?;
    let shape = builder.shape(Place::START)?;
    for (number, (Statement { name, body }, images)) in statements.iter().zip(images).enumerate() {
        let mut from: Vec<u16> = (0..size).collect();
        for (point, image) in images {
            from[usize::from(image) - 1] = point - 1;
        }
        let element = shape.permutation(&from);
        let element = element.map_err(|error| source.place(body.start).error(error.to_string()))?;
        let (name, place) = match name {
            Some(name) => (source.part(name.clone()).to_owned(), source.place(name.start)),
            None => (format!("g{}", number + 1), source.place(body.start)),
        };
        builder.add_move(&name, element, place)?;
    }
    builder.finish(Place::at(text, text.len()))
}

fn permutation(source: &Source<'_>, statement: &Statement) -> Result<Images, ReadError> {
    let body = statement.body.clone();
    let (text, place) = (source.part(body.clone()), source.place(body.start));
    let expected = "cycles such as (1,2,3)(4,5), or images";
    match text.chars().next() {
        Some('(') => cycles(source, body),
        Some(c) if c == '[' || c.is_ascii_digit() => list(source, body),
        Some(_) => Err(place.expected(expected, text)),
        None => Err(place.error(format!("expected {expected}"))),
    }
}

/// The points of a part of the text, separated by commas or by blanks.
fn points(source: &Source<'_>, range: Range<usize>) -> Result<Vec<u16>, ReadError> {
    let mut points = Vec::new();
    let mut range = source.trimmed(range);
    if range.is_empty() {
        return Ok(points);
    }
    let has_commas = source.part(range.clone()).contains(',');
    loop {
        let text = source.part(range.clone());
        let word =
            &text[..text.find(|c: char| c.is_whitespace() || c == ',').unwrap_or(text.len())];
        let digits = word.replace(JOIN, "");
        let point = digits.parse().ok().filter(|point| (1..=MAX_SLOTS as u16).contains(point));
        let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
        points.push(point.filter(|_| is_number).ok_or_else(|| {
            let expected = format!("a point from 1 to {MAX_SLOTS}");
            source.place(range.start).expected(&expected, word)
        })?);
        let rest = text[word.len()..].trim_start_matches(is_blank);
        range.start = range.end - rest.len();
        if rest.is_empty() {
            return Ok(points);
        }
        if has_commas {
            let Some(rest) = rest.strip_prefix(',') else {
                return Err(source.place(range.start).expected("',' between points", rest));
            };
            range.start = range.end - rest.trim_start_matches(is_blank).len();
        }
    }
}

fn cycles(source: &Source<'_>, body: Range<usize>) -> Result<Images, ReadError> {
    let mut images = Vec::new();
    let mut seen = vec![false; MAX_SLOTS + 1];
    let mut rest = body;
    while !rest.is_empty() {
        let (text, at) = (source.part(rest.clone()), source.place(rest.start));
        let inside = text.strip_prefix('(');
        let len = inside.and_then(|inside| inside.find(['(', ')']));
        let closed = len.filter(|len| text[len + 1..].starts_with(')'));
        let Some(len) = closed else {
            let line = text.lines().next().unwrap_or_default();
            return Err(at.expected("a cycle in brackets", line));
        };
        let cycle = points(source, rest.start + 1..rest.start + 1 + len)?;
        for (index, point) in cycle.iter().enumerate() {
            if std::mem::replace(&mut seen[usize::from(*point)], true) {
                return Err(at.error(format!("{point} appears twice")));
            }
            images.push((*point, cycle[(index + 1) % cycle.len()]));
        }
        rest = source.trimmed(rest.start + len + 2..rest.end);
    }
    Ok(images)
}

fn list(source: &Source<'_>, body: Range<usize>) -> Result<Images, ReadError> {
    let (text, place) = (source.part(body.clone()), source.place(body.start));
    let inside = match text.strip_prefix('[') {
        Some(rest) if rest.find(']').is_some_and(|end| end + 1 == rest.len()) => {
            body.start + 1..body.end - 1
        }
        Some(_) => return Err(place.expected("a list that ends with ']'", text)),
        None => body,
    };
    let images = points(source, inside)?;
    let mut sorted = images.clone();
    sorted.sort_unstable();
    if images.is_empty() || sorted.iter().zip(1..).any(|(image, point)| *image != point) {
        let why = format!("expected the numbers from 1 to {} in any order", images.len().max(1));
        return Err(place.error(why));
    }
    Ok((1..).zip(images).collect())
}
