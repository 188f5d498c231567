//! Towers of Hanoi with any number of pegs: the example of a [`KeySpace`](strata_space::KeySpace).

mod dense;
mod drawing;
mod nested;
mod puzzle;
mod state_space;

pub use dense::DenseHanoi;
pub use nested::NestedHanoi;
pub use state_space::Hanoi;
