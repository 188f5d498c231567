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
mod ends;
mod exchange;
mod expand;
mod task;
mod tower;

use std::fmt;
use std::ops::{Add, BitXor};
use std::sync::Arc;

pub use ends::{Ends, SinkVariation};
pub use expand::MAX_WORD;
pub use task::{Kind, Task};

use crate::moves::Word;
use crate::position::PositionError;
use crate::tile::MAX_LEVEL;

/// An operation that cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OperationError {
    /// No operation of that name.
    #[error("unknown operation '{name}' (known: {})", Kind::ALL.map(Kind::name).join(", "))]
    Unknown {
        /// Name asked for.
        name: String,
    },
    /// A level that the operation does not have.
    #[error("{kind}_{level} is not defined: {kind} has the levels {least} to {MAX_LEVEL}")]
    LevelRange {
        /// Operation.
        kind: Kind,
        /// Level asked for.
        level: u8,
        /// Its least level.
        least: u8,
    },
    /// The operation needs a level.
    #[error("{kind} needs a level, {least} to {MAX_LEVEL}")]
    LevelMissing {
        /// Operation.
        kind: Kind,
        /// Its least level.
        least: u8,
    },
    /// The operation is one fixed word.
    #[error("{kind} has no level: it is one fixed list of moves")]
    NoLevel {
        /// Operation.
        kind: Kind,
    },
    /// More moves than a list may have.
    #[error(
        "a list of {} moves would be too long, {MAX_WORD} are the most",
        .len.map_or("2^128 or more".to_owned(), |len| len.to_string())
    )]
    TooLong {
        /// Moves, where they can be counted.
        len: Option<u128>,
    },
    /// A variation of S asked of something else, or for a tile that is out of range.
    #[error("{task} has no such variation: {reason}")]
    Variation {
        /// Operation.
        task: Task,
        /// Why not.
        reason: &'static str,
    },
    /// A task without positions of its own.
    #[error("{task} leads between no two positions of its own")]
    NoEnds {
        /// Operation.
        task: Task,
    },
    /// The positions an operation leads between do not exist.
    #[error(transparent)]
    Position(#[from] PositionError),
}

/// What is done to an operation as a whole. The three commute, and each undoes itself.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Transform {
    /// The moves backwards, from the last to the first.
    pub inverse: bool,
    /// L and R swapped: the right version.
    pub mirror: bool,
    /// Blue and orange swapped. The moves stay the same, the positions do not.
    pub star: bool,
}

impl BitXor for Transform {
    type Output = Transform;

    /// One after the other, in either order.
    fn bitxor(self, other: Transform) -> Transform {
        Transform {
            inverse: self.inverse ^ other.inverse,
            mirror: self.mirror ^ other.mirror,
            star: self.star ^ other.star,
        }
    }
}

/// An operation: a named task, a word or a sequence of operations, possibly transformed.
///
/// It is a formula, not a list of moves; [`Operation::word`] expands it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Operation {
    term: Term,
    transform: Transform,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Term {
    Task(Task),
    Moves(Arc<Word>),
    Sequence(Arc<[Operation]>),
    /// An operation without its first moves, or without its last.
    Part {
        whole: Arc<Operation>,
        first: u32,
        last: u32,
    },
}

impl Operation {
    fn new(term: Term) -> Operation {
        Operation { term, transform: Transform::default() }
    }

    /// Operations one after the other.
    pub fn sequence(operations: impl IntoIterator<Item = Operation>) -> Operation {
        let mut flat = Vec::new();
        for operation in operations {
            operation.append_to(&mut flat);
        }
        Operation::new(Term::Sequence(flat.into()))
    }

    fn append_to(self, flat: &mut Vec<Operation>) {
        match &self.term {
            Term::Sequence(parts) if self.transform == Transform::default() => {
                flat.extend(parts.iter().cloned());
            }
            _ => flat.push(self),
        }
    }

    /// The way back.
    #[must_use]
    pub fn inverse(self) -> Operation {
        self.transformed(Transform { inverse: true, ..Transform::default() })
    }

    /// L and R swapped: the right version of a left one.
    #[must_use]
    pub fn mirror(self) -> Operation {
        self.transformed(Transform { mirror: true, ..Transform::default() })
    }

    /// The colours swapped: the same moves between other positions.
    #[must_use]
    pub fn star(self) -> Operation {
        self.transformed(Transform { star: true, ..Transform::default() })
    }

    /// Transformed as a whole.
    #[must_use]
    pub fn transformed(self, by: Transform) -> Operation {
        Operation { transform: self.transform ^ by, ..self }
    }

    /// The operation without its first moves. Dropping more than there are leaves none.
    #[must_use]
    pub fn without_first(self, moves: u32) -> Operation {
        Operation::new(Term::Part { whole: Arc::new(self), first: moves, last: 0 })
    }

    /// The operation without its last moves. Dropping more than there are leaves none.
    #[must_use]
    pub fn without_last(self, moves: u32) -> Operation {
        Operation::new(Term::Part { whole: Arc::new(self), first: 0, last: moves })
    }

