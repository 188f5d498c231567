//! Expected cost of a job of a cluster.

use std::collections::HashMap;

use strata_proto::v1;
use strata_run::forecast::{Expected, Resources};
use strata_store::EngineKind;

use crate::client::record;
use crate::client::remote::Remote;
use crate::output::console::Console;
use crate::output::exit::Failure;
use crate::output::forecast::{self, Search};
use crate::program;

/// Prints what a job is expected to cost on the workers of the cluster.
///
/// # Errors
/// If the cluster cannot be reached, or standard output failed.
pub(crate) fn print(job: &v1::Job, remote: &Remote<'_>, console: &Console) -> Result<(), Failure> {
    let spec = record::spec(job);
    let space = program::puzzles().open(spec.space, &spec.parameters).map_err(Failure::usage)?;
    let reason = &record::engine_reason(job);
    let search = Search { label: &space.label(), engine: spec.engine, reason };
    forecast::print(&search, &expected(job, &remote.workers()?), console)
}

/// Logs what a job is expected to cost, if it is large.
///
/// # Errors
/// If the cluster cannot be reached.
pub(crate) fn announce(job: &v1::Job, remote: &Remote<'_>) -> Result<(), Failure> {
    forecast::announce(&expected(job, &remote.workers()?));
    Ok(())
}

fn expected(job: &v1::Job, workers: &[v1::WorkerInfo]) -> Expected {
    record::forecast(job).expected(&resources(record::spec(job).engine, workers, job))
}

/// Threads and memory of the workers that an engine uses: the symbolic engine uses the largest one,
/// the others use all.
fn resources(engine: EngineKind, workers: &[v1::WorkerInfo], job: &v1::Job) -> Resources {
    let alive = || workers.iter().filter(|worker| worker.alive);
    let keep = record::kept(&job.options.unwrap_or_default());
    let (threads, memory) = if engine.is_symbolic() {
        let largest = alive().max_by_key(|worker| worker.memory_bytes);
        largest.map_or((1, 0), |worker| (worker.threads, worker.memory_bytes))
    } else {
        (busy_processors(alive()), alive().map(|w| w.memory_bytes).sum())
    };
    Resources { threads: threads.max(1) as usize, memory, keep }
}

/// Number of processors that the threads of these workers can keep busy. Workers of one machine
/// share its processors.
fn busy_processors<'a>(workers: impl Iterator<Item = &'a v1::WorkerInfo>) -> u32 {
    let mut busy = 0_u32;
    // Threads of the workers, and processors, by machine.
    let mut machines: HashMap<&str, (u32, u32)> = HashMap::new();
    for worker in workers {
        match worker.machine.as_ref().filter(|machine| !machine.id.is_empty()) {
            Some(machine) => {
                let (threads, processors) = machines.entry(&machine.id).or_default();
                *threads = threads.saturating_add(worker.threads);
                *processors = machine.processors.max(*processors);
            }
            None => busy = busy.saturating_add(worker.threads),
        }
    }
    for (threads, processors) in machines.into_values() {
        let most = if processors == 0 { u32::MAX } else { processors };
        busy = busy.saturating_add(threads.min(most));
    }
    busy
}

#[cfg(test)]
mod tests {
    use strata_run::KeepLayers;

    use super::*;

    fn worker(alive: bool, threads: u32, memory_bytes: u64) -> v1::WorkerInfo {
        v1::WorkerInfo { alive, threads, memory_bytes, ..Default::default() }
    }

    #[test]
    fn engines_use_the_largest_worker_or_all_of_them() {
        let workers =
            [worker(true, 2, 1 << 30), worker(true, 4, 4 << 30), worker(false, 8, 8 << 30)];
        let job = v1::Job::default();
        let found = |engine| {
            let Resources { threads, memory, keep } = resources(engine, &workers, &job);
            assert_eq!(keep, KeepLayers::Last);
            (threads, memory)
        };
        assert_eq!(found(EngineKind::Symbolic), (4, 4 << 30));
        assert_eq!(found(EngineKind::Explicit), (6, 5 << 30));
        assert_eq!(found(EngineKind::Dense), (6, 5 << 30));
    }

    #[test]
    fn workers_of_one_machine_share_its_processors() {
        let on = |id: &str, processors, threads| v1::WorkerInfo {
            machine: Some(v1::Machine { id: id.to_owned(), processors }),
            ..worker(true, threads, 1 << 30)
        };
        let all = [on("a", 2, 2), on("a", 2, 2), on("a", 2, 2), on("b", 8, 3), on("b", 8, 3)];
        let more = [on("", 1, 5), on("c", 0, 7), worker(true, 1, 1 << 30)];
        assert_eq!(busy_processors(all.iter()), 2 + 6);
        assert_eq!(busy_processors(all.iter().chain(&more)), 2 + 6 + 5 + 7 + 1);
    }

    #[test]
    fn a_job_of_known_size_has_an_expected_cost() {
        let parameters = [("level".to_owned(), "10".to_owned())].into();
        let spec = v1::JobSpec {
            space: "panex".to_owned(),
            parameters,
            shards: 64,
            engine: "explicit".to_owned(),
        };
        let job = v1::Job { spec: Some(spec), ..Default::default() };
        let expected = expected(&job, &[worker(true, 2, 1 << 30)]);
        assert_eq!(expected.layers, Some(15_769));
        assert!(expected.is_large());
    }
}
