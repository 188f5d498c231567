//! Choice of a job's engine by the budgets of the workers.

use strata_run::catalogue::Space;
use strata_run::{
    EngineChoice, EngineNeeds, KeepLayers, check_settings, choose_engine, default_shards,
};
use strata_store::EngineKind;

use super::context::Cluster;
use super::event::Level;
use super::membership::MemberView;
use crate::entry::{AutoEngine, EngineRecord, JobEntry, JobOptions, JobState};
use crate::journal::error::JournalError;

/// Resources of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WorkerBudget {
    /// Memory in bytes.
    pub(crate) memory: u64,
    /// Threads.
    pub(crate) threads: usize,
}

impl WorkerBudget {
    /// The budget assumed while there is no worker: the defaults of a worker on two cores.
    const ASSUMED: WorkerBudget = WorkerBudget { memory: 1 << 30, threads: 2 };

    /// The budget of the worker with the least memory, among those with a valid lease that are not
    /// leaving: any of them may get the job. `None` if there is none.
    pub(crate) fn least(members: &[MemberView]) -> Option<WorkerBudget> {
        let live = members.iter().filter(|member| member.alive && !member.beat.leaving);
        let least = live.min_by_key(|member| member.memory_bytes)?;
        Some(WorkerBudget { memory: least.memory_bytes, threads: least.threads.max(1) as usize })
    }
}

/// Chooses the engine for a job with these options, on workers with the budget `budget`; `None` stands
/// for the assumed budget. Returns the engine and the reason.
pub(crate) fn choose(
    space: &Space,
    auto: &AutoEngine,
    options: &JobOptions,
    budget: Option<WorkerBudget>,
) -> EngineChoice {
    let WorkerBudget { memory, threads } = budget.unwrap_or(WorkerBudget::ASSUMED);
    let settings: Vec<&str> = auto.settings.iter().map(String::as_str).collect();
    let needs = EngineNeeds {
        settings: &settings,
        path: false,
        memory,
        threads,
        disk_limit: options.disk_limit,
    };
    let EngineChoice { engine, mut reason } = choose_engine(space, &needs);
    if budget.is_none() {
        reason += "; to be chosen again when there is a worker";
    }
    EngineChoice { engine, reason }
}

/// Checks that an engine supports the options of a job.
///
/// # Errors
/// Names the option that the engine does not support, and an engine that supports it.
pub(crate) fn check_options(engine: EngineKind, options: &JobOptions) -> strata_run::Result<()> {
    let keeps = (options.keep != KeepLayers::Last).then_some("keep_layers");
    let limit = options.disk_limit.and(Some("disk_limit"));
    check_settings(engine, &[keeps, limit].into_iter().flatten().collect::<Vec<_>>())
}

