//! Names of layer files in a job's folder.

/// Final name of a worker's file of one layer.
#[must_use]
pub fn layer_file(depth: u32, worker: u32) -> String {
    format!("layer-{depth:06}-{worker:03}.strata")
}

/// Beginning of the names of files that hold several older layers.
pub(crate) const OLDER_PREFIX: &str = "older-";

/// Final name of a worker's file of several older layers, up to the depth `depth`.
#[must_use]
pub fn older_file(depth: u32, worker: u32) -> String {
    format!("{OLDER_PREFIX}{depth:06}-{worker:03}.strata")
}

/// Final name of a worker's diagram of the last layer, at `depth`, and the layer before.
#[must_use]
pub fn frontier_file(depth: u32, worker: u32) -> String {
    format!("{FRONTIER_PREFIX}{depth:06}-{worker:03}.strata")
}

/// Beginning of the names of diagrams.
const FRONTIER_PREFIX: &str = "frontier-";

/// Whether a name is that of a file of a checkpoint or of a kept layer: a name from [`layer_file`],
/// [`older_file`] or [`frontier_file`], or of a copy of such a file, with a number at the end.
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
    fn layer_files_and_their_copies_are_recognised_by_name() {
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
        // A file received from another worker.
        assert!(!is_layer_file("shared-000001-001.strata"));
    }
}
