//! Layers before the last two, with which a search compares new states if moves are directed.
//!
//! A search by parts reads these layers from files, which each layer joins as soon as it is no longer one of the
//! last two. A search in memory has them in its planes, and writes what no file has yet for a checkpoint.

use strata_store::{DENSE_ENCODING, FileKind, Layer, LayerHeader, LayerWriter, StoreError};

use super::layers::{Readers, write_words};
use super::worker::{DenseWorker, Engine, files_of};
use crate::local::error::Result;
use crate::local::worker::counted;

impl DenseWorker {
    /// In a search by parts, merges the layer before the current one with the last files of older layers.
    /// Returns the number of these files and the new file; None if the search does not need them.
    pub(super) fn merge_older(&self) -> Result<Option<(usize, Layer)>> {
        let layer = self.previous.as_ref().and_then(|slot| slot.layer.as_ref());
        let Some(layer) = layer.filter(|layer| layer.totals().states > 0) else { return Ok(None) };
        if self.is_undirected() || !matches!(self.search, Engine::Parts(_)) {
            return Ok(None);
        }
        let joined = self.older.joined_by(layer.totals().states);
        let merged = self.older_layer(layer.header().depth, joined.iter().chain([layer]))?;
        Ok(Some((joined.len(), merged)))
    }

    /// In a search in memory, writes the states of older layers that are in no file.
    pub(super) fn write_older(&mut self) -> Result<()> {
        let new = self.older_states.saturating_sub(self.older.states());
        if self.is_undirected() || new == 0 || matches!(self.search, Engine::Parts(_)) {
            return Ok(());
        }
        let depth = self.current.depth.saturating_sub(2);
        let joined = self.older.joined_by(new);
        let (count, states) = (joined.len(), joined.iter().map(|file| file.totals().states));
        let states = new + states.sum::<u64>();
        let others = &self.older.files()[..self.older.files().len() - count];
        let others = others.iter().chain(files_of(&self.previous, &self.current));
        let others = Readers::new(self.numbering, others)?;
        let mut of_others = Vec::new();
        let file = self.older_file(depth, states, |first, words| {
            match &self.search {
                Engine::Memory(Some(search)) => search.read_reached(first, words),
                Engine::Share(search) => search.read_reached(first, words)?,
                Engine::Memory(None) | Engine::Parts(_) => return Err(self.missing(depth)),
            }
            of_others.resize(words.len(), 0);
            others.read(first, &mut of_others)?;
            words.iter_mut().zip(&of_others).for_each(|(word, others)| *word &= !others);
            Ok(())
        })?;
        if file.totals().states != states {
            let what = format!("{} older states instead of {states}", file.totals().states);
            return Err(StoreError::Inconsistent { file: file.name(), what }.into());
        }
        self.replace_older(count, file)
    }

    /// Replaces the last `count` files of older layers by one.
    pub(super) fn replace_older(&mut self, count: usize, file: Layer) -> Result<()> {
        let replaced = self.older.replace(count, file);
        Ok(replaced.into_iter().try_for_each(|file| self.files.release_older(file))?)
    }

    /// A file with the own blocks of layers, of which the last is at `depth`.
    pub(super) fn older_layer<'a>(
        &self,
        depth: u32,
        layers: impl Iterator<Item = &'a Layer> + Clone,
    ) -> Result<Layer> {
        let states = layers.clone().map(|layer| layer.totals().states).sum();
        let readers = Readers::new(self.numbering, layers)?;
        self.older_file(depth, states, |first, words| Ok(readers.read(first, words)?))
    }

    /// A file with the states that `read` gives for own blocks, of which there are at most `states`.
    fn older_file(
        &self,
        depth: u32,
        states: u64,
        read: impl FnMut(u32, &mut [u64]) -> Result<()>,
    ) -> Result<Layer> {
        let job = self.setup.folder.job().to_owned();
        let header = LayerHeader::new(FileKind::OlderDense, job, depth, DENSE_ENCODING);
        let writer = match self.files.on_disk(depth, states) {
            true => self.files.older_writer(header)?,
            false => LayerWriter::memory(header)?,
        };
        let parts = vec![write_words(self.numbering, &writer, &self.blocks, read)?];
        let totals = counted(&parts);
        Ok(writer.seal(parts, totals)?)
    }
}
