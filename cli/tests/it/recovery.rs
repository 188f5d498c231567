//! Kills, interrupts, limits and resumes: every layer has the counts of an undisturbed search.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::common::{
    Finished, SmallDisk, cut_layers, expect, only_job, refused, run, solve, strata, verify,
};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::tempdir;

/// Pseudo-random delays and settings with a fixed seed (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    /// Resources that may differ between the sessions of a job.
    fn resources(&mut self) -> String {
        let workers = 1 + self.below(3);
        let threads = 1 + self.below(2);
        let memory = [100, 150, 300][self.below(3) as usize];
        format!("--workers {workers} --threads {threads} --memory {memory}MiB")
    }
}

fn undisturbed(line: &str) -> Finished {
    let dir = tempdir().unwrap();
    expect(0, &mut solve(dir.path(), line))
}

/// A job whose sessions are killed.
struct Killed {
    line: &'static str,
    /// Flags of a session.
    flags: fn(&mut Random) -> String,
    /// The longest time before a kill, in milliseconds.
    longest: u64,
    /// Whether the files are verified after each kill, not only after the last one.
    is_verified: bool,
}

impl Killed {
    /// Kills sessions at random moments until one ends by itself. Returns that session, which shows
    /// all layers, and the number of kills.
    fn resumed(&self, dir: &Path, random: &mut Random) -> (Finished, u32) {
        let mut kills = 0;
        loop {
            let begun = std::fs::read_dir(dir).unwrap().flatten();
            let begun = begun.into_iter().any(|job| job.path().join("manifest.json").exists());
            if begun && self.is_verified {
                expect(0, &mut verify(dir));
            }
            let line = format!("{} {}", self.line, (self.flags)(random));
            let resume = if begun { "--resume" } else { "" };
            let mut command = solve(dir, &format!("{line} {resume}"));
            if kills == 25 {
                let ran = expect(0, &mut command);
                expect(0, &mut verify(&only_job(dir)));
                return (ran, kills);
            }
            let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            std::thread::sleep(Duration::from_millis(random.below(self.longest)));
            child.kill().unwrap();
            let status = child.wait().unwrap();
            assert!(status.code().is_none_or(|code| code == 0), "{line}: {status}");
            kills += u32::from(status.code().is_none());
            if status.success() {
                expect(0, &mut verify(&only_job(dir)));
                return (expect(0, &mut solve(dir, &format!("{line} --resume"))), kills);
            }
        }
    }

    /// The number of kills after which all layers are those of an undisturbed search.
    fn check(&self, dir: &Path, random: &mut Random) -> u32 {
        let expected = undisturbed(self.line);
        let (ran, kills) = self.resumed(dir, random);
        assert_eq!(ran.layers(), expected.layers(), "{}", self.line);
        for field in ["moves", "layers", "states", "positions", "generated", "widest", "digest"] {
            let [found, expected] = [&ran, &expected].map(|ran| ran.event("result")[field].clone());
            assert_eq!(found, expected, "{}: {field}", self.line);
        }
        kills
    }
}

#[test]
fn layers_are_the_same_after_kills_at_random_moments() {
    let flags = |random: &mut Random| format!("{} --checkpoint-interval 20ms", random.resources());
    let mut random = Random(0x5eed);
    let mut kills = 0;
    for (line, longest) in
        [("panex 6", 60), ("panex 6 --keep-layers every:50", 250), ("panex 6", 600)]
    {
        let killed = Killed { line, flags, longest, is_verified: false };
        kills += killed.check(tempdir().unwrap().path(), &mut random);
    }
    assert!(kills >= 20, "{kills} kills are too few");
}

#[test]
fn dense_layers_are_the_same_after_kills_at_random_moments() {
    let flags = |_: &mut Random| "--checkpoint-interval 1ms --threads 2".to_owned();
    for line in
        ["pancake 9 --engine dense --memory 6MiB", "pancake 9 --engine dense --keep-layers all"]
    {
        let killed = Killed { line, flags, longest: 200, is_verified: true };
        let kills = killed.check(tempdir().unwrap().path(), &mut Random(0x5eed));
        assert!(kills > 0, "{line} was never killed");
    }
}

