"""A bare repository that is written below git's own checks, and read back object by object."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

_IDENTITY = "T <t@localhost> 0 +0000"
File = tuple[str, str]
"""Mode and object id."""


@dataclass(frozen=True)
class RawRepository:
    path: Path

    def git(self, *arguments: str, data: bytes = b"") -> bytes:
        command = ["git", "-c", "core.fsync=none", f"--git-dir={self.path}", *arguments]
        return subprocess.run(command, input=data, capture_output=True, check=True).stdout

    def write(self, kind: str, data: bytes) -> str:
        output = self.git("hash-object", "-t", kind, "-w", "--literally", "--stdin", data=data)
        return output.decode().strip()

    def make_tree(self, entries: dict[bytes, File]) -> str:
        """Make one folder of `git mktree`; a mode of 040000 is a folder."""
        kinds = {"040000": "tree", "160000": "commit"}
        lines = (
            f"{mode} {kinds.get(mode, 'blob')} {oid}\t".encode() + name + b"\0"
            for name, (mode, oid) in entries.items()
        )
        return self.git("mktree", "-z", "--missing", data=b"".join(lines)).decode().strip()

    def write_tree(self, *entries: tuple[str, bytes, str]) -> str:
        """Write a folder as `git mktree` would refuse to: any mode, any name, any order."""
        data = b"".join(b"%s %s\0" % (m.encode(), n) + bytes.fromhex(o) for m, n, o in entries)
        return self.write("tree", data)

    def commit(self, tree: str) -> str:
        text = f"tree {tree}\nauthor {_IDENTITY}\ncommitter {_IDENTITY}\n\nx\n"
        return self.write("commit", text.encode())

    def walk(self, tree: str, above: bytes = b"") -> dict[bytes, File]:
        """Read a tree from its raw objects, as `git cat-file` gives them."""
        files: dict[bytes, File] = {}
        rest = self.git("cat-file", "tree", tree)
        while rest:
            head, _, rest = rest.partition(b"\0")
            mode, _, name = head.partition(b" ")
            oid, rest = rest[:20].hex(), rest[20:]
            if mode == b"40000":
                files |= self.walk(oid, above + name + b"/")
            else:
                files[above + name] = (mode.decode(), oid)
        return files
