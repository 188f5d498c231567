//! Text form of the end of a run: the result on standard output, an early end on standard error.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::time::Duration;

use strata_proto::net::printable;
use strata_store::EngineKind;

use super::sink::Sink;
use strata_store::LayerRecord;

use crate::output::events::{Antipode, Antipodes, Event, Farthest, Outcome, Summary};
use crate::output::layer::Layer;
use crate::output::stdout::Output;
use crate::output::units;

/// Prints the result.
pub(super) struct ResultText<W: Write> {
    out: Output<W>,
    /// States searched by an earlier run.
    replayed: u64,
    /// Whether the search runs in a cluster, whose time is that of all runs.
    remote: bool,
    /// Name of the engine.
    engine: &'static str,
    /// Depths and states of the last layers.
    layers: VecDeque<(u32, u64)>,
}

/// Layers whose sizes are printed with the result of a search of a whole space.
const LAST_LAYERS: usize = 6;

impl<W: Write> ResultText<W> {
    pub(super) fn new(out: Output<W>) -> Self {
        ResultText { out, replayed: 0, remote: false, engine: "", layers: VecDeque::new() }
    }

    fn print(&mut self, text: &str) {
        self.out.write_with(|out| out.write_all(text.as_bytes()));
        self.out.flush();
    }

    fn layer(&mut self, layer: &Layer) {
        let LayerRecord { depth, states, .. } = layer.event.layer;
        if layer.event.replayed && !self.remote {
            self.replayed += states;
        }
        // A job of a cluster repeats layers after a fault.
        self.layers.retain(|(before, _)| *before < depth);
        self.layers.push_back((depth, states));
        if self.layers.len() > LAST_LAYERS {
            self.layers.pop_front();
        }
    }
}

impl<W: Write + Send> Sink for ResultText<W> {
    fn event(&mut self, event: &Event, _now: Duration) {
        match event {
            Event::Job(job) => (self.remote, self.engine) = (job.is_remote(), job.engine),
            Event::Layer(layer) => self.layer(layer),
            Event::Result(summary) => {
                let mut text = result(summary, self.engine, self.remote, self.replayed);
                if summary.outcome == Outcome::Exhausted {
                    text += &last_layers(&self.layers);
                }
                self.print(&text);
            }
            Event::Path(path) => {
                let text = match &path.file {
                    Some(file) => format!("  path        {} moves in {file}\n", path.moves.len()),
                    None => path.text(),
                };
                self.print(&text);
            }
            Event::Antipodes(found) => self.print(&antipodes(found)),
            _ => {}
        }
    }

    fn tick(&mut self, _now: Duration) {}

    fn finish(&mut self) -> io::Result<()> {
        self.out.finish()
    }
}

/// The result as text.
fn result(summary: &Summary, engine: &str, is_remote: bool, replayed: u64) -> String {
    let states = units::count(summary.states);
    let generated = units::count(summary.generated);
    let searched = summary.states.saturating_sub(replayed);
    let rate = units::rate(searched as f64 / summary.seconds);
    let time = units::seconds(summary.seconds);
    let rate = match (searched, replayed) {
        (0, _) => "(searched before)".to_owned(),
        (_, 0) => format!("({rate} states/s)"),
        _ => format!("({rate} states/s since the resume)"),
    };
    let positions = summary.positions.filter(|positions| *positions != summary.states);
    let positions = positions.map(units::count);
    let orbits = summary.orbits.filter(|orbits| *orbits != summary.states).map(units::count);
    let wide = positions.iter().chain(&orbits).map(String::len).max().unwrap_or(0);
    let width = states.len().max(wide).max(generated.len()).max(time.len());
    let mut text = format!("{}\n", summary.title);
    let mut line = |name: &str, value: &str, more: &str| {
        let row = format!("  {name:<11} {value:<width$}   {more}");
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", row.trim_end());
    };
    line("engine", engine, "");
    line("depth", &units::count(u64::from(summary.layers)), "");
    let widest = units::count(summary.widest);
    let depth = units::count(u64::from(summary.widest_depth));
    let widest = format!("(widest layer {widest} at depth {depth})");
    line("states", &states, &widest);
    if let Some(positions) = positions {
        line("positions", &positions, "");
    }
    if let Some(orbits) = orbits {
        line("orbits", &orbits, "");
    }
    if let Some(Farthest { depth, positions }) = summary.farthest {
        let (positions, depth) = (units::count(positions), units::count(u64::from(depth)));
        line("farthest", &positions, &format!("(positions at depth {depth})"));
    }
    // Figures that the engine does not compute are left out.
    let kind = EngineKind::find(engine);
    if kind.is_none_or(EngineKind::counts_moves) {
        line("generated", &generated, "");
    }
    line("time", &time, &rate);
    if let Some(peak) = summary.peak_rss_bytes {
        let of = match &summary.peak_rss_worker {
            Some(worker) => format!("(worker {})", printable(worker)),
            None if is_remote => "(of any worker)".to_owned(),
            None => "(this process)".to_owned(),
        };
        line("peak memory", &units::bytes(peak), &of);
    }
    // A search in memory has no files and no digest; a symbolic one has no files of layers.
    if !summary.digest.is_empty() {
        if !kind.is_some_and(EngineKind::is_symbolic) {
            line("disk", &disk(summary), "");
        }
        if kind.is_none_or(EngineKind::has_digests) {
            line("digest", &summary.digest, "");
        }
    }
    text
}

