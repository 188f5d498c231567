//! Test that the memory of freed allocations is returned to the system. It has its own process, because it
//! changes the allocator of the process.
#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![allow(clippy::unwrap_used)] // clippy.toml allows it in tests, but not in their helpers

/// Resident memory in MiB.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() >> 10
}

#[test]
fn freed_large_allocations_are_returned_while_later_ones_are_in_use() {
    strata_engine::memory::release_large_allocations();
    // From now on, the C library would take allocations of this size from its heap.
    drop(vec![1_u8; 16 << 20]);
    let before = resident();
    let mut kept = Vec::new();
    let large: Vec<Vec<u8>> = (0..16)
        .map(|_| {
            let list = vec![1; 12 << 20];
            kept.push(vec![1_u8; 4 << 10]);
            list
        })
        .collect();
    let most = resident();
    drop(large);
    let left = resident();
    assert!(most >= before + 150, "{before}, then {most} MiB");
    assert!(left <= before + 20, "{before} MiB before, {left} MiB left");
    assert_eq!(kept.len(), 16);
}
