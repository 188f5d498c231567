//! Benchmark of the overhead of a cluster: `cargo bench -p strata-cli --bench cluster -- [LEVEL]
//! [ROUNDS] [WORKERS] [THREADS]` (by default 7, 3, 3, and 2 threads for each worker).
//!
//! Each round runs Panex three times: in one process with a thread for each processor, in one process
//! with embedded workers, and in a cluster of as many worker processes on this machine. The variants
//! alternate, so that other load on the machine affects all of them. A small search, every layer of
//! which all workers share, then shows the fixed cost of a layer.

use std::error::Error;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Level of the search with narrow layers, and the number of its first layers that the average leaves
/// out: one worker makes them until the others have joined.
const NARROW: (u32, usize) = (5, 20);

fn strata() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_strata"));
    command.stdin(Stdio::null()).stderr(Stdio::null());
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("STRATA_")) {
        command.env_remove(name);
    }
    command
}

/// Runs a command that prints events, and returns the seconds in its result.
fn seconds(command: &mut Command) -> Result<f64> {
    let output = command.args(["--json", "--progress", "none"]).output()?;
    let text = String::from_utf8(output.stdout)?;
    let last: serde_json::Value = serde_json::from_str(text.lines().last().unwrap_or("null"))?;
    match (output.status.success(), last["seconds"].as_f64()) {
        (true, Some(seconds)) => Ok(seconds),
        _ => Err(format!("{command:?} ended with {}: {last}", output.status).into()),
    }
}

fn solve(level: u32, how: &[&str]) -> Result<f64> {
    let folder = tempfile::tempdir()?;
    let mut command = strata();
    command.args(["solve", "panex", &level.to_string(), "--engine", "explicit"]);
    command.arg("--data-dir").arg(folder.path()).args(how);
    seconds(&mut command)
}

/// Processes of a cluster, killed on drop.
struct Cluster {
    nodes: Vec<Child>,
    url: String,
    _folder: tempfile::TempDir,
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for node in &mut self.nodes {
            let _ = node.kill();
            let _ = node.wait();
        }
    }
}

fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

impl Cluster {
    fn start(workers: usize, threads: usize, more: &[&str]) -> Result<Cluster> {
        let folder = tempfile::tempdir()?;
        let listen = format!("127.0.0.1:{}", free_port()?);
        let url = format!("http://{listen}");
        let mut cluster = Cluster { nodes: Vec::new(), url, _folder: folder };
        let data = cluster._folder.path().to_owned();
        let mut coordinator = strata();
        coordinator.args(["coordinator", "--listen", &listen]).args(more);
        cluster.spawn(&mut coordinator, &data.join("coordinator"))?;
        for number in 1..=workers {
            let mut worker = strata();
            let listen = format!("127.0.0.1:{}", free_port()?);
            worker.args(["worker", "--coordinator", &cluster.url, "--listen", &listen]);
            worker.args(["--threads", &threads.to_string()]);
            cluster.spawn(&mut worker, &data.join(format!("worker-{number}")))?;
        }
        for _ in 0..300 {
            let mut status = strata();
            let output =
                status.args(["status", "--json", "--coordinator", &cluster.url]).output()?;
            let text = String::from_utf8(output.stdout)?;
            if text.matches("\"alive\":true").count() == workers {
                return Ok(cluster);
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Err("the workers did not connect".into())
    }

    fn spawn(&mut self, command: &mut Command, data: &Path) -> Result<()> {
        self.nodes.push(command.arg("--data-dir").arg(data).stdout(Stdio::null()).spawn()?);
        Ok(())
    }

    fn submit(&self, level: u32) -> Result<f64> {
        let mut command = strata();
        command.args(["submit", "panex", &level.to_string(), "--engine", "explicit"]);
        command.args(["--coordinator", &self.url]);
        seconds(&mut command)
    }

    /// Seconds that each layer of the only job took.
    fn layers(&self) -> Result<Vec<f64>> {
        let list = strata().args(["list", "--json", "--coordinator", &self.url]).output()?;
        let job: serde_json::Value = serde_json::from_slice(&list.stdout)?;
        let job = job["job"].as_str().ok_or("no job is listed")?;
        let mut command = strata();
        command.args(["stats", job, "--format", "csv", "--coordinator", &self.url]);
        let table = String::from_utf8(command.output()?.stdout)?;
        let mut lines = table.lines().map(|line| line.split(','));
        let mut heads = lines.next().ok_or("an empty table")?;
        let column = heads.position(|head| head == "seconds").ok_or("no column of seconds")?;
        let times = lines.filter_map(|mut line| line.nth(column)?.parse().ok());
        Ok(times.collect())
    }
}

/// Worker processes of a comparison.
#[derive(Copy, Clone)]
struct Workers {
    count: usize,
    /// Threads of each worker process.
    threads: usize,
}

fn compare(level: u32, rounds: usize, workers: Workers) -> Result<()> {
    let processors = std::thread::available_parallelism()?.to_string();
    let Workers { count, threads } = workers;
    let mut best = [f64::INFINITY; 3];
    for round in 1..=rounds {
        let times = [
            solve(level, &["--threads", &processors])?,
            solve(level, &["--workers", &count.to_string()])?,
            Cluster::start(count, threads, &[])?.submit(level)?,
        ];
        println!(
            "round {round}: one process {:.2} s, {count} embedded workers {:.2} s, {count} processes \
             {:.2} s",
            times[0], times[1], times[2]
        );
        best.iter_mut().zip(times).for_each(|(best, time)| *best = best.min(time));
    }
    println!("speed against one process of {processors} threads, least times of Panex {level}:");
    println!("  {count} embedded workers: {:.2}", best[0] / best[1]);
    println!("  {count} processes of {threads} threads: {:.2}", best[0] / best[2]);
    Ok(())
}

fn layer_cost(rounds: usize, workers: Workers) -> Result<()> {
    let (level, skipped) = NARROW;
    let mut least = f64::INFINITY;
    for _ in 0..rounds {
        // Every layer is wide enough to be shared by all workers.
        let cluster = Cluster::start(workers.count, workers.threads, &["--narrow", "1"])?;
        cluster.submit(level)?;
        let times = cluster.layers()?;
        let times = times.get(skipped..).filter(|times| !times.is_empty()).ok_or("no layers")?;
        least = least.min(times.iter().sum::<f64>() / times.len() as f64);
    }
    let alone = solve(level, &["--threads", "1"])?;
    println!("a layer of Panex {level} across the processes: {:.2} ms", 1e3 * least);
    println!("all of its layers in one process: {:.0} ms", 1e3 * alone);
    Ok(())
}

fn main() -> Result<()> {
    // Cargo adds a flag of its own.
    let mut numbers = std::env::args().skip(1).filter(|word| word != "--bench");
    let level = numbers.next().map_or(Ok(7), |word| word.parse())?;
    let rounds = numbers.next().map_or(Ok(3), |word| word.parse())?;
    let count = numbers.next().map_or(Ok(3), |word| word.parse())?;
    let threads = numbers.next().map_or(Ok(2), |word| word.parse())?;
    let workers = Workers { count, threads };
    compare(level, rounds, workers)?;
    layer_cost(rounds, workers)
}