/// The sizes of the last layers as text.
fn last_layers(layers: &VecDeque<(u32, u64)>) -> String {
    let sizes = layers.iter().map(|(_, states)| units::count(*states)).collect::<Vec<_>>();
    let (Some((first, _)), Some((last, _))) = (layers.front(), layers.back()) else {
        return String::new();
    };
    let depths = if first == last { format!("{first}") } else { format!("{first} to {last}") };
    format!("  last layers {}   (depth {depths})\n", sizes.join("  "))
}

/// Antipodes as text: each in a line, and its moves in the next one.
fn antipodes(found: &Antipodes) -> String {
    let (shown, all) = (found.antipodes.len() as u64, units::count(found.states));
    let mut text = match shown == found.states {
        true => format!("  antipodes   {all}, with moves to the start\n"),
        false => {
            format!("  antipodes   {} of {all}, with moves to the start\n", units::count(shown))
        }
    };
    if found.antipodes.iter().all(|antipode| antipode.moves.is_none()) {
        text = text.replace(", with moves to the start", "");
    }
    for Antipode { state, moves } in &found.antipodes {
        text += &format!("    {state}\n");
        if let Some(moves) = moves {
            text += &format!("      {}\n", moves.join(" "));
        }
    }
    text
}

fn disk(summary: &Summary) -> String {
    let peak = format!("peak {}", units::bytes(summary.disk_peak_bytes));
    let notes = match summary.spilled_bytes {
        0 => peak,
        spilled => format!("{peak}, {} spilled", units::bytes(spilled)),
    };
    match summary.bytes_per_state {
        Some(bytes) => format!("{bytes:.2} bytes per state ({notes})"),
        None => notes,
    }
}

/// Prints why a run ended early and the command that resumes it, in every mode.
pub(super) struct StopNotice<W: Write> {
    out: W,
}

impl<W: Write> StopNotice<W> {
    pub(super) fn new(out: W) -> Self {
        StopNotice { out }
    }
}

impl<W: Write + Send> Sink for StopNotice<W> {
    fn event(&mut self, event: &Event, _now: Duration) {
        if let Event::Stopped(stopped) = event {
            let depth = units::count(u64::from(stopped.depth));
            // If standard error is closed, the message is lost.
            let _ = writeln!(
                self.out,
                "stopped at depth {depth}: {}\nresume with: {}",
                stopped.reason, stopped.resume_command
            );
        }
    }

    fn tick(&mut self, _now: Duration) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::events::tests::{layer, stopped, summary};
    use crate::output::stdout::tests::Shared;

    #[test]
    fn the_result_as_text() {
        assert_eq!(
            result(&summary(), "explicit", false, 0),
            "X(6) = 881\n  \
             engine      explicit\n  \
             depth       441\n  \
             states      4,078,382    (widest layer 23,273 at depth 370)\n  \
             positions   8,156,764\n  \
             generated   11,827,307\n  \
             time        0.21 s       (19.4 M states/s)\n  \
             peak memory 61 MiB       (this process)\n  \
             disk        0.36 bytes per state (peak 1.2 MiB)\n  \
             digest      00112233445566778899aabbccddeeff\n"
        );
    }

