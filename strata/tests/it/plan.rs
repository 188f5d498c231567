//! Scripted tests of the plan: sequences of inputs, and the commands that follow.

use std::num::NonZeroU32;

use strata::LayerRecord;
use strata_run::{
    Command, Input, LayerReport, Plan, PlanOptions, Refusal, ResumePoint, Start, StopReason,
};
use strata_space::{Finish, LayerStats};
use strata_store::{CheckpointFile, Digest, EngineKind, Hex64, Weight};

pub(crate) fn options(rule: Finish<()>) -> PlanOptions {
    PlanOptions {
        rule,
        max_layers: None,
        disk_limit: None,
        engine: EngineKind::Explicit,
        is_directed: false,
        is_folded: false,
        states_are_orbits: false,
    }
}

fn plan(rule: Finish<()>) -> Plan {
    Plan::new(options(rule), Start::Seeds)
}

fn numbers(states: u64) -> LayerStats {
    LayerStats {
        states,
        positions: states,
        generated: 3 * states,
        regions: states.min(1),
        ..LayerStats::default()
    }
}

/// A report of a layer with these figures.
fn report(depth: u32, stats: &LayerStats) -> LayerReport {
    let mut report = LayerReport::of(depth, stats);
    report.layer.bytes = stats.states.saturating_mul(10);
    report
}

fn layer(depth: u32, stats: LayerStats) -> Input {
    Input::Layer(Box::new(report(depth, &stats)))
}

/// A file with the layer that [`numbers`] describes.
fn record(worker: u32, depth: u32, states: u64) -> CheckpointFile {
    let LayerStats { regions, positions, generated, .. } = numbers(states);
    CheckpointFile {
        depth,
        worker,
        file: format!("layer-{depth}-{worker}"),
        bytes: 5,
        states,
        positions,
        regions,
        generated,
        digest: Digest::default(),
        seal: Hex64::default(),
    }
}

/// A checkpoint of one worker. `states` are those of the layers up to `depth`.
fn saved(depth: u32, states: &[u64]) -> Input {
    let depths = depth + 1 - states.len() as u32..=depth;
    let files = depths.zip(states).map(|(depth, states)| record(0, depth, *states));
    Input::Saved { depth, records: files.collect() }
}

/// The pending commands of the plan, in short form.
fn commands(plan: &mut Plan) -> Vec<String> {
    let mut all = Vec::new();
    while let Some(command) = plan.next_command() {
        all.push(match command {
            Command::Seed => "seed".to_owned(),
            Command::Restore => "restore".to_owned(),
            Command::Advance { depth, last: u32::MAX } => format!("advance {depth}"),
            Command::Advance { depth, last } => format!("advance {depth} to {last}"),
            Command::Commit(layer) => format!("commit {}: {}", layer.depth, layer.states),
            Command::Save { depth } => format!("save {depth}"),
            Command::Publish(p) => {
                format!("publish {} of {} files: {:?}", p.depth, p.records.len(), p.ending)
            }
            Command::End(outcome) => format!("end: {outcome:?}"),
        });
    }
    all
}

/// Reports layers 0, 1, … with these figures. Returns the last commands.
fn play(plan: &mut Plan, layers: &[LayerStats]) -> Vec<String> {
    for (depth, stats) in (0..).zip(layers) {
        commands(plan);
        plan.handle(layer(depth, *stats)).unwrap();
    }
    commands(plan)
}

/// Reports layers 0, 1, … with these figures to a new plan. Returns it, with its answer to the last.
fn answer(options: PlanOptions, layers: &[LayerStats]) -> (Plan, Result<(), Refusal>) {
    let mut plan = Plan::new(options, Start::Seeds);
    let (last, before) = layers.split_last().unwrap();
    play(&mut plan, before);
    let handled = plan.handle(layer(before.len() as u32, *last));
    (plan, handled)
}

/// Saves and publishes the layers up to `depth`, of which the last have these states.
fn finish(plan: &mut Plan, depth: u32, states: &[u64]) -> Vec<String> {
    plan.handle(saved(depth, states)).unwrap();
    let mut all = commands(plan);
    plan.handle(Input::Published { depth }).unwrap();
    all.extend(commands(plan));
    all
}

