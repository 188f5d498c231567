//! Measurement of what a coordinator needs for many workers: processor time, memory, journal and
//! messages.
//!
//! Usage: `many_workers [--layers N] [WORKERS]...`. For each number of workers the program starts a
//! coordinator as a process of its own, with an empty journal, and that number of light workers in this
//! process, each with a connection of its own. They answer every order at once, with one state a
//! layer. A job of N layers (10,000) runs to its limit, and again from its checkpoint. Prints a table.
//!
//! The times between orders contain the processor time of the light workers, too.

mod light;
mod node;

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use strata_proto::net::Connection;
use strata_proto::v1;
use strata_proto::v1::job_service_client::JobServiceClient;
use tokio::sync::mpsc;

use light::{KINDS, Traffic};
use node::{Node, Usage};

type Failure = Box<dyn Error + Send + Sync>;

/// Numbers of workers that are measured without arguments.
const WORKERS: [u32; 4] = [10, 100, 300, 1000];

/// Layers that are measured without `--layers`.
const LAYERS: u32 = 10_000;

/// Layers before the measurement begins: more than a window.
const WARM_UP: u32 = 1000;

/// Workers that connect at the same time.
const CONNECTING: u32 = 64;

/// Time in which heartbeats alone are measured.
const QUIET: Duration = Duration::from_secs(10);

/// Time limit of a phase.
const LIMIT: Duration = Duration::from_secs(300);

fn main() -> Result<(), Failure> {
    let mut args = std::env::args().skip(1).peekable();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    if args.next_if_eq(node::COORDINATOR).is_some() {
        let folder = args.next().ok_or("a folder is missing")?;
        return runtime.block_on(node::serve(runtime.handle(), folder.as_ref()));
    }
    let layers = match args.next_if_eq("--layers") {
        Some(_) => args.next().ok_or("--layers needs a number")?.parse()?,
        None => LAYERS,
    };
    let mut counts = args.map(|count| count.parse()).collect::<Result<Vec<u32>, _>>()?;
    if counts.is_empty() {
        counts = WORKERS.to_vec();
    }
    println!("{}", Row::HEAD);
    for workers in counts {
        println!("{}", runtime.block_on(measure(workers, layers))?.text());
    }
    Ok(())
}

/// Figures of one number of workers.
struct Row {
    workers: u32,
    /// All registrations.
    registering: Usage,
    /// A second of heartbeats.
    quiet: Usage,
    /// From the order to prepare until the first layers.
    starting: Usage,
    /// One layer.
    layer: Usage,
    /// Time from layer to layer.
    latency: Duration,
    /// The checkpoint.
    checkpoint: Usage,
    /// From the resumption until the first layers after the checkpoint.
    resuming: Usage,
    /// Bytes of an order, by kind.
    order_bytes: [u64; 4],
}

impl Row {
    const HEAD: &str = "workers | registrations: CPU ms, written KB | heartbeats: CPU ms/s | \
        start: CPU ms, peak MiB | layer: CPU ms, wall ms, written bytes, peak MiB | \
        checkpoint: CPU ms, written KB | resume: CPU ms, peak MiB | bytes of an order";

    fn text(&self) -> String {
        let ms = |usage: &Usage| format!("{:.2}", 1000.0 * usage.processor);
        let (kb, mib) = (|usage: &Usage| usage.written / 1000, |usage: &Usage| usage.peak >> 20);
        let orders = KINDS.iter().zip(self.order_bytes);
        let orders: Vec<String> = orders.map(|(kind, bytes)| format!("{kind} {bytes}")).collect();
        format!(
            "{} | {}, {} | {} | {}, {} | {}, {:.2}, {}, {} | {}, {} | {}, {} | {}",
            self.workers,
            ms(&self.registering),
            kb(&self.registering),
            ms(&self.quiet),
            ms(&self.starting),
            mib(&self.starting),
            ms(&self.layer),
            1000.0 * self.latency.as_secs_f64(),
            self.layer.written,
            mib(&self.layer),
            ms(&self.checkpoint),
            kb(&self.checkpoint),
            ms(&self.resuming),
            mib(&self.resuming),
            orders.join(", "),
        )
    }
}

