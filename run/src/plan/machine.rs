//! Plan of a search: a state machine from reports of workers to commands.
//!
//! Workers make the layers of a *window* without the driver: one layer, or several if they synchronise among
//! themselves. Every window ends at a barrier, at which the driver passes the sums of all workers' reports to
//! the plan, layer by layer. A checkpoint or a stop that was requested meanwhile is executed there. A report
//! of another layer is refused and changes nothing.

use std::collections::VecDeque;
use std::fmt;

use strata_space::Finish;
use strata_store::{CheckpointFile, EngineKind, LayerRecord, LayerTotals};

use super::checks::{LayerRules, check_files, check_layer, check_older, check_restored, orbits};
use super::refusal::Refusal;
use super::report::LayerReport;
use super::sums::Totals;

/// Options of a plan.
#[derive(Clone, Debug)]
pub struct PlanOptions {
    /// What ends the search, besides running out of states.
    pub rule: Finish<()>,
    /// Stop at this depth.
    pub max_layers: Option<u32>,
    /// Stop before the job takes more bytes on disk than this.
    pub disk_limit: Option<u64>,
    /// The engine. The checkpoint of a symbolic search has one file, of its last layer. Lean engines do not
    /// count moves.
    pub engine: EngineKind,
    /// Whether a move need not have an inverse.
    pub is_directed: bool,
    /// Whether a state of the dense engine may stand for several positions. States of other engines always
    /// may.
    pub is_folded: bool,
    /// Whether each state of the engine is an orbit of the symmetries that the search uses.
    pub states_are_orbits: bool,
}

impl PlanOptions {
    /// Whether checkpoints have files of layers before the last two.
    fn needs_older(&self) -> bool {
        self.is_directed && !self.engine.is_symbolic()
    }
}

/// Starting point of a plan.
#[derive(Clone, Debug)]
pub enum Start {
    /// At the seeds.
    Seeds,
    /// At a checkpoint.
    Checkpoint(Box<ResumePoint>),
}

/// Figures of the checkpoint at which a plan begins.
#[derive(Clone, Debug)]
pub struct ResumePoint {
    /// Sums up to the checkpoint's last layer.
    pub totals: Totals,
    /// The checkpoint's last layer with states.
    pub last: LayerRecord,
    /// The layer before; `None` if there is none.
    pub previous: Option<LayerRecord>,
    /// Bytes of kept layers, which the workers do not report.
    pub kept_bytes: u64,
    /// Number of states in the checkpoint's files of older layers. A checkpoint from a search in which the
    /// space was undirected has none.
    pub older_states: u64,
}

/// Why a search stops early; it can be resumed.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// A stop was requested.
    Interrupted,
    /// The maximum depth is reached.
    MaxLayers,
    /// The next layer would not fit the limit.
    DiskLimit,
    /// The disk is full.
    DiskFull,
    /// The next layer does not fit the memory budget.
    MemoryFull,
    /// Shards are about to be reassigned; the search resumes at once.
    Moving,
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            StopReason::Interrupted => "interrupted",
            StopReason::MaxLayers => "the layer limit is reached",
            StopReason::DiskLimit => "the disk limit is reached",
            StopReason::DiskFull => "the disk is full",
            StopReason::MemoryFull => "the memory budget is used up",
            StopReason::Moving => "shards are being reassigned",
        })
    }
}

/// Outcome of a search.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The goal is this many moves away.
    Goal(u64),
    /// All reachable states are found.
    Exhausted,
    /// The search stopped early and can be resumed.
    Stopped(StopReason),
}

/// Input of the plan: an event.
#[derive(Clone, Debug)]
pub enum Input {
    /// All workers have seeded, restored or made the last layer of a window: the sum of their reports.
    Layer(Box<LayerReport>),
    /// All workers have made a layer and, in the same window, the next one, too: the sum of their reports.
    PassedLayer(Box<LayerReport>),
    /// A checkpoint is durable at all workers.
    Saved {
        /// The checkpoint's depth.
        depth: u32,
        /// The files of all workers.
        records: Vec<CheckpointFile>,
    },
    /// A publication is durable.
    Published {
        /// The checkpoint's depth.
        depth: u32,
    },
    /// It is time for a checkpoint.
    CheckpointDue,
    /// Stop at the end of the window.
    Stop(StopReason),
    /// No worker could make the running layer; all still have the two layers before it.
    AbandonLayer(StopReason),
}

