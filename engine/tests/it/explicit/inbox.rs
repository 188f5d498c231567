//! Tests of inboxes that spill: all accepted exits are returned, from few files, which are removed after
//! the pass.

use std::collections::BTreeSet;

use strata_engine::explicit::{Exchange, InboxError, LocalExchange, MemoryRun, Run, SortBuffers};
use strata_store::{EntryKey, LocalWidth, Word};

use crate::explicit::{self, exits_of, files, inbox};

type Exit = (EntryKey, u32);

/// The exits of run number `number`. Runs with neighbouring numbers share regions and some exits.
fn exits(number: u32) -> Vec<Exit> {
    let key = |i: u32| EntryKey { shard: i % 5, region: u128::from((number + i * i) % 37) };
    (0..200).map(|i| (key(i), (i * 7 + number / 2) % 300)).collect()
}

fn run(exits: &[Exit]) -> MemoryRun {
    let mut run = MemoryRun::default();
    exits.iter().for_each(|(key, local)| run.push(*key, None, &[Word(*local)]));
    run.sort(&mut SortBuffers::default());
    run
}

/// All exits of some runs. Checks that exits in files increase strictly.
fn read(runs: &[Run]) -> BTreeSet<Exit> {
    for file in runs.iter().filter(|run| matches!(run, Run::File(_))) {
        assert!(exits_of(file).is_sorted_by(|a, b| a < b), "a spilled run is out of order");
    }
    explicit::read(runs)
}

#[test]
fn spilled_runs_are_merged_and_removed() {
    let dir = tempfile::tempdir().unwrap();
    let inbox = inbox(dir.path(), 0, LocalWidth::One);
    let exchange = LocalExchange::new(vec![inbox.clone()]);
    let mut most = 0;
    for number in 0..100 {
        exchange.send(0, 8, run(&exits(number))).unwrap();
        most = most.max(files(dir.path()));
    }
    assert!((2..=16).contains(&most), "{most} files at once");
    let expected: BTreeSet<Exit> = (0..100).flat_map(exits).collect();
    let on_disk: u64 = std::fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().metadata().unwrap().len())
        .sum();
    assert_eq!(inbox.file_bytes(), on_disk);
    assert!(inbox.spilled_bytes() > on_disk, "what was merged away was written, too");
    let runs = inbox.take(8).unwrap();
    assert!(runs.iter().all(|run| matches!(run, Run::File(_))));
    assert_eq!(runs.len(), files(dir.path()));
    assert_eq!(read(&runs), expected);
    inbox.recycle(8, runs).unwrap();
    assert_eq!((files(dir.path()), inbox.file_bytes()), (0, 0));
}

#[test]
fn runs_are_spilled_if_two_layers_exceed_the_memory() {
    let dir = tempfile::tempdir().unwrap();
    let bytes = |run: &Run| match run {
        Run::Memory(run) => run.capacity_bytes(),
        Run::File(_) => 0,
    };
    // Memory for four runs: three of one layer, one of the next.
    let inbox = inbox(dir.path(), 4 * run(&exits(0)).capacity_bytes(), LocalWidth::One);
    let accept = |depth: u32, numbers: std::ops::Range<u32>| {
        numbers.for_each(|number| inbox.accept(depth, run(&exits(number))).unwrap());
        files(dir.path())
    };
    assert_eq!(accept(3, 0..3), 0);
    assert_eq!(inbox.spilled_bytes(), 0);
    assert_eq!(accept(3, 3..4), 1, "a layer has three quarters at most");
    assert_eq!(accept(3, 4..7), 1);
    let third = inbox.take(3).unwrap();
    assert_eq!(third.iter().filter(|run| bytes(run) > 0).count(), 3);
    assert_eq!(read(&third), (0..7).flat_map(exits).collect());
    // Runs that are being read count towards the memory.
    assert_eq!(accept(4, 0..1), 1);
    assert_eq!(accept(4, 1..2), 2);
    assert_eq!(accept(4, 2..3), 2);
    inbox.recycle(3, third).unwrap();
    assert_eq!(accept(4, 3..5), 1);
    let fourth = inbox.take(4).unwrap();
    assert_eq!(fourth.iter().filter(|run| bytes(run) > 0).count(), 3);
    assert_eq!(read(&fourth), (0..5).flat_map(exits).collect());
    inbox.recycle(4, fourth).unwrap();
    assert_eq!(files(dir.path()), 0);
    assert_eq!(accept(5, 5..8), 0, "all memory is free again");
    assert_eq!(read(&inbox.take(5).unwrap()), (5..8).flat_map(exits).collect());
}

#[test]
fn an_inbox_that_lost_exits_stays_incomplete() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("gone");
    let inbox = inbox(&folder, 20_000, LocalWidth::One);
    for number in 0.. {
        if let Err(error) = inbox.accept(4, run(&exits(number))) {
            assert!(matches!(error, InboxError::Incomplete(_)), "{error}");
            break;
        }
    }
    // There is room again, but the exits that were to be spilled are lost.
    std::fs::create_dir(&folder).unwrap();
    let incomplete = |error: InboxError| matches!(error, InboxError::Incomplete(_));
    assert!(inbox.accept(4, run(&exits(0))).is_err_and(incomplete));
    assert!(inbox.take(4).is_err_and(incomplete));
}

#[test]
fn the_layers_of_two_passes_are_kept_apart() {
    let dir = tempfile::tempdir().unwrap();
    for memory in [0, 1 << 20] {
        let inbox = inbox(dir.path(), memory, LocalWidth::One);
        inbox.accept(6, run(&exits(1))).unwrap();
        inbox.accept(7, run(&exits(2))).unwrap();
        inbox.accept(6, MemoryRun::default()).unwrap();
        let (sixth, seventh) = (inbox.take(6).unwrap(), inbox.take(7).unwrap());
        assert_eq!((sixth.len(), seventh.len()), (1, 1));
        assert_eq!(read(&sixth), exits(1).into_iter().collect());
        assert_eq!(read(&seventh), exits(2).into_iter().collect());
        assert!(inbox.take(6).unwrap().is_empty());
        inbox.recycle(6, sixth).unwrap();
        inbox.recycle(7, seventh).unwrap();
        assert_eq!(files(dir.path()), 0);
    }
}

#[test]
fn threads_spill_at_the_same_time() {
    let dir = tempfile::tempdir().unwrap();
    let inbox = inbox(dir.path(), 0, LocalWidth::One);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let inbox = &inbox;
            scope.spawn(move || {
                for number in (thread..80).step_by(4) {
                    inbox.accept(1, run(&exits(number))).unwrap();
                }
            });
        }
    });
    let runs = inbox.take(1).unwrap();
    assert_eq!(read(&runs), (0..80).flat_map(exits).collect());
    inbox.recycle(1, runs).unwrap();
    assert_eq!((files(dir.path()), inbox.file_bytes()), (0, 0));
}
