//! Events of a run, from which progress displays, JSON lines and logs are made.

use std::fmt;
use std::io::{self, Write};

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use strata_run::StopReason;
use strata_store::EngineKind;

use crate::output::json::write_line;
use crate::output::layer::Layer;

/// An event of a run.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// The job starts or resumes.
    Job(Job),
    /// A layer is complete.
    Layer(Layer),
    /// Everything up to a depth is durable.
    Checkpoint(Checkpoint),
    /// The search is over.
    Result(Summary),
    /// The moves of a shortest solution.
    Path(Path),
    /// States of the last layer of a whole space.
    Antipodes(Antipodes),
    /// The search ended early and can be resumed.
    Stopped(Stopped),
    /// A job of a cluster rolled back to a checkpoint.
    RolledBack(RolledBack),
    /// A job of a cluster failed.
    Failed(Failed),
}

/// The search and its resources.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Job {
    /// Id of the job, the name of its folder.
    pub(crate) job: String,
    /// The state space.
    pub(crate) space: String,
    /// Parameters that determine the result: level, k, symmetry and so on.
    pub(crate) params: Map<String, Value>,
    /// Name of the engine.
    pub(crate) engine: &'static str,
    /// Reason for the engine. Empty if that was not recorded: null in JSON.
    #[serde(serialize_with = "null_if_default")]
    pub(crate) engine_reason: String,
    /// Number of shards.
    pub(crate) shards: u32,
    /// The folder that holds the job's folder. Empty for a job of a cluster and a search in memory:
    /// null in JSON.
    #[serde(serialize_with = "null_if_default")]
    pub(crate) data_dir: String,
    /// Threads of each worker. 0 for a job of a cluster, whose workers differ: null in JSON.
    #[serde(serialize_with = "null_if_default")]
    pub(crate) threads: usize,
    /// Workers. 0 for a job of a cluster that has none yet.
    pub(crate) workers: usize,
    /// The memory budget. 0 for a job of a cluster, whose workers differ: null in JSON.
    #[serde(serialize_with = "null_if_default")]
    pub(crate) memory_bytes: u64,
    /// Depth of the checkpoint that the run resumes from.
    pub(crate) resumed_from: Option<u32>,
}

impl Job {
    /// Whether the search runs in a cluster, not in this process.
    pub(crate) fn is_remote(&self) -> bool {
        self.threads == 0
    }
}

/// Writes null for a field that does not apply to the search.
fn null_if_default<T, S>(value: &T, serializer: S) -> Result<S::Ok, S::Error>
where
    T: Default + PartialEq + Serialize,
    S: Serializer,
{
    if *value == T::default() { serializer.serialize_none() } else { value.serialize(serializer) }
}

/// A durable point to resume from.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Checkpoint {
    /// Depth of its last layer.
    pub(crate) depth: u32,
    /// Bytes made durable.
    pub(crate) bytes: u64,
    /// Time it took.
    pub(crate) seconds: f64,
}

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    /// The goal was reached.
    Goal,
    /// The whole space was searched, as requested.
    Exhausted,
    /// The whole reachable space was searched without reaching the goal.
    NoGoal,
}

impl Outcome {
    /// The outcome of a search with this result. `has_goal` tells whether a goal was sought.
    pub(crate) fn of(moves: Option<u64>, has_goal: impl FnOnce() -> bool) -> Outcome {
        match moves {
            Some(_) => Outcome::Goal,
            None if has_goal() => Outcome::NoGoal,
            None => Outcome::Exhausted,
        }
    }
}

/// The result of a search.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Summary {
    /// How the search ended.
    pub(crate) outcome: Outcome,
    /// Fewest moves from start to goal; none if no goal was sought or found.
    pub(crate) moves: Option<u64>,
    /// The greatest depth.
    pub(crate) layers: u32,
    /// States in all layers, depth 0 included.
    pub(crate) states: u64,
    /// Positions that they stand for, if they are counted.
    pub(crate) positions: Option<u64>,
    /// Orbits of symmetries among them; none if they are unknown, or symmetry is not used.
    pub(crate) orbits: Option<u64>,
    /// Legal moves from stored states.
    pub(crate) generated: u64,
    /// States of the widest layer.
    pub(crate) widest: u64,
    /// The depth of the (first) widest layer.
    pub(crate) widest_depth: u32,
    /// The digest over all layers, 32 hexadecimal digits. Empty for a search in memory: null in JSON.
    #[serde(serialize_with = "null_if_default")]
    pub(crate) digest: String,
    /// Time of this run, without runs before a resume; of a job of a cluster the time of all runs.
    pub(crate) seconds: f64,
    /// Peak resident memory during the job: of this process, or of the cluster's largest worker.
    pub(crate) peak_rss_bytes: Option<u64>,
    /// Name of that worker; none without a cluster.
    pub(crate) peak_rss_worker: Option<String>,
    /// Peak of the bytes on disk.
    pub(crate) disk_peak_bytes: u64,
    /// Bytes written to disk because the memory budget was full.
    pub(crate) spilled_bytes: u64,
    /// Bytes of layer files, headers included, over their states.
    pub(crate) bytes_per_state: Option<f64>,
    /// The last layer with a position, if states without positions were searched too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) farthest: Option<Farthest>,
    /// The result in one line, such as `X(6) = 881`.
    #[serde(skip)]
    pub(crate) title: String,
}

