"""Searches in one process under faults: `solve`, and what resumes it."""

import os

from disk import WAYS
from run import (
    Expected,
    Failure,
    Faulty,
    any_of,
    check_leftovers,
    check_message,
    choose_error,
    counts,
    environment,
    promised,
    run,
)

NO_JOB, CORRUPT, KILLED = 11, 12, -9
# Power cuts in one run: the first one, and those of the processes that resume.
MOST_CUTS = 3


class Solve:
    """A search that a program makes under faults."""

    def __init__(self, program, shim, line, folder):
        self.program, self.shim, self.line, self.folder = program, shim, line, folder
        self.data = os.path.join(folder, "disk", "new", "data")
        self.faulty = Faulty(shim, os.path.join(folder, "disk"), os.path.join(folder, "log"))
        # The deepest layer of which a checkpoint was reported.
        self.promised = -1
        self.history = []

    def words(self, *more):
        words = [self.program, "solve", *self.line.split(), "--threads", "1", "--data-dir", self.data]
        return words + ["--checkpoint-interval", "1ms", "--json", "--progress", "none", *more]

    def reference(self):
        """Layers of an undisturbed search, and the operations that it makes."""
        ran = run(self.words(), self.faulty.begin(""))
        if ran.code not in (0, 3):
            raise Failure(f"{self.line}: {ran.stderr}")
        self.faulty.end()
        check_leftovers(self.jobs()[0])
        return Expected(ran), counts(self.faulty.log)

    def step(self, words, expected, plan):
        ran = run(words, self.faulty.begin(plan))
        self.history.append(f"{' '.join(words[1:])}   [{plan or 'no fault'}] exit {ran.code}")
        disk = self.faulty.end()
        if expected is not None:
            expected.check_layers(ran)
        return ran, disk

    def jobs(self):
        """Folders of jobs. One that was cut before its first manifest is none."""
        names = os.listdir(self.data) if os.path.isdir(self.data) else []
        folders = [os.path.join(self.data, name) for name in names]
        return [folder for folder in folders if os.path.exists(os.path.join(folder, "manifest.json"))]

    def resume_words(self, random):
        if self.jobs() and random.random() < 0.5:
            return [self.program, "resume", self.data, "--json", "--progress", "none"]
        return self.words("--resume")

    def resume(self, expected, random, plan="", permitted=()):
        """Resumes the job, or starts it again if no checkpoint of it was reported."""
        ran, disk = self.step(self.resume_words(random), expected, plan)
        if found_no_job(ran):
            if self.promised >= 0 and NO_JOB not in permitted:
                raise Failure(f"the checkpoint of layer {self.promised} is lost: {ran.last_line()}")
            ran, disk = self.step(self.words(), expected, "")
        elif ran.of("job"):
            from_layer = ran.of("job")[0]["resumed_from"]
            if (-1 if from_layer is None else from_layer) < self.promised and not permitted:
                raise Failure(f"resumed from {from_layer}, and {self.promised} was reported")
        self.promised = max(self.promised, promised(ran))
        return ran, disk

    def check_end(self, ran, expected, permitted=()):
        """The job has ended well, and its folder is whole."""
        if ran.code in permitted:
            return
        if ran.code not in (0, 3):
            raise Failure(f"exit code {ran.code}: {ran.stderr[-2000:]}")
        expected.check_result(ran)
        done = os.path.join(self.data, ran.of("job")[0]["job"])
        # After a rename that was lost, a file keeps its temporary name.
        if not permitted:
            check_leftovers(done)
        verified = run([self.program, "verify", done], environment())
        if verified.code not in (0, *permitted):
            raise Failure(f"verify: {verified.stderr}")

    def prepare(self, random):
        """In half of the runs the data directory exists; in the others it is new, and its parent."""
        if random.random() < 0.5:
            os.makedirs(self.data)

    def cut(self, expected, sizes, random, plan=None):
        """The power is cut, also while the search is resumed."""
        self.prepare(random)
        chosen = f"any@{any_of(sizes['any'], random)}=cut"
        plan = plan or chosen
        ran, disk = self.step(self.words(), expected, plan)
        self.promised = promised(ran)
        for number in range(1, MOST_CUTS + 1):
            if ran.code not in (KILLED, 0, 3):
                raise Failure(f"exit code {ran.code} after {plan}: {ran.stderr[-2000:]}")
            way = random.choice(list(WAYS))
            disk.cut(way, random)
            self.history.append(f"power cut: {WAYS[way]} survives")
            again = random.random() < 0.4 and number < MOST_CUTS
            plan = f"any@{any_of(max(20, sizes['any'] // 4), random)}=cut" if again else ""
            ran, disk = self.resume(expected, random, plan)
            if not again:
                break
        self.check_end(ran, expected)

    def error(self, expected, sizes, random, plan=None):
        """An operation fails, once or from then on, in a new search or in one that is resumed."""
        kind, number, error = choose_error(sizes, random)
        more = random.choice(["", "+"])
        made = f"{kind}@{number}={error}{more}"
        if kind == "write" and random.random() < 0.4:
            # The rest of a write, which then succeeds or fails.
            rest = random.choice(["", f",write@{number + 1}={error}{more}"])
            made = f"write@{number}=short{rest}"
        plan = plan or made
        self.prepare(random)
        words, place = self.words(), any_of(sizes["any"], random)
        if random.random() < 0.3:
            ran, _ = self.step(words, expected, f"any@{place}=cut")
            self.promised = promised(ran)
            words = self.resume_words(random)
        ran, disk = self.step(words, expected, plan)
        if ran.code in (0, 3):
            expected.check_result(ran)
        elif self.promised < 0 and not self.jobs() and found_no_job(ran):
            # The fault was in the note of the lock, which a search does without.
            pass
        elif self.promised >= 0 or disk.injected:
            check_message(ran.stderr, ran.code, plan.split("=")[-1].rstrip("+"), disk.injected)
        self.promised = max(self.promised, promised(ran))
        if kind == "sync" or random.random() < 0.3:
            disk.cut("any", random)
            self.history.append("power cut: any names and bytes survives")
        ran, _ = self.resume(expected, random)
        self.check_end(ran, expected)

    def loss(self, expected, sizes, random, plan=None):
        """An operation is reported as made and is not, and then the power is cut."""
        self.prepare(random)
        kind = random.choice(["write", "sync", "rename"])
        number = any_of(sizes[kind], random)
        more = "+" if kind == "sync" and random.random() < 0.3 else ""
        cut = f",any@{any_of(sizes['any'], random)}=cut" if random.random() < 0.7 else ""
        plan = plan or f"{kind}@{number}=lost{more}{cut}"
        ran, disk = self.step(self.words(), expected, plan)
        permitted = (CORRUPT, NO_JOB)
        if ran.code not in (KILLED, 0, 3, *permitted):
            raise Failure(f"exit code {ran.code}: {ran.stderr[-2000:]}")
        disk.cut(random.choice(["least", "any"]), random)
        ran, _ = self.resume(expected, random, permitted=permitted)
        self.check_end(ran, expected, permitted)


def found_no_job(ran):
    """Whether there was nothing to resume: `solve --resume` refuses its flag, `resume DIR` its folder."""
    return ran.code == NO_JOB or (ran.code == 2 and "job to resume" in ran.last_line())
