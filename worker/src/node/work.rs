//! The thread that carries out orders, in order.

use std::collections::{HashMap, HashSet};
use std::num::NonZeroU32;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use strata_net::convert::{self, ConvertError};
use strata_proto::v1;
use strata_proto::v1::FailureKind;
use strata_proto::v1::answer::Outcome;
use strata_store::{EncodeOptions, EngineKind, JobDir, RealFs, StoreError};

use super::NodeError;
use super::epoch::Epoch;
use super::exchange::RemoteExchange;
use super::fetch;
use super::link::{Link, LinkOptions};
use super::shared::Shared;
use strata::SymbolicOptions;
use strata::{Budget, KeepLayers, LayerReport, Restore, Setup, SymbolicWorker, Work, Worker};

/// What is being worked on.
struct Active {
    epoch: Arc<Epoch>,
    worker: Box<dyn Work>,
    /// Where the other workers are.
    peers: HashMap<u16, String>,
}

/// Why an order could not be carried out.
struct Failed {
    kind: FailureKind,
    message: String,
}

impl From<StoreError> for Failed {
    fn from(error: StoreError) -> Failed {
        let kind = match &error {
            StoreError::Corrupt { .. } | StoreError::NotFound { .. } => FailureKind::Corrupt,
            StoreError::Memory { .. } => FailureKind::MemoryFull,
            _ if error.is_disk_full() => FailureKind::DiskFull,
            _ => FailureKind::Unspecified,
        };
        Failed { kind, message: error.to_string() }
    }
}

impl From<ConvertError> for Failed {
    fn from(error: ConvertError) -> Failed {
        Failed { kind: FailureKind::Unspecified, message: error.to_string() }
    }
}

fn unfit(message: impl ToString) -> Failed {
    Failed { kind: FailureKind::Unfit, message: message.to_string() }
}

/// Starts the thread; it ends when nobody can give orders any more.
pub(crate) fn start(shared: &Arc<Shared>) -> Result<Sender<v1::Order>, NodeError> {
    let (orders, received) = channel();
    let shared = Arc::clone(shared);
    let path = shared.options.data_dir.clone();
    let thread = std::thread::Builder::new().name("worker".to_owned());
    let started = thread.spawn(move || follow(&shared, &received));
    started.map_err(|source| StoreError::Io { op: "start a thread in", path, source })?;
    Ok(orders)
}

fn follow(shared: &Arc<Shared>, orders: &Receiver<v1::Order>) {
    let mut active = None;
    for order in orders {
        let (epoch, number) = (order.epoch, order.number);
        let done = catch_unwind(AssertUnwindSafe(|| obey(shared, &mut active, order)));
        let done = done.unwrap_or_else(|_| {
            // It has printed what happened; its state may be anything.
            active = None;
            Err(Failed { kind: FailureKind::Unspecified, message: "it panicked".to_owned() })
        });
        let outcome = done.unwrap_or_else(|failed| {
            // What fails outside shows up as an error of whatever was waiting for it.
            let trouble = active.as_ref().and_then(|active| active.epoch.trouble());
            let (kind, message) = trouble.unwrap_or((failed.kind, failed.message));
            tracing::warn!(epoch, order = number, "{message}");
            Outcome::Failure(v1::Failure { kind: kind.into(), message })
        });
        shared.answer(v1::Answer { epoch, order: number, outcome: Some(outcome) });
    }
}

fn obey(
    shared: &Arc<Shared>,
    active: &mut Option<Active>,
    order: v1::Order,
) -> Result<Outcome, Failed> {
    use v1::order::What;
    let noted = || Ok(Outcome::Noted(v1::Noted {}));
    if order.epoch < shared.newest() {
        let message = format!("epoch {} is over", order.epoch);
        return Err(Failed { kind: FailureKind::Fenced, message });
    }
    let (active, what) = match (order.what, active) {
        (Some(What::Prepare(prepare)), active) => {
            // The files of what went before must be free.
            shared.set_current(None);
            *active = None;
            let made = self::prepare(shared, order.epoch, prepare)?;
            shared.set_current(Some(Arc::clone(&made.epoch)));
            *active = Some(made);
            return noted();
        }
        (Some(What::Release(_)), active) => {
            shared.fence(order.epoch + 1);
            shared.set_current(None);
            *active = None;
            return noted();
        }
        (Some(what), Some(active)) if active.epoch.number == order.epoch => (active, what),
        _ => {
            let message = format!("epoch {} was not prepared here", order.epoch);
            return Err(Failed { kind: FailureKind::Fenced, message });
        }
    };
    step(shared, active, what)
}

