//! Part of a pass that one task executes, in steps.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use strata_engine::explicit::{Pass, PassTask};
use strata_space::LayerStats;
use strata_store::{FilePart, KeyRange};

use super::error::Result;
use super::threads::Steps;

/// Number of states of the current layer that a step expands: enough to outweigh the overhead of a step,
/// and far fewer than a wide layer has.
const STEP: u64 = 4096;

/// The file part that a task has written, and its figures.
pub(crate) type Found = (FilePart, LayerStats);

/// A task's part of a pass.
pub(crate) struct PassPart<'a> {
    task: &'a mut PassTask,
    pass: &'a Pass,
    stage: Stage,
    /// Estimated number of states that are not expanded yet.
    left: u64,
}

enum Stage {
    Waiting(KeyRange),
    Running,
    /// The result, or a panic.
    Done(std::thread::Result<Result<Found>>),
}

impl<'a> PassPart<'a> {
    /// A task's part: a range of keys with about `states` states.
    pub(crate) fn new(
        task: &'a mut PassTask,
        pass: &'a Pass,
        range: KeyRange,
        states: u64,
    ) -> PassPart<'a> {
        PassPart { task, pass, stage: Stage::Waiting(range), left: states }
    }

    /// The result of the task; None if it is not done.
    ///
    /// # Panics
    /// If the task panicked.
    pub(crate) fn found(self) -> Option<Result<Found>> {
        match self.stage {
            Stage::Waiting(_) | Stage::Running => None,
            Stage::Done(done) => Some(done.unwrap_or_else(|panic| resume_unwind(panic))),
        }
    }

    /// Executes one step. Returns the result if that was the last.
    fn advance(&mut self) -> Result<Option<Found>> {
        if let Stage::Waiting(range) = self.stage {
            self.task.begin(self.pass, range)?;
            self.stage = Stage::Running;
        }
        match self.task.step(self.pass, STEP)? {
            Some(states) => {
                self.left = self.left.saturating_sub(states);
                Ok(None)
            }
            None => Ok(Some(self.task.finish(self.pass)?)),
        }
    }

    /// Executes `work`, and stores its result, error or panic if there is one. Returns whether there is
    /// none, so that the part can continue.
    fn go_on(&mut self, work: impl FnOnce(&mut Self) -> Result<Option<Found>>) -> bool {
        let done = match catch_unwind(AssertUnwindSafe(|| work(self))) {
            Ok(Ok(None)) => return true,
            Ok(Ok(Some(found))) => Ok(Ok(found)),
            Ok(Err(error)) => Ok(Err(error)),
            Err(panic) => Err(panic),
        };
        self.stage = Stage::Done(done);
        false
    }
}

impl Steps for PassPart<'_> {
    fn left(&self) -> u64 {
        self.left
    }

    fn step(&mut self) -> bool {
        self.go_on(Self::advance)
    }

    fn pause(&mut self) -> bool {
        self.go_on(|part| {
            part.task.pause(part.pass)?;
            Ok(None)
        })
    }
}
