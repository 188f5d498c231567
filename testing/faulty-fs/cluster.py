"""Jobs of a cluster of which one node has a faulty disk."""

import os
import re
import socket
import subprocess
import threading
import time

from disk import WAYS
from run import (
    TIMEOUT,
    Failure,
    Faulty,
    Finished,
    any_of,
    check_message,
    check_rollbacks,
    choose_error,
    counts,
    environment,
    expect_no_crash,
    injected,
    run,
    start,
)

COORDINATOR, WORKERS = "coordinator", ("w1", "w2")
READY = {COORDINATOR: "coordinator is ready", "w1": "worker is ready", "w2": "worker is ready"}
KILLED, UNREACHABLE, NO_JOB = -9, 10, 11
TICK = 0.02
# Time that a job has, while an operation fails for ever, before the disk is repaired.
PATIENCE = 4
# Clients on a good disk after which a job counts as stuck.
MOST_CLIENTS = 12

_ports = iter(())
_lock = threading.Lock()


def free_port():
    """A port below the ephemeral range, so that it is still free when a node restarts."""
    global _ports
    with _lock:
        while True:
            port = next(_ports, None)
            if port is None:
                first = 14000 + os.getpid() % 60 * 200
                _ports = iter(range(first, first + 200))
                continue
            with socket.socket() as listener:
                try:
                    listener.bind(("127.0.0.1", port))
                    return port
                except OSError:
                    continue


class Node:
    """A process of the cluster, with a log file."""

    def __init__(self, name, folder, words):
        self.name, self.words = name, words
        self.log = os.path.join(folder, name + ".log")
        self.process = None

    def start(self, env):
        self.mark = len(self.text())
        with open(self.log, "ab") as log:
            nothing = subprocess.DEVNULL
            self.process = subprocess.Popen(self.words, stdin=nothing, stdout=log, stderr=log, env=env)

    def text(self):
        try:
            with open(self.log, errors="replace") as log:
                return log.read()
        except FileNotFoundError:
            return ""

    def is_ready(self):
        return READY[self.name] in self.text()[self.mark :]

    def ended(self):
        """Exit code, if it has ended."""
        return self.process.poll() if self.process else None

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
        if self.process:
            self.process.wait()