/// Carries out an order of the epoch that is worked on.
fn step(
    shared: &Arc<Shared>,
    active: &mut Active,
    what: v1::order::What,
) -> Result<Outcome, Failed> {
    use v1::order::What;
    let noted = || Ok(Outcome::Noted(v1::Noted {}));
    match what {
        What::Seed(_) => layer(shared, active.worker.seed()?),
        What::Restore(restore) => {
            active.epoch.set_floor(restore.depth);
            let from = self::restore(shared, active, restore)?;
            layer(shared, active.worker.restore(&from)?)
        }
        What::Advance(advance) => {
            if advance.depth != active.worker.depth() + 1 {
                let message = format!(
                    "layer {} cannot follow layer {}",
                    advance.depth,
                    active.worker.depth()
                );
                return Err(Failed { kind: FailureKind::Unspecified, message });
            }
            active.epoch.set_floor(advance.depth);
            layer(shared, active.worker.advance()?)
        }
        What::Save(save) => {
            let records = active.worker.save()?;
            if let Some(store) = &shared.store {
                let upload = store.put_all(&shared.runtime, &active.epoch.folder, &records);
                upload.map_err(|message| Failed { kind: FailureKind::Peer, message })?;
            }
            let files = records.iter().map(convert::file_to).collect();
            Ok(Outcome::Saved(v1::SavedFiles { depth: save.depth, files }))
        }
        What::Saved(_) => {
            active.worker.saved()?;
            if let Some(store) = &shared.store {
                store.forget_others(&shared.runtime, &active.epoch.folder, active.epoch.own);
            }
            noted()
        }
        What::Prepare(_) | What::Release(_) => noted(),
    }
}

fn layer(shared: &Shared, report: LayerReport) -> Result<Outcome, Failed> {
    shared.depth.store(report.depth, Ordering::Relaxed);
    let LayerReport { depth, stats, bytes, kept, disk_bytes, disk_left, .. } = report;
    Ok(Outcome::Layer(v1::LayerReport {
        depth,
        states: stats.states,
        regions: stats.regions,
        generated: stats.generated,
        digest: Some(convert::digest_to(stats.digest)),
        met_odd: stats.odd,
        met_even: stats.even,
        found: stats.found,
        bytes,
        disk_peak_bytes: disk_bytes,
        disk_left_bytes: disk_left,
        spilled_bytes: report.spilled_bytes,
        kept: kept.map(|kept| convert::kept_to(&kept, depth)),
        waiting: report.waiting as u32,
    }))
}

fn prepare(shared: &Arc<Shared>, number: u64, prepare: v1::Prepare) -> Result<Active, Failed> {
    let own = shared.number.load(Ordering::Acquire) as u16;
    let spec = convert::spec_from(prepare.spec)?;
    let owners = convert::owners_from(prepare.owners, spec.shards)?;
    let space = shared.options.puzzles.open(&spec.space, &spec.params).map_err(unfit)?;
    let peers: HashMap<u16, String> = prepare
        .peers
        .into_iter()
        .filter_map(|peer| Some((u16::try_from(peer.number).ok()?, peer.address)))
        .collect();
    let mut members: Vec<u16> = owners.to_vec();
    members.sort_unstable();
    members.dedup();
    let threads = shared.options.threads;
    let budget =
        Budget::for_node(shared.options.memory, space.table_bytes(), threads, members.len());
    let budget = budget.map_err(|error| unfit(format!("--memory {error}")))?;
    let form = match spec.engine {
        EngineKind::Explicit => None,
        _ => Some(space.nested().map_err(unfit)?),
    };
    let folder = JobDir::attach(Arc::new(RealFs), &shared.options.data_dir, &prepare.job)?;
    let needed: HashSet<String> = prepare.files.into_iter().collect();
    folder.remove_others(|name| needed.contains(name))?;
    let keep = keep_layers(prepare.keep);
    let engine = Arc::new(space.engine(spec.shards));
    let encode = EncodeOptions::default();
    let setup = Setup {
        worker: usize::from(own),
        owners: Arc::clone(&owners),
        threads,
        budget,
        encode,
        keep,
        folder: folder.clone(),
    };
    let inbox = Arc::new(setup.inbox()?);
    let links = links(shared, number, own, &members, &peers, budget.outbox());
    let locals = engine.locals();
    let epoch =
        Arc::new(Epoch::new(number, own, folder, Arc::clone(&inbox), owners, locals, links));
    let exchange = RemoteExchange::new(Arc::clone(shared), Arc::clone(&epoch), encode);
    let worker: Box<dyn Work> = match form {
        None => Box::new(Worker::new(setup, engine, inbox, Arc::new(exchange))?),
        Some(form) => {
            let options = SymbolicOptions {
                memory: shared.options.memory as usize,
                keep_layers: false,
                digests: spec.engine == EngineKind::Symbolic,
                verify: 0,
                threads,
            };
            let folder = epoch.folder.clone();
            Box::new(SymbolicWorker::new(own.into(), folder, form, options)?)
        }
    };
    shared.depth.store(0, Ordering::Relaxed);
    Ok(Active { epoch, worker, peers })
}