    /// The operations this one consists of, in their order: those of a sequence, or those by which
    /// the papers define a task. None of a word, or of a task that is defined by its word.
    pub fn parts(&self) -> Vec<Operation> {
        let definition;
        let term = match &self.term {
            Term::Task(task) => {
                definition = task.definition();
                &definition.term
            }
            term => term,
        };
        let Term::Sequence(parts) = term else { return Vec::new() };
        let mut parts: Vec<Operation> =
            parts.iter().map(|part| part.clone().transformed(self.transform)).collect();
        if self.transform.inverse {
            parts.reverse();
        }
        parts
    }

    /// The positions between which a task leads; none for "4", V, words, sequences and parts, which
    /// have no place of their own.
    ///
    /// # Errors
    /// As [`Task::ends`].
    pub fn ends(&self) -> Result<Option<Ends>, OperationError> {
        let Term::Task(task) = &self.term else { return Ok(None) };
        Ok(task.ends()?.map(|ends| ends.transformed(self.transform)))
    }
}

impl From<Task> for Operation {
    /// The left version.
    fn from(task: Task) -> Operation {
        Operation::new(Term::Task(task))
    }
}

impl From<Word> for Operation {
    fn from(word: Word) -> Operation {
        Operation::new(Term::Moves(Arc::new(word)))
    }
}

impl Add for Operation {
    type Output = Operation;

    /// One after the other.
    fn add(self, after: Operation) -> Operation {
        Operation::sequence([self, after])
    }
}

impl fmt::Display for Operation {
    /// The formula as the papers write it: `L Tbar_3 + L Sbar_3 + 4 + L T_2`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Transform { inverse, mirror, star } = self.transform;
        let plain = self.transform == Transform::default();
        match &self.term {
            Term::Task(task) if task.is_sided() => {
                write!(f, "{} {task}", if mirror { 'R' } else { 'L' })?;
            }
            Term::Task(task) => write!(f, "{task}{}", if mirror { "'" } else { "" })?,
            Term::Moves(word) => write!(f, "[{word}]{}", if mirror { "'" } else { "" })?,
            Term::Sequence(parts) => {
                let shown: Vec<String> = parts.iter().map(Operation::to_string).collect();
                let sum = if parts.is_empty() { "0".to_owned() } else { shown.join(" + ") };
                let sum = if plain { sum } else { format!("({sum})") };
                write!(f, "{sum}{}", if mirror { "'" } else { "" })?;
            }
            Term::Part { whole, first, last } => {
                write!(f, "({whole} without its ")?;
                match (first, last) {
                    (first, 0) => write!(f, "first {first})")?,
                    (_, last) => write!(f, "last {last})")?,
                }
                write!(f, "{}", if mirror { "'" } else { "" })?;
            }
        }
        f.write_str(if star { "*" } else { "" })?;
        f.write_str(if inverse { "^-1" } else { "" })
    }
}

/// Left and right versions of the operations, so that formulas read like the papers'. Levels must
/// be in the operations' ranges, which the callers in this module see to.
#[derive(Copy, Clone)]
struct Side {
    mirror: bool,
}

const L: Side = Side { mirror: false };
const R: Side = Side { mirror: true };

impl Side {
    fn task(self, kind: Kind, n: u8) -> Operation {
        let transform = Transform { mirror: self.mirror, ..Transform::default() };
        Operation::from(Task::of(kind, n)).transformed(transform)
    }

    fn t(self, n: u8) -> Operation {
        self.task(Kind::T, n)
    }

    fn t_bar(self, n: u8) -> Operation {
        self.task(Kind::TBar, n)
    }

    fn s(self, n: u8) -> Operation {
        self.task(Kind::S, n)
    }

    fn s_bar(self, n: u8) -> Operation {
        self.task(Kind::SBar, n)
    }
}

/// "4": the two topmost tiles of the centre change places.
fn four() -> Operation {
    Task::of(Kind::Four, 0).into()
}

fn moves(moves: &[crate::moves::Move]) -> Operation {
    Word::from_iter(moves.iter().copied()).into()
}

impl Task {
    /// What the papers define the task by.
    fn definition(self) -> Operation {
        let n = self.n();
        match self.kind() {
            Kind::T => tower::t(n),
            Kind::TBar => tower::t_bar(n),
            Kind::S => tower::s(n),
            Kind::SBar => tower::s_bar(n),
            Kind::Four => tower::four_word(),
            Kind::C => exchange::c(n),
            Kind::X => exchange::x(n),
            Kind::Y => exchange::y(),
            Kind::YBar => exchange::y_bar(),
            Kind::Z => exchange::z(),
            Kind::W => exchange::w(),
            Kind::V => exchange::v(n),
            Kind::BaxterT => baxter::t(n),
            Kind::BaxterS => baxter::s(n),
            Kind::BaxterZ => baxter::z(n),
            Kind::BaxterU => baxter::u(n),
            Kind::BaxterZImproved => baxter::z_improved(n),
            Kind::BaxterUImproved => baxter::u_improved(n),
        }
    }

    /// Whether it is written with L or R.
    fn is_sided(self) -> bool {
        matches!(
            self.kind(),
            Kind::T | Kind::TBar | Kind::S | Kind::SBar | Kind::BaxterT | Kind::BaxterS
        )
    }
}

#[cfg(test)]
mod tests;
