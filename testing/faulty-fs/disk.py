"""What a power cut may leave of a folder, from the log of shim.c.

A Disk replays the log. It has the folder as it is, and what of it is durable:

- Bytes of a file are durable when the file was synced. Others are lost, kept, or torn by sectors,
  each write for itself; a length may be kept without the bytes.
- A name is durable when its folder was synced: creations, renames, links and removals in it. A file's
  sync makes no name durable, and a new folder's name is durable when the folder above it was synced.
- After a sync that failed, the bytes until then may be lost although a later sync succeeds.
"""

import os
import shutil
import struct

HEADER = struct.Struct("=B3xiQQQIIQ")
SECTOR = 512
FALLOC_KEEP_SIZE, FALLOC_PUNCH_HOLE = 1, 2

# Ways of a power cut: which unsynced changes survive.
WAYS = {
    "least": "nothing unsynced",
    "names": "all names, no unsynced bytes",
    "bytes": "all bytes, no unsynced names",
    "order": "names up to a moment, any bytes",
    "any": "any names and bytes",
}


class Unsupported(Exception):
    """The log has something that is not modelled, or differs from the folder."""


class File:
    """A file: bytes at the start, and writes since then."""

    def __init__(self, content=b""):
        self.start = bytearray(content)
        self.content = bytearray(content)
        # Lists of [offset, bytes or None (a new length), is it durable, may it never be].
        self.changes = []

    @staticmethod
    def apply(content, offset, data):
        if data is None:
            content[offset:] = bytes(max(0, offset - len(content)))
        else:
            content.extend(bytes(max(0, offset - len(content))))
            content[offset : offset + len(data)] = data

    def change(self, offset, data):
        self.apply(self.content, offset, data)
        self.changes.append([offset, data, False, False])

    def sync(self):
        for change in self.changes:
            change[2] = not change[3]
        if all(change[2] for change in self.changes):
            self.start, self.changes = bytearray(self.content), []

    def fail_sync(self):
        for change in self.changes:
            change[3] = not change[2]

    def after_cut(self, way, random):
        content = bytearray(self.start)
        for offset, data, is_durable, _ in self.changes:
            if not is_durable and way != "bytes":
                if way in ("least", "names") or random.random() < 0.5:
                    continue
                if data and random.random() < 0.3:
                    data = torn(content, offset, data, random)
            self.apply(content, offset, data)
        if way in ("order", "any") and random.random() < 0.2 and len(content) < len(self.content):
            self.apply(content, len(self.content), None)
        return bytes(content)


def torn(content, offset, data, random):
    """A write of which only some sectors are on the disk."""
    parts, place = [], 0
    while place < len(data):
        end = min(len(data), place + SECTOR - (offset + place) % SECTOR)
        before = content[offset + place : offset + end].ljust(end - place, b"\0")
        parts.append(data[place:end] if random.random() < 0.5 else bytes(before))
        place = end
    return b"".join(parts)


class Folder:
    """Names now, and those that are durable."""

    def __init__(self):
        self.names = {}
        self.durable = {}
        self.pending = []

    def sync(self):
        for change in self.pending:
            change.make_durable()
        self.pending = []


class Change:
    """A change of names: places (folder, name) and the node that is there afterwards, or None."""

    def __init__(self, number, places):
        self.number, self.places, self.is_durable = number, places, False
        for folder, name, node in places:
            if node is None:
                folder.names.pop(name, None)
            else:
                folder.names[name] = node
            if not folder.pending or folder.pending[-1] is not self:
                folder.pending.append(self)

    def make_durable(self):
        if self.is_durable:
            return
        self.is_durable = True
        for folder, name, node in self.places:
            # A folder's changes become durable in their order.
            for earlier in folder.pending[: folder.pending.index(self)]:
                earlier.make_durable()
            set_name(folder.durable, name, node)


def set_name(names, name, node):
    if node is None:
        names.pop(name, None)
    else:
        names[name] = node


def records(path):
    """Records of a log: kind, value, inode, offset, length, path, other path, data."""
    with open(path, "rb") as file:
        log = file.read()
    at = 0
    while at + HEADER.size <= len(log):
        kind, value, inode, offset, length, path_length, other_length, data_length = HEADER.unpack_from(log, at)
        at += HEADER.size
        texts = []
        for size in (path_length, other_length):
            texts.append(os.fsdecode(log[at : at + size]))
            at += size
        yield chr(kind), value, inode, offset, length, texts[0], texts[1], log[at : at + data_length]
        at += data_length


