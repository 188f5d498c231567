//! Files of the layers before the last two, which a directed search compares new states with.
//!
//! They are in a few files, each with the states of several layers. A layer that becomes an older one is
//! merged with the last files that are not larger, so that each state is written a logarithmic number of
//! times. A pass reads all of these files; reading is several times faster than writing.

use strata_store::Layer;

/// Maximum number of files; a pass has a cursor for each. At the limit the last file is small, so it is
/// cheap to write again for every layer.
const MOST_FILES: usize = 16;

/// The files of older layers, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct OlderLayers {
    files: Vec<Layer>,
}

impl OlderLayers {
    /// The older layers in the files of a checkpoint, the oldest first.
    pub(crate) fn new(files: Vec<Layer>) -> OlderLayers {
        OlderLayers { files }
    }

    /// The files.
    pub(crate) fn files(&self) -> &[Layer] {
        &self.files
    }

    /// Bytes of the files on disk.
    pub(crate) fn disk_bytes(&self) -> u64 {
        let on_disk = self.files.iter().filter(|file| file.path().is_some());
        on_disk.map(Layer::file_bytes).sum()
    }

    /// Number of states in the files.
    pub(crate) fn states(&self) -> u64 {
        self.files.iter().map(|file| file.totals().states).sum()
    }

    /// The last files that are merged with a layer of `states` states.
    pub(crate) fn joined_by(&self, states: u64) -> &[Layer] {
        let sizes: Vec<u64> = self.files.iter().map(|file| file.totals().states).collect();
        &self.files[self.files.len() - joined(&sizes, states)..]
    }

    /// Replaces the last `count` files by one. Returns the replaced files.
    pub(crate) fn replace(&mut self, count: usize, file: Layer) -> Vec<Layer> {
        let replaced = self.files.split_off(self.files.len() - count);
        self.files.push(file);
        replaced
    }
}

/// The number of last files that are merged with a layer of `states` states. `sizes` are the numbers of
/// states of the files.
fn joined(sizes: &[u64], states: u64) -> usize {
    let mut sum = states;
    let joins = |(number, size): &(usize, &u64)| {
        let joins = **size <= sum || *number >= MOST_FILES - 1;
        sum = sum.saturating_add(**size);
        joins
    };
    sizes.iter().enumerate().rev().take_while(joins).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_keeps_files_few_and_rewrites_logarithmic() {
        let shrinking = (0..40).map(|d| (1e12 * 0.6_f64.powi(d)) as u64).collect();
        let wide_then_narrow = [1 << 30, 1 << 20].into_iter().chain(vec![100; 2000]).collect();
        let constant = vec![1; 2000];
        let growing = (1..40).map(|d| 1 << (d / 2)).collect();
        let layers = [shrinking, wide_then_narrow, constant, growing, (1..999).collect()];
        for layers in layers {
            let (mut sizes, mut written, mut total) = (Vec::<u64>::new(), 0, 0);
            for states in layers {
                let first = sizes.len() - joined(&sizes, states);
                let size = sizes.drain(first..).sum::<u64>() + states;
                sizes.push(size);
                (written, total) = (written + size, total + states);
                assert!(sizes.is_sorted_by(|before, after| before > after), "{sizes:?}");
            }
            assert_eq!(sizes.iter().sum::<u64>(), total);
            assert!(sizes.len() <= MOST_FILES, "{sizes:?}");
            let times = written as f64 / total as f64;
            assert!(times <= 1.0 + f64::from(total.ilog2()) / 2.0, "{times}");
        }
    }
}