#[test]
fn searches_meet_after_an_odd_or_even_number_of_moves() {
    for (odd, even, moves) in [(true, false, 3), (false, true, 4), (true, true, 3)] {
        let mut plan = plan(Finish::Meeting);
        let last = LayerStats { odd, even, ..numbers(2) };
        let end = play(&mut plan, &[numbers(1), numbers(2), last]);
        assert_eq!(end, ["commit 2: 2", "save 2"]);
        assert_eq!(
            finish(&mut plan, 2, &[2, 2]),
            [format!("publish 2 of 2 files: Some(Goal({moves}))"), format!("end: Goal({moves})")]
        );
        assert_eq!((plan.totals().states, plan.totals().depth), (5, 2));
        assert_eq!((plan.totals().widest, plan.totals().widest_depth), (2, 1));
    }
}

#[test]
fn the_start_may_be_the_goal() {
    let mut plan = plan(Finish::State(()));
    let end = play(&mut plan, &[LayerStats { found: true, ..numbers(1) }]);
    assert_eq!(end, ["commit 0: 1", "save 0"]);
    assert_eq!(finish(&mut plan, 0, &[1]), ["publish 0 of 1 files: Some(Goal(0))", "end: Goal(0)"]);
}

#[test]
fn meetings_do_not_end_an_exhaustive_search_and_an_empty_layer_does() {
    let mut plan = plan(Finish::Exhausted);
    let met = LayerStats { odd: true, even: true, found: true, ..numbers(2) };
    assert_eq!(play(&mut plan, &[numbers(1), met]), ["commit 1: 2", "advance 2"]);
    plan.handle(layer(2, numbers(0))).unwrap();
    assert_eq!(commands(&mut plan), ["save 2"]);
    assert_eq!(
        finish(&mut plan, 2, &[2, 0]),
        ["publish 2 of 2 files: Some(Exhausted)", "end: Exhausted"]
    );
    assert_eq!(plan.totals().depth, 1);
}

#[test]
fn the_sum_of_all_parts_is_committed_and_saved() {
    let mut plan = plan(Finish::Meeting);
    assert_eq!(commands(&mut plan), ["seed"]);
    plan.handle(Input::CheckpointDue).unwrap();
    assert!(commands(&mut plan).is_empty());
    let parts = [4, 3].map(|states| report(0, &numbers(states)));
    plan.handle(Input::Layer(Box::new(LayerReport::sum(parts).unwrap()))).unwrap();
    assert_eq!(commands(&mut plan), ["commit 0: 7", "save 0"]);
    let records = vec![record(0, 0, 4), record(1, 0, 3)];
    plan.handle(Input::Saved { depth: 0, records }).unwrap();
    assert_eq!(commands(&mut plan), ["publish 0 of 2 files: None"]);
    plan.handle(Input::Published { depth: 0 }).unwrap();
    assert_eq!(commands(&mut plan), ["advance 1"]);
}

#[test]
fn parts_of_different_layers_have_no_sum() {
    let parts = [0, 1].map(|depth| report(depth, &numbers(1)));
    let refusal = Refusal::WrongDepth { expected: 0, found: 1 };
    assert_eq!(LayerReport::sum(parts), Err(refusal));
}

#[test]
fn sums_of_parts_do_not_overflow() {
    let part = LayerStats { states: u64::MAX, generated: u64::MAX, ..numbers(1) };
    let sum = LayerReport::sum([part, part].map(|part| report(0, &part))).unwrap();
    let LayerRecord { states, generated, bytes, .. } = sum.layer;
    assert_eq!((states, generated, bytes), (u64::MAX, u64::MAX, u64::MAX));
}

#[test]
fn unexpected_inputs_are_refused() {
    let mut plan = plan(Finish::Meeting);
    let depth = Refusal::WrongDepth { expected: 0, found: 1 };
    assert_eq!(plan.handle(layer(1, numbers(1))), Err(depth));
    assert!(matches!(plan.handle(saved(0, &[1])), Err(Refusal::NotRequested { .. })));
    assert!(matches!(
        plan.handle(Input::Published { depth: 0 }),
        Err(Refusal::NotRequested { .. })
    ));
    plan.handle(layer(0, numbers(2))).unwrap();
    assert_eq!(commands(&mut plan), ["seed", "commit 0: 2", "advance 1"]);
    let again = Refusal::WrongDepth { expected: 1, found: 0 };
    assert_eq!(plan.handle(layer(0, numbers(2))), Err(again));
    assert_eq!(plan.totals().states, 2);
}

