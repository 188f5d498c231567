//! Choice of the engine by space, options and resources.

use strata_space::dense::{DenseFolding, DenseSize};
use strata_space::{SpaceError, Work, check_ends, check_reversible};
use strata_store::EngineKind;

use crate::catalogue::Space;
use crate::dense_memory::DenseMemory;
use crate::error::Error;
use crate::forecast::{Forecast, Resources};
use crate::keep_layers::KeepLayers;
use crate::size::given_size;

const MIB: u64 = 1 << 20;

/// A symbolic search still completes with one part in this many of the memory that it would use: it drops
/// memoised steps and computes them again. On Panex 9, a quarter of the memory takes about five times as
/// long (docs/symbolic.md).
const LEAST_PART: u64 = 16;

/// Settings for which the explicit engine is chosen. `k` and `s` are parameters of puzzles that divide
/// the states into regions and shards. A named dense engine supports `workers` and `shards`, too.
const OF_EXPLICIT: [&str; 4] = ["workers", "shards", "k", "s"];

/// Settings that need the files of layers, which the symbolic engine does not write.
const OF_FILES: [&str; 3] = ["keep_layers", "disk_limit", "antipodes"];

/// The setting that only the symbolic engine supports: it recomputes memoised steps.
const OF_SYMBOLIC: &str = "verify";

/// The settings that not every engine supports.
pub fn engine_settings() -> impl Iterator<Item = &'static str> {
    OF_EXPLICIT.into_iter().chain(OF_FILES).chain([OF_SYMBOLIC])
}

/// Checks that an engine supports the given settings.
///
/// # Errors
/// [`Error::Unsupported`] for the first one that it does not support.
pub fn check_settings(engine: EngineKind, settings: &[&str]) -> Result<(), Error> {
    let is_unsupported = |setting: &&str| match engine {
        EngineKind::Explicit => *setting == OF_SYMBOLIC,
        EngineKind::Dense | EngineKind::DenseLean => ["k", "s", OF_SYMBOLIC].contains(setting),
        EngineKind::Symbolic | EngineKind::SymbolicLean => {
            OF_EXPLICIT.contains(setting) || OF_FILES.contains(setting)
        }
    };
    match engine_settings().find(|known| settings.contains(known) && is_unsupported(known)) {
        Some(setting) => Err(Error::Unsupported { engine, setting }),
        None => Ok(()),
    }
}

/// Requirements of a search that decide which engine is chosen for it.
#[derive(Clone, Debug)]
pub struct EngineNeeds<'a> {
    /// Names of the given settings, see [`engine_settings`].
    pub settings: &'a [&'a str],
    /// Whether the moves of a shortest solution are requested. A symbolic search holds all layers in
    /// memory for them.
    pub path: bool,
    /// The memory budget of a worker in bytes.
    pub memory: u64,
    /// Threads of a worker.
    pub threads: usize,
    /// Limit in bytes of the files on disk; None for no limit.
    pub disk_limit: Option<u64>,
}

impl EngineNeeds<'_> {
    /// The first of some settings that is given.
    fn first_of(&self, settings: &[&'static str]) -> Option<&'static str> {
        settings.iter().copied().find(|setting| self.settings.contains(setting))
    }

    /// Whether the settings permit an engine that the user has not named.
    fn permit(&self, engine: EngineKind) -> bool {
        let has_files = engine.is_dense() || self.first_of(&OF_FILES).is_none();
        engine.is_explicit() || self.first_of(&OF_EXPLICIT).is_none() && has_files
    }
}

/// An engine, and why it was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineChoice {
    /// The engine.
    pub engine: EngineKind,
    /// The reason in a few words.
    pub reason: String,
}

/// The engine of a search: the named one; otherwise the engine of the job that it resumes, if the settings
/// permit it; otherwise the choice of [`choose_engine`].
///
/// # Errors
/// [`Error::Space`] if the named engine cannot search the space, [`Error::Unsupported`] if it does not
/// support a setting.
pub fn engine_of(
    space: &Space,
    named: Option<EngineKind>,
    earlier: Option<EngineKind>,
    needs: &EngineNeeds<'_>,
) -> Result<EngineChoice, Error> {
    if let Some(engine) = named {
        return named_engine(space, engine, needs.settings);
    }
    match earlier.filter(|engine| needs.permit(*engine)) {
        Some(engine) => Ok(EngineChoice { engine, reason: "the job has it".to_owned() }),
        None => Ok(choose_engine(space, needs)),
    }
}

