"""Which processes still have to do with a folder, however they were started."""

import os
from collections.abc import Iterator
from pathlib import Path


def list_processes(*folders: Path) -> list[str]:
    """List processes that name a folder, work in it or have a file of it open.

    One that was forked warm has the command line and the environment of where it comes from: what
    it has open tells whose it is.
    """
    names = [os.fsencode(folder) for folder in folders]
    processes = [path for path in Path("/proc").iterdir() if path.name.isdigit()]
    return [
        process.name
        for process in processes
        if process.name != str(os.getpid())
        and any(name in text for text in _read_traces(process) for name in names)
    ]


def _read_traces(process: Path) -> Iterator[bytes]:
    try:
        yield (process / "environ").read_bytes()
        yield (process / "cmdline").read_bytes()
        yield os.fsencode((process / "cwd").readlink())
        for descriptor in (process / "fd").iterdir():
            yield os.fsencode(descriptor.readlink())
    except OSError:
        return  # it ended meanwhile