#[test]
fn a_limit_stops_the_search_with_a_checkpoint() {
    let limited = |max_layers, disk_limit| {
        let options = PlanOptions { max_layers, disk_limit, ..options(Finish::Meeting) };
        Plan::new(options, Start::Seeds)
    };
    let mut plan = limited(Some(1), None);
    assert_eq!(play(&mut plan, &[numbers(1), numbers(2)]), ["commit 1: 2", "save 1"]);
    let end = finish(&mut plan, 1, &[1, 2]);
    assert_eq!(end[1], "end: Stopped(MaxLayers)");
    // Layers double. 20 bytes are in use and a layer of 40 is expected. If the peak while making
    // the last layer was 500 bytes, spilled runs included, a peak of 1000 is expected for the next.
    for (disk_peak, limit, command) in [
        (20, 60, "advance 2 to 2"),
        (20, 59, "save 1"),
        (500, 1000, "advance 2 to 2"),
        (500, 999, "save 1"),
    ] {
        let mut plan = limited(None, Some(limit));
        play(&mut plan, &[numbers(1)]);
        let last = LayerReport { disk_peak, disk_left: 20, ..report(1, &numbers(2)) };
        plan.handle(Input::Layer(Box::new(last))).unwrap();
        assert_eq!(commands(&mut plan)[1], command);
        assert_eq!(plan.totals().disk_peak, disk_peak);
    }
}

#[test]
fn a_goal_takes_precedence_over_a_stop() {
    let mut plan = plan(Finish::State(()));
    plan.handle(Input::Stop(StopReason::Interrupted)).unwrap();
    play(&mut plan, &[LayerStats { found: true, ..numbers(1) }]);
    assert_eq!(finish(&mut plan, 0, &[1])[1], "end: Goal(0)");
}

#[test]
fn a_stop_during_a_checkpoint_is_published_with_it() {
    let interrupted = "end: Stopped(Interrupted)";
    for late in [false, true] {
        let mut plan = plan(Finish::Meeting);
        plan.handle(Input::CheckpointDue).unwrap();
        assert_eq!(play(&mut plan, &[numbers(1)]), ["commit 0: 1", "save 0"]);
        if !late {
            plan.handle(Input::Stop(StopReason::Interrupted)).unwrap();
            assert_eq!(finish(&mut plan, 0, &[1])[1], interrupted);
            continue;
        }
        plan.handle(saved(0, &[1])).unwrap();
        assert_eq!(commands(&mut plan), ["publish 0 of 1 files: None"]);
        plan.handle(Input::Stop(StopReason::Interrupted)).unwrap();
        plan.handle(Input::Published { depth: 0 }).unwrap();
        let again = "publish 0 of 1 files: Some(Stopped(Interrupted))";
        assert_eq!(commands(&mut plan), [again]);
        plan.handle(Input::Published { depth: 0 }).unwrap();
        assert_eq!(commands(&mut plan), [interrupted]);
    }
}

#[test]
fn an_abandoned_layer_leaves_a_checkpoint_of_the_layers_before() {
    let mut plan = plan(Finish::Meeting);
    let full = || Input::AbandonLayer(StopReason::DiskFull);
    assert!(plan.handle(full()).is_err());
    plan.handle(layer(0, numbers(2))).unwrap();
    assert_eq!(commands(&mut plan), ["seed", "commit 0: 2", "advance 1"]);
    plan.handle(full()).unwrap();
    assert_eq!(commands(&mut plan), ["save 0"]);
    plan.handle(saved(0, &[2])).unwrap();
    plan.handle(Input::Published { depth: 0 }).unwrap();
    assert_eq!(commands(&mut plan)[1], "end: Stopped(DiskFull)");
}

#[test]
fn a_restored_layer_is_not_committed_again_and_must_be_the_same() {
    let mut first = plan(Finish::Meeting);
    first.handle(layer(0, numbers(1))).unwrap();
    first.next_command();
    let Some(Command::Commit(last)) = first.next_command() else { panic!("no commit") };
    let start = || {
        Start::Checkpoint(Box::new(ResumePoint {
            totals: first.totals().clone(),
            last: last.clone(),
            previous: None,
            kept_bytes: 7,
            older_states: 0,
        }))
    };
    let mut plan = Plan::new(options(Finish::Meeting), start());
    assert_eq!(commands(&mut plan), ["restore"]);
    let mut restored = LayerReport { disk_peak: 1, ..report(0, &numbers(1)) };
    restored.layer.bytes = 999;
    plan.handle(Input::Layer(Box::new(restored))).unwrap();
    assert_eq!(commands(&mut plan), ["advance 1"]);
    assert_eq!((plan.totals().states, plan.totals().disk_peak), (1, 8));

    let mut plan = Plan::new(options(Finish::Meeting), start());
    let refusal = plan.handle(layer(0, numbers(2))).unwrap_err();
    let text = refusal.to_string();
    assert!(text.starts_with("the layer of depth 0 has 2 states"), "{text}");
}

