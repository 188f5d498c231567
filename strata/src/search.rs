//! [`Search`]: builder and runner of a search in one process.

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

/// How layers are held during a search.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// Symbolic where the puzzle has a nested form and no option needs another engine; else dense
    /// where the puzzle has a dense form that fits the memory, or whose layers fit the disk; else
    /// explicit.
    #[default]
    Auto,
    /// Every state is stored on disk. Takes any puzzle, any number of workers, and little memory.
    Explicit,
    /// As decision diagrams, in memory.
    Symbolic,
    /// As a bit for each state of the space, in memory or by parts on disk. Takes puzzles with a dense
    /// form ([`Puzzle::dense`]).
    Dense,
}

type OnEvent<'a> = Box<dyn FnMut(&Event) + 'a>;

/// A breadth-first search of one puzzle in this process.
///
/// The search keeps its checkpoints in a data directory. Running the same search there again
/// resumes it, or returns its result if it is finished.
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
    /// A search of a puzzle, by any engine that takes it.
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

    /// Folder of the search's checkpoints. It holds one search; running the same search there again
    /// resumes it. By default a temporary folder, removed with the report.
    pub fn data_dir(mut self, dir: impl AsRef<Path>) -> Self {
        self.data_dir = Some(dir.as_ref().to_owned());
        self
    }

    /// Memory budget of everything that grows, such as `2GiB`. 1 GiB by default.
    ///
    /// A size that cannot be read is an error of [`Self::run`].
    pub fn memory(mut self, size: &str) -> Self {
        if let Some(bytes) = self.size("memory", size) {
            self.options.memory = bytes;
        }
        self
    }

    /// Threads of each worker, at least 1. One for each processor by default.
    pub fn threads(mut self, threads: usize) -> Self {
        self.options.threads = threads;
        self
    }

    /// Workers in this process, at least 1, with the explicit engine. 1 by default: threads of one
    /// worker share more than workers do.
    pub fn workers(mut self, workers: usize) -> Self {
        self.options.workers = workers;
        self.given.push("workers");
        self
    }

    /// Shards that the states are divided among, with the explicit engine; fixed for the life of a
    /// job. 64 by default.
    pub fn shards(mut self, shards: u32) -> Self {
        self.shards = Some(shards);
        self.given.push("shards");
        self
    }

    /// Time between checkpoints. 30 seconds by default.
    pub fn checkpoint_interval(mut self, interval: Duration) -> Self {
        self.options.checkpoint_interval = interval;
        self
    }

    /// Layers that stay on disk besides the last two, with the explicit or the dense engine. None by
    /// default; a dense search whose moves have no inverses keeps all.
    pub fn keep_layers(mut self, keep: KeepLayers) -> Self {
        self.options.keep_layers = keep;
        self.given.push("keep_layers");
        self
    }

    /// Depth at which to stop; a later run without this limit resumes.
    pub fn max_layers(mut self, depth: u32) -> Self {
        self.options.max_layers = Some(depth);
        self
    }

    /// Size on disk at which to stop, such as `10GiB`, with the explicit or the dense engine.
    ///
    /// A size that cannot be read is an error of [`Self::run`].
    pub fn disk_limit(mut self, size: &str) -> Self {
        self.options.disk_limit = self.size("disk_limit", size);
        self.given.push("disk_limit");
        self
    }

    /// The engine.
    pub fn engine(mut self, engine: Engine) -> Self {
        self.engine = engine;
        self
    }

    /// A handle that stops the search after the running layer, with a checkpoint.
    pub fn cancel_token(&self) -> CancelToken {
        self.cancel.clone()
    }

    /// Receives every event, on the thread that runs the search.
    pub fn on_event(mut self, on_event: impl FnMut(&Event) + 'a) -> Self {
        self.on_event = Box::new(on_event);
        self
    }

    /// Receives every complete layer, those of earlier runs first. Replaces [`Self::on_event`].
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
    /// [`Error::OtherSearch`] if the data directory holds another search, which stays as it is;
    /// [`Error::Stopped`] if a limit or the cancel token ended it early: run it again to resume;
    /// otherwise what failed.
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

/// The identity of the search. Engine and shards that were not chosen are those of the earlier job.
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

/// Limit of shards: job records and orders list the owner of every shard.
const MAX_SHARDS: u32 = 65_536;
