//! Searches that the engines cannot make: run in memory, by the puzzle's own code.

use super::args::SolveArgs;
use crate::output::console::Console;
use crate::output::exit::{ExitCode, Failure};
use crate::spaces::request;
use crate::spaces::shipped::{self, InMemory, MemoryRun};

/// Searches, if the command line requests such a search.
///
/// # Errors
/// If a flag or the search is refused, or it fails.
pub(super) fn run(args: &SolveArgs, console: &Console) -> Result<Option<ExitCode>, Failure> {
    let Some(search) = requested(args) else { return Ok(None) };
    let line = &args.search.line;
    let engine = args.search.engine.kind().filter(|_| line.typed("engine"));
    let engine = engine.map(|kind| format!("engine {}", kind.name()));
    let typed = search.unsupported.iter().find(|flag| line.typed(flag)).map(ToString::to_string);
    if let Some(flag) = engine.or(typed) {
        let what = search.what;
        let message = format!("--{flag}: {what} are searched in memory, by one thread");
        return Err(Failure::usage(message));
    }
    if args.search.dry_run {
        let what = search.what;
        let message =
            format!("--dry-run: nothing is known of {what}, which are searched in memory");
        return Err(Failure::usage(message));
    }
    let given =
        request::parameters(&args.search.domain, &args.search.args, args.search.parameters())?;
    let path = args.path.wanted().then_some(&args.path.form);
    let run = MemoryRun { given: &given, memory: args.memory, path, console };
    (search.run)(&run).map(Some)
}

fn requested(args: &SolveArgs) -> Option<&'static InMemory> {
    let search = shipped::of(&args.search.domain)?.in_memory.as_ref()?;
    let (name, value) = search.request;
    (args.search.own.value(name) == Some(value)).then_some(search)
}
