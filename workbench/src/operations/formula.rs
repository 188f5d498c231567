//! Operations as formulas that compose: sequence, inverse, mirror, colour swap.

use std::fmt;
use std::ops::Add;
use std::sync::Arc;

use strata_replay::Word;

use super::ends::Ends;
use super::task::{OperationError, Task};
use super::transform::Transform;

/// An operation: a named task, a word or a sequence of operations, possibly transformed.
///
/// It is a formula, not a list of moves; [`Operation::word`] expands it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Operation {
    pub(super) term: Term,
    pub(super) transform: Transform,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Term {
    Task(Task),
    Moves(Arc<Word>),
    Sequence(Arc<[Operation]>),
    /// An operation without its first `first` and its last `last` moves.
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

    /// The inverse operation.
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

    /// The operation with a transformation applied to the whole.
    #[must_use]
    pub fn transformed(self, by: Transform) -> Operation {
        Operation { transform: self.transform ^ by, ..self }
    }

    /// The operation without its first `moves` moves. Empty if it has no more.
    #[must_use]
    pub fn without_first(self, moves: u32) -> Operation {
        Operation::new(Term::Part { whole: Arc::new(self), first: moves, last: 0 })
    }

    /// The operation without its last `moves` moves. Empty if it has no more.
    #[must_use]
    pub fn without_last(self, moves: u32) -> Operation {
        Operation::new(Term::Part { whole: Arc::new(self), first: 0, last: moves })
    }

    /// The positions between which a task leads; none for "4", V, words, sequences and parts, which
    /// apply to many positions.
    ///
    /// # Errors
    /// As [`Task::ends`].
    pub fn ends(&self) -> Result<Option<Ends>, OperationError> {
        let Term::Task(task) = &self.term else { return Ok(None) };
        Ok(task.ends()?.map(|ends| ends.transformed(self.transform)))
    }
}

impl From<Task> for Operation {
    /// The left version of a task.
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

    /// Both operations, one after the other.
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
