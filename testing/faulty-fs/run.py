"""Processes with faults, what they print, and what is expected of it."""

import json
import os
import re
import signal
import subprocess

from disk import Disk, records

# Time limit of a process, and of a job in a cluster.
TIMEOUT = 120
# Exit codes after an error of the system, and its words.
FULL, UNEXPECTED, FAILED = 4, 1, 5
ERRORS = {
    "EIO": ((UNEXPECTED, FAILED), "Input/output error"),
    "EROFS": ((UNEXPECTED, FAILED), "Read-only file system"),
    "ENOSPC": ((FULL,), "No space left on device"),
    "EDQUOT": ((FULL,), "Disk quota exceeded"),
}
# Fields of a layer and of a result that do not depend on how they were found.
LAYER_FIELDS = ("states", "generated", "digest", "positions", "orbits")
RESULT_FIELDS = ("outcome", "moves", "layers", "states", "positions", "orbits", "generated", "digest")
# Names of files that only an unfinished operation has.
LEFTOVER = re.compile(r"\.(tmp|new)$|^\.removed-")
NEW_JOURNAL = re.compile(r"\.(journal\.redb)\.\w+\.new$")


class Failure(Exception):
    """Something that must not happen under faults."""


def environment(more=()):
    """The environment without the user's own settings of the program."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("STRATA_")}
    return kept | dict(more)


class Shim:
    """Starts processes with the library."""

    def __init__(self, library):
        self.library = library

    def environment(self, root, log, plan):
        return environment(
            {"LD_PRELOAD": self.library, "FAULTY_ROOT": root, "FAULTY_LOG": log, "FAULTY_PLAN": plan}
        )


class Faulty:
    """A folder on a faulty file system: its disk, and the log of the process that works there."""

    def __init__(self, shim, root, log):
        os.makedirs(root, exist_ok=True)
        self.shim, self.root, self.log = shim, root, log

    def begin(self, plan):
        """Environment of a process with these faults. All that is in the folder is durable."""
        if os.path.exists(self.log):
            os.unlink(self.log)
        self.disk = Disk(self.root)
        return self.shim.environment(self.root, self.log, plan)

    def end(self):
        """Reads the log of the process, which has ended, and compares it with the folder."""
        if os.path.exists(self.log):
            self.disk.replay(self.log)
        self.disk.check()
        return self.disk


KINDS = {"C": "create", "O": "open", "Q": "read", "W": "write", "T": "truncate", "A": "truncate"}
KINDS |= {"S": "sync", "R": "rename", "U": "remove", "M": "folder", "L": "link"}


def counts(log):
    """Operations of each kind in a log, as a plan counts them."""
    found = {}
    for kind, *_ in records(log):
        if kind in KINDS:
            for name in (KINDS[kind],) if kind in "OQ" else (KINDS[kind], "any"):
                found[name] = found.get(name, 0) + 1
    return found


class Finished:
    """Exit code and outputs of a process."""

    def __init__(self, code, stdout, stderr):
        self.code, self.stdout, self.stderr = code, stdout, stderr

    def of(self, *kinds):
        """The JSON events of some kinds."""
        lines = self.stdout.splitlines()
        if self.code == -signal.SIGKILL and not self.stdout.endswith("\n"):
            lines = lines[:-1]
        events = [json.loads(line) for line in lines]
        return [event for event in events if event["event"] in kinds]

    def last_line(self):
        lines = self.stderr.strip().splitlines()
        return lines[-1] if lines else ""


def start(words, env):
    pipe = subprocess.PIPE
    return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True, env=env)


def run(words, env):
    """Runs a process to its end. One that does not end has failed."""
    process = start(words, env)
    try:
        stdout, stderr = process.communicate(timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise Failure(f"no end in {TIMEOUT} s: {' '.join(words)}") from None
    expect_no_crash(process.returncode, stderr, words)
    return Finished(process.returncode, stdout, stderr)


def expect_no_crash(code, text, words):
    """A process has not panicked, and no signal but SIGKILL has ended it."""
    if "panicked" in text or code in (101, 99) or (code < 0 and code != -signal.SIGKILL):
        raise Failure(f"exit code {code}: {' '.join(words)}\n{text[-3000:]}")


def injected(log):
    """Faults in a log: what they were, the error's number, the file."""
    if not os.path.exists(log):
        return []
    return [(other, value, path) for kind, value, _, _, _, path, other, _ in records(log) if kind == "E"]