    #[test]
    fn unknown_figures_are_left_out_and_spills_are_shown() {
        let summary = Summary {
            outcome: Outcome::Exhausted,
            moves: None,
            title: "radius 377".to_owned(),
            peak_rss_bytes: None,
            bytes_per_state: None,
            spilled_bytes: 5 << 20,
            seconds: 0.0,
            ..summary()
        };
        let text = result(&summary, "explicit", false, 1);
        assert!(result(&summary, "explicit", false, summary.states).contains("(searched before)"));
        assert!(text.starts_with("radius 377\n"));
        assert!(!text.contains("peak memory"));
        assert!(text.contains("disk        peak 1.2 MiB, 5.0 MiB spilled\n"));
        assert!(text.contains("(0 states/s since the resume)"));
    }

    #[test]
    fn the_result_omits_figures_that_the_engine_does_not_compute() {
        let summary = Summary { peak_rss_worker: Some("host-2".to_owned()), ..summary() };
        let of = |engine| {
            let text = result(&summary, engine, true, 0);
            assert!(text.contains("peak memory 61 MiB       (worker host-2)\n"), "{text}");
            ["generated", "disk", "digest"].map(|name| text.contains(&format!("  {name} ")))
        };
        assert_eq!(of("explicit"), [true, true, true]);
        assert_eq!(of("symbolic"), [true, false, true]);
        assert_eq!(of("symbolic-lean"), [false, false, false]);
        assert_eq!(of("dense-lean"), [true, true, false]);
        assert_eq!(of("in-memory"), [true, true, true]);
    }

    #[test]
    fn replayed_states_do_not_count_towards_the_rate() {
        let shared = Shared::default();
        let mut sink = ResultText::new(Output::new(shared.clone()));
        let Event::Layer(mut first) = layer(0, 4_078_172, 4_078_172) else {
            panic!("not a layer");
        };
        first.event.replayed = true;
        let first = Event::Layer(first);
        sink.event(&first, Duration::ZERO);
        sink.event(&layer(1, 210, 4_078_382), Duration::ZERO);
        sink.event(&Event::Result(summary()), Duration::ZERO);
        sink.finish().unwrap();
        assert!(shared.text().contains("(1.0 k states/s since the resume)"));
    }

    #[test]
    fn a_whole_space_ends_with_its_last_layers_and_antipodes() {
        let shared = Shared::default();
        let mut sink = ResultText::new(Output::new(shared.clone()));
        for (depth, states) in (0..9).zip([1, 3, 6, 12, 2_400, 48, 9, 7, 2]) {
            sink.event(&layer(depth, states, 0), Duration::ZERO);
        }
        // The last two layers are repeated after a fault.
        for (depth, states) in [(7, 8), (8, 1)] {
            sink.event(&layer(depth, states, 0), Duration::ZERO);
        }
        let outcome = Outcome::Exhausted;
        sink.event(&Event::Result(Summary { outcome, ..summary() }), Duration::ZERO);
        let antipode = |state: &str, moves: &[&str]| Antipode {
            state: state.to_owned(),
            moves: Some(moves.iter().map(ToString::to_string).collect()),
        };
        let found =
            Antipodes { depth: 8, states: 1, antipodes: vec![antipode("2 1", &["r2", "r3"])] };
        sink.event(&Event::Antipodes(found.clone()), Duration::ZERO);
        let nameless = vec![Antipode { moves: None, ..antipode("3 1", &[]) }];
        let more = Antipodes { states: 1_000, antipodes: nameless, ..found };
        sink.event(&Event::Antipodes(more), Duration::ZERO);
        let text = shared.text();
        let end = "  last layers 12  2,400  48  9  8  1   (depth 3 to 8)\n  \
                   antipodes   1, with moves to the start\n    2 1\n      r2 r3\n  \
                   antipodes   1 of 1,000\n    3 1\n";
        assert!(text.ends_with(end), "{text}");
    }

    #[test]
    fn an_early_end_names_the_resume_command() {
        let shared = Shared::default();
        let mut sink = StopNotice::new(shared.clone());
        sink.event(&stopped(), Duration::ZERO);
        assert_eq!(
            shared.text(),
            "stopped at depth 41: interrupted\nresume with: strata solve panex 6 --resume\n"
        );
    }
}
