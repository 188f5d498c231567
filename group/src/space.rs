//! The members of a group as a dense space.

use strata_space::dense::{
    BlockStep, DenseParts, DenseShape, DenseSpace, DenseState, DenseTables, LaneMap, MoveTable,
    RowStep,
};

use crate::chain::StabiliserChain;
use crate::element::Element;
use crate::error::GroupError;
use crate::lanes;
use crate::radix::{Radix, compose};
use crate::shape::Shape;

/// The most states of a block. Larger blocks have fewer table entries; rows of smaller ones stay in
/// the processor's caches.
const MOST_INNER: u64 = 20_000;

/// Mark of a class without a number.
const NO_NUMBER: u32 = u32::MAX;

/// Options of a [`GroupSpace`].
#[derive(Clone, Debug)]
pub struct GroupOptions {
    /// The arrangement at depth 0; None for the solved one.
    pub start: Option<Element>,
    /// The arrangements at which a search ends; empty to list all.
    pub goals: Vec<Element>,
    /// The most bytes of the tables of moves.
    pub table_bytes: usize,
}

impl Default for GroupOptions {
    /// From the solved arrangement to all others, with tables of at most 1 GiB.
    fn default() -> GroupOptions {
        GroupOptions { start: None, goals: Vec::new(), table_bytes: 1 << 30 }
    }
}

/// All members of the group that some moves generate, as states of a dense space.
///
/// The stabiliser chain has subgroups L <= N <= G. N fixes the fewest first base slots such that it
/// has at most 20,000 members. L has at most 64 members. A state is a product `l · r · s` of a member
/// l of L (its lane), of a representative r of a coset of L in N (its row) and of a representative s
/// of a coset of N in G (its block). A move m acts from the right: `s · m = k · s'` with k in N, and
/// `r · k = l' · r'` with l' in L. So k is the class of the block and the move, and l' the lane map.
///
/// Blocks are sorted by where the piece of the first base slot is, then by the next ones. The
/// numbering depends only on the shape and the moves.
#[derive(Clone, Debug)]
pub struct GroupSpace {
    radix: Radix,
    /// Digits that are the number of the block.
    fixed: usize,
    cosets: Cosets,
    tables: DenseTables,
}

/// The cosets of L in N.
#[derive(Clone, Debug)]
struct Cosets {
    /// Inverses of the members of L, by lane.
    lanes: Vec<Element>,
    /// Inverses of the representatives, by row.
    rows: Vec<Element>,
    /// By the number of the inverse of a member of N, its row and its lane.
    places: Vec<(u16, u8)>,
}

/// Steps of blocks, and the classes that they need.
struct Blocks {
    steps: Vec<BlockStep>,
    /// By class, the number of the inverse of k.
    classes: Vec<u64>,
}

impl GroupSpace {
    /// The space of the group of a chain, in which these elements are the moves. They need not
    /// generate the whole group. If they are not closed under inversion, edges are directed.
    ///
    /// # Errors
    /// If the chain is not verified, a move, the start or a goal is not in the group, or the tables
    /// would exceed the limit.
    pub fn new(
        chain: &StabiliserChain,
        moves: &[Element],
        options: &GroupOptions,
    ) -> Result<GroupSpace, GroupError> {
        if !chain.is_verified() {
            return Err(GroupError::NotVerified);
        }
        if !moves.iter().all(|element| chain.contains(element)) {
            return Err(GroupError::NotMember { what: "a move" });
        }
        let shape = chain.shape();
        let radix = Radix::new(chain).ok_or(GroupError::OtherShape)?;
        let inverses: Option<Vec<Element>> =
            moves.iter().map(|element| element.inverse(shape)).collect();
        let inverses = inverses.ok_or(GroupError::OtherShape)?;
        let is_undirected = inverses.iter().all(|inverse| moves.contains(inverse));

        let (fixed, inner) = split(&radix);
        let too_large = || GroupError::TableMemory {
            order: chain.order(),
            inner,
            moves: moves.len(),
            limit: options.table_bytes,
        };
        let room = options.table_bytes / if is_undirected { 1 } else { 2 };
        let blocks = count_blocks(&radix, fixed, moves.len(), room).ok_or_else(too_large)?;
        let cosets = Cosets::new(&radix, fixed, inner).ok_or(GroupError::OtherShape)?;
        let table = |inverses: &[Element]| -> Result<MoveTable, GroupError> {
            let found = Blocks::new(&radix, (fixed, blocks, inner), inverses);
            let found = found.ok_or(GroupError::OtherShape)?;
            let rows = cosets.rows.len() * found.classes.len() * size_of::<RowStep>();
            if rows > room {
                return Err(too_large());
            }
            let rows = cosets.row_steps(&radix, fixed, &found.classes);
            let rows = rows.ok_or(GroupError::OtherShape)?;
            Ok(MoveTable { moves: inverses.len(), steps: found.steps, rows })
        };
        let converses = if is_undirected { None } else { Some(table(moves)?) };
        let start = DenseState { block: 0, row: 0, lane: 0 };
        let shape =
            DenseShape { blocks, rows: cosets.rows.len() as u32, lanes: cosets.lanes.len() as u32 };
        let maps = cosets.lane_maps(&radix, fixed).ok_or(GroupError::OtherShape)?;
        let mut parts = DenseParts {
            shape,
            moves: table(&inverses)?,
            converses,
            maps,
            start,
            goals: Vec::new(),
        };
        let find = |element: &Element, what| {
            let found = cosets.place_of(&radix, fixed, element);
            found.ok_or(GroupError::NotMember { what })
        };
        if let Some(start) = &options.start {
            parts.start = find(start, "the start")?;
        }
        let goals = options.goals.iter().map(|goal| find(goal, "a goal"));
        parts.goals = goals.collect::<Result<_, _>>()?;
        let tables = DenseTables::new(parts)?;
        Ok(GroupSpace { radix, fixed, cosets, tables })
    }

