//! Properties of a job's space that the coordinator needs.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use strata_run::catalogue::Registry;
use strata_run::forecast::Forecast;
use strata_space::dense::DenseFolding;
use strata_space::{Finish, SpaceError};
use strata_store::{EngineKind, JobSpec};

use crate::entry::{JobEntry, JobOptions};

/// Properties of a job's space that a session needs.
#[derive(Clone, Debug)]
pub(crate) struct SpaceInfo {
    /// The condition that ends the search.
    pub(crate) rule: Finish<()>,
    /// Whether the search has a goal.
    pub(crate) has_goal: bool,
    /// Whether some moves may have no inverse.
    pub(crate) is_directed: bool,
    /// Whether a state of the dense engine may stand for several positions.
    pub(crate) is_folded: bool,
    /// A depth at which the search ends at the latest, if one is known.
    pub(crate) expected_layers: Option<u32>,
    /// What is known in advance about the size of the search.
    pub(crate) forecast: Forecast,
}

impl SpaceInfo {
    /// Opens the space, which takes milliseconds, or up to seconds if symmetries are chosen for it.
    ///
    /// # Errors
    /// If the space does not exist, refuses its parameters, or is not supported by the engine.
    pub(crate) fn open(
        puzzles: &Registry,
        spec: &JobSpec,
        options: &JobOptions,
    ) -> Result<SpaceInfo, SpaceError> {
        let space = puzzles.open(&spec.space, &spec.params)?;
        if spec.engine.is_explicit() {
            space.check_explicit()?;
        }
        let (rule, is_folded, is_directed) = if spec.engine.is_dense() {
            let size = space.dense_size()?;
            let rule = if size.has_goal { Finish::State(()) } else { Finish::Exhausted };
            (rule, matches!(size.folding, DenseFolding::On { .. }), !size.is_undirected)
        } else {
            (space.finish().rule(), false, !space.state_space().is_undirected())
        };
        let forecast = Forecast::new(&space, spec.engine, options.max_layers);
        let expected_layers = space.expected_layers();
        let has_goal = space.has_goal();
        Ok(SpaceInfo { rule, has_goal, is_directed, is_folded, expected_layers, forecast })
    }
}

/// Cache of the properties of jobs' spaces. A space is opened once for all its jobs, and one space at a
/// time: opening a space may take seconds, and clients may request a job often.
#[derive(Debug, Default)]
pub(crate) struct SpaceInfos {
    known: Mutex<HashMap<Key, Arc<SpaceInfo>>>,
    opening: Mutex<()>,
}

/// What the properties depend on: name and parameters of the space, the engine, and the layer at which the
/// job stops.
type Key = (String, BTreeMap<String, String>, EngineKind, Option<u32>);

/// Most entries of the cache; beyond this, all are dropped.
const MOST: usize = 1024;

impl SpaceInfos {
    /// The properties of a job's space.
    ///
    /// # Errors
    /// As [`SpaceInfo::open`].
    pub(crate) fn of(
        &self,
        puzzles: &Registry,
        entry: &JobEntry,
    ) -> Result<Arc<SpaceInfo>, SpaceError> {
        let JobSpec { space, params, engine, .. } = &entry.spec;
        let key = (space.clone(), params.clone(), *engine, entry.options.max_layers);
        let find = || lock(&self.known).get(&key).map(Arc::clone);
        if let Some(found) = find() {
            return Ok(found);
        }
        let _opening = lock(&self.opening);
        if let Some(found) = find() {
            return Ok(found);
        }
        let opened = Arc::new(SpaceInfo::open(puzzles, &entry.spec, &entry.options)?);
        let mut known = lock(&self.known);
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(key, Arc::clone(&opened));
        Ok(opened)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use strata_store::EngineKind;

    use super::*;
    use crate::journal::operations::Journal;

    #[test]
    fn a_space_is_opened_once_for_all_jobs_with_an_engine() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(&folder.path().join("journal")).unwrap();
        let spec = JobSpec {
            space: "hanoi".to_owned(),
            params: [("discs".to_owned(), "3".to_owned())].into(),
            shards: 1,
            engine: EngineKind::Explicit,
        };
        let submit = || journal.submit("hanoi", None, spec.clone(), JobOptions::default(), 7, None);
        let (job, other) = (submit().unwrap().0, submit().unwrap().0);
        let infos = SpaceInfos::default();
        let opened = infos.of(&Registry::shipped(), &job).unwrap();
        // Without puzzles no space can be opened.
        let none = Registry::new([]);
        assert!(Arc::ptr_eq(&infos.of(&none, &job).unwrap(), &opened));
        assert!(Arc::ptr_eq(&infos.of(&none, &other).unwrap(), &opened));
        let mut changed = job.clone();
        changed.spec.engine = EngineKind::Dense;
        assert!(infos.of(&none, &changed).is_err());
        let mut shorter = job.clone();
        shorter.options.max_layers = Some(1);
        assert!(infos.of(&none, &shorter).is_err());
        let mut larger = job.clone();
        larger.spec.params.insert("discs".to_owned(), "4".to_owned());
        assert!(infos.of(&none, &larger).is_err());
    }

    #[test]
    fn a_space_that_cannot_be_opened_is_an_error() {
        let mut spec = JobSpec {
            space: "nowhere".to_owned(),
            params: Default::default(),
            shards: 1,
            engine: EngineKind::Explicit,
        };
        let options = JobOptions::default();
        let open = |spec: &JobSpec| SpaceInfo::open(&Registry::shipped(), spec, &options);
        assert!(open(&spec).unwrap_err().to_string().contains("nowhere"));
        "hanoi".clone_into(&mut spec.space);
        spec.params.insert("discs".to_owned(), "3".to_owned());
        assert!(open(&spec).is_ok());
    }
}
