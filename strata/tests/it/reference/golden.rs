//! Golden values of Panex: known results of the searches of each level, without positions that have
//! a tile on the centre column's layer 0.

/// The search from the start until it meets its mirror image, the layer of the meeting counted
/// whole. A position and its image under "swap the side columns and the colours" together are one
/// state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Golden {
    pub(crate) level: u8,
    /// X(n), the length of a shortest solution.
    pub(crate) moves: u32,
    /// The greatest depth searched.
    pub(crate) layers: u32,
    /// States in all layers, depth 0 included.
    pub(crate) states: u64,
    /// States in the widest layer.
    pub(crate) widest: u64,
}

/// By level, from 1.
pub(crate) const PANEX: [Golden; 8] = [
    golden(1, 3, 2, 4, 2),
    golden(2, 13, 7, 45, 10),
    golden(3, 42, 21, 626, 56),
    golden(4, 128, 64, 11_620, 411),
    golden(5, 343, 172, 218_855, 3_158),
    golden(6, 881, 441, 4_078_382, 23_273),
    golden(7, 2_189, 1_095, 76_119_619, 180_126),
    golden(8, 5_359, 2_680, 1_425_792_621, 1_361_077),
];

const fn golden(level: u8, moves: u32, layers: u32, states: u64, widest: u64) -> Golden {
    Golden { level, moves, layers, states, widest }
}

/// The whole space, searched from the start, meetings ignored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GoldenSpace {
    pub(crate) level: u8,
    /// The greatest depth.
    pub(crate) radius: u32,
    /// States when every position counts.
    pub(crate) positions: u64,
    /// States when a position and its image under "swap the side columns and the colours" are one.
    pub(crate) classes: u64,
}

/// By level, from 1.
pub(crate) const PANEX_SPACE: [GoldenSpace; 5] = [
    golden_space(1, 3, 10, 6),
    golden_space(2, 13, 156, 82),
    golden_space(3, 44, 3_048, 1_536),
    golden_space(4, 137, 58_608, 29_336),
    golden_space(5, 377, 1_111_008, 555_584),
];

const fn golden_space(level: u8, radius: u32, positions: u64, classes: u64) -> GoldenSpace {
    GoldenSpace { level, radius, positions, classes }
}
