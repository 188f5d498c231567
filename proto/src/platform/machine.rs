//! The machine as a worker describes it to others.

use std::fs;

/// A machine. Several processes and containers may share it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// The same for all processes of one machine until it is started again; empty if the system does
    /// not tell.
    pub id: String,
    /// Number of processors; 0 if the system does not tell.
    pub processors: u32,
}

impl Machine {
    /// This machine. May block.
    pub fn this() -> Machine {
        let read = |path| fs::read_to_string(path).unwrap_or_default();
        let id = read("/proc/sys/kernel/random/boot_id").trim().to_owned();
        Machine { id, processors: count(&read("/sys/devices/system/cpu/online")).unwrap_or(0) }
    }
}

/// Counts a list of numbers and ranges, such as `0-3,8`; `None` if it is not one.
fn count(list: &str) -> Option<u32> {
    list.trim().split(',').try_fold(0_u32, |sum, range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        sum.checked_add(last.checked_sub(first)?.checked_add(1)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_processors_are_counted() {
        let lists = ["0\n", "0-3,8\n", "0-1,4-5,7", "", "x", "3-1", "0-4294967295"];
        let found = lists.map(count);
        assert_eq!(found, [Some(1), Some(5), Some(5), None, None, None, None]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_machine_is_known() {
        let machine = Machine::this();
        assert_eq!((machine.id.len(), machine.processors > 0), (36, true));
        assert_eq!(machine, Machine::this());
    }
}