/// The named engine, if it supports the space and the settings.
///
/// # Errors
/// As [`engine_of`].
pub fn named_engine(
    space: &Space,
    engine: EngineKind,
    settings: &[&str],
) -> Result<EngineChoice, Error> {
    if engine.is_symbolic() {
        space.nested()?;
    } else if engine.is_dense() {
        space.dense_size()?;
    }
    check_settings(engine, settings)?;
    Ok(EngineChoice { engine, reason: "`engine` names it".to_owned() })
}

/// Chooses the engine of a search: explicit if a setting requires it; otherwise symbolic if the space is
/// nested, no setting needs files and the memory suffices; otherwise dense if a bit for each state fits the
/// memory or, for a search of the whole space, the disk; otherwise explicit. The reason names settings in
/// backticks.
pub fn choose_engine(space: &Space, needs: &EngineNeeds<'_>) -> EngineChoice {
    choose_engine_by(space, || space.dense_size(), needs)
}

/// As [`choose_engine`], with `dense_size` as the source of the size of the dense form, for a caller that
/// has it already.
pub fn choose_engine_by(
    space: &Space,
    dense_size: impl Fn() -> Result<DenseSize, SpaceError>,
    needs: &EngineNeeds<'_>,
) -> EngineChoice {
    let choice = |engine, reason: String| EngineChoice { engine, reason };
    if let Some(setting) = needs.first_of(&OF_EXPLICIT) {
        return choice(EngineKind::Explicit, format!("`{setting}` needs it"));
    }
    let symbolic = match (space.nested(), needs.first_of(&OF_FILES)) {
        (Err(SpaceError::NoForm { .. }), _) => None,
        (Err(error), _) => Some(refusal(error)),
        (Ok(_), Some(setting)) => Some(format!("a symbolic search has no files for `{setting}`")),
        (Ok(_), None) => match symbolic_reason(space, needs) {
            Ok(reason) => return choice(EngineKind::Symbolic, reason),
            Err(why) => Some(why),
        },
    };
    let dense = match dense_size() {
        Ok(size) => dense_reason(&size, space.is_exhaustive(), needs),
        Err(SpaceError::NoForm { .. }) => Err("no other engine searches this space".to_owned()),
        // The goal is known to be unreachable. The dense engine reports this at once; others would search
        // the whole space first.
        Err(error @ SpaceError::Unsolvable { .. }) => Ok(error.to_string()),
        Err(error) => Err(refusal(error)),
    };
    let dense = match dense {
        Ok(reason) => return choice(EngineKind::Dense, reason),
        Err(why) => why,
    };
    match space.check_explicit() {
        // For a nested space, the reason is why the symbolic engine was not chosen.
        Ok(()) => choice(EngineKind::Explicit, symbolic.unwrap_or(dense)),
        // With a dense form, the dense engine's own checks report what is missing; without one, the reason
        // is the explicit engine's refusal.
        Err(error) if dense_size().is_ok() => {
            choice(EngineKind::Dense, format!("the explicit engine: {}", refusal(error)))
        }
        Err(error) => choice(EngineKind::Explicit, refusal(error)),
    }
}

/// Why an engine refuses a space. A conflict is given without its parameter, which the user has not set.
fn refusal(error: SpaceError) -> String {
    match error {
        SpaceError::Conflict { why, .. } => why,
        error => error.to_string(),
    }
}

/// The engines that can search a space, in the order of preference.
pub fn engines_of(space: &Space) -> Vec<EngineKind> {
    let takes = [
        (EngineKind::Symbolic, space.nested().is_ok()),
        (EngineKind::Dense, space.dense_size().is_ok()),
        (EngineKind::Explicit, space.check_explicit().is_ok()),
    ];
    takes.into_iter().filter(|(_, takes)| *takes).map(|(engine, _)| engine).collect()
}

