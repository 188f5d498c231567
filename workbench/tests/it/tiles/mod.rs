//! The move-restricted puzzle of N by P tiles.

mod paper;
mod walks;

use strata_replay::tiles::Shape;

fn shape(text: &str) -> Shape {
    text.parse().unwrap()
}
