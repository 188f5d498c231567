//! Description of the machine that a worker sends to the coordinator.

use std::fs;

/// A machine, which several processes and containers may share.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// Id of the machine until its next start, the same for all its processes; empty if the system
    /// does not provide it.
    pub id: String,
    /// Number of processors; 0 if the system does not provide it.
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

/// Length of a list of numbers and ranges, such as `0-3,8`; `None` if the text is malformed.
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
    fn this_machine_has_an_id_and_processors() {
        let machine = Machine::this();
        assert_eq!((machine.id.len(), machine.processors > 0), (36, true));
        assert_eq!(machine, Machine::this());
    }
}
