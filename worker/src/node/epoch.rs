//! One epoch at a worker: the job, its inbox, the links to others, and whether it is over.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use strata_explicit::{Bounds, Inbox};
use strata_proto::v1::FailureKind;
use strata_store::{JobDir, Layer};

use super::link::Link;
use strata_store::Result;

/// See the module.
pub(crate) struct Epoch {
    pub(crate) number: u64,
    pub(crate) own: u16,
    pub(crate) folder: JobDir,
    pub(crate) inbox: Arc<Inbox>,
    /// Worker by shard.
    pub(crate) owners: Arc<[u16]>,
    /// Locals are below.
    pub(crate) locals: u32,
    /// By number of the other worker.
    pub(crate) links: HashMap<u16, Arc<Link>>,
    /// Exits of shallower layers have been used up.
    floor: AtomicU32,
    over: AtomicBool,
    /// The last batch that was accepted, by sender. Locked while a batch is being accepted.
    received: Mutex<HashMap<u16, Arc<tokio::sync::Mutex<u64>>>>,
    /// Why it cannot go on, if something outside this worker is the reason.
    trouble: Mutex<Option<(FailureKind, String)>>,
}

impl Epoch {
    pub(crate) fn new(
        number: u64,
        own: u16,
        folder: JobDir,
        inbox: Arc<Inbox>,
        owners: Arc<[u16]>,
        locals: u32,
        links: HashMap<u16, Arc<Link>>,
    ) -> Epoch {
        Epoch {
            number,
            own,
            folder,
            inbox,
            owners,
            locals,
            links,
            floor: AtomicU32::new(0),
            over: AtomicBool::new(false),
            received: Mutex::default(),
            trouble: Mutex::default(),
        }
    }

    /// It is over: whoever waits in it fails.
    pub(crate) fn fence(&self) {
        self.over.store(true, Ordering::Release);
        self.links.values().for_each(|link| link.close(FailureKind::Fenced, "the epoch is over"));
    }

    /// Whether it is over.
    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    /// Exits of layers before `depth` have been used up.
    pub(crate) fn set_floor(&self, depth: u32) {
        self.floor.store(depth, Ordering::Release);
    }

    /// Whether exits of a layer can still be of use here.
    pub(crate) fn expects(&self, depth: u32) -> bool {
        let floor = self.floor.load(Ordering::Acquire);
        (floor..=floor + 1).contains(&depth)
    }

    /// The last batch accepted from a worker.
    pub(crate) fn received(&self, from: u16) -> Arc<tokio::sync::Mutex<u64>> {
        let mut received = self.received.lock().unwrap_or_else(PoisonError::into_inner);
        received.entry(from).or_default().clone()
    }

    /// Takes a batch in.
    ///
    /// # Errors
    /// `Corrupt` if it is damaged or not for this worker; others if it has to be spilled and that
    /// fails.
    pub(crate) fn accept(&self, depth: u32, run: Vec<u8>, from: u16) -> Result<()> {
        let header = strata_explicit::run_header(self.folder.job(), depth);
        let image = Layer::from_bytes(run, &format!("batch of worker {from}"), &header)?;
        let owns = |shard: u32| self.owners.get(shard as usize) == Some(&self.own);
        self.inbox.accept_image(depth, image, &Bounds { owns: &owns, locals: self.locals })
    }

    /// Notes why the epoch cannot go on.
    pub(crate) fn note(&self, kind: FailureKind, why: &str) {
        let mut trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        trouble.get_or_insert_with(|| (kind, why.to_owned()));
    }

    /// Why it cannot go on, if something outside this worker is the reason.
    pub(crate) fn trouble(&self) -> Option<(FailureKind, String)> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
