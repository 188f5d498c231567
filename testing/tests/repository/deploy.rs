//! Tests of `deploy/`: alerts and dashboard use metrics that exist, their page lists the alerts, and the
//! image has the version of the workspace.

use std::collections::BTreeSet;

use serde_json::Value;
use strata_checks::workspace::root;

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Words of a text that begin with `strata_`.
fn metrics_in(text: &str) -> BTreeSet<String> {
    let words = text.split(|symbol: char| !symbol.is_ascii_alphanumeric() && symbol != '_');
    words.filter(|word| word.starts_with("strata_")).map(str::to_owned).collect()
}

/// The metrics of the tables in docs/metrics.md, which another test compares with the program.
fn known() -> BTreeSet<String> {
    let page = read("docs/metrics.md");
    let names = page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    names.filter(|name| name.starts_with("strata_")).map(str::to_owned).collect()
}

/// The strings under keys of this name, at any depth.
fn strings<'a>(value: &'a Value, key: &str, found: &mut Vec<&'a str>) {
    match value {
        Value::Object(fields) => {
            found.extend(fields.get(key).and_then(Value::as_str));
            fields.values().for_each(|value| strings(value, key, found));
        }
        Value::Array(values) => values.iter().for_each(|value| strings(value, key, found)),
        _ => {}
    }
}

#[test]
fn the_dashboard_queries_metrics_that_exist() {
    let dashboard: Value = serde_json::from_str(&read("deploy/grafana/strata.json")).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let mut queries = Vec::new();
    strings(&dashboard, "expr", &mut queries);
    assert!(queries.len() >= panels.len(), "a panel has no query");
    strings(&dashboard, "definition", &mut queries);
    let known = known();
    for query in queries {
        let used = metrics_in(query);
        assert!(!used.is_empty() || query.starts_with("up{"), "no metric: {query}");
        for name in used {
            assert!(known.contains(&name), "no metric {name}: {query}");
        }
    }
    let ids: BTreeSet<u64> = panels.iter().map(|panel| panel["id"].as_u64().unwrap()).collect();
    assert_eq!(ids.len(), panels.len(), "panels have one id");
}

#[test]
fn the_alerts_use_metrics_that_exist() {
    let used = metrics_in(&read("deploy/prometheus/strata.rules.yml"));
    assert!(used.len() > 5, "{used:?}");
    let known = known();
    let missing: Vec<&String> = used.iter().filter(|name| !known.contains(*name)).collect();
    assert!(missing.is_empty(), "no metrics {missing:?}");
}

#[test]
fn the_page_lists_the_alerts_and_each_is_tested() {
    let rules = read("deploy/prometheus/strata.rules.yml");
    let alerts: BTreeSet<&str> =
        rules.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")).collect();
    let page = read("docs/metrics.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `Strata")?.split('`').next());
    let listed: BTreeSet<String> = rows.map(|name| format!("Strata{name}")).collect();
    assert!(listed.iter().eq(alerts.iter()), "{listed:?} {alerts:?}");
    let tests = read("deploy/prometheus/strata.test.yml");
    for alert in alerts {
        // Once where it must not fire, once where it must.
        let silent = format!("{{alertname: {alert}, ");
        let fires = format!("- alertname: {alert}\n");
        assert!(tests.contains(&silent) && tests.contains(&fires), "no test of {alert}");
    }
}

#[test]
fn the_image_on_kubernetes_has_the_version_of_the_workspace() {
    let manifest = read("Cargo.toml");
    let version = manifest.lines().find_map(|line| line.strip_prefix("version = \""));
    let version = version.unwrap().trim_end_matches('"');
    let images = read("deploy/kubernetes/kustomization.yaml");
    let tags: Vec<&str> =
        images.lines().filter_map(|line| line.trim().strip_prefix("newTag: ")).collect();
    assert_eq!(tags, [version]);
    assert!(read("docs/deployment.md").contains(&format!("`strata:{version}`")));
}
