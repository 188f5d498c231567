//! Tests of the journal against a model.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, SystemTime};

use proptest::prelude::*;
use strata_coordinator::{
    EndState, EndedJob, JobEntry, JobName, JobOptions, JobState, Journal, JournalError,
    JournalSetup, Registered,
};
use strata_run::{StopReason, Totals};
use strata_store::LayerRecord;

use crate::common;

use common::{Content, checkpoint, content, line, spec};

/// The time, in seconds since 1970.
const NOW: u64 = 1_795_266_000;

fn open(path: &Path) -> Result<Journal, JournalError> {
    let clock = || SystemTime::UNIX_EPOCH + Duration::from_secs(NOW);
    Journal::open_with(path, JournalSetup::default().with_clock(clock))
}

#[derive(Clone, Debug)]
enum Op {
    Register { id: u8, address: u8 },
    Epoch,
    Submit { n: u8, name: Option<u8>, again: bool },
    Update { job: usize, seconds: f64 },
    Checkpoint { job: usize, first: u32, lines: u32, salt: u64 },
    Requeue { job: usize },
    Remove { job: usize },
    Confirm { worker: u16 },
    Reopen,
    Kill,
}

fn op() -> impl Strategy<Value = Op> {
    let job = || 0..4usize;
    prop_oneof![
        2 => (0..5u8, 0..2u8).prop_map(|(id, address)| Op::Register { id, address }),
        2 => Just(Op::Epoch),
        3 => (0..3u8, prop::option::of(0..3u8), any::<bool>())
            .prop_map(|(n, name, again)| Op::Submit { n, name, again }),
        2 => (job(), -1e9..1e9).prop_map(|(job, seconds)| Op::Update { job, seconds }),
        5 => (job(), 0..12u32, 0..6u32, any::<u64>())
            .prop_map(|(job, first, lines, salt)| Op::Checkpoint { job, first, lines, salt }),
        2 => job().prop_map(|job| Op::Requeue { job }),
        3 => job().prop_map(|job| Op::Remove { job }),
        1 => (0..3u16).prop_map(|worker| Op::Confirm { worker }),
        1 => Just(Op::Reopen),
        1 => Just(Op::Kill),
    ]
}

/// The expected content of the journal.
struct Model {
    content: Content,
    /// The newest job of each name.
    names: BTreeMap<String, String>,
    epoch: u64,
    order: u64,
}

impl Model {
    fn place(&mut self) -> u64 {
        self.order += 1;
        self.order - 1
    }

    fn register(&mut self, journal: &Journal, id: &str, address: &str) {
        let Registered { entry: worker, renamed } =
            journal.register(id, id, address, |_| false).unwrap();
        assert_eq!(renamed, []);
        let workers = &mut self.content.workers;
        if let Some(known) = workers.iter_mut().find(|worker| worker.id == id) {
            known.address = address.to_owned();
            assert_eq!(worker, *known);
        } else {
            assert_eq!(usize::from(worker.number), workers.len());
            assert_eq!((&*worker.id, &*worker.name, &*worker.address), (id, id, address));
            workers.push(worker);
        }
    }

    fn submit(&mut self, journal: &Journal, n: u32, name: Option<&str>, again: bool) {
        let wished = name.map(|name| JobName { name, again });
        let result = journal.submit("job", wished, spec(n), JobOptions::default(), 1, None);
        let known = name.and_then(|name| self.names.get(name));
        let known = known.and_then(|id| self.content.jobs.iter().find(|job| job.id == *id));
        match (known, result) {
            (Some(known), Err(JournalError::NameInUse { job, .. })) => {
                assert!(again && !known.state.has_ended());
                assert_eq!(known.id, job);
            }
            (Some(known), Err(JournalError::NameEnded { job, .. })) => {
                assert!(!again && known.state.has_ended());
                assert_eq!(known.id, job);
            }
            (Some(known), Ok(found)) if !known.state.has_ended() => {
                assert_eq!(found, (known.clone(), false))
            }
            (Some(known), Err(JournalError::NameTaken { job, .. })) => {
                assert_ne!(known.spec, spec(n));
                assert!(!again && !known.state.has_ended());
                assert_eq!(known.id, job);
            }
            (known, Ok((entry, true))) => {
                assert!(known.is_none() || again);
                self.names.extend(name.map(|name| (name.to_owned(), entry.id.clone())));
                assert_eq!((&entry.spec, entry.name.as_deref()), (&spec(n), name));
                assert_eq!(entry.order, self.place());
                self.content.layers.insert(entry.id.clone(), Vec::new());
                self.content.jobs.push(entry);
            }
            (_, result) => panic!("{result:?}"),
        }
    }

