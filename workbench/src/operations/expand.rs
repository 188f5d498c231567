//! Expansion of formulas to lists of moves, and lengths of formulas without the lists.

use std::collections::HashMap;

use strata_replay::{Move, Word};

use super::formula::{Operation, Term};
use super::task::{MAX_WORD, OperationError, Task};
use super::transform::Transform;

impl Operation {
    /// The number of moves; none if it has more than 128 bits.
    pub fn len(&self) -> Option<u128> {
        length(self, &mut HashMap::new())
    }

    /// Whether it has no moves.
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }

    /// The list of moves.
    ///
    /// # Errors
    /// If it has more than [`MAX_WORD`] moves.
    pub fn word(&self) -> Result<Word, OperationError> {
        let len = self.len();
        let capacity = len.and_then(|len| u32::try_from(len).ok()).filter(|len| *len <= MAX_WORD);
        let capacity = capacity.ok_or(OperationError::TooLong { len })?;
        let mut word = Word::with_capacity(capacity as usize);
        let mut expander = Expander::default();
        match &self.term {
            // An operation that is a single task is expanded without memoising it.
            Term::Task(task) => expander.append(&task.definition(), self.transform, &mut word),
            _ => expander.append(self, Transform::default(), &mut word),
        }
        Ok(word)
    }
}

fn length(operation: &Operation, known: &mut HashMap<Task, Option<u128>>) -> Option<u128> {
    match &operation.term {
        Term::Task(task) => {
            if let Some(len) = known.get(task) {
                return *len;
            }
            let len = length(&task.definition(), known);
            known.insert(*task, len);
            len
        }
        Term::Moves(word) => Some(word.len() as u128),
        Term::Sequence(parts) => {
            parts.iter().try_fold(0_u128, |sum, part| sum.checked_add(length(part, known)?))
        }
        Term::Part { whole, first, last } => {
            let dropped = u128::from(*first) + u128::from(*last);
            Some(length(whole, known)?.saturating_sub(dropped))
        }
    }
}

/// Expansion of an operation that expands each task once.
#[derive(Default)]
struct Expander {
    words: HashMap<Task, Word>,
}

impl Expander {
    fn append(&mut self, operation: &Operation, outer: Transform, out: &mut Word) {
        let transform = outer ^ operation.transform;
        match &operation.term {
            Term::Task(task) => append_word(self.task(*task), transform, out),
            Term::Moves(word) => append_word(word, transform, out),
            Term::Sequence(parts) if transform.inverse => {
                parts.iter().rev().for_each(|part| self.append(part, transform, out));
            }
            Term::Sequence(parts) => {
                parts.iter().for_each(|part| self.append(part, transform, out));
            }
            Term::Part { whole, first, last } => {
                let mut word = Word::new();
                self.append(whole, Transform::default(), &mut word);
                let end = word.len().saturating_sub(*last as usize);
                let first = (*first as usize).min(end);
                append_word(&word[first..end], transform, out);
            }
        }
    }

    fn task(&mut self, task: Task) -> &Word {
        if !self.words.contains_key(&task) {
            let mut word = Word::new();
            self.append(&task.definition(), Transform::default(), &mut word);
            self.words.insert(task, word);
        }
        &self.words[&task]
    }
}

fn append_word(word: &[Move], transform: Transform, out: &mut Word) {
    let mirrored = |mv: Move| if transform.mirror { mv.mirror() } else { mv };
    if transform.inverse {
        out.extend(word.iter().rev().map(|mv| mirrored(mv.inverse())));
    } else {
        out.extend(word.iter().map(|mv| mirrored(*mv)));
    }
}