/// A checkpoint that all workers have saved.
#[derive(Clone, Debug, PartialEq)]
pub struct Publication {
    /// Depth of the checkpoint's last layer. That layer is empty if the search ran out of states.
    pub depth: u32,
    /// The files of the checkpoint's layers, of all workers.
    pub records: Vec<CheckpointFile>,
    /// Sums up to the last layer with states.
    pub totals: Totals,
    /// The outcome of the search, if it ends with this checkpoint.
    pub ending: Option<Outcome>,
}

/// Output of the plan: a command to the driver.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// All workers: make layer 0.
    Seed,
    /// All workers: load the checkpoint.
    Restore,
    /// All workers: make the layers of a window.
    Advance {
        /// Depth of its first layer.
        depth: u32,
        /// Depth at which it ends at the latest.
        last: u32,
    },
    /// Record a complete layer. There is one such command for every layer, in order of depth.
    Commit(LayerRecord),
    /// All workers: make the last two layers durable.
    Save {
        /// Depth of the last layer.
        depth: u32,
    },
    /// Make the checkpoint durable, then notify the workers.
    Publish(Box<Publication>),
    /// End the search with this outcome.
    End(Outcome),
}

#[derive(Debug)]
enum Phase {
    /// Workers make a layer or load it.
    Layer { depth: u32, restored: bool },
    /// Workers make a checkpoint's files durable.
    Saving { depth: u32 },
    /// The driver makes a checkpoint durable.
    Publishing { publication: Box<Publication> },
    /// The plan is over.
    Ended,
}

/// The plan of one search.
#[derive(Debug)]
pub struct Plan {
    options: PlanOptions,
    phase: Phase,
    commands: VecDeque<Command>,
    totals: Totals,
    /// The last layer with states; `None` before layer 0.
    last: Option<LayerRecord>,
    /// The layer before it.
    previous: Option<LayerRecord>,
    /// Bytes on disk that workers do not report, and spilled bytes of earlier sessions.
    kept_bytes: u64,
    spilled_before: u64,
    /// States in the files of older layers of the checkpoint at which the plan began.
    older_states: u64,
    disk_left: u64,
    /// Peak of the bytes on disk while the last layer was made, spilled runs included.
    disk_peak: u64,
    checkpoint_due: bool,
    stop: Option<StopReason>,
    ending: Option<Outcome>,
}

impl Plan {
    /// A plan whose first command is [`Command::Seed`] or [`Command::Restore`].
    pub fn new(options: PlanOptions, start: Start) -> Plan {
        let mut plan = Plan {
            options,
            phase: Phase::Ended,
            commands: VecDeque::new(),
            totals: Totals::default(),
            last: None,
            previous: None,
            kept_bytes: 0,
            spilled_before: 0,
            older_states: 0,
            disk_left: 0,
            disk_peak: 0,
            checkpoint_due: false,
            stop: None,
            ending: None,
        };
        match start {
            Start::Seeds => plan.layer(0, Command::Seed),
            Start::Checkpoint(point) => {
                let ResumePoint { totals, last, previous, kept_bytes, older_states } = *point;
                plan.layer(last.depth, Command::Restore);
                plan.spilled_before = totals.spilled;
                plan.totals = totals;
                plan.last = Some(last);
                plan.previous = previous;
                plan.kept_bytes = kept_bytes;
                plan.older_states = older_states;
            }
        }
        plan
    }

    /// The next command; `None` while an input is awaited, and after the end.
    pub fn next_command(&mut self) -> Option<Command> {
        self.commands.pop_front()
    }

    /// Sums over the layers committed so far.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Handles an event.
    ///
    /// # Errors
    /// If the event does not fit the plan's state. A refused event changes nothing, except that some
    /// refusals, as documented there, end the plan.
    pub fn handle(&mut self, input: Input) -> Result<(), Refusal> {
        match input {
            Input::Layer(report) => self.reported(*report, true),
            Input::PassedLayer(report) => self.reported(*report, false),
            Input::Saved { depth, records } => self.saved(depth, records),
            Input::Published { depth } => self.published(depth),
            Input::AbandonLayer(reason) => self.abandon_layer(reason),
            Input::CheckpointDue => {
                self.checkpoint_due = true;
                Ok(())
            }
            Input::Stop(reason) => {
                self.stop.get_or_insert(reason);
                Ok(())
            }
        }
    }

