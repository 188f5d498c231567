//! The papers' operations as values that compose: sequence, inverse, mirror, colour swap.
//!
//! ```
//! use strata_panex::operations::{Kind, Operation, Task};
//!
//! let t_bar = Operation::from(Task::new(Kind::TBar, Some(3))?);
//! let s_bar = Operation::from(Task::new(Kind::SBar, Some(3))?);
//! let four = Operation::from(Task::new(Kind::Four, None)?);
//! let t = Operation::from(Task::new(Kind::T, Some(2))?);
//! let tower = t_bar + s_bar + four + t;
//! assert_eq!(tower.to_string(), "L Tbar_3 + L Sbar_3 + 4 + L T_2");
//! assert_eq!(tower.word()?, Operation::from(Task::new(Kind::T, Some(4))?).word()?);
//! assert_eq!(tower.mirror().inverse().len(), Some(24));
//! # Ok::<(), strata_panex::operations::OperationError>(())
//! ```

mod baxter;
mod definition;
mod ends;
mod exchange;
mod expand;
mod formula;
mod sides;
mod task;
#[cfg(test)]
mod tests;
mod tower;
mod transform;

pub use ends::{Ends, SinkVariation};
pub use formula::Operation;
pub use task::{Kind, MAX_WORD, OperationError, Task};
pub use transform::Transform;