    fn checkpoint(&mut self, journal: &Journal, job: usize, lines: &[LayerRecord]) {
        let entry = &mut self.content.jobs[job];
        let stored = self.content.layers.get_mut(&entry.id).unwrap();
        let state = JobState::Stopped(StopReason::MaxLayers);
        let made = checkpoint(7);
        let result = journal.checkpoint(&entry.id, lines, |entry| {
            entry.state = state.clone();
            entry.checkpoint = Some(made.clone());
        });
        let first = lines.first().map_or(stored.len(), |line| line.depth as usize);
        if first > stored.len() {
            assert!(matches!(result, Err(JournalError::Gap { .. })), "{result:?}");
            return;
        }
        stored.truncate(first);
        stored.extend_from_slice(lines);
        (entry.state, entry.checkpoint) = (state, Some(made));
        entry.progress = (!stored.is_empty()).then(|| Totals::of_lines(stored));
        entry.ended = Some(NOW);
        assert_eq!(result.unwrap(), *entry);
    }

    fn requeue(&mut self, journal: &Journal, job: usize) {
        let mut entry = self.content.jobs.remove(job);
        let result = journal.requeue(&entry.id);
        if entry.state.may_resume() {
            (entry.state, entry.order, entry.cancel) = (JobState::Queued, self.place(), false);
            entry.ended = None;
            assert_eq!(result.unwrap(), entry);
            self.content.jobs.push(entry);
        } else {
            assert!(matches!(result, Err(JournalError::NotResumable { .. })), "{result:?}");
            self.content.jobs.insert(job, entry);
        }
    }

    /// Applies an operation to the model and the journal. The caller handles `Reopen` and `Kill`.
    fn apply(&mut self, journal: &Journal, op: Op) {
        let jobs = self.content.jobs.len();
        match op {
            Op::Register { id, address } => {
                self.register(journal, &format!("id-{id}"), &format!("h:{address}"));
            }
            Op::Epoch => {
                self.epoch += 1;
                assert_eq!(journal.next_epoch().unwrap(), self.epoch);
            }
            Op::Submit { n, name, again } => {
                let name = name.map(|name| format!("n-{name}"));
                self.submit(journal, n.into(), name.as_deref(), again);
            }
            Op::Update { job, seconds } if job < jobs => {
                let entry = &mut self.content.jobs[job];
                (entry.seconds, entry.cancel) = (seconds, true);
                let change = |entry: &mut JobEntry| {
                    (entry.seconds, entry.cancel) = (seconds, true);
                    7
                };
                assert_eq!(journal.update(&entry.id, change).unwrap(), (entry.clone(), 7));
            }
            Op::Checkpoint { job, first, lines, salt } if job < jobs => {
                let lines: Vec<LayerRecord> =
                    (first..first + lines).map(|depth| line(depth, salt)).collect();
                self.checkpoint(journal, job, &lines);
            }
            Op::Requeue { job } if job < jobs => self.requeue(journal, job),
            Op::Remove { job } if job < jobs => {
                let entry = &self.content.jobs[job];
                let result = journal.remove(&entry.id);
                if !entry.state.has_ended() {
                    assert!(matches!(result, Err(JournalError::NotEnded { .. })), "{result:?}");
                    return;
                }
                let entry = self.content.jobs.remove(job);
                assert_eq!(result.unwrap(), entry);
                self.content.layers.remove(&entry.id);
                for worker in &self.content.workers {
                    let removed = self.content.removed.entry(worker.number).or_default();
                    removed.insert(entry.id.clone());
                }
            }
            Op::Confirm { worker } => {
                let jobs = self.content.removed.remove(&worker).unwrap_or_default();
                journal.confirm_removals(&[(worker, jobs.into_iter().collect())]).unwrap();
            }
            _ => {}
        }
        let state = |job: &JobEntry| {
            let state = EndState::of(&job.state)?;
            Some(EndedJob { id: job.id.clone(), ended: NOW, state })
        };
        self.content.ended = self.content.jobs.iter().filter_map(state).collect();
        self.content.ended.sort_unstable_by(|a, b| a.id.cmp(&b.id));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn the_journal_agrees_with_a_model(ops in prop::collection::vec(op(), 1..40)) {
        let folder = tempfile::tempdir().unwrap();
        let path = |generation: usize| folder.path().join(format!("{generation}.redb"));
        let mut generation = 0;
        let mut journal = open(&path(0)).unwrap();
        let content_now = content(&journal).unwrap();
        let mut model = Model { content: content_now, names: BTreeMap::new(), epoch: 0, order: 0 };
        for op in ops {
            match op {
                Op::Reopen => {
                    drop(journal);
                    journal = open(&path(generation)).unwrap();
                }
                Op::Kill => {
                    // A crash leaves the file as it is while open.
                    std::fs::copy(path(generation), path(generation + 1)).unwrap();
                    generation += 1;
                    journal = open(&path(generation)).unwrap();
                }
                op => model.apply(&journal, op),
            }
            prop_assert_eq!(&content(&journal).unwrap(), &model.content);
        }
    }
}