#[test]
fn no_command_follows_the_end() {
    let mut plan = plan(Finish::State(()));
    play(&mut plan, &[LayerStats { found: true, ..numbers(1) }]);
    finish(&mut plan, 0, &[1]);
    assert!(plan.handle(layer(1, numbers(1))).is_err());
    assert!(plan.handle(Input::Published { depth: 0 }).is_err());
    plan.handle(Input::CheckpointDue).unwrap();
    plan.handle(Input::Stop(StopReason::Interrupted)).unwrap();
    assert_eq!(plan.next_command(), None);
}

#[test]
fn layers_that_no_search_can_find_are_refused() {
    let with = |states, regions, generated| LayerStats {
        states,
        regions,
        generated,
        ..LayerStats::default()
    };
    for (layers, what) in [
        (vec![with(1, 1, 3), with(4, 1, 9)], "4 states, by 3 moves of the layer before"),
        (vec![with(1, 1, 3), with(2, 1, 1)], "2 states with 1 moves"),
        (vec![with(3, 0, 3)], "3 states in 0 regions"),
        (vec![with(3, 4, 9)], "3 states in 4 regions"),
        (
            vec![with(u64::MAX, 1, u64::MAX), with(6, 1, 9)],
            "6 states, 9 moves and 60 bytes overflow",
        ),
    ] {
        let (mut plan, handled) = answer(options(Finish::Exhausted), &layers);
        let refusal = handled.unwrap_err();
        assert!(matches!(refusal, Refusal::Implausible { .. }), "{refusal}");
        assert!(refusal.to_string().contains(what), "{refusal}");
        assert!(commands(&mut plan).is_empty(), "the plan is over");
    }
}

#[test]
fn positions_that_no_states_have_are_refused() {
    let of = |states, positions| LayerStats { positions, ..numbers(states) };
    let (explicit, dense) = ((EngineKind::Explicit, false), (EngineKind::Dense, false));
    let folded = (EngineKind::Dense, true);
    for ((engine, is_folded), layers, what) in [
        (explicit, vec![of(1, 1), of(3, 2)], Some("3 states stand for 2 positions")),
        (explicit, vec![of(1, 1), of(3, 0)], Some("3 states stand for 0 positions")),
        (explicit, vec![of(1, 0), of(3, 3)], Some("3 states stand for 3 positions")),
        (explicit, vec![of(1, 1), of(3, u64::MAX - 1)], Some("overflow the sums")),
        (explicit, vec![of(1, u64::MAX)], Some("overflow the sums")),
        (dense, vec![of(1, 1), of(3, 6)], Some("3 states stand for 6 positions")),
        (explicit, vec![of(1, 1), of(3, 6)], None),
        (explicit, vec![of(1, 0), of(3, 0)], None),
        (dense, vec![of(1, 1), of(3, 3)], None),
        (folded, vec![of(1, 1), of(2, 3)], None),
        (folded, vec![of(1, 1), of(3, 3)], None),
        (folded, vec![of(1, 1), of(3, 6)], Some("6 positions, by 3 moves")),
        (folded, vec![of(1, 1), of(3, 2)], Some("3 states stand for 2 positions")),
    ] {
        let options = PlanOptions { engine, is_folded, ..options(Finish::Exhausted) };
        match (answer(options, &layers).1, what) {
            (Err(refusal), Some(what)) => {
                assert!(matches!(refusal, Refusal::Implausible { .. }), "{refusal}");
                assert!(refusal.to_string().contains(what), "{refusal}");
            }
            (handled, what) => assert_eq!((handled.is_ok(), what), (true, None), "{layers:?}"),
        }
    }
}

