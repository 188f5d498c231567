//! Description of the process that holds the lock of a data directory.

use std::fmt;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// Longest command line that is kept, in bytes.
const COMMAND_BYTES: usize = 2_000;

/// A process that holds a lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Its process id.
    pub pid: u32,
    /// When it took the lock, in seconds since 1970.
    pub since: u64,
    /// Its command line.
    pub command: String,
}

impl Holder {
    /// Whether a process with this id runs this command. The id may belong to another process by now. True
    /// on systems other than Linux.
    pub(crate) fn is_running(&self) -> bool {
        if !cfg!(target_os = "linux") {
            return true;
        }
        let line = std::fs::read(Path::new("/proc").join(self.pid.to_string()).join("cmdline"));
        let line = line.unwrap_or_default();
        let words: Vec<_> = line.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
        words.join(" ").trim_end().starts_with(self.command.trim_end())
    }

    /// This process, with the current time as [`Self::since`].
    pub(crate) fn this() -> Holder {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let words: Vec<String> =
            std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
        let mut command = words.join(" ");
        command.truncate(command.floor_char_boundary(COMMAND_BYTES));
        Holder { pid: std::process::id(), since, command }
    }

    /// Whether a process with this id exists. A process in another container may be invisible here. True
    /// on systems other than Linux.
    pub(crate) fn is_visible(&self) -> bool {
        !cfg!(target_os = "linux") || Path::new("/proc").join(self.pid.to_string()).exists()
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let (amount, unit) = match now.saturating_sub(self.since) {
            age @ 0..120 => (age, "s"),
            age @ 120..7_200 => (age / 60, "min"),
            age => (age / 3600, "h"),
        };
        write!(f, "process {}, for {amount} {unit}: {}", self.pid, self.command)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_holding_time_is_shown_in_its_largest_unit() {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
        let shown =
            |age| Holder { pid: 7, since: now - age, command: "a b".to_owned() }.to_string();
        assert_eq!(shown(300), "process 7, for 5 min: a b");
        assert_eq!(shown(200_000), "process 7, for 55 h: a b");
        let future = Holder { pid: 7, since: u64::MAX, command: "a".to_owned() };
        assert_eq!(future.to_string(), "process 7, for 0 s: a");
    }
}
