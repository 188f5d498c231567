//! `strata solve tiles --moves clockwise`: shortest solutions without counterclockwise turns.
//!
//! Such moves have no inverse, which the search on disk requires. This search runs in memory,
//! backwards from the goal, on one thread.

use std::time::Instant;

use strata::FoundPath;
use strata::catalogue::Parameters;
use strata::forecast::Forecast;
use strata::memory;
use strata_tiles::{Board, Choices, Clockwise, ClockwiseError, Level, Shape, Solvability, Word};

use super::extras::MemoryRun;
use super::tiles;
use crate::args::path::PathForm;
use crate::output::events::{self, Event, Outcome};
use crate::output::exit::{ExitCode, Failure};
use crate::output::json;
use crate::output::progress::Progress;
use crate::output::units;
use crate::spaces::moves;

/// Engine in the events; not a value of `--engine`.
const ENGINE: &str = "in-memory";

/// Flags that do not apply to a search in memory.
pub(super) const UNSUPPORTED: [&str; 12] = [
    "threads",
    "workers",
    "data-dir",
    "disk-limit",
    "max-layers",
    "resume",
    "checkpoint-interval",
    "keep-layers",
    "shards",
    "symmetry",
    "k",
    "ui",
];

/// The search, checked.
struct Task {
    start: Board,
    goal: Board,
    choices: Choices,
    exhaust: bool,
}

/// Searches.
pub(super) fn run(run: &MemoryRun<'_>) -> Result<ExitCode, Failure> {
    let task = Task::read(run.given)?;
    if let Some(form) = run.path {
        form.check_for_goal(task.exhaust)?;
    }
    task.run(run)
}

impl Task {
    fn read(given: &Parameters) -> Result<Task, Failure> {
        let word = |name: &str| given.get(name).map(|value| value.trim());
        let shape: Shape = word("size").unwrap_or_default().parse().map_err(Failure::usage)?;
        let board = |name: &str| match word(name) {
            None | Some("sorted") => Ok(Board::goal(shape)),
            Some(text) => Board::parse(text, shape)
                .map_err(|error| Failure::usage(format!("{name} is not a board: {error}"))),
        };
        let exhaust = word("exhaust") == Some("true");
        if exhaust && given.contains_key("start") {
            let message = "start does not apply: an exhaustive search with clockwise moves starts from \
                           every board and ends at the goal";
            return Err(Failure::usage(message));
        }
        let choices = match word("choices") {
            None | Some("free") => Choices::Free,
            Some("limited") => Choices::Side,
            Some("bottom") => Choices::Bottom,
            Some(other) => {
                let message = format!("choices must be free, limited or bottom, not '{other}'");
                return Err(Failure::usage(message));
            }
        };
        let (start, goal) = (board("start")?, board("goal")?);
        if Solvability::of(&start).is_solvable() != Solvability::of(&goal).is_solvable() {
            let message = format!("{goal} cannot be reached from {start}: their parities differ");
            return Err(Failure::new(ExitCode::NoGoal, message));
        }
        Ok(Task { start, goal, choices, exhaust })
    }