class Disk:
    """The file system below a folder, from its present, durable content on."""

    def __init__(self, root):
        self.path = os.path.realpath(root)
        self.inodes = {}
        self.number = 0
        self.injected = []
        self.was_cut = False
        self.root = self.scan(self.path)

    def scan(self, path):
        folder = Folder()
        self.inodes[os.stat(path).st_ino] = folder
        for entry in os.scandir(path):
            inode = entry.inode()
            if entry.is_dir(follow_symlinks=False):
                node = self.scan(entry.path)
            elif inode in self.inodes:
                node = self.inodes[inode]
            else:
                with open(entry.path, "rb") as file:
                    node = self.inodes[inode] = File(file.read())
            folder.names[entry.name] = folder.durable[entry.name] = node
        return folder

    def parent(self, path):
        """Folder and name of a path."""
        inside = os.path.relpath(path, self.path).split("/")
        folder = self.root
        for name in inside[:-1]:
            folder = folder.names.get(name)
            if not isinstance(folder, Folder):
                raise Unsupported(f"the log has {path} in an unknown folder")
        return folder, inside[-1]

    def replay(self, log):
        """Makes the changes of a log."""
        for kind, value, inode, offset, length, path, other, data in records(log):
            self.number += 1
            if kind == "X":
                self.was_cut = True
            elif kind == "E":
                self.injected.append((other, value, path))
            elif kind == "N":
                raise Unsupported(f"{other or 'rename'} of {path}")
            elif kind in "OQ":
                # Opened, read.
                continue
            elif kind == "G":
                for node in list(self.inodes.values()):
                    node.sync()
            elif kind in "CMLRU":
                self.rename(kind, inode, path, other)
            else:
                self.alter(kind, value, inode, offset, length, path, data)

    def rename(self, kind, inode, path, other):
        folder, name = self.parent(path)
        if kind == "C":
            self.inodes[inode] = File()
        elif kind == "M":
            self.inodes[inode] = Folder()
        if kind == "R":
            to_folder, to_name = self.parent(other)
            places = [(folder, name, None), (to_folder, to_name, folder.names[name])]
        else:
            places = [(folder, name, None if kind == "U" else self.inodes[inode])]
        Change(self.number, places)

    def alter(self, kind, value, inode, offset, length, path, data):
        node = self.inodes.get(inode)
        if node is None:
            raise Unsupported(f"{path} was created unseen")
        if kind == "S":
            node.sync()
        elif kind == "F":
            if isinstance(node, File):
                node.fail_sync()
        elif kind == "W":
            node.change(offset, data)
        elif kind == "T":
            node.change(length, None)
        elif kind == "A" and value == 0:
            if offset + length > len(node.content):
                node.change(offset + length, None)
        elif kind == "A" and value == FALLOC_KEEP_SIZE | FALLOC_PUNCH_HOLE:
            end = min(offset + length, len(node.content))
            if end > offset:
                node.change(offset, bytes(end - offset))
        elif not (kind == "A" and value == FALLOC_KEEP_SIZE):
            raise Unsupported(f"{kind} {value} of {path}")

    def check(self):
        """The log has all changes: the folder is what it says."""
        self.compare(self.root, self.path)

    def compare(self, folder, path):
        found = sorted(os.listdir(path))
        if found != sorted(folder.names):
            raise Unsupported(f"{path} has {found}, and by the log {sorted(folder.names)}")
        for name, node in folder.names.items():
            inside = os.path.join(path, name)
            if isinstance(node, Folder):
                self.compare(node, inside)
                continue
            with open(inside, "rb") as file:
                if file.read() != node.content:
                    raise Unsupported(f"{inside} was changed unseen")

    def cut(self, way, random):
        """Brings the folder into a state after a power cut."""
        names = {}
        moment = random.randrange(self.number + 2)
        changes = {}
        for folder in self.inodes.values():
            if isinstance(folder, Folder):
                names[folder] = dict(folder.durable)
                changes.update((change.number, change) for change in folder.pending)
        for number in sorted(changes):
            change = changes[number]
            if change.is_durable or way in ("least", "bytes"):
                continue
            if (way == "order" and number >= moment) or (way == "any" and random.random() < 0.5):
                continue
            for folder, name, node in change.places:
                set_name(names[folder], name, node)
        for entry in os.scandir(self.path):
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path)
            else:
                os.unlink(entry.path)
        self.write(self.root, self.path, names, way, random, {})

    def write(self, folder, path, names, way, random, written):
        for name in sorted(names.get(folder, folder.durable)):
            node, inside = names.get(folder, folder.durable)[name], os.path.join(path, name)
            if isinstance(node, Folder):
                os.mkdir(inside, 0o700)
                self.write(node, inside, names, way, random, written)
            elif node in written:
                os.link(written[node], inside)
            else:
                written[node] = inside
                content = node.after_cut(way, random)
                with open(os.open(inside, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
                    file.write(content)
