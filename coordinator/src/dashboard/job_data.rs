//! Cached data of a job for the page: layers, marks and the end of its log.
//!
//! The data of recently viewed jobs is kept, so that an update reads only what is new. Its size is
//! bounded: a job of more than 262,144 layers has no charts, because leaving layers out would
//! change sums.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use strata_proto::platform::Instant;

use crate::dashboard::charts::{ChartRequest, Drawn};
use strata_store::LayerRecord;

use crate::dashboard::model::{Job, LogEntry, MarkKind};
use crate::dashboard::source::{Source, SourceError};

/// Most layers that charts show.
const LAYERS: usize = 1 << 18;

/// Most log entries that the page shows.
const ENTRIES: usize = 100;

/// Most marks that are kept.
const MARKS: usize = 1_000;

/// Most parts of a log that one update reads.
const LOG_PARTS: usize = 20;

/// Minimum time between two readings of layers, and so between two changes of charts.
const CHART_INTERVAL: Duration = Duration::from_secs(5);

/// Data of one job.
#[derive(Debug, Default)]
pub(crate) struct JobData {
    pub(crate) job: Job,
    /// Layers by ascending depth.
    layers: Vec<LayerRecord>,
    /// Whether there are more layers than charts show. Then no layers are kept.
    has_too_many: bool,
    /// Expected states of the layers that follow, by depth.
    expected: Vec<(u32, f64)>,
    marks: Vec<(MarkKind, u32)>,
    pub(crate) entries: VecDeque<LogEntry>,
    /// Where the next part of the log begins.
    next_entry: u64,
    /// Counts changes of the layers.
    version: u64,
    /// Time of the last reading of layers.
    read: Option<Instant>,
    /// Charts drawn of this version.
    pub(crate) charts: HashMap<ChartRequest, Arc<str>>,
}

impl JobData {
    /// Reads what is new from the source.
    ///
    /// # Errors
    /// Those of the source.
    pub(crate) fn update(
        &mut self,
        source: &dyn Source,
        id: &str,
        now: Instant,
    ) -> Result<(), SourceError> {
        let job = source.job(id)?;
        let has_ended = job.state.has_ended() && !self.job.state.has_ended();
        self.job = job;
        self.read_log(source)?;
        if has_ended || self.read.is_none_or(|read| now >= read + CHART_INTERVAL) {
            self.read = Some(now);
            let before = (self.layers.last().cloned(), self.marks.len());
            self.read_layers(source)?;
            if before != (self.layers.last().cloned(), self.marks.len()) || self.version == 0 {
                self.version += 1;
                self.charts.clear();
            }
        }
        Ok(())
    }

    /// The data that charts show.
    pub(crate) fn drawn(&self) -> Drawn<'_> {
        let JobData { job, layers, marks, expected, .. } = self;
        Drawn { job, layers, marks, expected }
    }

    /// A number that changes with the charts; `None` if there are more layers than they show.
    pub(crate) fn charts_version(&self) -> Option<u64> {
        (!self.has_too_many).then_some(self.version)
    }

    fn read_layers(&mut self, source: &dyn Source) -> Result<(), SourceError> {
        if self.has_too_many {
            return Ok(());
        }
        // Layers after the checkpoint are read again: they may have been searched again since, and
        // have other times.
        let durable = self.job.checkpoint.map_or(0, |checkpoint| checkpoint.depth + 1);
        self.layers.retain(|layer| layer.depth < durable);
        loop {
            let next = self.layers.last().map_or(0, |last| last.depth + 1);
            let part = source.layers(&self.job.id, next)?;
            if part.is_empty() {
                break;
            }
            self.layers.extend(part);
            if self.layers.len() > LAYERS {
                self.has_too_many = true;
                self.layers = Vec::new();
                return Ok(());
            }
        }
        self.expected = source.expected(&self.job.id)?;
        Ok(())
    }

    fn read_log(&mut self, source: &dyn Source) -> Result<(), SourceError> {
        for _ in 0..LOG_PARTS {
            let part = source.log(&self.job.id, self.next_entry)?;
            self.next_entry = part.next;
            for entry in part.entries {
                self.marks.extend(entry.mark);
                self.entries.push_back(entry);
            }
            let excess = self.entries.len().saturating_sub(ENTRIES);
            self.entries.drain(..excess);
            if self.marks.len() > MARKS {
                let excess = self.marks.len() - MARKS / 2;
                self.marks.drain(..excess);
            }
            if !part.more {
                break;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dashboard::model::{Checkpoint, JobState};
    use crate::dashboard::test_source::TestSource;

    fn layer(depth: u32) -> LayerRecord {
        let states = u64::from(depth % 1000) + 1;
        LayerRecord { depth, states, seconds: f64::from(depth), ..LayerRecord::default() }
    }

    #[test]
    fn an_update_reads_new_and_repeated_layers() {
        let source = TestSource::default();
        source.edit(|job, layers| {
            *layers = (0..10).map(layer).collect();
            job.checkpoint = Some(Checkpoint { depth: 4, ..Checkpoint::default() });
        });
        let (mut data, now) = (JobData::default(), Instant::now());
        data.update(&source, "a", now).unwrap();
        assert_eq!((data.layers.len(), data.version), (10, 1));
        // Back to the checkpoint, and on in another time.
        source.edit(|_, layers| {
            layers.truncate(5);
            layers.extend((5..9).map(|depth| LayerRecord { seconds: 99.0, ..layer(depth) }));
        });
        data.update(&source, "a", now).unwrap();
        assert_eq!((data.layers.len(), data.version), (10, 1));
        data.update(&source, "a", now + CHART_INTERVAL).unwrap();
        assert_eq!((data.layers.len(), data.version), (9, 2));
        assert_eq!((data.layers[4].seconds, data.layers[5].seconds), (4.0, 99.0));
        // Without a change the charts stay; at the end they are made at once.
        data.update(&source, "a", now + 2 * CHART_INTERVAL).unwrap();
        assert_eq!(data.version, 2);
        source.edit(|job, layers| {
            job.state = JobState::Done;
            layers.push(layer(9));
        });
        data.update(&source, "a", now + 2 * CHART_INTERVAL).unwrap();
        assert_eq!((data.layers.len(), data.version), (10, 3));
    }

    #[test]
    fn a_job_with_too_many_layers_keeps_none() {
        let source = TestSource::default();
        source.edit(|_, layers| *layers = (0..=LAYERS as u32).map(layer).collect());
        let mut data = JobData::default();
        data.update(&source, "a", Instant::now()).unwrap();
        assert!(data.has_too_many && data.layers.is_empty());
    }

    #[test]
    fn the_log_is_read_once_and_bounded() {
        let source = TestSource::default();
        let entry = |number: u32| LogEntry {
            time_ms: u64::from(number),
            level: "INFO".to_owned(),
            text: format!("entry {number}"),
            mark: Some((MarkKind::Checkpoint, number)),
        };
        source.log(|entries| entries.extend((0..5_000).map(entry)));
        let mut data = JobData::default();
        data.update(&source, "a", Instant::now()).unwrap();
        assert_eq!(data.entries.len(), ENTRIES);
        assert_eq!(data.entries.back().unwrap().text, "entry 4999");
        assert!(data.marks.len() <= MARKS && data.marks.last().unwrap().1 == 4_999);
        source.log(|entries| entries.push(entry(5_000)));
        data.update(&source, "a", Instant::now()).unwrap();
        assert_eq!(data.entries.back().unwrap().text, "entry 5000");
    }
}