#[test]
fn orbits_are_counted_of_all_workers_or_refused() {
    let of = |(states, positions, fixed), symmetries| {
        let stats = LayerStats { positions, fixed, ..numbers(states) };
        LayerReport { symmetries: NonZeroU32::new(symmetries), ..report(0, &stats) }
    };
    for (parts, orbits) in [
        ([of((1, 1, 5), 6), of((0, 0, 0), 6)], Ok(Some(1))),
        ([of((2, 7, 1), 6), of((3, 5, 5), 6)], Ok(Some(3))),
        ([of((2, 7, 0), 0), of((3, 5, 0), 0)], Ok(None)),
        ([of((2, 7, 1), 6), of((3, 5, 4), 6)], Err("6 symmetries fix 5 of the 12 positions of 5")),
        ([of((1, 7, 1), 6), of((1, 5, 5), 6)], Err("6 symmetries fix 6 of the 12 positions of 2")),
        ([of((2, 7, 1), 6), of((3, 5, 5), 3)], Err("orbits of 6 and of 3 symmetries")),
        ([of((2, 7, 1), 6), of((3, 5, 0), 0)], Err("orbits of 6 and of 0 symmetries")),
        ([of((2, 7, 1), 0), of((3, 5, 5), 0)], Err("0 symmetries fix 6")),
        ([of((2, 7, u64::MAX), 6), of((3, 5, 5), 6)], Err("6 symmetries fix")),
    ] {
        let engine = EngineKind::Dense;
        let options = PlanOptions { engine, is_folded: true, ..options(Finish::Exhausted) };
        let mut plan = Plan::new(options, Start::Seeds);
        let sum = LayerReport::sum(parts.clone());
        let handled = sum.and_then(|sum| plan.handle(Input::Layer(Box::new(sum))));
        match (handled, orbits) {
            (Ok(()), Ok(orbits)) => assert_eq!(plan.totals().orbits, orbits, "{parts:?}"),
            (Err(refusal), Err(what)) => {
                assert!(matches!(refusal, Refusal::Implausible { .. }), "{refusal}");
                assert!(refusal.to_string().contains(what), "{refusal}");
            }
            (handled, _) => panic!("{handled:?}: {parts:?}"),
        }
    }
}

#[test]
fn states_of_a_directed_search_may_stand_for_no_position() {
    let of = |states, positions| LayerStats { positions, ..numbers(states) };
    for (layers, is_right) in [
        (vec![of(3, 1), of(3, 0), of(4, 2), of(2, 1)], true),
        (vec![of(1, 0), of(3, 0)], true),
        (vec![of(1, 0), of(3, 2)], false),
    ] {
        let options = PlanOptions { is_directed: true, ..options(Finish::Exhausted) };
        assert_eq!(answer(options, &layers).1.is_ok(), is_right, "{layers:?}");
    }
}

#[test]
fn a_checkpoint_without_the_layers_files_is_refused() {
    let other = |states, digest| {
        let file = CheckpointFile { digest: Weight([digest, 0]), ..record(0, 1, states) };
        Input::Saved { depth: 1, records: vec![record(0, 0, 1), file] }
    };
    for (saved, depth) in [
        (saved(1, &[]), 1),
        (saved(1, &[2]), 0),
        (saved(1, &[2, 2]), 0),
        (saved(1, &[1, 1]), 1),
        (other(2, 7), 1),
    ] {
        let options = PlanOptions { max_layers: Some(1), ..options(Finish::Meeting) };
        let mut plan = Plan::new(options, Start::Seeds);
        play(&mut plan, &[numbers(1), numbers(2)]);
        let refusal = plan.handle(saved).unwrap_err();
        let found = matches!(refusal, Refusal::Incomplete { depth: found, .. } if found == depth);
        assert!(found, "{refusal}");
        assert!(commands(&mut plan).is_empty(), "the plan is over");
    }
}

#[test]
fn a_checkpoint_of_diagrams_has_its_last_layer_only() {
    let options = PlanOptions {
        max_layers: Some(1),
        engine: EngineKind::Symbolic,
        ..options(Finish::Meeting)
    };
    let mut plan = Plan::new(options, Start::Seeds);
    play(&mut plan, &[numbers(1), numbers(2)]);
    assert_eq!(finish(&mut plan, 1, &[2])[1], "end: Stopped(MaxLayers)");
}