/// Checks that an engine can search a space that is divided into `shards`. For the explicit engine and an
/// undirected space, it also checks for `samples` states that their moves can be undone.
///
/// # Errors
/// [`Error::Space`] if the engine cannot search the space or the work is stopped; [`Error::Option`] for
/// more shards than a dense space has blocks.
pub fn check_engine(
    space: &Space,
    engine: EngineKind,
    shards: u32,
    samples: usize,
    work: &Work,
) -> Result<(), Error> {
    if engine.is_symbolic() {
        space.nested()?;
    } else if engine.is_dense() {
        let blocks = space.dense_size()?.shape.blocks;
        if shards > blocks {
            let why = format!("{shards} shards are more than {blocks} blocks");
            return Err(Error::Option { option: "shards", why });
        }
    } else {
        space.check_explicit()?;
        check_reversible(space.state_space(), samples, work)?;
        check_ends(space.state_space())?;
    }
    Ok(())
}

/// Whether the symbolic engine is suited to a nested space: the reason for it, or as an error against it.
fn symbolic_reason(space: &Space, needs: &EngineNeeds<'_>) -> Result<String, String> {
    // The search for a path computes no digests.
    let engine = if needs.path { EngineKind::SymbolicLean } else { EngineKind::Symbolic };
    let resources = Resources { threads: needs.threads, memory: u64::MAX, keep: KeepLayers::Last };
    let expected = Forecast::new(space, engine, None).expected(&resources).memory_bytes;
    let Some(whole) = expected else { return Ok("the space is nested".to_owned()) };
    let least = if needs.path { whole } else { whole.div_ceil(LEAST_PART) };
    let (about, most) = (whole.div_ceil(MIB), given_size(needs.memory));
    let what = if needs.path { "a symbolic search for a path" } else { "a symbolic search" };
    if least > needs.memory {
        let (least, times) = (least.div_ceil(MIB), if needs.path { 1 } else { LEAST_PART });
        let much = if times == 1 { String::new() } else { format!("{times} times ") };
        return Err(format!(
            "{what} would take about {about} MiB of memory, more than {much}{most}: {least} \
             MiB are the least for it"
        ));
    }
    Ok(match needs.path || whole <= needs.memory {
        true => format!("the space is nested, and about {about} MiB of memory are expected"),
        false => format!(
            "the space is nested; about {about} MiB of memory would be used, {most} take longer"
        ),
    })
}

/// Whether the dense engine is suited to a space: the reason for it, or as an error against it.
fn dense_reason(
    size: &DenseSize,
    is_exhaustive: bool,
    needs: &EngineNeeds<'_>,
) -> Result<String, String> {
    let DenseMemory { whole, least } = DenseMemory::of(size, needs.threads);
    let (states, most) = (size.states, given_size(needs.memory));
    if size.folding == DenseFolding::Unused {
        return Err(
            "a dense search would store every state, and not one of symmetric ones".to_owned()
        );
    }
    if whole <= needs.memory {
        return Ok(format!("{states} states take {} MiB of memory", whole.div_ceil(MIB)));
    }
    // Two layers, with a bit for each state; if moves cannot be undone, also older ones, which are there twice
    // while they are merged.
    let disk = size.states / if size.is_undirected { 4 } else { 2 };
    let (whole, least) = (whole.div_ceil(MIB), least.div_ceil(MIB));
    if !is_exhaustive {
        Err(format!("a dense search would take {whole} MiB of memory, more than {most}"))
    } else if least > needs.memory / MIB {
        Err(format!("a dense search would take at least {least} MiB of memory, more than {most}"))
    } else if needs.disk_limit.is_some_and(|limit| disk > limit) {
        Err(format!("a dense search could take {} MiB on disk", disk.div_ceil(MIB)))
    } else {
        Ok(format!("{states} states take {whole} MiB, on disk by parts within {most} of memory"))
    }
}

#[cfg(test)]
mod tests {
    use strata_space::Parameters;

    use super::*;
    use crate::catalogue::Registry;

