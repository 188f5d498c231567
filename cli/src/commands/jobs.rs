//! The commands that speak with a cluster.
//!
//! `remote.rs` is the thin edge at which everything asynchronous happens; all else is plain calls.
//! `account.rs` makes events of what happens in a job, `follow.rs` stays with a job until it ends,
//! `record.rs` and `report.rs` show jobs and workers, `path.rs` traces moves back.

use std::io::Write;
use std::time::{Duration, SystemTime};

use strata::KeepLayers;
use strata_net::NetError;
use strata_proto::v1;

use crate::args::cluster::{
    ClientArgs, HealthArgs, JobArgs, ListArgs, LogsArgs, ResumeArgs, StatusArgs, SubmitArgs,
};
use crate::client::follow::Follower;
use crate::client::record::HealthLine;
use crate::client::remote::{Remote, refusal};
use crate::client::{account, record, remote, report};
use crate::commands::stats::table::Row;
use crate::output::console::Console;
use crate::output::exit::{ExitCode, Failure};
use crate::output::stdout;
use crate::spaces::request;

/// Runs `strata submit`.
pub(crate) fn submit(args: &SubmitArgs, console: &Console) -> Result<ExitCode, Failure> {
    let space = request::open(&args.domain, &args.args, args.parameters())?;
    let spec = v1::JobSpec {
        space: space.name().to_owned(),
        parameters: space.parameters().into_iter().collect(),
        shards: args.shards.unwrap_or(0),
        engine: args.engine.kind().unwrap_or_default().name().to_owned(),
    };
    drop(space);
    let request = v1::SubmitRequest {
        spec: Some(spec),
        options: Some(options(args)),
        name: args.name.clone().unwrap_or_default(),
    };
    let remote = Remote::connect(&args.client)?;
    let job = remote.submit(request)?;
    if args.detach {
        return detached(&job, console);
    }
    tracing::info!("job {} submitted to {}", job.id, args.client.coordinator);
    Follower::of(remote, console, job)?.run()
}

fn options(args: &SubmitArgs) -> v1::JobOptions {
    use v1::keep_layers::Which;
    let keep = match args.keep_layers {
        KeepLayers::All => Which::All(true),
        KeepLayers::Last => Which::Last(true),
        KeepLayers::Every(number) => Which::Every(number.get()),
    };
    // 0 would be the coordinator's default.
    let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX).max(1);
    v1::JobOptions {
        checkpoint_interval_ms: args.checkpoint_interval.map_or(0, milliseconds),
        max_layers: args.max_layers,
        disk_limit_bytes: args.disk_limit,
        keep: Some(v1::KeepLayers { which: Some(keep) }),
    }
}

/// Tells which job it is, for whoever comes back later.
fn detached(job: &v1::Job, console: &Console) -> Result<ExitCode, Failure> {
    stdout::print(|out| {
        if console.json { record::write_job(job, out) } else { writeln!(out, "{}", job.id) }
    })?;
    Ok(ExitCode::Done)
}

/// Runs `strata watch`.
pub(crate) fn watch(args: &JobArgs, console: &Console) -> Result<ExitCode, Failure> {
    Follower::new(Remote::connect(&args.client)?, console, &args.job)?.run()
}

/// Runs `strata resume`.
pub(crate) fn resume(args: &ResumeArgs, console: &Console) -> Result<ExitCode, Failure> {
    let remote = Remote::connect(&args.client)?;
    let job = remote.resume(&args.job)?;
    if args.detach {
        return detached(&job, console);
    }
    Follower::of(remote, console, job)?.run()
}

/// Runs `strata cancel`.
pub(crate) fn cancel(args: &JobArgs, console: &Console) -> Result<ExitCode, Failure> {
    let job = Remote::connect(&args.client)?.cancel(&args.job)?;
    stdout::print(|out| {
        if console.json { record::write_job(&job, out) } else { report::cancelled(&job, out) }
    })?;
    Ok(ExitCode::Done)
}

/// Runs `strata list`.
pub(crate) fn list(args: &ListArgs, console: &Console) -> Result<ExitCode, Failure> {
    let jobs = Remote::connect(&args.client)?.list()?;
    stdout::print(|out| {
        if console.json {
            jobs.iter().try_for_each(|job| record::write_job(job, out))
        } else {
            report::jobs(&jobs, SystemTime::now(), out)
        }
    })?;
    Ok(ExitCode::Done)
}

/// Runs `strata status`.
pub(crate) fn status(args: &StatusArgs, console: &Console) -> Result<ExitCode, Failure> {
    let remote = Remote::connect(&args.client)?;
    let now = SystemTime::now();
    if let Some(job) = &args.job {
        let job = remote.status(job)?;
        stdout::print(|out| {
            if console.json { record::write_job(&job, out) } else { report::job(&job, now, out) }
        })?;
        return Ok(ExitCode::Done);
    }
    let (workers, mut jobs) = (remote.workers()?, remote.list()?);
    jobs.retain(|job| !record::has_ended(job));
    stdout::print(|out| {
        if console.json {
            workers.iter().try_for_each(|worker| record::write_worker(worker, out))?;
            jobs.iter().try_for_each(|job| record::write_job(job, out))
        } else {
            report::cluster(&args.client.coordinator, &workers, &jobs, now, out)
        }
    })?;
    Ok(ExitCode::Done)
}

/// Runs `strata logs`.
pub(crate) fn logs(args: &LogsArgs, console: &Console) -> Result<ExitCode, Failure> {
    let remote = Remote::connect(&args.client)?;
    let mut lines = remote.logs(&args.job, args.follow)?;
    let mut output = stdout::Output::stdout();
    while let Some(line) = remote.next(&mut lines)? {
        output.write_with(|out| {
            if console.json { record::write_log(&line, out) } else { report::log(&line, out) }
        });
        if args.follow {
            output.flush();
        }
    }
    output.finish().map_err(stdout::failure)?;
    Ok(ExitCode::Done)
}

/// The layer table of a cluster's job.
pub(crate) fn layers(args: &ClientArgs, job: &str) -> Result<Vec<Row>, Failure> {
    let mut end = 0.0;
    let rows = Remote::connect(args)?.layers(job)?.layers.into_iter().map(|line| Row {
        depth: line.depth,
        states: line.states,
        generated: line.generated,
        regions: line.regions,
        bytes: line.bytes,
        digest: record::digest(line.digest),
        seconds: account::took(line.seconds, std::mem::replace(&mut end, line.seconds)),
    });
    Ok(rows.collect())
}

/// Runs `strata health`.
pub(crate) fn health(args: &HealthArgs, console: &Console) -> Result<ExitCode, Failure> {
    let (security, url) = (args.client.security.open()?, args.node());
    let failure = match remote::health(url, &security)? {
        Ok(()) => None,
        Err(error @ (NetError::Unreachable { .. } | NetError::Refused { .. })) => {
            Some(Failure::new(ExitCode::Unreachable, error))
        }
        Err(error) => return Err(refusal(&error)),
    };
    let line = HealthLine::new(url, failure.as_ref());
    if console.json {
        stdout::print(|out| line.write(out))?;
    } else if failure.is_none() {
        stdout::print(|out| writeln!(out, "{url} is healthy"))?;
    }
    failure.map_or(Ok(ExitCode::Done), Err)
}