#[test]
fn a_checkpoint_of_a_dense_search_has_both_layers() {
    let options =
        PlanOptions { max_layers: Some(1), engine: EngineKind::Dense, ..options(Finish::Meeting) };
    let mut plan = Plan::new(options, Start::Seeds);
    play(&mut plan, &[numbers(1), numbers(2)]);
    let refusal = plan.handle(saved(1, &[2])).unwrap_err();
    assert!(matches!(refusal, Refusal::Incomplete { depth: 0, .. }), "{refusal}");
}

#[test]
fn only_directed_moves_may_have_no_inverse() {
    for is_directed in [false, true] {
        let engine = EngineKind::Dense;
        let options = PlanOptions { engine, is_directed, ..options(Finish::Exhausted) };
        let stats = LayerStats { generated: 1, ..numbers(2) };
        let (_, handled) = answer(options, &[numbers(1), stats]);
        assert_eq!(handled.is_ok(), is_directed, "{handled:?}");
    }
}

#[test]
fn the_lean_engine_counts_no_moves() {
    let options = PlanOptions { engine: EngineKind::SymbolicLean, ..options(Finish::Meeting) };
    let mut plan = Plan::new(options, Start::Seeds);
    let without_moves = |states| LayerStats { generated: 0, ..numbers(states) };
    let end = play(&mut plan, &[without_moves(1), without_moves(2)]);
    assert_eq!(end, ["commit 1: 2", "advance 2"]);
}

#[test]
fn orbits_are_counted_as_states_if_states_are_orbits() {
    for states_are_orbits in [false, true] {
        let options = PlanOptions { states_are_orbits, ..options(Finish::Exhausted) };
        let mut plan = Plan::new(options, Start::Seeds);
        play(&mut plan, &[numbers(1), numbers(2)]);
        assert_eq!(plan.totals().orbits, states_are_orbits.then_some(3));
    }
}

#[test]
fn a_window_ends_before_a_checkpoint_a_stop_and_the_end_of_the_search() {
    let passed = |depth| Input::PassedLayer(Box::new(report(depth, &numbers(2))));
    let mut plan = plan(Finish::State(()));
    assert_eq!(play(&mut plan, &[numbers(1)]), ["commit 0: 1", "advance 1"]);
    for depth in 1..4 {
        plan.handle(passed(depth)).unwrap();
        assert_eq!(commands(&mut plan), [format!("commit {depth}: 2")]);
    }
    // What is due waits for the last layer.
    plan.handle(Input::CheckpointDue).unwrap();
    plan.handle(Input::Stop(StopReason::Interrupted)).unwrap();
    plan.handle(passed(4)).unwrap();
    assert_eq!(commands(&mut plan), ["commit 4: 2"]);
    assert_eq!(plan.handle(passed(4)), Err(Refusal::WrongDepth { expected: 5, found: 4 }));
    plan.handle(layer(5, numbers(2))).unwrap();
    assert_eq!(commands(&mut plan), ["commit 5: 2", "save 5"]);
}

#[test]
fn workers_that_go_on_after_the_end_are_refused() {
    let found = LayerStats { found: true, ..numbers(2) };
    for last in [found, numbers(0)] {
        let mut plan = plan(Finish::State(()));
        play(&mut plan, &[numbers(1)]);
        let input = Input::PassedLayer(Box::new(report(1, &last)));
        assert_eq!(plan.handle(input), Err(Refusal::PastEnd { depth: 1 }));
        assert_eq!(
            plan.handle(layer(2, numbers(2))),
            Err(Refusal::NotRequested { what: "report of a layer" })
        );
    }
    // At the last layer that was asked for.
    let limited = PlanOptions { max_layers: Some(1), ..options(Finish::Exhausted) };
    let mut plan = Plan::new(limited, Start::Seeds);
    assert_eq!(play(&mut plan, &[numbers(1)]), ["commit 0: 1", "advance 1 to 1"]);
    let input = Input::PassedLayer(Box::new(report(1, &numbers(2))));
    assert_eq!(plan.handle(input), Err(Refusal::PastEnd { depth: 1 }));
}

#[test]
fn a_disk_limit_is_checked_after_every_layer() {
    let limited = PlanOptions { disk_limit: Some(1 << 40), ..options(Finish::Exhausted) };
    let mut plan = Plan::new(limited, Start::Seeds);
    assert_eq!(play(&mut plan, &[numbers(1)]), ["commit 0: 1", "advance 1 to 1"]);
}
