//! Builder of a search in one process.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use strata_space::{Puzzle, SpaceError};
use strata_store::{EngineKind, JobSpec, LayerRecord, Manifest};

use crate::report::Report;
use strata_run::catalogue::{Registry, Space};
use strata_run::size::parse_size;
use strata_run::{
    CancelToken, Ended, Error, Event, Jobs, KeepLayers, OpenSpace, Request, Result, RunControl,
    RunOptions, default_shards, differences, engine_of,
};

/// Engine of a search, which determines how layers are stored.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// The engine is chosen: symbolic if the puzzle has a nested form, no option needs another engine and
    /// the memory suffices; otherwise dense if the puzzle has a dense form that fits the memory or, for a
    /// search of the whole space, the disk; otherwise explicit.
    #[default]
    Auto,
    /// Layers are lists of states on disk. Supports any puzzle and any number of workers, with little
    /// memory.
    Explicit,
    /// Layers are decision diagrams in memory. Supports puzzles with a nested form ([`Puzzle::nested`]).
    Symbolic,
    /// Layers are sets of bits, one for each state of the space, in memory or by parts on disk. Supports
    /// puzzles with a dense form ([`Puzzle::dense`]).
    Dense,
}

type OnEvent<'a> = Box<dyn FnMut(&Event) + 'a>;

/// A breadth-first search of one puzzle in this process.
///
/// The search writes its checkpoints to a data directory. Running the same search there again resumes it,
/// or returns its result if it is finished.
///
/// ```
/// use strata::{
///     KeySpace, Keyed, NoNested, Parameter, Parameters, Puzzle, Search, Seed, SpaceError,
/// };
///
/// /// All words of `bits` bits; a move flips one.
/// struct Cube {
///     bits: u32,
/// }
///
/// impl KeySpace for Cube {
///     type Key = u64;
///     fn seeds(&self) -> Vec<Seed> {
///         vec![Seed::start(0)]
///     }
///     fn key_bits(&self) -> u32 {
///         self.bits
///     }
///     fn successors(&self, key: u64, out: &mut Vec<u64>) {
///         out.extend((0..self.bits).map(|bit| key ^ (1 << bit)));
///     }
///     fn text(&self, key: u64) -> String {
///         format!("{key:b}")
///     }
/// }
///
/// impl Puzzle for Cube {
///     type States = Keyed<Cube>;
///     type Nested = NoNested;
///     const NAME: &'static str = "cube";
///     const SUMMARY: &'static str = "corners of a cube of BITS dimensions";
///     const PARAMETERS: &'static [Parameter] = &[Parameter::positional("bits", "dimensions")];
///
///     fn open(parameters: &Parameters) -> Result<Cube, SpaceError> {
///         let bits = Cube::reader(parameters).number("bits")?.unwrap_or(8);
///         Ok(Cube { bits })
///     }
///     fn parameters(&self) -> Parameters {
///         [("bits".to_owned(), self.bits.to_string())].into()
///     }
/// }
///
/// # fn main() -> Result<(), strata::Error> {
/// let report = Search::new(Cube { bits: 10 }).threads(1).run()?;
/// assert_eq!((report.radius(), report.states()), (10, 1024));
/// # Ok(())
/// # }
/// ```
#[must_use = "a search does nothing until it is run"]
pub struct Search<'a> {
    space: std::result::Result<Space, Error>,
    open: OpenSpace,
    data_dir: Option<PathBuf>,
    engine: Engine,
    shards: Option<u32>,
    options: RunOptions,
    /// The settings that were given, by name.
    given: Vec<&'static str>,
    cancel: CancelToken,
    on_event: OnEvent<'a>,
}

