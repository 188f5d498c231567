//! Tests of searches whose files cannot be read, and of diagrams that do not fit the memory.

use crate::drive;

use std::sync::Arc;

use drive::{SearchSetup, start_workers_on};
use strata_engine::explicit::Engine;
use strata_engine::symbolic::Options;
use strata_puzzles::Hanoi;
use strata_run::catalogue::Registry;
use strata_run::{KeepLayers, Retryable, StopReason, Worker, WorkerError, load_diagram};
use strata_space::{Keyed, Parameters};
use strata_store::{
    CheckpointFile, FaultyFs, Hex64, JobDir, RealFs, StoreError, Weight, write_diagram_snapshot,
};

const EIO: i32 = 5;

/// A worker with a layer in a file.
fn worker(faulty: &FaultyFs, dir: &std::path::Path) -> Worker {
    let space = Keyed::new(Hanoi::new(9, 4, true).unwrap()).unwrap();
    let setup = SearchSetup { keep: KeepLayers::All, ..SearchSetup::default() };
    let engine = Arc::new(Engine::sparse(space, setup.shards));
    let mut workers = start_workers_on(Arc::new(faulty.clone()), setup, &engine, dir);
    let mut worker = workers.pop().unwrap();
    worker.seed().unwrap();
    while worker.advance().unwrap().layer.states < 1_000 {}
    worker
}

#[test]
fn a_layer_that_cannot_be_read_fails_the_search_with_file_and_offset() {
    let (dir, faulty) = (tempfile::tempdir().unwrap(), FaultyFs::new());
    let mut failing = worker(&faulty, dir.path());
    faulty.fail_reads_at("layer-", 100);
    let error = failing.advance().unwrap_err();
    let Some(StoreError::Read { path, offset, source }) = error.store() else { panic!("{error}") };
    assert!(path.starts_with(dir.path()) && *offset <= 100, "{error}");
    assert_eq!(source.raw_os_error(), Some(EIO));
    assert!(!error.is_corrupt() && error.exhausted().is_none(), "{error}");

    faulty.heal();
    let (dir, faulty) = (tempfile::tempdir().unwrap(), FaultyFs::new());
    let mut failing = worker(&faulty, dir.path());
    faulty.cut_reads_at("layer-", 100);
    let error = failing.advance().unwrap_err();
    assert!(error.is_corrupt(), "{error}");
    assert!(error.to_string().contains("the end of the file"), "{error}");
}

/// Another worker may send such a file: a megabyte of a diagram takes a few dozen bytes.
#[test]
fn a_diagram_beyond_the_memory_budget_is_a_full_memory() {
    let dir = tempfile::tempdir().unwrap();
    let folder = JobDir::attach(Arc::new(RealFs), dir.path(), "job").unwrap();
    let memory = 1 << 20;
    let options = Options { memory, keep_layers: false, digests: true, verify: 0, threads: 1 };
    let parameters = Parameters::from([("level".to_owned(), "4".to_owned())]);
    let space = Registry::shipped().open("panex", &parameters).unwrap();
    let mut search = space.nested().unwrap().open(options).unwrap();
    let mut load = |content: &[u8]| {
        let path = folder.file_path("diagram").unwrap();
        let sealed = write_diagram_snapshot(&RealFs, &path, "job", 7, content).unwrap();
        let record = CheckpointFile {
            depth: 7,
            worker: 0,
            file: "diagram".to_owned(),
            bytes: sealed.bytes,
            states: 1,
            positions: 1,
            regions: 1,
            generated: 1,
            digest: Weight([0; 2]),
            seal: Hex64(sealed.seal),
        };
        (sealed.bytes, load_diagram(&folder, &record, &mut *search).unwrap_err())
    };
    let (bytes, error) = load(&vec![0; memory + 1]);
    assert!(bytes < 1_000, "{bytes}");
    assert!(matches!(error, WorkerError::Symbolic { .. }), "{error}");
    assert_eq!(error.exhausted(), Some(StopReason::MemoryFull));
    // One that fits is decompressed, and is not a diagram.
    let (_, error) = load(&vec![0; memory]);
    assert!(error.is_corrupt(), "{error}");
}
