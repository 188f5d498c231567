//! Towers of Hanoi with any number of pegs: the example of a space of keys.

mod nested;
mod puzzle;
mod state_space;

pub use nested::NestedHanoi;
pub use state_space::Hanoi;