impl<'a> Search<'a> {
    /// A search of a puzzle, with any engine that supports it.
    ///
    /// ```
    /// use strata::{Engine, Search};
    /// use strata_puzzles::Hanoi;
    ///
    /// # fn main() -> Result<(), strata::Error> {
    /// let hanoi = Hanoi::new(6, 3, false)?;
    /// for engine in [Engine::Explicit, Engine::Symbolic, Engine::Dense] {
    ///     let report = Search::new(hanoi.clone()).engine(engine).threads(1).run()?;
    ///     assert_eq!(report.moves(), Some(63));
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn new<P: Puzzle>(puzzle: P) -> Search<'a> {
        let open = |spec: &JobSpec| Space::new(P::open(&spec.params)?);
        Search::of(Space::new(puzzle), Arc::new(open))
    }

    /// A search of a puzzle that ships with Strata, by name and parameters. Missing parameters
    /// take their defaults; `strata domains` and docs/puzzles.md list them.
    ///
    /// ```
    /// # fn main() -> Result<(), strata::Error> {
    /// let report = strata::Search::named("panex", [("level", "3")]).threads(1).run()?;
    /// assert_eq!(report.moves(), Some(42));
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "puzzles")]
    pub fn named<'p>(
        name: &str,
        parameters: impl IntoIterator<Item = (&'p str, &'p str)>,
    ) -> Search<'a> {
        let parameters = parameters.into_iter().map(|(name, value)| (name.into(), value.into()));
        Search::registered(Arc::new(Registry::shipped()), name, &parameters.collect())
    }

    /// A search of a registered puzzle, by name and parameters.
    pub fn registered(
        registry: Arc<Registry>,
        name: &str,
        parameters: &strata_space::Parameters,
    ) -> Search<'a> {
        let space = registry.open(name, parameters);
        let name = name.to_owned();
        Search::of(space, Arc::new(move |spec: &JobSpec| registry.open(&name, &spec.params)))
    }

    fn of(space: std::result::Result<Space, SpaceError>, open: OpenSpace) -> Search<'a> {
        Search {
            space: space.map_err(Error::Space),
            open,
            data_dir: None,
            engine: Engine::Auto,
            shards: None,
            options: RunOptions::default(),
            given: Vec::new(),
            cancel: CancelToken::new(),
            on_event: Box::new(|_| {}),
        }
    }

    /// Data directory for the checkpoints of the search. It holds one search; running the same search there
    /// again resumes it. The default is a temporary directory, which is removed with the report.
    pub fn data_dir(mut self, dir: impl AsRef<Path>) -> Self {
        self.data_dir = Some(dir.as_ref().to_owned());
        self
    }

    /// Memory budget of the search, such as `2GiB`; 1 GiB by default.
    ///
    /// [`Self::run`] reports an invalid size.
    pub fn memory(mut self, size: &str) -> Self {
        if let Some(bytes) = self.size("memory", size) {
            self.options.memory = bytes;
        }
        self
    }

    /// Number of threads of each worker, at least 1; by default one for each processor.
    pub fn threads(mut self, threads: usize) -> Self {
        self.options.threads = threads;
        self
    }

    /// Number of workers in this process, at least 1, with the explicit or the dense engine; 1 by default.
    /// With [`Engine::Auto`], setting it selects the explicit engine. More threads of one worker are
    /// usually better than more workers, since they share memory.
    pub fn workers(mut self, workers: usize) -> Self {
        self.options.workers = workers;
        self.given.push("workers");
        self
    }

    /// Number of shards among which the states are divided, with the explicit or the dense engine; fixed for
    /// the life of a job. By default 64, but at most the number of blocks of a dense space. With
    /// [`Engine::Auto`], setting it selects the explicit engine.
    pub fn shards(mut self, shards: u32) -> Self {
        self.shards = Some(shards);
        self.given.push("shards");
        self
    }

    /// Time between checkpoints; 30 seconds by default.
    pub fn checkpoint_interval(mut self, interval: Duration) -> Self {
        self.options.checkpoint_interval = interval;
        self
    }

    /// Layers that stay on disk besides the last two, with the explicit or the dense engine. By default no
    /// others; a dense search with directed moves keeps all layers.
    pub fn keep_layers(mut self, keep: KeepLayers) -> Self {
        self.options.keep_layers = keep;
        self.given.push("keep_layers");
        self
    }

    /// Depth at which the search stops. A later run without this limit resumes it.
    pub fn max_layers(mut self, depth: u32) -> Self {
        self.options.max_layers = Some(depth);
        self
    }

    /// Size on disk, such as `10GiB`, before which the search stops, with the explicit or the dense engine.
    ///
    /// [`Self::run`] reports an invalid size.
    pub fn disk_limit(mut self, size: &str) -> Self {
        self.options.disk_limit = self.size("disk_limit", size);
        self.given.push("disk_limit");
        self
    }

    /// The engine; [`Engine::Auto`] by default.
    pub fn engine(mut self, engine: Engine) -> Self {
        self.engine = engine;
        self
    }

    /// A handle by which another thread can stop the search after the running layer, with a checkpoint.
    pub fn cancel_token(&self) -> CancelToken {
        self.cancel.clone()
    }

    /// Sets a function that receives every event, on the thread that runs the search.
    pub fn on_event(mut self, on_event: impl FnMut(&Event) + 'a) -> Self {
        self.on_event = Box::new(on_event);
        self
    }

    /// Sets a function that receives every complete layer, those of earlier runs first. Replaces the
    /// function of [`Self::on_event`].
    pub fn on_layer(self, mut on_layer: impl FnMut(&LayerRecord) + 'a) -> Self {
        self.on_event(move |event| {
            if let Event::Layer(event) = event {
                on_layer(&event.layer);
            }
        })
    }

    fn size(&mut self, option: &'static str, size: &str) -> Option<u64> {
        match parse_size(size) {
            Ok(bytes) => return Some(bytes),
            // The first error is kept.
            Err(error) if self.space.is_ok() => {
                self.space = Err(Error::Option { option, why: format!("'{size}': {error}") });
            }
            Err(_) => {}
        }
        None
    }

    /// Searches to the end, from the last checkpoint if there is one.
    ///
    /// # Errors
    /// [`Error::OtherSearch`] if the data directory holds another search, which is left unchanged;
    /// [`Error::Stopped`] if a limit or the cancel token stopped the search, which can be run again to
    /// resume; other errors of options, files and workers.
    pub fn run(self) -> Result<Report> {
        let started = Instant::now();
        let Search { space, open, data_dir, engine, shards, options, given, .. } = self;
        let (cancel, mut on_event) = (self.cancel, self.on_event);
        let space = space?;
        let jobs = match data_dir {
            Some(dir) => Jobs::lock(&dir)?,
            None => Jobs::temporary()?,
        };
        let earlier = jobs.only()?;
        let spec = specification(&space, (engine, shards), &given, &options, earlier.as_ref())?;
        let request = Request::with_spec(&space, spec, options)?;
        let mut job = match earlier {
            None => jobs.create(request, space, open)?,
            Some(manifest) if manifest.spec == *request.spec() => {
                jobs.resume(request, space, open)?
            }
            Some(manifest) => {
                let differences = differences(request.spec(), &manifest);
                return Err(Error::OtherSearch { dir: jobs.path().to_owned(), differences });
            }
        };
        let control = RunControl { cancel: &cancel, on_event: &mut *on_event, started };
        match job.run(control)? {
            Ended::Finished(finished) => Report::new(job, *finished),
            Ended::Stopped { reason, depth } => Err(Error::Stopped { reason, depth }),
        }
    }
}

