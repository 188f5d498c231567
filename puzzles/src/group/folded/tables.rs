//! Tables of moves between the least blocks of classes.
//!
//! Numbers are read from inverses. The inverse of a member is `b · n`, where b represents the block and n
//! is in N. A move m takes it to `m⁻¹ · b · n`. A symmetry σ maps the block of `m⁻¹ · b` to the least one
//! of its class, b': `σ(m⁻¹ · b) = b' · h`. The image of the next member is then `b' · h · σ(n)`, so the
//! steps of rows and lanes depend on σ and h alone.

use std::collections::HashMap;

use strata_space::dense::{
    BlockStep, BlockSteps, DenseParts, DenseShape, DenseState, DenseTables, LaneMap, MoveTable,
    RowStep,
};

use super::choice::Choice;
use super::classes::BlockClasses;
use crate::group::element::Element;
use crate::group::error::GroupError;
use crate::group::symmetry::Symmetry;

/// A class of block steps: a symmetry, and the number of h.
type StepClass = (u16, u64);

/// The images of lanes and rows under a symmetry.
struct Images {
    /// The index of the first lane map of this symmetry's images of lanes.
    first_map: u16,
    /// The inverses of representatives, by row.
    rows: Vec<Element>,
}

/// The tables of a search from the identity with these goals, of at most `limit` bytes.
///
/// # Errors
/// If a move is not a member, or the tables would exceed the limit.
pub(super) fn make(
    folded: &Choice,
    classes: &BlockClasses,
    moves: &[Element],
    (goals, limit): (Vec<DenseState>, usize),
) -> Result<DenseTables, GroupError> {
    let shape = folded.numbering.shape();
    let inverses = moves.iter().map(|element| element.inverse(shape));
    let inverses: Vec<Element> = inverses.collect::<Option<_>>().ok_or(GroupError::OtherShape)?;
    // The full number is computed: the first digits of an element outside the group can look valid.
    if moves.iter().any(|element| folded.numbering.number(element).is_none()) {
        return Err(GroupError::NotMember { what: "a move" });
    }
    let is_undirected = inverses.iter().all(|inverse| moves.contains(inverse));
    let limit = limit / if is_undirected { 1 } else { 2 };
    let (maps, images) = images(folded).ok_or(GroupError::OtherShape)?;
    let table = |inverses: &[Element]| table(folded, classes, (inverses, limit), &images);
    let (rows, lanes) = (folded.numbering.rows(), folded.numbering.lanes());
    let parts = DenseParts {
        shape: DenseShape { blocks: classes.least.len() as u32, rows, lanes },
        moves: table(&inverses)?,
        converses: if is_undirected { None } else { Some(table(moves)?) },
        maps,
        start: DenseState { block: 0, row: 0, lane: 0 },
        goals,
        multiplicities: classes.sizes.clone(),
    };
    Ok(DenseTables::new(parts)?)
}

/// The lane maps, and the images by symmetry.
fn images(folded: &Choice) -> Option<(Vec<LaneMap>, Vec<Images>)> {
    let numbering = &folded.numbering;
    let (radix, fixed, cosets) = (&numbering.radix, numbering.fixed, &numbering.cosets);
    let (mut maps, mut first_maps) = (Vec::new(), HashMap::new());
    let mut digits = vec![0; radix.len()];
    let mut images = Vec::with_capacity(folded.symmetries.len());
    for symmetry in &folded.symmetries {
        let of = |elements: &[Element]| -> Option<Vec<Element>> {
            elements.iter().map(|element| symmetry.conjugate(element, radix.shape())).collect()
        };
        let lanes = of(&cosets.lanes)?;
        let first_map = match first_maps.get(&lanes) {
            Some(first) => *first,
            None => {
                let first = u16::try_from(maps.len()).ok()?;
                for factor in &cosets.lanes {
                    let mut lane = |lane: &Element| {
                        let place = cosets.place(radix, fixed, (factor, lane), &mut digits);
                        // The image of L is L, which is row 0.
                        place.filter(|(row, _)| *row == 0).map(|(_, lane)| lane)
                    };
                    let image: Option<Vec<u8>> = lanes.iter().map(&mut lane).collect();
                    maps.push(LaneMap::new(image?));
                }
                first_maps.insert(lanes, first);
                first
            }
        };
        images.push(Images { first_map, rows: of(&cosets.rows)? });
    }
    (maps.len() <= usize::from(u16::MAX) + 1).then_some((maps, images))
}