    fn space(name: &str, parameters: &[(&str, &str)]) -> Space {
        let parameters = parameters.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned()));
        Registry::shipped().open(name, &Parameters::from_iter(parameters)).unwrap()
    }

    fn panex(level: &str) -> Space {
        space("panex", &[("level", level)])
    }

    const NEEDS: EngineNeeds<'_> =
        EngineNeeds { settings: &[], path: false, memory: 1 << 30, threads: 2, disk_limit: None };

    #[track_caller]
    fn chosen(space: &Space, needs: &EngineNeeds<'_>) -> (EngineKind, String) {
        let EngineChoice { engine, reason } = choose_engine(space, needs);
        (engine, reason)
    }

    #[test]
    fn nested_spaces_are_searched_symbolically_where_the_memory_suffices() {
        let with = |memory: u64, path: bool| EngineNeeds { memory, path, ..NEEDS };
        let (engine, reason) = chosen(&panex("8"), &NEEDS);
        assert_eq!(engine, EngineKind::Symbolic);
        assert!(reason.contains("MiB of memory are expected"), "{reason}");
        // Panex 10 takes somewhat more than 1 GiB with digests and two threads, and less for a path.
        let (engine, reason) = chosen(&panex("10"), &NEEDS);
        assert_eq!(engine, EngineKind::Symbolic);
        assert!(reason.contains("1024 MiB take longer"), "{reason}");
        assert_eq!(chosen(&panex("10"), &with(1 << 30, true)).0, EngineKind::Symbolic);
        for (memory, path) in [(512 << 20, true), (32 << 20, false)] {
            let (engine, reason) = chosen(&panex("10"), &with(memory, path));
            assert_eq!(engine, EngineKind::Explicit);
            assert!(reason.contains("would take about"), "{reason}");
            let times = if path { "" } else { "16 times " };
            let more = format!("more than {times}{} MiB: ", memory >> 20);
            assert!(reason.contains(&more), "{reason}");
            // The memory that the reason names is the least.
            let named = reason.split_once("MiB: ").unwrap().1.split_once(" MiB are").unwrap().0;
            let named: u64 = named.parse().unwrap();
            let with_named = |mib: u64| chosen(&panex("10"), &with(mib << 20, path)).0;
            assert_eq!(with_named(named), EngineKind::Symbolic);
            assert_eq!(with_named(named - 1), EngineKind::Explicit);
        }
    }

    #[test]
    fn the_reason_names_the_forms_that_a_space_lacks() {
        let (engine, reason) = chosen(&space("tiles", &[("size", "3x3")]), &NEEDS);
        assert_eq!(engine, EngineKind::Explicit);
        assert_eq!(reason, "no other engine searches this space");
        // Panex has a nested form, but not for every search.
        let ends = [("level", "2"), ("start", "b2 / - / o1 b1 o2"), ("goal", "o1 o2 b2 / b1 / -")];
        let (engine, reason) = chosen(&space("panex", &ends), &NEEDS);
        assert_eq!(engine, EngineKind::Explicit);
        assert!(reason.starts_with("the symbolic engine searches between"), "{reason}");
    }

    #[test]
    fn a_puzzle_that_no_engine_takes_is_refused_for_its_keys() {
        let cycle: Vec<String> = (1..=50).map(|point| point.to_string()).collect();
        let file = format!("a = ({})\nb = (1,2)\n", cycle.join(","));
        let puzzle = space("puzzle", &[("file", &strata_space::file_value(&file))]);
        assert!(puzzle.dense_size().is_err());
        let (engine, reason) = chosen(&puzzle, &NEEDS);
        assert_eq!(engine, EngineKind::Explicit);
        assert_eq!(reason, "keys of 215 bits do not fit: the limit is 192");
        // A cube has no dense form, and keys of 67 bits.
        let cube = include_str!("../../puzzles/data/3x3x3.tws");
        let cube = space("puzzle", &[("file", &strata_space::file_value(cube))]);
        assert_eq!(engines_of(&cube), [EngineKind::Explicit]);
    }

    #[test]
    fn options_that_an_engine_does_not_support_exclude_it() {
        let files = EngineNeeds { settings: &["keep_layers"], ..NEEDS };
        let (engine, reason) = chosen(&panex("6"), &files);
        assert_eq!(engine, EngineKind::Explicit);
        assert_eq!(reason, "a symbolic search has no files for `keep_layers`");
        let explicit = EngineNeeds { settings: &["keep_layers", "shards"], ..NEEDS };
        let expected = (EngineKind::Explicit, "`shards` needs it".to_owned());
        assert_eq!(chosen(&panex("6"), &explicit), expected);
        // Hanoi has a dense form, which has files.
        let hanoi = space("hanoi", &[("discs", "5")]);
        assert_eq!(chosen(&hanoi, &files).0, EngineKind::Dense);
        assert_eq!(chosen(&hanoi, &NEEDS).0, EngineKind::Symbolic);
    }

    #[test]
    fn a_named_engine_takes_the_space_and_its_settings_or_refuses() {
        let hanoi = space("hanoi", &[("discs", "5")]);
        let named = |kind, settings: &[&str]| {
            let needs = EngineNeeds { settings, ..NEEDS };
            engine_of(&hanoi, Some(kind), None, &needs).map_err(|error| error.to_string())
        };
        let refused = |kind, settings: &[&str]| named(kind, settings).unwrap_err();
        use EngineKind::{Dense, Explicit, Symbolic};
        assert_eq!(named(Dense, &["workers", "keep_layers"]).unwrap().engine, Dense);
        assert_eq!(named(Explicit, &["k", "antipodes"]).unwrap().engine, Explicit);
        assert_eq!(named(Symbolic, &["verify"]).unwrap().engine, Symbolic);
        assert_eq!(
            refused(Symbolic, &["disk_limit", "shards"]),
            "the symbolic engine does not support `shards`: `engine` explicit does"
        );
        let verify = refused(Explicit, &["verify"]);
        assert_eq!(verify, "the explicit engine does not support `verify`: `engine` symbolic does");
        let k = refused(Dense, &["k"]);
        assert_eq!(k, "the dense engine does not support `k`: `engine` explicit does");
        let tiles = space("tiles", &[("size", "3x3")]);
        let refused = engine_of(&tiles, Some(Symbolic), None, &NEEDS);
        assert!(matches!(refused, Err(Error::Space(SpaceError::NoForm { .. }))), "{refused:?}");
    }

    #[test]
    fn a_resumed_search_keeps_the_engine_of_its_job_if_the_settings_permit_it() {
        let hanoi = space("hanoi", &[("discs", "5")]);
        let resumed = |earlier, settings: &[&str]| {
            let needs = EngineNeeds { settings, ..NEEDS };
            engine_of(&hanoi, None, Some(earlier), &needs).unwrap().engine
        };
        use EngineKind::{Dense, Explicit, Symbolic};
        assert_eq!(resumed(Explicit, &[]), Explicit);
        assert_eq!(resumed(Dense, &["keep_layers"]), Dense);
        assert_eq!(resumed(Symbolic, &["keep_layers"]), Dense);
        assert_eq!(resumed(Dense, &["workers"]), Explicit);
    }

    #[test]
    fn symmetric_states_are_searched_by_the_engine_that_folds_them() {
        let file = |content: &str, symmetry: &str| {
            let file = strata_space::file_value(content);
            space("puzzle", &[("file", &file), ("inverses", "true"), ("symmetry", symmetry)])
        };
        let ring: String = (1..=8).map(|n| format!("({n},{})\n", n % 8 + 1)).collect();
        for symmetry in ["on", "off"] {
            assert_eq!(chosen(&file(&ring, symmetry), &NEEDS).0, EngineKind::Dense);
        }
        // Folded blocks would save too little of a few states.
        let few = "(1,2,3)\n(3,4,5)\n";
        assert_eq!(chosen(&file(few, "off"), &NEEDS).0, EngineKind::Dense);
        let (engine, reason) = chosen(&file(few, "on"), &NEEDS);
        assert_eq!(engine, EngineKind::Explicit);
        assert!(reason.contains("would store every state"), "{reason}");
        assert!(engines_of(&file(few, "on")).contains(&EngineKind::Dense));
    }

    #[test]
    fn the_dense_engine_is_chosen_with_moves_that_cannot_be_undone() {
        let file = strata_space::file_value("turn = (1,2,3,4,5)\nswap = (1,2)\n");
        let puzzle = space("puzzle", &[("file", &file)]);
        assert_eq!(chosen(&puzzle, &NEEDS).0, EngineKind::Dense);
    }

    #[test]
    fn engines_are_listed_in_the_order_of_preference() {
        use EngineKind::{Dense, Explicit, Symbolic};
        assert_eq!(engines_of(&panex("3")), [Symbolic, Explicit]);
        assert_eq!(engines_of(&space("hanoi", &[("discs", "5")])), [Symbolic, Dense, Explicit]);
        assert_eq!(engines_of(&space("tiles", &[("size", "3x3")])), [Explicit]);
    }
}
