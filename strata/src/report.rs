//! Report of a finished search: its result, layers and paths.

use strata_space::Digest;
use strata_store::LayerRecord;

use strata_run::{
    CancelToken, Error, Finished, Job, LayerView, ListedState, LookUpAnswer, LookUpOptions, Moves,
    PathOutcome, Result, Totals,
};

/// The result of a finished search.
///
/// It holds the lock of the data directory. A temporary data directory is removed when it is dropped.
#[derive(Debug)]
pub struct Report {
    job: Job,
    finished: Finished,
    layers: Vec<LayerRecord>,
}

impl Report {
    pub(crate) fn new(job: Job, finished: Finished) -> Result<Report> {
        Ok(Report { layers: job.layers()?, job, finished })
    }

    /// The least number of moves from start to goal; None if there is no goal or it is unreachable.
    pub fn moves(&self) -> Option<u64> {
        self.finished.result.moves
    }

    /// The largest depth with a position: the radius of the space if all of it was searched. Spaces in
    /// which some states stand for no position may have deeper [layers](Self::layers).
    pub fn radius(&self) -> u32 {
        self.finished.totals.radius
    }

    /// States of all layers.
    pub fn states(&self) -> u64 {
        self.finished.totals.states
    }

    /// Number of positions that the states stand for: equal to the number of states without symmetry, and
    /// 0 if the space does not count positions.
    pub fn positions(&self) -> u64 {
        self.finished.totals.positions
    }

    /// Digest of all layers. It is independent of threads, workers, shards and interruptions.
    pub fn digest(&self) -> Digest {
        self.finished.totals.digest
    }

    /// The layers, from depth 0.
    pub fn layers(&self) -> &[LayerRecord] {
        &self.layers
    }

    /// Sums over the layers, with the width of the widest layer and the disk space used.
    pub fn totals(&self) -> &Totals {
        &self.finished.totals
    }

    /// Search time in seconds, over all runs.
    pub fn seconds(&self) -> f64 {
        self.finished.result.seconds
    }

    /// The job's folder.
    pub fn folder(&self) -> &std::path::Path {
        self.job.folder()
    }

    /// The moves of a shortest solution.
    ///
    /// A path of the explicit engine is traced back through the layers if the search kept all of them.
    /// Otherwise parts of it are searched again, which requires a puzzle with the parameters `start` and
    /// `goal`. The symbolic engine searches again, and so does the dense engine without kept layers.
    ///
    /// # Errors
    /// [`Error::NoPath`] if the search has no goal or did not reach it, or the puzzle does not name its
    /// moves; [`Error::LayersNotKept`] if layers are missing.
    pub fn path(&self) -> Result<Moves> {
        if self.moves().is_none() {
            return Err(Error::NoPath("the search has reached no goal: there is no path".into()));
        }
        match self.job.path(&CancelToken::new())? {
            PathOutcome::Found(path) => Ok(path.moves),
            PathOutcome::Stopped(reason) => Err(Error::Stopped { reason, depth: self.radius() }),
        }
    }

    /// The moves of a shortest path from the start to a state that [`Self::layer`] lists. If the state
    /// stands for several positions, the path leads to one of them.
    ///
    /// # Errors
    /// [`Error::LayersNotKept`] unless the search was run with `keep_layers(KeepLayers::All)`, or is an
    /// undirected dense search that fits the memory; [`Error::NoPath`] if no layer holds the state.
    pub fn path_to(&self, state: &ListedState) -> Result<Moves> {
        self.job.path_to(state)
    }

    /// The distances of states from the start, in the order of the states: given in the space's text form, or
    /// in any notation that the puzzle takes, such as the moves that lead to them. With them, if `wanted`,
    /// numbers of shortest ways and ways. Each layer is read once for all states.
    ///
    /// ```
    /// use strata::{KeepLayers, Search, LookUpOptions};
    ///
    /// let search = Search::named("pancake", [("n", "5")]).keep_layers(KeepLayers::All);
    /// let report = search.run()?;
    /// let wanted = LookUpOptions { ways: true, ..LookUpOptions::default() };
    /// let [flipped, solved] = &*report.look_up(wanted, ["1 2 3 5 4", "1 2 3 4 5"])? else { panic!() };
    /// assert_eq!((flipped.depth, solved.depth), (Some(3), Some(0)));
    /// assert_eq!(flipped.ways, Some(1_u8.into()));
    /// # Ok::<(), strata::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::LayersNotKept`] unless the search was run with `keep_layers(KeepLayers::All)`,
    /// [`Error::Space`] if a state is not one, [`Error::LookUpMemory`] if ways do not fit the memory.
    pub fn look_up(
        &self,
        wanted: LookUpOptions,
        states: impl IntoIterator<Item: AsRef<str>>,
    ) -> Result<Vec<LookUpAnswer>> {
        self.job.look_up(wanted, states)
    }

    /// A layer, to be counted, listed or sampled. The last two layers are always available, others if they
    /// were kept. A layer of a symbolic search that is not held is computed again.
    ///
    /// # Errors
    /// [`Error::LayerNotHeld`] or [`Error::NoLayer`] if there is no such layer.
    pub fn layer(&self, depth: u32) -> Result<LayerView> {
        let last = self.finished.totals.depth;
        if depth > last {
            return Err(Error::NoLayer { depth, last });
        }
        self.job.layer(depth)
    }
}
