//! Tests of the explicit engine.

mod encoded;
mod inbox;
mod kernel;
mod tasks;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use strata_engine::explicit::{Inbox, InboxOptions, Run};
use strata_store::{EncodeOptions, EntryKey, KeyRange, LayerCursor, LocalWidth, RealFs, Word};

/// An inbox that spills into a folder the runs that exceed its memory.
fn inbox(folder: &Path, memory: usize, width: LocalWidth) -> Arc<Inbox> {
    let options = InboxOptions {
        memory,
        width,
        job: "job".into(),
        folder: folder.into(),
        prefix: "run".into(),
        recycled_runs: 1,
        encode: EncodeOptions::default(),
    };
    Arc::new(Inbox::new(Arc::new(RealFs), options).unwrap())
}

/// The exits of a run, in its order.
fn exits_of(run: &Run) -> Vec<(EntryKey, u32)> {
    let mut all = Vec::new();
    let mut add = |key, words: &[Word]| all.extend(words.iter().map(|word| (key, word.0)));
    match run {
        Run::Memory(run) => run
            .for_each_region(LocalWidth::One, |key, words| {
                add(key, words);
                Ok(())
            })
            .unwrap(),
        Run::File(file) => {
            let mut cursor = LayerCursor::new().unwrap();
            cursor.start(file, KeyRange::ALL).unwrap();
            while let Some(key) = cursor.key() {
                add(key, cursor.locals().unwrap());
                cursor.advance().unwrap();
            }
        }
    }
    all
}

/// All exits of some runs, as a pass merges them.
fn read(runs: &[Run]) -> BTreeSet<(EntryKey, u32)> {
    runs.iter().flat_map(exits_of).collect()
}

fn files(folder: &Path) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}