/// The last layer of a whole space that has a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Farthest {
    /// Its depth.
    pub(crate) depth: u32,
    /// Its positions.
    pub(crate) positions: u64,
}

/// The greatest depth with a position, or with a state if positions are not counted (`positions` is 0).
/// None if there are fewer positions than states: then the last layers may have no position.
pub(crate) fn radius(layers: u32, states: u64, positions: u64) -> Option<u32> {
    (!(1..states).contains(&positions)).then_some(layers)
}

/// Mean size of a state in the layer files of the explicit engine, in bytes. None for other engines, and if
/// there are no states.
pub(crate) fn bytes_per_state(engine: EngineKind, layer_bytes: u64, states: u64) -> Option<f64> {
    (engine.is_explicit() && states > 0).then(|| layer_bytes as f64 / states as f64)
}

/// The moves of a shortest solution.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Path {
    /// The moves, in the requested form.
    pub(crate) moves: Vec<String>,
    /// The file they were written to.
    pub(crate) file: Option<String>,
    /// The position before each move and after the last one, in the space's text form. Empty if the
    /// puzzle does not find them: null in JSON.
    #[serde(serialize_with = "null_if_default")]
    pub(crate) positions: Vec<String>,
    /// Names of the single moves, as the puzzle has them.
    #[serde(skip)]
    pub(crate) names: Vec<String>,
    /// Separator of the moves in text.
    #[serde(skip)]
    pub(crate) between: &'static str,
}

impl Path {
    /// The moves one by one: in the requested form if it has an entry for each move, else as names.
    pub(crate) fn single_moves(&self) -> &[String] {
        if self.moves.len() == self.names.len() { &self.moves } else { &self.names }
    }

    /// The moves as text, with a newline at the end.
    pub(crate) fn text(&self) -> String {
        if self.moves.is_empty() { String::new() } else { self.moves.join(self.between) + "\n" }
    }
}

/// States of the last layer of a whole space.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Antipodes {
    /// The depth of the layer.
    pub(crate) depth: u32,
    /// All its states.
    pub(crate) states: u64,
    /// The first of them, in the order of storage.
    pub(crate) antipodes: Vec<Antipode>,
}

/// A state of the last layer.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Antipode {
    /// The state in the space's text form.
    pub(crate) state: String,
    /// The fewest moves from it to the start; none if the space does not name its moves.
    pub(crate) moves: Option<Vec<String>>,
}

/// Why a search ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EarlyEnd {
    /// The search stopped by itself or by a signal.
    Stopped(StopReason),
    /// The job of a cluster was cancelled.
    Cancelled,
}

impl EarlyEnd {
    /// The reason as JSON has it.
    fn name(self) -> &'static str {
        match self {
            // A cluster that moves shards continues at once.
            EarlyEnd::Stopped(StopReason::Interrupted | StopReason::Moving) => "interrupted",
            EarlyEnd::Stopped(StopReason::MaxLayers) => "max_layers",
            EarlyEnd::Stopped(StopReason::DiskLimit) => "disk_limit",
            EarlyEnd::Stopped(StopReason::DiskFull) => "disk_full",
            EarlyEnd::Stopped(StopReason::MemoryFull) => "memory_full",
            EarlyEnd::Cancelled => "cancelled",
        }
    }
}

impl Serialize for EarlyEnd {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl fmt::Display for EarlyEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EarlyEnd::Stopped(reason) => reason.fmt(f),
            EarlyEnd::Cancelled => f.write_str("cancelled"),
        }
    }
}

/// An early end.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Stopped {
    /// Why.
    pub(crate) reason: EarlyEnd,
    /// The last complete layer.
    pub(crate) depth: u32,
    /// The command that resumes from there.
    pub(crate) resume_command: String,
}

/// The deeper layers are invalid and will be repeated.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct RolledBack {
    /// Depth of the checkpoint; none if the search starts again.
    pub(crate) depth: Option<u32>,
}

