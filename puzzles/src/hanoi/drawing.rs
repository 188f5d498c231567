//! Drawings of towers: pegs with discs.

use strata_space::DrawingTheme;

use crate::drawing::{Drawing, Palette};

/// Height of a disc.
const DISC: u32 = 20;
/// Distance between the widest discs of two pegs.
const SPACING: u32 = 12;

/// Width of a disc, counted from 0.
fn width(disc: u32) -> u32 {
    28 + 8 * disc
}

/// The drawing of the discs on each peg, top first and counted from 1, in a puzzle of `discs` discs.
pub(super) fn draw(discs: u32, pegs: &[Vec<u32>], text: &str, theme: DrawingTheme) -> String {
    let palette = Palette::of(theme);
    let step = width(discs) + SPACING;
    let wide = SPACING + step * pegs.len() as u32;
    let floor = DISC * (discs + 2);
    let mut drawing = Drawing::new(wide, floor + DISC, text);
    let middle = |peg: u32| SPACING / 2 + step / 2 + step * peg;
    let mut frame = format!("M{SPACING} {floor}H{}", wide - SPACING);
    for peg in 0..pegs.len() as u32 {
        frame += &format!("M{} {DISC}V{floor}", middle(peg));
    }
    drawing.line(&frame, 4, palette.frame);
    for (peg, stack) in (0..).zip(pegs) {
        for (height, disc) in (0..).zip(stack.iter().rev()) {
            // Neighbours of a solved tower differ in colour.
            let colours = if disc.is_multiple_of(2) { palette.second } else { palette.first };
            let at = (middle(peg), floor - 2 - DISC / 2 - DISC * height);
            drawing.piece(at, (width(*disc), DISC - 2), colours.0);
            drawing.text(at, 12, colours.1, &disc.to_string());
        }
    }
    drawing.finish()
}

/// Reads the discs of each peg from a position such as `1 3 / 2 / -`; None if the text is not a position
/// of these discs and pegs.
pub(super) fn read(discs: u32, pegs: usize, text: &str) -> Option<Vec<Vec<u32>>> {
    let stack = |part: &str| -> Option<Vec<u32>> {
        if part.trim() == "-" {
            return Some(Vec::new());
        }
        part.split_whitespace().map(|disc| disc.parse().ok()).collect()
    };
    let stacks: Vec<Vec<u32>> = text.split('/').map(stack).collect::<Option<_>>()?;
    let mut all: Vec<u32> = stacks.concat();
    all.sort_unstable();
    let is_sorted = stacks.iter().all(|stack| stack.is_sorted());
    let is_position = stacks.len() == pegs && is_sorted && all.into_iter().eq(1..=discs);
    is_position.then_some(stacks)
}