/// The effects of moves, by their inverses.
fn table(
    folded: &Choice,
    classes: &BlockClasses,
    (inverses, limit): (&[Element], usize),
    images: &[Images],
) -> Result<MoveTable, GroupError> {
    let numbering = &folded.numbering;
    let rows = numbering.rows() as usize;
    let too_large = || GroupError::TableMemory {
        order: numbering.radix.order(),
        inner: numbering.inner,
        moves: inverses.len(),
        limit,
    };
    let entries = classes.least.len().saturating_mul(inverses.len());
    let step_bytes = entries.saturating_mul(size_of::<BlockStep>());
    let row_bytes = limit.checked_sub(step_bytes).ok_or_else(too_large)?;
    let most_classes = row_bytes / (rows * size_of::<RowStep>());
    let mut steps = Vec::with_capacity(entries);
    let mut found: Vec<StepClass> = Vec::new();
    let mut numbers: HashMap<StepClass, u32> = HashMap::new();
    let mut digits = vec![0; numbering.radix.len()];
    for least in &classes.least {
        let block = numbering.radix.member(0, numbering.fixed, u64::from(*least));
        let block = block.ok_or(GroupError::OtherShape)?;
        for inverse in inverses {
            let (to, class) = step(folded, classes, (inverse, &block), &mut digits)?;
            let class = *numbers.entry(class).or_insert_with(|| {
                found.push(class);
                found.len() as u32 - 1
            });
            if found.len() > most_classes {
                return Err(too_large());
            }
            steps.push(BlockStep { block: to, class });
        }
    }
    let rows = row_steps(folded, &found, images).ok_or(GroupError::OtherShape)?;
    Ok(MoveTable { moves: inverses.len(), steps: BlockSteps::Full(steps), rows })
}

/// The class of blocks to which a move leads from a block, and the class of rows.
fn step(
    folded: &Choice,
    classes: &BlockClasses,
    (inverse, block): (&Element, &Element),
    digits: &mut [u32],
) -> Result<(u32, StepClass), GroupError> {
    let (radix, fixed) = (&folded.numbering.radix, folded.numbering.fixed);
    let wrong = || GroupError::NotMember { what: "a move, or its image," };
    let next = inverse.times(block, radix.shape()).ok_or(GroupError::OtherShape)?;
    let point = |slot: usize, _| (next.images()[slot], next.turns()[slot]);
    if !radix.read(0..fixed, point, digits) {
        return Err(wrong());
    }
    let (class, index) = classes.images[radix.number(0, &digits[..fixed]) as usize];
    let symmetry: &Symmetry = folded.symmetries.get(usize::from(index)).ok_or_else(wrong)?;
    let image = symmetry.conjugate(&next, radix.shape()).ok_or(GroupError::OtherShape)?;
    let point = |slot: usize, _| (image.images()[slot], image.turns()[slot]);
    let is_member = radix.read(0..radix.len(), point, digits);
    let least = classes.least.get(class as usize).map(|block| u64::from(*block));
    if !is_member || least != Some(radix.number(0, &digits[..fixed])) {
        return Err(wrong());
    }
    Ok((class, (index, radix.number(fixed, &digits[fixed..]))))
}

/// The steps of all rows in these classes.
fn row_steps(folded: &Choice, classes: &[StepClass], images: &[Images]) -> Option<Vec<RowStep>> {
    let numbering = &folded.numbering;
    let (radix, fixed) = (&numbering.radix, numbering.fixed);
    let mut steps = Vec::with_capacity(classes.len() * numbering.rows() as usize);
    let mut digits = vec![0; radix.len()];
    for (symmetry, number) in classes {
        let factor = radix.member(fixed, radix.len(), *number)?;
        let images = images.get(usize::from(*symmetry))?;
        for row in &images.rows {
            let (row, lane) = numbering.cosets.place(radix, fixed, (&factor, row), &mut digits)?;
            steps.push(RowStep { row, map: images.first_map + u16::from(lane) });
        }
    }
    Some(steps)
}
