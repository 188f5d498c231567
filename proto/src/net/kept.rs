//! Compact lists of the layer files that a job keeps, for orders to workers.
//!
//! A job that keeps all layers keeps one file for each layer and worker. The names of the files follow
//! from depth and worker, so an order has ranges of depths instead of names.

use std::collections::HashSet;

use crate::v1;
use strata_store::layer_file;

use crate::net::convert::ConvertError;
use crate::net::limits;

/// Files that one worker keeps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KeptFiles {
    /// Layers whose files have the usual names.
    pub layers: Vec<v1::LayerRange>,
    /// Names of the other files.
    pub names: Vec<String>,
}

impl KeptFiles {
    /// Adds a file of worker `worker`. Calls must have ascending depths.
    pub fn add(&mut self, worker: u32, depth: u32, name: &str) {
        let is_added = name == layer_file(depth, worker) && self.add_layer(depth);
        if !is_added {
            self.names.push(name.to_owned());
        }
    }

    /// Adds a layer to the last range, or as a range of its own. Returns false if the depth is not
    /// beyond the last range.
    fn add_layer(&mut self, depth: u32) -> bool {
        let Some(range) = self.layers.last_mut() else {
            self.layers.push(v1::LayerRange { first: depth, count: 1, step: 1 });
            return true;
        };
        let last = range.first + (range.count - 1) * range.step;
        match depth.checked_sub(last) {
            None | Some(0) => return false,
            Some(step) if range.count == 1 => (range.count, range.step) = (2, step),
            Some(step) if step == range.step => range.count += 1,
            Some(_) => self.layers.push(v1::LayerRange { first: depth, count: 1, step: 1 }),
        }
        true
    }

    /// The names of all files of a worker.
    ///
    /// # Errors
    /// If a range is empty or leads beyond the greatest depth, or there are too many files.
    pub fn into_names(self, worker: u32) -> Result<HashSet<String>, ConvertError> {
        let malformed = |why: String| ConvertError::new("kept_layers", why);
        let files: u64 = self.layers.iter().map(|range| u64::from(range.count)).sum();
        if files > limits::KEPT_LAYERS {
            return Err(malformed(format!("{files} files are more than {}", limits::KEPT_LAYERS)));
        }
        let mut names: HashSet<String> = self.names.into_iter().collect();
        for v1::LayerRange { first, count, step } in self.layers {
            let length = count.checked_sub(1).filter(|_| step > 0);
            let last = length.and_then(|length| first.checked_add(length.checked_mul(step)?));
            let last = last.ok_or_else(|| {
                malformed(format!("no range: {count} layers from {first} on, {step} apart"))
            })?;
            let depths = (first..=last).step_by(step as usize);
            names.extend(depths.map(|depth| layer_file(depth, worker)));
        }
        Ok(names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The files of a worker at some depths.
    fn kept(worker: u32, depths: impl IntoIterator<Item = u32>) -> (KeptFiles, HashSet<String>) {
        let (mut files, mut names) = (KeptFiles::default(), HashSet::new());
        for depth in depths {
            files.add(worker, depth, &layer_file(depth, worker));
            names.insert(layer_file(depth, worker));
        }
        (files, names)
    }

    #[test]
    fn evenly_spaced_depths_form_one_range() {
        for (step, count) in [(1, 1_000_000), (7, 30_000)] {
            let (files, names) = kept(3, (0..count).map(|number| 5 + number * step));
            assert_eq!(files.layers, [v1::LayerRange { first: 5, count, step }]);
            assert_eq!(files.names, Vec::<String>::new());
            assert_eq!(files.into_names(3), Ok(names));
        }
    }

    #[test]
    fn irregular_depths_and_other_names_survive_a_round_trip() {
        let depths = [0, 1, 2, 10, 12, 14, 15, 99, u32::MAX - 1, u32::MAX];
        let (mut files, mut names) = kept(12, depths);
        for (depth, name) in
            [(u32::MAX, "layer-000001-012-1.strata"), (3, "layer-000003-012.strata")]
        {
            files.add(12, depth, name);
            names.insert(name.to_owned());
        }
        assert_eq!(files.names.len(), 2);
        assert_eq!(files.into_names(12), Ok(names));
        assert_eq!(KeptFiles::default().into_names(0), Ok(HashSet::new()));
    }

    #[test]
    fn malformed_ranges_are_refused() {
        let range = |first, count, step| KeptFiles {
            layers: vec![v1::LayerRange { first, count, step }],
            names: Vec::new(),
        };
        for (first, count, step) in
            [(0, 0, 1), (0, 2, 0), (u32::MAX, 2, 1), (0, 1 << 20, 1 << 20), (0, u32::MAX, 1)]
        {
            let error = range(first, count, step).into_names(0).unwrap_err();
            assert_eq!(error.field, "kept_layers", "{error}");
        }
        assert_eq!(range(u32::MAX, 1, 1).into_names(0).unwrap().len(), 1);
    }
}
