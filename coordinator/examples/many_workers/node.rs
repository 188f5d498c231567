//! The coordinator as a process of its own, and its use of resources.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use strata_coordinator::{ClusterOptions, Coordinator, DashboardOptions, JournalSetup, Retention};
use strata_proto::net::Security;
use strata_proto::platform::{Platform, System};
use strata_run::catalogue::Registry;
use tokio::runtime::Handle;

use crate::Failure;

/// First argument of the coordinator's process.
pub(crate) const COORDINATOR: &str = "coordinator";

/// Clock ticks a second in `/proc/PID/stat`, on every architecture of Linux.
const TICKS: f64 = 100.0;

/// Runs a coordinator until the process is killed. Prints its address.
///
/// # Errors
/// If it cannot listen, or its journal cannot be opened.
pub(crate) async fn serve(runtime: &Handle, folder: &Path) -> Result<(), Failure> {
    let platform: Arc<dyn Platform> = System::new(runtime);
    let options = ClusterOptions {
        lease: Duration::from_secs(10),
        worker_timeout: Duration::from_secs(60),
        checkpoint_interval: Duration::from_secs(30),
        has_store: false,
        narrow: Some(0),
        columns: None,
        log_interval: Duration::from_secs(30),
        puzzles: Arc::new(Registry::shipped()),
        retention: Retention::default(),
        journal: JournalSetup::on(&platform),
        dashboard: DashboardOptions::default(),
        platform,
    };
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let coordinator = Coordinator::bind(options, folder, Security::default(), any, any).await?;
    println!("{}", coordinator.addresses().0);
    coordinator.run(std::future::pending()).await?;
    Ok(())
}

/// Resources that a process has used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage {
    /// Processor time in seconds.
    pub(crate) processor: f64,
    /// Bytes written to files.
    pub(crate) written: u64,
    /// Most resident memory since the phase began, in bytes.
    pub(crate) peak: u64,
}

impl Usage {
    /// The difference to an earlier moment; the peak is the later one.
    pub(crate) fn since(&self, before: &Usage) -> Usage {
        Usage {
            processor: self.processor - before.processor,
            written: self.written - before.written,
            peak: self.peak,
        }
    }

    /// The mean over `parts` parts; the peak is that of all.
    pub(crate) fn divided(&self, parts: f64) -> Usage {
        let written = (self.written as f64 / parts).round() as u64;
        Usage { processor: self.processor / parts, written, peak: self.peak }
    }
}

/// A coordinator's process. It is killed at the end.
pub(crate) struct Node {
    child: Child,
    /// Its URL.
    pub(crate) url: String,
}

impl Node {
    /// Starts a coordinator with a data directory.
    ///
    /// # Errors
    /// If it does not start.
    pub(crate) fn start(folder: &Path) -> Result<Node, Failure> {
        let mut command = Command::new(std::env::current_exe()?);
        let command = command.arg(COORDINATOR).arg(folder).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let output = child.stdout.take().ok_or("no output")?;
        let mut address = String::new();
        BufReader::new(output).read_line(&mut address)?;
        Ok(Node { child, url: format!("http://{}", address.trim()) })
    }

    /// Begins a phase: the peak of the memory is counted from now on.
    ///
    /// # Errors
    /// If the process has ended.
    pub(crate) fn begin(&self) -> Result<Usage, Failure> {
        std::fs::write(self.proc("clear_refs"), "5")?;
        self.usage()
    }

    /// What it has used so far.
    ///
    /// # Errors
    /// If the process has ended.
    pub(crate) fn usage(&self) -> Result<Usage, Failure> {
        let stat = std::fs::read_to_string(self.proc("stat"))?;
        let (_, fields) = stat.rsplit_once(')').ok_or("no statistics")?;
        let fields: Vec<&str> = fields.split_whitespace().collect();
        let ticks = fields[11].parse::<f64>()? + fields[12].parse::<f64>()?;
        let status = std::fs::read_to_string(self.proc("status"))?;
        let io = std::fs::read_to_string(self.proc("io"))?;
        Ok(Usage {
            processor: ticks / TICKS,
            written: value(&io, "write_bytes:")?,
            peak: value(&status, "VmHWM:")? << 10,
        })
    }

    fn proc(&self, file: &str) -> String {
        format!("/proc/{}/{file}", self.child.id())
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The number of a line.
fn value(text: &str, name: &str) -> Result<u64, Failure> {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|rest| rest.split_whitespace().next()).ok_or(name)?;
    Ok(number.parse()?)
}
