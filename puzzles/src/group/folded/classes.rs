//! Classes of blocks under symmetries.

use crate::group::error::GroupError;
use crate::group::numbering::GroupNumbering;
use crate::group::symmetry::{Products, Symmetry};

/// Mark of a block without a class.
const NONE: u32 = u32::MAX;

/// The classes of blocks, numbered in the order of their least blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BlockClasses {
    /// By class, its least block.
    pub(super) least: Vec<u32>,
    /// By class, the number of its blocks.
    pub(super) sizes: Vec<u32>,
    /// By block, its class, and a symmetry that maps the block to the least one.
    pub(super) images: Vec<(u32, u16)>,
}

impl BlockClasses {
    /// Bytes that [`Self::new`] needs for each block.
    pub(super) const BYTES_PER_BLOCK: usize = size_of::<(u32, u16)>();

    /// The classes of the blocks of a numbering. The symmetries map N to itself.
    ///
    /// # Errors
    /// If the image of a block is not in the group.
    pub(super) fn new(
        numbering: &GroupNumbering,
        symmetries: &[Symmetry],
        products: &Products,
    ) -> Result<BlockClasses, GroupError> {
        let (radix, fixed) = (&numbering.radix, numbering.fixed);
        let mut classes = BlockClasses {
            least: Vec::new(),
            sizes: Vec::new(),
            images: vec![(NONE, 0); numbering.blocks() as usize],
        };
        let mut digits = vec![0; fixed];
        for block in 0..numbering.blocks() as u32 {
            if classes.images[block as usize].0 != NONE {
                continue;
            }
            let (class, mut size) = (classes.least.len() as u32, 0);
            let inverse = radix.member(0, fixed, block.into()).ok_or(GroupError::OtherShape)?;
            for (index, symmetry) in (0..).zip(symmetries) {
                let image = symmetry.conjugate(&inverse, radix.shape());
                let image = image.ok_or(GroupError::OtherShape)?;
                let point = |slot: usize, _| (image.images()[slot], image.turns()[slot]);
                if !radix.read(0..fixed, point, &mut digits) {
                    return Err(GroupError::NotMember { what: "the image of a block" });
                }
                let known = &mut classes.images[radix.number(0, &digits) as usize];
                if known.0 == NONE {
                    *known = (class, products.inverse(index));
                    size += 1;
                }
            }
            classes.least.push(block);
            classes.sizes.push(size);
        }
        Ok(classes)
    }
}