/// A failure.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Failed {
    /// What went wrong.
    pub(crate) error: String,
    /// The code this process exits with.
    pub(crate) exit_code: u8,
    /// The last complete layer.
    pub(crate) depth: Option<u32>,
    /// The command that resumes once the cause is removed.
    pub(crate) resume_command: String,
}

impl Event {
    /// Writes the event as one line of JSON.
    ///
    /// # Errors
    /// Those of the writer.
    pub(crate) fn write_json(&self, out: &mut impl Write) -> io::Result<()> {
        match self {
            Event::Job(job) => write_line("job", job, out),
            Event::Layer(layer) => write_line("layer", layer, out),
            Event::Checkpoint(checkpoint) => write_line("checkpoint", checkpoint, out),
            Event::Result(summary) => write_line("result", summary, out),
            Event::Path(path) => write_line("path", path, out),
            Event::Antipodes(antipodes) => write_line("antipodes", antipodes, out),
            Event::Stopped(stopped) => write_line("stopped", stopped, out),
            Event::RolledBack(back) => write_line("rolled_back", back, out),
            Event::Failed(failed) => write_line("failed", failed, out),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use strata_run::LayerEvent;
    use strata_store::LayerRecord;
    use strata_store::Weight;

    use super::*;

    pub(crate) fn job() -> Event {
        let mut params = Map::new();
        params.insert("k".to_owned(), 3.into());
        params.insert("level".to_owned(), 6.into());
        Event::Job(Job {
            job: "panex-6".to_owned(),
            space: "panex".to_owned(),
            params,
            engine: "explicit",
            engine_reason: "--workers needs it".to_owned(),
            shards: 64,
            data_dir: "strata-data".to_owned(),
            threads: 2,
            workers: 1,
            memory_bytes: 1 << 30,
            resumed_from: None,
        })
    }

    pub(crate) fn layer(depth: u32, states: u64, total_states: u64) -> Event {
        let layer = LayerRecord {
            depth,
            states,
            positions: 2 * states,
            generated: 3 * states,
            regions: 2,
            bytes: states / 2,
            digest: Weight([0x0011_2233_4455_6677, 0x8899_aabb_ccdd_eeff]),
            ..LayerRecord::default()
        };
        let event = LayerEvent { layer, took: 0.25, total_states, replayed: false };
        Event::Layer(Layer { event, positions: Some(2 * states) })
    }

    pub(crate) fn summary() -> Summary {
        Summary {
            outcome: Outcome::Goal,
            moves: Some(881),
            layers: 441,
            states: 4_078_382,
            positions: Some(8_156_764),
            orbits: Some(4_078_382),
            generated: 11_827_307,
            widest: 23_273,
            widest_depth: 370,
            digest: "00112233445566778899aabbccddeeff".to_owned(),
            seconds: 0.21,
            peak_rss_bytes: Some(61 << 20),
            peak_rss_worker: None,
            disk_peak_bytes: 1_258_291,
            spilled_bytes: 0,
            bytes_per_state: Some(0.36),
            farthest: None,
            title: "X(6) = 881".to_owned(),
        }
    }

    pub(crate) fn stopped() -> Event {
        Event::Stopped(Stopped {
            reason: EarlyEnd::Stopped(StopReason::Interrupted),
            depth: 41,
            resume_command: "strata solve panex 6 --resume".to_owned(),
        })
    }

    fn json(event: &Event) -> String {
        let mut line = Vec::new();
        event.write_json(&mut line).unwrap();
        String::from_utf8(line).unwrap()
    }

    #[test]
    fn job_line() {
        assert_eq!(
            json(&job()),
            "{\"v\":1,\"event\":\"job\",\"job\":\"panex-6\",\"space\":\"panex\",\
             \"params\":{\"k\":3,\"level\":6},\"engine\":\"explicit\",\"engine_reason\":\"--workers needs it\",\
             \"shards\":64,\"data_dir\":\"strata-data\",\
             \"threads\":2,\"workers\":1,\"memory_bytes\":1073741824,\"resumed_from\":null}\n"
        );
    }

    #[test]
    fn a_cluster_job_has_null_for_local_resources() {
        let Event::Job(local) = job() else { panic!("not a job") };
        assert!(!local.is_remote());
        let remote =
            Job { data_dir: String::new(), threads: 0, workers: 3, memory_bytes: 0, ..local };
        assert!(remote.is_remote());
        let value: Value = serde_json::from_str(&json(&Event::Job(remote))).unwrap();
        for field in ["data_dir", "threads", "memory_bytes"] {
            assert_eq!(value.get(field), Some(&Value::Null), "{field}");
        }
        assert_eq!(value["workers"], 3);
    }

    #[test]
    fn cluster_lines() {
        assert_eq!(
            json(&Event::RolledBack(RolledBack { depth: None })),
            "{\"v\":1,\"event\":\"rolled_back\",\"depth\":null}\n"
        );
        let failed = Failed {
            error: "a file is damaged".to_owned(),
            exit_code: 12,
            depth: Some(7),
            resume_command: "strata resume j".to_owned(),
        };
        assert_eq!(
            json(&Event::Failed(failed)),
            "{\"v\":1,\"event\":\"failed\",\"error\":\"a file is damaged\",\"exit_code\":12,\
             \"depth\":7,\"resume_command\":\"strata resume j\"}\n"
        );
    }

    #[test]
    fn layer_line() {
        assert_eq!(
            json(&layer(0, 1, u64::MAX)),
            "{\"v\":1,\"event\":\"layer\",\"depth\":0,\"states\":1,\"positions\":2,\"orbits\":null,\"generated\":3,\
             \"regions\":2,\"bytes\":0,\"digest\":\"00112233445566778899aabbccddeeff\",\
             \"seconds\":0.25,\"read_bytes\":0,\"written_bytes\":0,\
             \"memo_hits\":0,\"memo_misses\":0,\"memo_miss_seconds\":0.0,\
             \"total_states\":18446744073709551615,\"replayed\":false}\n"
        );
    }

    #[test]
    fn checkpoint_line() {
        let event = Event::Checkpoint(Checkpoint { depth: 41, bytes: 1000, seconds: 0.5 });
        assert_eq!(
            json(&event),
            "{\"v\":1,\"event\":\"checkpoint\",\"depth\":41,\"bytes\":1000,\"seconds\":0.5}\n"
        );
    }

    #[test]
    fn result_line() {
        assert_eq!(
            json(&Event::Result(summary())),
            "{\"v\":1,\"event\":\"result\",\"outcome\":\"goal\",\"moves\":881,\"layers\":441,\
             \"states\":4078382,\"positions\":8156764,\"orbits\":4078382,\"generated\":11827307,\"widest\":23273,\
             \"widest_depth\":370,\"digest\":\"00112233445566778899aabbccddeeff\",\"seconds\":0.21,\
             \"peak_rss_bytes\":63963136,\"peak_rss_worker\":null,\"disk_peak_bytes\":1258291,\"spilled_bytes\":0,\
             \"bytes_per_state\":0.36}\n"
        );
    }

    #[test]
    fn path_line() {
        let moves = ["b1 L>C", "o1 R>L"].map(str::to_owned).to_vec();
        let names = ["LC", "RL"].map(str::to_owned).to_vec();
        let path = Path { moves, file: None, positions: Vec::new(), names, between: "\n" };
        assert_eq!(path.text(), "b1 L>C\no1 R>L\n");
        assert_eq!(path.single_moves(), path.moves);
        let in_a_word = Path { moves: vec!["LCRL".to_owned()], ..path.clone() };
        assert_eq!(in_a_word.single_moves(), path.names);
        assert_eq!(
            json(&Event::Path(path)),
            "{\"v\":1,\"event\":\"path\",\"moves\":[\"b1 L>C\",\"o1 R>L\"],\"file\":null,\"positions\":null}\n"
        );
    }

    #[test]
    fn an_exhaustive_result_has_null_moves() {
        let event =
            Event::Result(Summary { outcome: Outcome::Exhausted, moves: None, ..summary() });
        let value: Value = serde_json::from_str(&json(&event)).unwrap();
        assert_eq!(value["moves"], Value::Null);
        assert_eq!(value["outcome"], "exhausted");
    }

    #[test]
    fn early_ends_have_fixed_names_and_the_texts_of_the_library() {
        let names = [
            (StopReason::Interrupted, "interrupted"),
            (StopReason::MaxLayers, "max_layers"),
            (StopReason::DiskLimit, "disk_limit"),
            (StopReason::DiskFull, "disk_full"),
            (StopReason::MemoryFull, "memory_full"),
        ];
        for (reason, name) in names {
            let end = EarlyEnd::Stopped(reason);
            assert_eq!(serde_json::to_value(end).unwrap(), name);
            assert_eq!(end.to_string(), reason.to_string());
        }
        assert_eq!(serde_json::to_value(EarlyEnd::Cancelled).unwrap(), "cancelled");
    }

    #[test]
    fn stopped_line() {
        assert_eq!(
            json(&stopped()),
            "{\"v\":1,\"event\":\"stopped\",\"reason\":\"interrupted\",\"depth\":41,\
             \"resume_command\":\"strata solve panex 6 --resume\"}\n"
        );
    }
}
