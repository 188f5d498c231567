//! Names of layer files.

/// Name of a worker's file of a layer, once it is durable.
#[must_use]
pub fn layer_file(depth: u32, worker: u32) -> String {
    format!("layer-{depth:06}-{worker:03}.strata")
}

/// First characters of the names of files that hold older layers together.
pub(crate) const OLDER_PREFIX: &str = "older-";

/// Name of a worker's file of older layers up to a depth, once it is durable.
#[must_use]
pub fn older_file(depth: u32, worker: u32) -> String {
    format!("{OLDER_PREFIX}{depth:06}-{worker:03}.strata")
}

/// Name of the diagram of a worker's last layer and the one before, once it is durable.
#[must_use]
pub fn frontier_file(depth: u32, worker: u32) -> String {
    format!("{FRONTIER_PREFIX}{depth:06}-{worker:03}.strata")
}

/// First characters of the names of diagrams.
const FRONTIER_PREFIX: &str = "frontier-";

/// Whether a name is one that a worker's file of a checkpoint or a kept layer has: that of
/// [`layer_file`], [`older_file`] or [`frontier_file`], or of a copy of it, whose number is at the end.
#[must_use]
pub fn is_layer_file(name: &str) -> bool {
    let kinds = ["layer-", OLDER_PREFIX, FRONTIER_PREFIX];
    let numbers = kinds.iter().find_map(|kind| name.strip_prefix(kind)?.strip_suffix(".strata"));
    let Some(numbers) = numbers else { return false };
    let is_number = |text: &str, digits: usize| {
        (digits..=10).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let numbers: Vec<&str> = numbers.split('-').collect();
    match numbers[..] {
        [depth, worker] => is_number(depth, 6) && is_number(worker, 3),
        [depth, worker, copy] => is_number(depth, 6) && is_number(worker, 3) && is_number(copy, 1),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layer_files_and_their_copies_are_known_by_name() {
        for (depth, worker) in [(0, 0), (7, 12), (u32::MAX, 4095)] {
            for name in [layer_file, older_file, frontier_file].map(|name| name(depth, worker)) {
                assert!(is_layer_file(&name), "{name}");
                assert!(is_layer_file(&name.replace(".strata", "-3.strata")), "{name}");
                assert!(!is_layer_file(&format!("{name}.tmp")) && !is_layer_file(&name[1..]));
                assert!(!is_layer_file(&name.replace(".strata", "-1-2.strata")), "{name}");
            }
        }
        for other in
            ["journal-id", "manifest.json", ".lock", "layer-.strata", "layer-1-2.strata", ""]
        {
            assert!(!is_layer_file(other), "{other}");
        }
        assert!(!is_layer_file("layer-000001-0x1.strata"));
        // Another worker's file under a name of its own.
        assert!(!is_layer_file("shared-000001-001.strata"));
    }
}