    /// The state of an arrangement; None if it is no member of the group.
    pub fn state(&self, element: &Element) -> Option<DenseState> {
        self.cosets.place_of(&self.radix, self.fixed, element)
    }

    /// The arrangement of a state; None if there is no such state.
    pub fn element(&self, state: DenseState) -> Option<Element> {
        if !self.tables.shape().has(state) {
            return None;
        }
        let shape = self.radix.shape();
        let block = self.radix.member(0, self.fixed, state.block.into())?;
        let row = self.cosets.rows.get(usize::from(state.row))?;
        let lane = self.cosets.lanes.get(usize::from(state.lane))?;
        block.times(row, shape)?.times(lane, shape)?.inverse(shape)
    }

    /// The shape of the arrangements.
    pub fn shape(&self) -> &Shape {
        self.radix.shape()
    }
}

impl DenseSpace for GroupSpace {
    fn tables(&self) -> &DenseTables {
        &self.tables
    }

    /// By slot, its piece, and after a plus sign its turn unless that is 0: `0 2+1 1`.
    fn text(&self, state: DenseState) -> String {
        let Some(element) = self.element(state) else { return String::new() };
        let slots = element.images().iter().zip(element.turns());
        let slots = slots.map(|(image, turn)| match turn {
            0 => image.to_string(),
            turn => format!("{image}+{turn}"),
        });
        slots.collect::<Vec<_>>().join(" ")
    }

    fn parse(&self, text: &str) -> Option<DenseState> {
        let (mut images, mut turns) = (Vec::new(), Vec::new());
        for slot in text.split_whitespace() {
            let (image, turn) = slot.split_once('+').unwrap_or((slot, "0"));
            images.push(image.parse().ok()?);
            turns.push(turn.parse().ok()?);
        }
        self.state(&self.radix.shape().element(&images, &turns).ok()?)
    }
}

/// The digits of the block's number, and the order of N.
fn split(radix: &Radix) -> (usize, u64) {
    let (mut fixed, mut inner) = (radix.len(), 1);
    while let Some(digit) = fixed.checked_sub(1) {
        let larger = inner * radix.base(digit) as u64;
        if larger > MOST_INNER {
            break;
        }
        (fixed, inner) = (digit, larger);
    }
    (fixed, inner)
}

/// The number of blocks, if there are enough numbers for them and their steps fit `room` bytes.
fn count_blocks(radix: &Radix, fixed: usize, moves: usize, room: usize) -> Option<u32> {
    let mut sizes = (0..fixed).map(|digit| radix.base(digit) as u64);
    let blocks = sizes.try_fold(1_u64, |product, size| product.checked_mul(size))?;
    let bytes = blocks.checked_mul((moves * size_of::<BlockStep>()) as u64)?;
    if bytes > room as u64 { None } else { u32::try_from(blocks).ok() }
}

impl Cosets {
    fn new(radix: &Radix, fixed: usize, inner: u64) -> Option<Cosets> {
        let shape = radix.shape();
        let lanes = lanes::find(radix, fixed, inner)?;
        let lanes: Option<Vec<Element>> = lanes.iter().map(|lane| lane.inverse(shape)).collect();
        let mut cosets = Cosets { lanes: lanes?, rows: Vec::new(), places: Vec::new() };
        let (mut places, mut digits) = (vec![None; inner as usize], vec![0; radix.len()]);
        for number in 0..inner {
            if places[number as usize].is_some() {
                continue;
            }
            let row = radix.member(fixed, radix.len(), number)?;
            for (lane, inverse) in (0..).zip(&cosets.lanes) {
                let number = number_of_product(radix, fixed, (&row, inverse), &mut digits)?;
                *places.get_mut(number as usize)? = Some((cosets.rows.len() as u16, lane));
            }
            cosets.rows.push(row);
        }
        cosets.places = places.into_iter().collect::<Option<_>>()?;
        Some(cosets)
    }

