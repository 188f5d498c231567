//! Output of moves as words.

use std::io::{self, Write};

use strata_replay::Move;

/// Moves per line of a list of moves.
const MOVES_PER_LINE: usize = 32;

/// Writes moves as words, `MOVES_PER_LINE` on a line.
pub(super) fn write_words(moves: &[Move], out: &mut impl Write) -> io::Result<()> {
    for line in moves.chunks(MOVES_PER_LINE) {
        let words: Vec<String> = line.iter().map(ToString::to_string).collect();
        writeln!(out, "{}", words.join(" "))?;
    }
    Ok(())
}