/// Chooses the engine of a job that was submitted while there was no worker. Returns `None` while
/// there still is none.
///
/// # Errors
/// Those of the journal.
pub(crate) fn settle(cluster: &Cluster, entry: JobEntry) -> Result<Option<JobEntry>, JournalError> {
    let Some(auto) = entry.options.engine.auto.clone().filter(|auto| auto.is_open) else {
        return Ok(Some(entry));
    };
    let Some(budget) = WorkerBudget::least(&cluster.membership.members()) else {
        return Ok(None);
    };
    let spec = &entry.spec;
    // The queue reports a space that cannot be opened.
    let Ok(space) = cluster.options.puzzles.open(&spec.space, &spec.params) else {
        return Ok(Some(entry));
    };
    let EngineChoice { engine, reason } = choose(&space, &auto, &entry.options, Some(budget));
    let shards = match auto.default_shards {
        true => default_shards(engine, &space),
        false => entry.spec.shards,
    };
    let text = format!("engine {}: {reason}", engine.name());
    let (entry, settled) = cluster.journal.update(&entry.id, |entry| {
        // A resumed job, or one that was cancelled meanwhile, keeps its engine.
        let settles = entry.state == JobState::Queued && entry.progress.is_none();
        if settles {
            (entry.spec.engine, entry.spec.shards) = (engine, shards);
            let auto = Some(AutoEngine { is_open: false, ..auto });
            entry.options.engine = EngineRecord { reason, auto };
        }
        settles
    })?;
    if settled {
        cluster.job(&entry.id).log(Level::Info, &text);
    }
    Ok(Some(entry))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use strata_proto::v1;
    use strata_run::catalogue::Registry;
    use strata_space::Parameters;
    use strata_store::JobSpec;
    use tokio::sync::mpsc;

    use super::*;
    use crate::cluster::context::ClusterOptions;
    use crate::cluster::job_view::JobViews;
    use crate::entry::WorkerEntry;
    use crate::journal::operations::Journal;

    fn member(memory_bytes: u64, alive: bool, leaving: bool) -> MemberView {
        let beat = v1::WorkerBeat { leaving, ..v1::WorkerBeat::default() };
        let entry = worker(0);
        let silent = Duration::ZERO;
        MemberView { entry, threads: 2, memory_bytes, machine: None, beat, alive, silent }
    }

    fn worker(number: u16) -> WorkerEntry {
        let (id, name, address) = (String::new(), String::new(), String::new());
        WorkerEntry { number, id, name, address, first_seen: 0, host: None }
    }

    #[test]
    fn the_least_budget_ignores_lost_and_leaving_workers() {
        let least = |members: &[MemberView]| WorkerBudget::least(members).map(|least| least.memory);
        assert_eq!(least(&[]), None);
        let (gone, leaving) = (member(1, false, false), member(2, true, true));
        assert_eq!(least(&[gone.clone(), leaving.clone()]), None);
        assert_eq!(
            least(&[gone, member(9, true, false), leaving, member(5, true, false)]),
            Some(5)
        );
    }

    #[test]
    fn a_symbolic_job_has_no_files_to_keep_or_to_limit() {
        let plain = JobOptions { max_layers: Some(7), ..JobOptions::default() };
        assert!(check_options(EngineKind::Symbolic, &plain).is_ok());
        let keeping = JobOptions { keep: KeepLayers::All, ..plain.clone() };
        let limited = JobOptions { disk_limit: Some(1), ..plain };
        for (options, setting) in [(keeping, "`keep_layers`"), (limited, "`disk_limit`")] {
            for engine in [EngineKind::Symbolic, EngineKind::SymbolicLean] {
                let why = check_options(engine, &options).unwrap_err().to_string();
                assert!(why.contains(setting) && why.ends_with("`engine` explicit does"), "{why}");
            }
            assert!(check_options(EngineKind::Explicit, &options).is_ok());
            assert!(check_options(EngineKind::Dense, &options).is_ok());
        }
    }

    /// A cluster with a queued search of Panex 10, submitted while there was no worker.
    fn cluster() -> (tempfile::TempDir, std::sync::Arc<Cluster>, JobEntry) {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(&folder.path().join("journal")).unwrap();
        let options = ClusterOptions::for_tests(Registry::shipped());
        let params = Parameters::from([("level".to_owned(), "10".to_owned())]);
        let space = options.puzzles.open("panex", &params).unwrap();
        let auto = AutoEngine { is_open: true, default_shards: true, ..AutoEngine::default() };
        let job_options = JobOptions::default();
        let EngineChoice { engine, reason } = choose(&space, &auto, &job_options, None);
        assert!(reason.ends_with("when there is a worker"), "{reason}");
        let engine_record = EngineRecord { reason, auto: Some(auto) };
        let job_options = JobOptions { engine: engine_record, ..job_options };
        let (space, params) = ("panex".to_owned(), space.parameters());
        let spec = JobSpec { space, params, shards: 64, engine };
        let entry = journal.submit("panex-10", None, spec, job_options, 0, None).unwrap().0;
        let views = JobViews::new(folder.path());
        (folder, Cluster::new(options, journal, views, 1), entry)
    }

    fn join(cluster: &Cluster, memory_bytes: u64) {
        let hello = v1::Hello { threads: 2, memory_bytes, ..v1::Hello::default() };
        cluster.membership.connect(worker(0), hello, mpsc::unbounded_channel().0);
    }

    #[test]
    fn the_engine_is_chosen_again_when_there_is_a_worker() {
        for (memory, engine) in [(1 << 30, EngineKind::Symbolic), (48 << 20, EngineKind::Explicit)]
        {
            let (_folder, cluster, entry) = cluster();
            assert_eq!(entry.spec.engine, EngineKind::Symbolic);
            assert_eq!(settle(&cluster, entry.clone()).unwrap(), None);
            join(&cluster, memory);
            let settled = settle(&cluster, entry.clone()).unwrap().unwrap();
            assert_eq!(settled.spec.engine, engine);
            assert!(!settled.options.engine.is_open());
            assert_eq!(cluster.journal.find(&entry.id).unwrap(), settled);
            // From now on it is fixed.
            assert_eq!(settle(&cluster, settled.clone()).unwrap(), Some(settled));
            let changed = cluster.journal.update(&entry.id, |entry| {
                entry.spec.engine = EngineKind::SymbolicLean;
            });
            assert!(matches!(changed, Err(JournalError::Fixed { .. })), "{changed:?}");
        }
    }

    #[test]
    fn a_job_of_the_same_name_may_have_another_chosen_engine() {
        let (_folder, cluster, entry) = cluster();
        let (journal, name) = (&cluster.journal, Some("ten".into()));
        let submit = |spec: JobSpec, options: &JobOptions| {
            journal.submit("panex-10", name, spec, options.clone(), 0, None)
        };
        let first = submit(entry.spec.clone(), &entry.options).unwrap().0;
        let other = JobSpec { engine: EngineKind::Explicit, shards: 9, ..entry.spec.clone() };
        let (again, is_new) = submit(other.clone(), &entry.options).unwrap();
        assert_eq!((again.id, is_new), (first.id, false));
        // A named engine must be the same.
        let refused = submit(other, &JobOptions::default()).unwrap_err();
        assert!(matches!(refused, JournalError::NameTaken { .. }), "{refused}");
    }
}