class Cluster:
    """A coordinator and two workers; the disk of one node, the target, has faults."""

    def __init__(self, program, shim, line, folder, target):
        self.program, self.line, self.folder = program, line, folder
        self.target = WORKERS[0] if target == "worker" else target
        self.faulty = Faulty(shim, os.path.join(folder, "disk"), os.path.join(folder, "log"))
        self.url = f"127.0.0.1:{free_port()}"
        self.history, self.clients = [], 0
        self.is_faulty = False
        # Whether the coordinator has accepted the job.
        self.is_accepted = False
        # Faults in the logs of processes of the target that have ended.
        self.before = []
        words = [program, COORDINATOR, "--listen", self.url, "--http", f"127.0.0.1:{free_port()}"]
        words += ["--lease", "1s", "--narrow", "1", "--worker-timeout", "20s"]
        self.nodes = {COORDINATOR: Node(COORDINATOR, folder, words + self.data(COORDINATOR))}
        for name in WORKERS:
            words = [program, "worker", "--listen", f"127.0.0.1:{free_port()}", "--name", name]
            words += ["--threads", "1", "--memory", "96MiB", "--coordinator", f"http://{self.url}"]
            self.nodes[name] = Node(name, folder, words + self.data(name))

    def data(self, name):
        is_target = name == self.target
        path = os.path.join(self.folder, *(("disk", "new", name) if is_target else (name,)))
        if is_target:
            self.data_of_target = path
        return ["--data-dir", path]

    def close(self):
        for node in self.nodes.values():
            node.kill()

    def start(self, plan, random=None):
        # In half of the runs the data directory of the target exists, in the others it is new.
        if random is not None and random.random() < 0.5:
            os.makedirs(self.data_of_target)
        for name, node in self.nodes.items():
            node.start(self.faulty.begin(plan) if name == self.target else environment())
        self.history.append(f"{self.target} with [{plan or 'no fault'}]")

    def log_of_target(self):
        node = self.nodes[self.target]
        return node.text()[node.mark :]

    def injected(self):
        """Faults so far."""
        return self.before + injected(self.faulty.log)

    def repair(self, random, is_cut=False):
        """Starts the target again, on a disk without faults, after a power cut if there was one."""
        node = self.nodes[self.target]
        node.kill()
        disk = self.faulty.end()
        self.before += injected(self.faulty.log)
        if is_cut:
            way = random.choice(list(WAYS))
            disk.cut(way, random)
            self.history.append(f"power cut: {WAYS[way]} survives")
        node.start(self.faulty.begin(""))
        self.is_faulty, self.clients = False, 0
        self.history.append(f"{self.target} starts on a good disk")

    def client(self, *words):
        words = [self.program, *words, "--coordinator", f"http://{self.url}", "--json"]
        self.clients += 1
        process = start(words, environment())
        result = []
        reader = threading.Thread(target=lambda: result.extend(process.communicate()), daemon=True)
        reader.start()
        return process, reader, result

    def follow(self, words, tick):
        """Runs a client to its end; looks at the nodes meanwhile."""
        process, reader, result = self.client(*words)
        while reader.is_alive():
            reader.join(TICK)
            try:
                tick()
                if time.monotonic() > self.end:
                    raise Failure(f"no end in {TIMEOUT} s: {' '.join(words)}\n{self.tails()}")
            except Failure:
                process.kill()
                reader.join()
                raise
        ran = Finished(process.returncode, *result)
        expect_no_crash(ran.code, ran.stderr, words)
        self.history.append(f"{' '.join(words)}: exit {ran.code} {ran.last_line()[:300]}")
        self.is_accepted |= bool(ran.of("job"))
        return ran

    def tails(self):
        return "\n".join(f"--- {name}\n{node.text()[-1500:]}" for name, node in self.nodes.items())

    def check_others(self):
        for name, node in self.nodes.items():
            expect_no_crash(0, node.text(), node.words)
            if name != self.target and node.ended() is not None:
                raise Failure(f"{name} has ended: {node.text()[-2000:]}")

    def words(self):
        line = ["submit", *self.line.split(), "--name", "job", "--checkpoint-interval", "1ms"]
        return line + ["--progress", "none"]

    def job(self, expected, tick, explain):
        """Submits the job and follows it to its end, again after an error that explain() accepts."""
        self.end = time.monotonic() + TIMEOUT
        words = self.words()
        while True:
            ran = self.follow(words, tick)
            check_rollbacks(ran)
            if expected is not None:
                expected.check_layers(ran)
            if ran.code in (0, 3):
                break
            if not self.is_faulty and self.clients > MOST_CLIENTS:
                raise Failure(f"no end after {self.clients} clients: {ran.last_line()}")
            words = self.next(ran, explain)
            time.sleep(0.3)
        if expected is not None:
            expected.check_result(ran)
        return ran

    def next(self, ran, explain):
        """What a client does after one that has failed."""
        last = ran.last_line()
        if ran.code == UNREACHABLE:
            return self.words()
        if ran.code == 2 and "which has ended" in last:
            return ["watch", "job", "--progress", "none"]
        if ran.code == NO_JOB:
            if self.is_accepted:
                raise Failure(f"an accepted job is lost: {last}")
            return self.words()
        explain(ran)
        return ["resume", "job", "--progress", "none"] if self.is_accepted else self.words()

    def verify(self):
        """The nodes run, and the files of the job are whole."""
        self.check_others()
        verified = run([self.program, "verify", "job", "--coordinator", f"http://{self.url}"], environment())
        if verified.code != 0:
            raise Failure(f"verify: {verified.stderr}")

    def reference(self):
        """Operations of the target in an undisturbed run; the layers are those of one process."""
        self.start("")
        self.job(None, self.check_others, refuse)
        self.verify()
        self.nodes[self.target].kill()
        self.faulty.end()
        return counts(self.faulty.log)

    def cut(self, expected, sizes, random, plan=None):
        """The target's power is cut at an operation."""
        chosen = f"any@{any_of(sizes['any'], random)}=cut"
        plan = plan or chosen
        self.start(plan, random)
        self.is_faulty = True

        def tick():
            self.check_others()
            code = self.nodes[self.target].ended()
            if code is None:
                return
            if code != KILLED or not self.is_faulty:
                raise Failure(f"{self.target} has ended with {code}: {self.log_of_target()[-2000:]}")
            self.repair(random, is_cut=True)

        self.job(expected, tick, refuse)
        if self.is_faulty:
            # It has not come so far: the power is cut now.
            self.repair(random, is_cut=True)
            self.end = time.monotonic() + TIMEOUT
            watch = ["watch", "job", "--progress", "none"]
            ran = self.follow(watch, tick)
            while ran.code == UNREACHABLE:
                ran = self.follow(watch, tick)
            if ran.code not in (0, 3):
                raise Failure(f"a finished job is lost: {ran.last_line()}")
            expected.check_result(ran)
        self.until_ready()
        self.verify()

    def until_ready(self):
        """Waits for both workers. A worker whose disk has faults is the same one as before."""
        # A worker that gets no answer to its first registration may register again as another one.
        known = r"\d+" if self.target == COORDINATOR else "2"
        end = time.monotonic() + TIMEOUT
        while True:
            self.check_others()
            ran = run([self.program, "status", "--coordinator", f"http://{self.url}"], environment())
            if ran.code == 0 and re.search(rf"\b2 of {known} workers alive", ran.stdout):
                return
            if time.monotonic() > end:
                raise Failure(f"the workers do not come back\n{ran.stdout}{self.tails()}")
            time.sleep(0.1)

    def error(self, expected, sizes, random, plan=None):
        """An operation of the target fails, once or from then on."""
        kind, number, error = choose_error(sizes, random)
        chosen = f"{kind}@{number}={error}{random.choice(['', '+'])}"
        plan = plan or chosen
        error = plan.split("=")[-1].rstrip("+")
        self.start(plan, random)
        self.is_faulty, begun = True, time.monotonic()

        def tick():
            self.check_others()
            code = self.nodes[self.target].ended()
            if code is not None:
                if not self.is_faulty:
                    raise Failure(f"{self.target} has ended with {code}: {self.log_of_target()[-2000:]}")
                log = self.log_of_target()
                self.history.append(f"{self.target} ended with {code}: {log.splitlines()[-1:]}")
                check_message(log, code, error, self.injected())
                self.repair(random, is_cut=kind == "sync")
            elif self.is_faulty and time.monotonic() - begun > PATIENCE and self.injected():
                self.repair(random)

        def explain(ran):
            """A job or a request ends early only because of the fault, and says so."""
            found = self.injected()
            if not found and self.is_faulty:
                raise Failure(f"exit code {ran.code} before the fault: {ran.last_line()}")
            # A client that follows the job too late has not seen the line; `strata logs` has it.
            log = self.nodes[COORDINATOR].text()
            check_message(f"{ran.stderr}\n{log}", ran.code, error, found)

        self.job(expected, tick, explain)
        if self.is_faulty:
            self.repair(random)
        self.until_ready()
        self.verify()


def refuse(ran):
    raise Failure(f"exit code {ran.code}: {ran.last_line()}")