    /// The row and the lane of a state, by the product of two members of N that is its inverse.
    fn place(
        &self,
        radix: &Radix,
        fixed: usize,
        product: (&Element, &Element),
        digits: &mut [u32],
    ) -> Option<(u16, u8)> {
        let number = number_of_product(radix, fixed, product, digits)?;
        self.places.get(number as usize).copied()
    }

    /// The maps of the right products with each member of L.
    fn lane_maps(&self, radix: &Radix, fixed: usize) -> Option<Vec<LaneMap>> {
        let mut digits = vec![0; radix.len()];
        let mut map = |factor: &Element| -> Option<LaneMap> {
            let images = self.lanes.iter();
            let images = images.map(|lane| self.place(radix, fixed, (factor, lane), &mut digits));
            let images: Option<Vec<u8>> = images.map(|place| Some(place?.1)).collect();
            Some(LaneMap::new(images?))
        };
        self.lanes.iter().map(&mut map).collect()
    }

    /// The steps of all rows in these classes.
    fn row_steps(&self, radix: &Radix, fixed: usize, classes: &[u64]) -> Option<Vec<RowStep>> {
        let mut steps = Vec::with_capacity(classes.len() * self.rows.len());
        let mut digits = vec![0; radix.len()];
        for class in classes {
            let class = radix.member(fixed, radix.len(), *class)?;
            for row in &self.rows {
                let (row, lane) = self.place(radix, fixed, (&class, row), &mut digits)?;
                steps.push(RowStep { row, map: lane.into() });
            }
        }
        Some(steps)
    }

    fn place_of(&self, radix: &Radix, fixed: usize, element: &Element) -> Option<DenseState> {
        if !radix.shape().has(element) {
            return None;
        }
        let inverse = element.inverse(radix.shape())?;
        let mut digits = vec![0; radix.len()];
        let image = |slot: usize, _| (inverse.images()[slot], inverse.turns()[slot]);
        if !radix.read(0, image, &mut digits) {
            return None;
        }
        let (block, inner) =
            (radix.number(0, &digits[..fixed]), radix.number(fixed, &digits[fixed..]));
        let member = radix.member(fixed, radix.len(), inner)?;
        let rebuilt = radix.member(0, fixed, block)?.times(&member, radix.shape())?;
        // Points of base slots do not tell whether the other slots belong to a member.
        if rebuilt != inverse {
            return None;
        }
        let (row, lane) = *self.places.get(inner as usize)?;
        Some(DenseState { block: block as u32, row, lane })
    }
}

/// The number of the product of two members of N; None if one is no member.
fn number_of_product(
    radix: &Radix,
    fixed: usize,
    (a, b): (&Element, &Element),
    digits: &mut [u32],
) -> Option<u64> {
    let image =
        |slot: usize, orientations| compose(a, (b.images()[slot], b.turns()[slot]), orientations);
    let is_member = radix.read(fixed, image, digits);
    is_member.then(|| radix.number(fixed, &digits[fixed..]))
}

impl Blocks {
    /// The steps of all blocks by the moves with these inverses. `(s · m)⁻¹ = s'⁻¹ · k⁻¹`, whose
    /// first digits are those of the block s', and the rest the number of the class.
    fn new(
        radix: &Radix,
        (fixed, blocks, inner): (usize, u32, u64),
        inverses: &[Element],
    ) -> Option<Blocks> {
        let mut found = Blocks {
            steps: Vec::with_capacity(blocks as usize * inverses.len()),
            classes: Vec::new(),
        };
        let mut class_of = vec![NO_NUMBER; inner as usize];
        // By digit, the product of the representatives of the digits before it.
        let mut products = vec![radix.shape().identity(); fixed + 1];
        let (mut block, mut digits) = (vec![0; fixed], vec![0; radix.len()]);
        let mut changed = 0;
        for _ in 0..blocks {
            for digit in changed..fixed {
                let factor = radix.representative(digit, block[digit]);
                products[digit + 1] = products[digit].times(factor, radix.shape())?;
            }
            let representative = &products[fixed];
            for inverse in inverses {
                let image = |slot: usize, orientations| {
                    let point = (representative.images()[slot], representative.turns()[slot]);
                    compose(inverse, point, orientations)
                };
                if !radix.read(0, image, &mut digits) {
                    return None;
                }
                let class = class_of.get_mut(radix.number(fixed, &digits[fixed..]) as usize)?;
                if *class == NO_NUMBER {
                    *class = found.classes.len() as u32;
                    found.classes.push(radix.number(fixed, &digits[fixed..]));
                }
                let block = radix.number(0, &digits[..fixed]) as u32;
                found.steps.push(BlockStep { block, class: *class });
            }
            changed = next_block(radix, &mut block);
        }
        Some(found)
    }
}

/// Advances a block's digits. Returns the first digit that changed.
fn next_block(radix: &Radix, block: &mut [usize]) -> usize {
    for digit in (0..block.len()).rev() {
        block[digit] += 1;
        if block[digit] < radix.base(digit) {
            return digit;
        }
        block[digit] = 0;
    }
    0
}