    /// Handles the reports of all workers on a layer. `ends_window`: they wait for a command now.
    fn reported(&mut self, mut report: LayerReport, ends_window: bool) -> Result<(), Refusal> {
        let (depth, restored) = match self.phase {
            Phase::Layer { depth, restored } if ends_window || !restored => (depth, restored),
            _ => return Err(Refusal::NotRequested { what: "report of a layer" }),
        };
        let found = report.layer.depth;
        if found != depth {
            return Err(Refusal::WrongDepth { expected: depth, found });
        }
        self.check_layer(&mut report, restored).inspect_err(|_| self.phase = Phase::Ended)?;
        self.disk_left = self.kept_bytes.saturating_add(report.disk_left);
        self.disk_peak = self.kept_bytes.saturating_add(report.disk_peak);
        self.totals.disk_peak = self.totals.disk_peak.max(self.disk_peak);
        self.totals.spilled = self.spilled_before.saturating_add(report.spilled);
        if !restored {
            if report.layer.states == 0 && depth > 0 {
                self.ending = Some(Outcome::Exhausted);
            } else {
                self.commit(report);
            }
        }
        if !ends_window {
            return self.passed(depth);
        }
        if self.ending.is_none() {
            self.ending = self.limit(depth).map(Outcome::Stopped);
        }
        if self.ending.is_some() || self.checkpoint_due {
            self.save(depth);
        } else {
            self.advance(depth + 1);
        }
        Ok(())
    }

    /// Goes on after a layer that did not end its window.
    fn passed(&mut self, depth: u32) -> Result<(), Refusal> {
        if self.ending.is_some() || depth >= self.latest_end(depth) {
            self.phase = Phase::Ended;
            return Err(Refusal::PastEnd { depth });
        }
        self.phase = Phase::Layer { depth: depth + 1, restored: false };
        Ok(())
    }

    /// The depth at which a window from `depth` on must end. Whether the next layer fits a disk limit is
    /// decided after every layer.
    fn latest_end(&self, depth: u32) -> u32 {
        match self.options.disk_limit {
            Some(_) => depth,
            None => self.options.max_layers.unwrap_or(u32::MAX).max(depth),
        }
    }

    fn advance(&mut self, depth: u32) {
        let last = self.latest_end(depth);
        self.layer(depth, Command::Advance { depth, last });
    }

    /// Checks a layer against the layers before it or, if it was restored, against its record, and counts
    /// its orbits.
    fn check_layer(&self, report: &mut LayerReport, restored: bool) -> Result<(), Refusal> {
        let orbits = orbits(report)?;
        let layer = &mut report.layer;
        layer.orbits = if self.options.states_are_orbits { Some(layer.states) } else { orbits };
        if let Some(last) = self.last.as_ref().filter(|_| restored) {
            check_restored(last, layer)?;
            return self.check_older(layer.depth, self.older_states);
        }
        if layer.states == 0 && layer.depth > 0 {
            return Ok(());
        }
        let PlanOptions { engine, is_directed, is_folded, .. } = self.options;
        let rules = LayerRules { engine, is_directed, is_folded };
        check_layer(layer, self.last.as_ref(), &self.totals, rules)
    }

    fn commit(&mut self, report: LayerReport) {
        let LayerReport { layer, odd, even, found, .. } = report;
        let depth = u64::from(layer.depth);
        self.totals.add(&layer);
        self.previous = self.last.replace(layer.clone());
        self.commands.push_back(Command::Commit(layer));
        let moves = match self.options.rule {
            // A layer can contain an odd and an even meeting; the odd one gives the shorter path.
            Finish::Meeting if odd => Some((2 * depth).saturating_sub(1)),
            Finish::Meeting if even => Some(2 * depth),
            Finish::State(()) if found => Some(depth),
            _ => None,
        };
        self.ending = moves.map(Outcome::Goal);
    }

    /// Reason to stop after a layer, if there is one.
    fn limit(&self, depth: u32) -> Option<StopReason> {
        let too_deep = self.options.max_layers.is_some_and(|most| depth >= most);
        // Spilled runs grow with the layers.
        let expected = self.disk_left.saturating_add(self.expected(self.last_bytes()));
        let expected = expected.max(self.expected(self.disk_peak));
        let too_big = self.options.disk_limit.is_some_and(|most| expected > most);
        self.stop
            .or(too_deep.then_some(StopReason::MaxLayers))
            .or(too_big.then_some(StopReason::DiskLimit))
    }

    fn last_bytes(&self) -> u64 {
        self.last.as_ref().map_or(0, |layer| layer.bytes)
    }

    /// Expected value of `bytes` with the next layer, if it grows by the same factor as the last layer did.
    /// A shrinking layer counts as constant.
    fn expected(&self, bytes: u64) -> u64 {
        let before = self.previous.as_ref().map_or(0, |layer| layer.bytes);
        let (last, previous) = (self.last_bytes(), before);
        if previous == 0 {
            return bytes;
        }
        let scaled = u128::from(bytes) * u128::from(last.max(previous)) / u128::from(previous);
        u64::try_from(scaled).unwrap_or(u64::MAX)
    }