async fn measure(workers: u32, layers: u32) -> Result<Row, Failure> {
    let folder = tempfile::tempdir()?;
    let node = Node::start(folder.path())?;
    let traffic = Arc::new(Traffic::default());
    let registering = register(&node, workers, &traffic).await?;
    let before = node.usage()?;
    tokio::time::sleep(QUIET).await;
    let quiet = node.usage()?.since(&before).divided(QUIET.as_secs_f64());

    let mut client = JobServiceClient::new(light::connect(&node.url).await?);
    let before = node.begin()?;
    let id = client.submit(job(workers, WARM_UP + layers)).await?.into_inner().id;
    until(|| traffic.depth.load(Ordering::Relaxed) >= WARM_UP).await?;
    let starting = node.usage()?.since(&before);
    let (before, begun) = (node.begin()?, Instant::now());
    until(|| traffic.saves.load(Ordering::Relaxed) > 0).await?;
    let (layer, latency) = (node.usage()?.since(&before), begun.elapsed() / layers);
    let before = node.begin()?;
    until_state(&mut client, &id, v1::JobState::Stopped).await?;
    let checkpoint = node.usage()?.since(&before);

    let before = node.begin()?;
    client.resume(v1::JobRef { job: id.clone() }).await?;
    until(|| traffic.depth.load(Ordering::Relaxed) > WARM_UP + layers).await?;
    let resuming = node.usage()?.since(&before);
    client.cancel(v1::JobRef { job: id.clone() }).await?;
    until_state(&mut client, &id, v1::JobState::Cancelled).await?;
    Ok(Row {
        workers,
        registering,
        quiet,
        starting,
        layer: layer.divided(layers.into()),
        latency,
        checkpoint,
        resuming,
        order_bytes: traffic.mean_bytes(),
    })
}

/// Connects workers, some at a time.
async fn register(node: &Node, workers: u32, traffic: &Arc<Traffic>) -> Result<Usage, Failure> {
    let before = node.begin()?;
    let (sender, mut welcomed) = mpsc::unbounded_channel();
    for place in 0..workers {
        tokio::spawn(light::run(node.url.clone(), place, Arc::clone(traffic), sender.clone()));
        if place >= CONNECTING {
            welcomed.recv().await.ok_or("a worker has ended")?;
        }
    }
    for _ in 0..workers.min(CONNECTING) {
        tokio::time::timeout(LIMIT, welcomed.recv()).await?.ok_or("a worker has ended")?;
    }
    Ok(node.usage()?.since(&before))
}

/// A job of as many shards as there are workers, which makes a checkpoint only at its end.
fn job(workers: u32, max_layers: u32) -> v1::SubmitRequest {
    v1::SubmitRequest {
        spec: Some(v1::JobSpec {
            space: "panex".to_owned(),
            parameters: [("level".to_owned(), "9".to_owned())].into(),
            shards: workers,
            engine: "explicit".to_owned(),
        }),
        options: Some(v1::JobOptions {
            checkpoint_interval_ms: 24 * 3_600_000,
            max_layers: Some(max_layers),
            ..v1::JobOptions::default()
        }),
        ..v1::SubmitRequest::default()
    }
}

async fn until(holds: impl Fn() -> bool) -> Result<(), Failure> {
    let begun = Instant::now();
    while !holds() {
        if begun.elapsed() > LIMIT {
            return Err("a phase does not end".into());
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    Ok(())
}

async fn until_state(
    client: &mut JobServiceClient<Connection>,
    id: &str,
    state: v1::JobState,
) -> Result<(), Failure> {
    let begun = Instant::now();
    loop {
        let job = client.status(v1::JobRef { job: id.to_owned() }).await?.into_inner();
        if job.state() == state {
            return Ok(());
        }
        if job.state() == v1::JobState::Failed || begun.elapsed() > LIMIT {
            return Err(format!("the job is {:?}: {}", job.state(), job.error).into());
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