/// The specification of the search. Engine and shards are those of the earlier job, unless they are set.
fn specification(
    space: &Space,
    (engine, shards): (Engine, Option<u32>),
    given: &[&str],
    options: &RunOptions,
    earlier: Option<&Manifest>,
) -> Result<JobSpec> {
    let (name, params) = (space.name().to_owned(), space.parameters());
    let earlier = earlier.map(|manifest| &manifest.spec);
    let earlier = earlier.filter(|spec| spec.space == name && spec.params == params);
    let named = match engine {
        Engine::Auto => None,
        Engine::Explicit => Some(EngineKind::Explicit),
        Engine::Symbolic => Some(EngineKind::Symbolic),
        Engine::Dense => Some(EngineKind::Dense),
    };
    let needs = options.engine_needs(given);
    let kind = engine_of(space, named, earlier.map(|spec| spec.engine), &needs)?.engine;
    let default = || default_shards(kind, space);
    let shards = shards.or(earlier.map(|spec| spec.shards)).unwrap_or_else(default);
    if !(1..=MAX_SHARDS).contains(&shards) {
        let why = format!("must be between 1 and {MAX_SHARDS}, not {shards}");
        return Err(Error::Option { option: "shards", why });
    }
    Ok(JobSpec { space: name, params, shards, engine: kind })
}

/// Maximum number of shards. Job records and orders list the owner of every shard.
const MAX_SHARDS: u32 = 65_536;
