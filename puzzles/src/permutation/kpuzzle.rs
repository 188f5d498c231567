//! Reader of KPuzzle JSON, the format of cubing.js.
//!
//! Numbers count from 0. The orientations of a move belong to the slots that pieces come to.

use crate::group::Shape;

use super::builder::{Builder, MAX_SLOTS};
use super::definition::{Definition, Format, SolvedSet};
use super::error::{Place, ReadError};
use super::json::Located;

/// Members of the top-level object that have an effect.
const MEMBERS: [&str; 5] = ["name", "orbits", "defaultPattern", "moves", "derivedMoves"];

/// Reads a definition.
///
/// # Errors
/// With the place of the first fault.
pub(super) fn read(text: &str) -> Result<Definition, ReadError> {
    let root = Located::parse(text)?;
    let members = root.members()?;
    let member =
        |name: &str| members.iter().find(|(member, _)| member == name).map(|(_, value)| *value);
    let required = |name: &str| {
        member(name).ok_or_else(|| root.place().error(format!("expected a member '{name}'")))
    };
    let mut builder = Builder::new(Format::KPuzzle);
    if let Some(name) = member("name") {
        builder.name(&name.string()?, name.place())?;
    }
    for (name, value) in members.iter().filter(|(name, _)| !MEMBERS.contains(&&**name)) {
        builder.note(&format!("the member '{name}'"), value.place());
    }
    for orbit in required("orbits")?.list()? {
        add_orbit(&orbit, &mut builder)?;
    }
    let pattern = required("defaultPattern")?;
    let solved = solved(&pattern, &builder)?;
    builder.solve(solved, pattern.place())?;
    let shape = builder.shape(root.place())?;
    for (name, transformation) in required("moves")?.members()? {
        add_move(&name, &transformation, &shape, &mut builder)?;
    }
    let derived = member("derivedMoves").map(|derived| derived.members()).transpose()?;
    for (name, sequence) in derived.unwrap_or_default() {
        // The text follows the quotation mark.
        let place = sequence.place();
        let inside = Place { column: place.column + 1, ..place };
        builder.add_sequence(&name, place, &sequence.string()?, inside)?;
    }
    builder.finish(root.place())
}

/// The values of the named members of an object that has no other members.
fn fields<'a, const N: usize>(
    object: &Located<'a>,
    names: [&str; N],
) -> Result<[Option<Located<'a>>; N], ReadError> {
    let mut values = [None; N];
    for (name, value) in object.members()? {
        match names.iter().position(|known| *known == name) {
            Some(at) => values[at] = Some(value),
            None => return Err(value.place().expected(&names.join(", "), &name)),
        }
    }
    Ok(values)
}

fn add_orbit(orbit: &Located<'_>, builder: &mut Builder) -> Result<(), ReadError> {
    let [Some(name), Some(pieces), Some(orientations)] =
        fields(orbit, ["orbitName", "numPieces", "numOrientations"])?
    else {
        let why = "expected the members 'orbitName', 'numPieces' and 'numOrientations'";
        return Err(orbit.place().error(why));
    };
    let size = pieces.number(1, MAX_SLOTS as u16)?;
    let orientations = orientations.number(1, 255)? as u8;
    builder.add_set(&name.string()?, size.into(), orientations, name.place())
}

fn solved(pattern: &Located<'_>, builder: &Builder) -> Result<Vec<SolvedSet>, ReadError> {
    let sets = builder.sets();
    let mut parts: Vec<SolvedSet> = sets.iter().map(|set| SolvedSet::ordered(set, 0)).collect();
    for (name, orbit) in pattern.members()? {
        let Some(number) = builder.set(&name) else {
            return Err(orbit.place().expected("a member named as an orbit", &name));
        };
        let (set, part) = (&sets[number], &mut parts[number]);
        let [pieces, turns, periods] = fields(&orbit, ["pieces", "orientation", "orientationMod"])?;
        if let Some(pieces) = pieces {
            part.labels = pieces.numbers(set.size, 0, MAX_SLOTS as u16)?;
        }
        let orientations = u16::from(set.orientations);
        if let Some(turns) = turns {
            let turns = turns.numbers(set.size, 0, orientations - 1)?;
            part.turns = turns.into_iter().map(|turn| turn as u8).collect();
        }
        let Some(periods) = periods else { continue };
        let list = periods.list()?;
        if list.len() != set.size {
            let why = format!("expected {} numbers, found {}", set.size, list.len());
            return Err(periods.place().error(why));
        }
        for (slot, period) in list.iter().enumerate() {
            match period.number(0, orientations)? {
                // All orientations look different.
                0 => {}
                number if orientations.is_multiple_of(number) => part.periods[slot] = number as u8,
                number => {
                    let expected = format!("a divisor of {orientations}");
                    return Err(period.place().expected(&expected, &number.to_string()));
                }
            }
        }
    }
    Ok(parts)
}

fn add_move(
    name: &str,
    transformation: &Located<'_>,
    shape: &Shape,
    builder: &mut Builder,
) -> Result<(), ReadError> {
    let place = transformation.place();
    let mut images: Vec<u16> = (0..shape.slots() as u16).collect();
    let mut turns = vec![0_u8; images.len()];
    for (name, orbit) in transformation.members()? {
        let Some(number) = builder.set(&name) else {
            return Err(orbit.place().expected("a member named as an orbit", &name));
        };
        let set = &builder.sets()[number];
        let [permutation, delta] = fields(&orbit, ["permutation", "orientationDelta"])?;
        if let Some(permutation) = permutation {
            let from = permutation.numbers(set.size, 0, set.size as u16 - 1)?;
            let from = from.into_iter().map(|slot| set.offset as u16 + slot);
            set.slots().zip(from).for_each(|(slot, from)| images[slot] = from);
        }
        if let Some(delta) = delta {
            let delta = delta.numbers(set.size, 0, u16::from(set.orientations) - 1)?;
            set.slots().zip(delta).for_each(|(slot, turn)| turns[slot] = turn as u8);
        }
    }
    let element = shape.element(&images, &turns);
    builder.add_move(name, element.map_err(|error| place.error(error.to_string()))?, place)
}
