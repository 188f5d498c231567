//! Resident memory of this process, as the operating system counts it.

/// The peak resident memory since the start or the last [`reset_peak`], in bytes; `None` where the
/// system does not provide it.
pub fn peak() -> Option<u64> {
    field("VmHWM:")
}

/// Resets the peak of [`peak`] to the current resident memory. Returns whether the system supports this.
pub fn reset_peak() -> bool {
    cfg!(target_os = "linux") && std::fs::write("/proc/self/clear_refs", "5").is_ok()
}

/// The resident memory now in bytes; `None` where the system does not provide it.
pub fn current() -> Option<u64> {
    field("VmRSS:")
}

fn field(name: &str) -> Option<u64> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    parse(&std::fs::read_to_string("/proc/self/status").ok()?, name)
}

/// Finds `name` in a status file and turns its kibibytes into bytes.
fn parse(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_of_the_status_is_parsed_in_bytes() {
        let status = "Name:\tstrata\nVmHWM:\t   62464 kB\nVmRSS:\t   1 kB\n";
        assert_eq!(parse(status, "VmHWM:"), Some(62464 * 1024));
        assert_eq!(parse(status, "VmRSS:"), Some(1024));
        assert_eq!(parse(status, "VmSwap:"), None);
        assert_eq!(parse("VmHWM:\tmuch kB\n", "VmHWM:"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_memory_of_this_process_is_not_zero() {
        let now = current().unwrap();
        assert!(now > 0);
        assert!(peak().unwrap() > 0);
    }
}