    fn layer(&mut self, depth: u32, command: Command) {
        let restored = command == Command::Restore;
        self.phase = Phase::Layer { depth, restored };
        self.commands.push_back(command);
    }

    fn save(&mut self, depth: u32) {
        self.phase = Phase::Saving { depth };
        self.commands.push_back(Command::Save { depth });
    }

    fn saved(&mut self, found: u32, records: Vec<CheckpointFile>) -> Result<(), Refusal> {
        let Phase::Saving { depth } = self.phase else {
            return Err(Refusal::NotRequested { what: "files of a checkpoint" });
        };
        if found != depth {
            return Err(Refusal::WrongDepth { expected: depth, found });
        }
        let last_two = depth.saturating_sub(1)..=depth;
        let has_older = self.options.needs_older();
        let wrong = |record: &&CheckpointFile| match record.is_older() {
            true => !has_older || record.depth >= *last_two.start(),
            false => !last_two.contains(&record.depth),
        };
        if let Some(record) = records.iter().find(wrong) {
            return Err(Refusal::WrongDepth { expected: depth, found: record.depth });
        }
        self.check_checkpoint(depth, &records).inspect_err(|_| self.phase = Phase::Ended)?;
        // Layers that were in memory only are on disk now.
        let bytes = records.iter().map(|record| record.bytes).sum::<u64>();
        let on_disk = self.kept_bytes.saturating_add(bytes);
        self.totals.disk_peak = self.totals.disk_peak.max(on_disk);
        self.checkpoint_due = false;
        self.ending = self.ending.or(self.stop.map(Outcome::Stopped));
        let totals = self.totals.clone();
        self.publish(Box::new(Publication { depth, records, totals, ending: self.ending }));
        Ok(())
    }

    /// Checks that `found`, the number of states in the files of older layers, is that of all layers before
    /// the last two.
    fn check_older(&self, depth: u32, found: u64) -> Result<(), Refusal> {
        if !self.options.needs_older() {
            return Ok(());
        }
        let layers = [self.last.as_ref(), self.previous.as_ref()].into_iter().flatten();
        let younger = layers.filter(|layer| layer.depth + 1 >= depth);
        let younger: u64 = younger.map(|layer| layer.states).sum();
        check_older(depth, self.totals.states.saturating_sub(younger), found)
    }

    /// Checks that the files of a checkpoint hold its layers.
    fn check_checkpoint(&self, depth: u32, files: &[CheckpointFile]) -> Result<(), Refusal> {
        let layers = [self.last.as_ref(), self.previous.as_ref()];
        let of = |depth: u32| layers.into_iter().flatten().find(|layer| layer.depth == depth);
        // The layer after the last one with states is empty.
        let totals = of(depth).map_or_else(LayerTotals::default, LayerRecord::totals);
        check_files(depth, &totals, files)?;
        self.check_older(depth, CheckpointFile::older_states(files))?;
        match depth.checked_sub(1).and_then(of) {
            Some(before) if !self.options.engine.is_symbolic() => {
                check_files(before.depth, &before.totals(), files)
            }
            _ => Ok(()),
        }
    }

    fn publish(&mut self, publication: Box<Publication>) {
        self.commands.push_back(Command::Publish(publication.clone()));
        self.phase = Phase::Publishing { publication };
    }

    fn published(&mut self, found: u32) -> Result<(), Refusal> {
        let Phase::Publishing { publication } = &mut self.phase else {
            return Err(Refusal::NotRequested { what: "publication" });
        };
        let depth = publication.depth;
        if depth != found {
            return Err(Refusal::WrongDepth { expected: depth, found });
        }
        match (publication.ending, self.stop) {
            (Some(outcome), _) => {
                self.phase = Phase::Ended;
                self.commands.push_back(Command::End(outcome));
            }
            (None, Some(reason)) => {
                // The files are the same, but the manifest must record the stop.
                let ending = Some(Outcome::Stopped(reason));
                let stopped = Publication { ending, ..(**publication).clone() };
                self.publish(Box::new(stopped));
            }
            (None, None) => self.advance(depth + 1),
        }
        Ok(())
    }

    fn abandon_layer(&mut self, reason: StopReason) -> Result<(), Refusal> {
        let Phase::Layer { depth, restored: false } = self.phase else {
            return Err(Refusal::NotRequested { what: "abandoned layer" });
        };
        let Some(before) = depth.checked_sub(1) else {
            return Err(Refusal::NotRequested { what: "abandoned layer 0" });
        };
        self.ending = Some(Outcome::Stopped(reason));
        self.save(before);
        Ok(())
    }
}