#[test]
fn symbolic_layers_are_the_same_after_kills_at_random_moments() {
    let flags = |_: &mut Random| "--checkpoint-interval 5ms --threads 2".to_owned();
    let line = "panex 6 --engine symbolic";
    let dir = tempdir().unwrap();
    let killed = Killed { line, flags, longest: 120, is_verified: false };
    let kills = killed.check(dir.path(), &mut Random(0x5eed));
    assert!(kills >= 3, "{kills} kills are too few");
    let files = std::fs::read_dir(only_job(dir.path())).unwrap();
    let names: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
    assert_eq!(names.len(), 3, "manifest, history and one diagram: {names:?}");
}

#[test]
fn a_job_resumed_by_other_workers_keeps_its_layers() {
    let expected = undisturbed("panex 5");
    let dir = tempdir().unwrap();
    let line = "panex 5 --keep-layers every:10";
    let mut depth = 0;
    for workers in [1, 2, 2, 1, 3, 1] {
        let resume = if depth == 0 { "" } else { "--resume" };
        // Three sessions stop at the same depth: neither copied nor reused files may replace kept
        // ones.
        let depths = [depth, depth, depth, depth + 20];
        for depth in depths.into_iter().skip(if depth == 0 { 3 } else { 0 }) {
            let line = format!("{line} --workers {workers} --max-layers {depth} {resume}");
            let ran = expect(4, &mut solve(dir.path(), &line));
            assert_eq!(ran.layers(), expected.layers()[..=depth]);
            expect(0, &mut verify(&only_job(dir.path())));
        }
        depth += 20;
    }
    let ran = expect(0, &mut solve(dir.path(), &format!("{line} --resume")));
    assert_eq!(ran.layers(), expected.layers());
    let ran = expect(0, strata("--json verify").arg(dir.path()));
    let files = ran.event("verified")["files"].as_u64().unwrap();
    assert!(files >= 18 + 2, "{files}");
}

#[test]
fn kept_layers_are_chosen_when_they_are_written() {
    let dir = tempdir().unwrap();
    let keeps = ["all", "last", "every:7", "last"];
    for (depth, keep) in (1..).zip(keeps) {
        let resume = if depth == 1 { "" } else { "--resume" };
        let line = format!("panex 4 --keep-layers {keep} --max-layers {} {resume}", 15 * depth);
        expect(4, &mut solve(dir.path(), &line));
        expect(0, &mut verify(dir.path()));
    }
    expect(0, &mut solve(dir.path(), "panex 4 --resume"));
    expect(0, &mut verify(dir.path()));
}

