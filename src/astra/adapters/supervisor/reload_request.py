"""Leaves the request for a reload in the app's state folder, where the app could have set a trap.

The folder is opened through no link, the file is made anew under a name nobody can have prepared,
and renamed over whatever lies there.
"""

import json
import os
import secrets
from pathlib import Path

from astra.deployments.ports import AppSpec
from astra.trusted.sandbox import syscalls

NAME = ".astra-reload"


def write_request(state: Path, spec: AppSpec, changed: list[str]) -> None:
    text = json.dumps({"release": spec.release, "folder": spec.folder, "changed": changed})
    strict = syscalls.NO_SYMLINKS | syscalls.NO_MAGIC_LINKS
    folder = syscalls.openat2(str(state), os.O_RDONLY | os.O_DIRECTORY, resolve=strict)
    try:
        draft = f"{NAME}.{secrets.token_hex(8)}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(draft, flags, 0o644, dir_fd=folder), "w") as file:
            os.fchmod(file.fileno(), 0o644)
            file.write(text)
        os.rename(draft, NAME, src_dir_fd=folder, dst_dir_fd=folder)
    finally:
        os.close(folder)