    /// Name of the rules.
    fn rules(&self) -> &'static str {
        match self.choices {
            Choices::Free => "clockwise",
            Choices::Side => "clockwise, choices limited",
            Choices::Bottom => "clockwise, choices on the bottom row",
        }
    }

    /// The parameters in force.
    fn parameters(&self) -> Parameters {
        let Task { start, goal, choices, exhaust } = self;
        let choices = match choices {
            Choices::Free => "free",
            Choices::Side => "limited",
            Choices::Bottom => "bottom",
        };
        let mut pairs = vec![
            ("size", goal.shape().to_string()),
            ("goal", goal.to_string()),
            ("exhaust", exhaust.to_string()),
            ("moves", "clockwise".to_owned()),
            ("choices", choices.to_owned()),
        ];
        if !exhaust {
            pairs.push(("start", start.to_string()));
        }
        pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// The event that starts the run.
    fn job(&self, memory: u64) -> Event {
        Event::Job(events::Job {
            // There is no folder to name it after.
            job: format!("tiles-{}", self.goal.shape()),
            space: "tiles".to_owned(),
            params: json::parameters(&self.parameters()),
            engine: ENGINE,
            engine_reason: "--moves clockwise needs it".to_owned(),
            shards: 1,
            data_dir: String::new(),
            threads: 1,
            workers: 1,
            memory_bytes: memory,
            resumed_from: None,
        })
    }

    fn run(&self, run: &MemoryRun<'_>) -> Result<ExitCode, Failure> {
        let started = Instant::now();
        let refused = |ClockwiseError::Memory { shape, bytes }: ClockwiseError| {
            let bytes = bytes.map_or("more than 2^64 bytes".to_owned(), units::bytes);
            Failure::usage(format!("--memory: clockwise moves on {shape} squares take {bytes}"))
        };
        let search = Clockwise::new(&self.goal, self.choices, run.path.is_some(), run.memory);
        let mut search = search.map_err(refused)?;
        let progress = Progress::start(run.console, &Forecast::default());
        progress.emit(&self.job(run.memory));
        let mut sums = Sums::default();
        let mut last = Instant::now();
        // Empty layers are emitted only if a layer with a board follows.
        let mut empty = Vec::new();
        while let Some(level) = search.advance() {
            sums.add(level);
            empty.push(sums.layer(level, last.elapsed().as_secs_f64()));
            last = Instant::now();
            if level.boards > 0 {
                empty.drain(..).for_each(|layer| progress.emit(&layer));
            }
            if !self.exhaust && search.reaches(&self.start) {
                sums.found = Some(level.depth.into());
                break;
            }
        }
        let outcome = match sums.found {
            Some(_) => Outcome::Goal,
            None if self.exhaust => Outcome::Exhausted,
            None => Outcome::NoGoal,
        };
        let seconds = started.elapsed().as_secs_f64();
        progress.emit(&Event::Result(self.summary(&sums, outcome, seconds)));
        if let Some(form) = run.path.filter(|_| outcome == Outcome::Goal) {
            self.show(&search, form, &progress)?;
        }
        progress.finish()?;
        Ok(if outcome == Outcome::NoGoal { ExitCode::NoGoal } else { ExitCode::Done })
    }

    fn summary(&self, sums: &Sums, outcome: Outcome, seconds: f64) -> events::Summary {
        let (start, goal, rules) = (&self.start, &self.goal, self.rules());
        let depth = sums.longest.depth;
        let title = match sums.found {
            Some(moves) => format!("distance({start} to {goal}), {rules} = {moves}"),
            None if self.exhaust => format!(
                "{goal}, {rules}: {} boards, at most {depth} moves (needed by {})",
                units::count(sums.boards),
                units::count(sums.longest.boards)
            ),
            None => format!("{goal} cannot be reached from {start}, {rules}"),
        };
        events::Summary {
            outcome,
            moves: sums.found,
            layers: depth,
            states: sums.boards,
            positions: Some(sums.boards),
            generated: sums.states,
            widest: sums.widest.boards,
            widest_depth: sums.widest.depth,
            digest: String::new(),
            seconds,
            peak_rss_bytes: memory::peak(),
            peak_rss_worker: None,
            disk_peak_bytes: 0,
            spilled_bytes: 0,
            bytes_per_state: None,
            title,
        }
    }

    fn show(
        &self,
        search: &Clockwise,
        form: &PathForm,
        progress: &Progress,
    ) -> Result<(), Failure> {
        let bug = || Failure::new(ExitCode::Unexpected, "the walk is not in the layers");
        let word: Word = search.walk(&self.start).ok_or_else(bug)?;
        let mut end = self.start.clone();
        let mut path = FoundPath { moves: Vec::new(), positions: vec![end.to_string()] };
        let is_walk = word.iter().all(|mv| {
            let is_possible = end.step(*mv);
            path.moves.push(mv.to_string());
            path.positions.push(end.to_string());
            is_possible
        });
        if !is_walk || end != self.goal {
            return Err(Failure::new(ExitCode::Unexpected, format!("the walk ends at {end}")));
        }
        moves::emit(tiles::show(&word, form.path_format), path, form, progress)
    }
}

/// Sums over the layers so far.
#[derive(Default)]
struct Sums {
    boards: u64,
    states: u64,
    found: Option<u64>,
    /// The last layer with a board.
    longest: Layer,
    /// The layer with most boards.
    widest: Layer,
}

#[derive(Clone, Copy, Default)]
struct Layer {
    depth: u32,
    boards: u64,
}

impl Sums {
    fn add(&mut self, level: Level) {
        let Level { depth, boards, states } = level;
        self.boards += boards;
        self.states += states;
        let layer = Layer { depth, boards };
        if boards > 0 {
            self.longest = layer;
        }
        if boards > self.widest.boards {
            self.widest = layer;
        }
    }

    fn layer(&self, level: Level, seconds: f64) -> Event {
        Event::Layer(events::Layer {
            depth: level.depth,
            states: level.boards,
            positions: Some(level.boards),
            generated: level.states,
            regions: 0,
            bytes: 0,
            digest: String::new(),
            seconds,
            total_states: self.boards,
            replayed: false,
        })
    }
}