/// Which layers to keep; a message that leaves it out means the last two.
fn keep_layers(keep: Option<v1::KeepLayers>) -> KeepLayers {
    match keep.and_then(|keep| keep.which) {
        Some(v1::keep_layers::Which::All(_)) => KeepLayers::All,
        Some(v1::keep_layers::Which::Every(step)) => {
            NonZeroU32::new(step).map_or(KeepLayers::Last, KeepLayers::Every)
        }
        Some(v1::keep_layers::Which::Last(_)) | None => KeepLayers::Last,
    }
}

/// Links to all other members of an epoch, each with a task that delivers.
fn links(
    shared: &Arc<Shared>,
    epoch: u64,
    own: u16,
    members: &[u16],
    peers: &HashMap<u16, String>,
    outbox: usize,
) -> HashMap<u16, Arc<Link>> {
    // Batches are much smaller on their way than in an outbox.
    let patience = Duration::from_millis(shared.lease_ms.load(Ordering::Acquire));
    let options = LinkOptions { bytes: outbox, patience };
    let others = members.iter().filter(|member| **member != own && members.contains(&own));
    let link = |to: &u16| {
        let link = Link::new(epoch, own, options);
        match peers.get(to) {
            Some(address) => {
                let (link, address) = (Arc::clone(&link), address.clone());
                shared.runtime.spawn(link.run(address, to.to_string(), shared.security.clone()));
            }
            None => link.close(FailureKind::Unspecified, &format!("worker {to} has no address")),
        }
        (*to, link)
    };
    others.map(link).collect()
}

/// Gets the files that this worker needs and has not, and tells what to load.
fn restore(shared: &Arc<Shared>, active: &Active, order: v1::Restore) -> Result<Restore, Failed> {
    let records = order.files.into_iter().map(convert::file_from);
    let records = records.collect::<Result<Vec<_>, _>>()?;
    let shards = active.epoch.owners.len() as u32;
    let owners_before = convert::owners_from(order.owners, shards)?;
    let own = active.epoch.own;
    let mine = active.epoch.owners.iter().zip(owners_before.iter());
    let sources: HashSet<u16> =
        mine.filter(|(now, _)| **now == own).map(|(_, before)| *before).collect();
    let mut retire = HashSet::new();
    for record in &records {
        let worker = record.worker as u16;
        if worker != own && sources.contains(&worker) {
            let file =
                fetch::Wanted { record, address: active.peers.get(&worker).map(String::as_str) };
            fetch::file(shared, &active.epoch, &file)
                .map_err(|(kind, message)| Failed { kind, message })?;
            retire.insert(record.file.clone());
        }
    }
    Ok(Restore {
        depth: order.depth,
        records,
        kept: order.kept.into_iter().collect(),
        owners_before,
        retire,
    })
}

/// Resident memory now and at most, in bytes; 0 where that cannot be told.
pub(crate) fn resident() -> (u64, u64) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().split(' ').next()?.parse::<u64>().ok()
    };
    let kib = |name| field(name).unwrap_or(0) * 1024;
    (kib("VmRSS:"), kib("VmHWM:"))
}

/// Room on the file system of a folder, in bytes; 0 where that cannot be told.
pub(crate) fn disk_free(path: &std::path::Path) -> u64 {
    rustix::fs::statvfs(path).map_or(0, |stat| stat.f_bavail * stat.f_frsize)
}
