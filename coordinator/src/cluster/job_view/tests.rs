//! Tests of the views: layers, events and logs, and the bounds on what views hold.

use std::sync::atomic::AtomicUsize;

use strata_store::Weight;

use super::*;

fn line(depth: u32) -> LayerRecord {
    LayerRecord {
        depth,
        states: 10 * u64::from(depth),
        positions: 10 * u64::from(depth),
        generated: 0,
        regions: 0,
        bytes: 0,
        digest: Weight([0, 0]),
        seconds: 0.0,
        ..LayerRecord::default()
    }
}

fn lines(depths: std::ops::Range<u32>) -> Vec<LayerRecord> {
    depths.map(line).collect()
}

fn states(job: &JobView) -> u64 {
    job.snapshot().unwrap().progress.unwrap().states
}

#[test]
fn repeated_layers_count_once() {
    let folder = tempfile::tempdir().unwrap();
    let job = JobViews::new(folder.path()).job("a");
    let saved = Some(Totals::of_lines(&lines(0..2)));
    job.activate(saved.clone());
    job.add_layer(line(2), Figures::default());
    job.add_layer(line(3), Figures::default());
    assert_eq!(states(&job), 60);
    job.roll_back(saved.clone());
    job.roll_back(saved);
    assert_eq!(states(&job), 10);
    job.add_layer(line(2), Figures::default());
    let (saved, unsaved) = job.position().layers.unwrap();
    assert_eq!((saved, unsaved.len()), (2, 1));
    let (events, next) = job.events(0).unwrap();
    assert_eq!((events.len(), next), (4, 4));
    assert!(matches!(events[2], JobEvent::RolledBack(Some(1))));
}

#[test]
fn a_view_holds_the_layers_after_the_checkpoint_and_a_window_of_events() {
    const LAYERS: u32 = 100_000;
    let folder = tempfile::tempdir().unwrap();
    let job = JobViews::new(folder.path()).job("a");
    job.activate(None);
    let mut saved = Totals::default();
    for depth in 0..LAYERS {
        job.add_layer(line(depth), Figures::default());
        saved.add(&line(depth));
        if depth % 100 == 0 {
            job.set_saved(Some(&saved));
        }
    }
    assert_eq!(job.snapshot().unwrap().progress, Some(saved));
    let (in_journal, unsaved) = job.position().layers.unwrap();
    assert_eq!(in_journal + unsaved.len() as u32, LAYERS);
    assert!(unsaved.len() < 100 && unsaved[0].depth == in_journal, "{}", unsaved.len());
    assert_eq!(job.progress().events.events.len(), WINDOW);
    assert!(job.events(0).is_none());
    let (events, next) = job.events(u64::from(LAYERS) - 5).unwrap();
    assert_eq!((events.len(), next), (5, u64::from(LAYERS)));
}

#[test]
fn views_of_jobs_that_are_not_in_use_are_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let views = JobViews::new(folder.path());
    let kept = views.job("kept");
    for number in 0..10_000 {
        let job = views.job(&number.to_string());
        job.activate(None);
        job.add_layer(line(0), Figures::default());
        job.deactivate();
    }
    assert!(views.jobs().len() <= 2, "{}", views.jobs().len());
    assert!(views.in_use("9999").is_none());
    assert!(Arc::ptr_eq(&views.job("kept"), &kept));
}

#[test]
fn the_log_survives_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let write = |text: &str| {
        let job = JobViews::new(folder.path()).job("a");
        job.log(Level::Warn, text);
        job.log_entries(0).unwrap().entries
    };
    write("first\nline");
    let entries = write("second");
    let texts: Vec<&str> = entries.iter().map(|entry| entry.message.as_str()).collect();
    assert_eq!(texts, ["first line", "second"]);
}

#[test]
fn a_log_that_grows_is_read_once() {
    const ENTRIES: usize = 3000;
    let folder = tempfile::tempdir().unwrap();
    let job = JobViews::new(folder.path()).job("a");
    let seen = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| (0..ENTRIES).for_each(|n| job.log(Level::Info, &n.to_string())));
        let mut next = 0;
        while seen.load(Ordering::Relaxed) < ENTRIES {
            let part = job.log_entries(next).unwrap();
            next = part.next;
            for entry in part.entries {
                let number = seen.fetch_add(1, Ordering::Relaxed);
                assert_eq!(entry.message, number.to_string());
            }
        }
    });
}