/// Starts a search and waits for its first event: from then on it handles signals.
fn started(command: &mut Command) -> (Child, BufReader<std::process::ChildStdout>) {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    assert!(line.contains("\"job\""), "{line}");
    (child, stdout)
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

#[test]
fn a_signal_stops_with_a_checkpoint_and_a_resume_command() {
    let expected = undisturbed("panex 6");
    for number in [Signal::TERM, Signal::INT] {
        let dir = tempdir().unwrap();
        let mut command = solve(dir.path(), "panex 6 --threads 2");
        let (child, stdout) = started(&mut command);
        std::thread::sleep(Duration::from_millis(20));
        signal(&child, number);
        drop(stdout);
        let ran = Finished::of(child.wait_with_output().unwrap());
        assert_eq!(ran.code, Some(130), "{}", ran.stderr);
        let resume = ran.stderr.lines().find_map(|line| line.strip_prefix("resume with: "));
        let resume = resume.expect("the command is printed");
        let verified = expect(0, &mut verify(dir.path()));
        assert!(verified.stdout.contains("stopped, intact"), "{}", verified.stdout);
        let ran = run(Command::new("sh").arg("-c").arg(resume));
        assert_eq!(ran.code, Some(0), "{resume}: {}", ran.stderr);
        assert_eq!(ran.layers(), expected.layers());
        assert!(ran.event("job")["resumed_from"].is_number());
    }
}

#[test]
fn a_second_process_is_refused_and_may_read_a_running_job() {
    let dir = tempdir().unwrap();
    let mut command = solve(dir.path(), "panex 7 --threads 1 --checkpoint-interval 10ms");
    let (mut child, stdout) = started(&mut command);
    let message = refused(&mut solve(dir.path(), "panex 3"), "is in use by another process");
    assert!(message.contains(&*dir.path().to_string_lossy()));
    refused(&mut solve(dir.path(), "panex 7 --resume"), "is in use by another process");
    let mut rows = 0;
    for _ in 0..10 {
        std::thread::sleep(Duration::from_millis(50));
        expect(0, &mut verify(dir.path()));
        let csv = expect(0, strata("stats --format csv").arg(dir.path())).stdout;
        assert!(csv.lines().count() >= rows);
        rows = csv.lines().count();
    }
    assert!(rows > 10, "{rows}");
    child.kill().unwrap();
    child.wait().unwrap();
    drop(stdout);
    expect(0, &mut verify(dir.path()));
}

#[test]
fn limits_stop_resumably() {
    for (line, limit, reason) in [
        ("panex 5", "--max-layers 100", "max_layers"),
        ("panex 6", "--disk-limit 20KiB", "disk_limit"),
        ("pancake 8 --engine dense --keep-layers all", "--disk-limit 8KiB", "disk_limit"),
    ] {
        let expected = undisturbed(line).layers();
        let dir = tempdir().unwrap();
        let ran = expect(4, &mut solve(dir.path(), &format!("{line} {limit}")));
        let stopped = ran.event("stopped");
        assert_eq!(stopped["reason"], reason, "{line}");
        let depth = stopped["depth"].as_u64().unwrap() as usize;
        assert!(reason != "max_layers" || depth == 100, "{depth}");
        assert_eq!(ran.layers(), expected[..=depth], "{line}");
        expect(0, &mut verify(dir.path()));
        if line == "panex 6" {
            let files = std::fs::read_dir(only_job(dir.path())).unwrap().flatten();
            let name = |file: &std::fs::DirEntry| file.file_name().to_string_lossy().into_owned();
            let layers = files.filter(|file| name(file).ends_with(".strata"));
            let bytes: u64 = layers.map(|file| file.metadata().unwrap().len()).sum();
            assert!(bytes <= 20 << 10, "{bytes}");
        }
        let command = stopped["resume_command"].as_str().unwrap();
        let flag = limit.split(' ').next().unwrap();
        assert!(!command.contains(flag), "{command}");
        let ran = run(Command::new("sh").arg("-c").arg(command));
        assert_eq!((ran.code, ran.layers()), (Some(0), expected), "{command}");
        assert_eq!(ran.event("job")["resumed_from"], depth);
    }
}

#[test]
fn a_different_parameter_is_refused_at_a_resume() {
    let dir = tempdir().unwrap();
    expect(4, &mut solve(dir.path(), "panex 5 --max-layers 20"));
    let job = only_job(dir.path());
    let id = job.file_name().unwrap().to_string_lossy().into_owned();
    for (line, difference) in [
        ("panex 6", "level is 5 in job ID, not 6"),
        ("panex 5 -k 2", "k is 3 in job ID, not 2"),
        ("panex 5 --s 4", "s is 3 in job ID, not 4"),
        ("panex 5 --shards 8", "shards is 64 in job ID, not 8"),
        ("panex 5 --symmetry off", "symmetry is on in job ID, not off"),
        ("panex 5 --centre-top allow", "centre-top is forbid in job ID, not allow"),
        ("panex 5 --exhaust", "exhaust is false in job ID, not true"),
        ("hanoi 5", "there is no hanoi job to resume"),
    ] {
        let command = &mut solve(dir.path(), &format!("{line} --resume"));
        refused(command, &difference.replace("ID", &id));
    }
    expect(0, &mut verify(&job));
    let ran = expect(0, &mut solve(dir.path(), "panex 5"));
    assert!(ran.stderr.contains(&id) && ran.stderr.contains("--resume"), "{}", ran.stderr);
    assert!(ran.event("job")["resumed_from"].is_null());
    // Both jobs have this specification; `--resume` selects the unfinished one.
    let ran = expect(0, &mut solve(dir.path(), "panex 5 --resume"));
    assert_eq!(ran.event("job")["job"], *id);
}

#[test]
fn a_job_killed_before_its_first_checkpoint_starts_again() {
    let dir = tempdir().unwrap();
    let mut command = solve(dir.path(), "panex 7 --threads 1");
    let (mut child, stdout) = started(&mut command);
    std::thread::sleep(Duration::from_millis(300));
    child.kill().unwrap();
    child.wait().unwrap();
    drop(stdout);
    let verified = expect(0, &mut verify(dir.path()));
    assert!(verified.stdout.contains("no checkpoint yet"), "{}", verified.stdout);
    let ran = expect(4, &mut solve(dir.path(), "panex 7 --resume --max-layers 50"));
    assert_eq!(ran.layers().len(), 51);
    assert!(ran.events("layer").iter().all(|layer| layer["replayed"] == false));
    assert_eq!(
        ran.event("job")["job"],
        *only_job(dir.path()).file_name().unwrap().to_string_lossy()
    );
}

/// A read through a memory map would end the process with SIGBUS.
#[test]
fn a_file_that_is_cut_while_it_is_read_is_detected() {
    let dir = tempdir().unwrap();
    // Each layer is complete in its file before it is read.
    let mut command = solve(dir.path(), "panex 6 --engine explicit --checkpoint-interval 1ms");
    let (mut child, stdout) = started(&mut command);
    let drained = std::thread::spawn(move || stdout.lines().count());
    let job = only_job(dir.path());
    while child.try_wait().unwrap().is_none() {
        cut_layers(&job);
    }
    let ran = Finished::of(child.wait_with_output().unwrap());
    drained.join().unwrap();
    assert_eq!(ran.code, Some(12), "{}", ran.stderr);
    assert!(ran.stderr.contains("is corrupt at offset"), "{}", ran.stderr);
    assert!(ran.stderr.contains(&*job.to_string_lossy()), "{}", ran.stderr);
}

/// The exit code is neither that of a usage error nor that of damage.
#[test]
fn a_read_only_disk_is_an_unexpected_error_with_the_file() {
    let outside = tempdir().unwrap();
    let folder = outside.path().join("small");
    let Some(disk) = SmallDisk::mount(&folder, 1024) else {
        println!("skipped: a small file system cannot be mounted here");
        return;
    };
    // Worker and coordinator make their files at the first start.
    expect(0, &mut solve(&folder, "panex 3"));
    disk.make_read_only();
    for line in ["solve panex 3", "worker", "coordinator"] {
        let mut command = strata(line);
        command.arg("--data-dir").arg(&folder);
        let ran = expect(1, &mut command);
        let lock = folder.join(".lock");
        assert!(ran.stderr.contains(&*lock.to_string_lossy()), "{line}: {}", ran.stderr);
        assert!(ran.stderr.contains("Read-only file system"), "{line}: {}", ran.stderr);
    }
    drop(disk);
}

#[test]
fn a_full_disk_stops_resumably() {
    let outside = tempdir().unwrap();
    let folder = outside.path().join("small");
    let Some(disk) = SmallDisk::mount(&folder, 1024) else {
        println!("skipped: a small file system cannot be mounted here");
        return;
    };
    // The file leaves 48 KiB free, less than the widest layers need.
    let ballast = folder.join("ballast");
    std::fs::write(&ballast, vec![1; 976 << 10]).unwrap();
    let ran = expect(4, &mut solve(&folder, "panex 6 --checkpoint-interval 1ms"));
    let stopped = ran.event("stopped");
    assert_eq!(stopped["reason"], "disk_full", "{}", ran.stderr);
    let depth = stopped["depth"].as_u64().unwrap();
    assert!(depth > 0);
    std::fs::remove_file(&ballast).unwrap();
    let ran = expect(0, &mut solve(&folder, "panex 6 --resume"));
    assert_eq!(ran.event("job")["resumed_from"], depth);
    assert_eq!(ran.layers(), undisturbed("panex 6").layers());
    drop(disk);
}
