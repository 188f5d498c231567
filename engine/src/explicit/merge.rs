//! Merge of layers that have no states in common.

use strata_store::{BlockEncoder, LayerCursor, LayerWriter, Result};

use crate::explicit::local_set::{LocalSet, sort_locals};

/// Writes the remaining regions of several cursors as one layer.
///
/// # Errors
/// If a layer is damaged, or the file cannot be written.
pub(crate) fn merge(
    cursors: &mut [LayerCursor],
    encoder: &mut BlockEncoder,
    writer: &LayerWriter,
) -> Result<()> {
    let (width, mut locals, mut set) = (writer.header().width, Vec::new(), LocalSet::default());
    while let Some(key) = cursors.iter().filter_map(LayerCursor::key).min() {
        let mut of_region: Vec<_> =
            cursors.iter_mut().filter(|cursor| cursor.key() == Some(key)).collect();
        match &of_region[..] {
            // Only one layer has the region: its list is copied without decoding.
            [only] => encoder.push_list(writer, key, only.list())?,
            _ => {
                locals.clear();
                for cursor in &mut of_region {
                    locals.extend_from_slice(cursor.locals()?);
                }
                sort_locals(width, &mut locals, &mut set);
                encoder.push(writer, key, &locals)?;
            }
        }
        of_region.into_iter().try_for_each(LayerCursor::advance)?;
    }
    Ok(())
}
