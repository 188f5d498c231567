//! Interface of a worker, common to all engines.

use std::ops::Range;

use strata_store::{CheckpointFile, Layer};

use super::error::Result;
use super::restore::Restore;
use super::worker::Worker;
use crate::plan::report::LayerReport;

/// A worker of a job. Its operations correspond to the driver's orders.
pub trait Work: Send {
    /// Depth of the last layer.
    fn depth(&self) -> u32;

    /// Makes layer 0.
    ///
    /// # Errors
    /// See [`Worker::seed`].
    fn seed(&mut self) -> Result<LayerReport>;

    /// Loads a checkpoint.
    ///
    /// # Errors
    /// See [`Worker::restore`].
    fn restore(&mut self, from: &Restore) -> Result<LayerReport>;

    /// Makes the next layer. `files` are those that all workers have shared of the current layer
    /// ([`LayerReport::shared`]). The job's folder must hold those that this worker reads and has not taken
    /// ([`Self::take`]).
    ///
    /// # Errors
    /// See [`Worker::advance`].
    fn advance(&mut self, files: &[CheckpointFile]) -> Result<LayerReport>;

    /// Whether this worker reads the shared file of another worker to make the next layer.
    fn reads(&self, worker: u32) -> bool {
        let _ = worker;
        false
    }

    /// The blocks that this worker reads of the shared file of another worker, if it takes an excerpt of the
    /// file ([`Self::take`]) instead of a copy in the job's folder.
    fn excerpt(&self, worker: u32) -> Option<&[Range<u32>]> {
        let _ = worker;
        None
    }

    /// Takes an excerpt of another worker's shared file, with which the next layer is made.
    fn take(&mut self, worker: u32, layer: Layer) {
        let _ = (worker, layer);
    }

    /// The expansions that this worker has learned since the last call, for [`Self::learn`] in other processes.
    fn take_learned(&mut self) -> Vec<Vec<u64>> {
        Vec::new()
    }

    /// Adds expansions that a worker of another process has learned.
    ///
    /// # Errors
    /// If one is malformed.
    fn learn(&mut self, expansions: &[u64]) -> Result<()> {
        let _ = expansions;
        Ok(())
    }

    /// Makes the last two layers durable.
    ///
    /// # Errors
    /// See [`Worker::save`].
    fn save(&mut self) -> Result<Vec<CheckpointFile>>;

    /// Removes files that only older checkpoints named.
    ///
    /// # Errors
    /// See [`Worker::saved`].
    fn saved(&mut self) -> Result<()>;
}

impl Work for Worker {
    fn depth(&self) -> u32 {
        Worker::depth(self)
    }

    fn seed(&mut self) -> Result<LayerReport> {
        Worker::seed(self)
    }

    fn restore(&mut self, from: &Restore) -> Result<LayerReport> {
        Worker::restore(self, from)
    }

    fn advance(&mut self, _: &[CheckpointFile]) -> Result<LayerReport> {
        Worker::advance(self)
    }

    fn take_learned(&mut self) -> Vec<Vec<u64>> {
        let learned = self.tasks.iter_mut().map(|task| task.take_learned());
        learned.filter(|expansions| !expansions.is_empty()).collect()
    }

    fn learn(&mut self, expansions: &[u64]) -> Result<()> {
        // All tasks share one memo table.
        Ok(self.tasks.first_mut().map_or(Ok(()), |task| task.learn(expansions))?)
    }

    fn save(&mut self) -> Result<Vec<CheckpointFile>> {
        Worker::save(self)
    }

    fn saved(&mut self) -> Result<()> {
        Worker::saved(self)
    }
}
