//! Expected cost of a job of a cluster.

use strata::forecast::{Expected, Resources};
use strata_proto::v1;
use strata_store::EngineKind;

use crate::client::record;
use crate::client::remote::Remote;
use crate::output::console::Console;
use crate::output::exit::Failure;
use crate::output::forecast::{self, Search};
use crate::spaces::program;

/// Prints what a job is expected to cost on the workers of the cluster.
///
/// # Errors
/// If the cluster cannot be reached, or standard output failed.
pub(crate) fn print(job: &v1::Job, remote: &Remote<'_>, console: &Console) -> Result<(), Failure> {
    let spec = record::spec(job);
    let space = program::puzzles().open(spec.space, &spec.parameters).map_err(Failure::usage)?;
    let search = Search { label: &space.label(), engine: spec.engine, reason: &job.engine_reason };
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
        (alive().map(|worker| worker.threads).sum(), alive().map(|w| w.memory_bytes).sum())
    };
    Resources { threads: threads.max(1) as usize, memory, keep }
}

#[cfg(test)]
mod tests {
    use strata::KeepLayers;

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
