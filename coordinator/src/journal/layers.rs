//! Operations of the journal on the layers of a job.

use std::ops::Range;

use strata_run::Totals;
use strata_store::LayerRecord;

use super::error::JournalError;
use super::operations::{Journal, apply};
use super::records::{JOBS, LAYERS, check_last_layer, layer_key, lines, record};
use crate::entry::JobEntry;

type Result<T> = std::result::Result<T, JournalError>;

impl Journal {
    /// Records a checkpoint: changes the job, and replaces all layers from the first new line's
    /// depth on by the new lines. Without new lines the layers stay. The job's progress follows the
    /// layers. `change` must not call the journal.
    ///
    /// # Errors
    /// `Gap` if the depths of the lines are not consecutive or leave a gap to the stored layers;
    /// otherwise those of [`Self::update`].
    pub fn checkpoint(
        &self,
        id: &str,
        new_lines: &[LayerRecord],
        change: impl FnOnce(&mut JobEntry),
    ) -> Result<JobEntry> {
        let changed = self.change(|tx| {
            let mut record = record(tx, id)?;
            check_last_layer(tx, &record)?;
            if let Some(first) = new_lines.first() {
                let before = record.layers;
                let left = first.depth.min(before);
                record.layers = depth_after(id, left, new_lines)?;
                if left < before {
                    let left = lines(tx, id, 0..left)?;
                    record.entry.progress = (!left.is_empty()).then(|| Totals::of_lines(&left));
                }
                for line in new_lines {
                    record.entry.progress.get_or_insert_default().add(line);
                }
                let new = new_lines.iter().map(|line| (layer_key(id, line.depth), line));
                tx.put_all(LAYERS, new)?;
                tx.remove_all(LAYERS, (record.layers..before).map(|depth| layer_key(id, depth)))?;
            }
            apply(tx, &mut record, self.now(), change)?;
            tx.put(JOBS, id, &record)?;
            Ok((record.entry, ()))
        });
        changed.map(|(entry, ())| entry)
    }

    /// The history of a job: a record of each layer from depth 0 on.
    ///
    /// # Errors
    /// `NoSuchJob`.
    pub fn layers(&self, id: &str) -> Result<Vec<LayerRecord>> {
        self.store().read(|tx| {
            let expected = record(tx, id)?.layers;
            let lines = lines(tx, id, 0..u32::MAX)?;
            if lines.len() != expected as usize {
                let what = format!("{} layers, not {expected}", lines.len());
                return Err(tx.corrupt(LAYERS, id, what));
            }
            Ok(lines)
        })
    }

    /// The layers of a job in a range of depths; those that the journal does not have are skipped.
    ///
    /// # Errors
    /// `NoSuchJob`.
    pub(crate) fn layers_between(&self, id: &str, depths: Range<u32>) -> Result<Vec<LayerRecord>> {
        self.store().read(|tx| {
            let depths = depths.start..depths.end.min(record(tx, id)?.layers);
            let lines = lines(tx, id, depths.clone())?;
            if lines.len() != depths.len() {
                let what = format!("{} layers of depths {depths:?}", lines.len());
                return Err(tx.corrupt(LAYERS, id, what));
            }
            Ok(lines)
        })
    }
}

/// The depth after the last line. Checks that the depths of the lines count up from `first`.
fn depth_after(id: &str, first: u32, lines: &[LayerRecord]) -> Result<u32> {
    let mut expected = first;
    for line in lines {
        let next = line.depth.checked_add(1).filter(|_| line.depth == expected);
        expected = next.ok_or_else(|| JournalError::Gap {
            job: id.to_owned(),
            expected,
            found: line.depth,
        })?;
    }
    Ok(expected)
}