class Expected:
    """Layers and result of an undisturbed search."""

    def __init__(self, ran):
        self.layers = {event["depth"]: pick(event, LAYER_FIELDS) for event in ran.of("layer")}
        self.result = pick(ran.of("result")[0], RESULT_FIELDS)

    def check_layers(self, ran):
        """All layers that were printed are right, also those that are repeated."""
        for event in ran.of("layer"):
            right, found = self.layers.get(event["depth"]), pick(event, LAYER_FIELDS)
            if right != found:
                raise Failure(f"WRONG layer {event['depth']}: {found} instead of {right}")

    def check_result(self, ran):
        """All layers and the result are right."""
        self.check_layers(ran)
        missing = set(self.layers) - {event["depth"] for event in ran.of("layer")}
        if missing:
            raise Failure(f"exit code 0 without the layers {sorted(missing)[:5]}")
        found = pick(ran.of("result")[0], RESULT_FIELDS)
        if found != self.result:
            raise Failure(f"WRONG result: {found} instead of {self.result}")


def pick(event, fields):
    return tuple(event.get(field) for field in fields)


def choose_error(sizes, random):
    """A kind of operation, a number of it, and an error."""
    kinds = sorted(kind for kind in sizes if kind != "any")
    # Operations of rare kinds are chosen more often than others.
    kind = random.choices(kinds, [min(sizes[kind], 20) for kind in kinds])[0]
    number, error = any_of(sizes[kind], random), random.choice(list(ERRORS))
    # Other errors are of writing.
    return kind, number, "EIO" if kind in ("open", "read") else error


def any_of(count, random):
    """A number from 1 to a count. The choices after it do not depend on the count."""
    return 1 + int(random.random() * count)


def promised(ran):
    """The deepest layer of which a checkpoint was reported; none is -1."""
    depths = [event["depth"] for event in ran.of("checkpoint")]
    if ran.of("result"):
        depths.append(ran.of("result")[0]["layers"])
    return max(depths, default=-1)


def check_rollbacks(ran):
    """No layer of a checkpoint that was reported is searched again."""
    last = -1
    for event in ran.of("checkpoint", "rolled_back"):
        depth = -1 if event["depth"] is None else event["depth"]
        if event["event"] == "rolled_back" and depth < last:
            raise Failure(f"rolled back to {depth} after the checkpoint of layer {last}")
        last = max(last, depth)


def check_message(text, code, error, injected):
    """An error's exit code is that of its kind, and a line names the error and a file of it."""
    codes, words = ERRORS[error]
    if code not in codes:
        raise Failure(f"exit code {code} after {error}: {text[-1000:]}")
    names = {name_of(path) for _, _, path in injected}
    lines = [line for line in text.splitlines() if "cannot " in line and words in line]
    if not any(name in line for name in names for line in lines):
        raise Failure(f"no line has 'cannot', {words!r} and one of {sorted(names)[:5]}: {text[-2000:]}")


def name_of(path):
    """Name of a file in messages. A journal that is being created has a temporary name until it is whole."""
    name = os.path.basename(path.removesuffix(" (deleted)"))
    temporary = NEW_JOURNAL.match(name)
    return temporary[1] if temporary else name


def check_leftovers(folder):
    """A finished job has no temporary file."""
    left = [name for name in os.listdir(folder) if LEFTOVER.search(name)]
    if left:
        raise Failure(f"left in {folder}: {left}")
