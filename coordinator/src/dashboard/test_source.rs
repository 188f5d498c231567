//! Data source for tests: one job, which tests edit.

use std::sync::{Mutex, PoisonError};

use strata_store::LayerRecord;

use crate::dashboard::model::{Action, Job, LogEntry, LogPart, Overview, Solution};
use crate::dashboard::source::{Source, SourceError};

/// Parts of layers and logs.
const PART: usize = 1_000;

/// The job `a`, its layers, its log and the requested changes.
#[derive(Debug, Default)]
pub(crate) struct TestSource {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    job: Job,
    layers: Vec<LayerRecord>,
    entries: Vec<LogEntry>,
    changes: Vec<Action>,
    overviews: u32,
}

impl TestSource {
    fn with<T>(&self, act: impl FnOnce(&mut Inner) -> T) -> T {
        act(&mut self.inner.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn edit(&self, edit: impl FnOnce(&mut Job, &mut Vec<LayerRecord>)) {
        self.with(|inner| edit(&mut inner.job, &mut inner.layers));
    }

    pub(crate) fn log(&self, edit: impl FnOnce(&mut Vec<LogEntry>)) {
        self.with(|inner| edit(&mut inner.entries));
    }

    pub(crate) fn changes(&self) -> Vec<Action> {
        self.with(|inner| inner.changes.clone())
    }

    fn known(id: &str) -> Result<(), SourceError> {
        if id == "a" { Ok(()) } else { Err(SourceError::NoSuchJob(id.to_owned())) }
    }
}

impl Source for TestSource {
    fn overview(&self) -> Result<Overview, SourceError> {
        Ok(self.with(|inner| {
            inner.overviews += 1;
            Overview { jobs: vec![inner.job.clone()], ..Overview::default() }
        }))
    }

    fn job(&self, id: &str) -> Result<Job, SourceError> {
        Self::known(id)?;
        Ok(self.with(|inner| Job { id: "a".to_owned(), ..inner.job.clone() }))
    }

    fn layers(&self, id: &str, from: u32) -> Result<Vec<LayerRecord>, SourceError> {
        Self::known(id)?;
        Ok(self.with(|inner| inner.layers.iter().skip(from as usize).take(PART).cloned().collect()))
    }

    fn expected(&self, _: &str) -> Result<Vec<(u32, f64)>, SourceError> {
        Ok(Vec::new())
    }

    fn log(&self, _: &str, from: u64) -> Result<LogPart, SourceError> {
        Ok(self.with(|inner| {
            let left = inner.entries.iter().skip(from as usize);
            let entries: Vec<LogEntry> = left.take(PART).cloned().collect();
            let next = from + entries.len() as u64;
            LogPart { more: next < inner.entries.len() as u64, next, entries }
        }))
    }

    fn change(&self, id: &str, action: Action) -> Result<(), SourceError> {
        Self::known(id)?;
        self.with(|inner| inner.changes.push(action));
        Ok(())
    }

    fn solution(&self, id: &str) -> Result<Solution, SourceError> {
        Self::known(id)?;
        Ok(Solution {
            moves: vec!["1".to_owned()],
            positions: vec!["before".to_owned(), "after".to_owned()],
            has_drawings: true,
        })
    }

    fn drawing(&self, _: &str, position: &str, _: bool) -> Result<Option<String>, SourceError> {
        Ok(Some(format!("<svg>{position}</svg>")))
    }
}
