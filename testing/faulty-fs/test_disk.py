"""Tests of the faulty file system with small programs, before it is used."""

import os
import random
import subprocess
import sys
import tempfile

from disk import Unsupported
from run import Faulty

SYNC = """
import os
def sync(path):
    fd = os.open(path, os.O_RDONLY)
    os.fsync(fd)
    os.close(fd)
def write(path, text):
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    done = os.write(fd, text)
    os.close(fd)
    return done
"""


class Case:
    """A folder in which small programs run under faults."""

    def __init__(self, shim, folder):
        self.root = tempfile.mkdtemp(dir=folder)
        self.faulty = Faulty(shim, self.root, self.root + ".log")

    def run(self, code, plan=""):
        words = [sys.executable, "-I", "-S", "-c", SYNC + code]
        ran = subprocess.run(words, cwd=self.root, env=self.faulty.begin(plan), capture_output=True, text=True)
        self.code, self.stderr = ran.returncode, ran.stderr
        return self.faulty.end()

    def files(self):
        found = {}
        for inside, folders, names in os.walk(self.root):
            for name in names:
                with open(os.path.join(inside, name), "rb") as file:
                    found[os.path.relpath(file.name, self.root)] = file.read()
            if not folders and not names and inside != self.root:
                found[os.path.relpath(inside, self.root) + "/"] = None
        return found


def expect(found, right):
    if found != right:
        raise AssertionError(f"{found} instead of {right}")


def every_change_is_seen(case):
    disk = case.run(
        """
os.makedirs("a/b"); os.mkdir("gone"); os.rmdir("gone")
fd = os.open("a/file", os.O_RDWR | os.O_CREAT)
os.write(fd, b"one two three"); os.pwrite(fd, b"TWO", 4); os.writev(fd, [b" four", b" five"])
os.lseek(fd, 30, os.SEEK_SET); os.write(fd, b"end"); os.ftruncate(fd, 32); os.posix_fallocate(fd, 0, 40)
copy = os.open("a/b/copy", os.O_WRONLY | os.O_CREAT)
try: os.sendfile(copy, fd, 0, 10)
except OSError: os.write(copy, os.pread(fd, 10, 0))
os.link("a/b/copy", "linked"); os.rename("a/b/copy", "a/moved"); os.replace("a/file", "a/moved")
more = os.open("linked", os.O_WRONLY | os.O_APPEND); os.write(more, b"more")
write("dropped", b"x"); os.unlink("dropped"); os.truncate("linked", 12)
here = os.open("a", os.O_RDONLY); os.mkdir("inside", dir_fd=here)
os.rename("moved", "last", src_dir_fd=here, dst_dir_fd=here)
"""
    )
    expect((case.code, case.stderr), (0, ""))
    expect(sorted(disk.root.names), ["a", "linked"])
    for way in ("names", "least"):
        disk.cut(way, random)
        disk = case.run("")
    expect(case.files(), {"a/last": b"", "a/b/": None, "a/inside/": None, "linked": b""})


def a_change_that_is_not_seen_is_noticed(case):
    try:
        case.run(
            """
import ctypes
fd = os.open("file", os.O_WRONLY | os.O_CREAT)
ctypes.CDLL(None).syscall(os.uname().machine == "aarch64" and 64 or 1, fd, b"unseen", 6)
"""
        )
    except Unsupported:
        return
    raise AssertionError("a write without the library was not noticed")


def what_is_not_synced_is_lost(case):
    case.run('write("old", b"1"); write("kept", b"2")')
    disk = case.run(
        """
write("old", b"new"); write("named", b"3"); os.rename("kept", "moved")
os.mkdir("folder"); write("folder/file", b"4"); sync("folder/file"); sync("folder")
"""
    )
    disk.cut("least", random)
    expect(case.files(), {"old": b"1", "kept": b"2"})
    code = 'os.rename("kept", "moved"); write("named", b"3"); sync("named"); sync("."); os.unlink("old")'
    disk = case.run(code)
    disk.cut("least", random)
    expect(case.files(), {"old": b"1", "moved": b"2", "named": b"3"})
    disk = case.run('os.rename("moved", "kept"); write("named", b"new")')
    disk.cut("names", random)
    expect(case.files(), {"old": b"1", "kept": b"2", "named": b"3"})
    disk = case.run('write("named", b"new"); write("lost", b"")')
    disk.cut("bytes", random)
    expect(case.files(), {"old": b"1", "kept": b"2", "named": b"new"})


def a_cut_tears_writes_by_sectors(case):
    found = set()
    case.run('write("file", b"a" * 2048)')
    for seed in range(60):
        disk = case.run('fd = os.open("file", os.O_WRONLY); os.pwrite(fd, b"b" * 1024, 512)')
        disk.cut("any", random.Random(seed))
        found.add(case.files()["file"])
        with open(os.path.join(case.root, "file"), "wb") as file:
            file.write(b"a" * 2048)
    part = {"aa": 0, "ab": 1, "ba": 2, "bb": 3}
    texts = {bytes([content[512], content[1024]]).decode() for content in found}
    expect((sorted(texts), {len(content) for content in found}), (sorted(part), {2048}))


def a_cut_ends_the_process_after_an_operation(case):
    disk = case.run('write("1", b"1"); write("2", b"2"); write("3", b"3")', "any@3=cut")
    expect((case.code, disk.was_cut, case.files()), (-9, True, {"1": b"1", "2": b""}))


def operations_fail_once_or_for_ever(case):
    code = """
import errno, sys
found = []
for name in "abcd":
    try: found.append(write(name, b"text"))
    except OSError as error: found.append(errno.errorcode[error.errno])
sys.exit(" ".join(map(str, found)))
"""
    for plan, right in (
        ("write@2=EIO", "4 EIO 4 4"),
        ("write@3=ENOSPC+", "4 4 ENOSPC ENOSPC"),
        ("create@1=EROFS", "EROFS 4 4 4"),
        ("write@2=short,write@3=EDQUOT", "4 2 EDQUOT 4"),
        ("write@4=lost", "4 4 4 4"),
    ):
        disk = case.run(code, plan)
        expect(case.stderr.strip(), right)
        expect(len(disk.injected), right.count("E") + plan.count("short") + plan.count("lost"))
    expect(case.files()["d"], b"")
    disk = case.run('os.rename("a", "b"); os.unlink("c")', "rename@1=lost,remove@1=lost")
    expect(sorted(case.files()), ["a", "b", "c", "d"])


def a_sync_that_is_lost_or_fails_makes_nothing_durable(case):
    code = 'write("file", b"text"); sync("."); sync("file")'
    case.run(code, "sync@2=lost").cut("least", random)
    expect(case.files(), {"file": b""})
    again = """
try: sync("file")
except OSError: sync("file")
"""
    case.run('write("file", b"text")' + again, "sync@1=EIO").cut("least", random)
    expect(case.files(), {"file": b""})
    case.run('write("file", b"text"); sync("file")').cut("least", random)
    expect(case.files(), {"file": b"text"})


TESTS = (
    every_change_is_seen,
    a_change_that_is_not_seen_is_noticed,
    what_is_not_synced_is_lost,
    a_cut_tears_writes_by_sectors,
    a_cut_ends_the_process_after_an_operation,
    operations_fail_once_or_for_ever,
    a_sync_that_is_lost_or_fails_makes_nothing_durable,
)


def main(shim, folder):
    """Runs the tests; one that fails ends the program."""
    for test in TESTS:
        test(Case(shim, folder))
    print(f"the faulty file system: {len(TESTS)} tests passed")
